//! Where runs are looked for, and which one a name means.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::{Disk, Kind};

use super::{RunIndex, RunInfo};

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

    fn matching(&self, limit: usize, is_wanted: impl Fn(&str) -> bool) -> Found {
        let mut found = Found::default();
        let mut seen = BTreeSet::new();
        let mut take = |found: &mut Found, artifacts: &Path| {
            let is_new = seen.insert(artifacts.to_path_buf());
            let run = is_new.then(|| RunInfo::read(self.disk.as_ref(), artifacts));
            found.runs.extend(run.filter(|run| is_wanted(&run.name)));
        };
        for current in self.current.iter().filter(|current| self.is_run(current)) {
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
            match self.is_run(&entry.artifacts) {
                true => take(&mut found, &entry.artifacts),
                false => found.gone += 1,
            }
        }
        found.runs.sort_by(|a, b| (b.started_at, &b.artifacts).cmp(&(a.started_at, &a.artifacts)));
        found.runs.truncate(limit);
        found
    }

    /// Whether the folder has records.
    fn is_run(&self, artifacts: &Path) -> bool {
        is_folder(self.disk.as_ref(), &artifacts.join(crate::record::folder().as_str()))
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
                if self.is_run(&folder) {
                    runs.push(folder);
                    continue;
                }
                let entries = self.disk.list(&folder).unwrap_or_default();
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

/// Whether a folder stands at `path`, symlinks on the way followed.
fn is_folder(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.kind(path), Ok(Some(Kind::Folder)))
}
