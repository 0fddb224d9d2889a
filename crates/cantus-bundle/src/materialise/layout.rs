//! Which files and folders the tree of a resolution has.

use std::collections::{BTreeMap, BTreeSet};

use super::MaterialiseError;
use crate::instructions::{assemble, compile};
use crate::manifest::{Content, Delivery, FORMAT, MANIFEST, Manifest, Mode};
use crate::names::{Segment, TreePath};
use crate::resolution::{Resolution, Skill};
use crate::trace::{TRACE, Trace};
use crate::tree::{ENTRY, SKILLS};

/// Where the instructions stand in a tree.
const INSTRUCTIONS: &str = "content/instructions.md";
/// Where the compiled document stands.
const COMPILED: &str = "delivery/compiled.md";

/// The tree of a resolution: what is written where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The folders, each after the one that holds it.
    pub(super) folders: BTreeSet<TreePath>,
    /// The files in the order in which they are written, the manifest last.
    pub(super) files: Vec<(TreePath, Vec<u8>)>,
}

impl Layout {
    pub(super) fn new(resolution: &Resolution) -> Result<Self, MaterialiseError> {
        if resolution.skills.is_empty() {
            return Err(MaterialiseError::Resolution(
                "no skill is selected; a bundle has at least one".to_owned(),
            ));
        }
        let Resolution { base, role, card, instructions, .. } = resolution;
        let text = assemble(base, role, card, instructions);
        let mut layout = Self { folders: BTreeSet::new(), files: Vec::new() };
        let mut body = text.len();
        let compiled = (resolution.delivery == Mode::Compiled).then(|| compile(&text, &resolution.skills));
        layout.put(TreePath::new(INSTRUCTIONS)?, text);
        for skill in &resolution.skills {
            layout.put_skill(skill)?;
        }
        if let Some(compiled) = compiled {
            body = compiled.len();
            layout.put(TreePath::new(COMPILED)?, compiled);
        }
        let trace = Trace::new(resolution.decisions.clone(), resolution.providers.clone());
        layout.put(TreePath::new(TRACE)?, trace.text().into_bytes());
        layout.put(TreePath::new(MANIFEST)?, manifest(resolution, body).text().into_bytes());
        Ok(layout)
    }

    fn put(&mut self, path: TreePath, bytes: Vec<u8>) {
        self.folders.extend(path.folders());
        self.files.push((path, bytes));
    }

    /// The whole folder of a skill, its entry file under the one name.
    fn put_skill(&mut self, skill: &Skill) -> Result<(), MaterialiseError> {
        let (id, entry) = (&skill.id, skill.entry.file_name());
        if skill.entry_bytes().is_none() {
            return Err(MaterialiseError::Resolution(format!("the skill `{id}` has no `{entry}`")));
        }
        let folder = TreePath::new(SKILLS)?.join(&Segment::new(skill.source.encoded())?).join(id);
        if self.folders.contains(&folder) {
            let message = format!("the skill `{id}` of `{}` is selected twice", skill.source);
            return Err(MaterialiseError::Resolution(message));
        }
        let mut files = BTreeMap::new();
        for (path, bytes) in &skill.files {
            let is_entry = path.as_str() == entry;
            let below = if is_entry { Segment::new(ENTRY)?.into() } else { path.clone() };
            if files.insert(below, bytes).is_some() {
                return Err(MaterialiseError::Resolution(format!(
                    "the skill `{id}` has both `{entry}` and `{ENTRY}`"
                )));
            }
        }
        for (path, bytes) in files {
            self.put(folder.below(&path), bytes.clone());
        }
        for path in &skill.folders {
            let path = folder.below(path);
            self.folders.extend(path.folders());
            self.folders.insert(path);
        }
        Ok(())
    }
}

/// The manifest of a bundle that hands its consumer `body` bytes.
fn manifest(resolution: &Resolution, body: usize) -> Manifest {
    let native = resolution.delivery == Mode::NativeSkills;
    let only = |wanted: bool, path: &str| if wanted { path.to_owned() } else { String::new() };
    let content = resolution.content.iter();
    Manifest {
        format: FORMAT.to_owned(),
        role: resolution.role.clone(),
        role_skill: format!("role-{}", resolution.role),
        role_skill_source: resolution.role_source.clone(),
        role_skill_digest: format!("sha256:{}", resolution.role_digest),
        model_tier: resolution.tier.to_string(),
        personalities: resolution.personalities.iter().map(ToString::to_string).collect(),
        boundaries: resolution.boundaries.clone(),
        color: resolution.colour.to_string(),
        identity: Some(resolution.identity.clone()),
        sources: resolution.sources.iter().map(ToString::to_string).collect(),
        repositories: resolution.repositories.clone(),
        content: content
            .map(|(id, digest)| Content { id: id.clone(), digest: format!("sha256:{digest}") })
            .collect(),
        delivery: Delivery {
            mode: resolution.delivery.to_string(),
            instructions: INSTRUCTIONS.to_owned(),
            skills_root: only(native, SKILLS),
            compiled_context: only(!native, COMPILED),
            body_bytes: i64::try_from(body).unwrap_or(i64::MAX),
        },
    }
}
