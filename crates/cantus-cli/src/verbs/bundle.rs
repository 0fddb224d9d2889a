//! `cantus bundle`: immutable trees that were composed for one role.

mod compose;
mod lay_out;

use std::path::{Path, PathBuf};

use cantus_bundle::{
    Detail, DiffError, EntryError, ExportError, Fault, Verified, describe, diff, export, side, verify,
    verify_strictly,
};
use cantus_fs::RealDisk;
use cantus_manifest::Diagnostic;
use serde::Serialize;

use crate::args::{BundleAction, DescribeArgs, Global};
use crate::failure::{Failure, write_diagnostics};
use crate::report::{group, plural};
use crate::style::GOOD;
use crate::visible::visible;
use crate::{Status, Streams};

pub(crate) fn run(
    global: &Global,
    action: &BundleAction,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    match action {
        BundleAction::Compose(args) => compose::run(global, args, streams),
        BundleAction::Verify { bundle, json: false } => verify_plainly(global, bundle, streams),
        BundleAction::Verify { bundle, json: true } => verify_as_json(global, bundle, streams),
        BundleAction::Describe(args) => show(global, args, streams),
        BundleAction::Diff { left, right, json: false } => {
            let text = compare(left, right)?.text();
            write_lines(&text, streams)
        }
        BundleAction::Diff { left, right, json: true } => {
            print_json(&Versioned { version: 1, answer: compare(left, right)? }, streams)
        }
        BundleAction::Export { bundle, out } => pack(bundle, out, streams),
        BundleAction::Project(args) => lay_out::project(global, args, streams),
        BundleAction::Unproject { target, json } => {
            let format = if *json { lay_out::Format::Json } else { lay_out::Format::Human };
            lay_out::unproject(global, target.as_deref(), format, streams)
        }
    }
}

/// An answer as JSON, its version in front.
#[derive(Serialize)]
struct Versioned<T> {
    version: u32,
    #[serde(flatten)]
    answer: T,
}

fn print_json(value: &impl Serialize, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    serde_json::to_writer_pretty(&mut *streams.out, value).map_err(std::io::Error::from)?;
    writeln!(streams.out)?;
    Ok(Status::Yes)
}

fn verify_plainly(global: &Global, bundle: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    match judge(global, bundle)? {
        Ok(verified) => {
            if !global.quiet {
                let (skills, files) = (verified.skills.len(), verified.tree.files.len());
                let (skills, files) = (plural(skills, "skill"), plural(files, "file"));
                writeln!(streams.out, "{GOOD}bundle verified{GOOD:#}: {skills} // {files}")?;
            }
            Ok(Status::Yes)
        }
        Err(fault) => refuse(bundle, &fault, streams),
    }
}

/// What `bundle verify --json` prints.
#[derive(Serialize)]
struct Answer {
    version: u32,
    valid: bool,
    /// Of a valid bundle.
    skills: Option<usize>,
    /// Of a valid bundle.
    files: Option<usize>,
    findings: Vec<Diagnostic>,
}

fn verify_as_json(global: &Global, bundle: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let judged = judge(global, bundle)?;
    let valid = judged.as_ref().ok();
    let answer = Answer {
        version: 1,
        valid: valid.is_some(),
        skills: valid.map(|verified| verified.skills.len()),
        files: valid.map(|verified| verified.tree.files.len()),
        findings: judged.as_ref().err().map(Fault::diagnostic).into_iter().collect(),
    };
    print_json(&answer, streams)?;
    Ok(if answer.valid { Status::Yes } else { Status::No })
}

/// The verdict on a folder; a path that is no folder at all is no question that has one.
fn judge(global: &Global, bundle: &Path) -> Result<Result<Verified, Fault>, Failure> {
    let root = absolute(bundle)?;
    let verdict = if global.strict { verify_strictly(&RealDisk, &root) } else { verify(&RealDisk, &root) };
    match verdict {
        Err(fault) if is_no_folder(&fault) => Err(no_folder(bundle, &fault)),
        verdict => Ok(verdict),
    }
}

fn is_no_folder(fault: &Fault) -> bool {
    fault.code == "tree.unreadable" && fault.path.is_none()
}

fn no_folder(bundle: &Path, fault: &Fault) -> Failure {
    Failure::error(format!("cannot read the bundle `{}`: {}", bundle.display(), fault.message))
}

/// The answer "no" because a bundle is not valid; the failure if it is no folder at all.
fn refuse(bundle: &Path, fault: &Fault, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if is_no_folder(fault) {
        return Err(no_folder(bundle, fault));
    }
    let diagnostic = fault.diagnostic();
    let shown = diagnostic.path.as_ref().map_or_else(
        || bundle.display().to_string(),
        |path| format!("{}/{path}", bundle.display().to_string().trim_end_matches('/')),
    );
    write_diagnostics(streams.err, &[diagnostic.at(shown)], None)?;
    Ok(Status::No)
}

fn absolute(path: &Path) -> Result<PathBuf, Failure> {
    std::path::absolute(path).map_err(Failure::error)
}

fn show(global: &Global, args: &DescribeArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let description = describe(&RealDisk, &absolute(&args.bundle)?).map_err(|error| {
        let bundle = args.bundle.display();
        Failure::error(error)
            .hint(format!("`{} bundle verify {bundle}` says whether it is a bundle", global.program))
    })?;
    if args.json {
        description.json(streams.out)?;
        return Ok(Status::Yes);
    }
    let Some(subject) = &args.why else {
        let detail = if args.all { Detail::All } else { Detail::Folded };
        return write_lines(&description.text(detail), streams);
    };
    match description.why(subject) {
        Some(text) => write_lines(&text, streams),
        None => {
            let fault = Diagnostic::error("bundle.subject", format!("nothing was decided on `{subject}`"));
            let (program, bundle) = (global.program, args.bundle.display());
            let help = format!("`{program} bundle describe --all {bundle}` names every subject");
            write_diagnostics(streams.err, &[fault.help(help)], None)?;
            Ok(Status::No)
        }
    }
}

/// Text of a bundle, its control characters spelled out.
fn write_lines(text: &str, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    for line in text.lines() {
        writeln!(streams.out, "{}", visible(line))?;
    }
    Ok(Status::Yes)
}

fn compare(left: &Path, right: &Path) -> Result<cantus_bundle::Difference, Failure> {
    let read = |bundle: &Path| {
        let named = |error: DiffError| {
            let message = Diagnostic::from_error("error", &error).message;
            Failure::error(format!("the bundle `{}`: {message}", bundle.display()))
        };
        side(&RealDisk, &absolute(bundle)?).map_err(named)
    };
    Ok(diff(&read(left)?, &read(right)?))
}

fn pack(bundle: &Path, out: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    match export(&RealDisk, &absolute(bundle)?, &absolute(out)?) {
        Ok(_) => Ok(Status::Yes),
        Err(ExportError::Invalid(fault)) => refuse(bundle, &fault, streams),
        Err(error @ ExportError::Entry { .. }) => {
            let help = match &error {
                ExportError::Entry { source: EntryError::TooLarge, .. } => {
                    "leave the file out where the bundle was made, and make it again"
                }
                _ => "rename the file where the bundle was made, and make it again",
            };
            Failure::error(error).hint(help).write(streams.err, None)?;
            Ok(Status::No)
        }
        Err(error @ ExportError::Write(_)) => Err(Failure::error(error)
            .hint(format!("does the folder of `{}` exist, and may you write there?", out.display()))),
        Err(error) => Err(Failure::error(error)),
    }
}

/// `1 file`, and how it is written with others.
fn files(count: usize) -> String {
    format!("{} {}", group(count as u64), if count == 1 { "file" } else { "files" })
}
