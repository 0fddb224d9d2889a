//! The report for people.

use std::io::{self, Write};

use cantus_launch::observe::{
    CoverageRow, Evidence, Fate, Finding, Observation, Report, Row, SectionDiff, Session, Verdict,
};

use crate::args::VerifyArgs;
use crate::blocks::{Block, blocks, items, paragraph, shortened};
use crate::report::group;
use crate::style::{BAD, LABEL};
use crate::visible::visible;

/// What stands for nothing.
const NONE: &str = "—";

/// What can't be told.
const UNKNOWN: &str = "◌";

/// The most characters of a name or an id in a table.
const MOST_NAME: usize = 16;

/// Prints what was asked for.
pub(super) fn print(
    report: &Report,
    findings: &[Finding],
    args: &VerifyArgs,
    width: usize,
    out: &mut dyn Write,
) -> io::Result<()> {
    title(out, "Instruction delivery (observed)")?;
    blocks(out, &COLUMNS, &report.providers.iter().map(row).collect::<Vec<_>>(), width)?;
    if args.coverage {
        coverage(report, width, out)?;
    }
    let observations = report.observations.as_deref().unwrap_or_default();
    let helpers: Vec<_> = observations.iter().filter(|seen| seen.is_helper()).collect();
    if (args.helpers || args.agent.is_some()) && !helpers.is_empty() {
        title(out, "\nHelpers")?;
        blocks(out, &HELPER_COLUMNS, &helpers.into_iter().map(helper).collect::<Vec<_>>(), width)?;
    }
    if args.agent.is_some() {
        for seen in observations {
            sections(seen, width, out)?;
        }
        for session in report.sessions.iter().filter(|session| session.foreign) {
            foreign(session, width, out)?;
        }
    }
    differences(findings, width, out)?;
    let sessions: usize = report.providers.iter().map(|row| row.sessions).sum();
    writeln!(out, "\nruns={} sessions={sessions} findings={}", report.runs.len(), findings.len())?;
    if report.providers.is_empty() {
        return Ok(());
    }
    items(out, &LEGEND.map(str::to_owned), width)
}

/// What the marks mean.
const LEGEND: [&str; 4] =
    ["✓ there", "✗ not there", "◌ can't be told", "1× [0,1] mostly once; all that was seen"];

fn title(out: &mut dyn Write, title: &str) -> io::Result<()> {
    let (gap, title) = title.strip_prefix('\n').map_or(("", title), |title| ("\n", title));
    writeln!(out, "{gap}{LABEL}{title}{LABEL:#}")
}

const COLUMNS: [&str; 8] =
    ["provider", "manifest", "bundle", "contract", "home", "project", "directive", "native-full"];

fn row(row: &Row) -> Block {
    let cells = [
        row.provider.as_str(),
        &row.coverage,
        &row.bundle,
        &row.contract,
        &row.home,
        &row.project,
        &row.directive,
        &row.native_full,
    ];
    let mut details = Vec::new();
    details.extend((row.delivery != UNKNOWN).then(|| format!("delivery {}", row.delivery)));
    details.extend((row.foreign != NONE).then(|| format!("foreign {}", row.foreign)));
    details.extend((row.helpers != NONE).then(|| format!("helpers {}", row.helpers)));
    details.extend((row.root_denials > 0).then(|| format!("root denials {}", row.root_denials)));
    Block { cells: cells.map(str::to_owned).to_vec(), details }
}

const COVERAGE_COLUMNS: [&str; 6] = ["provider", "purpose", "manifests", "sessions", "covered", "errors"];

const VERDICT_COLUMNS: [&str; 6] = ["run", "session", "nr", "evidence", "bundle", "sections"];

fn coverage(report: &Report, width: usize, out: &mut dyn Write) -> io::Result<()> {
    title(out, "\nCoverage")?;
    let rows = report.coverage.as_ref().map_or(&[][..], |coverage| &coverage.rows);
    blocks(out, &COVERAGE_COLUMNS, &rows.iter().map(coverage_row).collect::<Vec<_>>(), width)?;
    let verdicts = report.verdicts.as_deref().unwrap_or_default();
    if !verdicts.is_empty() {
        title(out, "\nBundles")?;
        let rows = verdicts.iter().map(|it| {
            let mut block = verdict(it);
            block.details.extend(remarks(report, it));
            block
        });
        blocks(out, &VERDICT_COLUMNS, &rows.collect::<Vec<_>>(), width)?;
    }
    Ok(())
}

fn coverage_row(row: &CoverageRow) -> Block {
    let cells = [
        row.provider.to_string(),
        row.purpose.clone(),
        group(row.manifests as u64),
        group(row.sessions as u64),
        group(row.covered as u64),
        group(row.errors as u64),
    ];
    let fates = Fate::ALL.into_iter().map(|fate| (fate, row.digest.get(&fate).copied().unwrap_or_default()));
    let fates: Vec<_> = fates
        .filter(|(_, count)| *count > 0)
        .map(|(fate, count)| format!("{} {fate}", group(count as u64)))
        .collect();
    let mut details = Vec::new();
    details.extend((!fates.is_empty()).then(|| format!("bundles: {}", fates.join(", "))));
    let renders: Vec<_> = [
        milliseconds("warm", row.warm_p50_ms, row.warm_p95_ms),
        milliseconds("cold", row.cold_p50_ms, row.cold_p95_ms),
    ]
    .into_iter()
    .flatten()
    .collect();
    details.extend((!renders.is_empty()).then(|| format!("renders: {}", renders.join(", "))));
    details.extend(row.uncovered.iter().map(|one| format!("no record: {} {}", one.agent, one.session)));
    Block { cells: cells.to_vec(), details }
}

fn milliseconds(name: &str, median: Option<f64>, most: Option<f64>) -> Option<String> {
    Some(format!("{name} {:.1} ms (p95 {:.1})", median?, most?))
}

fn verdict(verdict: &Verdict) -> Block {
    let fate = match (verdict.digest, verdict.evidence) {
        (Some(Fate::Absent), Evidence::Time) => "absent (by time)".to_owned(),
        (Some(fate), _) => fate.to_string(),
        (None, _) => NONE.to_owned(),
    };
    let sections = verdict.sections_seen.zip(verdict.sections_total);
    let cells = [
        shortened(&verdict.run, MOST_NAME),
        shortened(&verdict.session, MOST_NAME),
        verdict.manifest.map_or_else(|| NONE.to_owned(), |seq| format!("{seq:02}")),
        verdict.evidence.to_string(),
        fate,
        sections.map_or_else(|| NONE.to_owned(), |(seen, total)| format!("{seen}/{total}")),
    ];
    let cut = verdict.cut_at.map(|at| {
        let section =
            verdict.cut_section.as_ref().map_or_else(String::new, |section| format!(", in {section}"));
        format!("cut after {} bytes{section}", group(at))
    });
    Block { cells: cells.to_vec(), details: cut.into_iter().collect() }
}

/// Why of a conversation less is told than of others.
fn remarks(report: &Report, verdict: &Verdict) -> Vec<String> {
    let is_its = |run: &str, session: &str| (run, session) == (&verdict.run, &verdict.session);
    let mut observations = report.observations.iter().flatten();
    let is_partial = observations.any(|seen| seen.partial && is_its(&seen.run, &seen.session));
    let unread = report.unread.iter().filter(|it| is_its(&it.run, &it.session));
    let mut remarks = Vec::new();
    remarks.extend(is_partial.then(|| "only a part of it was read".to_owned()));
    remarks.extend(unread.map(|it| match it.lines {
        1 => "1 of its lines is no record".to_owned(),
        lines => format!("{} of its lines are no records", group(lines as u64)),
    }));
    remarks
}

const HELPER_COLUMNS: [&str; 8] =
    ["run", "helper", "type", "contract", "own bundle", "root bundle", "tries", "accepted"];

fn helper(seen: &Observation) -> Block {
    let count = |count: Option<u64>| count.map_or_else(|| UNKNOWN.to_owned(), group);
    let own = seen.helper_bundle.map_or(UNKNOWN, |found| if found { "✓" } else { "✗" });
    let cells = [
        shortened(&seen.run, MOST_NAME),
        shortened(seen.session.rsplit('/').next().unwrap_or_default(), MOST_NAME),
        shortened(seen.helper_type.as_deref().unwrap_or(NONE), MOST_NAME),
        count(seen.contract_count),
        own.to_owned(),
        count(seen.root_bundle_in_helper),
        group(seen.final_attempts),
        group(seen.final_accepted),
    ];
    Block { cells: cells.to_vec(), details: Vec::new() }
}

const SECTION_COLUMNS: [&str; 5] = ["section", "layer", "observed", "native", "explicit"];

/// The sections of a conversation's record, and how often each stands in it.
fn sections(seen: &Observation, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let Some(SectionDiff { unavailable, rows, purpose, .. }) = &seen.section_diff else { return Ok(()) };
    title(out, &format!("\n{} {}", seen.provider, visible(&seen.session)))?;
    let state = match (rows.is_empty(), unavailable) {
        (true, true) => "there is nothing to compare",
        (true, false) => "no section has a text",
        (false, true) => "only a part of it was read",
        (false, false) => "",
    };
    let told = [purpose.as_deref().unwrap_or_default(), state];
    let told: Vec<_> = told.into_iter().filter(|text| !text.is_empty()).collect();
    if !told.is_empty() {
        paragraph(out, &told.join(": "), width)?;
    }
    if rows.is_empty() {
        return Ok(());
    }
    let rows: Vec<_> = rows
        .iter()
        .map(|row| Block {
            cells: vec![
                row.id.clone(),
                row.layer.name().to_owned(),
                row.observed.map_or_else(|| UNKNOWN.to_owned(), group),
                group(row.native),
                group(row.explicit),
            ],
            details: Vec::new(),
        })
        .collect();
    blocks(out, &SECTION_COLUMNS, &rows, width)
}

fn foreign(session: &Session, width: usize, out: &mut dyn Write) -> io::Result<()> {
    title(out, &format!("\n{} {}", session.provider, visible(&session.session)))?;
    paragraph(out, "⊘ foreign — not recorded by this run; not scored", width)
}

/// What the report proves to be wrong.
fn differences(findings: &[Finding], width: usize, out: &mut dyn Write) -> io::Result<()> {
    if findings.is_empty() {
        return Ok(());
    }
    writeln!(out, "\n{BAD}Otherwise than recorded{BAD:#}")?;
    let rows: Vec<_> = findings
        .iter()
        .map(|finding| Block {
            cells: vec![
                shortened(if finding.run.is_empty() { NONE } else { &finding.run }, MOST_NAME),
                finding.provider.map_or_else(|| NONE.to_owned(), |provider| provider.to_string()),
                shortened(if finding.session.is_empty() { NONE } else { &finding.session }, MOST_NAME),
            ],
            details: vec![finding.what.to_string()],
        })
        .collect();
    blocks(out, &["run", "provider", "session"], &rows, width)
}

#[cfg(test)]
mod tests;
