//! The program under test, and the repository that most tests start from.

use cantus_testkit::{Output, Repo};

pub(crate) const CANTUS: &str = env!("CARGO_BIN_EXE_cantus");

/// The committed files of a project without configuration.
pub(crate) const TARGETS: [&str; 3] = ["AGENTS.md", "CLAUDE.md", "projections/lock.toml"];

/// A few notes of two kinds.
pub(crate) const NOTES: &str = "
    //- memory/release.md
    ---
    type: reference
    description: How to release.
    ---
    # Release

    Tag it.
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Be brief.
    Be kind.
    //- memory/tests.md
    ---
    type: core
    ---
    # Tests

    Run them.
    ";

/// Runs `cantus` in the root of `repo`.
#[track_caller]
pub(crate) fn cantus(repo: &Repo, args: &[&str]) -> Output {
    repo.run(CANTUS, args)
}

/// A repository with [`NOTES`], projected, nothing committed.
#[track_caller]
pub(crate) fn projected() -> Repo {
    let repo = Repo::new(NOTES);
    cantus(&repo, &["project"]).exits(0);
    repo
}

/// Puts `new` for the one `old` in a file.
#[track_caller]
pub(crate) fn replace(repo: &Repo, file: &str, old: &str, new: &str) {
    let text = repo.read(file);
    assert_eq!(text.matches(old).count(), 1, "`{old}` in `{file}`:\n{text}");
    repo.write(file, &text.replace(old, new));
}

/// The bytes of every committed file.
#[track_caller]
pub(crate) fn targets(repo: &Repo) -> [Vec<u8>; 3] {
    TARGETS.map(|path| repo.read_bytes(path))
}
