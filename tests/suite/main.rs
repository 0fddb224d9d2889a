//! End-to-end tests: the real binary in real repositories.

mod determinism;
mod kills;
mod merging;
mod program;
mod project;
mod read_only;
mod turns;
