//! Which runs a report looks at: no more of them than are shown.

use std::path::PathBuf;

use cantus_fs::Disk;

use super::Known;
use crate::reading::record_files;
use crate::record::Role;
use crate::runs::{RunInfo, Runs, Window};

/// The runs that a report may show.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The newest first.
    pub runs: Vec<RunInfo>,
    /// How many entries of the index led to a folder that is gone.
    pub gone: usize,
    /// Trees of which only the first folders were looked at.
    pub cut: Vec<PathBuf>,
}

/// The newest runs of `window` that have something to do with one of `providers`, no more than it takes for each of these to
/// have `limit` of them.
#[must_use]
pub fn candidates(
    disk: &dyn Disk,
    runs: &Runs,
    window: Window,
    providers: &[Known],
    limit: usize,
) -> Candidates {
    let mut found = Candidates::default();
    let mut wanted: Vec<(Known, usize)> = providers.iter().map(|provider| (*provider, limit)).collect();
    let mut within = runs.within(window);
    while wanted.iter().any(|(_, left)| *left > 0)
        && let Some(run) = within.next()
    {
        let of_run = providers_of(disk, &run);
        let mut is_shown = false;
        for (provider, left) in wanted.iter_mut().filter(|(_, left)| *left > 0) {
            if of_run.iter().any(|name| name == provider.as_str()) {
                *left -= 1;
                is_shown = true;
            }
        }
        found.runs.extend(is_shown.then_some(run));
    }
    Candidates { gone: within.gone, cut: within.cut, ..found }
}

/// The providers of a run: of its first invocation, and those after which its root records are called.
fn providers_of(disk: &dyn Disk, run: &RunInfo) -> Vec<String> {
    let files = record_files(disk, &run.artifacts).unwrap_or_default();
    let roots = files.iter().filter(|files| files.role() == Role::Root);
    roots.map(|files| files.label().to_owned()).chain(run.provider.clone()).collect()
}
