//! Whatever fails while a hook is installed or removed: the earlier hook is never lost, and the next run completes.
#![cfg(unix)]

use std::sync::Arc;

use cantus_fs::{Disk as _, Fault, FaultDisk, FaultKind, On, RealDisk, Root};
use cantus_projection::{install_hooks, uninstall_hooks};
use cantus_testkit::Repo;
use cantus_workspace::configuration;

const HOOK: &str = ".git/hooks/pre-commit";
const BEFORE: &str = ".git/hooks/pre-commit.before-cantus";
const EARLIER: &str = "#!/bin/sh\nexit 3\n";

fn install(root: &Root) -> bool {
    let config = configuration(root).value;
    config.is_some_and(|config| install_hooks(root, &config, root.path()).is_ok())
}

fn uninstall(root: &Root) -> bool {
    uninstall_hooks(root, root.path()).is_ok()
}

/// Whether a file is there with exactly this text.
fn holds(repo: &Repo, path: &str, text: &str) -> bool {
    repo.exists(path) && repo.read(path) == text
}

/// What killed runs left among the hooks.
fn left_overs(repo: &Repo) -> Vec<String> {
    let entries = RealDisk.list(&repo.path().join(".git/hooks")).expect("a folder");
    let names = entries.into_iter().map(|entry| entry.name.into_string().expect("UTF-8"));
    names.filter(|name| name.contains("cantus") && !name.ends_with(".before-cantus")).collect()
}

/// Fails at each change of the disk in turn, then runs without faults.
#[track_caller]
fn check(kind: FaultKind, prepare: &[fn(&Root) -> bool], run: fn(&Root) -> bool, is_done: fn(&Repo) -> bool) {
    for at in 1.. {
        let repo = Repo::new("");
        repo.write(HOOK, EARLIER);
        let real = Root::new(Arc::new(RealDisk), repo.path().to_path_buf());
        assert!(prepare.iter().all(|step| step(&real)));
        let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Mutating, kind }));
        let failed = !run(&Root::new(disk.clone(), repo.path().to_path_buf()));
        let kept = holds(&repo, HOOK, EARLIER) || holds(&repo, BEFORE, EARLIER);
        assert!(kept, "{kind:?} at {at}: {:?}", repo.git(&["status", "--porcelain"]));
        assert!(run(&real) && is_done(&repo), "{kind:?} at {at}");
        assert_eq!(left_overs(&repo), [""; 0], "{kind:?} at {at}");
        if disk.count(On::Mutating) < at {
            assert!(!failed && at > 2);
            return;
        }
    }
}

#[test]
fn an_install_that_fails_is_completed_by_the_next() {
    for kind in [
        FaultKind::Crash,
        FaultKind::CrashAfter,
        FaultKind::ShortWrite,
        FaultKind::Io(std::io::ErrorKind::Other),
    ] {
        check(kind, &[], install, |repo| {
            holds(repo, BEFORE, EARLIER) && repo.read(HOOK).contains("before-cantus")
        });
    }
}

#[test]
fn an_uninstall_that_fails_is_completed_by_the_next() {
    for kind in [
        FaultKind::Crash,
        FaultKind::CrashAfter,
        FaultKind::ShortWrite,
        FaultKind::Io(std::io::ErrorKind::Other),
    ] {
        check(kind, &[install], uninstall, |repo| holds(repo, HOOK, EARLIER) && !repo.exists(BEFORE));
    }
}
