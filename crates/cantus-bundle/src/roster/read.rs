//! A package from its files.

use super::{Catalogue, Role, Roster, catalogue, role};
use crate::faults::Faults;
use crate::folder::Folder;
use crate::names::{Segment, SourceId, TreePath};
use crate::node::{self, Node, Shape};

/// Reads a person package; its libraries of its own are not merged yet. Without a value something is wrong.
pub(crate) fn package(files: &Folder, faults: &mut Faults<'_>) -> Option<Roster> {
    let before = faults.count();
    let (kind, name) = head(files, "person.kdl", &["person", "roster"], faults)?;
    let mut catalogue = catalogue_of(files, faults);
    catalogue::define(&mut catalogue, files, faults);
    let roles = roles(files, faults);
    check_strays(files, &roles, faults);
    let invariant = files.file("definitions/INVARIANT.md").map(<[u8]>::to_vec);
    if invariant.as_ref().is_some_and(|bytes| bytes.trim_ascii().is_empty()) {
        faults.inside("definitions/INVARIANT.md").add("it is empty");
    }
    if files.names("roles").1.is_empty() {
        faults.add("a package needs a role at least, `roles/10-<slug>.kdl`");
    }
    let id = SourceId::new(format!("{kind}:{name}"))
        .map_err(|error| faults.inside("person.kdl").add(error.to_string()))
        .ok()?;
    let roster = Roster { id, name, roles, catalogue, invariant, text: text(files) };
    (faults.count() == before).then_some(roster)
}

/// Reads a library of personalities and boundaries, with its name and its KDL texts. Without a value something is wrong.
pub(crate) fn library(files: &Folder, faults: &mut Faults<'_>) -> Option<(String, Catalogue, Vec<u8>)> {
    let before = faults.count();
    let (_, name) = head(files, "library.kdl", &["library"], faults)?;
    let mut catalogue = catalogue_of(files, faults);
    catalogue::define(&mut catalogue, files, faults);
    (faults.count() == before).then(|| (name, catalogue, text(files)))
}

/// The kind and the name that a package's first file says.
fn head(files: &Folder, file: &str, kinds: &[&str], faults: &mut Faults<'_>) -> Option<(String, String)> {
    let mut faults = faults.inside(file);
    let Some(bytes) = files.file(file) else {
        faults.add("missing; the package says its name there");
        return None;
    };
    let nodes = node::read(bytes, &mut faults)?;
    let node = node::only(&nodes, kinds, &mut faults)?;
    let fits = node.check(&Shape::NAME, &mut faults);
    fits.then(|| (node.name.clone(), node.first().to_owned()))
}

fn catalogue_of(files: &Folder, faults: &mut Faults<'_>) -> Catalogue {
    let mut catalogue = Catalogue::default();
    for (path, node) in numbered(files, "personalities", "personality", faults) {
        let mut faults = faults.inside(&path);
        catalogue.personalities.extend(catalogue::personality(&node, &mut faults));
    }
    for (path, node) in numbered(files, "boundaries", "boundary", faults) {
        catalogue.boundaries.extend(catalogue::boundary(&node, &mut faults.inside(&path)));
    }
    numbered(files, "inspirations", "inspiration", faults);
    catalogue::check_unique(&catalogue, faults);
    catalogue
}

fn roles(files: &Folder, faults: &mut Faults<'_>) -> Vec<Role> {
    let found = numbered(files, "roles", "role", faults);
    let role = |(path, node): (String, Node)| {
        role::role(&node, &files.below(&format!("roles/{}", node.first())), &mut faults.inside(&path))
    };
    found.into_iter().filter_map(role).collect()
}

/// The nodes `name` of the files `NN-<slug>.kdl` of a folder, in the order of the files, each with the path of its file.
fn numbered(files: &Folder, folder: &str, name: &str, faults: &mut Faults<'_>) -> Vec<(String, Node)> {
    let (_, names) = files.names(folder);
    let mut nodes: Vec<(String, Node)> = Vec::new();
    for file in names {
        let path = format!("{folder}/{file}");
        let mut faults = faults.inside(&path);
        let Some(slug) = slug(&file) else {
            faults.add("expected a name such as `10-<slug>.kdl`, the slug of `a-z`, `0-9` and `-`");
            continue;
        };
        let read = node::read(files.file(&path).unwrap_or_default(), &mut faults);
        let Some(node) = read.and_then(|nodes| node::only(&nodes, &[name], &mut faults).cloned()) else {
            continue;
        };
        if node.first() != slug {
            let message = format!("the file is of `{slug}`, its {name} is called `{}`", node.first());
            faults.at(node.line, message);
            continue;
        }
        if nodes.iter().any(|(_, known)| known.first() == slug) {
            faults.at(node.line, format!("a second {name} called `{slug}`"));
            continue;
        }
        nodes.push((path, node));
    }
    nodes
}

/// The slug of a file called `NN-<slug>.kdl`, which may stand in a tree.
fn slug(file: &str) -> Option<&str> {
    let name = file.strip_suffix(".kdl")?;
    let (number, slug) = name.split_at_checked(2)?;
    let slug = slug.strip_prefix('-')?;
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && super::is_token(slug) && Segment::new(slug).is_ok()).then_some(slug)
}

/// Tells folders of roles that don't exist.
fn check_strays(files: &Folder, roles: &[Role], faults: &mut Faults<'_>) {
    let (folders, _) = files.names("roles");
    let is_role = |name: &String| roles.iter().any(|role| role.slug == *name);
    // A role that could not be read has its folder all the same.
    let has_file =
        |name: &String| files.names("roles").1.iter().any(|file| slug(file) == Some(name.as_str()));
    for stray in folders.iter().filter(|name| !is_role(name) && !has_file(name)) {
        faults.inside(&format!("roles/{stray}")).add("no file says what role this is");
    }
}

/// The KDL texts of a package, libraries aside, each with its path.
fn text(files: &Folder) -> Vec<u8> {
    let is_text = |path: &TreePath| path.as_str().ends_with(".kdl") && path.strip("libraries").is_none();
    let mut text = Vec::new();
    for (path, bytes) in files.files.iter().filter(|(path, _)| is_text(path)) {
        text.extend_from_slice(format!("// {path} {}\n", bytes.len()).as_bytes());
        text.extend_from_slice(bytes);
    }
    text
}

/// Whether a file of a package is read at all; others are nobody's business.
pub(crate) fn is_wanted(path: &TreePath) -> bool {
    const FOLDERS: &[&str] =
        &["roles", "boundaries", "personalities", "inspirations", "definitions", "libraries"];
    matches!(path.as_str(), "person.kdl" | "library.kdl")
        || FOLDERS.iter().any(|folder| path.strip(folder).is_some())
}
