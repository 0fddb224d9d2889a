//! Which project Cantus finds, what it reads there, and what a project without configuration is called.

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};

use crate::program::{CANTUS, cantus};

const NOTE: &str = "---\ntype: core\n---\n# A note\n\nText.\n";

/// Runs in a folder of `repo`, which may be absent in the fixture.
#[track_caller]
fn run_in(repo: &Repo, folder: &str, args: &[&str]) -> Output {
    let path = repo.path().join(folder);
    std::fs::create_dir_all(&path).expect("a folder");
    let output = repo.command(CANTUS).current_dir(path).args(args).output().expect("the program");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// The notes of a listing.
#[track_caller]
fn notes(listing: &str) -> Vec<String> {
    let listing: Value = serde_json::from_str(listing).expect("JSON");
    let notes = listing["notes"].as_array().expect("notes").iter();
    notes.map(|note| note["path"].as_str().expect("a path").to_owned()).collect()
}

/// From `folder`, the project with these notes is found.
#[track_caller]
fn check_in(repo: &Repo, folder: &str, expected: &[&str]) {
    let output = run_in(repo, folder, &["list", "--json"]).exits(0);
    assert_eq!(output.stderr, "");
    assert_eq!(notes(&output.stdout), expected);
}

/// From `folder`, nothing is found.
#[track_caller]
fn check_none(repo: &Repo, folder: &str) {
    let output = run_in(repo, folder, &["project"]).exits(2);
    assert!(output.stderr.starts_with("error: no project found"), "{}", output.stderr);
    assert!(!repo.exists("AGENTS.md"));
}

/// A repository with a core note in each of these files.
#[track_caller]
fn noted(notes: &[&str]) -> Repo {
    let repo = Repo::new("");
    for note in notes {
        repo.write(note, NOTE);
    }
    repo
}

#[test]
fn the_root_is_found_from_below() {
    let repo = noted(&["memory/top.md"]);
    check_in(&repo, "a/b/c", &["memory/top.md"]);
    check_in(&repo, "memory", &["memory/top.md"]);
}

#[cfg(unix)]
#[test]
fn a_working_folder_that_is_gone_is_told() {
    let repo = noted(&["memory/a.md"]);
    for verb in ["list", "init"] {
        let script = format!("mkdir x && cd x && rmdir ../x && exec '{CANTUS}' {verb}");
        let error = repo.run("sh", &["-c", &script]).exits(2).stderr;
        assert!(error.starts_with("error: the working folder is gone"), "{error}");
        assert!(error.contains("help: change to a folder that is there"), "{error}");
    }
}

#[test]
fn the_root_is_found_outside_git() {
    let repo = Repo::without_git("");
    repo.write("memory/top.md", NOTE);
    check_in(&repo, "a/b", &["memory/top.md"]);
}

#[test]
fn files_are_written_at_the_root_from_below() {
    let repo = noted(&["memory/top.md", "a/x.txt"]);
    run_in(&repo, "a", &["project"]).exits(0);
    assert_eq!(repo.files(), ["AGENTS.md", "CLAUDE.md", "a/x.txt", "memory/top.md", "projections/lock.toml"]);
}

#[test]
fn the_nearest_project_is_found() {
    let repo = noted(&["memory/top.md", "a/memory/near.md"]);
    check_in(&repo, "a/b", &["memory/near.md"]);
    check_in(&repo, "c", &["memory/top.md"]);
}

#[test]
fn a_configuration_without_notes_is_a_project() {
    let repo = noted(&["memory/top.md"]);
    repo.write("a/cantus.toml", "");
    check_in(&repo, "a/b", &[]);
}

#[test]
fn an_empty_note_folder_is_a_project() {
    let repo = noted(&["memory/top.md"]);
    std::fs::create_dir_all(repo.path().join("a/memory")).expect("a folder");
    check_in(&repo, "a", &[]);
}

#[test]
fn the_search_ends_where_git_does() {
    let repo = noted(&["memory/top.md"]);
    repo.write("sub/.git", "gitdir: ../.git/modules/sub\n");
    check_none(&repo, "sub/a");
    repo.write("sub/memory/own.md", NOTE);
    check_in(&repo, "sub/a", &["memory/own.md"]);
}

#[test]
fn a_nested_repository_stands_for_itself() {
    let repo = noted(&["memory/top.md"]);
    repo.git(&["init", "--quiet", "sub"]);
    check_none(&repo, "sub/a/b");
    check_in(&repo, ".", &["memory/top.md"]);
}

#[test]
fn a_worktree_stands_for_itself() {
    let repo = noted(&["x.txt"]);
    repo.commit_all("no notes");
    repo.git(&["worktree", "add", "--quiet", "wt"]);
    repo.write("memory/top.md", NOTE);
    check_none(&repo, "wt");
    repo.write("wt/memory/own.md", NOTE);
    check_in(&repo, "wt/a", &["memory/own.md"]);
    run_in(&repo, "wt", &["project"]).exits(0);
    assert!(repo.exists("wt/AGENTS.md") && !repo.exists("AGENTS.md"));
}

#[test]
fn a_submodule_stands_for_itself() {
    let module = noted(&["x.txt"]);
    module.commit_all("no notes");
    let url = module.path().to_str().expect("a path in UTF-8");
    let repo = noted(&["memory/top.md"]);
    repo.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", url, "sub"]);
    assert!(repo.read("sub/.git").starts_with("gitdir: "));
    check_none(&repo, "sub");
    repo.write("sub/memory/own.md", NOTE);
    check_in(&repo, "sub/a", &["memory/own.md"]);
    run_in(&repo, "sub", &["project"]).exits(0);
    assert!(repo.exists("sub/AGENTS.md") && !repo.exists("AGENTS.md"));
}

#[test]
fn a_root_that_is_named_is_taken() {
    let repo = noted(&["memory/top.md", "a/memory/near.md"]);
    let listing = cantus(&repo, &["list", "--json", "--root", "a"]).exits(0).stdout;
    assert_eq!(notes(&listing), ["memory/near.md"]);
    let listing = run_in(&repo, "a", &["--root", "..", "list", "--json"]).exits(0).stdout;
    assert_eq!(notes(&listing), ["memory/top.md"]);
}

#[test]
fn no_search_starts_at_a_root_that_is_named() {
    let repo = noted(&["memory/top.md", "a/x.txt"]);
    let output = cantus(&repo, &["list", "--root", "a"]).exits(2);
    assert!(output.stderr.starts_with("error: no project here"), "{}", output.stderr);
}

#[test]
fn a_source_folder_called_memory_is_not_taken_for_notes() {
    let repo = noted(&["memory/top.md", "src/memory/mod.rs"]);
    check_in(&repo, "src", &["memory/top.md"]);
    check_in(&repo, "src/memory", &["memory/top.md"]);
}

#[test]
fn a_source_folder_called_memory_is_not_a_second_place_of_notes() {
    let repo = noted(&["sase/memory/top.md", "memory/mod.rs"]);
    check_in(&repo, ".", &["sase/memory/top.md"]);
}

#[test]
fn a_source_folder_called_memory_is_no_project() {
    let repo = noted(&["memory/mod.rs"]);
    check_none(&repo, ".");
}

#[test]
fn notes_lie_in_either_folder_or_where_the_configuration_says() {
    check_in(&noted(&["memory/a.md"]), ".", &["memory/a.md"]);
    check_in(&noted(&["sase/memory/a.md"]), ".", &["sase/memory/a.md"]);
    let repo = noted(&["memory/a.md", "sase/memory/b.md", "docs/notes/c.md"]);
    for (folder, note) in [("memory", "a"), ("sase/memory/", "b"), ("docs/notes", "c")] {
        repo.write("cantus.toml", &format!("memory = \"{folder}\"\n"));
        check_in(&repo, ".", &[&format!("{}/{note}.md", folder.trim_end_matches('/'))]);
    }
}

#[test]
fn a_workspace_manifest_configures_a_project() {
    let repo = Repo::new(
        "
        //- Cargo.toml
        [workspace]
        members = []

        [workspace.metadata.cantus]
        name = \"acme\"
        memory = \"notes\"
        ",
    );
    repo.write("notes/a.md", NOTE);
    check_in(&repo, "src", &["notes/a.md"]);
    assert_eq!(title(&repo), "# acme - Agent Instructions");
}

#[test]
fn a_manifest_without_our_table_is_no_project() {
    let repo = noted(&["memory/top.md"]);
    repo.write("a/Cargo.toml", "[workspace.metadata.other]\nname = \"cantus\"\n");
    check_in(&repo, "a", &["memory/top.md"]);
}

/// The first line of the bundle.
#[track_caller]
fn title(repo: &Repo) -> String {
    let text = cantus(repo, &["render"]).exits(0).stdout;
    text.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_project_without_a_name_has_a_title_without_one() {
    assert_eq!(title(&noted(&["memory/a.md"])), "# Agent Instructions");
}

#[test]
fn the_name_is_the_root_package_s() {
    let repo = noted(&["memory/a.md"]);
    repo.write("Cargo.toml", "[package]\nname = \"anvil\"\n");
    assert_eq!(title(&repo), "# anvil - Agent Instructions");
    repo.write("cantus.toml", "name = \"acme\"\n");
    assert_eq!(title(&repo), "# acme - Agent Instructions");
    repo.write("cantus.toml", "title = \"Rules of the house\"\n");
    assert_eq!(title(&repo), "# Rules of the house");
}

/// The command that the notice names.
#[track_caller]
fn command(repo: &Repo) -> String {
    cantus(repo, &["project"]).exits(0);
    repo.read("AGENTS.md").split('`').nth(1).expect("a command").to_owned()
}

#[test]
fn the_command_is_the_xtask_s_where_there_is_one() {
    let repo = noted(&["memory/a.md"]);
    assert_eq!(command(&repo), "cantus project");
    repo.write("xtask/src/main.rs", "fn main() {}\n");
    assert_eq!(command(&repo), "cargo xtask project");
    repo.write("cantus.toml", "command = \"just agents\"\n");
    assert_eq!(command(&repo), "just agents");
}

#[test]
fn a_readme_is_exempt_in_any_case() {
    for name in ["README.md", "readme.md", "ReadMe.MD"] {
        let repo = noted(&["memory/a.md"]);
        repo.write(&format!("memory/{name}"), "# How to write notes\n");
        check_in(&repo, ".", &["memory/a.md"]);
    }
}

#[test]
fn assets_and_other_files_are_ignored() {
    let repo = noted(&["memory/a.md"]);
    repo.write("memory/assets/draft.md", "no front matter\n");
    repo.write("memory/assets/deep/draft.md", "no front matter\n");
    repo.write("memory/diagram.svg", "<svg/>\n");
    repo.write("memory/scripts/run.sh", "true\n");
    check_in(&repo, ".", &["memory/a.md"]);
}

#[test]
fn a_note_whose_ending_is_in_capitals_is_warned_of() {
    let repo = noted(&["memory/a.md", "memory/X.MD", "memory/y.markdown"]);
    let output = cantus(&repo, &["list", "--json"]).exits(0);
    assert_eq!(notes(&output.stdout), ["memory/a.md"]);
    assert_data_eq!(
        output.stderr,
        str![[r#"
memory/X.MD: warning: not read: a note's name ends in `.md` [name.ending]
  help: rename it, or move it into `assets/`
memory/y.markdown: warning: not read: a note's name ends in `.md` [name.ending]
  help: rename it, or move it into `assets/`

"#]]
    );
    cantus(&repo, &["list", "--strict"]).exits(2);
}

#[cfg(unix)]
#[test]
fn what_editors_and_systems_leave_beside_notes_is_passed_over() {
    let repo = noted(&["memory/a.md"]);
    repo.write("memory/w/x.md", "A word.\n");
    repo.write("memory/w.md", "---\nweb: true\n---\n# Words\n");
    cantus(&repo, &["project"]).exits(0);
    for lock in ["memory/.#a.md", "memory/w/.#x.md"] {
        std::os::unix::fs::symlink("me@machine.17:42", repo.path().join(lock)).expect("a symlink");
    }
    for fork in ["memory/._a.md", "memory/w/._x.md"] {
        repo.write_bytes(fork, b"\0\x05\x16\x07\xff");
    }
    for args in [["project", "--check"], ["check", "--strict"]] {
        let output = cantus(&repo, &args).exits(0);
        assert_eq!(output.stderr, "", "{}", output.stdout);
    }
    // A folder that holds nothing else is as good as empty.
    let repo = Repo::new("");
    repo.write_bytes("memory/._a.md", b"\0\x05\x16\x07\xff");
    check_in(&repo, ".", &[]);
}
