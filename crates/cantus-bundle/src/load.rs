//! What a request names, read from the disk: the person package with its libraries, and the sources.

use std::path::Path;

use cantus_fs::{Disk, Kind};
use cantus_manifest::Diagnostic;

use crate::faults::Faults;
use crate::folder::Folder;
use crate::graph::{Declared, Of, Use};
use crate::names::SourceId;
use crate::relative::Relative;
use crate::request::{BUILT_IN, Library, Need, Place, Request, SourceRequest};
use crate::roster::{self, Catalogue, Lent, Roster};
use crate::selector::Pattern;
use crate::source::{self, Source};
use crate::trace::Scope;

/// What faults of packages and sources are called.
const PACKAGE: &str = "bundle.package";
const SOURCE: &str = "bundle.source";
/// Where the graph of a root stands.
pub(crate) const GRAPH: &str = ".agents/roles.kdl";
/// What the absence of an optional source is called, and what comes of it.
const MISSING: &str = "bundle.source_missing";
const WITHOUT: &str = "the bundle is made without it";

/// A source that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Loaded {
    pub(crate) source: Source,
    pub(crate) scope: Scope,
    /// Lists of patterns, each of which narrows what the one before has left.
    pub(crate) passes: Vec<Pass>,
}

/// Patterns that narrow a source, and who says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pass {
    pub(crate) patterns: Vec<Pattern>,
    /// The graph, as its user calls it.
    pub(crate) graph: String,
    pub(crate) line: u32,
}

/// A source that is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Missing {
    pub(crate) id: SourceId,
    pub(crate) scope: Scope,
}

/// Everything that a request names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Materials {
    pub(crate) roster: Roster,
    pub(crate) sources: Vec<Loaded>,
    pub(crate) missing: Vec<Missing>,
}

/// Reads what `request`, whose paths start at `folder`, names. Without a value something is wrong; optional sources that are missing
/// are warnings.
pub(crate) fn load(
    disk: &dyn Disk,
    request: &Request,
    folder: &Path,
    found: &mut Vec<Diagnostic>,
) -> Option<Materials> {
    let roster = roster(disk, request, folder, found);
    let (mut sources, mut missing) = (Vec::new(), Vec::new());
    let mut failed = false;
    for wanted in &request.sources {
        match source(disk, request, folder, wanted, found) {
            Some(Some(source)) => {
                sources.push(Loaded { source, scope: Scope::Request, passes: Vec::new() });
            }
            Some(None) => {
                missing.push(Missing { id: wanted.id.clone(), scope: Scope::Request });
                found.push(absent(request, wanted));
                failed |= wanted.need == Need::Required;
            }
            None => failed = true,
        }
    }
    if failed {
        return None;
    }
    bind(disk, request, &mut sources, &mut missing, found)?;
    Some(Materials { roster: roster?, sources, missing })
}

fn absent(request: &Request, wanted: &SourceRequest) -> Diagnostic {
    let (Place::Declaration(path) | Place::Root(path)) = &wanted.place;
    let message = format!("the source `{}` is missing: nothing is at `{path}`", wanted.id);
    let diagnostic = match wanted.need {
        Need::Required => Diagnostic::error(SOURCE, message).help("put it there, or mend its path"),
        Need::Optional => {
            Diagnostic::warning("bundle.source_missing", message).help("the bundle is made without it")
        }
    };
    diagnostic.at(&request.name).line(wanted.line)
}

fn source(
    disk: &dyn Disk,
    request: &Request,
    folder: &Path,
    wanted: &SourceRequest,
    found: &mut Vec<Diagnostic>,
) -> Option<Option<Source>> {
    source::read(disk, folder, &wanted.id, &wanted.place, &mut Faults::new(SOURCE, request.folder(), found))
}

/// The person package with its libraries.
fn roster(disk: &dyn Disk, request: &Request, folder: &Path, found: &mut Vec<Diagnostic>) -> Option<Roster> {
    let Some(path) = &request.person else {
        return roster::built_in(&mut Faults::new(PACKAGE, BUILT_IN, found));
    };
    let near = request.folder();
    let files = files(disk, folder, path, &mut Faults::new(PACKAGE, &near, found))?;
    let before = found.len();
    let mut faults = Faults::new(PACKAGE, &near, found);
    let mut faults = faults.below(path.as_str());
    let roster = roster::package(&files, &mut faults);
    let (own, _) = files.names("libraries");
    let mut lent = Vec::new();
    for name in own {
        let place = format!("libraries/{name}");
        lent.extend(roster::library(&files.below(&place), &mut faults.below(&place)));
    }
    for library in &request.libraries {
        lent.extend(library_of(disk, folder, library, &mut Faults::new(PACKAGE, &near, found)));
    }
    let mut roster = roster?;
    if found.len() > before {
        return None;
    }
    roster::merge(&mut roster, lent, &mut Faults::new(PACKAGE, &near, found).below(path.as_str()));
    (found.len() == before).then_some(roster)
}

fn library_of(disk: &dyn Disk, folder: &Path, library: &Library, faults: &mut Faults<'_>) -> Option<Lent> {
    match library {
        Library::BuiltIn => {
            let roster = roster::built_in(&mut faults.elsewhere(BUILT_IN))?;
            let mut catalogue = Catalogue { boundaries: Vec::new(), ..roster.catalogue };
            let personalities = &catalogue.personalities;
            catalogue.definitions.retain(|id, _| personalities.iter().any(|it| it.skill == *id));
            Some((BUILT_IN.to_owned(), catalogue, roster.text))
        }
        Library::Folder(path) => {
            let files = files(disk, folder, path, faults)?;
            roster::library(&files, &mut faults.below(path.as_str()))
        }
    }
}

/// The files of a package.
fn files(disk: &dyn Disk, folder: &Path, path: &Relative, faults: &mut Faults<'_>) -> Option<Folder> {
    let mut faults = faults.below(path.as_str());
    let place = match path.find(disk, folder) {
        Ok(Some((place, Kind::Folder))) => place,
        Ok(Some((_, kind))) => {
            faults.add(format!("{kind}; expected the folder of a package"));
            return None;
        }
        Ok(None) => {
            faults.add("no such folder; expected that of a package");
            return None;
        }
        Err(error) => {
            faults.add(format!("cannot be looked at: {error}"));
            return None;
        }
    };
    Folder::read(disk, &place, roster::is_wanted, &mut faults)
}

/// Brings in what the graphs bind to the role: sources of their own, and patterns for those that are there.
fn bind(
    disk: &dyn Disk,
    request: &Request,
    sources: &mut Vec<Loaded>,
    missing: &mut Vec<Missing>,
    found: &mut Vec<Diagnostic>,
) -> Option<()> {
    let mut failed = false;
    // Graphs of what is bound here don't count, so the length of now is what counts.
    for at in 0..sources.len() {
        let Some(graph) = sources[at].source.graph.clone() else { continue };
        let (root, shown) = (sources[at].source.folder.clone(), sources[at].source.shown.clone());
        for used in graph.of(&request.role).map_or(&[][..], |bindings| &bindings.uses) {
            let declared = match used.of {
                Of::Repository => &graph.repositories,
                Of::Provider => &graph.providers,
            };
            let Some(declared) = declared.iter().find(|declared| declared.id == used.id) else { continue };
            let mut faults = Faults::new(SOURCE, &shown, found);
            failed |= bind_one(disk, &root, declared, used, (sources, missing), &mut faults).is_none();
        }
    }
    (!failed).then_some(())
}

fn bind_one(
    disk: &dyn Disk,
    root: &Path,
    declared: &Declared,
    used: &Use,
    (sources, missing): (&mut Vec<Loaded>, &mut Vec<Missing>),
    faults: &mut Faults<'_>,
) -> Option<()> {
    let graph = faults.inside(GRAPH).place();
    let pass =
        |patterns: &Vec<Pattern>| Pass { patterns: patterns.clone(), graph: graph.clone(), line: used.line };
    let passes: Vec<_> = [&declared.patterns, &used.patterns].into_iter().flatten().map(pass).collect();
    if used.of == Of::Repository && passes.is_empty() {
        return Some(());
    }
    let id = SourceId::new(declared.id.as_str()).ok()?;
    if let Some(known) = sources.iter_mut().find(|known| known.source.id == id) {
        known.passes.extend(passes);
        return Some(());
    }
    let source = match &declared.place {
        Some(path) => provider(disk, root, &id, path, faults)?,
        None => None,
    };
    match source {
        Some(source) => sources.push(Loaded { source, scope: Scope::Role, passes }),
        None if used.need == Need::Required => {
            let message = format!(
                "the provider `{id}` is required and not there; name it as a `source` of the request"
            );
            faults.inside(GRAPH).at(used.line, message);
            return None;
        }
        None if missing.iter().any(|known| known.id == id) => {}
        None => {
            let message = format!("the provider `{id}`, which the role draws on, is not there");
            faults.inside(GRAPH).warn(MISSING, used.line, message, WITHOUT);
            missing.push(Missing { id, scope: Scope::Role });
        }
    }
    Some(())
}

/// A provider that lies in a root. Graphs of providers don't count.
fn provider(
    disk: &dyn Disk,
    root: &Path,
    id: &SourceId,
    path: &Relative,
    faults: &mut Faults<'_>,
) -> Option<Option<Source>> {
    let source = source::read(disk, root, id, &Place::Root(path.clone()), faults)?;
    Some(source.map(|source| Source { composed: Vec::new(), graph: None, ..source }))
}
