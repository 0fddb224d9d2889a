//! A temporary folder for the unit tests.

use std::error::Error;
use std::iter::successors;
use std::path::Path;
use std::sync::Arc;

use cantus_manifest::RelPath;
use tempfile::TempDir;

use crate::{Kind, RealDisk, Root};

/// A folder that goes away with the value, and a root on it.
pub(crate) struct Scratch {
    folder: TempDir,
    pub(crate) root: Root,
}

#[track_caller]
pub(crate) fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

impl Scratch {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(Arc::new(RealDisk), folder.path().to_path_buf());
        Self { folder, root }
    }

    /// With these files; each holds its own path.
    pub(crate) fn of(paths: &[&str]) -> Self {
        let scratch = Self::new();
        paths.iter().for_each(|path| scratch.put(path, path));
        scratch
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    #[track_caller]
    pub(crate) fn put(&self, path: &str, text: &str) {
        let path = rel(path);
        let staged = self.root.stage(&path, text.as_bytes()).unwrap();
        self.root.commit(&path, staged).unwrap();
    }

    #[track_caller]
    pub(crate) fn get(&self, path: &str) -> String {
        String::from_utf8(self.root.read(&rel(path), 1 << 20).unwrap()).unwrap()
    }

    /// A symlink at `path` with the text `target`.
    #[cfg(unix)]
    #[track_caller]
    pub(crate) fn link(&self, target: &str, path: &str) {
        std::os::unix::fs::symlink(target, self.root.at(&rel(path))).unwrap();
    }

    /// The names in `folder`; `.` is the root.
    #[track_caller]
    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let folder = (folder != ".").then(|| rel(folder));
        let entries = self.root.list(folder.as_ref()).unwrap();
        entries.into_iter().map(|entry| entry.name.into_string().unwrap()).collect()
    }

    /// Every file and symlink below the root, with the bytes of the files.
    pub(crate) fn tree(&self) -> Vec<(RelPath, Kind, Option<Vec<u8>>)> {
        let (mut tree, mut folders) = (Vec::new(), vec![None]);
        while let Some(folder) = folders.pop() {
            for entry in self.root.list(folder.as_ref()).unwrap() {
                let name = entry.name.into_string().unwrap();
                let path = folder.as_ref().map_or_else(|| rel(&name), |folder| folder.join(&name).unwrap());
                match entry.kind {
                    Kind::Folder => folders.push(Some(path)),
                    Kind::File => tree.push((path.clone(), entry.kind, self.root.read(&path, 1 << 20).ok())),
                    kind => tree.push((path, kind, None)),
                }
            }
        }
        tree
    }

    /// Looking at, writing, reading and removing the target `path` are refused with `expected`, and nothing changes.
    #[track_caller]
    pub(crate) fn check_refused(&self, path: &str, expected: &str) {
        let (root, path, before) = (&self.root, rel(path), self.tree());
        assert_eq!(root.contained(&path).unwrap_err().to_string(), expected);
        assert_eq!(root.stage(&path, b"new").unwrap_err().to_string(), expected);
        assert_eq!(root.read_target(&path, 100).unwrap_err().to_string(), expected);
        assert_eq!(root.remove(&path).unwrap_err().to_string(), expected);
        assert_eq!(self.tree(), before);
    }

    /// Neither `error` nor a cause of it says where the folder is.
    #[track_caller]
    pub(crate) fn check_relative(&self, error: &(dyn Error + 'static)) {
        let name = self.path().file_name().unwrap().to_str().unwrap();
        for error in successors(Some(error), |error| (*error).source()) {
            assert!(!error.to_string().contains(name), "{error}");
        }
    }
}
