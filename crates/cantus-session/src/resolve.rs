//! Which history a resumed session will open.

use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Entry, Kind, ReadError};

use crate::HistoryError;

const SUFFIX: &[u8] = b".jsonl";

/// The history that a session resumed from `folder` will open, absolute: `explicit` if one is given, whatever stands there,
/// else the regular file `*.jsonl` in the folder that was changed last, of equally old ones the last in the byte order of the
/// names. Symlinks are followed; what vanishes meanwhile or can't be looked at is left out.
///
/// `None` if there is none, or no folder. A folder that can't be listed is an error.
pub fn history_file(
    disk: &dyn Disk,
    explicit: Option<&Path>,
    folder: &Path,
) -> Result<Option<PathBuf>, HistoryError> {
    if let Some(path) = explicit {
        return Ok(Some(path.to_path_buf()));
    }
    let entries = match disk.list(folder).map_err(ReadError::Io) {
        Err(error) if error.is_absent() => return Ok(None),
        entries => entries?,
    };
    // Names come in byte order, and of equal times the last one wins.
    let dated = entries.iter().filter_map(|entry| Some((modified(disk, folder, entry)?, &entry.name)));
    Ok(dated.max_by_key(|(modified, _)| *modified).map(|(_, name)| folder.join(name)))
}

/// When a history was changed, in nanoseconds since 1970; `None` if `entry` is none.
fn modified(disk: &dyn Disk, folder: &Path, entry: &Entry) -> Option<i64> {
    let name = entry.name.as_encoded_bytes();
    if name.len() == SUFFIX.len() || !name.ends_with(SUFFIX) {
        return None;
    }
    let path = folder.join(&entry.name);
    let real = match entry.kind {
        Kind::File => path,
        Kind::Symlink => disk.canonical(&path).ok()?,
        Kind::Folder | Kind::Other => return None,
    };
    Some(disk.stamp(&real).ok()??.modified)
}
