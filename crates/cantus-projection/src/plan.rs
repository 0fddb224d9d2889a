//! What to do with each target, as a value.

use std::borrow::Cow;
use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cantus_fs::{Root, TargetError};
use cantus_manifest::{Diagnostic, Digest, RelPath};
use cantus_workspace::LOCK;
use similar::{DiffOp, TextDiff};
use thiserror::Error;

use crate::git::{Git, Kept, is_marker};
use crate::journal::Journal;
use crate::line_ends::{LineEnds, crlf, normalise};
use crate::locate::{Gap, gaps};
use crate::lock::{FileRow, LockFile, LockedSection, is_lock};
use crate::notice::is_notice;
use crate::projection::{Expected, File, Projection, Shape};

/// The most bytes that a target may have to be looked at.
pub(crate) const MOST_BYTES: u64 = 1 << 30;
/// What a dependency's source starts with.
const PLUGIN: &str = "plugin:";
/// How long all comparisons of a plan may look for the smallest difference; later ones only say that there is one.
const PATIENCE: Duration = Duration::from_secs(2);

/// Whether targets that are not ours, or were edited, are overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mend {
    /// Only what loses nothing.
    Safe,
    /// Everything, as `--force` asks.
    Force,
}

/// What each target is, and what is to be done with it.
#[derive(Debug)]
pub struct Plan {
    /// The files in their order, then orphans, then the lock.
    pub targets: Vec<Target>,
    /// The paths beside which a killed run may have left files: the targets, and what the lock lists besides.
    pub(crate) beside: Vec<RelPath>,
    /// What could not be found out while it was made.
    pub warnings: Vec<Diagnostic>,
    /// Whether the project lies in a work tree of git, so that a text may be kept there.
    pub in_git: bool,
}

/// One target.
#[derive(Debug)]
pub struct Target {
    /// Where it lies.
    pub path: RelPath,
    /// What it is.
    pub state: State,
    /// What the committed text and the composed one are; `None` where there is nothing to compare.
    pub texts: Option<(String, String)>,
    /// What is lost if it is overwritten; `None` where nothing is, or where it isn't.
    pub loss: Option<Loss>,
    pub(crate) action: Action,
    /// The digest of the bytes that were seen; `None` if there were none.
    pub(crate) seen: Option<Digest>,
}

/// What a target is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// As it should be, its line ends aside.
    Fresh(LineEnds),
    /// Not there.
    Missing,
    /// As it was written, but the sources have changed since.
    Stale {
        /// Why it is that.
        problem: String,
    },
    /// Its text is right; its line ends, a mark, or its difference from the original aren't.
    Form(LineEnds),
    /// Changed by hand.
    Edited {
        /// Where, and where the text belongs.
        edits: Vec<Edit>,
        /// Where git holds these very bytes.
        kept: Option<Kept>,
    },
    /// A file that we didn't write.
    Foreign,
    /// Ours, and no longer configured.
    Orphan,
}

/// What [`Mend::Force`] takes away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Where git holds these very bytes.
    pub kept: Option<Kept>,
    /// The lines, blank ones aside, that neither git nor the new text holds.
    pub lines: usize,
}

/// One change by hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// The line of the committed file, counted from 1.
    pub line: usize,
    /// What happened there.
    pub what: &'static str,
    /// The section that it belongs to.
    pub section: Option<String>,
    /// The source and its line (counted from 1) that the text comes from; of added text, those that the text beside it comes from.
    pub source: Option<(String, u32)>,
}

impl Edit {
    /// Whether it may as well be a change of the sources: without a lock the two can't be told apart.
    #[must_use]
    pub fn is_guess(&self) -> bool {
        [NO_LOCK, BROKEN_LOCK, UNLISTED].contains(&self.what)
    }

    /// Whether it is text that comes from no source: its own names the text beside it.
    #[must_use]
    pub fn is_added(&self) -> bool {
        self.what == ADDED
    }

    /// The file of the project and the line that the text comes from; `None` where that is a text of a dependency, or of a package
    /// that lies elsewhere, which nobody here can change.
    #[must_use]
    pub fn note(&self) -> Option<(&str, u32)> {
        let (path, line) = self.source.as_ref()?;
        let foreign = path.starts_with("package:") || path.starts_with(PLUGIN);
        (!foreign).then_some((path.as_str(), *line))
    }

    /// The file of a dependency, as `plugin:<crate>-<version>/<path>`, and the line that the text comes from.
    #[must_use]
    pub fn dependency(&self) -> Option<(&str, u32)> {
        let (path, line) = self.source.as_ref()?;
        path.starts_with(PLUGIN).then_some((path.as_str(), *line))
    }
}

const NO_LOCK: &str = "there is no lock, so an edit can't be told from older notes";
const BROKEN_LOCK: &str = "the lock can't be read, so an edit can't be told from older notes";
const UNLISTED: &str = "the lock does not list this page, so an edit can't be told from older notes";
const CONFLICT: &str = "git left a conflict here";
const ADDED: &str = "this was written by hand";
const BLANKS: &str = "blanks and line breaks alone were changed by hand";

/// What is done with a target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    Nothing,
    Write(Arc<str>),
    Remove,
    Refuse,
}

/// Targets that can't be looked at: symlinks, folders, unreadable files.
#[derive(Debug, Error)]
#[error("{} targets can't be used", .0.len())]
pub struct PlanError(pub Vec<TargetError>);

impl PlanError {
    /// One finding for each target.
    #[must_use]
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let help = "a committed file is a regular file inside the project: move this away";
        let finding =
            |error: &TargetError| Diagnostic::from_error("target", error).at(error.path()).help(help);
        self.0.iter().map(finding).collect()
    }
}

impl Plan {
    /// Whether there is nothing to do.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.targets.iter().all(|target| matches!(target.state, State::Fresh(_)))
    }

    /// Whether some target may not be touched, so that nothing may be written.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.targets.iter().any(Target::is_refused)
    }

    /// The same for the targets that `keep` names. A lock stays as it is unless every other target that it speaks of will be
    /// fresh.
    #[must_use]
    pub fn only(mut self, projection: &Projection, keep: &[RelPath]) -> Self {
        let named = |target: &Target| keep.contains(&target.path);
        let locks: Vec<_> = projection.all().map(|one| (&one.lock_path, one)).collect();
        let owner = |target: &Target| {
            let of = |(_, one): &&(RelPath, Projection)| one.own_paths().any(|path| *path == target.path);
            projection.members.iter().find(of).map_or(projection, |(_, one)| one)
        };
        let settled = |one: &Projection| {
            self.targets.iter().filter(|target| std::ptr::eq(owner(target), one)).all(|target| {
                target.path == one.lock_path || named(target) || matches!(target.state, State::Fresh(_))
            })
        };
        let locks: Vec<RelPath> =
            locks.into_iter().filter(|(_, one)| settled(one)).map(|(path, _)| path.clone()).collect();
        let touched = |target: &Target| match target.state {
            State::Fresh(_) => target.path == projection.lock_path,
            _ => true,
        };
        self.targets.retain(|target| named(target) || (locks.contains(&target.path) && touched(target)));
        self
    }
}

impl Target {
    /// Whether it may not be touched.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.action == Action::Refuse
    }

    /// Whether it is to be removed.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        self.action == Action::Remove
    }
}

/// Compares what should be with what lies at `root`.
pub fn plan(root: &Root, projection: &Projection, mend: Mend) -> Result<Plan, PlanError> {
    let common = Common::new(root, mend);
    let (mut errors, mut targets, mut beside) = (Vec::new(), Vec::new(), Vec::new());
    let mut read = |path: &RelPath| {
        root.read_target(path, MOST_BYTES).map_err(|error| errors.push(error)).ok().flatten()
    };
    let lock_bytes = read(&projection.lock_path);
    let lock = Lock::read(lock_bytes.as_deref(), projection);
    let judge = Judge { projection, lock: &lock, common: &common, texts: RefCell::default() };
    judge.files(&mut read, &mut targets);
    for (_, member) in &projection.members {
        let lock_bytes = read(&member.lock_path);
        let lock = Lock::read(lock_bytes.as_deref(), member);
        let judge = Judge { projection: member, lock: &lock, common: &common, texts: RefCell::default() };
        judge.files(&mut read, &mut targets);
        judge.orphans(&mut read, &mut targets);
        targets.push(judge.lock(lock_bytes.as_deref()));
        beside.extend(lock.orphans(member).map(|(path, _)| path.clone()));
    }
    judge.orphans(&mut read, &mut targets);
    judge.former_members(&mut read, &mut targets);
    targets.push(judge.lock(lock_bytes.as_deref()));
    beside.extend(projection.paths().cloned());
    beside.extend(lock.orphans(projection).map(|(path, _)| path.clone()));
    beside.sort();
    beside.dedup();
    let silent = common.git.is_silent().then(silent_git);
    let locked = if let Lock::Read(lock) = &lock { Some(lock) } else { None };
    let warnings = projection.bare(locked).into_iter().chain(silent).collect();
    let in_git = is_in_git(root);
    if errors.is_empty() { Ok(Plan { targets, beside, warnings, in_git }) } else { Err(PlanError(errors)) }
}

/// Whether the root or a folder above it holds `.git`; git itself isn't asked.
fn is_in_git(root: &Root) -> bool {
    let has_git = |folder: &Path| matches!(root.disk().kind(&folder.join(".git")), Ok(Some(_)));
    root.path().ancestors().any(has_git)
}

fn silent_git() -> Diagnostic {
    let message = "git did not answer within 10 seconds, so that nothing counts as kept in git";
    Diagnostic::warning("git.silent", message)
        .help("look why `git ls-files` takes so long here, then run this again")
}

/// The committed lock.
enum Lock {
    Missing,
    /// Exactly what it should be.
    Fresh,
    Read(LockFile),
    /// Ours, but unreadable: the line, if known, and why.
    Broken(Option<usize>, String),
    /// Not ours.
    Foreign,
}

impl Lock {
    fn read(bytes: Option<&[u8]>, projection: &Projection) -> Self {
        let Some(bytes) = bytes else { return Self::Missing };
        let (_, normal) = normalise(bytes);
        if normal.as_ref() == projection.lock.as_bytes() {
            return Self::Fresh;
        }
        Self::parse(&String::from_utf8_lossy(&normal))
    }

    /// One that isn't what it should be.
    fn parse(text: &str) -> Self {
        match LockFile::parse(text) {
            Ok(lock) => Self::Read(lock),
            Err((line, message)) if is_lock(text) => Self::Broken(line, message),
            Err(_) => Self::Foreign,
        }
    }

    /// The lock's rows; those of a fresh one are read only when something else isn't fresh.
    fn rows(&self, projection: &Projection) -> Option<LockFile> {
        match self {
            Self::Fresh => LockFile::parse(&projection.lock).ok(),
            Self::Read(lock) => Some(lock.clone()),
            Self::Missing | Self::Broken(..) | Self::Foreign => None,
        }
    }

    /// The files that it lists and the configuration doesn't.
    fn orphans<'a>(&'a self, projection: &'a Projection) -> impl Iterator<Item = (&'a RelPath, &'a FileRow)> {
        let files = if let Self::Read(lock) = self { lock.files.as_slice() } else { &[] };
        let configured = |path: &RelPath| projection.paths().any(|other| other == path);
        files.iter().filter(move |(path, _)| !configured(path)).map(|(path, row)| (path, row))
    }
}

/// What all judges of a plan share.
struct Common<'a> {
    root: &'a Root,
    mend: Mend,
    /// What a killed run noted; read only where a file looks edited.
    journal: OnceCell<Journal>,
    git: Git<'a>,
    /// When the comparisons have taken long enough: set by the first.
    deadline: OnceCell<Instant>,
}

impl<'a> Common<'a> {
    fn new(root: &'a Root, mend: Mend) -> Self {
        let git = Git::new(root.path());
        Self { root, mend, journal: OnceCell::new(), git, deadline: OnceCell::new() }
    }

    fn deadline(&self) -> Instant {
        *self.deadline.get_or_init(|| Instant::now() + PATIENCE)
    }

    /// Whether a folder, or one on the way to it, is a repository of its own.
    fn is_elsewhere(&self, folder: &RelPath) -> bool {
        let mut way = std::iter::successors(Some(folder.clone()), RelPath::parent);
        way.any(|step| step.join(".git").is_ok_and(|git| matches!(self.root.kind(&git), Ok(Some(_)))))
    }
}

struct Judge<'a> {
    projection: &'a Projection,
    lock: &'a Lock,
    common: &'a Common<'a>,
    /// The texts to be written, by what they are and by whether they have CRLF: copies share theirs.
    texts: RefCell<BTreeMap<(Shape, bool), Arc<str>>>,
}

/// What reads a target, and notes that it can't be read.
type Read<'a> = dyn FnMut(&RelPath) -> Option<Vec<u8>> + 'a;

impl Judge<'_> {
    /// Judges every configured file.
    fn files(&self, read: &mut Read<'_>, targets: &mut Vec<Target>) {
        // What the copies are compared with, if the original is left alone with CRLF.
        let mut crlf_original = false;
        for (index, file) in self.projection.files.iter().enumerate() {
            let crlf_wanted = file.copy && crlf_original;
            let target = match self.fresh(file).filter(|_| !crlf_wanted) {
                Some(target) => target,
                None => self.file(file, read(&file.path), crlf_wanted),
            };
            crlf_original |= index == 0 && target.state == State::Fresh(LineEnds::Crlf);
            targets.push(target);
        }
    }

    /// Judges what the lock alone knows, files of members aside.
    fn orphans(&self, read: &mut Read<'_>, targets: &mut Vec<Target>) {
        for (path, row) in self.lock.orphans(self.projection) {
            if matches!(row, FileRow::Member(_)) {
                continue;
            }
            if let Some(bytes) = read(path) {
                targets.extend(self.orphan(path, row, &bytes));
            }
        }
    }

    /// Judges the files of folders that are members no more, each by the lock that lies there.
    fn former_members(&self, read: &mut Read<'_>, targets: &mut Vec<Target>) {
        let mut folders: BTreeMap<&RelPath, Vec<&RelPath>> = BTreeMap::new();
        for (path, row) in self.lock.orphans(self.projection) {
            let FileRow::Member(folder) = row else { continue };
            let is_member = self.projection.members.iter().any(|(member, _)| member == folder);
            // What anyone may have written into the lock must not lead out of the folder, nor into another repository.
            let is_inside = path.strip_prefix(folder).is_some();
            if !is_member && is_inside && !self.common.is_elsewhere(folder) {
                folders.entry(folder).or_default().push(path);
            }
        }
        for (folder, paths) in folders {
            let Ok(lock_path) = folder.join(LOCK) else { continue };
            let bytes = read(&lock_path);
            let text =
                bytes.as_deref().map(|bytes| String::from_utf8_lossy(&normalise(bytes).1).into_owned());
            let lock = text.as_deref().map_or(Lock::Missing, Lock::parse);
            let judge = Judge { lock: &lock, texts: RefCell::default(), ..*self };
            let mut all_ours = true;
            for path in paths.into_iter().filter(|path| **path != lock_path) {
                let Some(bytes) = read(path) else { continue };
                let target = judge.orphan(path, &FileRow::Render("native".to_owned()), &bytes);
                all_ours &= target.is_some();
                targets.extend(target);
            }
            // A file that stays, stays with its lock.
            let is_ours = all_ours && text.is_some_and(|text| is_lock(&text));
            let lock_bytes = bytes.filter(|_| is_ours);
            targets.extend(lock_bytes.map(|bytes| Target {
                path: lock_path,
                state: State::Orphan,
                texts: None,
                loss: None,
                action: Action::Remove,
                seen: Some(Digest::of(&bytes)),
            }));
        }
    }

    /// The file if it is byte for byte what is to be written: that is seen without having all of it in memory.
    fn fresh(&self, file: &File) -> Option<Target> {
        let expected = self.projection.expected(&file.shape);
        let pieces: Vec<_> = expected.pieces().collect();
        let (path, state) = (file.path.clone(), State::Fresh(LineEnds::Lf));
        let is_fresh = self.common.root.target_holds(&file.path, &pieces);
        is_fresh.then_some(Target {
            path,
            state,
            texts: None,
            loss: None,
            action: Action::Nothing,
            seen: None,
        })
    }

    /// Judges a configured file; `crlf` asks for CRLF, as the original has it.
    fn file(&self, file: &File, bytes: Option<Vec<u8>>, crlf_wanted: bool) -> Target {
        let expected = self.projection.expected(&file.shape);
        let wanted = || self.text(&file.shape, crlf_wanted);
        let target = |state, action, texts, seen: Option<&[u8]>| Target {
            path: file.path.clone(),
            loss: seen.and_then(|bytes| self.loss(&file.path, &state, bytes, &expected)),
            state,
            texts,
            action,
            seen: seen.map(Digest::of),
        };
        let Some(bytes) = bytes else {
            return target(State::Missing, Action::Write(wanted()), None, None);
        };
        let (ends, normal) = normalise(&bytes);
        if expected.equals(&normal) {
            let fresh = match ends {
                LineEnds::Lf => !crlf_wanted,
                LineEnds::Crlf => crlf_wanted || !file.copy,
                LineEnds::Mixed | LineEnds::ByteOrderMark => false,
            };
            return match fresh {
                true => target(State::Fresh(ends), Action::Nothing, None, None),
                false => target(State::Form(ends), Action::Write(wanted()), None, Some(&bytes)),
            };
        }
        let state = self.history(&file.path, &file.shape, &expected, &normal, &bytes);
        let action = self.action(&state, wanted);
        // A difference from someone else's file would tell nothing.
        let texts = (state != State::Foreign)
            .then(|| (String::from_utf8_lossy(&normal).into_owned(), expected.text()));
        target(state, action, texts, Some(&bytes))
    }

    /// Judges a file that the lock alone knows. `None` if it has no notice: then nothing but the lock speaks for it being
    /// ours, and anyone may have written that.
    fn orphan(&self, path: &RelPath, row: &FileRow, bytes: &[u8]) -> Option<Target> {
        let shape = match row {
            FileRow::Render(render) => Shape::Render(render.clone()),
            FileRow::Page(..) => Shape::Page(path.clone()),
            FileRow::Member(_) => Shape::native(),
        };
        let expected = self.projection.expected(&shape);
        let (_, normal) = normalise(bytes);
        if !is_notice(first_line(&String::from_utf8_lossy(&normal))) {
            return None;
        }
        let state = match self.history(path, &shape, &expected, &normal, bytes) {
            State::Stale { .. } => State::Orphan,
            other => other,
        };
        let action = match (&state, self.common.mend) {
            (State::Orphan | State::Edited { kept: Some(_), .. }, _) | (_, Mend::Force) => Action::Remove,
            _ => Action::Refuse,
        };
        let loss = self.loss(path, &state, bytes, &expected);
        Some(Target { path: path.clone(), state, texts: None, loss, action, seen: Some(Digest::of(bytes)) })
    }

    fn lock(&self, bytes: Option<&[u8]>) -> Target {
        let path = &self.projection.lock_path;
        let text = || Arc::from(self.projection.lock.as_str());
        let stale = |problem: String| State::Stale { problem };
        let (state, action) = match (self.lock, bytes.map(normalise)) {
            (Lock::Fresh, Some((ends @ (LineEnds::Lf | LineEnds::Crlf), _))) => {
                (State::Fresh(ends), Action::Nothing)
            }
            (Lock::Fresh, Some((ends, _))) => (State::Form(ends), Action::Write(text())),
            (Lock::Missing | Lock::Fresh, _) => (State::Missing, Action::Write(text())),
            (Lock::Read(_), _) => {
                (stale("it does not list what the sources give".to_owned()), Action::Write(text()))
            }
            (Lock::Broken(line, message), _) => {
                let place = line.map_or_else(String::new, |line| format!("line {line}: "));
                (stale(format!("it can't be read: {place}{message}")), Action::Write(text()))
            }
            (Lock::Foreign, _) => {
                let state = self.foreign(path, &Vec::from_iter(bytes));
                let action = self.action(&state, text);
                (state, action)
            }
        };
        // What isn't touched needs no proof that it is still the same.
        let seen = bytes.filter(|_| action != Action::Nothing).map(Digest::of);
        let loss = bytes
            .and_then(|bytes| self.loss(path, &state, bytes, &self.projection.expected(&Shape::native())));
        Target { path: path.clone(), state, texts: None, loss, action, seen }
    }

    /// What `--force` takes away that a run without it would not touch.
    fn loss(&self, path: &RelPath, state: &State, bytes: &[u8], new: &Expected<'_>) -> Option<Loss> {
        if self.common.mend != Mend::Force
            || !matches!(state, State::Foreign | State::Edited { kept: None, .. })
        {
            return None;
        }
        let normal = normalise(bytes).1;
        let kept = self.common.git.kept(path, &[&normal, bytes]);
        let lines =
            if kept.is_some() { 0 } else { self.common.git.lines_held_nowhere(path, &normal, &new.text()) };
        Some(Loss { kept, lines })
    }

    fn action(&self, state: &State, wanted: impl Fn() -> Arc<str>) -> Action {
        let safe = match state {
            State::Fresh(_) => return Action::Nothing,
            State::Missing | State::Stale { .. } | State::Form(_) => true,
            State::Edited { kept, .. } => kept.is_some(),
            State::Foreign | State::Orphan => false,
        };
        if safe || self.common.mend == Mend::Force { Action::Write(wanted()) } else { Action::Refuse }
    }

    /// The file of a shape, made once.
    fn text(&self, shape: &Shape, has_crlf: bool) -> Arc<str> {
        let make = || {
            let text = self.projection.expected(shape).text();
            Arc::from(if has_crlf { crlf(&text) } else { text })
        };
        self.texts.borrow_mut().entry((shape.clone(), has_crlf)).or_insert_with(make).clone()
    }

    /// A file without a sign of ours: foreign, unless a merge is under way and git has both sides.
    fn foreign(&self, path: &RelPath, contents: &[&[u8]]) -> State {
        match self.common.git.kept(path, contents) {
            Some(Kept::Unmerged) => State::Edited { edits: Vec::new(), kept: Some(Kept::Unmerged) },
            _ => State::Foreign,
        }
    }

    /// How a file that isn't what it should be came to be so: stale, edited, or not ours.
    fn history(
        &self,
        path: &RelPath,
        shape: &Shape,
        expected: &Expected<'_>,
        normal: &[u8],
        bytes: &[u8],
    ) -> State {
        if normal.iter().all(u8::is_ascii_whitespace) {
            return State::Stale { problem: "the file is empty".to_owned() };
        }
        let lock = self.lock.rows(self.projection);
        let text = String::from_utf8_lossy(normal);
        let first = first_line(&text);
        let listed = lock.as_ref().and_then(|lock| lock.row_of(path));
        if listed.is_none() && !is_notice(first) {
            return self.foreign(path, &[normal, bytes]);
        }
        let edits = match (&lock, listed, shape) {
            (None, ..) => Some(vec![self.unknown_edit()]),
            (Some(_), Some(FileRow::Page(_, written)), _) => self.page_edits(written, expected, normal),
            (Some(_), None | Some(FileRow::Member(_)), Shape::Page(_)) => {
                Some(vec![Edit { line: 1, what: UNLISTED, section: None, source: None }])
            }
            (Some(lock), Some(FileRow::Render(render)), _)
            | (Some(lock), None | Some(FileRow::Member(_)), Shape::Render(render)) => {
                self.edits(lock, render, expected, normal, first)
            }
        };
        let Some(edits) = edits else { return self.foreign(path, &[normal, bytes]) };
        if edits.is_empty() {
            return State::Stale { problem: "the sources changed after this file was written".to_owned() };
        }
        if self.common.journal.get_or_init(|| Journal::read(self.common.root, &self.common.git)).wrote(bytes)
        {
            return State::Stale { problem: "a run that was killed wrote this file".to_owned() };
        }
        State::Edited { edits, kept: self.common.git.kept(path, &[normal, bytes]) }
    }

    /// What can be said of an edit without a lock.
    fn unknown_edit(&self) -> Edit {
        let what = if matches!(self.lock, Lock::Broken(..)) { BROKEN_LOCK } else { NO_LOCK };
        Edit { line: 1, what, section: None, source: None }
    }

    /// The changes by hand, by what the lock says of the file; none if it is as it was written. `None` if neither the notice
    /// nor any section is left: then someone put another file in its place.
    fn edits(
        &self,
        lock: &LockFile,
        render: &str,
        expected: &Expected<'_>,
        normal: &[u8],
        first: &str,
    ) -> Option<Vec<Edit>> {
        let has_notice = is_notice(first);
        // One that was changed beyond recognition is still a comment where the notice should be.
        let is_headed = has_notice
            || (self.projection.notice.is_some() && first.starts_with("<!--") && first.ends_with("-->"));
        let mut body_start = if is_headed { (first.len() + 1).min(normal.len()) } else { 0 };
        let mut edits = Vec::new();
        match normal.get(body_start) {
            Some(b'\n') => body_start += 1,
            Some(_) if is_headed => {
                let what = "the blank line below the notice was removed by hand";
                edits.push(Edit { line: 2, what, section: None, source: None });
            }
            _ => {}
        }
        if !self.is_known_notice(lock, first) && (is_headed || self.projection.notice.is_some()) {
            let what =
                if is_headed { "the notice was changed by hand" } else { "the notice was removed by hand" };
            edits.push(Edit { line: 1, what, section: None, source: None });
        }
        // The file lacks the bundle's last line feed.
        let mut body = normal[body_start..].to_vec();
        body.push(b'\n');
        let sections: Vec<_> = lock.sections_of(render).collect();
        let lines_before = count_lines(&normal[..body_start]);
        let gaps = gaps(&body, &sections);
        if !has_notice && gaps.iter().any(|gap| gap.sections == (0..sections.len())) {
            return None;
        }
        let deadline = self.common.deadline();
        for gap in gaps {
            edits.extend(gap_edits(&gap, &body, &sections, expected, lines_before, deadline));
        }
        Some(edits)
    }

    /// The changes by hand of a page whose text had the digest `written`. They have lines and sources if the notes are still
    /// what they were then. `None` if nothing of the page is left: then someone put another file in its place.
    fn page_edits(&self, written: &Digest, expected: &Expected<'_>, normal: &[u8]) -> Option<Vec<Edit>> {
        if Digest::of(normal) == *written {
            return Some(Vec::new());
        }
        let base = expected.text();
        let found = readable(normal, &base);
        let has_notice = is_notice(first_line(&found));
        let known: BTreeSet<&str> = base.lines().filter(|line| !line.is_empty()).collect();
        if !has_notice && !found.lines().any(|line| known.contains(line)) {
            return None;
        }
        let deadline = self.common.deadline();
        if Digest::of(base.as_bytes()) != *written || Instant::now() >= deadline {
            let what = "this page was edited by hand";
            return Some(vec![Edit { line: 1, what, section: None, source: None }]);
        }
        let new_lines: Vec<&str> = found.lines().collect();
        let edit = |(new_index, old_index, what): (usize, usize, &'static str)| {
            let is_conflict = new_lines.get(new_index).is_some_and(|line| is_marker(line.as_bytes()));
            let what = if is_conflict { CONFLICT } else { what };
            Edit { line: new_index + 1, what, section: None, source: expected.page_source(old_index) }
        };
        Some(changes(&base, &found, deadline).into_iter().map(edit).collect())
    }

    /// Whether a notice is the one that we write now, or the one that we wrote with this lock.
    fn is_known_notice(&self, lock: &LockFile, line: &str) -> bool {
        self.projection.notice.as_deref() == Some(line) || lock.wrote_notice(line)
    }
}

fn first_line(text: &str) -> &str {
    text.split('\n').next().unwrap_or_default()
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

/// The edits of one gap: each with its line in the file, its section and, where that is known, its source.
fn gap_edits(
    gap: &Gap,
    body: &[u8],
    sections: &[&LockedSection],
    expected: &Expected<'_>,
    lines_before: usize,
    deadline: Instant,
) -> Vec<Edit> {
    let first_line = lines_before + count_lines(&body[..gap.bytes.start]) + 1;
    // The text that should stand here, with the section of each line and the line's index in it.
    let mut base = String::new();
    let mut owners: Vec<(&LockedSection, usize)> = Vec::new();
    for section in &sections[gap.sections.clone()] {
        if let Some(content) = expected.section(section.id.as_str()).and_then(|section| section.content()) {
            owners.extend((0..content.origins().len()).map(|line| (*section, line)));
            base.push_str(content.text());
        }
    }
    let found = readable(&body[gap.bytes.clone()], &base);
    if owners.is_empty() {
        // A section that the sources no longer have, or text between two sections: it belongs to the one before.
        let before = gap.sections.start.saturating_sub(usize::from(gap.sections.is_empty()));
        let what = if found.is_empty() { "text was removed by hand" } else { ADDED };
        let edit = match sections.get(before) {
            Some(section) => edit(first_line, what, section, usize::MAX, expected),
            // The lock has no sections for this render.
            None => Edit { line: first_line, what, section: None, source: None },
        };
        return vec![edit];
    }
    if Instant::now() >= deadline {
        return vec![edit(first_line, "this was edited by hand", owners[0].0, 0, expected)];
    }
    let new_lines: Vec<&str> = found.lines().collect();
    changes(&base, &found, deadline)
        .into_iter()
        .map(|(new_index, old_index, what)| {
            let (section, line) = owners[old_index.min(owners.len() - 1)];
            let is_conflict = new_lines.get(new_index).is_some_and(|line| is_marker(line.as_bytes()));
            let what = if is_conflict { CONFLICT } else { what };
            edit(first_line + new_index, what, section, line, expected)
        })
        .collect()
}

/// The differences between two texts: the line of each in the new one, that in the old one, and what happened.
fn changes(base: &str, found: &str, deadline: Instant) -> Vec<(usize, usize, &'static str)> {
    let diff = TextDiff::configure().deadline(deadline).diff_lines(base, found);
    let changes = diff.ops().iter().filter_map(|op| match *op {
        DiffOp::Equal { .. } => None,
        DiffOp::Delete { old_index, new_index, .. } => {
            Some((new_index, old_index, "text was removed by hand"))
        }
        DiffOp::Insert { old_index, new_index, .. } => Some((new_index, old_index.saturating_sub(1), ADDED)),
        DiffOp::Replace { old_index, old_len, new_index, new_len } => {
            let old = (old_index..old_index + old_len).filter_map(|index| diff.old_slice(index));
            let new = (new_index..new_index + new_len).filter_map(|index| diff.new_slice(index));
            let same = old.flat_map(str::split_whitespace).eq(new.flat_map(str::split_whitespace));
            Some((new_index, old_index, if same { BLANKS } else { "this was edited by hand" }))
        }
    });
    changes.collect()
}

/// `bytes` as text to be compared with `base`: what isn't UTF-8 is a character that `base` lacks.
fn readable<'a>(bytes: &'a [u8], base: &str) -> Cow<'a, str> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return text.into();
    }
    let foreign =
        ('\u{fdd0}'..='\u{fdef}').find(|c| !base.contains(*c)).unwrap_or(char::REPLACEMENT_CHARACTER);
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend((!chunk.invalid().is_empty()).then_some(foreign));
    }
    text.into()
}

/// An edit in a section, at the section's line with this index or at its last.
fn edit(
    line: usize,
    what: &'static str,
    section: &LockedSection,
    index: usize,
    expected: &Expected<'_>,
) -> Edit {
    let source = expected.section(section.id.as_str()).and_then(|section| {
        let last = section.content()?.origins().len().saturating_sub(1);
        let (source, line) = section.source_line(index.min(last))?;
        Some((source.to_string(), line))
    });
    let source = source.or_else(|| Some((section.from.first()?.clone(), 1)));
    let source = source.map(|(source, line)| (expected.file_of(source), line));
    Edit { line, what, section: Some(section.id.to_string()), source }
}
