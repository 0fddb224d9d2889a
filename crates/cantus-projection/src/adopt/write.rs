//! New files, all of them or none.

use cantus_fs::{AccessError, Root, TargetError};
use cantus_manifest::RelPath;
use cantus_memory::ImportedNote;
use thiserror::Error;

/// Why new files aren't there.
#[derive(Debug, Error)]
pub enum WriteError {
    /// A name was taken after all.
    #[error("`{path}` is there already{}", rest(.left))]
    Exists {
        /// The file.
        path: RelPath,
        /// New files that couldn't be removed again.
        left: Vec<RelPath>,
    },
    /// It can't be told what stands there.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The disk refused.
    #[error("nothing was written{}", rest(.left))]
    Target {
        /// What it said.
        source: TargetError,
        /// New files that couldn't be removed again.
        left: Vec<RelPath>,
    },
}

fn rest(left: &[RelPath]) -> String {
    if left.is_empty() {
        return String::new();
    }
    let names: Vec<_> = left.iter().map(|path| format!("`{path}`")).collect();
    format!(" but {}, which could not be removed again", names.join(", "))
}

/// Writes the notes of an import: every one is staged before the first is put in its place, and those that were are removed again if
/// one fails. No file is overwritten. The caller holds the [`Turn`](crate::Turn).
pub fn write_notes(root: &Root, notes: &[ImportedNote]) -> Result<(), WriteError> {
    let files: Vec<_> = notes.iter().map(|note| (&note.path, note.text.as_str())).collect();
    write_new(root, &files)
}

/// Writes new files, all of them or none; see [`write_notes`].
pub fn write_new(root: &Root, files: &[(&RelPath, &str)]) -> Result<(), WriteError> {
    let paths: Vec<_> = files.iter().map(|(path, _)| (*path).clone()).collect();
    // Left-overs of a killed run harm nobody: if they can't be removed, the write itself will tell why.
    let _ = root.sweep(&paths);
    let mut staged = Vec::new();
    for (path, text) in files {
        let file = root.stage(path, text.as_bytes());
        staged.push((*path, file.map_err(|source| WriteError::Target { source, left: Vec::new() })?));
    }
    let mut done: Vec<&RelPath> = Vec::new();
    for (path, file) in staged {
        let free = matches!(root.kind(path), Ok(None));
        let result = if free { root.commit(path, file) } else { Ok(()) };
        if free && result.is_ok() {
            done.push(path);
            continue;
        }
        // A commit that fails may have put the file in its place.
        let tried = free.then_some(path);
        let made = done.into_iter().chain(tried);
        let left = made.filter(|path| root.remove(path).is_err()).cloned().collect();
        return Err(match result {
            Ok(()) => WriteError::Exists { path: path.clone(), left },
            Err(source) => WriteError::Target { source, left },
        });
    }
    Ok(())
}
