//! Bundles by the digest of their bytes.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cantus_fs::Disk;
use cantus_manifest::Digest;

use crate::pool;

/// The most bytes that a bundle may have.
const MOST_BYTES: u64 = 1 << 30;

/// A bundle that was not what its name says, and counts as absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// What its name says.
    pub digest: Digest,
    /// The name in the same folder under which it is kept from now on; `None` if it could not be renamed.
    pub kept: Option<String>,
}

/// One line for people; paths start at the store.
impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = self.digest.to_string();
        write!(f, "corrupt bundle in the store: `bundles/{}/{hex}.md`", &hex[..2])?;
        match &self.kept {
            Some(kept) => write!(f, " is kept as `{kept}` and made anew"),
            None => f.write_str(" could not be set aside"),
        }
    }
}

/// What stands where a bundle should be.
pub(crate) enum Blob {
    /// The bundle.
    Whole(String),
    /// Nothing that can be read.
    Absent,
    /// Something else.
    Corrupt(Corrupt),
}

/// Where a bundle lies in the store `home`.
pub(crate) fn path_of(home: &Path, digest: &Digest) -> PathBuf {
    let hex = digest.to_string();
    home.join("bundles").join(&hex[..2]).join(format!("{hex}.md"))
}

/// The bundle with this digest. One that has other bytes is set aside.
pub(crate) fn read(disk: &dyn Disk, home: &Path, digest: &Digest) -> Blob {
    let path = path_of(home, digest);
    let Ok(bytes) = disk.read(&path, MOST_BYTES) else { return Blob::Absent };
    if Digest::of(&bytes) != *digest {
        return set_aside(disk, &path, digest);
    }
    String::from_utf8(bytes).map_or(Blob::Absent, Blob::Whole)
}

/// Renames a bundle that isn't what its name says.
fn set_aside(disk: &dyn Disk, path: &Path, digest: &Digest) -> Blob {
    let now = humantime::format_rfc3339_millis(SystemTime::now()).to_string().replace([':', '-'], "");
    let name = format!("{digest}.md.corrupt-{now}");
    let aside = path.with_file_name(&name);
    if disk.rename_new(path, &aside).is_err() {
        return Blob::Corrupt(Corrupt { digest: *digest, kept: None });
    }
    match disk.read(&aside, MOST_BYTES) {
        // Another run has mended it right before: it goes back.
        Ok(bytes) if Digest::of(&bytes) == *digest => {
            if disk.rename_new(&aside, path).is_err() {
                let _ = disk.remove_loose(&aside);
            }
            String::from_utf8(bytes).map_or(Blob::Absent, Blob::Whole)
        }
        _ => Blob::Corrupt(Corrupt { digest: *digest, kept: Some(name) }),
    }
}

/// Puts a bundle into the store, unless it is there. Gives its place, and what stood there.
pub(crate) fn keep(disk: &dyn Disk, home: &Path, text: &str) -> (io::Result<PathBuf>, Option<Corrupt>) {
    let digest = Digest::of(text);
    let path = path_of(home, &digest);
    let corrupt = match read(disk, home, &digest) {
        Blob::Whole(_) => return (Ok(path), None),
        Blob::Absent => None,
        Blob::Corrupt(corrupt) => Some(corrupt),
    };
    (write(disk, &path, text).map(|()| path), corrupt)
}

fn write(disk: &dyn Disk, path: &Path, text: &str) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    if disk.kind(folder)?.is_none() {
        disk.create_folders(folder)?;
    }
    let staged = disk.stage_sealed(path, text.as_bytes())?;
    match disk.commit_new(staged) {
        // Another run was faster, with the same bytes: whoever reads them checks that.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    pool::sweep(disk, folder);
    Ok(())
}
