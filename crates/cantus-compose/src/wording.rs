//! What session packs say: the texts of a package's folder `session`, one file a section.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use cantus_memory::{fences, heading, is_fenced, nearest, shortened};

use crate::attributes;

/// The built-in texts, by the name of their section.
const BUILT_IN: &[(&str, &str)] = &[
    ("checkpoint", include_str!("../package/session/checkpoint.md")),
    ("context-updates", include_str!("../package/session/context-updates.md")),
    ("guardrails", include_str!("../package/session/guardrails.md")),
    ("harness-identity", include_str!("../package/session/harness-identity.md")),
    ("memory", include_str!("../package/session/memory.md")),
    ("references", include_str!("../package/session/references.md")),
    ("reporting", include_str!("../package/session/reporting.md")),
    ("required-skills", include_str!("../package/session/required-skills.md")),
    ("scripts", include_str!("../package/session/scripts.md")),
    ("session-state", include_str!("../package/session/session-state.md")),
    ("subagents", include_str!("../package/session/subagents.md")),
    ("system", include_str!("../package/session/system.md")),
    ("tools", include_str!("../package/session/tools.md")),
    ("wiki", include_str!("../package/session/wiki.md")),
];

/// The part that stands before the first H2.
const MAIN: &str = "text";
/// The part that the H1 is.
const TITLE: &str = "title";
/// The placeholder that every text may have.
const EVERYWHERE: &str = "product";

/// The built-in texts, read once.
static DEFAULTS: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let files = BUILT_IN.iter().flat_map(|(section, text)| {
        let (parts, _) = read(text);
        parts.into_iter().map(move |(part, found)| (key(section, &part), found.text))
    });
    files.collect()
});

/// Everything that session packs say, one text a key: `<section>.title`, `<section>.text` and `<section>.<part>`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wording {
    texts: BTreeMap<String, String>,
}

impl Wording {
    /// The built-in texts, with those of a package's files, by section, in the place of what they name.
    pub(crate) fn with(files: &BTreeMap<String, String>) -> Self {
        let mut texts = DEFAULTS.clone();
        for (section, text) in files {
            let (parts, _) = read(text);
            texts.extend(parts.into_iter().map(|(part, found)| (key(section, &part), found.text)));
        }
        Self { texts }
    }

    /// The text of `key` with `values` in the place of its placeholders; empty if there is no such key. Values are taken as
    /// they are: what looks like a placeholder in one stays.
    #[must_use]
    pub fn say(&self, key: &str, values: &[(&str, &str)]) -> String {
        let Some(text) = self.texts.get(key) else { return String::new() };
        let mut said = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(found) = placeholder(rest) {
            said.push_str(&rest[..found.start]);
            let value = values.iter().find(|(name, _)| *name == found.name);
            said.push_str(value.map_or("", |(_, value)| value));
            rest = &rest[found.end..];
        }
        said.push_str(rest);
        said
    }

    /// Whether there is a text of this key, be it empty.
    #[must_use]
    pub fn has(&self, key: &str) -> bool {
        self.texts.contains_key(key)
    }
}

/// One text of a file. Lines are counted from 1.
struct Part {
    text: String,
    /// On which it starts.
    line: usize,
    /// On which its heading stands.
    head: usize,
}

/// A `{{ name }}`: its bytes and the name.
struct Placeholder<'a> {
    start: usize,
    end: usize,
    name: &'a str,
}

fn key(section: &str, part: &str) -> String {
    format!("{section}.{part}")
}

/// The next placeholder of a text; braces that are not closed on their line are letters.
fn placeholder(text: &str) -> Option<Placeholder<'_>> {
    text.match_indices("{{").find_map(|(start, _)| {
        let inside = &text[start + 2..];
        let length = inside.find("}}").filter(|length| !inside[..*length].contains('\n'))?;
        Some(Placeholder { start, end: start + 2 + length + 2, name: inside[..length].trim() })
    })
}

/// The names of the placeholders of a text, each with its line, counted from 0.
fn placeholders(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut at) = (Vec::new(), 0);
    while let Some(next) = placeholder(&text[at..]) {
        let line = text[..at + next.start].matches('\n').count();
        found.push((line, next.name));
        at += next.end;
    }
    found
}

/// The parts of a file, and what is wrong with its headings, each with its line, counted from 1.
fn read(text: &str) -> (BTreeMap<String, Part>, Vec<(usize, String)>) {
    let (mut parts, mut faults) = (BTreeMap::new(), Vec::new());
    let fences = fences(text);
    let (mut offset, mut name, mut head) = (0, Some(MAIN.to_owned()), 0);
    let mut lines: Vec<&str> = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let level = heading(line.trim_end()).filter(|_| !is_fenced(&fences, offset));
        offset += line.len();
        let number = index + 1;
        match level {
            Some((1, title)) => {
                lines.push("\n");
                let found = Part { text: title.to_owned(), line: number, head: number };
                if let Some(Part { line, .. }) = parts.get(TITLE) {
                    faults.push((number, format!("a second title; the first is on line {line}")));
                } else {
                    parts.insert(TITLE.to_owned(), found);
                }
            }
            Some((2, _)) => {
                take(&mut parts, name.take(), head, &mut lines);
                head = number;
                match named(line, &parts) {
                    Ok(id) => name = Some(id),
                    Err(message) => faults.push((number, message)),
                }
            }
            _ => lines.push(line),
        }
    }
    take(&mut parts, name, head, &mut lines);
    if text.trim().is_empty() {
        // An empty file says nothing, which is another thing than leaving the built-in text.
        parts.insert(MAIN.to_owned(), Part { text: String::new(), line: 1, head: 1 });
    }
    (parts, faults)
}

/// Puts the lines of a part that has ended among `parts`, blank ends trimmed.
fn take(parts: &mut BTreeMap<String, Part>, name: Option<String>, head: usize, lines: &mut Vec<&str>) {
    let text = std::mem::take(lines).concat();
    let Some(name) = name else { return };
    let blank = text.lines().take_while(|line| line.trim().is_empty()).count();
    // A title alone leaves the text to whoever has one.
    if name != MAIN || !text.trim().is_empty() {
        parts.insert(name, Part { text: text.trim().to_owned(), line: head + 1 + blank, head });
    }
}

/// The part that an H2 begins, or why it begins none.
fn named(line: &str, parts: &BTreeMap<String, Part>) -> Result<String, String> {
    let (_, attributes) = attributes::split(line.trim_end())?;
    let needed = "a heading of this level needs the id of a part, such as `{#pointer}`";
    let id = attributes.id.ok_or_else(|| needed.to_owned())?;
    match parts.get(&id) {
        Some(other) => Err(format!("`{{#{id}}}` stands on line {} already", other.head)),
        None => Ok(id),
    }
}

/// What is wrong with the file of `section`, each with its line, counted from 1; `None` for the file as a whole.
pub(crate) fn faults(section: &str, text: &str) -> Vec<(Option<usize>, String)> {
    let sections: Vec<&str> = BUILT_IN.iter().map(|(name, _)| *name).collect();
    if !sections.contains(&section) {
        let hint = nearest(section, &sections).map(|name| format!(": did you mean `{name}.md`?"));
        let message = format!("session packs have no text `{}`", shortened(section));
        return vec![(None, message + &hint.unwrap_or_default())];
    }
    let (parts, faults) = read(text);
    let mut faults: Vec<_> = faults.into_iter().map(|(line, message)| (Some(line), message)).collect();
    for (name, part) in &parts {
        faults.extend(part_faults(section, name, part));
    }
    faults.sort();
    faults
}

fn part_faults(section: &str, name: &str, part: &Part) -> Vec<(Option<usize>, String)> {
    let prefix = format!("{section}.");
    let known = DEFAULTS.keys().filter_map(|key| key.strip_prefix(&prefix));
    let known: Vec<&str> = known.chain([MAIN]).collect();
    if !known.contains(&name) {
        let hint = nearest(name, &known).map(|name| format!(": did you mean `{{#{name}}}`?"));
        let message = format!("unknown part `{{#{}}}`", shortened(name));
        return vec![(Some(part.head), message + &hint.unwrap_or_default())];
    }
    if name == TITLE && part.text.is_empty() {
        return vec![(Some(part.line), "the title is empty".to_owned())];
    }
    let default = DEFAULTS.get(&key(section, name)).map_or("", String::as_str);
    let mut allowed: Vec<&str> = Vec::new();
    for name in placeholders(default).into_iter().map(|(_, name)| name).chain([EVERYWHERE]) {
        if !allowed.contains(&name) {
            allowed.push(name);
        }
    }
    let unknown = placeholders(&part.text).into_iter().filter(|(_, name)| !allowed.contains(name));
    let told = unknown.map(|(line, name)| {
        let expected = allowed.join("`, `");
        (Some(part.line + line), format!("unknown placeholder `{}`; expected `{expected}`", shortened(name)))
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wording(files: &[(&str, &str)]) -> Wording {
        Wording::with(&files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect())
    }

    #[track_caller]
    fn check(section: &str, text: &str, expected: &[&str]) {
        let found = faults(section, text);
        let found: Vec<_> =
            found.iter().map(|(line, said)| format!("{}: {said}", line.unwrap_or_default())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_built_in_texts_have_no_fault_and_a_title_each() {
        for (section, text) in BUILT_IN {
            check(section, text, &[]);
            assert!(DEFAULTS.contains_key(&key(section, TITLE)), "{section}");
        }
    }

    #[test]
    fn values_stand_in_the_place_of_placeholders_and_are_not_read_again() {
        let wording = wording(&[("wiki", "# W\n\n{{ product }}: {{\n}} {{product}}\n")]);
        assert_eq!(wording.say("wiki.title", &[]), "W");
        assert_eq!(
            wording.say("wiki.text", &[("product", "{{ product }}")]),
            "{{ product }}: {{\n}} {{ product }}"
        );
        assert_eq!(wording.say("wiki.nothing", &[]), "");
    }

    #[test]
    fn a_package_says_part_of_it() {
        let own = wording(&[("references", "## {#pointer}\n\nAsk.\n")]);
        let default = wording(&[]);
        assert_eq!(own.say("references.pointer", &[]), "Ask.");
        for key in ["references.title", "references.intro", "reporting.text"] {
            assert!(!own.say(key, &[]).is_empty(), "{key}");
            assert_eq!(own.say(key, &[]), default.say(key, &[]));
        }
        assert_eq!(wording(&[("reporting", "")]).say("reporting.text", &[]), "");
    }

    #[test]
    fn what_a_file_may_not_hold() {
        check(
            "guardrials",
            "x",
            &["0: session packs have no text `guardrials`: did you mean `guardrails.md`?"],
        );
        check("wiki", "# A\n# B\n", &["2: a second title; the first is on line 1"]);
        check("wiki", "#\n", &["1: the title is empty"]);
        check(
            "wiki",
            "x\n\n## Y\n",
            &["3: a heading of this level needs the id of a part, such as `{#pointer}`"],
        );
        check("wiki", "## {#poitner}\nx\n", &["1: unknown part `{#poitner}`: did you mean `{#pointer}`?"]);
        check("wiki", "## {#pointer}\nx\n## {#pointer}\ny\n", &["3: `{#pointer}` stands on line 1 already"]);
        check(
            "references",
            "## {#rest}\n\na\n{{ pahts }}\n",
            &["4: unknown placeholder `pahts`; expected `path`, `product`"],
        );
        check("wiki", "```\n## x\n```\n", &[]);
    }
}
