//! The skills that were named for one request.

use std::collections::BTreeSet;

use cantus_manifest::Digest;

use super::{Frame, in_line};
use crate::launch::Skill;
use crate::section::{Section, Source};

/// The section; `None` if no skill was named.
pub(crate) fn skills(frame: Frame<'_>, named: &[Skill]) -> Option<Section> {
    let mut seen = BTreeSet::new();
    let skills: Vec<&Skill> = named.iter().filter(|skill| seen.insert(skill.name.as_str())).collect();
    if skills.is_empty() {
        return None;
    }
    let mut blocks = vec![frame.say("intro", &[])];
    blocks.extend(skills.iter().map(|skill| block(frame, skill)));
    let there = skills.iter().filter(|skill| !skill.text.trim().is_empty());
    let sources = there.map(|skill| {
        let revision: String = Digest::of(&skill.text).to_string().chars().take(16).collect();
        Source::new("skill", &skill.name, Some(&revision))
    });
    frame.section(&blocks.join("\n\n"), sources.collect())
}

fn block(frame: Frame<'_>, skill: &Skill) -> String {
    let label = in_line(skill.label.as_deref().unwrap_or(&skill.name));
    if skill.text.trim().is_empty() {
        return frame.say("unavailable", &[("label", &label)]);
    }
    let folder = skill.folder.as_deref().map(|folder| frame.say("folder", &[("folder", &in_line(folder))]));
    let file = skill.path.as_deref().map(|path| frame.say("file", &[("path", &in_line(path))]));
    let place: Vec<String> = folder.into_iter().chain(file).collect();
    let parts = [frame.say("skill", &[("label", &label)]), place.join(" "), skill.text.trim().to_owned()];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}
