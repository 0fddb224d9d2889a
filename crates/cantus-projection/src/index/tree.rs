//! The paths of an index as folders, with symlinks followed as a disk follows them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};

use cantus_fs::Kind;

use crate::index::git::Staged;
use crate::index::joined;

/// How many symlinks a path may lead over, as on Linux.
const MOST_LINKS: usize = 40;

/// What stands at a path of the index; files and symlinks by the name of their blob.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Node {
    Folder(BTreeMap<OsString, Node>),
    File(String),
    Symlink(String),
}

impl Node {
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Folder(_) => Kind::Folder,
            Self::File(_) => Kind::File,
            Self::Symlink(_) => Kind::Symlink,
        }
    }
}

/// Which symlinks of a path are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Follow {
    /// Those on the way, not the last part.
    Folders,
    All,
}

/// Where a path leads.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Walk<'a> {
    /// The path below the top folder, symlinks resolved, and what stands there.
    Inside(PathBuf, &'a Node),
    /// A path, absolute, that isn't below the top folder.
    Outside(PathBuf),
}

/// The entries of an index.
#[derive(Debug)]
pub(super) struct Tree {
    root: Node,
    unmerged: BTreeSet<PathBuf>,
}

impl Tree {
    pub(super) fn new(entries: impl IntoIterator<Item = Staged>) -> Self {
        let mut root = BTreeMap::new();
        let mut unmerged = BTreeSet::new();
        for Staged { mode, blob, stage, path } in entries {
            if stage != 0 {
                unmerged.insert(path.clone());
            }
            let node = match mode {
                0o120_000 => Node::Symlink(blob),
                0o100_644 | 0o100_755 => Node::File(blob),
                // A submodule.
                _ => continue,
            };
            insert(&mut root, &path, node);
        }
        Self { root: Node::Folder(root), unmerged }
    }

    /// The unmerged paths below the top folder.
    pub(super) fn unmerged(&self) -> impl Iterator<Item = &Path> {
        self.unmerged.iter().map(PathBuf::as_path)
    }

    /// Where `path`, below the top folder, leads. `tops` are the names of the top folder; `link` reads a symlink.
    pub(super) fn walk(
        &self,
        path: &Path,
        follow: Follow,
        tops: &[PathBuf],
        link: impl Fn(&str) -> io::Result<PathBuf>,
    ) -> io::Result<Walk<'_>> {
        let mut pending: VecDeque<OsString> = path.iter().map(OsString::from).collect();
        let mut done: Vec<(OsString, &Node)> = Vec::new();
        let mut links = 0;
        while let Some(part) = pending.pop_front() {
            let here = done.last().map_or(&self.root, |(_, node)| *node);
            match Path::new(&part).components().next() {
                Some(Component::Normal(_)) => {}
                Some(Component::ParentDir) if done.is_empty() => {
                    let above = tops[tops.len() - 1].join("..");
                    return Ok(Walk::Outside(joined(&above, pending.iter().map(OsString::as_os_str))));
                }
                Some(Component::ParentDir) => {
                    done.pop();
                    continue;
                }
                _ => continue,
            }
            let Node::Folder(nodes) = here else { return Err(io::ErrorKind::NotADirectory.into()) };
            let node = nodes.get(&part).ok_or(io::ErrorKind::NotFound)?;
            let Node::Symlink(blob) = node else {
                done.push((part, node));
                continue;
            };
            if pending.is_empty() && follow == Follow::Folders {
                done.push((part, node));
                continue;
            }
            links += 1;
            if links > MOST_LINKS {
                return Err(io::Error::other("too many levels of symbolic links"));
            }
            let target = link(blob)?;
            let mut target = target.as_path();
            if target.has_root() {
                let Some(below) = tops.iter().find_map(|top| target.strip_prefix(top).ok()) else {
                    return Ok(Walk::Outside(joined(target, pending.iter().map(OsString::as_os_str))));
                };
                done.clear();
                target = below;
            }
            for part in target.iter().rev() {
                pending.push_front(part.to_owned());
            }
        }
        let node = done.last().map_or(&self.root, |(_, node)| *node);
        Ok(Walk::Inside(done.into_iter().map(|(part, _)| part).collect(), node))
    }
}

/// Puts a node at its path; of two at one path, as of an unmerged file, the first stays.
fn insert(folder: &mut BTreeMap<OsString, Node>, path: &Path, node: Node) {
    let mut parts = path.iter();
    let Some(name) = parts.next() else { return };
    let rest = parts.as_path();
    if rest.as_os_str().is_empty() {
        folder.entry(name.to_owned()).or_insert(node);
        return;
    }
    let below = folder.entry(name.to_owned()).or_insert_with(|| Node::Folder(BTreeMap::new()));
    if let Node::Folder(below) = below {
        insert(below, rest, node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tree of files, of symlinks (`name -> target`), of submodules (`name @`) and of unmerged files (`name !`).
    fn tree(entries: &[&str]) -> Tree {
        let entry = |entry: &&str| {
            let staged = |mode, blob: &str, stage, path: &str| Staged {
                mode,
                blob: blob.to_owned(),
                stage,
                path: path.into(),
            };
            match (entry.split_once(" -> "), entry.strip_suffix(" @"), entry.strip_suffix(" !")) {
                (Some((path, target)), ..) => staged(0o120_000, target, 0, path),
                (_, Some(path), _) => staged(0o160_000, "", 0, path),
                (.., Some(path)) => staged(0o100_644, "", 2, path),
                _ => staged(0o100_755, "", 0, entry),
            }
        };
        Tree::new(entries.iter().map(entry))
    }

    /// Where `path` leads with `follow`: a path inside, an absolute one, or the kind of the error.
    #[track_caller]
    fn check(entries: &[&str], path: &str, follow: Follow, expected: &str) {
        let tree = tree(entries);
        let tops = [PathBuf::from("/link"), PathBuf::from("/top")];
        let walked = tree.walk(Path::new(path), follow, &tops, |blob| Ok(PathBuf::from(blob)));
        let shown = match walked {
            Ok(Walk::Inside(path, node)) => format!("{} {}", path.display(), node.kind()),
            Ok(Walk::Outside(path)) => path.display().to_string(),
            Err(error) => error.kind().to_string(),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn files_and_folders() {
        check(&["a/b/c"], "a/b/c", Follow::All, "a/b/c a regular file");
        check(&["a/b/c"], "a/b", Follow::All, "a/b a folder");
        check(&["a/b/c"], "", Follow::All, " a folder");
        check(&["a/b/c"], "a/x", Follow::All, "entity not found");
        check(&["a/b/c"], "a/b/c/d", Follow::All, "not a directory");
    }

    #[test]
    fn a_link_is_followed_where_asked() {
        let entries = ["a/b", "l -> a", "m -> l/b"];
        check(&entries, "l", Follow::Folders, "l a symlink");
        check(&entries, "l", Follow::All, "a a folder");
        check(&entries, "l/b", Follow::Folders, "a/b a regular file");
        check(&entries, "m", Follow::All, "a/b a regular file");
    }

    #[test]
    fn links_upward_and_absolute_ones() {
        let entries = [
            "a/b",
            "c/up -> ../a/b",
            "c/out -> ../../x/y",
            "c/abs -> /top/a",
            "c/far -> /etc",
            "c/by -> /link/a",
        ];
        check(&entries, "c/up", Follow::All, "a/b a regular file");
        check(&entries, "c/out", Follow::All, "/top/../x/y");
        check(&entries, "c/abs/b", Follow::All, "a/b a regular file");
        check(&entries, "c/by/b", Follow::All, "a/b a regular file");
        check(&entries, "c/far/passwd", Follow::All, "/etc/passwd");
    }

    #[test]
    fn links_that_lead_nowhere() {
        check(&["a -> b", "b -> a"], "a", Follow::All, "other error");
        check(&["a -> gone"], "a", Follow::All, "entity not found");
        check(&["a -> gone"], "a", Follow::Folders, "a a symlink");
    }

    #[test]
    fn submodules_are_not_there() {
        check(&["sub @", "a"], "sub", Follow::All, "entity not found");
    }

    #[test]
    fn unmerged_paths_are_known() {
        let tree = tree(&["a/b !", "a/b !", "c"]);
        assert_eq!(tree.unmerged().collect::<Vec<_>>(), [Path::new("a/b")]);
    }
}
