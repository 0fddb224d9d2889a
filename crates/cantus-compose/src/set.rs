//! Every section that some render of the same sources can hold, and the choice among them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use cantus_manifest::{
    Actor, Diagnostic, ExclusionReason, Facts, Layer, Lifecycle, Mode, Outcome, Provider, RelPath, SectionId,
    Source, SourceKind,
};
use cantus_memory::unicode::slug;
use cantus_memory::{Corpus, Note, Origin, SourcedText, Web, body_with_roster, inline, inline_body};

use crate::bundle::Bundle;
use crate::contract::{self, RepositoryEntry, Variables};
use crate::package::Package;
use crate::roster;
use crate::section::{Content, Section, Status};
use crate::settings::{Repository, Settings};

/// What bundles are made of.
#[derive(Clone, Copy, Debug)]
pub struct Material<'a> {
    /// The standing texts.
    pub package: &'a Package,
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

/// The sections of all renders for one project name.
#[derive(Debug)]
pub struct SectionSet {
    project: Option<String>,
    titles: [Section; 2],
    frames: BTreeMap<&'static str, Section>,
    package: Vec<Section>,
    units: Vec<Unit>,
    helper: Option<Section>,
    providers: BTreeMap<String, Section>,
}

/// The section of a note or a web, with what shadowing asks of it.
#[derive(Debug)]
struct Unit {
    group: Group,
    section: Section,
    /// Why no render has it.
    never: Option<Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Core,
    Reference,
    Web,
}

impl Group {
    const ALL: [Self; 3] = [Self::Core, Self::Reference, Self::Web];

    /// The part of an id that names the kind, and the heading of the frame.
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Core => ("core", "core"),
            Self::Reference => ("ref", "reference"),
            Self::Web => ("web", "webs"),
        }
    }
}

impl SectionSet {
    /// Makes every section for the project of this name. With errors among the diagnostics the set is not whole.
    #[must_use]
    pub fn new(material: Material<'_>, project: Option<&str>) -> Outcome<Self> {
        let mut diagnostics = Vec::new();
        let Material { package, settings, home, .. } = material;
        let title = |home_title: Option<&str>| {
            let mut text = SourcedText::default();
            text.push(&format!("# {}", settings.title), Origin::NONE);
            if let Some(title) = home_title {
                text.push(&format!("Home: {title}"), Origin::NONE);
            }
            frame_section("title", text, Vec::new())
        };
        let home_title = home.and_then(|home| home.title.as_deref());
        let set = Self {
            project: project.map(str::to_owned),
            titles: [title(None), title(home_title)],
            frames: frames(package),
            package: package_sections(material, project, &mut diagnostics),
            units: units(material),
            helper: package.helper.as_ref().map(|text| helper_section(text)),
            providers: package
                .providers
                .iter()
                .filter_map(|(name, text)| Some((name.clone(), provider_section(name, Some(text))?)))
                .collect(),
        };
        Outcome { value: set, diagnostics }
    }

    /// The name of the project that the sections were made for.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The bundle for `facts`; their project is that of the set.
    #[must_use]
    pub fn bundle(&self, facts: Facts) -> Bundle {
        let facts = facts.project(self.project());
        let mut choice = Choice { included: Vec::new(), excluded: Vec::new() };
        let home = |unit: &&Unit| unit.section.layer == Layer::Home && unit.status(&facts).is_none();
        choice.add(self.titles[usize::from(self.units.iter().any(|unit| home(&unit)))].clone(), None);
        for group in Group::ALL {
            let units: Vec<_> = self.units.iter().filter(|unit| unit.group == group).collect();
            let any = units.iter().any(|unit| unit.status(&facts).is_none());
            if let Some(frame) = self.frames.get(group.names().1).filter(|_| any) {
                choice.add(frame.clone(), None);
            }
            if group == Group::Core {
                self.add_package(&facts, &mut choice);
            }
            for unit in units {
                choice.add(unit.section.clone(), unit.status(&facts));
            }
        }
        choice.excluded.sort_by(|a, b| a.id.cmp(&b.id));
        choice.included.append(&mut choice.excluded);
        Bundle::new(facts, choice.included)
    }

    /// The package's sections; helper and provider stand right after the final declaration, else last.
    fn add_package(&self, facts: &Facts, choice: &mut Choice) {
        let is_last = |section: &Section| section.id.as_str() == "pkg.root.final_declaration";
        let at = self.package.iter().position(is_last).map_or(self.package.len(), |index| index + 1);
        let (before, after) = self.package.split_at(at);
        for section in before {
            choice.add(section.clone(), overlay(section, facts));
        }
        if let Some(section) = &self.helper {
            choice.add(section.clone(), overlay(section, facts));
        }
        self.add_provider(facts, choice);
        for section in after {
            choice.add(section.clone(), overlay(section, facts));
        }
    }

    fn add_provider(&self, facts: &Facts, choice: &mut Choice) {
        let provider = facts.provider();
        match self.providers.get(provider.as_str()) {
            Some(section) => choice.add(section.clone(), overlay(section, facts)),
            None => {
                if let Some(section) = provider_section(provider.as_str(), None) {
                    choice.add(section, Some(excluded(ExclusionReason::NoDirective)));
                }
            }
        }
    }

    /// The providers for which the package has a directive.
    pub fn directives(&self) -> impl Iterator<Item = Provider> {
        self.providers.keys().filter_map(|name| Provider::new(name.clone()).ok())
    }
}

struct Choice {
    included: Vec<Section>,
    excluded: Vec<Section>,
}

impl Choice {
    /// Adds a section as it is, or with the status that leaves it out.
    fn add(&mut self, mut section: Section, left_out: Option<Status>) {
        match left_out {
            None => self.included.push(section),
            Some(status) => {
                // A provider's section is required in the one render that has it (§7.6).
                section.required &= !section.provider_specific;
                section.status = status;
                self.excluded.push(section);
            }
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

/// Why a lifecycle section stays out of this render (§7.7); `None` if it doesn't.
fn overlay(section: &Section, facts: &Facts) -> Option<Status> {
    let actor = match section.lifecycle {
        Lifecycle::Neutral => return None,
        Lifecycle::Root => Actor::SaseRoot,
        Lifecycle::Helper => Actor::NativeHelper,
    };
    match facts.mode() {
        Mode::Runtime if facts.actor() == actor => None,
        Mode::Runtime => Some(excluded(ExclusionReason::Overlay)),
        Mode::Interactive | Mode::Export => Some(excluded(ExclusionReason::Mode)),
    }
}

impl Unit {
    /// Why this render leaves it out (§8.3); `None` if it doesn't.
    fn status(&self, facts: &Facts) -> Option<Status> {
        let export = facts.mode() == Mode::Export && self.section.layer == Layer::Home;
        self.never.clone().or_else(|| export.then(|| excluded(ExclusionReason::Mode)))
    }
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
            package_source(SourceKind::PackageTemplate, "frame.md").to_vec()
        };
        (*id, frame_section(id, text, sources))
    };
    package.frame.iter().map(section).collect()
}

fn package_source(kind: SourceKind, file: &str) -> [Source; 1] {
    let path = RelPath::new(file).unwrap_or_else(|_| unreachable!("a package's files have legal paths"));
    [Source { scope: Layer::Package, kind, path, sha256: None }]
}

fn package_sections(
    material: Material<'_>,
    project: Option<&str>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Section> {
    let Material { package, settings, home, .. } = material;
    let variables = Variables { project, repositories: repositories(settings, home), width: settings.width };
    let parts = match contract::parts(package, &variables) {
        Ok(parts) => parts,
        Err(faults) => {
            diagnostics.extend(faults);
            return Vec::new();
        }
    };
    let contract = package_source(SourceKind::PackageTemplate, "contract.md");
    let repos = format!("pkg.{}.repos", package.name);
    let section = |part: contract::Part| {
        let mut sources = contract.to_vec();
        if let Some(path) = settings
            .source
            .as_ref()
            .filter(|_| part.id.as_str() == repos && !settings.repositories.is_empty())
        {
            sources.push(Source {
                scope: Layer::Project,
                kind: SourceKind::Config,
                path: path.clone(),
                sha256: None,
            });
        }
        package_section(part.id, part.lifecycle, part.required, sources.into(), part.text)
    };
    parts.into_iter().map(section).collect()
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

fn helper_section(text: &str) -> Section {
    let id = legal_id("pkg.helper.contract");
    let sources = package_source(SourceKind::HelperTemplate, "helper.md");
    package_section(id, Lifecycle::Helper, true, sources.into(), lowered(text))
}

/// A provider's section; without a directive one that no render includes.
fn provider_section(name: &str, text: Option<&String>) -> Option<Section> {
    let id = SectionId::new(format!("pkg.provider.{name}")).ok()?;
    let sources: Arc<[Source]> = match text {
        Some(_) => package_source(SourceKind::ProviderDirective, &format!("providers/{name}.md")).into(),
        None => Arc::new([]),
    };
    let section = package_section(
        id,
        Lifecycle::Root,
        text.is_some(),
        sources,
        lowered(text.map_or("", String::as_str)),
    );
    Some(Section { provider_specific: true, ..section })
}

/// The sections of notes and webs in bundle order, home before project within each kind.
fn units(material: Material<'_>) -> Vec<Unit> {
    let Material { package, project, home, settings } = material;
    let layers = home.map(|home| (Layer::Home, &home.corpus)).into_iter().chain([(Layer::Project, project)]);
    let mut units = Vec::new();
    for (layer, corpus) in layers {
        for note in corpus.core() {
            units.push(core_unit(layer, note, package));
        }
        for note in corpus.references() {
            units.push(Unit::new(
                layer,
                Group::Reference,
                &note.path,
                roster::entry(note, settings.width),
                note_source(layer, note),
            ));
        }
        for web in &corpus.webs {
            units.push(web_unit(layer, web, settings.width));
        }
    }
    shadow(&mut units, project);
    units.sort_by_key(|unit| unit.group);
    units
}

impl Unit {
    fn new(layer: Layer, group: Group, path: &RelPath, text: SourcedText, sources: Vec<Source>) -> Self {
        let id = format!("{}.{}.{}", layer.prefix(), group.names().0, slug(path.stem()));
        let section = Section {
            id: legal_id(id),
            layer,
            lifecycle: Lifecycle::Neutral,
            required: false,
            provider_specific: false,
            sources: sources.into(),
            status: Status::Included(Content::new(text)),
        };
        Self { group, section, never: None }
    }

    /// The name of its file, which is what shadowing compares.
    fn file_name(&self) -> &str {
        self.section.sources.first().map_or("", |source| source.path.file_name())
    }
}

fn core_unit(layer: Layer, note: &Note, package: &Package) -> Unit {
    let superseded = note.path.file_name().strip_suffix(".md") == Some(&package.name);
    let text = if superseded { SourcedText::default() } else { inline(note.path.stem(), note.body(), 0) };
    let mut unit = Unit::new(layer, Group::Core, &note.path, text, note_source(layer, note));
    unit.never = superseded.then(|| excluded(ExclusionReason::SupersededInput));
    unit
}

fn web_unit(layer: Layer, web: &Web, width: usize) -> Unit {
    let body = body_with_roster(web, &roster::roster(web, width));
    let text = inline_body(web.slug(), body.text(), |line| body.origins()[line]);
    let descriptor = source(layer, SourceKind::MemoryWeb, &web.path);
    let strands = web.strands.iter().map(|strand| source(layer, SourceKind::MemoryStrands, &strand.path));
    Unit::new(layer, Group::Web, &web.path, text, std::iter::once(descriptor).chain(strands).collect())
}

fn note_source(layer: Layer, note: &Note) -> Vec<Source> {
    vec![source(layer, SourceKind::MemoryNote, &note.path)]
}

fn source(scope: Layer, kind: SourceKind, path: &RelPath) -> Source {
    Source { scope, kind, path: path.clone(), sha256: None }
}

/// Marks home units behind a project unit of the same file name, whatever the kinds (§8.3).
fn shadow(units: &mut [Unit], project: &Corpus) {
    let core = project.core().into_iter().map(|note| &note.path);
    let references = project.references().map(|note| &note.path);
    let webs = project.webs.iter().map(|web| &web.path);
    let names: BTreeSet<&str> = core.chain(references).chain(webs).map(RelPath::file_name).collect();
    for unit in units.iter_mut().filter(|unit| unit.section.layer == Layer::Home && unit.never.is_none()) {
        if names.contains(unit.file_name()) {
            let by = unit.section.id.as_str().replacen("home.", "proj.", 1);
            unit.never = Some(Status::Excluded {
                reason: ExclusionReason::Shadowed,
                shadowed_by: SectionId::new(by).ok(),
            });
        }
    }
}
