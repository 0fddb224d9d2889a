//! KDL, read strictly: strings and booleans, each node at its line, nothing that nobody asked for.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use crate::faults::Faults;
use crate::syntax::{self, Raw, RawEntry, RawValue, Typed};

/// The most bytes that a text may have.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// A node with what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) name: String,
    /// Counted from 1.
    pub(crate) line: u32,
    pub(crate) args: Vec<String>,
    pub(crate) props: Vec<(String, Value)>,
    /// `None` without a block, which may also be empty.
    pub(crate) block: Option<Vec<Self>>,
}

/// What a property may be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Text(String),
    Flag(bool),
}

/// What a node may have.
pub(crate) struct Shape {
    pub(crate) args: RangeInclusive<usize>,
    pub(crate) props: &'static [&'static str],
    /// `None` if it may have no block.
    pub(crate) children: Option<&'static [&'static str]>,
}

impl Shape {
    /// One argument and nothing else.
    pub(crate) const NAME: Self = Self { args: 1..=1, props: &[], children: None };
    /// Arguments, one at least, and nothing else.
    pub(crate) const NAMES: Self = Self { args: 1..=usize::MAX, props: &[], children: None };
}

/// The nodes of a text; `None` if it is no KDL or says more than strings and booleans.
pub(crate) fn read(bytes: &[u8], faults: &mut Faults<'_>) -> Option<Vec<Node>> {
    if bytes.len() > MOST_BYTES {
        faults.add(format!("{} bytes are more than the {MOST_BYTES} allowed", bytes.len()));
        return None;
    }
    let Ok(text) = std::str::from_utf8(bytes) else {
        faults.add("not UTF-8; save it as UTF-8");
        return None;
    };
    match syntax::parse(text) {
        Ok(nodes) => {
            let before = faults.count();
            let nodes = nodes.into_iter().map(|raw| node(raw, faults)).collect();
            (faults.count() == before).then_some(nodes)
        }
        Err(error) => {
            let help = "the text is KDL 2: `name \"text\" key=\"text\" flag=#true { … }`";
            faults.help(error.line, error.message, help);
            None
        }
    }
}

fn node(raw: Raw, faults: &mut Faults<'_>) -> Node {
    let Raw { name, line, typed, entries, block } = raw;
    if typed == Typed::Yes {
        faults.at(line, format!("`{name}` has a type; expected none"));
    }
    let mut node = Node { name, line, args: Vec::new(), props: Vec::new(), block: None };
    let mut keys = BTreeSet::new();
    for entry in entries {
        if let Some(key) = entry.key.as_ref().filter(|key| !keys.insert((*key).clone())) {
            faults.at(node.line, format!("`{}` says `{key}` twice", node.name));
        }
        put(&mut node, entry, faults);
    }
    node.block = block.map(|block| block.into_iter().map(|raw| self::node(raw, faults)).collect());
    node
}

fn put(node: &mut Node, entry: RawEntry, faults: &mut Faults<'_>) {
    let name = &node.name;
    if entry.typed == Typed::Yes {
        faults.at(node.line, format!("`{name}` has a value with a type; expected none"));
    }
    let Some(key) = entry.key else {
        match entry.value {
            RawValue::Text(text) => node.args.push(text),
            _ => faults.at(node.line, format!("`{name}` has an argument that is no string")),
        }
        return;
    };
    match entry.value {
        RawValue::Text(text) => node.props.push((key, Value::Text(text))),
        RawValue::Flag(flag) => node.props.push((key, Value::Flag(flag))),
        RawValue::Other => {
            faults.at(node.line, format!("`{key}` of `{name}` is neither a string nor `#true` or `#false`"));
        }
    }
}

impl Node {
    /// What stands in its block, if it has one.
    pub(crate) fn children(&self) -> &[Self] {
        self.block.as_deref().unwrap_or_default()
    }

    /// Tells what is there beyond the shape, and what is missing of it; whether it fits.
    pub(crate) fn check(&self, shape: &Shape, faults: &mut Faults<'_>) -> bool {
        let before = faults.count();
        let Self { name, line, .. } = self;
        if !shape.args.contains(&self.args.len()) {
            let expected = match (*shape.args.start(), *shape.args.end()) {
                (0, 0) => "none".to_owned(),
                (least, most) if least == most => least.to_string(),
                (least, _) => format!("{least} or more"),
            };
            faults.at(*line, format!("`{name}` has {} arguments; expected {expected}", self.args.len()));
        }
        if self.args.iter().any(|arg| arg.trim().is_empty()) {
            faults.at(*line, format!("`{name}` has an empty argument"));
        }
        for (key, _) in &self.props {
            if !shape.props.contains(&key.as_str()) {
                faults.at(*line, format!("`{name}` knows no property `{key}`{}", expected(shape.props)));
            }
        }
        match (&self.block, shape.children) {
            (Some(_), None) => faults.at(*line, format!("`{name}` has a block; expected none")),
            (Some(block), Some(known)) => check_names(name, block, known, faults),
            (None, _) => {}
        }
        faults.count() == before
    }

    /// Its first argument, empty if there is none.
    pub(crate) fn first(&self) -> &str {
        self.args.first().map_or("", String::as_str)
    }

    /// A property that is a text, if it is there.
    pub(crate) fn text(&self, key: &str, faults: &mut Faults<'_>) -> Option<String> {
        match self.props.iter().find(|(known, _)| known == key)? {
            (_, Value::Text(text)) if !text.trim().is_empty() => Some(text.clone()),
            (_, Value::Text(_)) => {
                faults.at(self.line, format!("`{key}` of `{}` is empty", self.name));
                None
            }
            (_, Value::Flag(_)) => {
                faults.at(self.line, format!("`{key}` of `{}` is no string", self.name));
                None
            }
        }
    }

    /// A property that is a text and must be there.
    pub(crate) fn need(&self, key: &str, faults: &mut Faults<'_>) -> Option<String> {
        if !self.props.iter().any(|(known, _)| known == key) {
            faults.at(self.line, format!("`{}` needs `{key}=\"…\"`", self.name));
            return None;
        }
        self.text(key, faults)
    }

    /// A property that is `#true` or `#false`; `#false` if it is absent.
    pub(crate) fn flag(&self, key: &str, faults: &mut Faults<'_>) -> bool {
        match self.props.iter().find(|(known, _)| known == key) {
            None => false,
            Some((_, Value::Flag(flag))) => *flag,
            Some((_, Value::Text(_))) => {
                faults.at(self.line, format!("`{key}` of `{}` is neither `#true` nor `#false`", self.name));
                false
            }
        }
    }
}

/// Tells the nodes of a block that nobody knows.
fn check_names(parent: &str, block: &[Node], known: &[&str], faults: &mut Faults<'_>) {
    for node in block.iter().filter(|node| !known.contains(&node.name.as_str())) {
        faults.at(node.line, format!("`{parent}` knows no `{}`{}", node.name, expected(known)));
    }
}

fn expected(known: &[&str]) -> String {
    if known.is_empty() {
        return "; expected none".to_owned();
    }
    format!("; expected one of `{}`", known.join("`, `"))
}

/// The one node called `name`, more of which are a fault; `None` if there is none.
pub(crate) fn single<'n>(nodes: &'n [Node], name: &str, faults: &mut Faults<'_>) -> Option<&'n Node> {
    let mut named = nodes.iter().filter(|node| node.name == name);
    let first = named.next()?;
    for again in named {
        faults.at(again.line, format!("a second `{name}`; one is enough"));
    }
    Some(first)
}

/// The one node of a text, which must be called one of `names`.
pub(crate) fn only<'n>(nodes: &'n [Node], names: &[&str], faults: &mut Faults<'_>) -> Option<&'n Node> {
    if let [node] = nodes
        && names.contains(&node.name.as_str())
    {
        return Some(node);
    }
    let stray = nodes.iter().filter(|node| !names.contains(&node.name.as_str())).chain(nodes.get(1)).next();
    let names = names.join("` or `");
    faults
        .at(stray.map_or(0, |node| node.line), format!("expected one node `{names}` and no other beside it"));
    None
}

/// What the one node `name` with one argument says.
pub(crate) fn word<'n>(nodes: &'n [Node], name: &str, faults: &mut Faults<'_>) -> Option<&'n str> {
    let node = single(nodes, name, faults)?;
    node.check(&Shape::NAME, faults).then(|| node.first())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        let nodes = read(text.as_bytes(), &mut Faults::new("x", "f", &mut found));
        assert_eq!(nodes.is_some(), expected.is_empty(), "{found:?}");
        let found: Vec<_> = found.iter().map(|fault| fault.to_string()).collect();
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.starts_with(expected), "{found}");
        }
        assert_eq!(found.len(), expected.len(), "{found:?}");
    }

    #[test]
    fn strings_and_booleans_alone() {
        check("a b \"c\" k=d f=#true {\n  e #\"raw \"x\"\"#; g\n}\n/- h 7\n// z", &[]);
        check("a 7\nb k=#null", &["f:1: error: `a` has an argument", "f:2: error: `k` of `b`"]);
        check("\n(t)a\nb (t)c", &["f:2: error: `a` has a type", "f:3: error: `b` has a value with a type"]);
        check("a k=x k=y", &["f:1: error: `a` says `k` twice"]);
    }

    #[test]
    fn broken_texts() {
        check("\na {\n", &["f:3: error: a block is not closed"]);
        check("a\nb true", &["f:2: error: `true` is written `#true`"]);
        check(&"x".repeat(MOST_BYTES + 1), &["f: error: 1048577 bytes"]);
        check("a \u{202e}", &["f:1: error: U+202E may not stand in KDL"]);
    }

    #[test]
    fn no_text_ends_the_program() {
        for part in ["a {", "/*", "}", "/-", "a {}", "\"", "a=", " {}", "(", "\\", "/-{}", "#", "a\n}"] {
            let text = format!("a {}", part.repeat(50_000));
            let mut found = Vec::new();
            read(text.as_bytes(), &mut Faults::new("x", "f", &mut found));
            assert_eq!(found.is_empty(), part == "/-{}", "{part}");
        }
    }

    #[test]
    fn lines_of_nodes() {
        let mut found = Vec::new();
        let nodes = read(b"// c\n\na {\n\n  b\n}\n", &mut Faults::new("x", "f", &mut found)).unwrap();
        assert_eq!((nodes[0].line, nodes[0].children()[0].line), (3, 5));
    }
}
