//! What agents were really given, read from session files: the shared vectors, and files that nobody would write.

#![cfg(feature = "observe")]
#![expect(
    clippy::disallowed_methods,
    reason = "tests set up and look at files behind the back of the library"
)]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

mod borders;
mod fixture;
mod hostile;
mod vectors;
