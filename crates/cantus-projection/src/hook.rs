//! The hooks that judge a commit before it is made: git runs one for commits and another for merges that it commits by itself.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use cantus_fs::{Disk, Kind, LockError, LockGuard, Root};
use cantus_manifest::{Digest, RelPath};
use cantus_workspace::{Config, Program};
use thiserror::Error;

use crate::git::Git;

/// The hooks' names. Git knows the second since 2.24; an older one never runs it.
const NAMES: [&str; 2] = ["pre-commit", "pre-merge-commit"];
/// What the name of the hook that stood there before ours ends with.
const BEFORE: &str = ".before-cantus";
/// The most bytes that a hook may have to be looked at.
const MOST_BYTES: u64 = 1 << 20;
/// How long a run waits for another that changes the hooks.
const PATIENCE: Duration = Duration::from_secs(10);
/// The line that tells our hook; the digest of the other lines follows.
const MARK: &str =
    "# Written by `cantus hook install`, taken away by `cantus hook uninstall`. SHA-256 of the rest: ";
const SHEBANG: &str = "#!/bin/sh\n";
/// The earlier hook runs first, and what it says of the commit holds.
const FIRST: &str = "\
case $0 in
*/*) before=${0%/*}/NAME.before-cantus ;;
*) before=./NAME.before-cantus ;;
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
    /// The hook's path from the folder that the caller stands in.
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
    /// Another run changes the hooks, or the file that such runs take turns by can't be used.
    #[error("cannot take a turn at the hooks")]
    Turn(#[from] LockError),
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
    let program = if command.trim() == "cargo xtask project" { Program::Xtask } else { Program::Cantus };
    program.as_str()
}

/// Writes the hooks for the project at `root`, whose files `command` regenerates. A hook that is not ours is kept under another
/// name and run first; if that can't be, nothing is written. Paths are told from the folder `from`, an absolute path.
pub fn install_hooks(root: &Root, config: &Config, from: &Path) -> Result<Vec<HookReport>, HookError> {
    let command = config.command.as_str();
    let place = Place { memory: config.memory.clone(), ..Place::find(root, from)? };
    let disk = root.disk().as_ref();
    let _turn = place.turn(disk)?;
    place.sweep(root, program(command));
    for slot in place.slots() {
        let is_taken = matches!(slot.current(disk)?, Current::Edited | Current::Foreign);
        if slot.before_exists(disk)? && is_taken {
            return Err(HookError::Taken { path: slot.path(), before: slot.before_path() });
        }
    }
    place.slots().map(|slot| slot.install(disk, program(command))).collect()
}

/// Removes the hooks of the repository that `root` lies in, and gives earlier ones their names back. A hook that is not ours is
/// left alone; if one of ours was edited, nothing is done. Paths are told from the folder `from`, an absolute path.
pub fn uninstall_hooks(root: &Root, from: &Path) -> Result<Vec<HookReport>, HookError> {
    let place = Place::find(root, from)?;
    let disk = root.disk().as_ref();
    let _turn = place.turn(disk)?;
    place.sweep(root, Program::Cantus.as_str());
    for slot in place.slots() {
        if slot.current(disk)? == Current::Edited {
            let before = slot.before_exists(disk)?.then(|| slot.before_path());
            return Err(HookError::Edited { path: slot.path(), before });
        }
    }
    place.slots().map(|slot| slot.uninstall(disk)).collect()
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

/// Where the hooks go.
struct Place {
    /// The real folder of hooks.
    folder: PathBuf,
    /// The real git folder that all work trees share.
    common: PathBuf,
    /// The same from where the caller stands, with `/` at its end unless it is empty.
    shown: String,
    /// The project's folder from the top of the work tree, with `/`; empty for the top itself.
    project: String,
    /// The note folder that the configuration names, from the project's folder.
    memory: Option<RelPath>,
}

impl Place {
    fn find(root: &Root, from: &Path) -> Result<Self, HookError> {
        let disk = root.disk().as_ref();
        let top = Git::new(root.path()).top().ok_or(HookError::NoGit)?;
        let git = Git::new(&top);
        let folder = git.hooks_folder().ok_or(HookError::NoGit)?;
        if folder.components().all(|part| part == Component::CurDir) {
            return Err(HookError::Top);
        }
        let folder = top.join(folder);
        let common = git.common_folder().ok_or(HookError::NoGit)?;
        let folder = real(disk, &folder).ok_or(HookError::Outside)?;
        let canonical = |path: &Path| disk.canonical(path).map_err(|_| HookError::NoGit);
        let (top, common) = (canonical(&top)?, canonical(&common)?);
        if !folder.starts_with(&top) && !folder.starts_with(&common) {
            return Err(HookError::Outside);
        }
        let shown = relative(&canonical(from)?, &folder).ok_or(HookError::Outside)?;
        let project = canonical(root.path())?;
        let project = project.strip_prefix(&top).ok().and_then(slashes).ok_or(HookError::NoGit)?;
        let shown = if shown.is_empty() { shown } else { format!("{shown}/") };
        Ok(Self { folder, common, shown, project, memory: None })
    }

    /// The hook of this name.
    fn text(&self, name: &str, program: &str, earlier: Earlier) -> String {
        text(name, program, &self.project, self.memory.as_ref(), earlier)
    }

    /// The right to change the hooks.
    fn turn(&self, disk: &dyn Disk) -> Result<LockGuard, LockError> {
        let file = self.common.join("cantus-hooks.lock");
        let holder = format!("process {}", std::process::id());
        Ok(disk.lock(&file, &holder, PATIENCE)?.passing(file))
    }

    /// Removes what killed runs left beside the hooks: hooks of ours, whole or cut off. Whoever calls has the turn. What can't
    /// be removed harms nobody.
    fn sweep(&self, root: &Root, program: &str) {
        let folder = Root::new(root.disk().clone(), self.folder.clone());
        let names = NAMES.iter().filter_map(|name| RelPath::new(*name).ok()).collect::<Vec<_>>();
        let _ = folder.sweep(&names, MOST_BYTES, |name, bytes| {
            let texts =
                [Earlier::None, Earlier::Waits].map(|earlier| self.text(name.as_str(), program, earlier));
            whose(bytes) == Current::Ours || texts.iter().any(|text| text.as_bytes().starts_with(bytes))
        });
    }

    fn slots(&self) -> impl Iterator<Item = Slot<'_>> {
        NAMES.iter().map(|name| Slot {
            name,
            place: self,
            hook: self.folder.join(name),
            before: self.folder.join(format!("{name}{BEFORE}")),
        })
    }
}

/// Where one hook goes.
struct Slot<'a> {
    name: &'static str,
    place: &'a Place,
    hook: PathBuf,
    before: PathBuf,
}

impl Slot<'_> {
    fn path(&self) -> String {
        format!("{}{}", self.place.shown, self.name)
    }

    fn before_path(&self) -> String {
        format!("{}{BEFORE}", self.path())
    }

    fn report(&self, deed: HookDeed) -> HookReport {
        HookReport { deed, path: self.path(), before: self.before_path() }
    }

    fn io(&self, source: io::Error) -> HookError {
        HookError::Io { path: self.path(), source }
    }

    fn read(&self, disk: &dyn Disk) -> Option<Vec<u8>> {
        disk.read(&self.hook, MOST_BYTES).ok()
    }

    fn before_exists(&self, disk: &dyn Disk) -> Result<bool, HookError> {
        match disk.kind(&self.before).map_err(|source| self.io(source))? {
            None => Ok(false),
            Some(Kind::File | Kind::Symlink) => Ok(true),
            Some(kind) => Err(HookError::NotAFile { path: self.before_path(), kind }),
        }
    }

    fn current(&self, disk: &dyn Disk) -> Result<Current, HookError> {
        match disk.kind(&self.hook).map_err(|source| self.io(source))? {
            None => Ok(Current::Absent),
            Some(Kind::File) => Ok(self.read(disk).map_or(Current::Foreign, |bytes| whose(&bytes))),
            Some(Kind::Symlink) => Ok(Current::Foreign),
            Some(kind) => Err(HookError::NotAFile { path: self.path(), kind }),
        }
    }

    fn install(&self, disk: &dyn Disk, program: &str) -> Result<HookReport, HookError> {
        let current = self.current(disk)?;
        let earlier = match current {
            _ if self.before_exists(disk)? => Earlier::Waits,
            Current::Absent | Current::Ours => Earlier::None,
            Current::Edited | Current::Foreign => Earlier::Stands,
        };
        if current == Current::Ours {
            let text = self.place.text(self.name, program, earlier);
            let is_same = self.read(disk).is_some_and(|bytes| bytes == text.as_bytes());
            if is_same && disk.is_program(&self.hook).map_err(|source| self.io(source))? {
                return Ok(self.report(HookDeed::Already));
            }
            let staged = disk.stage_program(&self.hook, text.as_bytes());
            staged.and_then(|staged| disk.commit(staged)).map_err(|source| self.io(source))?;
            return Ok(self.report(HookDeed::Updated));
        }
        self.write(disk, program, earlier).map_err(|source| self.io(source))?;
        let deed = if earlier == Earlier::None { HookDeed::Installed } else { HookDeed::Chained };
        Ok(self.report(deed))
    }

    fn uninstall(&self, disk: &dyn Disk) -> Result<HookReport, HookError> {
        let waits = self.before_exists(disk)?;
        match self.current(disk)? {
            Current::Foreign | Current::Edited => return Ok(self.report(HookDeed::Absent)),
            Current::Absent if !waits => return Ok(self.report(HookDeed::Absent)),
            Current::Ours if !waits => {
                disk.remove(&self.hook).map_err(|source| self.io(source))?;
                return Ok(self.report(HookDeed::Removed));
            }
            Current::Ours => self.restore(disk).map_err(|source| self.io(source))?,
            // An earlier run was killed between the two steps.
            Current::Absent => {
                disk.rename_new(&self.before, &self.hook).map_err(|source| self.io(source))?;
            }
        }
        Ok(self.report(HookDeed::Restored))
    }

    /// Writes a hook where none of ours stands; what does stand there gets its new name first.
    fn write(&self, disk: &dyn Disk, program: &str, earlier: Earlier) -> io::Result<()> {
        if let Some(folder) = self.hook.parent() {
            disk.create_folders(folder)?;
        }
        let text = self.place.text(self.name, program, earlier);
        let staged = disk.stage_program(&self.hook, text.as_bytes())?;
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

/// The way from one real folder to another, with `/`; `None` if it isn't UTF-8 or there is none.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let common = from.components().zip(to.components()).take_while(|(one, other)| one == other).count();
    if common == 0 {
        return None;
    }
    let up = from.components().skip(common).map(|_| "..".to_owned());
    let down = to.components().skip(common).map(|part| part.as_os_str().to_str().map(str::to_owned));
    let parts: Option<Vec<_>> = up.map(Some).chain(down).collect();
    Some(parts?.join("/"))
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

/// The hook of this name for the project in the folder `project`, whose notes lie in `memory` if that isn't a usual place.
fn text(name: &str, program: &str, project: &str, memory: Option<&RelPath>, earlier: Earlier) -> String {
    let first = if earlier == Earlier::None { String::new() } else { FIRST.replace("NAME", name) };
    let start = program.split(' ').next().unwrap_or(program);
    let is_plain =
        |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte));
    let below = |name: &str| match project {
        "" if is_plain(name) => name.to_owned(),
        "" => quoted(name),
        project => quoted(&format!("{project}/{name}")),
    };
    let mut files = vec!["memory", "sase/memory", "cantus.toml", "projections/lock.toml"];
    files.extend(memory.map(RelPath::as_str).filter(|memory| !files.contains(memory)));
    let files = files.into_iter().map(below).collect::<Vec<_>>().join(" ");
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
    echo '{name}: `{start}` is not on the PATH, so `{program} check --staged` could not judge this commit' >&2
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
        let texts = NAMES.map(|name| {
            [
                text(name, "cantus", "", None, Earlier::None),
                text(name, "cargo xtask", "it's/here", None, Earlier::Waits),
            ]
        });
        for text in texts.concat() {
            assert_eq!(whose(text.as_bytes()), Current::Ours, "{text}");
            assert_eq!(whose(format!("{text}true\n").as_bytes()), Current::Edited);
            assert_eq!(whose(text.replacen("#!/bin/sh", "#!/bin/bash", 1).as_bytes()), Current::Edited);
        }
        assert_eq!(whose(b"#!/bin/sh\necho mine\n"), Current::Foreign);
    }

    #[test]
    fn ways_between_folders() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b/.git/hooks").as_deref(), Some(".git/hooks"));
        assert_eq!(way("/a/tree/x", "/a/b/.git/hooks").as_deref(), Some("../../b/.git/hooks"));
        assert_eq!(way("/a/b", "/a/b").as_deref(), Some(""));
    }

    #[test]
    fn programs_are_one_of_two() {
        assert_eq!(program("cargo xtask project"), "cargo xtask");
        assert_eq!(program("cantus project"), "cantus");
        assert_eq!(program("curl example.invalid | sh; cargo xtask project"), "cantus");
    }
}
