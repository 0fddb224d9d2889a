//! From a request to what makes the bytes of a tree, with a reason for each decision.

mod choose;
mod content;
mod profile;
mod select;

use std::collections::BTreeMap;
use std::path::Path;

use cantus_fs::Disk;
use cantus_manifest::{Diagnostic, Digest, Outcome};

use crate::card::{self, Card};
use crate::faults::Faults;
use crate::load::{Loaded, Materials, load};
use crate::manifest::{Mode, Repository};
use crate::names::{Segment, SourceId};
use crate::request::Request;
use crate::resolution::Resolution;
use crate::roster::{Doctrine, Roster};
use crate::trace::{Decision, Kind, Provider, Scope, Verdict, tokens};

use choose::Chooser;
use profile::Profile;
use select::Selection;

/// What faults of a request that can't be resolved are called.
pub(crate) const CODE: &str = "bundle.resolve";

/// The most bytes that file systems allow for a name.
const LONGEST: usize = 255;

/// The Cantus render that leads the instructions of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// Its name.
    pub render: String,
    /// Its bytes.
    pub text: Vec<u8>,
    /// The common digest that it has with the other renders of its project.
    pub common: Digest,
}

/// Resolves `request`, whose paths start at the absolute folder `folder`. `base` is the render that it names, composed by the caller.
///
/// Without a value something is wrong. Warnings are sources that are optional and missing, and skills that several patterns of a role
/// name.
#[must_use]
pub fn resolve(
    disk: &dyn Disk,
    request: &Request,
    folder: &Path,
    base: Option<&Base>,
) -> Outcome<Option<Resolution>> {
    let mut diagnostics = Vec::new();
    let value = load(disk, request, folder, &mut diagnostics)
        .and_then(|materials| assemble(request, materials, base, &mut diagnostics));
    Outcome { value, diagnostics }
}

/// The slugs of the roles in the built-in roster, in its order.
#[must_use]
pub fn built_in_roles() -> Vec<String> {
    let roster = crate::roster::built_in(&mut Faults::new(CODE, "", &mut Vec::new()));
    roster.map(|roster| roster.roles.into_iter().map(|role| role.slug).collect()).unwrap_or_default()
}

/// The pure half: nothing is read any more.
fn assemble(
    request: &Request,
    materials: Materials,
    base: Option<&Base>,
    found: &mut Vec<Diagnostic>,
) -> Option<Resolution> {
    let Materials { roster, sources, missing } = materials;
    let mut faults = Faults::new(CODE, &request.name, found);
    if request.base.is_some() != base.is_some() {
        faults.add("the render that `base` names was not handed in");
        return None;
    }
    if !check_ids(&sources, &roster, request, &mut faults) {
        return None;
    }
    let profile = Profile::new(request, &roster, &mut faults)?;
    let repositories = select::repositories(&sources, &profile.role.slug);
    let selections: Option<Vec<_>> =
        sources.into_iter().map(|loaded| Selection::new(loaded, &profile.role.slug, &mut faults)).collect();
    let selections = selections?;
    let mut chooser = Chooser::default();
    decide_repositories(&repositories, &mut chooser.decisions);
    profile.decide(request, &roster, &mut chooser.decisions);
    for missing in &missing {
        let reason = "nothing is at its place, and the request can do without it";
        chooser.decide(Kind::Source, "source", missing.id.as_str(), &missing.id, Verdict::Excluded, reason);
    }
    let package = if request.person.is_some() {
        "it is the person package that the request names"
    } else {
        "it is the built-in roster, and the request names no person package"
    };
    chooser.decide(Kind::Source, "source", roster.id.as_str(), &roster.id, Verdict::Selected, package);
    for selection in &selections {
        let id = &selection.loaded.source.id;
        chooser.decide(Kind::Source, "source", id.as_str(), id, Verdict::Selected, selection.reason());
    }
    select::decide(&selections, &mut chooser.decisions);
    if let Some(base) = base {
        chooser.decisions.push(base_decision(base));
    }
    choose::offer_package(&mut chooser, &profile, &roster, &mut faults);
    choose::offer_sources(&mut chooser, &selections, (&profile, &roster), request, &mut faults);
    choose::order(&mut chooser, &profile, &mut faults)?;
    warn(&selections, request, found);
    let mut providers = vec![report(&roster.id, Scope::Person, package, &chooser, "")];
    for selection in &selections {
        let Selection { loaded, note, .. } = selection;
        providers.push(report(&loaded.source.id, loaded.scope, selection.reason(), &chooser, note));
    }
    providers.extend(missing.iter().map(|missing| absent(&missing.id, missing.scope)));
    let sources = std::iter::once(roster.id.clone())
        .chain(selections.iter().map(|selection| selection.loaded.source.id.clone()))
        .collect();
    let parts = Parts { repositories, sources, providers };
    Some(finish(request, &roster, &profile, base, chooser, parts))
}

/// Whether each source may have its id beside the package, and a folder called like it.
fn check_ids(sources: &[Loaded], roster: &Roster, request: &Request, faults: &mut Faults<'_>) -> bool {
    let before = faults.count();
    for id in sources.iter().map(|loaded| &loaded.source.id) {
        let line = request.line_of(id);
        if *id == roster.id {
            faults.at(line, format!("the source `{id}` has the id of the person package"));
        }
        let folder = id.encoded();
        if let Err(error) = Segment::new(folder.as_str()) {
            faults.at(line, format!("the source `{id}` can have no folder in a bundle: {error}"));
        }
        if folder.len() > LONGEST {
            let message = format!(
                "the source `{id}` can have no folder in a bundle: its name would have {} bytes",
                folder.len()
            );
            faults.at(line, message);
        }
    }
    faults.count() == before
}

/// What goes into a resolution as it is.
struct Parts {
    repositories: Vec<Repository>,
    sources: Vec<SourceId>,
    providers: Vec<Provider>,
}

fn finish(
    request: &Request,
    roster: &Roster,
    profile: &Profile<'_>,
    base: Option<&Base>,
    mut chooser: Chooser,
    parts: Parts,
) -> Resolution {
    deliver(request.delivery, &mut chooser.decisions);
    let Profile { role, personalities, boundaries, colour, .. } = profile;
    let card = Card { role, colour: *colour, personalities, boundaries, roster };
    let content: BTreeMap<_, _> = content::content(profile, roster, &chooser);
    let role_digest = content::role_digest(profile);
    let briefing = match &role.doctrine {
        Doctrine::Briefing(text) => Some(text.clone().into_bytes()),
        Doctrine::Skill(_) => None,
    };
    Resolution {
        role: role.slug.clone(),
        role_source: content::role_source(profile, roster),
        role_digest,
        tier: request.tier,
        delivery: request.delivery,
        personalities: profile.names.clone(),
        boundaries: boundaries.iter().map(|(boundary, _)| boundary.slug.clone()).collect(),
        colour: *colour,
        identity: content::identity(profile, roster),
        sources: parts.sources,
        repositories: parts.repositories,
        content,
        package: roster.text.clone(),
        briefing,
        base: base.map(|base| card::strip(&base.text, Some(roster))).unwrap_or_default(),
        card: card.text(),
        instructions: chooser.instructions,
        skills: chooser.skills,
        decisions: chooser.decisions,
        providers: parts.providers,
    }
}

fn decide_repositories(repositories: &[Repository], decisions: &mut Vec<Decision>) {
    for Repository { identity, source, reason, .. } in repositories {
        let subject = format!("repository:{identity}");
        let decision = Decision::new(Kind::Repository, &subject, source, Verdict::Selected, reason.as_str());
        decisions.push(decision);
    }
}

/// Which base was handed in, told by its digests.
fn base_decision(base: &Base) -> Decision {
    let reason = format!(
        "the request has the render `{}` lead the instructions: sha256 {}, common digest {}",
        base.render,
        Digest::of(&base.text),
        base.common
    );
    Decision::new(Kind::Instruction, "instruction:operating-base", "cantus", Verdict::Selected, reason)
}

fn deliver(mode: Mode, decisions: &mut Vec<Decision>) {
    let paths: &[(&str, &str)] = &[
        ("content/instructions.md", "every consumer starts from the instructions"),
        ("content/skills", "the selected skills stand there whole"),
        ("delivery/compiled.md", "the request asks for one document"),
    ];
    let count = if mode == Mode::Compiled { 3 } else { 2 };
    for (path, reason) in &paths[..count] {
        decisions.push(Decision::new(Kind::Delivery, path, "", Verdict::Delivered, *reason));
    }
}

fn warn(selections: &[Selection], request: &Request, found: &mut Vec<Diagnostic>) {
    for (skill, patterns) in selections.iter().flat_map(|selection| &selection.overlaps) {
        let message = format!("the composed skill `{skill}` is named by {patterns}, and taken once");
        let help = "one pattern is enough";
        found.push(Diagnostic::warning("bundle.overlap", message).at(&request.name).help(help));
    }
}

/// What a source that was admitted has brought.
fn report(source: &SourceId, scope: Scope, reason: &str, chooser: &Chooser, note: &str) -> Provider {
    let skills: Vec<_> = chooser.skills.iter().filter(|skill| skill.source == *source).collect();
    let bytes = skills.iter().map(|skill| skill.bytes()).sum();
    Provider {
        source: source.to_string(),
        category: scope.category().to_owned(),
        scope: scope.as_str().to_owned(),
        outcome: Verdict::Selected.as_str().to_owned(),
        reason: reason.to_owned(),
        warning: false,
        skills: i64::try_from(skills.len()).unwrap_or(i64::MAX),
        context_bytes: bytes,
        approximate_tokens: tokens(bytes),
        selector_reason: note.to_owned(),
    }
}

fn absent(source: &SourceId, scope: Scope) -> Provider {
    Provider {
        source: source.to_string(),
        category: scope.category().to_owned(),
        scope: scope.as_str().to_owned(),
        outcome: Verdict::Excluded.as_str().to_owned(),
        reason: "nothing is at its place".to_owned(),
        warning: true,
        ..Provider::default()
    }
}
