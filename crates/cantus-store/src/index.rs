//! The stat index: what was seen when sources were read, so that the next render needn't open them to see the same.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cantus_fs::{Disk, FileStamp, Kind, ReadError};
use cantus_manifest::Digest;

use crate::observation::{Observation, Places, Seen, inputs, kind_letter, listing};
use crate::pool::nanos;

/// The first bytes of a file with an index.
const MAGIC: &[u8] = b"cantus index 1\n";

/// The coarsest clock of a file system in use, in nanoseconds: FAT counts in two seconds. A file that changed within this time
/// before it was read may have changed again since, with the same stamp.
const TICK: i64 = 2_000_000_000;

/// What was seen when sources were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Index {
    /// Nanoseconds since 1970, before the first look.
    since: i64,
    /// The digest of what was seen.
    inputs: Digest,
    /// Sorted.
    observations: Vec<Observation>,
}

/// What a second look found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Replay {
    /// Everything is as it was. There is a better index to be kept where files had to be read that need not be the next time.
    Same(Option<Index>),
    /// Something is different, or can't be told.
    Changed,
}

impl Index {
    pub(crate) fn new(since: i64, observations: Vec<Observation>, places: &Places, real: &Places) -> Self {
        let inputs = inputs(&observations, places, real);
        Self { since, inputs, observations }
    }

    /// The digest of what was seen.
    #[must_use]
    pub fn inputs(&self) -> &Digest {
        &self.inputs
    }

    /// Looks at everything again. A file is opened only if its stamp may hide a change.
    #[must_use]
    pub fn replay(&self, disk: &dyn Disk) -> Replay {
        self.replay_at(disk, nanos(SystemTime::now()))
    }

    /// The same at a time, in nanoseconds since 1970.
    fn replay_at(&self, disk: &dyn Disk, now: i64) -> Replay {
        let mut renewed: Vec<(usize, Seen)> = Vec::new();
        for (at, observation) in self.observations.iter().enumerate() {
            match self.look(disk, observation) {
                Some(None) => {}
                Some(Some(seen)) => renewed.push((at, seen)),
                None => return Replay::Changed,
            }
        }
        let helps =
            |seen: &Seen| matches!(seen, Seen::File(Some((_, Some(stamp)))) if is_settled(stamp, now));
        if !renewed.iter().any(|(_, seen)| helps(seen)) {
            return Replay::Same(None);
        }
        let mut index = Self { since: now, ..self.clone() };
        for (at, seen) in renewed {
            index.observations[at].seen = seen;
        }
        Replay::Same(Some(index))
    }

    /// `None` if it is no longer as it was; the new answer if a file had to be read.
    fn look(&self, disk: &dyn Disk, observation: &Observation) -> Option<Option<Seen>> {
        let path = &observation.path;
        let same = match &observation.seen {
            Seen::Listing(seen) => match disk.list(path) {
                Ok(entries) => *seen == Some(listing(&entries)),
                Err(error) => seen.is_none() && ReadError::from(error).is_absent(),
            },
            Seen::Kind(seen) => disk.kind(path).ok()? == *seen,
            Seen::Real(seen) => match (seen, disk.canonical(path)) {
                (Ok(seen), Ok(real)) => *seen == real,
                (Err(seen), Err(error)) => *seen == error.kind().to_string(),
                _ => false,
            },
            Seen::File(None) => disk.kind(path).ok()?.is_none(),
            Seen::File(Some((digest, stamp))) => {
                let settled = stamp.filter(|stamp| is_settled(stamp, self.since));
                if settled.is_some() && disk.stamp(path).ok()? == settled {
                    return Some(None);
                }
                let (bytes, stamp) = disk.read_stamped(path, MOST_BYTES).ok()?;
                let same = Digest::of(bytes) == *digest;
                return same.then_some(Some(Seen::File(Some((*digest, stamp)))));
            }
        };
        same.then_some(None)
    }
}

/// The most bytes of an input: more than any reader of sources allows.
const MOST_BYTES: u64 = 1 << 30;

/// Whether a file with this stamp that changes at `since` or later gets another stamp.
fn is_settled(stamp: &FileStamp, since: i64) -> bool {
    let is_old = |time: i64| time.saturating_add(TICK) < since;
    is_old(stamp.modified) && stamp.changed.is_some_and(is_old)
}

/// The bytes of an index.
impl Index {
    /// As it is written.
    #[must_use]
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer(Vec::with_capacity(64 + self.observations.len() * 128));
        out.0.extend_from_slice(MAGIC);
        out.int(self.since);
        out.digest(&self.inputs);
        out.count(self.observations.len());
        let mut before = "";
        for observation in &self.observations {
            // What isn't text is never written down.
            let path = observation.path.to_str().unwrap_or_default();
            let shared = path.bytes().zip(before.bytes()).take_while(|(a, b)| a == b).count();
            let shared = (0..=shared).rev().find(|at| path.is_char_boundary(*at)).unwrap_or(0);
            out.count(shared);
            out.text(&path[shared..]);
            out.seen(&observation.seen);
            before = path;
        }
        let check = Digest::of(&out.0);
        out.digest(&check);
        out.0
    }

    /// The index that was written; `None` if one byte is another one.
    #[must_use]
    pub(crate) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (body, check) = bytes.split_at_checked(bytes.len().checked_sub(64)?)?;
        if Reader(check).digest()? != Digest::of(body) {
            return None;
        }
        let mut from = Reader(body.strip_prefix(MAGIC)?);
        let (since, inputs, count) = (from.int()?, from.digest()?, from.count()?);
        let mut observations: Vec<Observation> = Vec::with_capacity(count.min(body.len()));
        let mut path = String::new();
        for _ in 0..count {
            let shared = from.count()?;
            path.get(shared..)?;
            path.truncate(shared);
            path.push_str(from.text()?);
            observations.push(Observation { path: PathBuf::from(&path), seen: from.seen()? });
        }
        from.0.is_empty().then_some(Self { since, inputs, observations })
    }
}

struct Writer(Vec<u8>);

impl Writer {
    fn int(&mut self, int: i64) {
        self.0.extend_from_slice(&int.to_le_bytes());
    }

    fn count(&mut self, count: usize) {
        self.0.extend_from_slice(&(count as u64).to_le_bytes());
    }

    fn digest(&mut self, digest: &Digest) {
        self.0.extend_from_slice(digest.to_string().as_bytes());
    }

    fn text(&mut self, text: &str) {
        self.count(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn seen(&mut self, seen: &Seen) {
        match seen {
            Seen::Listing(None) => self.0.push(b'L'),
            Seen::Listing(Some(digest)) => {
                self.0.push(b'l');
                self.digest(digest);
            }
            Seen::Kind(None) => self.0.push(b'K'),
            Seen::Kind(Some(kind)) => self.0.extend([b'k', kind_letter(*kind)]),
            Seen::Real(Ok(path)) => {
                self.0.push(b'r');
                self.text(path.to_str().unwrap_or_default());
            }
            Seen::Real(Err(error)) => {
                self.0.push(b'R');
                self.text(error);
            }
            Seen::File(None) => self.0.push(b'F'),
            Seen::File(Some((digest, None))) => {
                self.0.push(b'g');
                self.digest(digest);
            }
            Seen::File(Some((digest, Some(stamp)))) => {
                self.0.push(b'f');
                self.digest(digest);
                self.stamp(stamp);
            }
        }
    }

    fn stamp(&mut self, stamp: &FileStamp) {
        self.0.extend_from_slice(&stamp.size.to_le_bytes());
        self.int(stamp.modified);
        self.0.push(u8::from(stamp.changed.is_some()));
        self.int(stamp.changed.unwrap_or_default());
        self.0.extend_from_slice(&stamp.inode.to_le_bytes());
        self.0.extend_from_slice(&stamp.device.to_le_bytes());
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn int(&mut self) -> Option<i64> {
        self.array().map(i64::from_le_bytes)
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.array()?)).ok()
    }

    fn digest(&mut self) -> Option<Digest> {
        std::str::from_utf8(self.take(64)?).ok()?.parse().ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = self.count()?;
        std::str::from_utf8(self.take(length)?).ok()
    }

    fn seen(&mut self) -> Option<Seen> {
        Some(match self.take(1)? {
            b"L" => Seen::Listing(None),
            b"l" => Seen::Listing(Some(self.digest()?)),
            b"K" => Seen::Kind(None),
            b"k" => Seen::Kind(Some(match self.take(1)? {
                b"f" => Kind::File,
                b"d" => Kind::Folder,
                b"l" => Kind::Symlink,
                b"o" => Kind::Other,
                _ => return None,
            })),
            b"r" => Seen::Real(Ok(PathBuf::from(self.text()?))),
            b"R" => Seen::Real(Err(self.text()?.to_owned())),
            b"F" => Seen::File(None),
            b"g" => Seen::File(Some((self.digest()?, None))),
            b"f" => {
                let digest = self.digest()?;
                Seen::File(Some((digest, Some(self.stamp()?))))
            }
            _ => return None,
        })
    }

    fn stamp(&mut self) -> Option<FileStamp> {
        let (size, modified) = (u64::from_le_bytes(self.array()?), self.int()?);
        let (has_changed, changed) = (self.take(1)? == [1], self.int()?);
        let (inode, device) = (u64::from_le_bytes(self.array()?), u64::from_le_bytes(self.array()?));
        Some(FileStamp { size, modified, changed: has_changed.then_some(changed), inode, device })
    }
}

/// The file of an index in the store `home` for these roots.
pub(crate) fn path_of(home: &Path, roots: &Digest) -> PathBuf {
    home.join("index").join(format!("{roots}.bin"))
}
