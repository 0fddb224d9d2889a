//! What the front matter of another tool's rule says about the note that it becomes.

use cantus_manifest::RelPath;

use crate::front_matter::{Block, split};
use crate::note::NoteKind;
use crate::unicode::{collapse, is_blank, strip};
use crate::yaml::{self, Value};

/// Keys by which tools say when a rule applies.
const RULE_KEYS: [&str; 7] = ["alwaysApply", "globs", "applyTo", "paths", "trigger", "root", "targets"];
/// Those of them that hold patterns of files.
const PATTERN_KEYS: [&str; 3] = ["globs", "applyTo", "paths"];
/// Patterns that every file matches.
const EVERY_FILE: [&str; 3] = ["**", "**/*", "*"];

/// A file's text without its front matter, and what that says.
pub(super) struct Rule<'a> {
    /// The front matter's lines, each with its line feed.
    pub(super) block: Option<&'a str>,
    pub(super) body: &'a str,
    /// The number of the body's first line in the file.
    pub(super) body_line: usize,
    pub(super) kind: NoteKind,
    /// What it says that the rule is about.
    pub(super) description: Option<String>,
    /// The files that it is for, each pattern in backticks, unless those are all.
    pub(super) patterns: Option<String>,
}

impl<'a> Rule<'a> {
    /// Reads the text of `path`. A block between `---` lines that doesn't look like keys and values is text.
    pub(super) fn read(path: &RelPath, text: &'a str) -> Self {
        let parts = split(text);
        let Block::Yaml(block) = parts.block else { return Self::without(text) };
        let is_of_rules = path.file_name().ends_with(".mdc")
            || path.file_name().ends_with(".instructions.md")
            || path.as_str().starts_with(".rulesync/");
        let is_bare = is_of_rules && says_nothing(block);
        if !is_bare && !is_front_matter(block) {
            return Self::without(text);
        }
        let is_rule_file = is_of_rules || RULE_KEYS.iter().any(|key| field(block, key).is_some());
        let patterns = PATTERN_KEYS.iter().find_map(|key| field(block, key));
        let is = |key: &str, value: &str| field(block, key).is_some_and(|found| found == value);
        let always = is("alwaysApply", "true")
            || is("root", "true")
            || is("trigger", "always_on")
            || EVERY_FILE.iter().any(|pattern| is("applyTo", pattern));
        Self {
            block: (!is_blank(block)).then_some(block),
            body: &text[parts.body..],
            body_line: parts.body_line as usize,
            kind: if is_rule_file && !always { NoteKind::Reference } else { NoteKind::Core },
            description: field(block, "description"),
            patterns: patterns
                .filter(|patterns| !EVERY_FILE.contains(&patterns.as_str()))
                .map(|patterns| in_backticks(&patterns)),
        }
    }

    fn without(text: &'a str) -> Self {
        Self {
            block: None,
            body: text,
            body_line: 1,
            kind: NoteKind::Core,
            description: None,
            patterns: None,
        }
    }
}

/// Whether a block has blank lines and comments alone.
fn says_nothing(block: &str) -> bool {
    block.lines().all(|line| is_blank(line) || line.trim_start().starts_with('#'))
}

/// Whether a block looks like keys and values, rather than like text between two rules.
fn is_front_matter(block: &str) -> bool {
    let mut lines = block.lines().filter(|line| !is_blank(line) && !line.trim_start().starts_with('#'));
    let Some(first) = lines.next() else { return false };
    let is_key = |line: &str| {
        line.split_once(':').is_some_and(|(key, rest)| {
            !key.is_empty()
                && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
                && (rest.is_empty() || rest.starts_with([' ', '\t']))
        })
    };
    is_key(first) && lines.all(|line| is_key(line) || line.starts_with([' ', '\t', '-', ']', '}']))
}

/// A field as one line of text: of a list, its items with commas between; `None` if it is missing or says nothing. Tools write
/// `globs: *.ts`, which isn't YAML, so a block that can't be parsed is read line by line.
fn field(block: &str, name: &str) -> Option<String> {
    let found = match yaml::parse(block) {
        Ok(Some(yaml::Node { value: Value::Mapping(fields), .. })) => {
            let (_, _, node) = fields.into_iter().find(|(key, ..)| key == name)?;
            text_of(node.value)
        }
        _ => block.lines().find_map(|line| {
            let value = strip(line.strip_prefix(name)?.strip_prefix(':')?);
            let quoted =
                ['"', '\''].iter().find_map(|quote| value.strip_prefix(*quote)?.strip_suffix(*quote));
            Some(quoted.unwrap_or(value).to_owned())
        }),
    };
    found.map(|text| collapse(&text)).filter(|text| !text.is_empty())
}

/// Patterns with commas between, each as code: elsewhere their stars would be emphasis. A comma in braces parts nothing.
fn in_backticks(patterns: &str) -> String {
    let mut depth = 0_usize;
    let parts = patterns.split(|c| {
        match c {
            '{' | '[' => depth += 1,
            '}' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let quoted = parts.map(strip).filter(|part| !part.is_empty()).map(|part| match part.contains('`') {
        true => part.to_owned(),
        false => format!("`{part}`"),
    });
    quoted.collect::<Vec<_>>().join(", ")
}

fn text_of(value: Value) -> Option<String> {
    match value {
        Value::Null | Value::Mapping(_) => None,
        Value::Bool(value) => Some(value.to_string()),
        Value::Integer(_, text) | Value::Float(text) | Value::Text(text, _) => Some(text),
        Value::List(items) => {
            let items: Vec<_> = items.into_iter().filter_map(|item| text_of(item.value)).collect();
            Some(items.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, kind: NoteKind, description: Option<&str>, patterns: Option<&str>) {
        let path = RelPath::new(path).unwrap();
        let rule = Rule::read(&path, text);
        assert_eq!(
            (rule.kind, rule.description.as_deref(), rule.patterns.as_deref()),
            (kind, description, patterns)
        );
    }

    #[test]
    fn what_tools_write() {
        use NoteKind::{Core, Reference};
        check("a.md", "# A\n", Core, None, None);
        check(
            "a.mdc",
            "---\ndescription: D: x\nglobs: *.ts,*.tsx\nalwaysApply: false\n---\nx\n",
            Reference,
            Some("D: x"),
            Some("`*.ts`, `*.tsx`"),
        );
        check("a.mdc", "---\ndescription:\nglobs:\nalwaysApply: true\n---\nx\n", Core, None, None);
        check("a.mdc", "---\ndescription: \"On demand\"\n---\nx\n", Reference, Some("On demand"), None);
        check("a.instructions.md", "---\napplyTo: \"**/*.py\"\n---\nx\n", Reference, None, Some("`**/*.py`"));
        check("a.instructions.md", "---\napplyTo: '**'\n---\nx\n", Core, None, None);
        check(
            ".rulesync/rules/a.md",
            "---\nroot: true\ntargets: [\"*\"]\nglobs: [\"**/*\"]\n---\nx\n",
            Core,
            None,
            None,
        );
        check(
            ".rulesync/rules/a.md",
            "---\nroot: false\ntargets: [\"*\"]\nglobs:\n- src/**\n- lib/**\n---\nx\n",
            Reference,
            None,
            Some("`src/**`, `lib/**`"),
        );
        check("AGENTS.md", "---\ntitle: Agents\n---\nx\n", Core, None, None);
    }

    #[test]
    fn patterns_are_code() {
        assert_eq!(in_backticks("*.{ts,tsx}, src/[a,b]*,,x"), "`*.{ts,tsx}`, `src/[a,b]*`, `x`");
    }

    #[test]
    fn text_between_two_rules_is_text() {
        for text in ["---\nA sentence.\n---\nx\n", "---\n---\nx\n", "---\nkey: value\n", "---\n- a: b\n---\n"]
        {
            assert!(Rule::read(&RelPath::new("a.md").unwrap(), text).block.is_none(), "{text}");
        }
    }
}
