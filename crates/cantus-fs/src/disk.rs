//! The disk as operations.

use std::ffi::OsString;
use std::fmt::{self, Debug};
use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::parts::WholeParts;
use crate::{LockError, LockGuard, Parts, ReadError, Staged};

/// What a disk that is only read says to everything else.
fn only_read<T>() -> io::Result<T> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "this disk is only read"))
}

/// What stands at a path, symlinks not followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symlink, whatever it points to; on Windows a junction too.
    Symlink,
    /// A pipe, a socket, a device.
    Other,
}

impl From<FileType> for Kind {
    fn from(kind: FileType) -> Self {
        if kind.is_symlink() {
            Self::Symlink
        } else if kind.is_dir() {
            Self::Folder
        } else if kind.is_file() {
            Self::File
        } else {
            Self::Other
        }
    }
}

/// With its article, for messages: `a folder`.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::File => "a regular file",
            Self::Folder => "a folder",
            Self::Symlink => "a symlink",
            Self::Other => "a special file",
        })
    }
}

/// One name in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The name alone, as the disk has it; it need not be UTF-8.
    pub name: OsString,
    /// What it is, as its folder says; symlinks are not followed.
    pub kind: Kind,
}

/// What tells one state of a file from another without opening it. Times are nanoseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileStamp {
    /// Bytes.
    pub size: u64,
    /// When the bytes last changed; whoever may write them can set it to anything.
    pub modified: i64,
    /// When anything about the file last changed, which nobody can set. `None` where the system doesn't say: then equal
    /// stamps prove nothing.
    pub changed: Option<i64>,
    /// Which file it is on its device; 0 where the system doesn't say.
    pub inode: u64,
    /// The device; 0 where the system doesn't say.
    pub device: u64,
}

/// What a file is besides its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measure {
    /// Its size in bytes.
    pub bytes: u64,
    /// Its permission bits; where there are none (not Unix) `0o644`.
    pub mode: u32,
}

/// The disk as operations. Paths are absolute; errors name none, since the caller knows what the user calls them.
///
/// A disk that is only read leaves out every operation that writes or locks: each is refused then with
/// [`io::ErrorKind::Unsupported`].
pub trait Disk: Send + Sync + Debug {
    /// What `folder` holds, `.` and `..` aside, in the byte order of the names. A symlink to a folder is followed.
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>>;

    /// What stands at `path`; `None` if nothing does, or if a folder on the way is missing or is a file.
    fn kind(&self, path: &Path) -> io::Result<Option<Kind>>;

    /// Whether whoever may read the file `path` may run it, symlinks followed; `true` where files have no such mode. Absence
    /// is an error.
    fn is_program(&self, path: &Path) -> io::Result<bool>;

    /// The bytes of the regular file `path`, at most `limit` of them. A larger file is refused without being read,
    /// anything but a regular file without waiting for it; a symlink as the last part is not followed.
    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError>;

    /// Whether the regular file `path` holds these texts, one behind the other, and nothing else; refuses what [`Disk::read`]
    /// refuses. A disk that can tells without having all of the file in memory.
    fn holds(&self, path: &Path, texts: &[&str]) -> Result<bool, ReadError> {
        let size: usize = texts.iter().map(|text| text.len()).sum();
        let bytes = match self.read(path, size as u64) {
            Err(ReadError::TooLarge { .. }) => return Ok(false),
            bytes => bytes?,
        };
        let rest = texts.iter().try_fold(bytes.as_slice(), |rest, text| rest.strip_prefix(text.as_bytes()));
        Ok(rest.is_some_and(<[u8]>::is_empty))
    }

    /// Opens the regular file `path` to read parts of it, from its end for instance; refuses what [`Disk::read`] refuses. A disk
    /// that can reads no more of the file than it is asked for.
    fn open_parts(&self, path: &Path) -> Result<Box<dyn Parts + '_>, ReadError> {
        Ok(Box::new(WholeParts(self.read(path, u64::MAX)?)))
    }

    /// The [`FileStamp`] of the regular file `path`; `None` if there is none, a symlink not followed, or if this disk has no stamps.
    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        let _ = path;
        Ok(None)
    }

    /// When the file or folder at `path` was changed last, a symlink not followed; `None` if nothing is there, or if this disk
    /// doesn't know.
    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        let _ = path;
        Ok(None)
    }

    /// The same as [`Disk::read`], with the stamp that the file had before its first byte was read; `None` if this disk has
    /// no stamps.
    fn read_stamped(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, Option<FileStamp>), ReadError> {
        Ok((self.read(path, limit)?, None))
    }

    /// `path` with every symlink resolved; fails if anything on the way is absent.
    fn canonical(&self, path: &Path) -> io::Result<PathBuf>;

    /// Makes the folder `path` and those above it, as far as they are missing.
    fn create_folders(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// Writes `bytes` to an unused name beside `target` (`.{name}.XXXXXX.cantus-tmp`) and flushes them to the
    /// device. `target` is not touched. On Unix the new file has the mode of an existing regular `target`, else
    /// `0666` less the umask; owner, access lists and extended attributes are those of a new file.
    fn stage(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let _ = (target, bytes);
        only_read()
    }

    /// The same as [`Disk::stage`] for a program: on Unix whoever may read it may run it.
    fn stage_program(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let _ = (target, bytes);
        only_read()
    }

    /// Makes the empty file `path`, whose folder must exist. What stands there stays, a symlink too, and the error is
    /// [`io::ErrorKind::AlreadyExists`]. Nothing is flushed: a name that was only claimed may go with the power.
    fn claim(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// The same as [`Disk::stage`] for bytes that never change: on Unix nobody may write them (`0444` less the umask). A
    /// disk that can only be read refuses: [`io::ErrorKind::Unsupported`].
    fn stage_sealed(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let _ = (target, bytes);
        only_read()
    }

    /// Makes the file `target` hold `bytes` for whoever reads it from now on, in one step and without flushing anything:
    /// after a power cut it may be old, empty or gone. For what can be made anew and is checked when it is read. On Unix
    /// only its owner may read it. A failure leaves the old file and no other. A disk that can only be read refuses.
    fn put_loose(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let _ = (target, bytes);
        only_read()
    }

    /// The same as [`Disk::put_loose`], with the mode that [`Disk::stage`] would give the file.
    fn put(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let _ = (target, bytes);
        only_read()
    }

    /// Removes a file that [`Disk::put_loose`] made, or left behind, without flushing anything. Absence is an error. A disk
    /// that can only be read refuses.
    fn remove_loose(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// Renames what was staged over its target, then flushes the folder where that is possible (Unix). An error
    /// of the rename leaves the old target; an error of the flush after it leaves the new one.
    fn commit(&self, staged: Staged) -> io::Result<()> {
        let _ = staged;
        only_read()
    }

    /// Gives what was staged the name of its target if nothing has that name, then flushes the folder. What stands there
    /// by now stays, and the error is [`io::ErrorKind::AlreadyExists`]. A file system that knows neither such a rename
    /// nor hard links is asked first and written then.
    fn commit_new(&self, staged: Staged) -> io::Result<()> {
        let _ = staged;
        only_read()
    }

    /// Swaps what was staged with what stands at its target, in one step, then flushes the folder: `staged` is what stood
    /// there from then on, and a second swap puts it back. An error of the swap leaves both as they were; it is
    /// [`io::ErrorKind::NotFound`] if nothing stands there, and [`io::ErrorKind::Unsupported`] where swapping is unknown.
    fn swap(&self, staged: &Staged) -> io::Result<()> {
        let _ = staged;
        only_read()
    }

    /// Renames what stands at `target` to an unused name as [`Disk::stage`] gives them, over nothing, then flushes the
    /// folder. Absence is an error.
    fn set_aside(&self, target: &Path) -> io::Result<Staged> {
        let _ = target;
        only_read()
    }

    /// Renames the file or folder `from` (of a symlink, the link) to `to`, in the same folder, then flushes the folder. What stands at
    /// `to` stays, and the error is [`io::ErrorKind::AlreadyExists`].
    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        let _ = (from, to);
        only_read()
    }

    /// Removes the file `path` (of a symlink, the link), then flushes the folder. Absence is an error.
    fn remove(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// Makes the file `path`, which is our own and no target, hold `bytes`, and flushes it: not in one step, so that a
    /// crash may leave a part of them. Nobody else may read it where that can be said (Unix). Its folder must exist; what
    /// is no regular file is refused, a symlink not followed.
    fn record(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let _ = (path, bytes);
        only_read()
    }

    /// The bytes that [`Disk::record`] left in `path`, as [`Disk::read`] gives them. A file that belongs to another user
    /// (Unix) is refused: [`io::ErrorKind::PermissionDenied`].
    fn recall(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let _ = (path, limit);
        Ok(only_read()?)
    }

    /// Takes the lock file `path`, made if it is absent, for as long as the guard lives, and leaves `holder` in it
    /// for others to read (on Windows in `{path}.holder`, since what is locked there can't be read). Asks again for
    /// `wait` at most if another holds it, in this process or elsewhere. Its folder must exist; what is no regular
    /// file is refused, a symlink not followed. The file stays, unless the guard is made to take it along
    /// ([`LockGuard::passing`]).
    fn lock(&self, path: &Path, holder: &str, wait: Duration) -> Result<LockGuard, LockError> {
        let _ = (path, holder, wait);
        only_read().map_err(LockError::Io)
    }

    /// The size and the mode of the regular file `path`, not read and a symlink not followed; anything else is an error. Like the
    /// operations below it needs no answer from a disk that is only read: [`io::ErrorKind::Unsupported`].
    fn measure(&self, path: &Path) -> io::Result<Measure> {
        let _ = path;
        only_read()
    }

    /// Makes the folder `path`, which must not exist ([`io::ErrorKind::AlreadyExists`]), in one that does and is not flushed. On
    /// Unix its mode is `0755` less the umask.
    fn create_folder(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// Makes the file `path` with `bytes` and flushes it, but not its folder ([`Disk::flush_folder`]): for a folder that nobody
    /// uses yet, since a crash may leave a part of the bytes. What stands there stays, and the error is
    /// [`io::ErrorKind::AlreadyExists`]. On Unix its mode is `0644` less the umask.
    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let _ = (path, bytes);
        only_read()
    }

    /// Flushes the folder `path`, so that the names in it survive a power cut, where that is possible (Unix).
    fn flush_folder(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// Removes the folder `path`, which must be empty ([`io::ErrorKind::DirectoryNotEmpty`]), then flushes the one that held it.
    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        let _ = path;
        only_read()
    }

    /// The same as [`Disk::stage`], on Unix with exactly this mode, whatever stands at `target` and whatever the umask is.
    fn stage_as(&self, target: &Path, bytes: &[u8], mode: u32) -> io::Result<Staged> {
        let _ = (target, bytes, mode);
        only_read()
    }
}
