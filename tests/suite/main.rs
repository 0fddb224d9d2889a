//! End-to-end tests: the real binary in real repositories.

mod determinism;
mod merging;
mod program;
mod project;
