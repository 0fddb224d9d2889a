//! Which files are looked at for the notes of dependencies.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use cantus_fs::{Disk, Entry, Kind, LockError, LockGuard, ReadError, RealDisk, Root};
use cantus_testkit::Repo;
use cantus_workspace::{Options, Project, list_plugins};

/// The disk of the machine, with every path that it was asked for.
#[derive(Debug, Default)]
struct Recorder(Mutex<Vec<PathBuf>>);

impl Recorder {
    fn note(&self, path: &Path) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(path.to_path_buf());
    }

    /// What was asked for below `folder`.
    fn below(&self, folder: &Path) -> Vec<PathBuf> {
        let asked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        asked.iter().filter(|path| path.starts_with(folder)).cloned().collect()
    }
}

impl Disk for Recorder {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        self.note(folder);
        RealDisk.list(folder)
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        self.note(path);
        RealDisk.kind(path)
    }

    fn is_program(&self, _: &Path) -> io::Result<bool> {
        Err(io::ErrorKind::Unsupported.into())
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.note(path);
        RealDisk.read(path, limit)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.note(path);
        RealDisk.canonical(path)
    }

    fn recall(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.note(path);
        RealDisk.recall(path, limit)
    }

    fn lock(&self, path: &Path, holder: &str, wait: Duration) -> Result<LockGuard, LockError> {
        RealDisk.lock(path, holder, wait)
    }
}

const WORKSPACE: &str = "
    //- Cargo.toml
    [package]
    name = \"app\"
    version = \"0.1.0\"
    edition = \"2021\"

    [dependencies]
    used = { path = \"vendor/used\" }
    other = { path = \"vendor/other\" }

    [workspace]
    exclude = [\"vendor\"]
    //- Cargo.lock
    version = 4

    [[package]]
    name = \"app\"
    version = \"0.1.0\"
    dependencies = [\"other\", \"used\"]

    [[package]]
    name = \"other\"
    version = \"1.0.0\"

    [[package]]
    name = \"used\"
    version = \"1.0.0\"
    //- cantus.toml
    plugins = [\"used\"]
    //- src/lib.rs
    //- vendor/used/Cargo.toml
    [package]
    name = \"used\"
    version = \"1.0.0\"
    edition = \"2021\"
    metadata.cantus.notes = \"agents\"
    //- vendor/used/src/lib.rs
    //- vendor/used/agents/a.md
    ---
    type: core
    ---
    # A
    //- vendor/used/docs/b.md
    No note.
    //- vendor/other/Cargo.toml
    [package]
    name = \"other\"
    version = \"1.0.0\"
    edition = \"2021\"
    metadata.cantus.notes = \"agents\"
    //- vendor/other/src/lib.rs
    //- vendor/other/agents/a.md
    Broken.
    ";

#[test]
fn nothing_below_a_crate_that_is_not_allowed_is_looked_at() {
    let repo = Repo::new(WORKSPACE);
    let disk = Arc::new(Recorder::default());
    let root = Root::new(disk.clone(), repo.path().to_path_buf());
    let outcome = Project::open(&root, &Options::default());
    assert_eq!(outcome.diagnostics, []);
    let plugins = outcome.value.expect("a project").plugins;
    assert_eq!(plugins.iter().map(|plugin| plugin.name.as_str()).collect::<Vec<_>>(), ["used"]);
    let asked = disk.below(&repo.path().join("vendor/used"));
    assert!(asked.contains(&repo.path().join("vendor/used/agents/a.md")), "{asked:?}");
    let folder = repo.path().join("vendor/used");
    let inside = |path: &PathBuf| *path == folder || path.starts_with(folder.join("agents"));
    assert!(asked.iter().all(inside), "{asked:?}");
    assert_eq!(disk.below(&repo.path().join("vendor/other")), Vec::<PathBuf>::new());
}

#[test]
fn a_listing_opens_no_crate_at_all() {
    let repo = Repo::new(WORKSPACE);
    let disk = Arc::new(Recorder::default());
    let listing = list_plugins(&Root::new(disk.clone(), repo.path().to_path_buf()));
    assert_eq!(listing.diagnostics, []);
    let crates = listing.value.expect("a listing").crates;
    let found: Vec<_> =
        crates.iter().map(|shipped| (shipped.name.as_str(), shipped.used.is_some())).collect();
    assert_eq!(found, [("other", false), ("used", true)]);
    assert_eq!(disk.below(&repo.path().join("vendor")), Vec::<PathBuf>::new());
}
