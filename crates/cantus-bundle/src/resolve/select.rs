//! What of each source is admitted at all, and which repositories a role works on.

use std::collections::BTreeMap;

use crate::faults::Faults;
use crate::load::{GRAPH, Loaded, Pass};
use crate::manifest::Repository;
use crate::resolution::Skill;
use crate::selector::{Pattern, SelectError, select};
use crate::trace::{Decision, Kind, Scope, Verdict};

/// A source, and what of it is admitted.
pub(super) struct Selection {
    pub(super) loaded: Loaded,
    /// Of each ordinary skill.
    pub(super) admitted: Vec<bool>,
    /// The skills that are composed into the role.
    pub(super) composed: Vec<Skill>,
    /// Composed skills that several patterns name, with the patterns.
    pub(super) overlaps: Vec<(String, String)>,
    /// Which patterns narrowed it; empty if none did.
    pub(super) note: String,
}

impl Selection {
    /// Without a value a pattern doesn't fit.
    pub(super) fn new(loaded: Loaded, role: &str, faults: &mut Faults<'_>) -> Option<Self> {
        let source = &loaded.source;
        let mut admitted = vec![true; source.skills.len()];
        let mut notes = Vec::new();
        for Pass { patterns, graph, line } in &loaded.passes {
            let before: Vec<_> =
                admitted.iter().enumerate().filter(|(_, is)| **is).map(|(at, _)| at).collect();
            let ids: Vec<_> = before.iter().map(|at| source.skills[*at].id.as_str()).collect();
            let narrowed = select(patterns, &ids)
                .map_err(|error| {
                    faults.elsewhere(graph).at(*line, format!("the source `{}`: {error}", source.id));
                })
                .ok()?;
            before.iter().zip(&narrowed).for_each(|(at, is)| admitted[*at] = *is);
            let count = narrowed.iter().filter(|is| **is).count();
            notes.push(format!("{} admitted {count} of {}", spelled(patterns), ids.len()));
        }
        let (mut composed, mut overlaps) = (Vec::new(), Vec::new());
        let bindings = source.graph.as_ref().and_then(|graph| graph.of(role));
        let (patterns, line) =
            bindings.map_or((&[][..], 0), |bindings| (bindings.composed.as_slice(), bindings.line));
        let is_idle = |pattern: &&Pattern| !source.composed.iter().any(|it| pattern.matches(it.id.as_str()));
        if let Some(idle) = patterns.iter().find(is_idle) {
            let error = SelectError::Unmatched(idle.clone());
            let message = format!("the composed skills of `{}`: {error}", source.id);
            faults.elsewhere(&source.shown).inside(GRAPH).at(line, message);
            return None;
        }
        for skill in &source.composed {
            let named: Vec<_> =
                patterns.iter().filter(|pattern| pattern.matches(skill.id.as_str())).cloned().collect();
            if named.len() > 1 {
                overlaps.push((skill.id.to_string(), spelled(&named)));
            }
            if !named.is_empty() {
                composed.push(skill.clone());
            }
        }
        Some(Self { admitted, composed, overlaps, note: notes.join(" // "), loaded })
    }

    /// Why the source is there.
    pub(super) fn reason(&self) -> &'static str {
        if self.loaded.scope == Scope::Role { "the role draws on it" } else { "the request names it" }
    }
}

fn spelled(patterns: &[Pattern]) -> String {
    patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", ")
}

/// The decisions on skills that several patterns name, then on those that none admits.
pub(super) fn decide(selections: &[Selection], decisions: &mut Vec<Decision>) {
    for selection in selections {
        for (skill, patterns) in &selection.overlaps {
            let subject = format!("selector:{skill}");
            let reason = format!("{patterns} name the same composed skill, which is taken once");
            let source = selection.loaded.source.id.as_str();
            decisions.push(Decision::new(Kind::Selector, &subject, source, Verdict::Shadowed, reason));
        }
    }
    for selection in selections {
        let source = &selection.loaded.source;
        for (skill, _) in source.skills.iter().zip(&selection.admitted).filter(|(_, admitted)| !**admitted) {
            let subject = format!("skill:{}", skill.id);
            let reason = "no pattern for its source admits it";
            decisions.push(Decision::new(
                Kind::Skill,
                &subject,
                source.id.as_str(),
                Verdict::Excluded,
                reason,
            ));
        }
    }
}

/// The repositories that graphs name for the role and for every role, by identity. The first to name one counts.
pub(super) fn repositories(sources: &[Loaded], role: &str) -> Vec<Repository> {
    let mut found = BTreeMap::new();
    for Loaded { source, .. } in sources {
        let Some(graph) = &source.graph else { continue };
        let used = graph.of(role).map_or(&[][..], |bindings| &bindings.uses);
        for declared in &graph.repositories {
            let (scope, reason) = if used
                .iter()
                .any(|used| used.of == crate::graph::Of::Repository && used.id == declared.id)
            {
                ("role", format!("the role `{role}` works on it"))
            } else if graph.global.contains(&declared.id) {
                ("global", "every role works on it".to_owned())
            } else {
                continue;
            };
            found.entry(declared.identity.clone()).or_insert_with(|| Repository {
                identity: declared.identity.clone(),
                source: source.id.to_string(),
                scope: scope.to_owned(),
                reason,
            });
        }
    }
    found.into_values().collect()
}
