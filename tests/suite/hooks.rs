//! `cantus hook` with real git: the hook judges commits, and no earlier hook is lost.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use cantus_testkit::{Output, Repo};

use crate::program::{NOTES, cantus, git_in, projected, replace, run, with_cantus};

const HOOK: &str = ".git/hooks/pre-commit";
const BEFORE: &str = ".git/hooks/pre-commit.before-cantus";

/// A projected repository, all committed.
fn committed() -> Repo {
    let repo = projected();
    repo.commit_all("base");
    repo
}

#[track_caller]
fn commit(repo: &Repo) -> Output {
    git_in(repo, repo.path(), &["commit", "--quiet", "-m", "more"])
}

/// What is said of one hook, of both.
fn both(said: &str) -> String {
    format!("{said}{}", said.replace("pre-commit", "pre-merge-commit"))
}

/// The way from one folder to another.
fn shown_way(from: &Path, to: &Path) -> String {
    let (from, to) = (from.canonicalize().unwrap(), to.canonicalize().unwrap());
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    let up = from.components().skip(common).map(|_| "..".into());
    let down = to.components().skip(common).map(|part| part.as_os_str().to_string_lossy());
    up.chain(down).collect::<Vec<std::borrow::Cow<'_, str>>>().join("/")
}

/// Changes a note and stages that alone.
fn stage_a_note(repo: &Repo) {
    replace(repo, "memory/rules.md", "Be kind.", "Be nice.");
    repo.git(&["add", "memory"]);
}

/// Writes a program.
fn script(path: &Path, text: &str, mode: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: PathBuf) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// A stale commit is stopped and a fresh one made.
#[track_caller]
fn check_judges(repo: &Repo, folder: &Path) {
    let note = folder.join("memory/rules.md");
    fs::write(&note, fs::read_to_string(&note).unwrap().replace("Be brief.", "Be very brief.")).unwrap();
    git_in(repo, folder, &["add", "memory"]).exits(0);
    let stopped = git_in(repo, folder, &["commit", "--quiet", "-m", "stale"]).exits(1);
    assert!(format!("{}{}", stopped.stdout, stopped.stderr).contains("[drift.stale]"), "{stopped:#?}");
    run(repo, folder, &with_cantus(), "cantus", &["project"]).exits(0);
    // What lies in the working tree alone doesn't count.
    git_in(repo, folder, &["commit", "--quiet", "-m", "stale"]).exits(1);
    git_in(repo, folder, &["add", "."]).exits(0);
    git_in(repo, folder, &["commit", "--quiet", "-m", "fresh"]).exits(0);
}

#[test]
fn a_stale_commit_is_stopped_and_a_fresh_one_made() {
    let repo = committed();
    let report = cantus(&repo, &["hook", "install"]).exits(0).stdout;
    assert_eq!(report, both("   Installed .git/hooks/pre-commit\n"));
    assert_eq!(mode(repo.path().join(HOOK)) & 0o700, 0o700);
    check_judges(&repo, repo.path());
}

#[test]
fn a_commit_that_passes_is_made_without_a_word() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    replace(&repo, "memory/rules.md", "Be kind.", "See @docs/x.md.");
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "."]);
    let judged = cantus(&repo, &["check", "--staged"]).exits(0);
    assert!(judged.stdout.contains("0 errors, 1 warning"), "{}", judged.stdout);
    let output = commit(&repo).exits(0);
    assert_eq!((output.stdout, output.stderr), (String::new(), String::new()));
}

#[test]
fn nothing_is_staged_or_written() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    stage_a_note(&repo);
    repo.write("AGENTS.md", "mine\n");
    let before = repo.git(&["status", "--porcelain"]);
    commit(&repo).exits(1);
    assert_eq!(repo.git(&["status", "--porcelain"]), before);
    assert_eq!(repo.read("AGENTS.md"), "mine\n");
}

#[test]
fn a_commit_of_some_paths_is_judged_by_what_it_will_hold() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    cantus(&repo, &["project"]).exits(0);
    git_in(&repo, repo.path(), &["commit", "--quiet", "-m", "part", "memory/rules.md"]).exits(1);
    git_in(&repo, repo.path(), &["commit", "--quiet", "-a", "-m", "all"]).exits(0);
}

#[test]
fn installing_twice_changes_nothing() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    let bytes = repo.read_bytes(HOOK);
    let report = cantus(&repo, &["hook", "install"]).exits(0).stdout;
    assert_eq!(report, both("       Fresh .git/hooks/pre-commit\n       note: already installed\n"));
    assert_eq!(repo.read_bytes(HOOK), bytes);
    assert!(!repo.exists(BEFORE));
}

#[test]
fn another_command_changes_the_hook() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    repo.write("cantus.toml", "command = \"cargo xtask project\"\n");
    let report = cantus(&repo, &["hook", "install"]).exits(0).stdout;
    assert_eq!(report, both("     Updated .git/hooks/pre-commit\n"));
    assert!(repo.read(HOOK).contains("\nexec cargo xtask check --staged --quiet\n"), "{}", repo.read(HOOK));
}

#[test]
fn an_earlier_hook_runs_first_and_its_status_decides() {
    let repo = committed();
    script(&repo.path().join(HOOK), "#!/bin/sh\necho earlier >> ran\n[ ! -e bad ] || exit 7\n", 0o750);
    let earlier = repo.read_bytes(HOOK);
    cantus(&repo, &["hook", "install"]).exits(0);
    let bytes = repo.read_bytes(HOOK);
    cantus(&repo, &["hook", "install"]).exits(0);
    assert_eq!(repo.read_bytes(HOOK), bytes);
    assert_eq!(repo.read_bytes(BEFORE), earlier);
    check_judges(&repo, repo.path());
    assert_eq!(repo.read("ran"), "earlier\n".repeat(3));
    repo.write("bad", "");
    assert_eq!(run(&repo, repo.path(), &with_cantus(), HOOK, &[]).status, 7);
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    assert_eq!(repo.read_bytes(HOOK), earlier);
    assert_eq!(mode(repo.path().join(HOOK)), 0o750);
    assert!(!repo.exists(BEFORE));
}

#[test]
fn an_earlier_hook_that_is_a_symlink_or_not_executable_is_kept_as_it_is() {
    let repo = committed();
    script(&repo.path().join("hooks/mine"), "#!/bin/sh\ntouch ran\n", 0o755);
    symlink("../../hooks/mine", repo.path().join(HOOK)).unwrap();
    cantus(&repo, &["hook", "install"]).exits(0);
    run(&repo, repo.path(), &with_cantus(), HOOK, &[]).exits(0);
    assert!(repo.exists("ran"));
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    assert_eq!(fs::read_link(repo.path().join(HOOK)).unwrap(), Path::new("../../hooks/mine"));

    let repo = committed();
    script(&repo.path().join(HOOK), "#!/bin/sh\nexit 9\n", 0o644);
    cantus(&repo, &["hook", "install"]).exits(0);
    run(&repo, repo.path(), &with_cantus(), HOOK, &[]).exits(0);
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    assert_eq!(mode(repo.path().join(HOOK)), 0o644);
}

#[test]
fn a_taken_name_is_never_overwritten() {
    let repo = committed();
    script(&repo.path().join(HOOK), "one\n", 0o755);
    script(&repo.path().join(BEFORE), "two\n", 0o755);
    let error = cantus(&repo, &["hook", "install"]).exits(2).stderr;
    assert!(error.contains("`.git/hooks/pre-commit.before-cantus` is taken"), "{error}");
    assert_eq!([repo.read(HOOK), repo.read(BEFORE)], ["one\n", "two\n"]);
}

#[test]
fn a_folder_with_the_earlier_hook_s_name_is_no_hook() {
    let repo = committed();
    fs::create_dir(repo.path().join(BEFORE)).unwrap();
    for verb in ["install", "uninstall"] {
        let error = cantus(&repo, &["hook", verb]).exits(2).stderr;
        assert!(error.contains("`.git/hooks/pre-commit.before-cantus` is a folder"), "{error}");
        assert!(error.contains("move `.git/hooks/pre-commit.before-cantus` away"), "{error}");
    }
    assert!(!repo.exists(HOOK));
}

#[test]
fn a_hook_that_lost_its_mode_can_be_run_again() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    fs::set_permissions(repo.path().join(HOOK), fs::Permissions::from_mode(0o644)).unwrap();
    let report = cantus(&repo, &["hook", "install"]).exits(0).stdout;
    let fresh = "       Fresh .git/hooks/pre-merge-commit\n       note: already installed\n";
    assert_eq!(report, format!("     Updated .git/hooks/pre-commit\n{fresh}"));
    assert_eq!(mode(repo.path().join(HOOK)), 0o755);
    check_judges(&repo, repo.path());
}

#[test]
fn an_install_that_was_cut_short_is_completed_or_undone() {
    for (verb, wanted) in [("install", 0o755), ("uninstall", 0o750)] {
        let repo = committed();
        script(&repo.path().join(BEFORE), "#!/bin/sh\ntouch ran\n", 0o750);
        cantus(&repo, &["hook", verb]).exits(0);
        run(&repo, repo.path(), &with_cantus(), HOOK, &[]).exits(0);
        assert!(repo.exists("ran"));
        assert_eq!(mode(repo.path().join(HOOK)) & 0o750, wanted & 0o750);
        assert_eq!(repo.exists(BEFORE), verb == "install");
    }
}

#[test]
fn an_edited_hook_is_chained_and_never_removed() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    let edited = repo.read(HOOK).replace("exec ", "touch ran\nexec ");
    repo.write(HOOK, &edited);
    let error = cantus(&repo, &["hook", "uninstall"]).exits(1).stderr;
    let help = "move your own lines elsewhere, then remove `.git/hooks/pre-commit`";
    assert!(error.contains("edited by hand") && error.contains(help), "{error}");
    assert_eq!(repo.read(HOOK), edited);
    cantus(&repo, &["hook", "install"]).exits(0);
    assert_eq!(repo.read(BEFORE), edited);
    run(&repo, repo.path(), &with_cantus(), HOOK, &[]).exits(0);
    assert!(repo.exists("ran"));
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    assert_eq!(repo.read(HOOK), edited);
}

#[test]
fn what_is_not_there_or_not_ours_is_not_removed() {
    let repo = committed();
    let absent = both("      Absent .git/hooks/pre-commit\n       note: no hook of Cantus stands there\n");
    assert_eq!(cantus(&repo, &["hook", "uninstall"]).exits(0).stdout, absent);
    script(&repo.path().join(HOOK), "#!/bin/sh\n", 0o755);
    assert_eq!(cantus(&repo, &["hook", "uninstall"]).exits(0).stdout, absent);
    assert_eq!(repo.read(HOOK), "#!/bin/sh\n");
    repo.remove(HOOK);
    cantus(&repo, &["hook", "install"]).exits(0);
    let report = cantus(&repo, &["hook", "uninstall"]).exits(0).stdout;
    assert_eq!(report, both("     Removed .git/hooks/pre-commit\n"));
    assert!(!repo.exists(HOOK));
}

#[test]
fn a_relative_folder_of_hooks_starts_at_the_top() {
    let repo = committed();
    repo.git(&["config", "core.hooksPath", ".githooks"]);
    let folder = repo.path().join("memory");
    let report = run(&repo, &folder, &with_cantus(), "cantus", &["hook", "install"]).exits(0).stdout;
    assert_eq!(report, both("   Installed ../.githooks/pre-commit\n"));
    assert!(!repo.exists(HOOK));
    check_judges(&repo, repo.path());
}

#[test]
fn the_top_itself_is_no_folder_of_hooks() {
    let repo = committed();
    for top in ["", "."] {
        repo.git(&["config", "core.hooksPath", top]);
        let error = cantus(&repo, &["hook", "install"]).exits(2).stderr;
        assert!(error.contains("finds no hooks") && error.contains("core.hooksPath .githooks"), "{error}");
        assert!(!repo.exists("pre-commit"));
    }
}

#[test]
fn a_folder_s_name_may_end_in_a_line_feed() {
    let repo = committed();
    let tree = repo.home().join("tree\n");
    repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    run(&repo, &tree, &with_cantus(), "cantus", &["hook", "install"]).exits(0);
    check_judges(&repo, &tree);
}

/// Only Linux has such names.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_s_name_need_not_be_text() {
    use std::os::unix::ffi::OsStrExt as _;

    let repo = committed();
    let tree = repo.home().join(std::ffi::OsStr::from_bytes(b"tree\xff"));
    fs::rename(repo.path(), &tree).unwrap();
    run(&repo, &tree, &with_cantus(), "cantus", &["hook", "install"]).exits(0);
    check_judges(&repo, &tree);
    run(&repo, &tree, &with_cantus(), "cantus", &["merge-driver", "install"]).exits(0);
    fs::rename(&tree, repo.path()).unwrap();
}

#[test]
fn an_absolute_folder_of_hooks_may_lie_inside_alone() {
    let repo = committed();
    let inside = repo.path().join("tools/hooks");
    repo.git(&["config", "core.hooksPath", inside.to_str().unwrap()]);
    cantus(&repo, &["hook", "install"]).exits(0);
    assert!(repo.exists("tools/hooks/pre-commit"));

    let outside = repo.home().join("hooks");
    for scope in ["--local", "--global"] {
        repo.git(&["config", "--local", "--unset-all", "core.hooksPath"]);
        repo.git(&["config", scope, "core.hooksPath", outside.to_str().unwrap()]);
        for verb in ["install", "uninstall"] {
            let error = cantus(&repo, &["hook", verb]).exits(2).stderr;
            assert!(error.contains("outside of it") && error.contains("core.hooksPath"), "{error}");
            assert!(!error.contains(outside.to_str().unwrap()), "{error}");
        }
        assert!(!outside.exists());
        repo.git(&["config", "--local", "core.hooksPath", "x"]);
    }
}

#[test]
fn a_folder_of_hooks_behind_a_symlink_that_leads_out_is_refused() {
    let repo = committed();
    fs::create_dir(repo.home().join("hooks")).unwrap();
    fs::remove_dir_all(repo.path().join(".git/hooks")).unwrap();
    symlink(repo.home().join("hooks"), repo.path().join(".git/hooks")).unwrap();
    cantus(&repo, &["hook", "install"]).exits(2);
    assert!(!repo.home().join("hooks/pre-commit").exists());
}

#[test]
fn a_folder_that_cannot_hold_hooks_is_told() {
    let repo = committed();
    fs::remove_dir_all(repo.path().join(".git/hooks")).unwrap();
    repo.write(".git/hooks", "a file\n");
    let error = cantus(&repo, &["hook", "install"]).exits(2).stderr;
    assert!(error.contains("`.git/hooks/pre-commit`"), "{error}");
    assert_eq!(repo.read(".git/hooks"), "a file\n");
    repo.remove(".git/hooks");
    cantus(&repo, &["hook", "install"]).exits(0);
    repo.remove(HOOK);
    fs::create_dir(repo.path().join(HOOK)).unwrap();
    assert!(cantus(&repo, &["hook", "install"]).exits(2).stderr.contains("a folder"));
}

#[test]
fn work_trees_share_the_hook_and_are_judged_by_their_own_index() {
    let repo = committed();
    let tree = repo.home().join("tree");
    repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    let report = run(&repo, &tree, &with_cantus(), "cantus", &["hook", "install"]).exits(0).stdout;
    let way = shown_way(&tree, repo.path());
    assert_eq!(report, both(&format!("   Installed {way}/.git/hooks/pre-commit\n")));
    assert!(repo.exists(HOOK));
    check_judges(&repo, &tree);
    check_judges(&repo, repo.path());
}

#[test]
fn a_submodule_has_a_hook_of_its_own() {
    let repo = committed();
    let whole = Repo::new("");
    let from = repo.path().to_str().unwrap();
    whole.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", from, "sub"]);
    for (key, value) in [("user.name", "Tester"), ("user.email", "tester@example.invalid")] {
        whole.git(&["-C", "sub", "config", key, value]);
    }
    let sub = whole.path().join("sub");
    let report = run(&whole, &sub, &with_cantus(), "cantus", &["hook", "install"]).exits(0).stdout;
    assert_eq!(report, both("   Installed ../.git/modules/sub/hooks/pre-commit\n"));
    assert!(whole.exists(".git/modules/sub/hooks/pre-commit") && !whole.exists(HOOK));
    check_judges(&whole, &sub);
}

#[test]
fn a_project_in_a_folder_is_named_by_the_hook() {
    let repo = Repo::new("");
    let folder = repo.path().join("it's a [part]");
    let part = Repo::without_git(NOTES);
    fs::create_dir(&folder).unwrap();
    fs::rename(part.path().join("memory"), folder.join("memory")).unwrap();
    run(&repo, &folder, &with_cantus(), "cantus", &["project"]).exits(0);
    repo.commit_all("base");
    run(&repo, &folder, &with_cantus(), "cantus", &["hook", "install"]).exits(0);
    assert!(repo.read(HOOK).contains(r"--root './it'\''s a [part]'"), "{}", repo.read(HOOK));
    check_judges(&repo, &folder);
    let tree = repo.home().join("tree");
    repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap(), "HEAD~1"]);
    check_judges(&repo, &tree.join("it's a [part]"));
}

#[test]
fn a_project_s_folder_is_no_option() {
    let repo = Repo::new("//- -d/memory/rules.md\n---\ntype: core\n---\n# A\n\nBe brief.\n");
    let folder = repo.path().join("-d");
    run(&repo, &folder, &with_cantus(), "cantus", &["project"]).exits(0);
    repo.commit_all("base");
    run(&repo, &folder, &with_cantus(), "cantus", &["hook", "install"]).exits(0);
    check_judges(&repo, &folder);
}

/// A project in the folder `part` whose command is cargo's.
const PART: &str = "
    //- part/cantus.toml
    command = \"cargo xtask project\"
    //- part/memory/rules.md
    ---
    type: core
    ---
    # A

    Be brief.
    ";

/// A PATH with a cargo that knows one alias.
fn with_alias(repo: &Repo) -> OsString {
    script(
        &repo.home().join("bin/cargo"),
        "#!/bin/sh\n[ \"$1\" = xtask ] && shift && exec cantus \"$@\"\n",
        0o755,
    );
    let mut path = repo.home().join("bin").into_os_string();
    path.push(":");
    path.push(with_cantus());
    path
}

#[test]
fn the_search_path_of_cd_leads_cargo_nowhere_else() {
    let repo = Repo::new(PART);
    let part = repo.path().join("part");
    run(&repo, &part, &with_cantus(), "cantus", &["project"]).exits(0);
    repo.commit_all("base");
    run(&repo, &part, &with_cantus(), "cantus", &["hook", "install"]).exits(0);
    fs::create_dir_all(repo.home().join("elsewhere/part")).unwrap();
    replace(&repo, "part/memory/rules.md", "Be brief.", "Be kind.");
    let mut commit = repo.command("git");
    commit.args(["commit", "-qam", "stale"]).env("PATH", with_alias(&repo));
    commit.env("CDPATH", repo.home().join("elsewhere"));
    let output = commit.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr) + String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("[drift.stale]"), "{said}");
}

#[test]
fn cargo_is_started_in_the_project_with_the_index_of_the_commit() {
    let repo = Repo::new(PART);
    let part = repo.path().join("part");
    run(&repo, &part, &with_cantus(), "cantus", &["project"]).exits(0);
    repo.commit_all("base");
    run(&repo, &part, &with_cantus(), "cantus", &["hook", "install"]).exits(0);
    let path = with_alias(&repo);
    let tree = repo.home().join("tree");
    repo.git(&["worktree", "add", "--quiet", "-b", "side", tree.to_str().unwrap()]);
    for top in [repo.path(), tree.as_path()] {
        let part = top.join("part");
        let commit =
            |args: &[&str]| run(&repo, &part, &path, "git", &[&["commit", "-qm", "x"], args].concat());
        fs::write(part.join("memory/rules.md"), "---\ntype: core\n---\n# A\n\nBe kind.\n").unwrap();
        commit(&["-a"]).exits(1);
        run(&repo, &part, &with_cantus(), "cantus", &["project"]).exits(0);
        commit(&["memory"]).exits(1);
        commit(&["-a"]).exits(0);
    }
}

#[test]
fn a_missing_program_stops_the_commit_with_one_line() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    stage_a_note(&repo);
    let output = repo.try_git(&["commit", "--quiet", "-m", "x"]).exits(1);
    assert_eq!(
        output.stderr,
        "pre-commit: `cantus` is not on the PATH, so `cantus check --staged` could not judge this commit\n"
    );
}

#[test]
fn a_branch_without_notes_is_not_judged() {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    repo.git(&["checkout", "--quiet", "--orphan", "pages"]);
    repo.git(&["rm", "-rfq", "."]);
    repo.write("index.html", "x\n");
    repo.git(&["add", "."]);
    commit(&repo).exits(0);
}

#[test]
fn outside_git_there_is_no_hook() {
    let repo = Repo::without_git(NOTES);
    for verb in ["install", "uninstall"] {
        let error = cantus(&repo, &["hook", verb]).exits(2).stderr;
        assert!(error.contains("not in a git work tree"), "{error}");
    }
}

/// Two branches whose merge git makes by itself, and whose files are stale after it: `main` is checked out.
fn diverged() -> Repo {
    let repo = committed();
    cantus(&repo, &["hook", "install"]).exits(0);
    repo.git(&["branch", "other"]);
    replace(&repo, "memory/rules.md", "Be kind.", "Be nice.");
    cantus(&repo, &["project"]).exits(0);
    git_in(&repo, repo.path(), &["commit", "--quiet", "-am", "ours"]).exits(0);
    repo.git(&["checkout", "--quiet", "other"]);
    replace(&repo, "memory/tests.md", "Run them.", "Run all.");
    // What this branch commits is stale.
    git_in(&repo, repo.path(), &["commit", "--quiet", "--no-verify", "-am", "theirs"]).exits(0);
    repo.git(&["checkout", "--quiet", "-"]);
    repo
}

#[test]
fn a_merge_that_git_commits_by_itself_is_judged() {
    let repo = diverged();
    let merge = |repo: &Repo| git_in(repo, repo.path(), &["merge", "--no-edit", "other"]);
    let head = repo.git(&["rev-parse", "HEAD"]);
    let stopped = merge(&repo).exits(1);
    assert!(format!("{}{}", stopped.stdout, stopped.stderr).contains("[drift.stale]"), "{stopped:#?}");
    assert_eq!(repo.git(&["rev-parse", "HEAD"]), head);
    repo.git(&["merge", "--abort"]);
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    merge(&repo).exits(0);
}

#[test]
fn an_earlier_hook_for_merges_is_kept_and_runs_first() {
    let repo = diverged();
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    let hook = ".git/hooks/pre-merge-commit";
    script(&repo.path().join(hook), "#!/bin/sh\necho merge >> ran\n", 0o750);
    let earlier = repo.read_bytes(hook);
    let report = cantus(&repo, &["hook", "install"]).exits(0).stdout;
    assert!(
        report.contains("the earlier hook is now `.git/hooks/pre-merge-commit.before-cantus`"),
        "{report}"
    );
    git_in(&repo, repo.path(), &["merge", "--no-edit", "other"]).exits(1);
    assert_eq!(repo.read("ran"), "merge\n");
    cantus(&repo, &["hook", "uninstall"]).exits(0);
    assert_eq!((repo.read_bytes(hook), mode(repo.path().join(hook))), (earlier, 0o750));
    assert!(!repo.exists(HOOK));
}

#[test]
fn of_two_hooks_none_is_written_where_one_cannot_be() {
    let repo = committed();
    for name in ["pre-merge-commit", "pre-merge-commit.before-cantus"] {
        script(&repo.path().join(".git/hooks").join(name), "one\n", 0o755);
    }
    let error = cantus(&repo, &["hook", "install"]).exits(2).stderr;
    assert!(error.contains("`.git/hooks/pre-merge-commit.before-cantus` is taken"), "{error}");
    assert!(!repo.exists(HOOK));
    repo.remove(".git/hooks/pre-merge-commit.before-cantus");
    repo.remove(".git/hooks/pre-merge-commit");
    cantus(&repo, &["hook", "install"]).exits(0);
    replace(&repo, ".git/hooks/pre-merge-commit", "exec ", "true\nexec ");
    cantus(&repo, &["hook", "uninstall"]).exits(1);
    assert!(repo.exists(HOOK));
}

#[test]
fn notes_in_a_folder_that_cargo_toml_names_are_judged_without_a_lock() {
    let repo = Repo::new(
        "//- Cargo.toml\n[workspace]\n[workspace.metadata.cantus]\nmemory = \"docs/notes'n\"\n//- docs/notes'n/rules.md\n---\ntype: core\n---\n# Rules\n\nBe kind.\n",
    );
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("base");
    cantus(&repo, &["hook", "install"]).exits(0);
    repo.git(&["rm", "--quiet", "-r", "projections"]);
    let stopped = git_in(&repo, repo.path(), &["commit", "--quiet", "-m", "x"]).exits(1);
    assert!(format!("{}{}", stopped.stdout, stopped.stderr).contains("[drift.missing]"), "{stopped:#?}");
    repo.git(&["rm", "--quiet", "-r", "docs", "AGENTS.md", "CLAUDE.md"]);
    commit(&repo).exits(0);
}
