//! One run at a time.

use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::thread::sleep;
use std::time::{Duration, Instant};

use thiserror::Error;

use crate::real::remove_lock;

/// How long to wait before the lock is asked for again.
const POLL: Duration = Duration::from_millis(20);

/// A lock that is held until this is dropped, or the process ends.
#[derive(Debug)]
#[must_use = "dropping it gives the lock back"]
pub struct LockGuard {
    file: File,
    /// The lock file, if it goes with the lock.
    passing: Option<PathBuf>,
}

impl LockGuard {
    /// The same, its file `path` removed when the lock is given back, where that can be done without two runs meeting at
    /// two files (Unix). Whoever waits for it then makes a new one.
    pub fn passing(mut self, path: PathBuf) -> Self {
        self.passing = Some(path);
        self
    }
}

impl Drop for LockGuard {
    fn drop(&mut self) {
        if let Some(path) = &self.passing {
            remove_lock(path);
        }
        // Closing the file would do it too, but Windows may take its time over that.
        let _ = self.file.unlock();
    }
}

/// Why there is no lock. The path is the caller's to name.
#[derive(Debug, Error)]
pub enum LockError {
    /// Another still holds it after the wait.
    #[error("{}", held(holder))]
    Held {
        /// What the holder says of itself; empty if it has said nothing yet.
        holder: String,
    },
    /// The lock file could not be opened, locked or written.
    #[error("the lock file cannot be used")]
    Io(#[from] io::Error),
}

fn held(holder: &str) -> String {
    if holder.is_empty() {
        "another run holds the lock".to_owned()
    } else {
        format!("`{holder}` holds the lock")
    }
}

/// Locks `file`, asking for `wait` at most; `None` if another still holds it then.
pub(crate) fn acquire(file: File, wait: Duration) -> io::Result<Option<LockGuard>> {
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Some(LockGuard { file, passing: None })),
            Err(TryLockError::Error(error)) if error.kind() != io::ErrorKind::Interrupted => {
                return Err(error);
            }
            Err(_) => {}
        }
        match wait.checked_sub(start.elapsed()) {
            None | Some(Duration::ZERO) => return Ok(None),
            Some(left) => sleep(left.min(POLL)),
        }
    }
}

impl LockGuard {
    pub(crate) fn file(&self) -> &File {
        &self.file
    }
}
