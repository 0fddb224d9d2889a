//! What `project` says of its targets: for people, and as JSON.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use anstyle::Style;
use cantus_manifest::Diagnostic;
pub(crate) use cantus_projection::sibling;
use cantus_projection::{Edit, Kept, LineEnds, Loss, Plan, Projection, State, Target};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::style::{ADDED, BAD, CARE, FAINT, GOOD, LABEL, REMOVED};
use crate::visible::visible;

/// What was done about a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    /// Nothing: it was only looked at.
    Checked,
    /// Nothing: a target may not be touched.
    Refused,
    /// Everything.
    Written,
}

/// The most lines of a difference that are shown for one file.
const MOST_DIFF_LINES: usize = 200;
/// How long all comparisons of a report may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// The most places of notes that a way out names.
const MOST_NOTES: usize = 3;
/// The most edits of one file that are named.
const MOST_EDITS: usize = 10;

/// The report for people.
pub(crate) fn human(out: &mut dyn Write, projection: &Projection, plan: &Plan, deed: Deed) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    for (index, target) in plan.targets.iter().enumerate() {
        let (style, word) = word(target, deed);
        writeln!(out, "{style}{word:>12}{style:#} {}", visible(target.path.as_str()))?;
        if deed == Deed::Written {
            write_kept(out, target, plan)?;
            continue;
        }
        for problem in problems(target) {
            labelled(out, BAD, "problem", &problem)?;
        }
        if target.state == State::Fresh(LineEnds::Crlf) {
            labelled(out, LABEL, "note", "its lines end in CRLF, as git checked it out")?;
        }
        for fix in fixes(target, projection, plan) {
            labelled(out, LABEL, "fix", &fix)?;
        }
        let Some((old, new)) = &target.texts else { continue };
        match plan.targets[..index]
            .iter()
            .find(|other| other.texts.as_ref() == Some(&(old.clone(), new.clone())))
        {
            Some(other) => labelled(out, LABEL, "note", &format!("it differs like {}", other.path))?,
            None => difference(out, target.path.as_str(), old, new, deadline)?,
        }
    }
    writeln!(out, "     -------")?;
    summary(out, projection, plan, deed)
}

fn labelled(out: &mut dyn Write, style: Style, label: &str, text: &str) -> io::Result<()> {
    writeln!(out, "{style}{label:>12}{style:#}: {}", visible(text))
}

fn write_kept(out: &mut dyn Write, target: &Target, plan: &Plan) -> io::Result<()> {
    let what = match &target.state {
        State::Edited { kept: Some(kept @ Kept::Unmerged), .. } => {
            let text = format!("a merge left it in conflict; its text is kept in {}", place(*kept));
            return labelled(out, LABEL, "note", &text);
        }
        State::Edited { kept: Some(kept), .. } => {
            let text = format!("it was edited by hand; the edited text is kept in {}", place(*kept));
            return labelled(out, LABEL, "note", &text);
        }
        State::Foreign => "Cantus did not write it",
        State::Edited { edits, .. } if edits.iter().all(Edit::is_guess) => "it may have been edited by hand",
        _ => "it was edited by hand",
    };
    let Some(loss) = &target.loss else { return Ok(()) };
    labelled(out, CARE, "note", &format!("{what}; {}", loss_text(loss, plan)))
}

/// What becomes of a text that `--force` writes over.
fn loss_text(loss: &Loss, plan: &Plan) -> String {
    match (loss.kept, loss.lines) {
        (Some(kept), _) => format!("its text is kept in {}", place(kept)),
        (None, 0) if plan.in_git => "each line of it stands in git or in the new text".to_owned(),
        (None, 0) => "each line of it stands in the new text".to_owned(),
        (None, lines) if plan.in_git => {
            format!("lost: {} that neither git nor the new text holds", plural(lines, "line"))
        }
        (None, lines) => format!("lost: {} that the new text does not hold", plural(lines, "line")),
    }
}

/// The word for a target, and its colour.
fn word(target: &Target, deed: Deed) -> (Style, &'static str) {
    let written = deed == Deed::Written;
    match &target.state {
        State::Fresh(_) => (GOOD, "Fresh"),
        _ if written && target.is_removed() => (GOOD, "Removed"),
        State::Missing if written => (GOOD, "Created"),
        _ if written => (GOOD, "Updated"),
        State::Missing => (CARE, "Missing"),
        State::Stale { .. } => (CARE, "Stale"),
        State::Form(_) => (CARE, "Line ends"),
        State::Edited { .. } => (BAD, "Edited"),
        State::Foreign => (BAD, "Foreign"),
        State::Orphan => (CARE, "Orphan"),
    }
}

/// What is wrong with a target, a line each.
fn problems(target: &Target) -> Vec<String> {
    match &target.state {
        State::Fresh(_) | State::Missing => Vec::new(),
        State::Stale { problem } => vec![problem.clone()],
        State::Form(ends) => vec![ends.problem().to_owned()],
        State::Foreign if target.loss.is_some() => vec!["Cantus did not write this file".to_owned()],
        State::Foreign => vec!["Cantus did not write this file, and leaves it alone".to_owned()],
        State::Orphan => vec!["it is generated, but no longer configured: it will be removed".to_owned()],
        State::Edited { kept: Some(Kept::Unmerged), .. } => vec!["a merge is under way here".to_owned()],
        State::Edited { edits, .. } => {
            let mut lines: Vec<_> = edits.iter().take(MOST_EDITS).map(edit).collect();
            if edits.len() > MOST_EDITS {
                lines.push(format!("and {} more", group((edits.len() - MOST_EDITS) as u64)));
            }
            lines
        }
    }
}

fn edit(edit: &Edit) -> String {
    let mut text = format!("line {}: {}", edit.line, edit.what);
    let (own, foreign) = match edit.is_added() {
        true => ("it stands next to", "it stands next to text of a dependency,"),
        false => ("its source is", "it comes from a dependency,"),
    };
    if let Some((path, line)) = edit.note() {
        text.push_str(&format!("; {own} {path}:{line}"));
    } else if let Some((path, line)) = edit.dependency() {
        text.push_str(&format!("; {foreign} {path}:{line}"));
    }
    if let Some(section) = &edit.section {
        text.push_str(&format!(" (section {section})"));
    }
    text
}

/// The ways out for a target that may not be touched.
fn fixes(target: &Target, projection: &Projection, plan: &Plan) -> Vec<String> {
    let command = projection.command();
    if let Some(loss) = &target.loss {
        return vec![format!("`{command} --force` overwrites it; {}", loss_text(loss, plan))];
    }
    match &target.state {
        State::Edited { kept: Some(kept), .. } => {
            let deed = if target.is_removed() { "removes it" } else { "writes it anew" };
            vec![format!("`{command}` {deed}; the edited text is kept in {}", place(*kept))]
        }
        State::Edited { edits, .. } => edited_fixes(edits, command, plan),
        State::Foreign if projection.is_lock(&target.path) => {
            vec![format!("move it away, then run `{command}`")]
        }
        State::Foreign => vec![
            format!("to adopt it, {}", projection.adoption(&target.path)),
            format!(
                "or move its text into notes yourself, then run `{command} --force`; or name other files under `[projection]`"
            ),
        ],
        _ => Vec::new(),
    }
}

/// The ways out for a file with these edits, whose text git doesn't hold.
fn edited_fixes(edits: &[Edit], command: &str, plan: &Plan) -> Vec<String> {
    let drop = match plan.in_git {
        true => format!(
            "to drop it, run `{command} --force`; once git holds the file as it is, `{command}` is enough"
        ),
        false => format!("to drop it, run `{command} --force`"),
    };
    let notes: BTreeSet<_> = edits.iter().filter_map(Edit::note).collect();
    if !notes.is_empty() {
        let shown = notes.iter().take(MOST_NOTES).map(|(path, line)| format!("{path}:{line}"));
        let mut places = shown.collect::<Vec<_>>().join(", ");
        if notes.len() > MOST_NOTES {
            places.push_str(&format!(" and {} more", notes.len() - MOST_NOTES));
        }
        return vec![format!("to keep it, make the change in {places}, then run `{command}`"), drop];
    }
    if edits.iter().any(|edit| edit.dependency().is_some()) {
        let keep = "to keep it, have it changed in the crate that is named, or write a note of your own";
        return vec![keep.to_owned(), drop];
    }
    vec![format!("keep what you need of it, then run `{command} --force`")]
}

fn place(kept: Kept) -> &'static str {
    match kept {
        Kept::Head => "git (HEAD)",
        Kept::Index => "git (the index)",
        Kept::Unmerged => "git (both sides of the merge)",
    }
}

/// The difference between a committed and a composed text, three lines of context around each change.
fn difference(out: &mut dyn Write, path: &str, old: &str, new: &str, deadline: Instant) -> io::Result<()> {
    if Instant::now() >= deadline {
        let [old, new] = [old, new].map(|text| plural(text.lines().count(), "line"));
        return labelled(out, LABEL, "note", &format!("too much to compare: {old} on disk, {new} composed"));
    }
    let diff = TextDiff::configure().deadline(deadline).diff_lines(old, new);
    let mut unified = diff.unified_diff();
    unified.context_radius(3);
    let path = visible(path);
    writeln!(out, "     {REMOVED}--- {path} (on disk){REMOVED:#}")?;
    writeln!(out, "     {ADDED}+++ {path} (composed){ADDED:#}")?;
    let mut left = MOST_DIFF_LINES;
    for hunk in unified.iter_hunks() {
        writeln!(out, "     {LABEL}{}{LABEL:#}", hunk.header())?;
        for change in hunk.iter_changes() {
            if left == 0 {
                return writeln!(
                    out,
                    "     {FAINT}more than {MOST_DIFF_LINES} lines: the rest is left out{FAINT:#}"
                );
            }
            left -= 1;
            let line = visible(change.value().trim_end_matches('\n'));
            match change.tag() {
                ChangeTag::Equal if line.is_empty() => writeln!(out)?,
                ChangeTag::Equal => writeln!(out, "      {line}")?,
                ChangeTag::Delete => writeln!(out, "     {REMOVED}-{line}{REMOVED:#}")?,
                ChangeTag::Insert => writeln!(out, "     {ADDED}+{line}{ADDED:#}")?,
            }
            // Without this, two lines would differ and look the same.
            if change.missing_newline() {
                writeln!(out, "     {FAINT}\\ no line end at the end of the file{FAINT:#}")?;
            }
        }
    }
    Ok(())
}

fn summary(out: &mut dyn Write, projection: &Projection, plan: &Plan, deed: Deed) -> io::Result<()> {
    let files = plural(plan.targets.len(), "file");
    if deed == Deed::Written || plan.is_fresh() {
        let changed = plan.targets.iter().filter(|target| !matches!(target.state, State::Fresh(_))).count();
        let word = if deed == Deed::Written { "Wrote" } else { "Fresh" };
        let counts = if deed == Deed::Written { format!("{changed} of {files}") } else { files };
        writeln!(out, "{GOOD}{word:>12}{GOOD:#} {counts}")?;
        return writeln!(out, "{:>12} {}", "", totals_line(projection));
    }
    let counts = counts(plan);
    let command = visible(projection.command());
    match deed {
        Deed::Refused => {
            writeln!(out, "{BAD}{:>12}{BAD:#} {files}: {counts}; nothing was written", "Refused")
        }
        _ if plan.is_refused() => {
            writeln!(
                out,
                "{CARE}{:>12}{CARE:#} {files}: {counts} (`{command}` will refuse; see above)",
                "Stale"
            )
        }
        _ => {
            let force = if plan.targets.iter().any(|target| target.loss.is_some()) { " --force" } else { "" };
            writeln!(out, "{CARE}{:>12}{CARE:#} {files}: {counts} (run `{command}{force}`)", "Stale")
        }
    }
}

/// How many targets are what.
fn counts(plan: &Plan) -> String {
    let words = ["fresh", "missing", "stale", "line ends", "edited", "foreign", "orphan"];
    let count = |name: &str| {
        plan.targets.iter().filter(|target| word(target, Deed::Checked).1.eq_ignore_ascii_case(name)).count()
    };
    let counts = words.iter().map(|word| (count(word), word)).filter(|(count, _)| *count > 0);
    counts.map(|(count, word)| format!("{count} {word}")).collect::<Vec<_>>().join(", ")
}

/// The sums of the committed bundle on one line.
pub(crate) fn totals_line(projection: &Projection) -> String {
    let totals = projection.totals();
    format!(
        "{}, {} bytes, ~{} tokens, common digest {}",
        plural(totals.sections, "section"),
        group(totals.bytes as u64),
        group(totals.tokens_est),
        totals.common_digest.short(),
    )
}

/// `1 file`, `2 files`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    format!("{} {noun}{}", group(count as u64), if count == 1 { "" } else { "s" })
}

/// A number with commas between its thousands.
pub(crate) fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.char_indices() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Rows with their columns aligned: numbers to the right, texts to the left, blanks at the ends gone.
pub(crate) fn table<const N: usize>(
    out: &mut dyn Write,
    indent: &str,
    rows: &[[String; N]],
) -> io::Result<()> {
    let widths: [usize; N] = std::array::from_fn(|column| {
        rows.iter().map(|row| visible(&row[column]).chars().count()).max().unwrap_or(0)
    });
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(widths) {
            let cell = visible(cell);
            let numeric = !cell.is_empty() && cell.chars().all(|c| c.is_ascii_digit() || c == ',');
            let padded = if numeric { format!("{cell:>width$}  ") } else { format!("{cell:<width$}  ") };
            line.push_str(&padded);
        }
        writeln!(out, "{indent}{}", line.trim_end())?;
    }
    Ok(())
}

/// What `project --json` prints.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    /// `checked`, `refused` or `written`.
    outcome: &'static str,
    /// Whether every file is as it should be now.
    fresh: bool,
    command: &'a str,
    files: Vec<FileReport<'a>>,
    sections: usize,
    bytes: usize,
    tokens_est: u64,
    common_digest: String,
}

#[derive(Serialize)]
struct FileReport<'a> {
    path: &'a str,
    /// `fresh`, `missing`, `stale`, `line_ends`, `edited`, `foreign` or `orphan`: what it was before this run.
    status: String,
    /// `none`, `write`, `remove` or `refuse`.
    action: &'static str,
    problems: Vec<String>,
    edits: Vec<EditReport<'a>>,
    /// Where git holds an edited text: `head`, `index` or `unmerged`.
    kept: Option<&'static str>,
    /// With `--force`: how many lines neither git nor the new text holds.
    lost_lines: Option<usize>,
}

#[derive(Serialize)]
struct EditReport<'a> {
    line: usize,
    what: &'static str,
    section: Option<&'a str>,
    source: Option<&'a str>,
    source_line: Option<u32>,
}

/// The report as JSON.
pub(crate) fn json(out: &mut dyn Write, projection: &Projection, plan: &Plan, deed: Deed) -> io::Result<()> {
    let totals = projection.totals();
    let report = Report {
        version: 1,
        outcome: match deed {
            Deed::Checked => "checked",
            Deed::Refused => "refused",
            Deed::Written => "written",
        },
        fresh: deed == Deed::Written || plan.is_fresh(),
        command: projection.command(),
        files: plan.targets.iter().map(file_report).collect(),
        sections: totals.sections,
        bytes: totals.bytes,
        tokens_est: totals.tokens_est,
        common_digest: totals.common_digest.to_string(),
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

/// What `project --json` and `check --json` print where the sources can't be composed.
#[derive(Serialize)]
struct Broken<'a> {
    version: u32,
    outcome: &'static str,
    ok: bool,
    findings: &'a [Diagnostic],
}

/// The report as JSON where there is nothing to compare.
pub(crate) fn json_broken(out: &mut dyn Write, findings: &[Diagnostic]) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, &Broken { version: 1, outcome: "broken", ok: false, findings })?;
    writeln!(out)
}

fn file_report(target: &Target) -> FileReport<'_> {
    let (edits, kept) = match &target.state {
        State::Edited { edits, kept } => (edits.as_slice(), *kept),
        _ => ([].as_slice(), None),
    };
    let kept = kept.or(target.loss.and_then(|loss| loss.kept));
    FileReport {
        path: target.path.as_str(),
        status: word(target, Deed::Checked).1.to_ascii_lowercase().replace(' ', "_"),
        action: match &target.state {
            _ if target.is_refused() => "refuse",
            _ if target.is_removed() => "remove",
            State::Fresh(_) => "none",
            _ => "write",
        },
        problems: problems(target),
        edits: edits.iter().map(edit_report).collect(),
        kept: kept.map(|kept| match kept {
            Kept::Head => "head",
            Kept::Index => "index",
            Kept::Unmerged => "unmerged",
        }),
        lost_lines: target.loss.map(|loss| loss.lines),
    }
}

fn edit_report(edit: &Edit) -> EditReport<'_> {
    EditReport {
        line: edit.line,
        what: edit.what,
        section: edit.section.as_deref(),
        source: edit.source.as_ref().map(|(path, _)| path.as_str()),
        source_line: edit.source.as_ref().map(|(_, line)| *line),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_groups() {
        assert_eq!(group(0), "0");
        assert_eq!(group(999), "999");
        assert_eq!(group(1000), "1,000");
        assert_eq!(group(1_234_567), "1,234,567");
    }

    #[test]
    fn past_the_deadline_the_lines_are_only_counted() {
        let mut out = Vec::new();
        difference(&mut out, "a.md", "a\nb\n", "c\n", Instant::now()).unwrap();
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        let text = "        note: too much to compare: 2 lines on disk, 1 line composed\n";
        assert_eq!(String::from_utf8(plain).unwrap(), text);
    }

    #[test]
    fn columns_align() {
        let mut out = Vec::new();
        let rows = [["a", "1", ""], ["long", "1,000", "x"]].map(|row| row.map(str::to_owned));
        table(&mut out, "", &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "a         1\nlong  1,000  x\n");
    }
}
