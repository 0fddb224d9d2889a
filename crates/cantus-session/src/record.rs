//! Packs on disk, beside the runs and sessions that were given them.
//!
//! Recording says nothing of what was delivered, and a failure is for the log: the session goes on.

use std::path::Path;
use std::sync::Arc;

use cantus_fs::{AccessError, Disk, Root, TargetError};
use cantus_manifest::{ParseRelPathError, RelPath};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::pack::{PACK_VERSION, Pack};
use crate::run_id::RunId;

/// The name of a recorded pack.
const FILE: &str = "context.json";
/// The most bytes that a recorded pack is read of.
const MOST_BYTES: u64 = 64 << 20;

/// Why a pack was not recorded.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The run has no place on disk.
    #[error("no path for the run")]
    Path(#[from] ParseRelPathError),
    /// It could not be written.
    #[error("the pack could not be written")]
    Write(#[from] TargetError),
    /// The pack of the session could not be read.
    #[error("the pack of the session could not be read")]
    Read(#[from] AccessError),
    /// It could not be written as JSON, or what was read is no pack.
    #[error("not a recorded pack")]
    Shape(#[from] serde_json::Error),
    /// It is one, but of another version.
    #[error("a recorded pack of version {0}; this program knows version {PACK_VERSION}")]
    Version(u32),
}

/// What became of the pack that a session started with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Saved {
    /// It was written.
    Now,
    /// One was there already, and stays.
    Before,
}

/// Writes `pack` to `runs/<run id>/context.json` below the absolute path `root`, in one step. An older one is replaced; folders are
/// made.
pub fn record(disk: &Arc<dyn Disk>, root: &Path, run: &RunId, pack: &Pack) -> Result<(), RecordError> {
    put(disk, root, run, &serde_json::to_string_pretty(pack)?)
}

/// Writes `pack` to `context.json` in the session's folder, an absolute path, unless one is there.
pub fn save_for_session(disk: &Arc<dyn Disk>, session: &Path, pack: &Pack) -> Result<Saved, RecordError> {
    let root = Root::new(disk.clone(), session.to_path_buf());
    let path = RelPath::new(FILE)?;
    if root.kind(&path)?.is_some() {
        return Ok(Saved::Before);
    }
    let staged = root.stage(&path, line(&serde_json::to_string_pretty(pack)?).as_bytes())?;
    match root.replace(&path, staged, None, MOST_BYTES) {
        Ok(()) => Ok(Saved::Now),
        // Another run of the session was first.
        Err(TargetError::Changed { .. }) => Ok(Saved::Before),
        Err(error) => Err(error.into()),
    }
}

/// Copies the pack that the session in the folder `session` started with to one of its runs, under that run's id. Both paths are
/// absolute.
pub fn copy_to_run(
    disk: &Arc<dyn Disk>,
    session: &Path,
    root: &Path,
    run: &RunId,
) -> Result<(), RecordError> {
    let bytes = Root::new(disk.clone(), session.to_path_buf()).read(&RelPath::new(FILE)?, MOST_BYTES)?;
    let mut recorded: Recorded<'_> = serde_json::from_slice(&bytes)?;
    if recorded.version != PACK_VERSION {
        return Err(RecordError::Version(recorded.version));
    }
    recorded.run = Some(run.as_str());
    put(disk, root, run, &serde_json::to_string_pretty(&recorded)?)
}

/// A recorded pack; all but its run is copied as it stands.
#[derive(Serialize, Deserialize)]
struct Recorded<'a> {
    version: u32,
    #[serde(skip_deserializing)]
    run: Option<&'a str>,
    #[serde(borrow)]
    product: &'a RawValue,
    #[serde(borrow)]
    variant: &'a RawValue,
    #[serde(borrow)]
    sections: &'a RawValue,
    #[serde(borrow)]
    tools: &'a RawValue,
    #[serde(borrow)]
    delivery: &'a RawValue,
}

fn put(disk: &Arc<dyn Disk>, root: &Path, run: &RunId, text: &str) -> Result<(), RecordError> {
    let root = Root::new(disk.clone(), root.to_path_buf());
    let path = RelPath::new(format!("runs/{run}/{FILE}"))?;
    let staged = root.stage(&path, line(text).as_bytes())?;
    Ok(root.commit(&path, staged)?)
}

fn line(text: &str) -> String {
    format!("{text}\n")
}
