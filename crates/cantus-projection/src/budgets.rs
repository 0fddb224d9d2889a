//! Whether the committed files fit into what agents read.

use cantus_manifest::{Diagnostic, RelPath, Severity};
use cantus_workspace::{Config, DEFAULT_FILE_BYTES};

use crate::projection::{Expected, File, Projection};
use crate::providers::{Evidence, Limit, Scope, Unit, names};
use crate::readers::Reading;

/// How many sections a finding names.
const BIGGEST: usize = 5;
/// From how many hundredths of a limit on a file is nearly too large.
const NEAR: u64 = 90;

/// What a file, or several that are read one after another, may have at most.
struct Budget<'a> {
    amount: u64,
    unit: Unit,
    firm: bool,
    /// Whose it is and how it is known, in words.
    whose: String,
    /// The files in the order in which they are read; the last one is judged.
    files: Vec<Placed<'a>>,
}

/// A committed file and whose it is: the project's or a member's.
#[derive(Clone, Copy)]
struct Placed<'a> {
    owner: &'a Projection,
    file: &'a File,
}

impl<'a> Placed<'a> {
    fn expected(self) -> Expected<'a> {
        self.owner.expected(&self.file.shape)
    }
}

/// The files of the project, then those of its members.
fn all(projection: &Projection) -> impl Iterator<Item = Placed<'_>> {
    projection.all_files().map(|(owner, file)| Placed { owner, file })
}

/// The findings on files that are too large for a configured agent, or nearly; `readings` say what each agent reads.
pub(crate) fn check(config: &Config, projection: &Projection, readings: &[Reading]) -> Vec<Diagnostic> {
    let mut budgets: Vec<_> = own(config, projection).collect();
    for reading in readings.iter().filter(|reading| reading.configured) {
        for limit in &reading.reader.limit {
            budgets.extend(of_reader(config, projection, reading, limit));
        }
    }
    let findings = budgets.iter().filter_map(judge);
    findings
        .map(|mut finding| {
            if config.warn_only && finding.severity == Severity::Error {
                finding.severity = Severity::Warning;
            }
            finding
        })
        .collect()
}

/// The configuration's own limit on each file; a copy is as large as its original.
fn own<'a>(config: &Config, projection: &'a Projection) -> impl Iterator<Item = Budget<'a>> {
    let amount = config.file_bytes;
    let codex = if amount == DEFAULT_FILE_BYTES { ", what Codex reads by default" } else { "" };
    let whose = format!("that a file may have (`budget.file_bytes`{codex})");
    let files = all(projection).filter(|placed| !placed.file.copy);
    files.map(move |file| {
        let whose = whose.clone();
        Budget { amount, unit: Unit::Bytes, firm: true, whose, files: vec![file] }
    })
}

/// An agent's limit on each file that it reads, or on each chain of them.
fn of_reader<'a>(
    config: &Config,
    projection: &'a Projection,
    reading: &Reading,
    limit: &Limit,
) -> Vec<Budget<'a>> {
    let by_key = limit.key.as_deref() == Some("budget.file_bytes");
    let amount = if by_key { config.file_bytes } else { limit.amount };
    let known = match (by_key && amount != limit.amount, limit.evidence) {
        (true, _) => "`budget.file_bytes`".to_owned(),
        (false, Evidence::Source) => format!("{}, {}", limit.source, limit.date),
        (false, evidence) => format!("{}: {}, {}", evidence.as_str(), limit.source, limit.date),
    };
    let of = if limit.scope == Scope::Chain { "of a file and those above it " } else { "" };
    let whose = format!("that {} reads {of}({known})", reading.reader.title);
    let mut budgets = Vec::new();
    let folders = projection.members.iter().map(|(folder, member)| (member, Some(folder)));
    for (owner, folder) in std::iter::once((projection, None)).chain(folders) {
        // An agent looks for the same names in each folder.
        let holds_for = |file: &File| {
            let path = folder.and_then(|folder| file.path.strip_prefix(folder)).unwrap_or(file.path.as_str());
            let is_chosen = || reading.files.iter().any(|file| file.path == path);
            limit.files.iter().any(|entry| names(entry, path) && (entry != path || is_chosen()))
        };
        // A copy is as large as its original.
        let original = owner.files.first().is_some_and(holds_for);
        for file in &owner.files {
            let files = match limit.scope {
                Scope::File if holds_for(file) && !(file.copy && original) => vec![Placed { owner, file }],
                Scope::Chain => chain(projection, limit, &file.path),
                Scope::File => continue,
            };
            // One file alone is judged by the configuration's own limit.
            if files.len() > usize::from(by_key) {
                let (unit, firm) = (limit.unit, limit.evidence.is_firm());
                budgets.push(Budget { amount, unit, firm, whose: whose.clone(), files });
            }
        }
    }
    budgets
}

/// The files that are read on the way to the folder of `path`, from the root on; none if `path` isn't read.
fn chain<'a>(projection: &'a Projection, limit: &Limit, path: &RelPath) -> Vec<Placed<'a>> {
    let is_read = |path: &RelPath| limit.files.iter().any(|name| name == path.file_name());
    if !is_read(path) {
        return Vec::new();
    }
    let depth = |path: &RelPath| path.as_str().matches('/').count();
    let folder = path.parent();
    let above = |other: &RelPath| match (other.parent(), &folder) {
        (None, _) => true,
        (Some(parent), Some(folder)) => {
            parent == *folder || folder.as_str().starts_with(&format!("{parent}/"))
        }
        (Some(_), None) => false,
    };
    let is_on_the_way = |placed: &Placed<'_>| is_read(&placed.file.path) && above(&placed.file.path);
    let mut files: Vec<_> = all(projection).filter(is_on_the_way).collect();
    let rank = |path: &RelPath| limit.files.iter().position(|name| name == path.file_name());
    files.sort_by_key(|placed| (depth(&placed.file.path), rank(&placed.file.path)));
    // One a folder is read.
    files.dedup_by_key(|placed| depth(&placed.file.path));
    if files.last().is_none_or(|placed| placed.file.path != *path) {
        files.clear();
    }
    files
}

fn judge(budget: &Budget<'_>) -> Option<Diagnostic> {
    let (last, before) = budget.files.split_last()?;
    let count = |placed: &Placed<'_>| match budget.unit {
        Unit::Bytes => placed.expected().bytes() as u64,
        Unit::Chars => placed.expected().pieces().map(|piece| Unit::Chars.count(piece)).sum(),
    };
    let used: u64 = before.iter().map(count).sum();
    // What leaves no room for the last file is a finding of its own.
    if !before.is_empty() && used > budget.amount {
        return None;
    }
    let own = count(last);
    let total = used + own;
    let Budget { amount, unit, whose, .. } = budget;
    let (amount, noun) = (*amount, unit.noun());
    if total <= amount {
        let near = budget.firm && total.saturating_mul(100) >= amount.saturating_mul(NEAR);
        let message = format!("{} {noun} are nearly the {} {whose}", group(total), group(amount));
        let help = "make notes that are seldom needed `type: reference`, or shorten the biggest";
        return near.then(|| Diagnostic::warning("budget.near", message).at(&last.file.path).help(help));
    }
    let expected = last.expected();
    let message = format!(
        "{} {noun} are {} more than the {} {whose}",
        group(total),
        group(total - amount),
        group(amount)
    );
    let cut = cut(&expected, offset(&expected, *unit, amount.saturating_sub(used)));
    let finding = match budget.firm {
        true => Diagnostic::error("budget.over", message),
        false => Diagnostic::warning("budget.over", message),
    };
    let help = format!(
        "{}; make notes `type: reference` or shorten them; the biggest sections are {}",
        cut.1,
        biggest(&expected)
    );
    Some(finding.at(&last.file.path).line(cut.0).help(help))
}

/// The byte of the file before which it has this many.
fn offset(expected: &Expected<'_>, unit: Unit, count: u64) -> usize {
    let (mut at, mut left) = (0, count);
    for piece in expected.pieces() {
        let has = unit.count(piece);
        if has > left {
            return at + unit.offset(piece, left);
        }
        at += piece.len();
        left -= has;
    }
    at
}

/// The line of the file in which the byte at `offset` stands, and what it is in words.
fn cut(expected: &Expected<'_>, offset: usize) -> (u32, String) {
    let place = expected.place(offset);
    let line = u32::try_from(place.line).unwrap_or(u32::MAX);
    let what = match place.section {
        None => "the cut falls before the first section".to_owned(),
        Some((section, index)) => match section.source_line(index) {
            Some((source, line)) => format!("the cut falls into `{}`, {source}:{line}", section.id),
            None => format!("the cut falls into `{}`", section.id),
        },
    };
    (line, what)
}

/// The biggest sections of a file with their tokens, biggest first.
fn biggest(expected: &Expected<'_>) -> String {
    let mut sections: Vec<_> =
        expected.included().map(|(section, content)| (content.tokens_est(), &section.id)).collect();
    sections.sort_by(|a, b| (b.0, a.1).cmp(&(a.0, b.1)));
    let sections = sections.into_iter().take(BIGGEST);
    let named = sections.map(|(tokens, id)| format!("`{id}` (~{} tokens)", group(tokens)));
    named.collect::<Vec<_>>().join(", ")
}

/// A number with commas between its thousands.
fn group(number: u64) -> String {
    let digits = number.to_string();
    let start = digits.len() % 3;
    let groups = (start..digits.len()).step_by(3).map(|at| &digits[at..at + 3]);
    let head = Some(&digits[..start]).filter(|head| !head.is_empty());
    head.into_iter().chain(groups).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_groups() {
        for (number, expected) in [(0, "0"), (999, "999"), (1000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(group(number), expected);
        }
    }
}
