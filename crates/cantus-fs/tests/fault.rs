//! The disk that fails where a test says so, and what holds whatever fails.
#![cfg(feature = "fault")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::BTreeSet;
use std::error::Error;
use std::io::ErrorKind;
use std::iter::successors;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cantus_fs::{
    Disk, Fault, FaultDisk, FaultKind, LockError, On, Operation, RealDisk, Root, TargetError, is_crash,
};
use cantus_manifest::RelPath;
use proptest::prelude::*;
use tempfile::TempDir;

const TARGETS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "docs/page.md"];
const CRASHES: [FaultKind; 2] = [FaultKind::Crash, FaultKind::CrashAfter];
const ERRORS: [ErrorKind; 5] = [
    ErrorKind::StorageFull,
    ErrorKind::PermissionDenied,
    ErrorKind::ReadOnlyFilesystem,
    ErrorKind::Interrupted,
    ErrorKind::Other,
];

fn rel(path: &str) -> RelPath {
    RelPath::new(path).unwrap()
}

fn real(folder: &Path) -> Root {
    Root::new(Arc::new(RealDisk), folder.to_path_buf())
}

fn on(folder: &Path, disk: FaultDisk) -> (Arc<FaultDisk>, Root) {
    let disk = Arc::new(disk);
    (Arc::clone(&disk), Root::new(disk, folder.to_path_buf()))
}

fn failing(folder: &Path, on_: On, at: usize, kind: FaultKind) -> (Arc<FaultDisk>, Root) {
    on(folder, FaultDisk::new().fault(Fault { at, on: on_, kind }))
}

/// Writes `bytes` to every target, or removes them, as a run does: the lock, the left-overs, stage all, then commit.
fn write(root: &Root, bytes: Option<&[u8]>) -> Result<(), Box<dyn Error>> {
    let targets = TARGETS.map(rel);
    let _guard = root.disk().lock(&root.at(&rel("lock")), "test", Duration::ZERO)?;
    root.sweep(&targets, 1 << 20, |_, _| true)?;
    let Some(bytes) = bytes else {
        targets.iter().try_for_each(|path| root.remove(path))?;
        return Ok(());
    };
    let staged = targets.iter().map(|path| root.stage(path, bytes)).collect::<Result<Vec<_>, _>>()?;
    for (path, staged) in targets.iter().zip(staged) {
        root.commit(path, staged)?;
    }
    Ok(())
}

fn contents(root: &Root) -> [Option<Vec<u8>>; 3] {
    TARGETS.map(|path| root.read_target(&rel(path), 1 << 20).unwrap())
}

/// The names in the folders of the targets that end as staged files do.
fn left_overs(root: &Root) -> BTreeSet<String> {
    let (top, docs) = (root.list(None).unwrap(), root.list(Some(&rel("docs"))).unwrap_or_default());
    let names = top.into_iter().chain(docs).map(|entry| entry.name.into_string().unwrap());
    names.filter(|name| name.ends_with(".cantus-tmp")).collect()
}

fn is_kind(error: &(dyn Error + 'static), kind: ErrorKind) -> bool {
    successors(Some(error), |error| (*error).source())
        .filter_map(|error| error.downcast_ref::<std::io::Error>())
        .any(|error| error.kind() == kind)
}

/// Runs `write` from `old` to `new`, failing with `kind` at each operation in turn, and hands what is left to
/// `judge`; then a run without faults must complete. Ends when a run gets through.
fn at_each_operation(
    old: Option<&[u8]>,
    new: Option<&[u8]>,
    kind: FaultKind,
    judge: impl Fn(&Root, &FaultDisk, &(dyn Error + 'static)),
) {
    for at in 1.. {
        let folder = tempfile::tempdir().unwrap();
        let plain = real(folder.path());
        write(&plain, old).unwrap();
        let (disk, root) = failing(folder.path(), On::Any, at, kind);
        let result = write(&root, new);
        for found in contents(&plain) {
            assert!([old, new].contains(&found.as_deref()), "{kind:?} at {at}: {found:?}");
        }
        if let Err(error) = &result {
            judge(&plain, &disk, &**error);
        }
        if disk.count(On::Any) < at {
            assert!(result.is_ok(), "{kind:?} at {at} never came, and yet: {result:?}");
            return;
        }
        write(&plain, new).unwrap();
        assert_eq!(contents(&plain), [new, new, new].map(|bytes| bytes.map(<[u8]>::to_vec)));
        assert_eq!(left_overs(&plain), BTreeSet::new(), "{kind:?} at {at}");
    }
}

#[test]
fn an_error_leaves_every_target_whole_and_no_temporary_file() {
    for kind in ERRORS {
        at_each_operation(Some(b"old"), Some(b"new"), FaultKind::Io(kind), |root, disk, error| {
            assert!(is_kind(error, kind), "{error:?}");
            assert!(!disk.crashed());
            assert_eq!(left_overs(root), BTreeSet::new());
        });
    }
}

#[test]
fn a_full_disk_leaves_every_target_whole() {
    at_each_operation(Some(b"old"), Some(b"new"), FaultKind::ShortWrite, |root, _, error| {
        assert!(is_kind(error, ErrorKind::StorageFull), "{error:?}");
        assert!(left_overs(root).len() < 2);
    });
}

#[test]
fn a_crash_leaves_every_target_whole() {
    for kind in CRASHES {
        for (old, new) in [(Some(&b"old"[..]), Some(&b"new"[..])), (None, Some(b"new")), (Some(b"old"), None)]
        {
            at_each_operation(old, new, kind, |_, disk, error| {
                assert!(disk.crashed());
                assert!(is_kind(error, ErrorKind::Other));
            });
        }
    }
}

#[test]
fn an_error_names_the_target_and_keeps_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let check = |operation, expected: &str| {
        let (_, root) = failing(folder.path(), On::Only(operation), 1, FaultKind::Io(ErrorKind::StorageFull));
        let path = rel("docs/page.md");
        write(&real(folder.path()), Some(b"old")).unwrap();
        let staged = root.stage(&path, b"new");
        let error = staged
            .and_then(|staged| root.commit(&path, staged))
            .and_then(|()| root.remove(&path))
            .unwrap_err();
        assert_eq!(error.to_string(), expected);
        assert!(is_kind(&error, ErrorKind::StorageFull));
    };
    check(Operation::Kind, "cannot look at `docs`");
    check(Operation::CreateFolders, "cannot make the folder of `docs/page.md`");
    check(Operation::Stage, "cannot write the new `docs/page.md`");
    check(Operation::Commit, "cannot replace `docs/page.md`");
    check(Operation::Remove, "cannot remove `docs/page.md`");
}

#[test]
fn a_short_write_leaves_half_the_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (_, root) = failing(folder.path(), On::Mutating, 2, FaultKind::ShortWrite);
    assert!(matches!(root.stage(&rel("a.md"), b"12345678"), Err(TargetError::Stage { .. })));
    let [left] = &Vec::from_iter(left_overs(&root))[..] else { panic!("one left-over expected") };
    assert_eq!(root.read(&rel(left), 100).unwrap(), b"1234");
    assert_eq!(root.sweep(&[rel("a.md")], 1 << 20, |_, _| true).unwrap(), 1);
    assert_eq!(left_overs(&root), BTreeSet::new());
}

#[test]
fn a_process_that_died_tidies_nothing_and_does_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (disk, root) = failing(folder.path(), On::Only(Operation::Commit), 1, FaultKind::Crash);
    let [first, second] = ["a.md", "b.md"].map(|path| root.stage(&rel(path), b"new").unwrap());
    assert!(
        matches!(root.commit(&rel("a.md"), first), Err(TargetError::Commit { source, .. }) if is_crash(&source))
    );
    let counted = disk.count(On::Any);
    assert!(root.commit(&rel("b.md"), second).is_err());
    assert!(root.list(None).is_err());
    let lock = disk.lock(&folder.path().join("lock"), "me", Duration::ZERO);
    assert!(matches!(lock, Err(LockError::Io(error)) if is_crash(&error)));
    assert_eq!(disk.count(On::Any), counted);
    let plain = real(folder.path());
    assert_eq!(left_overs(&plain).len(), 2);
    assert_eq!(plain.list(None).unwrap().len(), 2);
}

#[test]
fn a_crash_after_an_operation_has_done_it() {
    let folder = tempfile::tempdir().unwrap();
    let plain = real(folder.path());
    let (_, root) = failing(folder.path(), On::Only(Operation::Commit), 1, FaultKind::CrashAfter);
    let staged = root.stage(&rel("a.md"), b"new").unwrap();
    assert!(root.commit(&rel("a.md"), staged).is_err());
    assert_eq!(plain.read(&rel("a.md"), 10).unwrap(), b"new");
    let (_, root) = failing(folder.path(), On::Only(Operation::Stage), 1, FaultKind::CrashAfter);
    assert!(root.stage(&rel("a.md"), b"newer").is_err());
    let left = left_overs(&plain).pop_first().unwrap();
    assert_eq!(plain.read(&rel(&left), 10).unwrap(), b"newer");
}

#[test]
fn a_fault_falls_once_and_a_crash_error_is_told_from_others() {
    let folder = tempfile::tempdir().unwrap();
    let (_, root) = failing(folder.path(), On::Any, 1, FaultKind::Io(ErrorKind::Interrupted));
    let error = root.disk().list(folder.path()).unwrap_err();
    assert!(!is_crash(&error));
    assert_eq!(root.disk().list(folder.path()).unwrap(), []);
}

#[test]
fn reading_counts_as_no_change() {
    let folder = tempfile::tempdir().unwrap();
    write(&real(folder.path()), Some(b"old")).unwrap();
    let (disk, root) = on(folder.path(), FaultDisk::new());
    contents(&root);
    root.list(None).unwrap();
    root.resolve_inside(&rel("docs"), "page.md", 10).unwrap();
    assert_eq!(disk.count(On::Mutating), 0);
    assert_eq!(disk.count(On::Only(Operation::Read)), 4);
    write(&root, Some(b"new")).unwrap();
    assert_eq!(disk.count(On::Mutating), 1 + 3 * 3);
}

#[test]
fn a_hook_runs_right_before_its_operation() {
    let folder = tempfile::tempdir().unwrap();
    let plain = real(folder.path());
    write(&plain, Some(b"old")).unwrap();
    let editor = plain.clone();
    let edit = move || write(&editor, Some(b"edited by another")).unwrap();
    let (_, root) = on(folder.path(), FaultDisk::new().before(On::Only(Operation::Read), 2, edit));
    let path = rel("AGENTS.md");
    assert_eq!(root.read(&path, 100).unwrap(), b"old");
    assert_eq!(root.read(&path, 100).unwrap(), b"edited by another");
    write(&plain, Some(b"old")).unwrap();
    assert_eq!(root.read(&path, 100).unwrap(), b"old");
}

#[test]
fn a_target_that_vanishes_before_it_is_read_or_removed_is_absent() {
    let check = |operation| -> (TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        write(&real(folder.path()), Some(b"old")).unwrap();
        let other = real(folder.path());
        let vanish = move || write(&other, None).unwrap();
        let (_, root) = on(folder.path(), FaultDisk::new().before(On::Only(operation), 1, vanish));
        (folder, root)
    };
    let (_folder, root) = check(Operation::Read);
    assert_eq!(root.read_target(&rel("AGENTS.md"), 10).unwrap(), None);
    let (_folder, root) = check(Operation::Remove);
    root.remove(&rel("AGENTS.md")).unwrap();
}

#[cfg(unix)]
#[test]
fn a_symlink_put_in_place_of_a_target_is_replaced_and_not_written_through() {
    let folder = tempfile::tempdir().unwrap();
    write(&real(folder.path()), Some(b"old")).unwrap();
    let at = folder.path().to_path_buf();
    let swap = move || {
        RealDisk.remove(&at.join("AGENTS.md")).unwrap();
        std::os::unix::fs::symlink("CLAUDE.md", at.join("AGENTS.md")).unwrap();
    };
    let (_, root) = on(folder.path(), FaultDisk::new().before(On::Only(Operation::Commit), 1, swap));
    let staged = root.stage(&rel("AGENTS.md"), b"new").unwrap();
    root.commit(&rel("AGENTS.md"), staged).unwrap();
    assert_eq!(root.read_target(&rel("AGENTS.md"), 10).unwrap().unwrap(), b"new");
    assert_eq!(root.read_target(&rel("CLAUDE.md"), 10).unwrap().unwrap(), b"old");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// After a crash at any operation a target holds the old bytes or the new ones, never anything else, and the
    /// next run completes.
    #[test]
    fn a_target_is_old_or_new(
        old in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200)),
        new in proptest::option::of(proptest::collection::vec(any::<u8>(), 0..200)),
        after in any::<bool>(),
    ) {
        let kind = CRASHES[usize::from(after)];
        at_each_operation(old.as_deref(), new.as_deref(), kind, |_, disk, _| assert!(disk.crashed()));
    }
}
