//! A compose request: which role, delivered how, from which sources.

use std::collections::BTreeSet;

use cantus_manifest::{Diagnostic, Outcome};

use crate::faults::Faults;
use crate::manifest::{Mode, Tier};
use crate::names::SourceId;
use crate::node::{self, Node, Shape, single};
use crate::relative::Relative;

/// The built-in roster, which a request may name as a library of personalities.
pub const BUILT_IN: &str = "roster:cantus";
/// The roster of another tool, which is not here.
const FOREIGN: &str = "roster:core";

const KNOWN: &[&str] = &[
    "role",
    "delivery",
    "model-tier",
    "person-source",
    "person-policy",
    "personality-library",
    "identity",
    "boundary-omit",
    "source",
    "density",
    "base",
];

/// A request as its text says it; nothing is looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// What its user calls its text, for findings.
    pub name: String,
    /// The role's slug.
    pub role: String,
    /// How the bundle is delivered.
    pub delivery: Mode,
    /// The lane of compatibility.
    pub tier: Tier,
    /// The person package that takes the place of the built-in roster.
    pub person: Option<Relative>,
    /// Whether the built-in roster must not help out.
    pub policy: Policy,
    /// Packages that lend personalities and boundaries, in order.
    pub libraries: Vec<Library>,
    /// The name that the role and each of its seats go by instead of their own.
    pub identity: Option<Named>,
    /// Boundaries that are left out.
    pub omitted: Vec<String>,
    /// The sources, in order.
    pub sources: Vec<SourceRequest>,
    /// The Cantus render that leads the instructions.
    pub base: Option<String>,
    /// Where the text says what.
    pub lines: Lines,
}

/// The lines of a request's nodes, counted from 1; 0 is that of a node that isn't there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lines {
    /// Of `role`.
    pub role: u32,
    /// Of `model-tier`.
    pub tier: u32,
    /// Of `base`.
    pub base: u32,
    /// Of the `boundary-omit` of each of [`Request::omitted`].
    pub omitted: Vec<u32>,
}

/// Which person package may be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// The built-in roster, if no other is named.
    #[default]
    Any,
    /// The named one alone.
    ExternalOnly,
}

/// A package that lends what it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Library {
    /// The built-in roster, of which personalities are lent alone.
    BuiltIn,
    /// A folder.
    Folder(Relative),
}

/// A name with the pronouns that go with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The pronouns.
    pub pronouns: String,
}

/// A source that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceRequest {
    /// Its id.
    pub id: SourceId,
    /// Where it is.
    pub place: Place,
    /// Whether its absence is a fault.
    pub need: Need,
    /// The line that names it.
    pub line: u32,
}

/// Where a source is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file that declares what there is.
    Declaration(Relative),
    /// A folder that is looked through.
    Root(Relative),
}

/// Whether something may be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Need {
    /// It may.
    #[default]
    Optional,
    /// It may not.
    Required,
}

impl Need {
    pub(crate) fn of(node: &Node, faults: &mut Faults<'_>) -> Self {
        if node.flag("required", faults) { Self::Required } else { Self::Optional }
    }
}

impl Request {
    /// The request of a role of the built-in roster and nothing else.
    #[must_use]
    pub fn for_role(role: &str) -> Self {
        Self {
            name: "the request".to_owned(),
            role: role.to_owned(),
            delivery: Mode::NativeSkills,
            tier: Tier::default(),
            person: None,
            policy: Policy::Any,
            libraries: Vec::new(),
            identity: None,
            omitted: Vec::new(),
            sources: Vec::new(),
            base: None,
            lines: Lines::default(),
        }
    }

    /// The folder that its paths start at, as its user calls it; empty if that is the working folder.
    pub(crate) fn folder(&self) -> String {
        std::path::Path::new(&self.name)
            .parent()
            .map_or_else(String::new, |folder| folder.display().to_string())
    }

    /// The line that names the source `id`; 0 if none does.
    pub(crate) fn line_of(&self, id: &SourceId) -> u32 {
        self.sources.iter().find(|source| source.id == *id).map_or(0, |source| source.line)
    }

    /// Reads the text of a request, `name` being what its user calls it. Without a value something is wrong.
    #[must_use]
    pub fn read(name: &str, text: &[u8]) -> Outcome<Option<Self>> {
        let mut diagnostics: Vec<Diagnostic> = Vec::new();
        let mut faults = Faults::new("bundle.request", name, &mut diagnostics);
        let value = node::read(text, &mut faults).and_then(|nodes| request(name, &nodes, &mut faults));
        Outcome { value: value.filter(|_| diagnostics.is_empty()), diagnostics }
    }
}

fn request(name: &str, nodes: &[Node], faults: &mut Faults<'_>) -> Option<Request> {
    let compose = node::only(nodes, &["compose"], faults)?;
    compose.check(&Shape { args: 0..=0, props: &[], children: Some(KNOWN) }, faults);
    let nodes = compose.children();
    if let Some(density) = node::word(nodes, "density", faults).filter(|density| *density != "full") {
        faults.at(compose.line, format!("no density is called `{density}`; expected `full`, or none"));
    }
    let person = node::word(nodes, "person-source", faults).and_then(|path| {
        Relative::new(path).map_err(|fault| faults.at(line(nodes, "person-source"), fault)).ok()
    });
    let policy = policy(nodes, person.is_some(), faults);
    let libraries = libraries(nodes, person.is_some(), faults);
    let identity = single(nodes, "identity", faults).and_then(|node| identity(node, faults));
    let tier = word_as(nodes, "model-tier", Tier::named, "`frontier`, `commodity` or `oss`", faults);
    let delivery = word_as(nodes, "delivery", Mode::named, "`native-skills` or `compiled`", faults);
    let role = node::word(nodes, "role", faults);
    for name in ["role", "delivery"] {
        if !nodes.iter().any(|node| node.name == name) {
            faults.at(compose.line, format!("`compose` needs `{name} \"…\"`"));
        }
    }
    let ((omitted, omitted_at), sources) = (omitted(nodes, faults), sources(nodes, faults));
    let lines = Lines {
        role: line(nodes, "role"),
        tier: line(nodes, "model-tier"),
        base: line(nodes, "base"),
        omitted: omitted_at,
    };
    let base = node::word(nodes, "base", faults).map(str::to_owned);
    let (role, delivery) = (role?.to_owned(), delivery?);
    let tier = tier.unwrap_or_default();
    let name = name.to_owned();
    Some(Request {
        name,
        role,
        delivery,
        tier,
        person,
        policy,
        libraries,
        identity,
        omitted,
        sources,
        base,
        lines,
    })
}

fn line(nodes: &[Node], name: &str) -> u32 {
    nodes.iter().find(|node| node.name == name).map_or(0, |node| node.line)
}

fn word_as<T>(
    nodes: &[Node],
    name: &str,
    named: impl Fn(&str) -> Option<T>,
    expected: &str,
    faults: &mut Faults<'_>,
) -> Option<T> {
    let word = node::word(nodes, name, faults)?;
    let value = named(word);
    if value.is_none() {
        faults
            .at(line(nodes, name), format!("no `{name}` is `{}`; expected {expected}", word.escape_debug()));
    }
    value
}

fn policy(nodes: &[Node], has_person: bool, faults: &mut Faults<'_>) -> Policy {
    let named = |word: &str| (word == "external-only").then_some(Policy::ExternalOnly);
    let Some(policy) = word_as(nodes, "person-policy", named, "`external-only`, or none", faults) else {
        return Policy::Any;
    };
    if !has_person {
        faults.at(line(nodes, "person-policy"), "`external-only` needs a `person-source` beside it");
    }
    policy
}

fn libraries(nodes: &[Node], has_person: bool, faults: &mut Faults<'_>) -> Vec<Library> {
    let mut libraries = Vec::new();
    for node in nodes.iter().filter(|node| node.name == "personality-library") {
        if !node.check(&Shape::NAME, faults) {
            continue;
        }
        if !has_person {
            faults.at(node.line, "`personality-library` needs a `person-source` beside it");
        }
        let library = match node.first() {
            BUILT_IN => Library::BuiltIn,
            FOREIGN => {
                let message = format!("`{FOREIGN}` is the roster of another tool");
                faults.help(node.line, message, "the built-in one is `roster:cantus`; or name a folder");
                continue;
            }
            path => match Relative::new(path) {
                Ok(path) => Library::Folder(path),
                Err(fault) => {
                    faults.at(node.line, fault);
                    continue;
                }
            },
        };
        if libraries.contains(&library) {
            faults.at(node.line, format!("the library `{}` is named twice", node.first()));
        }
        libraries.push(library);
    }
    libraries
}

/// `name=` and `pronouns=`, both there and neither blank, without blanks around them.
pub(crate) fn identity(node: &Node, faults: &mut Faults<'_>) -> Option<Named> {
    node.check(&Shape { args: 0..=0, props: &["name", "pronouns"], children: None }, faults);
    let (name, pronouns) = (node.need("name", faults), node.need("pronouns", faults));
    let named = Named { name: name?.trim().to_owned(), pronouns: pronouns?.trim().to_owned() };
    if [&named.name, &named.pronouns].into_iter().any(|text| text.contains(char::is_control)) {
        faults.at(node.line, "`identity` has a control character");
    }
    Some(named)
}

/// The boundaries that are left out, and the line of each.
fn omitted(nodes: &[Node], faults: &mut Faults<'_>) -> (Vec<String>, Vec<u32>) {
    let mut seen = BTreeSet::new();
    let (mut omitted, mut lines) = (Vec::new(), Vec::new());
    for node in nodes.iter().filter(|node| node.name == "boundary-omit") {
        node.check(&Shape::NAMES, faults);
        for name in &node.args {
            if !seen.insert(name) {
                faults.at(node.line, format!("the boundary `{}` is omitted twice", name.escape_debug()));
            }
            omitted.push(name.clone());
            lines.push(node.line);
        }
    }
    (omitted, lines)
}

fn sources(nodes: &[Node], faults: &mut Faults<'_>) -> Vec<SourceRequest> {
    let mut seen = BTreeSet::new();
    let mut sources = Vec::new();
    for node in nodes.iter().filter(|node| node.name == "source") {
        let shape = Shape { args: 1..=1, props: &["declaration", "root", "required"], children: None };
        if !node.check(&shape, faults) {
            continue;
        }
        if !seen.insert(node.first()) {
            faults.at(node.line, format!("the source `{}` is named twice", node.first().escape_debug()));
        }
        sources.extend(source(node, faults));
    }
    sources
}

fn source(node: &Node, faults: &mut Faults<'_>) -> Option<SourceRequest> {
    let need = Need::of(node, faults);
    let mut path = |key: &str| {
        let path = node.text(key, faults)?;
        Relative::new(&path).map_err(|fault| faults.at(node.line, fault)).ok()
    };
    let (declaration, root) = (path("declaration"), path("root"));
    let has = |key: &str| node.props.iter().any(|(known, _)| known == key);
    if has("declaration") == has("root") {
        faults.at(node.line, "`source` needs either `declaration=\"…\"` or `root=\"…\"`");
    }
    let id = SourceId::new(node.first()).map_err(|error| faults.at(node.line, error.to_string())).ok()?;
    let place = declaration.map(Place::Declaration).or(root.map(Place::Root))?;
    Some(SourceRequest { id, place, need, line: node.line })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults of a request with these children, beside role and delivery.
    #[track_caller]
    fn check(children: &str, expected: &[&str]) {
        whole(&format!("compose {{\nrole maker; delivery compiled\n{children}\n}}"), expected);
    }

    #[track_caller]
    fn whole(text: &str, expected: &[&str]) {
        let read = Request::read("r.kdl", text.as_bytes());
        assert_eq!(read.value.is_some(), expected.is_empty());
        let found: Vec<_> = read.diagnostics.iter().map(|fault| fault.to_string()).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            let (line, said) = expected.split_once(' ').unwrap();
            assert!(found.starts_with(&format!("r.kdl:{line}: error: ")) && found.contains(said), "{found}");
        }
    }

    #[test]
    fn a_request_with_everything() {
        let text = "
            compose {
              role \"maker\"; delivery \"native-skills\"; model-tier oss; density full
              person-source \"./me\"
              person-policy \"external-only\"
              personality-library \"lend\"; personality-library \"roster:cantus\"
              identity name=\" Ada \" pronouns=\"she/her\"
              boundary-omit a b; boundary-omit c
              source \"x:y\" declaration=\"a/s.kdl\" required=#true
              source z root=\".\"
              /- role \"nobody\"
              base native // the project's own
            }";
        let request = Request::read("r.kdl", text.as_bytes());
        assert_eq!(request.diagnostics, []);
        let request = request.value.unwrap();
        assert_eq!((request.tier, request.policy), (Tier::Oss, Policy::ExternalOnly));
        assert_eq!(request.identity.unwrap().name, "Ada");
        assert_eq!(request.omitted, ["a", "b", "c"]);
        assert_eq!(request.libraries[1], Library::BuiltIn);
        let needs: Vec<_> = request.sources.iter().map(|source| source.need).collect();
        assert_eq!(needs, [Need::Required, Need::Optional]);
        assert_eq!(request.base.as_deref(), Some("native"));
    }

    #[test]
    fn every_tier_is_read() {
        for tier in Tier::ALL {
            check(&format!("model-tier {tier}"), &[]);
        }
    }

    #[test]
    fn what_a_request_must_have() {
        whole("compose", &["1 needs `role", "1 needs `delivery"]);
        whole("compose { role a; delivery x }", &["1 no `delivery` is `x`"]);
        whole("compose {\nrole a\n}\ncompose", &["4 one node `compose`"]);
        whole("other", &["1 one node `compose`"]);
        whole("compose x { role a; delivery compiled }", &["1 has 1 arguments"]);
    }

    #[test]
    fn what_a_request_may_not_have() {
        check("agent claude", &["3 knows no `agent`"]);
        check("role b", &["3 a second `role`"]);
        check("model-tier", &["3 has 0 arguments"]);
        check("model-tier \"\"", &["3 an empty argument"]);
        check("model-tier fast", &["3 no `model-tier` is `fast`"]);
        check("base a k=v", &["3 knows no property `k`"]);
        check("base a { b }", &["3 has a block"]);
        check("density half", &["1 no density is called `half`"]);
    }

    #[test]
    fn identities() {
        check("identity name=a", &["3 needs `pronouns"]);
        check("identity name=a pronouns=\" \"", &["3 `pronouns` of `identity` is empty"]);
        check("identity name=a pronouns=b x", &["3 has 1 arguments"]);
        check("identity name=a pronouns=b; identity name=a pronouns=b", &["3 a second `identity`"]);
    }

    #[test]
    fn packages() {
        check("person-source \"/a\"", &["3 is absolute"]);
        check("person-source \"../a\"", &["3 leads up"]);
        check("person-policy external-only", &["3 needs a `person-source`"]);
        check("person-source a; person-policy any", &["3 no `person-policy` is `any`"]);
        check("personality-library a", &["3 needs a `person-source`"]);
        check("person-source p; personality-library \"../x\"", &["3 leads up"]);
        check("person-source p; personality-library \"roster:core\"", &["3 another tool"]);
        check("person-source p; personality-library a; personality-library a", &["3 named twice"]);
    }

    #[test]
    fn sources_and_omissions() {
        check("source a", &["3 needs either"]);
        check("source a root=b declaration=c", &["3 needs either"]);
        check("source a root=\"\"", &["3 `root` of `source` is empty"]);
        check("source a root=\"x/../y\"", &["3 leads up"]);
        check("source a root=b required=yes", &["3 neither `#true`"]);
        check("source \"a/b\" root=c", &["3 has a slash"]);
        check("source a root=b; source a root=c", &["3 named twice"]);
        check("boundary-omit", &["3 has 0 arguments"]);
        check("boundary-omit a; boundary-omit a", &["3 omitted twice"]);
    }
}
