//! The store through the program: what `render` keeps and finds there, and what a broken one does.
#![cfg(unix)]
#![expect(clippy::disallowed_methods, reason = "tests read and write without the code that they test")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cantus_testkit::{Output, Repo};
use sha2::{Digest as _, Sha256};

use crate::program::{CANTUS, NOTES, cantus, replace};
use crate::read_only::{Mount, fill};

/// `cantus` in the root of `repo` with the store in `store`.
fn command(repo: &Repo, store: &Path, args: &[&str]) -> Command {
    let mut command = repo.command(CANTUS);
    command.args(args).env("CANTUS_STORE", store);
    command
}

#[track_caller]
fn run(repo: &Repo, store: &Path, args: &[&str]) -> Output {
    let output = command(repo, store, args).output().unwrap();
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Renders and says what the cache did; the bundle is that of a render past every cache.
#[track_caller]
fn check(repo: &Repo, store: &Path, args: &[&str], cache: &str) -> Output {
    let output = run(repo, store, &[&["render"], args].concat()).exits(0);
    let (said, shown) = (format!(" cache={cache} "), &output.stderr);
    assert!(shown.contains(&said), "expected{said}in: {shown}");
    let fresh = run(repo, store, &[&["render", "-N"], args].concat()).exits(0);
    assert_eq!(output.stdout, fresh.stdout);
    assert!(fresh.stderr.contains(" cache=bypass "), "{}", fresh.stderr);
    output
}

/// Every file below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter().filter_map(Result::ok);
    files.filter(|entry| entry.file_type().is_file()).map(walkdir::DirEntry::into_path).collect()
}

/// The bundles of a store, each checked: its name is the digest of its bytes.
#[track_caller]
fn bundles(store: &Path) -> Vec<PathBuf> {
    let all = files(&store.join("bundles"));
    let bundles = all.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "md"));
    let bundles: Vec<_> = bundles.filter(|path| !path.to_string_lossy().contains("cantus-tmp")).collect();
    for path in &bundles {
        let hash: String =
            Sha256::digest(fs::read(path).unwrap()).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(path.file_stem().unwrap().to_str(), Some(hash.as_str()));
        assert_eq!(path.parent().unwrap().file_name().unwrap().to_str(), Some(&hash[..2]));
    }
    bundles
}

#[track_caller]
fn assert_tidy(store: &Path) {
    let left: Vec<_> =
        files(store).into_iter().filter(|path| path.to_string_lossy().contains("cantus-tmp")).collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn the_second_render_is_a_hit() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    check(&repo, &store, &[], "miss");
    check(&repo, &store, &[], "hit");
    check(&repo, &store, &["-s"], "hit");
    check(&repo, &store, &["-sj"], "hit");
    check(&repo, &store, &["-f", "provider=claude"], "miss");
    check(&repo, &store, &["-f", "provider=claude,purpose=conflict_repair,host=h,vcs="], "hit");
    check(&repo, &store, &["-f", "project=other"], "miss");
    check(&repo, &store, &["-f", "project="], "miss");
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    check(&repo, &store, &[], "miss");
    replace(&repo, "memory/rules.md", "Be nice.", "Be kind.");
    check(&repo, &store, &[], "hit");
    assert_tidy(&store);
    assert_eq!(fs::metadata(&bundles(&store)[0]).unwrap().permissions().mode() & 0o777, 0o444);
}

#[test]
fn a_manifest_names_the_place_of_the_bundle() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    for cache in ["miss", "hit"] {
        let json = run(&repo, &store, &["render", "-jq"]).exits(0).stdout;
        let manifest: serde_json::Value = serde_json::from_str(&json).unwrap();
        assert_eq!(manifest["delivery"]["cache"], cache);
        let path = manifest["bundle"]["store_path"].as_str().unwrap();
        assert_eq!([PathBuf::from(path)].to_vec(), bundles(&store));
        assert!(manifest["delivery"]["render_ms"].as_f64().unwrap() > 0.0);
    }
    let json = run(&repo, &store, &["render", "-Njq"]).exits(0).stdout;
    let manifest: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (&manifest["bundle"]["store_path"], &manifest["delivery"]["cache"]),
        (&"".into(), &"bypass".into())
    );
}

#[test]
fn the_environment_says_where_the_store_is() {
    let repo = Repo::new(NOTES);
    cantus(&repo, &["render", "-q"]).exits(0);
    assert_eq!(bundles(&repo.home().join(".local/share/cantus")).len(), 1);
    let names = ["SASE_INSTRUCTIONS_HOME", "CANTUS_HOME", "CANTUS_STORE"];
    for (at, name) in names.iter().enumerate() {
        let folders = names.map(|name| repo.home().join(format!("{at}/{name}")));
        let mut command = repo.command(CANTUS);
        command.args(["render", "-q"]).envs(names.iter().zip(&folders).take(at + 1));
        assert!(command.stdout(Stdio::null()).status().unwrap().success());
        let used: Vec<_> = folders.iter().filter(|folder| folder.exists()).collect();
        assert_eq!(used, [&folders[at]], "{name}");
    }
}

#[test]
fn other_verbs_leave_the_store_alone() {
    let repo = Repo::new(NOTES);
    for args in [
        &["project"][..],
        &["project", "--check"],
        &["check"],
        &["list"],
        &["stats"],
        &["read", "rules"],
        &["why", "AGENTS.md:3"],
        &["render", "-Nq"],
        &["render", "-pq"],
    ] {
        cantus(&repo, args).exits(0);
    }
    assert_eq!(files(repo.home()), Vec::<PathBuf>::new());
}

#[test]
fn a_same_size_edit_within_the_same_tick_is_seen() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    let path = repo.path().join("memory/rules.md");
    let texts = ["Be kind.", "Be nice."].map(|words| repo.read("memory/rules.md").replace("Be kind.", words));
    let render = || run(&repo, &store, &["render", "-q"]).exits(0).stdout;
    render();
    for round in 0..20 {
        let text = &texts[(round + 1) % 2];
        let before = fs::metadata(&path).unwrap().modified().unwrap();
        fs::write(&path, text).unwrap();
        // Nobody can set the other time, that of the last change of anything.
        fs::OpenOptions::new().write(true).open(&path).unwrap().set_modified(before).unwrap();
        let words = if round % 2 == 0 { "Be nice." } else { "Be kind." };
        assert!(render().contains(words), "round {round}");
    }
}

#[test]
fn warnings_are_told_on_a_hit_too() {
    let repo = Repo::new(NOTES);
    repo.write("memory/other.MD", "x");
    let store = repo.home().join("store");
    let [first, second] = ["miss", "hit"].map(|cache| check(&repo, &store, &[], cache).stderr);
    let warnings = |stderr: &str| {
        stderr.lines().filter(|line| !line.starts_with("render ")).map(str::to_owned).collect::<Vec<_>>()
    };
    assert!(first.contains("[name.ending]"), "{first}");
    assert_eq!(warnings(&first), warnings(&second));
    run(&repo, &store, &["render", "--strict"]).exits(2);
}

#[test]
fn a_broken_project_is_never_answered_from_the_store() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    check(&repo, &store, &[], "miss");
    replace(&repo, "memory/rules.md", "type: core", "type: [");
    let said = run(&repo, &store, &["render"]).exits(2).stderr;
    assert_eq!(said, run(&repo, &store, &["render", "-N"]).exits(2).stderr);
    replace(&repo, "memory/rules.md", "type: [", "type: core");
    check(&repo, &store, &[], "hit");
}

/// Flips one bit in the middle of a file, whatever its mode.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).unwrap();
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_flipped_byte_in_a_bundle_is_told_once_and_mended() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    assert!(!check(&repo, &store, &[], "miss").stderr.contains("corrupt"));
    let path = bundles(&store).remove(0);
    flip(&path);
    let said = check(&repo, &store, &[], "miss").stderr;
    assert_eq!(said.matches("warning: corrupt bundle").count(), 1, "{said}");
    assert!(!said.contains(store.to_str().unwrap()), "{said}");
    assert!(!check(&repo, &store, &[], "hit").stderr.contains("corrupt"));
    assert_eq!(bundles(&store), std::slice::from_ref(&path));
    let aside: Vec<_> = files(path.parent().unwrap()).into_iter().filter(|file| *file != path).collect();
    assert!(
        matches!(aside.as_slice(), [aside] if aside.to_string_lossy().contains(".md.corrupt-")),
        "{aside:?}"
    );
}

#[test]
fn a_flipped_byte_in_an_entry_or_an_index_is_no_more_than_a_miss() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    check(&repo, &store, &[], "miss");
    for (folder, cache) in [("cache", "miss"), ("index", "hit")] {
        let path = files(&store.join(folder)).remove(0);
        flip(&path);
        let said = check(&repo, &store, &[], cache).stderr;
        assert_eq!(said.lines().count(), 1, "{said}");
        fs::write(&path, "").unwrap();
        check(&repo, &store, &[], cache);
        check(&repo, &store, &[], "hit");
    }
}

/// With a store that can't be used the bundle comes all the same.
#[track_caller]
fn check_unusable(break_it: impl FnOnce(&Path)) {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    break_it(&store);
    for _ in 0..2 {
        let said = check(&repo, &store, &[], "bypass").stderr;
        assert_eq!(said.lines().count(), 1, "{said}");
        let json = run(&repo, &store, &["render", "-jq"]).exits(0).stdout;
        assert!(json.contains("\"cache\": \"bypass\""), "{json}");
    }
}

#[test]
fn an_unusable_store_is_passed_by() {
    check_unusable(|store| fs::write(store, "a file").unwrap());
    check_unusable(|store| {
        fs::create_dir(store).unwrap();
        fs::write(store.join("bundles"), "a file").unwrap();
    });
    check_unusable(|store| {
        fs::create_dir(store).unwrap();
        fs::write(store.join("cache"), "a file").unwrap();
    });
    check_unusable(|store| {
        fs::create_dir(store).unwrap();
        symlink("index", store.join("index")).unwrap();
    });
    check_unusable(|store| symlink("store", store).unwrap());
}

#[test]
fn a_read_only_store_is_passed_by() {
    let repo = Repo::new(NOTES);
    let (store, at) = (repo.home().join("store"), repo.home().join("read-only"));
    fs::create_dir(&store).unwrap();
    let runs = [&["--bind", store.to_str().unwrap()][..], &["-o", "remount,ro,bind"]];
    let Some(_mount) = Mount::new(&at, &runs) else { return };
    check(&repo, &at, &[], "bypass");
    check(&repo, &at, &[], "bypass");
    assert_eq!(files(&store), Vec::<PathBuf>::new());
    // What another run has put there is found.
    check(&repo, &store, &[], "miss");
    check(&repo, &at, &[], "hit");
}

#[test]
fn a_full_store_is_passed_by() {
    for spare in [0, 4096, 8192, 12288] {
        let repo = Repo::new(NOTES);
        let at = repo.home().join("small");
        let Some(_mount) = Mount::new(&at, &[&["-t", "tmpfs", "-o", "size=512k", "tmpfs"]]) else { return };
        fill(&at, spare);
        let first = run(&repo, &at, &["render"]).exits(0);
        assert!(first.stderr.contains("cache=bypass") || spare > 0, "{}", first.stderr);
        assert_eq!(first.stdout, run(&repo, &at, &["render", "-N"]).exits(0).stdout);
        assert_tidy(&at);
        bundles(&at);
        fs::remove_file(at.join("ballast")).unwrap();
        run(&repo, &at, &["render"]).exits(0);
        check(&repo, &at, &[], "hit");
    }
}

#[test]
fn many_processes_at_once_make_one_bundle() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    let children: Vec<_> = (0..32)
        .map(|_| {
            let mut command = command(&repo, &store, &["render"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        })
        .collect();
    let outputs: Vec<_> = children.into_iter().map(|child| child.wait_with_output().unwrap()).collect();
    let fresh = run(&repo, &store, &["render", "-Nq"]).stdout;
    for output in &outputs {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.lines().count() == 1, "{said}");
        assert!(!said.contains("cache=bypass"), "{said}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), fresh);
    }
    assert_eq!(bundles(&store).len(), 1);
    assert_eq!(files(&store.join("cache")).len(), 1);
    assert_tidy(&store);
}

/// Delays that are the same in every run of the test: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

/// `CANTUS_KILLS=200` asks for more of them.
#[test]
fn a_killed_render_leaves_a_valid_store() {
    let kills: u64 = std::env::var("CANTUS_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(40);
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    let (mut random, mut killed) = (Random(0x9e37_79b9_7f4a_7c15), 0);
    let start = Instant::now();
    check(&repo, &store, &[], "miss");
    // Half of the time for one of the two renders, so that a kill falls into the writing too.
    let whole = u64::try_from(start.elapsed().as_micros()).unwrap() / 2;
    for kill in 0..kills {
        repo.write("memory/tests.md", &format!("---\ntype: core\n---\n# Tests\n\nRun {}.\n", kill / 2));
        let mut child =
            command(&repo, &store, &["render"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        thread::sleep(Duration::from_micros(random.below(whole * 3 / 2)));
        child.kill().unwrap();
        killed += u64::from(child.wait().unwrap().code().is_none());
        bundles(&store);
        if kill % 4 == 3 {
            let output = run(&repo, &store, &["render"]).exits(0);
            assert_eq!(output.stdout, run(&repo, &store, &["render", "-N"]).exits(0).stdout);
            assert!(!output.stderr.contains("corrupt"), "{}", output.stderr);
        }
    }
    assert!(killed > 0, "no run was killed");
    println!("{killed} of {kills} were killed");
    check(&repo, &store, &[], "hit");
}

#[test]
fn a_launch_layer_stands_on_what_is_kept_and_is_not_kept_itself() {
    let repo = Repo::new(NOTES);
    let store = repo.home().join("store");
    check(&repo, &store, &[], "miss");
    let before = files(&store);
    for (name, text) in [("a", "One."), ("b", "Two.")] {
        repo.write(
            "launch.json",
            &format!("{{\"version\": 1, \"sections\": [{{\"id\": \"{name}\", \"text\": \"{text}\"}}]}}"),
        );
        let output = check(&repo, &store, &["--launch", "launch.json"], "hit");
        assert!(output.stdout.ends_with(&format!("{text}\n\n")), "{}", output.stdout);
        let json = run(&repo, &store, &["render", "-jq", "--launch", "launch.json"]).exits(0).stdout;
        assert!(json.contains("\"store_path\": \"\""), "{json}");
        check(&repo, &store, &["-s", "--launch", "launch.json"], "hit");
    }
    assert_eq!(files(&store), before);
}
