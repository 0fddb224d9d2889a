//! What is staged in git, as a disk that can only be read.
//!
//! Below the top folder of the repository the disk shows the entries of the index, whatever lies in the working tree; the rest
//! of the machine is as it is. Files are the bytes that git holds, so line ends are those of the commit to come. What
//! `git add --intent-to-add` announced isn't there, and neither are submodules, which have an index of their own.

mod blobs;
mod git;
mod tree;

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use cantus_fs::{Disk, Entry, Kind, LockError, LockGuard, ReadError, Staged};
use cantus_manifest::{Diagnostic, RelPath};
use thiserror::Error;

use blobs::Blobs;
use git::Git;
use tree::{Follow, Node, Tree, Walk};

/// Why the index can't be read.
#[derive(Debug, Error)]
pub enum IndexError {
    /// No repository holds the folder.
    #[error("not in a git repository, so nothing is staged")]
    NoRepository,
    /// Git can't be started.
    #[error("git can't be started")]
    NoGit(#[source] io::Error),
    /// Git gave an error.
    #[error("`git {command}` failed: {said}")]
    Failed {
        /// The arguments.
        command: String,
        /// What git said, without absolute paths of the repository.
        said: String,
    },
    /// Git's answer has another form than its documentation says.
    #[error("the answer of `git {command}` can't be read")]
    Unreadable {
        /// The arguments.
        command: String,
    },
}

impl IndexError {
    /// The finding that tells it.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let help = match self {
            Self::NoRepository => "run this inside a git repository, or leave `--staged` out".to_owned(),
            Self::NoGit(_) => "install git, or leave `--staged` out".to_owned(),
            Self::Failed { command, .. } | Self::Unreadable { command } => {
                format!("run `git {command}` to see it")
            }
        };
        Diagnostic::from_error("staged", self).help(help)
    }
}

/// The index of a repository as a disk.
#[derive(Debug)]
pub struct IndexDisk {
    real: Arc<dyn Disk>,
    /// The top folder as the caller's paths name it, and by its real path.
    tops: [PathBuf; 2],
    tree: Tree,
    blobs: Blobs,
}

impl IndexDisk {
    /// The index of the repository that holds `start`, an absolute path without `..`; `real` is the disk itself.
    ///
    /// It is the index that `GIT_INDEX_FILE` names if the environment speaks of that repository, as it does in a hook.
    pub fn open(real: Arc<dyn Disk>, start: &Path) -> Result<Self, IndexError> {
        let git = Git::at(real.as_ref(), start)?;
        let tree = Tree::new(git.entries()?);
        let top = git.top().to_path_buf();
        let real_top = real.canonical(&top).unwrap_or_else(|_| top.clone());
        Ok(Self { real, tops: [top, real_top], tree, blobs: Blobs::of(git) })
    }

    /// The unmerged paths below `folder`, an absolute path, relative to it. Those that can't be told as text are left out.
    #[must_use]
    pub fn unmerged(&self, folder: &Path) -> Vec<RelPath> {
        let Some(folder) = self.below(folder) else { return Vec::new() };
        let paths = self.tree.unmerged().filter_map(|path| path.strip_prefix(folder).ok());
        let text = |path: &Path| Some(path.iter().map(OsStr::to_str).collect::<Option<Vec<_>>>()?.join("/"));
        paths.filter_map(|path| RelPath::new(text(path)?).ok()).collect()
    }

    /// The path below the top folder; `None` if it lies elsewhere, or is git's own.
    fn below<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        let below = self.tops.iter().find_map(|top| path.strip_prefix(top).ok())?;
        (below.iter().next() != Some(OsStr::new(".git"))).then_some(below)
    }

    /// Where a path leads.
    fn walk(&self, path: &Path, follow: Follow) -> io::Result<Walk<'_>> {
        match self.below(path) {
            Some(below) => self.tree.walk(below, follow, &self.tops, |link| self.blobs.link(link)),
            None => Ok(Walk::Outside(path.to_path_buf())),
        }
    }
}

impl Disk for IndexDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        match self.walk(folder, Follow::All)? {
            Walk::Outside(path) => self.real.list(&path),
            Walk::Inside(_, Node::Folder(nodes)) => {
                let entry = |(name, node): (_, &Node)| Entry { name: Clone::clone(name), kind: node.kind() };
                Ok(nodes.iter().map(entry).collect())
            }
            Walk::Inside(..) => Err(io::ErrorKind::NotADirectory.into()),
        }
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        match self.walk(path, Follow::Folders) {
            Ok(Walk::Outside(path)) => self.real.kind(&path),
            Ok(Walk::Inside(_, node)) => Ok(Some(node.kind())),
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        match self.walk(path, Follow::Folders)? {
            Walk::Outside(path) => self.real.read(&path, limit),
            Walk::Inside(_, Node::File(blob)) => self.blobs.read(blob, limit),
            Walk::Inside(_, node) => Err(ReadError::NotAFile(node.kind())),
        }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match self.walk(path, Follow::All)? {
            Walk::Outside(path) => self.real.canonical(&path),
            Walk::Inside(path, _) => Ok(self.tops[1].join(path)),
        }
    }

    fn create_folders(&self, _: &Path) -> io::Result<()> {
        Err(read_only())
    }

    fn stage(&self, _: &Path, _: &[u8]) -> io::Result<Staged> {
        Err(read_only())
    }

    fn commit(&self, _: Staged) -> io::Result<()> {
        Err(read_only())
    }

    fn remove(&self, _: &Path) -> io::Result<()> {
        Err(read_only())
    }

    fn lock(&self, _: &Path, _: &str, _: Duration) -> Result<LockGuard, LockError> {
        Err(LockError::Io(read_only()))
    }
}

fn read_only() -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, "git's index is only read here")
}
