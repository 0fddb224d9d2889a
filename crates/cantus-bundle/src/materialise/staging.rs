//! Where a tree is written before it has its name, and how the remains of dead runs are told from the work of live ones.

use std::ffi::OsStr;
use std::hash::{BuildHasher as _, RandomState};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cantus_fs::{Disk, Kind, LockError, LockGuard};

use super::layout::Layout;
use super::{MaterialiseError, write_all};

/// What the name of a staging folder begins with.
const PREFIX: &str = ".stage-";
/// What the name of the file that its run holds locked ends in.
const LOCK: &str = ".lock";
/// How many names are tried.
const TRIES: usize = 8;

/// A staging folder, its lock held.
pub(super) struct Staging<'a> {
    disk: &'a dyn Disk,
    folder: PathBuf,
    lock: LockGuard,
    /// The lock's file.
    sign: PathBuf,
}

impl<'a> Staging<'a> {
    /// An empty folder in `out` under an unused name. The lock is there before the folder and goes after it, so that a folder whose
    /// lock nobody holds is that of a dead run.
    pub(super) fn begin(disk: &'a dyn Disk, out: &Path, key: &str) -> Result<Self, MaterialiseError> {
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        for _ in 0..TRIES {
            let name = format!("{PREFIX}{key}-{:016x}", RandomState::new().hash_one(()));
            let sign = out.join(format!("{name}{LOCK}"));
            let lock = match disk.lock(&sign, "cantus", Duration::ZERO) {
                Ok(lock) => lock,
                // A sweep that looks at it at this moment.
                Err(LockError::Held { .. }) => continue,
                Err(error) => return Err(MaterialiseError::Lock(error)),
            };
            let folder = out.join(name);
            match disk.create_folder(&folder) {
                Ok(()) => return Ok(Self { disk, folder, lock, sign }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(source) => {
                    // What may stand there after all keeps its lock file, by which a later run knows it.
                    if matches!(disk.kind(&folder), Ok(None)) {
                        drop(lock.passing(sign));
                    }
                    return Err(MaterialiseError::Write { path: ".".to_owned(), source });
                }
            }
        }
        Err(MaterialiseError::Write { path: ".".to_owned(), source: last })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes the tree and flushes it.
    pub(super) fn fill(&self, layout: &Layout) -> Result<(), MaterialiseError> {
        write_all(self.disk, &self.folder, layout)
    }

    /// Ends the work on a folder that has its final name now.
    pub(super) fn end(self) {
        drop(self.lock.passing(self.sign));
    }

    /// Removes what was written. What can't be removed keeps its lock file, by which a later run knows it.
    pub(super) fn discard(self) {
        if remove_all(self.disk, &self.folder).is_ok() {
            self.end();
        }
    }
}

/// Removes the staging folders in `out` whose runs have died. It is no fault of this run if that fails.
///
/// Ours have a lock file beside them. A folder without one may be that of another tool, which is left alone.
pub(super) fn sweep(disk: &dyn Disk, out: &Path) {
    let entries = disk.list(out).unwrap_or_default();
    for entry in entries.iter().filter(|entry| entry.kind == Kind::File) {
        let Some(name) = staging_name(&entry.name) else { continue };
        let path = out.join(&entry.name);
        let Ok(lock) = disk.lock(&path, "cantus", Duration::ZERO) else { continue };
        if remove_all(disk, &out.join(name)).is_ok() {
            let _ = disk.remove(&path);
        }
        drop(lock);
    }
}

/// The name of the staging folder whose lock file is called `name`.
fn staging_name(name: &OsStr) -> Option<&str> {
    let folder = name.to_str()?.strip_suffix(LOCK)?;
    let (key, random) = folder.strip_prefix(PREFIX)?.split_once('-')?;
    let is_hex = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hex(key) && is_hex(random)).then_some(folder)
}

/// Removes `folder` and all that is in it, links as such; nothing is done if it is absent.
fn remove_all(disk: &dyn Disk, folder: &Path) -> io::Result<()> {
    if disk.kind(folder)? != Some(Kind::Folder) {
        return Ok(());
    }
    for entry in disk.list(folder)? {
        let path = folder.join(&entry.name);
        match entry.kind {
            Kind::Folder => remove_all(disk, &path)?,
            _ => disk.remove(&path)?,
        }
    }
    disk.remove_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_exact_shape_is_the_lock_of_a_staging_folder() {
        let name = ".stage-0123456789abcdef-fedcba9876543210";
        assert_eq!(staging_name(OsStr::new(&format!("{name}.lock"))), Some(name));
        for other in
            [name, "a.lock", ".stage-.lock", ".stage-0123456789abcdef.lock", ".stage-0-1.lock", "../x.lock"]
        {
            assert_eq!(staging_name(OsStr::new(other)), None, "{other}");
        }
    }
}
