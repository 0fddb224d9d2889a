//! The only door of Cantus to the disk: read, list, atomic write, lock, containment.
//!
//! [`Disk`] is the disk as operations; [`RealDisk`] is the one of the machine and `FaultDisk` (feature `fault`)
//! its twin that fails where a test says so; `CountingDisk` (the same feature) counts what is read. [`Root`] is a folder on a disk, asked by [`RelPath`] alone.
//!
//! Invariants:
//! * A target holds its old bytes or its new ones, whole, whatever happens in between: new bytes are staged
//!   beside it, flushed, and renamed over it.
//! * Nothing is written or removed behind a symlink, through [`Root`]; a target is a regular file or absent.
//! * A read is bounded by the caller and can't hang: only regular files are read, and a symlink as the last part
//!   of a path is never followed unseen ([`Root::resolve_inside`] is the one that follows, and says so).
//! * Entries come in the byte order of their names, whatever order the disk has.
//! * No message holds an absolute path: [`Root`] names paths as [`RelPath`], [`Disk`] names none.
//! * Only the module of [`RealDisk`] calls what `clippy.toml` bans.
//!
//! [`RelPath`]: cantus_manifest::RelPath

#[cfg(feature = "fault")]
mod counting;
mod disk;
mod error;
#[cfg(feature = "fault")]
mod fault;
mod lock;
mod parts;
mod real;
mod root;
#[cfg(test)]
mod scratch;
mod staged;

#[cfg(feature = "fault")]
pub use counting::CountingDisk;
pub use disk::{Disk, Entry, FileStamp, Kind, Measure};
pub use error::{AccessError, ContainError, LinkError, ReadError, TargetError};
#[cfg(feature = "fault")]
pub use fault::{Fault, FaultDisk, FaultKind, Hook, On, Operation, is_crash};
pub use lock::{LockError, LockGuard};
pub use parts::Parts;
pub use real::RealDisk;
pub use root::Root;
pub use staged::{Staged, is_leftover};
