//! What git does with generated files where two branches meet.

use std::path::{Path, PathBuf};

use cantus_fs::{Disk, ReadError, Root, TargetError};
use cantus_manifest::RelPath;
use thiserror::Error;

use crate::attributes::{change_attributes, pattern, with_lines};
use crate::git::Git;
use crate::hook::program;
use crate::line_ends::normalise;
use crate::lock::is_lock;
use crate::notice::is_notice;
use crate::written::{HandEdit, Written};

/// The most bytes that one side of a merge may have.
const MOST_BYTES: u64 = 1 << 30;
const SECTION: &str = "merge.cantus";
const DRIVER: &str = "cantus";
const NAME: &str = "generated files of Cantus";

/// Why the driver was not installed, removed or run.
#[derive(Debug, Error)]
pub enum MergeDriverError {
    /// There is no work tree, or no git.
    #[error("not in a git work tree, or git can't be run here")]
    NoGit,
    /// Git refused to change the repository's configuration.
    #[error("git could not change the section `{SECTION}` of this repository's configuration")]
    Config,
    /// `.gitattributes` can't be read or written.
    #[error(transparent)]
    Attributes(#[from] TargetError),
    /// Git goes by another line of attributes.
    #[error("git does not merge `{path}` as `.gitattributes` says: another file of attributes outranks it")]
    Outranked {
        /// The generated file.
        path: RelPath,
    },
    /// A side of the merge can't be read.
    #[error("cannot read a side of the merge of `{path}`")]
    Read {
        /// What is merged.
        path: String,
        /// Why.
        #[source]
        source: ReadError,
    },
    /// The result can't be written.
    #[error("cannot write what the merge of `{path}` gave")]
    Write {
        /// What is merged.
        path: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Git can't merge the files as text.
    #[error("git could not merge `{path}` as text")]
    Text {
        /// What is merged.
        path: String,
    },
}

/// What a change of the installation came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DriverDeed {
    /// Configuration and attributes were changed as far as needed.
    Changed,
    /// All was as it should be.
    Already,
}

/// Tells git, in the repository's own configuration and in the project's `.gitattributes`, to merge the generated `files` of the
/// project at `root` by [`merge`]; `command` regenerates them.
pub fn install_merge_driver(
    root: &Root,
    command: &str,
    files: &[RelPath],
) -> Result<DriverDeed, MergeDriverError> {
    let git = Git::new(root.path());
    git.top().ok_or(MergeDriverError::NoGit)?;
    let driver = format!("{} merge-driver run %O %A %B %P", program(command));
    let mut changed = change_attributes(root, |old| with_lines(old, files.iter().map(line)))?;
    let outranked = outranked(&git, files)?;
    if !outranked.is_empty() {
        let moved: Vec<_> = outranked.iter().map(line).collect();
        let is_moved = |line: &str| moved.iter().any(|moved| moved == line);
        let to_the_end = |old: &[u8]| with_lines(&without_lines(old, is_moved), moved.iter().cloned());
        changed |= change_attributes(root, to_the_end)?;
    }
    // Attributes that name a driver which git doesn't know harm nobody, and what makes them unusable was found by now.
    for (key, value) in [("name", NAME), ("driver", &driver)] {
        let key = format!("{SECTION}.{key}");
        let old = git.configure(&["--get", &key]);
        if old.is_none_or(|old| old.trim_ascii_end() != value.as_bytes()) {
            git.configure(&["--replace-all", &key, value]).ok_or(MergeDriverError::Config)?;
            changed = true;
        }
    }
    if let Some(path) = self::outranked(&git, &outranked)?.into_iter().next() {
        return Err(MergeDriverError::Outranked { path });
    }
    Ok(if changed { DriverDeed::Changed } else { DriverDeed::Already })
}

/// Those of `files` that git would merge otherwise.
fn outranked(git: &Git<'_>, files: &[RelPath]) -> Result<Vec<RelPath>, MergeDriverError> {
    if files.is_empty() {
        return Ok(Vec::new());
    }
    let args = ["check-attr", "-z", "merge", "--"].into_iter();
    let args: Vec<_> = args.chain(files.iter().map(RelPath::as_str)).collect();
    let answer = git.ask(&args).ok_or(MergeDriverError::NoGit)?;
    // A path, the attribute and its value for each file, in their order.
    let values = answer.split(|byte| *byte == 0).skip(2).step_by(3);
    let pairs = files.iter().zip(values);
    Ok(pairs.filter(|(_, value)| *value != DRIVER.as_bytes()).map(|(path, _)| path.clone()).collect())
}

/// Takes away what [`install_merge_driver`] wrote for any files, and nothing else.
pub fn uninstall_merge_driver(root: &Root) -> Result<DriverDeed, MergeDriverError> {
    let git = Git::new(root.path());
    git.top().ok_or(MergeDriverError::NoGit)?;
    let mut changed = false;
    if git.configure(&["--get-regexp", r"^merge\.cantus\."]).is_some() {
        git.configure(&["--remove-section", SECTION]).ok_or(MergeDriverError::Config)?;
        changed = true;
    }
    changed |= change_attributes(root, |old| without_lines(old, is_ours))?;
    Ok(if changed { DriverDeed::Changed } else { DriverDeed::Already })
}

/// How a file was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// As text, without a conflict.
    Clean,
    /// Both sides changed the same place. The result is our side, unchanged: `check` calls it stale if the merged notes say
    /// anything else, and `project` writes it anew.
    Ours,
    /// The same where a side was edited by hand after it was generated, so that no note holds its text: a conflict. The result
    /// is our side, unchanged.
    Edited(Side, HandEdit),
    /// The same in a file that a side did not generate: it has git's markers.
    Conflict,
}

/// One of the two that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Where the merge takes place.
    Ours,
    /// What is merged into it.
    Theirs,
}

/// One merge that git asks for: absolute paths of the three sides.
#[derive(Clone, Debug)]
pub struct Sides {
    /// What both come from; may be empty.
    pub base: PathBuf,
    /// Our side, and where the result goes.
    pub ours: PathBuf,
    /// Their side.
    pub theirs: PathBuf,
    /// The path in the repository.
    pub path: String,
    /// The names of the commits that are merged into HEAD, as far as git told them: a merge does, a rebase doesn't.
    pub heads: Vec<String>,
}

/// Merges one file.
///
/// The notes can't be asked: git merges all files before it writes any, in no order to rely on. So the result depends on the
/// three sides alone, and whether it is a conflict also on the locks that were committed.
pub fn merge(root: &Root, sides: &Sides) -> Result<Merged, MergeDriverError> {
    let Sides { base, ours, theirs, path, .. } = sides;
    let disk = root.disk().as_ref();
    let texts = [ours, base, theirs].map(|side| side.to_str());
    let [Some(our), Some(base), Some(their)] = texts else {
        return Err(MergeDriverError::Text { path: path.clone() });
    };
    let git = Git::new(root.path());
    let merged = git.merge_file([our, base, their]);
    let (text, clean) = merged.ok_or_else(|| MergeDriverError::Text { path: path.clone() })?;
    if !clean {
        let texts = [text_of(disk, ours, path)?, text_of(disk, theirs, path)?];
        // What a person wrote must not vanish.
        if texts.iter().all(|text| is_generated(text)) {
            let edit = hand_edit(&git, sides, &texts);
            return Ok(edit.map_or(Merged::Ours, |(side, edit)| Merged::Edited(side, edit)));
        }
    }
    let staged = disk.stage(ours, &text);
    let written = staged.and_then(|staged| disk.commit(staged));
    written.map_err(|source| MergeDriverError::Write { path: path.clone(), source })?;
    Ok(if clean { Merged::Clean } else { Merged::Conflict })
}

/// One side with line feeds alone.
fn text_of(disk: &dyn Disk, side: &Path, path: &str) -> Result<String, MergeDriverError> {
    let read = disk.read(side, MOST_BYTES);
    let bytes = read.map_err(|source| MergeDriverError::Read { path: path.to_owned(), source })?;
    Ok(String::from_utf8_lossy(&normalise(&bytes).1).into_owned())
}

/// Whether a text says that it was generated by us.
fn is_generated(text: &str) -> bool {
    is_lock(text) || is_notice(text.lines().next().unwrap_or_default())
}

/// What was written by hand into our or their text of a file, theirs first, since that is what the merge would drop.
fn hand_edit(git: &Git<'_>, sides: &Sides, [ours, theirs]: &[String; 2]) -> Option<(Side, HandEdit)> {
    let Sides { path, heads, .. } = sides;
    let near = Written::by_heads(git, heads, path);
    let judges_ours = || !heads.is_empty() && !is_made_by_a_merge(git, path);
    if near.edit(theirs).is_none() && (near.edit(ours).is_none() || !judges_ours()) {
        return None;
    }
    let far = Written::by_history(git, heads, path);
    if let Some(edit) = far.edit(theirs) {
        return Some((Side::Theirs, edit));
    }
    // Our text stays, whoever wrote it. What git itself put together, in an earlier merge or in a rebase that is under way, no
    // lock may speak of, and it is no reason to stop.
    let edit = far.edit(ours).filter(|_| judges_ours())?;
    Some((Side::Ours, edit))
}

/// Whether the text of `path` in HEAD came about where branches met.
fn is_made_by_a_merge(git: &Git<'_>, path: &str) -> bool {
    let commit = git.ask(&["rev-list", "--max-count=1", "--parents", "HEAD", "--", path]).unwrap_or_default();
    // The commit, then its parents.
    commit.split(|byte| *byte == b' ').count() > 2
}

/// The attributes without the lines that are to go.
fn without_lines(old: &[u8], goes: impl Fn(&str) -> bool) -> Vec<u8> {
    let goes = |line: &&[u8]| std::str::from_utf8(line.trim_ascii_end()).is_ok_and(&goes);
    lines(old).filter(|line| !goes(line)).collect::<Vec<_>>().concat()
}

/// Whether a line of attributes has the form of [`line`].
fn is_ours(line: &str) -> bool {
    let Some(pattern) = line.strip_suffix(&format!(" merge={DRIVER}")) else { return false };
    match pattern.strip_prefix('"') {
        Some(quoted) => quoted.starts_with('/') && quoted.ends_with('"'),
        None => pattern.starts_with('/') && !pattern.contains([' ', '\t']),
    }
}

/// The lines of a text with their ends.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// The line of attributes for one file.
fn line(path: &RelPath) -> String {
    format!("{} merge={DRIVER}", pattern(path, ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files() -> Vec<RelPath> {
        ["AGENTS.md", "docs/a [b].md"].map(|path| RelPath::new(path).unwrap()).to_vec()
    }

    #[track_caller]
    fn check(old: &str, new: &str, removed: &str) {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        assert_eq!(text(with_lines(old.as_bytes(), files().iter().map(line))), new);
        assert_eq!(text(with_lines(new.as_bytes(), files().iter().map(line))), new);
        assert_eq!(text(without_lines(new.as_bytes(), is_ours)), removed);
    }

    #[test]
    fn lines_are_added_once_and_alone_removed() {
        const ONE: &str = "/AGENTS.md merge=cantus\n";
        const TWO: &str = "\"/docs/a \\\\[b].md\" merge=cantus\n";
        check("", &format!("{ONE}{TWO}"), "");
        check("* text=auto", &format!("* text=auto\n{ONE}{TWO}"), "* text=auto\n");
        check(&format!("{ONE}# x\n"), &format!("{ONE}# x\n{TWO}"), "# x\n");
        check("*.c diff\r\n", &format!("*.c diff\n{ONE}{TWO}").replace('\n', "\r\n"), "*.c diff\r\n");
    }
}
