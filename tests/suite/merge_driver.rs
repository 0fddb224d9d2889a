//! `cantus merge-driver` with real merges, rebases and cherry-picks.

use std::path::Path;

use cantus_testkit::{Output, Repo};

use crate::program::{TARGETS, cantus, git_in, projected, replace, run, with_cantus};

const ATTRIBUTES: &str = "\
/AGENTS.md merge=cantus
/CLAUDE.md merge=cantus
/projections/lock.toml merge=cantus
";

fn add(repo: &Repo, name: &str) {
    repo.write(&format!("memory/{name}.md"), &format!("---\ntype: core\n---\n# {name}\n\nText of {name}.\n"));
}

/// A branch with one commit: what `change` does to the notes, projected.
fn branch(repo: &Repo, name: &str, change: impl FnOnce(&Repo)) {
    repo.git(&["checkout", "--quiet", "-b", name, "base"]);
    change(repo);
    cantus(repo, &["project"]).exits(0);
    repo.commit_all(name);
}

/// A repository with the driver and two branches, `ours` checked out.
fn branches(ours: impl FnOnce(&Repo), theirs: impl FnOnce(&Repo)) -> Repo {
    let repo = projected();
    cantus(&repo, &["merge-driver", "install"]).exits(0);
    repo.commit_all("base");
    repo.git(&["tag", "base"]);
    branch(&repo, "theirs", theirs);
    branch(&repo, "ours", ours);
    repo
}

#[track_caller]
fn git(repo: &Repo, args: &[&str]) -> Output {
    git_in(repo, repo.path(), args)
}

/// What `folder` holds came of a merge: no conflict, never taken for fresh, and mended by `project` without force.
#[track_caller]
fn check_mended(repo: &Repo, folder: &Path) {
    let in_folder = |args: &[&str]| run(repo, folder, &with_cantus(), "cantus", args);
    assert_eq!(git_in(repo, folder, &["status", "--porcelain"]).exits(0).stdout, "");
    in_folder(&["check"]).exits(1);
    in_folder(&["project"]).exits(0);
    in_folder(&["check"]).exits(0);
    let text = git_in(repo, folder, &["show", ":AGENTS.md"]).exits(0).stdout;
    assert!(!text.contains("<<<<<<<"), "{text}");
    git_in(repo, folder, &["commit", "--quiet", "-a", "-m", "projected"]).exits(0);
    for name in ["safety", "security"] {
        let text = git_in(repo, folder, &["show", "HEAD:AGENTS.md"]).exits(0).stdout;
        assert!(text.contains(&format!("Text of {name}.")), "{text}");
    }
}

#[test]
fn new_notes_at_the_same_place_merge_without_a_conflict() {
    let repo = branches(|repo| add(repo, "safety"), |repo| add(repo, "security"));
    let merge = git(&repo, &["merge", "--no-edit", "theirs"]).exits(0);
    let said = format!("{}{}", merge.stdout, merge.stderr);
    assert!(said.contains("both sides changed `AGENTS.md` at the same place"), "{said}");
    assert!(said.contains("run `cantus project` once"), "{said}");
    check_mended(&repo, repo.path());
}

#[test]
fn a_rebase_of_several_commits_stops_nowhere() {
    let repo = branches(|repo| add(repo, "safety"), |repo| add(repo, "security"));
    add(&repo, "sanity");
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("more");
    git(&repo, &["rebase", "--quiet", "theirs"]).exits(0);
    check_mended(&repo, repo.path());
    assert!(repo.read("AGENTS.md").contains("Text of sanity."));
}

#[test]
fn a_cherry_pick_into_a_work_tree_has_no_conflict() {
    let repo = branches(|repo| add(repo, "safety"), |repo| add(repo, "security"));
    let tree = repo.home().join("tree");
    repo.git(&["worktree", "add", "--quiet", "-b", "side", &tree.to_string_lossy(), "ours"]);
    git_in(&repo, &tree, &["cherry-pick", "theirs"]).exits(0);
    check_mended(&repo, &tree);
}

#[test]
fn what_merges_clean_as_text_still_does() {
    let repo = branches(
        |repo| replace(repo, "memory/rules.md", "Be kind.", "Be nice."),
        |repo| replace(repo, "memory/tests.md", "Run them.", "Run them all."),
    );
    git(&repo, &["merge", "--no-edit", "theirs"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    assert_eq!(repo.git(&["status", "--porcelain"]), "");
}

#[test]
fn notes_in_conflict_are_all_that_is_left_to_mend() {
    let repo = branches(
        |repo| replace(repo, "memory/rules.md", "Be kind.", "Be nice."),
        |repo| replace(repo, "memory/rules.md", "Be kind.", "Be quick."),
    );
    git(&repo, &["merge", "--no-edit", "theirs"]).exits(1);
    assert_eq!(repo.git(&["diff", "--name-only", "--diff-filter=U"]), "memory/rules.md\n");
    repo.write("memory/rules.md", "---\ntype: core\n---\n# Rules\n\nBe nice and quick.\n");
    cantus(&repo, &["check"]).exits(1);
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["check"]).exits(0);
    repo.commit_all("merged");
}

#[test]
fn without_the_program_git_leaves_conflicts_that_project_mends() {
    let repo = branches(|repo| add(repo, "safety"), |repo| add(repo, "security"));
    repo.try_git(&["merge", "--no-edit", "theirs"]).exits(1);
    cantus(&repo, &["check"]).exits(1);
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("merged");
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn what_a_person_wrote_never_gives_way() {
    let repo = Repo::new("//- base\none\n//- ours\ntwo\n//- theirs\nthree\n");
    let driver = ["merge-driver", "run", "base", "ours", "theirs", "AGENTS.md"];
    cantus(&repo, &driver).exits(1);
    let text = repo.read("ours");
    assert!(text.contains("<<<<<<<") && text.contains("two\n") && text.contains("three\n"), "{text}");

    // Generated on one side alone.
    let notice = projected().read("AGENTS.md");
    repo.write("ours", &notice);
    cantus(&repo, &driver).exits(1);
    assert!(repo.read("ours").contains("three\n"));
}

/// A repository with the driver and two branches that change the same line: `notes` in a note, `hand` in a generated file.
fn edited_by_hand(file: &str) -> Repo {
    let repo = branches(|_| {}, |_| {});
    branch(&repo, "notes", |repo| replace(repo, "memory/rules.md", "Be kind.", "Be nice."));
    repo.git(&["checkout", "--quiet", "-b", "hand", "base"]);
    replace(&repo, file, "Be kind.", "Be gentle.");
    repo.commit_all("hand");
    repo
}

#[track_caller]
fn unmerged(repo: &Repo) -> String {
    repo.git(&["diff", "--name-only", "--diff-filter=U"])
}

#[test]
fn a_merge_never_drops_what_they_wrote_by_hand() {
    let repo = edited_by_hand("AGENTS.md");
    repo.git(&["checkout", "--quiet", "notes"]);
    let merge = git(&repo, &["merge", "--no-edit", "hand"]).exits(1);
    assert_eq!(unmerged(&repo), "AGENTS.md\n");
    let said = format!("{}{}", merge.stdout, merge.stderr);
    for words in [
        "`AGENTS.md`",
        "their side of it was edited by hand",
        "`### Rules (rules)`",
        "`git show \":3:AGENTS.md\"`",
        "run `cantus project`",
    ] {
        assert!(said.contains(words), "`{words}` in:\n{said}");
    }
    let theirs = repo.git(&["show", ":3:AGENTS.md"]);
    let line = theirs.lines().position(|line| line == "### Rules (rules)").unwrap() + 1;
    assert!(said.contains(&format!("starts on line {line} with `### Rules (rules)`")), "{said}");
    assert_eq!(repo.read("AGENTS.md"), repo.git(&["show", "notes:AGENTS.md"]));
    git(&repo, &["commit", "--quiet", "--no-edit"]).exits(128);

    replace(&repo, "memory/rules.md", "Be nice.", "Be nice and gentle.");
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("merged");
    cantus(&repo, &["check"]).exits(0);
}

#[test]
fn a_merge_into_what_was_written_by_hand_is_a_conflict() {
    let repo = edited_by_hand("AGENTS.md");
    let merge = git(&repo, &["merge", "--no-edit", "notes"]).exits(1);
    assert_eq!(unmerged(&repo), "AGENTS.md\n");
    let said = format!("{}{}", merge.stdout, merge.stderr);
    assert!(said.contains("our side of it was edited by hand"), "{said}");
    assert!(said.contains("git show \":2:AGENTS.md\""), "{said}");
    assert!(repo.read("AGENTS.md").contains("Be gentle."));
}

#[test]
fn copies_and_pages_that_were_edited_by_hand_are_conflicts() {
    let repo = edited_by_hand("CLAUDE.md");
    repo.git(&["checkout", "--quiet", "notes"]);
    git(&repo, &["merge", "--no-edit", "hand"]).exits(1);
    assert_eq!(unmerged(&repo), "CLAUDE.md\n");

    let repo = projected();
    repo.write("cantus.toml", "[[page]]\nweb = \"words\"\nfile = \"docs/words.md\"\n");
    repo.write("memory/words.md", "---\nweb: true\n---\n# Words\n");
    repo.write("memory/words/a.md", "---\nkeyword: A\n---\nThe letter a.\n");
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["merge-driver", "install"]).exits(0);
    assert_eq!(repo.git(&["check-attr", "merge", "docs/words.md"]), "docs/words.md: merge: cantus\n");
    repo.commit_all("base");
    repo.git(&["tag", "base"]);
    branch(&repo, "notes", |repo| replace(repo, "memory/words/a.md", "The letter a.", "The vowel a."));
    branch(&repo, "others", |repo| replace(repo, "memory/words/a.md", "The letter a.", "The sign a."));
    repo.git(&["checkout", "--quiet", "-b", "hand", "base"]);
    replace(&repo, "docs/words.md", "The letter a.", "The rune a.");
    repo.commit_all("hand");
    repo.git(&["checkout", "--quiet", "notes"]);
    git(&repo, &["merge", "--no-edit", "hand"]).exits(1);
    assert_eq!(unmerged(&repo), "docs/words.md\n");
    repo.git(&["merge", "--abort"]);
    git(&repo, &["merge", "--no-edit", "others"]).exits(1);
    assert_eq!(unmerged(&repo), "memory/words/a.md\n");
}

#[test]
fn a_rebase_and_a_cherry_pick_stop_at_what_was_written_by_hand() {
    let repo = edited_by_hand("AGENTS.md");
    git(&repo, &["rebase", "--quiet", "notes"]).exits(1);
    assert_eq!(unmerged(&repo), "AGENTS.md\n");
    repo.git(&["rebase", "--abort"]);
    repo.git(&["checkout", "--quiet", "notes"]);
    git(&repo, &["cherry-pick", "hand"]).exits(1);
    assert_eq!(unmerged(&repo), "AGENTS.md\n");
    let said = git(&repo, &["show", ":3:AGENTS.md"]).exits(0).stdout;
    assert!(said.contains("Be gentle."), "{said}");
}

#[test]
fn what_git_put_together_of_notes_alone_goes_on_merging() {
    let long = "---\ntype: core\n---\n# Rules\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive.\n\nSix.\n";
    let change = |old: &'static str, new: &'static str| {
        move |repo: &Repo| replace(repo, "memory/rules.md", &format!("\n{old}\n"), &format!("\n{new}\n"))
    };
    let refer = |repo: &Repo, name: &str| {
        let text = format!("---\ntype: reference\ndescription: About {name}.\n---\n# {name}\n");
        repo.write(&format!("memory/{name}.md"), &text);
    };
    let repo = projected();
    repo.write("memory/rules.md", long);
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["merge-driver", "install"]).exits(0);
    repo.commit_all("base");
    repo.git(&["tag", "base"]);
    branch(&repo, "one", change("One.", "First."));
    branch(&repo, "two", |repo| {
        add(repo, "safety");
        change("Four.", "Fourth.")(repo);
    });
    branch(&repo, "three", |repo| add(repo, "security"));
    // The section of the rules holds both changes, as no lock says.
    git(&repo, &["checkout", "--quiet", "one"]).exits(0);
    git(&repo, &["merge", "--no-edit", "two"]).exits(0);
    let text = repo.read("AGENTS.md");
    assert!(text.contains("First.") && text.contains("Fourth."), "{text}");
    git(&repo, &["merge", "--no-edit", "three"]).exits(0);
    check_mended(&repo, repo.path());

    // The same commit by commit.
    git(&repo, &["checkout", "--quiet", "-b", "four", "two"]).exits(0);
    add(&repo, "security");
    refer(&repo, "bbb");
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("four");
    branch(&repo, "five", |repo| {
        change("Two.", "Second.")(repo);
        refer(repo, "aaa");
    });
    git(&repo, &["checkout", "--quiet", "four"]).exits(0);
    git(&repo, &["rebase", "--quiet", "five"]).exits(0);
    check_mended(&repo, repo.path());
}

#[test]
fn sides_that_cannot_be_merged_are_a_conflict_and_stay() {
    let repo = Repo::new("//- base\none\n//- theirs\nthree\n");
    repo.write_bytes("ours", b"two\0\n");
    cantus(&repo, &["merge-driver", "run", "base", "ours", "theirs", "AGENTS.md"]).exits(2);
    assert_eq!(repo.read_bytes("ours"), b"two\0\n");
}

#[test]
fn installing_twice_changes_nothing_and_uninstalling_gives_back_what_was() {
    let repo = projected();
    repo.write(".gitattributes", "*.c diff\n");
    let config = repo.read(".git/config");
    let installed = "   Installed merge driver `cantus`, .gitattributes\n";
    let fresh = "       Fresh merge driver `cantus`, .gitattributes\n";
    assert_eq!(cantus(&repo, &["merge-driver", "install"]).exits(0).stdout, installed);
    assert_eq!(repo.read(".gitattributes"), format!("*.c diff\n{ATTRIBUTES}"));
    for path in TARGETS {
        let merge = repo.git(&["check-attr", "merge", path]);
        assert_eq!(merge, format!("{path}: merge: cantus\n"));
    }
    let driver = repo.git(&["config", "--local", "merge.cantus.driver"]);
    assert_eq!(driver, "cantus merge-driver run %O %A %B %P\n");
    let bytes = repo.read(".git/config");
    assert_eq!(cantus(&repo, &["merge-driver", "install"]).exits(0).stdout, fresh);
    assert_eq!(repo.read(".git/config"), bytes);
    assert_eq!(repo.read(".gitattributes"), format!("*.c diff\n{ATTRIBUTES}"));
    let removed = "     Removed merge driver `cantus`, .gitattributes\n";
    assert_eq!(cantus(&repo, &["merge-driver", "uninstall"]).exits(0).stdout, removed);
    assert_eq!(repo.read(".gitattributes"), "*.c diff\n");
    assert_eq!(repo.read(".git/config"), config);
    assert_eq!(cantus(&repo, &["merge-driver", "uninstall"]).exits(0).stdout, fresh);
}

#[test]
fn lines_that_others_outrank_go_to_the_end() {
    let repo = projected();
    repo.write(".gitattributes", &format!("# ours\n{ATTRIBUTES}*.md merge=union\n"));
    cantus(&repo, &["merge-driver", "install"]).exits(0);
    let [agents, claude, lock] = TARGETS.map(|path| format!("/{path} merge=cantus\n"));
    assert_eq!(repo.read(".gitattributes"), format!("# ours\n{lock}*.md merge=union\n{agents}{claude}"));
    let fresh = "       Fresh merge driver `cantus`, .gitattributes\n";
    assert_eq!(cantus(&repo, &["merge-driver", "install"]).exits(0).stdout, fresh);
}

#[test]
fn attributes_elsewhere_that_outrank_ours_are_told() {
    for elsewhere in [".git/info/attributes", "projections/.gitattributes"] {
        let repo = projected();
        repo.write(elsewhere, "lock.toml -merge\n");
        let error = cantus(&repo, &["merge-driver", "install"]).exits(2).stderr;
        assert!(error.contains("`projections/lock.toml`") && error.contains("info/attributes"), "{error}");
        assert_eq!(repo.read(".gitattributes"), ATTRIBUTES);
    }
}

#[test]
fn attributes_that_cannot_be_written_leave_the_configuration_as_it_is() {
    let repo = projected();
    repo.write(".gitattributes/x", "");
    let config = repo.read(".git/config");
    let error = cantus(&repo, &["merge-driver", "install"]).exits(2).stderr;
    assert!(error.contains("`.gitattributes` is a folder"), "{error}");
    assert_eq!(repo.read(".git/config"), config);
}

#[test]
fn every_configured_file_is_named_and_cargo_is_the_program_of_an_xtask() {
    let repo = Repo::new(
        "//- cantus.toml\ncommand = \"cargo xtask project\"\n[projection]\nfiles = [\"A.md\"]\n[[output]]\nrender = \"helper\"\nfile = \"docs/a b.md\"\n\
         [[page]]\nweb = \"w\"\nfile = \"docs/w.md\"\n",
    );
    cantus(&repo, &["merge-driver", "install"]).exits(0);
    let lines = "/A.md merge=cantus\n\"/docs/a b.md\" merge=cantus\n/docs/w.md merge=cantus\n/projections/lock.toml merge=cantus\n";
    assert_eq!(repo.read(".gitattributes"), lines);
    assert_eq!(repo.git(&["check-attr", "merge", "docs/a b.md"]), "docs/a b.md: merge: cantus\n");
    let driver = repo.git(&["config", "--local", "merge.cantus.driver"]);
    assert_eq!(driver, "cargo xtask merge-driver run %O %A %B %P\n");
    cantus(&repo, &["merge-driver", "uninstall"]).exits(0);
    assert!(!repo.exists(".gitattributes"));
}

/// A project with one member that has notes.
fn with_member() -> Repo {
    let repo = Repo::new(
        "
        //- cantus.toml
        members = [\"crates/*\"]
        //- memory/rules.md
        ---
        type: core
        ---
        # Rules

        Be kind.
        //- crates/api/memory/errors.md
        ---
        type: core
        ---
        # Errors

        Every error has a number.
        //- crates/plain/src/lib.rs
        ",
    );
    cantus(&repo, &["project"]).exits(0);
    cantus(&repo, &["merge-driver", "install"]).exits(0);
    repo.commit_all("base");
    repo.git(&["tag", "base"]);
    repo
}

#[test]
fn files_of_members_are_merged_too() {
    let repo = with_member();
    let members = ATTRIBUTES.replace('/', "/crates/api/").replace("projections/crates/api/", "projections/");
    assert_eq!(repo.read(".gitattributes"), format!("{ATTRIBUTES}{members}"));
    for path in TARGETS {
        let merge = repo.git(&["check-attr", "merge", &format!("crates/api/{path}")]);
        assert_eq!(merge, format!("crates/api/{path}: merge: cantus\n"));
    }
    let note = "crates/api/memory/errors.md";
    let other = |name: &str| format!("---\ntype: core\n---\n# {name}\n\nText of {name}.\n");
    branch(&repo, "theirs", |repo| repo.write("crates/api/memory/safety.md", &other("safety")));
    branch(&repo, "ours", |repo| repo.write("crates/api/memory/security.md", &other("security")));
    git(&repo, &["merge", "--no-edit", "theirs"]).exits(0);
    cantus(&repo, &["check"]).exits(1);
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("merged");

    branch(&repo, "notes", |repo| replace(repo, note, "a number", "a name"));
    repo.git(&["checkout", "--quiet", "-b", "hand", "base"]);
    replace(&repo, "crates/api/AGENTS.md", "a number", "a colour");
    repo.commit_all("hand");
    git(&repo, &["checkout", "--quiet", "notes"]).exits(0);
    let merge = git(&repo, &["merge", "--no-edit", "hand"]).exits(1);
    assert_eq!(unmerged(&repo), "crates/api/AGENTS.md\n");
    assert!(merge.stderr.contains("git show \":3:crates/api/AGENTS.md\""), "{merge:?}");
}

#[test]
fn uninstalling_takes_away_the_lines_of_former_members() {
    let repo = with_member();
    let own = "/LICENSE merge=union\n/a b merge=cantus\n*.md merge=cantus\n";
    repo.write(".gitattributes", &format!("{own}{}", repo.read(".gitattributes")));
    repo.write("cantus.toml", "members = 1\n");
    cantus(&repo, &["merge-driver", "uninstall"]).exits(0);
    assert_eq!(repo.read(".gitattributes"), own);
}

#[test]
fn outside_git_there_is_no_driver() {
    let repo = Repo::without_git(crate::program::NOTES);
    for verb in ["install", "uninstall"] {
        let error = cantus(&repo, &["merge-driver", verb]).exits(2).stderr;
        assert!(error.contains("not in a git work tree"), "{error}");
    }
    assert!(!repo.exists(".gitattributes"));
}
