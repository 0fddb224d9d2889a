//! What is recorded of one invocation: the bundle, its manifest, and why there is none.

mod meta;
mod names;
mod reservation;

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cantus_fs::{AccessError, Disk, Kind, LockGuard, Root, TargetError};
use cantus_manifest::manifest::ManifestError;
use cantus_manifest::{Digest, RelPath};
use thiserror::Error;

use names::{label, number};

pub use names::Role;
pub(crate) use names::{FOLDER, Part, Place, parse};
pub use reservation::{ErrorRecord, Reservation};

/// How often a number is asked for.
const TRIES: usize = 25;

/// How long a process waits for others that take a number or write the same file.
const TURN: Duration = Duration::from_secs(2);

/// The most bytes that one of a run's own JSON files may have.
pub(crate) const MOST_META: u64 = 16 << 20;

/// Why something could not be recorded. Nothing that was recorded before is touched by it.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The folder for records can't be made or used.
    #[error(
        "cannot make the folder `instructions` of the run; expected an artifacts folder in which it can be made"
    )]
    Folder(#[source] io::Error),
    /// A folder of the run could not be listed.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A number could not be taken.
    #[error("cannot make `{path}`")]
    Claim {
        /// The file, below the artifacts folder.
        path: String,
        /// What the disk said.
        source: io::Error,
    },
    /// Others were always faster, or no number is left.
    #[error("no number was free in `instructions` after 25 tries")]
    Taken,
    /// A file of the run was refused or could not be written; it is as it was.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The manifest breaks a rule; nothing was written.
    #[error("the manifest is not valid")]
    Manifest(#[from] ManifestError),
    /// A file that others share holds something else than expected, and is left as it is.
    #[error("`{path}` is left as it is: {reason}; mend it or remove it")]
    Foreign {
        /// The file, below the artifacts folder.
        path: RelPath,
        /// What is wrong with it.
        reason: String,
    },
    /// A file of the run index could not be written.
    #[error("cannot write to the index of runs")]
    Index(#[source] io::Error),
    /// No text of the index can name the run.
    #[error("the path of the artifacts folder is not UTF-8; the index of runs needs one that is")]
    Path,
}

/// One run: an artifacts folder in which invocations are recorded.
#[derive(Clone, Debug)]
pub struct Run {
    root: Root,
    attempt: u64,
}

impl Run {
    /// The run whose artifacts lie in the folder `artifacts`, which is made with its folder for records if it is missing. It may
    /// be behind symlinks, the folder for records may be none.
    pub fn open(disk: Arc<dyn Disk>, artifacts: &Path) -> Result<Self, RecordError> {
        let artifacts = std::path::absolute(artifacts).map_err(RecordError::Folder)?;
        let root = Root::new(disk, artifacts);
        root.contained(&below("lock")).map_err(TargetError::from)?;
        let folder = root.path().join(FOLDER);
        root.disk().create_folders(&folder).map_err(RecordError::Folder)?;
        let attempt = attempt(&root);
        Ok(Self { root, attempt })
    }

    /// The artifacts folder, absolute.
    #[must_use]
    pub fn artifacts(&self) -> &Path {
        self.root.path()
    }

    /// Which attempt at its task the run is, from 1: the launcher keeps earlier ones in `attempts`, a folder each.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// Takes the next number of the run for an invocation of `provider`, by making the file of its bundle, empty yet. Each
    /// process gets its own number.
    pub fn reserve(&self, provider: &str) -> Result<Reservation, RecordError> {
        let label = label(provider);
        let _turn = turn(&self.root);
        let mut least = 0;
        for _ in 0..TRIES {
            let seq = self.next()?.max(least);
            let place = Place { seq, role: Role::Root, label: label.clone() };
            let path = self.artifacts().join(FOLDER).join(place.file(Part::Bundle));
            if number(&place.file(Part::Bundle)) != Some(seq) {
                return Err(RecordError::Taken);
            }
            match self.root.disk().claim(&path) {
                Ok(()) => return Ok(Reservation::new(self.root.clone(), place, self.attempt)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => least = seq + 1,
                Err(source) => {
                    let path = format!("{FOLDER}/{}", place.file(Part::Bundle));
                    return Err(RecordError::Claim { path, source });
                }
            }
        }
        Err(RecordError::Taken)
    }

    /// One more than the highest number in use.
    fn next(&self) -> Result<u64, RecordError> {
        let entries = self.root.list(Some(&folder()))?;
        let taken = entries.iter().filter_map(|entry| number(entry.name.to_str()?));
        Ok(taken.max().map_or(0, |highest| highest + 1))
    }

    pub(crate) fn root(&self) -> &Root {
        &self.root
    }
}

/// The folder of records, below the artifacts folder.
pub(crate) fn folder() -> RelPath {
    plain(FOLDER)
}

/// A file in that folder.
pub(crate) fn below(name: &str) -> RelPath {
    plain(&format!("{FOLDER}/{name}"))
}

/// A path of plain names, which are ours.
pub(crate) fn plain(path: &str) -> RelPath {
    RelPath::new(path).unwrap_or_else(|_| unreachable!("`{path}` is relative and plain"))
}

/// 1 and the folders in `attempts`.
fn attempt(root: &Root) -> u64 {
    let entries = root.list(Some(&plain("attempts"))).unwrap_or_default();
    1 + entries.iter().filter(|entry| entry.kind == Kind::Folder).count() as u64
}

/// Keeps other processes out while this one reads and writes again; `None` where there are no locks or another is too slow, and
/// then it goes on without.
pub(crate) fn turn(root: &Root) -> Option<LockGuard> {
    let path = root.at(&below(".lock"));
    let guard = root.disk().lock(&path, "cantus", TURN).ok()?;
    Some(guard.passing(path))
}

/// Writes the file `path` of a run as what `edit` makes of its bytes, `None` where there is none; nothing is written if that is
/// nothing. What another writes meanwhile isn't lost: `edit` is asked again.
pub(crate) fn edit(
    root: &Root,
    path: &RelPath,
    edit: impl Fn(Option<&[u8]>) -> Result<Option<Vec<u8>>, RecordError>,
) -> Result<(), RecordError> {
    let _turn = turn(root);
    let mut tries = TRIES;
    loop {
        let old = root.read_target(path, MOST_META)?;
        let Some(new) = edit(old.as_deref())? else { return Ok(()) };
        if old.as_deref() == Some(&new) {
            return Ok(());
        }
        let staged = root.stage(path, &new)?;
        let seen = old.as_deref().map(Digest::of);
        match root.replace(path, staged, seen.as_ref(), MOST_META) {
            Err(TargetError::Changed { kept: None, .. }) if tries > 0 => tries -= 1,
            replaced => return Ok(replaced?),
        }
    }
}
