//! End-to-end tests: the real binary in real repositories.

mod program;
mod project;
