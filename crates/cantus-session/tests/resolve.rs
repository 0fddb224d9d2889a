//! Which history a resumed session opens.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

use cantus_fs::{Fault, FaultDisk, FaultKind, On, Operation, RealDisk};
use cantus_session::history_file;
use tempfile::TempDir;

/// A folder with these files, each so many seconds old.
fn folder(files: &[(&str, u64)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, age) in files {
        age_of(&folder.path().join(name), *age);
    }
    folder
}

fn age_of(path: &Path, age: u64) {
    let day = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::create(path).unwrap().set_modified(day - Duration::from_secs(age)).unwrap();
}

#[track_caller]
fn check(files: &[(&str, u64)], expected: Option<&str>) {
    let folder = folder(files);
    let found = history_file(&RealDisk, None, folder.path()).unwrap();
    assert_eq!(found, expected.map(|name| folder.path().join(name)));
}

#[test]
fn the_newest_history_is_opened() {
    check(&[("a.jsonl", 5), ("b.jsonl", 1), ("c.jsonl", 9)], Some("b.jsonl"));
    check(&[("a.jsonl", 0)], Some("a.jsonl"));
    check(&[(".hidden.jsonl", 0), ("z.jsonl", 1)], Some(".hidden.jsonl"));
}

#[test]
fn of_equally_old_ones_the_last_name_is_opened() {
    check(&[("b.jsonl", 1), ("a.jsonl", 1)], Some("b.jsonl"));
    check(&[("a.jsonl", 1), ("B.jsonl", 1), ("ä.jsonl", 1), ("z.jsonl", 1)], Some("ä.jsonl"));
}

#[test]
fn other_names_are_no_histories() {
    check(&[(".jsonl", 0), ("a.json", 0), ("a.jsonl.bak", 0), ("jsonl", 0), ("ajsonl", 0)], None);
    check(&[("a.JSONL", 0), ("b.jsonl", 9)], Some("b.jsonl"));
    check(&[], None);
}

#[test]
fn a_folder_is_no_history() {
    let folder = folder(&[("a.jsonl", 9)]);
    fs::create_dir(folder.path().join("z.jsonl")).unwrap();
    let found = history_file(&RealDisk, None, folder.path()).unwrap();
    assert_eq!(found, Some(folder.path().join("a.jsonl")));
}

#[test]
fn an_explicit_history_wins() {
    let folder = folder(&[("a.jsonl", 0)]);
    let explicit = folder.path().join("not there");
    assert_eq!(history_file(&RealDisk, Some(&explicit), folder.path()).unwrap(), Some(explicit));
}

#[test]
fn without_a_folder_there_is_none() {
    let folder = folder(&[("a.jsonl", 0)]);
    assert_eq!(history_file(&RealDisk, None, &folder.path().join("none")).unwrap(), None);
    assert_eq!(history_file(&RealDisk, None, &folder.path().join("a.jsonl")).unwrap(), None);
}

#[test]
fn a_folder_that_can_not_be_listed_is_an_error() {
    let folder = folder(&[("a.jsonl", 0)]);
    let fault = |on| {
        let kind = FaultKind::Io(io::ErrorKind::PermissionDenied);
        FaultDisk::new().fault(Fault { at: 1, on: On::Only(on), kind })
    };
    assert!(history_file(&fault(Operation::List), None, folder.path()).is_err());
    assert_eq!(history_file(&fault(Operation::Kind), None, folder.path()).unwrap(), None);
}

#[cfg(unix)]
#[test]
fn a_symlink_counts_as_what_it_points_to() {
    use std::os::unix::fs::symlink;

    let folder = folder(&[("a.jsonl", 5), ("new", 0), ("old", 9)]);
    let at = |name: &str| folder.path().join(name);
    symlink("none", at("z.jsonl")).unwrap();
    symlink("old", at("y.jsonl")).unwrap();
    assert_eq!(history_file(&RealDisk, None, folder.path()).unwrap(), Some(at("a.jsonl")));
    symlink("new", at("x.jsonl")).unwrap();
    assert_eq!(history_file(&RealDisk, None, folder.path()).unwrap(), Some(at("x.jsonl")));
}
