//! Runs recorded and read back, in one binary.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "what a test prepares or looks at must be there")]

mod faults;
mod fixture;
mod properties;
mod records;
