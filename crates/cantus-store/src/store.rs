//! The store: a folder of bundles, of cache entries and of indexes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::Disk;
use cantus_manifest::Digest;

use crate::blobs::{self, Blob, Corrupt};
use crate::entry::Entry;
use crate::index::{self, Index};
use crate::pool;

/// The most bytes of an entry or an index.
const MOST_BYTES: u64 = 256 << 20;

/// A store in a folder, which need not exist.
#[derive(Clone, Debug)]
pub struct Store {
    disk: Arc<dyn Disk>,
    home: PathBuf,
}

/// A render that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The bundle.
    pub text: String,
    /// Its table.
    pub entry: Entry,
    /// Where the bundle lies.
    pub path: PathBuf,
}

impl Store {
    /// The store in the folder `home`, an absolute path.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, home: PathBuf) -> Self {
        Self { disk, home }
    }

    /// The folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The render of this name, if entry and bundle are there and whole. A bundle that was corrupt is set aside and told.
    #[must_use]
    pub fn find(&self, key: &Digest) -> (Option<Found>, Option<Corrupt>) {
        let entry = self.disk.read(&self.entry_path(key), MOST_BYTES).ok();
        let Some(entry) = entry.and_then(|bytes| Entry::from_json(&bytes)) else { return (None, None) };
        let Ok(digest) = entry.manifest.bundle.sha256.parse() else { return (None, None) };
        match blobs::read(self.disk.as_ref(), &self.home, &digest) {
            Blob::Whole(text) if entry.fits(&text) => {
                let path = blobs::path_of(&self.home, &digest);
                (Some(Found { text, entry, path }), None)
            }
            Blob::Corrupt(corrupt) => (None, Some(corrupt)),
            Blob::Whole(_) | Blob::Absent => (None, None),
        }
    }

    /// Puts a bundle into the store, unless it is there: its path, and what stood there if that was corrupt.
    pub fn keep(&self, text: &str) -> (io::Result<PathBuf>, Option<Corrupt>) {
        blobs::keep(self.disk.as_ref(), &self.home, text)
    }

    /// Remembers the table of a render whose bundle is kept. Of all tables the oldest go.
    pub fn remember(&self, key: &Digest, entry: &Entry) -> io::Result<()> {
        self.put(&self.entry_path(key), entry.to_json().as_bytes())
    }

    /// What was seen when the sources below these roots were last read.
    #[must_use]
    pub fn index(&self, roots: &Digest) -> Option<Index> {
        let bytes = self.disk.read(&index::path_of(&self.home, roots), MOST_BYTES).ok()?;
        Index::from_bytes(&bytes)
    }

    /// Remembers what was seen when the sources below these roots were read. Of all indexes the oldest go.
    pub fn remember_index(&self, roots: &Digest, index: &Index) -> io::Result<()> {
        self.put(&index::path_of(&self.home, roots), &index.to_bytes())
    }

    fn entry_path(&self, key: &Digest) -> PathBuf {
        self.home.join("cache").join(format!("{key}.json"))
    }

    /// Writes a file that can be made anew.
    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        if self.disk.kind(folder)?.is_none() {
            self.disk.create_folders(folder)?;
        }
        self.disk.put_loose(path, bytes)?;
        pool::prune(self.disk.as_ref(), folder, pool::MOST_FILES);
        Ok(())
    }
}
