//! Reading back what was recorded: one record a number, with whatever is wrong about it.

use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, ReadError};
use cantus_manifest::Digest;
use cantus_manifest::manifest::Manifest;
use serde_json::Value;

use crate::record::{Part, Place, Role, folder, parse};
use crate::runs::read_object;

/// The most bytes of a file that are read.
const MOST_BYTES: u64 = 64 << 20;

/// The files of one record, as the folder lists them; nothing of them was read.
#[derive(Clone, Debug)]
pub struct RecordFiles {
    folder: PathBuf,
    place: Place,
    has_manifest: bool,
    has_error: bool,
    /// Another provider's files have the same number.
    shared: bool,
}

/// Where the bytes of a recorded bundle are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BundleSource {
    /// In the run's own folder.
    Run,
    /// In the store alone.
    Store,
    /// Nowhere.
    Missing,
}

/// Whether a recorded bundle is what its manifest says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integrity {
    /// Its bytes have the digest of the manifest.
    Match,
    /// They have another, or no manifest says which they should have.
    Mismatch,
    /// There are no bytes.
    Missing,
}

/// One record: what its manifest says, as far as it can be read, and how that fits the bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// Its number in the run.
    pub seq: u64,
    /// Whose bundle it is.
    pub role: Role,
    /// What its manifest says; empty where there is none.
    pub said: Said,
    /// Whether an error was recorded in the place of a bundle, or beside it.
    pub error: bool,
    /// Where the bundle's bytes are.
    pub source: BundleSource,
    /// The digest of these bytes.
    pub found: Option<Digest>,
    /// Whether they are those of the manifest.
    pub integrity: Integrity,
    /// What is wrong with the record's files.
    pub problems: Vec<String>,
}

/// What the manifest of a record says. A broken one may say only some of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// Whose bundle it is.
    pub provider: Option<String>,
    /// Why the invocation happened.
    pub purpose: Option<String>,
    /// Who reads the bundle.
    pub actor: Option<String>,
    /// Which attempt the run was.
    pub attempt: Option<u64>,
    /// How the bundle was delivered.
    pub delivery_status: Option<String>,
    /// Through which channel.
    pub channel: Option<String>,
    /// Why the provider read its own files instead.
    pub fallback: Option<String>,
    /// The SHA-256 of the bundle, 64 hex.
    pub sha256: Option<String>,
    /// What it shares with other providers' bundles, 64 hex.
    pub common_digest: Option<String>,
    /// Its length.
    pub bytes: u64,
    /// The estimate of its tokens.
    pub tokens_est: u64,
    /// Where the store holds it.
    pub store_path: Option<String>,
    /// The invocation's own id.
    pub invocation_id: Option<String>,
    /// The root's invocation, of a helper or of a resumed one.
    pub parent_invocation_id: Option<String>,
    /// The provider's sessions.
    pub session_ids: Vec<String>,
    /// When the bundle was rendered, as it is written.
    pub rendered_at: Option<String>,
}

/// The files of every record in the folder `artifacts`, by number, roots before helpers. A folder without records is an empty
/// one; the error is that of a folder that can't be listed.
pub fn record_files(disk: &dyn Disk, artifacts: &Path) -> io::Result<Vec<RecordFiles>> {
    let folder = artifacts.join(folder().as_str());
    let entries = match disk.list(&folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Vec::new()
        }
        entries => entries?,
    };
    let mut found = BTreeMap::<Place, RecordFiles>::new();
    for (place, part) in entries.iter().filter_map(|entry| parse(entry.name.to_str()?)) {
        let files = found.entry(place.clone()).or_insert_with(|| RecordFiles {
            folder: folder.clone(),
            place,
            has_manifest: false,
            has_error: false,
            shared: false,
        });
        files.has_manifest |= part == Part::Manifest;
        files.has_error |= part == Part::Error;
    }
    let mut files: Vec<_> = found.into_values().collect();
    for index in 1..files.len() {
        let same = |a: &Place, b: &Place| (a.seq, a.role) == (b.seq, b.role);
        if same(&files[index - 1].place, &files[index].place) {
            files[index - 1].shared = true;
            files[index].shared = true;
        }
    }
    Ok(files)
}

/// Every record in the folder `artifacts`, by number, roots before helpers. `user` is the user's home, for paths that begin
/// with `~`.
pub fn records(disk: &dyn Disk, artifacts: &Path, user: Option<&Path>) -> io::Result<Vec<Record>> {
    let files = record_files(disk, artifacts)?;
    Ok(files.iter().map(|files| files.read(disk, user)).collect())
}

/// The number of the run's last invocation, as the launcher's `agent_meta.json` has it.
#[must_use]
pub fn latest_seq(disk: &dyn Disk, artifacts: &Path) -> Option<u64> {
    read_object(disk, &artifacts.join("agent_meta.json"))["instructions"]["latest"]["seq"].as_u64()
}

impl RecordFiles {
    /// Its number in the run.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.place.seq
    }

    /// Whose bundle it is.
    #[must_use]
    pub fn role(&self) -> Role {
        self.place.role
    }

    /// Whose they are, as the names of the files have it.
    #[cfg(feature = "observe")]
    pub(crate) fn label(&self) -> &str {
        &self.place.label
    }

    /// Whether an error was recorded.
    #[cfg(feature = "observe")]
    pub(crate) fn has_error(&self) -> bool {
        self.has_error
    }

    /// Where the manifest lies, if there is one.
    #[cfg(feature = "observe")]
    pub(crate) fn manifest_path(&self) -> PathBuf {
        self.at(Part::Manifest)
    }

    /// The bytes of the error that was recorded; `None` where there are none.
    #[cfg(feature = "observe")]
    pub(crate) fn error_bytes(&self, disk: &dyn Disk) -> Option<Vec<u8>> {
        disk.read(&self.at(Part::Error), MOST_BYTES).ok()
    }

    /// Whether there is a manifest, whatever it says.
    #[must_use]
    pub fn has_manifest(&self) -> bool {
        self.has_manifest
    }

    /// The record. What is missing, broken or unreadable is told among its problems.
    #[must_use]
    pub fn read(&self, disk: &dyn Disk, user: Option<&Path>) -> Record {
        let mut problems = Vec::new();
        if self.shared {
            problems.push(format!("sequence {:02} is taken more than once", self.place.seq));
        }
        let said = self.said(disk, &mut problems);
        if !self.has_manifest && !self.has_error {
            problems.push(format!("no manifest or error record for sequence {:02}", self.place.seq));
        }
        let (source, bytes) = self.bytes_of(disk, said.store_path.as_deref(), user, &mut problems);
        let found = bytes.map(Digest::of);
        let integrity = match (&found, &said.sha256) {
            (None, _) => Integrity::Missing,
            (Some(found), Some(expected)) if found.to_string() == *expected => Integrity::Match,
            (Some(_), _) => Integrity::Mismatch,
        };
        let Place { seq, role, .. } = self.place;
        Record { seq, role, said, error: self.has_error, source, found, integrity, problems }
    }

    /// The bytes of the recorded manifest, else of the error that was recorded; `None` where there are none.
    #[must_use]
    pub fn manifest_bytes(&self, disk: &dyn Disk) -> Option<Vec<u8>> {
        let part = if self.has_manifest { Part::Manifest } else { Part::Error };
        disk.read(&self.at(part), MOST_BYTES).ok()
    }

    /// The recorded manifest, if there is one that breaks no rule.
    #[must_use]
    pub fn manifest(&self, disk: &dyn Disk) -> Option<Manifest> {
        let bytes = disk.read(&self.at(Part::Manifest), MOST_BYTES).ok()?;
        Manifest::normalise(&serde_json::from_slice(&bytes).ok()?).ok()
    }

    /// The bytes of the recorded bundle. Those of the store are given only if they have the digest of the manifest: its path
    /// could lead anywhere.
    #[must_use]
    pub fn bundle(&self, disk: &dyn Disk, user: Option<&Path>) -> Option<Vec<u8>> {
        let said = self.said(disk, &mut Vec::new());
        let (source, bytes) = self.bytes_of(disk, said.store_path.as_deref(), user, &mut Vec::new());
        let is_known = |bytes: &[u8]| said.sha256.as_deref() == Some(&Digest::of(bytes).to_string());
        bytes.filter(|bytes| source == BundleSource::Run || is_known(bytes))
    }

    fn at(&self, part: Part) -> PathBuf {
        self.folder.join(self.place.file(part))
    }

    /// What the manifest says, valid or not.
    fn said(&self, disk: &dyn Disk, problems: &mut Vec<String>) -> Said {
        if !self.has_manifest {
            return Said::default();
        }
        let name = self.place.file(Part::Manifest);
        let bytes = match disk.read(&self.at(Part::Manifest), MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => {
                problems.push(format!("unreadable {name}: {}", reason(&error)));
                return Said::default();
            }
        };
        let value = match serde_json::from_slice::<Value>(&bytes) {
            Ok(value) if value.is_object() => value,
            Ok(_) => {
                problems.push(format!("corrupt {name}: not an object"));
                return Said::default();
            }
            Err(error) => {
                problems.push(format!("corrupt {name}: {error}"));
                return Said::default();
            }
        };
        match Manifest::normalise(&value) {
            Ok(manifest) => Said::of(&manifest.to_value()),
            Err(error) => {
                problems.push(format!("invalid {name}: {error}"));
                Said::of(&value)
            }
        }
    }

    fn bytes_of(
        &self,
        disk: &dyn Disk,
        store_path: Option<&str>,
        user: Option<&Path>,
        problems: &mut Vec<String>,
    ) -> (BundleSource, Option<Vec<u8>>) {
        match disk.read(&self.at(Part::Bundle), MOST_BYTES) {
            Ok(bytes) => return (BundleSource::Run, Some(bytes)),
            Err(error) if error.is_absent() => {}
            Err(error) => {
                problems.push(format!("unreadable {}: {}", self.place.file(Part::Bundle), reason(&error)));
            }
        }
        let stored =
            store_path.and_then(|path| expanded(path, user)).map(|path| disk.read(&path, MOST_BYTES));
        match stored {
            Some(Ok(bytes)) => (BundleSource::Store, Some(bytes)),
            _ => (BundleSource::Missing, None),
        }
    }
}

/// An absolute path, `~/` being the user's home; `None` for others.
fn expanded(path: &str, user: Option<&Path>) -> Option<PathBuf> {
    let path = match path.strip_prefix("~/") {
        Some(below) => user?.join(below),
        None => PathBuf::from(path),
    };
    path.is_absolute().then_some(path)
}

/// What a failed read says, its cause included.
fn reason(error: &ReadError) -> String {
    match error {
        ReadError::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

impl Said {
    fn of(manifest: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (facts, bundle, delivery) = (&manifest["facts"], &manifest["bundle"], &manifest["delivery"]);
        let sessions = delivery["session_ids"].as_array().into_iter().flatten();
        Self {
            provider: text(&facts["provider"]),
            purpose: text(&facts["purpose"]),
            actor: text(&facts["actor"]),
            attempt: delivery["attempt"].as_u64(),
            delivery_status: text(&delivery["status"]),
            channel: text(&delivery["channel"]),
            fallback: text(&delivery["fallback"]["reason"]),
            sha256: text(&bundle["sha256"]),
            common_digest: text(&bundle["common_digest"]),
            bytes: bundle["bytes"].as_u64().unwrap_or_default(),
            tokens_est: bundle["tokens_est"].as_u64().unwrap_or_default(),
            store_path: text(&bundle["store_path"]).filter(|path| !path.is_empty()),
            invocation_id: text(&delivery["invocation_id"]),
            parent_invocation_id: text(&delivery["parent_invocation_id"]),
            session_ids: sessions.filter_map(text).collect(),
            rendered_at: text(&delivery["rendered_at"]),
        }
    }
}

impl fmt::Display for BundleSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Run => "run",
            Self::Store => "store",
            Self::Missing => "missing",
        })
    }
}

/// `bytes match`, `MISMATCH`, `missing`.
impl fmt::Display for Integrity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Match => "bytes match",
            Self::Mismatch => "MISMATCH",
            Self::Missing => "missing",
        })
    }
}
