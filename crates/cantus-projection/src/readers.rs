//! Which committed files the agents read here, and what stands in the way.

use std::collections::BTreeMap;
use std::ffi::OsStr;

use cantus_fs::{Entry, Kind, Root};
use cantus_manifest::{Diagnostic, RelPath};
use cantus_workspace::Config;

use crate::providers::{Hides, Reader, names, readers};

/// The most bytes of a setting's file that are looked at.
const MOST_BYTES: u64 = 1 << 20;
/// The setting of Claude Code with which it reads both files.
const BOTH: &[u8] = b"claude-md-and-agents-md";

/// A file that an agent reads here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadFile {
    /// Its path; `dir/*` for the files of a folder.
    pub path: String,
    /// Whether it is a committed file of ours.
    pub ours: bool,
}

/// What one agent reads here.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The agent.
    pub reader: &'static Reader,
    /// Whether the configuration names it among its providers.
    pub configured: bool,
    /// What it reads, in its order.
    pub files: Vec<ReadFile>,
    /// Committed files of ours that it reads only where `files` doesn't have another one in their place.
    pub shadowed: Vec<Shadow>,
    /// Files that aren't ours and that it would read if one of ours didn't stand in their place.
    pub hidden: Vec<Shadow>,
}

/// A file that is not read since another one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shadow {
    /// The file.
    pub file: String,
    /// What is read instead.
    pub by: String,
}

impl Reading {
    /// Whether it reads any committed file of ours.
    #[must_use]
    pub fn is_reached(&self) -> bool {
        self.files.iter().any(|file| file.ours)
    }

    /// Two equal copies that it reads both, if it does.
    #[must_use]
    pub fn twice(&self, config: &Config) -> Option<(&str, &str)> {
        let ours = self.ours().into_iter();
        let mut equal = ours.filter(|path| config.files.iter().any(|file| file.as_str() == *path));
        Some((equal.next()?, equal.next()?))
    }

    fn ours(&self) -> Vec<&str> {
        self.files.iter().filter(|file| file.ours).map(|file| file.path.as_str()).collect()
    }
}

/// What every agent of the table reads at `root`, the files of `config` taken as written.
#[must_use]
pub fn readings(root: &Root, config: &Config) -> Vec<Reading> {
    let here = Here::new(root, config);
    readers().iter().map(|reader| reading(&here, config, reader)).collect()
}

fn reading(here: &Here<'_>, config: &Config, reader: &'static Reader) -> Reading {
    let configured = config.providers.iter().any(|provider| provider.as_str() == reader.name);
    let (mut files, mut shadowed, mut hidden) = (Vec::new(), Vec::new(), Vec::new());
    for group in &reader.reads {
        let mut there = group.iter().filter_map(|entry| here.find(entry));
        let Some(first) = there.next() else { continue };
        // Of two files of ours, or of two others, it is all the same which one is read.
        let others = there.filter(|file| file.ours != first.ours);
        let others = others.map(|file| Shadow { file: file.path, by: first.path.clone() });
        if first.ours {
            hidden.extend(others)
        } else {
            shadowed.extend(others)
        }
        files.push(first);
    }
    if let Some(Hides { file, hidden, .. }) = &reader.hides
        && files.iter().any(|found| found.path == *file && !found.ours)
        && let Some(at) = files.iter().position(|found| found.path == *hidden && found.ours)
    {
        files.remove(at);
        shadowed.push(Shadow { file: hidden.clone(), by: file.clone() });
    }
    Reading { reader, configured, files, shadowed, hidden }
}

/// The files at the root, as far as agents look for them.
struct Here<'a> {
    root: &'a Root,
    ours: Vec<&'a RelPath>,
    /// The names of the root's entries; empty if it can't be listed.
    names: Vec<String>,
}

impl<'a> Here<'a> {
    fn new(root: &'a Root, config: &'a Config) -> Self {
        let entries = root.list(None).unwrap_or_default();
        let names = entries.iter().filter_map(|entry| entry.name.to_str().map(str::to_owned)).collect();
        let ours = config.files.iter().chain(config.outputs.iter().map(|output| &output.file)).collect();
        Self { root, ours, names }
    }

    /// What an entry of the table is here.
    fn find(&self, entry: &str) -> Option<ReadFile> {
        if let Some(path) = self.ours.iter().find(|path| names(entry, path.as_str())) {
            return Some(ReadFile { path: path.to_string(), ours: true });
        }
        let first = entry.split('/').next().unwrap_or(entry);
        if !self.names.iter().any(|name| name == first) {
            return None;
        }
        let is_there = match entry.strip_suffix("/*") {
            Some(folder) => self.holds_files(folder),
            None => {
                let kind = RelPath::new(entry).ok().and_then(|path| self.root.kind(&path).ok().flatten());
                matches!(kind, Some(Kind::File | Kind::Symlink))
            }
        };
        is_there.then(|| ReadFile { path: entry.to_owned(), ours: self.leads_to_ours(entry) })
    }

    /// Whether `entry` is a symlink to a committed file of ours: who reads it reads the generated text.
    fn leads_to_ours(&self, entry: &str) -> bool {
        let Ok(path) = RelPath::new(entry) else { return false };
        if !matches!(self.root.kind(&path), Ok(Some(Kind::Symlink))) {
            return false;
        }
        let real = |path: &RelPath| self.root.disk().canonical(&self.root.at(path)).ok();
        real(&path).is_some_and(|read| self.ours.iter().any(|file| real(file).as_ref() == Some(&read)))
    }

    fn holds_files(&self, folder: &str) -> bool {
        let entries = RelPath::new(folder).ok().and_then(|folder| self.root.list(Some(&folder)).ok());
        let is_file = |entry: &Entry| entry.kind != Kind::Folder && !is_hidden(&entry.name);
        entries.is_some_and(|entries| entries.iter().any(is_file))
    }
}

/// Whether no agent takes a file of this name for a rule: a `.gitkeep` is none.
pub(crate) fn is_hidden(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".")
}

/// The findings on what stands in the way of the files in the folders of members: for configured agents, of which each looks for
/// the same names in each folder.
pub(crate) fn check_members<'a>(
    root: &Root,
    config: &Config,
    folders: impl Iterator<Item = &'a RelPath>,
) -> Vec<Diagnostic> {
    let configured = |reader: &&Reader| config.providers.iter().any(|name| name.as_str() == reader.name);
    let mut findings = Vec::new();
    for folder in folders {
        let inner = Root::new(root.disk().clone(), root.at(folder));
        let here = Here { ours: config.files.iter().collect(), ..Here::new(&inner, config) };
        let mut readings: Vec<_> =
            readers().iter().filter(configured).map(|reader| reading(&here, config, reader)).collect();
        for reading in &mut readings {
            // Folders of rules are looked for at the root alone.
            reading.shadowed.retain(|shadow| !shadow.by.contains('/'));
            reading.files.retain(|file| !file.path.contains('/'));
        }
        let found = foreign(&readings).into_iter().chain(variants(&inner, config));
        findings.extend(found.map(|mut finding| {
            finding.path = finding.path.map(|path| format!("{folder}/{path}"));
            finding
        }));
    }
    findings
}

/// The findings on who reads what.
pub(crate) fn check(root: &Root, config: &Config, readings: &[Reading]) -> Vec<Diagnostic> {
    let mut findings: Vec<_> = readings
        .iter()
        .filter(|reading| reading.configured)
        .filter_map(|reading| reach(reading, config))
        .collect();
    findings.extend(foreign(readings));
    findings.extend(hidden(readings));
    findings.extend(variants(root, config));
    findings.extend(both_by_setting(root, readings));
    findings.extend(above(root, readings));
    findings.extend(submodule(root));
    findings
}

/// What a configured agent reads of ours: nothing, one text twice, or something that it reads under a condition.
fn reach(reading: &Reading, config: &Config) -> Option<Diagnostic> {
    let Reader { title, name, reads, .. } = reading.reader;
    let ours = reading.ours();
    // Of an agent that nobody chose it is no news for every run: `list --providers` says it.
    if let Some((one, other)) = reading.twice(config).filter(|_| config.names_providers) {
        let message = format!("{title} reads both `{one}` and `{other}`: the same text twice");
        let help =
            format!("nothing need be done; if nobody here uses {title}, take `{name}` out of `providers`");
        return Some(Diagnostic::note("reader.twice", message).at(other).help(help));
    }
    if ours.is_empty() && reading.shadowed.is_empty() && !reads.is_empty() {
        let wanted: Vec<_> = reads.iter().flatten().map(|file| format!("`{file}`")).collect();
        let message = format!("{title} reads none of the committed files, only {}", wanted.join(", "));
        let help = format!("add one of them to `projection.files`, or take `{name}` out of `providers`");
        return Some(Diagnostic::warning("reader.none", message).help(help));
    }
    let conditional = reading.reader.conditional.as_ref()?;
    let only = ours.as_slice() == [conditional.file.as_str()];
    only.then(|| {
        let message = format!("{title} reads `{}` only {}", conditional.file, conditional.when);
        let help = format!("add `{}` to `projection.files`", reads[0][0]);
        Diagnostic::note("reader.condition", message).at(&conditional.file).help(help)
    })
}

/// Files that aren't ours and are read instead of ours, or beside them: a finding for each such file.
fn foreign(readings: &[Reading]) -> Vec<Diagnostic> {
    let mut instead: BTreeMap<&str, Vec<(&Reading, &str)>> = BTreeMap::new();
    let mut beside: BTreeMap<&str, Vec<&Reading>> = BTreeMap::new();
    for reading in readings {
        for Shadow { file, by } in &reading.shadowed {
            instead.entry(by).or_default().push((reading, file));
        }
        for file in reading.files.iter().filter(|file| !file.ours) {
            beside.entry(&file.path).or_default().push(reading);
        }
    }
    let mut findings = Vec::new();
    for (by, shadowed) in &instead {
        let message = format!(
            "read instead of `{}` by {}",
            shadowed[0].1,
            titles(shadowed.iter().map(|(reading, _)| *reading))
        );
        let finding = match shadowed.iter().any(|(reading, _)| reading.configured) {
            true => Diagnostic::warning("reader.shadowed", message),
            false => Diagnostic::note("reader.shadowed", message),
        };
        let help = "move its text into notes and remove it, or add it to `projection.files`";
        findings.push(finding.at(by).help(help));
    }
    for (path, readings) in beside.iter().filter(|(path, _)| !instead.contains_key(*path)) {
        let message =
            format!("also read by {}, and not generated from the notes", titles(readings.iter().copied()));
        let finding = Diagnostic::note("reader.beside", message).at(path);
        findings.push(finding.help("nothing need be done, if it doesn't repeat what the notes say"));
    }
    findings
}

/// Files that some agent read before ours stood there, and that no agent reads now: a finding for each.
fn hidden(readings: &[Reading]) -> Vec<Diagnostic> {
    let mut hidden: BTreeMap<&str, Vec<(&Reading, &str)>> = BTreeMap::new();
    for reading in readings {
        for Shadow { file, by } in &reading.hidden {
            hidden.entry(file).or_default().push((reading, by));
        }
    }
    let is_read =
        |path: &str| readings.iter().flat_map(|reading| &reading.files).any(|file| file.path == path);
    let unread = hidden.into_iter().filter(|(path, _)| !is_read(path));
    let findings = unread.map(|(path, by)| {
        let titles = titles(by.iter().map(|(reading, _)| *reading));
        let message = format!("not read by {titles}, since `{}` is read in its place", by[0].1);
        let finding = match by.iter().any(|(reading, _)| reading.configured) {
            true => Diagnostic::warning("reader.hidden", message),
            false => Diagnostic::note("reader.hidden", message),
        };
        finding.at(path).help("move its text into notes with `import`, then remove it")
    });
    findings.collect()
}

fn titles<'a>(readings: impl Iterator<Item = &'a Reading>) -> String {
    let mut titles: Vec<_> = readings.map(|reading| reading.reader.title.as_str()).collect();
    titles.dedup();
    titles.join(", ")
}

/// Files that have the name of a committed one but for case.
fn variants(root: &Root, config: &Config) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    let mut folders: BTreeMap<Option<RelPath>, Vec<&RelPath>> = BTreeMap::new();
    for file in &config.files {
        folders.entry(file.parent()).or_default().push(file);
    }
    for (folder, files) in folders {
        let Ok(entries) = root.list(folder.as_ref()) else { continue };
        for name in entries.iter().filter_map(|entry| entry.name.to_str()) {
            let differs =
                |file: &&&RelPath| file.file_name() != name && file.file_name().eq_ignore_ascii_case(name);
            let Some(file) = files.iter().find(differs) else { continue };
            let path = folder.as_ref().map_or_else(|| name.to_owned(), |folder| format!("{folder}/{name}"));
            let message = format!("the name is that of `{file}` but for case");
            let help = "rename or remove it: some systems and agents take one for the other";
            findings.push(Diagnostic::warning("reader.case", message).at(path).help(help));
        }
    }
    findings
}

/// The project's own setting for Claude Code to read both files.
fn both_by_setting(root: &Root, readings: &[Reading]) -> Option<Diagnostic> {
    const SETTINGS: &str = ".claude/settings.json";
    let claude = readings.iter().find(|reading| reading.reader.name == "claude" && reading.configured)?;
    let bytes = root.read(&RelPath::new(SETTINGS).ok()?, MOST_BYTES).ok()?;
    memchr::memmem::find(&bytes, BOTH)?;
    let message = format!(
        "{} is told to read both `CLAUDE.md` and `AGENTS.md`: the same text twice",
        claude.reader.title
    );
    Some(Diagnostic::note("reader.twice", message).at(SETTINGS).help("its default reads one of them"))
}

/// A `CLAUDE.md` in a folder above the root, which Claude Code reads as well, or instead of `AGENTS.md`.
fn above(root: &Root, readings: &[Reading]) -> Option<Diagnostic> {
    const NAME: &str = "CLAUDE.md";
    let claude = readings.iter().find(|reading| reading.reader.name == "claude" && reading.configured)?;
    let is_file = |kind| matches!(kind, Ok(Some(Kind::File | Kind::Symlink)));
    // A path with `..` in it has ancestors that are not above it.
    let real = root.disk().canonical(root.path()).unwrap_or_else(|_| root.path().to_path_buf());
    let folders = real.ancestors().skip(1);
    let (steps, _) = (1..).zip(folders).find(|(_, folder)| is_file(root.disk().kind(&folder.join(NAME))))?;
    let folders = if steps == 1 { "one folder".to_owned() } else { format!("{steps} folders") };
    let title = &claude.reader.title;
    Some(match claude.ours().contains(&NAME) {
        true => {
            let message = format!("{title} reads a `{NAME}` {folders} above the root as well");
            Diagnostic::note("reader.above", message)
                .help("nothing need be done, if it doesn't contradict what the notes say")
        }
        false => {
            let message =
                format!("{title} reads a `{NAME}` {folders} above the root instead of the committed files");
            Diagnostic::warning("reader.above", message)
                .help(format!("move that file away, or add `{NAME}` to `projection.files`"))
        }
    })
}

/// That the root is a submodule: its own project, whatever stands in the repository around it.
fn submodule(root: &Root) -> Option<Diagnostic> {
    let bytes = root.read(&RelPath::new(".git").ok()?, 4096).ok()?;
    let text = String::from_utf8_lossy(&bytes);
    let git = text.strip_prefix("gitdir:")?.trim().replace('\\', "/");
    // A worktree of a submodule lies below `modules` as well.
    let is_submodule = git.contains("/modules/");
    is_submodule.then(|| {
        let message = "this is a submodule: agents that start here don't see the instruction files of the repository around it";
        Diagnostic::note("reader.submodule", message).help("nothing need be done: it has its own notes and files")
    })
}
