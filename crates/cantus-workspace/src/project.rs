//! A project as it lies on disk: configuration, package and notes.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use cantus_compose::{Home, Material, Package, SectionSet, Settings};
use cantus_fs::{AccessError, Kind, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity, sort_by_place};
use cantus_memory::Corpus;
use toml::de::DeTable;

use crate::config::{Config, Surroundings};
use crate::discover::{CONFIG, MEMORIES, MOST_CONFIG_BYTES, cargo_table, is_note_folder, is_project};
use crate::gather::{Gather, Stamps, io_fault, package_files};

static BUILT_IN: LazyLock<Package> = LazyLock::new(Package::built_in);

/// A project, read whole.
#[derive(Debug)]
pub struct Project {
    /// What the configuration says.
    pub config: Config,
    /// The note folder below the root; `None` if the project has none.
    pub memory: Option<RelPath>,
    /// The standing texts.
    pub package: Package,
    /// The notes.
    pub corpus: Corpus,
}

/// What a caller asks for besides what the project's configuration says.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A package's folder, wherever it lies, instead of the configured one.
    pub package: Option<PathBuf>,
    /// Whether each note is hashed.
    pub stamps: Stamps,
    /// Whether there must be a project.
    pub notes: Notes,
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

impl Project {
    /// Reads the project at `root`. With errors there is no value; every fault that could be found is reported.
    #[must_use]
    pub fn open(root: &Root, options: &Options) -> Outcome<Option<Self>> {
        let mut diagnostics = Vec::new();
        let to_come = options.notes == Notes::ToCome;
        if !to_come && !is_project(root.disk().as_ref(), root.path()) && !has_memory(root) {
            let fault = Diagnostic::error(
                "project.none",
                "no project here: neither a configuration nor a note folder",
            );
            diagnostics.push(fault.help("write a first note, `memory/<name>.md`, that starts with the lines `---`, `type: core`, `---`"));
            return Outcome { value: None, diagnostics };
        }
        let config = read_config(root, &mut diagnostics);
        let is_missing = |memory: &RelPath| to_come && matches!(root.kind(memory), Ok(None));
        let memory = match &config.memory {
            Some(memory) if is_missing(memory) => None,
            _ => memory(root, &config, &mut diagnostics),
        };
        let package = match (&options.package, &config.package) {
            (Some(folder), _) => foreign_package(root, folder, &mut diagnostics),
            (None, Some(folder)) => read_package(root, folder, &mut diagnostics),
            (None, None) => Some(BUILT_IN.clone()),
        };
        let corpus = memory.as_ref().map_or_else(Corpus::default, |memory| {
            let tree = Gather {
                root,
                memory,
                limit: config.note_bytes,
                stamps: options.stamps,
                diagnostics: &mut diagnostics,
            }
            .tree();
            Corpus::parse(tree).collect(&mut diagnostics)
        });
        sort_by_place(&mut diagnostics);
        let errors = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
        let value = package.filter(|_| !errors).map(|package| Self { config, memory, package, corpus });
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
        let settings = Settings {
            title: self.config.title.clone(),
            width: self.config.width,
            repositories: self.config.repositories.clone(),
            source: self.config.source.clone(),
        };
        let material = Material { package: &self.package, project: &self.corpus, home, settings: &settings };
        let outcome = SectionSet::new(material, name);
        let errors = outcome.has_errors();
        Outcome { value: (!errors).then_some(outcome.value), diagnostics: outcome.diagnostics }
    }
}

fn has_memory(root: &Root) -> bool {
    MEMORIES.into_iter().any(|memory| exists(root, memory))
}

pub(crate) fn exists(root: &Root, path: &str) -> bool {
    RelPath::new(path).is_ok_and(|path| matches!(root.kind(&path), Ok(Some(_))))
}

/// A file of the root as text, if it is there.
pub(crate) fn read_text(root: &Root, file: &RelPath, diagnostics: &mut Vec<Diagnostic>) -> Option<String> {
    match root.read(file, MOST_CONFIG_BYTES) {
        Ok(bytes) => cantus_memory::decode(file, bytes).map_err(|fault| diagnostics.push(fault)).ok(),
        Err(AccessError::Read { source, .. }) if source.is_absent() => None,
        Err(error) => {
            diagnostics.push(io_fault(&error).at(file));
            None
        }
    }
}

pub(crate) fn parse_toml<'a>(
    text: &'a str,
    file: &RelPath,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<DeTable<'a>> {
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

fn read_config(root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Config {
    let (own_file, cargo_file) = (path(CONFIG), path("Cargo.toml"));
    let own_text = read_text(root, &own_file, diagnostics);
    let cargo_text = read_text(root, &cargo_file, diagnostics);
    let own = own_text.as_deref().and_then(|text| parse_toml(text, &own_file, diagnostics));
    let cargo = cargo_text.as_deref().and_then(|text| parse_toml(text, &cargo_file, diagnostics));
    let package =
        cargo.as_ref().and_then(|table| table.get("package")?.get_ref().get("name")?.get_ref().as_str());
    // Cargo refuses such a name; a title must not grow lines from it.
    let package = package.filter(|name| !name.contains(char::is_control));
    let xtask = matches!(root.kind(&path("xtask")), Ok(Some(Kind::Folder)));
    let surroundings = Surroundings { package, xtask };
    let table = cargo.as_ref().and_then(cargo_table);
    let outcome = match (own, table) {
        (Some(own), table) => {
            if table.is_some() {
                let message =
                    "the configuration stands here and in `[workspace.metadata.cantus]` of `Cargo.toml`";
                diagnostics
                    .push(Diagnostic::error("config", message).at(&own_file).help("keep one of the two"));
            }
            Config::parse(own, &own_file, own_text.as_deref().unwrap_or_default(), surroundings)
        }
        (None, Some(table)) => {
            Config::parse(table.clone(), &cargo_file, cargo_text.as_deref().unwrap_or_default(), surroundings)
        }
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
    match inside(root, &memory) {
        Ok(()) => Some(memory),
        Err(message) => {
            diagnostics.push(Diagnostic::error("project.memory", message).at(&memory));
            None
        }
    }
}

/// Whether `folder` is a folder whose real place is below the root's.
fn inside(root: &Root, folder: &RelPath) -> Result<(), String> {
    let disk = root.disk();
    if matches!(root.kind(folder), Ok(None)) {
        return Err("the folder is not there".to_owned());
    }
    let real = disk.canonical(&root.at(folder)).map_err(|error| format!("can't be followed: {error}"))?;
    match disk.kind(&real) {
        Ok(Some(Kind::Folder)) => {}
        _ => return Err("not a folder".to_owned()),
    }
    match disk.canonical(root.path()) {
        Ok(root) if real == root => {
            Err("a symlink to the project itself: the folder must lie inside it".to_owned())
        }
        Ok(root) if real.starts_with(&root) => Ok(()),
        _ => Err("a symlink out of the project: the folder must lie inside it".to_owned()),
    }
}

fn read_package(root: &Root, folder: &RelPath, diagnostics: &mut Vec<Diagnostic>) -> Option<Package> {
    if let Err(message) = inside(root, folder) {
        diagnostics.push(Diagnostic::error("package", message).at(folder));
        return None;
    }
    let files = package_files(root, Some(folder), diagnostics);
    Package::parse(Some(folder.to_string()), files).collect(diagnostics)
}

/// The package in a folder that the caller names.
fn foreign_package(root: &Root, folder: &Path, diagnostics: &mut Vec<Diagnostic>) -> Option<Package> {
    let label = folder.display().to_string();
    if !matches!(
        root.disk().canonical(folder).map(|real| root.disk().kind(&real)),
        Ok(Ok(Some(Kind::Folder)))
    ) {
        diagnostics.push(Diagnostic::error("package", "not a folder").at(label));
        return None;
    }
    let files = package_files(&Root::new(root.disk().clone(), folder.to_path_buf()), None, diagnostics);
    Package::parse(Some(label), files).collect(diagnostics)
}
