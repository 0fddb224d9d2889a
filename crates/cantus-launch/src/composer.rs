//! Renders a project's bundle for given facts.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cantus_compose::{Launch, preview};
use cantus_fs::{Disk, RealDisk, Root};
use cantus_manifest::manifest::{CacheStatus, DeliveryRecord, Manifest};
use cantus_manifest::{Diagnostic, Facts, Outcome, Severity, Stamps};
use cantus_workspace::{Options, Project, find_root, host_name, read_home, version_control};
use thiserror::Error;

/// Renders bundles of one project. To make one can't fail: what is wrong shows when it renders.
#[derive(Clone, Debug)]
pub struct Composer {
    disk: Arc<dyn Disk>,
    /// The folder of the project, or the one in which none was found.
    project: Result<PathBuf, PathBuf>,
    home: Option<PathBuf>,
    package: Option<PathBuf>,
}

/// Why there is no bundle.
#[derive(Clone, Debug, Error)]
pub enum RenderError {
    /// No folder from the given one upward is a project.
    #[error("no project found from the given folder upward: neither a configuration nor a note folder")]
    NoProject,
    /// The project's sources are at fault.
    #[error("the project doesn't compile{}", summary(.0))]
    Faults(Vec<Diagnostic>),
}

/// The first fault, and how many others there are.
fn summary(faults: &[Diagnostic]) -> String {
    match faults {
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
    /// How long it took.
    pub duration: Duration,
}

impl Composer {
    /// Looks for a project from `folder` upward. `home` is the folder of the user's own layer, `None` for none.
    #[must_use]
    pub fn discover(folder: &Path, home: Option<&Path>) -> Self {
        let disk: Arc<dyn Disk> = Arc::new(RealDisk);
        let start = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let project = find_root(disk.as_ref(), &start).ok_or(start);
        Self { disk, project, home: home.map(Path::to_path_buf), package: None }
    }

    /// The same with the package in `folder` in the place of the configured one.
    #[must_use]
    pub fn package(mut self, folder: &Path) -> Self {
        self.package = Some(folder.to_path_buf());
        self
    }

    /// The bundle for `facts` with the host's own texts. Where they name neither project nor host nor version control, those are
    /// the configured name, this machine and what the root is under.
    pub fn render(&self, facts: Facts, launch: &Launch) -> Result<Rendered, RenderError> {
        let start = Instant::now();
        let Ok(folder) = &self.project else { return Err(RenderError::NoProject) };
        let root = Root::new(self.disk.clone(), folder.clone());
        let mut warnings = Vec::new();
        let options = Options { package: self.package.clone(), stamps: Stamps::Take, ..Options::default() };
        let project = whole(Project::open(&root, &options), &mut warnings)?;
        let facts = facts_on(&root, facts, project.config.name.as_deref());
        let home = self.home.as_ref().and_then(|folder| {
            let home = read_home(&self.disk, folder, project.config.note_bytes, Stamps::Take);
            home.collect(&mut warnings)
        });
        let set = whole(project.sections(facts.project_name(), home.as_ref()), &mut warnings)?;
        let bundle = set.bundle_with(facts, launch);
        let delivery = preview(String::new(), 0.0, CacheStatus::Bypass);
        let manifest = bundle.manifest(&project.package, delivery, "");
        Ok(Rendered { text: bundle.text(), manifest, warnings, duration: start.elapsed() })
    }
}

/// The value of an outcome without errors; its warnings join `warnings`.
fn whole<T>(outcome: Outcome<Option<T>>, warnings: &mut Vec<Diagnostic>) -> Result<T, RenderError> {
    let Outcome { value, diagnostics } = outcome;
    if value.is_none() || diagnostics.iter().any(|fault| fault.severity == Severity::Error) {
        let errors = diagnostics.into_iter().filter(|fault| fault.severity == Severity::Error);
        return Err(RenderError::Faults(errors.collect()));
    }
    warnings.extend(diagnostics);
    value.ok_or(RenderError::NoProject)
}

/// `facts` with what the host knows where they say nothing.
fn facts_on(root: &Root, facts: Facts, name: Option<&str>) -> Facts {
    let project = facts.project_name().or(name).map(str::to_owned);
    let vcs =
        facts.vcs_name().or_else(|| version_control(root.disk().as_ref(), root.path())).map(str::to_owned);
    let host = facts.host_name().map_or_else(host_name, str::to_owned);
    let host = if host.is_empty() { "localhost".to_owned() } else { host };
    facts.project(project.as_deref()).host(Some(&host)).vcs(vcs.as_deref())
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

    /// The manifest of the bundle, delivered as `delivery` says, which lies at `store_path` (empty for nowhere).
    #[must_use]
    pub fn manifest(&self, delivery: DeliveryRecord, store_path: &str) -> Manifest {
        let mut manifest = self.manifest.clone();
        manifest.delivery = delivery;
        store_path.clone_into(&mut manifest.bundle.store_path);
        manifest
    }
}
