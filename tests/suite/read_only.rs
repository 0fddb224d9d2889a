//! Disks that can't be written: mounted read-only, and full.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests read and write without the code that they test")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use cantus_testkit::Repo;
use snapbox::{IntoData, assert_data_eq, str};

use crate::program::{NOTES, TARGETS, cantus, projected, replace};

/// A mount that goes away with the value.
pub(crate) struct Mount(PathBuf);

impl Mount {
    /// Mounts on the folder `at`; `None` where that isn't allowed.
    ///
    /// Then the case is left to `faults.rs` of `cantus-projection`, which fails the same operations in the library.
    #[track_caller]
    pub(crate) fn new(at: &Path, runs: &[&[&str]]) -> Option<Self> {
        fs::create_dir_all(at).unwrap();
        for (index, args) in runs.iter().enumerate() {
            let output = match Command::new("mount").args(*args).arg(at).output() {
                Ok(output) => output,
                Err(error) => {
                    say(&format!("`mount` can't be started ({error}): only the fault layer shows this"));
                    return None;
                }
            };
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                say(&format!(
                    "`mount {}` isn't allowed ({}): only the fault layer shows this",
                    args.join(" "),
                    said.trim()
                ));
                // What was mounted before goes again.
                drop((index > 0).then(|| Self(at.to_path_buf())));
                return None;
            }
        }
        Some(Self(at.to_path_buf()))
    }

    fn read_only(repo: &Repo) -> Option<Self> {
        let at = repo.home().join("read-only");
        let from = repo.path().to_string_lossy();
        Self::new(&at, &[&["--bind", &from], &["-o", "remount,ro,bind"]])
    }

    fn path(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let unmounted = Command::new("umount").arg("--lazy").arg(&self.0).status();
        if !unmounted.is_ok_and(|status| status.success()) {
            say(&format!("`{}` is still mounted", self.0.display()));
        }
    }
}

/// Tells whoever runs the tests; unlike what is printed, it isn't kept back when a test passes.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// What a write anywhere in the tree would change.
#[track_caller]
fn tree(repo: &Repo) -> Vec<(String, Vec<u8>)> {
    repo.files().into_iter().map(|file| (file.clone(), repo.read_bytes(&file))).collect()
}

/// Runs `cantus` on the project at `root`: its exit code and its errors.
#[track_caller]
fn check(repo: &Repo, root: &str, args: &[&str], status: i32, errors: impl IntoData) {
    let output = cantus(repo, &[&["--root", root], args].concat()).exits(status);
    assert_data_eq!(output.stderr, errors);
}

#[test]
fn a_read_only_tree_is_checked() {
    let repo = projected();
    let Some(mount) = Mount::read_only(&repo) else { return };
    let before = tree(&repo);
    for args in [&["project", "--check"][..], &["project"], &["check"], &["list"], &["render"]] {
        let output = cantus(&repo, &[&["--root", &mount.path()], args].concat()).exits(0);
        assert!(!output.stderr.contains("error"), "{}", output.stderr);
    }
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    check(&repo, &mount.path(), &["project", "--check"], 1, str![""]);
    check(&repo, &mount.path(), &["check"], 1, str![""]);
    replace(&repo, "memory/rules.md", "Be nice.", "Be kind.");
    assert_eq!(tree(&repo), before);
}

#[test]
fn on_a_read_only_tree_nothing_is_lost() {
    let repo = projected();
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    let Some(mount) = Mount::read_only(&repo) else { return };
    let before = tree(&repo);
    check(
        &repo,
        &mount.path(),
        &["project"],
        2,
        str![[r#"
error: nothing was replaced: cannot write the new `AGENTS.md`: Read-only file system (os error 30)
  help: every file is whole, old or new; the next run completes

"#]],
    );
    assert_eq!(tree(&repo), before);
    drop(mount);
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
}

/// A file that takes all the room that is left, but for `spare` bytes.
#[track_caller]
pub(crate) fn fill(folder: &Path, spare: usize) {
    let path = folder.join("ballast");
    // The disk fills up on the way: that is wanted.
    let full = fs::write(&path, vec![b'x'; 4 << 20]);
    assert!(full.is_err(), "the disk is larger than thought");
    let size = fs::metadata(&path).map(|metadata| metadata.len()).unwrap_or(0);
    let kept = size.saturating_sub(spare as u64);
    fs::OpenOptions::new().write(true).open(&path).and_then(|file| file.set_len(kept)).unwrap();
}

/// On a disk with room for `spare` bytes more a run fails, every file is as it was, and a later run completes.
#[track_caller]
fn check_full(spare: usize) {
    let repo = Repo::new("");
    let outside = Repo::new("");
    let at = repo.path().join("small");
    let Some(_mount) = Mount::new(&at, &[&["-t", "tmpfs", "-o", "size=512k", "tmpfs"]]) else { return };
    repo.add(&NOTES.replace("//- ", "//- small/"));
    let root = at.to_string_lossy();
    cantus(&outside, &["--root", &root, "project"]).exits(0);
    replace(&repo, "small/memory/rules.md", "Be kind.", "Be nice.");
    let read = || TARGETS.map(|path| repo.read_bytes(&format!("small/{path}")));
    let before = read();
    fill(&at, spare);
    check(
        &outside,
        &root,
        &["project"],
        2,
        str![[r#"
error: nothing was replaced: cannot write the new `[..]`: No space left on device (os error 28)
  help: every file is whole, old or new; the next run completes

"#]],
    );
    assert!(read() == before);
    let left: Vec<_> = repo.files().into_iter().filter(|file| file.contains("cantus-tmp")).collect();
    assert_eq!(left, Vec::<String>::new());
    repo.remove("small/ballast");
    cantus(&outside, &["--root", &root, "project"]).exits(0);
    cantus(&outside, &["--root", &root, "check"]).exits(0);
    assert!(read() != before);
}

#[test]
fn on_a_full_disk_nothing_is_lost() {
    // No page is left, or one, or two: not enough for the three files.
    [0, 4096, 8192].into_iter().for_each(check_full);
}
