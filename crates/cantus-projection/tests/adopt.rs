//! Whatever fails while notes are written or files taken over: all or nothing, and no text is lost.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::io::ErrorKind;
use std::sync::Arc;

use cantus_fs::{Fault, FaultDisk, FaultKind, On, Root};
use cantus_memory::{Import, ImportFile, ImportOptions, import};
use cantus_projection::{Projection, apply, find_inputs, take_over, write_notes};
use cantus_testkit::Repo;
use cantus_workspace::{Notes, Options, Project};

const FILES: &str = "
    //- AGENTS.md
    ## One

    a

    ## Two

    b
    //- CLAUDE.md
    ## Three

    c
    ";

fn root(repo: &Repo, disk: FaultDisk) -> (Arc<FaultDisk>, Root) {
    let disk = Arc::new(disk);
    (Arc::clone(&disk), Root::new(disk, repo.path().to_path_buf()))
}

#[track_caller]
fn opened(root: &Root) -> Project {
    Project::open(root, &Options { notes: Notes::ToCome, ..Options::default() }).value.unwrap()
}

#[track_caller]
fn drafted(root: &Root) -> (Vec<ImportFile>, Import) {
    let project = opened(root);
    let files = find_inputs(root, &project).value.files;
    let into = project.note_folder();
    let options = ImportOptions {
        into: &into,
        taken: &[],
        existing: &project.corpus,
        package: &project.package.name,
        kind: None,
        title: None,
        covered: &[],
        note_bytes: project.config.note_bytes,
    };
    (files.clone(), import(files, &options).value)
}

/// How often notes can fail: every change that writing three of them makes.
fn changes() -> usize {
    let repo = Repo::new(FILES);
    let (disk, root) = root(&repo, FaultDisk::new());
    let (_, import) = drafted(&root);
    let before = disk.count(On::Mutating);
    write_notes(&root, &import.notes).unwrap();
    assert_eq!(repo.files().len(), 5);
    disk.count(On::Mutating) - before
}

#[test]
fn a_disk_that_fails_leaves_all_notes_or_none() {
    let changes = changes();
    assert!(changes >= 6, "{changes}");
    for at in 1..=changes {
        let repo = Repo::new(FILES);
        let fault = Fault { at, on: On::Mutating, kind: FaultKind::Io(ErrorKind::StorageFull) };
        let (_, root) = root(&repo, FaultDisk::new().fault(fault));
        let (_, import) = drafted(&root);
        let error = write_notes(&root, &import.notes).unwrap_err().to_string();
        assert!(error.starts_with("nothing was written"), "{error}");
        assert_eq!(repo.files(), ["AGENTS.md", "CLAUDE.md"], "fault {at}");
    }
}

#[test]
fn a_name_that_is_taken_meanwhile_is_kept() {
    let repo = Repo::new(FILES);
    let (_, root) = root(&repo, FaultDisk::new());
    let (_, import) = drafted(&root);
    repo.write("memory/three.md", "someone else's");
    let error = write_notes(&root, &import.notes).unwrap_err().to_string();
    assert_eq!(error, "`memory/three.md` is there already");
    assert_eq!(repo.files(), ["AGENTS.md", "CLAUDE.md", "memory/three.md"]);
    assert_eq!(repo.read("memory/three.md"), "someone else's");
}

/// Imports, then takes over with `disk`; gives what the files hold afterwards, whatever became of it.
#[track_caller]
fn taken_over(repo: &Repo, disk: FaultDisk) -> (usize, bool) {
    let (_, plain) = root(repo, FaultDisk::new());
    let (files, import) = drafted(&plain);
    write_notes(&plain, &import.notes).unwrap();
    let projection = Projection::compose(&opened(&plain)).value.unwrap();
    let (disk, root) = root(repo, disk);
    let done = take_over(&root, &projection, &files).is_ok_and(|taken| apply(&root, &taken.plan).is_ok());
    (disk.count(On::Mutating), done)
}

#[test]
fn a_take_over_that_fails_keeps_the_old_text() {
    let (changes, done) = taken_over(&Repo::new(FILES), FaultDisk::new());
    assert!(done && changes >= 8, "{changes}");
    let kinds = [FaultKind::Io(ErrorKind::StorageFull), FaultKind::Crash, FaultKind::CrashAfter];
    for (at, kind) in (1..=changes).flat_map(|at| kinds.map(|kind| (at, kind))) {
        let repo = Repo::new(FILES);
        let old = ["AGENTS.md", "CLAUDE.md"].map(|name| (name, repo.read(name)));
        let fault = Fault { at, on: On::Mutating, kind };
        let (_, done) = taken_over(&repo, FaultDisk::new().fault(fault));
        // A full disk may have struck the journal alone, which a run can do without.
        assert!(!done || kind == FaultKind::Io(ErrorKind::StorageFull), "fault {at}");
        for (name, text) in old {
            let copy = format!("{name}.before-cantus");
            let kept = repo.read(name) == text || (repo.exists(&copy) && repo.read(&copy) == text);
            assert!(kept, "fault {at}: {name}");
        }
    }
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused() {
    let repo = Repo::new(FILES);
    let (_, root) = root(&repo, FaultDisk::new());
    let (files, import) = drafted(&root);
    write_notes(&root, &import.notes).unwrap();
    repo.write("CLAUDE.md", "changed");
    let projection = Projection::compose(&opened(&root)).value.unwrap();
    let taken = take_over(&root, &projection, &files).unwrap();
    let refused: Vec<_> = taken
        .plan
        .targets
        .iter()
        .filter(|target| target.is_refused())
        .map(|target| target.path.as_str())
        .collect();
    assert_eq!(refused, ["CLAUDE.md"]);
}
