//! Keeps panics inside.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// What `work` gives, or `otherwise` if it panics.
pub(crate) fn guarded<T>(otherwise: T, work: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(otherwise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_a_result() {
        assert_eq!(guarded(1, || 2), 2);
        assert_eq!(guarded(1, || panic!("inside")), 1);
    }
}
