//! Where a line of a committed file comes from, and where a line of a note goes.

use std::time::Duration;

use cantus_compose::{Bundle, Section, Texts, trace};
use cantus_fs::Root;
use cantus_manifest::{RelPath, SectionId};
use similar::{DiffOp, TextDiff};

use crate::line_ends::normalise;
use crate::locate::intact;
use crate::lock::LockFile;
use crate::plan::{MOST_BYTES, State, Target};
use crate::projection::{Expected, Projection, Shape};

/// How long a comparison may look for the smallest difference.
const PATIENCE: Duration = Duration::from_secs(2);

/// Where a line of a committed file comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Why<'a> {
    /// The line as it is committed.
    pub text: String,
    /// How sure the answer is.
    pub matched: Match,
    /// Where the line belongs.
    pub place: Place<'a>,
}

/// How a committed line was found among the composed ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// The very line is composed.
    Exact,
    /// The sources don't give this line any more, or never did; the place is the nearest one.
    Near,
}

/// Where a line belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// The notice.
    Notice,
    /// The blank line below the notice.
    BelowNotice,
    /// A section, and the index of the line in it, from 0.
    Line(&'a Section, usize),
    /// A section that the sources no longer give: its name and its sources, as the lock has them.
    Gone(SectionId, Vec<String>),
    /// A record of a page: the note and its line, from 1.
    Page(String, u32),
    /// No section at all.
    Nowhere,
}

/// Where line `line` (from 1) of the committed file `target` comes from. `None` if the file has no such line or isn't there, or
/// if it is no committed file but another target.
#[must_use]
pub fn why<'a>(root: &Root, projection: &'a Projection, target: &Target, line: usize) -> Option<Why<'a>> {
    let (projection, file) = projection.all_files().find(|(_, file)| file.path == target.path)?;
    let expected = projection.expected(&file.shape);
    let index = line.checked_sub(1)?;
    match &target.state {
        State::Fresh(_) | State::Form(_) => {
            let text = expected.text().split_terminator('\n').nth(index)?.to_owned();
            Some(Why { text, matched: Match::Exact, place: place(&expected, index) })
        }
        State::Missing | State::Foreign => None,
        _ => {
            let bytes = root.read_target(&target.path, MOST_BYTES).ok()??;
            let committed = String::from_utf8_lossy(&normalise(&bytes).1).into_owned();
            let text = committed.split_terminator('\n').nth(index)?.to_owned();
            let (matched, place) = in_old_text(root, projection, &file.shape, &committed, index);
            Some(Why { text, matched, place })
        }
    }
}

/// The place of the composed line with this index.
fn place<'a>(expected: &Expected<'a>, index: usize) -> Place<'a> {
    let head = expected.head_lines();
    match index.checked_sub(head) {
        None if index == 0 => Place::Notice,
        None => Place::BelowNotice,
        Some(below) => {
            let of_page = || expected.page_source(index).map(|(source, line)| Place::Page(source, line));
            let of_bundle = expected.bundle().and_then(|bundle| in_bundle(bundle, below));
            of_bundle.or_else(of_page).unwrap_or(Place::Nowhere)
        }
    }
}

fn in_bundle(bundle: &Bundle, index: usize) -> Option<Place<'_>> {
    let mut left = index;
    for (section, content) in bundle.included() {
        match left.checked_sub(content.origins().len()) {
            None => return Some(Place::Line(section, left)),
            Some(rest) => left = rest,
        }
    }
    None
}

/// The place of a line of a file that isn't what is composed.
fn in_old_text<'a>(
    root: &Root,
    projection: &'a Projection,
    shape: &Shape,
    committed: &str,
    index: usize,
) -> (Match, Place<'a>) {
    let expected = projection.expected(shape);
    let locked = match shape {
        Shape::Render(render) => locked(root, projection, render, committed, index),
        Shape::Page(_) => None,
    };
    if let Some(locked) = locked {
        let Some(section) = expected.section(locked.id.as_str()) else {
            return (Match::Near, Place::Gone(locked.id, locked.from));
        };
        // Wherever the section stands now: its own text is what the line is looked for in.
        let composed = section.content().map_or("", |content| content.text());
        let (matched, line) = counterpart(composed, &locked.text, locked.line);
        return (matched, Place::Line(section, line));
    }
    let (matched, line) = counterpart(&expected.text(), committed, index);
    (matched, place(&expected, line))
}

/// The line of `composed` that a line of `committed` is, else the nearest one.
fn counterpart(composed: &str, committed: &str, index: usize) -> (Match, usize) {
    let last = composed.split_terminator('\n').count().saturating_sub(1);
    let diff = TextDiff::configure().timeout(PATIENCE).diff_lines(composed, committed);
    match diff.ops().iter().find(|op| op.new_range().contains(&index)) {
        Some(DiffOp::Equal { old_index, new_index, .. }) => (Match::Exact, old_index + index - new_index),
        Some(op @ DiffOp::Replace { new_index, .. }) => {
            let range = op.old_range();
            (Match::Near, (range.start + index - new_index).min(range.end - 1))
        }
        Some(op) => (Match::Near, op.old_range().start.saturating_sub(1).min(last)),
        None => (Match::Near, last),
    }
}

/// A section that stands in the committed file as it was written.
struct Locked {
    id: SectionId,
    from: Vec<String>,
    text: String,
    /// The index of the line in it.
    line: usize,
}

/// The section that the lock gives for a line of the committed text, if that section wasn't edited since.
fn locked(
    root: &Root,
    projection: &Projection,
    render: &str,
    committed: &str,
    index: usize,
) -> Option<Locked> {
    let bytes = root.read_target(&projection.lock_path, MOST_BYTES).ok()??;
    let lock = LockFile::parse(std::str::from_utf8(&normalise(&bytes).1).ok()?).ok()?;
    let sections: Vec<_> = lock.sections_of(render).collect();
    let first = committed.split('\n').next().unwrap_or_default();
    let head = if crate::notice::is_notice(first) { 2 } else { 0 };
    let index = index.checked_sub(head)?;
    let skipped: usize = committed.split_inclusive('\n').take(head).map(str::len).sum();
    // The file lacks the bundle's last line feed.
    let body = format!("{}\n", &committed[skipped..]);
    let start: usize = body.split_inclusive('\n').take(index).map(str::len).sum();
    let (found, bytes) =
        intact(body.as_bytes(), &sections).into_iter().find(|(_, bytes)| bytes.contains(&start))?;
    let section = sections[found];
    let line = body[bytes.start..start].matches('\n').count();
    Some(Locked { id: section.id.clone(), from: section.from.clone(), text: body[bytes].to_owned(), line })
}

/// Where line `line` (from 1) of the source `path`, written as sources are, stands in the composed files: file and line (from
/// 1) of each. Without the files that stand first the sections that are made of the source.
#[must_use]
pub fn appearances<'a>(
    projection: &'a Projection,
    texts: Texts<'_>,
    path: &str,
    line: u32,
) -> (Vec<&'a Section>, Vec<(&'a RelPath, usize)>) {
    let (mut sections, mut places): (Vec<&Section>, _) = (Vec::new(), Vec::new());
    for (one, file) in projection.all_files() {
        let expected = one.expected(&file.shape);
        let mut above = expected.head_lines();
        for (section, content) in expected.included() {
            let lines = content.origins().len();
            if let Some(source) = section.sources.iter().position(|source| source.to_string() == path) {
                if sections.iter().all(|known| known.id != section.id) {
                    sections.push(section);
                }
                let is_it = |index: &usize| {
                    trace(section, *index, texts)
                        .iter()
                        .any(|found| (found.source, found.line) == (source, line))
                };
                places.extend((0..lines).filter(is_it).map(|index| (&file.path, above + index + 1)));
            }
            above += lines;
        }
    }
    (sections, places)
}
