//! A folder with its bytes, read whole without following a link.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cantus_fs::Disk;

use crate::faults::Faults;
use crate::names::{Segment, SourceId, TreePath};
use crate::resolution::{Entry, Skill};
use crate::tree::{self, Tree};

/// Regular files with their bytes, and folders, by their paths below a root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Folder {
    pub(crate) files: BTreeMap<TreePath, Vec<u8>>,
    pub(crate) folders: BTreeSet<TreePath>,
}

impl Folder {
    /// Reads what is below `root`: of the files those that `wanted` says, of the folders all. A symlink, a special file or a name that
    /// isn't portable is a fault wherever it is.
    pub(crate) fn read(
        disk: &dyn Disk,
        root: &Path,
        wanted: impl Fn(&TreePath) -> bool,
        faults: &mut Faults<'_>,
    ) -> Option<Self> {
        let tree = match Tree::walk(disk, root) {
            Ok(tree) => tree,
            Err(fault) => {
                match &fault.path {
                    Some(path) => faults.inside(path).add(fault.message),
                    None => faults.add(fault.message),
                }
                return None;
            }
        };
        let mut folder = Self { files: BTreeMap::new(), folders: tree.folders };
        let before = faults.count();
        for path in tree.files.into_keys().filter(|path| wanted(path)) {
            match tree::read(disk, root, &path) {
                Ok(bytes) => drop(folder.files.insert(path, bytes)),
                Err(error) => faults.inside(path.as_str()).add(format!("cannot be read: {error}")),
            }
        }
        (faults.count() == before).then_some(folder)
    }

    /// The file called `path`.
    pub(crate) fn file(&self, path: &str) -> Option<&[u8]> {
        self.files.get(path).map(Vec::as_slice)
    }

    /// What is below `path`, its paths from there on.
    pub(crate) fn below(&self, path: &str) -> Self {
        let cut = |known: &TreePath| TreePath::new(known.strip(path)?).ok();
        Self {
            files: self
                .files
                .iter()
                .filter_map(|(known, bytes)| Some((cut(known)?, bytes.clone())))
                .collect(),
            folders: self.folders.iter().filter_map(cut).collect(),
        }
    }

    /// The names of what stands directly below `path`, folders then files, each in byte order.
    pub(crate) fn names(&self, path: &str) -> (Vec<String>, Vec<String>) {
        let direct = |known: &TreePath| {
            let rest = known.strip(path)?;
            (!rest.contains('/')).then(|| rest.to_owned())
        };
        (self.folders.iter().filter_map(direct).collect(), self.files.keys().filter_map(direct).collect())
    }

    /// A skill made of all of it. Without the entry file there is none.
    pub(crate) fn skill(self, source: &SourceId, id: Segment, entry: Entry) -> Option<Skill> {
        self.file(entry.file_name())?;
        let Self { files, folders } = self;
        Some(Skill { source: source.clone(), id, entry, files, folders })
    }
}
