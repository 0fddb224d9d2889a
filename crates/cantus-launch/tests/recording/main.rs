//! Runs recorded and read back, in one binary.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]

mod faults;
mod fixture;
mod properties;
mod records;
