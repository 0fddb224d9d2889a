//! Packs on disk.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]
#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use cantus_compose::Package;
use cantus_fs::{Disk, Fault, FaultDisk, FaultKind, On, RealDisk};
use cantus_manifest::Stamps;
use cantus_session::{
    Compiled, HostSection, Notes, Pack, RunId, Saved, SessionLaunch, SessionMaterial, compile, copy_to_run,
    record, save_for_session,
};
use serde_json::Value;

fn pack(run: &str, text: &str) -> Pack {
    let launch = SessionLaunch {
        product: "Acme".to_owned(),
        run: Some(RunId::new(run).unwrap()),
        sections: vec![HostSection { id: "a".to_owned(), text: text.to_owned(), ..HostSection::default() }],
        ..SessionLaunch::default()
    };
    let wording = Package::built_in(Stamps::Skip).wording();
    let material = SessionMaterial { wording: &wording, notes: Notes::default(), bundle: Vec::new() };
    let Compiled { pack, .. } = compile(&launch, &material).value.unwrap().deliver(None);
    pack
}

fn disk() -> Arc<dyn Disk> {
    Arc::new(RealDisk)
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_pack_lies_beside_its_run() {
    let folder = tempfile::tempdir().unwrap();
    let run = RunId::new("r-1").unwrap();
    for text in ["one", "two"] {
        record(&disk(), folder.path(), &run, &pack("r-1", text)).unwrap();
        let found = json(&folder.path().join("runs/r-1/context.json"));
        assert_eq!((&found["version"], &found["run"]), (&Value::from(1), &Value::from("r-1")));
        let sections = found["sections"].as_array().unwrap();
        assert!(sections.iter().any(|section| section["body"] == text));
        assert_eq!(found["delivery"]["updated"].as_array().unwrap().len(), 4);
    }
    assert_eq!(fs::read_dir(folder.path().join("runs/r-1")).unwrap().count(), 1);
}

#[test]
fn a_session_keeps_the_pack_that_it_started_with() {
    let folder = tempfile::tempdir().unwrap();
    let session = folder.path().join("session");
    assert_eq!(save_for_session(&disk(), &session, &pack("r-1", "one")).unwrap(), Saved::Now);
    let first = fs::read(session.join("context.json")).unwrap();
    assert_eq!(save_for_session(&disk(), &session, &pack("r-2", "two")).unwrap(), Saved::Before);
    assert_eq!(fs::read(session.join("context.json")).unwrap(), first);
    let run = RunId::new("r-7").unwrap();
    copy_to_run(&disk(), &session, folder.path(), &run).unwrap();
    let copy = fs::read_to_string(folder.path().join("runs/r-7/context.json")).unwrap();
    // The run alone differs, to the byte.
    assert_eq!(copy.replace("\"run\": \"r-7\"", "\"run\": \"r-1\"").as_bytes(), first);
}

#[test]
fn what_is_no_pack_is_not_copied() {
    let folder = tempfile::tempdir().unwrap();
    let (session, run) = (folder.path().join("s"), RunId::new("r").unwrap());
    assert!(copy_to_run(&disk(), &session, folder.path(), &run).is_err());
    fs::create_dir(&session).unwrap();
    for text in [
        "",
        "[]",
        "{\"version\": 1}",
        "{\"version\":2,\"product\":\"\",\"variant\":null,\"sections\":[],\"tools\":[],\"delivery\":null}",
    ] {
        fs::write(session.join("context.json"), text).unwrap();
        assert!(copy_to_run(&disk(), &session, folder.path(), &run).is_err(), "{text}");
    }
    assert!(!folder.path().join("runs").exists());
}

#[cfg(unix)]
#[test]
fn a_symlink_leads_nowhere() {
    let (folder, outside) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::create_dir(folder.path().join("runs")).unwrap();
    std::os::unix::fs::symlink(outside.path(), folder.path().join("runs/r")).unwrap();
    assert!(record(&disk(), folder.path(), &RunId::new("r").unwrap(), &pack("r", "x")).is_err());
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a_folder_that_is_a_file_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "kept").unwrap();
    assert!(record(&disk(), &file, &RunId::new("r").unwrap(), &pack("r", "x")).is_err());
    assert!(save_for_session(&disk(), &file, &pack("r", "x")).is_err());
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
}

#[test]
fn a_fault_at_any_operation_leaves_a_whole_pack() {
    let (folder, run) = (tempfile::tempdir().unwrap(), RunId::new("r").unwrap());
    record(&disk(), folder.path(), &run, &pack("r", "old")).unwrap();
    let path = folder.path().join("runs/r/context.json");
    let kinds = [
        FaultKind::Io(ErrorKind::PermissionDenied),
        FaultKind::ShortWrite,
        FaultKind::Crash,
        FaultKind::CrashAfter,
    ];
    let mut failed = 0;
    for kind in kinds {
        for at in 1..20 {
            let faulty: Arc<dyn Disk> = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Any, kind }));
            let result = record(&faulty, folder.path(), &run, &pack("r", "new"));
            failed += usize::from(result.is_err());
            let sections = json(&path)["sections"].clone();
            let bodies: Vec<_> = sections.as_array().unwrap().iter().map(|it| it["body"].clone()).collect();
            assert!(
                bodies.contains(&Value::from("old")) || bodies.contains(&Value::from("new")),
                "{bodies:?}"
            );
        }
    }
    assert!(failed >= kinds.len(), "{failed}");
}
