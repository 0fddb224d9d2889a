//! Concurrent runs take turns.

use std::path::PathBuf;
use std::time::Duration;

use cantus_fs::{LockError, LockGuard, Root};
use thiserror::Error;

use crate::git::Git;
use crate::journal::name;

/// How long a run waits for its turn.
const PATIENCE: Duration = Duration::from_secs(10);

/// The right to write the committed files of one project, until it is dropped.
#[derive(Debug)]
pub struct Turn {
    _guard: LockGuard,
}

/// There was no turn.
#[derive(Debug, Error)]
pub enum TurnError {
    /// Another run is still at it.
    #[error("another run is writing here: {holder}")]
    Held {
        /// What that run says of itself.
        holder: String,
    },
    /// The file that runs meet at can't be opened.
    #[error("cannot open the file that concurrent runs take turns by")]
    Io(#[source] std::io::Error),
}

impl Turn {
    /// Waits up to 10 seconds for the turn. The file stands in the git folder, else in the folder for temporary files.
    ///
    /// `command` is what others are told if they wait in vain.
    pub fn take(root: &Root, command: &str) -> Result<Self, TurnError> {
        let holder = format!("process {}, `{command}`", std::process::id());
        let shared = std::env::temp_dir().join(format!("{}.lock", name(root)));
        let places: Vec<PathBuf> = Git::new(root.path())
            .path_in_git_folder("cantus.lock")
            .into_iter()
            .chain([shared.clone()])
            .collect();
        let mut trouble = None;
        for place in places {
            match root.disk().lock(&place, &holder, PATIENCE) {
                // Nobody would ever tidy up a folder that all projects share.
                Ok(guard) if place == shared => return Ok(Self { _guard: guard.passing(place) }),
                Ok(guard) => return Ok(Self { _guard: guard }),
                Err(LockError::Held { holder }) => return Err(TurnError::Held { holder }),
                Err(LockError::Io(error)) => trouble = Some(error),
            }
        }
        Err(TurnError::Io(trouble.unwrap_or_else(|| std::io::ErrorKind::NotFound.into())))
    }
}
