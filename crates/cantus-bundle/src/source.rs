//! A source: instructions and skills that a request brings in, declared in a file or found in a folder.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind};

use crate::faults::Faults;
use crate::folder::Folder;
use crate::graph::Graph;
use crate::names::{Segment, SourceId};
use crate::node::{self, Node, Shape};
use crate::relative::Relative;
use crate::request::Place;
use crate::resolution::{Entry, Instruction, Skill};
use crate::tree::MOST_BYTES;

/// The id of the instruction that holds whatever the role.
pub(crate) const INVARIANT: &str = "personality-invariant";
/// The folder beside skills in which a root keeps it.
const SHARED: &str = "personality-shared";

/// A source with its bytes, nothing chosen yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) id: SourceId,
    /// Where it is, for what lies in it.
    pub(crate) folder: PathBuf,
    /// What its user calls that place, for findings.
    pub(crate) shown: String,
    pub(crate) instructions: Vec<Instruction>,
    /// Ordinary skills.
    pub(crate) skills: Vec<Skill>,
    /// Skills that are there for roles.
    pub(crate) composed: Vec<Skill>,
    pub(crate) graph: Option<Graph>,
}

/// Reads the source `id` at `place` below `folder`: `Some(None)` if nothing is there, `None` if something is wrong.
pub(crate) fn read(
    disk: &dyn Disk,
    folder: &Path,
    id: &SourceId,
    place: &Place,
    faults: &mut Faults<'_>,
) -> Option<Option<Source>> {
    let (Place::Declaration(path) | Place::Root(path)) = place;
    let expected = if matches!(place, Place::Root(_)) { Kind::Folder } else { Kind::File };
    let mut faults = faults.below(path.as_str());
    let Some(found) = look(disk, folder, path, expected, &mut faults)? else { return Some(None) };
    let before = faults.count();
    let source = match place {
        Place::Root(_) => root(disk, &found, id, &mut faults),
        Place::Declaration(_) => declaration(disk, &found, id, &mut faults)?,
    };
    (faults.count() == before).then_some(Some(source))
}

/// Where `path` is below `folder`: `Some(None)` if nothing is there, `None` if it is something else than expected.
fn look(
    disk: &dyn Disk,
    folder: &Path,
    path: &Relative,
    expected: Kind,
    faults: &mut Faults<'_>,
) -> Option<Option<PathBuf>> {
    match path.find(disk, folder) {
        Ok(None) => Some(None),
        Ok(Some((place, kind))) if kind == expected => Some(Some(place)),
        Ok(Some((_, kind))) => {
            faults.add(format!("{kind}; expected {expected}"));
            None
        }
        Err(error) => {
            faults.add(format!("cannot be looked at: {error}"));
            None
        }
    }
}

fn bytes(disk: &dyn Disk, path: &Path, faults: &mut Faults<'_>) -> Option<Vec<u8>> {
    disk.read(path, MOST_BYTES).map_err(|error| faults.add(format!("cannot be read: {error}"))).ok()
}

/// A source as its declaration says. What it names lies beside it.
fn declaration(disk: &dyn Disk, file: &Path, id: &SourceId, faults: &mut Faults<'_>) -> Option<Source> {
    let nodes = node::read(&bytes(disk, file, faults)?, faults)?;
    let node = node::only(&nodes, &["source"], faults)?;
    node.check(&Shape { args: 1..=1, props: &[], children: Some(&["instruction", "skill"]) }, faults);
    if node.first() != id.as_str() {
        faults.at(node.line, format!("declares `{}`; the request calls it `{id}`", node.first()));
    }
    let folder = file.parent()?.to_path_buf();
    let mut source = empty(id, folder.clone(), faults.root());
    let mut seen = BTreeSet::new();
    for child in node.children() {
        if !seen.insert((child.name.as_str(), child.first())) {
            faults.at(child.line, format!("the {} `{}` is declared twice", child.name, child.first()));
        }
        child.check(&Shape { args: 1..=1, props: &["path"], children: None }, faults);
        let Some((path, place, kind)) = declared(disk, &folder, child, faults) else { continue };
        match (child.name.as_str(), kind) {
            ("instruction", Kind::File) => {
                let bytes = bytes(disk, &place, faults);
                let instruction =
                    |bytes| Instruction { source: id.clone(), id: child.first().to_owned(), bytes };
                source.instructions.extend(bytes.map(instruction));
            }
            ("skill", Kind::Folder) => {
                let name = Segment::new(child.first());
                let Ok(name) = name.map_err(|error| faults.at(child.line, error.to_string())) else {
                    continue;
                };
                let inside = faults.beside(path.as_str());
                source.skills.extend(skill(disk, &place, name, id, Entry::Skill, inside));
            }
            (_, kind) => faults.at(child.line, format!("`{path}` is {kind}; expected {}", wanted(child))),
        }
    }
    Some(source)
}

fn wanted(node: &Node) -> &'static str {
    if node.name == "skill" { "a folder with `SKILL.md`" } else { "a regular file" }
}

/// What a declared path names.
fn declared(
    disk: &dyn Disk,
    folder: &Path,
    node: &Node,
    faults: &mut Faults<'_>,
) -> Option<(Relative, PathBuf, Kind)> {
    let path = node.need("path", faults)?;
    let path = Relative::new(&path).map_err(|fault| faults.at(node.line, fault)).ok()?;
    match path.find(disk, folder) {
        Ok(Some((place, kind))) => Some((path, place, kind)),
        Ok(None) => {
            faults.at(node.line, format!("`{path}` is not there; expected {}", wanted(node)));
            None
        }
        Err(error) => {
            faults.at(node.line, format!("`{path}` cannot be looked at: {error}"));
            None
        }
    }
}

fn empty(id: &SourceId, folder: PathBuf, shown: &str) -> Source {
    let (instructions, skills, composed) = (Vec::new(), Vec::new(), Vec::new());
    Source { id: id.clone(), folder, shown: shown.to_owned(), instructions, skills, composed, graph: None }
}

/// The skill called `name` in a folder of a root.
fn skill_of_root(
    disk: &dyn Disk,
    place: &Path,
    name: &str,
    source: &SourceId,
    entry: Entry,
    faults: &mut Faults<'_>,
) -> Option<Skill> {
    let mut faults = faults.below(name);
    let id = Segment::new(name).map_err(|error| faults.add(error.to_string())).ok()?;
    skill(disk, place, id, source, entry, faults)
}

/// The skill in the folder `place`, whole, of which the faults speak.
fn skill(
    disk: &dyn Disk,
    place: &Path,
    id: Segment,
    source: &SourceId,
    entry: Entry,
    mut faults: Faults<'_>,
) -> Option<Skill> {
    let folder = Folder::read(disk, place, |_| true, &mut faults)?;
    if entry == Entry::Composed {
        let stray = folder.files.keys().find(|path| path.as_str().rsplit('/').next() == Some("SKILL.md"));
        if let Some(stray) = stray {
            faults
                .inside(stray.as_str())
                .add("a composed skill has no `SKILL.md`; its entry is `COMPOSED.md`");
            return None;
        }
    }
    let skill = folder.skill(source, id, entry);
    if skill.is_none() {
        faults.add(format!("no regular file `{}` in it", entry.file_name()));
    }
    skill
}

/// A source as its folder has it.
fn root(disk: &dyn Disk, folder: &Path, id: &SourceId, faults: &mut Faults<'_>) -> Source {
    let mut source = empty(id, folder.to_path_buf(), faults.root());
    let mut names = Vec::new();
    for (name, kind) in entries(disk, folder, ".agents/skills", faults) {
        let mut inside = faults.below(".agents/skills");
        let place = folder.join(".agents").join("skills").join(&name);
        match kind {
            Kind::Symlink => inside.inside(&name).add("a symlink; copy what it leads to"),
            Kind::Folder if name == SHARED => {
                source.instructions.extend(invariant(disk, &place, id, &mut inside));
            }
            Kind::Folder => {
                source.skills.extend(skill_of_root(disk, &place, &name, id, Entry::Skill, &mut inside));
                names.push(name);
            }
            _ => {}
        }
    }
    if names.is_empty() {
        faults.inside(".agents/skills").add("no skill in it; a root has one at least");
    }
    let graph = look_below(disk, folder, ".agents/roles.kdl", Kind::File, faults);
    if let Some(path) = &graph {
        let mut inside = faults.inside(".agents/roles.kdl");
        source.graph = bytes(disk, path, &mut inside).and_then(|text| Graph::read(&text, &mut inside));
    }
    let has = if graph.is_some() { Has::Graph } else { Has::Nothing };
    composed(disk, &mut source, has, &names, faults);
    source
}

fn invariant(disk: &dyn Disk, place: &Path, id: &SourceId, faults: &mut Faults<'_>) -> Option<Instruction> {
    let path = place.join("INVARIANT.md");
    let mut faults = faults.inside("personality-shared/INVARIANT.md");
    match disk.kind(&path) {
        Ok(None) => return None,
        Ok(Some(Kind::File)) => {}
        Ok(Some(kind)) => {
            faults.add(format!("{kind}; expected a regular file"));
            return None;
        }
        Err(error) => {
            faults.add(format!("cannot be looked at: {error}"));
            return None;
        }
    }
    let bytes = bytes(disk, &path, &mut faults)?;
    Some(Instruction { source: id.clone(), id: INVARIANT.to_owned(), bytes })
}

/// Whether a root says what its roles draw on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Has {
    Graph,
    Nothing,
}

/// The skills that are there for roles, for which there must be a graph.
fn composed(disk: &dyn Disk, source: &mut Source, graph: Has, ordinary: &[String], faults: &mut Faults<'_>) {
    const PLACE: &str = ".agents/composed";
    let folder = source.folder.clone();
    let found = entries(disk, &folder, PLACE, faults);
    let stands = matches!(disk.kind(&folder.join(".agents").join("composed")), Ok(Some(_)));
    if stands && graph == Has::Nothing {
        faults.inside(PLACE).add("needs `.agents/roles.kdl`, which says for which roles they are");
    }
    for (name, kind) in found.into_iter().filter(|(name, _)| !name.starts_with('.')) {
        let mut inside = faults.below(PLACE);
        if kind != Kind::Folder {
            inside.inside(&name).add(format!("{kind}; expected a folder with `COMPOSED.md`"));
        } else if ordinary.contains(&name) {
            inside.inside(&name).add("an ordinary skill has this name too");
        } else {
            let place = folder.join(".agents").join("composed").join(&name);
            let skill = skill_of_root(disk, &place, &name, &source.id, Entry::Composed, &mut inside);
            source.composed.extend(skill);
        }
    }
}

/// Where `path` is below a root, if it is there and what is expected; anything else is told.
fn look_below(
    disk: &dyn Disk,
    folder: &Path,
    path: &str,
    expected: Kind,
    faults: &mut Faults<'_>,
) -> Option<PathBuf> {
    let relative = Relative::new(path).ok()?;
    look(disk, folder, &relative, expected, &mut faults.inside(path)).flatten()
}

/// What a folder of a root holds, in byte order; nothing if there is none. A name that isn't UTF-8 is told.
fn entries(disk: &dyn Disk, folder: &Path, path: &str, faults: &mut Faults<'_>) -> Vec<(String, Kind)> {
    let Some(place) = look_below(disk, folder, path, Kind::Folder, faults) else { return Vec::new() };
    let mut faults = faults.inside(path);
    let listed = disk.list(&place).map_err(|error| faults.add(format!("cannot be looked at: {error}")));
    let entry = |entry: cantus_fs::Entry| match entry.name.into_string() {
        Ok(name) => Some((name, entry.kind)),
        Err(_) => {
            faults.add("holds a name that is not UTF-8");
            None
        }
    };
    listed.unwrap_or_default().into_iter().filter_map(entry).collect()
}
