//! `cantus check`: all that CI wants to know, without writing.

use cantus_manifest::{Diagnostic, Outcome, Severity};
use cantus_projection::{Mend, Totals, check, plan};
use serde::Serialize;

use crate::args::{CheckArgs, Global};
use crate::failure::{Failure, write_diagnostics};
use crate::report::{self, plural, totals_line};
use crate::style::{BAD, GOOD};
use crate::verbs::{compose, is_bad, root};
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

pub(crate) fn run(global: &Global, args: &CheckArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    let outcome = compose(&root, global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let Outcome { value, diagnostics: mut findings } = outcome;
    let Some((project, projection)) = value else { return Err(Failure::diagnostics(findings)) };
    let plan = match plan(&root, &projection, Mend::Safe) {
        Ok(plan) => plan,
        Err(error) if args.json => {
            report::json_broken(streams.out, &error.diagnostics())?;
            return Ok(Status::CantTell);
        }
        Err(error) => return Err(Failure::diagnostics(error.diagnostics())),
    };
    findings.extend(check(&root, &project, &projection, &plan));
    let bad = is_bad(&findings, global);
    let Totals { sections, bytes, tokens_est, common_digest } = projection.totals();
    if args.json {
        let common_digest = common_digest.to_string();
        let answer =
            Answer { version: 1, ok: !bad, findings: &findings, sections, bytes, tokens_est, common_digest };
        serde_json::to_writer_pretty(&mut *streams.out, &answer).map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        if global.quiet {
            findings.retain(|finding| finding.severity > Severity::Note);
        }
        write_diagnostics(streams.out, &findings)?;
        if bad || !global.quiet {
            summary(streams, &findings, bad, &totals_line(&projection))?;
        }
    }
    Ok(if bad { Status::No } else { Status::Yes })
}

fn summary(
    streams: &mut Streams<'_>,
    findings: &[Diagnostic],
    bad: bool,
    totals: &str,
) -> std::io::Result<()> {
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let counts = format!(
        "{}, {}, {}",
        plural(count(Severity::Error), "error"),
        plural(count(Severity::Warning), "warning"),
        plural(count(Severity::Note), "note")
    );
    let (style, word) = if bad { (BAD, "Failed") } else { (GOOD, "Passed") };
    writeln!(streams.out, "{style}{word:>12}{style:#} {counts}")?;
    writeln!(streams.out, "{:>12} {totals}", "")
}
