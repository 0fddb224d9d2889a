//! A project as it lies on disk: configuration, package and notes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use cantus_compose::{ConfigFile, Home, Material, Package, Plugin, SectionSet, Settings};
use cantus_fs::{AccessError, Disk, Kind, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity, Stamps, sort_by_place};
use cantus_memory::{Corpus, Library};
use toml::de::DeTable;

use crate::config::{Config, LOCK, Surroundings};
use crate::discover::{
    CONFIG, MEMORIES, MOST_CONFIG_BYTES, cargo_table, is_note_folder, is_project, may_hold_cargo_table,
};
use crate::gather::{Gather, io_fault, package_files};
use crate::members::{self, Member, read_members};
use crate::plugins::read_plugins;
use crate::program::Program;

static BUILT_IN: LazyLock<Package> = LazyLock::new(|| Package::built_in(Stamps::Skip));

/// A project, read whole.
#[derive(Debug)]
pub struct Project {
    /// What the configuration says.
    pub config: Config,
    /// The note folder below the root; `None` if the project has none.
    pub memory: Option<RelPath>,
    /// The standing texts.
    pub package: Package,
    /// The notes of the crates that the configuration allows, in byte order of their names.
    pub plugins: Vec<Plugin>,
    /// The notes.
    pub corpus: Corpus,
    /// The folders with notes of their own, in byte order.
    pub members: Vec<Member>,
}

/// What a caller asks for besides what the project's configuration says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A package's folder, wherever it lies, instead of the configured one.
    pub package: Option<PathBuf>,
    /// Whether each source is hashed.
    pub stamps: Stamps,
    /// Whether there must be a project.
    pub notes: Notes,
    /// What becomes of the rest where something is at fault.
    pub on_errors: OnErrors,
    /// What messages call the program.
    pub program: Program,
}

/// What is done with the notes that could be read where others, or the configuration, are at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnErrors {
    /// Nothing: the errors are what is told.
    #[default]
    Stop,
    /// They are searched for what is doubtful, so that everything can be mended at once.
    Lint,
    /// They are what the project has, as long as neither configuration nor package is at fault; the errors are told beside it.
    Keep,
}

/// Whether a root without configuration and notes, or without its configured note folder, is at fault.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notes {
    /// It is.
    #[default]
    Expected,
    /// It isn't: the first notes are about to be written.
    ToCome,
}

/// What the configuration of the project at `root` says; nothing else of the project is read. `None` with errors.
#[must_use]
pub fn configuration(root: &Root) -> Outcome<Option<Config>> {
    let mut diagnostics = Vec::new();
    let config = read_config(root, Stamps::Skip, &mut diagnostics);
    let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Outcome { value: (!errors).then_some(config), diagnostics }
}

/// Every file that is generated for the project at `root`, which `config` is of: copies, other renders, pages and the lock, then
/// copies and lock of each member. No note is read. `None` with errors.
#[must_use]
pub fn generated_files(root: &Root, config: &Config) -> Outcome<Option<Vec<RelPath>>> {
    let mut diagnostics = Vec::new();
    // What is wrong with the note folder keeps no member from being one.
    let memory = memory(root, config, &mut Vec::new());
    let members = members::found(root, config, memory.as_ref(), &mut diagnostics);
    let outputs = config.outputs.iter().map(|output| &output.file);
    let own = config.files.iter().chain(outputs).chain(config.pages.iter().map(|page| &page.file)).cloned();
    let of_members = members.iter().flat_map(|(folder, _)| {
        let names = config.files.iter().map(RelPath::as_str).chain([LOCK]);
        names.filter_map(|name| folder.join(name).ok())
    });
    let files = own.chain([path(LOCK)]).chain(of_members).collect();
    let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Outcome { value: (!errors).then_some(files), diagnostics }
}

/// The package of the project at `root`: the one that the options name, else the configured one, else the built-in one. Its notes
/// are not read. `None` with errors.
#[must_use]
pub fn package_of(root: &Root, options: &Options) -> Outcome<Option<Package>> {
    let mut diagnostics = Vec::new();
    let config = read_config(root, options.stamps, &mut diagnostics);
    let package = chosen_package(root, &config, options, &mut diagnostics);
    let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    Outcome { value: package.filter(|_| !errors), diagnostics }
}

/// The package in `folder`, an absolute path, without a project; `None` with errors.
#[must_use]
pub fn package_in(disk: &Arc<dyn Disk>, folder: &Path, stamps: Stamps) -> Outcome<Option<Package>> {
    let mut diagnostics = Vec::new();
    let root = Root::new(disk.clone(), folder.to_path_buf());
    let value = foreign_package(&root, folder, stamps, &mut diagnostics);
    Outcome { value, diagnostics }
}

impl Project {
    /// Reads the project at `root`. With errors there is no value, unless the options say otherwise; every fault that could be
    /// found is reported.
    #[must_use]
    pub fn open(root: &Root, options: &Options) -> Outcome<Option<Self>> {
        let mut diagnostics = Vec::new();
        let to_come = options.notes == Notes::ToCome;
        if !to_come && !has_memory(root) && !is_project(root.disk().as_ref(), root.path()) {
            let fault = Diagnostic::error(
                "project.none",
                "no project here: neither a configuration nor a note folder",
            );
            diagnostics.push(fault.help(format!(
                "`{} init` sets one up there; or write a first note, `memory/<name>.md`, that starts with the lines \
                 `---`, `type: core`, `---`",
                options.program
            )));
            return Outcome { value: None, diagnostics };
        }
        let config = read_config(root, options.stamps, &mut diagnostics);
        let is_missing = |memory: &RelPath| to_come && matches!(root.kind(memory), Ok(None));
        let memory = match &config.memory {
            Some(memory) if is_missing(memory) => None,
            _ => memory(root, &config, &mut diagnostics),
        };
        let package = chosen_package(root, &config, options, &mut diagnostics);
        let is_error = |diagnostic: &Diagnostic| diagnostic.severity == Severity::Error;
        let is_sound = !diagnostics.iter().any(is_error);
        let corpus = memory.as_ref().map_or_else(Corpus::default, |memory| {
            let (limit, stamps) = (config.note_bytes, options.stamps);
            Gather { root, memory, limit, stamps, diagnostics: &mut diagnostics }.corpus()
        });
        let plugins = read_plugins(root, &config, memory.as_ref(), options.stamps, &mut diagnostics);
        let members = read_members(root, &config, memory.as_ref(), options.stamps, &mut diagnostics);
        let errors = diagnostics.iter().any(is_error);
        if errors && options.on_errors == OnErrors::Lint {
            let corpora = std::iter::once(&corpus).chain(members.iter().map(|member| &member.corpus));
            let found: Vec<_> = corpora.flat_map(|corpus| lint_partly(corpus, &diagnostics)).collect();
            diagnostics.extend(found);
        }
        sort_by_place(&mut diagnostics);
        let is_kept = !errors || (is_sound && options.on_errors == OnErrors::Keep);
        let value = package.filter(|_| is_kept).map(|package| Self {
            config,
            memory,
            package,
            plugins,
            corpus,
            members,
        });
        Outcome { value, diagnostics }
    }

    /// Where its notes are or would be: the note folder, else the configured one, else `memory`.
    #[must_use]
    pub fn note_folder(&self) -> RelPath {
        self.memory.as_ref().or(self.config.memory.as_ref()).cloned().unwrap_or_else(|| path(MEMORIES[1]))
    }

    /// Every section of its renders, with the layer of `home`, for the project called `name`; `None` with errors.
    #[must_use]
    pub fn sections(&self, name: Option<&str>, home: Option<&Home>) -> Outcome<Option<SectionSet>> {
        self.sections_of(&self.corpus, name, home)
    }

    /// [`sections`](Self::sections) with other notes in the place of the project's own.
    #[must_use]
    pub fn sections_of(
        &self,
        corpus: &Corpus,
        name: Option<&str>,
        home: Option<&Home>,
    ) -> Outcome<Option<SectionSet>> {
        let settings = Settings {
            title: self.config.title.clone(),
            width: self.config.width,
            repositories: self.config.repositories.clone(),
            source: self.config.source.clone(),
        };
        let material = Material {
            package: &self.package,
            plugins: &self.plugins,
            project: corpus,
            home,
            settings: &settings,
        };
        unless_errors(SectionSet::new(material, name))
    }

    /// Every section of the files of one of its members: title, frames and notes, without the package; `None` with errors.
    #[must_use]
    pub fn member_sections(&self, member: &Member) -> Outcome<Option<SectionSet>> {
        let settings = Settings {
            title: member.title.clone(),
            width: self.config.width,
            repositories: Vec::new(),
            source: None,
        };
        let package = self.package.frames_only();
        let material = Material {
            package: &package,
            plugins: &[],
            project: &member.corpus,
            home: None,
            settings: &settings,
        };
        unless_errors(SectionSet::new(material, None))
    }
}

/// What is doubtful in the notes of a corpus that lacks those which the faults name.
fn lint_partly(corpus: &Corpus, faults: &[Diagnostic]) -> Vec<Diagnostic> {
    let errors = faults.iter().filter(|fault| fault.severity == Severity::Error);
    let paths = errors.filter_map(|fault| fault.path.as_deref()?.strip_suffix(".md"));
    let missing: BTreeSet<&str> = paths.filter_map(|path| path.rsplit('/').next()).collect();
    let library = Library::new(corpus);
    let mut findings = library.findings_without(&missing);
    findings.extend(library.lints());
    findings
}

fn unless_errors(outcome: Outcome<SectionSet>) -> Outcome<Option<SectionSet>> {
    let errors = outcome.has_errors();
    Outcome { value: (!errors).then_some(outcome.value), diagnostics: outcome.diagnostics }
}

fn has_memory(root: &Root) -> bool {
    MEMORIES.into_iter().any(|memory| exists(root, memory))
}

/// Whether something stands at `path`. What can't be looked at counts: to read it then tells why, and nothing is passed over.
pub(crate) fn exists(root: &Root, path: &str) -> bool {
    RelPath::new(path).is_ok_and(|path| !matches!(root.kind(&path), Ok(None)))
}

/// A configuration's text, and where it was read.
pub(crate) struct ConfigText {
    pub(crate) place: ConfigFile,
    pub(crate) text: String,
}

impl ConfigText {
    /// Its keys.
    pub(crate) fn parse(&self, diagnostics: &mut Vec<Diagnostic>) -> Option<DeTable<'_>> {
        parse_toml(&self.text, &self.place.path, diagnostics)
    }
}

/// A file of the root as text, if it is there.
pub(crate) fn read_text(
    root: &Root,
    file: &RelPath,
    stamps: Stamps,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<ConfigText> {
    match root.read(file, MOST_CONFIG_BYTES) {
        Ok(bytes) => {
            let stamp = stamps.of(&bytes);
            let text = cantus_memory::decode(file, bytes).map_err(|fault| diagnostics.push(fault)).ok()?;
            Some(ConfigText { place: ConfigFile { path: file.clone(), stamp }, text })
        }
        Err(AccessError::Read { source, .. }) if source.is_absent() => None,
        Err(error) => {
            diagnostics.push(io_fault(&error).at(file));
            None
        }
    }
}

fn parse_toml<'a>(text: &'a str, file: &RelPath, diagnostics: &mut Vec<Diagnostic>) -> Option<DeTable<'a>> {
    match DeTable::parse(text) {
        Ok(table) => Some(table.into_inner()),
        Err(error) => {
            let mut fault =
                Diagnostic::error("config", format!("not valid TOML: {}", error.message())).at(file);
            if let Some(span) = error.span() {
                let line = text[..span.start.min(text.len())].matches('\n').count() + 1;
                fault = fault.line(u32::try_from(line).unwrap_or(u32::MAX));
            }
            diagnostics.push(fault);
            None
        }
    }
}

pub(crate) fn read_config(root: &Root, stamps: Stamps, diagnostics: &mut Vec<Diagnostic>) -> Config {
    let own_text = read_text(root, &path(CONFIG), stamps, diagnostics);
    let cargo_text = read_text(root, &path("Cargo.toml"), stamps, diagnostics);
    let own = own_text.as_ref().and_then(|file| Some((file, file.parse(diagnostics)?)));
    // What Cargo.toml is asked for: a name, if the configuration has none, and a second configuration.
    let is_named = own.as_ref().is_some_and(|(_, own)| own.contains_key("name"));
    let cargo_text = cargo_text.filter(|file| !is_named || may_hold_cargo_table(&file.text));
    let cargo = cargo_text.as_ref().and_then(|file| Some((file, file.parse(diagnostics)?)));
    let package =
        cargo.as_ref().and_then(|(_, table)| table.get("package")?.get_ref().get("name")?.get_ref().as_str());
    // Cargo refuses such a name; a title must not grow lines from it.
    let package = package.filter(|name| !name.contains(char::is_control));
    let xtask = matches!(root.kind(&path("xtask")), Ok(Some(Kind::Folder)));
    let surroundings = Surroundings { package, xtask };
    let table = cargo.as_ref().and_then(|(file, table)| Some((file, cargo_table(table)?)));
    let outcome = match (own, table) {
        (Some((file, own)), table) => {
            if table.is_some() {
                let message =
                    "the configuration stands here and in `[workspace.metadata.cantus]` of `Cargo.toml`";
                diagnostics.push(
                    Diagnostic::error("config", message).at(&file.place.path).help("keep one of the two"),
                );
            }
            Config::parse(own, &file.place, &file.text, surroundings)
        }
        (None, Some((file, table))) => Config::parse(table.clone(), &file.place, &file.text, surroundings),
        (None, None) => Outcome::clean(Config::default_in(surroundings)),
    };
    outcome.collect(diagnostics)
}

/// A path of our own, which is legal.
pub(crate) fn path(path: &str) -> RelPath {
    RelPath::new(path).unwrap_or_else(|error| unreachable!("{error}"))
}

/// The note folder: the configured one, else the one that exists.
fn memory(root: &Root, config: &Config, diagnostics: &mut Vec<Diagnostic>) -> Option<RelPath> {
    let mut found: Vec<_> = MEMORIES.into_iter().filter(|memory| exists(root, memory)).collect();
    if found.len() > 1 {
        // A source folder that happens to be called so is no second place.
        found.retain(|memory| is_note_folder(root.disk().as_ref(), &root.at(&path(memory))));
    }
    let memory = match (&config.memory, found.as_slice()) {
        (Some(memory), _) => memory.clone(),
        (None, []) => return None,
        (None, [memory]) => path(memory),
        (None, _) => {
            let message = format!("notes lie in two places, `{}` and `{}`", MEMORIES[0], MEMORIES[1]);
            let help = "move them into one folder, or set `memory` in the configuration";
            diagnostics.push(Diagnostic::error("project.memory", message).help(help));
            return None;
        }
    };
    match inside(root, &memory, "project") {
        Ok(()) => Some(memory),
        Err(message) => {
            let help = match &config.memory {
                Some(_) => "`memory` in the configuration must name the folder with the notes".to_owned(),
                None => format!(
                    "`{memory}/` is where notes are looked for: move this file away, or name another folder with `memory` in the \
                     configuration"
                ),
            };
            let is_other = message == NO_FOLDER;
            let fault = Diagnostic::error("project.memory", message).at(&memory);
            diagnostics.push(if is_other { fault.help(help) } else { fault });
            None
        }
    }
}

/// What is said of something else than a folder.
const NO_FOLDER: &str = "not a folder";

/// Whether `folder` is a folder whose real place is below the root's, which is that of `whole`.
pub(crate) fn inside(root: &Root, folder: &RelPath, whole: &str) -> Result<(), String> {
    let disk = root.disk();
    if matches!(root.kind(folder), Ok(None)) {
        return Err("the folder is not there".to_owned());
    }
    let real = disk.canonical(&root.at(folder)).map_err(|error| format!("can't be followed: {error}"))?;
    match disk.kind(&real) {
        Ok(Some(Kind::Folder)) => {}
        _ => return Err(NO_FOLDER.to_owned()),
    }
    match disk.canonical(root.path()) {
        Ok(root) if real == root => {
            Err(format!("a symlink to the {whole} itself: the folder must lie inside it"))
        }
        Ok(root) if real.starts_with(&root) => Ok(()),
        _ => Err(format!("a symlink out of the {whole}: the folder must lie inside it")),
    }
}

fn read_package(
    root: &Root,
    folder: &RelPath,
    stamps: Stamps,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Package> {
    if let Err(message) = inside(root, folder, "project") {
        diagnostics.push(Diagnostic::error("package", message).at(folder));
        return None;
    }
    let files = package_files(root, Some(folder), diagnostics);
    Package::parse(Some(folder.to_string()), files, stamps).collect(diagnostics)
}

/// The package that the options name, else the configured one, else the built-in one.
fn chosen_package(
    root: &Root,
    config: &Config,
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Package> {
    match (&options.package, &config.package) {
        (Some(folder), _) => foreign_package(root, folder, options.stamps, diagnostics),
        (None, Some(folder)) => read_package(root, folder, options.stamps, diagnostics),
        (None, None) if options.stamps == Stamps::Take => Some(Package::built_in(Stamps::Take)),
        (None, None) => Some(BUILT_IN.clone()),
    }
}

/// The package in a folder that the caller names.
fn foreign_package(
    root: &Root,
    folder: &Path,
    stamps: Stamps,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Package> {
    let label = folder.display().to_string();
    if !matches!(
        root.disk().canonical(folder).map(|real| root.disk().kind(&real)),
        Ok(Ok(Some(Kind::Folder)))
    ) {
        diagnostics.push(Diagnostic::error("package", "not a folder").at(label));
        return None;
    }
    let files = package_files(&Root::new(root.disk().clone(), folder.to_path_buf()), None, diagnostics);
    Package::parse(Some(label), files, stamps).collect(diagnostics)
}
