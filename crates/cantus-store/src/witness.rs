//! A disk that remembers what it was asked and what it said.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use cantus_fs::{Disk, Entry, FileStamp, Kind, ReadError};
use cantus_manifest::Digest;

use crate::index::Index;
use crate::observation::{Observation, Places, Seen, listing};
use crate::pool::nanos;

/// A disk to read sources from, which can't be written. What it saw names everything that the reading depends on.
#[derive(Debug)]
pub struct Witness {
    disk: Arc<dyn Disk>,
    /// Nanoseconds since 1970, before the first question.
    since: i64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    observations: Vec<Observation>,
    /// Whether an answer was one that may be another the next time, such as a failing disk.
    is_open: bool,
}

impl Witness {
    /// Watches `disk` from now on.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>) -> Self {
        Self { disk, since: nanos(SystemTime::now()), state: Mutex::default() }
    }

    /// What was seen, for the roots `places`; `None` if it doesn't say what the sources were: something failed, or was
    /// different when it was asked for again.
    #[must_use]
    pub fn index(&self, places: &Places) -> Option<Index> {
        let mut observations = self.with_state(|state| {
            if state.is_open { None } else { Some(std::mem::take(&mut state.observations)) }
        })?;
        // Of two answers about one file the one with the earlier stamp comes first, and stays.
        observations.sort_unstable();
        let mut unstable = false;
        observations.dedup_by(|later, earlier| {
            let same = later.path == earlier.path && later.seen.question() == earlier.seen.question();
            unstable |= same && !later.seen.agrees(&earlier.seen);
            same
        });
        // Only a path that is text is written down.
        let is_text = |path: &Path| path.to_str().is_some();
        let is_plain = observations.iter().all(|observation| {
            is_text(&observation.path) && !matches!(&observation.seen, Seen::Real(Ok(path)) if !is_text(path))
        });
        if unstable || !is_plain {
            return None;
        }
        let real = places.map(|place| self.disk.canonical(place).ok());
        Some(Index::new(self.since, observations, places, &real))
    }

    fn with_state<T>(&self, act: impl FnOnce(&mut State) -> T) -> T {
        act(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Remembers what was seen at `path`; `None` for an answer that says nothing of the sources.
    fn note(&self, path: &Path, seen: Option<Seen>) {
        self.with_state(|state| match seen {
            Some(seen) => state.observations.push(Observation { path: path.to_path_buf(), seen }),
            None => state.is_open = true,
        });
    }
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Disk for Witness {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let answer = self.disk.list(folder);
        let seen = match &answer {
            Ok(entries) => Some(Some(listing(entries))),
            Err(error) => is_absent(error).then_some(None),
        };
        self.note(folder, seen.map(Seen::Listing));
        answer
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        let answer = self.disk.kind(path);
        self.note(path, answer.as_ref().ok().map(|kind| Seen::Kind(*kind)));
        answer
    }

    fn is_program(&self, path: &Path) -> io::Result<bool> {
        // A render that depended on it couldn't be kept.
        self.note(path, None);
        self.disk.is_program(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        Ok(self.read_stamped(path, limit)?.0)
    }

    fn read_stamped(&self, path: &Path, limit: u64) -> Result<(Vec<u8>, Option<FileStamp>), ReadError> {
        let answer = self.disk.read_stamped(path, limit);
        let seen = match &answer {
            Ok((bytes, stamp)) => Some(Some((Digest::of(bytes), *stamp))),
            Err(error) => error.is_absent().then_some(None),
        };
        self.note(path, seen.map(Seen::File));
        answer
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        let answer = self.disk.canonical(path);
        let seen = match &answer {
            Ok(real) => Some(Ok(real.clone())),
            Err(error) => is_absent(error).then(|| Err(error.kind().to_string())),
        };
        self.note(path, seen.map(Seen::Real));
        answer
    }
}
