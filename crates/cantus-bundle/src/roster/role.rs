//! The node of a role.

use std::collections::BTreeSet;

use super::{Doctrine, Role, RoleSeat, body};
use crate::faults::Faults;
use crate::folder::Folder;
use crate::manifest::Tier;
use crate::node::{self, Node, Shape, single};
use crate::request::{self, Named};

const KNOWN: &[&str] = &[
    "display-name",
    "purpose",
    "skill",
    "briefing",
    "method",
    "boundary",
    "boundary-scoped",
    "adjacent",
    "personality",
    "model-tier",
    "identity",
    "agent",
    "seat",
    "copy-contract",
    "inspiration",
];

/// Reads the node of a role whose folder, `roles/<role>` of its package, is `own`.
pub(super) fn role(node: &Node, own: &Folder, faults: &mut Faults<'_>) -> Option<Role> {
    node.check(&Shape { args: 1..=1, props: &[], children: Some(KNOWN) }, faults);
    let (slug, nodes) = (node.first().to_owned(), node.children());
    let purpose = node::word(nodes, "purpose", faults).map(str::to_owned);
    if purpose.is_none() {
        faults.at(node.line, format!("the role `{slug}` needs `purpose \"…\"`"));
    }
    let display = node::word(nodes, "display-name", faults).map(str::to_owned);
    let doctrine = doctrine(node, &slug, own, faults);
    let methods = methods(node, own, faults);
    let (defers, scoped) = boundaries(nodes, faults);
    let personalities = names(nodes, "personality", faults);
    if personalities.is_empty() {
        faults.at(node.line, format!("the role `{slug}` needs a `personality` at least"));
    }
    let tiers = tiers(nodes, faults);
    let identity = single(nodes, "identity", faults).and_then(|node| request::identity(node, faults));
    let seats = seats(nodes, identity.as_ref(), &tiers, faults);
    let contract = contract(nodes, faults);
    for node in nodes.iter().filter(|node| node.name == "adjacent") {
        node.check(&Shape { args: 1..=1, props: &["reason"], children: None }, faults);
        node.need("reason", faults);
    }
    let (purpose, doctrine) = (purpose?, doctrine?);
    let role = Role {
        slug,
        display,
        purpose,
        doctrine,
        methods,
        defers,
        scoped,
        personalities,
        tiers,
        identity,
        seats,
        contract,
    };
    Some(role)
}

/// Its skill or its briefing, of which it has one.
fn doctrine(node: &Node, slug: &str, own: &Folder, faults: &mut Faults<'_>) -> Option<Doctrine> {
    let nodes = node.children();
    let skill = single(nodes, "skill", faults);
    let briefing = single(nodes, "briefing", faults);
    match (skill, briefing) {
        (Some(skill), None) => {
            let expected = format!("role-{slug}");
            if skill.first() != expected {
                faults.at(
                    skill.line,
                    format!("the role's skill is called `{}`; expected `{expected}`", skill.first()),
                );
            }
            skill.check(&Shape::NAME, faults);
            let files = without_methods(own);
            let mut inside = faults.inside(&format!("roles/{slug}/SKILL.md"));
            let Some(bytes) = files.file("SKILL.md") else {
                inside.add("missing; the role's skill must be defined");
                return None;
            };
            let (_, text) = body::parts(bytes, &expected, &mut inside)?;
            body::check_role(text, &mut inside);
            Some(Doctrine::Skill(files))
        }
        (None, Some(briefing)) => {
            briefing.check(&Shape::NAMES, faults);
            if own.file("SKILL.md").is_some() {
                faults.at(briefing.line, "a role with a briefing has no `SKILL.md`");
            }
            let text = briefing.args.join("\n\n");
            body::check_role(&text, faults);
            Some(Doctrine::Briefing(text))
        }
        _ => {
            faults.at(node.line, format!("the role `{slug}` needs either `skill` or `briefing`"));
            None
        }
    }
}

/// A role's folder without those of its methods.
fn without_methods(own: &Folder) -> Folder {
    let mut files = own.clone();
    files.files.retain(|path, _| path.strip("skills").is_none());
    files.folders.retain(|path| path.as_str() != "skills" && path.strip("skills").is_none());
    files
}

/// The skills of its methods, each of which lies in its folder, and none beside them.
fn methods(node: &Node, own: &Folder, faults: &mut Faults<'_>) -> Vec<(String, Folder)> {
    let named = names(node.children(), "method", faults);
    let folder = format!("roles/{}/skills", node.first());
    let (present, _) = own.names("skills");
    for stray in present.iter().filter(|name| !named.contains(name)) {
        faults.inside(&format!("{folder}/{stray}")).add("no `method` of the role names it");
    }
    let mut methods = Vec::new();
    for id in named {
        let files = own.below(&format!("skills/{id}"));
        let mut inside = faults.inside(&format!("{folder}/{id}/SKILL.md"));
        match files.file("SKILL.md") {
            Some(bytes) if body::parts(bytes, &id, &mut inside).is_some() => methods.push((id, files)),
            Some(_) => {}
            None => inside.add("missing; the method must be defined"),
        }
    }
    methods
}

/// The arguments of all nodes called `name`, none of them twice.
fn names(nodes: &[Node], name: &str, faults: &mut Faults<'_>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    let mut names: Vec<String> = Vec::new();
    for node in nodes.iter().filter(|node| node.name == name) {
        node.check(&Shape::NAMES, faults);
        for arg in &node.args {
            if !seen.insert(arg) {
                faults.at(node.line, format!("the {name} `{arg}` is named twice"));
            }
            names.push(arg.clone());
        }
    }
    names
}

fn boundaries(nodes: &[Node], faults: &mut Faults<'_>) -> (Vec<String>, Vec<(String, String)>) {
    let defers = names(nodes, "boundary", faults);
    let mut scoped: Vec<(String, String)> = Vec::new();
    for node in nodes.iter().filter(|node| node.name == "boundary-scoped") {
        node.check(&Shape { args: 1..=1, props: &["scope"], children: None }, faults);
        let name = node.first().to_owned();
        if defers.contains(&name) {
            faults.at(node.line, format!("the boundary `{name}` is both deferred and held within a scope"));
        }
        if scoped.iter().any(|(known, _)| *known == name) {
            faults.at(node.line, format!("the boundary `{name}` is named twice"));
        }
        scoped.extend(node.need("scope", faults).map(|scope| (name, scope)));
    }
    (defers, scoped)
}

fn tiers(nodes: &[Node], faults: &mut Faults<'_>) -> Vec<Tier> {
    let Some(node) = single(nodes, "model-tier", faults) else { return Tier::ALL.to_vec() };
    node.check(&Shape::NAMES, faults);
    let mut tiers = Vec::new();
    for word in &node.args {
        match Tier::named(word) {
            Some(tier) if !tiers.contains(&tier) => tiers.push(tier),
            Some(_) => faults.at(node.line, format!("the tier `{word}` is named twice")),
            None => faults.at(
                node.line,
                format!("no tier is called `{word}`; expected `frontier`, `commodity` or `oss`"),
            ),
        }
    }
    tiers
}

fn seats(nodes: &[Node], identity: Option<&Named>, tiers: &[Tier], faults: &mut Faults<'_>) -> Vec<RoleSeat> {
    let mut keys = BTreeSet::new();
    let mut seats = Vec::new();
    for node in nodes.iter().filter(|node| matches!(node.name.as_str(), "agent" | "seat")) {
        let props: &[&str] = &["channel", "tier", "name", "pronouns"];
        node.check(&Shape { args: 1..=1, props, children: None }, faults);
        let key = node.first().to_owned();
        if !keys.insert(key.clone()) {
            faults.at(node.line, format!("the seat `{key}` is named twice"));
        }
        let tier = node.text("tier", faults).and_then(|word| {
            let tier = Tier::named(&word).filter(|tier| tiers.contains(tier));
            if tier.is_none() {
                faults.at(
                    node.line,
                    format!("the role does not support the tier `{word}` of its seat `{key}`"),
                );
            }
            tier
        });
        let named = match (node.text("name", faults), node.text("pronouns", faults)) {
            (None, None) => None,
            (Some(name), Some(pronouns)) => Some(Named { name, pronouns }),
            _ => {
                faults
                    .at(node.line, format!("the seat `{key}` needs both `name` and `pronouns`, or neither"));
                None
            }
        };
        if named.is_some() && identity.is_some() {
            faults.at(
                node.line,
                format!("the seat `{key}` has a name, and so has the role; expected one of them"),
            );
        }
        let channel = node.text("channel", faults).unwrap_or_default();
        seats.push(RoleSeat { key, channel, tier, named });
    }
    seats
}

fn contract(nodes: &[Node], faults: &mut Faults<'_>) -> Vec<(String, String)> {
    let Some(node) = single(nodes, "copy-contract", faults) else { return Vec::new() };
    node.check(&Shape { args: 0..=0, props: &["scope"], children: Some(&["forbid"]) }, faults);
    if node.need("scope", faults).is_some_and(|scope| scope != "tool-response") {
        faults.at(node.line, "the scope of a `copy-contract` is `tool-response`");
    }
    if node.children().is_empty() {
        faults.at(node.line, "a `copy-contract` needs a `forbid` at least");
    }
    let forbidden = node.children().iter().filter_map(|forbid| {
        forbid.check(&Shape { args: 1..=1, props: &["prefer"], children: None }, faults);
        Some((forbid.first().to_owned(), forbid.need("prefer", faults)?))
    });
    forbidden.collect()
}
