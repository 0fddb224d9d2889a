//! What a project's configuration says of its bundles.

use cantus_manifest::RelPath;

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
    pub source: Option<RelPath>,
}

/// A repository that the contract names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// Its name.
    pub name: String,
    /// What it holds, on one line.
    pub description: String,
}
