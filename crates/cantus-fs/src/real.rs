//! The disk of the machine.

#![expect(clippy::disallowed_methods, reason = "this module is the door that the ban points to")]

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions};
#[cfg(not(unix))]
use std::io::Read as _;
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use tempfile::TempPath;

use crate::error::is_absent;
use crate::parts::FileParts;
use crate::staged::{RANDOM, SUFFIX, prefix};
use crate::{Disk, Entry, FileStamp, Kind, LockError, LockGuard, Measure, Parts, ReadError, Staged, lock};

/// How much of a holder's text is read, in bytes.
const HOLDER_LIMIT: u64 = 1024;
/// How much of a file is compared at once, in bytes.
const COMPARED_BYTES: usize = 64 << 10;

/// The disk of the machine. It has no state: all values are the same one.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let mut entries =
            fs::read_dir(folder)?.map(|entry| to_entry(&entry?)).collect::<io::Result<Vec<_>>>()?;
        entries.sort_unstable_by(|a, b| a.name.as_encoded_bytes().cmp(b.name.as_encoded_bytes()));
        Ok(entries)
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(Some(metadata.file_type().into())),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    #[cfg(unix)]
    fn is_program(&self, path: &Path) -> io::Result<bool> {
        use std::os::unix::fs::MetadataExt;

        let mode = fs::metadata(path)?.mode();
        let readable = (mode & 0o444) >> 2;
        Ok(mode & readable == readable && mode & 0o111 != 0)
    }

    #[cfg(not(unix))]
    fn is_program(&self, path: &Path) -> io::Result<bool> {
        fs::metadata(path).map(|_| true)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let (file, metadata) = open_regular(OpenOptions::new().read(true), path)?;
        read_bounded(&file, metadata.len(), limit)
    }

    fn open_parts(&self, path: &Path) -> Result<Box<dyn Parts + '_>, ReadError> {
        let (file, metadata) = open_regular(OpenOptions::new().read(true), path)?;
        Ok(Box::new(FileParts { file, size: metadata.len() }))
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => Ok(stamp_of(&metadata)),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        match fs::symlink_metadata(path) {
            Ok(metadata) => metadata.modified().map(Some),
            Err(error) if is_absent(&error) => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn read_stamped(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, Option<FileStamp>), ReadError> {
        let (file, metadata) = open_regular(OpenOptions::new().read(true), path)?;
        Ok((read_bounded(&file, metadata.len(), limit)?, stamp_of(&metadata)))
    }

    fn holds(&self, path: &Path, texts: &[&str]) -> Result<bool, ReadError> {
        let (file, metadata) = open_regular(OpenOptions::new().read(true), path)?;
        let expected: usize = texts.iter().map(|text| text.len()).sum();
        Ok(metadata.len() == expected as u64 && is_made_of(&file, expected, texts)?)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        fs::canonicalize(path)
    }

    fn create_folders(&self, path: &Path) -> io::Result<()> {
        let missing: Vec<_> = path.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::create_dir_all(path)?;
        missing.into_iter().try_for_each(flush_folder_of)
    }

    fn stage(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        stage(target, &Mode::of(target)?, bytes)
    }

    fn stage_program(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        stage(target, &Mode::of(target)?.runnable(), bytes)
    }

    fn claim(&self, path: &Path) -> io::Result<()> {
        OpenOptions::new().write(true).create_new(true).open(path).map(drop)
    }

    fn stage_sealed(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let (temporary, file) = new_beside(target, &Mode::new(0o444), bytes)?;
        flush(&file)?;
        Ok(Staged::new(target.to_path_buf(), temporary))
    }

    fn put_loose(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let (temporary, _) = new_beside(target, &Mode::new(0o600), bytes)?;
        rename(temporary, target)
    }

    fn put(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let (temporary, _) = new_beside(target, &Mode::of(target)?, bytes)?;
        rename(temporary, target)
    }

    fn remove_loose(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn commit(&self, staged: Staged) -> io::Result<()> {
        let (temporary, target) = staged.into_parts().ok_or(io::ErrorKind::NotFound)?;
        rename(temporary, &target)?;
        flush_folder_of(&target)
    }

    fn commit_new(&self, staged: Staged) -> io::Result<()> {
        let (temporary, target) = staged.into_parts().ok_or(io::ErrorKind::NotFound)?;
        match temporary.persist_noclobber(&target) {
            Ok(()) => {}
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => return Err(error.error),
            Err(error) if self.kind(&target)?.is_some() || !error.path.exists() => return Err(error.error),
            Err(error) => rename(error.path, &target)?,
        }
        flush_folder_of(&target)
    }

    fn swap(&self, staged: &Staged) -> io::Result<()> {
        swap(staged.path(), staged.target())?;
        flush_folder_of(staged.target())
    }

    fn set_aside(&self, target: &Path) -> io::Result<Staged> {
        let (folder, name) = split(target)?;
        let moved = tempfile::Builder::new()
            .prefix(&prefix(name))
            .suffix(SUFFIX)
            .rand_bytes(RANDOM)
            .make_in(folder, |path| move_over_nothing(target, path))?;
        flush_folder_of(target)?;
        Ok(Staged::new(target.to_path_buf(), moved.into_temp_path()))
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        move_over_nothing(from, to)?;
        flush_folder_of(to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)?;
        flush_folder_of(path)
    }

    fn record(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let (mut file, _) =
            open_regular(private(OpenOptions::new().write(true).create(true)), path).map_err(to_io)?;
        file.set_len(0)?;
        file.write_all(bytes)?;
        flush(&file)
    }

    fn recall(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        let (file, metadata) = open_regular(OpenOptions::new().read(true), path)?;
        if !is_own(&file)? {
            return Err(io::Error::from(io::ErrorKind::PermissionDenied).into());
        }
        read_bounded(&file, metadata.len(), limit)
    }

    fn lock(&self, path: &Path, holder: &str, wait: Duration) -> Result<LockGuard, LockError> {
        let start = Instant::now();
        loop {
            let (file, _) =
                open_regular(OpenOptions::new().read(true).write(true).create(true), path).map_err(to_io)?;
            let Some(guard) = lock::acquire(file, wait.saturating_sub(start.elapsed()))? else {
                return Err(LockError::Held { holder: read_holder(path) });
            };
            // The one that was waited for may have taken its file with it.
            if stands_at(guard.file(), path)? {
                write_holder(&guard, path, holder)?;
                return Ok(guard);
            }
        }
    }

    fn measure(&self, path: &Path) -> io::Result<Measure> {
        let metadata = fs::symlink_metadata(path)?;
        match Kind::from(metadata.file_type()) {
            Kind::File => Ok(Measure { bytes: metadata.len(), mode: mode_of(&metadata) }),
            kind => Err(to_io(ReadError::NotAFile(kind))),
        }
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        shared(&mut fs::DirBuilder::new()).create(path)
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = readable(OpenOptions::new().write(true).create_new(true)).open(path)?;
        file.write_all(bytes)?;
        flush(&file)
    }

    fn flush_folder(&self, path: &Path) -> io::Result<()> {
        flush_folder(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir(path)?;
        flush_folder_of(path)
    }

    fn stage_as(&self, target: &Path, bytes: &[u8], mode: u32) -> io::Result<Staged> {
        stage(target, &Mode::kept(Some(mode & 0o7777)), bytes)
    }
}

fn to_entry(entry: &fs::DirEntry) -> io::Result<Entry> {
    Ok(Entry { kind: entry.file_type()?.into(), name: entry.file_name() })
}

/// The folder and the name of `path`.
fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(folder), Some(name)) if !folder.as_os_str().is_empty() => Ok((folder, name)),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the path has no folder or no name")),
    }
}

/// Opens `path` with `options` if it is a regular file, without following a symlink and without waiting for the
/// other end of a pipe. Gives what the system says of it too.
fn open_regular(options: &mut OpenOptions, path: &Path) -> Result<(File, fs::Metadata), ReadError> {
    let opened = open_unfollowed(options, path).and_then(|file| Ok((file.metadata()?, file)));
    match opened {
        Ok((metadata, file)) => match Kind::from(metadata.file_type()) {
            Kind::File => Ok((file, metadata)),
            kind => Err(ReadError::NotAFile(kind)),
        },
        // The codes for "that is a symlink" or "a folder" or "a socket" differ; asking does not.
        Err(error) => match fs::symlink_metadata(path).map(|metadata| metadata.file_type().into()) {
            Ok(Kind::File) | Err(_) => Err(ReadError::Io(error)),
            Ok(kind) => Err(ReadError::NotAFile(kind)),
        },
    }
}

#[cfg(unix)]
fn open_unfollowed(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;

    use rustix::fs::OFlags;

    options.custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed()).open(path)
}

/// Files of cloud folders or deduplicated volumes are reparse points too, and only the ordinary way of opening
/// gives their bytes: they are opened again, once they are known not to be symlinks.
#[cfg(windows)]
fn open_unfollowed(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    use std::os::windows::fs::{MetadataExt, OpenOptionsExt};

    const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x400;
    const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

    let file = options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT).open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_symlink() || metadata.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT == 0 {
        return Ok(file);
    }
    options.custom_flags(0).open(path)
}

/// The stamp of a regular file.
#[cfg(unix)]
fn stamp_of(metadata: &fs::Metadata) -> Option<FileStamp> {
    use std::os::unix::fs::MetadataExt;

    let nanos = |seconds: i64, nanos: i64| seconds.checked_mul(1_000_000_000)?.checked_add(nanos);
    let stamp = FileStamp {
        size: metadata.len(),
        modified: nanos(metadata.mtime(), metadata.mtime_nsec())?,
        changed: Some(nanos(metadata.ctime(), metadata.ctime_nsec())?),
        inode: metadata.ino(),
        device: metadata.dev(),
    };
    metadata.is_file().then_some(stamp)
}

/// Elsewhere nothing that can be asked for tells an edit from one that set the time back.
#[cfg(not(unix))]
fn stamp_of(metadata: &fs::Metadata) -> Option<FileStamp> {
    let since = metadata.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    let modified = i64::try_from(since.as_nanos()).ok()?;
    let stamp = FileStamp { size: metadata.len(), modified, changed: None, inode: 0, device: 0 };
    metadata.is_file().then_some(stamp)
}

/// A new file that nobody else may read.
#[cfg(unix)]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
fn private(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether a file belongs to the user who runs this.
#[cfg(unix)]
fn is_own(file: &File) -> io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::uid(&file.metadata()?) == rustix::process::geteuid().as_raw())
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
fn is_own(_: &File) -> io::Result<bool> {
    Ok(true)
}

/// Reads a file that had `size` bytes when it was opened.
///
/// The buffer has one byte more than that, so that one read tells the end of a file that did not grow. Some files
/// (of `/proc`) say that they have no bytes and have some: the limit is held against what really comes.
fn read_bounded(file: &File, size: u64, limit: u64) -> Result<Vec<u8>, ReadError> {
    if size > limit {
        return Err(ReadError::TooLarge { size, limit });
    }
    let size = usize::try_from(size).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    let mut bytes = Vec::new();
    grow(&mut bytes, size)?;
    loop {
        let count = match read_more(file, &mut bytes) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error.into()),
        };
        let filled = bytes.len();
        if filled as u64 > limit {
            return Err(ReadError::TooLarge { size: filled as u64, limit });
        }
        if count == 0 || filled == size {
            return Ok(bytes);
        }
        if filled == bytes.capacity() {
            grow(&mut bytes, filled.saturating_mul(2).max(4096))?;
        }
    }
}

/// Reads once, behind `bytes` and into the room that they have, and gives how many bytes came. Memory that is about to be
/// written needs no zeros first.
#[cfg(unix)]
fn read_more(file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    Ok(rustix::io::read(file, rustix::buffer::spare_capacity(bytes))?)
}

#[cfg(not(unix))]
fn read_more(mut file: &File, bytes: &mut Vec<u8>) -> io::Result<usize> {
    let filled = bytes.len();
    bytes.resize(bytes.capacity(), 0);
    let count = file.read(&mut bytes[filled..]);
    bytes.truncate(filled + count.as_ref().map_or(0, |count| *count));
    count
}

/// Whether these texts, of `size` bytes together, are all that is left to read of `file`.
fn is_made_of(file: &File, size: usize, texts: &[&str]) -> io::Result<bool> {
    let mut buffer = Vec::with_capacity(size.saturating_add(1).min(COMPARED_BYTES));
    let mut texts = texts.iter().map(|text| text.as_bytes());
    let mut text: &[u8] = &[];
    loop {
        buffer.clear();
        match read_more(file, &mut buffer) {
            Ok(0) => return Ok(text.is_empty() && texts.all(<[u8]>::is_empty)),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let mut read = buffer.as_slice();
        while !read.is_empty() {
            let both = read.len().min(text.len());
            if read[..both] != text[..both] {
                return Ok(false);
            }
            (read, text) = (&read[both..], &text[both..]);
            if text.is_empty() && !read.is_empty() {
                let Some(next) = texts.next() else { return Ok(false) };
                text = next;
            }
        }
    }
}

/// Makes room for `size` bytes, those that are there among them, and one more.
fn grow(bytes: &mut Vec<u8>, size: usize) -> io::Result<()> {
    let len = size.checked_add(1).ok_or(io::ErrorKind::OutOfMemory)?;
    Ok(bytes.try_reserve_exact(len - bytes.len())?)
}

/// Writes `bytes` beside `target`, with this mode, and flushes them.
fn stage(target: &Path, mode: &Mode, bytes: &[u8]) -> io::Result<Staged> {
    let (temporary, file) = new_beside(target, mode, bytes)?;
    flush(&file)?;
    Ok(Staged::new(target.to_path_buf(), temporary))
}

/// Writes `bytes` beside `target`, with this mode.
fn new_beside(target: &Path, mode: &Mode, bytes: &[u8]) -> io::Result<(TempPath, File)> {
    let (folder, name) = split(target)?;
    let temporary = tempfile::Builder::new()
        .prefix(&prefix(name))
        .suffix(SUFFIX)
        .rand_bytes(RANDOM)
        .make_in(folder, |path| mode.create(path))?;
    let (mut file, temporary) = temporary.into_parts();
    mode.restore(&file)?;
    file.write_all(bytes)?;
    Ok((temporary, file))
}

/// The mode of a staged file.
#[cfg_attr(not(unix), expect(dead_code, reason = "only Unix has modes"))]
struct Mode {
    /// What it takes over from the target; `None` where there is nothing to take it from.
    kept: Option<u32>,
    /// What it is made with in that case, less the umask.
    new: u32,
}

impl Mode {
    fn kept(kept: Option<u32>) -> Self {
        Self { kept, new: 0o666 }
    }

    /// That of a file which takes nothing over.
    fn new(new: u32) -> Self {
        Self { kept: None, new }
    }

    /// The same, that whoever may read may run.
    fn runnable(self) -> Self {
        Self { kept: self.kept.map(|mode| mode | ((mode & 0o444) >> 2)), new: 0o777 }
    }
}

#[cfg(unix)]
impl Mode {
    fn of(target: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;

        match fs::symlink_metadata(target) {
            Ok(metadata) => Ok(Self::kept(metadata.is_file().then(|| metadata.mode() & 0o7777))),
            Err(error) if is_absent(&error) => Ok(Self::kept(None)),
            Err(error) => Err(error),
        }
    }

    /// A new file, readable by nobody who couldn't read the target.
    fn create(&self, path: &Path) -> io::Result<File> {
        use std::os::unix::fs::OpenOptionsExt;

        OpenOptions::new().write(true).create_new(true).mode(self.kept.unwrap_or(self.new)).open(path)
    }

    /// Gives back what the umask took. Asks first: some file systems refuse even a change to what is.
    fn restore(&self, file: &File) -> io::Result<()> {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};

        match self.kept {
            Some(mode) if file.metadata()?.mode() & 0o7777 != mode => {
                file.set_permissions(fs::Permissions::from_mode(mode))
            }
            _ => Ok(()),
        }
    }
}

#[cfg(not(unix))]
impl Mode {
    fn of(_: &Path) -> io::Result<Self> {
        Ok(Self::kept(None))
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        OpenOptions::new().write(true).create_new(true).open(path)
    }

    fn restore(&self, _: &File) -> io::Result<()> {
        Ok(())
    }
}

/// Flushes `file` to the device, unless its file system has no such thing.
fn flush(file: &File) -> io::Result<()> {
    match file.sync_all() {
        Err(error) if !matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::InvalidInput) => {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Flushes the folder of `path`, so that a name in it survives a power cut. A folder in which we may write but
/// which we may not read is left alone.
fn flush_folder_of(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), flush_folder)
}

#[cfg(unix)]
fn flush_folder(folder: &Path) -> io::Result<()> {
    match File::open(folder) {
        Ok(folder) => flush(&folder),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        Err(error) => Err(error),
    }
}

#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
fn flush_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn mode_of(metadata: &fs::Metadata) -> u32 {
    std::os::unix::fs::MetadataExt::mode(metadata) & 0o7777
}

#[cfg(not(unix))]
fn mode_of(_: &fs::Metadata) -> u32 {
    0o644
}

/// A new folder that everybody may look into.
#[cfg(unix)]
fn shared(builder: &mut fs::DirBuilder) -> &mut fs::DirBuilder {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o755)
}

#[cfg(not(unix))]
fn shared(builder: &mut fs::DirBuilder) -> &mut fs::DirBuilder {
    builder
}

/// A new file that everybody may read.
#[cfg(unix)]
fn readable(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o644)
}

#[cfg(not(unix))]
fn readable(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Renames `temporary` over `target`; a failure removes it.
#[cfg(not(windows))]
fn rename(temporary: TempPath, target: &Path) -> io::Result<()> {
    temporary.persist(target).map_err(|error| error.error)
}

/// Renames `temporary` over `target`; a failure removes it. A target that a virus scanner or an editor has open
/// for a moment can't be replaced in that moment: half a second is spent on asking again.
#[cfg(windows)]
fn rename(mut temporary: TempPath, target: &Path) -> io::Result<()> {
    const ACCESS_DENIED: i32 = 5;
    const SHARING_VIOLATION: i32 = 32;
    const LOCK_VIOLATION: i32 = 33;

    for pause in [10, 20, 40, 80, 160, 200] {
        match temporary.persist(target) {
            Ok(()) => return Ok(()),
            Err(error) => match error.error.raw_os_error() {
                Some(ACCESS_DENIED | SHARING_VIOLATION | LOCK_VIOLATION) => temporary = error.path,
                _ => return Err(error.error),
            },
        }
        std::thread::sleep(Duration::from_millis(pause));
    }
    temporary.persist(target).map_err(|error| error.error)
}

/// Swaps the names of two files in one step.
#[cfg(any(target_os = "android", target_os = "linux", target_vendor = "apple"))]
fn swap(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;

    match renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => Err(io::ErrorKind::Unsupported.into()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(any(target_os = "android", target_os = "linux", target_vendor = "apple")))]
fn swap(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Renames `from` to `to`, which must be unused.
fn move_over_nothing(from: &Path, to: &Path) -> io::Result<()> {
    // As a temporary file, whose failed rename must not remove it.
    let mut from = TempPath::try_from_path(from)?;
    from.disable_cleanup(true);
    match from.persist_noclobber(to) {
        Ok(()) => Ok(()),
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Err(error.error),
        Err(error) if fs::symlink_metadata(to).is_ok() => Err(error.error),
        Err(error) => fs::rename(&error.path, to),
    }
}

/// Whether `path` still is the name of `file`.
#[cfg(unix)]
fn stands_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    match fs::symlink_metadata(path) {
        Ok(found) => {
            let own = file.metadata()?;
            Ok((found.dev(), found.ino()) == (own.dev(), own.ino()))
        }
        Err(error) if is_absent(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Nobody removes it there.
#[cfg(not(unix))]
#[expect(clippy::unnecessary_wraps, reason = "it can fail on Unix")]
fn stands_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// Removes the lock file `path`, which the caller holds. Where names of open files live on (Windows) it stays.
pub(crate) fn remove_lock(path: &Path) {
    if cfg!(unix) {
        // One that stays harms nobody.
        let _ = fs::remove_file(path);
    }
}

/// Where the holder of the lock `path` says who it is. On Windows a locked file can't be read by others, so that
/// the text stands beside it.
fn holder_path(path: &Path) -> PathBuf {
    let mut path = path.as_os_str().to_owned();
    if cfg!(windows) {
        path.push(".holder");
    }
    path.into()
}

fn write_holder(guard: &LockGuard, path: &Path, holder: &str) -> io::Result<()> {
    let beside;
    let mut file = guard.file();
    if cfg!(windows) {
        let options = &mut OpenOptions::new();
        beside = open_regular(options.write(true).create(true), &holder_path(path)).map_err(to_io)?.0;
        file = &beside;
    }
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(holder.as_bytes())
}

/// What the holder says of itself; empty if that can't be read.
fn read_holder(path: &Path) -> String {
    let bytes = RealDisk.read(&holder_path(path), HOLDER_LIMIT).unwrap_or_default();
    String::from_utf8_lossy(&bytes).trim().to_owned()
}

fn to_io(error: ReadError) -> io::Error {
    match error {
        ReadError::Io(error) => error,
        other => io::Error::new(io::ErrorKind::InvalidInput, other),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::scratch::{Scratch, rel};

    const NO_WAIT: Duration = Duration::ZERO;

    #[test]
    fn kinds() {
        let scratch = Scratch::of(&["folder/a.md"]);
        let at = |path: &str| RealDisk.kind(&scratch.path().join(path)).unwrap();
        assert_eq!(at("folder"), Some(Kind::Folder));
        assert_eq!(at("folder/a.md"), Some(Kind::File));
        assert_eq!(at("folder/b.md"), None);
        assert_eq!(at("folder/a.md/b.md"), None);
    }

    #[test]
    fn folders_were_changed_too_and_what_is_not_there_was_not() {
        let scratch = Scratch::of(&["folder/a.md"]);
        let at = |path: &str| RealDisk.modified(&scratch.path().join(path)).unwrap();
        assert!(at("folder").is_some() && at("folder/a.md").is_some());
        assert_eq!((at("b"), at("folder/a.md/b")), (None, None));
    }

    #[track_caller]
    fn check_holds(file: &str, texts: &[&str]) {
        let scratch = Scratch::new();
        scratch.put("a.md", file);
        let expected = texts.concat() == file;
        assert_eq!(RealDisk.holds(&scratch.root.at(&rel("a.md")), texts).unwrap(), expected);
        assert_eq!(scratch.root.target_holds(&rel("a.md"), texts), expected);
    }

    #[test]
    fn a_file_holds_its_own_bytes_and_no_others() {
        let long = "long text ".repeat(COMPARED_BYTES / 4);
        let other = long.replacen("text", "test", 1);
        let last = format!("{}!", &long[..long.len() - 1]);
        let (start, end) = long.split_at(COMPARED_BYTES + 1);
        for file in ["", "a", "abc", &long, &other, &last] {
            for texts in
                [&[][..], &[""], &["a"], &["", "a", "", "bc", ""], &["ab", "d"], &[start, "", end], &[&long]]
            {
                check_holds(file, texts);
            }
        }
    }

    #[test]
    fn what_is_no_file_holds_nothing() {
        let scratch = Scratch::of(&["folder/a.md"]);
        assert!(RealDisk.holds(&scratch.path().join("folder"), &[]).is_err());
        assert!(!scratch.root.target_holds(&rel("folder"), &[]));
        assert!(!scratch.root.target_holds(&rel("b.md"), &[]));
    }

    #[track_caller]
    fn check_read(size: usize) {
        let scratch = Scratch::new();
        let text = "x".repeat(size);
        scratch.put("a.md", &text);
        let path = scratch.root.at(&rel("a.md"));
        let limit = size as u64;
        assert_eq!(RealDisk.read(&path, limit).unwrap(), text.as_bytes());
        assert_eq!(RealDisk.read(&path, u64::MAX).unwrap(), text.as_bytes());
        if let Some(limit) = limit.checked_sub(1) {
            let error = RealDisk.read(&path, limit).unwrap_err();
            assert!(
                matches!(error, ReadError::TooLarge { size, limit: l } if size == limit + 1 && l == limit)
            );
        }
    }

    #[test]
    fn files_are_read_whole_up_to_the_limit() {
        [0, 1, 4095, 4096, 70_000].into_iter().for_each(check_read);
    }

    #[test]
    fn a_file_that_grows_while_it_is_read_keeps_the_limit() {
        let scratch = Scratch::of(&["a.md"]);
        scratch.put("a.md", &"x".repeat(10_000));
        let open = || File::open(scratch.root.at(&rel("a.md"))).unwrap();
        assert_eq!(read_bounded(&open(), 0, 10_000).unwrap().len(), 10_000);
        assert_eq!(read_bounded(&open(), 20_000, 20_000).unwrap().len(), 10_000);
        assert!(matches!(read_bounded(&open(), 0, 9_999), Err(ReadError::TooLarge { limit: 9_999, .. })));
    }

    #[test]
    fn folders_and_new_files_are_made_once() {
        let scratch = Scratch::new();
        let (folder, file) = (scratch.path().join("tree"), scratch.path().join("tree/a.md"));
        RealDisk.create_folder(&folder).unwrap();
        RealDisk.write_new(&file, b"one").unwrap();
        RealDisk.flush_folder(&folder).unwrap();
        for error in [RealDisk.create_folder(&folder), RealDisk.write_new(&file, b"two")] {
            assert_eq!(error.unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        }
        assert_eq!(scratch.get("tree/a.md"), "one");
        assert_eq!(RealDisk.measure(&file).unwrap().bytes, 3);
        assert!(RealDisk.measure(&folder).is_err());
    }

    #[test]
    fn only_an_empty_folder_is_removed() {
        let scratch = Scratch::of(&["tree/a.md"]);
        let folder = scratch.path().join("tree");
        assert_eq!(RealDisk.remove_folder(&folder).unwrap_err().kind(), io::ErrorKind::DirectoryNotEmpty);
        RealDisk.remove(&folder.join("a.md")).unwrap();
        RealDisk.remove_folder(&folder).unwrap();
        assert_eq!(scratch.names("."), [] as [&str; 0]);
    }

    #[test]
    fn a_folder_is_renamed_over_nothing_alone() {
        let scratch = Scratch::of(&["one/a.md"]);
        let at = |name: &str| scratch.path().join(name);
        RealDisk.create_folder(&at("empty")).unwrap();
        let error = RealDisk.rename_new(&at("one"), &at("empty")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        RealDisk.rename_new(&at("one"), &at("two")).unwrap();
        assert_eq!(scratch.names("."), ["empty", "two"]);
    }

    #[cfg(unix)]
    #[test]
    fn a_mode_that_is_asked_for_is_the_mode() {
        let scratch = Scratch::of(&["a.md"]);
        let path = scratch.path().join("a.md");
        for mode in [0o600, 0o644, 0o755] {
            let staged = RealDisk.stage_as(&path, b"new", mode).unwrap();
            RealDisk.commit(staged).unwrap();
            assert_eq!(RealDisk.measure(&path).unwrap(), Measure { bytes: 3, mode });
        }
    }

    #[test]
    fn a_folder_is_not_read() {
        let scratch = Scratch::of(&["folder/a.md"]);
        let error = RealDisk.read(&scratch.path().join("folder"), 10).unwrap_err();
        assert_eq!(error.to_string(), "a folder is not a regular file");
    }

    #[test]
    fn dropping_what_was_staged_removes_it() {
        let scratch = Scratch::of(&["a.md"]);
        let staged = RealDisk.stage(&scratch.path().join("a.md"), b"new").unwrap();
        let names = scratch.names(".");
        assert_eq!(names.len(), 2);
        assert!(crate::staged::is_staged_name(OsStr::new(&names[0]), "a.md"), "{names:?}");
        assert_eq!(scratch.get(&names[0]), "new");
        drop(staged);
        assert_eq!(scratch.names("."), ["a.md"]);
        assert_eq!(scratch.get("a.md"), "a.md");
    }

    #[test]
    fn a_name_is_changed_over_nothing() {
        let scratch = Scratch::of(&["a.md", "b.md"]);
        let at = |name: &str| scratch.path().join(name);
        let error = RealDisk.rename_new(&at("a.md"), &at("b.md")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(scratch.get("b.md"), "b.md");
        RealDisk.rename_new(&at("a.md"), &at("c.md")).unwrap();
        assert_eq!(scratch.names("."), ["b.md", "c.md"]);
        assert_eq!(scratch.get("c.md"), "a.md");
    }

    #[cfg(unix)]
    #[test]
    fn whoever_may_read_a_program_may_run_it() {
        use std::os::unix::fs::PermissionsExt;

        let scratch = Scratch::of(&["old"]);
        let at = |name: &str| scratch.path().join(name);
        fs::set_permissions(at("old"), fs::Permissions::from_mode(0o640)).unwrap();
        for (name, mask, mode) in [("old", 0o777, 0o750), ("new", 0o700, 0o700)] {
            RealDisk.commit(RealDisk.stage_program(&at(name), b"x").unwrap()).unwrap();
            assert!(RealDisk.is_program(&at(name)).unwrap());
            assert_eq!(fs::metadata(at(name)).unwrap().permissions().mode() & mask, mode, "{name}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_put_keeps_its_mode() {
        use std::os::unix::fs::PermissionsExt;

        let scratch = Scratch::of(&["old"]);
        let at = |name: &str| scratch.path().join(name);
        fs::set_permissions(at("old"), fs::Permissions::from_mode(0o640)).unwrap();
        for (name, mask, mode) in [("old", 0o777, 0o640), ("new", 0o700, 0o600)] {
            RealDisk.put(&at(name), b"x").unwrap();
            assert_eq!(scratch.get(name), "x");
            assert_eq!(fs::metadata(at(name)).unwrap().permissions().mode() & mask, mode, "{name}");
        }
        RealDisk.put(&at("no/a"), b"x").unwrap_err();
        assert_eq!(scratch.names("."), ["new", "old"]);
    }

    #[test]
    fn a_name_is_claimed_once() {
        let scratch = Scratch::of(&["b.md"]);
        let claim = |name: &str| RealDisk.claim(&scratch.path().join(name)).map_err(|error| error.kind());
        assert_eq!(claim("a.md"), Ok(()));
        assert_eq!(scratch.get("a.md"), "");
        assert_eq!(claim("a.md"), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(claim("b.md"), Err(io::ErrorKind::AlreadyExists));
        assert_eq!(scratch.get("b.md"), "b.md");
        assert_eq!(claim("no/a.md"), Err(io::ErrorKind::NotFound));
    }

    #[test]
    fn a_failed_commit_removes_what_was_staged() {
        let scratch = Scratch::new();
        let target = scratch.path().join("a.md");
        let staged = RealDisk.stage(&target, b"new").unwrap();
        RealDisk.create_folders(&target).unwrap();
        RealDisk.commit(staged).unwrap_err();
        assert_eq!(scratch.names("."), ["a.md"]);
    }

    #[test]
    fn a_new_name_is_given_over_nothing() {
        let scratch = Scratch::of(&["b.md"]);
        let at = |name: &str| scratch.path().join(name);
        RealDisk.commit_new(RealDisk.stage(&at("a.md"), b"new").unwrap()).unwrap();
        assert_eq!(scratch.get("a.md"), "new");
        let error = RealDisk.commit_new(RealDisk.stage(&at("b.md"), b"new").unwrap()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(scratch.get("b.md"), "b.md");
        assert_eq!(scratch.names("."), ["a.md", "b.md"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn swapping_gives_the_old_file_and_swapping_again_puts_it_back() {
        let scratch = Scratch::of(&["a.md"]);
        let target = scratch.path().join("a.md");
        let read = |path: &Path| String::from_utf8(RealDisk.read(path, 10).unwrap()).unwrap();
        let staged = RealDisk.stage(&target, b"new").unwrap();
        RealDisk.swap(&staged).unwrap();
        assert_eq!([read(&target), read(staged.path())], ["new", "a.md"]);
        RealDisk.swap(&staged).unwrap();
        assert_eq!([read(&target), read(staged.path())], ["a.md", "new"]);
        RealDisk.remove(&target).unwrap();
        assert_eq!(RealDisk.swap(&staged).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(read(staged.path()), "new");
        drop(staged);
        assert_eq!(scratch.names("."), Vec::<String>::new());
    }

    #[test]
    fn what_is_set_aside_goes_with_the_value_unless_it_is_kept() {
        let scratch = Scratch::of(&["a.md", "b.md"]);
        drop(RealDisk.set_aside(&scratch.path().join("a.md")).unwrap());
        assert_eq!(scratch.names("."), ["b.md"]);
        drop(RealDisk.set_aside(&scratch.path().join("b.md")).unwrap().kept());
        let [kept] = &scratch.names(".")[..] else { panic!("one file expected") };
        assert_eq!(scratch.get(kept), "b.md");
        let error = RealDisk.set_aside(&scratch.path().join("b.md")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn folders_are_made_as_far_as_they_are_missing() {
        let scratch = Scratch::of(&["a/x", "file"]);
        for path in ["a", "a/b/c", "a/b/c"] {
            RealDisk.create_folders(&scratch.path().join(path)).unwrap();
            assert_eq!(RealDisk.kind(&scratch.path().join(path)).unwrap(), Some(Kind::Folder));
        }
        RealDisk.create_folders(&scratch.path().join("file")).unwrap_err();
        RealDisk.create_folders(&scratch.path().join("file/b")).unwrap_err();
    }

    #[test]
    fn removing_what_is_absent_fails() {
        let scratch = Scratch::of(&["a.md"]);
        RealDisk.remove(&scratch.path().join("a.md")).unwrap();
        let error = RealDisk.remove(&scratch.path().join("a.md")).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_second_run_learns_who_holds_the_lock() {
        let scratch = Scratch::new();
        let path = scratch.path().join("lock");
        let guard = RealDisk.lock(&path, "`cantus project` (pid 1), which has a long text", NO_WAIT).unwrap();
        drop(guard);
        let guard = RealDisk.lock(&path, "cantus project, pid 7", NO_WAIT).unwrap();
        let second = thread::scope(|scope| {
            scope
                .spawn(|| RealDisk.lock(&path, "second", Duration::from_millis(60)).unwrap_err())
                .join()
                .unwrap()
        });
        assert!(matches!(&second, LockError::Held { holder } if holder == "cantus project, pid 7"));
        assert_eq!(second.to_string(), "`cantus project, pid 7` holds the lock");
        drop(guard);
        drop(RealDisk.lock(&path, "third", NO_WAIT).unwrap());
        assert_eq!(RealDisk.kind(&path).unwrap(), Some(Kind::File));
    }

    #[test]
    fn a_second_run_gets_the_lock_once_it_is_free() {
        let scratch = Scratch::new();
        let path = scratch.path().join("lock");
        let guard = RealDisk.lock(&path, "first", NO_WAIT).unwrap();
        thread::scope(|scope| {
            let second = scope.spawn(|| RealDisk.lock(&path, "second", Duration::from_secs(60)).map(drop));
            thread::sleep(Duration::from_millis(50));
            drop(guard);
            second.join().unwrap().unwrap();
        });
    }

    #[cfg(unix)]
    #[test]
    fn a_passing_lock_file_goes_with_its_lock_and_never_lets_two_in() {
        let scratch = Scratch::new();
        let path = scratch.path().join("lock");
        let inside = std::sync::atomic::AtomicUsize::new(0);
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let guard = RealDisk.lock(&path, "me", Duration::from_secs(60)).unwrap();
                        let guard = guard.passing(path.clone());
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        thread::yield_now();
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(guard);
                    }
                });
            }
        });
        assert_eq!(scratch.names("."), Vec::<String>::new());
    }

    #[test]
    fn a_folder_is_no_lock() {
        let scratch = Scratch::of(&["lock/a"]);
        let error = RealDisk.lock(&scratch.path().join("lock"), "me", NO_WAIT).unwrap_err();
        let LockError::Io(error) = error else { panic!("{error:?}") };
        assert_eq!(error.to_string(), "a folder is not a regular file");
    }
}

#[cfg(test)]
#[cfg(unix)]
mod unix_tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;
    use std::sync::mpsc;
    use std::thread;

    use super::*;
    use crate::scratch::{Scratch, rel};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o7777
    }

    fn replace(path: &Path, bytes: &[u8]) {
        RealDisk.commit(RealDisk.stage(path, bytes).unwrap()).unwrap();
    }

    #[test]
    fn replacing_keeps_the_mode() {
        for expected in [0o600, 0o644, 0o666, 0o755, 0o444, 0o000] {
            let scratch = Scratch::of(&["a.md"]);
            let path = scratch.path().join("a.md");
            fs::set_permissions(&path, fs::Permissions::from_mode(expected)).unwrap();
            replace(&path, b"new");
            assert_eq!(mode(&path), expected, "{expected:o}");
        }
    }

    #[test]
    fn a_fresh_file_has_the_mode_of_any_new_file() {
        let scratch = Scratch::new();
        let [ours, any] = ["a.md", "b.md"].map(|name| scratch.path().join(name));
        replace(&ours, b"new");
        File::create(&any).unwrap();
        assert_eq!(mode(&ours), mode(&any));
    }

    /// The umask belongs to the process: this test runs itself in others.
    #[test]
    fn a_fresh_file_respects_the_umask() {
        const NAME: &str = "real::unix_tests::a_fresh_file_respects_the_umask";
        if let Ok(expected) = std::env::var("CANTUS_FS_TEST_MODE") {
            let scratch = Scratch::new();
            let path = scratch.path().join("a.md");
            replace(&path, b"new");
            assert_eq!(format!("{:o}", mode(&path)), expected);
            return;
        }
        for (umask, expected) in [("000", "666"), ("022", "644"), ("027", "640"), ("077", "600")] {
            let output = Command::new("sh")
                .args(["-c", &format!("umask {umask} && exec \"$0\" --exact {NAME}")])
                .arg(std::env::current_exe().unwrap())
                .env("CANTUS_FS_TEST_MODE", expected)
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && told.contains("1 passed"), "umask {umask}: {told}");
        }
    }

    #[test]
    fn a_replaced_file_is_another_one() {
        use std::os::unix::fs::MetadataExt;

        let scratch = Scratch::of(&["a.md"]);
        let path = scratch.path().join("a.md");
        fs::hard_link(&path, scratch.path().join("other")).unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        replace(&path, b"new");
        assert_ne!(fs::metadata(&path).unwrap().ino(), before);
        assert_eq!(scratch.get("other"), "a.md");
    }

    #[test]
    fn a_symlink_is_seen_and_not_read() {
        let scratch = Scratch::of(&["a.md"]);
        for (target, name) in [("a.md", "file"), (".", "folder"), ("gone", "dangling")] {
            let path = scratch.path().join(name);
            symlink(target, &path).unwrap();
            assert_eq!(RealDisk.kind(&path).unwrap(), Some(Kind::Symlink));
            assert!(matches!(RealDisk.read(&path, 10), Err(ReadError::NotAFile(Kind::Symlink))));
            RealDisk.lock(&path, "me", Duration::ZERO).unwrap_err();
        }
        let links = scratch.root.list(None).unwrap().into_iter().filter(|entry| entry.kind == Kind::Symlink);
        assert_eq!(links.count(), 3);
        assert_eq!(scratch.get("a.md"), "a.md");
        assert_eq!(RealDisk.kind(&scratch.path().join("gone")).unwrap(), None);
    }

    #[test]
    fn special_files_are_refused_without_waiting() {
        let scratch = Scratch::new();
        let fifo = scratch.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        let _listener = std::os::unix::net::UnixListener::bind(scratch.path().join("socket")).unwrap();
        let (answer, answers) = mpsc::channel();
        let folder = scratch.path().to_path_buf();
        thread::spawn(move || {
            for name in ["fifo", "socket"] {
                answer.send(RealDisk.read(&folder.join(name), 10).map(drop)).unwrap();
            }
            answer.send(RealDisk.read(Path::new("/dev/null"), 10).map(drop)).unwrap();
        });
        for _ in 0..3 {
            let read = answers.recv_timeout(Duration::from_secs(10)).unwrap();
            assert!(matches!(read, Err(ReadError::NotAFile(Kind::Other))), "{read:?}");
        }
        let error = scratch.root.contained(&rel("fifo")).unwrap_err();
        assert_eq!(error.to_string(), "`fifo` is a special file; expected a regular file or nothing");
        RealDisk.lock(&fifo, "me", Duration::ZERO).unwrap_err();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn files_without_a_size_are_read_too() {
        let bytes = RealDisk.read(Path::new("/proc/self/status"), 1 << 20).unwrap();
        assert!(bytes.starts_with(b"Name:"));
        let error = RealDisk.read(Path::new("/proc/self/status"), 10).unwrap_err();
        assert!(matches!(error, ReadError::TooLarge { limit: 10, .. }));
    }

    #[test]
    fn names_need_not_be_utf8() {
        use std::os::unix::ffi::OsStrExt;

        let scratch = Scratch::new();
        let path = scratch.path().join(OsStr::from_bytes(b"\xff.md"));
        if File::create(&path).is_err() {
            return; // macOS: names are UTF-8.
        }
        scratch.put("a.md", "");
        replace(&path, b"new");
        let names: Vec<_> = scratch.root.list(None).unwrap().into_iter().map(|entry| entry.name).collect();
        assert_eq!(names, [OsStr::new("a.md"), OsStr::from_bytes(b"\xff.md")]);
    }
}
