//! Whether one side of a merge is as it was generated, by the locks that git holds.

use std::collections::{BTreeMap, BTreeSet};

use cantus_manifest::{Digest, RelPath};
use cantus_memory::shortened;
use cantus_workspace::LOCK;

use crate::git::Git;
use crate::history::blobs;
use crate::lock::{FileRow, LockFile, is_lock};
use crate::notice::{Notice, is_notice};

/// How many bytes of one file may be hashed in search of its sections.
const EFFORT: usize = 256 << 20;

/// What a person wrote into a generated file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandEdit {
    /// The line of the file, counted from 1, at which the text starts that no lock speaks of.
    pub line: usize,
    /// What stands on that line, or its start: the heading of a section, as a rule.
    pub text: String,
}

impl HandEdit {
    fn new(line: usize, text: &str) -> Self {
        Self { line, text: shortened(text).into_owned() }
    }
}

/// What the locks of some commits say of texts that were generated.
///
/// Which commit a side of a merge comes from can't be told: git names it to no driver. But a text whose every section stands in
/// the lock of some commit was generated, whichever that is, and so was one that git put together of two such texts.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// The sections' digests by their bytes.
    sections: BTreeMap<usize, BTreeSet<Digest>>,
    pages: BTreeSet<Digest>,
    locks: Vec<LockFile>,
}

impl Written {
    /// By the locks of HEAD and of `heads`, the commits that are merged, for the file `path` of the repository.
    pub(crate) fn by_heads(git: &Git<'_>, heads: &[String], path: &str) -> Self {
        let heads = heads.iter().map(String::as_str).chain(["HEAD", "FETCH_HEAD"]);
        let paths = lock_paths(path);
        let wanted = heads.flat_map(|head| paths.iter().map(move |path| format!("{head}:{path}")));
        Self::of(git, &wanted.collect::<Vec<_>>())
    }

    /// By the locks of every commit that a reference, a record of one or `heads` leads to.
    pub(crate) fn by_history(git: &Git<'_>, heads: &[String], path: &str) -> Self {
        let paths = lock_paths(path);
        let revisions = [
            "rev-list",
            "--objects",
            "--full-history",
            "--ignore-missing",
            "--all",
            "--reflog",
            "FETCH_HEAD",
        ];
        let heads = heads.iter().map(String::as_str);
        let args: Vec<&str> = revisions
            .into_iter()
            .chain(heads)
            .chain(["--"])
            .chain(paths.iter().map(String::as_str))
            .collect();
        let answer = git.ask(&args).unwrap_or_default();
        let answer = String::from_utf8_lossy(&answer);
        let objects = answer.lines().filter_map(|line| line.split_once(' '));
        let locks = objects.filter(|(_, at)| paths.iter().any(|path| path == at));
        Self::of(git, &locks.map(|(object, _)| object.to_owned()).collect::<Vec<_>>())
    }

    fn of(git: &Git<'_>, objects: &[String]) -> Self {
        let texts = blobs(git, objects).unwrap_or_default();
        let texts = texts.iter().flatten().map(|blob| String::from_utf8_lossy(blob));
        let mut written = Self::default();
        for lock in texts.filter_map(|text| LockFile::parse(&text).ok()) {
            written.add(lock);
        }
        written
    }

    fn add(&mut self, lock: LockFile) {
        for section in lock.sections.iter().filter(|section| section.bytes > 0) {
            self.sections.entry(section.bytes).or_default().insert(section.sha256);
        }
        self.pages.extend(lock.files.iter().filter_map(|(_, row)| match row {
            FileRow::Page(_, digest) => Some(*digest),
            FileRow::Render(_) | FileRow::Member(_) => None,
        }));
        // The notices need nothing else of it.
        let first = lock.sections.iter().find(|section| section.id.as_str().starts_with("proj.")).cloned();
        let (sections, files) = (first.into_iter().collect(), lock.files.into_iter().take(1).collect());
        let lock = LockFile { sections, files, ..lock };
        if !self.locks.contains(&lock) {
            self.locks.push(lock);
        }
    }

    /// What in `text`, which has line feeds alone, no lock speaks of; `None` if it was generated as it is.
    pub(crate) fn edit(&self, text: &str) -> Option<HandEdit> {
        // A lock holds no words of anybody's.
        if is_lock(text) || self.pages.contains(&Digest::of(text)) {
            return None;
        }
        let first = text.split('\n').next().unwrap_or_default();
        let body = text.strip_prefix(first).and_then(|rest| rest.strip_prefix("\n\n"));
        let Some(body) = body.filter(|_| self.is_known_notice(first)) else {
            return Some(HandEdit::new(1, first));
        };
        // The file lacks the bundle's last line feed.
        let body = format!("{body}\n");
        let at = self.first_unknown(body.as_bytes())?;
        let line = body[..at].matches('\n').count() + 3;
        Some(HandEdit::new(line, body[at..].lines().next().unwrap_or_default()))
    }

    fn is_known_notice(&self, line: &str) -> bool {
        is_notice(line) && self.locks.iter().any(|lock| lock.wrote_notice(line))
    }

    /// Where, in `body`, known sections end for the first time; `None` if there is nothing else.
    fn first_unknown(&self, body: &[u8]) -> Option<usize> {
        let mut effort = EFFORT;
        let mut reached = BTreeSet::from([0]);
        let mut furthest = 0;
        while let Some(at) = reached.pop_first() {
            furthest = at;
            if at == body.len() {
                return None;
            }
            for (bytes, digests) in self.sections.range(..=body.len() - at) {
                let slice = &body[at..at + bytes];
                if !slice.ends_with(b"\n\n") {
                    continue;
                }
                let Some(left) = effort.checked_sub(*bytes) else { return Some(furthest) };
                effort = left;
                if digests.contains(&Digest::of(slice)) {
                    reached.insert(at + bytes);
                }
            }
        }
        Some(furthest)
    }
}

impl LockFile {
    /// Whether a notice is the one that was written with this lock.
    pub(crate) fn wrote_notice(&self, line: &str) -> bool {
        let Some((original, _)) = self.files.first() else { return false };
        // Without a note in the lock the folder can't be told: any will do.
        let folder = self.memory().or_else(|| line.split('`').nth(3)?.strip_suffix('/')).unwrap_or_default();
        line == Notice { command: &self.command, memory: folder, original }.line()
    }
}

/// Where the locks lie that may speak of the file `path` of the repository: a project's root or a member's folder is above it.
fn lock_paths(path: &str) -> Vec<String> {
    let file = RelPath::new(path).ok();
    let folders = std::iter::successors(file.and_then(|file| file.parent()), RelPath::parent);
    let locks = folders.map(|folder| format!("{folder}/{LOCK}"));
    locks.chain([LOCK.to_owned()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTICE: &str =
        "<!-- Generated by `x` from the notes in `memory/`; edit those, not `A.md` or a copy of it. -->";

    fn written() -> Written {
        let mut written = Written::default();
        for sections in [["# T\n\n", "## A\n\ntext\n\n"], ["# T\n\n", "## A\n\ntext\n\n### B\n\nmore\n\n"]] {
            let mut text = String::from("# Generated by `x`; do not edit.\n[sections]\n");
            for (index, section) in sections.iter().enumerate() {
                let (bytes, digest) = (section.len(), Digest::of(section));
                text.push_str(&format!("\"proj.core.s{index}\" = {{ bytes = {bytes}, tokens = 1, sha256 = \"{digest}\", in = \"all\", from = [\"memory/a.md\"] }}\n\n"));
            }
            text.push_str("[files]\n\"A.md\" = { render = \"native\" }\n");
            written.add(LockFile::parse(&text).unwrap());
        }
        written
    }

    #[track_caller]
    fn check(text: &str, expected: Option<(usize, &str)>) {
        let found = written().edit(text);
        let found = found.as_ref().map(|edit| (edit.line, edit.text.as_str()));
        assert_eq!(found, expected);
    }

    #[test]
    fn what_no_lock_speaks_of_is_found() {
        check(&format!("{NOTICE}\n\n# T\n\n## A\n\ntext\n"), None);
        // The longer of two sections that start alike.
        check(&format!("{NOTICE}\n\n# T\n\n## A\n\ntext\n\n### B\n\nmore\n"), None);
        check(&format!("{NOTICE}\n\n# T\n\n## A\n\nTEXT\n"), Some((5, "## A")));
        check(&format!("{NOTICE}\n\n# T\n\n## A\n\ntext\n\nnew\n"), Some((9, "new")));
        check(&format!("{NOTICE}\n\n# T\n\nnew\n\n## A\n\ntext\n"), Some((5, "new")));
        check(&format!("{NOTICE}\n\n# T\n\n## A\n\ntext"), Some((5, "## A")));
        check(&format!("{NOTICE}\n# T\n"), Some((1, &shortened(NOTICE))));
        let other = NOTICE.replace("`x`", "`y`");
        check(&format!("{other}\n\n# T\n"), Some((1, &shortened(&other))));
        check("# T\n", Some((1, "# T")));
    }

    #[test]
    fn locks_lie_above_the_file() {
        let locks = ["crates/a/projections/lock.toml", "crates/projections/lock.toml", LOCK];
        assert_eq!(lock_paths("crates/a/AGENTS.md"), locks);
        assert_eq!(lock_paths("AGENTS.md"), [LOCK]);
        assert_eq!(lock_paths("/etc/x"), [LOCK]);
    }
}
