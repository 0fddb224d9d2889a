//! New files, all of them or none.

use cantus_fs::{Root, TargetError};
use cantus_manifest::{Digest, RelPath};
use cantus_memory::ImportedNote;
use thiserror::Error;

use crate::plan::MOST_BYTES;

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
    let mut staged = Vec::new();
    for (path, text) in files {
        let file = root.stage(path, text.as_bytes());
        staged.push((*path, file.map_err(|source| WriteError::Target { source, left: Vec::new() })?));
    }
    let mut done: Vec<(&RelPath, Digest)> = Vec::new();
    for ((path, file), (_, text)) in staged.into_iter().zip(files) {
        let result = root.replace(path, file, None, MOST_BYTES);
        // A write that fails may have put the file in its place.
        done.push((path, Digest::of(text)));
        let Err(source) = result else { continue };
        let exists = matches!(source, TargetError::Changed { .. });
        let made = done.iter().take(done.len() - usize::from(exists));
        let left =
            made.filter(|(path, ours)| !is_gone(root, path, ours)).map(|(path, _)| (*path).clone()).collect();
        return Err(match exists {
            true => WriteError::Exists { path: path.clone(), left },
            false => WriteError::Target { source, left },
        });
    }
    Ok(())
}

/// Removes a file of ours again; whether none of it is left there.
fn is_gone(root: &Root, path: &RelPath, ours: &Digest) -> bool {
    matches!(root.kind(path), Ok(None)) || root.remove_seen(path, ours, MOST_BYTES).is_ok()
}
