//! `cantus stats`: what a context costs, by layer, section and note.

mod output;
mod page;

use std::collections::BTreeMap;
use std::io::IsTerminal as _;

use cantus_fs::Root;
use cantus_manifest::Layer;
use cantus_projection::{Evidence, Limit, Projection, Scope, Unit, Version, history, readings};
use cantus_workspace::Project;
use serde::Serialize;

use crate::args::{Global, StatsArgs};
use crate::chart::bar;
use crate::failure::Failure;
use crate::report::{self, group, plural};
use crate::style::{CARE, FAINT, LABEL};
use crate::verbs::{compose, finish, root};
use crate::visible::visible;
use crate::{Status, Streams};

/// The narrowest terminal that gets bars, in cells.
const NARROWEST: usize = 50;
/// The widest bar, in cells.
const WIDEST_BAR: usize = 40;

/// What `stats --json` prints, and what the page shows.
#[derive(Serialize)]
struct Stats {
    version: u32,
    /// The project's heading.
    title: String,
    /// The committed file, or null if the configuration names none.
    file: Option<String>,
    /// Of the whole file as it is composed now, the notice with it.
    bytes: u64,
    /// Of the bundle.
    tokens_est: u64,
    /// The most bytes that the file should have.
    limit_bytes: u64,
    /// Whose limits hold for the file: that of the configuration, then those of the configured agents.
    limits: Vec<StatLimit>,
    layers: Vec<Sum>,
    sections: Vec<Part>,
    notes: Vec<Sum>,
    /// Oldest first; null unless it was asked for, or outside git.
    history: Option<Vec<Size>>,
}

/// One limit of the file, and how much of it is used.
#[derive(Serialize)]
struct StatLimit {
    /// The configuration's key, or the agent's title.
    owner: String,
    amount: u64,
    unit: Unit,
    /// How much of it the file takes.
    used: u64,
    /// Whether the files of the folders above count as well.
    scope: Scope,
    /// How it is known; null for a choice of the project.
    evidence: Option<Evidence>,
    source: Option<&'static str>,
    /// When it was looked up, `YYYY-MM-DD`.
    date: Option<&'static str>,
}

/// Several sections together.
#[derive(Clone, Serialize)]
struct Sum {
    name: String,
    sections: usize,
    bytes: u64,
    tokens_est: u64,
}

/// One section.
#[derive(Serialize)]
struct Part {
    id: String,
    layer: &'static str,
    /// The source that it is first of all made of; null for the composer's own.
    note: Option<String>,
    bytes: u64,
    tokens_est: u64,
}

/// The file as one commit left it.
#[derive(Serialize)]
struct Size {
    commit: String,
    day: String,
    bytes: u64,
    tokens_est: u64,
}

pub(crate) fn run(global: &Global, args: &StatsArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    let outcome = compose(&root, global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let (project, projection) = finish(outcome, global, streams)?;
    let mut stats = stats(&project, &projection);
    stats.limits = limits(&root, &project, &projection);
    if let (Some(most), Some((file, _))) = (args.history, projection.files().next()) {
        stats.history =
            history(root.path(), file, most).map(|versions| versions.into_iter().map(size).collect());
        if stats.history.is_none() {
            let why = "this is no git repository, or git gave no answer";
            writeln!(streams.err, "{CARE}warning{CARE:#}: there is no history: {why}")?;
        }
    }
    if let Some(file) = &args.html {
        let force = if args.force { output::Force::Yes } else { output::Force::No };
        output::check(file, &root, &project)?;
        output::write(file, &page::page(&stats), force)?;
        if !global.quiet && !args.json {
            writeln!(
                streams.out,
                "{LABEL}{:>12}{LABEL:#} {}",
                "Wrote",
                visible(&file.display().to_string())
            )?;
        }
    }
    if args.json {
        serde_json::to_writer_pretty(&mut *streams.out, &stats).map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
    } else if args.html.is_none() {
        let terminal = std::io::stdout().is_terminal();
        let width = terminal.then(|| terminal_size::terminal_size().map_or(80, |(width, _)| width.0.into()));
        human(&stats, width, streams)?;
    }
    Ok(Status::Yes)
}

/// The limits that hold for the first committed file: the project's own, then those of configured agents that read it.
fn limits(root: &Root, project: &Project, projection: &Projection) -> Vec<StatLimit> {
    let Some(path) = projection.files().next().map(|(path, _)| path) else { return Vec::new() };
    let text = projection.text(path).unwrap_or_default();
    let own = StatLimit {
        owner: "budget.file_bytes".to_owned(),
        amount: project.config.file_bytes,
        unit: Unit::Bytes,
        used: text.len() as u64,
        scope: Scope::File,
        evidence: None,
        source: None,
        date: None,
    };
    let mut limits = vec![own];
    for reading in readings(root, &project.config).iter().filter(|reading| reading.configured) {
        let reader = reading.reader;
        // A copy is as large as the file itself.
        let is_read =
            |limit: &&Limit| reading.files.iter().any(|file| file.ours && limit.files.contains(&file.path));
        limits.extend(reader.limit.iter().filter(is_read).map(|limit| StatLimit {
            owner: reader.title.clone(),
            amount: if limit.key.is_some() { project.config.file_bytes } else { limit.amount },
            unit: limit.unit,
            used: limit.unit.count(&text),
            scope: limit.scope,
            evidence: Some(limit.evidence),
            source: Some(&limit.source),
            date: Some(&limit.date),
        }));
    }
    limits
}

fn stats(project: &Project, projection: &Projection) -> Stats {
    let file = projection.files().next().map(|(path, _)| path.clone());
    let bundle = projection.files().next().and_then(|(_, bundle)| bundle).unwrap_or(projection.native());
    let text = file.as_ref().and_then(|path| projection.text(path));
    let part = |(section, content): (&cantus_compose::Section, &cantus_compose::Content)| Part {
        id: section.id.to_string(),
        layer: section.layer.name(),
        note: section.sources.first().filter(|_| section.layer != Layer::Frame).map(ToString::to_string),
        bytes: content.text().len() as u64,
        tokens_est: content.tokens_est(),
    };
    let mut sections: Vec<Part> = bundle.included().map(part).collect();
    let layers = sums(&sections, |part| part.layer.to_owned());
    let notes = sums(&sections, |part| part.note.clone().unwrap_or_else(|| "(frame)".to_owned()));
    // Sorting is stable: sections of one size stay in the order of the bundle.
    sections.sort_by_key(|part| std::cmp::Reverse((part.tokens_est, part.bytes)));
    Stats {
        version: 1,
        title: project.config.title.clone(),
        file: file.map(|path| path.to_string()),
        bytes: text.map_or(bundle.bytes(), |text| text.len()) as u64,
        tokens_est: bundle.tokens_est(),
        limit_bytes: project.config.file_bytes,
        limits: Vec::new(),
        layers,
        sections,
        notes,
        history: None,
    }
}

/// The sums of the parts with one key, biggest first.
fn sums(parts: &[Part], key: impl Fn(&Part) -> String) -> Vec<Sum> {
    let mut sums: BTreeMap<String, Sum> = BTreeMap::new();
    for part in parts {
        let name = key(part);
        let sum = sums.entry(name.clone()).or_insert(Sum { name, sections: 0, bytes: 0, tokens_est: 0 });
        sum.sections += 1;
        sum.bytes += part.bytes;
        sum.tokens_est += part.tokens_est;
    }
    let mut sums: Vec<Sum> = sums.into_values().collect();
    sums.sort_by_key(|sum| std::cmp::Reverse((sum.tokens_est, sum.bytes)));
    sums
}

fn size(version: Version) -> Size {
    let Version { commit, day, bytes, tokens_est } = version;
    Size { commit, day, bytes, tokens_est }
}

/// A share in percent with one digit, as text.
fn percent(part: u64, whole: u64) -> String {
    format!("{:.1}%", share(part, whole) * 100.0)
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// The report for people; `width` is the terminal's, `None` elsewhere.
fn human(stats: &Stats, width: Option<usize>, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let file = visible(stats.file.as_deref().unwrap_or("the bundle"));
    writeln!(
        streams.out,
        "{LABEL}{file}{LABEL:#}: ~{} tokens, {} bytes, {} of {} bytes",
        group(stats.tokens_est),
        group(stats.bytes),
        percent(stats.bytes, stats.limit_bytes),
        group(stats.limit_bytes),
    )?;
    let sum = |sum: &Sum| (visible(&sum.name).into_owned(), sum.tokens_est, plural(sum.sections, "section"));
    let part = |part: &Part| (part.id.clone(), part.tokens_est, String::new());
    let tokens = stats.tokens_est;
    chart("layers", stats.layers.iter().map(sum).collect(), tokens, width, streams)?;
    chart("sections", stats.sections.iter().map(part).collect(), tokens, width, streams)?;
    chart("notes", stats.notes.iter().map(sum).collect(), tokens, width, streams)?;
    let Some(history) = &stats.history else { return Ok(()) };
    let row = |size: &Size| (format!("{} {}", size.day, size.commit), size.bytes, String::new());
    chart(
        "history, in bytes of the budget",
        history.iter().map(row).collect(),
        stats.limit_bytes,
        width,
        streams,
    )
}

/// Rows with a number, its share of `whole`, and on a terminal a bar.
fn chart(
    heading: &str,
    rows: Vec<(String, u64, String)>,
    whole: u64,
    width: Option<usize>,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    writeln!(streams.out, "\n{LABEL}{heading}{LABEL:#}")?;
    let most = rows.iter().map(|(_, number, _)| *number).max().unwrap_or_default();
    let cells = |text: &str| cantus_memory::unicode::cells(text);
    let names = rows.iter().map(|(name, ..)| cells(name)).max().unwrap_or_default();
    let numbers = rows.iter().map(|(_, number, _)| group(*number).len()).max().unwrap_or_default();
    // Two blanks before each column, and the share's six cells.
    let taken = names + numbers + 14;
    let room = width.filter(|width| *width >= NARROWEST).map_or(0, |width| width.saturating_sub(taken));
    for (name, number, more) in rows {
        let pad = names - cells(&name);
        let share_of = percent(number, whole);
        let tail = match room {
            0..=3 => more,
            room => bar(share(number, most), room.min(WIDEST_BAR)),
        };
        let gap = if tail.is_empty() { "" } else { "  " };
        writeln!(
            streams.out,
            "  {name}{:pad$}  {:>numbers$}  {share_of:>6}{gap}{FAINT}{tail}{FAINT:#}",
            "",
            group(number)
        )?;
    }
    Ok(())
}
