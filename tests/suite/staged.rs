//! `check --staged`: what counts is what the next commit would hold.

use std::path::Path;
use std::process::Command;

use cantus_testkit::{Output, Repo};

use crate::program::{CANTUS, NOTES, TARGETS, cantus, projected, replace};

const NOTE: &str = "---\ntype: core\n---\n# New\n\nText.\n";

/// Judges the index of `repo`, which must give this code and, in this order, these codes of findings.
#[track_caller]
fn check(repo: &Repo, exit: i32, codes: &[&str]) {
    judged(&cantus(repo, &["check", "--staged", "--json"]), exit, codes);
}

#[track_caller]
fn judged(output: &Output, exit: i32, codes: &[&str]) {
    let output = output.clone().exits(exit);
    let answer: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let findings = answer["findings"].as_array().expect("findings");
    let found = findings.iter().map(|finding| finding["code"].as_str().unwrap_or_default());
    // Who reads the files doesn't depend on the index.
    let found: Vec<_> = found.filter(|code| !code.starts_with("reader.")).collect();
    assert_eq!(found, codes, "{answer:#}");
}

/// [`projected`] with everything staged.
fn staged() -> Repo {
    let repo = projected();
    repo.git(&["add", "--all"]);
    repo
}

/// Runs a command of `repo` that speaks of another folder or has variables of its own.
#[track_caller]
fn finish(command: &mut Command) -> Output {
    let output = command.output().expect("a program that starts");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Judges the index from another folder, with these variables.
#[track_caller]
fn check_in(repo: &Repo, folder: &Path, variables: &[(&str, &str)]) -> Output {
    let mut command = repo.command(CANTUS);
    finish(command.args(["check", "--staged", "--json"]).current_dir(folder).envs(variables.iter().copied()))
}

#[test]
fn a_repository_without_commits() {
    let repo = projected();
    check(&repo, 2, &["project.none"]);
    repo.git(&["add", "memory"]);
    check(&repo, 1, &["drift.missing", "drift.missing", "drift.missing"]);
    repo.git(&["add", "AGENTS.md", "CLAUDE.md"]);
    check(&repo, 1, &["drift.missing"]);
    repo.git(&["add", "projections"]);
    check(&repo, 0, &[]);
}

#[test]
fn what_is_not_staged_does_not_count() {
    let repo = staged();
    replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
    repo.write("memory/new.md", NOTE);
    repo.remove("CLAUDE.md");
    cantus(&repo, &["check"]).exits(1);
    check(&repo, 0, &[]);
    // The new note is only announced.
    repo.git(&["add", "--intent-to-add", "memory/new.md"]);
    check(&repo, 0, &[]);
}

#[test]
fn a_staged_note_without_its_files_is_drift() {
    let repo = staged();
    replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    repo.git(&["add", "memory"]);
    check(&repo, 1, &["drift.stale", "drift.stale", "drift.stale"]);
    let said = cantus(&repo, &["check", "--staged"]).exits(1).stdout;
    assert!(said.contains("help: run `cantus project`; then `git add CLAUDE.md`\n"), "{said}");
    repo.git(&["add", "--all"]);
    check(&repo, 0, &[]);
}

#[test]
fn a_note_staged_in_part() {
    let repo = staged();
    replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "--all"]);
    // As `git add -p` does: the index has one change, the working tree two.
    replace(&repo, "memory/rules.md", "Be brief.", "Be long.");
    cantus(&repo, &["check"]).exits(1);
    check(&repo, 0, &[]);
    let blob = repo.git(&["hash-object", "-w", "memory/rules.md"]);
    repo.git(&["update-index", "--cacheinfo", &format!("100644,{},memory/rules.md", blob.trim())]);
    check(&repo, 1, &["drift.stale", "drift.stale", "drift.stale"]);
}

#[test]
fn a_staged_edit_by_hand_is_named_with_its_line() {
    let repo = staged();
    replace(&repo, "AGENTS.md", "Be kind.", "Be cruel.");
    repo.git(&["add", "AGENTS.md"]);
    repo.git(&["show", ":CLAUDE.md"]);
    cantus(&repo, &["project", "--force"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    check(&repo, 1, &["drift.edited", "parity.copy"]);
    let output = cantus(&repo, &["check", "--staged"]).exits(1);
    assert!(output.stdout.contains("AGENTS.md:59: error: this was edited by hand"), "{}", output.stdout);
}

#[test]
fn a_note_that_is_deleted_or_renamed_in_the_index() {
    let repo = staged();
    repo.commit_all("one");
    repo.git(&["rm", "--cached", "--quiet", "memory/rules.md"]);
    assert!(repo.exists("memory/rules.md"));
    check(&repo, 1, &["drift.stale", "drift.stale", "drift.stale"]);
    repo.git(&["reset", "--quiet"]);
    repo.git(&["mv", "memory/rules.md", "memory/laws.md"]);
    check(&repo, 1, &["drift.stale", "drift.stale", "drift.stale"]);
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "--update"]);
    check(&repo, 0, &[]);
}

#[test]
fn configuration_and_package_come_from_the_index() {
    let repo = staged();
    repo.write("cantus.toml", "package = \"house\"\nname = \"acme\"\n");
    repo.write("house/package.toml", "name = \"house\"\nversion = \"1\"\n");
    repo.write("house/contract.md", "# House\n\n## Rules\nBe brief.\n");
    check(&repo, 0, &[]);
    repo.git(&["add", "cantus.toml"]);
    check(&repo, 2, &["package"]);
    repo.git(&["add", "house"]);
    check(&repo, 1, &["drift.stale", "drift.stale", "drift.stale"]);
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "--all"]);
    check(&repo, 0, &[]);
    repo.write("house/contract.md", "# House\n\n## Rules\nBe long.\n");
    check(&repo, 0, &[]);
}

#[test]
fn unmerged_paths_are_an_error() {
    let repo = staged();
    repo.commit_all("one");
    repo.git(&["switch", "--quiet", "--create", "other"]);
    replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
    repo.commit_all("two");
    repo.git(&["switch", "--quiet", "main"]);
    replace(&repo, "memory/rules.md", "Be kind.", "Be cruel.");
    repo.commit_all("three");
    repo.try_git(&["merge", "other"]).exits(1);
    check(&repo, 2, &["staged.unmerged"]);
    let output = cantus(&repo, &["check", "--staged"]).exits(2);
    assert!(output.stdout.starts_with("memory/rules.md: error: the path is unmerged"), "{}", output.stdout);
}

#[test]
fn an_empty_file_that_is_staged_is_there() {
    let repo = staged();
    repo.write("memory/empty.md", "");
    repo.git(&["add", "memory/empty.md"]);
    check(&repo, 2, &["note.front_matter"]);
}

#[test]
fn the_index_that_the_environment_names() {
    let repo = staged();
    repo.commit_all("one");
    replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
    let other = repo.path().join(".git/other-index");
    let other = other.to_str().expect("UTF-8");
    let mut git = repo.command("git");
    finish(git.args(["add", "--all"]).env("GIT_INDEX_FILE", other)).exits(0);
    check(&repo, 0, &[]);
    let output = check_in(&repo, repo.path(), &[("GIT_INDEX_FILE", other)]);
    judged(&output, 1, &["drift.stale", "drift.stale", "drift.stale"]);
    // Relative names are those of the top folder, wherever the command runs.
    let relative = [("GIT_INDEX_FILE", ".git/other-index")];
    judged(&check_in(&repo, &repo.path().join("memory"), &relative), 1, &["drift.stale"; 3]);
}

#[test]
fn no_program_of_the_configuration_is_started() {
    let repo = staged();
    repo.write("empty.txt", "");
    repo.git(&["add", "--all"]);
    repo.git(&["config", "core.fsmonitor", "touch started; false"]);
    check(&repo, 0, &[]);
    assert!(!repo.exists("started"));
}

#[test]
fn the_environment_of_another_repository_is_not_ours() {
    let (repo, other) = (staged(), Repo::new(""));
    let git_dir = other.path().join(".git");
    let variables = [("GIT_DIR", git_dir.to_str().expect("UTF-8")), ("GIT_INDEX_FILE", "nowhere")];
    judged(&check_in(&repo, repo.path(), &variables), 0, &[]);
}

#[test]
fn a_folder_of_git_elsewhere() {
    let repo = staged();
    let folder = repo.home().join("store.git");
    std::fs::rename(repo.path().join(".git"), &folder).expect("to move it");
    let (folder, top) = (folder.to_str().expect("UTF-8"), repo.path().to_str().expect("UTF-8"));
    let variables = [("GIT_DIR", folder), ("GIT_WORK_TREE", top)];
    judged(&check_in(&repo, &repo.path().join("memory"), &variables), 0, &[]);
    repo.write("memory/new.md", NOTE);
    let mut git = repo.command("git");
    finish(git.args(["add", "--all"]).envs(variables)).exits(0);
    judged(&check_in(&repo, repo.path(), &variables), 1, &["drift.stale"; 3]);
}

#[test]
fn a_worktree_has_its_own_index() {
    let repo = staged();
    repo.commit_all("one");
    repo.git(&["worktree", "add", "--quiet", "../tree"]);
    let tree = repo.path().join("../tree").canonicalize().expect("a folder");
    std::fs::write(tree.join("memory/new.md"), NOTE).expect("to write it");
    repo.git(&["-C", "../tree", "add", "--all"]);
    check(&repo, 0, &[]);
    judged(&check_in(&repo, &tree, &[]), 1, &["drift.stale"; 3]);
    judged(&check_in(&repo, &tree.join("memory"), &[]), 1, &["drift.stale"; 3]);
}

#[test]
fn a_submodule_has_its_own_index_and_is_none_of_its_parent() {
    let repo = staged();
    let inner = staged();
    inner.commit_all("one");
    let url = inner.path().to_str().expect("UTF-8");
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "memory/sub"]);
    // Seen as a folder of notes it would be one without a web.
    cantus(&repo, &["check"]).exits(2);
    check(&repo, 0, &[]);
    let sub = repo.path().join("sub");
    std::fs::write(sub.join("memory/new.md"), NOTE).expect("to write it");
    judged(&check_in(&repo, &sub, &[]), 0, &[]);
    repo.git(&["-C", "sub", "add", "--all"]);
    judged(&check_in(&repo, &sub, &[]), 1, &["drift.stale"; 3]);
    check(&repo, 0, &[]);
}

#[test]
fn a_project_in_a_folder_of_the_repository() {
    let repo = Repo::new("");
    for (path, text) in [("a.md", NOTE), ("b.md", NOTE)] {
        repo.write(&format!("tools/bot/memory/{path}"), text);
    }
    cantus(&repo, &["project", "--root", "tools/bot"]).exits(0);
    repo.git(&["add", "--all"]);
    repo.write("tools/bot/memory/c.md", NOTE);
    let check = |args: &[&str]| cantus(&repo, &[&["check", "--staged", "--json"], args].concat());
    judged(&check(&["--root", "tools/bot"]), 0, &[]);
    judged(&check(&["--root", "tools/../tools/bot/"]), 0, &[]);
    judged(&check_in(&repo, &repo.path().join("tools/bot/memory"), &[]), 0, &[]);
    judged(&check(&["--root", "tools/none"]), 2, &["project.none"]);
    repo.git(&["add", "--all"]);
    judged(&check(&["--root", "tools/bot"]), 1, &["drift.stale"; 3]);
}

#[test]
fn a_sparse_checkout() {
    let repo = staged();
    repo.write("src/lib.rs", "");
    repo.commit_all("one");
    repo.git(&["sparse-checkout", "set", "--no-cone", "/src/"]);
    assert_eq!(repo.files(), ["src/lib.rs"]);
    check(&repo, 0, &[]);
    judged(&check_in(&repo, &repo.path().join("src"), &[]), 0, &[]);
    repo.git(&["sparse-checkout", "set", "--cone", "--sparse-index", "src"]);
    check(&repo, 0, &[]);
    repo.git(&["rm", "--cached", "--sparse", "--quiet", "memory/rules.md"]);
    check(&repo, 1, &["drift.stale"; 3]);
}

#[test]
fn line_ends_are_those_of_the_commit() {
    let repo = projected();
    repo.git(&["config", "core.autocrlf", "true"]);
    repo.git(&["add", "--all"]);
    repo.git(&["commit", "--quiet", "--message", "one"]);
    for file in TARGETS {
        repo.remove(file);
    }
    repo.git(&["checkout", "--quiet", "."]);
    assert!(repo.read("AGENTS.md").contains("\r\n"));
    judged(&cantus(&repo, &["check", "--json"]), 0, &["drift.line_ends"; 3]);
    check(&repo, 0, &[]);
}

#[cfg(unix)]
#[test]
fn symlinks_are_those_of_the_index() {
    use std::os::unix::fs::symlink;
    let repo = Repo::new("//- memory/assets/real.md\n---\ntype: core\n---\n# Real\n\nText.\n");
    symlink("assets/real.md", repo.path().join("memory/a.md")).expect("a link");
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "--all"]);
    repo.remove("memory/a.md");
    check(&repo, 0, &[]);
    // A target must not be one.
    repo.git(&["add", "memory"]);
    let link = repo.path().join("memory/a.md");
    symlink("/etc/hostname", &link).expect("a link");
    repo.git(&["add", "memory"]);
    check(&repo, 2, &["note.symlink"]);
    repo.remove("memory/a.md");
    symlink("assets/real.md", &link).expect("a link");
    repo.remove("CLAUDE.md");
    symlink("AGENTS.md", repo.path().join("CLAUDE.md")).expect("a link");
    repo.git(&["add", "--all"]);
    check(&repo, 2, &["target"]);
}

#[cfg(unix)]
#[test]
fn modes_do_not_matter() {
    let repo = staged();
    repo.git(&["update-index", "--chmod=+x", "memory/rules.md", "AGENTS.md"]);
    check(&repo, 0, &[]);
}

#[test]
fn a_note_that_is_too_large_is_refused_and_the_others_are_read() {
    let repo = staged();
    repo.write("cantus.toml", "[limits]\nnote_bytes = 60\n");
    repo.write("memory/aaa.md", &format!("{NOTE}{}", "x".repeat(200_000)));
    repo.write("memory/zzz.md", "---\ntype: cor\n---\n");
    repo.git(&["add", "--all"]);
    let real = cantus(&repo, &["check", "--json"]);
    judged(&real, 2, &["note.size", "note.size", "note.value"]);
    assert_eq!(cantus(&repo, &["check", "--staged", "--json"]), real);
}

#[test]
fn names_of_sha_256() {
    let repo = Repo::without_git(NOTES);
    repo.git(&["init", "--quiet", "--object-format=sha256"]);
    cantus(&repo, &["project"]).exits(0);
    repo.git(&["add", "--all"]);
    repo.write("memory/new.md", NOTE);
    repo.git(&["add", "--intent-to-add", "memory/new.md"]);
    check(&repo, 0, &[]);
    repo.git(&["add", "--all"]);
    check(&repo, 1, &["drift.stale"; 3]);
}

#[test]
fn nothing_is_written() {
    let repo = staged();
    replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
    repo.write("memory/new.md", NOTE);
    repo.git(&["add", "--intent-to-add", "memory/new.md"]);
    let state = |repo: &Repo| {
        let index = repo.read_bytes(".git/index");
        let count = repo.git(&["count-objects", "-v"]);
        let time = std::fs::metadata(repo.path().join(".git/index")).and_then(|meta| meta.modified());
        (index, count, time.expect("a time"), repo.files())
    };
    let before = state(&repo);
    check(&repo, 0, &[]);
    assert_eq!(state(&repo), before);
}

#[test]
fn outside_git_there_is_no_index() {
    let repo = Repo::without_git(NOTES);
    check(&repo, 2, &["staged"]);
    let output = cantus(&repo, &["check", "--staged"]).exits(2);
    assert!(output.stdout.contains("not in a git repository"), "{}", output.stdout);
    assert!(output.stdout.contains("help: run this inside a git repository"), "{}", output.stdout);
}

#[test]
fn a_broken_index_is_told_in_git_s_words() {
    let repo = staged();
    repo.write(".git/index", "nonsense");
    let output = cantus(&repo, &["check", "--staged"]).exits(2);
    assert!(output.stdout.starts_with("error: `git ls-files --stage -z` failed: "), "{}", output.stdout);
    assert!(!output.stdout.contains(repo.path().to_str().expect("UTF-8")), "{}", output.stdout);
}

#[cfg(unix)]
mod hooks {
    use std::os::unix::fs::PermissionsExt as _;

    use super::{Repo, TARGETS, cantus, replace, staged};
    use crate::program::CANTUS;

    /// A repository with one commit and a hook that checks what is to be committed.
    fn hooked() -> Repo {
        let repo = staged();
        repo.commit_all("one");
        repo.write(".git/hooks/pre-commit", &format!("#!/bin/sh\nexec '{CANTUS}' check --staged\n"));
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(repo.path().join(".git/hooks/pre-commit"), mode).expect("a mode");
        repo
    }

    /// Commits so, which the hook lets through or not.
    #[track_caller]
    fn commit(repo: &Repo, args: &[&str], passes: bool) {
        let output = repo.try_git(&[&["commit", "--message", "m"], args].concat());
        assert_eq!(output.status == 0, passes, "{output:#?}");
        let word = if passes { "Passed" } else { "Failed" };
        assert!(output.stderr.contains(word) || output.stdout.contains(word), "{output:#?}");
    }

    #[test]
    fn commit_of_what_is_staged() {
        let repo = hooked();
        replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
        repo.git(&["add", "memory"]);
        commit(&repo, &[], false);
        cantus(&repo, &["project"]).exits(0);
        commit(&repo, &[], false);
        repo.git(&["add", "--update"]);
        commit(&repo, &[], true);
    }

    #[test]
    fn commit_all() {
        let repo = hooked();
        replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
        commit(&repo, &["--all"], false);
        cantus(&repo, &["project"]).exits(0);
        commit(&repo, &["--all"], true);
    }

    #[test]
    fn commit_of_some_files() {
        let repo = hooked();
        replace(&repo, "memory/rules.md", "Be kind.", "Be just.");
        repo.write("other.txt", "x");
        repo.git(&["add", "--all"]);
        // What is staged besides would be drift, and isn't committed.
        commit(&repo, &["other.txt"], true);
        commit(&repo, &["memory/rules.md"], false);
        cantus(&repo, &["project"]).exits(0);
        commit(&repo, &[&["memory/rules.md"], &TARGETS[..]].concat(), true);
    }

    #[test]
    fn commit_in_a_worktree_and_from_a_folder_below() {
        let repo = hooked();
        repo.git(&["worktree", "add", "--quiet", "../tree"]);
        let note = repo.path().join("../tree/memory/rules.md");
        let text = std::fs::read_to_string(&note).expect("a note");
        std::fs::write(&note, text.replace("kind", "just")).expect("to write it");
        let in_tree = |args: &[&str]| {
            repo.try_git(&[&["-C", "../tree/memory", "commit", "--message", "m"], args].concat()).status
        };
        assert_ne!(in_tree(&["--all"]), 0);
        let tree = repo.path().join("../tree");
        cantus(&repo, &["project", "--root", tree.to_str().expect("UTF-8")]).exits(0);
        assert_eq!(in_tree(&["--all"]), 0);
    }
}
