//! Files that others wrote become targets, once their text is in notes.

use std::path::PathBuf;

use cantus_fs::{Kind, Root, TargetError};
use cantus_manifest::{Diagnostic, Digest, RelPath};
use cantus_memory::ImportFile;
use thiserror::Error;

use crate::git::Git;
use crate::plan::{MOST_BYTES, Mend, Plan, PlanError, State, plan};
use crate::projection::Projection;

/// How targets come to be ours.
#[derive(Debug)]
pub struct TakeOver {
    /// What is to be applied; a target that may not be touched is refused in it.
    pub plan: Plan,
    /// Copies that were made of what git doesn't hold.
    pub backups: Vec<Backup>,
}

/// A copy of a file that is about to be overwritten.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backup {
    /// The file.
    pub of: RelPath,
    /// Its copy.
    pub at: RelPath,
}

/// Why nothing was taken over.
#[derive(Debug, Error)]
pub enum TakeOverError {
    /// A target can't be used.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// No copy could be made.
    #[error("cannot keep a copy of `{path}`")]
    Backup {
        /// The file that was to be copied.
        path: RelPath,
        /// Why not.
        source: TargetError,
    },
    /// A symlink couldn't be removed.
    #[error("cannot remove the symlink `{path}`")]
    Link {
        /// The symlink.
        path: RelPath,
        /// What the disk said.
        source: std::io::Error,
    },
}

impl TakeOverError {
    /// One finding for each target that is at fault.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        match self {
            Self::Plan(error) => error.diagnostics(),
            error => vec![Diagnostic::from_error("target", error)],
        }
    }
}

/// The targets that Cantus didn't write.
pub fn foreign_targets(root: &Root, projection: &Projection) -> Result<Vec<RelPath>, PlanError> {
    let plan = plan(root, projection, Mend::Safe)?;
    let foreign = plan.targets.into_iter().filter(|target| target.state == State::Foreign);
    Ok(foreign.map(|target| target.path).collect())
}

/// Plans to overwrite the targets whose bytes are those of an `imported` file, under whatever name that was read, with what the
/// notes say. A copy is written beside each whose bytes git doesn't hold, and a target that is a symlink to an imported file or to another target is
/// removed, since a committed file is a regular one. The caller holds the [`Turn`](crate::Turn).
pub fn take_over(
    root: &Root,
    projection: &Projection,
    imported: &[ImportFile],
) -> Result<TakeOver, TakeOverError> {
    remove_links(root, projection, imported)?;
    let safe = plan(root, projection, Mend::Safe)?;
    let forced = plan(root, projection, Mend::Force)?;
    let git = Git::new(root.path());
    let plan =
        Plan { targets: Vec::new(), beside: safe.beside, warnings: safe.warnings, in_git: safe.in_git };
    let mut taken = TakeOver { plan, backups: Vec::new() };
    for (safe, mut forced) in safe.targets.into_iter().zip(forced.targets) {
        let is_imported = |file: &&ImportFile| safe.seen == Some(Digest::of(&file.bytes));
        let is_foreign = safe.state == State::Foreign && safe.seen == forced.seen;
        let Some(file) = imported.iter().find(is_imported).filter(|_| is_foreign) else {
            taken.plan.targets.push(safe);
            continue;
        };
        let path = safe.path;
        if git.kept(&path, &[&file.bytes]).is_none() {
            let at = backup(root, &path, &file.bytes);
            let at = at.map_err(|source| TakeOverError::Backup { path: path.clone(), source })?;
            taken.backups.push(Backup { of: path, at });
            // Its copy holds every line.
            forced.loss = None;
        }
        taken.plan.targets.push(forced);
    }
    Ok(taken)
}

/// Removes targets that are symlinks to imported files or to other targets.
fn remove_links(root: &Root, projection: &Projection, imported: &[ImportFile]) -> Result<(), TakeOverError> {
    let real = |path: PathBuf| root.disk().canonical(&path).ok();
    let has_plain_folders = |path: &RelPath| {
        path.parent().is_none_or(|folder| {
            let below = real(root.path().to_path_buf()).map(|root| root.join(folder.as_str()));
            below.is_some() && below == real(root.at(&folder))
        })
    };
    let leads_to_known = |path: &RelPath| {
        let target = real(root.at(path));
        let others = projection.paths().filter(|other| *other != path);
        let mut known = imported.iter().map(|file| &file.path).chain(others);
        target.is_some() && known.any(|file| real(root.at(file)) == target)
    };
    let is_link = |path: &RelPath| matches!(root.kind(path), Ok(Some(Kind::Symlink)));
    let links = projection.paths().filter(|path| is_link(path) && has_plain_folders(path));
    // All are looked at before the first is gone: one may lead through another, mostly through an earlier one.
    let known: Vec<_> = links.filter(|path| leads_to_known(path)).collect();
    for path in known.into_iter().rev() {
        let removed = root.disk().remove(&root.at(path));
        removed.map_err(|source| TakeOverError::Link { path: path.clone(), source })?;
    }
    Ok(())
}

/// Copies a file to `NAME.before-cantus`, or to that with the first number that is free. A copy that is there counts.
fn backup(root: &Root, file: &RelPath, bytes: &[u8]) -> Result<RelPath, TargetError> {
    let named = |end: String| {
        let path = RelPath::new(format!("{file}.before-cantus{end}"));
        path.unwrap_or_else(|error| unreachable!("{error}"))
    };
    let mut path = named(String::new());
    let mut number = 1;
    loop {
        // A symlink or a folder takes the name; nothing is read or written through it.
        let is_taken = matches!(root.kind(&path), Ok(Some(kind)) if kind != Kind::File);
        match if is_taken { None } else { root.read_target(&path, MOST_BYTES)? } {
            Some(found) if found == bytes => return Ok(path),
            None if !is_taken => {
                let staged = root.stage(&path, bytes)?;
                root.replace(&path, staged, None, MOST_BYTES)?;
                return Ok(path);
            }
            _ => {
                number += 1;
                path = named(format!("-{number}"));
            }
        }
    }
}

/// Whether git ignores the file, which is there, so that clones wouldn't have it.
#[must_use]
pub fn is_ignored(root: &Root, path: &RelPath) -> bool {
    Git::new(root.path()).ignores(path)
}
