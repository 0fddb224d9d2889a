//! Whether a folder is a whole, consistent bundle. Reads only; the first fault wins.

mod providers;
mod repositories;
mod skills;

use std::collections::BTreeSet;
use std::path::Path;

use cantus_fs::Disk;

use crate::manifest::{FORMAT, MANIFEST, Manifest, Mode, Tier};
use crate::names::{Segment, TreePath};
use crate::trace::{Kind, TRACE, TRACE_FORMAT, Trace};
use crate::tree::{self, Tree};
use crate::{Colour, Fault};

pub use skills::SkillTree;

/// A bundle that was found valid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Its manifest; an empty tier is `frontier`.
    pub manifest: Manifest,
    /// Its trace.
    pub trace: Trace,
    /// How it is delivered.
    pub mode: Mode,
    /// Its skills, sorted by their folders.
    pub skills: Vec<SkillTree>,
    /// Everything that lies in it.
    pub tree: Tree,
}

/// Verifies the bundle in the folder `root`, an absolute path.
///
/// The tree, the manifest, the trace and the skills must fit each other. What a consumer doesn't need is not held against a
/// producer: digests are not computed anew, files outside the skills may lie around. [`verify_strictly`] wants more.
///
/// [`verify_strictly`]: crate::verify_strictly
pub fn verify(disk: &dyn Disk, root: &Path) -> Result<Verified, Fault> {
    let tree = Tree::walk(disk, root)?;
    let text = read(disk, root, &tree, MANIFEST, "manifest.read")?;
    let mut manifest = Manifest::read(&text)
        .map_err(|error| Fault::new("manifest.parse", error.to_string()).at(MANIFEST))?;
    check_manifest(&mut manifest).map_err(|fault| fault.at(MANIFEST))?;
    let mode = check_delivery(&manifest, &tree).map_err(|fault| fault.at(MANIFEST))?;
    let text = read(disk, root, &tree, TRACE, "trace.read")?;
    let trace = Trace::read(&text).map_err(|error| Fault::new("trace.parse", error.to_string()).at(TRACE))?;
    check_profiles(&manifest, &trace).map_err(|fault| fault.at(TRACE))?;
    repositories::check(&manifest, &trace)?;
    let skills = skills::check(&manifest, &trace, &tree)?;
    providers::check(&manifest, &trace, &skills).map_err(|fault| fault.at(TRACE))?;
    Ok(Verified { manifest, trace, mode, skills, tree })
}

/// The bytes of a file that the tree must have.
fn read(disk: &dyn Disk, root: &Path, tree: &Tree, name: &str, code: &'static str) -> Result<Vec<u8>, Fault> {
    let Some((path, _)) = tree.file(name) else {
        return Err(Fault::new(code, "there is no such file in the bundle").at(name));
    };
    tree::read(disk, root, path).map_err(|error| Fault::new(code, error.to_string()).at(name))
}

/// What the manifest says by itself.
fn check_manifest(manifest: &mut Manifest) -> Result<(), Fault> {
    if manifest.format != FORMAT {
        return Err(Fault::new(
            "manifest.format",
            format!("`format` is {:?}; expected {FORMAT:?}", manifest.format),
        ));
    }
    check_role(manifest)?;
    if manifest.model_tier.is_empty() {
        manifest.model_tier = Tier::default().as_str().to_owned();
    }
    if Tier::named(&manifest.model_tier).is_none() {
        let message =
            format!("`model_tier` is {:?}; expected `frontier`, `commodity` or `oss`", manifest.model_tier);
        return Err(Fault::new("manifest.tier", message));
    }
    check_personalities(&manifest.personalities)?;
    let legible = manifest.color.parse::<Colour>().and_then(Colour::check_legible);
    legible.map_err(|error| Fault::new("manifest.color", format!("`color`: {error}")))?;
    if manifest.sources.is_empty() || manifest.sources.iter().any(String::is_empty) {
        return Err(Fault::new("manifest.sources", "`sources` is empty or has an empty id"));
    }
    check_content(manifest)
}

fn check_role(manifest: &Manifest) -> Result<(), Fault> {
    let Manifest { role, role_skill, role_skill_source, role_skill_digest, personalities, .. } = manifest;
    if [role, role_skill, role_skill_source, role_skill_digest].into_iter().any(String::is_empty)
        || personalities.is_empty()
    {
        let message = "`role`, `role_skill`, `role_skill_source` and `role_skill_digest` must not be empty, and \
                       `personalities` must name one";
        return Err(Fault::new("manifest.role", message));
    }
    if role_skill.strip_prefix("role-") != Some(role) {
        let message = format!("`role_skill` is {role_skill:?}; expected {:?}", format!("role-{role}"));
        return Err(Fault::new("manifest.role_skill", message));
    }
    Ok(())
}

fn check_personalities(names: &[String]) -> Result<(), Fault> {
    let mut seen = BTreeSet::new();
    for name in names {
        if let Err(error) = Segment::new(name.as_str()) {
            return Err(Fault::new("manifest.personality", format!("a personality's name: {error}")));
        }
        if !seen.insert(name) {
            return Err(Fault::new(
                "manifest.personality",
                format!("the personality {name:?} stands there twice"),
            ));
        }
    }
    Ok(())
}

fn check_content(manifest: &Manifest) -> Result<(), Fault> {
    let fault = |message: String| Fault::new("manifest.content", message);
    if manifest.content.is_empty() {
        return Err(fault("`content` is empty".to_owned()));
    }
    let mut seen = BTreeSet::new();
    for content in &manifest.content {
        if content.id.is_empty() || !seen.insert(&content.id) {
            return Err(fault(format!(
                "the id {:?} in `content` is empty or stands there twice",
                content.id
            )));
        }
        if content.digest.len() != 71 || !content.digest.starts_with("sha256:") {
            return Err(fault(format!("the digest of {:?} is not `sha256:` and 64 digits", content.id)));
        }
    }
    Ok(())
}

/// Where a consumer enters, and how the bundle is delivered.
fn check_delivery(manifest: &Manifest, tree: &Tree) -> Result<Mode, Fault> {
    let delivery = &manifest.delivery;
    check_file(tree, "instructions", &delivery.instructions)?;
    match Mode::named(&delivery.mode) {
        Some(Mode::NativeSkills) => {
            check_absent("compiled_context", &delivery.compiled_context, Mode::NativeSkills)?;
            check_folder(tree, "skills_root", &delivery.skills_root)?;
            Ok(Mode::NativeSkills)
        }
        Some(Mode::Compiled) => {
            check_absent("skills_root", &delivery.skills_root, Mode::Compiled)?;
            check_file(tree, "compiled_context", &delivery.compiled_context)?;
            Ok(Mode::Compiled)
        }
        None => {
            let message = format!("`mode` is {:?}; expected `native-skills` or `compiled`", delivery.mode);
            Err(Fault::new("delivery.mode", message))
        }
    }
}

fn check_absent(key: &str, value: &str, mode: Mode) -> Result<(), Fault> {
    if value.is_empty() {
        return Ok(());
    }
    Err(Fault::new("delivery.mode_fields", format!("`{key}` has no place in the delivery `{mode}`")))
}

fn check_file(tree: &Tree, key: &str, value: &str) -> Result<(), Fault> {
    let path = entry_path(key, value)?;
    if tree.files.contains_key(&path) {
        return Ok(());
    }
    Err(wrong_entry(key, value, tree.folders.contains(&path).then_some("a folder; expected a file")))
}

fn check_folder(tree: &Tree, key: &str, value: &str) -> Result<(), Fault> {
    let path = entry_path(key, value)?;
    if tree.folders.contains(&path) {
        return Ok(());
    }
    Err(wrong_entry(key, value, tree.files.contains_key(&path).then_some("a file; expected a folder")))
}

fn entry_path(key: &str, value: &str) -> Result<TreePath, Fault> {
    if value.is_empty() {
        return Err(Fault::new("entry.missing_name", format!("`delivery` has no `{key}`")));
    }
    TreePath::new(value).map_err(|error| Fault::new("entry.path", format!("`{key}`: {error}")))
}

fn wrong_entry(key: &str, value: &str, is: Option<&str>) -> Fault {
    match is {
        Some(is) => Fault::new("entry.type", format!("`{key}` names `{value}`, which is {is}")),
        None => Fault::new("entry.absent", format!("`{key}` names `{value}`, which the bundle has not")),
    }
}

/// The role, the personalities and the boundaries of the manifest are what the trace selected, and nothing else is.
fn check_profiles(manifest: &Manifest, trace: &Trace) -> Result<(), Fault> {
    if trace.format != TRACE_FORMAT {
        return Err(Fault::new(
            "trace.format",
            format!("`format` is {:?}; expected {TRACE_FORMAT:?}", trace.format),
        ));
    }
    let selected: Vec<_> = trace.selected(Kind::Profile).map(|decision| decision.subject.as_str()).collect();
    let subjects: BTreeSet<_> = selected.iter().copied().collect();
    let personalities = manifest.personalities.iter().map(|name| format!("personality:{name}"));
    let boundaries = manifest.boundaries.iter().map(|name| format!("boundary:{name}"));
    let named: Vec<_> =
        [format!("role:{}", manifest.role)].into_iter().chain(personalities).chain(boundaries).collect();
    if let Some(missing) = named.iter().find(|subject| !subjects.contains(subject.as_str())) {
        let message = format!("no decision selects the profile {missing:?}, which the manifest names");
        return Err(Fault::new("trace.profile_missing", message));
    }
    if selected.len() != named.len() {
        let (found, expected) = (selected.len(), named.len());
        let message = format!("{found} profile decisions are selected; the manifest names {expected}");
        return Err(Fault::new("trace.profile_count", message));
    }
    Ok(())
}
