//! What a project's configuration says of its bundles.

use cantus_manifest::{RelPath, Stamp};

/// What changes the bytes of a bundle besides notes, package and facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The first heading of the bundle.
    pub title: String,
    /// How wide generated prose may be, in cells; 0 for no wrapping.
    pub width: usize,
    /// The project's repositories, in order.
    pub repositories: Vec<Repository>,
    /// The file that names the repositories.
    pub source: Option<ConfigFile>,
}

/// A configuration as it lies on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFile {
    /// Where it lies below the root.
    pub path: RelPath,
    /// The stamp of its bytes, where it was taken.
    pub stamp: Option<Stamp>,
}

/// A repository that the contract names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Its name.
    pub name: String,
    /// What it holds, on one line.
    pub description: String,
    /// The line of its configuration on which the description starts, counted from 1.
    pub line: u32,
}
