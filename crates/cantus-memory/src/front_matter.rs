//! Front matter: the block between `---` lines, and its fields one by one.

use cantus_manifest::{Diagnostic, RelPath};

use crate::mistakes::{Mistake, dashes, first_text, key, mistake};
use crate::nearest::{nearest, shortened};
use crate::unicode::{collapse, collapsed, is_blank, strip};
use crate::yaml::{self, Node, Quoting, Value, YamlFault};

/// The most lines of a text that are searched for a front matter further down.
const MOST_ABOVE: usize = 40;

/// What a field of two values expects.
const BOOLEAN: &str = "`true` or `false`";

/// A text in its two parts.
pub(crate) struct Split<'a> {
    /// The YAML between the two `---` lines, if the text opens with one.
    pub(crate) block: Block<'a>,
    /// Where the body starts, in bytes.
    pub(crate) body: usize,
    /// The number of the body's first line.
    pub(crate) body_line: u32,
}

pub(crate) enum Block<'a> {
    None,
    Unclosed,
    Yaml(&'a str),
}

/// Splits `text` as §2.1 says: the first line is `---` but for white space, and the next such line closes.
pub(crate) fn split(text: &str) -> Split<'_> {
    let whole = |block| Split { block, body: 0, body_line: 1 };
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if strip(first) != "---" {
        return whole(Block::None);
    }
    let start = first.len();
    let mut end = start;
    for (number, line) in (2..).zip(lines) {
        // Nearly every line starts with its key.
        let is_key = line.starts_with(|c: char| c.is_ascii_alphanumeric());
        if !is_key && strip(line) == "---" {
            let mut body = end + line.len();
            let mut body_line = number + 1;
            if text[body..].starts_with('\n') {
                body += 1;
                body_line += 1;
            }
            return Split { block: Block::Yaml(&text[start..end]), body, body_line };
        }
        end += line.len();
    }
    whole(Block::Unclosed)
}

/// The fields of one front matter, taken one by one; what is wrong goes to `diagnostics`.
pub(crate) struct Fields<'a> {
    path: &'a RelPath,
    fields: Vec<(String, u32, Node)>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl<'a> Fields<'a> {
    /// The fields of the YAML in `block`; `None` where it isn't a mapping.
    pub(crate) fn parse(
        block: &str,
        path: &'a RelPath,
        diagnostics: &'a mut Vec<Diagnostic>,
    ) -> Option<Self> {
        match yaml::parse(block) {
            Ok(None | Some(Node { value: Value::Null, .. })) => {
                Some(Self { path, fields: Vec::new(), diagnostics })
            }
            Ok(Some(Node { value: Value::Mapping(fields), .. })) => Some(Self { path, fields, diagnostics }),
            Ok(Some(node)) => {
                let what = node.value.describe();
                let message = format!("front matter must be a mapping of keys to values, not {what}");
                diagnostics.push(broken(block, node.line, message).at(path));
                None
            }
            Err(error) => {
                let message = format!("front matter is broken: {}", error.message);
                let fault = match error.kind {
                    YamlFault::Form => broken(block, error.line, message),
                    YamlFault::Content => {
                        Diagnostic::error("note.front_matter", message).line(error.line + 1)
                    }
                };
                diagnostics.push(fault.at(path));
                None
            }
        }
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, ..)| key == name)
    }

    /// The line in the file of a key that is still there.
    pub(crate) fn line(&self, name: &str) -> Option<u32> {
        self.fields.iter().find(|(key, ..)| key == name).map(|(_, line, _)| line + 1)
    }

    /// Whether the field is there and says nothing.
    pub(crate) fn is_null(&self, name: &str) -> bool {
        self.fields.iter().any(|(key, _, node)| key == name && node.value == Value::Null)
    }

    /// Takes the field `name`; a null is as good as none.
    fn take(&mut self, name: &str) -> Option<(u32, Value)> {
        let at = self.fields.iter().position(|(key, ..)| key == name)?;
        let (_, line, node) = self.fields.remove(at);
        (node.value != Value::Null).then_some((line + 1, node.value))
    }

    /// Whether a key that nobody knows was likely meant to be `name`.
    pub(crate) fn misspells(&self, name: &str, known: &[&str]) -> bool {
        self.fields
            .iter()
            .any(|(key, ..)| !known.contains(&key.as_str()) && nearest(key, known) == Some(name))
    }

    /// Whether the field is a text that says `word`, but for a slip of the hand.
    pub(crate) fn is_near(&self, name: &str, word: &str) -> bool {
        self.fields.iter().any(|(key, _, node)| match &node.value {
            Value::Text(text, _) => key == name && nearest(strip(text), &[word]).is_some(),
            _ => false,
        })
    }

    /// Adds what to do to the fault that was reported last.
    pub(crate) fn advise(&mut self, help: String) {
        if let Some(fault) = self.diagnostics.last_mut() {
            fault.help = Some(help);
        }
    }

    /// How many faults there are so far.
    pub(crate) fn faults(&self) -> usize {
        self.diagnostics.len()
    }

    /// Reports a fault at `line` of the file.
    pub(crate) fn fault(&mut self, line: u32, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error("note.value", message).at(self.path).line(line));
    }

    fn wrong(&mut self, line: u32, name: &str, expected: &str, value: &Value) {
        let message = format!("`{name}` must be {expected}, not {}", value.describe());
        let diagnostic = Diagnostic::error("note.value", message).at(self.path).line(line);
        self.diagnostics.push(match surprise(value, expected == BOOLEAN) {
            Some(help) => diagnostic.help(help),
            None => diagnostic,
        });
    }

    /// A text with its line, white space collapsed; blank is as good as none.
    pub(crate) fn text(&mut self, name: &str) -> Option<(String, u32)> {
        match self.take(name)? {
            (line, Value::Text(text, _)) => {
                Some((collapsed(text), line)).filter(|(text, _)| !text.is_empty())
            }
            (line, value) => {
                self.wrong(line, name, "text (quote it)", &value);
                None
            }
        }
    }

    /// A text as it stands, white space collapsed; anything else is as good as none.
    pub(crate) fn loose_text(&mut self, name: &str) -> Option<String> {
        match self.take(name)? {
            (_, Value::Text(text, _)) => Some(collapse(&text)),
            _ => None,
        }
    }

    /// A text that must not be blank or null where its key stands.
    pub(crate) fn non_empty_text(&mut self, name: &str) -> Option<(String, u32)> {
        let line = self.line(name)?;
        let before = self.faults();
        let text = self.text(name);
        if text.is_none() && self.faults() == before {
            self.fault(line, format!("`{name}` must be a non-empty string"));
        }
        text
    }

    pub(crate) fn boolean(&mut self, name: &str) -> Option<bool> {
        match self.take(name)? {
            (_, Value::Bool(value)) => Some(value),
            (line, value) => {
                self.wrong(line, name, BOOLEAN, &value);
                None
            }
        }
    }

    /// A whole number from 0 to 4294967295 in an unmistakable spelling.
    pub(crate) fn natural(&mut self, name: &str) -> Option<u32> {
        let (line, value) = self.take(name)?;
        let number = match &value {
            Value::Integer(number, text) if !is_surprising_integer(text) => u32::try_from(*number).ok(),
            _ => None,
        };
        if number.is_none() {
            self.wrong(line, name, "a whole number, 0 or more", &value);
            if let Some(fault) = self.diagnostics.last_mut() {
                fault.help.get_or_insert_with(|| {
                    format!("write digits alone, such as `{name}: 10`; small numbers stand first")
                });
            }
        }
        number
    }

    /// One of a few words, its white space collapsed.
    pub(crate) fn choice(&mut self, name: &str, choices: &[&'static str]) -> Option<&'static str> {
        self.choice_or_legacy(name, choices, &[])
    }

    /// One of a few words, or an older one that is understood but not offered.
    pub(crate) fn choice_or_legacy(
        &mut self,
        name: &str,
        choices: &[&'static str],
        legacy: &[&'static str],
    ) -> Option<&'static str> {
        let (line, value) = self.take(name)?;
        let Value::Text(text, _) = &value else {
            self.wrong(line, name, &alternatives(choices), &value);
            return None;
        };
        let word = collapse(text);
        let found = choices.iter().chain(legacy).find(|choice| **choice == word).copied();
        if found.is_none() {
            self.wrong(line, name, &alternatives(choices), &value);
            if let (Some(near), Some(fault)) = (nearest(&word, choices), self.diagnostics.last_mut()) {
                fault.help.get_or_insert_with(|| format!("did you mean `{near}`?"));
            }
        }
        found
    }

    /// A list of texts, none of them blank, each collapsed.
    pub(crate) fn texts(&mut self, name: &str) -> Vec<String> {
        let Some((line, value)) = self.take(name) else { return Vec::new() };
        let Value::List(items) = &value else {
            self.wrong(line, name, "a list of texts", &value);
            return Vec::new();
        };
        let mut texts = Vec::new();
        for item in items {
            match &item.value {
                Value::Text(text, _) if !is_blank(text) => texts.push(collapse(text)),
                other => self.wrong(item.line + 1, name, "a list of non-blank texts (quote them)", other),
            }
        }
        texts
    }

    /// A mapping as it stands.
    pub(crate) fn mapping(&mut self, name: &str) -> Vec<(String, u32, Node)> {
        match self.take(name) {
            None => Vec::new(),
            Some((_, Value::Mapping(entries))) => entries,
            Some((line, value)) => {
                self.wrong(line, name, "a mapping", &value);
                Vec::new()
            }
        }
    }

    /// Drops a field that is accepted and has no effect.
    pub(crate) fn ignore(&mut self, name: &str) {
        self.take(name);
    }

    /// Reports the fields that nobody took.
    pub(crate) fn finish(self, known: &[&str]) {
        for (key, line, _) in &self.fields {
            let diagnostic = Diagnostic::error("note.key", format!("unknown key `{}`", shortened(key)))
                .at(self.path)
                .line(line + 1);
            self.diagnostics.push(match nearest(key, known) {
                Some(name) => diagnostic.help(format!("did you mean `{name}`?")),
                None => diagnostic.help(format!("known keys here: {}", known.join(", "))),
            });
        }
    }
}

/// The fault of a block that the parser refused at `line`, as `message` says: a usual mistake where there is one.
fn broken(block: &str, line: u32, message: String) -> Diagnostic {
    match mistake(block, line) {
        Some(Mistake { line, message, help }) => {
            let message = format!("front matter is broken: {message}");
            Diagnostic::error("note.front_matter", message).line(line + 1).help(help)
        }
        None => Diagnostic::error("note.front_matter", message).line(line + 1).help(
            "expected lines of `key: value`; put a value with other signs than words into double quotes",
        ),
    }
}

/// The fault of a front matter that no line `---` closes.
pub(crate) fn unclosed(text: &str) -> Diagnostic {
    let block = text.split_once('\n').map_or("", |(_, block)| block);
    let fault = Diagnostic::error("note.front_matter", "the front matter has no closing `---` line");
    let text_line = first_text(block);
    let head = block.lines().take(text_line.map_or(usize::MAX, |line| line.saturating_sub(1) as usize));
    if let Some((number, line)) = (2..).zip(head).find(|(_, line)| dashes(line)) {
        return other_dashes(number, line, "closing");
    }
    match text_line {
        Some(line) => fault.line(line + 1).help("put a line `---` above this one, where the text starts"),
        None => fault.line(1).help("close it with a line `---` above the text"),
    }
}

/// What is wrong with a front matter that isn't seen: something stands above it, or its first line isn't `---`. `None` if nothing
/// in `text` looks like one.
pub(crate) fn misplaced(text: &str) -> Option<Diagnostic> {
    let lines: Vec<&str> = text.lines().take(MOST_ABOVE).collect();
    let at = lines.windows(2).position(|pair| {
        let is_start = strip(pair[0]) == "---" || dashes(pair[0]);
        is_start && key(pair[1]).is_some()
    })?;
    let number = u32::try_from(at + 1).unwrap_or(u32::MAX);
    if strip(lines[at]) != "---" {
        return (at == 0).then(|| other_dashes(number, lines[at], "first"));
    }
    let fault = |message: &str| Diagnostic::error("note.front_matter", message);
    if !lines[..at].iter().all(|line| is_blank(line)) {
        let is_meant = lines[at + 1..].iter().take_while(|line| strip(line) != "---");
        let is_meant = is_meant.filter_map(|line| key(line)).any(|(name, _)| ["type", "web"].contains(&name));
        let help = "move the front matter to the top: its line `---` must be the first of the file";
        return is_meant.then(|| fault("text stands above the front matter").line(number).help(help));
    }
    Some(match at {
        1 => fault("a blank line stands above the front matter")
            .line(1)
            .help("remove it: `---` must be the first line of the file"),
        _ => fault(&format!("{at} blank lines stand above the front matter"))
            .line(1)
            .help("remove them: `---` must be the first line of the file"),
    })
}

/// The fault of a line at the edge of a front matter that is of dashes, but not of three.
fn other_dashes(number: u32, line: &str, which: &str) -> Diagnostic {
    let line = strip(line);
    let count = line.chars().count();
    let found = match line.chars().all(|c| c == '-') {
        true if count == 1 => "has one dash, not three".to_owned(),
        true => format!("has {count} dashes, not three"),
        false => format!("is `{}`, not `---`", shortened(line)),
    };
    let message = format!("the {which} line of the front matter {found}");
    let help = "write `---`, three plain dashes, above and below the front matter";
    Diagnostic::error("note.front_matter", message).line(number).help(help)
}

fn alternatives(choices: &[&str]) -> String {
    choices.iter().map(|choice| format!("`{choice}`")).collect::<Vec<_>>().join(" or ")
}

/// Whether YAML 1.1 reads these digits as another number or as text.
fn is_surprising_integer(text: &str) -> bool {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    digits.starts_with("0o") || (digits.len() > 1 && digits.starts_with('0') && !digits.starts_with("0x"))
}

/// Quotes that are none in YAML, as word processors write them.
const CURLY: [char; 8] = ['“', '”', '„', '‟', '‘', '’', '‚', '‛'];

/// What to say of a spelling that means something else in YAML 1.1.
fn surprise(value: &Value, wants_boolean: bool) -> Option<String> {
    match value {
        Value::Text(text, Quoting::Plain) => match text.to_ascii_lowercase().as_str() {
            "yes" | "no" | "on" | "off" if !wants_boolean => {
                Some(format!("`{text}` is text in YAML 1.2, and never a number"))
            }
            "yes" | "on" => Some(format!("`{text}` is text in YAML 1.2; write `true`")),
            "no" | "off" => Some(format!("`{text}` is text in YAML 1.2; write `false`")),
            _ if text.starts_with(|c: char| c.is_ascii_digit()) && text.contains(['_', ':', 'b']) => {
                Some(format!(
                    "`{}` is text in YAML 1.2; write the number in decimal digits alone",
                    shortened(text)
                ))
            }
            _ if text.starts_with(CURLY) || text.ends_with(CURLY) => {
                let bare = shortened(text.trim_matches(|c: char| CURLY.contains(&c)));
                Some(format!("in YAML quotes are straight: write `\"{bare}\"`, or `{bare}` without quotes"))
            }
            _ => None,
        },
        Value::Integer(number, text) if is_surprising_integer(text) => Some(format!(
            "`{}` is read as {number} here and otherwise by YAML 1.1; write `{number}` if that is meant",
            shortened(text)
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_split(text: &str, yaml: Option<&str>, body: &str, line: u32) {
        let split = split(text);
        let found = match split.block {
            Block::Yaml(yaml) => Some(yaml),
            Block::None | Block::Unclosed => None,
        };
        assert_eq!((found, &text[split.body..], split.body_line), (yaml, body, line));
    }

    #[track_caller]
    fn check_misplaced(text: &str, expected: Option<(u32, &str)>) {
        let found = misplaced(text);
        let found = found.as_ref().map(|fault| (fault.line.unwrap(), fault.message.as_str()));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn front_matter_that_is_not_seen() {
        check_misplaced("\n---\ntype: core\n---\n", Some((1, "a blank line stands above the front matter")));
        check_misplaced("\n\n\n---\na: b\n", Some((1, "3 blank lines stand above the front matter")));
        check_misplaced("<!-- x -->\n---\nweb: true\n---\n", Some((2, "text stands above the front matter")));
        check_misplaced(
            "--\na: b\n--\n",
            Some((1, "the first line of the front matter has 2 dashes, not three")),
        );
        check_misplaced(
            "\u{2014}-\na: b\n---\n",
            Some((1, "the first line of the front matter is `\u{2014}-`, not `---`")),
        );
        for other in ["", "# A\n", "# A\n---\nNote: b\n---\n", "-----\nText.\n", "a\n----\ntype: core\n"] {
            check_misplaced(other, None);
        }
    }

    #[test]
    fn the_block_and_the_body() {
        check_split("---\na: 1\n---\nx\n", Some("a: 1\n"), "x\n", 4);
        check_split("  ---  \na: 1\n--- \n\n\nx", Some("a: 1\n"), "\nx", 5);
        check_split("---\n---", Some(""), "", 3);
        check_split("x\n---\n", None, "x\n---\n", 1);
        check_split("\n---\na: 1\n---\n", None, "\n---\na: 1\n---\n", 1);
        check_split("---\na: 1\n...\n", None, "---\na: 1\n...\n", 1);
        check_split("", None, "", 1);
    }
}
