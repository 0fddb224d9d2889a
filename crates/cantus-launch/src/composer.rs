//! Renders a project's bundle for given facts, through the store.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cantus_compose::{Home, Launch, preview};
use cantus_fs::{Disk, RealDisk, Root};
use cantus_manifest::manifest::{CacheStatus, DeliveryRecord, FactsRecord, Manifest};
use cantus_manifest::{Diagnostic, Digest, Facts, Outcome, Severity, Stamps};
use cantus_store::{
    Asked, Corrupt, Entry, Found, Index, Named, Places, Replay, Store, Witness, default_home,
};
use cantus_workspace::{OnErrors, Options, Project, find_root, host_name, read_home, version_control};
use thiserror::Error;

/// Renders bundles of one project. To make one can't fail: what is wrong shows when it renders.
#[derive(Clone, Debug)]
pub struct Composer {
    disk: Arc<dyn Disk>,
    /// The folder of the project, or the one in which none was found.
    project: Result<PathBuf, PathBuf>,
    home: Option<PathBuf>,
    package: Option<PathBuf>,
    /// `None` to compose anew.
    store: Option<Store>,
    defaults: Defaults,
}

/// Where facts say nothing: whether that is what is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Defaults {
    project: Default,
    vcs: Default,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Default {
    /// What the host knows stands in.
    Known,
    /// Nothing does.
    None,
}

/// Why there is no bundle.
#[derive(Clone, Debug, Error)]
pub enum RenderError {
    /// No folder from the given one upward is a project.
    #[error("no project found from the given folder upward: neither a configuration nor a note folder")]
    NoProject,
    /// The project's sources are at fault: everything that was found, errors and others.
    #[error("the project doesn't compile{}", summary(.0))]
    Faults(Vec<Diagnostic>),
}

/// The first error, and how many others there are.
pub(crate) fn summary(findings: &[Diagnostic]) -> String {
    let errors: Vec<_> = findings.iter().filter(|finding| finding.severity == Severity::Error).collect();
    match errors.as_slice() {
        [] => String::new(),
        [fault] => format!(": {}", fault.message),
        [first, others @ ..] => format!(": {} (and {} more)", first.message, others.len()),
    }
}

/// A bundle and all that its manifest says of it.
#[derive(Clone, Debug)]
pub struct Rendered {
    text: String,
    /// With a delivery that is only a preview.
    manifest: Manifest,
    /// What the sources were found to have, none of it an error.
    pub warnings: Vec<Diagnostic>,
    /// What the cache did. A launch layer is put on top of what it has.
    pub cache: CacheStatus,
    /// Where the store holds the bundle; `None` if nowhere, as with a launch layer, which only this one invocation has.
    pub stored: Option<PathBuf>,
    /// What was found broken in the store, and is not used.
    pub corrupt: Vec<Corrupt>,
    /// How long it took.
    pub duration: Duration,
}

impl Composer {
    /// Looks for a project from `folder` upward. `home` is the folder of the user's own layer, `None` for none. The store is
    /// the one that the environment names.
    #[must_use]
    pub fn discover(folder: &Path, home: Option<&Path>) -> Self {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let start = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let project = find_root(disk.as_ref(), &start).ok_or(start);
        Self::of(disk, project, home)
    }

    /// The project at `root`, without a search.
    #[must_use]
    pub fn at(root: &Root, home: Option<&Path>) -> Self {
        Self::of(root.disk().clone(), Ok(root.path().to_path_buf()), home)
    }

    fn of(disk: Arc<dyn Disk>, project: Result<PathBuf, PathBuf>, home: Option<&Path>) -> Self {
        let defaults = Defaults { project: Default::Known, vcs: Default::Known };
        let home = home.map(Path::to_path_buf);
        let store = default_home().map(|home| Store::new(disk.clone(), home));
        Self { disk, project, home, package: None, store, defaults }
    }

    /// The project; `None` where none was found.
    pub(crate) fn root(&self) -> Option<Root> {
        Some(Root::new(self.disk.clone(), self.project.clone().ok()?))
    }

    pub(crate) fn disk(&self) -> &Arc<dyn Disk> {
        &self.disk
    }

    /// The project with the notes that could be read; what is wrong with others is a warning. `None` where none was found.
    #[cfg(feature = "session")]
    pub(crate) fn open(&self) -> Result<Option<Sources>, RenderError> {
        let Ok(folder) = &self.project else { return Ok(None) };
        let Outcome { value, diagnostics } = self.project(&self.disk, folder, OnErrors::Keep);
        let Some(project) = value else { return Err(RenderError::Faults(diagnostics)) };
        let mut sources = self.with_home(&self.disk, project, diagnostics);
        for finding in &mut sources.warnings {
            finding.severity = finding.severity.min(Severity::Warning);
        }
        Ok(Some(sources))
    }

    /// The package that takes the place of the configured one.
    #[cfg(feature = "session")]
    pub(crate) fn package_folder(&self) -> Option<&Path> {
        self.package.as_deref()
    }

    /// The store's folder; `None` to compose anew.
    pub(crate) fn store_home(&self) -> Option<&Path> {
        self.store.as_ref().map(Store::home)
    }

    /// The same with the package in `folder` in the place of the configured one.
    #[must_use]
    pub fn package(mut self, folder: &Path) -> Self {
        self.package = Some(folder.to_path_buf());
        self
    }

    /// The same with the store in `folder`, which need not exist.
    #[must_use]
    pub fn store(mut self, folder: &Path) -> Self {
        let home = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        self.store = Some(Store::new(self.disk.clone(), home));
        self
    }

    /// The same with this store, which may lie on another disk.
    #[must_use]
    pub fn keeping(mut self, store: Store) -> Self {
        self.store = Some(store);
        self
    }

    /// The same without a store: every source is read, and nothing is written.
    #[must_use]
    pub fn bypass(mut self) -> Self {
        self.store = None;
        self
    }

    /// The same for no project where the facts name none.
    #[must_use]
    pub fn without_project(mut self) -> Self {
        self.defaults.project = Default::None;
        self
    }

    /// The same under no version control where the facts name none.
    #[must_use]
    pub fn without_vcs(mut self) -> Self {
        self.defaults.vcs = Default::None;
        self
    }

    /// The bundle for `facts` with the host's own texts. Where they name neither project nor host nor version control, those are
    /// the configured name, this machine and what the root is under.
    pub fn render(&self, facts: Facts, launch: &Launch) -> Result<Rendered, RenderError> {
        let start = Instant::now();
        let Ok(folder) = &self.project else { return Err(RenderError::NoProject) };
        let facts = self.on_host(folder, facts);
        let mut rendered = match &self.store {
            Some(store) => self.cached(store, folder, &facts)?,
            None => self.fresh(folder, &facts)?,
        };
        rendered.manifest.facts = record(&facts, rendered.manifest.facts.project.take());
        let base = rendered.manifest.sections.len();
        launch.append(&mut rendered.text, &mut rendered.manifest);
        if rendered.manifest.sections.len() > base {
            rendered.stored = None;
        }
        rendered.manifest.delivery.cache = rendered.cache;
        rendered.duration = start.elapsed();
        Ok(rendered)
    }

    /// `facts` with what this machine knows where they say nothing.
    fn on_host(&self, folder: &Path, facts: Facts) -> Facts {
        let known =
            || version_control(self.disk.as_ref(), folder).filter(|_| self.defaults.vcs == Default::Known);
        let vcs = facts.vcs_name().or_else(known).map(str::to_owned);
        let host = facts.host_name().map_or_else(host_name, str::to_owned);
        let host = if host.is_empty() { "localhost".to_owned() } else { host };
        facts.host(Some(&host)).vcs(vcs.as_deref())
    }

    /// Composes, whatever is kept.
    fn fresh(&self, folder: &Path, facts: &Facts) -> Result<Rendered, RenderError> {
        let sources = self.read(&self.disk, folder)?;
        self.compose(sources, facts)
    }

    /// What the store has of the sources as they are now, else what is composed of them.
    fn cached(&self, store: &Store, folder: &Path, facts: &Facts) -> Result<Rendered, RenderError> {
        let roots = self.roots(folder);
        let mut corrupt = Vec::new();
        if let Some(known) = store.index(&roots)
            && let Replay::Same(better) = known.replay(self.disk.as_ref())
            && let Some(found) = self.find(store, &known, facts, &mut corrupt)
        {
            if let Some(better) = better {
                // Without it the next render reads a few files more.
                let _ = store.remember_index(&roots, &better);
            }
            return Ok(hit(found, corrupt));
        }
        let witness = Arc::new(Witness::new(self.disk.clone()));
        let disk: Arc<dyn Disk> = witness.clone();
        let sources = self.read(&disk, folder)?;
        let places = Places::new(folder, self.home.as_deref(), self.package.as_deref());
        let asks_cargo = sources.project.config.asks_cargo();
        let Some(index) = (!asks_cargo).then(|| witness.index(&places)).flatten() else {
            return self.compose(sources, facts);
        };
        if let Some(found) = self.find(store, &index, facts, &mut corrupt) {
            let mut rendered = hit(found, corrupt);
            if store.remember_index(&roots, &index).is_err() {
                rendered.cache = CacheStatus::Bypass;
            }
            return Ok(rendered);
        }
        let mut rendered = self.compose(sources, facts)?;
        self.keep(store, &roots, &index, facts, &mut rendered);
        corrupt.append(&mut rendered.corrupt);
        rendered.corrupt = corrupt;
        Ok(rendered)
    }

    fn find(&self, store: &Store, index: &Index, facts: &Facts, corrupt: &mut Vec<Corrupt>) -> Option<Found> {
        let (found, broken) = store.find(&self.key(index, facts));
        corrupt.extend(broken);
        found
    }

    /// Puts what was composed into the store; it stays a bypass if that can't be done.
    fn keep(&self, store: &Store, roots: &Digest, index: &Index, facts: &Facts, rendered: &mut Rendered) {
        let (kept, broken) = store.keep(&rendered.text);
        rendered.corrupt.extend(broken);
        rendered.stored = kept.ok();
        if rendered.stored.is_none() {
            return;
        }
        let entry = Entry { manifest: rendered.manifest.clone(), warnings: rendered.warnings.clone() };
        let remembered = store.remember(&self.key(index, facts), &entry);
        if remembered.and_then(|()| store.remember_index(roots, index)).is_ok() {
            rendered.cache = CacheStatus::Miss;
        }
    }

    fn key(&self, index: &Index, facts: &Facts) -> Digest {
        let shown = |path: &PathBuf| path.display().to_string();
        let (package, home) = (self.package.as_ref().map(shown), self.home.as_ref().map(shown));
        let named = self.named(facts);
        Asked { facts, named, package: package.as_deref(), home: home.as_deref() }.key(index.inputs())
    }

    fn named<'a>(&self, facts: &'a Facts) -> Named<'a> {
        match (facts.project_name(), self.defaults.project) {
            (Some(name), _) => Named::Given(name),
            (None, Default::Known) => Named::Configured,
            (None, Default::None) => Named::Nameless,
        }
    }

    /// A name for the folders that sources are read from.
    fn roots(&self, folder: &Path) -> Digest {
        let mut bytes = Vec::new();
        for root in [Some(folder), self.home.as_deref(), self.package.as_deref()] {
            let root = root.map(|root| std::path::absolute(root).unwrap_or_else(|_| root.to_path_buf()));
            let root = root.as_ref().map_or(&b"-"[..], |root| root.as_os_str().as_encoded_bytes());
            bytes.extend_from_slice(&(root.len() as u64).to_le_bytes());
            bytes.extend_from_slice(root);
        }
        Digest::of(bytes)
    }

    fn read(&self, disk: &Arc<dyn Disk>, folder: &Path) -> Result<Sources, RenderError> {
        let mut warnings = Vec::new();
        let project = whole(self.project(disk, folder, OnErrors::Stop), &mut warnings)?;
        Ok(self.with_home(disk, project, warnings))
    }

    fn project(&self, disk: &Arc<dyn Disk>, folder: &Path, on_errors: OnErrors) -> Outcome<Option<Project>> {
        let root = Root::new(disk.clone(), folder.to_path_buf());
        let package = self.package.clone();
        Project::open(&root, &Options { package, stamps: Stamps::Take, on_errors, ..Options::default() })
    }

    fn with_home(&self, disk: &Arc<dyn Disk>, project: Project, mut warnings: Vec<Diagnostic>) -> Sources {
        let home = self.home.as_ref().and_then(|folder| {
            read_home(disk, folder, project.config.note_bytes, Stamps::Take).collect(&mut warnings)
        });
        Sources { project, home, warnings }
    }

    fn compose(&self, sources: Sources, facts: &Facts) -> Result<Rendered, RenderError> {
        let Sources { project, home, mut warnings } = sources;
        let name = match self.named(facts) {
            Named::Given(name) => Some(name),
            Named::Configured => project.config.name.as_deref(),
            Named::Nameless => None,
        };
        let set = whole(project.sections(name, home.as_ref()), &mut warnings)?;
        let bundle = set.bundle(facts.clone().project(name));
        let delivery = preview(String::new(), 0.0, CacheStatus::Bypass);
        Ok(Rendered {
            text: bundle.text(),
            manifest: bundle.manifest(&project.package, delivery, ""),
            warnings,
            cache: CacheStatus::Bypass,
            stored: None,
            corrupt: Vec::new(),
            duration: Duration::ZERO,
        })
    }
}

/// What a bundle is composed of.
pub(crate) struct Sources {
    pub(crate) project: Project,
    pub(crate) home: Option<Home>,
    pub(crate) warnings: Vec<Diagnostic>,
}

fn hit(found: Found, corrupt: Vec<Corrupt>) -> Rendered {
    let Found { text, entry, path } = found;
    Rendered {
        text,
        manifest: entry.manifest,
        warnings: entry.warnings,
        cache: CacheStatus::Hit,
        stored: Some(path),
        corrupt,
        duration: Duration::ZERO,
    }
}

/// The value of an outcome without errors; its warnings join `warnings`.
fn whole<T>(outcome: Outcome<Option<T>>, warnings: &mut Vec<Diagnostic>) -> Result<T, RenderError> {
    let has_errors = outcome.diagnostics.iter().any(|finding| finding.severity == Severity::Error);
    warnings.extend(outcome.diagnostics);
    match outcome.value {
        Some(value) if !has_errors => Ok(value),
        _ => Err(RenderError::Faults(std::mem::take(warnings))),
    }
}

/// The facts as they are written down, for the project of this name.
fn record(facts: &Facts, project: Option<String>) -> FactsRecord {
    FactsRecord {
        actor: facts.actor(),
        mode: facts.mode(),
        purpose: facts.purpose_fact(),
        provider: facts.provider().to_string(),
        project,
        host: facts.host_name().unwrap_or_default().to_owned(),
        vcs: facts.vcs_name().map(str::to_owned),
    }
}

impl Rendered {
    /// The bundle.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is known of the bundle; its delivery is only a preview, without a time.
    #[must_use]
    pub fn table(&self) -> &Manifest {
        &self.manifest
    }

    /// The bundle, and what is known of it.
    #[must_use]
    pub fn into_parts(self) -> (String, Manifest) {
        (self.text, self.manifest)
    }

    /// The manifest of the bundle, delivered as `delivery` says, which lies at `store_path` (empty for nowhere).
    #[must_use]
    pub fn manifest(&self, delivery: DeliveryRecord, store_path: &str) -> Manifest {
        let mut manifest = self.manifest.clone();
        manifest.delivery = delivery;
        store_path.clone_into(&mut manifest.bundle.store_path);
        manifest
    }
}
