//! The configuration: every key with its default.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use cantus_compose::{ConfigFile, Repository};
use cantus_manifest::{Outcome, Provider, RelPath};
use cantus_memory::{nearest, shortened};
use toml::de::DeTable;

use crate::discover::{CONFIG, MEMORIES};
use crate::keys::{Choice, Item, Keys, Source};
use crate::program::Program;

/// Where the lock lies, below the root.
pub const LOCK: &str = "projections/lock.toml";

/// What `budget.file_bytes` is by default: what Codex reads, unless it is told otherwise.
pub const DEFAULT_FILE_BYTES: u64 = 32_768;

/// What `record.variable` is by default: the name that launchers of the peer use too.
pub const DEFAULT_VARIABLE: &str = "SASE_INSTRUCTIONS_FILE";

/// The most that `limits.note_bytes` may say: every note is held in memory.
const MOST_NOTE_BYTES: u64 = 64 << 20;

/// Renders that are not a provider's.
const RENDERS: [&str; 4] = ["native", "helper", "interactive", "export"];

/// What a project's configuration says; a key that is not set is its default.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The project's name; `None` where neither the configuration nor a root package gives one.
    pub name: Option<String>,
    /// The first heading of its bundles.
    pub title: String,
    /// The command that regenerates the committed files.
    pub command: String,
    /// The note folder that is configured; `None` for the first that exists.
    pub memory: Option<RelPath>,
    /// The package's folder; `None` for the built-in one.
    pub package: Option<RelPath>,
    /// How wide generated prose may be, in cells; 0 for no wrapping.
    pub width: usize,
    /// The providers whose renders the lock covers, in byte order.
    pub providers: Vec<Provider>,
    /// Whether the configuration names them: the default ones need not be agents that anybody here uses.
    pub names_providers: bool,
    /// The crates whose notes may be read, in byte order of their names.
    pub plugins: Vec<Allowed>,
    /// The folders with notes of their own that have files of their own.
    pub members: Members,
    /// The repositories that the contract names.
    pub repositories: Vec<Repository>,
    /// The committed files: the original, then its copies.
    pub files: Vec<RelPath>,
    /// Whether a committed file starts with the notice.
    pub notice: bool,
    /// Further committed renders.
    pub outputs: Vec<Output>,
    /// Webs that are committed as pages for people.
    pub pages: Vec<PageConfig>,
    /// The most bytes that a note may have.
    pub note_bytes: u64,
    /// The most bytes that a committed file, or a chain of them, should have.
    pub file_bytes: u64,
    /// Whether no budget is an error.
    pub warn_only: bool,
    /// The environment variable that tells an agent where its bundle lies.
    pub variable: String,
    /// The file that the configuration was read from.
    pub source: Option<ConfigFile>,
}

/// A committed render besides the native one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The render: `native`, `helper`, `interactive`, `export` or a provider.
    pub render: String,
    /// Where it is committed.
    pub file: RelPath,
}

/// Which folders with notes of their own have files of their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Members {
    /// None.
    #[default]
    None,
    /// The members of the Cargo workspace.
    Workspace {
        /// The line of the configuration that asks for them, counted from 1.
        line: u32,
    },
    /// The folders that these patterns name, each with its line.
    Listed(Vec<(String, u32)>),
}

/// A web that is committed as a page for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageConfig {
    /// The web's name.
    pub web: String,
    /// Where the page is committed.
    pub file: RelPath,
    /// How much of each strand's text it holds.
    pub body: PageBody,
    /// The address of a record's source, `{path}` standing for its path.
    pub link: Option<String>,
    /// The web whose terms stand at the foot as abbreviations.
    pub abbreviations: Option<String>,
    /// The line of the configuration that asks for it, counted from 1.
    pub line: u32,
}

/// How much of a strand's text a page holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PageBody {
    /// All of it.
    #[default]
    Full,
    /// The paragraph that is labelled *Claim*.
    Claim,
    /// Nothing.
    None,
}

impl PageBody {
    const NAMES: [&str; 3] = ["full", "claim", "none"];

    fn from_name(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|known| *known == name)?;
        [Self::Full, Self::Claim, Self::None].get(at).copied()
    }
}

/// A crate whose notes may be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// The crate's name.
    pub name: String,
    /// What its notes may be.
    pub kind: PluginKind,
    /// The line of the configuration that allows it, counted from 1.
    pub line: u32,
}

/// What the notes of a dependency may be in the bundle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PluginKind {
    /// Reference notes and webs; a note that says `type: core` is listed.
    #[default]
    Reference,
    /// What they say themselves.
    Core,
}

impl PluginKind {
    const NAMES: [&str; 2] = ["reference", "core"];

    /// The name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reference => Self::NAMES[0],
            Self::Core => Self::NAMES[1],
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Reference, Self::Core].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// What the defaults depend on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Surroundings<'a> {
    /// The root Cargo package's name.
    pub(crate) package: Option<&'a str>,
    /// Whether an `xtask` folder stands at the root.
    pub(crate) xtask: bool,
}

const KEYS: &[&str] = &[
    "name",
    "title",
    "command",
    "memory",
    "package",
    "width",
    "providers",
    "members",
    "plugins",
    "repositories",
    "projection",
    "output",
    "page",
    "budget",
    "limits",
    "record",
];

impl Config {
    /// Whether what the project's sources are is for cargo to say: a program's answer, which no look at files can stand for.
    #[must_use]
    pub fn asks_cargo(&self) -> bool {
        !self.plugins.is_empty() || matches!(self.members, Members::Workspace { .. })
    }

    /// The configuration of a project that has none.
    pub(crate) fn default_in(surroundings: Surroundings<'_>) -> Self {
        Self::read(
            Keys::new(DeTable::new(), ""),
            &mut Source { file: "", text: "", diagnostics: Vec::new() },
            surroundings,
        )
    }

    /// Reads `table` of the file `file`, whose text is `text`; with errors the value has defaults in their place.
    pub(crate) fn parse(
        table: DeTable<'_>,
        file: &ConfigFile,
        text: &str,
        surroundings: Surroundings<'_>,
    ) -> Outcome<Self> {
        let mut source = Source { file: file.path.as_str(), text, diagnostics: Vec::new() };
        let mut config = Self::read(Keys::new(table, ""), &mut source, surroundings);
        config.source = Some(file.clone());
        Outcome { value: config, diagnostics: source.diagnostics }
    }

    fn read(mut keys: Keys<'_>, source: &mut Source<'_>, surroundings: Surroundings<'_>) -> Self {
        let name =
            keys.text(source, "name").map(|(name, _)| name).or(surroundings.package.map(str::to_owned));
        let title = keys.text(source, "title").map(|(title, _)| title);
        let memory = keys.path(source, "memory").map(|(path, _)| path);
        let package = keys.path(source, "package").map(|(path, _)| path);
        let (providers, names_providers) = providers(&mut keys, source);
        let (files, notice) = projection(&mut keys, source);
        let outputs = outputs(&mut keys, source, &providers);
        let pages = pages(&mut keys, source);
        let (file_bytes, warn_only) = budget(&mut keys, source);
        let config = Self {
            title: title.unwrap_or_else(|| default_title(name.as_deref())),
            name,
            command: command(&mut keys, source, surroundings),
            width: width(&mut keys, source),
            members: members(&mut keys, source),
            plugins: plugins(&mut keys, source),
            repositories: repositories(&mut keys, source),
            files: files.iter().map(|(path, _)| path.clone()).collect(),
            outputs: outputs.iter().map(|(output, _)| output.clone()).collect(),
            pages: pages.iter().map(|(page, _)| page.clone()).collect(),
            note_bytes: note_bytes(&mut keys, source),
            file_bytes,
            warn_only,
            variable: variable(&mut keys, source),
            memory,
            package,
            providers,
            names_providers,
            notice,
            source: None,
        };
        let outputs = outputs.into_iter().map(|(output, span)| (output.file, span));
        let pages = pages.into_iter().map(|(page, span)| (page.file, span));
        config.check_targets(files.into_iter().chain(outputs).chain(pages), source);
        keys.finish(source, KEYS);
        config
    }

    /// The committed files in their order, the lock not among them: the original and its copies, further renders, pages.
    pub fn targets(&self) -> impl Iterator<Item = &RelPath> {
        let outputs = self.outputs.iter().map(|output| &output.file);
        self.files.iter().chain(outputs).chain(self.pages.iter().map(|page| &page.file))
    }

    /// Refuses targets that meet each other, the sources or the lock.
    fn check_targets(&self, targets: impl Iterator<Item = (RelPath, Range<usize>)>, source: &mut Source<'_>) {
        let defaults = MEMORIES.map(str::to_owned);
        let memories = self.memory.as_ref().map_or(defaults.to_vec(), |memory| vec![memory.to_string()]);
        let sources: Vec<String> =
            memories.into_iter().chain(self.package.as_ref().map(RelPath::to_string)).collect();
        let mut seen = Targets::default();
        for (path, span) in targets {
            let message = if let Some(other) = seen.meeting(&path) {
                match other.as_str().to_lowercase() == path.as_str().to_lowercase() {
                    true => format!("`{path}` is a target already"),
                    false => {
                        format!("`{path}` and `{other}` can't both be files: one would have to be a folder")
                    }
                }
            } else if let Some(folder) = sources.iter().find(|folder| meet(folder, path.as_str())) {
                format!("`{path}` meets `{folder}/`, whose files are sources")
            } else if is_reserved(&path) {
                format!("`{path}` can't be a target: the name is taken")
            } else {
                seen.insert(path);
                continue;
            };
            source.fault(span, message);
        }
    }
}

/// Paths none of which [`meet`]s another, found by what they are in lower case.
#[derive(Default)]
pub(crate) struct Targets(BTreeMap<String, RelPath>);

impl Targets {
    pub(crate) fn insert(&mut self, path: RelPath) {
        self.0.insert(path.as_str().to_lowercase(), path);
    }

    /// The one that is `path`, lies below it or holds it.
    pub(crate) fn meeting(&self, path: &RelPath) -> Option<&RelPath> {
        let key = path.as_str().to_lowercase();
        let above = key.match_indices('/').filter_map(|(at, _)| self.0.get(&key[..at])).next();
        let below = format!("{key}/");
        let below = || self.0.range(below.clone()..).next().filter(|(other, _)| other.starts_with(&below));
        above.or_else(|| self.0.get(&key)).or_else(|| below().map(|(_, other)| other))
    }
}

/// Whether two paths are the same or one lies below the other, on file systems that don't tell case apart as well.
pub(crate) fn meet(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    one == other || one.starts_with(&format!("{other}/")) || other.starts_with(&format!("{one}/"))
}

/// The title and the repositories that a home's configuration gives.
pub(crate) fn home_config(
    table: DeTable<'_>,
    file: &RelPath,
    text: &str,
) -> Outcome<(Option<String>, Vec<Repository>)> {
    let mut source = Source { file: file.as_str(), text, diagnostics: Vec::new() };
    let mut keys = Keys::new(table, "");
    let title = keys.text(&mut source, "title").map(|(title, _)| title);
    let repositories = repositories(&mut keys, &mut source);
    keys.finish(&mut source, &["title", "repositories"]);
    Outcome { value: (title, repositories), diagnostics: source.diagnostics }
}

/// Whether a path is the lock's, a configuration's or the README's, or belongs to git.
fn is_reserved(path: &RelPath) -> bool {
    let own = [LOCK, CONFIG, "Cargo.toml", "README.md"];
    own.iter().any(|own| meet(own, path.as_str())) || is_git_s(path.as_str())
}

/// Whether a path is a git folder or lies in one.
fn is_git_s(path: &str) -> bool {
    path.split('/').any(|part| part.eq_ignore_ascii_case(".git"))
}

pub(crate) fn default_title(name: Option<&str>) -> String {
    name.map_or_else(|| "Agent Instructions".to_owned(), |name| format!("{name} - Agent Instructions"))
}

fn command(keys: &mut Keys<'_>, source: &mut Source<'_>, surroundings: Surroundings<'_>) -> String {
    let default = if surroundings.xtask { Program::Xtask } else { Program::Cantus };
    let Some((command, span)) = keys.text(source, "command") else { return format!("{default} project") };
    if command.contains('`') || command.contains("-->") {
        source.fault(span, "`command` must not hold a backtick or `-->`: it stands in code, in a comment");
    }
    command
}

fn width(keys: &mut Keys<'_>, source: &mut Source<'_>) -> usize {
    const DEFAULT: usize = 88;
    let Some((width, span)) = keys.natural(source, "width") else { return DEFAULT };
    if (1..20).contains(&width) || width > 10_000 {
        source.fault(span, format!("`width` must be 0 (no wrapping) or from 20 to 10000 cells, not {width}"));
        return DEFAULT;
    }
    usize::try_from(width).unwrap_or(DEFAULT)
}

/// The providers, and whether the configuration names them.
fn providers(keys: &mut Keys<'_>, source: &mut Source<'_>) -> (Vec<Provider>, bool) {
    const DEFAULT: [&str; 7] = ["claude", "codex", "grok", "muse", "agy", "qwen", "opencode"];
    let given = keys.texts(source, "providers");
    let is_given = given.is_some();
    let names = given.unwrap_or_else(|| DEFAULT.map(|name| (name.to_owned(), 0..0)).to_vec());
    let mut providers: BTreeSet<Provider> = BTreeSet::new();
    for (name, span) in names {
        match Provider::new(name) {
            Err(error) => drop(source.fault(span, format!("`providers`: {error}"))),
            Ok(provider)
                if RENDERS.contains(&provider.as_str()) || ["all", "root"].contains(&provider.as_str()) =>
            {
                source.fault(
                    span,
                    format!("`providers`: `{provider}` is the name of a render, not of a provider"),
                );
            }
            Ok(provider) if providers.contains(&provider) => {
                source.fault(span, format!("`providers`: `{provider}` stands here twice"));
            }
            Ok(provider) => drop(providers.insert(provider)),
        }
    }
    (providers.into_iter().collect(), is_given)
}

fn members(keys: &mut Keys<'_>, source: &mut Source<'_>) -> Members {
    let Some(given) = keys.boolean_or_texts(source, "members") else { return Members::None };
    let patterns = match given {
        Choice::Boolean(false, _) => return Members::None,
        Choice::Boolean(true, span) => return Members::Workspace { line: source.line(&span) },
        Choice::Texts(patterns) => patterns,
    };
    let mut known = Vec::new();
    for (pattern, span) in patterns {
        let text = pattern.strip_suffix('/').unwrap_or(&pattern).to_owned();
        let line = source.line(&span);
        match RelPath::new(text.replace(['*', '?'], "x")) {
            Ok(_) if is_git_s(&text) => {
                source.fault(span, format!("`members`: `{text}` belongs to git"));
            }
            Ok(_) if !text.contains("**") => known.push((text, line)),
            Ok(_) => {
                let fault =
                    source.fault(span, format!("`members`: `{text}` holds `**`, which means nothing here"));
                fault.help =
                    Some("`*` stands for any name or part of one: write such as `crates/*`".to_owned());
            }
            Err(_) => {
                let pattern = pattern.escape_debug();
                source.fault(span, format!("`members`: `{pattern}` is not a folder inside the root"));
            }
        }
    }
    Members::Listed(known)
}

fn plugins(keys: &mut Keys<'_>, source: &mut Source<'_>) -> Vec<Allowed> {
    let mut plugins: Vec<Allowed> = Vec::new();
    for (item, span) in keys.items(source, "plugins", "plugins.") {
        let Some((name, kind, span)) = plugin(item, span, source) else { continue };
        if !is_crate_name(&name) {
            let expected = "expected ASCII letters, digits, `_` and `-`, the first no digit and no `-`";
            source.fault(
                span,
                format!("`plugins`: `{}` is not the name of a crate: {expected}", name.escape_debug()),
            );
        } else if plugins.iter().any(|plugin| plugin.name == name) {
            source.fault(span, format!("`plugins`: `{name}` stands here twice"));
        } else {
            plugins.push(Allowed { name, kind, line: source.line(&span) });
        }
    }
    plugins.sort_by(|a, b| a.name.cmp(&b.name));
    plugins
}

/// What one entry of `plugins` says, and where the crate's name stands.
fn plugin(
    item: Item<'_>,
    span: Range<usize>,
    source: &mut Source<'_>,
) -> Option<(String, PluginKind, Range<usize>)> {
    let mut keys = match item {
        Item::Text(name) => return Some((name, PluginKind::default(), span)),
        Item::Table(keys) => keys,
    };
    let faults = source.diagnostics.len();
    let (name, kind) = (keys.text(source, "crate"), keys.text(source, "kind"));
    keys.finish(source, &["crate", "kind"]);
    if name.is_none() && source.diagnostics.len() == faults {
        source.fault(span, "an entry of `plugins` needs a `crate`");
    }
    let kind = kind.map_or(Some(PluginKind::default()), |(kind, span)| plugin_kind(&kind, span, source));
    let (name, span) = name?;
    Some((name, kind?, span))
}

fn plugin_kind(kind: &str, span: Range<usize>, source: &mut Source<'_>) -> Option<PluginKind> {
    let known = PluginKind::from_name(kind);
    if known.is_none() {
        let fault = source.fault(
            span,
            format!("`plugins.kind` must be `reference` or `core`, not `{}`", kind.escape_debug()),
        );
        fault.help = nearest(kind, &PluginKind::NAMES).map(|near| format!("did you mean `{near}`?"));
    }
    known
}

/// Whether a text can be a crate's name, and a part of a section's id.
pub(crate) fn is_crate_name(name: &str) -> bool {
    let starts = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    starts && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

fn repositories(keys: &mut Keys<'_>, source: &mut Source<'_>) -> Vec<Repository> {
    let mut repositories: Vec<Repository> = Vec::new();
    let mut names = BTreeSet::new();
    for (mut keys, span) in keys.tables(source, "repositories", "repositories.") {
        let faults = source.diagnostics.len();
        let (name, description) = (keys.text(source, "name"), keys.text(source, "description"));
        match (name, description) {
            (Some((name, span)), Some(_)) if !names.insert(name.clone()) => {
                source.fault(span, format!("the repository `{}` stands here twice", shortened(&name)));
            }
            (Some((name, _)), Some((description, span))) => {
                repositories.push(Repository { name, description, line: source.line(&span) });
            }
            _ if source.diagnostics.len() == faults => {
                source.fault(span, "a repository needs a `name` and a `description`");
            }
            _ => {}
        }
        keys.finish(source, &["name", "description"]);
    }
    repositories
}

type Files = Vec<(RelPath, Range<usize>)>;

fn projection(keys: &mut Keys<'_>, source: &mut Source<'_>) -> (Files, bool) {
    let mut keys =
        keys.table(source, "projection", "projection.").unwrap_or_else(|| Keys::new(DeTable::new(), ""));
    let given = keys.texts(source, "files");
    let names =
        given.unwrap_or_else(|| ["AGENTS.md", "CLAUDE.md"].map(|name| (name.to_owned(), 0..0)).to_vec());
    let mut files = Vec::new();
    for (name, span) in names {
        match RelPath::new(name) {
            Ok(path) => files.push((path, span)),
            Err(error) => drop(source.fault(span, format!("`projection.files`: {error}"))),
        }
    }
    let notice = keys.boolean(source, "notice").unwrap_or(true);
    keys.finish(source, &["files", "notice"]);
    (files, notice)
}

fn outputs(
    keys: &mut Keys<'_>,
    source: &mut Source<'_>,
    providers: &[Provider],
) -> Vec<(Output, Range<usize>)> {
    let mut outputs = Vec::new();
    for (mut keys, span) in keys.tables(source, "output", "output.") {
        let faults = source.diagnostics.len();
        let (render, file) = (keys.text(source, "render"), keys.path(source, "file"));
        match (render, file) {
            (Some((render, span)), _) if !is_render(&render, providers) => {
                let known =
                    RENDERS.into_iter().chain(providers.iter().map(Provider::as_str)).collect::<Vec<_>>();
                source.fault(
                    span,
                    format!("no render is called `{render}`: expected one of {}", known.join(", ")),
                );
            }
            (Some((render, _)), Some((file, span))) => outputs.push((Output { render, file }, span)),
            _ if source.diagnostics.len() == faults => {
                source.fault(span, "an output needs a `render` and a `file`");
            }
            _ => {}
        }
        keys.finish(source, &["render", "file"]);
    }
    outputs
}

fn pages(keys: &mut Keys<'_>, source: &mut Source<'_>) -> Vec<(PageConfig, Range<usize>)> {
    let mut pages = Vec::new();
    for (mut keys, span) in keys.tables(source, "page", "page.") {
        let faults = source.diagnostics.len();
        let (web, file) = (keys.text(source, "web"), keys.path(source, "file"));
        let body = keys.text(source, "body").map(|(body, span)| page_body(&body, span, source));
        let link = keys.text(source, "link").and_then(|(link, span)| page_link(link, span, source));
        let abbreviations = keys.text(source, "abbreviations").map(|(web, _)| web);
        let body = body.unwrap_or_default();
        match (web, file) {
            (Some((web, web_span)), Some((file, span))) => {
                let line = source.line(&web_span);
                pages.push((PageConfig { web, file, body, link, abbreviations, line }, span));
            }
            _ if source.diagnostics.len() == faults => {
                source.fault(span, "a page needs a `web` and a `file`");
            }
            _ => {}
        }
        keys.finish(source, &["web", "file", "body", "link", "abbreviations"]);
    }
    pages
}

fn page_body(name: &str, span: Range<usize>, source: &mut Source<'_>) -> PageBody {
    PageBody::from_name(name).unwrap_or_else(|| {
        let message = format!("`page.body` must be `full`, `claim` or `none`, not `{}`", name.escape_debug());
        let help = nearest(name, &PageBody::NAMES).map(|near| format!("did you mean `{near}`?"));
        source.fault(span, message).help = help;
        PageBody::default()
    })
}

/// A link's text as it may stand between the brackets of a Markdown link.
fn page_link(link: String, span: Range<usize>, source: &mut Source<'_>) -> Option<String> {
    let breaks = |c: char| c.is_whitespace() || c.is_control() || "()<>".contains(c);
    if link.contains("{path}") && !link.contains(breaks) {
        return Some(link);
    }
    let fault = source.fault(span, "`page.link` must hold `{path}`, and no blank, `(`, `)`, `<` or `>`");
    fault.help = Some("write such as `https://example.org/tree/main/{path}`".to_owned());
    None
}

fn is_render(name: &str, providers: &[Provider]) -> bool {
    RENDERS.contains(&name) || providers.iter().any(|provider| provider.as_str() == name)
}

fn budget(keys: &mut Keys<'_>, source: &mut Source<'_>) -> (u64, bool) {
    let Some(mut keys) = keys.table(source, "budget", "budget.") else { return (DEFAULT_FILE_BYTES, false) };
    let given = keys.natural(source, "file_bytes");
    let warn_only = keys.boolean(source, "warn_only").unwrap_or(false);
    keys.finish(source, &["file_bytes", "warn_only"]);
    if let Some((0, span)) = given {
        source.fault(span, "`budget.file_bytes` must be at least 1");
        return (DEFAULT_FILE_BYTES, warn_only);
    }
    (given.map_or(DEFAULT_FILE_BYTES, |(bytes, _)| bytes), warn_only)
}

fn note_bytes(keys: &mut Keys<'_>, source: &mut Source<'_>) -> u64 {
    const DEFAULT: u64 = 1 << 20;
    let Some(mut keys) = keys.table(source, "limits", "limits.") else { return DEFAULT };
    let given = keys.natural(source, "note_bytes");
    keys.finish(source, &["note_bytes"]);
    let Some((bytes, span)) = given else { return DEFAULT };
    if bytes == 0 || bytes > MOST_NOTE_BYTES {
        source.fault(span, format!("`limits.note_bytes` must be from 1 to {MOST_NOTE_BYTES}, not {bytes}"));
        return DEFAULT;
    }
    bytes
}

/// The variable is set for a program that runs with the user's rights, to the path of a file whose text the project decides. So
/// it must not be a name that means something to other programs, such as `BASH_ENV`.
fn variable(keys: &mut Keys<'_>, source: &mut Source<'_>) -> String {
    const MARK: &str = "INSTRUCTIONS";
    let Some(mut keys) = keys.table(source, "record", "record.") else { return DEFAULT_VARIABLE.to_owned() };
    let given = keys.text(source, "variable");
    keys.finish(source, &["variable"]);
    let Some((name, span)) = given else { return DEFAULT_VARIABLE.to_owned() };
    let is_plain =
        name.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_');
    if is_plain && name.starts_with(|first: char| !first.is_ascii_digit()) && name.contains(MARK) {
        return name;
    }
    let expected = format!("capital letters, digits and `_`, with `{MARK}` among them");
    let fault =
        source.fault(span, format!("`record.variable` must be {expected}, not `{}`", name.escape_debug()));
    fault.help = Some(format!("write such as `{DEFAULT_VARIABLE}`"));
    DEFAULT_VARIABLE.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Outcome<Config> {
        let file = ConfigFile { path: RelPath::new("cantus.toml").unwrap(), stamp: None };
        Config::parse(DeTable::parse(text).unwrap().into_inner(), &file, text, Surroundings::default())
    }

    #[track_caller]
    fn check_faults(text: &str, expected: &[&str]) {
        let faults: Vec<_> = parse(text).diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn every_key_has_a_default() {
        let config = parse("").value;
        assert_eq!(config.title, "Agent Instructions");
        assert_eq!(config.command, "cantus project");
        assert_eq!((config.width, config.note_bytes, config.notice), (88, 1_048_576, true));
        assert_eq!(config.files.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["AGENTS.md", "CLAUDE.md"]);
        let providers: Vec<_> = config.providers.iter().map(Provider::as_str).collect();
        assert_eq!(providers, ["agy", "claude", "codex", "grok", "muse", "opencode", "qwen"]);
    }

    #[test]
    fn defaults_follow_the_surroundings() {
        let config = Config::default_in(Surroundings { package: Some("acme"), xtask: true });
        assert_eq!(config.title, "acme - Agent Instructions");
        assert_eq!(config.command, "cargo xtask project");
    }

    #[test]
    fn unknown_keys_name_the_nearest() {
        check_faults(
            "name = \"a\"\nwidht = 80\n[projection]\nfile = [\"A.md\"]\n[colours]\n",
            &[
                "cantus.toml:4: error: unknown key `projection.file`\n  help: did you mean `files`?",
                "cantus.toml:2: error: unknown key `widht`\n  help: did you mean `width`?",
                "cantus.toml:5: error: unknown key `colours`\n  help: known keys here: name, title, command, memory, package, width, \
             providers, members, plugins, repositories, projection, output, page, budget, limits, record",
            ],
        );
    }

    #[test]
    fn wrong_types_and_values() {
        check_faults(
            "name = 5\nwidth = 12\n",
            &[
                "cantus.toml:1: error: `name` must be a text, not `5`",
                "cantus.toml:2: error: `width` must be 0 (no wrapping) or from 20 to 10000 cells, not 12",
            ],
        );
        check_faults(
            "memory = \"../x\"\nproviders = [\"9x\", \"helper\"]\n",
            &[
                "cantus.toml:1: error: `memory`: `../x` is not a path inside the root: no part may be empty, `.` or `..`",
                "cantus.toml:2: error: `providers`: `9x` is not a provider: expected a letter, then letters, digits, `_` and `-`",
                "cantus.toml:2: error: `providers`: `helper` is the name of a render, not of a provider",
            ],
        );
        check_faults(
            "[[repositories]]\nname = \"x\"\n[limits]\nnote_bytes = 0\n",
            &[
                "cantus.toml:1: error: a repository needs a `name` and a `description`",
                "cantus.toml:4: error: `limits.note_bytes` must be from 1 to 67108864, not 0",
            ],
        );
    }

    #[test]
    fn budgets() {
        let of = |text| {
            let config = parse(text).value;
            (config.file_bytes, config.warn_only)
        };
        assert_eq!(of(""), (32_768, false));
        assert_eq!(of("[budget]\nfile_bytes = 5\nwarn_only = true\n"), (5, true));
        check_faults(
            "[budget]\nfile_bytes = 0\nwarn_onyl = true\n",
            &[
                "cantus.toml:3: error: unknown key `budget.warn_onyl`\n  help: did you mean `warn_only`?",
                "cantus.toml:2: error: `budget.file_bytes` must be at least 1",
            ],
        );
    }

    #[test]
    fn the_variable_means_nothing_to_other_programs() {
        assert_eq!(parse("").value.variable, "SASE_INSTRUCTIONS_FILE");
        assert_eq!(parse("[record]\nvariable = \"MY_INSTRUCTIONS_2\"\n").value.variable, "MY_INSTRUCTIONS_2");
        for name in [
            "BASH_ENV",
            "instructions",
            "INSTRUCTIONS=X",
            "1INSTRUCTIONS",
            "MY INSTRUCTIONS",
            "É_INSTRUCTIONS",
        ] {
            let expected = format!(
                "cantus.toml:2: error: `record.variable` must be capital letters, digits and `_`, with `INSTRUCTIONS` among \
                 them, not `{name}`\n  help: write such as `SASE_INSTRUCTIONS_FILE`"
            );
            check_faults(&format!("[record]\nvariable = \"{name}\"\n"), &[&expected]);
        }
    }

    #[test]
    fn plugins_are_names_or_tables() {
        let text = "plugins = [\n\"b-b\",\n{ crate = \"a_a\", kind = \"core\" },\n{ crate = \"_c\" },\n]\n";
        check_faults(text, &[]);
        let found = parse(text).value.plugins;
        let found: Vec<_> =
            found.iter().map(|plugin| (plugin.name.as_str(), plugin.kind.as_str(), plugin.line)).collect();
        assert_eq!(found, [("_c", "reference", 4), ("a_a", "core", 3), ("b-b", "reference", 2)]);
        assert!(parse("plugins = []\n").value.plugins.is_empty());
    }

    #[test]
    fn entries_of_plugins_that_are_wrong() {
        check_faults(
            "plugins = [\n\"a\",\n{ crat = \"b\" },\n{ crate = \"c\", kind = \"Core\" },\n{ crate = \"a\" },\n{ kind = \"core\" },\n5,\n]\n",
            &[
                "cantus.toml:7: error: `plugins` must be a list of texts and tables, not `5`",
                "cantus.toml:3: error: unknown key `plugins.crat`\n  help: did you mean `crate`?",
                "cantus.toml:4: error: `plugins.kind` must be `reference` or `core`, not `Core`\n  help: did you mean `core`?",
                "cantus.toml:5: error: `plugins`: `a` stands here twice",
                "cantus.toml:6: error: an entry of `plugins` needs a `crate`",
            ],
        );
        check_faults(
            "plugins = \"a\"\n",
            &["cantus.toml:1: error: `plugins` must be a list of texts and tables, not a string"],
        );
    }

    #[test]
    fn names_that_no_crate_has() {
        for name in ["", "1a", "-a", "a.b", "a/b", "é", "a b", "../a"] {
            let expected = format!(
                "cantus.toml:1: error: `plugins`: `{name}` is not the name of a crate: expected ASCII letters, digits, `_` and `-`, \
                 the first no digit and no `-`"
            );
            check_faults(&format!("plugins = [\"{name}\"]\n"), &[&expected]);
        }
    }

    #[test]
    fn targets_meet_above_and_below() {
        check_faults(
            "[projection]\nfiles = [\"x/a\", \"x/A/b\", \"y/c/d\", \"Y/c\", \"y/c-d\"]\n",
            &[
                "cantus.toml:2: error: `x/A/b` and `x/a` can't both be files: one would have to be a folder",
                "cantus.toml:2: error: `Y/c` and `y/c/d` can't both be files: one would have to be a folder",
            ],
        );
    }

    #[test]
    fn thousands_of_entries_are_compared_in_step_with_their_number() {
        // Each compared with each, these take minutes.
        let list = |item: &dyn Fn(usize) -> String| (0..30_000).map(item).collect::<String>();
        let providers = list(&|number| format!("\"p{number}\", "));
        let files = list(&|number| format!("\"d/f{number}\", "));
        let repositories =
            list(&|number| format!("[[repositories]]\nname = \"r{number}\"\ndescription = \"x\"\n"));
        let text = format!("providers = [{providers}]\n{repositories}[projection]\nfiles = [{files}]\n");
        check_faults(&text, &[]);
    }

    #[test]
    fn targets_meet_neither_each_other_nor_sources() {
        check_faults(
            "memory = \"notes\"\n[projection]\nfiles = [\"A.md\", \"a.md\", \"notes/B.md\", \"cantus.toml\"]\n",
            &[
                "cantus.toml:3: error: `a.md` is a target already",
                "cantus.toml:3: error: `notes/B.md` meets `notes/`, whose files are sources",
                "cantus.toml:3: error: `cantus.toml` can't be a target: the name is taken",
            ],
        );
        check_faults(
            "[[output]]\nrender = \"helpr\"\nfile = \"h.md\"\n",
            &[
                "cantus.toml:2: error: no render is called `helpr`: expected one of native, helper, interactive, export, agy, claude, \
             codex, grok, muse, opencode, qwen",
            ],
        );
    }
}
