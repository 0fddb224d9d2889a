//! Changes at a target that are all made, or none.

use std::io;

use cantus_fs::{Kind, Measure, Root, TargetError};
use cantus_manifest::RelPath;

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
            ProjectError::Change { path, source, .. } => ProjectError::Change { path, restored, source },
            other => other,
        }
    })
}

impl Transaction<'_> {
    pub(super) fn root(&self) -> &Root {
        self.root
    }

    /// Makes the file `path` hold `bytes`, its folders made.
    pub(super) fn write(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), ProjectError> {
        self.write_one(path, bytes).map_err(|source| changed(path, source))
    }

    /// Removes the file `path`, if it is there.
    pub(super) fn remove(&mut self, path: &RelPath) -> Result<(), ProjectError> {
        self.remove_one(path).map_err(|source| changed(path, source))
    }

    fn write_one(&mut self, path: &RelPath, bytes: &[u8]) -> Result<(), ProjectError> {
        self.make_folders(path)?;
        let before = self.snapshot(path)?;
        if matches!(&before, Some((found, _)) if found == bytes) {
            return Ok(());
        }
        let staged = self.root.disk().stage_as(&self.root.at(path), bytes, MODE)?;
        // An error may come after the deed: it is taken back all the same.
        self.undo.push(undo(path, before));
        self.root.commit(path, staged)?;
        Ok(())
    }

    fn remove_one(&mut self, path: &RelPath) -> Result<(), ProjectError> {
        let Some(before) = self.snapshot(path)? else { return Ok(()) };
        self.undo.push(undo(path, Some(before)));
        self.root.remove(path)?;
        Ok(())
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

    /// The bytes and the mode of the file `path`, if it is there.
    fn snapshot(&self, path: &RelPath) -> Result<Option<(Vec<u8>, u32)>, ProjectError> {
        let Some(bytes) = self.root.read_target(path, MOST_BYTES)? else { return Ok(None) };
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
    match source {
        // Nothing was done to it, and it says so itself.
        ProjectError::Contain(_) | ProjectError::Target(TargetError::Contain(_)) => source,
        source => ProjectError::Change { path: path.clone(), restored: false, source: Box::new(source) },
    }
}
