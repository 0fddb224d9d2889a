//! How the files of a projection stand at a target.

use std::collections::{BTreeMap, BTreeSet};

use cantus_fs::{ContainError, Kind, Root};
use cantus_manifest::{Digest, RelPath};

use super::ProjectError;
use super::sidecar::Sidecar;
use crate::tree::MOST_BYTES;

/// A file and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileState {
    /// Its place below the target.
    pub path: RelPath,
    /// How it stands.
    pub state: State,
    /// The digest of what stands there, of a file that is ours.
    pub(super) seen: Option<Digest>,
}

/// How a file stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum State {
    /// Ours, and as the bundle has it.
    Fresh,
    /// As the bundle has it, but somebody else put it there: it is left and not claimed.
    Unclaimed,
    /// Not there; of one that is no longer wanted there is nothing to do.
    Missing,
    /// Ours, as it was written for an earlier bundle.
    Stale,
    /// Ours, and edited by hand since.
    Edited,
    /// Somebody else's, and other than the bundle has it: it is refused.
    Foreign,
    /// Ours, and no longer wanted.
    Left,
    /// Ours, no longer wanted, and edited by hand since.
    LeftEdited,
}

impl State {
    /// One word for reports.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fresh => "fresh",
            Self::Unclaimed => "unclaimed",
            Self::Missing => "missing",
            Self::Stale => "stale",
            Self::Edited => "edited",
            Self::Foreign => "foreign",
            Self::Left => "left over",
            Self::LeftEdited => "left over, edited",
        }
    }

    /// Whether a projection has something to do with it.
    #[must_use]
    pub fn needs_work(self) -> bool {
        !matches!(self, Self::Fresh | Self::Unclaimed)
    }

    /// Whether it was edited by hand since it was written.
    #[must_use]
    pub fn is_edited(self) -> bool {
        matches!(self, Self::Edited | Self::LeftEdited)
    }

    /// Whether a projection writes it.
    pub(super) fn is_written(self) -> bool {
        matches!(self, Self::Missing | Self::Stale | Self::Edited)
    }

    /// Whether a projection removes it.
    pub(super) fn is_left(self) -> bool {
        matches!(self, Self::Left | Self::LeftEdited)
    }
}

/// How each file that is wanted or recorded stands, sorted by path. A path that leads elsewhere is an error.
pub(super) fn look(
    target: &Root,
    wanted: &BTreeMap<RelPath, Vec<u8>>,
    record: &Sidecar,
) -> Result<Vec<FileState>, ProjectError> {
    let paths: BTreeSet<_> = wanted.keys().chain(record.files.keys()).collect();
    let states = paths.into_iter().map(|path| {
        let wanted = wanted.get(path).map(Vec::as_slice);
        let (state, seen) = match record.files.get(path) {
            Some(written) => owned(target, path, wanted, written.as_ref())?,
            None => (unowned(target, path, wanted.unwrap_or_default())?, None),
        };
        Ok(FileState { path: path.clone(), state, seen })
    });
    states.collect()
}

/// A file of ours that was `written` so, and the digest of what it holds.
fn owned(
    target: &Root,
    path: &RelPath,
    wanted: Option<&[u8]>,
    written: Option<&Digest>,
) -> Result<(State, Option<Digest>), ProjectError> {
    let Some(found) = target.read_target(path, MOST_BYTES)? else { return Ok((State::Missing, None)) };
    let seen = Digest::of(&found);
    let edited = written.is_some_and(|written| seen != *written);
    let state = match (wanted, edited) {
        (Some(wanted), _) if wanted == found => State::Fresh,
        (Some(_), false) => State::Stale,
        (Some(_), true) => State::Edited,
        (None, false) => State::Left,
        (None, true) => State::LeftEdited,
    };
    Ok((state, Some(seen)))
}

/// A file that is not ours. An equal one may be a symlink to a regular file.
fn unowned(target: &Root, path: &RelPath, wanted: &[u8]) -> Result<State, ProjectError> {
    match target.contained(path) {
        Ok(()) | Err(ContainError::Symlink { .. } | ContainError::NotAFile { .. }) => {}
        Err(error) => return Err(error.into()),
    }
    let Some(kind) = target.kind(path)? else { return Ok(State::Missing) };
    let found = match kind {
        Kind::File => target.read(path, MOST_BYTES).map_err(ProjectError::from)?,
        Kind::Symlink => {
            let real = target.disk().canonical(&target.at(path));
            let Ok(found) = real.map(|real| target.disk().read(&real, MOST_BYTES)) else {
                return Ok(State::Foreign);
            };
            let Ok(found) = found else { return Ok(State::Foreign) };
            found
        }
        Kind::Folder | Kind::Other => return Ok(State::Foreign),
    };
    Ok(if found == wanted { State::Unclaimed } else { State::Foreign })
}
