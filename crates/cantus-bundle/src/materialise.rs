//! A resolution becomes a folder under a name that comes from everything that made it.

mod key;
mod layout;
mod staging;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind, LockError, ReadError};
use thiserror::Error;

use crate::Fault;
use crate::manifest::MANIFEST;
use crate::names::{NameError, TreePath};
use crate::resolution::Resolution;
use crate::tree::{self, at};
use crate::verify::verify;

use layout::Layout;
use staging::Staging;

/// A bundle in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Materialised {
    /// Its folder.
    pub folder: PathBuf,
    /// The folder's name: the first 16 hex digits of the digest over everything that made the bundle.
    pub key: String,
    /// Whether it was there already.
    pub reused: bool,
}

/// Why there is no bundle. Nothing stands under its final name then, unless something else stood there before.
#[derive(Debug, Error)]
pub enum MaterialiseError {
    /// The resolution can't be a tree.
    #[error("{0}")]
    Resolution(String),
    /// Something in it has a name that no tree may have.
    #[error(transparent)]
    Name(#[from] NameError),
    /// What stands under the final name is no bundle.
    #[error(
        "`{key}` in the folder of bundles is {kind}{}, and is left alone; expected a bundle or nothing",
        if *.kind == Kind::Folder { " without a manifest" } else { "" }
    )]
    Blocked {
        /// The name.
        key: String,
        /// What stands there.
        kind: Kind,
    },
    /// The bundle that is there already is not valid.
    #[error("the bundle `{key}` was changed after it was made")]
    Invalid {
        /// Its name.
        key: String,
        /// What is wrong with it.
        source: Fault,
    },
    /// The bundle that is there already has other bytes than it was made with.
    #[error("the bundle `{key}` was changed after it was made: `{path}` has other bytes")]
    Tampered {
        /// Its name.
        key: String,
        /// The file.
        path: TreePath,
    },
    /// The tree that was written is not valid; it was removed.
    #[error("the new bundle is not valid")]
    Unfit(#[source] Fault),
    /// A file of the bundle that is there already could not be read.
    #[error("cannot read `{path}` of the bundle")]
    Read {
        /// The file.
        path: TreePath,
        /// Why.
        source: ReadError,
    },
    /// A file or folder of the new tree could not be written.
    #[error("cannot write `{path}` of the new bundle")]
    Write {
        /// The file or folder in the tree; `.` is the tree itself.
        path: String,
        /// What the disk said.
        source: io::Error,
    },
    /// The folder of bundles could not be used.
    #[error("cannot use the folder of bundles")]
    Out(#[source] io::Error),
    /// The sign of a live run could not be set.
    #[error("cannot mark the staging folder as in use")]
    Lock(#[source] LockError),
}

/// Makes the bundle of `resolution` in `out`, an absolute path, unless it is there already.
///
/// The tree is written beside its final place, flushed, verified, and renamed: equal runs at the same time end with one folder,
/// and a run that dies leaves at most a staging folder, which a later run removes. A bundle that is there is verified, compared
/// byte for byte and not touched.
pub fn materialise(
    disk: &dyn Disk,
    resolution: &Resolution,
    out: &Path,
) -> Result<Materialised, MaterialiseError> {
    let layout = Layout::new(resolution)?;
    let key = key::key(resolution, &layout);
    staging::sweep(disk, out);
    if let Some(found) = reuse(disk, out, &key, &layout)? {
        return Ok(found);
    }
    disk.create_folders(out).map_err(MaterialiseError::Out)?;
    let staging = Staging::begin(disk, out, &key)?;
    let filled = staging
        .fill(&layout)
        .and_then(|()| verify(disk, staging.folder()).map(drop).map_err(MaterialiseError::Unfit));
    if let Err(error) = filled {
        staging.discard();
        return Err(error);
    }
    let folder = out.join(&key);
    match disk.rename_new(staging.folder(), &folder) {
        Ok(()) => {
            staging.end();
            Ok(Materialised { folder, key, reused: false })
        }
        Err(source) => {
            staging.discard();
            // Another run may have been faster.
            reuse(disk, out, &key, &layout)?
                .ok_or_else(|| MaterialiseError::Write { path: ".".to_owned(), source })
        }
    }
}

/// The bundle under the name `key`, if something stands there.
fn reuse(
    disk: &dyn Disk,
    out: &Path,
    key: &str,
    layout: &Layout,
) -> Result<Option<Materialised>, MaterialiseError> {
    let folder = out.join(key);
    let Some(kind) = disk.kind(&folder).map_err(MaterialiseError::Out)? else { return Ok(None) };
    let manifest = disk.kind(&folder.join(MANIFEST)).map_err(MaterialiseError::Out)?;
    if kind != Kind::Folder || manifest.is_none() {
        return Err(MaterialiseError::Blocked { key: key.to_owned(), kind });
    }
    let verified = verify(disk, &folder);
    let verified = verified.map_err(|source| MaterialiseError::Invalid { key: key.to_owned(), source })?;
    let tampered = |path: &TreePath| MaterialiseError::Tampered { key: key.to_owned(), path: path.clone() };
    for (path, bytes) in &layout.files {
        let found = tree::read(disk, &folder, path);
        let found = found.map_err(|source| MaterialiseError::Read { path: path.clone(), source })?;
        if found != *bytes {
            return Err(tampered(path));
        }
    }
    // What was added to a skill would be delivered with it.
    let ours: BTreeSet<&TreePath> = layout.files.iter().map(|(path, _)| path).collect();
    let added = verified.skills.iter().flat_map(|skill| verified.tree.files_below(skill.folder.as_str()));
    let added = added.map(|(path, _)| path).find(|path| !ours.contains(path));
    if let Some(path) = added {
        return Err(tampered(path));
    }
    Ok(Some(Materialised { folder, key: key.to_owned(), reused: true }))
}

/// Writes folders and files below `root`, and flushes all of them.
fn write_all(disk: &dyn Disk, root: &Path, layout: &Layout) -> Result<(), MaterialiseError> {
    let wrong = |path: &str| {
        let path = path.to_owned();
        move |source| MaterialiseError::Write { path, source }
    };
    for folder in &layout.folders {
        disk.create_folder(&at(root, folder)).map_err(wrong(folder.as_str()))?;
    }
    for (path, bytes) in &layout.files {
        disk.write_new(&at(root, path), bytes).map_err(wrong(path.as_str()))?;
    }
    for folder in &layout.folders {
        disk.flush_folder(&at(root, folder)).map_err(wrong(folder.as_str()))?;
    }
    disk.flush_folder(root).map_err(wrong("."))
}
