//! What agents were really given: the providers' own session files, held against what was recorded.
//!
//! A reader a provider turns its files into a transcript: what came by the provider's own files, and what was handed over. A
//! transcript is tied to the records of a run by its marker, by session ids, or by folder and time, and each tie says by which.
//! All counts come from there. Absence counts only where a transcript was seen whole.

mod candidates;
mod channel;
mod claude;
mod codex;
mod composed;
mod counting;
mod coverage;
mod findings;
mod gather;
mod grok;
mod judging;
mod lines;
mod matching;
mod muse;
mod readout;
mod records;
mod report;
mod roots;
mod rows;
mod text;
mod transcript;
mod when;

use std::cmp::Reverse;
use std::path::PathBuf;

use cantus_fs::Disk;

use crate::RunInfo;
use crate::time::rfc3339;
use coverage::{coverage, missing, verdicts};
use gather::{Looked, RunSeen, gather};
use records::Records;
use rows::row;

pub use candidates::{Candidates, candidates};
pub use composed::composed;
pub use findings::{Fault, Finding, findings};
pub use readout::{Layout, ModeRow, Readout, ReadoutFilters, ReadoutKind, ReadoutRequest, readout};
pub use report::{
    Channels, Coverage, CoverageRow, Evidence, Fate, Filters, Missing, Needles, Observation, Report, Request,
    Row, RunRow, SectionDiff, SectionRow, Session, Today, Uncovered, Unread, Verdict, Ways,
};
pub use roots::{Known, ParseKnownError, Roots, SOURCES, Source};
pub use when::{WhenError, when};

/// Reads what the request asks for and tells what was seen. Nothing is written, and nothing in a session file makes it fail:
/// what can't be read isn't there.
#[must_use]
pub fn report(disk: &dyn Disk, request: &Request<'_>) -> Report {
    let chosen = choose(disk, request);
    let runs = looked(disk, request, &chosen);
    let mut all = Vec::new();
    for (provider, artifacts) in &chosen {
        let own: Vec<_> = runs.iter().filter(|run| artifacts.contains(&run.info.artifacts)).collect();
        all.push((*provider, gather(disk, request, *provider, &own)));
    }
    let shows = request.agent.is_some() || request.coverage || request.helpers;
    Report {
        schema_version: report::SCHEMA_VERSION,
        version: report::VERSION,
        generated_at: rfc3339(request.now),
        filters: filters(request),
        providers: all
            .iter()
            .filter(|(_, runs)| !runs.is_empty())
            .map(|(known, runs)| row(*known, runs))
            .collect(),
        runs: runs.iter().map(|run| run_row(&run.info)).collect(),
        observations: shows
            .then(|| all.iter().flat_map(|(known, runs)| observations(request, *known, runs)).collect()),
        coverage: request.coverage.then(|| coverage(&all)),
        verdicts: request.coverage.then(|| all.iter().flat_map(|(_, runs)| verdicts(runs)).collect()),
        unread: all.iter().filter(|_| request.coverage).flat_map(|(_, runs)| unread(runs)).collect(),
        missing: all
            .iter()
            .filter(|_| request.coverage)
            .flat_map(|(known, runs)| missing(*known, runs))
            .collect(),
        sessions: all.iter().flat_map(|(known, runs)| sessions(*known, runs)).collect(),
    }
}

/// Whether two folders are the same, as they are written.
fn same_folder(a: &str, b: &str) -> bool {
    a.trim_end_matches('/') == b.trim_end_matches('/')
}

/// The runs of each wanted provider, told by their artifacts folders.
fn choose(disk: &dyn Disk, request: &Request<'_>) -> Vec<(Known, Vec<PathBuf>)> {
    let mut runs: Vec<_> = request.runs.iter().filter(|run| is_wanted(run, request)).collect();
    runs.sort_by_key(|run| Reverse((run.started_at, &run.artifacts)));
    runs.dedup_by_key(|run| &run.artifacts);
    let limit = if request.agent.is_some() { usize::MAX } else { request.limit };
    let wanted = |known: &Known| request.providers.is_empty() || request.providers.contains(known);
    let mut chosen: Vec<_> = Known::ALL.into_iter().filter(wanted).map(|known| (known, Vec::new())).collect();
    for run in runs {
        if chosen.iter().all(|(_, own)| own.len() >= limit) {
            break;
        }
        let labels = Records::labels(disk, &run.artifacts);
        for (known, own) in &mut chosen {
            let name = known.as_str();
            if own.len() < limit && (run.provider.as_deref() == Some(name) || labels.contains(name)) {
                own.push(run.artifacts.clone());
            }
        }
    }
    chosen
}

fn is_wanted(run: &RunInfo, request: &Request<'_>) -> bool {
    let Some(start) = run.started_at else { return false };
    let is_late = request.since.is_none_or(|since| start >= since);
    let is_early = request.until.is_none_or(|until| start <= until);
    request.agent.is_some() || (is_late && is_early)
}

/// The chosen runs with what they recorded, the newest first.
fn looked(disk: &dyn Disk, request: &Request<'_>, chosen: &[(Known, Vec<PathBuf>)]) -> Vec<Looked> {
    let is_chosen = |run: &&RunInfo| chosen.iter().any(|(_, own)| own.contains(&run.artifacts));
    let mut runs: Vec<_> = request.runs.iter().filter(is_chosen).collect();
    runs.sort_by_key(|run| Reverse((run.started_at, &run.artifacts)));
    runs.dedup_by_key(|run| &run.artifacts);
    let look = |run: &RunInfo| {
        let records = Records::load(disk, &run.artifacts, request.user.as_deref());
        Some(Looked {
            info: run.clone(),
            start: run.started_at?,
            end: run.ended_at.unwrap_or(request.now),
            records,
        })
    };
    runs.into_iter().filter_map(look).collect()
}

fn filters(request: &Request<'_>) -> Filters {
    Filters {
        agent: request.agent.clone(),
        coverage: request.coverage,
        helpers: request.helpers,
        limit: request.limit,
        providers: request.providers.clone(),
        since: request.since.map(rfc3339),
        until: request.until.map(rfc3339),
    }
}

fn run_row(run: &RunInfo) -> RunRow {
    RunRow {
        name: run.name.clone(),
        provider: run.provider.clone(),
        artifacts: run.artifacts.to_string_lossy().into_owned(),
        started_at: run.started_at.map(rfc3339),
        ended_at: run.ended_at.map(rfc3339),
        exit_status: run.exit_status,
    }
}

/// What was seen of a provider: each root with its helpers, and a stand-in for each run of which nothing was.
fn observations(request: &Request<'_>, provider: Known, runs: &[RunSeen<'_>]) -> Vec<Observation> {
    let mut found = Vec::new();
    for run in runs {
        for seen in run.counted() {
            found.push(seen.observation.clone());
            found.extend(seen.helpers.iter().cloned());
        }
        found.extend(run.stand_in(provider, request));
    }
    found
}

/// The conversations that count and have lines that are no records.
fn unread(runs: &[RunSeen<'_>]) -> impl Iterator<Item = Unread> {
    let counted = runs.iter().flat_map(RunSeen::counted).filter(|seen| seen.unread > 0);
    counted.map(|seen| Unread {
        run: seen.observation.run.clone(),
        session: seen.observation.session.clone(),
        lines: seen.unread,
    })
}

fn sessions(provider: Known, runs: &[RunSeen<'_>]) -> Vec<Session> {
    let session = |seen: &gather::Seen| Session {
        provider,
        run: seen.observation.run.clone(),
        session: seen.observation.session.clone(),
        start: seen.start.clone(),
        markers: seen.markers.clone(),
        matches: seen.judgements.iter().map(|(seq, _)| *seq).collect(),
        foreign: seen.evidence == Evidence::Foreign,
        partial: seen.observation.partial,
    };
    runs.iter().flat_map(|run| &run.seen).map(session).collect()
}
