//! Folders of the project with notes of their own: which there are, and their notes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind, Root};
use cantus_manifest::{Diagnostic, RelPath, Stamps};
use cantus_memory::{Corpus, shortened};
use toml::de::{DeTable, DeValue};

use crate::config::{Config, LOCK, Members, Targets, default_title, meet};
use crate::discover::{CONFIG, MEMORIES, MOST_CONFIG_BYTES, cargo_table, has_configuration, is_note_folder};
use crate::gather::Gather;
use crate::plugins::workspace_folders;
use crate::project::{inside, path, read_text};

/// A folder of the project with notes of its own.
#[derive(Debug)]
pub struct Member {
    /// Where it lies.
    pub folder: RelPath,
    /// The first heading of its files.
    pub title: String,
    /// Its note folder, from the project's root.
    pub memory: RelPath,
    /// Its notes; their paths start at the project's root.
    pub corpus: Corpus,
}

impl Member {
    /// Its file of the same name as `file` of the project.
    #[must_use]
    pub fn file(&self, file: &RelPath) -> RelPath {
        self.folder.join(file.as_str()).unwrap_or_else(|error| unreachable!("{error}"))
    }

    /// Its files of the names that `config` gives those of the project, without its lock.
    pub fn files(&self, config: &Config) -> impl Iterator<Item = RelPath> {
        config.files.iter().map(|file| self.file(file))
    }

    /// Its lock.
    #[must_use]
    pub fn lock(&self) -> RelPath {
        self.file(&path(LOCK))
    }
}

/// A folder that may be a member.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    folder: RelPath,
    /// The line of the configuration that names this very folder.
    named: Option<u32>,
}

/// The members that `config` asks for, in byte order of their folders. `memory` is the project's own note folder.
pub(crate) fn read_members(
    root: &Root,
    config: &Config,
    memory: Option<&RelPath>,
    stamps: Stamps,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Member> {
    let found = found(root, config, memory, diagnostics).into_iter();
    let read = |(folder, notes)| read_member(root, config, folder, notes, stamps, diagnostics);
    let members: Vec<Member> = found.map(read).collect();
    check_targets(config, memory, &members, diagnostics);
    members
}

/// The folders of the members that `config` asks for, in byte order, each with its note folder.
pub(crate) fn found(
    root: &Root,
    config: &Config,
    memory: Option<&RelPath>,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(RelPath, RelPath)> {
    let candidates = candidates(root, config, diagnostics);
    let mut members: Vec<(RelPath, RelPath)> = Vec::new();
    for candidate in candidates {
        // In byte order, so that what is named twice follows itself.
        let is_known = members.last().is_some_and(|(folder, _)| *folder == candidate.folder);
        if let Some(notes) = note_folder(root, config, memory, &candidate, diagnostics).filter(|_| !is_known)
        {
            members.push((candidate.folder, notes));
        }
    }
    members
}

/// The folders that may be members, with notes or without, and those on the way to them.
pub(crate) fn member_folders(root: &Root, config: &Config) -> BTreeSet<RelPath> {
    if let Members::Listed(patterns) = &config.members {
        return patterns.iter().flat_map(|(pattern, _)| steps(root, pattern).concat()).flatten().collect();
    }
    candidates(root, config, &mut Vec::new()).into_iter().map(|candidate| candidate.folder).collect()
}

/// What each part of a pattern, with those before it, names.
fn steps(root: &Root, pattern: &str) -> Vec<Vec<Option<RelPath>>> {
    let mut steps: Vec<Vec<Option<RelPath>>> = Vec::new();
    for segment in pattern.split('/') {
        let bases = steps.last().map_or([None].as_slice(), Vec::as_slice);
        let found = bases.iter().flat_map(|base| below(root, base.as_ref(), segment)).map(Some).collect();
        steps.push(found);
    }
    steps
}

fn candidates(root: &Root, config: &Config, diagnostics: &mut Vec<Diagnostic>) -> BTreeSet<Candidate> {
    match &config.members {
        Members::None => BTreeSet::new(),
        Members::Workspace { line } => match workspace_folders(root) {
            Ok(folders) => folders.into_iter().map(|folder| Candidate { folder, named: None }).collect(),
            Err(fault) => {
                diagnostics.push(at_line(config, *line, fault));
                BTreeSet::new()
            }
        },
        Members::Listed(patterns) => listed(root, config, patterns, diagnostics),
    }
}

/// Whether the configuration in the folder `project` makes `folder`, which has notes, a member, as far as that can be told
/// without cargo: with `members = true` every crate is one that the workspace doesn't exclude.
pub(crate) fn claims(disk: &dyn Disk, project: &Path, folder: &Path) -> bool {
    let Ok(below) = folder.strip_prefix(project) else { return false };
    let parts: Option<Vec<&str>> = below.iter().map(|part| part.to_str()).collect();
    let Some(parts) = parts else { return false };
    let read = |path: PathBuf| {
        disk.read(&path, MOST_CONFIG_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok())
    };
    let own = read(project.join(CONFIG)).unwrap_or_default();
    let cargo = read(project.join("Cargo.toml")).unwrap_or_default();
    let (Ok(own), Ok(cargo)) = (DeTable::parse(&own), DeTable::parse(&cargo)) else { return false };
    let members = own.get_ref().get("members");
    let members = members.or_else(|| cargo_table(cargo.get_ref())?.get("members"));
    let Some(members) = members.map(|members| members.get_ref()) else { return false };
    let names = |pattern: &str, whole: bool| {
        let pattern: Vec<_> = pattern.trim_end_matches('/').split('/').collect();
        let long_enough = if whole { pattern.len() == parts.len() } else { pattern.len() <= parts.len() };
        long_enough
            && pattern.iter().zip(&parts).all(|(pattern, part)| matches(pattern.as_bytes(), part.as_bytes()))
    };
    let texts = |value: &DeValue<'_>| -> Vec<String> {
        let items = value.as_array().into_iter().flatten();
        items.filter_map(|item| item.get_ref().as_str().map(str::to_owned)).collect()
    };
    if members.as_bool() == Some(true) {
        let workspace = cargo.get_ref().get("workspace");
        let excluded = workspace.and_then(|workspace| workspace.get_ref().get("exclude"));
        let excluded = excluded.map(|excluded| texts(excluded.get_ref())).unwrap_or_default();
        let is_crate = matches!(disk.kind(&folder.join("Cargo.toml")), Ok(Some(Kind::File)));
        return is_crate && workspace.is_some() && !excluded.iter().any(|pattern| names(pattern, false));
    }
    texts(members).iter().any(|pattern| names(pattern, true))
}

/// A fault of the key `members`, at its line.
fn at_line(config: &Config, line: u32, fault: Diagnostic) -> Diagnostic {
    fault.at(config.source.as_ref().map_or(CONFIG, |file| file.path.as_str())).line(line)
}

/// The folders that the patterns name.
fn listed(
    root: &Root,
    config: &Config,
    patterns: &[(String, u32)],
    diagnostics: &mut Vec<Diagnostic>,
) -> BTreeSet<Candidate> {
    let mut candidates = BTreeSet::new();
    for (pattern, line) in patterns {
        let is_literal = !pattern.contains(['*', '?']);
        let found = steps(root, pattern).pop().unwrap_or_default();
        if found.is_empty() && !is_literal {
            let message = format!("`members`: no folder matches `{}`", shortened(pattern));
            let warning = Diagnostic::warning("member.pattern", message);
            diagnostics.push(at_line(
                config,
                *line,
                warning.help("mend the pattern, or take it out of `members`"),
            ));
        }
        if found.is_empty() && is_literal {
            let fault = Diagnostic::error(
                "member.folder",
                format!("`members`: there is no folder `{}`", shortened(pattern)),
            );
            diagnostics.push(at_line(config, *line, fault.help("create it, or take it out of `members`")));
        }
        let named = is_literal.then_some(*line);
        candidates.extend(found.into_iter().flatten().map(|folder| Candidate { folder, named }));
    }
    candidates
}

/// The folders in `base` (`None`: the root) whose names match.
fn below(root: &Root, base: Option<&RelPath>, segment: &str) -> Vec<RelPath> {
    let at = |name: &str| base.map_or_else(|| RelPath::new(name), |base| base.join(name)).ok();
    if !segment.contains(['*', '?']) {
        let is_folder = |path: &RelPath| matches!(root.kind(path), Ok(Some(Kind::Folder | Kind::Symlink)));
        return at(segment).filter(is_folder).into_iter().collect();
    }
    let entries = root.list(base).unwrap_or_default().into_iter();
    let folders = entries.filter(|entry| matches!(entry.kind, Kind::Folder | Kind::Symlink));
    let names = folders.filter_map(|entry| entry.name.into_string().ok());
    let matching =
        names.filter(|name| !name.starts_with('.') && matches(segment.as_bytes(), name.as_bytes()));
    matching.filter_map(|name| at(&name)).collect()
}

/// Whether a name matches a pattern in which `*` stands for any bytes and `?` for one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    // The last `*`, and how much of the name it has taken.
    let mut star: Option<(usize, usize)> = None;
    let (mut at, mut read) = (0, 0);
    while read < name.len() {
        match pattern.get(at) {
            Some(b'*') => {
                star = Some((at, read));
                at += 1;
            }
            Some(byte) if *byte == b'?' || *byte == name[read] => {
                at += 1;
                read += 1;
            }
            _ => {
                let Some((from, taken)) = star else { return false };
                star = Some((from, taken + 1));
                (at, read) = (from + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// What keeps a folder from being a member.
enum Barrier {
    Symlink(RelPath),
    Repository(RelPath),
}

impl Barrier {
    /// The first on the way from the root to `folder`.
    fn before(root: &Root, folder: &RelPath) -> Option<Self> {
        let mut way: Vec<RelPath> = std::iter::successors(Some(folder.clone()), RelPath::parent).collect();
        way.reverse();
        way.into_iter().find_map(|step| {
            if matches!(root.kind(&step), Ok(Some(Kind::Symlink))) {
                return Some(Self::Symlink(step));
            }
            is_repository(root, &step).then_some(Self::Repository(step))
        })
    }
}

/// Whether a folder is a repository of its own: it holds `.git`, a folder, or a file in a submodule or a worktree.
fn is_repository(root: &Root, folder: &RelPath) -> bool {
    folder.join(".git").is_ok_and(|git| matches!(root.kind(&git), Ok(Some(_))))
}

/// The note folder of a candidate; `None` if it is no member. Faults are told.
fn note_folder(
    root: &Root,
    config: &Config,
    own: Option<&RelPath>,
    candidate: &Candidate,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<RelPath> {
    let folder = &candidate.folder;
    let barrier = Barrier::before(root, folder);
    if let (Some(Barrier::Repository(repository)), Some(line)) = (&barrier, candidate.named) {
        let message =
            format!("`members`: `{folder}` can't be one, since `{repository}` is a repository of its own");
        let fault = Diagnostic::error("member.repository", message);
        diagnostics.push(at_line(
            config,
            line,
            fault.help("project it from there, and take it out of `members`"),
        ));
    }
    if let Some(Barrier::Repository(_)) = barrier {
        return None;
    }
    if has_configuration(root.disk().as_ref(), &root.at(folder)) {
        if let Some(line) = candidate.named {
            let message =
                format!("`members`: `{folder}` can't be one, since it has a configuration of its own");
            let help = "take it out of `members` and project it from there, or remove its configuration";
            diagnostics.push(at_line(
                config,
                line,
                Diagnostic::error("member.configured", message).help(help),
            ));
        }
        return None;
    }
    let notes = MEMORIES.iter().filter_map(|memory| folder.join(memory).ok());
    let notes: Vec<_> = notes.filter(|notes| is_note_folder(root.disk().as_ref(), &root.at(notes))).collect();
    let is_own = |notes: &RelPath| own.is_some_and(|own| meet(own.as_str(), notes.as_str()));
    if notes.iter().any(is_own) || notes.is_empty() {
        return None;
    }
    let fault = match (barrier, notes.as_slice()) {
        (Some(Barrier::Symlink(link)), _) => {
            let message =
                format!("`{link}` is a symlink, and a member's files are never written through one");
            Diagnostic::error("member.symlink", message)
                .at(folder)
                .help("name the folder itself in `members`")
        }
        (_, [first, second]) => {
            let message = format!("notes lie in two places, `{first}` and `{second}`");
            Diagnostic::error("project.memory", message).at(folder).help("move them into one folder")
        }
        (_, notes) => match notes.first().map(|notes| (notes, inside(root, notes, "project"))) {
            Some((notes, Ok(()))) => return Some(notes.clone()),
            Some((notes, Err(message))) => Diagnostic::error("project.memory", message).at(notes),
            None => return None,
        },
    };
    diagnostics.push(fault);
    None
}

fn read_member(
    root: &Root,
    config: &Config,
    folder: RelPath,
    memory: RelPath,
    stamps: Stamps,
    diagnostics: &mut Vec<Diagnostic>,
) -> Member {
    let name = crate_name(root, &folder).unwrap_or_else(|| folder.file_name().to_owned());
    let limit = config.note_bytes;
    let corpus = Gather { root, memory: &memory, limit, stamps, diagnostics }.corpus();
    Member { title: default_title(Some(&name)), folder, memory, corpus }
}

/// The name of the crate in a folder; that it can't be read is for cargo to say.
fn crate_name(root: &Root, folder: &RelPath) -> Option<String> {
    let file = folder.join("Cargo.toml").ok()?;
    let text = read_text(root, &file, Stamps::Skip, &mut Vec::new())?.text;
    let table = DeTable::parse(&text).ok()?.into_inner();
    let name = table.get("package")?.get_ref().get("name")?.get_ref().as_str()?.to_owned();
    (!name.is_empty() && !name.contains(char::is_control)).then_some(name)
}

/// Reports files of members that meet other targets or sources.
fn check_targets(
    config: &Config,
    memory: Option<&RelPath>,
    members: &[Member],
    diagnostics: &mut Vec<Diagnostic>,
) {
    let mut targets = Targets::default();
    config.targets().chain([&path(LOCK)]).for_each(|target| targets.insert(target.clone()));
    let mut sources = Targets::default();
    let notes = members.iter().map(|member| &member.memory);
    memory.into_iter().chain(&config.package).chain(notes).for_each(|source| sources.insert(source.clone()));
    for member in members {
        let files = member.files(config).chain([member.lock()]);
        for file in files {
            let message = match (targets.meeting(&file), sources.meeting(&file)) {
                (Some(other), _) => format!("its file `{file}` meets the target `{other}`"),
                (None, Some(source)) => {
                    format!("its file `{file}` meets `{source}/`, whose files are sources")
                }
                (None, None) => {
                    targets.insert(file);
                    continue;
                }
            };
            let help = "rename one of the two, or take the folder out of `members`";
            diagnostics.push(Diagnostic::error("member.target", message).at(&member.folder).help(help));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, matching: &[&str], others: &[&str]) {
        let found = |name: &&&str| matches(pattern.as_bytes(), name.as_bytes());
        assert_eq!(matching.iter().filter(found).count(), matching.len(), "{pattern}");
        assert_eq!(others.iter().filter(found).count(), 0, "{pattern}");
    }

    #[test]
    fn patterns() {
        check("*", &["a", "abc"], &[]);
        check("a*c", &["ac", "abc", "acc", "abcbc"], &["a", "ab", "bac", "acb"]);
        check("?b", &["ab"], &["b", "abb"]);
        check("*a*b", &["ab", "xaxb", "aabb"], &["ba", "a"]);
        check("abc", &["abc"], &["ab", "abcd"]);
    }
}
