//! `cantus hook`: have git judge each commit before it is made.

use cantus_fs::LockError;
use cantus_projection::{HookDeed, HookError, HookReport, install_hooks, uninstall_hooks};
use cantus_workspace::{Program, configuration};

use crate::args::{Global, HookAction};
use crate::failure::Failure;
use crate::style::GOOD;
use crate::verbs::{finish, root};
use crate::{Status, Streams};

pub(crate) fn run(global: &Global, action: HookAction, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    let here = std::env::current_dir().map_err(Failure::error)?;
    let result = match action {
        HookAction::Install => {
            let config = finish(configuration(&root), global, streams)?;
            install_hooks(&root, &config, &here)
        }
        HookAction::Uninstall => uninstall_hooks(&root, &here),
    };
    match result {
        Ok(reports) => {
            for report in reports.iter().filter(|_| !global.quiet) {
                tell(report, streams)?;
            }
            Ok(Status::Yes)
        }
        Err(error) => {
            let edited = matches!(error, HookError::Edited { .. });
            let failure = advice(error, global.program);
            if edited {
                // The answer is no; everything else can't be told or done.
                failure.write(streams.err, None)?;
                return Ok(Status::No);
            }
            Err(failure)
        }
    }
}

fn tell(report: &HookReport, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let HookReport { deed, path, before } = report;
    let (word, note) = match deed {
        HookDeed::Installed => ("Installed", None),
        HookDeed::Chained => {
            ("Installed", Some(format!("the earlier hook is now `{before}`, and is run first")))
        }
        HookDeed::Updated => ("Updated", None),
        HookDeed::Already => ("Fresh", Some("already installed".to_owned())),
        HookDeed::Removed => ("Removed", None),
        HookDeed::Restored => ("Restored", Some("the earlier hook stands there again".to_owned())),
        HookDeed::Absent => ("Absent", Some("no hook of Cantus stands there".to_owned())),
    };
    writeln!(streams.out, "{GOOD}{word:>12}{GOOD:#} {path}")?;
    note.map_or(Ok(()), |note| writeln!(streams.out, "{:>12} {note}", "note:"))
}

fn advice(error: HookError, program: Program) -> Failure {
    let hints = match &error {
        HookError::NoGit => {
            vec!["run `git init`, or name a folder in a work tree with `--root DIR`".to_owned()]
        }
        HookError::Outside => vec![
            format!(
                "`git config --show-origin core.hooksPath` tells where that is set; hooks there may serve other \
                 repositories, so add the line `{program} check --staged` to yours by hand"
            ),
            "or give this repository hooks of its own: `git config core.hooksPath .githooks`".to_owned(),
        ],
        HookError::Top => {
            vec!["give them a folder: `git config core.hooksPath .githooks`".to_owned()]
        }
        HookError::Taken { before, .. } => {
            vec![format!("look what `{before}` does, then rename or remove it and run this again")]
        }
        HookError::NotAFile { path, .. } => vec![format!("move `{path}` away, then run this again")],
        HookError::Edited { path, before: None } => {
            vec![format!("move your own lines elsewhere, then remove `{path}`")]
        }
        HookError::Edited { path, before: Some(before) } => {
            vec![format!("move your own lines to `{before}`, then rename that to `{path}`")]
        }
        HookError::Turn(LockError::Held { .. }) => {
            vec!["wait until the other run is done, then run this again".to_owned()]
        }
        HookError::Turn(LockError::Io(_)) => vec!["see that the git folder can be written".to_owned()],
        HookError::Io { .. } => Vec::new(),
    };
    hints.into_iter().fold(Failure::error(error), Failure::hint)
}
