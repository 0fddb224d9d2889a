//! A web as a page for people.

use std::borrow::Cow;
use std::cell::LazyCell;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use cantus_manifest::{Diagnostic, RelPath};
use cantus_memory::unicode::{is_blank, norm, strip_end};
use cantus_memory::{
    Body, Corpus, Described, Library, Origin, Resolved, SourcedText, Strand, Target, Web, body_with_roster,
    fences, heading, is_fenced, nearest,
};
use cantus_workspace::{Config, PageBody, PageConfig};

/// A page, composed; the notice is not part of it.
#[derive(Debug)]
pub(crate) struct Page {
    /// It ends in one line feed.
    text: SourcedText,
    /// What the origins of its lines count.
    sources: Vec<RelPath>,
}

impl Page {
    pub(crate) fn text(&self) -> &str {
        self.text.text()
    }

    /// The note and the line, counted from 1, that the line with this index (from 0) came from, or the nearest one above.
    pub(crate) fn source_line(&self, index: usize) -> Option<(&RelPath, u32)> {
        let origins = self.text.origins();
        let above = origins.iter().take(index + 1).rev().find(|origin| origin.is_some());
        let origin = above.or_else(|| origins.iter().find(|origin| origin.is_some()))?;
        Some((self.sources.get(origin.source as usize)?, origin.line.max(1)))
    }
}

/// The pages that `config` asks for, by their file; a web that isn't there is a fault at the line that asks for it.
pub(crate) fn pages(
    config: &Config,
    corpus: &Corpus,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<RelPath, Page> {
    let mut pages = BTreeMap::new();
    if config.pages.is_empty() {
        return pages;
    }
    // Few pages name a successor.
    let library = LazyCell::new(|| Library::new(corpus));
    let webs = corpus.webs.as_slice();
    for page in &config.pages {
        let web = find(webs, &page.web, page, config, diagnostics);
        let terms = page.abbreviations.as_ref();
        let terms = terms.map(|terms| find(webs, terms, page, config, diagnostics));
        if let (Some(web), None | Some(Some(_))) = (web, terms) {
            let out = Blocks::for_web(web);
            let mut writer = Writer { config, library: &library, page, web, out };
            writer.write(terms.flatten());
            pages.insert(page.file.clone(), writer.out.finish());
        }
    }
    pages
}

fn find<'a>(
    webs: &'a [Web],
    name: &str,
    page: &PageConfig,
    config: &Config,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<&'a Web> {
    let found = webs.iter().find(|web| web.slug() == name);
    if found.is_none() {
        let known: Vec<_> = webs.iter().map(Web::slug).collect();
        let help = match (nearest(name, &known), known.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "the project has no webs: take the page out of the configuration".to_owned(),
            (None, known) => format!("known webs: {}", known.join(", ")),
        };
        let message = format!("the page `{}`: the project has no web `{}`", page.file, name.escape_debug());
        let fault = Diagnostic::error("page.web", message).line(page.line).help(help);
        let file = config.source.as_ref().map(|file| file.path.as_str());
        diagnostics.push(fault.at(file.unwrap_or_default()));
    }
    found
}

/// A line of a page, without its end, and where it came from.
type Line<'a> = (Cow<'a, str>, Origin);

/// Blocks of lines with one blank line between.
struct Blocks {
    text: SourcedText,
    sources: Vec<RelPath>,
}

impl Blocks {
    /// None yet, and room for the whole texts of a web's strands.
    fn for_web(web: &Web) -> Self {
        // What a record has besides its text.
        const HEAD_BYTES: usize = 256;
        let bytes = web.strands.iter().map(|strand| strand.body().text.len() + HEAD_BYTES).sum();
        Self { text: SourcedText::with_capacity(bytes), sources: Vec::with_capacity(web.strands.len() + 1) }
    }

    /// Adds lines as one block, without the blank ones at their ends.
    fn push(&mut self, lines: &[Line<'_>]) {
        let is_text = |(line, _): &Line<'_>| !is_blank(line);
        let Some(first) = lines.iter().position(is_text) else { return };
        let end = lines.iter().rposition(is_text).map_or(first, |last| last + 1);
        if !self.text.is_empty() {
            self.text.push("", Origin::NONE);
        }
        for (line, origin) in &lines[first..end] {
            self.text.push(line, *origin);
        }
    }

    fn line(&mut self, line: String, origin: Origin) {
        self.push(&[(line.into(), origin)]);
    }

    /// The index of one more source.
    fn source(&mut self, path: &RelPath) -> usize {
        self.sources.push(path.clone());
        self.sources.len() - 1
    }

    fn finish(self) -> Page {
        Page { text: self.text, sources: self.sources }
    }
}

struct Writer<'a, F> {
    config: &'a Config,
    library: &'a LazyCell<Library<'a>, F>,
    page: &'a PageConfig,
    web: &'a Web,
    out: Blocks,
}

impl<'a, F: FnOnce() -> Library<'a>> Writer<'a, F> {
    fn write(&mut self, terms: Option<&Web>) {
        self.intro();
        for strand in by_title(self.web) {
            self.record(strand);
        }
        self.abbreviations(terms);
    }

    /// The title, and the descriptor's text without its roster.
    fn intro(&mut self) {
        let source = self.out.source(&self.web.path);
        let text = body_with_roster(self.web, &SourcedText::default());
        let title = self.web.body().title().map(str::to_owned);
        let title = title.unwrap_or_else(|| Target::Web(self.web).label());
        let own = title_line(&lines(text.text()));
        let origin = own.and_then(|line| text.origins().get(line)).copied();
        self.out.line(format!("# {title}"), origin.unwrap_or(Origin::new(source, 1)));
        let lines = text.lines().enumerate().filter(|(index, _)| Some(*index) != own);
        self.out.push(&lines.map(|(_, (line, origin))| (line.into(), origin)).collect::<Vec<_>>());
    }

    fn record(&mut self, strand: &'a Strand) {
        let source = self.out.source(&strand.path);
        let at = |line: u32| Origin::new(source, line as usize);
        let title = &strand.keyword;
        let id = escaped(&anchor(strand));
        self.out.line(format!("## <a id=\"{id}\"></a>{}", title.text), at(title.line));
        let mut facts: Vec<Line<'_>> = Vec::new();
        let mut fact =
            |label: &str, text: &str, line| facts.push((format!("- **{label}:** {text}").into(), at(line)));
        if let Some(Described { text, line }) = &strand.status {
            fact("Status", text, *line);
        }
        if let Some(Described { text, line }) = &strand.decided {
            fact("Decided", text, *line);
        }
        let status_line = strand.status.as_ref().map_or(1, |status| status.line);
        if let Some(supersession) = &strand.supersession {
            let label = if supersession.in_part { "Superseded in part by" } else { "Superseded by" };
            let by: Vec<_> = supersession.by.iter().map(|address| self.successor(strand, address)).collect();
            fact(label, &by.join(", "), status_line);
        }
        if !strand.aliases.is_empty() {
            fact("Also known as", &strand.aliases.join(", "), title.line);
        }
        self.out.push(&facts);
        let body = match self.page.body {
            PageBody::Full => lowered(strand.body(), source),
            PageBody::Claim => claim(strand.body(), source),
            PageBody::None => Vec::new(),
        };
        let summary = match &strand.summary {
            None if body.is_empty() => Some(strand.summary_or_text()),
            declared => declared.clone(),
        };
        if let Some(summary) = summary {
            self.out.line(summary.text, at(summary.line));
        }
        self.out.push(&body);
        if let Some(link) = &self.page.link {
            let link = link.replace("{path}", &encoded(strand.path.as_str()));
            self.out.line(format!("[Source]({link})"), at(1));
        }
    }

    /// What replaced a strand: a link to its record, where a page has one.
    fn successor(&self, strand: &'a Strand, address: &str) -> String {
        let found = self.library.resolve(address, Some(Target::Strand(self.web, strand)));
        let link = match found {
            Resolved::Found(Target::Strand(web, found)) => self.place(web).map(|page| (page, found)),
            _ => None,
        };
        match link {
            Some((page, found)) => {
                let title = found.keyword.text.replace('[', "\\[").replace(']', "\\]");
                format!("[{title}]({page}#{})", encoded(&anchor(found)))
            }
            None if address.contains('`') => address.to_owned(),
            None => format!("`{address}`"),
        }
    }

    /// The page of a web as seen from this one: nothing if it is the same.
    fn place(&self, web: &Web) -> Option<String> {
        if web.slug() == self.web.slug() {
            return Some(String::new());
        }
        let other = self.config.pages.iter().find(|page| page.web == web.slug())?;
        Some(encoded(&relative(self.page.file.as_str(), other.file.as_str())))
    }

    fn abbreviations(&mut self, terms: Option<&Web>) {
        let Some(web) = terms else { return };
        let mut lines = Vec::new();
        for strand in by_title(web) {
            let source = self.out.source(&strand.path);
            let summary = strand.summary_or_text();
            let names = std::iter::once(&strand.keyword.text).chain(&strand.aliases);
            for name in names.filter(|name| !name.contains(['[', ']'])) {
                let origin = Origin::new(source, summary.line as usize);
                lines.push((format!("*[{name}]: {}", summary.text).into(), origin));
            }
        }
        self.out.push(&lines);
    }
}

/// The strands of a web from A to Z, as labels are ordered.
fn by_title(web: &Web) -> Vec<&Strand> {
    let label = |strand: &Strand| norm(&strand.keyword.text);
    let mut strands: Vec<_> = web.strands.iter().map(|strand| (label(strand), strand)).collect();
    strands.sort_by(|(label, strand), (other_label, other)| {
        let label = label.cmp(other_label);
        let keyword = || strand.keyword.text.cmp(&other.keyword.text);
        label.then_with(keyword).then_with(|| strand.slug().cmp(other.slug()))
    });
    strands.into_iter().map(|(_, strand)| strand).collect()
}

/// A strand's anchor: its slug, which must not hold a blank there.
fn anchor(strand: &Strand) -> Cow<'_, str> {
    let slug = strand.slug();
    match slug.contains(char::is_whitespace) {
        true => slug.split_whitespace().collect::<Vec<_>>().join("-").into(),
        false => slug.into(),
    }
}

/// A text inside an attribute of HTML.
fn escaped(text: &str) -> String {
    if !text.contains(['&', '"', '<', '>']) {
        return text.to_owned();
    }
    text.replace('&', "&amp;").replace('"', "&quot;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A path or an anchor inside an address.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(byte));
            }
            other => drop(write!(encoded, "%{other:02X}")),
        }
    }
    encoded
}

/// The path of the file `to` as seen from the file `from`.
fn relative(from: &str, to: &str) -> String {
    let from: Vec<_> = from.split('/').collect();
    let to: Vec<_> = to.split('/').collect();
    let common = from.iter().zip(&to).take(from.len().min(to.len()) - 1).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", from.len() - 1 - common);
    up.chain(to[common..].iter().copied()).collect::<Vec<_>>().join("/")
}

/// The index of the first H1 outside fences.
fn title_line(lines: &[(&str, bool)]) -> Option<usize> {
    lines.iter().position(|(line, fenced)| !fenced && heading(line).is_some_and(|(level, _)| level == 1))
}

/// The lines of a text, and whether each is fenced.
fn lines(text: &str) -> Vec<(&str, bool)> {
    let fences = fences(text);
    let mut offset = 0;
    let lines = text.split_inclusive('\n').map(|line| {
        let fenced = is_fenced(&fences, offset);
        offset += line.len();
        (line.strip_suffix('\n').unwrap_or(line), fenced)
    });
    lines.collect()
}

/// A strand's text below its record's heading: without its title, other headings one level down, from the third to the sixth.
fn lowered(body: Body<'_>, source: usize) -> Vec<Line<'_>> {
    let lines = lines(body.text);
    let title = title_line(&lines);
    let lines = lines.into_iter().enumerate().filter(|(index, _)| Some(*index) != title);
    let lowered = lines.map(|(index, (line, fenced))| {
        let line = match heading(line).filter(|_| !fenced) {
            Some((level, text)) => format!("{} {text}", "#".repeat((level.max(2) + 1).min(6))).into(),
            None => line.into(),
        };
        (line, Origin::new(source, body.first_line + index))
    });
    lowered.collect()
}

/// The paragraph that starts with the label *Claim*, or the first one below a heading of that name.
fn claim(body: Body<'_>, source: usize) -> Vec<Line<'_>> {
    let lines = lines(body.text);
    let is_text = |index: usize| lines.get(index).is_some_and(|(line, fenced)| !fenced && !is_blank(line));
    let starts = |index: usize| {
        is_text(index) && (index == 0 || !is_text(index - 1) || is_heading(lines[index - 1].0))
    };
    let is_heading_of_it = |line: &str| heading(line).is_some_and(|(_, text)| is_label(text));
    let Some(first) = (0..lines.len()).find(|index| {
        let line = lines[*index].0;
        is_text(*index) && (is_heading_of_it(line) || (starts(*index) && is_labelled(line)))
    }) else {
        return Vec::new();
    };
    let below = |index: &usize| is_text(*index) && !is_heading(lines[*index].0);
    let start = match is_heading(lines[first].0) {
        true => (first + 1..lines.len()).find(|index| !is_blank(lines[*index].0)).unwrap_or(lines.len()),
        false => first,
    };
    let paragraph = (start..lines.len()).take_while(below);
    paragraph
        .map(|index| (strip_end(lines[index].0).into(), Origin::new(source, body.first_line + index)))
        .collect()
}

fn is_heading(line: &str) -> bool {
    heading(line).is_some()
}

/// Whether a text is the label alone, whatever marks surround it.
fn is_label(text: &str) -> bool {
    text.trim_matches(['*', '_', '.', ':', '#', ' ']).eq_ignore_ascii_case("claim")
}

/// Whether a line starts with the label: `**Claim.**`, `Claim:`, `*Claim* -`.
fn is_labelled(line: &str) -> bool {
    let marks = ['*', '_'];
    let line = line.trim_start().trim_start_matches(marks);
    let label = line.get(..5).filter(|label| label.eq_ignore_ascii_case("claim"));
    let rest = label.map(|_| line[5..].trim_start_matches(marks).trim_start());
    rest.is_some_and(|rest| rest.starts_with(['.', ':', '-', '–', '—']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_claim(text: &str, expected: &str) {
        let lines = claim(Body { text, first_line: 1 }, 0);
        let found: Vec<_> = lines.iter().map(|(line, _)| &**line).collect();
        assert_eq!(found.join("\n"), expected);
        let own: Vec<_> = text.lines().collect();
        assert!(lines.iter().all(|(line, origin)| own[origin.line as usize - 1].trim_end() == line));
    }

    #[test]
    fn the_paragraph_labelled_claim() {
        check_claim("x\n\n**Claim.** a\nb\n\n**Why.** c\n", "**Claim.** a\nb");
        check_claim("Claim: a\n", "Claim: a");
        check_claim("*Claim* - a\n## Why\nc\n", "*Claim* - a");
        check_claim("## Claim\n\na\nb\n\nc\n", "a\nb");
        check_claim("**CLAIM**: a", "**CLAIM**: a");
    }

    #[test]
    fn what_is_no_claim() {
        check_claim("Claims: a\n\nreclaim. b\n\nx\nClaim: in a paragraph\n", "");
        check_claim("```\nClaim: a\n```\n", "");
        check_claim("## Claim\n\n## Why\n\nx\n", "");
        check_claim("Claim", "");
    }

    #[test]
    fn headings_go_below_the_record() {
        let text = "# Title\n\n## A\n###### B\n```\n# c\n```\n# Second\n";
        let lines = lowered(Body { text, first_line: 5 }, 0);
        let lines: Vec<_> = lines.iter().map(|(line, origin)| (&**line, origin.line)).collect();
        let expected = [
            ("", 6),
            ("### A", 7),
            ("###### B", 8),
            ("```", 9),
            ("# c", 10),
            ("```", 11),
            ("### Second", 12),
        ];
        assert_eq!(lines, expected);
    }

    #[test]
    fn paths_between_pages() {
        assert_eq!(relative("docs/a.md", "docs/b.md"), "b.md");
        assert_eq!(relative("a.md", "docs/b.md"), "docs/b.md");
        assert_eq!(relative("docs/x/a.md", "docs/b.md"), "../b.md");
        assert_eq!(relative("x/a.md", "y/b.md"), "../y/b.md");
    }

    #[test]
    fn addresses_and_attributes() {
        assert_eq!(encoded("memory/a b/é.md"), "memory/a%20b/%C3%A9.md");
        assert_eq!(escaped("a\"<&>"), "a&quot;&lt;&amp;&gt;");
    }
}
