//! `cantus check`: all that CI wants to know, without writing.

use cantus_fs::Root;
use cantus_manifest::{Diagnostic, Severity};
use cantus_projection::{Mend, Projection, Totals, check, check_notes, plan};
use cantus_workspace::{OnErrors, Options, Project};
use serde::Serialize;

use crate::args::{CheckArgs, Format, Global};
use crate::failure::{Failure, write_diagnostics};
use crate::format::{Place, broken, github, sarif};
use crate::report::{plural, totals_line};
use crate::style::{BAD, GOOD};
use crate::verbs::{is_bad, judged, leave, options, root, staged_root};
use crate::{Status, Streams};

/// What `check --json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    version: u32,
    ok: bool,
    findings: &'a [Diagnostic],
    sections: usize,
    bytes: usize,
    tokens_est: u64,
    common_digest: String,
}

/// A project that could be judged.
struct Verdict {
    root: Root,
    findings: Vec<Diagnostic>,
    projection: Projection,
}

pub(crate) fn run(global: &Global, args: &CheckArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let format = args.format();
    let mut place = Place::default();
    match judge(global, args, &mut place) {
        Ok(verdict) => {
            let status = tell(global, format, &verdict, &place, streams);
            leave(verdict);
            status
        }
        Err(failure) if format == Format::Human => told_to_people(failure, global, args, streams),
        Err(failure) => {
            broken(streams.out, format, &failure.into_findings("project.none"), &place)?;
            Ok(Status::CantTell)
        }
    }
}

/// Prints the findings of a project that can't be judged where all others go; any other failure stays one.
fn told_to_people(
    failure: Failure,
    global: &Global,
    args: &CheckArgs,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let findings = failure.findings()?;
    let root = if args.staged { staged_root(global) } else { root(global) };
    write_diagnostics(streams.out, &findings, root.ok().filter(|_| !global.quiet).as_ref())?;
    writeln!(streams.out, "{BAD}{:>12}{BAD:#} {}", "Failed", counts(&findings))?;
    writeln!(
        streams.out,
        "{:>12} the files can't be judged before the notes and the configuration are mended",
        ""
    )?;
    Ok(Status::CantTell)
}

/// Reads and judges the project; `place` is where it lies, as soon as that is known.
fn judge(global: &Global, args: &CheckArgs, place: &mut Place) -> Result<Verdict, Failure> {
    let root = if args.staged { staged_root(global)? } else { root(global)? };
    *place = Place::of(&root);
    let options = Options { on_errors: OnErrors::Lint, ..options(global) };
    let mut findings = Vec::new();
    let Some(project) = Project::open(&root, &options).collect(&mut findings) else {
        return Err(Failure::diagnostics(findings));
    };
    let projection = Projection::compose(&project).collect(&mut findings);
    let planned = projection.map(|projection| (plan(&root, &projection, Mend::Safe), projection));
    let (plan, projection) = match planned {
        Some((Ok(plan), projection)) => (plan, projection),
        broken => {
            let targets = broken.and_then(|(plan, _)| plan.err()).map(|error| error.diagnostics());
            findings.extend(targets.into_iter().flatten());
            findings.extend(check_notes(&project));
            return Err(Failure::diagnostics(findings));
        }
    };
    findings.extend(plan.warnings.iter().cloned());
    findings.extend(check(&root, &project, &projection, &plan));
    if args.staged {
        findings.iter_mut().for_each(name_staging);
    }
    leave((project, plan));
    Ok(Verdict { root, findings: judged(findings, global), projection })
}

/// Of a committed file that is mended the index still has the old text.
fn name_staging(finding: &mut Diagnostic) {
    let is_of_file = finding.code.starts_with("drift.") || finding.code == "parity.copy";
    if let (true, Some(help), Some(path)) = (is_of_file, &mut finding.help, &finding.path) {
        help.push_str(&format!("; then `git add {path}`"));
    }
}

fn tell(
    global: &Global,
    format: Format,
    verdict: &Verdict,
    place: &Place,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let Verdict { root, findings, projection } = verdict;
    let bad = is_bad(findings);
    let status = if bad { Status::No } else { Status::Yes };
    // Who wants quiet hears of a check that failed, and then of all but notes. Programs are told everything.
    let least = match global.quiet {
        false => Some(Severity::Note),
        true if bad => Some(Severity::Warning),
        true => None,
    };
    let told = findings.iter().filter(|finding| least.is_some_and(|least| finding.severity >= least));
    let told: Vec<_> = told.cloned().collect();
    match format {
        Format::Human => write_diagnostics(streams.out, &told, (!global.quiet).then_some(root))?,
        Format::Github => github(streams.out, &told, place)?,
        Format::Json => json(streams, findings, projection, status)?,
        Format::Sarif => sarif(streams.out, findings, place, status)?,
    }
    if matches!(format, Format::Human | Format::Github) && (bad || !global.quiet) {
        summary(streams, findings, bad, &totals_line(projection))?;
    }
    Ok(status)
}

fn json(
    streams: &mut Streams<'_>,
    findings: &[Diagnostic],
    projection: &Projection,
    status: Status,
) -> std::io::Result<()> {
    let Totals { sections, bytes, tokens_est, common_digest } = projection.totals();
    let (ok, common_digest) = (status == Status::Yes, common_digest.to_string());
    let answer = Answer { version: 1, ok, findings, sections, bytes, tokens_est, common_digest };
    serde_json::to_writer_pretty(&mut *streams.out, &answer)?;
    writeln!(streams.out)
}

fn summary(
    streams: &mut Streams<'_>,
    findings: &[Diagnostic],
    bad: bool,
    totals: &str,
) -> std::io::Result<()> {
    let counts = counts(findings);
    let (style, word) = if bad { (BAD, "Failed") } else { (GOOD, "Passed") };
    writeln!(streams.out, "{style}{word:>12}{style:#} {counts}")?;
    writeln!(streams.out, "{:>12} {totals}", "")
}

/// How many errors, warnings and notes there are.
fn counts(findings: &[Diagnostic]) -> String {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    format!(
        "{}, {}, {}",
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        plural(count(Severity::Note), "note")
    )
}
