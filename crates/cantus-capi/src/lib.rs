//! The runtime library for launchers in other languages: what `cantus-launch` does, as functions of C.
//!
//! The header is `include/cantus.h`; a test makes it from this code and compares. Its first comment holds the rules
//! of memory, threads and texts.
//!
//! Invariants:
//! * No panic leaves a function: it is caught, and the result is what the function's description names for it.
//! * No function fails a launcher's call: an invocation that can't be prepared is one that hands over nothing.
//! * What a function borrows it reads before it returns; what it gives belongs to the object it was asked of.
#![expect(unsafe_code, reason = "pointers of another language's program")]

mod bundle;
mod composer;
mod guard;
mod invocation;
mod request;
mod text;

pub use bundle::{
    CantusBundle, CantusReader, CantusResult, cantus_bundle_error, cantus_bundle_free,
    cantus_bundle_manifest, cantus_bundle_result, cantus_bundle_text, cantus_render,
};
pub use composer::{
    CANTUS_ABI, CantusComposer, cantus_abi, cantus_composer_free, cantus_composer_new, cantus_version,
};
pub use invocation::{
    CantusInvocation, CantusStatus, cantus_argument, cantus_arguments, cantus_begin, cantus_env_count,
    cantus_env_name, cantus_env_value, cantus_fallback, cantus_finish, cantus_invocation_free,
    cantus_invocation_id, cantus_invocation_status, cantus_record_cli_version, cantus_record_exit,
    cantus_record_session, cantus_text, cantus_troubles, cantus_undelivered, cantus_variable,
};
pub use text::CantusText;

/// Frees what `pointer` owns; null is nothing.
///
/// # Safety
/// `pointer` is null or from `Box::into_raw`, and nobody uses it any more.
unsafe fn free<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: as the caller promises.
        drop(unsafe { Box::from_raw(pointer) });
    }
}
