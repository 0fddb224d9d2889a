//! A bundle laid out where a harness looks, and taken away again.

mod layouts;
mod sidecar;
mod state;
mod transaction;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use cantus_fs::{AccessError, ContainError, Disk, Kind, LockError, LockGuard, ReadError, Root, TargetError};
use cantus_manifest::{Digest, ParseRelPathError, RelPath};
use thiserror::Error;

use crate::manifest::Mode;
use crate::names::TreePath;
use crate::tree;
use crate::verify::{Verified, verify};
use crate::{Fault, place};

pub use layouts::{Layout, Reach};
pub use state::{FileState, State};

use sidecar::Sidecar;
use transaction::Transaction;

/// The folder at a target that holds what is known about its projection.
const OWN: &str = ".agent-compose";
/// The lock in it.
const LOCK: &str = ".agent-compose/lock";
/// Where texts go that were edited by hand before they are overwritten or removed.
const KEPT: &str = ".agent-compose/kept";
/// How long to wait for another run at the same target.
const WAIT: Duration = Duration::from_secs(60);
/// How often the lock's folder is made anew, because a run that took a projection away has removed it in between.
const TRIES: usize = 1000;

/// Why nothing was projected, or not taken away.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// The bundle is not valid.
    #[error("the bundle is not valid")]
    Invalid(#[source] Fault),
    /// A file of the bundle could not be read.
    #[error("cannot read `{path}` of the bundle")]
    Bundle {
        /// The file.
        path: TreePath,
        /// Why.
        source: ReadError,
    },
    /// The target is the bundle or lies in it.
    #[error("the target is the bundle itself or lies inside it; name another folder")]
    Inside,
    /// Two files of the bundle would have one place.
    #[error("two skills of the bundle would both be `{0}`")]
    Twice(RelPath),
    /// A file has a name that no target may have.
    #[error(transparent)]
    Name(#[from] ParseRelPathError),
    /// Files stand in the way that were not written by a projection; nothing was changed.
    #[error("not written by an earlier projection, and other than the bundle has it: {}", listed(.0))]
    Foreign(Vec<RelPath>),
    /// The record of the earlier projection names a path that none may have.
    #[error("the record of the previous projection names `{}`, where nothing may be projected", .0.escape_debug())]
    Previous(String),
    /// The record of the earlier projection can't be understood.
    #[error("the record of the previous projection, `.agent-compose/projection.json`, is broken")]
    Record,
    /// A path leads somewhere else than it says, or something else than a file stands there.
    #[error(transparent)]
    Contain(#[from] ContainError),
    /// Something at the target could not be looked at.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// A file at the target could not be read.
    #[error(transparent)]
    Target(#[from] TargetError),
    /// The target's lock could not be taken.
    #[error("cannot take the lock `.agent-compose/lock` of the target")]
    Lock(#[source] LockError),
    /// The target is no folder and can't become one.
    #[error("the target is {0}; expected a folder, or nothing yet")]
    NoFolder(String),
    /// The target could not be used.
    #[error("cannot use the target")]
    Io(#[from] io::Error),
    /// A change failed.
    #[error("cannot change `{path}`; {}", match .restored {
        true => "everything is as it was before",
        false => "not everything could be restored",
    })]
    Change {
        /// What was to be changed.
        path: RelPath,
        /// Whether everything is as it was before.
        restored: bool,
        /// What failed.
        source: Box<ProjectError>,
    },
}

fn listed(paths: &[RelPath]) -> String {
    paths.iter().map(|path| format!("`{path}`")).collect::<Vec<_>>().join(", ")
}

/// What is wanted at a target: a label, where it comes from, and the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The name of the layout.
    pub layout: String,
    /// The absolute path of the bundle.
    pub bundle: PathBuf,
    /// The files by their places below the target.
    pub files: BTreeMap<RelPath, Vec<u8>>,
}

/// What a projection did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Projected {
    /// Every file, as it was before.
    pub files: Vec<FileState>,
    /// Texts that had been edited by hand, or may have been because the record doesn't say what was written, and where they are kept.
    pub kept: Vec<(RelPath, RelPath)>,
    /// Whether the record of an earlier projection was there and broken, so that its files belong to nobody now.
    pub broken_record: bool,
}

/// What taking a projection away did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unprojected {
    /// The files that were removed.
    pub removed: Vec<RelPath>,
    /// The files that were edited by hand since, and were left.
    pub left: Vec<RelPath>,
    /// Those that were removed and may have been edited, because the record doesn't say what was written, and where their texts are
    /// kept.
    pub kept: Vec<(RelPath, RelPath)>,
}

impl Wanted {
    /// What the bundle `bundle`, an absolute path, puts at a target. It is verified and read whole.
    pub fn read(disk: &dyn Disk, bundle: &Path, layout: Layout, reach: Reach) -> Result<Self, ProjectError> {
        let verified = verify(disk, bundle).map_err(ProjectError::Invalid)?;
        let mut files = BTreeMap::new();
        for (from, to) in places(&verified, layout, reach)? {
            let bytes = tree::read(disk, bundle, &from);
            let bytes = bytes.map_err(|source| ProjectError::Bundle { path: from, source })?;
            if files.insert(to.clone(), bytes).is_some() {
                return Err(ProjectError::Twice(to));
            }
        }
        Ok(Self { layout: layout.as_str().to_owned(), bundle: bundle.to_path_buf(), files })
    }
}

/// Which file of the bundle goes where.
fn places(
    verified: &Verified,
    layout: Layout,
    reach: Reach,
) -> Result<Vec<(TreePath, RelPath)>, ProjectError> {
    let delivery = &verified.manifest.delivery;
    let head = match verified.mode {
        Mode::NativeSkills => &delivery.instructions,
        Mode::Compiled => &delivery.compiled_context,
    };
    let head = verified.tree.file(head).map(|(path, _)| path.clone());
    let instructions = RelPath::new(layout.instructions(reach))?;
    let mut places: Vec<_> = head.into_iter().map(|head| (head, instructions.clone())).collect();
    if verified.mode == Mode::NativeSkills {
        for skill in &verified.skills {
            for (file, _) in verified.tree.files_below(skill.folder.as_str()) {
                let rest = file.strip(skill.folder.as_str()).unwrap_or_default();
                places
                    .push((file.clone(), RelPath::new(format!("{}/{}/{rest}", layout.skills(), skill.id))?));
            }
        }
    }
    Ok(places)
}

/// How every file of `wanted` stands at `target`, and every file of an earlier projection that is no longer wanted. Writes nothing.
pub fn check_projection(target: &Root, wanted: &Wanted) -> Result<Vec<FileState>, ProjectError> {
    refuse_target(target)?;
    refuse_inside(target, wanted)?;
    state::look(target, &wanted.files, &Sidecar::read(target)?)
}

/// Puts `wanted` at `target`, whose folder is made if it is missing, and takes away what an earlier projection put there and nobody
/// wants any more.
///
/// Other files that stand in the way are refused, equal ones left and not claimed. A text that was edited by hand, or may have been,
/// is kept beside the record before it is overwritten. A change that fails gives everything back, and so does an edit meanwhile.
pub fn project(target: &Root, wanted: &Wanted) -> Result<Projected, ProjectError> {
    refuse_target(target)?;
    refuse_inside(target, wanted)?;
    // Before anything is made.
    refuse_foreign(&state::look(target, &wanted.files, &Sidecar::read(target)?)?)?;
    let lock = take_lock(target)?;
    let old = Sidecar::read(target)?;
    let files = state::look(target, &wanted.files, &old)?;
    refuse_foreign(&files)?;
    sweep(target, &files)?;
    let kept = transaction::run(target, |transaction| replace(transaction, wanted, &old, &files))?;
    drop(lock);
    Ok(Projected { files, kept, broken_record: old.broken })
}

/// Takes away what was projected to `target`, unless it was edited by hand since, and the record of it.
pub fn unproject(target: &Root) -> Result<Unprojected, ProjectError> {
    refuse_target(target)?;
    if !Sidecar::read(target)?.exists {
        return Ok(Unprojected::default());
    }
    let lock = take_lock(target)?;
    let old = Sidecar::read(target)?;
    if old.broken {
        return Err(ProjectError::Record);
    }
    let files = state::look(target, &BTreeMap::new(), &old)?;
    sweep(target, &files)?;
    let (left, removed): (Vec<_>, Vec<_>) = files
        .iter()
        .filter(|file| file.state != State::Missing)
        .partition(|file| file.state == State::LeftEdited);
    let kept = transaction::run(target, |transaction| {
        let kept = keep_all(transaction, &old, removed.iter().copied())?;
        removed.iter().try_for_each(|file| transaction.remove(&file.path, file.seen.as_ref()))?;
        prune(transaction, files.iter().filter(|file| file.state != State::LeftEdited));
        transaction.remove_own(&sidecar::path()?)?;
        Ok(kept)
    })?;
    drop(lock.passing(target.path().join(LOCK)));
    // It may hold texts that were kept.
    let _ = target.disk().remove_folder(&target.path().join(OWN));
    let paths = |files: Vec<&FileState>| files.into_iter().map(|file| file.path.clone()).collect();
    Ok(Unprojected { removed: paths(removed), left: paths(left), kept })
}

/// The changes of a projection, in their order.
///
/// The record first claims what will be written, so that a run that dies leaves no file that belongs to nobody.
fn replace(
    transaction: &mut Transaction<'_>,
    wanted: &Wanted,
    old: &Sidecar,
    files: &[FileState],
) -> Result<Vec<(RelPath, RelPath)>, ProjectError> {
    let record = Sidecar::of(wanted, files);
    let changes = files.iter().any(|file| file.state.needs_work());
    if !changes && old.text() == record.text() {
        return Ok(Vec::new());
    }
    let kept = keep_all(transaction, old, files)?;
    let sidecar = sidecar::path()?;
    if changes {
        transaction.write_own(&sidecar, record.claiming(old).text().as_bytes())?;
    }
    for file in files.iter().filter(|file| file.state.is_written()) {
        if let Some(bytes) = wanted.files.get(&file.path) {
            transaction.write(&file.path, bytes, file.seen.as_ref())?;
        }
    }
    for file in files.iter().filter(|file| file.state.is_left()) {
        transaction.remove(&file.path, file.seen.as_ref())?;
    }
    // Before the record forgets them, so that a run that dies leaves no folder that nobody knows.
    prune(transaction, files.iter().filter(|file| !wanted.files.contains_key(&file.path)));
    transaction.write_own(&sidecar, record.text().as_bytes())?;
    Ok(kept)
}

/// Copies aside each text that was edited by hand, and each that may have been because the record says nothing of its bytes. Gives
/// the paths, each with that of its copy.
fn keep_all<'f>(
    transaction: &mut Transaction<'_>,
    old: &Sidecar,
    files: impl IntoIterator<Item = &'f FileState>,
) -> Result<Vec<(RelPath, RelPath)>, ProjectError> {
    let mut kept = Vec::new();
    for file in files {
        let is_unsure = matches!(old.files.get(&file.path), Some(None));
        let is_replaced = matches!(file.state, State::Stale | State::Left);
        if file.state.is_edited() || (is_replaced && is_unsure) {
            kept.push((file.path.clone(), keep(transaction, &file.path)?));
        }
    }
    Ok(kept)
}

/// Copies a text to where it is kept, under a name that comes from its bytes.
fn keep(transaction: &mut Transaction<'_>, path: &RelPath) -> Result<RelPath, ProjectError> {
    let bytes = transaction.root().read_target(path, tree::MOST_BYTES)?.unwrap_or_default();
    let kept = RelPath::new(format!("{KEPT}/{}-{}", Digest::of(&bytes).short(), path.file_name()))?;
    transaction.write_own(&kept, &bytes)?;
    Ok(kept)
}

/// Refuses a target that is no folder, or a link to none. One that is not there yet may come.
fn refuse_target(target: &Root) -> Result<(), ProjectError> {
    let disk = target.disk();
    match disk.kind(target.path())? {
        None | Some(Kind::Folder) => Ok(()),
        Some(Kind::Symlink) => match disk.canonical(target.path()).and_then(|real| disk.kind(&real)) {
            Ok(Some(Kind::Folder)) => Ok(()),
            _ => Err(ProjectError::NoFolder("a symlink that leads to no folder".to_owned())),
        },
        Some(kind) => Err(ProjectError::NoFolder(kind.to_string())),
    }
}

fn refuse_inside(target: &Root, wanted: &Wanted) -> Result<(), ProjectError> {
    match place::is_inside(target.disk().as_ref(), &wanted.bundle, target.path())? {
        true => Err(ProjectError::Inside),
        false => Ok(()),
    }
}

fn refuse_foreign(files: &[FileState]) -> Result<(), ProjectError> {
    let foreign = files.iter().filter(|file| file.state == State::Foreign);
    let foreign: Vec<_> = foreign.map(|file| file.path.clone()).collect();
    if foreign.is_empty() { Ok(()) } else { Err(ProjectError::Foreign(foreign)) }
}

fn take_lock(target: &Root) -> Result<LockGuard, ProjectError> {
    let path = RelPath::new(LOCK)?;
    let mut tries = 0;
    loop {
        target.contained(&path)?;
        target.disk().create_folders(&target.path().join(OWN))?;
        match target.disk().lock(&target.at(&path), "cantus", WAIT) {
            // Whoever took the projection away has taken the folder too.
            Err(LockError::Io(error)) if error.kind() == io::ErrorKind::NotFound && tries < TRIES => {
                tries += 1
            }
            lock => return lock.map_err(ProjectError::Lock),
        }
    }
}

/// Removes what dead runs had staged beside the files, the record and the texts that are kept.
fn sweep(target: &Root, files: &[FileState]) -> Result<(), ProjectError> {
    let mut paths: Vec<_> = files.iter().map(|file| file.path.clone()).collect();
    paths.push(sidecar::path()?);
    let entries = target.disk().list(&target.path().join(KEPT)).unwrap_or_default();
    let staged = entries.iter().filter(|entry| cantus_fs::is_leftover(&entry.name));
    // A staged file is called `.<name>.<random>.cantus-tmp`.
    let kept = staged.filter_map(|entry| entry.name.to_str()?.strip_prefix('.')?.rsplitn(3, '.').nth(2));
    paths.extend(kept.filter_map(|name| RelPath::new(format!("{KEPT}/{name}")).ok()));
    target.sweep(&paths, tree::MOST_BYTES, |_, _| true)?;
    Ok(())
}

/// Removes the folders of files that went away, as far as they are empty.
fn prune<'f>(transaction: &mut Transaction<'_>, files: impl Iterator<Item = &'f FileState>) {
    for file in files {
        transaction.prune(&file.path);
    }
}
