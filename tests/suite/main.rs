//! End-to-end tests: the real program in real temporary repositories.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]

mod determinism;
mod discovery;
mod home;
mod kills;
mod launching;
mod links;
mod manifest;
mod members;
mod merging;
mod pages;
mod parity;
mod plugins;
mod program;
mod project;
mod read_only;
mod refusals;
mod sources;
mod turns;
mod vectors;
mod verbs;
#[cfg(unix)]
mod watching;
