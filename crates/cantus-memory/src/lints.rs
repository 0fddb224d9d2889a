//! What is doubtful in texts that can be composed.
//!
//! The functions on a text give findings without a file; their lines count from 1 in that text. [`Library::lints`] asks
//! everything of every note.

mod characters;
mod conflicts;
mod files;
mod headings;
mod imports;
mod supersession;
mod unclosed;

use cantus_manifest::Diagnostic;

use crate::corpus::Corpus;
use crate::library::{Library, Target};
use crate::parallel;

pub use characters::characters;
pub use conflicts::conflicts;
pub use headings::{HeadingTitles, headings};
pub use imports::imports;
pub(crate) use unclosed::open_block;
pub use unclosed::unclosed;

impl Library<'_> {
    /// The findings on the texts of all notes, webs and strands, file by file, then those on what replaced what.
    ///
    /// What depends on how a note stands in a bundle isn't among them: imports, and headings that look like another section's.
    #[must_use]
    pub fn lints(&self) -> Vec<Diagnostic> {
        let targets: Vec<_> = self.targets().collect();
        let mut findings: Vec<_> = parallel::map(targets, of_file).into_iter().flatten().collect();
        findings.extend(self.targets().flat_map(|target| supersession::check(self, target)));
        findings
    }
}

/// What a merge left in the notes, webs and strands of a corpus, a finding each with its file and line; a part of
/// [`lints`](Library::lints).
#[must_use]
pub fn conflicts_of(corpus: &Corpus) -> Vec<Diagnostic> {
    let of_file = |target: Target<'_>| {
        let found = conflicts(&target.content().text).into_iter();
        found.map(|finding| finding.at(target.path())).collect::<Vec<_>>()
    };
    corpus.targets().flat_map(of_file).collect()
}

fn of_file(target: Target<'_>) -> Vec<Diagnostic> {
    let text = &target.content().text;
    let mut findings = files::check(target);
    findings.extend(characters(text));
    findings.extend(conflicts(text));
    let body = target.body();
    let first = u32::try_from(body.first_line).unwrap_or(u32::MAX);
    findings.extend(unclosed(body.text).map(|finding| {
        let line = finding.line.unwrap_or(1).saturating_add(first - 1);
        finding.line(line)
    }));
    findings.into_iter().map(|finding| finding.at(target.path())).collect()
}

/// The line of the byte at `offset`, counted from 1.
fn line_of(text: &str, offset: usize) -> u32 {
    let before = memchr::memchr_iter(b'\n', &text.as_bytes()[..offset]).count();
    u32::try_from(before + 1).unwrap_or(u32::MAX)
}

/// Where the line starts in which the byte at `offset` lies.
fn line_start(text: &str, offset: usize) -> usize {
    memchr::memrchr(b'\n', &text.as_bytes()[..offset]).map_or(0, |at| at + 1)
}

/// The line that starts at `start`, without its end.
fn line_at(text: &str, start: usize) -> &str {
    let rest = &text[start..];
    &rest[..memchr::memchr(b'\n', rest.as_bytes()).unwrap_or(rest.len())]
}
