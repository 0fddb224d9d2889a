//! `show --diff`: a recorded bundle against what would be rendered for the same facts now.

use std::ops::Range;
use std::path::Path;
use std::time::{Duration, Instant};

use cantus_compose::{Launch, preview};
use cantus_fs::RealDisk;
use cantus_launch::{Change, Comparison, Integrity, SectionChange};
use cantus_manifest::manifest::{CacheStatus, Manifest};
use cantus_manifest::{Layer, Stamps};
use cantus_workspace::Project;
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use super::{Picked, print_json, tell};
use crate::args::{Global, ShowArgs};
use crate::failure::Failure;
use crate::report::{group, plural};
use crate::style::{ADDED, BAD, CARE, GOOD, LABEL, REMOVED};
use crate::verbs::recorded::facts;
use crate::verbs::{finish, home, options, root};
use crate::visible::visible;
use crate::{Status, Streams};

/// How long lines are compared, over all sections.
const PATIENCE: Duration = Duration::from_secs(2);

/// What `show --diff --json` prints.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    name: &'a str,
    seq: u64,
    is_helper: bool,
    /// Whether a fresh render gives the recorded bundle, the host's own sections aside.
    same: bool,
    recorded_sha256: &'a str,
    fresh_sha256: &'a str,
    /// How many sections are equal.
    equal: usize,
    /// Whether sections that both have stand in another order.
    reordered: bool,
    /// The host's own sections, which were not rendered anew.
    unrendered: &'a [String],
    sections: Vec<Row<'a>>,
}

/// A section that differs.
#[derive(Serialize)]
struct Row<'a> {
    id: &'a str,
    layer: Layer,
    /// `changed`, `gone` or `new`.
    change: &'static str,
    recorded_bytes: Option<u64>,
    fresh_bytes: Option<u64>,
}

pub(super) fn run(
    global: &Global,
    picked: &Picked<'_>,
    user: Option<&Path>,
    args: &ShowArgs,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let Some(recorded) = picked.files.manifest(&RealDisk) else {
        tell(picked, streams)?;
        let seq = picked.record.seq;
        return Err(Failure::error(format!("there is no good manifest of {seq:02} to compare with"))
            .hint(format!("`{} show {} --list` lists the records", global.program, picked.run.name)));
    };
    let (text, fresh) = render(global, &recorded, streams)?;
    let comparison = Comparison::of(&recorded, &fresh);
    if args.json {
        print_json(&report(picked, &comparison, &recorded, &fresh), streams)?;
    } else {
        // Offsets are those of the recorded bytes alone.
        let whole = picked.record.integrity == Integrity::Match;
        let old = picked.files.bundle(&RealDisk, user).filter(|_| whole);
        let old = old.and_then(|bytes| String::from_utf8(bytes).ok());
        let deadline = Instant::now() + PATIENCE;
        for change in &comparison.sections {
            heading(change, streams)?;
            if change.change == Change::Changed {
                lines(change, old.as_deref(), &text, deadline, streams)?;
            }
        }
    }
    streams.out.flush()?;
    if picked.record.integrity != Integrity::Match {
        tell(picked, streams)?;
    }
    if !global.quiet {
        summary(picked, &comparison, streams)?;
    }
    Ok(if comparison.is_same() { Status::Yes } else { Status::No })
}

/// The bundle for the facts of a manifest, as it would be now, and its manifest.
fn render(
    global: &Global,
    recorded: &Manifest,
    streams: &mut Streams<'_>,
) -> Result<(String, Manifest), Failure> {
    let root = root(global)?;
    let project = finish(Project::open(&root, &options(global)), global, streams)?;
    let facts = facts(&recorded.facts)?;
    let home = home(&root, global, project.config.note_bytes, Stamps::Skip, streams)?;
    let set = finish(project.sections(facts.project_name(), home.as_ref()), global, streams)?;
    let bundle = set.bundle_with(facts, &Launch::default());
    let delivery = preview(String::new(), 0.0, CacheStatus::Bypass);
    Ok((bundle.text(), bundle.manifest(&project.package, delivery, "")))
}

fn report<'a>(
    picked: &'a Picked<'_>,
    comparison: &'a Comparison,
    recorded: &'a Manifest,
    fresh: &'a Manifest,
) -> Report<'a> {
    let length = |range: &Option<Range<u64>>| range.as_ref().map(|range| range.end - range.start);
    let row = |change: &'a SectionChange| Row {
        id: &change.id,
        layer: change.layer,
        change: word(change.change),
        recorded_bytes: length(&change.recorded),
        fresh_bytes: length(&change.fresh),
    };
    Report {
        version: 1,
        name: &picked.run.name,
        seq: picked.record.seq,
        is_helper: picked.record.role == cantus_launch::Role::Helper,
        same: comparison.is_same(),
        recorded_sha256: &recorded.bundle.sha256,
        fresh_sha256: &fresh.bundle.sha256,
        equal: comparison.equal,
        reordered: comparison.reordered,
        unrendered: &comparison.unrendered,
        sections: comparison.sections.iter().map(row).collect(),
    }
}

fn word(change: Change) -> &'static str {
    match change {
        Change::Changed => "changed",
        Change::Gone => "gone",
        Change::New => "new",
    }
}

fn heading(change: &SectionChange, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let bytes = |range: &Option<Range<u64>>| group(range.as_ref().map_or(0, |range| range.end - range.start));
    let (style, word) = match change.change {
        Change::Changed => (CARE, "Changed"),
        Change::Gone => (BAD, "Gone"),
        Change::New => (GOOD, "New"),
    };
    let sizes = match change.change {
        Change::Changed => format!("{} bytes, now {}", bytes(&change.recorded), bytes(&change.fresh)),
        Change::Gone => format!("{} bytes", bytes(&change.recorded)),
        Change::New => format!("{} bytes", bytes(&change.fresh)),
    };
    writeln!(streams.out, "{style}{word:>12}{style:#} {} ({sizes})", visible(&change.id))
}

/// The lines of one section that differ, with three lines around each.
fn lines(
    change: &SectionChange,
    recorded: Option<&str>,
    fresh: &str,
    deadline: Instant,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let old = part(recorded, change.recorded.as_ref());
    let (Some(old), Some(new)) = (old, part(Some(fresh), change.fresh.as_ref())) else { return Ok(()) };
    let diff = TextDiff::configure().deadline(deadline).diff_lines(old, new);
    for hunk in diff.unified_diff().context_radius(3).iter_hunks() {
        writeln!(streams.out, "     {LABEL}{}{LABEL:#}", hunk.header())?;
        for change in hunk.iter_changes() {
            let line = visible(change.value().trim_end_matches('\n'));
            match change.tag() {
                ChangeTag::Equal if line.is_empty() => writeln!(streams.out)?,
                ChangeTag::Equal => writeln!(streams.out, "      {line}")?,
                ChangeTag::Delete => writeln!(streams.out, "     {REMOVED}-{line}{REMOVED:#}")?,
                ChangeTag::Insert => writeln!(streams.out, "     {ADDED}+{line}{ADDED:#}")?,
            }
        }
    }
    Ok(())
}

/// The part of a text that a section is, if there is one.
fn part<'a>(text: Option<&'a str>, range: Option<&Range<u64>>) -> Option<&'a str> {
    let range = range?;
    let range = usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?;
    text?.get(range)
}

fn summary(picked: &Picked<'_>, comparison: &Comparison, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let (name, seq, role) = (&picked.run.name, picked.record.seq, picked.record.role);
    let line = format!("show {name} {seq:02} {role} against a fresh render: {}", in_words(comparison));
    writeln!(streams.err, "{}", visible(&line))
}

/// A comparison on one line.
pub(crate) fn in_words(comparison: &Comparison) -> String {
    let mut parts = Vec::new();
    for (change, word) in [(Change::Changed, "changed"), (Change::Gone, "gone"), (Change::New, "new")] {
        let ids = comparison.sections.iter().filter(|section| section.change == change);
        let ids: Vec<_> = ids.map(|section| section.id.as_str()).collect();
        match ids.as_slice() {
            [] => {}
            [first, second, third, _, ..] => {
                parts.push(format!("{} {word} ({first}, {second}, {third}, …)", ids.len()));
            }
            few => parts.push(format!("{} {word} ({})", few.len(), few.join(", "))),
        }
    }
    if comparison.reordered {
        parts.push("another order".to_owned());
    }
    let equal = plural(comparison.equal, "section");
    let mut text = match parts.as_slice() {
        [] => format!("the same, {equal}"),
        parts => format!("{}; {equal} equal", parts.join(", ")),
    };
    if !comparison.unrendered.is_empty() {
        let host = plural(comparison.unrendered.len(), "section");
        text.push_str(&format!("; {host} of the host not compared"));
    }
    text
}
