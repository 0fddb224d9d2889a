//! Where a change may change what a project's files should be.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cantus_fs::Root;
use cantus_manifest::{RelPath, Stamps};

use crate::config::LOCK;
use crate::discover::MEMORIES;
use crate::members::member_folders;
use crate::plugins::local_folders;
use crate::project::{path, read_config};

/// Absolute paths of the folders to be watched, there or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Watched {
    /// With all that is in them: note folders, those of path dependencies among them, and the package.
    pub whole: BTreeSet<PathBuf>,
    /// Only their direct children: where configuration, note folders and committed files come and go.
    pub flat: BTreeSet<PathBuf>,
}

/// The folders of the project at `root` to be watched, whatever state it is in. Of dependencies that
/// ship notes those that lie in cargo's cache are not among them: they never change.
#[must_use]
pub fn watched(root: &Root) -> Watched {
    let config = read_config(root, Stamps::Skip, &mut Vec::new());
    let mut watched = Watched::default();
    watched.flat.insert(root.path().to_path_buf());
    let mut flat = |path: &RelPath| {
        watched.flat.insert(root.at(path));
    };
    let files: Vec<_> = config.targets().cloned().chain([path(LOCK)]).collect();
    let own = config.memory.clone().map_or_else(|| MEMORIES.map(path).to_vec(), |memory| vec![memory]);
    let mut whole: Vec<RelPath> = own.into_iter().chain(config.package.clone()).collect();
    for folder in member_folders(root, &config) {
        flat(&folder);
        let below = |name: &str| folder.join(name).ok();
        let names = config.files.iter().map(RelPath::as_str).chain([LOCK]);
        names.filter_map(below).filter_map(|file| file.parent()).for_each(|parent| flat(&parent));
        whole.extend(MEMORIES.into_iter().filter_map(below));
        // A new crate beside this one.
        folder.parent().iter().for_each(&mut flat);
    }
    files.iter().chain(&whole).filter_map(RelPath::parent).for_each(|parent| flat(&parent));
    watched.whole = whole.iter().map(|path| root.at(path)).collect();
    for (folder, notes) in local_folders(root, &config) {
        if notes != folder {
            watched.flat.extend(notes.parent().map(Path::to_path_buf));
            watched.whole.insert(notes);
        }
        // Its `Cargo.toml` names its note folder.
        watched.flat.insert(folder);
    }
    watched
}
