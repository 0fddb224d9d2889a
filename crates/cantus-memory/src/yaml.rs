//! Front matter's YAML as a tree with lines: the one place that knows the YAML library.
//!
//! YAML 1.2, core schema. Aliases are followed, but the tree may hold at most [`MOST_NODES`] values, and aliases may
//! write out at most [`MOST_ALIAS_BYTES`] of text, so that no small text becomes a large tree.

use std::collections::BTreeMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span, Tag};

use crate::nearest::shortened;

/// The most values that one front matter may hold, aliases written out.
pub(crate) const MOST_NODES: usize = 10_000;
/// The most bytes of text that the aliases of one front matter may write out.
const MOST_ALIAS_BYTES: usize = 1 << 20;
/// The most levels of lists and mappings in one another.
const DEEPEST: usize = 32;

/// A value and the line on which it starts, counted from 1 within the front matter's own text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    pub(crate) line: u32,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Null,
    Bool(bool),
    /// An integer, and how it was written.
    Integer(i128, String),
    /// A number with a fraction, as it was written.
    Float(String),
    /// Text; whether it was written without quotes.
    Text(String, Quoting),
    List(Vec<Node>),
    Mapping(Vec<(String, u32, Node)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quoting {
    Plain,
    Quoted,
}

impl Node {
    /// The bytes of all text in it.
    fn text_bytes(&self) -> usize {
        match &self.value {
            Value::Null | Value::Bool(_) => 0,
            Value::Integer(_, text) | Value::Float(text) | Value::Text(text, _) => text.len(),
            Value::List(items) => items.iter().map(Self::text_bytes).sum(),
            Value::Mapping(entries) => {
                entries.iter().map(|(key, _, node)| key.len() + node.text_bytes()).sum()
            }
        }
    }
}

impl Value {
    /// What a person calls it.
    pub(crate) fn describe(&self) -> String {
        match self {
            Self::Null => "nothing".to_owned(),
            Self::Bool(value) => format!("the truth value `{value}`"),
            Self::Integer(_, text) | Self::Float(text) => format!("the number `{}`", shortened(text)),
            Self::Text(text, Quoting::Quoted) if text.chars().count() <= 40 => {
                format!("the quoted text `{text}`")
            }
            Self::Text(text, _) if text.chars().count() <= 40 => format!("`{text}`"),
            Self::Text(..) => "a text".to_owned(),
            Self::List(_) => "a list".to_owned(),
            Self::Mapping(_) => "a mapping".to_owned(),
        }
    }
}

/// Why there is no tree.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct YamlError {
    pub(crate) line: u32,
    pub(crate) message: String,
    pub(crate) kind: YamlFault,
}

/// What a text lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum YamlFault {
    /// It isn't YAML.
    Form,
    /// It is, and says something that isn't taken.
    Content,
}

impl YamlError {
    fn new(span: Span, message: impl Into<String>) -> Self {
        Self { line: line_of(span), message: message.into(), kind: YamlFault::Content }
    }
}

impl From<ScanError> for YamlError {
    fn from(error: ScanError) -> Self {
        let is_limit = error.info().contains("limit exceeded");
        Self {
            line: u32::try_from(error.marker().line()).unwrap_or(u32::MAX).max(1),
            message: format!("not valid YAML: {}", error.info()),
            kind: if is_limit { YamlFault::Content } else { YamlFault::Form },
        }
    }
}

fn line_of(span: Span) -> u32 {
    u32::try_from(span.start.line()).unwrap_or(u32::MAX).max(1)
}

/// The one document that `text` holds; `None` if it holds nothing.
pub(crate) fn parse(text: &str) -> Result<Option<Node>, YamlError> {
    match simple(text) {
        Some(node) => Ok(Some(node)),
        None => parse_events(text),
    }
}

/// What nearly every note has: lines of `key: value` whose values are plain ASCII words, quoted without an escape, or a list or
/// mapping of plain words in brackets. They need no YAML parser, which costs more than reading the note. `None` for everything
/// else, and for every fault.
fn simple(text: &str) -> Option<Node> {
    const MOST_LINES: usize = 32;
    const LONGEST_KEY: usize = 64;
    let mut entries: Vec<(String, u32, Node)> = Vec::new();
    for (line, content) in (1..).zip(text.strip_suffix('\n')?.split('\n')) {
        let (key, value) = simple_pair(content)?;
        if key.len() > LONGEST_KEY || entries.len() == MOST_LINES {
            return None;
        }
        simple_entry(&mut entries, key, line, simple_value(value, line)?)?;
    }
    Some(Node { value: Value::Mapping(entries), line: 1 })
}

/// A key, which holds no colon, and what stands behind its colon and blank.
fn simple_pair(text: &str) -> Option<(&str, &str)> {
    let (key, value) = text.split_once(':')?;
    Some((key, value.strip_prefix(' ')?))
}

/// Adds an entry to a mapping; `None` for a key that isn't a name of its own.
fn simple_entry(entries: &mut Vec<(String, u32, Node)>, key: &str, line: u32, value: Value) -> Option<()> {
    let is_name = !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is_known = || entries.iter().any(|(other, ..)| other == key);
    if !is_name || resolved(key).is_some() || is_known() {
        return None;
    }
    entries.push((key.to_owned(), line, Node { value, line }));
    Some(())
}

/// The words between brackets, on one line.
fn simple_words(inside: &str) -> impl Iterator<Item = &str> {
    inside.split(',').map(|word| word.trim_matches(' '))
}

/// A word between brackets that can be nothing else.
fn simple_word(word: &str) -> Option<Value> {
    let is_plain =
        |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'_' | b'-' | b'.' | b'/');
    let starts = word.starts_with(|c: char| c.is_ascii_alphanumeric());
    // A dash that begins a word of several has a meaning of its own.
    (starts && word.bytes().all(is_plain) && !word.contains(" -")).then(|| plain(word))
}

/// A list or a mapping of plain words in brackets.
fn simple_flow(value: &str, line: u32) -> Option<Value> {
    const LONGEST: usize = 1_000;
    if value.len() > LONGEST {
        return None;
    }
    if let Some(inside) = value.strip_prefix('[') {
        let words = simple_words(inside.strip_suffix(']')?);
        let nodes = words.map(|word| Some(Node { value: simple_word(word)?, line }));
        return Some(Value::List(nodes.collect::<Option<_>>()?));
    }
    let mut entries = Vec::new();
    for word in simple_words(value.strip_prefix('{')?.strip_suffix('}')?) {
        let (key, value) = simple_pair(word)?;
        simple_entry(&mut entries, key, line, simple_word(value)?)?;
    }
    Some(Value::Mapping(entries))
}

fn simple_value(value: &str, line: u32) -> Option<Value> {
    if value.starts_with(['[', '{']) {
        return simple_flow(value, line);
    }
    if !value.bytes().all(|byte| byte == b' ' || byte.is_ascii_graphic()) {
        return None;
    }
    for quote in ['"', '\''] {
        if let Some(inside) = value.strip_prefix(quote) {
            let inside = inside.strip_suffix(quote)?;
            return (!inside.contains([quote, '\\']))
                .then(|| Value::Text(inside.to_owned(), Quoting::Quoted));
        }
    }
    let is_plain = value.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !value.ends_with([' ', ':'])
        && !value.contains(": ")
        && !value.contains(" #");
    is_plain.then(|| plain(value))
}

fn parse_events(text: &str) -> Result<Option<Node>, YamlError> {
    let mut builder = Builder::default();
    let mut documents = 0;
    for event in Parser::new_from_str(text) {
        let (event, span) = event?;
        if matches!(event, Event::DocumentStart(_)) {
            documents += 1;
            if documents > 1 {
                return Err(YamlError::new(span, "a second YAML document starts here: expected one mapping"));
            }
        }
        builder.take(event, span)?;
    }
    Ok(builder.root)
}

#[derive(Default)]
struct Builder {
    root: Option<Node>,
    open: Vec<Open>,
    anchors: BTreeMap<usize, (Node, usize)>,
    nodes: usize,
    alias_bytes: usize,
}

struct Open {
    anchor: usize,
    line: u32,
    nodes_before: usize,
    kind: OpenKind,
}

enum OpenKind {
    List(Vec<Node>),
    Mapping { entries: Vec<(String, u32, Node)>, key: Option<(String, u32)> },
}

impl Builder {
    fn take(&mut self, event: Event<'_>, span: Span) -> Result<(), YamlError> {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let value = scalar(&text, style, tag.as_deref(), span)?;
                self.count(1, span)?;
                self.add(Node { value, line: line_of(span) }, anchor, 1, span)
            }
            Event::SequenceStart(anchor, _) => self.start(anchor, OpenKind::List(Vec::new()), span),
            Event::MappingStart(anchor, _) => {
                self.start(anchor, OpenKind::Mapping { entries: Vec::new(), key: None }, span)
            }
            Event::SequenceEnd | Event::MappingEnd => self.end(span),
            Event::Alias(id) => {
                let Some((node, size)) = self.anchors.get(&id).map(|(node, size)| (node, *size)) else {
                    return Err(YamlError::new(span, "an alias that names no finished value"));
                };
                if self.nodes + size > MOST_NODES {
                    return Err(too_many(span));
                }
                self.alias_bytes += node.text_bytes();
                if self.alias_bytes > MOST_ALIAS_BYTES {
                    let message =
                        format!("more than {MOST_ALIAS_BYTES} bytes of text written out by aliases");
                    return Err(YamlError::new(span, message));
                }
                let node = node.clone();
                self.nodes += size;
                self.add(node, 0, size, span)
            }
            _ => Ok(()),
        }
    }

    fn count(&mut self, nodes: usize, span: Span) -> Result<(), YamlError> {
        self.nodes += nodes;
        if self.nodes > MOST_NODES { Err(too_many(span)) } else { Ok(()) }
    }

    fn start(&mut self, anchor: usize, kind: OpenKind, span: Span) -> Result<(), YamlError> {
        if self.open.len() >= DEEPEST {
            return Err(YamlError::new(span, format!("more than {DEEPEST} levels of lists and mappings")));
        }
        self.count(1, span)?;
        self.open.push(Open { anchor, line: line_of(span), nodes_before: self.nodes - 1, kind });
        Ok(())
    }

    fn end(&mut self, span: Span) -> Result<(), YamlError> {
        let Some(open) = self.open.pop() else { return Ok(()) };
        let value = match open.kind {
            OpenKind::List(items) => Value::List(items),
            OpenKind::Mapping { entries, .. } => Value::Mapping(entries),
        };
        self.add(Node { value, line: open.line }, open.anchor, self.nodes - open.nodes_before, span)
    }

    /// Puts a finished value of `size` nodes where it belongs.
    fn add(&mut self, node: Node, anchor: usize, size: usize, span: Span) -> Result<(), YamlError> {
        if anchor > 0 {
            self.anchors.insert(anchor, (node.clone(), size));
        }
        match self.open.last_mut().map(|open| &mut open.kind) {
            None => self.root = Some(node),
            Some(OpenKind::List(items)) => items.push(node),
            Some(OpenKind::Mapping { entries, key }) => match key.take() {
                Some((name, line)) => entries.push((name, line, node)),
                None => *key = Some((key_text(&node, entries, span)?, node.line)),
            },
        }
        Ok(())
    }
}

fn too_many(span: Span) -> YamlError {
    YamlError::new(span, format!("more than {MOST_NODES} values, aliases written out"))
}

fn key_text(node: &Node, entries: &[(String, u32, Node)], span: Span) -> Result<String, YamlError> {
    let Value::Text(name, _) = &node.value else {
        return Err(YamlError::new(span, format!("a key must be text, not {}", node.value.describe())));
    };
    match entries.iter().find(|(other, ..)| other == name) {
        Some((_, line, _)) => Err(YamlError {
            line: node.line,
            message: format!("the key `{name}` stands on line {} already", line + 1),
            kind: YamlFault::Content,
        }),
        None => Ok(name.clone()),
    }
}

fn scalar(text: &str, style: ScalarStyle, tag: Option<&Tag>, span: Span) -> Result<Value, YamlError> {
    let quoting = if style == ScalarStyle::Plain { Quoting::Plain } else { Quoting::Quoted };
    match tag {
        None if quoting == Quoting::Plain => Ok(plain(text)),
        None => Ok(Value::Text(text.to_owned(), quoting)),
        Some(tag) if tag.is_yaml_core_schema() && tag.suffix == "str" => {
            Ok(Value::Text(text.to_owned(), Quoting::Quoted))
        }
        Some(tag) if tag.is_yaml_core_schema() => Ok(plain(text)),
        Some(tag) => Err(YamlError::new(span, format!("the tag `{tag}` is not known here"))),
    }
}

/// What a word without quotes stands for, if not for itself or a number.
fn resolved(text: &str) -> Option<Value> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Some(Value::Null),
        "true" | "True" | "TRUE" => Some(Value::Bool(true)),
        "false" | "False" | "FALSE" => Some(Value::Bool(false)),
        _ => None,
    }
}

/// A scalar without quotes in the core schema of YAML 1.2.
fn plain(text: &str) -> Value {
    if let Some(value) = resolved(text) {
        return value;
    }
    if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.')) {
        return Value::Text(text.to_owned(), Quoting::Plain);
    }
    if let Some(number) = integer(text) {
        return Value::Integer(number, text.to_owned());
    }
    if is_float(text) {
        return Value::Float(text.to_owned());
    }
    Value::Text(text.to_owned(), Quoting::Plain)
}

fn integer(text: &str) -> Option<i128> {
    if let Some(digits) = text.strip_prefix("0o") {
        return i128::from_str_radix(digits, 8).ok().filter(|_| !digits.starts_with(['+', '-']));
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return i128::from_str_radix(digits, 16).ok().filter(|_| !digits.starts_with(['+', '-']));
    }
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()))
        .then(|| text.parse().unwrap_or(if text.starts_with('-') { i128::MIN } else { i128::MAX }))
}

fn is_float(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(unsigned, ".inf" | ".Inf" | ".INF")
        || matches!(text, ".nan" | ".NaN" | ".NAN")
        || (unsigned
            .bytes()
            .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-'))
            && unsigned.starts_with(|c: char| c.is_ascii_digit() || c == '.')
            && text.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Value {
        let Some(Node { value: Value::Mapping(mut entries), .. }) = parse(&format!("k: {text}")).unwrap()
        else {
            panic!("no mapping");
        };
        entries.remove(0).2.value
    }

    #[test]
    fn the_core_schema_of_1_2() {
        assert_eq!(value("true"), Value::Bool(true));
        assert_eq!(value("yes"), Value::Text("yes".into(), Quoting::Plain));
        assert_eq!(value("010"), Value::Integer(10, "010".into()));
        assert_eq!(value("0o10"), Value::Integer(8, "0o10".into()));
        assert_eq!(value("1_000"), Value::Text("1_000".into(), Quoting::Plain));
        assert_eq!(value("1:30"), Value::Text("1:30".into(), Quoting::Plain));
        assert_eq!(value("5.0"), Value::Float("5.0".into()));
        assert_eq!(value("1e2"), Value::Float("1e2".into()));
        assert_eq!(value("2024-13-45"), Value::Text("2024-13-45".into(), Quoting::Plain));
        assert_eq!(value("\"5\""), Value::Text("5".into(), Quoting::Quoted));
        assert_eq!(value("!!str 5"), Value::Text("5".into(), Quoting::Quoted));
        assert_eq!(value(""), Value::Null);
    }

    #[track_caller]
    fn check_error(text: &str, line: u32, part: &str) {
        let error = parse(text).unwrap_err();
        assert_eq!(error.line, line, "{error:?}");
        assert!(error.message.contains(part), "{error:?}");
    }

    #[test]
    fn faults_name_their_line() {
        check_error("a: 1\nb: [\n", 3, "not valid YAML");
        check_error("a: 1\nb: 2\na: 3\n", 3, "the key `a` stands on line 2 already");
        check_error("a: 1\n--- \nb: 1\n", 2, "a second YAML document");
        check_error("a: !python/object x\n", 1, "tag");
        check_error("5: x\n", 1, "a key must be text");
    }

    #[test]
    fn aliases_are_written_out() {
        let node = parse("a: &x [1, 2]\nb: *x\n").unwrap().unwrap();
        let Value::Mapping(entries) = node.value else { panic!("no mapping") };
        assert_eq!(entries[0].2.value, entries[1].2.value);
    }

    #[test]
    fn an_alias_bomb_is_bounded() {
        let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
        for level in 1..40 {
            let previous = format!("*a{}, ", level - 1).repeat(10);
            bomb.push_str(&format!("a{level}: &a{level} [{previous}]\n"));
        }
        let error = parse(&bomb).unwrap_err();
        assert!(error.message.contains("more than 10000 values"), "{error:?}");
    }

    #[rustfmt::skip]
    const VALUES: &[&str] = &[
        "core", "a b  c", "5", "010", "true", "~", "null", "a: b", "a #b", "a#b", "a:b", "a:", "a ", "\"x y\"", "\"x\\n\"", "'it''s'", "'x'", "'a\\b'", "[a]", "- a", "&x y", "*x", "!t x", "|", "> x", "@x", "%x", "é", "1.5", "1e3", "0x1f", "a, b", "a] b}", "\"x\" y", "'x' #c", "?", "a\tb", "...", "---", "<<", "=", "a\"b", "2024-01-01", ".5", "",
        "[a, b]", "[ a b ,c ]", "[]", "[ ]", "[a,]", "[,a]", "[a", "a]", "[a] b", "[a] ", "[a: b]", "[a:b]", "[5, 010, 1.5, true, ~, null]", "[a, [b]]", "[a b, a-b, a_b, a/b.md]", "[-, - a, -a]", "['a', b]", "[a#b, a #b]", "[a\tb]",
        "{a: b}", "{a: b, c: 5}", "{ a: b c , d: e }", "{}", "{a: b,}", "{a: b, a: c}", "{a}", "{a: }", "{a:b}", "{A: b}", "{a: b: c}", "{a: [b]}", "{null: a}", "{a: b} c", "{status: accepted, decided: 2026-11-30}", "{a: true, b: 1e3}", "{a: b", "[a}",
    ];

    #[test]
    fn the_short_way_gives_what_the_parser_gives() {
        let mut short = 0;
        for value in VALUES {
            for text in [
                format!("type: {value}\n"),
                format!("type: core\ndescription: {value}\npriority: 3\n"),
                format!("{value}: x\n"),
            ] {
                if let Some(node) = simple(&text) {
                    short += 1;
                    assert_eq!(parse_events(&text), Ok(Some(node)), "{text:?}");
                }
            }
        }
        assert!(short > 30, "{short}");
    }

    proptest::proptest! {
        #![proptest_config(cantus_testkit::cases(4_000))]

        #[test]
        fn whatever_takes_the_short_way_is_what_the_parser_says(
            value in "[ab5 ,:._/#'\"{}\\[\\]~-]{0,10}|\\[[ab5 ,:._-]{0,8}\\]|\\{[ab]: [ab5 ,:._-]{0,8}\\}",
        ) {
            let text = format!("key: {value}\n");
            if let Some(node) = simple(&text) {
                proptest::prop_assert_eq!(parse_events(&text), Ok(Some(node)));
            }
        }
    }

    #[test]
    fn an_alias_bomb_of_long_texts_is_bounded() {
        let bomb = |aliases| format!("a: &x {}\nb: [{}]\n", "x".repeat(1 << 10), "*x, ".repeat(aliases));
        assert!(parse(&bomb(1 << 10)).is_ok());
        let error = parse(&bomb((1 << 10) + 1)).unwrap_err();
        assert!(error.message.contains("more than 1048576 bytes of text"), "{error:?}");
    }

    #[test]
    fn many_lines_and_long_keys_do_not_take_the_short_way() {
        let keys: Vec<_> = (0..33).map(|n| format!("k{}: v\n", "x".repeat(n))).collect();
        assert!(simple(&keys[..32].concat()).is_some());
        assert!(simple(&keys.concat()).is_none());
        assert!(simple(&format!("{}: v\n", "x".repeat(64))).is_some());
        assert!(simple(&format!("{}: v\n", "x".repeat(65))).is_none());
    }

    #[test]
    fn deep_nesting_is_bounded() {
        let nested = |levels| format!("a: {}{}\n", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(DEEPEST - 1)).is_ok());
        assert!(parse(&nested(DEEPEST)).unwrap_err().message.contains("more than 32 levels"));
        assert!(parse(&nested(100_000)).is_err());
    }
}
