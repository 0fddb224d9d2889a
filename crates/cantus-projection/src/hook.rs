//! The hook that judges a commit before it is made.

use std::io;
use std::path::{Component, Path, PathBuf};

use cantus_fs::{Disk, Kind, Root};
use cantus_manifest::Digest;
use thiserror::Error;

use crate::git::Git;

/// The hook's name.
const NAME: &str = "pre-commit";
/// The name of the hook that stood there before ours.
const BEFORE: &str = "pre-commit.before-cantus";
/// The most bytes that a hook may have to be looked at.
const MOST_BYTES: u64 = 1 << 20;
/// The line that tells our hook; the digest of the other lines follows.
const MARK: &str =
    "# Written by `cantus hook install`, taken away by `cantus hook uninstall`. SHA-256 of the rest: ";
const SHEBANG: &str = "#!/bin/sh\n";
/// The earlier hook runs first, and what it says of the commit holds.
const FIRST: &str = "\
case $0 in
*/*) before=${0%/*}/pre-commit.before-cantus ;;
*) before=./pre-commit.before-cantus ;;
esac
if [ -x \"$before\" ]; then
    \"$before\" \"$@\" || exit
fi
";

/// What was done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookDeed {
    /// The hook was written.
    Installed,
    /// The hook was written, and runs the one that stood there first.
    Chained,
    /// A hook of ours with another text, or one that could not be run, was replaced.
    Updated,
    /// The hook was there already, byte for byte, and can be run.
    Already,
    /// The hook was removed.
    Removed,
    /// The hook was removed, and the earlier one stands there again.
    Restored,
    /// There is no hook of ours to remove.
    Absent,
}

/// What was done, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookReport {
    /// What was done.
    pub deed: HookDeed,
    /// The hook's path: from the top of the work tree, or behind `<git folder>/`.
    pub path: String,
    /// The path of the earlier hook, likewise, present or not.
    pub before: String,
}

/// Why nothing was done.
#[derive(Debug, Error)]
pub enum HookError {
    /// There is no work tree, or no git.
    #[error("not in a git work tree, or git can't be run here")]
    NoGit,
    /// The folder of hooks is not the repository's.
    #[error(
        "git looks for the hooks of this repository outside of it, as `core.hooksPath` or a symlink says"
    )]
    Outside,
    /// The folder of hooks is the top of the work tree, in words that git takes for another place.
    #[error("`core.hooksPath` names the top of the work tree itself, where git finds no hooks")]
    Top,
    /// Both the hook and the earlier one's name are taken.
    #[error("there is an earlier hook `{path}` to keep, but its new name `{before}` is taken")]
    Taken {
        /// The hook.
        path: String,
        /// The name that is taken.
        before: String,
    },
    /// Something that is no hook has the hook's name, or the earlier one's.
    #[error("`{path}` is {kind}")]
    NotAFile {
        /// The name.
        path: String,
        /// What stands there.
        kind: Kind,
    },
    /// Our hook was changed by hand.
    #[error("the hook `{path}` was edited by hand: it stays")]
    Edited {
        /// The hook.
        path: String,
        /// The earlier hook, if there is one.
        before: Option<String>,
    },
    /// The disk failed.
    #[error("cannot change the hook `{path}`")]
    Io {
        /// The hook.
        path: String,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// How the project's verbs are started, as a program: `cargo xtask` where that regenerates the files, else `cantus`.
pub(crate) fn program(command: &str) -> &'static str {
    if command.trim() == "cargo xtask project" { "cargo xtask" } else { "cantus" }
}

/// Writes the hook for the project at `root`, whose files `command` regenerates. A hook that is not ours is kept under another
/// name and run first.
pub fn install_hook(root: &Root, command: &str) -> Result<HookReport, HookError> {
    let place = Place::find(root)?;
    let disk = root.disk().as_ref();
    let current = place.current(disk)?;
    let waits = place.before_exists(disk)?;
    let earlier = match current {
        _ if waits => Earlier::Waits,
        Current::Absent | Current::Ours => Earlier::None,
        Current::Edited | Current::Foreign => Earlier::Stands,
    };
    match current {
        Current::Ours => {
            let text = text(program(command), &place.project, earlier);
            let is_same = place.read(disk).is_some_and(|bytes| bytes == text.as_bytes());
            if is_same && disk.is_program(&place.hook).map_err(|source| place.io(source))? {
                return Ok(place.report(HookDeed::Already));
            }
            let staged = disk.stage_program(&place.hook, text.as_bytes());
            staged.and_then(|staged| disk.commit(staged)).map_err(|source| place.io(source))?;
            Ok(place.report(HookDeed::Updated))
        }
        Current::Edited | Current::Foreign if waits => {
            Err(HookError::Taken { path: place.shown(NAME), before: place.shown(BEFORE) })
        }
        _ => {
            place.write(disk, program(command), earlier).map_err(|source| place.io(source))?;
            let deed = if earlier == Earlier::None { HookDeed::Installed } else { HookDeed::Chained };
            Ok(place.report(deed))
        }
    }
}

/// Removes the hook of the repository that `root` lies in, and gives the earlier one its name back. A hook that is not ours is
/// left alone.
pub fn uninstall_hook(root: &Root) -> Result<HookReport, HookError> {
    let place = Place::find(root)?;
    let disk = root.disk().as_ref();
    let waits = place.before_exists(disk)?;
    match place.current(disk)? {
        Current::Foreign => return Ok(place.report(HookDeed::Absent)),
        Current::Absent if !waits => return Ok(place.report(HookDeed::Absent)),
        Current::Edited => {
            let before = waits.then(|| place.shown(BEFORE));
            return Err(HookError::Edited { path: place.shown(NAME), before });
        }
        Current::Ours if !waits => {
            disk.remove(&place.hook).map_err(|source| place.io(source))?;
            return Ok(place.report(HookDeed::Removed));
        }
        Current::Ours => place.restore(disk).map_err(|source| place.io(source))?,
        // An earlier run was killed between the two steps.
        Current::Absent => {
            disk.rename_new(&place.before, &place.hook).map_err(|source| place.io(source))?;
        }
    }
    Ok(place.report(HookDeed::Restored))
}

/// What stands where our hook should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Current {
    Absent,
    Ours,
    Edited,
    Foreign,
}

/// The hook that ours runs first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Earlier {
    None,
    /// It has its new name.
    Waits,
    /// It stands where ours goes.
    Stands,
}

/// Where the hook goes.
struct Place {
    hook: PathBuf,
    before: PathBuf,
    /// What stands in front of a hook's name in a message.
    folder: String,
    /// The project's folder from the top of the work tree, with `/`; empty for the top itself.
    project: String,
}

impl Place {
    fn find(root: &Root) -> Result<Self, HookError> {
        let disk = root.disk().as_ref();
        let top = Git::new(root.path()).top().ok_or(HookError::NoGit)?;
        let git = Git::new(&top);
        let folder = git.hooks_folder().ok_or(HookError::NoGit)?;
        if folder.components().all(|part| part == Component::CurDir) {
            return Err(HookError::Top);
        }
        let folder = top.join(folder);
        let common = git.common_folder().ok_or(HookError::NoGit)?;
        let real = real(disk, &folder).ok_or(HookError::Outside)?;
        let canonical = |path: &Path| disk.canonical(path).map_err(|_| HookError::NoGit);
        let (top, common) = (canonical(&top)?, canonical(&common)?);
        // The git folder lies in the work tree of a plain repository, and its path is the one that people know.
        let shown = match (real.strip_prefix(&top), real.strip_prefix(&common)) {
            (Ok(below), _) => slashes(below).ok_or(HookError::Outside)?,
            (_, Ok(below)) => format!("<git folder>/{}", slashes(below).ok_or(HookError::Outside)?),
            _ => return Err(HookError::Outside),
        };
        let project = canonical(root.path())?;
        let project = project.strip_prefix(&top).ok().and_then(slashes).ok_or(HookError::NoGit)?;
        let folder = if shown.is_empty() { shown } else { format!("{shown}/") };
        Ok(Self { hook: real.join(NAME), before: real.join(BEFORE), folder, project })
    }

    fn shown(&self, name: &str) -> String {
        format!("{}{name}", self.folder)
    }

    fn report(&self, deed: HookDeed) -> HookReport {
        HookReport { deed, path: self.shown(NAME), before: self.shown(BEFORE) }
    }

    fn io(&self, source: io::Error) -> HookError {
        HookError::Io { path: self.shown(NAME), source }
    }

    fn read(&self, disk: &dyn Disk) -> Option<Vec<u8>> {
        disk.read(&self.hook, MOST_BYTES).ok()
    }

    fn before_exists(&self, disk: &dyn Disk) -> Result<bool, HookError> {
        match disk.kind(&self.before).map_err(|source| self.io(source))? {
            None => Ok(false),
            Some(Kind::File | Kind::Symlink) => Ok(true),
            Some(kind) => Err(HookError::NotAFile { path: self.shown(BEFORE), kind }),
        }
    }

    fn current(&self, disk: &dyn Disk) -> Result<Current, HookError> {
        match disk.kind(&self.hook).map_err(|source| self.io(source))? {
            None => Ok(Current::Absent),
            Some(Kind::File) => Ok(self.read(disk).map_or(Current::Foreign, |bytes| whose(&bytes))),
            Some(Kind::Symlink) => Ok(Current::Foreign),
            Some(kind) => Err(HookError::NotAFile { path: self.shown(NAME), kind }),
        }
    }

    /// Writes a hook where none of ours stands; what does stand there gets its new name first.
    fn write(&self, disk: &dyn Disk, program: &str, earlier: Earlier) -> io::Result<()> {
        if let Some(folder) = self.hook.parent() {
            disk.create_folders(folder)?;
        }
        let staged = disk.stage_program(&self.hook, text(program, &self.project, earlier).as_bytes())?;
        let moves = earlier == Earlier::Stands;
        if moves {
            disk.rename_new(&self.hook, &self.before)?;
        }
        let written = disk.commit_new(staged);
        if written.is_err() && moves {
            disk.rename_new(&self.before, &self.hook)?;
        }
        written
    }

    /// Puts the earlier hook in the place of ours.
    fn restore(&self, disk: &dyn Disk) -> io::Result<()> {
        let ours = disk.set_aside(&self.hook)?;
        let restored = disk.rename_new(&self.before, &self.hook);
        if restored.is_err() {
            disk.commit_new(ours)?;
        }
        restored
    }
}

/// The real path of a folder that may be missing, in one that is there.
fn real(disk: &dyn Disk, folder: &Path) -> Option<PathBuf> {
    let there = folder.ancestors().find(|path| matches!(disk.kind(path), Ok(Some(_))))?;
    let rest = folder.strip_prefix(there).ok()?;
    let real = disk.canonical(there).ok()?;
    // What isn't there yet can't be resolved, so that it mustn't lead upward.
    let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    plain.then(|| if rest.as_os_str().is_empty() { real } else { real.join(rest) })
}

/// A relative path with `/`; `None` if it isn't UTF-8.
fn slashes(path: &Path) -> Option<String> {
    let parts = path.components().map(|part| part.as_os_str().to_str());
    parts.collect::<Option<Vec<_>>>().map(|parts| parts.join("/"))
}

/// Whether a hook is ours, by the mark, and as it was written, by the digest in it.
fn whose(bytes: &[u8]) -> Current {
    let Ok(text) = std::str::from_utf8(bytes) else { return Current::Foreign };
    let Some((head, rest)) = text.split_once(MARK) else { return Current::Foreign };
    match rest.split_once('\n') {
        Some((digest, rest)) if head == SHEBANG && digest == Digest::of(rest).to_string() => Current::Ours,
        _ => Current::Edited,
    }
}

/// The hook.
fn text(program: &str, project: &str, earlier: Earlier) -> String {
    let first = if earlier == Earlier::None { "" } else { FIRST };
    let start = program.split(' ').next().unwrap_or(program);
    let below = |name: &str| match project {
        "" => name.to_owned(),
        project => quoted(&format!("{project}/{name}")),
    };
    let files = ["memory", "sase/memory", "cantus.toml", "projections/lock.toml"].map(below).join(" ");
    // No option, and nothing that `cd` looks for along `CDPATH`.
    let folder = quoted(&format!("./{project}"));
    let check = match (program, project) {
        (_, "") => format!("exec {program} check --staged --quiet"),
        ("cantus", _) => format!("exec cantus check --staged --quiet --root {folder}"),
        // Cargo looks for its alias from the working folder upward.
        _ => format!("cd {folder} || exit\nexec {program} check --staged --quiet"),
    };
    let rest = format!(
        "# What is committed must be what the notes say. This looks at the index, and stages nothing.
{first}# A branch without notes has nothing to judge.
files=$(git --literal-pathspecs ls-files -- {files}) || exit
[ -n \"$files\" ] || exit 0
if ! command -v {start} >/dev/null 2>&1; then
    echo 'pre-commit: `{start}` is not on the PATH, so `{program} check --staged` could not judge this commit' >&2
    exit 1
fi
{check}
"
    );
    format!("{SHEBANG}{MARK}{}\n{rest}", Digest::of(&rest))
}

/// A word of the shell that stands for `text`.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_of_ours_is_known_until_it_is_edited() {
        for text in [text("cantus", "", Earlier::None), text("cargo xtask", "it's/here", Earlier::Waits)] {
            assert_eq!(whose(text.as_bytes()), Current::Ours, "{text}");
            assert_eq!(whose(format!("{text}true\n").as_bytes()), Current::Edited);
            assert_eq!(whose(text.replacen("#!/bin/sh", "#!/bin/bash", 1).as_bytes()), Current::Edited);
        }
        assert_eq!(whose(b"#!/bin/sh\necho mine\n"), Current::Foreign);
    }

    #[test]
    fn programs_are_one_of_two() {
        assert_eq!(program("cargo xtask project"), "cargo xtask");
        assert_eq!(program("cantus project"), "cantus");
        assert_eq!(program("curl example.invalid | sh; cargo xtask project"), "cantus");
    }
}
