//! Branches that regenerate meet in git.

use cantus_testkit::{Output, Repo};

use crate::program::{cantus, projected, replace};

/// Two branches that each change the notes, regenerate and commit; then one is merged into the other.
#[track_caller]
fn merged(ours: impl FnOnce(&Repo), theirs: impl FnOnce(&Repo)) -> (Repo, Output) {
    let repo = projected();
    repo.commit_all("base");
    repo.git(&["checkout", "--quiet", "-b", "theirs"]);
    theirs(&repo);
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("theirs");
    repo.git(&["checkout", "--quiet", "main"]);
    ours(&repo);
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("ours");
    let merge = repo.try_git(&["merge", "--no-edit", "theirs"]);
    (repo, merge)
}

/// Such branches merge clean, and the merged tree is fresh.
#[track_caller]
fn check(ours: impl FnOnce(&Repo), theirs: impl FnOnce(&Repo)) {
    let (repo, merge) = merged(ours, theirs);
    assert_eq!(merge.status, 0, "{merge:#?}");
    cantus(&repo, &["check"]).exits(0);
    cantus(&repo, &["project", "--check"]).exits(0);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

/// Such branches conflict, in generated files alone; `project` mends that, and the result is fresh.
#[track_caller]
fn check_mended(ours: impl FnOnce(&Repo), theirs: impl FnOnce(&Repo), wanted: &[&str]) {
    let (repo, merge) = merged(ours, theirs);
    assert_eq!(merge.status, 1, "{merge:#?}");
    let unmerged = repo.git(&["diff", "--name-only", "--diff-filter=U"]);
    assert!(unmerged.lines().all(|path| !path.starts_with("memory/")), "{unmerged}");
    cantus(&repo, &["check"]).exits(1);
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    let text = repo.read("AGENTS.md");
    assert!(!text.contains("<<<<<<<") && wanted.iter().all(|wanted| text.contains(wanted)), "{text}");
    repo.commit_all("merged");
    assert_eq!(repo.git(&["rev-list", "--parents", "-1", "HEAD"]).split(' ').count(), 3);
    cantus(&repo, &["check"]).exits(0);
}

fn add(repo: &Repo, name: &str) {
    repo.write(&format!("memory/{name}.md"), &format!("---\ntype: core\n---\n# {name}\n\nText of {name}.\n"));
}

#[test]
fn edits_of_neighbouring_core_notes_merge_clean() {
    check(
        |repo| replace(repo, "memory/rules.md", "Be kind.", "Be nice."),
        |repo| replace(repo, "memory/tests.md", "Run them.", "Run them all."),
    );
}

#[test]
fn edits_of_a_core_and_a_reference_note_merge_clean() {
    check(
        |repo| replace(repo, "memory/tests.md", "Run them.", "Run them all."),
        |repo| replace(repo, "memory/release.md", "How to release.", "How to ship."),
    );
}

#[test]
fn an_edit_and_a_new_note_elsewhere_merge_clean() {
    check(|repo| replace(repo, "memory/tests.md", "Run them.", "Run them all."), |repo| add(repo, "aaa"));
}

#[test]
fn new_notes_at_the_same_place_are_mended() {
    check_mended(
        |repo| add(repo, "safety"),
        |repo| add(repo, "security"),
        &["Text of safety.", "Text of security."],
    );
}

#[test]
fn a_new_and_a_removed_note_at_the_same_place_are_mended() {
    check_mended(|repo| add(repo, "safety"), |repo| repo.remove("memory/tests.md"), &["Text of safety."]);
}
