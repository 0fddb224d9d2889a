//! The snapshot that a conversation's history was given last, found from the end of its file.

mod lines;

use std::borrow::Cow;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

use cantus_fs::{Disk, ReadError};
use serde_json::value::RawValue;
use thiserror::Error;

use crate::json::{fields, readable, text};
use crate::{Snapshot, snapshot};
use lines::{Lines, Span};

/// How a history marks the message that holds a context update.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Its `customType`.
    pub message: String,
    /// The key in its `details` at which the snapshot stands.
    pub snapshot: String,
}

/// `cantus-context` and `cantusContext`.
impl Default for Keys {
    fn default() -> Self {
        Self { message: "cantus-context".to_owned(), snapshot: "cantusContext".to_owned() }
    }
}

/// How much of a history is held in memory at a time, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// What is read at once.
    pub block: usize,
    /// The longest line; a longer one counts as unreadable.
    pub line: usize,
}

/// Blocks of 64 KiB, lines of 64 MiB.
impl Default for Limits {
    fn default() -> Self {
        Self { block: 64 << 10, line: 64 << 20 }
    }
}

/// A snapshot as a history holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Its sections.
    pub sections: Snapshot,
    /// Its JSON, an array, as it stands in the history, with U+FFFD for what is no Unicode.
    pub json: String,
}

/// A history that could not be read. The path is the caller's to name.
#[derive(Debug, Error)]
pub enum HistoryError {
    /// The file, or the folder that it should be in, gave nothing.
    #[error("cannot read the history of the conversation")]
    Unreadable(#[from] ReadError),
    /// Bytes that had been there were gone.
    #[error(
        "the history of the conversation became shorter while it was read; expected that lines are only added"
    )]
    Shrank,
}

impl From<io::Error> for HistoryError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => Self::Shrank,
            _ => Self::Unreadable(ReadError::Io(error)),
        }
    }
}

/// The snapshot last delivered on the active branch of the history `path`, a file of JSON Lines; see [`delivered_within`].
pub fn delivered(disk: &dyn Disk, path: &Path, keys: &Keys) -> Result<Option<Snapshot>, HistoryError> {
    let delivered = delivered_within(disk, path, keys, Limits::default())?;
    Ok(delivered.map(|delivered| delivered.sections))
}

/// The snapshot last delivered on the active branch of the history `path`, an absolute path to a file of JSON Lines;
/// symlinks are followed. `None` if there is no such snapshot or no such file. A folder, and a file that can't be read, are
/// errors.
///
/// The branch starts at the last entry, an object with a string `id` whose `type` is not `session`, and goes from each entry
/// to its `parentId`. It ends, with no snapshot, at an entry of type `compaction`, at an entry that it has come by, and where
/// there is no parent. The first `custom_message` with our `customType` decides: its snapshot if that has the exact shape,
/// else none. An id that occurs twice means its last entry, wherever that stands.
///
/// A line is unreadable, and skipped, if it is no JSON or longer than the limit. Bytes that aren't UTF-8 and escapes of lone
/// surrogates read as U+FFFD; of equal keys the last counts.
///
/// The file is read from its end, in blocks, and no further than the branch. What is held is a block or the longest line, for
/// a moment twice, and about 100 bytes for each entry that was passed.
pub fn delivered_within(
    disk: &dyn Disk,
    path: &Path,
    keys: &Keys,
    limits: Limits,
) -> Result<Option<Delivered>, HistoryError> {
    let opened = match disk.canonical(path) {
        Ok(real) => disk.open_parts(&real),
        Err(error) => Err(error.into()),
    };
    match opened {
        Ok(parts) => {
            let lines = Lines::new(parts.as_ref(), limits);
            Ok(Walk { lines, met: HashMap::new(), keys }.run()?)
        }
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The way from the last entry to its ancestors.
struct Walk<'a> {
    lines: Lines<'a>,
    /// Each id between the end of the file and the line at hand.
    met: HashMap<IdHash, Met>,
    keys: &'a Keys,
}

/// How the last entry of an id was met.
#[derive(Clone, Copy)]
enum Met {
    /// It is on the branch.
    Walked,
    /// It was passed and may still turn out to be an ancestor.
    Passed(Span),
}

/// An id in 16 bytes, however long it is. Whether an entry is the one that is meant is asked of the entry itself.
type IdHash = [u64; 2];

fn hashed(id: &str) -> IdHash {
    [0_u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, id).hash(&mut hasher);
        hasher.finish()
    })
}

/// Where an entry leads.
enum Step {
    /// To the entry with this id.
    Parent(String),
    /// To the snapshot.
    Found(Delivered),
    /// Nowhere.
    End,
}

impl Walk<'_> {
    fn run(mut self) -> io::Result<Option<Delivered>> {
        let mut step = self.go_up(None)?;
        loop {
            step = match step {
                Step::Parent(id) => self.find(&id)?,
                Step::Found(delivered) => return Ok(Some(delivered)),
                Step::End => return Ok(None),
            }
        }
    }

    /// Where the entry `id` leads.
    fn find(&mut self, id: &str) -> io::Result<Step> {
        match self.met.get(&hashed(id)) {
            None => self.go_up(Some(id)),
            Some(Met::Walked) => Ok(Step::End),
            Some(Met::Passed(span)) => {
                let mut line = self.lines.at(*span)?;
                self.met.insert(hashed(id), Met::Walked);
                let line = readable(&mut line);
                Ok(Entry::of(&line).filter(|entry| entry.id == id).map_or(Step::End, |it| it.step(self.keys)))
            }
        }
    }

    /// Goes on towards the start of the file until the entry with this id, or any entry, and gives where that leads.
    fn go_up(&mut self, id: Option<&str>) -> io::Result<Step> {
        while let Some((span, line)) = self.lines.previous()? {
            let line = readable(line);
            let Some(entry) = Entry::of(&line) else { continue };
            if id.is_none_or(|id| id == entry.id) {
                self.met.insert(hashed(&entry.id), Met::Walked);
                return Ok(entry.step(self.keys));
            }
            self.met.entry(hashed(&entry.id)).or_insert(Met::Passed(span));
        }
        Ok(Step::End)
    }
}

/// A line that can be on a branch.
struct Entry<'a> {
    id: Cow<'a, str>,
    kind: Option<Cow<'a, str>>,
    parent: Option<&'a RawValue>,
    custom: Option<&'a RawValue>,
    details: Option<&'a RawValue>,
}

impl<'a> Entry<'a> {
    /// What the line says; `None` if it is unreadable, the header of the session, or has no id.
    fn of(line: &'a str) -> Option<Self> {
        let names = ["id", "type", "parentId", "customType", "details"];
        let [id, kind, parent, custom, details] = fields(line, names)?;
        let (id, kind) = (text(id)?, text(kind));
        (kind.as_deref() != Some("session")).then_some(Self { id, kind, parent, custom, details })
    }

    fn step(&self, keys: &Keys) -> Step {
        match self.kind.as_deref() {
            Some("compaction") => Step::End,
            Some("custom_message") if text(self.custom).as_deref() == Some(&keys.message) => {
                self.delivered(&keys.snapshot).map_or(Step::End, Step::Found)
            }
            _ => text(self.parent).map_or(Step::End, |id| Step::Parent(id.into_owned())),
        }
    }

    fn delivered(&self, key: &str) -> Option<Delivered> {
        let [json] = fields(self.details?.get(), [key])?;
        let sections = snapshot::parse(json?)?;
        Some(Delivered { sections, json: json?.get().to_owned() })
    }
}
