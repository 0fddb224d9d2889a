//! Finds and reads a Cantus project: its root, configuration, package and notes.
//!
//! Invariants:
//! * Nothing is written, anywhere.
//! * Whatever is wrong in a project is reported at once, each with its file and, where there is one, its line.
//! * What lies in the folder of a dependency that the configuration doesn't name is never opened.
//! * Files that the project generates are never read as sources: the configuration refuses such a layout.

mod config;
mod discover;
mod gather;
mod home;
mod host;
mod keys;
mod members;
mod plugins;
mod program;
mod project;
mod watched;

pub use config::{
    Allowed, Config, DEFAULT_FILE_BYTES, DEFAULT_VARIABLE, LOCK, Members, Output, PageBody, PageConfig,
    PluginKind,
};
pub use discover::{CONFIG, find_root};
pub use home::read_home;
pub use host::{host_name, version_control};
pub use members::Member;
pub use plugins::{PluginListing, ShippedNotes, list_plugins};
pub use program::Program;
pub use project::{
    Notes, OnErrors, Options, Project, configuration, generated_files, package_in, package_of,
};
pub use watched::{Watched, watched};
