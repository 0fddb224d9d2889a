//! The one function that writes.

use cantus_fs::{Root, TargetError};
use cantus_manifest::{Digest, RelPath};
use thiserror::Error;

use crate::git::Git;
use crate::journal::Journal;
use crate::plan::{Action, MOST_BYTES, Plan, Target};

/// What stopped a plan from being applied. Every target is whole: as it was, or as it should be.
#[derive(Debug, Error)]
pub enum ApplyError {
    /// The plan has a target that may not be touched.
    #[error("nothing was written: `{0}` may not be overwritten")]
    Refused(RelPath),
    /// A target is no longer what the plan was made for.
    #[error("{}: `{path}` changed while this ran{}", so_far(.done), kept_as(.kept.as_ref()))]
    Changed {
        /// The target.
        path: RelPath,
        /// Where a text of it lies that could not be put back.
        kept: Option<RelPath>,
        /// The targets that were replaced before.
        done: Vec<RelPath>,
    },
    /// The disk refused.
    #[error("{}", so_far(.done))]
    Target {
        /// What it said.
        source: TargetError,
        /// The targets that were replaced before.
        done: Vec<RelPath>,
    },
}

impl ApplyError {
    /// The targets that were replaced before.
    fn done(&self) -> &[RelPath] {
        match self {
            Self::Refused(_) => &[],
            Self::Changed { done, .. } | Self::Target { done, .. } => done,
        }
    }
}

fn kept_as(kept: Option<&RelPath>) -> String {
    kept.map_or_else(String::new, |kept| format!("; what stood there is kept as `{kept}`"))
}

fn so_far(done: &[RelPath]) -> String {
    if done.is_empty() {
        return "nothing was replaced".to_owned();
    }
    let names: Vec<_> = done.iter().map(|path| format!("`{path}`")).collect();
    format!("not everything was replaced, only {}", names.join(", "))
}

/// Does what `plan` says, in its order: every new file is staged before the first one is put in its place. The caller holds
/// the [`Turn`](crate::Turn).
///
/// What killed runs left beside the targets is removed, as far as that can be proved. Before a target is replaced it is looked
/// at again: a change since the plan was made stops the run.
pub fn apply(root: &Root, plan: &Plan) -> Result<(), ApplyError> {
    if let Some(target) = plan.targets.iter().find(|target| target.is_refused()) {
        return Err(ApplyError::Refused(target.path.clone()));
    }
    let git = Git::new(root.path());
    sweep(root, &git, plan);
    if plan.targets.iter().all(|target| target.action == Action::Nothing) {
        return Ok(());
    }
    let journal = Journal::of(plan).write(root, &git);
    let result = write(root, plan);
    let is_half_done = result.as_ref().is_err_and(|error| !error.done().is_empty());
    // Else nothing is left to prove. If it can't go, it names texts that stand there.
    if let Some(journal) = journal.filter(|_| !is_half_done) {
        let _ = root.disk().remove(&journal);
    }
    result
}

/// The files, relative to the root, that are named like staged files of a target and that no run takes away: nothing shows
/// whose they are, or a run is at work right now.
#[must_use]
pub fn left_overs(root: &Root, plan: &Plan) -> Vec<RelPath> {
    let staged = root.staged_beside(&plan.beside).unwrap_or_default();
    staged.into_iter().map(|(_, path)| path).collect()
}

/// Removes what killed runs left, if they noted it or if it begins a text that will be written. Left-overs harm nobody: if they
/// can't be removed, the write itself will tell why.
fn sweep(root: &Root, git: &Git<'_>, plan: &Plan) {
    if left_overs(root, plan).is_empty() {
        return;
    }
    let journal = Journal::read(root, git);
    let begins = |target: &Target, bytes: &[u8]| match &target.action {
        Action::Write(text) => text.as_bytes().starts_with(bytes),
        _ => bytes.is_empty(),
    };
    let _ = root.sweep(&plan.beside, MOST_BYTES, |path, bytes| {
        let target = plan.targets.iter().find(|target| target.path == *path);
        target.is_some_and(|target| begins(target, bytes)) || journal.may_sweep(bytes)
    });
}

/// Stages everything, then puts each file in its place.
fn write(root: &Root, plan: &Plan) -> Result<(), ApplyError> {
    let mut done = Vec::new();
    let mut staged = Vec::new();
    for target in &plan.targets {
        match &target.action {
            Action::Nothing | Action::Refuse => {}
            Action::Remove => staged.push((target, None)),
            Action::Write(text) => {
                let file = root.stage(&target.path, text.as_bytes());
                let file = file.map_err(|source| ApplyError::Target { source, done: Vec::new() })?;
                staged.push((target, Some(file)));
            }
        }
    }
    for (target, file) in staged {
        if !is_unchanged(root, target) {
            return Err(ApplyError::Changed { path: target.path.clone(), kept: None, done });
        }
        // That look is for what another did long ago: it touches nothing. These two look again as they write.
        let result = match (file, &target.seen) {
            (Some(file), seen) => root.replace(&target.path, file, seen.as_ref(), MOST_BYTES),
            (None, Some(seen)) => root.remove_seen(&target.path, seen, MOST_BYTES),
            (None, None) => Ok(()),
        };
        match result {
            Ok(()) => {}
            Err(TargetError::Changed { path, kept }) => return Err(ApplyError::Changed { path, kept, done }),
            Err(source) => return Err(ApplyError::Target { source, done }),
        }
        done.push(target.path.clone());
    }
    Ok(())
}

fn is_unchanged(root: &Root, target: &Target) -> bool {
    let now = root.read_target(&target.path, MOST_BYTES);
    now.is_ok_and(|bytes| bytes.map(Digest::of) == target.seen)
}
