//! The notes that a dependency ships.

use cantus_manifest::RelPath;
use cantus_memory::Corpus;

/// A crate's notes, as far as the project lets them into its bundles.
#[derive(Clone, Debug, Default)]
pub struct Plugin {
    /// The crate's name: a legal part of a section's id.
    pub name: String,
    /// The crate's version: provenance, never part of a bundle's bytes.
    pub version: String,
    /// The notes, their paths below the crate's folder. No two of them may have the same slug, whatever their kinds.
    pub corpus: Corpus,
}

impl Plugin {
    /// The notes and webs that have a section, as sources name them.
    pub fn sources(&self) -> impl Iterator<Item = RelPath> {
        self.corpus.unit_paths().map(|path| self.source_path(path))
    }

    /// A file of the crate as sources name it: `<crate>-<version>/<path>`.
    #[must_use]
    pub fn source_path(&self, path: &RelPath) -> RelPath {
        // A name and a version hold neither separators nor control characters.
        RelPath::new(format!("{}-{}/{path}", self.name, self.version))
            .unwrap_or_else(|error| unreachable!("{error}"))
    }
}
