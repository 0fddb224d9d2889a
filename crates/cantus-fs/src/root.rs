//! A folder on a disk, asked by relative paths alone.

use std::collections::BTreeMap;
use std::io;
use std::iter::successors;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};
use std::sync::Arc;

use cantus_manifest::RelPath;

use crate::error::is_absent;
use crate::staged::is_staged_name;
use crate::{AccessError, ContainError, Disk, Entry, Kind, LinkError, Staged, TargetError};

/// A folder on a disk. Paths below it are [`RelPath`]s, in errors too.
#[derive(Clone, Debug)]
pub struct Root {
    disk: Arc<dyn Disk>,
    path: PathBuf,
}

impl Root {
    /// The folder `path`, which must be absolute; it need not exist. It may be or lie behind a symlink: what is
    /// said about symlinks below counts from here.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, path: PathBuf) -> Self {
        Self { disk, path }
    }

    /// The absolute path of the root.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The disk it is on.
    #[must_use]
    pub fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The absolute path of `path`.
    #[must_use]
    pub fn at(&self, path: &RelPath) -> PathBuf {
        if MAIN_SEPARATOR_STR == "/" {
            return self.path.join(path.as_str());
        }
        // As one text: pushed part by part, one such as `c:x` would start anew at that drive. Roots of the form
        // `\\?\C:\…` know no `/`.
        self.path.join(path.as_str().replace('/', MAIN_SEPARATOR_STR))
    }

    /// What `folder` holds (`None`: the root), in the byte order of the names; see [`Disk::list`].
    pub fn list(&self, folder: Option<&RelPath>) -> Result<Vec<Entry>, AccessError> {
        let listed = match folder {
            Some(folder) => self.disk.list(&self.at(folder)),
            None => self.disk.list(&self.path),
        };
        listed.map_err(|source| {
            let path = folder.map_or(".", RelPath::as_str).to_owned();
            AccessError::List { path, source }
        })
    }

    /// What stands at `path`, itself not followed if it is a symlink; `None` if nothing does.
    pub fn kind(&self, path: &RelPath) -> Result<Option<Kind>, AccessError> {
        self.disk.kind(&self.at(path)).map_err(|source| AccessError::Kind { path: path.clone(), source })
    }

    /// The bytes of the regular file `path`, at most `limit` of them; see [`Disk::read`]. Folders on the way may
    /// be symlinks.
    pub fn read(&self, path: &RelPath, limit: u64) -> Result<Vec<u8>, AccessError> {
        self.disk
            .read(&self.at(path), limit)
            .map_err(|source| AccessError::Read { path: path.clone(), source })
    }

    /// Refuses a path that is not surely what it says: one which is a symlink or has a symlink on the way
    /// (Windows: a junction too), one below a file, one that is neither a regular file nor absent.
    pub fn contained(&self, path: &RelPath) -> Result<(), ContainError> {
        self.target_kind(path).map(drop)
    }

    /// The bytes of the target `path`, at most `limit` of them; `None` if it is absent. Refuses what
    /// [`Root::contained`] refuses.
    pub fn read_target(&self, path: &RelPath, limit: u64) -> Result<Option<Vec<u8>>, TargetError> {
        if self.target_kind(path)?.is_none() {
            return Ok(None);
        }
        match self.disk.read(&self.at(path), limit) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.is_absent() => Ok(None),
            Err(source) => Err(TargetError::Read { path: path.clone(), source }),
        }
    }

    /// Writes the new bytes of `path` beside it, its folders made; see [`Disk::stage`]. Refuses what
    /// [`Root::contained`] refuses, before anything is made.
    pub fn stage(&self, path: &RelPath, bytes: &[u8]) -> Result<Staged, TargetError> {
        self.contained(path)?;
        let target = self.at(path);
        if let Some(folder) = target.parent() {
            let made = self.disk.create_folders(folder);
            made.map_err(|source| TargetError::Folder { path: path.clone(), source })?;
        }
        self.disk.stage(&target, bytes).map_err(|source| TargetError::Stage { path: path.clone(), source })
    }

    /// Puts what [`Root::stage`] gave for `path` in its place; see [`Disk::commit`]. Refuses what
    /// [`Root::contained`] refuses now, and what was staged for another path.
    pub fn commit(&self, path: &RelPath, staged: Staged) -> Result<(), TargetError> {
        self.contained(path)?;
        let committed = if staged.target() == self.at(path) {
            self.disk.commit(staged)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "it was staged for another path"))
        };
        committed.map_err(|source| TargetError::Commit { path: path.clone(), source })
    }

    /// Removes the target `path`; nothing is done if it is absent. Refuses what [`Root::contained`] refuses.
    pub fn remove(&self, path: &RelPath) -> Result<(), TargetError> {
        if self.target_kind(path)?.is_none() {
            return Ok(());
        }
        match self.disk.remove(&self.at(path)) {
            Err(source) if !is_absent(&source) => Err(TargetError::Remove { path: path.clone(), source }),
            _ => Ok(()),
        }
    }

    /// Removes what killed runs left beside `targets`: regular files whose name is that of a file staged for one
    /// of them. Gives their number. The caller holds the lock, else a run that is alive could lose its files.
    /// Folders behind a symlink are left alone.
    pub fn sweep(&self, targets: &[RelPath]) -> io::Result<usize> {
        let mut folders = BTreeMap::<Option<RelPath>, Vec<&RelPath>>::new();
        for target in targets {
            folders.entry(target.parent()).or_default().push(target);
        }
        let mut count = 0;
        for targets in folders.values() {
            count += self.sweep_folder(targets)?;
        }
        Ok(count)
    }

    /// The bytes, at most `limit`, of the note `name` in `folder`, which is a symlink: it is resolved once and read
    /// if its real path is that of a regular file inside the real path of `folder`. `name` may have several parts.
    pub fn resolve_inside(&self, folder: &RelPath, name: &str, limit: u64) -> Result<Vec<u8>, LinkError> {
        let path = RelPath::new(format!("{folder}/{name}"))?;
        let (real_folder, real) = match (self.canonical(folder), self.canonical(&path)) {
            (Ok(folder), Ok(real)) => (folder, real),
            (Err(source), _) | (_, Err(source)) => return Err(LinkError::Dangling { path, source }),
        };
        let Ok(target) = real.strip_prefix(&real_folder) else {
            return Err(self.leaves(path, folder.clone(), &real));
        };
        let read = self.disk.read(&real, limit);
        read.map_err(|source| LinkError::Read { path, target: text(target), source })
    }

    fn canonical(&self, path: &RelPath) -> io::Result<PathBuf> {
        self.disk.canonical(&self.at(path))
    }

    fn leaves(&self, path: RelPath, folder: RelPath, real: &Path) -> LinkError {
        match self.disk.canonical(&self.path).ok().and_then(|root| Some(text(real.strip_prefix(root).ok()?)))
        {
            Some(target) => LinkError::LeavesFolder { path, folder, target },
            None => LinkError::LeavesRoot { path, folder },
        }
    }

    /// What stands at `path`, if that may be a target: a regular file or nothing.
    fn target_kind(&self, path: &RelPath) -> Result<Option<Kind>, ContainError> {
        if !self.has_plain_folders(path)? {
            return Ok(None);
        }
        match self.look(path)? {
            Some(Kind::Symlink) => Err(ContainError::Symlink { path: path.clone() }),
            Some(kind @ (Kind::Folder | Kind::Other)) => {
                Err(ContainError::NotAFile { path: path.clone(), kind })
            }
            kind @ (Some(Kind::File) | None) => Ok(kind),
        }
    }

    /// Whether all folders on the way to `path` are there; an error if one of them is something else.
    fn has_plain_folders(&self, path: &RelPath) -> Result<bool, ContainError> {
        let mut folders: Vec<_> = successors(path.parent(), RelPath::parent).collect();
        while let Some(folder) = folders.pop() {
            let path = path.clone();
            match self.look(&folder)? {
                Some(Kind::Folder) => {}
                Some(Kind::Symlink) => return Err(ContainError::BehindSymlink { path, folder }),
                Some(kind) => return Err(ContainError::BehindFile { path, folder, kind }),
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    fn look(&self, path: &RelPath) -> Result<Option<Kind>, ContainError> {
        self.disk.kind(&self.at(path)).map_err(|source| ContainError::Look { path: path.clone(), source })
    }

    /// Sweeps one folder, the one of all `targets`.
    fn sweep_folder(&self, targets: &[&RelPath]) -> io::Result<usize> {
        let Some(first) = targets.first() else { return Ok(0) };
        let folder = first.parent().map_or_else(|| self.path.clone(), |folder| self.at(&folder));
        match self.has_plain_folders(first) {
            Ok(true) => {}
            Err(ContainError::Look { source, .. }) => return Err(source),
            Ok(false) | Err(_) => return Ok(0),
        }
        let entries = match self.disk.list(&folder) {
            Err(error) if is_absent(&error) => return Ok(0),
            entries => entries?,
        };
        let ours = entries.iter().filter(|entry| {
            entry.kind == Kind::File
                && targets.iter().any(|target| is_staged_name(&entry.name, target.file_name()))
        });
        let mut count = 0;
        for entry in ours {
            match self.disk.remove(&folder.join(&entry.name)) {
                Ok(()) => count += 1,
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }
}

/// A relative path as text with `/`.
fn text(path: &Path) -> String {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(part) => Some(part.to_string_lossy()),
        _ => None,
    });
    parts.collect::<Vec<_>>().join("/")
}
