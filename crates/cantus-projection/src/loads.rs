//! What an agent that starts at the root would load on this machine, and how much of its limits that is.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind, Root};
use cantus_workspace::Config;
use serde::Serialize;

use crate::providers::{Beyond, Evidence, Limit, Scope, Unit, UpTo, names};
use crate::readers::{Reading, is_hidden};

/// The most bytes of a file that are counted; a larger one is none.
const MOST_BYTES: u64 = 16 << 20;

/// Where the user's own files are.
#[derive(Clone, Copy)]
pub struct UserFolders<'a> {
    /// The home folder.
    pub home: Option<&'a Path>,
    /// What a variable of the environment says.
    pub variable: &'a dyn Fn(&str) -> Option<OsString>,
}

impl fmt::Debug for UserFolders<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("UserFolders").field("home", &self.home).finish_non_exhaustive()
    }
}

/// Where a file lies that is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LoadPlace {
    /// Among the user's own files.
    User,
    /// Above the root.
    Above,
    /// At the root or below it.
    Root,
}

/// A file that would be loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Load {
    /// Its path from the root, with `..` for each folder above it; of the user's own files with `~/` or a variable in front.
    pub path: String,
    /// Where it lies.
    pub place: LoadPlace,
    /// Whether it is a committed file of ours.
    pub ours: bool,
    /// Its size in bytes.
    pub bytes: u64,
    /// The limit that it counts towards, if there is one.
    pub limit: Option<Used>,
}

/// A limit and how much of it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Used {
    /// The most that is read.
    pub amount: u64,
    /// What is there: of the file, or of all that the limit counts together.
    pub used: u64,
    /// What both count.
    pub unit: Unit,
    /// Of what the limit is one.
    pub scope: Scope,
    /// How it is known.
    pub evidence: Evidence,
}

/// A file that was found: its path below the folder in which it was looked for, and its text.
struct Found {
    load: Load,
    name: String,
    text: String,
}

/// What was found so far.
struct Search<'a> {
    disk: &'a dyn Disk,
    /// The real paths of all that was found: nothing is loaded twice.
    seen: BTreeSet<PathBuf>,
    found: Vec<Found>,
}

/// What an agent would load at `root`, in its order: the user's own files, those above the root from the highest folder down, then
/// the root's. Files that can't be read as UTF-8 are left out.
#[must_use]
pub fn loads(root: &Root, config: &Config, reading: &Reading, user: UserFolders<'_>) -> Vec<Load> {
    let mut search = Search { disk: root.disk().as_ref(), seen: BTreeSet::new(), found: Vec::new() };
    let reader = reading.reader;
    if let Some(beyond) = &reader.beyond {
        if let Some((folder, prefix)) = users(beyond, user) {
            beyond.user.iter().for_each(|group| search.take(&folder, group, &prefix, LoadPlace::User));
        }
        let conditional = reader.conditional.as_ref().map(|one| one.file.as_str());
        let real = root.disk().canonical(root.path()).unwrap_or_else(|_| root.path().to_path_buf());
        for (steps, folder) in above(root.disk().as_ref(), &real, beyond.up_to).into_iter().rev() {
            for group in &reader.reads {
                let firm: Vec<_> =
                    group.iter().filter(|entry| Some(entry.as_str()) != conditional).cloned().collect();
                search.take(folder, &firm, &"../".repeat(steps), LoadPlace::Above);
            }
        }
        let has_above = search.found.iter().any(|found| found.load.place == LoadPlace::Above);
        let files =
            reading.files.iter().filter(|file| !(has_above && Some(file.path.as_str()) == conditional));
        files
            .for_each(|file| search.take(root.path(), std::slice::from_ref(&file.path), "", LoadPlace::Root));
    } else {
        reading.files.iter().for_each(|file| {
            search.take(root.path(), std::slice::from_ref(&file.path), "", LoadPlace::Root);
        });
    }
    let mut loads = limited(&search.found, config, &reader.limit);
    let is_ours = |load: &Load| reading.files.iter().any(|file| file.ours && file.path == load.path);
    loads.iter_mut().filter(|load| load.place == LoadPlace::Root).for_each(|load| load.ours = is_ours(load));
    loads
}

impl Search<'_> {
    /// Takes the first of these entries that is in `folder`.
    fn take(&mut self, folder: &Path, entries: &[String], prefix: &str, place: LoadPlace) {
        let paths = entries.iter().map(|entry| self.files(folder, entry)).find(|paths| !paths.is_empty());
        for name in paths.unwrap_or_default() {
            let Ok(real) = self.disk.canonical(&folder.join(&name)) else { continue };
            let Ok(bytes) = self.disk.read(&real, MOST_BYTES) else { continue };
            let Ok(text) = String::from_utf8(bytes) else { continue };
            if self.seen.insert(real) {
                let (path, bytes) = (format!("{prefix}{name}"), text.len() as u64);
                let load = Load { path, place, ours: false, bytes, limit: None };
                self.found.push(Found { load, name, text });
            }
        }
    }

    /// The files that an entry of the table names in `folder`.
    fn files(&self, folder: &Path, entry: &str) -> Vec<String> {
        let is_file = |kind| matches!(kind, Kind::File | Kind::Symlink);
        let Some(below) = entry.strip_suffix("/*") else {
            let kind = self.disk.kind(&folder.join(entry)).ok().flatten();
            return kind.filter(|kind| is_file(*kind)).map(|_| entry.to_owned()).into_iter().collect();
        };
        let entries = self.disk.list(&folder.join(below)).unwrap_or_default();
        let files = entries.iter().filter(|entry| is_file(entry.kind) && !is_hidden(&entry.name));
        let names = files.filter_map(|entry| entry.name.to_str());
        names.map(|name| format!("{below}/{name}")).collect()
    }
}

/// The folder of the user's own files, and what stands for it in a path.
fn users(beyond: &Beyond, user: UserFolders<'_>) -> Option<(PathBuf, String)> {
    let named = beyond.variable.as_ref().and_then(|name| Some((name, (user.variable)(name)?)));
    if let Some((name, folder)) = named.filter(|(_, folder)| !folder.is_empty()) {
        return Some((PathBuf::from(folder), format!("${name}/")));
    }
    let folder = beyond.folder.as_ref()?;
    Some((user.home?.join(folder), format!("~/{folder}/")))
}

/// The folders above the root, which has no `..` in its path, in which an agent looks, with how many steps they are away; the nearest first.
fn above<'a>(disk: &dyn Disk, root: &'a Path, up_to: UpTo) -> Vec<(usize, &'a Path)> {
    let folders = (0..).zip(root.ancestors());
    match up_to {
        UpTo::Disk => folders.skip(1).filter(|(_, folder)| folder.parent().is_some()).collect(),
        UpTo::Repository => {
            let has_git = |folder: &Path| matches!(disk.kind(&folder.join(".git")), Ok(Some(_)));
            let folders: Vec<_> = folders.collect();
            let top = folders.iter().position(|(_, folder)| has_git(folder)).unwrap_or(0);
            folders[1.min(top)..=top].iter().copied().filter(|(steps, _)| *steps > 0).collect()
        }
    }
}

/// The same with the limits that they count towards.
fn limited(found: &[Found], config: &Config, limits: &[Limit]) -> Vec<Load> {
    let limit_of = |found: &Found| {
        let limit = limits.iter().find(|limit| limit.files.iter().any(|file| names(file, &found.name)))?;
        // What a folder and those above it have together isn't the user's.
        (limit.scope == Scope::File || found.load.place != LoadPlace::User).then_some(limit)
    };
    let used = |limit: &Limit| -> u64 {
        let counted =
            found.iter().filter(|other| limit_of(other).is_some_and(|one| std::ptr::eq(one, limit)));
        counted.map(|other| limit.unit.count(&other.text)).sum()
    };
    let with_limit = |found: &Found| {
        let limit = limit_of(found).map(|limit| Used {
            amount: if limit.key.is_some() { config.file_bytes } else { limit.amount },
            used: if limit.scope == Scope::Chain { used(limit) } else { limit.unit.count(&found.text) },
            unit: limit.unit,
            scope: limit.scope,
            evidence: limit.evidence,
        });
        Load { limit, ..found.load.clone() }
    };
    found.iter().map(with_limit).collect()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests set up files by themselves")]
mod tests {
    use std::sync::Arc;

    use cantus_fs::RealDisk;
    use cantus_testkit::Repo;
    use cantus_workspace::{Options, Project};

    use super::*;
    use crate::readers::readings;

    /// A repository in whose folder `in` the project is, with these files in the repository and in the home.
    fn repo(files: &[&str]) -> Repo {
        let repo = Repo::without_git("//- in/memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe brief.\n");
        for file in files {
            match file.strip_prefix("~/") {
                Some(path) => {
                    let path = repo.home().join(path);
                    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                    std::fs::write(path, "aé\n").unwrap();
                }
                None => repo.write(file, "aé\n"),
            }
        }
        repo
    }

    #[track_caller]
    fn check(repo: &Repo, name: &str, variable: Option<&str>, expected: &[&str]) {
        let root = Root::new(Arc::new(RealDisk), repo.path().join("in"));
        let config = Project::open(&root, &Options::default()).value.unwrap().config;
        let readings = readings(&root, &config);
        let reading = readings.iter().find(|reading| reading.reader.name == name).unwrap();
        let user = UserFolders { home: Some(repo.home()), variable: &|_| variable.map(OsString::from) };
        let loads = loads(&root, &config, reading, user);
        let shown = |load: &Load| {
            let used =
                load.limit.map_or_else(String::new, |limit| format!(" {}/{}", limit.used, limit.amount));
            format!("{}{}{used}", load.path, if load.ours { "*" } else { "" })
        };
        assert_eq!(loads.iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn one_agent_looks_up_to_the_repository_another_up_to_the_disk() {
        let repo = repo(&["CLAUDE.md", "AGENTS.md", "in/AGENTS.md", "in/CLAUDE.md"]);
        repo.write(".git/HEAD", "");
        check(&repo, "codex", None, &["../AGENTS.md 8/32768", "AGENTS.md* 8/32768"]);
        check(&repo, "claude", None, &["../CLAUDE.md 3/40000", "CLAUDE.md* 3/40000"]);
        check(&repo, "amp", None, &["AGENTS.md*"]);
        repo.write("in/.git", "gitdir: x\n");
        check(&repo, "codex", None, &["AGENTS.md* 4/32768"]);
    }

    #[test]
    fn without_a_repository_only_the_root_counts() {
        let repo = repo(&["AGENTS.md", "in/AGENTS.override.md", "in/AGENTS.md"]);
        check(&repo, "codex", None, &["AGENTS.override.md 4/32768"]);
    }

    #[test]
    fn the_users_own_files_come_first() {
        let repo =
            repo(&["~/.codex/AGENTS.md", "~/.claude/rules/a.md", "~/.claude/CLAUDE.md", "in/CLAUDE.md"]);
        check(&repo, "codex", None, &["~/.codex/AGENTS.md"]);
        check(
            &repo,
            "claude",
            None,
            &["~/.claude/CLAUDE.md 3/40000", "~/.claude/rules/a.md", "CLAUDE.md* 3/40000"],
        );
        let named = repo.home().join(".codex");
        check(&repo, "codex", named.to_str(), &["$CODEX_HOME/AGENTS.md"]);
    }

    #[test]
    fn a_file_above_keeps_one_from_being_read_that_needs_its_absence() {
        let repo = repo(&["in/AGENTS.md"]);
        repo.write("in/cantus.toml", "[projection]\nfiles = [\"AGENTS.md\"]\n");
        check(&repo, "claude", None, &["AGENTS.md* 3/40000"]);
        repo.write("CLAUDE.md", "x");
        check(&repo, "claude", None, &["../CLAUDE.md 1/40000"]);
    }

    #[test]
    fn nothing_is_loaded_twice_and_no_rubbish() {
        let repo = repo(&["in/.claude/rules/a.md", "in/.claude/rules/b/c.md", "in/CLAUDE.local.md"]);
        std::fs::write(repo.path().join("in/CLAUDE.md"), [0xff]).unwrap();
        check(&repo, "claude", None, &["CLAUDE.local.md", ".claude/rules/a.md"]);
    }
}
