//! What a bundle says of reference notes and webs: entries and rosters (§4.3, §5.4 to §5.6).

use cantus_memory::unicode::{collapse, lower, norm};
use cantus_memory::{Described, Note, Origin, Roster, SourcedText, Strand, Web, plural, wrap};

/// The entry of a reference note, which calls it `address`.
pub(crate) fn entry(note: &Note, address: &str, width: usize) -> SourcedText {
    let Described { text, line } = note.summary();
    let mut entry = format!("**`{address}`**");
    let text = collapse(&text);
    if !text.is_empty() {
        entry.push_str(" - ");
        entry.push_str(&text);
    }
    let origin = Origin::new(0, line.max(1) as usize);
    wrapped(&entry, width, |_| origin)
}

/// The lines of a wrapped text, each with the origin of the byte at which it starts.
fn wrapped(text: &str, width: usize, origin: impl Fn(usize) -> Origin) -> SourcedText {
    let mut lines = SourcedText::default();
    for line in wrap(text, width) {
        lines.push(&line.text, origin(line.start));
    }
    lines
}

/// The roster of a web. Source 0 of its section is the descriptor, source `n` the strand with index `n - 1`.
pub(crate) fn roster(web: &Web, width: usize) -> SourcedText {
    match web.roster {
        Roster::Inline => inline_roster(web, width),
        Roster::List => list_roster(web, sorted(web), width),
    }
}

/// The strands in the order of the roster, each with its source.
fn sorted(web: &Web) -> impl Iterator<Item = (usize, &Strand)> {
    // Strands are in the order of their slugs, which decides between equal keywords.
    let mut strands: Vec<(String, usize)> =
        web.strands.iter().enumerate().map(|(index, strand)| (norm(&strand.keyword.text), index)).collect();
    strands.sort();
    strands.into_iter().map(|(_, index)| (index + 1, &web.strands[index]))
}

fn inline_roster(web: &Web, width: usize) -> SourcedText {
    let (text, starts) = inline_text(web);
    // The label's line belongs to the first strand that stands on it.
    wrapped(&text, width, |at| {
        let started = starts.partition_point(|(start, _)| *start <= at);
        starts.get(started.saturating_sub(1)).map_or(Origin::NONE, |(_, origin)| *origin)
    })
}

/// An inline roster before it is wrapped, and where in it each strand's entry starts.
fn inline_text(web: &Web) -> (String, Vec<(usize, Origin)>) {
    let mut text = format!("**{}:** ", web.label);
    let mut starts = Vec::new();
    for (source, strand) in sorted(web) {
        if !starts.is_empty() {
            text.push_str("; ");
        }
        starts.push((text.len(), Origin::new(source, strand.keyword.line as usize)));
        text.push_str(&inline_entry(strand));
    }
    text.truncate(text.trim_end_matches(cantus_memory::unicode::is_space).len());
    (text, starts)
}

/// Each line of an inline roster with the entries on it: the byte of the line at which each starts, and its origin. An entry
/// that began on the line above starts at 0, and so does the first one, with the label before it.
pub(crate) fn inline_entries(web: &Web, width: usize) -> Vec<(String, Vec<(usize, Origin)>)> {
    let (text, starts) = inline_text(web);
    let lines = wrap(&text, width);
    let entries = |(number, line): (usize, &cantus_memory::WrappedLine)| {
        let next = lines.get(number + 1).map_or(usize::MAX, |next| next.start);
        let indent = if number == 0 { 0 } else { line.text.len() - line.text.trim_start_matches(' ').len() };
        let above = starts.partition_point(|(start, _)| *start <= line.start).saturating_sub(1);
        let here = starts.iter().skip(above).take_while(|(start, _)| *start < next);
        let column = |start: usize| start.checked_sub(line.start).map_or(0, |column| column + indent);
        let mut entries: Vec<_> = here.map(|(start, origin)| (column(*start), *origin)).collect();
        if let Some(first) = entries.first_mut() {
            first.0 = 0;
        }
        (line.text.clone(), entries)
    };
    lines.iter().enumerate().map(entries).collect()
}

fn inline_entry(strand: &Strand) -> String {
    let mut entry = escape(&strand.keyword.text);
    let aliases: Vec<_> = shown_aliases(strand).map(escape).collect();
    if !aliases.is_empty() {
        entry.push_str(&format!(" ({})", aliases.join(", ")));
    }
    match &strand.supersession {
        Some(supersession) if supersession.in_part => entry.push_str(" [partly superseded]"),
        Some(_) => entry.push_str(" [superseded]"),
        None => {}
    }
    entry
}

/// A backslash before what Markdown would take for markup.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '<' | '>') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}

/// The declared aliases but for those that are the automatic plural of one of the strand's names.
fn shown_aliases(strand: &Strand) -> impl Iterator<Item = &str> {
    let names = std::iter::once(&strand.keyword.text).chain(&strand.aliases);
    let names = names.filter(|_| !strand.aliases.is_empty());
    let plurals: Vec<_> = names.filter_map(|name| plural(name)).map(|plural| lower(&plural)).collect();
    strand.aliases.iter().map(String::as_str).filter(move |alias| !plurals.contains(&lower(alias)))
}

fn list_roster<'a>(
    web: &Web,
    strands: impl Iterator<Item = (usize, &'a Strand)>,
    width: usize,
) -> SourcedText {
    let mut roster = SourcedText::default();
    for (number, (source, strand)) in (1..).zip(strands) {
        let marker = format!("{number}. ");
        let head = format!("{marker}**{}** (`{}`)", strand.keyword.text, strand.slug());
        let (detail, detail_line) = detail(web, strand);
        let head_origin = Origin::new(source, strand.keyword.line as usize);
        let detail_origin = Origin::new(source, detail_line as usize);
        if wrap(&head, width).len() == 1 {
            roster.push(&head, head_origin);
            let item = format!("{}- {detail}", " ".repeat(marker.len()));
            roster.append(&wrapped(&item, width, |_| detail_origin));
        } else {
            let split = head.len();
            let item = format!("{head} - {detail}");
            let item = item.trim_end_matches(cantus_memory::unicode::is_space);
            roster.append(&wrapped(item, width, |at| if at < split { head_origin } else { detail_origin }));
        }
    }
    roster
}

/// A strand's summary behind what replaced it, and the line of the summary.
fn detail(web: &Web, strand: &Strand) -> (String, u32) {
    let (summary, line) =
        strand.summary.as_ref().map_or(("", 1), |summary| (summary.text.as_str(), summary.line));
    let Some(supersession) = &strand.supersession else { return (summary.to_owned(), line) };
    let own = format!("{}/", web.slug());
    let addresses: Vec<_> = supersession
        .by
        .iter()
        .map(|address| format!("`{}`", address.strip_prefix(&own).unwrap_or(address)))
        .collect();
    let how = if supersession.in_part { "partly superseded" } else { "superseded" };
    (format!("_[{how} by {}]_ {summary}", addresses.join(", ")), line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("a*b_c[d]|<e>`\\"), "a\\*b\\_c\\[d\\]\\|\\<e\\>\\`\\\\");
    }
}
