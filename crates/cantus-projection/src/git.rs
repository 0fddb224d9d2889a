//! What git holds of a file, asked of git itself.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cantus_manifest::RelPath;
use duct::cmd;

/// Where git holds the very bytes of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// In the commit that is checked out.
    Head,
    /// In the index.
    Index,
    /// The path is unmerged, and each line of it stands in a side of the merge.
    Unmerged,
}

/// How long git may take for one answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// What would make git answer for another repository than the one of the folder: hooks set these, and what some other
/// repository holds proves nothing here.
pub(crate) const ELSEWHERE: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// Nothing is locked, asked of the user or fetched, and no path is a pattern.
const QUIET: [(&str, &str); 4] = [
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_NO_LAZY_FETCH", "1"),
];

/// The repository's configuration must not make git start programs of its choice.
const NO_PROGRAMS: [&str; 4] = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"];

/// The same for questions that start no hook.
pub(crate) const NO_MONITOR: [&str; 2] = ["-c", "core.fsmonitor=false"];

/// The git of one folder. Once it has not answered in time it isn't asked again.
#[derive(Debug)]
pub(crate) struct Git<'a> {
    root: &'a Path,
    is_silent: Cell<bool>,
}

impl<'a> Git<'a> {
    /// The git of the folder `root`, an absolute path.
    pub(crate) fn new(root: &'a Path) -> Self {
        Self { root, is_silent: Cell::new(false) }
    }

    /// Whether an answer didn't come in time.
    pub(crate) fn is_silent(&self) -> bool {
        self.is_silent.get()
    }

    /// Where git holds one of these contents of `path`; `None` if nowhere, or if there is no git here.
    pub(crate) fn kept(&self, path: &RelPath, contents: &[&[u8]]) -> Option<Kept> {
        if self.is_unmerged(path) {
            return self.holds_every_line(path, contents).then_some(Kept::Unmerged);
        }
        let holds = |place: &str| {
            self.blob(place, path).is_some_and(|blob| contents.iter().any(|content| *content == blob))
        };
        if holds("HEAD") {
            return Some(Kept::Head);
        }
        holds(":0").then_some(Kept::Index)
    }

    /// How many lines of `content`, blank ones aside, neither git holds for `path` nor `new` has.
    pub(crate) fn lines_held_nowhere(&self, path: &RelPath, content: &[u8], new: &str) -> usize {
        let held = ["HEAD", ":0", ":1", ":2", ":3"].iter().filter_map(|place| self.blob(place, path));
        let held: Vec<_> = held.chain([new.as_bytes().to_vec()]).collect();
        let known: BTreeSet<&[u8]> = held.iter().flat_map(|text| lines(text)).collect();
        lines(content).filter(|line| !line.is_empty() && !known.contains(line)).count()
    }

    /// The absolute path of a file in the git folder; `None` outside git.
    pub(crate) fn path_in_git_folder(&self, name: &str) -> Option<PathBuf> {
        Some(self.path(&self.ask(&["rev-parse", "--git-path", name])?))
    }

    /// The top of the work tree; `None` where there is none, or no git.
    pub(crate) fn top(&self) -> Option<PathBuf> {
        Some(self.path(&self.ask(&["rev-parse", "--show-toplevel"])?))
    }

    /// The git folder that all work trees of the repository share.
    pub(crate) fn common_folder(&self) -> Option<PathBuf> {
        Some(self.path(&self.ask(&["rev-parse", "--git-common-dir"])?))
    }

    /// The folder of hooks, `core.hooksPath` heeded, in git's words: a relative path starts at the folder that is asked, and is
    /// right only if that is the top of a work tree.
    pub(crate) fn hooks_folder(&self) -> Option<PathBuf> {
        let answer = self.run(&NO_MONITOR, &["rev-parse", "--git-path", "hooks"], Vec::new())?;
        Some(line(&good(answer)?))
    }

    /// Runs `git config` on the repository's own file; `None` if it fails.
    pub(crate) fn configure(&self, args: &[&str]) -> Option<Vec<u8>> {
        self.ask(&[&["config", "--local"], args].concat())
    }

    /// Merges three files as git merges text: the result, and whether it has no conflict. `None` if git can't.
    pub(crate) fn merge_file(&self, files: [&str; 3]) -> Option<(Vec<u8>, bool)> {
        let args = [&["merge-file", "--stdout", "--quiet", "--"], files.as_slice()].concat();
        let (text, status) = self.run(&NO_PROGRAMS, &args, Vec::new())?;
        // The status is the number of conflicts, 127 at most, and more than that for an error.
        status.filter(|status| (0..=127).contains(status)).map(|status| (text, status == 0))
    }

    /// A path that git printed as one line.
    fn path(&self, answer: &[u8]) -> PathBuf {
        self.root.join(line(answer))
    }

    /// Whether the file `path` is there and git neither has it nor wants it; `false` outside git.
    pub(crate) fn ignores(&self, path: &RelPath) -> bool {
        let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--", path.as_str()];
        self.ask(&args).is_some_and(|files| !files.is_empty())
    }

    fn is_unmerged(&self, path: &RelPath) -> bool {
        self.ask(&["ls-files", "--unmerged", "--", path.as_str()]).is_some_and(|lines| !lines.is_empty())
    }

    /// Whether each line of one of the contents of an unmerged path is git's own marker or stands in a side of the merge. A
    /// merge makes such a file; a line that someone wrote into it since is nowhere else.
    fn holds_every_line(&self, path: &RelPath, contents: &[&[u8]]) -> bool {
        let sides: Vec<_> = [":1", ":2", ":3"].iter().filter_map(|place| self.blob(place, path)).collect();
        let known: BTreeSet<&[u8]> = sides.iter().flat_map(|side| lines(side)).collect();
        contents.iter().any(|content| lines(content).all(|line| is_marker(line) || known.contains(line)))
    }

    /// The bytes of `path` in a commit or at a stage of the index.
    fn blob(&self, place: &str, path: &RelPath) -> Option<Vec<u8>> {
        self.ask(&["cat-file", "blob", &format!("{place}:./{path}")])
    }

    /// What git answers; `None` if it fails, isn't there or takes too long.
    pub(crate) fn ask(&self, args: &[&str]) -> Option<Vec<u8>> {
        self.ask_about(args, Vec::new())
    }

    /// [`ask`](Self::ask) with `input` on git's standard input.
    pub(crate) fn ask_about(&self, args: &[&str], input: Vec<u8>) -> Option<Vec<u8>> {
        good(self.run(&NO_PROGRAMS, args, input)?)
    }

    /// What git prints and its exit status; `None` if it isn't there or takes too long.
    fn run(&self, settings: &[&str], args: &[&str], input: Vec<u8>) -> Option<(Vec<u8>, Option<i32>)> {
        if self.is_silent() {
            return None;
        }
        let command = cmd("git", settings.iter().chain(args)).dir(self.root);
        let command = ELSEWHERE.iter().fold(command, |command, name| command.env_remove(name));
        let command = QUIET.iter().fold(command, |command, (name, value)| command.env(name, value));
        let command = command.stdin_bytes(input).stdout_capture().stderr_null().unchecked();
        let running = command.start().ok()?;
        match running.wait_timeout(PATIENCE).ok()? {
            Some(output) => Some((output.stdout.clone(), output.status.code())),
            None => {
                self.is_silent.set(true);
                // Not waited for: what it started may hold its end of the pipe for longer.
                let _ = running.kill();
                None
            }
        }
    }
}

/// What git printed, if it ended well.
fn good((answer, status): (Vec<u8>, Option<i32>)) -> Option<Vec<u8>> {
    (status == Some(0)).then_some(answer)
}

/// A path that git printed in front of a line end of its own; none if it printed nothing else.
fn line(answer: &[u8]) -> PathBuf {
    let answer = answer.strip_suffix(b"\n").unwrap_or(answer);
    let answer = answer.strip_suffix(b"\r").filter(|_| cfg!(windows)).unwrap_or(answer);
    path(answer).unwrap_or_default()
}

/// A path in git's bytes, which need not be UTF-8 where the system's names need not; `None` if it is empty.
#[cfg(unix)]
pub(crate) fn path(bytes: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt as _;
    (!bytes.is_empty()).then(|| std::ffi::OsString::from_vec(bytes.to_vec()).into())
}

/// The same where names are no bytes.
#[cfg(not(unix))]
pub(crate) fn path(bytes: &[u8]) -> Option<PathBuf> {
    (!bytes.is_empty()).then(|| String::from_utf8_lossy(bytes).into_owned().into())
}

/// Whether a line is one that git sets around the sides of a conflict.
pub(crate) fn is_marker(line: &[u8]) -> bool {
    [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"].iter().any(|marker| line.starts_with(*marker))
}

/// The lines of a text without the blanks at their ends.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end)
}
