//! What a tree of our own keeps beyond what every consumer needs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use cantus_fs::Disk;
use cantus_manifest::Digest;

use crate::Fault;
use crate::manifest::MANIFEST;
use crate::names::TreePath;
use crate::trace::TRACE;
use crate::tree::{self, ENTRY, SKILLS};
use crate::verify::{SkillTree, Verified, verify};

/// Verifies the bundle in the folder `root` like [`verify`], and wants more: entry points in their usual places, no stray file or
/// folder, each skill from one source alone, the role's skill among them, and digests that are those of the bytes, as far as the
/// tree has these.
pub fn verify_strictly(disk: &dyn Disk, root: &Path) -> Result<Verified, Fault> {
    let verified = verify(disk, root)?;
    check_entries(&verified)?;
    check_strays(&verified)?;
    check_ids(&verified)?;
    check_digests(disk, root, &verified)?;
    Ok(verified)
}

fn check_entries(verified: &Verified) -> Result<(), Fault> {
    let delivery = &verified.manifest.delivery;
    let usual = [
        ("instructions", &delivery.instructions, "content/instructions.md"),
        ("skills_root", &delivery.skills_root, SKILLS),
        ("compiled_context", &delivery.compiled_context, "delivery/compiled.md"),
    ];
    match usual.into_iter().find(|(_, value, usual)| !value.is_empty() && *value != usual) {
        Some((key, value, usual)) => {
            let message = format!("`{key}` names `{value}`; expected `{usual}`");
            Err(Fault::new("strict.entry", message).at(MANIFEST))
        }
        None => Ok(()),
    }
}

fn check_strays(verified: &Verified) -> Result<(), Fault> {
    let delivery = &verified.manifest.delivery;
    let named = [MANIFEST, TRACE, &delivery.instructions, &delivery.compiled_context];
    let in_skill = |path: &TreePath| {
        let of = |skill: &SkillTree| *path == skill.folder || path.strip(skill.folder.as_str()).is_some();
        verified.skills.iter().any(of)
    };
    let expected = |path: &TreePath| named.contains(&path.as_str()) || in_skill(path);
    let stray = |path: &TreePath, what: &str| {
        Err(Fault::new("strict.stray", format!("a stray {what}")).at(path.as_str()))
    };
    if let Some(file) = verified.tree.files.keys().find(|path| !expected(path)) {
        return stray(file, "file");
    }
    let leading: BTreeSet<_> = verified.tree.files.keys().flat_map(TreePath::folders).collect();
    match verified.tree.folders.iter().find(|folder| !leading.contains(*folder) && !in_skill(folder)) {
        Some(folder) => stray(folder, "folder"),
        None => Ok(()),
    }
}

fn check_ids(verified: &Verified) -> Result<(), Fault> {
    let mut sources = BTreeMap::new();
    for skill in &verified.skills {
        if let Some(other) = sources.insert(skill.id.as_str(), skill.source.as_str()) {
            let message = format!(
                "the skill {:?} comes from {other:?} and {:?}",
                skill.id.as_str(),
                skill.source.as_str()
            );
            return Err(Fault::new("strict.skill_twice", message).at(SKILLS));
        }
    }
    let role = &verified.manifest.role_skill;
    if sources.contains_key(role.as_str()) {
        return Ok(());
    }
    Err(Fault::new("strict.role_skill", format!("the role's skill {role:?} is not among the skills"))
        .at(SKILLS))
}

/// The digests whose bytes are in the tree: those of skills. An entry file is there as its source has it.
fn check_digests(disk: &dyn Disk, root: &Path, verified: &Verified) -> Result<(), Fault> {
    let manifest = &verified.manifest;
    let mut told =
        BTreeMap::from([(manifest.role_skill_source.as_str(), manifest.role_skill_digest.as_str())]);
    for content in &manifest.content {
        if told.insert(&content.id, &content.digest).is_some_and(|digest| digest != content.digest) {
            let message = format!("`role_skill_digest` and `content` disagree about {:?}", content.id);
            return Err(Fault::new("strict.digest", message).at(MANIFEST));
        }
    }
    for skill in &verified.skills {
        let mut ids = vec![format!("{}:skill:{}", skill.source, skill.id)];
        if skill.id.as_str() == manifest.role_skill {
            ids.push(manifest.role_skill_source.clone());
        }
        let wanted: Vec<_> = ids.iter().filter_map(|id| Some((id, *told.get(id.as_str())?))).collect();
        if wanted.is_empty() {
            continue;
        }
        let path = TreePath::new(format!("{}/{ENTRY}", skill.folder));
        let path = path.map_err(|error| Fault::new("strict.digest", error.to_string()))?;
        let unreadable =
            |error: cantus_fs::ReadError| Fault::new("tree.unreadable", error.to_string()).at(path.as_str());
        let bytes = tree::read(disk, root, &path).map_err(unreadable)?;
        let digest = format!("sha256:{}", Digest::of(bytes));
        if let Some((id, _)) = wanted.iter().find(|(_, told)| *told != digest) {
            let message = format!("the digest of {id:?} in the manifest is not that of the file");
            return Err(Fault::new("strict.digest", message).at(path.as_str()));
        }
    }
    Ok(())
}
