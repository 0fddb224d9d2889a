//! KDL, read strictly: strings and booleans, each node at its line, nothing that nobody asked for.

use std::ops::RangeInclusive;

use kdl::{KdlDocument, KdlEntry, KdlNode};

use crate::faults::Faults;

/// The most bytes that a text may have.
pub(crate) const MOST_BYTES: usize = 1 << 20;
/// How deep blocks and comments may lie in each other.
const DEEPEST: usize = 64;

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
    if is_too_deep(text) {
        faults.add(format!("blocks or comments lie more than {DEEPEST} deep in each other"));
        return None;
    }
    match KdlDocument::parse_v2(text) {
        Ok(document) => {
            let before = faults.count();
            let nodes = nodes(text, &document, faults);
            (faults.count() == before).then_some(nodes)
        }
        Err(error) => {
            // What comes behind the first error is mostly a consequence of it.
            let first = error.diagnostics.first();
            let said = first.and_then(|first| first.message.as_deref().or(first.label.as_deref()));
            let said = said.unwrap_or("it can't be parsed").trim_end_matches('.').replace('\n', " ");
            let at = first.map_or(0, |first| line(text, first.span.offset()));
            let help = "the text is KDL 2: `name \"text\" key=\"text\" flag=#true { … }`";
            faults.help(at, format!("broken KDL: {said}"), help);
            None
        }
    }
}

/// The parser calls itself for each block and each comment in a comment.
fn is_too_deep(text: &str) -> bool {
    let deepest = |open: &str, close: &str| {
        let mut marks: Vec<_> = text.match_indices(open).map(|(at, _)| (at, true)).collect();
        marks.extend(text.match_indices(close).map(|(at, _)| (at, false)));
        marks.sort_unstable();
        let mut depth: usize = 0;
        marks.into_iter().any(|(_, opens)| {
            depth = if opens { depth + 1 } else { depth.saturating_sub(1) };
            depth > DEEPEST
        })
    };
    deepest("{", "}") || deepest("/*", "*/")
}

fn line(text: &str, offset: usize) -> u32 {
    let before = &text.as_bytes()[..offset.min(text.len())];
    let count = before.iter().filter(|byte| **byte == b'\n').count();
    u32::try_from(count + 1).unwrap_or(u32::MAX)
}

fn nodes(text: &str, document: &KdlDocument, faults: &mut Faults<'_>) -> Vec<Node> {
    document.nodes().iter().map(|found| node(text, found, faults)).collect()
}

fn node(text: &str, found: &KdlNode, faults: &mut Faults<'_>) -> Node {
    let line = line(text, found.name().span().offset());
    let name = found.name().value().to_owned();
    if found.ty().is_some() {
        faults.at(line, format!("`{name}` has a type; expected none"));
    }
    let mut node = Node { name, line, args: Vec::new(), props: Vec::new(), block: None };
    for entry in found.entries() {
        put(&mut node, entry, faults);
    }
    node.block = found.children().map(|block| nodes(text, block, faults));
    node
}

fn put(node: &mut Node, entry: &KdlEntry, faults: &mut Faults<'_>) {
    let name = &node.name;
    if entry.ty().is_some() {
        faults.at(node.line, format!("`{name}` has a value with a type; expected none"));
    }
    let text = entry.value().as_string().map(str::to_owned);
    let Some(key) = entry.name() else {
        match text {
            Some(text) => node.args.push(text),
            None => faults.at(node.line, format!("`{name}` has an argument that is no string")),
        }
        return;
    };
    let key = key.value().to_owned();
    if node.props.iter().any(|(known, _)| *known == key) {
        faults.at(node.line, format!("`{name}` says `{key}` twice"));
    }
    match (text, entry.value().as_bool()) {
        (Some(text), _) => node.props.push((key, Value::Text(text))),
        (None, Some(flag)) => node.props.push((key, Value::Flag(flag))),
        (None, None) => {
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
        check("\na {\n", &["f:2: error: broken KDL"]);
        check(&"a {".repeat(100_000), &["f: error: blocks or comments"]);
        check(&"/*".repeat(100_000), &["f: error: blocks or comments"]);
        check(&"x".repeat(MOST_BYTES + 1), &["f: error: 1048577 bytes"]);
    }

    #[test]
    fn lines_of_nodes() {
        let mut found = Vec::new();
        let nodes = read(b"// c\n\na {\n\n  b\n}\n", &mut Faults::new("x", "f", &mut found)).unwrap();
        assert_eq!((nodes[0].line, nodes[0].children()[0].line), (3, 5));
    }
}
