//! Each instruction and each skill has one slot: who comes first has it, an equal copy stands in its shadow, another is refused.

use std::collections::{BTreeMap, BTreeSet};

use super::profile::Profile;
use super::select::Selection;
use crate::faults::Faults;
use crate::folder::Folder;
use crate::names::{Segment, SourceId, TreePath};
use crate::request::Request;
use crate::resolution::{Entry, Instruction, Skill};
use crate::roster::{Doctrine, Role, Roster};
use crate::source::INVARIANT;
use crate::trace::{Decision, Kind, Verdict};

/// What was decided and chosen so far.
#[derive(Default)]
pub(super) struct Chooser {
    pub(super) decisions: Vec<Decision>,
    pub(super) instructions: Vec<Instruction>,
    pub(super) skills: Vec<Skill>,
}

impl Chooser {
    pub(super) fn decide(
        &mut self,
        kind: Kind,
        prefix: &str,
        name: &str,
        source: &SourceId,
        verdict: Verdict,
        reason: impl Into<String>,
    ) {
        let subject = format!("{prefix}:{name}");
        self.decisions.push(Decision::new(kind, &subject, source.as_str(), verdict, reason));
    }

    fn offer_instruction(&mut self, offered: Instruction, reason: &str, line: u32, faults: &mut Faults<'_>) {
        let Instruction { source, id, bytes } = &offered;
        let known = self.instructions.iter().find(|known| known.id == *id);
        let Some(known) = known else {
            self.decide(Kind::Instruction, "instruction", id, source, Verdict::Selected, reason);
            self.instructions.push(offered);
            return;
        };
        if folded(&known.bytes) != folded(bytes) {
            faults.at(line, differs("instruction", id, &known.source, source));
            return;
        }
        let reason = in_shadow(&known.source);
        self.decide(Kind::Instruction, "instruction", id, source, Verdict::Shadowed, reason);
    }

    fn offer_skill(&mut self, offered: Skill, reason: &str, line: u32, faults: &mut Faults<'_>) {
        let id = offered.id.as_str();
        let Some(known) = self.skills.iter().find(|known| known.id == offered.id) else {
            self.decide(Kind::Skill, "skill", id, &offered.source, Verdict::Selected, reason);
            self.skills.push(offered);
            return;
        };
        if !is_copy(known, &offered) {
            faults.at(line, differs("skill", id, &known.source, &offered.source));
            return;
        }
        let reason = in_shadow(&known.source);
        self.decide(Kind::Skill, "skill", id, &offered.source, Verdict::Shadowed, reason);
    }
}

fn in_shadow(winner: &SourceId) -> String {
    format!("an equal copy from `{winner}` is selected")
}

fn differs(what: &str, id: &str, first: &SourceId, second: &SourceId) -> String {
    format!("the {what} `{id}` of `{second}` differs from that of `{first}`; make them equal, or rename one")
}

/// The bytes with LF for CRLF; what holds a NUL is no text and stays as it is.
fn folded(bytes: &[u8]) -> Vec<u8> {
    if bytes.contains(&0) {
        return bytes.to_vec();
    }
    let mut folded = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        if *byte != b'\r' || bytes.get(at + 1) != Some(&b'\n') {
            folded.push(*byte);
        }
    }
    folded
}

/// Whether two skills are the same but for their line ends.
fn is_copy(one: &Skill, other: &Skill) -> bool {
    let (mine, theirs) = (one.files.iter(), other.files.iter());
    one.entry == other.entry
        && one.files.len() == other.files.len()
        && mine.zip(theirs).all(|(mine, theirs)| mine.0 == theirs.0 && folded(mine.1) == folded(theirs.1))
}

/// Offers what the person package has: the invariant, its personalities, then the doctrine of the role.
pub(super) fn offer_package(
    chooser: &mut Chooser,
    profile: &Profile<'_>,
    roster: &Roster,
    faults: &mut Faults<'_>,
) {
    let source = &roster.id;
    if let Some(bytes) = &roster.invariant {
        let instruction =
            Instruction { source: source.clone(), id: INVARIANT.to_owned(), bytes: bytes.clone() };
        chooser.offer_instruction(instruction, "it holds for every role of the package", 0, faults);
    }
    let definitions = &roster.catalogue.definitions;
    let personalities: BTreeSet<_> = roster.catalogue.personalities.iter().map(|it| &it.skill).collect();
    for id in personalities {
        if profile.has_personality_skill(id) {
            offer(chooser, source, id, definitions.get(id), "a personality of the role has it", faults);
        } else {
            let reason = "no personality of the role has it";
            chooser.decide(Kind::Skill, "skill", id, source, Verdict::Excluded, reason);
        }
    }
    let role = &profile.role;
    let doctrine = match &role.doctrine {
        Doctrine::Skill(folder) => folder.clone(),
        Doctrine::Briefing(text) => briefing(role, text),
    };
    offer(chooser, source, &role.skill(), Some(&doctrine), "it is the doctrine of the role", faults);
    for (id, folder) in &role.methods {
        offer(chooser, source, id, Some(folder), "it is a method of the role", faults);
    }
    for (boundary, _) in &profile.boundaries {
        let definition = definitions.get(&boundary.skill);
        offer(chooser, source, &boundary.skill, definition, "a boundary of the role has it", faults);
    }
}

fn offer(
    chooser: &mut Chooser,
    source: &SourceId,
    id: &str,
    folder: Option<&Folder>,
    reason: &str,
    faults: &mut Faults<'_>,
) {
    let segment = match Segment::new(id) {
        Ok(segment) => segment,
        Err(error) => return faults.add(error.to_string()),
    };
    match folder.and_then(|folder| folder.clone().skill(source, segment, Entry::Skill)) {
        Some(skill) => chooser.offer_skill(skill, reason, 0, faults),
        None => faults.add(format!("the skill `{id}` of `{source}` is not defined")),
    }
}

/// The skill of a role that has a briefing in its own node.
pub(super) fn briefing(role: &Role, text: &str) -> Folder {
    let purpose = role.purpose.split_whitespace().collect::<Vec<_>>().join(" ");
    let (skill, slug) = (role.skill(), &role.slug);
    let text = format!("---\nname: {skill}\ndescription: {purpose}\n---\n\n# {slug}\n\n{}\n", text.trim());
    let path = TreePath::new(Entry::Skill.file_name());
    let files: BTreeMap<_, _> = path.into_iter().map(|path| (path, text.clone().into_bytes())).collect();
    Folder { files, folders: BTreeSet::new() }
}

/// Offers what is admitted of each source: its instructions, its ordinary skills, those for the role.
pub(super) fn offer_sources(
    chooser: &mut Chooser,
    selections: &[Selection],
    (profile, roster): (&Profile<'_>, &Roster),
    request: &Request,
    faults: &mut Faults<'_>,
) {
    let personalities: BTreeSet<_> =
        roster.catalogue.personalities.iter().map(|it| it.skill.as_str()).collect();
    let is_inactive = |id: &str| personalities.contains(id) && !profile.has_personality_skill(id);
    for Selection { loaded, admitted, composed, .. } in selections {
        let source = &loaded.source;
        let line = request.line_of(&source.id);
        for instruction in &source.instructions {
            let reason = "its source is selected, and so are its instructions";
            chooser.offer_instruction(instruction.clone(), reason, line, faults);
        }
        let ordinary = source.skills.iter().zip(admitted).filter(|(_, admitted)| **admitted);
        let ordinary = ordinary.map(|(skill, _)| (skill, "its source is selected"));
        for (skill, reason) in
            ordinary.chain(composed.iter().map(|skill| (skill, "it is composed into the role")))
        {
            if is_inactive(skill.id.as_str()) {
                let reason = "it is that of a personality which the role has not";
                chooser.decide(
                    Kind::Skill,
                    "skill",
                    skill.id.as_str(),
                    &source.id,
                    Verdict::Excluded,
                    reason,
                );
            } else {
                chooser.offer_skill(skill.clone(), reason, line, faults);
            }
        }
    }
}

/// Puts the skills into the order of the bundle: role, boundaries, personalities, everything else as it was selected. Without a
/// value something is missing or was refused.
pub(super) fn order(chooser: &mut Chooser, profile: &Profile<'_>, faults: &mut Faults<'_>) -> Option<()> {
    let mut first = vec![profile.role.skill()];
    first.extend(profile.boundaries.iter().map(|(boundary, _)| boundary.skill.clone()));
    first.extend(profile.personalities.iter().map(|personality| personality.skill.clone()));
    for id in &first {
        if !chooser.skills.iter().any(|skill| skill.id.as_str() == id) {
            faults.add(format!("the skill `{id}` is missing"));
        }
    }
    let rank = |skill: &Skill| first.iter().position(|id| skill.id.as_str() == id).unwrap_or(first.len());
    chooser.skills.sort_by_key(rank);
    (!faults.any()).then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends_are_folded_in_texts_alone() {
        assert_eq!(folded(b"a\r\nb\rc\r\n"), b"a\nb\rc\n");
        assert_eq!(folded(b"a\r\n\0"), b"a\r\n\0");
    }
}
