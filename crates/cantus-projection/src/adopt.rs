//! Files that others wrote: found, read, made notes of, and taken over.

mod inputs;
mod take_over;
mod write;

pub use inputs::{Inputs, PassReason, Passed, find_inputs, foreign_inputs, read_inputs};
pub use take_over::{Backup, TakeOver, TakeOverError, foreign_targets, is_ignored, take_over};
pub use write::{WriteError, write_new, write_notes};
