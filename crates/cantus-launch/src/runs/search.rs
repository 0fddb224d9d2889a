//! Where runs are looked for, and which one a name means.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use cantus_fs::{Disk, Entry, Kind};

use super::{IndexEntries, IndexEntry, RunIndex, RunInfo};
use crate::record::FOLDER;

/// How deep a tree of runs is looked through, below its own folder.
const MOST_DEPTH: usize = 4;

/// How many folders of a tree are looked at.
const MOST_FOLDERS: usize = 10_000;

/// Where runs are looked for.
#[derive(Clone, Debug)]
pub struct Runs {
    disk: Arc<dyn Disk>,
    index: Option<RunIndex>,
    trees: Vec<PathBuf>,
    current: Option<PathBuf>,
}

/// Runs that were found, the newest first; those without a start are the last.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// The runs.
    pub runs: Vec<RunInfo>,
    /// How many entries of the index lead to a folder that is gone.
    pub gone: usize,
    /// Trees of which only the first folders were looked at.
    pub cut: Vec<PathBuf>,
}

/// When the runs that are looked for began; both ends count, and an open end is none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Not before this.
    pub since: Option<SystemTime>,
    /// Not after this.
    pub until: Option<SystemTime>,
}

impl Window {
    /// Whether `time` lies in it.
    #[must_use]
    pub fn holds(self, time: SystemTime) -> bool {
        self.since.is_none_or(|since| since <= time) && self.until.is_none_or(|until| time <= until)
    }
}

/// The runs of a [`Window`], the newest first, read as they are asked for.
#[derive(Debug)]
pub struct Within {
    disk: Arc<dyn Disk>,
    window: Window,
    /// Those that no index has, the oldest first.
    held: Vec<RunInfo>,
    entries: Option<Peekable<IndexEntries>>,
    seen: BTreeSet<PathBuf>,
    /// How many entries of the index led to a folder that is gone, so far.
    pub gone: usize,
    /// Trees of which only the first folders were looked at.
    pub cut: Vec<PathBuf>,
}

/// What a name means.
#[derive(Clone, Debug)]
pub struct Named {
    /// The newest run of that name.
    pub run: RunInfo,
    /// How many older ones there are.
    pub others: usize,
}

impl Runs {
    /// The runs of an index.
    #[must_use]
    pub fn of_index(disk: Arc<dyn Disk>, index: RunIndex) -> Self {
        Self { disk, index: Some(index), trees: Vec::new(), current: None }
    }

    /// The runs in trees of folders, absolute. Each is looked through four levels deep; symlinks and hidden folders are passed
    /// over, and the first 10,000 folders count.
    #[must_use]
    pub fn in_trees(disk: Arc<dyn Disk>, trees: Vec<PathBuf>) -> Self {
        Self { disk, index: None, trees, current: None }
    }

    /// The same and the run in the folder `artifacts`, absolute, wherever it is.
    #[must_use]
    pub fn and(mut self, artifacts: Option<PathBuf>) -> Self {
        self.current = artifacts;
        self
    }

    /// The newest runs, at most `limit` of them. Of an index no more than that is read.
    #[must_use]
    pub fn newest(&self, limit: usize) -> Found {
        self.matching(limit, |_| true)
    }

    /// The newest run called `name`, and the number of the others.
    #[must_use]
    pub fn named(&self, name: &str) -> Option<Named> {
        let mut found = self.matching(usize::MAX, |run| run == name);
        if found.runs.is_empty() {
            return None;
        }
        let run = found.runs.remove(0);
        Some(Named { run, others: found.runs.len() })
    }

    /// The runs that began in `window`, the newest first, each of them once. Of an index no more is read than is asked for, and
    /// nothing that is older than the window. Runs that don't tell their start are left out.
    #[must_use]
    pub fn within(&self, window: Window) -> Within {
        let (mut folders, mut cut) = (Vec::new(), Vec::new());
        folders.extend(self.current.iter().filter(|current| is_run(self.disk.as_ref(), current)).cloned());
        for tree in &self.trees {
            let (runs, extent) = self.runs_below(tree);
            folders.extend(runs);
            cut.extend((extent == Extent::Cut).then(|| tree.clone()));
        }
        let seen: BTreeSet<PathBuf> = folders.into_iter().collect();
        let read = seen.iter().map(|artifacts| RunInfo::read(self.disk.as_ref(), artifacts));
        let is_in = |run: &RunInfo| run.started_at.is_some_and(|start| window.holds(start));
        let mut held: Vec<_> = read.filter(is_in).collect();
        held.sort_by(|a, b| (a.started_at, &a.artifacts).cmp(&(b.started_at, &b.artifacts)));
        let entries = self.index.as_ref().map(|index| index.newest_first().peekable());
        Within { disk: self.disk.clone(), window, held, entries, seen, gone: 0, cut }
    }

    fn matching(&self, limit: usize, is_wanted: impl Fn(&str) -> bool) -> Found {
        let mut found = Found::default();
        let mut seen = BTreeSet::new();
        let mut take = |found: &mut Found, artifacts: &Path| {
            let is_new = seen.insert(artifacts.to_path_buf());
            let run = is_new.then(|| RunInfo::read(self.disk.as_ref(), artifacts));
            found.runs.extend(run.filter(|run| is_wanted(&run.name)));
        };
        for current in self.current.iter().filter(|current| is_run(self.disk.as_ref(), current)) {
            take(&mut found, current);
        }
        for tree in &self.trees {
            let (runs, extent) = self.runs_below(tree);
            runs.iter().for_each(|artifacts| take(&mut found, artifacts));
            if extent == Extent::Cut {
                found.cut.push(tree.clone());
            }
        }
        // The current run may be older than those of the index, so that it doesn't count towards the limit here.
        let limit_of_index = limit.saturating_add(found.runs.len());
        for entry in self.index.iter().flat_map(RunIndex::newest_first) {
            if found.runs.len() >= limit_of_index {
                break;
            }
            // Most names are other ones: their folders are not looked at.
            if !is_wanted(&entry.name) {
                continue;
            }
            match is_run(self.disk.as_ref(), &entry.artifacts) {
                true => take(&mut found, &entry.artifacts),
                false => found.gone += 1,
            }
        }
        found.runs.sort_by(|a, b| (b.started_at, &b.artifacts).cmp(&(a.started_at, &a.artifacts)));
        found.runs.truncate(limit);
        found
    }

    /// The runs in a tree.
    fn runs_below(&self, tree: &Path) -> (Vec<PathBuf>, Extent) {
        let (mut runs, mut folders) = (Vec::new(), 0);
        let mut level = vec![tree.to_path_buf()];
        for _ in 0..=MOST_DEPTH {
            let mut next = Vec::new();
            for folder in level {
                if folders == MOST_FOLDERS {
                    return (runs, Extent::Cut);
                }
                folders += 1;
                let entries = self.disk.list(&folder).unwrap_or_default();
                if entries.iter().any(tells_a_run) {
                    runs.push(folder);
                    continue;
                }
                let below = entries.into_iter().filter(|entry| entry.kind == Kind::Folder);
                let shown = below.filter(|entry| !entry.name.as_encoded_bytes().starts_with(b"."));
                next.extend(shown.map(|entry| folder.join(entry.name)));
            }
            level = next;
        }
        (runs, Extent::Whole)
    }
}

/// How much of a tree was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Cut,
}

impl Within {
    /// The next run of the index that began in the window; `None` where it has no more.
    fn of_index(&mut self) -> Option<IndexEntry> {
        let entries = self.entries.as_mut()?;
        let is_over = |entry: &IndexEntry| self.window.since.is_some_and(|since| entry.started_at < since);
        entries.next_if(|entry| !is_over(entry))
    }

    /// Whether the next run that no index has is newer than all that is left of the index.
    fn is_held_next(&mut self) -> bool {
        let Some(held) = self.held.last().and_then(|run| run.started_at) else { return false };
        let next = self.entries.as_mut().and_then(Peekable::peek);
        next.is_none_or(|entry| entry.started_at <= held)
    }
}

impl Iterator for Within {
    type Item = RunInfo;

    fn next(&mut self) -> Option<RunInfo> {
        loop {
            if self.is_held_next() {
                return self.held.pop();
            }
            let Some(entry) = self.of_index() else { return self.held.pop() };
            if !self.window.holds(entry.started_at) || !self.seen.insert(entry.artifacts.clone()) {
                continue;
            }
            if is_run(self.disk.as_ref(), &entry.artifacts) {
                return Some(RunInfo::read(self.disk.as_ref(), &entry.artifacts));
            }
            self.gone += 1;
        }
    }
}

/// What a folder must hold to be a run's artifacts folder, one of them: its records, or a file in which a run tells of itself.
const SIGNS: [(&str, Kind); 3] =
    [(FOLDER, Kind::Folder), (super::FILE, Kind::File), (super::LAUNCHERS_FILE, Kind::File)];

/// Whether `artifacts` is the folder of a run.
pub(super) fn is_run(disk: &dyn Disk, artifacts: &Path) -> bool {
    SIGNS
        .iter()
        .any(|(name, kind)| matches!(disk.kind(&artifacts.join(name)), Ok(Some(found)) if found == *kind))
}

/// Whether what a folder holds says that it is a run's.
fn tells_a_run(entry: &Entry) -> bool {
    SIGNS.iter().any(|(name, kind)| entry.name == *name && entry.kind == *kind)
}
