//! Webs: a descriptor and its strands.

use cantus_manifest::{RelPath, Stamp};

use crate::front_matter::Fields;
use crate::links::{Following, Linking};
use crate::note::{Body, Content, DEFAULT_PRIORITY, Described, describe};
use crate::unicode::{collapse, is_blank, strip, upper, upper_first};
use crate::yaml::{Node, Value};

const WEB_KEYS: &[&str] = &[
    "web",
    "roster",
    "closure",
    "link_reference",
    "link_rendering",
    "priority",
    "strand_noun",
    "roster_label",
    "metadata",
    "description",
    "type",
    "parent",
];

const STRAND_KEYS: &[&str] =
    &["keyword", "aliases", "summary", "metadata", "link_reference", "link_rendering", "closure"];

/// How a bundle names a web's strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roster {
    /// Keywords and aliases in one paragraph.
    Inline,
    /// A numbered list with a summary each.
    List,
}

/// A note with `web: true` and the folder of strands beside it.
#[derive(Clone, Debug, PartialEq)]
pub struct Web {
    /// Where the descriptor lies; the strands' folder is the same without `.md`.
    pub path: RelPath,
    /// Sort key among webs, small first.
    pub priority: u32,
    /// How the bundle names the strands.
    pub roster: Roster,
    /// What stands before an inline roster.
    pub label: String,
    /// The strands in the order of their slugs.
    pub strands: Vec<Strand>,
    /// What the links of its strands do where they are read on demand, unless a strand says otherwise.
    pub linking: Linking,
    content: Content,
}

/// One entry of a web.
#[derive(Clone, Debug, PartialEq)]
pub struct Strand {
    /// Where it lies.
    pub path: RelPath,
    /// What it is called, and the line that says so (1 where the file's name does).
    pub keyword: Described,
    /// Its other names, as declared.
    pub aliases: Vec<String>,
    /// One sentence on it.
    pub summary: Option<Described>,
    /// What replaced it.
    pub supersession: Option<Supersession>,
    /// What its metadata calls `status`, such as `accepted`.
    pub status: Option<Described>,
    /// What its metadata calls `decided`, most often a day.
    pub decided: Option<Described>,
    /// What its links do where it is read on demand; what it leaves open is the web's to say.
    pub linking: Linking,
    /// What is wrong with what it says of being replaced, and on which line.
    pub(crate) unclear: Option<(u32, &'static str)>,
    content: Content,
}

/// That something else has replaced a strand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Supersession {
    /// Whether only a part of it was replaced.
    pub in_part: bool,
    /// What replaced it, as written, white space at the ends aside; never empty.
    pub by: Vec<String>,
    /// The line of `superseded_by`, counted from 1.
    pub line: u32,
}

impl Web {
    /// The web's name: its file's name without `.md`.
    #[must_use]
    pub fn slug(&self) -> &str {
        self.path.stem()
    }

    /// What a list says of it: the first paragraph of the descriptor, its title, or its name.
    #[must_use]
    pub fn summary(&self) -> Described {
        describe(self.body(), self.slug())
    }

    /// The descriptor's text after the front matter.
    #[must_use]
    pub fn body(&self) -> Body<'_> {
        self.content.body()
    }

    /// The stamp of the file, where it was taken.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        self.content.stamp
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Takes the fields of a descriptor; the strands come later.
    pub(crate) fn from_fields(path: &RelPath, mut fields: Fields<'_>, content: Content) -> Self {
        fields.ignore("web");
        let roster_line = fields.line("roster");
        let faults = fields.faults();
        let roster = fields.choice("roster", &["inline", "list"]);
        if let (None, Some(line), true) = (roster, roster_line, fields.faults() == faults) {
            fields.fault(line, "`roster` must be `inline` or `list`");
        }
        if let (true, Some(line)) = (fields.has("closure"), fields.line("link_reference")) {
            fields.fault(line, "`closure` and `link_reference` say the same thing: keep `link_reference`");
        }
        let legacy = fields.choice("closure", &["none", "mentions"]);
        let mut linking = Linking::take(&mut fields);
        linking.following = linking.following.or(match legacy {
            Some("mentions") => Some(Following::Implicit),
            Some(_) => Some(Following::None),
            None => None,
        });
        let priority = fields.natural("priority").unwrap_or(DEFAULT_PRIORITY);
        let noun = fields.text("strand_noun").map_or_else(|| "strand".to_owned(), |(noun, _)| noun);
        let label = fields.text("roster_label").map_or_else(|| plural_label(&noun), |(label, _)| label);
        fields.mapping("metadata");
        fields.text("description");
        for ignored in ["type", "parent"] {
            fields.ignore(ignored);
        }
        fields.finish(WEB_KEYS);
        let roster = if roster == Some("list") { Roster::List } else { Roster::Inline };
        Self { path: path.clone(), priority, roster, label, strands: Vec::new(), linking, content }
    }
}

/// The noun in capitals, with an `S` unless it ends in one.
fn plural_label(noun: &str) -> String {
    let mut label = upper(noun);
    if !label.ends_with('S') {
        label.push('S');
    }
    label
}

impl Strand {
    /// The strand's name: its file's name without `.md`.
    #[must_use]
    pub fn slug(&self) -> &str {
        self.path.stem()
    }

    /// What a list says of it: the declared summary, else the first paragraph.
    #[must_use]
    pub fn summary_or_text(&self) -> Described {
        self.summary.clone().unwrap_or_else(|| describe(self.body(), self.slug()))
    }

    /// The whole file as it was decoded: strict UTF-8, LF alone between lines, no byte order mark.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.content.text
    }

    /// The text after the front matter.
    #[must_use]
    pub fn body(&self) -> Body<'_> {
        self.content.body()
    }

    /// The stamp of the file, where it was taken.
    #[must_use]
    pub fn stamp(&self) -> Option<Stamp> {
        self.content.stamp
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    /// Takes the fields of a strand; without front matter there are none.
    pub(crate) fn from_fields(path: &RelPath, fields: Option<Fields<'_>>, content: Content) -> Self {
        let mut strand = Self {
            path: path.clone(),
            keyword: Described { text: String::new(), line: 1 },
            aliases: Vec::new(),
            summary: None,
            supersession: None,
            status: None,
            decided: None,
            linking: Linking::default(),
            unclear: None,
            content,
        };
        if let Some(fields) = fields {
            strand.take(fields);
        }
        if strand.keyword.text.is_empty() {
            strand.keyword.text = title(path.stem());
        }
        strand
    }

    fn take(&mut self, mut fields: Fields<'_>) {
        if fields.is_null("keyword") {
            fields.ignore("keyword");
        }
        if let Some((text, line)) = fields.non_empty_text("keyword") {
            self.keyword = Described { text, line };
        }
        self.aliases = fields.texts("aliases");
        self.summary = fields.non_empty_text("summary").map(|(text, line)| Described { text, line });
        let metadata = fields.mapping("metadata");
        match supersession(&metadata) {
            Ok(supersession) => self.supersession = supersession,
            Err(fault) => self.unclear = Some(fault),
        }
        self.status = entry(&metadata, "status");
        self.decided = entry(&metadata, "decided");
        self.linking = Linking::take(&mut fields);
        fields.ignore("closure");
        for forbidden in ["type", "parent"] {
            if let Some(line) = fields.line(forbidden) {
                fields.fault(line, format!("a strand must not declare `{forbidden}`: it belongs to its web"));
                fields.ignore(forbidden);
            }
        }
        fields.finish(STRAND_KEYS);
    }
}

/// A slug as a title (§5.2): its words, each with a capital first letter.
pub(crate) fn title(slug: &str) -> String {
    let words: Vec<_> = slug
        .split(|c| matches!(c, '-' | '_') || crate::unicode::is_space(c))
        .filter(|word| !word.is_empty())
        .map(upper_first)
        .collect();
    if words.is_empty() { slug.to_owned() } else { words.join(" ") }
}

/// What metadata says of being replaced (§5.6); anything but a clear statement is a fault and its line.
fn supersession(metadata: &[(String, u32, Node)]) -> Result<Option<Supersession>, (u32, &'static str)> {
    let field = |name: &str| {
        let found = metadata.iter().find(|(key, ..)| key == name);
        found.map(|(_, line, node)| (line + 1, &node.value)).filter(|(_, value)| **value != Value::Null)
    };
    let (status_line, in_part) = match field("status") {
        Some((line, Value::Text(status, _))) => match strip(status) {
            "superseded" => (line, Some(false)),
            "superseded-in-part" => (line, Some(true)),
            _ => (line, None),
        },
        Some((line, _)) => (line, None),
        None => (1, None),
    };
    let addresses = field("superseded_by").map(|(line, value)| (line, addresses(value)));
    match (in_part, addresses) {
        (_, Some((line, None))) => {
            Err((line, "`superseded_by` must be a text or a list of texts, none of them blank"))
        }
        (Some(in_part), Some((line, Some(by)))) if !by.is_empty() => {
            Ok(Some(Supersession { in_part, by, line }))
        }
        (Some(_), _) => Err((status_line, "the `status` says superseded, but `superseded_by` names nothing")),
        (None, Some((line, Some(by)))) if !by.is_empty() => Err((
            line,
            "`superseded_by` names something, but the `status` is neither `superseded` nor `superseded-in-part`",
        )),
        (None, _) => Ok(None),
    }
}

/// The addresses that a value names; `None` if it names something else.
fn addresses(value: &Value) -> Option<Vec<String>> {
    match value {
        Value::Text(address, _) => Some(vec![address_text(address)?]),
        Value::List(items) => {
            let address = |item: &Node| match &item.value {
                Value::Text(address, _) => address_text(address),
                _ => None,
            };
            items.iter().map(address).collect()
        }
        _ => None,
    }
}

/// A text or a number of the metadata on one line; anything else, and a blank one, is none.
fn entry(metadata: &[(String, u32, Node)], name: &str) -> Option<Described> {
    let (_, line, node) = metadata.iter().find(|(key, ..)| key == name)?;
    let (Value::Text(text, _) | Value::Integer(_, text) | Value::Float(text)) = &node.value else {
        return None;
    };
    (!is_blank(text)).then(|| Described { text: collapse(text), line: line + 1 })
}

fn address_text(address: &str) -> Option<String> {
    // The roster names it on one line.
    (!is_blank(address)).then(|| strip(address).replace(['\n', '\r'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_as_titles() {
        assert_eq!(title("two_words-here"), "Two Words Here");
        assert_eq!(title(".x"), ".x");
        assert_eq!(title("README"), "README");
        assert_eq!(title("--"), "--");
    }

    #[test]
    fn labels_are_plural() {
        assert_eq!(plural_label("term"), "TERMS");
        assert_eq!(plural_label("Process class"), "PROCESS CLASS");
        assert_eq!(plural_label("maß"), "MASS");
    }
}
