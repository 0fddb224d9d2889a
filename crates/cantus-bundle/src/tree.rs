//! What a folder holds, looked at without following any link.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind, ReadError};

use crate::Fault;
use crate::names::{Segment, TreePath};

/// The most bytes that a file of a tree may have to be read.
pub(crate) const MOST_BYTES: u64 = 256 << 20;

/// Where the skills lie.
pub(crate) const SKILLS: &str = "content/skills";
/// The entry file of a skill.
pub(crate) const ENTRY: &str = "SKILL.md";

/// The files and folders below a root: portable paths, regular files and folders alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// The regular files, in the byte order of their whole paths, with their sizes in bytes.
    pub files: BTreeMap<TreePath, u64>,
    /// The folders, the root aside.
    pub folders: BTreeSet<TreePath>,
}

impl Tree {
    /// Looks at everything below `root`. The first entry that no tree may have is the fault: an unreadable folder, a name that
    /// isn't portable, a symlink (the root itself too), a special file.
    pub fn walk(disk: &dyn Disk, root: &Path) -> Result<Self, Fault> {
        match disk.kind(root) {
            Ok(Some(Kind::Folder)) => {}
            Ok(Some(Kind::Symlink)) => {
                return Err(Fault::new(
                    "tree.symlink",
                    "the bundle itself is a symlink; name the folder it leads to",
                ));
            }
            Ok(Some(kind)) => return Err(unreadable(format!("{kind} is no bundle; expected a folder"))),
            Ok(None) => return Err(unreadable("there is no such folder".to_owned())),
            Err(error) => return Err(unreadable(error.to_string())),
        }
        let mut tree = Self::default();
        let mut ahead: Vec<Option<TreePath>> = vec![None];
        while let Some(folder) = ahead.pop() {
            let inner = tree.look_into(disk, root, folder.as_ref())?;
            // The first of them comes off the end next, so that the walk is in order.
            ahead.extend(inner.into_iter().rev().map(Some));
        }
        Ok(tree)
    }

    /// Takes in what one folder holds, and gives the folders in it.
    fn look_into(
        &mut self,
        disk: &dyn Disk,
        root: &Path,
        folder: Option<&TreePath>,
    ) -> Result<Vec<TreePath>, Fault> {
        let shown = |name: &str| folder.map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
        let entries = disk.list(&folder.map_or_else(|| root.to_path_buf(), |folder| at(root, folder)));
        let entries = entries.map_err(|error| {
            let fault = unreadable(error.to_string());
            folder.map_or_else(|| fault.clone(), |folder| fault.clone().at(folder.as_str()))
        })?;
        let mut inner = Vec::new();
        for entry in entries {
            let Some(name) = entry.name.to_str() else {
                let fault = Fault::new("tree.path", "the name is not UTF-8");
                return Err(fault.at(shown(&entry.name.to_string_lossy())));
            };
            let segment = Segment::new(name)
                .map_err(|error| Fault::new("tree.path", error.to_string()).at(shown(name)))?;
            let path = folder.map_or_else(|| segment.clone().into(), |folder| folder.join(&segment));
            match entry.kind {
                Kind::File => {
                    let measure = disk.measure(&at(root, &path));
                    let measure = measure.map_err(|error| unreadable(error.to_string()).at(path.as_str()))?;
                    self.files.insert(path, measure.bytes);
                }
                Kind::Folder => {
                    self.folders.insert(path.clone());
                    inner.push(path);
                }
                Kind::Symlink => {
                    return Err(Fault::new("tree.symlink", "a symlink; expected a regular file or a folder")
                        .at(path.as_str()));
                }
                Kind::Other => {
                    return Err(Fault::new(
                        "tree.special",
                        "a special file; expected a regular file or a folder",
                    )
                    .at(path.as_str()));
                }
            }
        }
        Ok(inner)
    }

    /// The regular file called `path`, if there is one.
    #[must_use]
    pub fn file(&self, path: &str) -> Option<(&TreePath, u64)> {
        let path = TreePath::new(path).ok()?;
        self.files.get_key_value(&path).map(|(path, bytes)| (path, *bytes))
    }

    /// Whether a folder is called `path`.
    #[must_use]
    pub fn has_folder(&self, path: &str) -> bool {
        TreePath::new(path).is_ok_and(|path| self.folders.contains(&path))
    }

    /// The regular files below the folder `path`, with their sizes in bytes.
    pub fn files_below(&self, path: &str) -> impl Iterator<Item = (&TreePath, u64)> {
        let start = format!("{path}/");
        let files = self.files.range::<str, _>((Bound::Excluded(start.as_str()), Bound::Unbounded));
        files
            .take_while(move |(file, _)| file.as_str().starts_with(&start))
            .map(|(file, bytes)| (file, *bytes))
    }
}

fn unreadable(message: String) -> Fault {
    Fault::new("tree.unreadable", message)
}

/// The place of `path` below `root`. Portable names can't leave it.
pub(crate) fn at(root: &Path, path: &TreePath) -> PathBuf {
    path.as_str().split('/').fold(root.to_path_buf(), |place, part| place.join(part))
}

/// The bytes of a file of the tree at `root`.
pub(crate) fn read(disk: &dyn Disk, root: &Path, path: &TreePath) -> Result<Vec<u8>, ReadError> {
    disk.read(&at(root, path), MOST_BYTES)
}
