//! A web's body with its roster in place (§5.7).

use cantus_manifest::Diagnostic;

use crate::sourced::{Origin, SourcedText};
use crate::unicode::{is_blank, strip, strip_end};
use crate::web::Web;

/// Both spellings of the markers: ours, and the peer's.
const MARKERS: [(&str, &str); 2] = [
    ("<!-- cantus:strands -->", "<!-- /cantus:strands -->"),
    ("<!-- sase:strands -->", "<!-- /sase:strands -->"),
];

/// Where the roster goes, in bytes: the region from one marker through the other, if there is one.
struct Region {
    before: usize,
    after: usize,
}

/// What is wrong with the markers of a descriptor, if anything.
pub(crate) fn check(web: &Web) -> Option<Diagnostic> {
    let (line, message) = region(web.body().text).err()?;
    let line = u32::try_from(web.body().first_line + line).unwrap_or(u32::MAX);
    let (start, end) = MARKERS[0];
    let help = format!("write `{start}` once and `{end}` once after it, each alone on its line");
    Some(Diagnostic::error("web.markers", message).at(&web.path).line(line).help(help))
}

/// The descriptor's body with `roster` between its markers, or at its end where it has none; the markers themselves go.
///
/// The descriptor is source 0 of the section. Markers that [`Corpus::parse`](crate::Corpus::parse) found at fault count as none.
#[must_use]
pub fn body_with_roster(web: &Web, roster: &SourcedText) -> SourcedText {
    let body = web.body();
    let origin = |line: usize| Origin::new(0, body.first_line + line);
    let region = region(body.text).unwrap_or_default();
    let mut lines = Kept::default();
    let Some(region) = region else {
        let text = strip_end(body.text);
        for (number, line) in text.split_terminator('\n').enumerate() {
            lines.push(line, origin(number));
        }
        lines.push("", Origin::NONE);
        lines.append(roster);
        return lines.finish();
    };
    for (number, line) in body.text[..region.before].split('\n').enumerate() {
        lines.push(line, origin(number));
    }
    lines.push("", Origin::NONE);
    lines.append(roster);
    lines.push("", Origin::NONE);
    let skipped = body.text[..region.after].matches('\n').count();
    for (number, line) in body.text[region.after..].split_terminator('\n').enumerate() {
        lines.push(line, origin(skipped + number));
    }
    lines.finish()
}

/// The bytes after the start marker's end and from the end marker's start on.
fn region(text: &str) -> Result<Option<Region>, (usize, &'static str)> {
    let line_of = |at: usize| text[..at].matches('\n').count();
    let mut found: Option<Region> = None;
    for (start, end) in MARKERS {
        let (starts, ends): (Vec<_>, Vec<_>) = (
            text.match_indices(start).map(|(at, _)| at).collect(),
            text.match_indices(end).map(|(at, _)| at).collect(),
        );
        let first = starts.iter().chain(&ends).min().copied().unwrap_or_default();
        if starts.len() != ends.len() {
            return Err((line_of(first), "the roster markers are unbalanced"));
        }
        if starts.len() > 1 || (found.is_some() && !starts.is_empty()) {
            return Err((line_of(*starts.last().unwrap_or(&first)), "the roster markers are duplicated"));
        }
        if let (Some(start_at), Some(end_at)) = (starts.first(), ends.first()) {
            if end_at < start_at {
                return Err((
                    line_of(*end_at),
                    "the roster markers are unbalanced: the closing one comes first",
                ));
            }
            found = Some(Region { before: start_at + start.len(), after: *end_at });
        }
    }
    Ok(found)
}

/// Lines without those that are markers, nor the blank ones directly before such a line.
#[derive(Default)]
struct Kept {
    lines: Vec<(String, Origin)>,
}

impl Kept {
    fn push(&mut self, line: &str, origin: Origin) {
        let text = strip(line);
        if MARKERS.iter().any(|(start, end)| text == *start || text == *end) {
            while self.lines.last().is_some_and(|(line, _)| is_blank(line)) {
                self.lines.pop();
            }
        } else {
            self.lines.push((line.to_owned(), origin));
        }
    }

    fn append(&mut self, text: &SourcedText) {
        self.lines.extend(text.lines().map(|(line, origin)| (line.to_owned(), origin)));
    }

    fn finish(self) -> SourcedText {
        let mut text = SourcedText::default();
        for (line, origin) in self.lines {
            text.push(&line, origin);
        }
        text
    }
}
