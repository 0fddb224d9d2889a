//! Session packs of a project: its package's words, its notes, and its bundle as the stable part.

use std::path::Path;

use cantus_compose::{Launch, Package, Wording};
use cantus_manifest::manifest::{Manifest, SectionStatus};
use cantus_manifest::{Diagnostic, Facts, Outcome, Severity, Stamps};
use cantus_memory::Corpus;
use cantus_session::{
    BundlePart, Compiled, Notes, Reference, SessionLaunch, SessionMaterial, Snapshot, WikiPointer, compile,
};
use cantus_workspace::{Options, package_in, package_of};
use thiserror::Error;

use crate::composer::{Composer, RenderError, Sources as Opened, summary};

/// Compiles the packs of a conversation's requests from a project.
///
/// A folder without a project has no notes and no bundle; a pack can be compiled there all the same. Nothing is written: to
/// record a pack is another call ([`record`](cantus_session::record)), whose failure is for the log.
///
/// ```
/// use cantus_launch::sessions::{Compiled, Keys, SessionLaunch, delivered};
/// use cantus_launch::{Composer, RealDisk, SessionComposer};
///
/// let folder = tempfile::tempdir()?;
/// let composer = SessionComposer::new(Composer::discover(folder.path(), None));
/// let launch = SessionLaunch { product: "Acme".to_owned(), ..SessionLaunch::default() };
/// let history = folder.path().join("conversation.jsonl");
/// let previous = delivered(&RealDisk, &history, &Keys::default())?;
/// let Compiled { system, update, .. } = composer.compile(&launch, previous.as_ref())?.compiled;
/// assert!(system.starts_with("# Acme context\n"));
/// // The launcher appends `content` to the conversation, and keeps `snapshot` with it.
/// let update = update.expect("a conversation that holds nothing yet gets one");
/// assert!(!update.content.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SessionComposer {
    composer: Composer,
    facts: Option<Facts>,
}

/// Why there is no pack.
#[derive(Clone, Debug, Error)]
pub enum SessionError {
    /// The project, its package or its bundle is at fault.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// What the host says is at fault.
    #[error("the session can't be launched{}", summary(.0))]
    Launch(Vec<Diagnostic>),
}

/// A pack and its texts.
#[derive(Clone, Debug)]
pub struct SessionTexts {
    /// System text, update and pack.
    pub compiled: Compiled,
    /// What the sources were found to have, none of it an error. A note that can't be read is among it.
    pub warnings: Vec<Diagnostic>,
}

impl SessionComposer {
    /// Packs of the project of `composer`, without its bundle.
    #[must_use]
    pub fn new(composer: Composer) -> Self {
        Self { composer, facts: None }
    }

    /// The same with the bundle for `facts` as the stable part: its sections become sections of each pack, and stand in the
    /// system text byte for byte.
    #[must_use]
    pub fn bundle(mut self, facts: Facts) -> Self {
        self.facts = Some(facts);
        self
    }

    /// The texts for one request of a conversation that was last given `previous`; `None` if it holds nothing yet.
    ///
    /// A note that is broken is told as a warning and left out of the pack, unless a bundle is asked for. An error says that
    /// what the host gave, the configuration, the package or the bundle is at fault. It need not end the session: the
    /// conversation holds what it was told before, and the next update brings what changed since.
    pub fn compile(
        &self,
        launch: &SessionLaunch,
        previous: Option<&Snapshot>,
    ) -> Result<SessionTexts, SessionError> {
        let opened = if needs_notes(launch) { self.composer.open()? } else { None };
        let wording = self.words(opened.as_ref())?;
        let (mut notes, mut warnings, none) = (Notes::default(), Vec::new(), Corpus::default());
        if let Some(Opened { project, home, warnings: found }) = &opened {
            warnings.clone_from(found);
            let home = home.as_ref().map_or(&none, |home| &home.corpus);
            let plugins = project.plugins.iter().map(|plugin| size(&plugin.corpus)).sum();
            notes = Notes::of(project.config.name.as_deref(), &project.corpus).beside(size(home), plugins);
        }
        let bundle = match &self.facts {
            Some(facts) => {
                let (parts, found) = self.parts(facts.clone())?;
                // What was opened for its notes has been told.
                let new: Vec<_> = found.into_iter().filter(|finding| !warnings.contains(finding)).collect();
                warnings.extend(new);
                parts
            }
            None => Vec::new(),
        };
        let material = SessionMaterial { wording: &wording, notes, bundle };
        match compile(launch, &material) {
            Outcome { value: Some(pack), .. } => {
                Ok(SessionTexts { compiled: pack.deliver(previous), warnings })
            }
            Outcome { value: None, diagnostics } => Err(SessionError::Launch(diagnostics)),
        }
    }

    /// What packs say: the words of the package that is named, else of the project's, else the built-in ones.
    pub fn wording(&self) -> Result<Wording, SessionError> {
        Ok(self.words(None)?)
    }

    fn words(&self, opened: Option<&Opened>) -> Result<Wording, RenderError> {
        if let Some(opened) = opened {
            return Ok(opened.project.package.wording());
        }
        let package = self.composer.package_folder();
        let Outcome { value, diagnostics } = match (self.composer.root(), package) {
            (None, None) => return Ok(Package::built_in(Stamps::Skip).wording()),
            (None, Some(folder)) => package_in(self.composer.disk(), folder, Stamps::Skip),
            (Some(root), package) => {
                let package = package.map(Path::to_path_buf);
                package_of(&root, &Options { package, ..Options::default() })
            }
        };
        let has_errors = diagnostics.iter().any(|fault| fault.severity == Severity::Error);
        let package = value.filter(|_| !has_errors).ok_or(RenderError::Faults(diagnostics))?;
        Ok(package.wording())
    }

    /// The sections of the bundle for `facts`, and what its sources were found to have.
    fn parts(&self, facts: Facts) -> Result<(Vec<BundlePart>, Vec<Diagnostic>), RenderError> {
        let mut rendered = self.composer.render(facts, &Launch::default())?;
        let warnings = std::mem::take(&mut rendered.warnings);
        let (text, manifest) = rendered.into_parts();
        Ok((cut(&text, &manifest), warnings))
    }
}

/// Whether a pack speaks of notes.
fn needs_notes(launch: &SessionLaunch) -> bool {
    let is_note = |reference: &Reference| matches!(reference, Reference::Note { .. });
    launch.wiki == WikiPointer::Shown || launch.references.iter().any(is_note)
}

/// The notes, webs and strands of a corpus.
fn size(corpus: &Corpus) -> usize {
    let strands: usize = corpus.webs.iter().map(|web| web.strands.len()).sum();
    corpus.notes.len() + corpus.webs.len() + strands
}

/// The included sections of a bundle, in its order.
fn cut(text: &str, manifest: &Manifest) -> Vec<BundlePart> {
    let included = manifest.sections.iter().filter(|section| section.status == SectionStatus::Included);
    let parts = included.filter_map(|section| {
        let start = usize::try_from(section.offset?).ok()?;
        let end = start + usize::try_from(section.length?).ok()?;
        let digest = section.sha256.clone().unwrap_or_default();
        Some(BundlePart { id: section.id.clone(), text: text.get(start..end)?.to_owned(), digest })
    });
    parts.collect()
}
