//! The nodes of personalities and boundaries.

use super::{Boundary, Catalogue, Emblems, Personality, body, is_token};
use crate::colour::Colour;
use crate::faults::Faults;
use crate::folder::Folder;
use crate::node::{Node, Shape};

/// What a personality may say, and the parts of each.
const PARTS: &[(&str, &[&str])] = &[
    ("emblem", &["name", "emoji", "glyph"]),
    ("form", &["silhouette", "geometry", "motion"]),
    ("sound-mark", &["timbre", "contour", "pulse"]),
];

const KNOWN: &[&str] = &["emblem", "form", "sound-mark", "alias", "verb", "inspiration"];

/// Reads the node of a personality.
pub(super) fn personality(node: &Node, faults: &mut Faults<'_>) -> Option<Personality> {
    node.check(&Shape { args: 1..=1, props: &["skill", "color", "motif"], children: Some(KNOWN) }, faults);
    let slug = node.first().to_owned();
    let skill = node.need("skill", faults);
    let colour = node.need("color", faults).and_then(|text| colour(&text, node.line, faults));
    let motif = node.need("motif", faults);
    if let Some(motif) = motif.as_ref().filter(|motif| !is_token(motif)) {
        faults.at(node.line, format!("the motif `{motif}` is no word of `a-z`, `0-9` and `-`"));
    }
    let mut more = Vec::new();
    for child in node.children() {
        match PARTS.iter().find(|(name, _)| *name == child.name) {
            Some((name, parts)) => {
                let said = fields(child, parts, faults);
                let tokens = said.iter().filter(|_| *name != "emblem");
                for (key, _) in tokens.filter(|(_, value)| !is_token(value)) {
                    faults.at(child.line, format!("`{key}` of `{name}` is no word of `a-z`, `0-9` and `-`"));
                }
                more.extend(said.into_iter().map(|(key, value)| (format!("{name} {key}"), value)));
            }
            None if child.check(&Shape::NAMES, faults) => {
                more.extend(child.args.iter().map(|arg| (child.name.clone(), arg.clone())));
            }
            None => {}
        }
    }
    for (name, _) in PARTS {
        for again in node.children().iter().filter(|child| child.name == *name).skip(1) {
            faults.at(again.line, format!("a second `{name}`; one is enough"));
        }
    }
    let emblem = emblem(node, &more, faults);
    Some(Personality { slug, skill: skill?, colour: colour?, motif: motif?, emblem: emblem?, more })
}

fn colour(text: &str, line: u32, faults: &mut Faults<'_>) -> Option<Colour> {
    let colour = text.parse::<Colour>().and_then(|colour| colour.check_legible().map(|()| colour));
    colour.map_err(|error| faults.at(line, error.to_string())).ok()
}

/// The parts of a node, as properties or as nodes in its block.
fn fields(node: &Node, parts: &'static [&'static str], faults: &mut Faults<'_>) -> Vec<(String, String)> {
    node.check(&Shape { args: 0..=0, props: parts, children: Some(parts) }, faults);
    let mut fields: Vec<(String, String)> = Vec::new();
    for part in parts {
        let inner = crate::node::word(node.children(), part, faults).map(str::to_owned);
        match (node.text(part, faults), inner) {
            (Some(_), Some(_)) => faults.at(node.line, format!("`{}` says `{part}` twice", node.name)),
            (Some(text), None) | (None, Some(text)) => fields.push(((*part).to_owned(), text)),
            (None, None) => faults.at(node.line, format!("`{}` needs `{part}`", node.name)),
        }
    }
    fields
}

fn emblem(node: &Node, more: &[(String, String)], faults: &mut Faults<'_>) -> Option<Emblems> {
    if !node.children().iter().any(|child| child.name == "emblem") {
        faults.at(node.line, "a personality needs `emblem name=\"…\" emoji=\"…\" glyph=\"…\"`");
        return None;
    }
    let part = |key: &str| more.iter().find(|(known, _)| known == key).map(|(_, value)| value.clone());
    Some(Emblems { name: part("emblem name")?, emoji: part("emblem emoji")?, glyph: part("emblem glyph")? })
}

/// Reads the node of a boundary.
pub(super) fn boundary(node: &Node, faults: &mut Faults<'_>) -> Option<Boundary> {
    node.check(&Shape { args: 1..=1, props: &["skill", "owner", "summary"], children: None }, faults);
    let slug = node.first().to_owned();
    let (skill, owner) = (node.need("skill", faults), node.need("owner", faults));
    let summary = node.need("summary", faults);
    let expected = format!("boundary-{slug}");
    if let Some(skill) = skill.as_ref().filter(|skill| **skill != expected) {
        faults.at(node.line, format!("the boundary's skill is called `{skill}`; expected `{expected}`"));
    }
    Some(Boundary { slug, skill: skill?, owner: owner?, summary: summary? })
}

/// Takes from the package `files` the definition of each personality and boundary, and tells those that are missing or bound twice.
pub(super) fn define(catalogue: &mut Catalogue, files: &Folder, faults: &mut Faults<'_>) {
    let (present, stray) = files.names("definitions/skills");
    for name in stray {
        faults.inside(&format!("definitions/skills/{name}")).add("a file where folders of skills are");
    }
    let personalities = catalogue.personalities.iter().map(|it| (it.skill.clone(), Side::Personality));
    let boundaries = catalogue.boundaries.iter().map(|it| (it.skill.clone(), Side::Boundary));
    let bound: Vec<_> = personalities.chain(boundaries).collect();
    for stray in present.iter().filter(|name| !bound.iter().any(|(skill, _)| skill == *name)) {
        let message = "no personality and no boundary of this package has this skill";
        faults.inside(&format!("definitions/skills/{stray}")).add(message);
    }
    for (skill, side) in bound {
        let mut faults = faults.inside(&format!("definitions/skills/{skill}/SKILL.md"));
        if catalogue.definitions.contains_key(&skill) {
            faults.add("two personalities or boundaries have this skill");
            continue;
        }
        let definition = files.below(&format!("definitions/skills/{skill}"));
        let Some(bytes) = definition.file("SKILL.md") else {
            faults.add("missing; every skill that a package binds must be defined");
            continue;
        };
        if let Some((_, text)) = body::parts(bytes, &skill, &mut faults) {
            match side {
                Side::Personality => body::check_personality(text, &mut faults),
                Side::Boundary => body::check_boundary(text, &mut faults),
            }
        }
        catalogue.definitions.insert(skill, definition);
    }
}

#[derive(Clone, Copy)]
enum Side {
    Personality,
    Boundary,
}

/// Tells emblems and motifs that two personalities have in common.
pub(super) fn check_unique(catalogue: &Catalogue, faults: &mut Faults<'_>) {
    let looks = |it: &Personality| {
        let Emblems { name, emoji, glyph } = &it.emblem;
        [("emblem name", name), ("emoji", emoji), ("glyph", glyph), ("motif", &it.motif)]
            .map(|(what, text)| (what, text.clone()))
    };
    let all = &catalogue.personalities;
    for (at, one) in all.iter().enumerate() {
        for other in &all[at + 1..] {
            for ((what, mine), (_, theirs)) in looks(one).iter().zip(looks(other)) {
                if *mine == theirs {
                    faults.add(format!("`{}` and `{}` have the same {what} `{mine}`", one.slug, other.slug));
                }
            }
        }
    }
}
