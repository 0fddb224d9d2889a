//! Lists: the newest runs, and the records of one.

use std::io;
use std::path::Path;

use cantus_fs::RealDisk;
use cantus_launch::{Integrity, Record, RecordFiles, Role, RunInfo, Runs, record_files, rfc3339};
use serde::Serialize;

use super::{prefix, print_json};
use crate::args::{Global, ShowArgs};
use crate::blocks::{items, width};
use crate::failure::Failure;
use crate::report::{plural, table};
use crate::verbs::recorded::shown;
use crate::visible::visible;
use crate::{Status, Streams};

/// How many runs are listed where nobody says.
const RUNS: u64 = 20;

/// What stands for a value that is not known.
const NONE: &str = "—";

/// What `show --json` prints.
#[derive(Serialize)]
struct RunList {
    version: u32,
    runs: Vec<RunRow>,
}

/// A run.
#[derive(Serialize)]
struct RunRow {
    name: String,
    provider: Option<String>,
    artifacts: String,
    workspace: Option<String>,
    started_at: Option<String>,
    ended_at: Option<String>,
    exit_status: Option<i32>,
    /// How many invocations were recorded.
    invocations: usize,
    /// How the last one was delivered, or `error`.
    last_status: Option<String>,
}

/// What `show NAME --list --json` prints.
#[derive(Serialize)]
struct RecordList {
    version: u32,
    run: RunRow,
    records: Vec<RecordRow>,
}

/// A record.
#[derive(Serialize)]
struct RecordRow {
    seq: u64,
    is_helper: bool,
    provider: Option<String>,
    purpose: Option<String>,
    attempt: Option<u64>,
    actor: Option<String>,
    delivery_status: Option<String>,
    channel: Option<String>,
    fallback: Option<String>,
    sha256: Option<String>,
    sha256_prefix: Option<String>,
    common_digest: Option<String>,
    common_digest_prefix: Option<String>,
    bytes: u64,
    tokens_est: u64,
    integrity: String,
    source: String,
    invocation_id: Option<String>,
    parent_invocation_id: Option<String>,
    session_ids: Vec<String>,
    rendered_at: Option<String>,
    error: bool,
    problems: Vec<String>,
}

/// Prints the newest runs.
pub(super) fn newest(
    global: &Global,
    runs: &Runs,
    args: &ShowArgs,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let limit = usize::try_from(args.number.unwrap_or(RUNS)).unwrap_or(usize::MAX);
    if limit == 0 {
        return Err(Failure::error("`-n 0` lists nothing").hint("give a number from 1, or leave it out"));
    }
    let found = runs.newest(limit);
    let rows: Vec<_> = found.runs.iter().map(RunRow::of).collect();
    for tree in &found.cut {
        writeln!(streams.err, "show: only the first 10,000 folders of `{}` were looked at", shown(tree))?;
    }
    if found.gone > 0 {
        let gone = plural(found.gone, "run");
        writeln!(streams.err, "show: the folders of {gone} in the index are gone")?;
    }
    if args.json {
        print_json(&RunList { version: 1, runs: rows }, streams)?;
        return Ok(Status::Yes);
    }
    if rows.is_empty() {
        writeln!(
            streams.err,
            "show: no run is known; `{} exec --artifacts DIR` records one",
            global.program
        )?;
    }
    print_runs(&rows, width(), streams)?;
    Ok(Status::Yes)
}

/// Prints a line a run, or more where that is too long: a name is never cut, since it is what `show` takes.
fn print_runs(rows: &[RunRow], width: usize, streams: &mut Streams<'_>) -> io::Result<()> {
    let cells: Vec<_> = rows.iter().map(RunRow::cells).collect();
    let widest = |column: usize| {
        cells.iter().map(|row| visible(&row[column]).chars().count()).max().unwrap_or_default()
    };
    let columns = cells.first().map_or(0, |row| row.len());
    let needed = (0..columns).map(widest).sum::<usize>() + 2 * columns.saturating_sub(1);
    if needed <= width {
        return table(streams.out, "", &cells);
    }
    cells.iter().try_for_each(|row| {
        let row: Vec<_> = row.iter().map(|cell| visible(cell).into_owned()).collect();
        items(streams.out, &row, width)
    })
}

/// Prints every record of a run.
pub(super) fn records(
    run: &RunInfo,
    files: &[RecordFiles],
    user: Option<&Path>,
    args: &ShowArgs,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let records: Vec<_> = files.iter().map(|files| files.read(&RealDisk, user)).collect();
    let whole = records.iter().all(|record| record.integrity == Integrity::Match);
    if args.json {
        let rows = records.into_iter().map(RecordRow::of).collect();
        print_json(&RecordList { version: 1, run: RunRow::of(run), records: rows }, streams)?;
    } else {
        for record in &records {
            writeln!(streams.out, "{}", visible(&line(record)))?;
        }
    }
    Ok(if whole { Status::Yes } else { Status::No })
}

/// A record as one line.
fn line(record: &Record) -> String {
    let said = &record.said;
    let text = |text: &Option<String>| text.clone().unwrap_or_else(|| NONE.to_owned());
    [
        format!("{:02}", record.seq),
        said.provider.clone().unwrap_or_else(|| "unknown".to_owned()),
        text(&said.purpose),
        said.attempt.map_or_else(|| NONE.to_owned(), |attempt| attempt.to_string()),
        said.actor.clone().unwrap_or_else(|| actor(record.role).to_owned()),
        text(&said.delivery_status),
        text(&said.channel),
        prefix(said.sha256.as_deref(), NONE),
        prefix(said.common_digest.as_deref(), NONE),
        said.bytes.to_string(),
        said.tokens_est.to_string(),
        record.integrity.to_string(),
    ]
    .join("  ")
}

/// The actor that a record without a manifest would have.
fn actor(role: Role) -> &'static str {
    match role {
        Role::Root => "sase_root",
        Role::Helper => "native_helper",
    }
}

impl RunRow {
    fn of(run: &RunInfo) -> Self {
        let files = record_files(&RealDisk, &run.artifacts).unwrap_or_default();
        let roots = || files.iter().filter(|files| files.role() == Role::Root);
        let last = roots().next_back().map(|files| files.read(&RealDisk, None));
        Self {
            name: run.name.clone(),
            provider: run.provider.clone(),
            artifacts: run.artifacts.to_string_lossy().into_owned(),
            workspace: run.workspace.clone(),
            started_at: run.started_at.map(rfc3339),
            ended_at: run.ended_at.map(rfc3339),
            exit_status: run.exit_status,
            invocations: roots().count(),
            last_status: last.and_then(|record| match record.error {
                true => Some("error".to_owned()),
                false => record.said.delivery_status,
            }),
        }
    }

    fn cells(&self) -> [String; 6] {
        let none = || NONE.to_owned();
        let exit = match (self.exit_status, &self.ended_at) {
            (Some(status), _) => format!("exit {status}"),
            (None, Some(_)) => "ended".to_owned(),
            (None, None) => none(),
        };
        [
            self.name.clone(),
            self.provider.clone().unwrap_or_else(none),
            self.started_at.as_deref().map_or_else(none, seconds),
            plural(self.invocations, "invocation"),
            self.last_status.clone().unwrap_or_else(none),
            exit,
        ]
    }
}

/// A time without its milliseconds.
fn seconds(time: &str) -> String {
    time.split_once('.').map_or_else(|| time.to_owned(), |(seconds, _)| format!("{seconds}Z"))
}

fn first_digits(digest: Option<&str>) -> Option<String> {
    digest.map(|digest| prefix(Some(digest), NONE))
}

impl RecordRow {
    fn of(record: Record) -> Self {
        let Record { seq, role, said, error, source, integrity, problems, .. } = record;
        Self {
            seq,
            is_helper: role == Role::Helper,
            provider: said.provider,
            purpose: said.purpose,
            attempt: said.attempt,
            actor: said.actor,
            delivery_status: said.delivery_status,
            channel: said.channel,
            fallback: said.fallback,
            sha256_prefix: first_digits(said.sha256.as_deref()),
            sha256: said.sha256,
            common_digest_prefix: first_digits(said.common_digest.as_deref()),
            common_digest: said.common_digest,
            bytes: said.bytes,
            tokens_est: said.tokens_est,
            integrity: integrity.to_string(),
            source: source.to_string(),
            invocation_id: said.invocation_id,
            parent_invocation_id: said.parent_invocation_id,
            session_ids: said.session_ids,
            rendered_at: said.rendered_at,
            error,
            problems,
        }
    }
}
