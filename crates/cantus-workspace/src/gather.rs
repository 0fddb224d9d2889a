//! Reads the files of a note folder and of a package folder.

use std::collections::BTreeMap;
use std::error::Error;

use cantus_fs::{AccessError, Entry, Kind, LinkError, ReadError, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Stamps};
use cantus_memory::{Corpus, MemoryFile, MemoryFolder, MemoryTree, SourceFile};

use crate::discover::is_left_beside;

/// The most bytes that a package's file may have.
const PACKAGE_BYTES: u64 = 1 << 20;

/// Reads one note folder.
pub(crate) struct Gather<'a> {
    pub(crate) root: &'a Root,
    pub(crate) memory: &'a RelPath,
    /// The most bytes that a note may have.
    pub(crate) limit: u64,
    pub(crate) stamps: Stamps,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
}

/// A file to be read: where it lies, and whether through a symlink.
struct Found {
    path: RelPath,
    kind: Kind,
}

impl MemoryFile for Found {
    fn path(&self) -> &RelPath {
        &self.path
    }
}

impl Gather<'_> {
    /// The notes and webs of the folder.
    pub(crate) fn corpus(mut self) -> Corpus {
        let tree = self.tree();
        let Self { root, memory, limit, stamps, diagnostics } = self;
        let Outcome { value, diagnostics: found } =
            Corpus::read(tree, |found| read_one(root, memory, limit, stamps, found));
        diagnostics.extend(found);
        value
    }

    /// Everything that may be a note or a strand, still to be read.
    fn tree(&mut self) -> MemoryTree<Found> {
        let mut notes = Vec::new();
        let mut folders = Vec::new();
        for entry in self.list(self.memory) {
            let Some(found) = self.found(self.memory, &entry) else { continue };
            let name = found.path.file_name();
            match found.kind {
                Kind::Folder if name.ends_with(".md") => {
                    let fault =
                        Diagnostic::error("note.folder", "a folder is named like a note").at(&found.path);
                    self.diagnostics.push(fault.help("rename the folder: a note is a file"));
                }
                Kind::Folder if name != "assets" => folders.push(found.path),
                Kind::Folder => {}
                _ if name.eq_ignore_ascii_case("README.md") => {}
                _ if name.ends_with(".md") => notes.push(found),
                Kind::Symlink => folders.extend(self.linked_folder(found.path)),
                _ => self.near_miss(&found.path),
            }
        }
        let folders = folders.into_iter().map(|folder| self.folder(folder)).collect();
        MemoryTree { notes, folders }
    }

    fn folder(&mut self, path: RelPath) -> MemoryFolder<Found> {
        let (mut strands, mut folders) = (Vec::new(), Vec::new());
        for entry in self.list(&path) {
            let Some(found) = self.found(&path, &entry) else { continue };
            match found.kind {
                Kind::Folder => folders.push(found.path),
                _ if found.path.file_name().ends_with(".md") => strands.push(found),
                _ => {}
            }
        }
        MemoryFolder { path, strands, folders }
    }

    fn list(&mut self, folder: &RelPath) -> Vec<Entry> {
        self.root.list(Some(folder)).unwrap_or_else(|error| {
            self.diagnostics.push(io_fault(&error).at(folder));
            Vec::new()
        })
    }

    /// An entry by its path; one whose name can't be a path is reported if it could be a note.
    fn found(&mut self, folder: &RelPath, entry: &Entry) -> Option<Found> {
        let lossy = entry.name.to_string_lossy();
        if is_left_beside(&lossy) {
            return None;
        }
        match entry.name.to_str().map(|name| folder.join(name)) {
            Some(Ok(path)) => Some(Found { path, kind: entry.kind }),
            Some(Err(error)) if lossy.ends_with(".md") => {
                let fault = Diagnostic::error("name.path", error.to_string()).at(folder);
                self.diagnostics.push(fault.help("rename the file"));
                None
            }
            None if lossy.ends_with(".md") => {
                let fault =
                    Diagnostic::error("name.utf8", format!("the name of `{lossy}` is not UTF-8")).at(folder);
                self.diagnostics.push(fault.help("rename the file"));
                None
            }
            _ => None,
        }
    }

    /// Says of `a.MD` and the like that nobody reads them.
    fn near_miss(&mut self, path: &RelPath) {
        let name = path.file_name().to_ascii_lowercase();
        if name != "readme.md" && (name.ends_with(".md") || name.ends_with(".markdown")) {
            let fault = Diagnostic::warning("name.ending", "not read: a note's name ends in `.md`").at(path);
            self.diagnostics.push(fault.help("rename it, or move it into `assets/`"));
        }
    }

    /// A symlink to a folder inside the note folder; one that leads out of it is reported.
    fn linked_folder(&mut self, path: RelPath) -> Option<RelPath> {
        let disk = self.root.disk();
        let real = disk.canonical(&self.root.at(&path)).ok()?;
        if !matches!(disk.kind(&real), Ok(Some(Kind::Folder))) || path.file_name() == "assets" {
            return None;
        }
        let memory = disk.canonical(&self.root.at(self.memory)).ok();
        let (message, help) = match memory {
            Some(memory) if real == memory => {
                (format!("a symlink to `{}/` itself", self.memory), "remove it")
            }
            Some(memory) if real.starts_with(&memory) => return Some(path),
            _ => (
                format!("a symlink to a folder outside `{}/`", self.memory),
                "copy the folder here, or link to one inside the note folder",
            ),
        };
        self.diagnostics.push(Diagnostic::error("note.symlink", message).at(&path).help(help));
        None
    }
}

fn read_one(
    root: &Root,
    memory: &RelPath,
    limit: u64,
    stamps: Stamps,
    found: Found,
) -> Result<SourceFile, Diagnostic> {
    let path = found.path;
    let bytes = match found.kind {
        Kind::Symlink => {
            let below = path.strip_prefix(memory).unwrap_or(path.file_name());
            root.resolve_inside(memory, below, limit).map_err(|error| link_fault(&path, &error))?
        }
        _ => root.read(&path, limit).map_err(|error| read_fault(&path, &error))?,
    };
    let stamp = stamps.of(&bytes);
    Ok(SourceFile { path, bytes, stamp })
}

fn link_fault(path: &RelPath, error: &LinkError) -> Diagnostic {
    match error {
        LinkError::Read { source: ReadError::TooLarge { size, limit }, .. } => too_large(path, *size, *limit),
        _ => Diagnostic::from_error("note.symlink", error)
            .at(path)
            .help("copy the file here, or link to one inside the note folder"),
    }
}

fn read_fault(path: &RelPath, error: &AccessError) -> Diagnostic {
    match error {
        AccessError::Read { source: ReadError::TooLarge { size, limit }, .. } => {
            too_large(path, *size, *limit)
        }
        _ => io_fault(error).at(path),
    }
}

fn too_large(path: &RelPath, size: u64, limit: u64) -> Diagnostic {
    Diagnostic::error("note.size", format!("{size} bytes are more than the {limit} that a note may have"))
        .at(path)
        .help("split the note, or set `note_bytes` under `[limits]` in the configuration")
}

pub(crate) fn io_fault(error: &dyn Error) -> Diagnostic {
    Diagnostic::from_error("io", error)
}

/// The files of a package folder (`None`: the root itself) by their path below it.
pub(crate) fn package_files(
    root: &Root,
    folder: Option<&RelPath>,
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeMap<String, Vec<u8>> {
    let at = |name: &str| folder.map_or_else(|| RelPath::new(name), |folder| folder.join(name));
    let mut names: Vec<String> =
        ["package.toml", "contract.md", "helper.md", "frame.md"].map(str::to_owned).to_vec();
    for folder in ["providers", "session"] {
        match at(folder).map(|path| root.list(Some(&path))) {
            Ok(Ok(entries)) => {
                let entries = entries.iter().filter_map(|entry| entry.name.to_str());
                let files = entries.filter(|name| name.ends_with(".md") && !is_left_beside(name));
                names.extend(files.map(|name| format!("{folder}/{name}")));
            }
            Ok(Err(error)) if !error.is_absent() => diagnostics.push(io_fault(&error)),
            _ => {}
        }
    }
    let mut files = BTreeMap::new();
    for name in names {
        let Ok(path) = at(&name) else { continue };
        match root.read(&path, PACKAGE_BYTES) {
            Ok(bytes) => drop(files.insert(name, bytes)),
            Err(error) if error.is_absent() => {}
            Err(error) => diagnostics.push(io_fault(&error)),
        }
    }
    files
}
