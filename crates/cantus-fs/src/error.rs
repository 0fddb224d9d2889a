//! What can be wrong, in the words of the user's paths.

use std::io;

use cantus_manifest::{ParseRelPathError, RelPath};
use thiserror::Error;

use crate::Kind;

/// Why a file gave no bytes. The path is the caller's to name.
#[derive(Debug, Error)]
pub enum ReadError {
    /// More bytes than the caller allows; none was given.
    #[error("{size} bytes are more than the {limit} allowed")]
    TooLarge {
        /// The size of the file; of one that grew or has no size, what had been read by then.
        size: u64,
        /// The limit of the caller.
        limit: u64,
    },
    /// Something else than a regular file.
    #[error("{0} is not a regular file")]
    NotAFile(Kind),
    /// The disk failed, or there is no such file.
    #[error("the disk gave an error")]
    Io(#[from] io::Error),
}

impl ReadError {
    /// Whether there is simply no such file.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self, Self::Io(error) if is_absent(error))
    }
}

/// Whether `error` says that nothing stands at the path.
pub(crate) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// A look at something below a root that failed.
#[derive(Debug, Error)]
pub enum AccessError {
    /// The folder could not be listed.
    #[error("cannot list `{path}`")]
    List {
        /// The folder, relative to the root; `.` is the root.
        path: String,
        /// What the disk said.
        source: io::Error,
    },
    /// It could not be told what stands there.
    #[error("cannot look at `{path}`")]
    Kind {
        /// The path, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
    /// The file could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file, relative to the root.
        path: RelPath,
        /// Why.
        source: ReadError,
    },
}

impl AccessError {
    /// Whether there is simply no such file or folder.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        match self {
            Self::List { source, .. } | Self::Kind { source, .. } => is_absent(source),
            Self::Read { source, .. } => source.is_absent(),
        }
    }
}

/// Why a path may not be written: it leads, or could lead, somewhere else than it says.
#[derive(Debug, Error)]
pub enum ContainError {
    /// The path itself is a symlink, dangling or not.
    #[error("`{path}` is a symlink; expected a regular file or nothing")]
    Symlink {
        /// The path, relative to the root.
        path: RelPath,
    },
    /// A folder on the way is a symlink.
    #[error("`{path}` lies behind the symlink `{folder}`; expected a folder")]
    BehindSymlink {
        /// The path, relative to the root.
        path: RelPath,
        /// The symlink on the way to it.
        folder: RelPath,
    },
    /// A folder on the way is no folder.
    #[error("`{path}` lies behind `{folder}`, which is {kind}; expected a folder")]
    BehindFile {
        /// The path, relative to the root.
        path: RelPath,
        /// What stands where a folder should.
        folder: RelPath,
        /// What it is.
        kind: Kind,
    },
    /// The path is neither absent nor a regular file.
    #[error("`{path}` is {kind}; expected a regular file or nothing")]
    NotAFile {
        /// The path, relative to the root.
        path: RelPath,
        /// What it is.
        kind: Kind,
    },
    /// It could not be told what stands there.
    #[error("cannot look at `{path}`")]
    Look {
        /// The path or the folder on the way that was asked for, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
}

impl ContainError {
    /// The path that was refused.
    #[must_use]
    pub fn path(&self) -> &RelPath {
        match self {
            Self::Symlink { path }
            | Self::BehindSymlink { path, .. }
            | Self::BehindFile { path, .. }
            | Self::NotAFile { path, .. }
            | Self::Look { path, .. } => path,
        }
    }
}

/// A target that could not be read, written or removed.
#[derive(Debug, Error)]
pub enum TargetError {
    /// It was refused before anything was done.
    #[error(transparent)]
    Contain(#[from] ContainError),
    /// It could not be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The target, relative to the root.
        path: RelPath,
        /// Why.
        source: ReadError,
    },
    /// Its folder could not be made.
    #[error("cannot make the folder of `{path}`")]
    Folder {
        /// The target, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
    /// The new bytes could not be written beside it; it is as it was.
    #[error("cannot write the new `{path}`")]
    Stage {
        /// The target, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
    /// The new file could not be put in its place, or (after that) its folder could not be flushed.
    #[error("cannot replace `{path}`")]
    Commit {
        /// The target, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
    /// It could not be removed.
    #[error("cannot remove `{path}`")]
    Remove {
        /// The target, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
    /// It was no longer what it should have been, and is what it had become.
    #[error("`{path}` changed while this ran{}", kept_as(.kept.as_ref()))]
    Changed {
        /// The target, relative to the root.
        path: RelPath,
        /// Where a text of it lies that could not be put back, relative to the root.
        kept: Option<RelPath>,
    },
}

fn kept_as(kept: Option<&RelPath>) -> String {
    kept.map_or_else(String::new, |kept| format!("; what stood there is kept as `{kept}`"))
}

impl TargetError {
    /// The target.
    #[must_use]
    pub fn path(&self) -> &RelPath {
        match self {
            Self::Contain(error) => error.path(),
            Self::Read { path, .. }
            | Self::Folder { path, .. }
            | Self::Stage { path, .. }
            | Self::Commit { path, .. }
            | Self::Remove { path, .. }
            | Self::Changed { path, .. } => path,
        }
    }
}

/// A symlink that was not followed, and where it points. Texts are relative to the root; of what lies outside,
/// nothing is said.
#[derive(Debug, Error)]
pub enum LinkError {
    /// The name can't be part of a path.
    #[error(transparent)]
    Name(#[from] ParseRelPathError),
    /// It points to nothing, or in a circle.
    #[error("`{path}` is a symlink that cannot be followed")]
    Dangling {
        /// The symlink, relative to the root.
        path: RelPath,
        /// What the disk said.
        source: io::Error,
    },
    /// It points out of the root.
    #[error("`{path}` is a symlink out of the root; expected a file inside `{folder}`")]
    LeavesRoot {
        /// The symlink, relative to the root.
        path: RelPath,
        /// The folder it may point into, relative to the root.
        folder: RelPath,
    },
    /// It points out of its folder, to another place in the root.
    #[error("`{path}` is a symlink to `{target}`; expected a file inside `{folder}`")]
    LeavesFolder {
        /// The symlink, relative to the root.
        path: RelPath,
        /// The folder it may point into, relative to the root.
        folder: RelPath,
        /// The real target, relative to the real root, with `/`; what isn't UTF-8 is replaced.
        target: String,
    },
    /// It points to something inside its folder that gave no bytes.
    #[error("cannot read `{target}`, to which the symlink `{path}` points")]
    Read {
        /// The symlink, relative to the root.
        path: RelPath,
        /// The real target, as a path below the folder as it was named, with `/`; what isn't UTF-8 is replaced.
        target: String,
        /// Why.
        source: ReadError,
    },
}
