//! A bundle as one archive whose bytes come from the tree alone.

mod gzip;
mod tar;

use std::io;
use std::path::Path;

use cantus_fs::{Disk, Kind, ReadError};
use thiserror::Error;

use crate::names::TreePath;
use crate::tree;
use crate::verify::{Verified, verify};
use crate::{Fault, place};

pub use tar::EntryError;

/// Why there is no archive; what stood under its name stands there still.
#[derive(Debug, Error)]
pub enum ExportError {
    /// The bundle is not valid.
    #[error("the bundle is not valid")]
    Invalid(#[source] Fault),
    /// A file of it can't be in such an archive.
    #[error("`{path}` can't be in the archive")]
    Entry {
        /// The file.
        path: TreePath,
        /// Why.
        source: EntryError,
    },
    /// The archive would lie in the bundle itself.
    #[error("the archive would lie inside the bundle; name a file outside of it")]
    Inside,
    /// What stands under the archive's name is no regular file.
    #[error("{0} stands where the archive should; name another file")]
    Taken(Kind),
    /// A file of the bundle could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: TreePath,
        /// Why.
        source: ReadError,
    },
    /// The archive could not be written.
    #[error("cannot write the archive")]
    Write(#[source] io::Error),
}

/// Writes the bundle `root` as a gzipped tar archive to `out`; both paths are absolute. An archive that is there is replaced in one
/// step.
///
/// Equal trees give equal archives, whatever times, modes, owners and order they have on the disk: every header is made of the path
/// and the size alone, files come in the byte order of their whole paths, and folders have no entries.
pub fn export(disk: &dyn Disk, root: &Path, out: &Path) -> Result<Verified, ExportError> {
    let verified = verify(disk, root).map_err(ExportError::Invalid)?;
    if place::is_inside(disk, root, out).map_err(ExportError::Write)? {
        return Err(ExportError::Inside);
    }
    match disk.kind(out).map_err(ExportError::Write)? {
        None | Some(Kind::File) => {}
        Some(kind) => return Err(ExportError::Taken(kind)),
    }
    let archive = gzip::gzip(&archive(disk, root, &verified)?);
    let staged = disk.stage(out, &archive).map_err(ExportError::Write)?;
    disk.commit(staged).map_err(ExportError::Write)?;
    Ok(verified)
}

/// The tar stream of the bundle `root`, uncompressed.
fn archive(disk: &dyn Disk, root: &Path, verified: &Verified) -> Result<Vec<u8>, ExportError> {
    let entry = |path: &TreePath| {
        let path = path.clone();
        move |source| ExportError::Entry { path, source }
    };
    // All names first: an archive is whole or isn't written.
    for (path, size) in &verified.tree.files {
        tar::header(path.as_str(), *size).map_err(entry(path))?;
    }
    let mut stream = Vec::new();
    for path in verified.tree.files.keys() {
        let bytes = tree::read(disk, root, path);
        let bytes = bytes.map_err(|source| ExportError::Read { path: path.clone(), source })?;
        tar::append(&mut stream, path.as_str(), &bytes).map_err(entry(path))?;
    }
    tar::end(&mut stream);
    Ok(stream)
}
