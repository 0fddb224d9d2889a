//! The index of runs in the store's folder: an entry a run, found newest first without reading older ones.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cantus_fs::Disk;
use cantus_manifest::{Digest, canonical_json};
use serde_json::{Value, json};

use super::RunFile;
use crate::record::RecordError;
use crate::time::{compact, parse, rfc3339};

/// The most bytes that an entry has.
const MOST_ENTRY: u64 = 1 << 20;

/// The index of runs: `runs/<YYYYMM>/<start>-<8 hex of the folder's digest>.json` below the store's folder.
#[derive(Clone, Debug)]
pub struct RunIndex {
    disk: Arc<dyn Disk>,
    folder: PathBuf,
}

/// What the index says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexEntry {
    /// The run's artifacts folder, absolute.
    pub artifacts: PathBuf,
    /// What it is called.
    pub name: String,
    /// The provider of its first invocation.
    pub provider: String,
    /// When that began.
    pub started_at: SystemTime,
}

impl RunIndex {
    /// The index in the store's folder `home`. Nothing is made or read yet.
    #[must_use]
    pub fn open(disk: Arc<dyn Disk>, home: &Path) -> Self {
        Self { disk, folder: home.join("runs") }
    }

    /// Enters the run whose artifacts lie in `artifacts`, an absolute folder; one that stands there already stays as it is.
    pub fn add(&self, artifacts: &Path, run: &RunFile) -> Result<(), RecordError> {
        let entry = IndexEntry {
            artifacts: artifacts.to_path_buf(),
            name: run.name.clone(),
            provider: run.provider.clone(),
            started_at: run.started_at,
        };
        let text = entry.to_json().ok_or(RecordError::Path)?;
        let path = self.folder.join(entry.file());
        if matches!(self.disk.kind(&path), Ok(Some(_))) {
            return Ok(());
        }
        self.write(&path, text.as_bytes()).map_err(RecordError::Index)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Some(month) = path.parent() {
            self.disk.create_folders(month)?;
        }
        self.disk.put_loose(path, bytes)
    }

    /// Every entry, the newest first. Files are read as they are asked for; what is no entry is passed over.
    #[must_use]
    pub fn newest_first(&self) -> IndexEntries {
        let months = self.names(&self.folder, |name| name.len() == 6);
        IndexEntries { index: self.clone(), months, files: Vec::new() }
    }

    /// The names in `folder` that begin with a digit and are wanted, in their order.
    fn names(&self, folder: &Path, is_wanted: impl Fn(&str) -> bool) -> Vec<PathBuf> {
        let entries = self.disk.list(folder).unwrap_or_default();
        let names = entries.iter().filter_map(|entry| entry.name.to_str());
        let names = names.filter(|name| name.starts_with(|c: char| c.is_ascii_digit()) && is_wanted(name));
        names.map(|name| folder.join(name)).collect()
    }
}

/// The entries of a [`RunIndex`], the newest first.
#[derive(Clone, Debug)]
pub struct IndexEntries {
    index: RunIndex,
    /// The months that were not looked into yet, the newest last.
    months: Vec<PathBuf>,
    /// The files of a month that were not read yet, the newest last.
    files: Vec<PathBuf>,
}

impl Iterator for IndexEntries {
    type Item = IndexEntry;

    fn next(&mut self) -> Option<IndexEntry> {
        loop {
            while let Some(file) = self.files.pop() {
                let bytes = self.index.disk.read(&file, MOST_ENTRY).unwrap_or_default();
                if let Some(entry) = IndexEntry::from_json(&bytes) {
                    return Some(entry);
                }
            }
            let month = self.months.pop()?;
            self.files = self.index.names(&month, |name| name.ends_with(".json"));
        }
    }
}

impl IndexEntry {
    /// Where it stands in the index.
    fn file(&self) -> PathBuf {
        let start = compact(self.started_at);
        let mut digest = Digest::of(self.artifacts.as_os_str().as_encoded_bytes()).to_string();
        digest.truncate(8);
        Path::new(&start[..6]).join(format!("{start}-{digest}.json"))
    }

    fn to_json(&self) -> Option<String> {
        Some(canonical_json(&json!({
            "artifacts": self.artifacts.to_str()?,
            "name": self.name,
            "provider": self.provider,
            "started_at": rfc3339(self.started_at),
            "version": 1,
        })))
    }

    fn from_json(bytes: &[u8]) -> Option<Self> {
        let value: Value = serde_json::from_slice(bytes).ok()?;
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let artifacts = PathBuf::from(text("artifacts")?);
        let started_at = parse(&value["started_at"])?;
        let entry = Self { artifacts, name: text("name")?, provider: text("provider")?, started_at };
        (value["version"] == 1 && entry.artifacts.is_absolute()).then_some(entry)
    }
}
