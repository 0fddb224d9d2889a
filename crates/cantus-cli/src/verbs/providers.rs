//! `cantus list --providers`: what each agent reads here, and where it stops.

use cantus_projection::{Evidence, Limit, Reading, Scope, Unit, readings};
use cantus_workspace::Project;
use serde::Serialize;

use crate::args::{Global, ListArgs};
use crate::failure::Failure;
use crate::report::{self, group, plural, table};
use crate::style::LABEL;
use crate::verbs::{finish, options, root};
use crate::{Status, Streams};

/// What `list --providers --json` prints.
#[derive(Serialize)]
struct Listing<'a> {
    version: u32,
    providers: Vec<Entry<'a>>,
    /// Configured providers of which the table says nothing.
    unknown: Vec<&'a str>,
}

/// One agent.
#[derive(Serialize)]
struct Entry<'a> {
    name: &'a str,
    title: &'a str,
    configured: bool,
    /// Whether it reads any committed file.
    reached: bool,
    files: Vec<File<'a>>,
    /// Committed files that another file keeps from it.
    shadowed: Vec<Shadowed<'a>>,
    /// Files of which nobody knows whether it reads them.
    unsure: &'a [String],
    limits: Vec<LimitEntry<'a>>,
    /// `source`, `measured`, `documented` or `reported`.
    evidence: Evidence,
    source: &'a str,
    date: &'a str,
    remark: Option<String>,
}

/// One file that is read.
#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    ours: bool,
}

/// A file of ours, and the one that is read instead.
#[derive(Serialize)]
struct Shadowed<'a> {
    path: &'a str,
    by: &'a str,
}

/// One limit.
#[derive(Serialize)]
struct LimitEntry<'a> {
    files: &'a [String],
    amount: u64,
    unit: Unit,
    scope: Scope,
    evidence: Evidence,
    source: &'a str,
    date: &'a str,
}

pub(super) fn run(global: &Global, args: &ListArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    let outcome = Project::open(&root, &options(global));
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let project = finish(outcome, global, streams)?;
    let readings = readings(&root, &project.config);
    let names = project.config.providers.iter().map(|provider| provider.as_str());
    let unknown: Vec<_> =
        names.filter(|name| readings.iter().all(|reading| reading.reader.name != *name)).collect();
    if args.json {
        let listing = Listing { version: 1, providers: readings.iter().map(entry).collect(), unknown };
        serde_json::to_writer_pretty(&mut *streams.out, &listing).map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
        return Ok(Status::Yes);
    }
    for (title, configured) in [("configured", true), ("others", false)] {
        let chosen: Vec<_> = readings.iter().filter(|reading| reading.configured == configured).collect();
        writeln!(streams.out, "{LABEL}{title}{LABEL:#} ({})", plural(chosen.len(), "provider"))?;
        table(streams.out, "  ", &chosen.into_iter().map(row).collect::<Vec<_>>())?;
    }
    for name in unknown {
        writeln!(streams.out, "nothing is known of {name}")?;
    }
    writeln!(
        streams.out,
        "files in brackets are not generated from the notes; dates and sources with --json"
    )?;
    Ok(Status::Yes)
}

fn entry(reading: &Reading) -> Entry<'_> {
    let reader = reading.reader;
    Entry {
        name: &reader.name,
        title: &reader.title,
        configured: reading.configured,
        reached: reading.is_reached(),
        files: reading.files.iter().map(|file| File { path: &file.path, ours: file.ours }).collect(),
        shadowed: reading
            .shadowed
            .iter()
            .map(|shadow| Shadowed { path: &shadow.file, by: &shadow.by })
            .collect(),
        unsure: &reader.unsure,
        limits: reader.limit.iter().map(limit).collect(),
        evidence: reader.evidence,
        source: &reader.source,
        date: &reader.date,
        remark: remark(reading),
    }
}

fn limit(limit: &Limit) -> LimitEntry<'_> {
    let Limit { files, amount, unit, scope, evidence, source, date, .. } = limit;
    LimitEntry { files, amount: *amount, unit: *unit, scope: *scope, evidence: *evidence, source, date }
}

/// Its name, what it reads, where it stops, how that is known.
fn row(reading: &Reading) -> [String; 5] {
    let reader = reading.reader;
    let files = reading.files.iter().map(|file| match file.ours {
        true => file.path.clone(),
        false => format!("[{}]", file.path),
    });
    let unsure = reader.unsure.iter().map(|file| format!("{file}?"));
    let files: Vec<_> = files.chain(unsure).collect();
    let files = match (files.is_empty(), reader.reads.is_empty()) {
        (false, _) => files.join(", "),
        (true, true) => "nothing".to_owned(),
        (true, false) => format!("nothing; it reads {}", reader.reads.concat().join(", ")),
    };
    let reached = if reading.is_reached() { "reached" } else { "not reached" };
    let limits = reader.limit.iter().map(|limit| {
        let doubt = if limit.evidence == Evidence::Reported { "?" } else { "" };
        let of = match limit.files.iter().find(|file| file.ends_with("/*")) {
            Some(folder) => format!(" in {folder}"),
            None if limit.scope == Scope::Chain => " in all".to_owned(),
            None => String::new(),
        };
        format!("{} {}{of}{doubt}", group(limit.amount), limit.unit.noun())
    });
    let limits = limits.collect::<Vec<_>>().join(", ");
    [reader.name.clone(), reached.to_owned(), files, limits, reader.evidence.as_str().to_owned()]
}

/// What else is to be said of it.
fn remark(reading: &Reading) -> Option<String> {
    let reader = reading.reader;
    let conditional = reader.conditional.as_ref().map(|one| format!("{} {}", one.file, one.when));
    let parts: Vec<_> = conditional.into_iter().chain(reader.remark.clone()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
