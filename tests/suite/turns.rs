//! Runs at the same time take turns.
#![expect(clippy::disallowed_methods, reason = "tests read and write without the code that they test")]

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Stdio};
use std::thread;

use cantus_testkit::Repo;
use snapbox::{assert_data_eq, str};

use crate::program::{CANTUS, NOTES, cantus, projected, replace, targets};

/// Starts a run in `repo` that nobody listens to.
#[track_caller]
fn start(repo: &Repo) -> Child {
    let mut run = repo.command(CANTUS);
    match run.arg("project").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn() {
        Ok(child) => child,
        Err(error) => panic!("{error}"),
    }
}

/// Eight runs at once in `repo` all end well, and the files are as one run alone makes them.
#[track_caller]
fn check(repo: &Repo, alone: &Repo) {
    let runs: Vec<_> = (0..8).map(|_| start(repo)).collect();
    for run in runs {
        match run.wait_with_output() {
            Ok(output) => assert!(output.status.success(), "{output:?}"),
            Err(error) => panic!("{error}"),
        }
    }
    cantus(repo, &["check"]).exits(0);
    cantus(alone, &["project"]).exits(0);
    assert!(targets(repo) == targets(alone));
    let left: Vec<_> = repo.files().into_iter().filter(|file| file.contains("cantus-tmp")).collect();
    assert_eq!(left, Vec::<String>::new());
}

#[test]
fn eight_first_runs_at_once_end_well() {
    check(&Repo::new(NOTES), &Repo::new(NOTES));
}

#[test]
fn eight_runs_at_once_outside_git_end_well() {
    check(&Repo::without_git(NOTES), &Repo::new(NOTES));
}

#[test]
fn eight_runs_at_once_over_stale_files_end_well() {
    let repos = [projected(), projected()];
    repos.iter().for_each(|repo| replace(repo, "memory/rules.md", "Be kind.", "Be nice."));
    check(&repos[0], &repos[1]);
}

/// The lock file of `repo`, held until the file is dropped.
#[track_caller]
fn hold(repo: &Repo, holder: &str) -> File {
    let path = repo.git(&["rev-parse", "--git-path", "cantus.lock"]);
    let file = File::create(repo.path().join(path.trim_end())).and_then(|mut file| {
        file.lock()?;
        file.write_all(holder.as_bytes())?;
        Ok(file)
    });
    match file {
        Ok(file) => file,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn a_run_that_waits_in_vain_says_who_holds_the_turn() {
    let repo = Repo::new(NOTES);
    let held = hold(&repo, "process 12, `cargo xtask project`");
    // What writes nothing waits for nobody.
    cantus(&repo, &["project", "--check"]).exits(1);
    cantus(&repo, &["check"]).exits(1);
    let output = cantus(&repo, &["project"]).exits(2);
    assert_eq!(output.stdout, "");
    assert_data_eq!(
        output.stderr,
        str![[r#"
error: another run is writing here: process 12, `cargo xtask project`
  help: it had 10 seconds to end; run this again when it has

"#]]
    );
    assert!(!repo.exists("AGENTS.md"));
    drop(held);
    cantus(&repo, &["project"]).exits(0);
}

#[test]
fn a_run_that_waited_sees_what_changed_meanwhile() {
    let repo = projected();
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    let held = hold(&repo, "process 12, `cargo xtask project`");
    thread::scope(|scope| {
        let run = scope.spawn(|| cantus(&repo, &["project"]).exits(0));
        replace(&repo, "memory/tests.md", "Run them.", "Run them all.");
        drop(held);
        run.join().unwrap();
    });
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn what_is_refused_is_judged_again_after_the_turn() {
    let repo = projected();
    let fresh = repo.read("AGENTS.md");
    replace(&repo, "AGENTS.md", "Be kind.", "Be cruel.");
    let held = hold(&repo, "process 12, `cargo xtask project`");
    thread::scope(|scope| {
        let run = scope.spawn(|| cantus(&repo, &["project"]).exits(0));
        // The run that holds the turn mends the file; the one that waits may have seen it before.
        thread::sleep(std::time::Duration::from_secs(1));
        repo.write("AGENTS.md", &fresh);
        drop(held);
        run.join().unwrap();
    });
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn outside_git_no_lock_file_is_left() {
    let folder = tempfile::tempdir().unwrap();
    let repo = Repo::without_git(NOTES);
    let runs: Vec<_> =
        (0..8).map(|_| repo.command(CANTUS).arg("project").env("TMPDIR", folder.path()).spawn()).collect();
    for run in runs {
        assert!(run.and_then(|mut run| run.wait()).unwrap().success());
    }
    cantus(&repo, &["check"]).exits(0);
    let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty() || cfg!(windows), "{left:?}");
}

#[test]
fn a_fresh_tree_is_told_without_a_turn() {
    let repo = projected();
    let _held = hold(&repo, "process 12, `cargo xtask project`");
    cantus(&repo, &["project"]).exits(0);
}
