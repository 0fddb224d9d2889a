//! From a folder up to the project that holds it.

use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind};
use toml::de::DeTable;

use crate::members::claims;

/// The name of the configuration file.
pub const CONFIG: &str = "cantus.toml";

/// The note folders that are looked for, in this order.
pub(crate) const MEMORIES: [&str; 2] = ["sase/memory", "memory"];

/// The most bytes that a configuration file may have.
pub(crate) const MOST_CONFIG_BYTES: u64 = 4 << 20;

/// The nearest folder from `start`, an absolute path, upward that is a project: it holds a configuration or a note folder.
///
/// A folder with notes and no configuration that is a member of a project further up is not one: that project is.
///
/// The search ends at the first folder that holds `.git` (a file or a folder), so that worktrees, submodules and nested
/// repositories stand for themselves; outside git it ends at the file system's root. No process is started.
#[must_use]
pub fn find_root(disk: &dyn Disk, start: &Path) -> Option<PathBuf> {
    for folder in start.ancestors() {
        if is_project(disk, folder) {
            return Some(whole(disk, folder).unwrap_or(folder).to_path_buf());
        }
        if exists(disk, &folder.join(".git")) {
            return None;
        }
    }
    None
}

/// The project further up, up to the boundary of the repository, that has `folder` as a member.
fn whole<'a>(disk: &dyn Disk, folder: &'a Path) -> Option<&'a Path> {
    if has_configuration(disk, folder) {
        return None;
    }
    for inner in folder.ancestors() {
        if exists(disk, &inner.join(".git")) {
            return None;
        }
        let outer = inner.parent()?;
        if has_configuration(disk, outer) && claims(disk, outer, folder) {
            return Some(outer);
        }
    }
    None
}

/// Whether `folder` holds a configuration or a note folder.
pub(crate) fn is_project(disk: &dyn Disk, folder: &Path) -> bool {
    has_configuration(disk, folder) || has_notes(disk, folder)
}

/// Whether `folder` holds a configuration.
pub(crate) fn has_configuration(disk: &dyn Disk, folder: &Path) -> bool {
    exists(disk, &folder.join(CONFIG)) || has_cargo_table(disk, &folder.join("Cargo.toml"))
}

fn has_notes(disk: &dyn Disk, folder: &Path) -> bool {
    MEMORIES.iter().any(|memory| is_note_folder(disk, &folder.join(memory)))
}

fn exists(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.kind(path), Ok(Some(_)))
}

/// Whether a `Cargo.toml` has `[workspace.metadata.cantus]`. One that can't be parsed has it if it seems to, so that the
/// error is told rather than passed over.
fn has_cargo_table(disk: &dyn Disk, path: &Path) -> bool {
    let Ok(bytes) = disk.read(path, MOST_CONFIG_BYTES) else { return false };
    let text = String::from_utf8_lossy(&bytes);
    may_hold_cargo_table(&text)
        && DeTable::parse(&text).map_or(true, |table| cargo_table(table.get_ref()).is_some())
}

/// Whether a `Cargo.toml` needs to be parsed to know whether it has `[workspace.metadata.cantus]`. Most don't hold the word
/// `metadata`, but in longer names.
pub(crate) fn may_hold_cargo_table(text: &str) -> bool {
    const KEY: &str = "metadata";
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    let mut places = text.match_indices(KEY);
    places.any(|(at, _)| !text[..at].ends_with(is_name) && !text[at + KEY.len()..].starts_with(is_name))
        && text.contains("cantus")
}

/// The table `workspace.metadata.cantus`.
pub(crate) fn cargo_table<'a, 'i>(table: &'a DeTable<'i>) -> Option<&'a DeTable<'i>> {
    table.get("workspace")?.get_ref().get("metadata")?.get_ref().get("cantus")?.get_ref().as_table()
}

/// Whether a folder named like a note folder is one: it holds a `.md` file or nothing. A source folder that happens to be
/// called `memory` isn't.
pub(crate) fn is_note_folder(disk: &dyn Disk, folder: &Path) -> bool {
    if !matches!(disk.kind(folder), Ok(Some(Kind::Folder | Kind::Symlink))) {
        return false;
    }
    disk.list(folder).is_ok_and(|entries| {
        let names = entries.iter().map(|entry| entry.name.to_string_lossy());
        let mut names = names.filter(|name| !is_left_beside(name)).peekable();
        names.peek().is_none() || names.any(|name| name.ends_with(".md"))
    })
}

/// Whether a file of this name is what an editor or a system leaves beside the one that is meant: the lock of Emacs, `.#a.md`,
/// which is a dangling symlink, and what macOS writes as `._a.md` where a file system knows no attributes.
pub(crate) fn is_left_beside(name: &str) -> bool {
    name.starts_with(".#") || name.starts_with("._")
}
