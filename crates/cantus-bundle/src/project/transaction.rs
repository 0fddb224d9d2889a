//! Changes at a target that are all made, or none.

use std::io;

use cantus_fs::{Kind, Measure, Root, TargetError};
use cantus_manifest::{Digest, RelPath};

use super::ProjectError;
use crate::tree::MOST_BYTES;

/// The mode of what is written.
const MODE: u32 = 0o644;

/// The changes so far, and how to take them back.
pub(super) struct Transaction<'a> {
    root: &'a Root,
    undo: Vec<Undo>,
}

/// How to take one change back.
enum Undo {
    /// The file was absent.
    Remove(RelPath),
    /// The file held these bytes and had this mode.
    Restore(RelPath, Vec<u8>, u32),
    /// The folder was absent.
    RemoveFolder(RelPath),
    /// The folder was there.
    MakeFolder(RelPath),
}

/// Makes the changes of `act`; one that fails takes back those before it.
pub(super) fn run<T>(
    root: &Root,
    act: impl FnOnce(&mut Transaction<'_>) -> Result<T, ProjectError>,
) -> Result<T, ProjectError> {
    let mut transaction = Transaction { root, undo: Vec::new() };
    act(&mut transaction).map_err(|error| {
        let restored = transaction.roll_back();
        match error {
            ProjectError::Change { source, .. } if restored && says_so_itself(&source) => *source,
            ProjectError::Change { path, source, .. } => ProjectError::Change { path, restored, source },
            other => other,
        }
    })
}

impl Transaction<'_> {
    pub(super) fn root(&self) -> &Root {
        self.root
    }

    /// Makes the file `path` hold `bytes`, its folders made, if what stands there is what was `seen`: a text with this digest, or
    /// nothing.
    pub(super) fn write(
        &mut self,
        path: &RelPath,
        bytes: &[u8],
        seen: Option<&Digest>,
    ) -> Result<(), ProjectError> {
        self.write_one(path, bytes, seen).map_err(|source| changed(path, source))
    }

    /// Removes the file `path`, if it holds what was `seen`.
    pub(super) fn remove(&mut self, path: &RelPath, seen: Option<&Digest>) -> Result<(), ProjectError> {
        self.remove_one(path, seen).map_err(|source| changed(path, source))
    }

    /// Makes a file of our own folder hold `bytes`, whatever it holds now.
    pub(super) fn write_own(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), ProjectError> {
        let seen = self.digest(path).map_err(|source| changed(path, source))?;
        self.write(path, bytes, seen.as_ref())
    }

    /// Removes a file of our own folder, whatever it holds now.
    pub(super) fn remove_own(&mut self, path: &RelPath) -> Result<(), ProjectError> {
        let seen = self.digest(path).map_err(|source| changed(path, source))?;
        self.remove(path, seen.as_ref())
    }

    /// Removes the folders that lead to `path`, as far as they are empty. It is no fault if one can't be removed.
    pub(super) fn prune(&mut self, path: &RelPath) {
        let mut folder = path.parent();
        while let Some(path) = folder {
            folder = path.parent();
            if !matches!(self.root.kind(&path), Ok(Some(Kind::Folder))) {
                continue;
            }
            // An error may come after the deed here too.
            let place = self.root.at(&path);
            self.undo.push(Undo::MakeFolder(path));
            if self.root.disk().remove_folder(&place).is_err() {
                return;
            }
        }
    }

    fn write_one(&mut self, path: &RelPath, bytes: &[u8], seen: Option<&Digest>) -> Result<(), ProjectError> {
        self.make_folders(path)?;
        let before = self.snapshot(path, seen)?;
        if matches!(&before, Some((found, _)) if found == bytes) {
            return Ok(());
        }
        let staged = self.root.disk().stage_as(&self.root.at(path), bytes, MODE)?;
        // An error may come after the deed: it is taken back all the same.
        self.undo.push(undo(path, before));
        let done = self.root.replace(path, staged, seen, MOST_BYTES);
        self.settle(done)
    }

    fn remove_one(&mut self, path: &RelPath, seen: Option<&Digest>) -> Result<(), ProjectError> {
        let (Some(before), Some(seen)) = (self.snapshot(path, seen)?, seen) else { return Ok(()) };
        self.undo.push(undo(path, Some(before)));
        let done = self.root.remove_seen(path, seen, MOST_BYTES);
        self.settle(done)
    }

    /// What came of a change: one that somebody else was faster than was not made, and has nothing to take back.
    fn settle(&mut self, done: Result<(), TargetError>) -> Result<(), ProjectError> {
        if matches!(done, Err(TargetError::Changed { .. })) {
            self.undo.pop();
        }
        Ok(done?)
    }

    fn digest(&self, path: &RelPath) -> Result<Option<Digest>, ProjectError> {
        Ok(self.root.read_target(path, MOST_BYTES)?.map(Digest::of))
    }

    fn make_folders(&mut self, path: &RelPath) -> Result<(), ProjectError> {
        self.root.contained(path)?;
        let mut missing = Vec::new();
        let mut folder = path.parent();
        while let Some(path) = folder {
            if self.root.kind(&path)?.is_some() {
                break;
            }
            folder = path.parent();
            missing.push(path);
        }
        for folder in missing.into_iter().rev() {
            let place = self.root.at(&folder);
            self.undo.push(Undo::RemoveFolder(folder));
            self.root.disk().create_folder(&place)?;
            if let Some(above) = place.parent() {
                self.root.disk().flush_folder(above)?;
            }
        }
        Ok(())
    }

    /// The bytes and the mode of the file `path`, if it is there. It holds what was seen.
    fn snapshot(
        &self,
        path: &RelPath,
        seen: Option<&Digest>,
    ) -> Result<Option<(Vec<u8>, u32)>, ProjectError> {
        let found = self.root.read_target(path, MOST_BYTES)?;
        if found.as_ref().map(Digest::of).as_ref() != seen {
            return Err(TargetError::Changed { path: path.clone(), kept: None }.into());
        }
        let Some(bytes) = found else { return Ok(None) };
        let Measure { mode, .. } = self.root.disk().measure(&self.root.at(path))?;
        Ok(Some((bytes, mode)))
    }

    /// Takes back every change, the last one first. Gives whether all of that worked.
    fn roll_back(&mut self) -> bool {
        let mut restored = true;
        while let Some(undo) = self.undo.pop() {
            restored &= self.take_back(undo).is_ok();
        }
        restored
    }

    fn take_back(&self, undo: Undo) -> Result<(), ProjectError> {
        match undo {
            Undo::Remove(path) => self.root.remove(&path)?,
            Undo::Restore(path, bytes, mode) => {
                let staged = self.root.disk().stage_as(&self.root.at(&path), &bytes, mode)?;
                self.root.commit(&path, staged)?;
            }
            Undo::RemoveFolder(path) if self.root.kind(&path)? == Some(Kind::Folder) => {
                match self.root.disk().remove_folder(&self.root.at(&path)) {
                    // Somebody else put something there.
                    Err(error) if error.kind() != io::ErrorKind::DirectoryNotEmpty => {
                        return Err(error.into());
                    }
                    _ => {}
                }
            }
            Undo::RemoveFolder(_) => {}
            Undo::MakeFolder(path) => {
                if self.root.kind(&path)?.is_none() {
                    self.root.disk().create_folder(&self.root.at(&path))?;
                }
            }
        }
        Ok(())
    }
}

fn undo(path: &RelPath, before: Option<(Vec<u8>, u32)>) -> Undo {
    match before {
        Some((bytes, mode)) => Undo::Restore(path.clone(), bytes, mode),
        None => Undo::Remove(path.clone()),
    }
}

fn changed(path: &RelPath, source: ProjectError) -> ProjectError {
    ProjectError::Change { path: path.clone(), restored: false, source: Box::new(source) }
}

/// Whether an error names its file, to which nothing was done.
fn says_so_itself(error: &ProjectError) -> bool {
    matches!(error, ProjectError::Contain(_) | ProjectError::Target(TargetError::Contain(_)))
}
