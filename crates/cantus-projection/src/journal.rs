//! What a run is about to write, noted where no commit reaches: by this the next run knows what a killed one left.
//!
//! A killed run leaves files that neither the lock nor the notes explain any more, and staged files beside them. Nothing in
//! the work tree can prove that: whatever lies there may have come with a clone or been written by hand. So the proof lies in
//! the git folder (outside git: in the folder for temporary files, where only a file of the same user counts), and it is the
//! digests of whole texts, which say nothing of any other text. The rule: a file is a killed run's if its digest stands here;
//! without that an edit is an edit, and a staged file is removed only if it begins a text that is written anew anyway.

use std::collections::BTreeSet;
use std::path::PathBuf;

use cantus_fs::Root;
use cantus_manifest::Digest;

use crate::git::Git;
use crate::plan::{Action, Plan, State};

/// The most bytes of a journal that are read.
const MOST_BYTES: u64 = 1 << 20;

/// What the last run noted before it wrote; empty if it came to its end.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    /// Texts of ours: written, or to be written over as they were.
    ours: BTreeSet<Digest>,
    /// Texts that were to be written over though they aren't ours: by `--force`, or since git holds them.
    theirs: BTreeSet<Digest>,
}

impl Journal {
    /// What `plan` is about to do.
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut journal = Self::default();
        for target in plan.targets.iter().filter(|target| target.action != Action::Nothing) {
            if let Action::Write(text) = &target.action {
                journal.ours.insert(Digest::of(text.as_bytes()));
            }
            let theirs = matches!(target.state, State::Edited { .. } | State::Foreign);
            let seen = if theirs { &mut journal.theirs } else { &mut journal.ours };
            seen.extend(target.seen);
        }
        journal
    }

    /// The one that a killed run left, wherever it could write.
    pub(crate) fn read(root: &Root, git: &Git<'_>) -> Self {
        let mut journal = Self::default();
        for place in places(root, git) {
            let text = root.disk().recall(&place, MOST_BYTES).unwrap_or_default();
            for line in String::from_utf8_lossy(&text).lines() {
                let (set, digest) = match line.split_once(' ') {
                    Some(("ours", digest)) => (&mut journal.ours, digest),
                    Some(("theirs", digest)) => (&mut journal.theirs, digest),
                    _ => continue,
                };
                set.extend(digest.parse::<Digest>());
            }
        }
        journal
    }

    /// Notes it in the first place that lets itself be written; gives that place. Without one a kill costs the next run a
    /// `--force`, and nothing else.
    pub(crate) fn write(&self, root: &Root, git: &Git<'_>) -> Option<PathBuf> {
        let line = |kind: &str, digest: &Digest| format!("{kind} {digest}\n");
        let ours = self.ours.iter().map(|digest| line("ours", digest));
        let text: String = ours.chain(self.theirs.iter().map(|digest| line("theirs", digest))).collect();
        places(root, git).into_iter().find(|place| root.disk().record(place, text.as_bytes()).is_ok())
    }

    /// Whether a run wrote exactly these bytes.
    pub(crate) fn wrote(&self, bytes: &[u8]) -> bool {
        !self.ours.is_empty() && self.ours.contains(&Digest::of(bytes))
    }

    /// Whether a staged file of these bytes may go: a run wrote them, or took them away as it was told to.
    pub(crate) fn may_sweep(&self, bytes: &[u8]) -> bool {
        let digest = Digest::of(bytes);
        self.ours.contains(&digest) || self.theirs.contains(&digest)
    }
}

/// Where the journal of a root may lie.
fn places(root: &Root, git: &Git<'_>) -> Vec<PathBuf> {
    let name = format!("{}.journal", name(root));
    let shared = std::env::temp_dir().join(&name);
    git.path_in_git_folder(&name).into_iter().chain([shared]).collect()
}

/// A name for the root that other roots don't have.
pub(crate) fn name(root: &Root) -> String {
    format!("cantus-{}", Digest::of(root.path().as_os_str().as_encoded_bytes()).short())
}
