//! `.agents/roles.kdl`: which roles of a root draw on what beyond its ordinary skills.

use std::collections::BTreeSet;

use crate::faults::Faults;
use crate::names::{SourceId, check_repository};
use crate::node::{self, Node, Shape, single};
use crate::relative::Relative;
use crate::request::Need;
use crate::selector::Pattern;

/// The graph of a root.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Graph {
    pub(crate) repositories: Vec<Declared>,
    /// Ids of repositories that every role works on.
    pub(crate) global: Vec<String>,
    pub(crate) providers: Vec<Declared>,
    pub(crate) roles: Vec<Bindings>,
}

/// A repository or a provider that roles may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) id: String,
    /// Of a repository `owner/name`.
    pub(crate) identity: String,
    /// Of a provider its folder, if it lies in the root.
    pub(crate) place: Option<Relative>,
    pub(crate) patterns: Option<Vec<Pattern>>,
}

/// What one role draws on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bindings {
    pub(crate) role: String,
    /// The line that says so.
    pub(crate) line: u32,
    pub(crate) composed: Vec<Pattern>,
    pub(crate) uses: Vec<Use>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) id: String,
    pub(crate) of: Of,
    pub(crate) need: Need,
    /// The line that says so.
    pub(crate) line: u32,
    pub(crate) patterns: Option<Vec<Pattern>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Of {
    Repository,
    Provider,
}

impl Graph {
    /// Reads the text of a graph. Without a value something is wrong.
    pub(crate) fn read(text: &[u8], faults: &mut Faults<'_>) -> Option<Self> {
        let before = faults.count();
        let nodes = node::read(text, faults)?;
        for stray in
            nodes.iter().filter(|node| !["repositories", "providers", "roles"].contains(&node.name.as_str()))
        {
            faults.at(
                stray.line,
                format!("no `{}` is known here; expected `repositories`, `providers`, `roles`", stray.name),
            );
        }
        let mut graph = Self::default();
        if let Some(node) = single(&nodes, "repositories", faults) {
            repositories(node, &mut graph, faults);
        }
        if let Some(node) = single(&nodes, "providers", faults) {
            node.check(&Shape { args: 0..=0, props: &[], children: Some(&["provider"]) }, faults);
            graph.providers = node.children().iter().filter_map(|node| provider(node, faults)).collect();
            check_ids(&graph.providers, node, faults);
        }
        match single(&nodes, "roles", faults) {
            Some(node) => graph.roles = roles(node, &graph, faults),
            None => faults.add("expected a node `roles`"),
        }
        (faults.count() == before).then_some(graph)
    }

    /// What the role `slug` draws on.
    pub(crate) fn of(&self, slug: &str) -> Option<&Bindings> {
        self.roles.iter().find(|bindings| bindings.role == slug)
    }
}

fn repositories(node: &Node, graph: &mut Graph, faults: &mut Faults<'_>) {
    let known = Some(["repository", "global", "resident-only"].as_slice());
    node.check(&Shape { args: 0..=0, props: &[], children: known }, faults);
    let named = |name: &'static str| node.children().iter().filter(move |child| child.name == name);
    graph.repositories = named("repository").filter_map(|node| repository(node, faults)).collect();
    check_ids(&graph.repositories, node, faults);
    let mut seen = BTreeSet::new();
    for mark in named("global").chain(named("resident-only")) {
        mark.check(&Shape::NAME, faults);
        let id = mark.first();
        if !graph.repositories.iter().any(|repository| repository.id == id) {
            faults.at(mark.line, format!("no repository has the id `{id}`"));
        }
        if !seen.insert(id) {
            faults.at(mark.line, format!("the repository `{id}` is marked twice"));
        }
    }
    graph.global = named("global").map(|node| node.first().to_owned()).collect();
}

fn repository(node: &Node, faults: &mut Faults<'_>) -> Option<Declared> {
    node.check(&Shape { args: 1..=1, props: &["path"], children: Some(&["skill"]) }, faults);
    let identity = node.need("path", faults)?;
    check_repository(&identity).map_err(|error| faults.at(node.line, error.to_string())).ok()?;
    Some(Declared { id: id(node, faults)?, identity, place: None, patterns: patterns(node, faults) })
}

fn provider(node: &Node, faults: &mut Faults<'_>) -> Option<Declared> {
    node.check(&Shape { args: 1..=1, props: &["path"], children: Some(&["skill"]) }, faults);
    let place = match node.text("path", faults) {
        Some(path) => Some(Relative::new(&path).map_err(|fault| faults.at(node.line, fault)).ok()?),
        None => None,
    };
    let identity = String::new();
    Some(Declared { id: id(node, faults)?, identity, place, patterns: patterns(node, faults) })
}

/// The id of a declared thing, which may become that of a source.
fn id(node: &Node, faults: &mut Faults<'_>) -> Option<String> {
    match SourceId::new(node.first()) {
        Ok(id) => Some(id.to_string()),
        Err(error) => {
            faults.at(node.line, error.to_string());
            None
        }
    }
}

/// Tells ids and paths that two have.
fn check_ids(declared: &[Declared], node: &Node, faults: &mut Faults<'_>) {
    let (mut ids, mut paths) = (BTreeSet::new(), BTreeSet::new());
    for Declared { id, identity, .. } in declared {
        if !ids.insert(id) {
            faults.at(node.line, format!("the id `{id}` is declared twice"));
        }
        if !identity.is_empty() && !paths.insert(identity) {
            faults.at(node.line, format!("the repository `{identity}` is declared twice"));
        }
    }
}

/// The patterns in a node's block; `None` without a block, which admits everything.
fn patterns(node: &Node, faults: &mut Faults<'_>) -> Option<Vec<Pattern>> {
    let block = node.block.as_ref()?;
    if block.is_empty() {
        faults.at(node.line, "an empty block admits no skill; leave it out to admit every one");
    }
    Some(block.iter().filter_map(|node| pattern(node, faults)).collect())
}

fn pattern(node: &Node, faults: &mut Faults<'_>) -> Option<Pattern> {
    if !node.check(&Shape::NAME, faults) {
        return None;
    }
    Pattern::new(node.first()).map_err(|error| faults.at(node.line, error.to_string())).ok()
}

fn roles(node: &Node, graph: &Graph, faults: &mut Faults<'_>) -> Vec<Bindings> {
    node.check(&Shape { args: 0..=0, props: &[], children: Some(&["role"]) }, faults);
    let mut seen = BTreeSet::new();
    let mut roles = Vec::new();
    for node in node.children() {
        let known = Some(["composed-skill", "use-repository", "use-provider"].as_slice());
        node.check(&Shape { args: 1..=1, props: &[], children: known }, faults);
        if !seen.insert(node.first()) {
            faults.at(node.line, format!("the role `{}` is bound twice", node.first()));
        }
        let composed = node.children().iter().filter(|child| child.name == "composed-skill");
        roles.push(Bindings {
            role: node.first().to_owned(),
            line: node.line,
            composed: composed.filter_map(|child| pattern(child, faults)).collect(),
            uses: uses(node, graph, faults),
        });
    }
    roles
}

fn uses(role: &Node, graph: &Graph, faults: &mut Faults<'_>) -> Vec<Use> {
    let (mut uses, mut seen) = (Vec::new(), BTreeSet::new());
    for node in role.children() {
        let (of, declared, props): (_, _, &[&str]) = match node.name.as_str() {
            "use-repository" => (Of::Repository, &graph.repositories, &[]),
            "use-provider" => (Of::Provider, &graph.providers, &["required"]),
            _ => continue,
        };
        let (id, args) = (node.first(), 1..=1);
        node.check(&Shape { args, props, children: Some(&["skill"]) }, faults);
        if !declared.iter().any(|declared| declared.id == id) {
            faults.at(node.line, format!("nothing has the id `{id}`; declare it above `roles`"));
        }
        if !seen.insert((node.name.as_str(), id)) {
            faults.at(node.line, format!("`{id}` is used twice"));
        }
        let need = Need::of(node, faults);
        uses.push(Use { id: id.to_owned(), of, need, line: node.line, patterns: patterns(node, faults) });
    }
    uses
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut found = Vec::new();
        let graph = Graph::read(text.as_bytes(), &mut Faults::new("x", "g", &mut found));
        assert_eq!(graph.is_some(), expected.is_empty(), "{found:?}");
        let found: Vec<_> = found.into_iter().map(|fault| fault.message).collect();
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}");
        }
    }

    #[test]
    fn a_graph_with_everything() {
        check(
            "repositories {
                repository api path=\"acme/api\" { skill \"api-*\" }
                repository web path=\"acme/web\"
                global api; resident-only web
            }
            providers { provider lore path=lore { skill x }; provider far }
            roles {
                role maker {
                    composed-skill \"m-*\"
                    use-repository web { skill y }
                    use-provider lore required=#true
                }
                role nobody { use-provider far required=#false }
            }",
            &[],
        );
    }

    #[test]
    fn graphs_that_are_unsafe() {
        check("", &["expected a node `roles`"]);
        check("roles; roles", &["a second `roles`"]);
        check("roles; other", &["no `other` is known here"]);
        check("roles x", &["1 arguments"]);
        check("roles { role a; role a }", &["bound twice"]);
        check("roles { role a { other } }", &["knows no `other`"]);
        check("roles { role a { use-provider x } }", &["nothing has the id `x`"]);
        check("roles { role a { composed-skill \"[\" } }", &["is no pattern"]);
        check("roles\nproviders { provider a; provider a }", &["declared twice"]);
        check("roles\nproviders { provider a path=\"../x\" }", &["leads up"]);
        check("roles\nproviders { provider \"a/b\" }", &["has a slash"]);
        check("roles\nproviders { provider a {} }", &["an empty block"]);
        check(
            "roles { role a { use-provider p; use-provider p } }\nproviders { provider p }",
            &["used twice"],
        );
        check(
            "roles { role a { use-provider p required=yes } }\nproviders { provider p }",
            &["neither `#true`"],
        );
        check("roles\nrepositories { repository a path=\"b\" }", &["is no repository"]);
        check("roles\nrepositories { repository a path=\"b/../c\" }", &["is no repository"]);
        check(
            "roles\nrepositories { repository a path=\"b/c\"; repository d path=\"b/c\" }",
            &["`b/c` is declared twice"],
        );
        check("roles\nrepositories { global a }", &["no repository has the id `a`"]);
    }
}
