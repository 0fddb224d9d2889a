//! Which words of a composed line came from which line of which source.
//!
//! A section knows one origin a line. Where a line was wrapped from a text that its source has on several lines, or where
//! several strands stand on one line, the words tell the rest: they come in the same order here and there.

use std::iter::successors;
use std::ops::Range;

use cantus_manifest::Layer;
use cantus_memory::{Corpus, Note, NoteKind, Origin, Roster, Web, heading};

use crate::plugin::Plugin;
use crate::roster::inline_entries;
use crate::section::Section;

/// The notes that sections were made of.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'a> {
    /// The project's notes.
    pub project: &'a Corpus,
    /// The user's own, where there are any.
    pub home: Option<&'a Corpus>,
    /// Those of dependencies.
    pub plugins: &'a [Plugin],
    /// The width at which generated prose was wrapped, in cells.
    pub width: usize,
}

/// A stretch of a composed line, and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// Index into the section's sources.
    pub source: usize,
    /// The line in that source, counted from 1; 0 where the name of the file says it.
    pub line: u32,
    /// The chars of the composed line, counted from 0.
    pub columns: Range<usize>,
}

/// Where the words of the line with this index (from 0) of an included section came from, in their order: the stretches cover
/// the line. None for a line that no source holds, such as a blank one between parts.
#[must_use]
pub fn trace(section: &Section, index: usize, texts: Texts<'_>) -> Vec<Trace> {
    let Some(content) = section.content() else { return Vec::new() };
    let lines: Vec<&str> = content.text().split_terminator('\n').collect();
    let (Some(line), Some(origin)) = (lines.get(index), content.origins().get(index)) else {
        return Vec::new();
    };
    if !origin.is_some() {
        // The heading of a note without a title.
        let is_name = index == 0 && matches!(section.layer, Layer::Plugin | Layer::Home | Layer::Project);
        return if is_name { vec![whole(line, 0, 0)] } else { Vec::new() };
    }
    let stretches = match unit(section, texts) {
        Some(Unit::Entry(note)) => {
            let start = named(origin.line);
            let address = lines[0].find("`**").map_or(0, |at| at + 3);
            let finder = Finder::new(note.text(), &[start]);
            aligned(finder, &lines[..=index], address..lines[0].len(), start)
        }
        Some(Unit::Web(web)) if origin.source > 0 => match web.roster {
            Roster::Inline => on_inline_roster(web, line, *origin, texts.width),
            Roster::List => on_list_roster(web, &lines, content.origins(), index),
        },
        _ => Vec::new(),
    };
    if stretches.is_empty() {
        return vec![whole(line, origin.source as usize, origin.line.max(1))];
    }
    in_chars(line, origin.source as usize, stretches)
}

fn whole(line: &str, source: usize, number: u32) -> Trace {
    Trace { source, line: number, columns: 0..line.chars().count() }
}

/// What a section was made of, where that isn't line for line.
enum Unit<'a> {
    Entry(&'a Note),
    Web(&'a Web),
}

fn unit<'a>(section: &Section, texts: Texts<'a>) -> Option<Unit<'a>> {
    let path = &section.sources.first()?.path;
    let find = |corpus: &'a Corpus, is_it: &dyn Fn(&cantus_manifest::RelPath) -> bool| {
        let entry = corpus.notes.iter().find(|note| note.kind == NoteKind::Reference && is_it(&note.path));
        let web = || corpus.webs.iter().find(|web| is_it(&web.path)).map(Unit::Web);
        entry.map(Unit::Entry).or_else(web)
    };
    match section.layer {
        Layer::Project => find(texts.project, &|other| other == path),
        Layer::Home => find(texts.home?, &|other| other == path),
        Layer::Plugin => texts
            .plugins
            .iter()
            .find_map(|plugin| find(&plugin.corpus, &|other| plugin.source_path(other) == *path)),
        Layer::Frame | Layer::Package | Layer::Launch => None,
    }
}

/// A stretch of a line that starts at a byte: `None` for the source that the line's origin names.
struct Stretch {
    start: usize,
    source: Option<usize>,
    line: u32,
}

/// The stretches with their ends, in chars; neighbours from the same line are one.
fn in_chars(line: &str, source: usize, stretches: Vec<Stretch>) -> Vec<Trace> {
    let column = |byte: usize| line.char_indices().take_while(|(at, _)| *at < byte).count();
    let mut traces: Vec<Trace> = Vec::new();
    for stretch in stretches {
        let start = if traces.is_empty() { 0 } else { column(stretch.start) };
        let source = stretch.source.unwrap_or(source);
        match traces.last_mut() {
            Some(last) if (last.source, last.line) == (source, stretch.line) => continue,
            Some(last) => last.columns.end = start,
            None => {}
        }
        traces.push(Trace { source, line: stretch.line, columns: start..line.chars().count() });
    }
    traces
}

/// The stretches of the last of `lines`, whose words `finder` finds one after the other; on the first line only those within
/// `part`, since the rest is the composer's. What can't be found stands on the line `default`.
fn aligned(mut finder: Finder, lines: &[&str], part: Range<usize>, default: u32) -> Vec<Stretch> {
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let part = if number == 0 { part.clone() } else { 0..line.len() };
        found = finder.stretches(line, part);
    }
    fill(found, default)
}

/// Words whose line isn't known stand on that of the word before, the first ones on that of the first known, else on `default`.
fn fill(found: Vec<(usize, Option<u32>)>, default: u32) -> Vec<Stretch> {
    let mut line = found.iter().find_map(|(_, line)| *line).unwrap_or(default);
    let stretches = found.into_iter().map(|(start, known)| {
        line = known.unwrap_or(line);
        Stretch { start, source: None, line }
    });
    stretches.collect()
}

/// The strands of an inline roster's line, and their lines.
fn on_inline_roster(web: &Web, line: &str, origin: Origin, width: usize) -> Vec<Stretch> {
    let mut lines = inline_entries(web, width).into_iter().filter(|(_, entries)| !entries.is_empty());
    let found = lines.find_map(|(text, entries)| Some((lowered_by(web, &text, line)?, entries)));
    let entries: Vec<_> = match found {
        Some((shift, entries)) => {
            let shifted = |(at, origin)| (if at == 0 { 0 } else { at + shift }, origin);
            entries.into_iter().map(shifted).collect()
        }
        None => vec![(0, origin)],
    };
    let mut stretches = Vec::new();
    for (number, (start, origin)) in entries.iter().enumerate() {
        let end = entries.get(number + 1).map_or(line.len(), |(next, _)| *next);
        let Some(strand) = web.strands.get(origin.source as usize - 1) else { continue };
        let Some(part) = line.get(*start..end) else { continue };
        let (text, keyword) = (strand.text(), named(origin.line));
        let mut finder = Finder::new(text, &[keyword, key_line(text, "aliases"), key_line(text, "metadata")]);
        let mut words = finder.stretches(part, 0..part.len());
        if words.is_empty() {
            words.push((0, None));
        }
        stretches.extend(fill(words, keyword).into_iter().map(|word| Stretch {
            start: start + word.start,
            source: Some(origin.source as usize),
            line: word.line,
        }));
    }
    stretches
}

/// By how many bytes a line of a roster stands further right in the section, if it is `line` there: one that Markdown takes for
/// a heading is lowered, and the first such line is the title of a web that has none.
fn lowered_by(web: &Web, text: &str, line: &str) -> Option<usize> {
    if text == line {
        return Some(0);
    }
    let (level, title) = heading(text)?;
    let is_title = line == format!("### {title} ({})", web.slug());
    (is_title || line == format!("{} {title}", "#".repeat(level + 2))).then_some(2)
}

/// The lines of the strand that a list's line belongs to.
fn on_list_roster(web: &Web, lines: &[&str], origins: &[Origin], index: usize) -> Vec<Stretch> {
    let source = origins[index].source;
    let Some(strand) = web.strands.get(source as usize - 1) else { return Vec::new() };
    let same = |at: &usize| origins[*at].is_some() && origins[*at].source == source;
    let first = successors(Some(index), |at| at.checked_sub(1)).take_while(same).last().unwrap_or(index);
    let summary = strand.summary.as_ref().map_or(0, |summary| summary.line);
    let details = [key_line(strand.text(), "metadata"), summary];
    let (keyword, head) = (named(strand.keyword.line), lines[first]);
    // The head stands alone, unless it was wrapped together with the rest.
    let alone = lines.get(first + 1).is_none_or(|line| line.trim_start().starts_with("- "));
    let start = head.find("**").map_or(0, |at| at + 2);
    if !alone {
        let finder = Finder::new(strand.text(), &[&[keyword], &details[..]].concat());
        return aligned(finder, &lines[first..=index], start..head.len(), keyword);
    }
    if index == first {
        let end = head.rfind("** (`").filter(|end| *end >= start).unwrap_or(head.len());
        return aligned(Finder::new(strand.text(), &[keyword]), &[head], start..end, keyword);
    }
    let finder = Finder::new(strand.text(), &details);
    aligned(finder, &lines[first + 1..=index], 0..lines[first + 1].len(), named(origins[index].line))
}

/// The line that says a keyword or a description; 0 for the first one, which never does: then it is the file's name.
fn named(line: u32) -> u32 {
    if line <= 1 { 0 } else { line }
}

/// The line (from 1) of a key of the front matter at the start of its line; 0 if there is none.
fn key_line(text: &str, key: &str) -> u32 {
    let front = text.lines().take(front_lines(text));
    let found = front
        .enumerate()
        .find(|(_, line)| line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(':')));
    found.map_or(0, |(number, _)| u32::try_from(number + 1).unwrap_or(0))
}

/// How many lines the front matter has, its last `---` among them; 0 without one.
fn front_lines(text: &str) -> usize {
    let mut lines = text.lines();
    if lines.next().map(str::trim_end) != Some("---") {
        return 0;
    }
    lines.position(|line| line.trim_end() == "---").map_or(0, |at| at + 2)
}

/// Finds words in their order among the blocks of a text.
struct Finder {
    /// In lower case, each with its line.
    words: Vec<(String, u32)>,
    next: usize,
}

impl Finder {
    /// Over the blocks that start on these lines, counted from 1; 0 starts none.
    fn new(text: &str, starts: &[u32]) -> Self {
        let lines: Vec<&str> = text.lines().collect();
        let front = front_lines(text);
        let mut found = Vec::new();
        for start in starts.iter().map(|start| *start as usize).filter(|start| *start > 0) {
            let head = lines.iter().enumerate().skip(start - 1).take(1);
            let rest = lines.iter().enumerate().skip(start).take_while(|(at, line)| {
                let in_value = *at + 1 < front && (line.is_empty() || line.starts_with([' ', '\t', '-']));
                if start < front { in_value } else { !line.trim().is_empty() }
            });
            for (at, line) in head.chain(rest) {
                let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
                found.extend(words(line).map(|(_, word)| (word.to_lowercase(), number)));
            }
        }
        Self { words: found, next: 0 }
    }

    /// Each word within a `part` of `line` with its first byte and the line on which it was found: the next one that is equal,
    /// else one before.
    fn stretches(&mut self, line: &str, part: Range<usize>) -> Vec<(usize, Option<u32>)> {
        words(line)
            .filter(|(start, _)| part.contains(start))
            .map(|(start, word)| (start, self.find(&word.to_lowercase())))
            .collect()
    }

    fn find(&mut self, word: &str) -> Option<u32> {
        let is_it = |(other, _): &(String, u32)| other == word;
        let ahead = self.words.iter().skip(self.next).position(is_it).map(|at| at + self.next);
        let at = ahead.or_else(|| self.words.iter().position(is_it))?;
        self.next = at + 1;
        Some(self.words[at].1)
    }
}

/// The runs of letters and digits with their first bytes.
fn words(line: &str) -> impl Iterator<Item = (usize, &str)> {
    let runs = line.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    runs.map(|word| (word.as_ptr() as usize - line.as_ptr() as usize, word))
}
