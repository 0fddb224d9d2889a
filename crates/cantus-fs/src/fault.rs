//! A twin of the disk that fails where a test says so.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use thiserror::Error;

use crate::{
    Disk, Entry, FileStamp, Kind, LockError, LockGuard, Measure, Parts, ReadError, RealDisk, Staged,
};

/// What a [`Disk`] is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Operation {
    /// [`Disk::list`].
    List,
    /// [`Disk::kind`], [`Disk::is_program`], [`Disk::stamp`] and [`Disk::measure`].
    Kind,
    /// [`Disk::read`], [`Disk::read_stamped`], [`Disk::open_parts`] and each [`Parts::read_at`] after it.
    Read,
    /// [`Disk::canonical`].
    Canonical,
    /// [`Disk::create_folders`] and [`Disk::create_folder`].
    CreateFolders,
    /// [`Disk::stage`], [`Disk::stage_program`], [`Disk::stage_sealed`], [`Disk::stage_as`], [`Disk::put_loose`], [`Disk::put`] and
    /// [`Disk::write_new`].
    Stage,
    /// [`Disk::commit`], [`Disk::commit_new`], [`Disk::swap`], [`Disk::rename_new`] and [`Disk::flush_folder`].
    Commit,
    /// [`Disk::set_aside`], [`Disk::remove`], [`Disk::remove_loose`] and [`Disk::remove_folder`].
    Remove,
    /// [`Disk::lock`].
    Lock,
    /// [`Disk::record`] and [`Disk::claim`]; [`Disk::recall`] is a [`Operation::Read`].
    Record,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 10] = [
        Self::List,
        Self::Kind,
        Self::Read,
        Self::Canonical,
        Self::CreateFolders,
        Self::Stage,
        Self::Commit,
        Self::Remove,
        Self::Lock,
        Self::Record,
    ];

    /// Whether it may change the disk.
    #[must_use]
    pub fn is_mutating(self) -> bool {
        !matches!(self, Self::List | Self::Kind | Self::Read | Self::Canonical)
    }
}

/// Which operations are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum On {
    /// Every one.
    Any,
    /// Those that may change the disk.
    Mutating,
    /// Those of one kind.
    Only(Operation),
}

impl On {
    fn counts(self, operation: Operation) -> bool {
        match self {
            Self::Any => true,
            Self::Mutating => operation.is_mutating(),
            Self::Only(only) => only == operation,
        }
    }
}

/// A failure to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// At which of the counted operations, counted from 1.
    pub at: usize,
    /// Which operations are counted.
    pub on: On,
    /// What happens then.
    pub kind: FaultKind,
}

/// How an operation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// With this error, nothing done. Later operations succeed.
    Io(io::ErrorKind),
    /// The disk is full: [`Disk::stage`] leaves a temporary file with the first half of the bytes, everything else
    /// does nothing; then [`io::ErrorKind::StorageFull`]. Later operations succeed.
    ShortWrite,
    /// The process dies before the operation takes effect ([`Disk::stage`] leaves half a temporary file): this
    /// and every later operation fails, and temporary files stay where they are, as after `kill -9`. A lock is given
    /// back when its guard is dropped.
    Crash,
    /// Likewise, but the operation has taken effect and only its answer is lost.
    CrashAfter,
}

/// What another process does right before an operation.
pub type Hook = Box<dyn FnOnce() + Send>;

/// The error of a process that has died.
#[derive(Clone, Copy, Debug, Error)]
#[error("the process has died (a simulated crash)")]
struct Crashed;

/// Whether `error` is that of a simulated crash.
#[must_use]
pub fn is_crash(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|error| error.is::<Crashed>())
}

/// The disk of the machine, with failures and other processes where a test wants them, and a count of what was
/// asked.
///
/// ```
/// use std::sync::Arc;
///
/// use cantus_fs::{Fault, FaultDisk, FaultKind, On, Root};
/// use cantus_manifest::RelPath;
///
/// let folder = tempfile::tempdir().unwrap();
/// let path = RelPath::new("AGENTS.md").unwrap();
/// for at in 1.. {
///     let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Any, kind: FaultKind::Crash }));
///     let root = Root::new(disk.clone(), folder.path().to_path_buf());
///     let result = root.stage(&path, b"new").and_then(|staged| root.commit(&path, staged));
///     assert_eq!(result.is_err(), disk.crashed());
///     if !disk.crashed() {
///         break;
///     }
/// }
/// ```
#[derive(Debug, Default)]
pub struct FaultDisk {
    faults: Vec<Fault>,
    state: Mutex<State>,
    dead: Arc<AtomicBool>,
    /// In nanoseconds.
    age: i64,
}

#[derive(Default)]
struct State {
    counts: [usize; Operation::ALL.len()],
    hooks: Vec<(On, usize, Hook)>,
}

impl FaultDisk {
    /// A disk without faults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, with one more fault. If several fall on one operation, the first that was added counts.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.faults.push(fault);
        self
    }

    /// The same, with `hook` run right before the operation that is the `at`-th of `on`, counted from 1.
    #[must_use]
    pub fn before(self, on: On, at: usize, hook: impl FnOnce() + Send + 'static) -> Self {
        self.with_state(|state| state.hooks.push((on, at, Box::new(hook))));
        self
    }

    /// The same, on which every file was changed `age` earlier than it was.
    #[must_use]
    pub fn aged(mut self, age: Duration) -> Self {
        self.age = i64::try_from(age.as_nanos()).unwrap_or(i64::MAX);
        self
    }

    fn older(&self, stamp: Option<FileStamp>) -> Option<FileStamp> {
        let older = |time: i64| time.saturating_sub(self.age);
        stamp.map(|stamp| FileStamp {
            modified: older(stamp.modified),
            changed: stamp.changed.map(older),
            ..stamp
        })
    }

    /// How many operations of `on` were asked for, the one that failed included, those after a crash not.
    #[must_use]
    pub fn count(&self, on: On) -> usize {
        self.with_state(|state| state.count(on))
    }

    /// Whether the process has died.
    #[must_use]
    pub fn crashed(&self) -> bool {
        self.dead.load(Ordering::SeqCst)
    }

    fn with_state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts `operation`, runs its hooks, and gives its fault.
    fn enter(&self, operation: Operation) -> io::Result<Option<FaultKind>> {
        if self.crashed() {
            return Err(io::Error::other(Crashed));
        }
        let (hooks, fault) = self.with_state(|state| {
            state.counts[operation as usize] += 1;
            let due = |on: On, at| on.counts(operation) && state.count(on) == at;
            let fault = self.faults.iter().find(|fault| due(fault.on, fault.at)).map(|fault| fault.kind);
            (state.take_hooks(operation), fault)
        });
        hooks.into_iter().for_each(|hook| hook());
        Ok(fault)
    }

    /// Does `whole`, or what its fault makes of it; `half` is what a fault may leave.
    fn run<T, E: From<io::Error>>(
        &self,
        operation: Operation,
        half: impl FnOnce(),
        whole: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        match self.enter(operation)? {
            None => whole(),
            Some(FaultKind::Io(kind)) => Err(io::Error::from(kind).into()),
            Some(FaultKind::ShortWrite) => {
                half();
                Err(io::Error::from(io::ErrorKind::StorageFull).into())
            }
            Some(FaultKind::Crash) => {
                half();
                Err(self.die().into())
            }
            Some(FaultKind::CrashAfter) => {
                let done = whole();
                let crash = self.die();
                drop(done);
                Err(crash.into())
            }
        }
    }

    fn die(&self) -> io::Error {
        self.dead.store(true, Ordering::SeqCst);
        io::Error::other(Crashed)
    }
}

impl State {
    fn count(&self, on: On) -> usize {
        Operation::ALL
            .into_iter()
            .filter(|&operation| on.counts(operation))
            .map(|it| self.counts[it as usize])
            .sum()
    }

    fn take_hooks(&mut self, operation: Operation) -> Vec<Hook> {
        let (due, later) = std::mem::take(&mut self.hooks)
            .into_iter()
            .partition(|(on, at, _)| on.counts(operation) && self.count(*on) == *at);
        self.hooks = later;
        let due: Vec<_> = due;
        due.into_iter().map(|(_, _, hook)| hook).collect()
    }
}

impl fmt::Debug for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("State").field("counts", &self.counts).field("hooks", &self.hooks.len()).finish()
    }
}

impl Disk for FaultDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        self.run(Operation::List, || {}, || RealDisk.list(folder))
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        self.run(Operation::Kind, || {}, || RealDisk.kind(path))
    }

    fn is_program(&self, path: &Path) -> io::Result<bool> {
        self.run(Operation::Kind, || {}, || RealDisk.is_program(path))
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.run(Operation::Read, || {}, || RealDisk.read(path, limit))
    }

    fn open_parts(&self, path: &Path) -> Result<Box<dyn Parts + '_>, ReadError> {
        let whole = || Ok(Box::new(FaultParts { disk: self, parts: RealDisk.open_parts(path)? }) as Box<_>);
        self.run(Operation::Read, || {}, whole)
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        self.run(Operation::Kind, || {}, || Ok(self.older(RealDisk.stamp(path)?)))
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        self.run(Operation::Kind, || {}, || RealDisk.modified(path))
    }

    fn read_stamped(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, Option<FileStamp>), ReadError> {
        let whole = || RealDisk.read_stamped(path, limit).map(|(bytes, stamp)| (bytes, self.older(stamp)));
        self.run(Operation::Read, || {}, whole)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.run(Operation::Canonical, || {}, || RealDisk.canonical(path))
    }

    fn create_folders(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::CreateFolders, || {}, || RealDisk.create_folders(path))
    }

    fn stage(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let half = || {
            if let Ok(staged) = RealDisk.stage(target, &bytes[..bytes.len() / 2]) {
                staged.abandon();
            }
        };
        let whole = || Ok(RealDisk.stage(target, bytes)?.outlive(Arc::clone(&self.dead)));
        self.run(Operation::Stage, half, whole)
    }

    fn stage_program(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let half = || {
            if let Ok(staged) = RealDisk.stage_program(target, &bytes[..bytes.len() / 2]) {
                staged.abandon();
            }
        };
        let whole = || Ok(RealDisk.stage_program(target, bytes)?.outlive(Arc::clone(&self.dead)));
        self.run(Operation::Stage, half, whole)
    }

    fn claim(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::Record, || {}, || RealDisk.claim(path))
    }

    fn stage_sealed(&self, target: &Path, bytes: &[u8]) -> io::Result<Staged> {
        let half = || {
            if let Ok(staged) = RealDisk.stage_sealed(target, &bytes[..bytes.len() / 2]) {
                staged.abandon();
            }
        };
        let whole = || Ok(RealDisk.stage_sealed(target, bytes)?.outlive(Arc::clone(&self.dead)));
        self.run(Operation::Stage, half, whole)
    }

    fn put_loose(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || {
            if let Ok(staged) = RealDisk.stage(target, &bytes[..bytes.len() / 2]) {
                staged.abandon();
            }
        };
        self.run(Operation::Stage, half, || RealDisk.put_loose(target, bytes))
    }

    fn put(&self, target: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || {
            if let Ok(staged) = RealDisk.stage(target, &bytes[..bytes.len() / 2]) {
                staged.abandon();
            }
        };
        self.run(Operation::Stage, half, || RealDisk.put(target, bytes))
    }

    fn remove_loose(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::Remove, || {}, || RealDisk.remove_loose(path))
    }

    fn commit(&self, staged: Staged) -> io::Result<()> {
        self.run(Operation::Commit, || {}, || RealDisk.commit(staged))
    }

    fn commit_new(&self, staged: Staged) -> io::Result<()> {
        self.run(Operation::Commit, || {}, || RealDisk.commit_new(staged))
    }

    fn swap(&self, staged: &Staged) -> io::Result<()> {
        self.run(Operation::Commit, || {}, || RealDisk.swap(staged))
    }

    fn set_aside(&self, target: &Path) -> io::Result<Staged> {
        let whole = || Ok(RealDisk.set_aside(target)?.outlive(Arc::clone(&self.dead)));
        self.run(Operation::Remove, || {}, whole)
    }

    fn rename_new(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.run(Operation::Commit, || {}, || RealDisk.rename_new(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::Remove, || {}, || RealDisk.remove(path))
    }

    fn record(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || drop(RealDisk.record(path, &bytes[..bytes.len() / 2]));
        self.run(Operation::Record, half, || RealDisk.record(path, bytes))
    }

    fn recall(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        self.run(Operation::Read, || {}, || RealDisk.recall(path, limit))
    }

    fn lock(&self, path: &Path, holder: &str, wait: Duration) -> Result<LockGuard, LockError> {
        self.run(Operation::Lock, || {}, || RealDisk.lock(path, holder, wait))
    }

    fn measure(&self, path: &Path) -> io::Result<Measure> {
        self.run(Operation::Kind, || {}, || RealDisk.measure(path))
    }

    fn create_folder(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::CreateFolders, || {}, || RealDisk.create_folder(path))
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let half = || drop(RealDisk.write_new(path, &bytes[..bytes.len() / 2]));
        self.run(Operation::Stage, half, || RealDisk.write_new(path, bytes))
    }

    fn flush_folder(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::Commit, || {}, || RealDisk.flush_folder(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        self.run(Operation::Remove, || {}, || RealDisk.remove_folder(path))
    }

    fn stage_as(&self, target: &Path, bytes: &[u8], mode: u32) -> io::Result<Staged> {
        let half = || {
            if let Ok(staged) = RealDisk.stage_as(target, &bytes[..bytes.len() / 2], mode) {
                staged.abandon();
            }
        };
        let whole = || Ok(RealDisk.stage_as(target, bytes, mode)?.outlive(Arc::clone(&self.dead)));
        self.run(Operation::Stage, half, whole)
    }
}

/// Parts of a file, each of which may fail.
#[derive(Debug)]
struct FaultParts<'a> {
    disk: &'a FaultDisk,
    parts: Box<dyn Parts>,
}

impl Parts for FaultParts<'_> {
    fn size(&self) -> u64 {
        self.parts.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.disk.run(Operation::Read, || {}, || self.parts.read_at(buffer, offset))
    }
}
