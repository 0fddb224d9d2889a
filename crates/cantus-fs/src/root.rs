//! A folder on a disk, asked by relative paths alone.

use std::collections::BTreeMap;
use std::io;
use std::iter::successors;
use std::path::{Component, MAIN_SEPARATOR_STR, Path, PathBuf};
use std::sync::Arc;

use cantus_manifest::{Digest, RelPath};

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
            let mut whole = PathBuf::with_capacity(self.path.as_os_str().len() + 1 + path.as_str().len());
            whole.extend([self.path.as_path(), Path::new(path.as_str())]);
            return whole;
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

    /// Whether the target `path` holds these texts, one behind the other, and nothing else; see [`Disk::holds`]. What
    /// [`Root::contained`] refuses and what can't be read holds nothing: [`Root::read_target`] says why.
    #[must_use]
    pub fn target_holds(&self, path: &RelPath, texts: &[&str]) -> bool {
        matches!(self.target_kind(path), Ok(Some(_)))
            && self.disk.holds(&self.at(path), texts).is_ok_and(|holds| holds)
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

    /// Puts what [`Root::stage`] gave for `path` in its place if what stands there has this digest (`None`: if nothing
    /// stands there), else [`TargetError::Changed`]. Refuses what [`Root::contained`] refuses now.
    ///
    /// The look and the write are one step: the new file is swapped with the old one, which is looked at then and put back
    /// if it is another. Where the file system can't swap, the look comes first and the rename after it. A file of more
    /// than `limit` bytes is another one.
    pub fn replace(
        &self,
        path: &RelPath,
        staged: Staged,
        seen: Option<&Digest>,
        limit: u64,
    ) -> Result<(), TargetError> {
        self.contained(path)?;
        let changed = || TargetError::Changed { path: path.clone(), kept: None };
        let commit = |source| TargetError::Commit { path: path.clone(), source };
        let Some(seen) = seen else {
            return self.disk.commit_new(staged).map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => changed(),
                _ => commit(error),
            });
        };
        let new = self.disk.read(staged.path(), u64::MAX).map(Digest::of);
        let new = new.map_err(|source| TargetError::Read { path: path.clone(), source })?;
        match self.disk.swap(&staged) {
            Ok(()) if self.is(staged.path(), seen, limit) => Ok(()),
            Ok(()) => Err(self.put_back(path, staged, &new)),
            Err(error) if is_absent(&error) => Err(changed()),
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                match self.is(&self.at(path), seen, limit) {
                    true => self.commit(path, staged),
                    false => Err(changed()),
                }
            }
            Err(error) => Err(commit(error)),
        }
    }

    /// Removes the target `path` if what stands there has this digest, else [`TargetError::Changed`]. Refuses what
    /// [`Root::contained`] refuses. The file is renamed before it is looked at, and put back if it is another.
    pub fn remove_seen(&self, path: &RelPath, seen: &Digest, limit: u64) -> Result<(), TargetError> {
        let changed = |kept| TargetError::Changed { path: path.clone(), kept };
        let remove = |source| TargetError::Remove { path: path.clone(), source };
        if self.target_kind(path)?.is_none() {
            return Err(changed(None));
        }
        let aside = match self.disk.set_aside(&self.at(path)) {
            Err(error) if is_absent(&error) => return Err(changed(None)),
            aside => aside.map_err(remove)?,
        };
        if self.is(aside.path(), seen, limit) {
            return self.disk.remove(aside.path()).map_err(remove);
        }
        // Over nothing, so that what took the name meanwhile isn't lost either.
        let kept = self.below(aside.path());
        match self.disk.commit_new(aside.kept()) {
            Ok(()) => Err(changed(None)),
            Err(_) => Err(changed(kept)),
        }
    }

    /// Puts back what was swapped out and is another file than it should be; what can't be put back is kept beside.
    fn put_back(&self, path: &RelPath, staged: Staged, new: &Digest) -> TargetError {
        let path = path.clone();
        // What is swapped out by this is ours, unless someone wrote to the target between the two swaps.
        if self.disk.swap(&staged).is_ok() && self.is(staged.path(), new, u64::MAX) {
            return TargetError::Changed { path, kept: None };
        }
        TargetError::Changed { path, kept: self.below(staged.kept().path()) }
    }

    /// Whether the file at an absolute path has this digest.
    fn is(&self, path: &Path, seen: &Digest, limit: u64) -> bool {
        self.disk.read(path, limit).is_ok_and(|bytes| Digest::of(bytes) == *seen)
    }

    /// An absolute path as one below the root.
    fn below(&self, path: &Path) -> Option<RelPath> {
        RelPath::new(text(path.strip_prefix(&self.path).ok()?)).ok()
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

    /// Removes what runs staged beside `targets` and left there, as far as `may_go` says so of their bytes: regular files
    /// whose name is that of a file staged for one of them. Gives their number. The caller holds the lock, else a run that
    /// is alive could lose its files. Folders behind a symlink and files of more than `limit` bytes are left alone.
    pub fn sweep(
        &self,
        targets: &[RelPath],
        limit: u64,
        may_go: impl Fn(&RelPath, &[u8]) -> bool,
    ) -> io::Result<usize> {
        let mut count = 0;
        for (target, path) in self.staged_beside(targets)? {
            // One that goes meanwhile, or is too large, stays.
            if !self.disk.read(&self.at(&path), limit).is_ok_and(|bytes| may_go(&target, &bytes)) {
                continue;
            }
            match self.disk.remove(&self.at(&path)) {
                Ok(()) => count += 1,
                Err(error) if is_absent(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// The files beside `targets` whose name is that of a file staged for one of them, each after its target. Folders
    /// behind a symlink are left alone.
    pub fn staged_beside(&self, targets: &[RelPath]) -> io::Result<Vec<(RelPath, RelPath)>> {
        let mut folders = BTreeMap::<Option<RelPath>, Vec<&RelPath>>::new();
        for target in targets {
            folders.entry(target.parent()).or_default().push(target);
        }
        let mut staged = Vec::new();
        for targets in folders.values() {
            staged.extend(self.staged_in_one_folder(targets)?);
        }
        Ok(staged)
    }

    /// The bytes, at most `limit`, of `name` in `folder`, which is a symlink: it is resolved once and read if its
    /// real path is that of a regular file inside the real path of `folder`. `name` may have several parts; if it
    /// is no symlink, the same is asked of its own real path.
    pub fn resolve_inside(&self, folder: &RelPath, name: &str, limit: u64) -> Result<Vec<u8>, LinkError> {
        let path = RelPath::new(format!("{folder}/{name}"))?;
        let (real_folder, real) = match (self.canonical(folder), self.canonical(&path)) {
            (Ok(folder), Ok(real)) => (folder, real),
            (Err(source), _) | (_, Err(source)) => return Err(LinkError::Dangling { path, source }),
        };
        let Ok(below) = real.strip_prefix(&real_folder) else {
            return Err(self.leaves(path, folder.clone(), &real));
        };
        self.disk.read(&real, limit).map_err(|source| {
            let target = text(&Path::new(folder.as_str()).join(below));
            LinkError::Read { path, target, source }
        })
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

    /// The files staged for any of `targets`, which lie in one folder.
    fn staged_in_one_folder(&self, targets: &[&RelPath]) -> io::Result<Vec<(RelPath, RelPath)>> {
        let Some(first) = targets.first() else { return Ok(Vec::new()) };
        let folder = first.parent();
        match self.has_plain_folders(first) {
            Ok(true) => {}
            Err(ContainError::Look { source, .. }) => return Err(source),
            Ok(false) | Err(_) => return Ok(Vec::new()),
        }
        let entries = match self
            .disk
            .list(&folder.as_ref().map_or_else(|| self.path.clone(), |folder| self.at(folder)))
        {
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            entries => entries?,
        };
        let files = entries.iter().filter(|entry| entry.kind == Kind::File);
        let ours = files.filter_map(|entry| {
            let target = targets.iter().find(|target| is_staged_name(&entry.name, target.file_name()))?;
            let name = entry.name.to_str()?;
            let path = folder.as_ref().map_or_else(|| RelPath::new(name), |folder| folder.join(name));
            Some(((*target).clone(), path.ok()?))
        });
        Ok(ours.collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::{Scratch, rel};

    #[test]
    fn paths_are_joined_below_the_root() {
        let scratch = Scratch::new();
        let at = scratch.root.at(&rel("a/b c.md"));
        assert_eq!(at, scratch.path().join("a").join("b c.md"));
        assert!(scratch.root.at(&rel("a/c:x")).starts_with(scratch.path()));
    }

    #[test]
    fn entries_come_in_byte_order() {
        let scratch =
            Scratch::of(&["memory/b.md", "memory/a.md", "memory/a-b.md", "memory/B.md", "memory/é.md"]);
        let names = scratch.names("memory");
        assert_eq!(names, ["B.md", "a-b.md", "a.md", "b.md", "é.md"]);
        let top = scratch.root.list(None).unwrap();
        assert_eq!(top, [Entry { name: "memory".into(), kind: Kind::Folder }]);
    }

    #[test]
    fn errors_name_the_operation_and_the_relative_path() {
        let scratch = Scratch::of(&["a.md"]);
        let error = scratch.root.read(&rel("b/a.md"), 10).unwrap_err();
        assert_eq!(error.to_string(), "cannot read `b/a.md`");
        assert!(error.is_absent());
        let error = scratch.root.list(Some(&rel("b"))).unwrap_err();
        assert_eq!(error.to_string(), "cannot list `b`");
        assert!(error.is_absent());
        assert!(scratch.root.read(&rel("a.md/b"), 10).unwrap_err().is_absent());
        assert!(!scratch.root.read(&rel("a.md"), 1).unwrap_err().is_absent());
    }

    #[test]
    fn no_error_holds_an_absolute_path() {
        let scratch = Scratch::of(&["a.md", "folder/x.md"]);
        let root = &scratch.root;
        scratch.check_relative(&root.list(Some(&rel("gone"))).unwrap_err());
        scratch.check_relative(&root.read(&rel("folder"), 9).unwrap_err());
        scratch.check_relative(&root.stage(&rel("a.md/b"), b"").unwrap_err());
        scratch.check_relative(&root.stage(&rel(&"n".repeat(250)), b"").unwrap_err());
        scratch.check_relative(&root.resolve_inside(&rel("folder"), "gone.md", 9).unwrap_err());
        scratch.check_relative(&root.resolve_inside(&rel("folder"), "../a.md", 9).unwrap_err());
    }

    #[test]
    fn a_target_is_written_read_and_removed() {
        let scratch = Scratch::new();
        let (root, path) = (&scratch.root, rel("docs/new/page.md"));
        assert_eq!(root.read_target(&path, 10).unwrap(), None);
        scratch.put("docs/new/page.md", "one");
        scratch.put("docs/new/page.md", "two");
        assert_eq!(root.read_target(&path, 10).unwrap().unwrap(), b"two");
        assert_eq!(scratch.names("docs/new"), ["page.md"]);
        root.remove(&path).unwrap();
        root.remove(&path).unwrap();
        assert_eq!(root.read_target(&path, 10).unwrap(), None);
    }

    #[test]
    fn a_large_target_is_an_error_not_an_absence() {
        let scratch = Scratch::of(&["a.md"]);
        let error = scratch.root.read_target(&rel("a.md"), 1).unwrap_err();
        assert!(matches!(
            error,
            TargetError::Read { source: crate::ReadError::TooLarge { size: 4, limit: 1 }, .. }
        ));
    }

    #[test]
    fn what_was_staged_for_one_path_is_not_committed_to_another() {
        let scratch = Scratch::of(&["a.md", "b.md"]);
        let staged = scratch.root.stage(&rel("a.md"), b"new").unwrap();
        let error = scratch.root.commit(&rel("b.md"), staged).unwrap_err();
        assert_eq!(error.to_string(), "cannot replace `b.md`");
        assert_eq!(scratch.names("."), ["a.md", "b.md"]);
        assert_eq!((scratch.get("a.md"), scratch.get("b.md")), ("a.md".to_owned(), "b.md".to_owned()));
    }

    #[test]
    fn a_folder_is_no_target() {
        let scratch = Scratch::of(&["docs/a.md"]);
        scratch.check_refused("docs", "`docs` is a folder; expected a regular file or nothing");
    }

    #[test]
    fn nothing_lies_below_a_file() {
        let scratch = Scratch::of(&["docs/a.md"]);
        scratch.check_refused(
            "docs/a.md/b/c.md",
            "`docs/a.md/b/c.md` lies behind `docs/a.md`, which is a regular file; expected a folder",
        );
    }

    #[test]
    fn sweeping_removes_what_was_staged_and_nothing_else() {
        let kept = [
            ".AGENTS.md.a1B2c34.cantus-tmp",
            ".AGENTS.md.a1B2c3.cantus-tmp.md",
            ".OTHER.md.a1B2c3.cantus-tmp",
            "AGENTS.md",
            "AGENTS.md.a1B2c3.cantus-tmp",
            "else/.AGENTS.md.a1B2c3.cantus-tmp",
        ];
        let scratch = Scratch::of(&kept);
        let before = scratch.tree();
        for left in
            [".AGENTS.md.a1B2c3.cantus-tmp", ".CLAUDE.md.zzzzzz.cantus-tmp", "docs/.x.md.000000.cantus-tmp"]
        {
            scratch.put(left, "half");
        }
        scratch.put(".AGENTS.md.folder.cantus-tmp/inner", "a folder of that name stays");
        let targets = ["AGENTS.md", "CLAUDE.md", "docs/x.md", "gone/x.md", "AGENTS.md/x.md"].map(rel);
        assert_eq!(scratch.root.sweep(&targets, 1 << 20, |_, _| true).unwrap(), 3);
        scratch.root.remove(&rel(".AGENTS.md.folder.cantus-tmp/inner")).unwrap();
        assert_eq!(scratch.tree(), before);
        assert_eq!(scratch.root.sweep(&targets, 1 << 20, |_, _| true).unwrap(), 0);
    }

    #[test]
    fn an_ordinary_note_resolves_to_itself() {
        let scratch = Scratch::of(&["memory/a.md", "memory/web/b.md"]);
        let memory = rel("memory");
        assert_eq!(scratch.root.resolve_inside(&memory, "web/b.md", 100).unwrap(), b"memory/web/b.md");
        let error = scratch.root.resolve_inside(&memory, "../a.md", 100).unwrap_err();
        assert!(matches!(error, LinkError::Name(_)));
    }
}

#[cfg(test)]
#[cfg(unix)]
mod symlink_tests {
    use std::error::Error as _;

    use super::*;
    use crate::scratch::{Scratch, rel};

    #[test]
    fn a_symlink_is_no_target() {
        let scratch = Scratch::of(&["a.md"]);
        scratch.link("a.md", "link.md");
        scratch.check_refused("link.md", "`link.md` is a symlink; expected a regular file or nothing");
    }

    #[test]
    fn a_dangling_symlink_is_no_target() {
        let scratch = Scratch::new();
        scratch.link("gone.md", "link.md");
        scratch.check_refused("link.md", "`link.md` is a symlink; expected a regular file or nothing");
    }

    #[test]
    fn a_symlink_on_the_way_is_refused_even_if_it_stays_inside() {
        let scratch = Scratch::of(&["real/sub/a.md"]);
        scratch.link("real", "link");
        let expected = "`link/sub/a.md` lies behind the symlink `link`; expected a folder";
        scratch.check_refused("link/sub/a.md", expected);
        scratch.link("gone", "dangling");
        scratch.check_refused(
            "dangling/a.md",
            "`dangling/a.md` lies behind the symlink `dangling`; expected a folder",
        );
    }

    #[test]
    fn a_root_behind_a_symlink_is_the_users_choice() {
        let scratch = Scratch::of(&["real/a.md"]);
        scratch.link("real", "link");
        let root = Root::new(Arc::clone(scratch.root.disk()), scratch.path().join("link"));
        let staged = root.stage(&rel("a.md"), b"new").unwrap();
        root.commit(&rel("a.md"), staged).unwrap();
        assert_eq!(scratch.get("real/a.md"), "new");
    }

    #[test]
    fn a_symlink_that_appears_after_staging_is_seen_by_the_commit() {
        let scratch = Scratch::of(&["real/a.md", "docs/a.md"]);
        let staged = scratch.root.stage(&rel("docs/a.md"), b"new").unwrap();
        rustix::fs::rename(scratch.path().join("docs"), scratch.path().join("moved")).unwrap();
        scratch.link("real", "docs");
        let error = scratch.root.commit(&rel("docs/a.md"), staged).unwrap_err();
        assert!(matches!(error, TargetError::Contain(ContainError::BehindSymlink { .. })));
        assert_eq!(scratch.get("real/a.md"), "real/a.md");
    }

    #[test]
    fn sweeping_does_not_go_behind_symlinks() {
        let scratch = Scratch::of(&["real/.a.md.a1B2c3.cantus-tmp", "x"]);
        scratch.link("real", "link");
        scratch.link("x", ".b.md.a1B2c3.cantus-tmp");
        let before = scratch.tree();
        assert_eq!(scratch.root.sweep(&[rel("link/a.md"), rel("b.md")], 1 << 20, |_, _| true).unwrap(), 0);
        assert_eq!(scratch.tree(), before);
    }

    #[track_caller]
    fn check_link(scratch: &Scratch, name: &str, expected: &str) {
        let error = scratch.root.resolve_inside(&rel("memory"), name, 100).unwrap_err();
        assert_eq!(error.to_string(), expected);
        scratch.check_relative(&error);
    }

    #[test]
    fn a_link_inside_the_folder_is_followed() {
        let scratch = Scratch::of(&["memory/web/a.md"]);
        scratch.link("web/a.md", "memory/link.md");
        scratch.link("link.md", "memory/again.md");
        scratch.link("memory", "alias");
        let root = &scratch.root;
        assert_eq!(root.resolve_inside(&rel("memory"), "link.md", 100).unwrap(), b"memory/web/a.md");
        assert_eq!(root.resolve_inside(&rel("memory"), "again.md", 100).unwrap(), b"memory/web/a.md");
        assert_eq!(root.resolve_inside(&rel("alias"), "link.md", 100).unwrap(), b"memory/web/a.md");
    }

    #[test]
    fn other_links_say_where_they_point() {
        let scratch = Scratch::of(&["memory/web/a.md", "docs/b.md"]);
        let outside = Scratch::of(&["secret.md"]);
        scratch.link("../docs/b.md", "memory/other.md");
        scratch.link(outside.path().join("secret.md").to_str().unwrap(), "memory/secret.md");
        scratch.link("web", "memory/folder.md");
        scratch.link("gone", "memory/dangling.md");
        scratch.link("circle.md", "memory/circle.md");
        scratch.link(".", "memory/self.md");
        check_link(
            &scratch,
            "other.md",
            "`memory/other.md` is a symlink to `docs/b.md`; expected a file inside `memory`",
        );
        check_link(
            &scratch,
            "secret.md",
            "`memory/secret.md` is a symlink out of the root; expected a file inside `memory`",
        );
        check_link(
            &scratch,
            "folder.md",
            "cannot read `memory/web`, to which the symlink `memory/folder.md` points",
        );
        check_link(&scratch, "self.md", "cannot read `memory`, to which the symlink `memory/self.md` points");
        check_link(&scratch, "dangling.md", "`memory/dangling.md` is a symlink that cannot be followed");
        check_link(&scratch, "circle.md", "`memory/circle.md` is a symlink that cannot be followed");
    }

    #[test]
    fn a_sibling_with_the_same_beginning_is_not_inside() {
        let scratch = Scratch::of(&["memory/a.md", "memory-old/b.md"]);
        scratch.link("../memory-old/b.md", "memory/b.md");
        check_link(
            &scratch,
            "b.md",
            "`memory/b.md` is a symlink to `memory-old/b.md`; expected a file inside `memory`",
        );
    }

    #[test]
    fn the_limit_holds_behind_a_link() {
        let scratch = Scratch::of(&["memory/a.md"]);
        scratch.link("a.md", "memory/link.md");
        let error = scratch.root.resolve_inside(&rel("memory"), "link.md", 3).unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), "11 bytes are more than the 3 allowed");
    }
}
