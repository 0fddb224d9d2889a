//! Folders of the store that would grow: what is old goes.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cantus_fs::{Disk, Kind, is_leftover};

/// How many files a folder keeps.
pub(crate) const MOST_FILES: usize = 512;

/// After this time nobody still writes the file: no render takes so long, on whatever clock.
const DEAD_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

/// Nanoseconds since 1970 of a time.
pub(crate) fn nanos(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).ok().and_then(|since| i64::try_from(since.as_nanos()).ok()).unwrap_or(0)
}

/// Removes what killed runs have left in `folder` for longer than a day; what can't be removed stays.
pub(crate) fn sweep(disk: &dyn Disk, folder: &Path) {
    prune(disk, folder, usize::MAX);
}

/// The same, and of the other files the oldest, so that `most` stay.
pub(crate) fn prune(disk: &dyn Disk, folder: &Path, most: usize) {
    let Ok(entries) = disk.list(folder) else { return };
    let files = entries.into_iter().filter(|entry| entry.kind == Kind::File);
    let (left, kept): (Vec<_>, Vec<_>) = files.partition(|entry| is_leftover(&entry.name));
    let modified = |path: &Path| Some(disk.stamp(path).ok()??.modified);
    let dead = nanos(SystemTime::now()).saturating_sub_unsigned(nanos_of(DEAD_AFTER));
    for path in left.into_iter().map(|entry| folder.join(entry.name)) {
        if modified(&path).is_some_and(|modified| modified < dead) {
            // Another run may sweep too.
            let _ = disk.remove_loose(&path);
        }
    }
    if kept.len() <= most {
        return;
    }
    let paths = kept.into_iter().map(|entry| folder.join(entry.name));
    let mut aged: Vec<_> = paths.filter_map(|path| Some((modified(&path)?, path))).collect();
    aged.sort_unstable();
    for (_, path) in aged.iter().take(aged.len().saturating_sub(most)) {
        let _ = disk.remove_loose(path);
    }
}

fn nanos_of(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}
