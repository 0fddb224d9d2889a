//! `cantus merge-driver`: have git merge the generated files without conflicts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::{RealDisk, Root};
use cantus_projection::{
    DriverDeed, HandEdit, MergeDriverError, Merged, Side, Sides, install_merge_driver, merge,
    uninstall_merge_driver,
};
use cantus_workspace::{Program, configuration, generated_files};

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
    let told = |error| advice(error, global.program);
    let (deed, word) = match action {
        DriverAction::Run { base, ours, theirs, path } => {
            return merge_one(global, [base, ours, theirs], path, streams);
        }
        DriverAction::Install => {
            let root = root(global)?;
            let config = finish(configuration(&root), global, streams)?;
            let files = finish(generated_files(&root, &config), global, streams)?;
            let deed = install_merge_driver(&root, &config.command, &files);
            (deed.map_err(told)?, "Installed")
        }
        DriverAction::Uninstall => (uninstall_merge_driver(&root(global)?).map_err(told)?, "Removed"),
    };
    if !global.quiet {
        let word = if deed == DriverDeed::Already { "Fresh" } else { word };
        writeln!(streams.out, "{GOOD}{word:>12}{GOOD:#} merge driver `cantus`, .gitattributes")?;
    }
    Ok(Status::Yes)
}

/// Does what git asks for. The exit code is git's: 0 for a clean merge, 1 for a conflict.
fn merge_one(
    global: &Global,
    sides: [&Path; 3],
    path: &str,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let program = global.program;
    let folder = working_folder()?;
    let root = Root::new(Arc::new(RealDisk), folder);
    let [base, ours, theirs] = sides.map(|side| -> PathBuf { root.path().join(side) });
    let sides = Sides { base, ours, theirs, path: path.to_owned(), heads: heads() };
    match merge(&root, &sides).map_err(|error| advice(error, program))? {
        Merged::Clean => Ok(Status::Yes),
        Merged::Conflict => Ok(Status::No),
        Merged::Ours => {
            writeln!(
                streams.err,
                "{CARE}warning{CARE:#}: both sides changed `{}` at the same place: this side of it is kept until the notes are \
                 projected again, so run `{program} project` once they are merged",
                visible(path)
            )?;
            Ok(Status::Yes)
        }
        Merged::Edited(side, edit) => {
            edited(path, side, &edit, program).write(streams.err, None)?;
            Ok(Status::No)
        }
    }
}

/// That a side holds what no note does.
fn edited(path: &str, side: Side, edit: &HandEdit, program: Program) -> Failure {
    let HandEdit { line, text } = edit;
    let (whose, stage) = match side {
        Side::Ours => ("our", 2),
        Side::Theirs => ("their", 3),
    };
    let start = if text.is_empty() { String::new() } else { format!(" with `{text}`") };
    let message = format!(
        "both sides changed `{path}`, and {whose} side of it was edited by hand, in what starts on line {line}{start}; our side \
         stands in the work tree"
    );
    let help = format!(
        "`git show \":{stage}:{path}\"` shows the edit: move it into a note, run `{program} project`, then `git add` the note \
         and what was generated"
    );
    Failure::error(message).hint(help)
}

/// What git calls the commits that it merges.
fn heads() -> Vec<String> {
    let names = std::env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    names.filter_map(|name| name.strip_prefix("GITHEAD_").map(str::to_owned)).collect()
}

fn advice(error: MergeDriverError, program: Program) -> Failure {
    let hint = match &error {
        MergeDriverError::NoGit => {
            "run `git init`, or name a folder in a work tree with `--root DIR`".to_owned()
        }
        MergeDriverError::Config => {
            "look whether `git config --local merge.cantus.name x` works here".to_owned()
        }
        MergeDriverError::Text { .. } => format!("mend the notes, then run `{program} project`"),
        MergeDriverError::Attributes(_) => "mend that, then run this again".to_owned(),
        MergeDriverError::Outranked { .. } => {
            "take its line for `merge` out of the git folder's `info/attributes`, or of a \
             `.gitattributes` in a folder below, then run this again"
                .to_owned()
        }
        MergeDriverError::Read { .. } | MergeDriverError::Write { .. } => return Failure::error(error),
    };
    Failure::error(error).hint(hint)
}
