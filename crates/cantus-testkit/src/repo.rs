//! A temporary git repository, and programs run in it as if nobody had configured anything.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::Fixture;
use crate::fixture::{assert_inside, write};

/// Of the caller's environment, all that a program keeps.
const KEPT: &[&str] =
    if cfg!(windows) { &["PATH", "PATHEXT", "SYSTEMROOT", "COMSPEC", "TEMP", "TMP"] } else { &["PATH"] };

/// The date of every commit, so that the same fixture gives the same commit.
const DATE: &str = "2020-01-01T00:00:00+0000";

/// A folder with the files of a fixture, by default a git repository; it goes away with the value.
///
/// Beside it, outside the repository, lie an empty home folder and an empty git configuration.
#[derive(Debug)]
pub struct Repo {
    root: PathBuf,
    home: PathBuf,
    gitconfig: PathBuf,
    ceiling: PathBuf,
    _outside: TempDir,
}

/// What a program that ended left behind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Its exit status; -1 if a signal ended it.
    pub status: i32,
    /// What it wrote to stdout.
    pub stdout: String,
    /// What it wrote to stderr.
    pub stderr: String,
}

impl Output {
    /// The same output; panics with all of it unless the program ended with `status`.
    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        assert!(
            self.status == status,
            "exit status {} instead of {status}\n--- stdout\n{}--- stderr\n{}",
            self.status,
            self.stdout,
            self.stderr
        );
        self
    }
}

/// Making one.
impl Repo {
    /// The files of `fixture` (see [`Fixture`]) in a fresh git repository with branch `main`, nothing committed.
    #[must_use]
    #[track_caller]
    pub fn new(fixture: &str) -> Self {
        let repo = Self::without_git(fixture);
        repo.git(&["init", "--quiet", "--initial-branch=main"]);
        for (key, value) in [
            ("user.name", "Tester"),
            ("user.email", "tester@example.invalid"),
            ("commit.gpgsign", "false"),
            ("core.autocrlf", "false"),
            ("gc.auto", "0"),
            ("maintenance.auto", "false"),
        ] {
            repo.git(&["config", key, value]);
        }
        repo
    }

    /// The files of `fixture` in a folder that belongs to no git repository.
    #[must_use]
    #[track_caller]
    pub fn without_git(fixture: &str) -> Self {
        let fixture = Fixture::parse(fixture);
        let outside = made(tempfile::Builder::new().prefix("cantus-").tempdir());
        let ceiling = resolved(outside.path());
        let (root, home) = (ceiling.join("repo"), ceiling.join("home"));
        made(fs::create_dir(&root));
        made(fs::create_dir(&home));
        let gitconfig = ceiling.join("gitconfig");
        write(&gitconfig, b"");
        fixture.write_to(&root);
        Self { root, home, gitconfig, ceiling, _outside: outside }
    }
}

/// Its files; every `rel` is a path below the root, with `/`.
impl Repo {
    /// The root folder, absolute, symlinks resolved.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// The home folder of the programs that run here, outside the repository, empty at first.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// Writes the files of one more fixture; files that exist are replaced.
    #[track_caller]
    pub fn add(&self, fixture: &str) {
        Fixture::parse(fixture).write_to(&self.root);
    }

    /// Writes `text` to a file, its folders as needed.
    #[track_caller]
    pub fn write(&self, rel: &str, text: &str) {
        self.write_bytes(rel, text.as_bytes());
    }

    /// Writes `bytes` to a file, its folders as needed.
    #[track_caller]
    pub fn write_bytes(&self, rel: &str, bytes: &[u8]) {
        write(&self.at(rel), bytes);
    }

    /// A file's text; panics if it isn't UTF-8.
    #[must_use]
    #[track_caller]
    pub fn read(&self, rel: &str) -> String {
        text(self.read_bytes(rel), rel)
    }

    /// A file's bytes.
    #[must_use]
    #[track_caller]
    pub fn read_bytes(&self, rel: &str) -> Vec<u8> {
        match fs::read(self.at(rel)) {
            Ok(bytes) => bytes,
            Err(error) => panic!("can't read `{rel}`: {error}"),
        }
    }

    /// Removes a file, a link, or a folder with all that is in it.
    #[track_caller]
    pub fn remove(&self, rel: &str) {
        let path = self.at(rel);
        let is_folder = fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir());
        let removed = if is_folder { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        if let Err(error) = removed {
            panic!("can't remove `{rel}`: {error}");
        }
    }

    /// Whether anything lies there, a dangling link included.
    #[must_use]
    #[track_caller]
    pub fn exists(&self, rel: &str) -> bool {
        fs::symlink_metadata(self.at(rel)).is_ok()
    }

    /// All files and links, sorted by the bytes of their path; nothing of what is named `.git`.
    #[must_use]
    #[track_caller]
    pub fn files(&self) -> Vec<String> {
        let mut files = Vec::new();
        collect(&self.root, "", &mut files);
        files.sort();
        files
    }

    #[track_caller]
    fn at(&self, rel: &str) -> PathBuf {
        assert_inside(rel);
        self.root.join(rel)
    }
}

/// Programs that run in it.
impl Repo {
    /// Runs git and gives its stdout as it is; panics with all of its output on failure.
    #[track_caller]
    pub fn git(&self, args: &[&str]) -> String {
        let output = self.try_git(args);
        assert!(output.status == 0, "git {}: {output:#?}", args.join(" "));
        output.stdout
    }

    /// Runs git, whatever comes of it.
    #[track_caller]
    pub fn try_git(&self, args: &[&str]) -> Output {
        let mut git = self.command("git");
        finish(git.args(args).env("GIT_AUTHOR_DATE", DATE).env("GIT_COMMITTER_DATE", DATE))
    }

    /// Commits all that differs from the last commit, new files included; there may be nothing.
    #[track_caller]
    pub fn commit_all(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--allow-empty", "--message", message]);
    }

    /// A command in the root folder, ready for arguments. Its environment has `PATH`, a home folder and `XDG_*`
    /// folders of its own, a git configuration that is empty, and (on Windows) what programs need to start; no
    /// locale, no time zone, no `NO_COLOR`, no other `GIT_*`.
    #[must_use]
    pub fn command(&self, bin: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(bin);
        command.current_dir(&self.root).env_clear();
        command.envs(KEPT.iter().filter_map(|name| env::var_os(name).map(|value| (name, value))));
        command.env("HOME", &self.home);
        if cfg!(windows) {
            command.env("USERPROFILE", &self.home);
        }
        for (name, folder) in [
            ("XDG_CONFIG_HOME", ".config"),
            ("XDG_CACHE_HOME", ".cache"),
            ("XDG_DATA_HOME", ".local/share"),
            ("XDG_STATE_HOME", ".local/state"),
            ("XDG_RUNTIME_DIR", ".run"),
        ] {
            command.env(name, self.home.join(folder));
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_TERMINAL_PROMPT", "0");
        command.env("GIT_CONFIG_SYSTEM", &self.gitconfig).env("GIT_CONFIG_GLOBAL", &self.gitconfig);
        command.env("GIT_CEILING_DIRECTORIES", &self.ceiling);
        command
    }

    /// Runs `bin` in the root folder (see [`Repo::command`]) without input; panics if it can't be started or
    /// writes anything but UTF-8.
    #[track_caller]
    pub fn run(&self, bin: impl AsRef<OsStr>, args: &[&str]) -> Output {
        finish(self.command(bin).args(args))
    }
}

#[track_caller]
fn finish(command: &mut Command) -> Output {
    match command.output() {
        Ok(output) => Output {
            status: output.status.code().unwrap_or(-1),
            stdout: text(output.stdout, "stdout"),
            stderr: text(output.stderr, "stderr"),
        },
        Err(error) => panic!("can't start {}: {error}", command.get_program().display()),
    }
}

#[track_caller]
fn text(bytes: Vec<u8>, of: &str) -> String {
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => panic!("`{of}` is not UTF-8: {error}"),
    }
}

#[track_caller]
fn made<T>(result: std::io::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("can't set up a temporary folder: {error}"),
    }
}

/// `path` as git will name it: without links where that leaves it an ordinary path (Windows gives `\\?\…`).
#[track_caller]
fn resolved(path: &Path) -> PathBuf {
    if cfg!(windows) { path.to_path_buf() } else { made(path.canonicalize()) }
}

/// Adds what lies in `folder`, named `prefix` in front of each name.
#[track_caller]
fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) {
    for entry in made(fs::read_dir(folder)) {
        let entry = made(entry);
        let name = entry.file_name();
        if name == ".git" {
            continue;
        }
        let path = format!("{prefix}{}", name.to_string_lossy());
        if made(entry.file_type()).is_dir() {
            collect(&entry.path(), &format!("{path}/"), files);
        } else {
            files.push(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repo_holds_its_fixture_and_nothing_else() {
        let repo = Repo::new("//- b.md\nb\n//- a/c.md bom\nc\n");
        assert_eq!(repo.files(), ["a/c.md", "b.md"]);
        assert_eq!(repo.read("b.md"), "b\n");
        assert_eq!(repo.read_bytes("a/c.md"), b"\xef\xbb\xbfc\n");
    }

    #[test]
    fn files_come_and_go() {
        let repo = Repo::new("");
        repo.write("x/y.md", "y");
        repo.add("//- x/z.md\nz\n");
        assert_eq!(repo.files(), ["x/y.md", "x/z.md"]);
        repo.remove("x/y.md");
        assert!(!repo.exists("x/y.md") && repo.exists("x/z.md"));
        repo.remove("x");
        assert!(!repo.exists("x"));
    }

    #[test]
    fn commits_go_to_main_and_are_the_same_everywhere() {
        let heads = [(); 2].map(|()| {
            let repo = Repo::new("//- a\na\n");
            repo.commit_all("one");
            assert_eq!(repo.git(&["branch", "--show-current"]), "main\n");
            assert_eq!(repo.git(&["status", "--porcelain"]), "");
            repo.git(&["rev-parse", "HEAD"])
        });
        assert_eq!(heads[0], heads[1]);
    }

    #[test]
    fn no_configuration_but_the_repository_s_own_is_seen() {
        let repo = Repo::new("");
        let origins = repo.git(&["config", "--list", "--show-scope"]);
        assert!(origins.lines().all(|line| line.starts_with("local\t")), "{origins}");
    }

    #[test]
    fn a_folder_without_git_belongs_to_no_repository() {
        let repo = Repo::without_git("//- a\na\n");
        assert_ne!(repo.try_git(&["rev-parse", "--git-dir"]).status, 0);
        assert_eq!(repo.files(), ["a"]);
    }

    #[cfg(unix)]
    #[test]
    fn programs_see_a_clean_environment() {
        let repo = Repo::new("");
        let output = repo.run("env", &[]).exits(0);
        let mut names: Vec<_> =
            output.stdout.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
        names.retain(|name| !name.starts_with("XDG_") && !name.starts_with("GIT_"));
        names.sort_unstable();
        assert_eq!(names, ["HOME", "PATH"]);
        assert!(repo.home().read_dir().is_ok_and(|mut entries| entries.next().is_none()));
    }

    #[cfg(unix)]
    #[test]
    fn programs_run_in_the_root() {
        let repo = Repo::new("");
        assert_eq!(Path::new(repo.run("pwd", &[]).exits(0).stdout.trim_end()), repo.path());
        assert_eq!(repo.run("false", &[]).status, 1);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_listed_and_not_followed() {
        let repo = Repo::new("//- a/b\nb\n");
        made(std::os::unix::fs::symlink("a", repo.path().join("l")));
        made(std::os::unix::fs::symlink("nowhere", repo.path().join("m")));
        assert_eq!(repo.files(), ["a/b", "l", "m"]);
        repo.remove("l");
        repo.remove("m");
        assert_eq!(repo.files(), ["a/b"]);
    }

    #[test]
    #[should_panic(expected = "exit status")]
    fn an_unexpected_status_panics_with_the_output() {
        let repo = Repo::without_git("");
        repo.try_git(&["rev-parse", "--git-dir"]).exits(0);
    }

    #[test]
    #[should_panic(expected = "git nonsense")]
    fn a_git_that_fails_panics() {
        Repo::new("").git(&["nonsense"]);
    }
}
