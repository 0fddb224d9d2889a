//! Recording and reading while the disk fails, fills up, dies, or belongs to rivals.

use std::fs;
use std::io::ErrorKind;
use std::sync::{Arc, OnceLock};

use cantus_fs::{Disk, Fault, FaultDisk, FaultKind, On, Operation, RealDisk};
use cantus_launch::{Integrity, Record, RecordError, Run, RunIndex, RunInfo, Runs, latest_seq, records};
use serde_json::Value;

use crate::fixture::{Scratch, error_record, noon, run_file};

const META: &str = "{\n  \"name\": \"build\",\n  \"z\": 1.50\n}\n";

/// One invocation from its beginning to its end, as a launcher records it. It stops at the first failure, whose reason is then
/// recorded, if that can be.
fn invocation(scratch: &Scratch, disk: &Arc<dyn Disk>) -> Result<(), RecordError> {
    let run = Run::open(disk.clone(), &scratch.path().join("run"))?;
    let file = run.begin(&run_file("build"))?;
    RunIndex::open(disk.clone(), &scratch.path().join("store")).add(run.artifacts(), &file)?;
    let reservation = run.reserve("claude")?;
    let (text, mut manifest) = scratch.bundle(&reservation);
    let (helper_text, helper) = scratch.helper(&reservation);
    let written = reservation
        .write(&text, &manifest, Some((&helper_text, &helper)))
        .and_then(|()| reservation.summarise(&manifest));
    if let Err(error) = written {
        let _ = reservation.fail(&error_record(&error.to_string()));
        return Err(error);
    }
    manifest.delivery.session_ids.push("s1".to_owned());
    reservation.rewrite(&manifest)?;
    run.end(file.started_at, Some(0))
}

/// A scratch folder with one whole invocation: a copy, since each flush takes its time.
fn recorded() -> Scratch {
    static FIRST: OnceLock<Scratch> = OnceLock::new();
    let first = FIRST.get_or_init(|| {
        let scratch = Scratch::new();
        scratch.write("run/agent_meta.json", META);
        invocation(&scratch, &(Arc::new(RealDisk) as Arc<dyn Disk>)).unwrap();
        scratch
    });
    let scratch = Scratch::new();
    for folder in ["run", "run/instructions"] {
        for name in first.names(folder) {
            let path = format!("{folder}/{name}");
            if name != "instructions" {
                scratch.write(&path, &first.read(&path));
            }
        }
    }
    let index = RunIndex::open(Arc::new(RealDisk), &scratch.path().join("store"));
    index.add(&scratch.path().join("run"), &run_file("build")).unwrap();
    scratch
}

fn read(scratch: &Scratch) -> Vec<Record> {
    records(&RealDisk, &scratch.path().join("run"), None).unwrap()
}

/// A second invocation fails with `kind` at each operation in turn. The first stays whole, the shared files stay what they
/// were or become what they should be, and a third invocation works.
fn at_each_operation(kind: FaultKind) {
    for at in 1.. {
        let scratch = recorded();
        let before = read(&scratch);
        let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Any, kind }));
        let result = invocation(&scratch, &(disk.clone() as Arc<dyn Disk>));
        let after = read(&scratch);
        assert_eq!(after[..2], before[..], "{kind:?} at {at}");
        for record in &after[2..] {
            let is_whole = record.integrity == Integrity::Match && record.problems.is_empty();
            let is_told = record.error || !record.problems.is_empty();
            assert!(is_whole || is_told, "{kind:?} at {at}: {record:?}");
        }
        check_shared(&scratch, &format!("{kind:?} at {at}: {result:?}"));
        if disk.count(On::Any) < at {
            result.unwrap();
            return;
        }
        invocation(&scratch, &(Arc::new(RealDisk) as Arc<dyn Disk>)).unwrap();
        let last = read(&scratch).pop().unwrap();
        assert!(last.integrity == Integrity::Match && last.problems.is_empty(), "{last:?}");
        assert!((1..=2).contains(&last.seq), "{last:?}");
    }
}

#[track_caller]
fn check_shared(scratch: &Scratch, when: &str) {
    let meta = scratch.read("run/agent_meta.json");
    assert!(
        meta.starts_with("{\n  \"name\": \"build\",\n  \"z\": 1.50,\n  \"instructions\": {"),
        "{when}: {meta}"
    );
    let meta: Value = serde_json::from_str(&meta).unwrap();
    assert!(meta["instructions"]["latest"]["seq"].as_u64() <= Some(1), "{when}");
    let info = RunInfo::read(&RealDisk, &scratch.path().join("run"));
    assert_eq!((info.name.as_str(), info.started_at), ("build", Some(noon())), "{when}");
    let index = RunIndex::open(Arc::new(RealDisk), &scratch.path().join("store"));
    assert_eq!(index.newest_first().count(), 1, "{when}");
}

#[test]
fn an_error_leaves_what_was_recorded() {
    at_each_operation(FaultKind::Io(ErrorKind::PermissionDenied));
}

#[test]
fn a_full_disk_leaves_what_was_recorded() {
    at_each_operation(FaultKind::ShortWrite);
}

#[test]
fn a_crash_leaves_what_was_recorded() {
    at_each_operation(FaultKind::Crash);
}

#[test]
fn a_crash_right_after_a_step_leaves_what_was_recorded() {
    at_each_operation(FaultKind::CrashAfter);
}

#[test]
fn a_disk_that_stays_full_records_nothing_and_breaks_nothing() {
    let scratch = recorded();
    let before = read(&scratch);
    let mut disk = FaultDisk::new();
    for at in 1..200 {
        disk = disk.fault(Fault { at, on: On::Only(Operation::Stage), kind: FaultKind::ShortWrite });
    }
    invocation(&scratch, &(Arc::new(disk) as Arc<dyn Disk>)).unwrap_err();
    let after = read(&scratch);
    assert_eq!(after[..2], before[..]);
    check_shared(&scratch, "full");
}

#[test]
fn without_locks_numbers_are_still_taken_once() {
    let scratch = recorded();
    let mut disk = FaultDisk::new();
    for at in 1..200 {
        disk = disk.fault(Fault {
            at,
            on: On::Only(Operation::Lock),
            kind: FaultKind::Io(ErrorKind::Unsupported),
        });
    }
    let rival = scratch.path().join("run/instructions/01-claude.md");
    let disk = disk.before(On::Only(Operation::Record), 1, move || fs::write(rival, "theirs").unwrap());
    invocation(&scratch, &(Arc::new(disk) as Arc<dyn Disk>)).unwrap();
    assert_eq!(scratch.read("run/instructions/01-claude.md"), "theirs");
    assert_eq!(read(&scratch).last().unwrap().seq, 2);
}

// Where files can't be swapped there is a moment between the last look and the write.
#[cfg(not(windows))]
#[test]
fn what_the_launcher_writes_meanwhile_is_kept() {
    for at in 1.. {
        let scratch = recorded();
        let meta = scratch.path().join("run/agent_meta.json");
        let theirs = "{\n  \"name\": \"renamed\"\n}\n";
        // Before each change of the disk in turn: one of them is right before the file is replaced.
        let disk = FaultDisk::new().before(On::Mutating, at, move || fs::write(meta, theirs).unwrap());
        let disk = Arc::new(disk);
        invocation(&scratch, &(disk.clone() as Arc<dyn Disk>)).unwrap();
        if disk.count(On::Mutating) < at {
            return;
        }
        let meta: Value = serde_json::from_str(&scratch.read("run/agent_meta.json")).unwrap();
        assert_eq!(meta["name"], "renamed", "{at}");
    }
}

#[test]
fn files_that_vanish_while_they_are_read_are_missing() {
    for at in 1..=6 {
        let scratch = recorded();
        let run = scratch.path().join("run");
        let folder = run.join("instructions");
        let hook = move || fs::remove_dir_all(folder).unwrap();
        let disk = FaultDisk::new().before(On::Only(Operation::Read), at, hook);
        let found = records(&disk, &run, None).unwrap();
        assert_eq!(found.len(), 2);
        let is_whole = |record: &Record| record.integrity == Integrity::Match && record.problems.is_empty();
        assert_eq!(found.iter().all(is_whole), at > 4, "{at}: {found:?}");
        assert!(
            found
                .iter()
                .all(|record| is_whole(record) || !record.problems.is_empty() || record.found.is_none())
        );
    }
}

#[test]
fn a_disk_that_fails_while_it_is_read_breaks_no_list() {
    for at in 1.. {
        let scratch = recorded();
        let run = scratch.path().join("run");
        let fault = Fault { at, on: On::Any, kind: FaultKind::Io(ErrorKind::Other) };
        let disk = Arc::new(FaultDisk::new().fault(fault));
        let _ = records(disk.as_ref(), &run, None);
        let _ = latest_seq(disk.as_ref(), &run);
        let index = RunIndex::open(disk.clone(), &scratch.path().join("store"));
        let found = Runs::of_index(disk.clone(), index).and(Some(run.clone())).newest(5);
        assert!(found.runs.len() <= 1);
        let found = Runs::in_trees(disk.clone(), vec![scratch.path().to_path_buf()]).newest(5);
        assert!(found.runs.len() <= 1);
        if disk.count(On::Any) < at {
            assert_eq!(found.runs.len(), 1);
            return;
        }
    }
}
