//! `cantus readout`: how runs ended, by the way in which their instructions reached them.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use cantus_fs::{Disk, RealDisk};
use cantus_launch::observe::{Layout, ModeRow, Readout, ReadoutRequest, readout};
use cantus_manifest::canonical_json;

use crate::args::{Global, LayoutName, ReadoutArgs};
use crate::blocks::{Block, blocks, width};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::report::{group, plural};
use crate::style::{FAINT, LABEL};
use crate::verbs::recorded::{runs, shown, tell_none, tell_unseen};
use crate::verbs::verify::window;
use crate::visible::visible;
use crate::{Status, Streams};

pub(crate) fn run(global: &Global, args: &ReadoutArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let now = Clock::start(Instant::now())?.at();
    let request = ReadoutRequest {
        runs: &runs(&args.runs)?,
        window: window(args.since.as_deref(), args.until.as_deref(), now)?,
        providers: args.providers.iter().map(ToString::to_string).collect(),
        layout: layout(args)?,
        now,
    };
    let readout = readout(&RealDisk, &request);
    tell_unseen("readout", &readout.cut, readout.gone, streams)?;
    for (log, reason) in &readout.unread {
        let log = shown(log);
        writeln!(
            streams.err,
            "readout: the log `{log}` can't be read: {reason}; no memory read is counted from it"
        )?;
    }
    for name in &readout.broken {
        let name = visible(name);
        writeln!(
            streams.err,
            "readout: the `outcome.json` of run `{name}` can't be understood; it counts as unknown"
        )?;
    }
    if readout.rows.is_empty() && readout.looked_at > 0 {
        let runs = plural(readout.looked_at, "run");
        writeln!(streams.err, "readout: {runs} began in that time, none with the files of this layout")?;
    } else if readout.rows.is_empty() {
        tell_none(global, "readout", &readout.filters.providers, streams)?;
    }
    if args.json {
        let value = serde_json::to_value(&readout).map_err(Failure::error)?;
        streams.out.write_all(canonical_json(&value).as_bytes())?;
    } else {
        human(&readout, args.layout, width(), streams.out)?;
    }
    Ok(Status::Yes)
}

fn layout(args: &ReadoutArgs) -> Result<Layout, Failure> {
    match args.layout {
        LayoutName::Sase => {
            let logs = args.memory_reads.iter().map(|log| readable(log)).collect::<Result<_, _>>()?;
            Ok(Layout::Sase(logs))
        }
        LayoutName::Cantus if args.memory_reads.is_empty() => Ok(Layout::Cantus),
        LayoutName::Cantus => Err(Failure::error("`--memory-reads` is only for `--layout sase`")
            .hint("add `--layout sase`, or leave it out")),
    }
}

/// The absolute path of a log, if it can be read.
fn readable(log: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(log).map_err(Failure::error)?;
    let fault = |error: io::Error| {
        let failure = Failure::error(format!("`{}`, given as a log of memory reads: {error}", log.display()));
        failure.hint("name a file of JSON lines, or leave it out")
    };
    RealDisk.measure(&absolute).map_err(fault)?;
    Ok(absolute)
}

const COLUMNS: [&str; 8] =
    ["provider", "delivery", "runs", "accepted", "handoff", "not req.", "misses", "unknown"];

const SASE_COLUMNS: [&str; 12] =
    ["provider", "delivery", "runs", "acc", "plan", "mon+", "mon", "other", "n/r", "misses", "unk", "mem"];

/// The classes in the order of the columns, the misses between them.
const CLASSES: [&str; 3] = ["accepted", "handoff", "not_required"];
const SASE_CLASSES: [&str; 6] =
    ["accepted", "plan_handoff", "monitor_prepared", "monitor_plain", "other_handoff", "not_required"];

fn human(readout: &Readout, layout: LayoutName, width: usize, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{LABEL}Outcomes by delivery{LABEL:#}")?;
    let (columns, classes): (&[&str], &[&str]) = match layout {
        LayoutName::Cantus => (&COLUMNS, &CLASSES),
        LayoutName::Sase => (&SASE_COLUMNS, &SASE_CLASSES),
    };
    let rows: Vec<_> = readout.rows.iter().map(|row| block(row, classes)).collect();
    blocks(out, columns, &rows, width)?;
    for (provider, time) in &readout.first_explicit_rendered_at {
        writeln!(out, "{FAINT}first explicit bundle of {}: {}{FAINT:#}", visible(provider), visible(time))?;
    }
    Ok(())
}

fn block(row: &ModeRow, classes: &[&str]) -> Block {
    let count = |class: &str| group(row.classes.get(class).copied().unwrap_or_default());
    let research = if row.is_research == Some(true) { "research" } else { "" };
    let mut cells = vec![row.provider.clone(), row.delivery_mode.to_owned(), group(row.total)];
    cells.extend(classes.iter().map(|class| count(class)));
    cells.extend([row.misses.clone(), count("unknown")]);
    cells.extend(row.memory_mean.map(|mean| format!("{mean}")));
    let kinds: Vec<_> =
        row.kinds.iter().map(|kind| format!("{} {}: {}", kind.class, kind.kind, group(kind.runs))).collect();
    let mut details = Vec::new();
    details.extend((!research.is_empty()).then(|| research.to_owned()));
    details.extend((!kinds.is_empty()).then(|| kinds.join(", ")));
    Block { cells, details }
}
