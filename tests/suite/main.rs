//! End-to-end tests: the real program in real temporary repositories.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]

mod adopting;
mod determinism;
mod discovery;
mod home;
mod kills;
mod manifest;
mod merging;
mod program;
mod project;
mod read_only;
mod refusals;
mod turns;
mod vectors;
mod verbs;
