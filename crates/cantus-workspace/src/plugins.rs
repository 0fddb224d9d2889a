//! Crates of the project's dependency graph that ship notes: which there are, and the notes of those that the configuration
//! allows.
//!
//! What a crate that isn't allowed has in its folder is never looked at: all that is known of it is what cargo says.

use std::collections::BTreeSet;
use std::io;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use cantus_compose::Plugin;
use cantus_fs::Root;
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity, Stamps};
use cantus_memory::nearest;
use cargo_metadata::semver::Version;
use cargo_metadata::{Metadata, MetadataCommand, Package, PackageId};

use crate::config::{Allowed, Config, LOCK, PluginKind, is_crate_name, meet};
use crate::discover::CONFIG;
use crate::gather::Gather;
use crate::project::{exists, inside, path, read_config};

/// The crates that ship notes, used or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PluginListing {
    /// In byte order of their names, then by version.
    pub crates: Vec<ShippedNotes>,
    /// Why there is no dependency graph, on one line; `None` where there is one.
    pub no_graph: Option<String>,
}

/// A crate that ships notes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShippedNotes {
    /// The crate's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its note folder below its own folder, as it says itself.
    pub notes: String,
    /// What its notes may be, if the configuration allows them.
    pub used: Option<PluginKind>,
    /// How to allow them; `None` where they are used or can't be.
    pub allow: Option<String>,
}

/// The crates that ship notes in the dependency graph of the project at `root`. Their notes aren't opened.
///
/// Without cargo or a `Cargo.toml` there is no graph, which is an error only if the configuration allows a crate. There is no
/// value if the configuration is broken or cargo fails.
#[must_use]
pub fn list_plugins(root: &Root) -> Outcome<Option<PluginListing>> {
    let mut diagnostics = Vec::new();
    let config = read_config(root, Stamps::Skip, &mut diagnostics);
    if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Outcome { value: None, diagnostics };
    }
    let value = match Graph::of(root) {
        Ok(graph) => Some(listing(&graph, &config, &mut diagnostics)),
        Err(error) => match error.absence().filter(|_| config.plugins.is_empty()) {
            Some(why) => Some(PluginListing { no_graph: Some(why), ..PluginListing::default() }),
            None => {
                diagnostics.push(cargo_fault(&error, &config));
                None
            }
        },
    };
    Outcome { value, diagnostics }
}

fn listing(graph: &Graph, config: &Config, diagnostics: &mut Vec<Diagnostic>) -> PluginListing {
    let chosen: Vec<_> =
        config.plugins.iter().filter_map(|allowed| graph.choose(allowed, config, diagnostics)).collect();
    let crates = graph.crates.iter().filter_map(|member| {
        let Shipping::At(notes) = &member.notes else { return None };
        let used = chosen.iter().any(|(chosen, _)| std::ptr::eq(*chosen, member));
        let allowed = config.plugins.iter().find(|allowed| allowed.name == member.name);
        Some(ShippedNotes {
            name: member.name.clone(),
            version: member.version.to_string(),
            notes: notes.escape_debug().to_string(),
            used: allowed.filter(|_| used).map(|allowed| allowed.kind),
            allow: (allowed.is_none() && is_crate_name(&member.name)).then(|| allow(&member.name, config)),
        })
    });
    PluginListing { crates: crates.collect(), no_graph: None }
}

/// What to do for the notes of a crate to be used.
fn allow(name: &str, config: &Config) -> String {
    let file = config.source.as_ref().map_or(CONFIG, |file| file.path.as_str());
    match (config.plugins.as_slice(), file) {
        ([], CONFIG) => format!("write `plugins = [\"{name}\"]` at the top of `{file}`"),
        ([], _) => format!("write `plugins = [\"{name}\"]` under `[workspace.metadata.cantus]` in `{file}`"),
        _ => format!("add `\"{name}\"` to `plugins` in `{file}`"),
    }
}

/// The notes of every crate that the configuration allows. `memory` is the project's own note folder.
pub(crate) fn read_plugins(
    root: &Root,
    config: &Config,
    memory: Option<&RelPath>,
    stamps: Stamps,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Plugin> {
    if config.plugins.is_empty() {
        return Vec::new();
    }
    let graph = match Graph::of(root) {
        Ok(graph) => graph,
        Err(error) => {
            diagnostics.push(cargo_fault(&error, config));
            return Vec::new();
        }
    };
    let mut plugins = Vec::new();
    for allowed in &config.plugins {
        let Some((member, notes)) = graph.choose(allowed, config, diagnostics) else { continue };
        match note_folder(root, config, memory, member, notes) {
            Ok(folder) => {
                let limit = config.note_bytes;
                plugins.push(
                    read_plugin(root, member, &folder, allowed.kind, limit, stamps).collect(diagnostics),
                );
            }
            Err(message) => {
                let help = "the crate must be mended, or taken out of `plugins`";
                diagnostics.push(fault(config, allowed, message).help(help));
            }
        }
    }
    plugins
}

/// The folders of allowed crates that people may edit, each with its note folder: those of path dependencies. None where cargo
/// can't be asked.
pub(crate) fn local_folders(root: &Root, config: &Config) -> Vec<(PathBuf, PathBuf)> {
    if config.plugins.is_empty() {
        return Vec::new();
    }
    let Ok(graph) = Graph::of(root) else { return Vec::new() };
    let is_allowed = |member: &&Member| config.plugins.iter().any(|allowed| allowed.name == member.name);
    let local = graph.crates.iter().filter(is_allowed).filter(|member| member.is_local);
    let with_notes = local.map(|member| match &member.notes {
        Shipping::At(notes) => (member.folder.clone(), member.folder.join(notes)),
        Shipping::Nothing | Shipping::Unsaid => (member.folder.clone(), member.folder.clone()),
    });
    with_notes.collect()
}

/// The notes in `folder` of a crate; faults name files as `plugin:<crate>-<version>/<path>`.
fn read_plugin(
    root: &Root,
    member: &Member,
    folder: &RelPath,
    kind: PluginKind,
    limit: u64,
    stamps: Stamps,
) -> Outcome<Plugin> {
    let crate_root = Root::new(root.disk().clone(), member.folder.clone());
    let mut diagnostics = Vec::new();
    let gather = Gather { root: &crate_root, memory: folder, limit, stamps, diagnostics: &mut diagnostics };
    let mut corpus = gather.corpus();
    diagnostics.extend(corpus.equal_slugs_across_kinds());
    if kind == PluginKind::Reference {
        corpus.list_core();
    }
    let plugin = Plugin { name: member.name.clone(), version: member.version.to_string(), corpus };
    for diagnostic in &mut diagnostics {
        let label = |path: String| format!("plugin:{}-{}/{path}", plugin.name, plugin.version);
        diagnostic.path = diagnostic.path.take().map(label);
    }
    Outcome { value: plugin, diagnostics }
}

/// The note folder of a crate below its own folder, or what is wrong with it.
fn note_folder(
    root: &Root,
    config: &Config,
    memory: Option<&RelPath>,
    member: &Member,
    notes: &str,
) -> Result<RelPath, String> {
    let label = format!("the note folder of `{}` {}", member.name, member.version);
    let folder = RelPath::new(notes.strip_suffix('/').unwrap_or(notes))
        .map_err(|error| format!("{label}: {error}"))?;
    let crate_root = Root::new(root.disk().clone(), member.folder.clone());
    inside(&crate_root, &folder, "crate").map_err(|message| format!("{label}, `{folder}`: {message}"))?;
    // A crate of the project itself may lie anywhere in it.
    let Some(place) = below(root, &crate_root.at(&folder)) else { return Ok(folder) };
    if memory.and_then(|memory| below(root, &root.at(memory))).is_some_and(|memory| meet(&memory, &place)) {
        return Err(format!("{label}, `{folder}`: the project's own notes lie there"));
    }
    if let Some(target) = config.targets().find(|target| meet(target.as_str(), &place)) {
        return Err(format!(
            "{label}, `{folder}`: the target `{target}` lies there, and targets aren't sources"
        ));
    }
    if meet(LOCK, &place) {
        return Err(format!("{label}, `{folder}`: the lock `{LOCK}` lies there, and targets aren't sources"));
    }
    Ok(folder)
}

/// The real place of a folder below the root; `None` if it lies elsewhere.
fn below(root: &Root, folder: &Path) -> Option<String> {
    let disk = root.disk();
    let (real_root, real) = (disk.canonical(root.path()).ok()?, disk.canonical(folder).ok()?);
    let place = real.strip_prefix(real_root).ok()?;
    let parts: Vec<_> = place.iter().map(|part| part.to_string_lossy()).collect();
    Some(parts.join("/"))
}

/// A fault of one entry of `plugins`.
fn fault(config: &Config, allowed: &Allowed, message: impl Into<String>) -> Diagnostic {
    let file = config.source.as_ref().map_or(CONFIG, |file| file.path.as_str());
    Diagnostic::error("plugin", message).at(file).line(allowed.line)
}

/// Why there is no dependency graph.
enum GraphError {
    /// The root has no `Cargo.toml`.
    NoManifest,
    /// Cargo can't be started.
    NoCargo(io::Error),
    /// Cargo said this on standard error.
    Failed(String),
    /// Cargo's answer can't be read.
    Unreadable(cargo_metadata::Error),
}

impl GraphError {
    /// Why there can't be a graph, if that is no failure.
    fn absence(&self) -> Option<String> {
        match self {
            Self::NoManifest => Some("there is no `Cargo.toml` at the root".to_owned()),
            Self::NoCargo(error) => Some(format!("cargo can't be started: {error}")),
            Self::Failed(_) | Self::Unreadable(_) => None,
        }
    }

    fn message(&self) -> String {
        match self {
            Self::Failed(said) => format!("`{COMMAND}` failed:{}", indented(said)),
            Self::Unreadable(error) => format!("the answer of `{COMMAND}` can't be read: {error}"),
            absent => format!("`plugins` needs cargo: {}", absent.absence().unwrap_or_default()),
        }
    }

    fn help(&self) -> String {
        match self {
            Self::NoManifest => "take the crates out of `plugins`, or make this a Cargo workspace".to_owned(),
            Self::NoCargo(_) => {
                "install cargo, set `CARGO` to its path, or take the crates out of `plugins`".to_owned()
            }
            Self::Failed(said) => cure(said),
            Self::Unreadable(_) => format!("run `{COMMAND}` to see it"),
        }
    }
}

/// The fault that there is no dependency graph, at the first line that asks for one.
fn cargo_fault(error: &GraphError, config: &Config) -> Diagnostic {
    let fault = Diagnostic::error("plugin.cargo", error.message()).help(error.help());
    match (&config.source, config.plugins.iter().map(|allowed| allowed.line).min()) {
        (Some(file), Some(line)) => fault.at(&file.path).line(line),
        _ => fault.at("Cargo.toml"),
    }
}

/// What we run, as people write it.
const COMMAND: &str = "cargo metadata --offline --locked --format-version 1";

/// What to do about what cargo said.
fn cure(said: &str) -> String {
    if said.contains("cannot create the lock file") {
        return "run `cargo generate-lockfile` and commit `Cargo.lock`".to_owned();
    }
    if said.contains("--locked") {
        return "run `cargo fetch`, which brings `Cargo.lock` up to date, and commit it".to_owned();
    }
    if said.contains("offline") {
        return "run `cargo fetch`, which downloads what is missing".to_owned();
    }
    "mend what cargo names, then run the same command again".to_owned()
}

/// The lines of a text, each on a line of its own below a message.
fn indented(text: &str) -> String {
    let lines = text.lines().map(str::trim_end).filter(|line| !line.is_empty());
    let printable = |line: &str| line.replace(char::is_control, " ");
    lines.map(|line| format!("\n    {}", printable(line))).collect()
}

/// The folders of the members of the Cargo workspace at `root`, the root's own aside.
pub(crate) fn workspace_folders(root: &Root) -> Result<Vec<RelPath>, Diagnostic> {
    let fault = |error: &GraphError| {
        let message = match error {
            GraphError::Failed(said) => format!("`{MEMBERS_COMMAND}` failed:{}", indented(said)),
            GraphError::Unreadable(error) => {
                format!("the answer of `{MEMBERS_COMMAND}` can't be read: {error}")
            }
            absent => format!("`members = true` needs cargo: {}", absent.absence().unwrap_or_default()),
        };
        Diagnostic::error("member.cargo", message)
            .help("mend it, or list folders: `members = [\"crates/*\"]`")
    };
    let metadata = ask_cargo(root, &["--no-deps"]).map_err(|error| fault(&error))?;
    // Cargo may call the root by its real name.
    let real = root.disk().canonical(root.path());
    let below = |folder: &Path| {
        let below = folder.strip_prefix(root.path()).ok();
        let below = below.or_else(|| folder.strip_prefix(real.as_ref().ok()?).ok())?;
        let parts: Option<Vec<_>> = below.iter().map(|part| part.to_str()).collect();
        RelPath::new(parts?.join("/")).ok()
    };
    let members = metadata.workspace_packages().into_iter();
    let members = members.filter_map(|package| below(package.manifest_path.parent()?.as_std_path()));
    Ok(members.collect())
}

/// What we run for the members of a workspace, as people write it.
const MEMBERS_COMMAND: &str = "cargo metadata --no-deps --format-version 1";

/// What cargo says of the workspace at `root`.
fn ask_cargo(root: &Root, options: &[&str]) -> Result<Metadata, GraphError> {
    if !exists(root, path("Cargo.toml").as_str()) {
        return Err(GraphError::NoManifest);
    }
    let mut command = MetadataCommand::new();
    command.current_dir(root.path());
    command.other_options(options.iter().map(|option| (*option).to_owned()).collect::<Vec<_>>());
    // Else it may write into the target folder.
    command.env("CARGO_CACHE_RUSTC_INFO", "0");
    command.env("CARGO_TERM_COLOR", "never");
    command.exec().map_err(|error| match error {
        cargo_metadata::Error::Io(error) => GraphError::NoCargo(error),
        cargo_metadata::Error::CargoMetadata { stderr } => GraphError::Failed(below_root(&stderr, root)),
        error => GraphError::Unreadable(error),
    })
}

/// What cargo knows of the project's dependencies, the project's own crates among them.
struct Graph {
    /// In byte order of their names, then by version.
    crates: Vec<Member>,
}

/// One crate of the graph.
struct Member {
    name: String,
    version: Version,
    folder: PathBuf,
    notes: Shipping,
    /// Whether it lies where someone may edit it, and not in cargo's cache.
    is_local: bool,
    /// Whether it is a crate of the workspace, or a dependency of one.
    direct: bool,
}

/// What a crate says of its notes.
enum Shipping {
    /// Nothing.
    Nothing,
    /// It has our table, but no note folder in it.
    Unsaid,
    /// The note folder.
    At(String),
}

impl Shipping {
    fn of(package: &Package) -> Self {
        let Some(table) = package.metadata.get("cantus") else { return Self::Nothing };
        match table.get("notes").and_then(|notes| notes.as_str()) {
            Some(notes) => Self::At(notes.to_owned()),
            None => Self::Unsaid,
        }
    }
}

impl Graph {
    /// The graph of the project at `root`, as cargo tells it without network and without changing the lock file.
    fn of(root: &Root) -> Result<Self, GraphError> {
        let metadata = ask_cargo(root, &["--offline", "--locked"])?;
        Ok(Self::from_metadata(&metadata))
    }

    fn from_metadata(metadata: &Metadata) -> Self {
        let own: BTreeSet<&PackageId> = metadata.workspace_members.iter().collect();
        let nodes = metadata.resolve.iter().flat_map(|resolve| &resolve.nodes);
        let needed = nodes.filter(|node| own.contains(&node.id)).flat_map(|node| &node.dependencies);
        let direct: BTreeSet<&PackageId> = needed.chain(own.iter().copied()).collect();
        let member = |package: &Package| {
            Some(Member {
                name: package.name.to_string(),
                version: package.version.clone(),
                folder: package.manifest_path.parent()?.as_std_path().to_path_buf(),
                notes: Shipping::of(package),
                is_local: package.source.is_none(),
                direct: direct.contains(&package.id),
            })
        };
        let mut crates: Vec<_> = metadata.packages.iter().filter_map(member).collect();
        crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
        Self { crates }
    }

    /// The crate that an entry of `plugins` means and its note folder, or a fault.
    fn choose(
        &self,
        allowed: &Allowed,
        config: &Config,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<(&Member, &str)> {
        let name = &allowed.name;
        let found: Vec<_> = self.crates.iter().filter(|member| member.name == *name).collect();
        let direct: Vec<_> = found.iter().copied().filter(|member| member.direct).collect();
        let (message, help) = match (found.as_slice(), direct.as_slice()) {
            ([], _) => (format!("no crate `{name}` is in the dependency graph"), self.suggest(name)),
            ([member], _) | (_, [member]) => match &member.notes {
                Shipping::At(notes) => return Some((*member, notes)),
                Shipping::Nothing => {
                    (format!("the crate `{name}` {} ships no notes", member.version), self.suggest(name))
                }
                Shipping::Unsaid => {
                    let table = "[package.metadata.cantus]";
                    let version = &member.version;
                    let message = format!(
                        "the crate `{name}` {version} ships no notes: its `{table}` lacks `notes`, the folder"
                    );
                    (message, self.suggest(name))
                }
            },
            (several, _) => {
                let versions: Vec<_> = several.iter().map(|member| member.version.to_string()).collect();
                let help = "let the crates of the workspace depend on the one that is meant, and on no other"
                    .to_owned();
                (
                    format!("the dependency graph has several versions of `{name}`: {}", versions.join(", ")),
                    help,
                )
            }
        };
        diagnostics.push(fault(config, allowed, message).help(help));
        None
    }

    /// The crates with notes that a name may have meant.
    fn suggest(&self, name: &str) -> String {
        let shipping = self.crates.iter().filter(|member| matches!(member.notes, Shipping::At(_)));
        let mut known: Vec<_> = shipping.map(|member| member.name.as_str()).collect();
        known.dedup();
        match (nearest(name, &known), known.as_slice()) {
            (Some(near), _) => format!("did you mean `{near}`?"),
            (None, []) => "no crate of the graph ships notes: take this one out of `plugins`".to_owned(),
            (None, known) => format!("crates that ship notes: {}", known.join(", ")),
        }
    }
}

/// What cargo said, with paths below the root instead of absolute ones.
fn below_root(said: &str, root: &Root) -> String {
    let root = root.path().display();
    said.replace(&format!("{root}{MAIN_SEPARATOR}"), "").replace(&format!("({root})"), "(.)")
}
