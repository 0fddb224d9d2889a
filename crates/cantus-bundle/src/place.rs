//! Whether one place lies in another, before and after links are resolved.

use std::io;
use std::path::{Component, Path, PathBuf};

use cantus_fs::Disk;

/// Whether `path` is the folder `root` or lies in it: by its words, or where its nearest existing ancestor really is. Both are
/// absolute; `root` exists.
pub(crate) fn is_inside(disk: &dyn Disk, root: &Path, path: &Path) -> io::Result<bool> {
    if plain(path).starts_with(plain(root)) {
        return Ok(true);
    }
    Ok(real(disk, path)?.starts_with(disk.canonical(root)?))
}

/// `path` with the links of its existing part resolved.
fn real(disk: &dyn Disk, path: &Path) -> io::Result<PathBuf> {
    let mut missing = Vec::new();
    for ancestor in path.ancestors() {
        match disk.canonical(ancestor) {
            Ok(real) => return Ok(missing.iter().rev().fold(real, |real, part| real.join(part))),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                missing.extend(ancestor.file_name());
            }
            Err(error) => return Err(error),
        }
    }
    Ok(path.to_path_buf())
}

/// `path` with its `.` and `..` taken by their words.
fn plain(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut plain, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
        plain
    })
}

#[cfg(test)]
mod tests {
    use cantus_fs::RealDisk;

    use super::*;

    #[track_caller]
    fn check(folder: &Path, path: &str, expected: bool) {
        assert_eq!(
            is_inside(&RealDisk, &folder.join("bundle"), &folder.join(path)).unwrap(),
            expected,
            "{path}"
        );
    }

    #[test]
    fn places_by_their_words() {
        let folder = tempfile::tempdir().unwrap();
        RealDisk.create_folders(&folder.path().join("bundle/content")).unwrap();
        for path in ["bundle", "bundle/", "bundle/new/er", "other/../bundle", "./bundle/content"] {
            check(folder.path(), path, true);
        }
        for path in ["", "bundled", "bundle/..", "other/bundle"] {
            check(folder.path(), path, false);
        }
    }

    #[cfg(unix)]
    #[test]
    fn places_behind_links() {
        let folder = tempfile::tempdir().unwrap();
        RealDisk.create_folders(&folder.path().join("bundle/content")).unwrap();
        let link =
            |target: &str, name: &str| std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
        link("bundle", "link");
        link("bundle/content", "deep");
        link(".", "here");
        check(folder.path(), "link/new/er", true);
        check(folder.path(), "deep", true);
        check(folder.path(), "here/bundle/x", true);
        check(folder.path(), "here/x", false);
    }
}
