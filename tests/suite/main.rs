//! End-to-end tests: the real program in real temporary repositories.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]

mod adopting;
mod advice;
mod bundles;
mod channels;
mod compose;
mod determinism;
mod discovery;
mod excerpts;
#[cfg(feature = "launch")]
mod exec;
mod formats;
mod home;
mod hooks;
mod kills;
mod launching;
mod links;
mod lints;
mod manifest;
mod members;
mod merge_driver;
mod merging;
#[cfg(feature = "observe")]
mod observed;
mod pages;
mod parity;
mod plugins;
mod program;
mod project;
mod read_only;
#[cfg(feature = "launch")]
mod recording;
mod refusals;
mod reports;
#[cfg(feature = "session")]
mod session_history;
#[cfg(feature = "session")]
mod sessions;
#[cfg(feature = "launch")]
mod show;
mod sources;
mod staged;
mod stats;
mod store;
mod turns;
mod vectors;
mod verbs;
#[cfg(unix)]
mod watching;
mod why;
