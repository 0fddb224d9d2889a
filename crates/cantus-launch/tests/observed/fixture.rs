//! Cases of the vectors, on the disk or in memory.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cantus_fs::{Disk, Entry, Kind, ReadError};
use cantus_launch::observe::{Known, Needles, Report, Request, Roots, report};
use cantus_launch::{RealDisk, RunInfo};
use serde_json::Value;

/// When all files of the vectors were written last: while the runs went on.
const WRITTEN: &str = "2026-11-20T11:30:00Z";

pub(crate) fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/observed")
}

pub(crate) fn time(text: &str) -> SystemTime {
    humantime::parse_rfc3339(text).unwrap()
}

/// A case of the vectors, set up in a folder of its own.
pub(crate) struct Case {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) expected: Value,
    pub(crate) inputs: Value,
}

impl Case {
    pub(crate) fn new(name: &str) -> Self {
        let source = vectors().join(name);
        let whole: Value = serde_json::from_slice(&fs::read(source.join("expected.json")).unwrap()).unwrap();
        let case = Self {
            folder: tempfile::tempdir().unwrap(),
            expected: whole["expected"].clone(),
            inputs: whole["inputs"].clone(),
        };
        case.copy(&source, case.folder.path());
        for pad in case.inputs["pads"].as_array().into_iter().flatten() {
            case.pad(pad);
        }
        case.date(case.folder.path());
        case
    }

    /// Copies a folder. Names that would be too long for some checkouts are stored short.
    fn copy(&self, from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().into_string().unwrap();
            let name =
                name.strip_prefix("long-").map_or(name.clone(), |end| format!("{}-{end}", self.long()));
            match entry.file_type().unwrap().is_dir() {
                true => self.copy(&entry.path(), &to.join(name)),
                false => drop(fs::copy(entry.path(), to.join(name)).unwrap()),
            }
        }
    }

    /// The first 200 characters of the name that Claude gives to the folder.
    fn long(&self) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
        self.inputs["workspace"].as_str().unwrap().chars().map(plain).take(200).collect()
    }

    fn pad(&self, pad: &Value) {
        let path = self.folder.path().join(pad["file"].as_str().unwrap());
        let number = |key: &str| usize::try_from(pad[key].as_u64().unwrap()).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<_> = text.split_inclusive('\n').map(str::to_owned).collect();
        let empty = "{\"type\":\"pad\",\"pad\":\"\"}\n";
        let line = empty.replace("\"\"", &format!("\"{}\"", "x".repeat(number("bytes") - empty.len())));
        lines.insert(number("before_line") - 1, line);
        fs::write(&path, lines.concat()).unwrap();
    }

    fn date(&self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.date(&path);
            } else {
                fs::File::options().append(true).open(&path).unwrap().set_modified(time(WRITTEN)).unwrap();
            }
        }
    }

    pub(crate) fn runs(&self) -> Vec<RunInfo> {
        let folders = fs::read_dir(self.folder.path().join("runs")).unwrap();
        folders.map(|entry| RunInfo::read(&RealDisk, &entry.unwrap().path())).collect()
    }

    /// The report on these runs, with or without their sections.
    pub(crate) fn report(&self, runs: Vec<RunInfo>, agent: Option<String>) -> Report {
        self.report_on(&RealDisk, runs, agent)
    }

    /// The same from another disk, on which the case lies where it lies here.
    pub(crate) fn report_on(&self, disk: &dyn Disk, runs: Vec<RunInfo>, agent: Option<String>) -> Report {
        let text = |key: &str| self.inputs[key].as_str().map(str::to_owned);
        let needles = Needles {
            home_title: text("home_title"),
            project_title: text("project_title"),
            contract: text("contract_heading"),
            directive: text("directive_marker"),
        };
        let today = |_: &RunInfo, _: Known| needles.clone();
        let request = Request {
            runs,
            providers: Vec::new(),
            limit: 20,
            since: None,
            until: None,
            agent,
            coverage: true,
            helpers: false,
            roots: Roots::of(Some(&self.folder.path().join("home")), &|_| None),
            user: None,
            now: time(&text("now").unwrap()),
            today: Some(&today),
        };
        report(disk, &request)
    }

    /// All its files in memory.
    pub(crate) fn memory(&self) -> Memory {
        let mut memory = Memory::default();
        memory.load(self.folder.path());
        memory
    }
}

/// A disk in memory, for many reports on files that change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Memory {
    fn load(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                self.load(&path);
            } else {
                self.files.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }

    /// The file whose path ends so.
    pub(crate) fn file(&mut self, end: &str) -> &mut Vec<u8> {
        let mut files = self.files.iter_mut();
        files.find(|(path, _)| path.to_string_lossy().replace('\\', "/").ends_with(end)).unwrap().1
    }
}

impl Disk for Memory {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = BTreeMap::new();
        for path in self.files.keys() {
            let Ok(below) = path.strip_prefix(folder) else { continue };
            let mut parts = below.components();
            let Some(first) = parts.next() else { continue };
            let kind = if parts.next().is_some() { Kind::Folder } else { Kind::File };
            entries.insert(first.as_os_str().to_owned(), kind);
        }
        if entries.is_empty() {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(entries.into_iter().map(|(name, kind)| Entry { name, kind }).collect())
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        let is_above = |file: &PathBuf| file.starts_with(path);
        Ok(match self.files.contains_key(path) {
            true => Some(Kind::File),
            false => self.files.keys().any(is_above).then_some(Kind::Folder),
        })
    }

    fn is_program(&self, _: &Path) -> io::Result<bool> {
        Ok(false)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let bytes = self.files.get(path).ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))?;
        let size = bytes.len() as u64;
        if size > limit { Err(ReadError::TooLarge { size, limit }) } else { Ok(bytes.clone()) }
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        Ok(path.to_path_buf())
    }
}
