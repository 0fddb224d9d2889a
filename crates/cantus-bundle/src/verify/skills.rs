//! The skills on the disk are those that the trace selected.

use std::collections::BTreeSet;

use crate::Fault;
use crate::manifest::Manifest;
use crate::names::{Segment, SourceId, TreePath};
use crate::trace::{Kind, TRACE, Trace};
use crate::tree::{ENTRY, SKILLS, Tree};

/// At most so many names of each side are told where the lists differ.
const MOST_NAMES: usize = 3;

/// A skill of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkillTree {
    /// Its folder, `content/skills/<source>/<skill>`.
    pub folder: TreePath,
    /// Its source.
    pub source: SourceId,
    /// Its id.
    pub id: Segment,
    /// The bytes of all its files.
    pub bytes: u64,
}

/// The selected skills, sorted by their folders.
pub(super) fn check(manifest: &Manifest, trace: &Trace, tree: &Tree) -> Result<Vec<SkillTree>, Fault> {
    let selected = selected(manifest, trace).map_err(|fault| fault.at(TRACE))?;
    let found = found(tree)?;
    let expected: Vec<_> = selected.iter().map(|(name, ..)| name.clone()).collect();
    if found != expected {
        return Err(differs(&found, &expected));
    }
    selected.into_iter().map(|(name, source, id)| skill_tree(tree, &name, source, id)).collect()
}

/// The skills of the trace with the names of their folders, sorted by those.
fn selected(manifest: &Manifest, trace: &Trace) -> Result<Vec<(String, SourceId, Segment)>, Fault> {
    let mut skills = Vec::new();
    for decision in trace.selected(Kind::Skill) {
        let fault = |message: String| Fault::new("trace.skill_path", message);
        let Some(id) = decision.subject.strip_prefix("skill:") else {
            return Err(fault(format!("{:?} is no skill; expected `skill:<id>`", decision.subject)));
        };
        let id = Segment::new(id).map_err(|error| fault(format!("a skill's id: {error}")))?;
        let source = SourceId::new(decision.source.as_str());
        let source =
            source.map_err(|error| fault(format!("the source of the skill {:?}: {error}", id.as_str())))?;
        skills.push((format!("{}/{id}", source.encoded()), source, id));
    }
    if skills.is_empty() {
        return Err(Fault::new("trace.no_skills", "no decision selects a skill"));
    }
    let listed: BTreeSet<_> = manifest.sources.iter().map(String::as_str).collect();
    let unlisted = skills.iter().find(|(_, source, _)| !listed.contains(source.as_str()));
    if let Some((_, source, id)) = unlisted {
        let (source, id) = (source.as_str(), id.as_str());
        let message = format!("the skill {id:?} comes from {source:?}, which the manifest does not list");
        return Err(Fault::new("trace.source_unlisted", message));
    }
    skills.sort();
    Ok(skills)
}

/// The names of the skills' folders on the disk, sorted.
fn found(tree: &Tree) -> Result<Vec<String>, Fault> {
    if !tree.has_folder(SKILLS) {
        return Err(Fault::new("skills.layout", "there is no such folder").at(SKILLS));
    }
    let file =
        tree.files_below(SKILLS).find(|(path, _)| path.strip(SKILLS).is_some_and(|rest| parts(rest) < 3));
    if let Some((path, _)) = file {
        let message = "a file; expected folders of sources, and in them folders of skills";
        return Err(Fault::new("skills.layout", message).at(path.as_str()));
    }
    let names = tree.folders.iter().filter_map(|folder| folder.strip(SKILLS)).filter(|rest| parts(rest) == 2);
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    Ok(names)
}

fn parts(path: &str) -> usize {
    path.split('/').count()
}

fn differs(found: &[String], expected: &[String]) -> Fault {
    let few = |names: Vec<&String>| {
        let shown: Vec<_> = names.iter().take(MOST_NAMES).map(|name| format!("{name:?}")).collect();
        let more = names.len().saturating_sub(MOST_NAMES);
        if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
    };
    let (on_disk, in_trace): (BTreeSet<_>, BTreeSet<_>) = (found.iter().collect(), expected.iter().collect());
    let extra: Vec<_> = on_disk.difference(&in_trace).copied().collect();
    let missing: Vec<_> = in_trace.difference(&on_disk).copied().collect();
    let message = match (extra.as_slice(), missing.as_slice()) {
        ([], []) => "a decision selects the same skill twice".to_owned(),
        (_, []) => format!("not selected by the trace: {}", few(extra)),
        ([], _) => format!("selected by the trace and not there: {}", few(missing)),
        _ => format!("not selected by the trace: {}; selected and not there: {}", few(extra), few(missing)),
    };
    Fault::new("skills.set", message).at(SKILLS)
}

fn skill_tree(tree: &Tree, name: &str, source: SourceId, id: Segment) -> Result<SkillTree, Fault> {
    let folder = format!("{SKILLS}/{name}");
    if tree.file(&format!("{folder}/{ENTRY}")).is_none() {
        return Err(Fault::new("skills.entry", "the skill has no regular file `SKILL.md`").at(folder));
    }
    // Files that are nothing but holes may say more bytes than a number holds.
    let bytes = tree.files_below(&folder).fold(0, |sum: u64, (_, bytes)| sum.saturating_add(bytes));
    let folder = TreePath::new(folder).map_err(|error| Fault::new("skills.layout", error.to_string()))?;
    Ok(SkillTree { folder, source, id, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_all_numbers_are_no_overflow() {
        let path = |name: &str| TreePath::new(format!("{SKILLS}/s/k/{name}")).unwrap();
        let files = [(path(ENTRY), u64::MAX), (path("a"), 1), (path("b"), u64::MAX)].into();
        let tree = Tree { files, ..Tree::default() };
        let (source, id) = (SourceId::new("s").unwrap(), Segment::new("k").unwrap());
        assert_eq!(skill_tree(&tree, "s/k", source, id).unwrap().bytes, u64::MAX);
    }
}
