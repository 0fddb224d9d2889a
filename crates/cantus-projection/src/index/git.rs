//! Git, asked about one index.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use cantus_fs::Disk;
use duct::{Expression, cmd};

use crate::git::{ELSEWHERE, NO_MONITOR, path};
use crate::index::IndexError;

/// What makes git answer for another repository or working tree than those of the folder that it runs in.
const REPOSITORY: [&str; 3] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"];
/// The names of the blob without bytes, as SHA-1 and as SHA-256.
const EMPTY: [&str; 2] = [
    "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391",
    "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813",
];

/// One entry of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Staged {
    pub(super) mode: u32,
    pub(super) blob: String,
    /// Not 0 where the path is unmerged.
    pub(super) stage: u8,
    /// Below the top folder.
    pub(super) path: PathBuf,
}

/// A repository, and what of the environment speaks of it.
#[derive(Clone, Debug)]
pub(super) struct Git {
    top: PathBuf,
    environment: Environment,
}

/// Which of git's variables count.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Environment {
    /// None: they speak of another repository, or there are none.
    Ignored,
    /// Those of the index and the objects; the repository is that of the top folder.
    Index,
    /// All; the repository is this folder.
    All(OsString),
}

impl Git {
    /// The repository that holds `start`. As in the search for a project, the first folder upward with `.git` decides, so that
    /// worktrees and submodules stand for themselves; without one, what the environment names.
    pub(super) fn at(disk: &dyn Disk, start: &Path) -> Result<Self, IndexError> {
        let has_git = |folder: &&Path| matches!(disk.kind(&folder.join(".git")), Ok(Some(_)));
        let Some(top) = start.ancestors().find(has_git) else { return Self::named(disk, start) };
        let own = Self { top: top.to_path_buf(), environment: Environment::Ignored };
        if ELSEWHERE.iter().all(|name| std::env::var_os(name).is_none()) {
            return Ok(own);
        }
        let folder = own.text(&["rev-parse", "--absolute-git-dir"])?;
        // In a hook the variables are those of the repository that commits; this may be another one.
        let theirs = told(&["rev-parse", "--absolute-git-dir"]);
        let real = |folder: &OsString| disk.canonical(Path::new(folder)).ok();
        let same = theirs.is_none_or(|theirs| real(&theirs) == real(&folder));
        let environment = if same { Environment::Index } else { Environment::Ignored };
        Ok(Self { environment, ..own })
    }

    /// The repository that the environment names, if `start` lies in its working tree.
    fn named(disk: &dyn Disk, start: &Path) -> Result<Self, IndexError> {
        let top = told(&["rev-parse", "--show-toplevel"]).ok_or(IndexError::NoRepository)?;
        let folder = told(&["rev-parse", "--absolute-git-dir"]).ok_or(IndexError::NoRepository)?;
        let real = disk.canonical(Path::new(&top)).ok();
        let is_top = |folder: &&Path| disk.canonical(folder).ok() == real;
        let top =
            start.ancestors().find(is_top).filter(|_| real.is_some()).ok_or(IndexError::NoRepository)?;
        Ok(Self { top: top.to_path_buf(), environment: Environment::All(folder) })
    }

    /// The top folder of the working tree, as `start` was named.
    pub(super) fn top(&self) -> &Path {
        &self.top
    }

    /// The variables to take from a child's environment, and one to put there.
    pub(super) fn environment(&self) -> (&'static [&'static str], Option<(&'static str, &OsString)>) {
        match &self.environment {
            Environment::Ignored => (&ELSEWHERE, None),
            Environment::Index => (&REPOSITORY, None),
            Environment::All(folder) => (&[], Some(("GIT_DIR", folder))),
        }
    }

    /// Every entry of the index but those that are only announced.
    pub(super) fn entries(&self) -> Result<Vec<Staged>, IndexError> {
        let args = ["ls-files", "--stage", "-z"];
        let answer = self.ask(&args)?;
        let rows = answer.split(|byte| *byte == 0).filter(|row| !row.is_empty());
        let mut entries = rows
            .map(entry)
            .collect::<Option<Vec<_>>>()
            .ok_or_else(|| IndexError::Unreadable { command: args.join(" ") })?;
        let is_empty = |entry: &Staged| EMPTY.contains(&entry.blob.as_str());
        if entries.iter().any(is_empty) {
            let there = self.staged_paths()?;
            entries.retain(|entry| !is_empty(entry) || entry.stage != 0 || there.contains(&entry.path));
        }
        Ok(entries)
    }

    /// The paths that the next commit would have: an entry that `git add --intent-to-add` made looks like an empty file, and
    /// only a comparison knows it.
    fn staged_paths(&self) -> Result<BTreeSet<PathBuf>, IndexError> {
        let nothing = self.text(&["hash-object", "-t", "tree", "--stdin"])?;
        let nothing = nothing.to_string_lossy();
        let answer = self.ask(&[
            "diff-index",
            "--cached",
            "--ita-invisible-in-index",
            "--no-renames",
            "--name-only",
            "-z",
            &nothing,
        ])?;
        Ok(answer.split(|byte| *byte == 0).filter_map(path).collect())
    }

    /// What git answers, without its line end.
    fn text(&self, args: &[&str]) -> Result<OsString, IndexError> {
        let answer = self.ask(args)?;
        line(&answer).ok_or_else(|| IndexError::Unreadable { command: args.join(" ") })
    }

    fn ask(&self, args: &[&str]) -> Result<Vec<u8>, IndexError> {
        let (removed, set) = self.environment();
        let command = cmd("git", NO_MONITOR.iter().chain(args));
        let command = removed.iter().fold(command, |command, name| command.env_remove(name));
        let command = set.iter().fold(command, |command, (name, value)| command.env(name, value));
        let output = quiet(&command.dir(&self.top)).stderr_capture().run().map_err(IndexError::NoGit)?;
        if output.status.success() {
            return Ok(output.stdout);
        }
        let said = String::from_utf8_lossy(&output.stderr).replace(&*self.top.to_string_lossy(), ".");
        let said: Vec<_> = said.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        Err(IndexError::Failed { command: args.join(" "), said: said.join("; ") })
    }
}

/// What git answers in the working folder of this process, all variables as they are; `None` if it fails.
fn told(args: &[&str]) -> Option<OsString> {
    let output = quiet(&cmd("git", args)).stderr_null().run().ok()?;
    line(&output.stdout).filter(|_| output.status.success())
}

/// A command that reads nothing, changes nothing and whose exit status is looked at by the caller.
fn quiet(command: &Expression) -> Expression {
    let command = command.env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
    command.stdin_null().stdout_capture().unchecked()
}

/// `<mode> <blob> <stage>\t<path>`.
fn entry(row: &[u8]) -> Option<Staged> {
    let tab = row.iter().position(|byte| *byte == b'\t')?;
    let mut words = std::str::from_utf8(&row[..tab]).ok()?.split(' ');
    Some(Staged {
        mode: u32::from_str_radix(words.next()?, 8).ok()?,
        blob: words.next()?.to_owned(),
        stage: words.next()?.parse().ok()?,
        path: path(&row[tab + 1..])?,
    })
}

/// The text of one line; what isn't UTF-8 is kept where the system's names allow it.
fn line(answer: &[u8]) -> Option<OsString> {
    path(answer.strip_suffix(b"\n").unwrap_or(answer)).map(PathBuf::into_os_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_of_the_index() {
        let blob = "0123456789abcdef0123456789abcdef01234567";
        let row = format!("120000 {blob} 0\ta\tb/c");
        let expected = Staged { mode: 0o120_000, blob: blob.to_owned(), stage: 0, path: "a\tb/c".into() };
        assert_eq!(entry(row.as_bytes()), Some(expected));
        assert_eq!(entry(b"100644 abc"), None);
        assert_eq!(entry(b"10x644 abc 0\ta"), None);
    }
}
