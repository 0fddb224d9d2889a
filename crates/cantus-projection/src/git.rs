//! What git holds of a file, asked of git itself.

use std::collections::BTreeSet;
use std::path::Path;

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

/// Where git holds one of these contents of `path`; `None` if nowhere, or if there is no git here.
pub(crate) fn kept(root: &Path, path: &RelPath, contents: &[&[u8]]) -> Option<Kept> {
    if is_unmerged(root, path) {
        return holds_every_line(root, path, contents).then_some(Kept::Unmerged);
    }
    let holds = |object: &str| {
        git(root, &["cat-file", "blob", object])
            .is_some_and(|blob| contents.iter().any(|content| *content == blob))
    };
    if holds(&format!("HEAD:./{path}")) {
        return Some(Kept::Head);
    }
    holds(&format!(":0:./{path}")).then_some(Kept::Index)
}

fn is_unmerged(root: &Path, path: &RelPath) -> bool {
    git(root, &["ls-files", "--unmerged", "--", path.as_str()]).is_some_and(|lines| !lines.is_empty())
}

/// Whether each line of one of the contents of an unmerged path is git's own marker or stands in a side of the merge. A merge
/// makes such a file; a line that someone wrote into it since is nowhere else.
fn holds_every_line(root: &Path, path: &RelPath, contents: &[&[u8]]) -> bool {
    let sides: Vec<_> =
        (1..=3).filter_map(|stage| git(root, &["cat-file", "blob", &format!(":{stage}:./{path}")])).collect();
    let lines: BTreeSet<&[u8]> =
        sides.iter().flat_map(|side| side.split(|byte| *byte == b'\n')).map(<[u8]>::trim_ascii_end).collect();
    let is_marker = |line: &[u8]| {
        [b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>"].iter().any(|marker| line.starts_with(*marker))
    };
    let is_kept = |line: &[u8]| is_marker(line) || lines.contains(line.trim_ascii_end());
    contents.iter().any(|content| content.split(|byte| *byte == b'\n').all(is_kept))
}

/// Whether the file `path` is there and git neither has it nor wants it; `false` outside git.
pub(crate) fn ignores(root: &Path, path: &RelPath) -> bool {
    let args = ["ls-files", "--others", "--ignored", "--exclude-standard", "--", path.as_str()];
    git(root, &args).is_some_and(|files| !files.is_empty())
}

/// The absolute path of a file in the git folder of `root`; `None` outside git.
pub(crate) fn path_in_git_folder(root: &Path, name: &str) -> Option<std::path::PathBuf> {
    let answer = git(root, &["rev-parse", "--git-path", name])?;
    let path = String::from_utf8(answer).ok()?;
    Some(root.join(path.trim_end_matches(['\n', '\r'])))
}

/// What would make git answer for another repository than the one of the folder: hooks set these, and what some other
/// repository holds proves nothing here.
const ELSEWHERE: [&str; 6] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
];

/// What git answers in `root`; `None` if it fails or isn't there.
fn git(root: &Path, args: &[&str]) -> Option<Vec<u8>> {
    let command = ELSEWHERE.iter().fold(cmd("git", args), |command, name| command.env_remove(name));
    let output = command
        .dir(root)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .stdin_null()
        .stdout_capture()
        .stderr_null()
        .unchecked()
        .run()
        .ok()?;
    output.status.success().then_some(output.stdout)
}
