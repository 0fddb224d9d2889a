//! The files of one call: those that a caller names, and private ones of ours that live as long as the call.

use std::ffi::OsStr;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use cantus_fs::{Disk, ReadError};

/// The most bytes of a file that a caller names.
const MOST_BYTES: u64 = 16 << 20;

/// Where the files of one call are read and written. Dropping it removes ours.
#[derive(Debug)]
pub(crate) struct Desk {
    disk: Arc<dyn Disk>,
    /// Where relative paths of the caller start.
    folder: PathBuf,
    /// Where ours are written.
    private: PathBuf,
    /// What starts the names of ours.
    name: String,
    written: Mutex<Vec<PathBuf>>,
}

impl Desk {
    /// Reads from `folder` on; writes into the folder for temporary files, under names that start with `name`, which nobody
    /// else must be able to guess.
    pub(crate) fn new(disk: Arc<dyn Disk>, folder: PathBuf, name: String) -> Self {
        let private = std::path::absolute(std::env::temp_dir()).unwrap_or_else(|_| std::env::temp_dir());
        Self { disk, folder, private, name, written: Mutex::default() }
    }

    /// The same with another start of the names of ours.
    pub(crate) fn rename(&mut self, name: String) {
        self.name = name;
    }

    /// Where relative paths of the caller start.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The text of a file that the caller names; what isn't UTF-8 is an error.
    pub(crate) fn read(&self, path: &OsStr) -> Result<String, ReadError> {
        // The provider follows symlinks.
        let path = self.disk.canonical(&self.folder.join(path))?;
        let bytes = self.disk.read(&path, MOST_BYTES)?;
        String::from_utf8(bytes).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error).into())
    }

    /// Writes `text` to a new file that only this user may read; `suffix` ends its name.
    pub(crate) fn write(&self, suffix: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.private.join(format!("{}{suffix}", self.name));
        // Noted first: a write that failed may leave a part.
        self.written.lock().unwrap_or_else(PoisonError::into_inner).push(path.clone());
        self.disk.put_loose(&path, text.as_bytes())?;
        Ok(path)
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        for path in self.written.get_mut().unwrap_or_else(PoisonError::into_inner) {
            // If it can't be removed, the system's sweep of temporary files is left. The call is over: nothing may disturb it.
            let _ = catch_unwind(AssertUnwindSafe(|| self.disk.remove_loose(path)));
        }
    }
}
