//! `cantus merge-driver`: have git merge the generated files without conflicts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::{RealDisk, Root};
use cantus_manifest::RelPath;
use cantus_projection::{
    DriverDeed, MergeDriverError, Merged, Sides, install_merge_driver, merge, uninstall_merge_driver,
};
use cantus_workspace::{Config, LOCK, configuration};

use crate::args::{DriverAction, Global};
use crate::failure::Failure;
use crate::style::{CARE, GOOD};
use crate::verbs::{finish, root, working_folder};
use crate::visible::visible;
use crate::{Status, Streams};

pub(crate) fn run(
    global: &Global,
    action: &DriverAction,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let (deed, word) = match action {
        DriverAction::Run { base, ours, theirs, path } => {
            return merge_one([base, ours, theirs], path, streams);
        }
        DriverAction::Install => {
            let root = root(global)?;
            let config = finish(configuration(&root), global, streams)?;
            let deed = install_merge_driver(&root, &config.command, &files(&config));
            (deed.map_err(advice)?, "Installed")
        }
        DriverAction::Uninstall => {
            let root = root(global)?;
            let config = finish(configuration(&root), global, streams)?;
            (uninstall_merge_driver(&root, &files(&config)).map_err(advice)?, "Removed")
        }
    };
    if !global.quiet {
        let word = if deed == DriverDeed::Already { "Fresh" } else { word };
        writeln!(streams.out, "{GOOD}{word:>12}{GOOD:#} merge driver `cantus`, .gitattributes")?;
    }
    Ok(Status::Yes)
}

/// Every generated file of the project.
fn files(config: &Config) -> Vec<RelPath> {
    let outputs = config.outputs.iter().map(|output| output.file.clone());
    let lock = RelPath::new(LOCK).unwrap_or_else(|error| unreachable!("{error}"));
    let pages = config.pages.iter().map(|page| page.file.clone());
    config.files.iter().cloned().chain(outputs).chain(pages).chain([lock]).collect()
}

/// Does what git asks for. The exit code is git's: 0 for a clean merge, 1 for a conflict.
fn merge_one(sides: [&Path; 3], path: &str, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let folder = working_folder()?;
    let root = Root::new(Arc::new(RealDisk), folder);
    let [base, ours, theirs] = sides.map(|side| -> PathBuf { root.path().join(side) });
    let merged = merge(&root, &Sides { base, ours, theirs, path: path.to_owned() }).map_err(advice)?;
    if merged == Merged::Ours {
        writeln!(
            streams.err,
            "{CARE}warning{CARE:#}: both sides changed `{}` at the same place: this side of it is kept until the notes are \
             projected again, so run `project` once they are merged",
            visible(path)
        )?;
    }
    Ok(if merged == Merged::Conflict { Status::No } else { Status::Yes })
}

fn advice(error: MergeDriverError) -> Failure {
    let hint = match &error {
        MergeDriverError::NoGit => Some("run `git init`, or name a folder in a work tree with `--root DIR`"),
        MergeDriverError::Config => Some("look whether `git config --local merge.cantus.name x` works here"),
        MergeDriverError::Text { .. } => Some("mend the notes, then run `project`"),
        MergeDriverError::Attributes(_) => Some("mend that, then run this again"),
        MergeDriverError::Outranked { .. } => Some(
            "take its line for `merge` out of the git folder's `info/attributes`, or of a `.gitattributes` in a folder below, \
             then run this again",
        ),
        MergeDriverError::Read { .. } | MergeDriverError::Write { .. } => None,
    };
    let failure = Failure::error(error);
    hint.into_iter().fold(failure, Failure::hint)
}
