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

use cantus_fs::{Disk, Entry, Kind, ReadError};
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

    fn is_program(&self, _: &Path) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
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
            Walk::Inside(path, _) => Ok(joined(&self.tops[1], path.iter())),
        }
    }
}

/// A path with more parts; with none it is itself, while `Path::join` would add a slash.
fn joined<'a>(path: &Path, parts: impl IntoIterator<Item = &'a OsStr>) -> PathBuf {
    parts.into_iter().fold(path.to_path_buf(), |path, part| path.join(part))
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use cantus_fs::RealDisk;
    use cantus_testkit::Repo;

    use super::*;

    /// A repository with files, folders and symlinks of all sorts, all of them staged.
    fn repo() -> Repo {
        let repo = Repo::new("//- a/b/c.md\nc\n//- a/d.md\nd\n//- e.md\ne\n//- ä.md\nx\n//- empty\n");
        for (target, link) in [
            ("b/c.md", "a/near"),
            ("../e.md", "a/up"),
            ("b", "a/folder"),
            ("../../outside", "a/out"),
            ("/", "a/far"),
            ("nowhere", "dangling"),
            ("circle", "circle"),
            ("a/folder/../../e.md", "round"),
        ] {
            symlink(target, repo.path().join(link)).expect("a link");
        }
        symlink(repo.path().join("a"), repo.path().join("absolute")).expect("a link");
        repo.git(&["add", "--all"]);
        repo
    }

    /// Everything that a disk says of a path.
    fn said(disk: &dyn Disk, path: &Path) -> [String; 4] {
        let read = match disk.read(path, 100) {
            Err(ReadError::Io(error)) => format!("{:?}", error.kind()),
            read => format!("{read:?}"),
        };
        let entries = |mut entries: Vec<Entry>| {
            entries.retain(|entry| entry.name != ".git");
            entries
        };
        let list = disk.list(path).map(entries).map_err(|error| error.kind());
        [
            format!("{:?}", disk.kind(path).ok()),
            read,
            format!("{list:?}"),
            format!("{:?}", disk.canonical(path).ok()),
        ]
    }

    #[test]
    fn a_checkout_and_its_index_look_the_same() {
        let repo = repo();
        let real: Arc<dyn Disk> = Arc::new(RealDisk);
        let index = IndexDisk::open(real.clone(), &repo.path().join("a")).unwrap();
        for path in [
            "",
            "a",
            "a/b",
            "a/b/c.md",
            "a/d.md",
            "ä.md",
            "empty",
            "gone",
            "gone/x",
            "e.md/x",
            "a/near",
            "a/up",
            "a/folder",
            "a/folder/c.md",
            "a/out",
            "a/far",
            "a/far/etc",
            "dangling",
            "round",
            "absolute",
            "absolute/b/c.md",
            "absolute/folder/c.md",
            "a/../e.md",
            ".git",
            "../home",
        ] {
            let path = repo.path().join(path);
            assert_eq!(said(&index, &path), said(real.as_ref(), &path), "{}", path.display());
        }
        let circle = repo.path().join("circle");
        assert_eq!(index.kind(&circle).unwrap(), Some(Kind::Symlink));
        assert!(index.canonical(&circle).is_err() && index.list(&circle).is_err());
    }

    #[test]
    fn files_are_those_of_the_index_and_can_only_be_read() {
        let repo = repo();
        repo.write("e.md", "changed\n");
        let index = IndexDisk::open(Arc::new(RealDisk), repo.path()).unwrap();
        let path = repo.path().join("e.md");
        assert_eq!(index.read(&path, 100).unwrap(), b"e\n");
        assert!(matches!(index.read(&path, 1), Err(ReadError::TooLarge { size: 2, limit: 1 })));
        assert_eq!(index.read(&path, 2).unwrap(), b"e\n");
        assert!(index.stage(&path, b"x").is_err() && index.remove(&path).is_err());
        assert!(index.create_folders(&repo.path().join("new")).is_err());
        assert_eq!(repo.read("e.md"), "changed\n");
    }
}
