//! What `init --json` prints.

use std::io::{self, Write};

use cantus_manifest::{Diagnostic, RelPath};
use serde::Serialize;

use super::{Deed, Told};
use crate::verbs::import::{self, FileReport, PassedReport};

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    /// `planned`, `written` or `nothing`.
    outcome: &'static str,
    /// Whether `check` finds no error afterwards, as far as that was asked.
    ok: bool,
    files: Vec<FileReport<'a>>,
    passed: Vec<PassedReport<'a>>,
    findings: Vec<&'a Diagnostic>,
    tokens_est: u64,
    /// Of the package's texts; null where they are in the targets already.
    standing_tokens_est: Option<u64>,
    first_note: Option<&'a str>,
    config: Option<&'a str>,
    attributes: &'a [String],
    replaced_links: Vec<&'a str>,
    overwritten: Vec<&'a str>,
    backups: Vec<BackupReport<'a>>,
    next: Vec<&'a str>,
}

#[derive(Serialize)]
struct BackupReport<'a> {
    of: &'a str,
    at: &'a str,
}

pub(super) fn print(out: &mut dyn Write, told: &Told<'_>) -> io::Result<()> {
    let Told { proposal, deed, findings, done } = told;
    let draft = &proposal.draft;

    let backups = done.backups.iter();
    let report = Report {
        version: 1,
        outcome: match deed {
            Deed::Nothing => "nothing",
            Deed::Planned => "planned",
            Deed::Written => "written",
        },
        ok: done.faults.is_empty(),
        files: import::file_reports(draft),
        passed: import::passed_reports(draft),
        findings: findings.iter().chain(&done.faults).collect(),
        tokens_est: draft.import.notes.iter().map(|note| note.tokens_est).sum(),
        standing_tokens_est: proposal.standing_tokens,
        first_note: proposal.first_note.as_ref().map(|(path, _)| path.as_str()),
        config: proposal.config.as_deref(),
        attributes: &proposal.attributes,
        replaced_links: paths(&proposal.links),
        overwritten: paths(&proposal.taken_over),
        backups: backups
            .map(|backup| BackupReport { of: backup.of.as_str(), at: backup.at.as_str() })
            .collect(),
        next: done.advice.iter().map(|(_, text)| text.as_str()).collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

fn paths(paths: &[RelPath]) -> Vec<&str> {
    paths.iter().map(RelPath::as_str).collect()
}
