//! `cantus bundle project` and `unproject`: a bundle where a harness looks.

use std::path::Path;
use std::sync::Arc;

use cantus_bundle::{
    FileState, Layout, ProjectError, Projected, Reach, State, Wanted, check_projection, project as put,
    unproject as take,
};
use cantus_fs::{AccessError, LockError, ReadError, RealDisk, Root, TargetError};
use cantus_manifest::{Diagnostic, RelPath};
use serde::Serialize;

use super::{absolute, files, print_json, refuse};
use crate::args::{Global, LayOutArgs};
use crate::failure::{Failure, write_diagnostics};
use crate::report::table;
use crate::style::GOOD;
use crate::{Status, Streams};

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    /// For people.
    Human,
    /// For programs.
    Json,
}

/// What `bundle project --json` prints.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    /// `checked`, `refused` or `written`.
    outcome: &'static str,
    /// Whether every file is as it should be now.
    fresh: bool,
    layout: &'a str,
    scope: String,
    files: Vec<FileReport<'a>>,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    /// What it was before this run: `fresh`, `unclaimed`, `missing`, `stale`, `edited`, `foreign`, `left_over` or
    /// `left_over_edited`.
    status: String,
    /// Where a text that had been edited by hand is kept.
    kept: Option<&'a str>,
}

pub(super) fn project(
    global: &Global,
    args: &LayOutArgs,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let (layout, reach) = (Layout::from(args.layout), Reach::from(args.scope));
    let target = target(args.target.as_deref())?;
    let wanted = match Wanted::read(&RealDisk, &absolute(&args.bundle)?, layout, reach) {
        Ok(wanted) => wanted,
        Err(ProjectError::Invalid(fault)) => return refuse(&args.bundle, &fault, streams),
        Err(error) => return Err(advice(error)),
    };
    if args.check {
        let found = check_projection(&target, &wanted).map_err(advice)?;
        return tell_check(global, args, &found, streams);
    }
    match put(&target, &wanted) {
        Ok(done) => tell_done(global, args, &done, streams),
        Err(error @ ProjectError::Foreign(_)) => {
            if args.json {
                let found = check_projection(&target, &wanted).map_err(advice)?;
                print_json(&report(args, "refused", &found, &[]), streams)?;
            }
            let help = "move these files away, or merge what they say into the sources of the bundle";
            Failure::error(error).hint(help).write(streams.err, None)?;
            Ok(Status::No)
        }
        Err(error) => Err(advice(error)),
    }
}

/// The failure of a projection, with what to do about it.
fn advice(error: ProjectError) -> Failure {
    let hint = match &error {
        ProjectError::Previous(_) | ProjectError::Record => {
            "remove `.agent-compose/` at the target, and by hand what was laid out there"
        }
        ProjectError::Access(AccessError::Read { source, .. })
        | ProjectError::Target(TargetError::Read { source, .. }) => match source {
            ReadError::TooLarge { .. } => "move that file away, or name another target",
            ReadError::NotAFile(_) => "put an ordinary file there, or name another target",
            ReadError::Io(_) => "mend the cause and run this again",
        },
        ProjectError::Contain(_) | ProjectError::Target(_) | ProjectError::NoFolder(_) => {
            "put an ordinary file or folder there, or name another target"
        }
        ProjectError::Lock(LockError::Held { .. }) => {
            "another run is at work there: run this again when it has ended"
        }
        ProjectError::Change { restored: true, .. } | ProjectError::Io(_) | ProjectError::Lock(_) => {
            "mend the cause and run this again"
        }
        ProjectError::Change { .. } => {
            "mend the cause and run this again: what is recorded as ours is put right then"
        }
        ProjectError::Twice(_) => "drop one of the two where the bundle was composed",
        _ => return Failure::error(error),
    };
    Failure::error(error).hint(hint)
}

fn target(folder: Option<&Path>) -> Result<Root, Failure> {
    Ok(Root::new(Arc::new(RealDisk), absolute(folder.unwrap_or(Path::new(".")))?))
}

fn tell_check(
    global: &Global,
    args: &LayOutArgs,
    found: &[FileState],
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let fresh = !found.iter().any(|file| file.state.needs_work());
    if args.json {
        print_json(&report(args, "checked", found, &[]), streams)?;
    } else if fresh && !global.quiet {
        writeln!(streams.out, "{GOOD}fresh{GOOD:#}: {}", place(args, found.len()))?;
    } else if !fresh {
        let rows = found.iter().filter(|file| file.state.needs_work());
        let rows: Vec<_> = rows.map(|file| [file.path.to_string(), file.state.as_str().to_owned()]).collect();
        table(streams.out, "  ", &rows)?;
        let is =
            if rows.len() == 1 { "is not as the bundle has it" } else { "are not as the bundle has them" };
        let drift = format!("{} {is}", files(rows.len()));
        let fault = Diagnostic::error("bundle.drift", drift);
        write_diagnostics(streams.err, &[fault.help("run the same without `--check`")], None)?;
    }
    Ok(if fresh { Status::Yes } else { Status::No })
}

fn tell_done(
    global: &Global,
    args: &LayOutArgs,
    done: &Projected,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut warnings = Vec::new();
    if done.broken_record {
        let message = "the record of an earlier projection was broken: what it named is nobody's now";
        let help = "remove by hand what that projection left and this one did not write";
        warnings.push(Diagnostic::warning("bundle.record", message).help(help));
    }
    let sure = |path: &RelPath| done.files.iter().any(|file| file.path == *path && file.state.is_edited());
    for (path, kept) in &done.kept {
        warnings.push(if sure(path) {
            let message = format!("edited by hand since the last projection; that text is kept as `{kept}`");
            let help = "put the edit into the sources of the bundle, then remove the kept text";
            Diagnostic::warning("bundle.edited", message).at(path).help(help)
        } else {
            unsure(path, kept)
        });
    }
    write_diagnostics(streams.err, &warnings, None)?;
    if args.json {
        return print_json(&report(args, "written", &done.files, &done.kept), streams);
    }
    if !global.quiet {
        let count =
            done.files.iter().filter(|file| !matches!(file.state, State::Left | State::LeftEdited)).count();
        writeln!(streams.out, "{GOOD}projected{GOOD:#}: {}", place(args, count))?;
    }
    Ok(Status::Yes)
}

/// That nobody can tell whether a text was edited by hand before it went away.
fn unsure(path: &RelPath, kept: &RelPath) -> Diagnostic {
    let message =
        format!("the record doesn't say what the last projection wrote there; the text is kept as `{kept}`");
    let help = "remove the kept text if nobody edited it";
    Diagnostic::warning("bundle.edited", message).at(path).help(help)
}

fn place(args: &LayOutArgs, count: usize) -> String {
    let (layout, reach) = (Layout::from(args.layout), Reach::from(args.scope));
    let target = args.target.as_deref().unwrap_or(Path::new(".")).display();
    format!("{} // layout {layout} // scope {reach} // target {target}", files(count))
}

fn report<'a>(
    args: &LayOutArgs,
    outcome: &'static str,
    found: &'a [FileState],
    kept: &'a [(RelPath, RelPath)],
) -> Report<'a> {
    let file = |file: &'a FileState| FileReport {
        path: file.path.as_str(),
        status: file.state.as_str().replace(", ", "_").replace(' ', "_"),
        kept: kept.iter().find(|(path, _)| *path == file.path).map(|(_, kept)| kept.as_str()),
    };
    Report {
        version: 1,
        outcome,
        fresh: outcome == "written" || !found.iter().any(|file| file.state.needs_work()),
        layout: Layout::from(args.layout).as_str(),
        scope: Reach::from(args.scope).to_string(),
        files: found.iter().map(file).collect(),
    }
}

/// What `bundle unproject --json` prints.
#[derive(Serialize)]
struct Taken {
    version: u32,
    removed: Vec<String>,
    left: Vec<String>,
    /// Where texts are kept of which the record doesn't say whether they were edited.
    kept: Vec<String>,
}

pub(super) fn unproject(
    global: &Global,
    folder: Option<&Path>,
    format: Format,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let done = take(&target(folder)?).map_err(advice)?;
    let left = done.left.iter().map(|path| {
        let message = "edited by hand since the last projection, and left";
        Diagnostic::warning("bundle.edited", message).at(path).help("remove it if nobody wants it")
    });
    let unsure = done.kept.iter().map(|(path, kept)| unsure(path, kept));
    write_diagnostics(streams.err, &left.chain(unsure).collect::<Vec<_>>(), None)?;
    if format == Format::Json {
        let texts = |paths: &[RelPath]| paths.iter().map(ToString::to_string).collect();
        let taken = Taken {
            version: 1,
            removed: texts(&done.removed),
            left: texts(&done.left),
            kept: done.kept.iter().map(|(_, kept)| kept.to_string()).collect(),
        };
        return print_json(&taken, streams);
    }
    if !global.quiet {
        let target = folder.unwrap_or(Path::new(".")).display();
        writeln!(streams.out, "{GOOD}removed{GOOD:#}: {} // target {target}", files(done.removed.len()))?;
    }
    Ok(Status::Yes)
}
