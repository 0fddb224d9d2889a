//! Every section that some render of the same sources can hold, and the choice among them.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cantus_manifest::{
    Actor, Diagnostic, Digest, ExclusionReason, Facts, Hashes, Layer, Lifecycle, Mode, Outcome, RelPath,
    SectionId, Source, SourceKind, Stamp,
};
use cantus_memory::unicode::slug;
use cantus_memory::{
    Corpus, Note, Origin, SourcedText, Web, body_with_roster, inline, inline_body, parallel,
};

use crate::bundle::Bundle;
use crate::contract::{self, RepositoryEntry, Variables};
use crate::launch::{Launch, Stability};
use crate::package::Package;
use crate::plugin::Plugin;
use crate::roster;
use crate::section::{Content, Section, Status};
use crate::settings::{Repository, Settings};

/// What bundles are made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The standing texts.
    pub package: &'a Package,
    /// The notes of dependencies, in byte order of their names.
    pub plugins: &'a [Plugin],
    /// The project's notes.
    pub project: &'a Corpus,
    /// The user's own layer, where there is one.
    pub home: Option<&'a Home>,
    /// What the project's configuration says.
    pub settings: &'a Settings,
}

/// The user's own layer.
#[derive(Clone, Debug, Default)]
pub struct Home {
    /// The notes.
    pub corpus: Corpus,
    /// What stands behind `Home:` below the title.
    pub title: Option<String>,
    /// Repositories that are named after the project's.
    pub repositories: Vec<Repository>,
}

/// The configuration in a home layer.
const HOME_CONFIG: &str = "cantus.toml";

/// The sections of all renders for one project name.
#[derive(Debug)]
pub struct SectionSet {
    project: Option<String>,
    /// In bundle order.
    candidates: Vec<Candidate>,
    /// The providers for which the package has a directive.
    directives: BTreeSet<String>,
}

/// A section that some render may hold.
#[derive(Clone, Debug)]
struct Candidate {
    role: Role,
    section: Section,
}

/// What decides whether a render holds a candidate.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    /// The title, without or with the home's.
    Title { home: bool },
    /// The heading of a group.
    Frame(Group),
    /// A text of the package.
    Package,
    /// A provider's directive.
    Provider(String),
    /// A note or a web, and why no render holds it.
    Unit(Group, Option<Status>),
}

/// The groups of notes in a bundle, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Core notes.
    Core,
    /// Reference notes.
    Reference,
    /// Webs.
    Web,
}

impl Group {
    const ALL: [Self; 3] = [Self::Core, Self::Reference, Self::Web];

    /// What one of its notes is called: `core`, `reference` or `web`.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Reference => "reference",
            Self::Web => "web",
        }
    }

    /// The part of an id that names the kind, and the heading of the frame.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Core => ("core", "core"),
            Self::Reference => ("ref", "reference"),
            Self::Web => ("web", "webs"),
        }
    }
}

/// One section and what becomes of it in several renders.
#[derive(Clone, Debug)]
pub struct Row {
    /// The section, its bytes with it; one that no render can include has no bytes.
    pub section: Section,
    /// For each render, in the order of the facts that were asked for.
    pub presence: Vec<Presence>,
}

/// What becomes of a section in one render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// It is there.
    Included,
    /// It is left out and listed.
    Excluded(ExclusionReason),
    /// It has no part in this render.
    Absent,
}

impl SectionSet {
    /// Makes every section for the project of this name. With errors among the diagnostics the set is not whole.
    #[must_use]
    pub fn new(material: Material<'_>, project: Option<&str>) -> Outcome<Self> {
        let mut diagnostics = Vec::new();
        let mut candidates = titles(material);
        let mut units = units(material);
        let mut frames = frames(material.package);
        for group in Group::ALL {
            if let Some(section) = frames.remove(group.names().1) {
                candidates.push(Candidate { role: Role::Frame(group), section });
            }
            if group == Group::Core {
                candidates.extend(package_candidates(material, project, &mut diagnostics));
            }
            let others = units.split_off(units.partition_point(|(unit, _)| *unit <= group));
            candidates.extend(units.into_iter().map(|(_, candidate)| candidate));
            units = others;
        }
        diagnostics.extend(superseded(material));
        let directives = material.package.providers.keys().cloned().collect();
        let value = Self { project: project.map(str::to_owned), candidates, directives };
        Outcome { value, diagnostics }
    }

    /// The name of the project that the sections were made for.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The sections of notes and webs, each with its group, in bundle order.
    pub fn units(&self) -> impl Iterator<Item = (&Section, Group)> {
        self.candidates.iter().filter_map(|candidate| match candidate.role {
            Role::Unit(group, _) => Some((&candidate.section, group)),
            _ => None,
        })
    }

    /// The bundle for `facts`; their project is that of the set.
    #[must_use]
    pub fn bundle(&self, facts: Facts) -> Bundle {
        self.bundle_with(facts, &Launch::default())
    }

    /// [`bundle`](Self::bundle) with what the host adds to this one invocation, behind everything else.
    #[must_use]
    pub fn bundle_with(&self, facts: Facts, launch: &Launch) -> Bundle {
        let facts = [facts.project(self.project())];
        let render = Render::new(self, &facts[0]);
        let (mut included, mut excluded) = (Vec::new(), Vec::new());
        for candidate in self.candidates_for(&facts) {
            match render.status(candidate.as_ref()) {
                None => {}
                Some(Ok(())) => included.push(candidate.section.clone()),
                Some(Err(status)) => excluded.push(left_out(candidate.section.clone(), status)),
            }
        }
        let mut stable = included.len();
        for (stability, section) in launch.sections() {
            let sections = if section.content().is_some() { &mut included } else { &mut excluded };
            sections.push(section.clone());
            if stability == Stability::Stable {
                stable = included.len();
            }
        }
        excluded.sort_by(|a, b| a.id.cmp(&b.id));
        included.append(&mut excluded);
        let [facts] = facts;
        Bundle::new(facts, included, stable)
    }

    /// Every section in bundle order, with what becomes of it for each of `facts`.
    #[must_use]
    pub fn table(&self, facts: &[Facts]) -> Vec<Row> {
        let renders: Vec<_> = facts.iter().map(|facts| Render::new(self, facts)).collect();
        let presence = |candidate: &Candidate, render: &Render<'_>| match render.status(candidate) {
            None => Presence::Absent,
            Some(Ok(())) => Presence::Included,
            Some(Err(Status::Excluded { reason, .. })) => Presence::Excluded(reason),
            Some(Err(Status::Included(_))) => Presence::Included,
        };
        let row = |candidate: Cow<'_, Candidate>| Row {
            presence: renders.iter().map(|render| presence(&candidate, render)).collect(),
            section: candidate.section.clone(),
        };
        self.candidates_for(facts).map(row).collect()
    }

    /// The candidates, and one for each provider among `facts` for which the package has nothing to say.
    fn candidates_for(&self, facts: &[Facts]) -> impl Iterator<Item = Cow<'_, Candidate>> {
        let providers: BTreeSet<&str> = facts.iter().map(|facts| facts.provider().as_str()).collect();
        let silent = providers.into_iter().filter(|name| !self.directives.contains(*name));
        let silent: Vec<_> = silent.map(|name| Cow::Owned(provider_candidate(name, None))).collect();
        self.candidates.iter().map(Cow::Borrowed).chain(silent)
    }
}

/// A section without its bytes, for this reason.
fn left_out(section: Section, status: Status) -> Section {
    // A provider's section is required only in the one render that has it (§7.6).
    Section { required: section.required && !section.provider_specific, status, ..section }
}

/// One render's answers to what candidates ask.
struct Render<'a> {
    facts: &'a Facts,
    /// The groups with an included unit.
    groups: BTreeSet<Group>,
    /// Whether any home unit is included.
    home: bool,
}

impl<'a> Render<'a> {
    fn new(set: &SectionSet, facts: &'a Facts) -> Self {
        let mut render = Self { facts, groups: BTreeSet::new(), home: false };
        for candidate in &set.candidates {
            let Role::Unit(group, _) = &candidate.role else { continue };
            if matches!(render.status(candidate), Some(Ok(()))) {
                render.groups.insert(*group);
                render.home |= candidate.section.layer == Layer::Home;
            }
        }
        render
    }

    /// Whether the candidate is in, out for a reason, or (`None`) not concerned.
    fn status(&self, candidate: &Candidate) -> Option<Result<(), Status>> {
        match &candidate.role {
            Role::Title { home } => (self.home == *home).then_some(Ok(())),
            Role::Frame(group) => self.groups.contains(group).then_some(Ok(())),
            Role::Package => Some(self.overlay(&candidate.section)),
            Role::Provider(name) if name != self.facts.provider().as_str() => None,
            Role::Provider(_) if candidate.section.sources.is_empty() => {
                Some(Err(excluded(ExclusionReason::NoDirective)))
            }
            Role::Provider(_) => Some(self.overlay(&candidate.section)),
            Role::Unit(_, Some(never)) => Some(Err(never.clone())),
            Role::Unit(..) if candidate.section.layer == Layer::Home && self.facts.mode() == Mode::Export => {
                Some(Err(excluded(ExclusionReason::Mode)))
            }
            Role::Unit(..) => Some(Ok(())),
        }
    }

    /// Whether this render has a lifecycle section (§7.7).
    fn overlay(&self, section: &Section) -> Result<(), Status> {
        let actor = match section.lifecycle {
            Lifecycle::Neutral => return Ok(()),
            Lifecycle::Root => Actor::SaseRoot,
            Lifecycle::Helper => Actor::NativeHelper,
        };
        match self.facts.mode() {
            Mode::Runtime if self.facts.actor() == actor => Ok(()),
            Mode::Runtime => Err(excluded(ExclusionReason::Overlay)),
            Mode::Interactive | Mode::Export => Err(excluded(ExclusionReason::Mode)),
        }
    }
}

/// An id made of our own words and slugs, which are legal parts.
fn legal_id(id: impl Into<String>) -> SectionId {
    SectionId::new(id).unwrap_or_else(|error| unreachable!("{error}"))
}

fn excluded(reason: ExclusionReason) -> Status {
    Status::Excluded { reason, shadowed_by: None }
}

fn titles(material: Material<'_>) -> Vec<Candidate> {
    let title = |home: bool| {
        let mut text = SourcedText::default();
        text.push(&format!("# {}", material.settings.title), Origin::NONE);
        if let Some(title) = material.home.and_then(|layer| layer.title.as_deref()).filter(|_| home) {
            text.push(&format!("Home: {title}"), Origin::NONE);
        }
        Candidate { role: Role::Title { home }, section: frame_section("title", text, Vec::new()) }
    };
    vec![title(false), title(true)]
}

fn frame_section(name: &str, text: SourcedText, sources: Vec<Source>) -> Section {
    Section {
        // The names are ours and legal.
        id: legal_id(format!("frame.{name}")),
        layer: Layer::Frame,
        lifecycle: Lifecycle::Neutral,
        required: true,
        provider_specific: false,
        sources: sources.into(),
        status: Status::Included(Content::new(text)),
    }
}

fn frames(package: &Package) -> BTreeMap<&'static str, Section> {
    let section = |(id, part): (&&'static str, &crate::package::FramePart)| {
        let mut text = SourcedText::default();
        for (index, line) in part.text.lines().enumerate() {
            let origin =
                if part.line == 0 { Origin::NONE } else { Origin::new(0, part.line as usize + index) };
            text.push(line, origin);
        }
        let sources = if part.line == 0 {
            Vec::new()
        } else {
            vec![package_source(package, SourceKind::PackageTemplate, "frame.md")]
        };
        (*id, frame_section(id, text, sources))
    };
    package.frame.iter().map(section).collect()
}

/// A file of the package.
fn package_source(package: &Package, kind: SourceKind, file: &str) -> Source {
    source(Layer::Package, kind, our_path(file), package.stamps.get(file).copied())
}

/// A path of ours, or one that a package's reader took as a legal name.
fn our_path(path: &str) -> RelPath {
    RelPath::new(path).unwrap_or_else(|error| unreachable!("{error}"))
}

fn package_sections(
    material: Material<'_>,
    project: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Section> {
    let Material { package, settings, home, .. } = material;
    let plugins = material.plugins.iter().map(|plugin| plugin.name.as_str()).collect();
    let repositories = repositories(settings, home);
    let variables = Variables { project, plugins, repositories, width: settings.width };
    let parts = match contract::parts(package, &variables) {
        Ok(parts) => parts,
        Err(faults) => {
            diagnostics.extend(faults);
            return Vec::new();
        }
    };
    let contract = package_source(package, SourceKind::PackageTemplate, "contract.md");
    let repos = format!("pkg.{}.repos", package.name);
    let section = |part: contract::Part| {
        let mut sources = vec![contract.clone()];
        if part.id.as_str() == repos {
            sources.extend(repository_sources(settings, &variables.repositories));
        }
        package_section(part.id, part.lifecycle, part.required, sources.into(), part.text)
    };
    parts.into_iter().map(section).collect()
}

/// The configurations that name the listed repositories (§8.5).
fn repository_sources(settings: &Settings, listed: &[RepositoryEntry<'_>]) -> Vec<Source> {
    let mut sources = Vec::new();
    if let Some(file) = settings.source.as_ref().filter(|_| !settings.repositories.is_empty()) {
        sources.push(source(Layer::Project, SourceKind::Config, file.path.clone(), file.stamp));
    }
    if listed.iter().any(|repository| repository.home) {
        sources.push(source(Layer::Home, SourceKind::Config, our_path(HOME_CONFIG), None));
    }
    sources
}

fn repositories<'a>(settings: &'a Settings, home: Option<&'a Home>) -> Vec<RepositoryEntry<'a>> {
    let entry = |home| {
        move |repository: &'a Repository| RepositoryEntry {
            name: &repository.name,
            description: &repository.description,
            home,
        }
    };
    let own = &settings.repositories;
    let known: BTreeSet<&str> = own.iter().map(|repository| repository.name.as_str()).collect();
    let others = home.map_or([].as_slice(), |home| home.repositories.as_slice());
    let new = others.iter().filter(|repository| !known.contains(repository.name.as_str()));
    own.iter().map(entry(false)).chain(new.map(entry(true))).collect()
}

fn package_section(
    id: SectionId,
    lifecycle: Lifecycle,
    required: bool,
    sources: Arc<[Source]>,
    text: SourcedText,
) -> Section {
    let status = Status::Included(Content::new(text));
    Section { id, layer: Layer::Package, lifecycle, required, provider_specific: false, sources, status }
}

/// A literal text whose first line, if an H1, goes down to H4.
fn lowered(text: &str) -> SourcedText {
    let mut lowered = SourcedText::with_capacity(text.len() + 4);
    for (index, line) in text.lines().enumerate() {
        let origin = Origin::new(0, index + 1);
        match line.strip_prefix("# ").filter(|_| index == 0) {
            Some(title) => lowered.push(&format!("#### {title}"), origin),
            None => lowered.push(line, origin),
        }
    }
    lowered
}

fn helper_section(package: &Package, text: &str) -> Section {
    let id = legal_id("pkg.helper.contract");
    let sources = Arc::new([package_source(package, SourceKind::HelperTemplate, "helper.md")]);
    package_section(id, Lifecycle::Helper, true, sources, lowered(text))
}

/// The source of a provider's directive: what was hashed is the directive, not the file that holds it (§8.5).
fn directive_source(package: &Package, name: &str, text: &str) -> Source {
    let source = package_source(package, SourceKind::ProviderDirective, &format!("providers/{name}.md"));
    match source.hashes {
        Hashes::None => source,
        _ => Source { hashes: Hashes::Text(Digest::of(text)), ..source },
    }
}

/// A provider's section; without a directive, its text and source, one without sources, which no render includes.
fn provider_candidate(name: &str, directive: Option<(&str, Source)>) -> Candidate {
    let (text, source) = directive.unzip();
    let sources: Arc<[Source]> = source.into_iter().collect();
    let id = legal_id(format!("pkg.provider.{name}"));
    let section =
        package_section(id, Lifecycle::Root, text.is_some(), sources, lowered(text.unwrap_or_default()));
    Candidate {
        role: Role::Provider(name.to_owned()),
        section: Section { provider_specific: true, ..section },
    }
}

/// The package's sections; helper and providers stand right after the final declaration, else last.
fn package_candidates(
    material: Material<'_>,
    project: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Candidate> {
    let package = material.package;
    let mut sections = package_sections(material, project, diagnostics);
    let is_declaration = |section: &Section| section.id.as_str() == "pkg.root.final_declaration";
    let after = sections.iter().position(is_declaration).map_or(sections.len(), |index| index + 1);
    let rest = sections.split_off(after);
    sections.extend(package.helper.as_deref().map(|text| helper_section(package, text)));
    let candidate = |section| Candidate { role: Role::Package, section };
    let providers = package.providers.iter().map(|(name, text)| {
        provider_candidate(name, Some((text.as_str(), directive_source(package, name, text))))
    });
    sections.into_iter().map(candidate).chain(providers).chain(rest.into_iter().map(candidate)).collect()
}

/// A warning for a note that the package's contract takes the place of.
fn superseded(material: Material<'_>) -> Option<Diagnostic> {
    let name = &material.package.name;
    let note = material.project.core().into_iter().find(|note| is_superseded(note, material.package))?;
    let message = format!(
        "no bundle holds this note: the package `{name}` takes the place of a core note of that name"
    );
    Some(Diagnostic::warning("note.superseded", message).at(&note.path).help("rename the note"))
}

fn is_superseded(note: &Note, package: &Package) -> bool {
    note.path.file_name().strip_suffix(".md") == Some(&package.name)
}

/// The units of notes and webs by group; plugins before home before project within each.
fn units(material: Material<'_>) -> Vec<(Group, Candidate)> {
    let Material { package, plugins, project, home, settings } = material;
    let plugins = plugins.iter().map(|plugin| (Owner::Plugin(plugin), &plugin.corpus));
    let home = home.map(|home| (Owner::Home, &home.corpus));
    // Only a home unit can have the name of another.
    let names = home.map(|_| unit_names(project)).unwrap_or_default();
    let mut sources = Vec::new();
    for (owner, corpus) in plugins.chain(home).chain([(Owner::Project, project)]) {
        let core = corpus.core().into_iter().map(UnitSource::Core);
        let references = corpus.references().map(UnitSource::Reference);
        let webs = corpus.webs.iter().map(UnitSource::Web);
        sources.extend(core.chain(references).chain(webs).map(|source| (owner, source)));
    }
    let make = |(owner, source)| {
        let unit = match source {
            UnitSource::Core(note) => core_unit(owner, note, package),
            UnitSource::Reference(note) => reference_unit(owner, note, settings.width),
            UnitSource::Web(web) => web_unit(owner, web, settings.width),
        };
        unit.candidate(&names)
    };
    let mut units = parallel::map(sources, make);
    units.sort_by_key(|(group, _)| *group);
    units
}

/// Whose a unit is.
#[derive(Clone, Copy)]
enum Owner<'a> {
    Plugin(&'a Plugin),
    Home,
    Project,
}

impl Owner<'_> {
    fn layer(self) -> Layer {
        match self {
            Self::Plugin(_) => Layer::Plugin,
            Self::Home => Layer::Home,
            Self::Project => Layer::Project,
        }
    }

    /// The id of the unit that is made of the note or web at `path`.
    fn id(self, group: Group, path: &RelPath) -> SectionId {
        let middle = match self {
            // The configuration takes only names that are legal parts.
            Self::Plugin(plugin) => plugin.name.as_str(),
            Self::Home | Self::Project => group.names().0,
        };
        legal_id([self.layer().prefix(), ".", middle, ".", &slug(path.stem())].concat())
    }

    fn source(self, kind: SourceKind, path: &RelPath, stamp: Option<Stamp>) -> Source {
        let path = match self {
            Self::Plugin(plugin) => plugin.source_path(path),
            Self::Home | Self::Project => path.clone(),
        };
        source(self.layer(), kind, path, stamp)
    }

    /// What the entry of a reference note calls it. A plugin's has no path in the project, and must be the same for every
    /// version.
    fn address(self, path: &RelPath) -> String {
        match self {
            Self::Plugin(plugin) => format!("plugin:{}/{}", plugin.name, path.file_name()),
            Self::Home | Self::Project => path.to_string(),
        }
    }
}

/// What a unit is made of.
enum UnitSource<'a> {
    Core(&'a Note),
    Reference(&'a Note),
    Web(&'a Web),
}

/// The file names of the project's units: a home unit of the same name is shadowed, whatever the kinds (§8.3).
fn unit_names(project: &Corpus) -> BTreeSet<&str> {
    project.unit_paths().map(RelPath::file_name).collect()
}

struct Unit<'a> {
    group: Group,
    owner: Owner<'a>,
    path: &'a RelPath,
    text: SourcedText,
    sources: Vec<Source>,
    superseded: bool,
}

impl Unit<'_> {
    fn candidate(self, project: &BTreeSet<&str>) -> (Group, Candidate) {
        let layer = self.owner.layer();
        let shadowed = layer == Layer::Home && project.contains(self.path.file_name());
        let never = if self.superseded {
            Some(excluded(ExclusionReason::SupersededInput))
        } else if shadowed {
            Some(Status::Excluded {
                reason: ExclusionReason::Shadowed,
                shadowed_by: Some(Owner::Project.id(self.group, self.path)),
            })
        } else {
            None
        };
        let section = Section {
            id: self.owner.id(self.group, self.path),
            layer,
            lifecycle: Lifecycle::Neutral,
            required: false,
            provider_specific: false,
            sources: self.sources.into(),
            status: Status::Included(Content::new(self.text)),
        };
        (self.group, Candidate { role: Role::Unit(self.group, never), section })
    }
}

fn core_unit<'a>(owner: Owner<'a>, note: &'a Note, package: &Package) -> Unit<'a> {
    // What a plugin calls its notes says nothing of the package.
    let superseded = owner.layer() != Layer::Plugin && is_superseded(note, package);
    let text = if superseded { SourcedText::default() } else { inline(note.path.stem(), note.body(), 0) };
    let sources = vec![owner.source(SourceKind::MemoryNote, &note.path, note.stamp())];
    Unit { group: Group::Core, owner, path: &note.path, text, sources, superseded }
}

fn reference_unit<'a>(owner: Owner<'a>, note: &'a Note, width: usize) -> Unit<'a> {
    let text = roster::entry(note, &owner.address(&note.path), width);
    let sources = vec![owner.source(SourceKind::MemoryNote, &note.path, note.stamp())];
    Unit { group: Group::Reference, owner, path: &note.path, text, sources, superseded: false }
}

fn web_unit<'a>(owner: Owner<'a>, web: &'a Web, width: usize) -> Unit<'a> {
    let body = body_with_roster(web, &roster::roster(web, width));
    let text = inline_body(web.slug(), body.text(), |line| body.origins()[line]);
    let descriptor = owner.source(SourceKind::MemoryWeb, &web.path, web.stamp());
    let strands = web
        .strands
        .iter()
        .map(|strand| owner.source(SourceKind::MemoryStrands, &strand.path, strand.stamp()));
    let sources = std::iter::once(descriptor).chain(strands).collect();
    Unit { group: Group::Web, owner, path: &web.path, text, sources, superseded: false }
}

fn source(scope: Layer, kind: SourceKind, path: RelPath, stamp: Option<Stamp>) -> Source {
    Source { scope, kind, path, hashes: stamp.into() }
}
