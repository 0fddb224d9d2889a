//! The program under test, and the repository that most tests start from.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// The PATH with the folder of the program in front.
#[track_caller]
pub(crate) fn with_cantus() -> OsString {
    let own = Path::new(CANTUS).parent().map(Path::to_path_buf);
    let others = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = own.into_iter().chain(env::split_paths(&others)).collect();
    env::join_paths(folders).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a program in `folder` with `path` as its PATH.
#[track_caller]
pub(crate) fn run(repo: &Repo, folder: &Path, path: &OsString, program: &str, args: &[&str]) -> Output {
    let output = repo.command(program).args(args).current_dir(folder).env("PATH", path).output();
    let output = output.unwrap_or_else(|error| panic!("can't start `{program}`: {error}"));
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Runs git in `folder`; it finds the program on its PATH.
#[track_caller]
pub(crate) fn git_in(repo: &Repo, folder: &Path, args: &[&str]) -> Output {
    run(repo, folder, &with_cantus(), "git", args)
}

/// The cargo that builds these tests; the one on the path may be a proxy that needs the user's home.
pub(crate) const CARGO: &str = env!("CARGO");

/// Runs a program in a folder of `repo`, with `cargo` as its cargo and the compiler of these tests at hand.
#[track_caller]
pub(crate) fn with_cargo(repo: &Repo, folder: &str, program: &str, args: &[&str], cargo: &str) -> Output {
    let mut command = repo.command(program);
    command.current_dir(repo.path().join(folder)).args(args);
    give_cargo(&mut command, cargo);
    let output = command.output().expect("the program");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// Has a program find `cargo` and the compiler of these tests.
pub(crate) fn give_cargo(command: &mut Command, cargo: &str) {
    let rustc = Path::new(CARGO).with_file_name(format!("rustc{}", env::consts::EXE_SUFFIX));
    command.env("CARGO", cargo);
    if rustc.exists() {
        command.env("RUSTC", rustc);
    }
}
