//! `cantus list --providers`: what each agent reads here, and where it stops.

use cantus_fs::Root;
use cantus_projection::{
    Evidence, Limit, Load, Reading, Scope, Unit, UpTo, Used, UserFolders, loads, readings,
};
use cantus_workspace::{Config, Project};
use serde::Serialize;

use crate::args::{Global, ListArgs};
use crate::blocks::{Block, blocks, width};
use crate::failure::Failure;
use crate::report::{self, group};
use crate::style::{FAINT, LABEL};
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
    /// What it would load on this machine, in its order.
    loads: Vec<Load>,
    /// How far up it looks in the folders above the root; null where nobody looked.
    up_to: Option<UpTo>,
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
    let readings: Vec<_> = readings(&root, &project.config)
        .into_iter()
        .map(|reading| {
            let loads = loaded(&root, &project.config, &reading);
            (reading, loads)
        })
        .collect();
    let names = project.config.providers.iter().map(|provider| provider.as_str());
    let unknown: Vec<_> =
        names.filter(|name| readings.iter().all(|(reading, _)| reading.reader.name != *name)).collect();
    if args.json {
        let listing = Listing {
            version: 1,
            providers: readings.iter().map(|(reading, loads)| entry(reading, loads)).collect(),
            unknown,
        };
        serde_json::to_writer_pretty(&mut *streams.out, &listing).map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
        return Ok(Status::Yes);
    }
    human(&readings, &project.config, streams)?;
    for name in unknown {
        writeln!(streams.out, "\nNothing is known of `{name}`, which `providers` names.")?;
    }
    Ok(Status::Yes)
}

/// What an agent would load here, the environment being this process's.
fn loaded(root: &Root, config: &Config, reading: &Reading) -> Vec<Load> {
    let home = std::env::home_dir();
    let user = UserFolders { home: home.as_deref(), variable: &|name| std::env::var_os(name) };
    loads(root, config, reading, user)
}

fn entry<'a>(reading: &'a Reading, loads: &[Load]) -> Entry<'a> {
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
        loads: loads.to_vec(),
        up_to: reader.beyond.as_ref().map(|beyond| beyond.up_to),
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

/// The list for people: 80 columns, by who is asked for and whether our files reach it.
fn human(
    readings: &[(Reading, Vec<Load>)],
    config: &Config,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let names = readings.iter().map(|(reading, _)| reading.reader.name.len()).max().unwrap_or_default();
    let groups = [
        ("In `providers`, and reached", true, true),
        ("In `providers`, but not reached", true, false),
        ("Others that the files reach", false, true),
        ("Others that they do not reach", false, false),
    ];
    writeln!(
        streams.out,
        "{FAINT}  {:names$}     {:FILES_WIDTH$}  where it stops{FAINT:#}",
        "agent", "reads here"
    )?;
    for (title, configured, reached) in groups {
        let is_in = |reading: &&Reading| reading.configured == configured && reading.is_reached() == reached;
        let chosen: Vec<_> = readings.iter().map(|(reading, _)| reading).filter(is_in).collect();
        if chosen.is_empty() {
            continue;
        }
        writeln!(streams.out, "{LABEL}{title}{LABEL:#} ({})", chosen.len())?;
        for reading in chosen {
            row(reading, config, names, streams)?;
        }
        writeln!(streams.out)?;
    }
    here(readings, streams)?;
    for line in LEGEND {
        writeln!(streams.out, "{FAINT}{line}{FAINT:#}")?;
    }
    Ok(())
}

/// What the agents that are asked for would load on this machine, with sizes.
fn here(readings: &[(Reading, Vec<Load>)], streams: &mut Streams<'_>) -> std::io::Result<()> {
    let mut rows: Vec<Block> = Vec::new();
    for (reading, loads) in readings.iter().filter(|(reading, loads)| reading.configured && !loads.is_empty())
    {
        for (index, load) in loads.iter().enumerate() {
            let name = if index == 0 { reading.reader.name.clone() } else { String::new() };
            rows.push(Block { cells: vec![name, load.path.clone(), size(load)], details: Vec::new() });
        }
        let beyond = match reading.reader.beyond.as_ref().map(|beyond| beyond.up_to) {
            Some(UpTo::Disk) => Some("looks in every folder above the root too"),
            Some(UpTo::Repository) => Some("looks in the folders above the root too, up to the repository's"),
            None => None,
        };
        if let Some(last) = rows.last_mut() {
            last.details.extend(beyond.map(str::to_owned));
        }
    }
    if rows.is_empty() {
        return Ok(());
    }
    writeln!(streams.out, "{LABEL}What those in `providers` would load here{LABEL:#}")?;
    blocks(streams.out, &["agent", "file", "size"], &rows, width())?;
    writeln!(streams.out)
}

/// How large a file is, or how much of its limit is used.
fn size(load: &Load) -> String {
    let Some(Used { amount, used, unit, scope, evidence }) = load.limit else {
        return format!("{} bytes", group(load.bytes));
    };
    let (doubt, unit) = (doubt(evidence), short(unit));
    let of = if scope == Scope::Chain { " in all" } else { "" };
    format!("{} of {} {unit}{of}{doubt}", group(used), group(amount))
}

/// What the marks mean.
const LEGEND: [&str; 4] = [
    "[file] is not generated from the notes; file? may be read, nobody knows.",
    "Limits: ? is only reported; in all adds up a folder's file and those above.",
    "How it is known: d documented, s source read, m measured, r reported.",
    "`--json` has the sources and dates, and what else is known of each.",
];

/// How wide the column of files is.
const FILES_WIDTH: usize = 38;

/// One agent: its name, what it reads, where it stops, how that is known; as many lines as it takes.
fn row(reading: &Reading, config: &Config, names: usize, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let files = files(reading, config);
    let limits: Vec<_> = reading.reader.limit.iter().map(limit_text).collect();
    for line in 0..files.len().max(limits.len()) {
        let cell = |cells: &[String]| cells.get(line).cloned().unwrap_or_default();
        let name = if line == 0 { reading.reader.name.as_str() } else { "" };
        let mark = if line == 0 { &reading.reader.evidence.as_str()[..1] } else { " " };
        let text = format!("  {name:names$}  {mark}  {:FILES_WIDTH$}  {}", cell(&files), cell(&limits));
        writeln!(streams.out, "{}", text.trim_end())?;
    }
    Ok(())
}

/// What an agent reads here, and what is odd about it, in lines of the column's width.
fn files(reading: &Reading, config: &Config) -> Vec<String> {
    let reader = reading.reader;
    let read = reading.files.iter().map(|file| match file.ours {
        true => file.path.clone(),
        false => format!("[{}]", file.path),
    });
    let read: Vec<_> = read.chain(reader.unsure.iter().map(|file| format!("{file}?"))).collect();
    let mut lines = match (read.is_empty(), reader.reads.is_empty()) {
        (false, _) => wrapped(&read),
        (true, true) => vec!["nothing by itself".to_owned()],
        (true, false) => {
            let mut wanted: Vec<_> = reader.reads.concat();
            wanted[0] = format!("would read {}", wanted[0]);
            wrapped(&wanted)
        }
    };
    for shadow in &reading.shadowed {
        lines.extend(wrapped(&[format!("not {}:", shadow.file), format!("{} hides it", shadow.by)]));
    }
    lines.extend(reading.twice(config).map(|_| "the same text twice".to_owned()));
    lines
}

/// Items with commas between them, in lines of the column's width; one item is never cut.
fn wrapped(items: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let comma = if index + 1 < items.len() && !item.ends_with(':') { "," } else { "" };
        let item = format!("{item}{comma}");
        match lines.last_mut().filter(|line| line.len() + 1 + item.len() <= FILES_WIDTH) {
            Some(line) => line.push_str(&format!(" {item}")),
            None => lines.push(item),
        }
    }
    lines
}

fn limit_text(limit: &Limit) -> String {
    let (doubt, unit) = (doubt(limit.evidence), short(limit.unit));
    let of = match limit.files.iter().any(|file| file.ends_with("/*")) {
        true => " a rule",
        false if limit.scope == Scope::Chain => " in all",
        false => "",
    };
    format!("{} {unit}{of}{doubt}", group(limit.amount))
}

/// The mark of what is only reported.
fn doubt(evidence: Evidence) -> &'static str {
    if evidence == Evidence::Reported { "?" } else { "" }
}

fn short(unit: Unit) -> &'static str {
    match unit {
        Unit::Bytes => "bytes",
        Unit::Chars => "chars",
    }
}

/// What else is to be said of it.
fn remark(reading: &Reading) -> Option<String> {
    let reader = reading.reader;
    let conditional = reader.conditional.as_ref().map(|one| format!("{} {}", one.file, one.when));
    let parts: Vec<_> = conditional.into_iter().chain(reader.remark.clone()).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}
