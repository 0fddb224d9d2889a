//! The instruction files of a project that Cantus didn't write.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;

use cantus_fs::{Kind, ReadError, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath};
use cantus_memory::ImportFile;
use cantus_workspace::{CONFIG, LOCK, Project};

use crate::notice::is_notice;
use crate::plan::{Mend, State, plan};
use crate::projection::Projection;

/// Where agents and generators look, in the order in which the files are read.
const PLACES: [&str; 14] = [
    "AGENTS.md",
    "AGENT.md",
    "CLAUDE.md",
    ".claude/CLAUDE.md",
    "GEMINI.md",
    ".ruler",
    ".rulesync/rules",
    ".cursor/rules",
    ".cursorrules",
    ".github/copilot-instructions.md",
    ".github/instructions",
    ".windsurfrules",
    ".windsurf/rules",
    ".clinerules",
];
/// What a folder of its own may have for the agents that work in it.
const NESTED: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md"];
/// Folders that hold other people's files.
const OTHERS: [&str; 6] = ["node_modules", "target", "vendor", "dist", "build", "third_party"];
/// The most bytes that a file may have.
const MOST_BYTES: u64 = 16 << 20;
/// How deep folders are searched.
const DEEPEST: usize = 8;
/// How many folders are searched for nested files.
const MOST_FOLDERS: usize = 5_000;

/// What there is to import.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The files, in their order.
    pub files: Vec<ImportFile>,
    /// What was seen and isn't imported.
    pub passed: Vec<Passed>,
}

/// A file or folder that isn't imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// Where it lies below the root.
    pub path: RelPath,
    /// Why not.
    pub reason: PassReason,
}

/// Why a file isn't imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PassReason {
    /// It leads to a file that is imported.
    Link(RelPath),
    /// Cantus wrote it.
    Ours,
    /// It is a note.
    InNotes,
    /// A folder of rules holds it, and it isn't Markdown.
    NotMarkdown,
    /// It speaks to agents that work in its folder alone.
    Nested,
}

impl fmt::Display for PassReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Link(path) => write!(f, "the same file as {path}"),
            Self::Ours => f.write_str("written by Cantus: its text is in notes"),
            Self::InNotes => f.write_str("a note already"),
            Self::NotMarkdown => f.write_str("not Markdown"),
            Self::Nested => f.write_str("for its own folder: it stays, or is imported by name"),
        }
    }
}

/// Reads the files and folders `paths`. What can't be imported is an error.
#[must_use]
pub fn read_inputs(root: &Root, project: &Project, paths: &[RelPath]) -> Outcome<Inputs> {
    let mut reader = Reader::new(root, project, Asked::ByName);
    for path in paths {
        reader.take(path, 0);
    }
    reader.finish()
}

/// Reads those of `paths` that are there and that Cantus didn't write.
#[must_use]
pub fn foreign_inputs(root: &Root, project: &Project, paths: &[RelPath]) -> Outcome<Inputs> {
    let mut reader = Reader::new(root, project, Asked::BySearch);
    for path in paths {
        reader.take(path, 0);
    }
    reader.finish()
}

/// Reads every instruction file that agents or generators would find at `root`, and the project's targets.
#[must_use]
pub fn find_inputs(root: &Root, project: &Project) -> Outcome<Inputs> {
    let mut reader = Reader::new(root, project, Asked::BySearch);
    let places = PLACES.iter().filter_map(|place| RelPath::new(*place).ok());
    let misspelled = misspelled(root);
    for path in places.chain(project.config.files.iter().cloned()).chain(misspelled) {
        if !reader.met.contains(&path) {
            reader.take(&path, 0);
        }
    }
    let mut folders = MOST_FOLDERS;
    reader.nested(None, 0, &mut folders);
    if folders == 0 {
        let message = format!("only {MOST_FOLDERS} folders were searched for instruction files of their own");
        reader.diagnostics.push(Diagnostic::note("import.nested", message));
    }
    reader.finish()
}

/// Files of the root whose names are those that agents look for but for case. Some agents read them, others only where the
/// disk knows no case.
fn misspelled(root: &Root) -> Vec<RelPath> {
    let entries = root.list(None).unwrap_or_default().into_iter().filter(|entry| entry.kind == Kind::File);
    let names = entries.filter_map(|entry| entry.name.into_string().ok());
    let is_one = |name: &String| {
        NESTED.iter().any(|known| name.eq_ignore_ascii_case(known)) && !NESTED.contains(&name.as_str())
    };
    names.filter(is_one).filter_map(|name| RelPath::new(name).ok()).collect()
}

/// Who named a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    ByName,
    BySearch,
}

struct Reader<'a> {
    root: &'a Root,
    real_root: Option<PathBuf>,
    real_notes: Option<PathBuf>,
    asked: Asked,
    /// Targets that are ours by the lock, where no notice says so.
    ours: Vec<RelPath>,
    /// Every path that was looked at.
    met: Vec<RelPath>,
    /// The files by their real place.
    seen: BTreeMap<PathBuf, RelPath>,
    inputs: Inputs,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn new(root: &'a Root, project: &Project, asked: Asked) -> Self {
        let real = |path: PathBuf| root.disk().canonical(&path).ok();
        Self {
            root,
            real_root: real(root.path().to_path_buf()),
            real_notes: real(root.at(&project.note_folder())),
            asked,
            ours: if project.config.notice { Vec::new() } else { own_targets(root, project) },
            met: Vec::new(),
            seen: BTreeMap::new(),
            inputs: Inputs::default(),
            diagnostics: Vec::new(),
        }
    }

    fn finish(self) -> Outcome<Inputs> {
        Outcome { value: self.inputs, diagnostics: self.diagnostics }
    }

    fn fault(&mut self, code: &'static str, path: &RelPath, message: impl Into<String>, help: &str) {
        self.diagnostics.push(Diagnostic::error(code, message).at(path).help(help));
    }

    /// Says that a file isn't imported; where someone named it that is an error.
    fn pass(&mut self, path: &RelPath, reason: PassReason, help: &str) {
        let is_fault =
            self.asked == Asked::ByName && matches!(reason, PassReason::Ours | PassReason::InNotes);
        match is_fault {
            true => self.fault("import.ours", path, reason.to_string(), help),
            false => self.inputs.passed.push(Passed { path: path.clone(), reason }),
        }
    }

    fn take(&mut self, path: &RelPath, depth: usize) {
        self.met.push(path.clone());
        match self.root.kind(path) {
            Ok(Some(Kind::Folder)) => self.folder(path, depth),
            Ok(Some(Kind::Symlink)) if self.leads_to_folder(path) => self.folder(path, depth),
            Ok(Some(Kind::File | Kind::Symlink)) => self.file(path),
            Ok(Some(kind)) => {
                self.fault("import.file", path, format!("{kind} is no text"), "name Markdown files alone")
            }
            Ok(None) if self.asked == Asked::BySearch => {}
            Ok(None) => {
                self.fault("import.file", path, "there is no such file", "name files of this project")
            }
            Err(error) => self.diagnostics.push(Diagnostic::from_error("io", &error).at(path)),
        }
    }

    /// Whether a symlink leads to a folder of the project.
    fn leads_to_folder(&self, path: &RelPath) -> bool {
        let disk = self.root.disk();
        let Ok(real) = disk.canonical(&self.root.at(path)) else { return false };
        let is_inside = self.real_root.as_ref().is_some_and(|root| real.starts_with(root));
        is_inside && matches!(disk.kind(&real), Ok(Some(Kind::Folder)))
    }

    /// The Markdown files of a folder, `AGENTS.md` first.
    fn folder(&mut self, folder: &RelPath, depth: usize) {
        let mut entries = match self.root.list(Some(folder)) {
            Ok(entries) => entries,
            Err(error) => return self.diagnostics.push(Diagnostic::from_error("io", &error).at(folder)),
        };
        entries.sort_by_key(|entry| entry.name != "AGENTS.md");
        for entry in entries {
            let Some(path) = entry.name.to_str().and_then(|name| folder.join(name).ok()) else {
                let name = entry.name.to_string_lossy().into_owned();
                self.fault(
                    "name.path",
                    folder,
                    format!("`{name}` is a name that no path may have"),
                    "rename the file",
                );
                continue;
            };
            let name = path.file_name().to_ascii_lowercase();
            if entry.kind == Kind::Folder {
                if depth < DEEPEST {
                    self.take(&path, depth + 1);
                }
            } else if name.ends_with(".md") || name.ends_with(".mdc") {
                self.take(&path, depth + 1);
            } else {
                self.pass(&path, PassReason::NotMarkdown, "");
            }
        }
    }

    fn file(&mut self, path: &RelPath) {
        let is_called = |own: &str| path.as_str() == own || path.as_str().ends_with(&format!("/{own}"));
        if is_called(LOCK) {
            return self.pass(path, PassReason::Ours, "edit the notes instead; they are named in the lock");
        }
        if is_called(CONFIG) || path.as_str().starts_with(".git/") {
            let message = "a configuration, which has no text for agents";
            return self.fault("import.file", path, message, "name instruction files alone");
        }
        let disk = self.root.disk();
        let real = match disk.canonical(&self.root.at(path)) {
            Ok(real) => real,
            Err(error) => {
                let message = format!("a symlink that cannot be followed: {error}");
                return self.fault("import.symlink", path, message, "remove the symlink, or mend it");
            }
        };
        if !self.real_root.as_ref().is_some_and(|root| real.starts_with(root)) {
            let help = "put a copy of the file in the place of the symlink";
            return self.fault("import.symlink", path, "a symlink out of the project", help);
        }
        if self.real_notes.as_ref().is_some_and(|notes| real.starts_with(notes)) {
            return self.pass(path, PassReason::InNotes, "name files outside the note folder");
        }
        if let Some(first) = self.seen.get(&real) {
            let reason = PassReason::Link(first.clone());
            return self.pass(path, reason, "");
        }
        let bytes = match disk.read(&real, MOST_BYTES) {
            Ok(bytes) => bytes,
            Err(error) => {
                let code = if matches!(error, ReadError::TooLarge { .. }) { "import.size" } else { "io" };
                let help = "name a text file, or cut the file by hand";
                return self.diagnostics.push(Diagnostic::from_error(code, &error).at(path).help(help));
            }
        };
        self.seen.insert(real, path.clone());
        if is_ours(&bytes) || self.ours.contains(path) {
            return self.pass(path, PassReason::Ours, "edit the notes instead; they are named in the lock");
        }
        self.inputs.files.push(ImportFile { path: path.clone(), bytes });
    }

    /// Names the instruction files of other folders, as far as they are no repositories of their own.
    fn nested(&mut self, folder: Option<&RelPath>, depth: usize, left: &mut usize) {
        let Ok(entries) = self.root.list(folder) else { return };
        if depth > DEEPEST
            || *left == 0
            || (folder.is_some() && entries.iter().any(|entry| entry.name == ".git"))
        {
            return;
        }
        *left -= 1;
        for entry in entries {
            let Some(name) = entry.name.to_str() else { continue };
            let path = folder.map_or_else(|| RelPath::new(name), |folder| folder.join(name));
            let Ok(path) = path else { continue };
            let is_notes = self.real_notes.as_ref().is_some_and(|notes| *notes == self.root.at(&path));
            match entry.kind {
                Kind::Folder if !name.starts_with('.') && !OTHERS.contains(&name) && !is_notes => {
                    self.nested(Some(&path), depth + 1, left);
                }
                Kind::File if folder.is_some() && NESTED.contains(&name) && !self.met.contains(&path) => {
                    let ours = self.root.read(&path, MOST_BYTES).is_ok_and(|bytes| is_ours(&bytes));
                    if !ours {
                        self.pass(&path, PassReason::Nested, "");
                    }
                }
                _ => {}
            }
        }
    }
}

/// The targets that the lock shows to be ours.
fn own_targets(root: &Root, project: &Project) -> Vec<RelPath> {
    let projection = Projection::compose(project).value;
    let plan = projection.and_then(|projection| plan(root, &projection, Mend::Safe).ok());
    let targets = plan.map(|plan| plan.targets).unwrap_or_default().into_iter();
    targets
        .filter(|target| !matches!(target.state, State::Missing | State::Foreign))
        .map(|target| target.path)
        .collect()
}

/// Whether a file's first line is the notice.
fn is_ours(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let first = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    std::str::from_utf8(first).is_ok_and(is_notice)
}
