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

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests set up their files without the code that they test")]
mod tests {
    use std::fs;
    use std::sync::Arc;
    use std::time::Duration;

    use cantus_fs::{FaultDisk, On, Operation, RealDisk};

    use super::*;
    use crate::Witness;

    /// A folder with one file of each kind of answer, and what was seen of it on a disk whose files are `age` old.
    fn seen(age: Duration) -> (tempfile::TempDir, Arc<FaultDisk>, Index) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.md"), "one").unwrap();
        let disk = Arc::new(FaultDisk::new().aged(age));
        let index = look(folder.path(), &disk);
        (folder, disk, index)
    }

    fn look(folder: &Path, disk: &Arc<FaultDisk>) -> Index {
        let witness = Witness::new(disk.clone());
        witness.list(folder).unwrap();
        witness.kind(&folder.join("a.md")).unwrap();
        witness.kind(&folder.join("b.md")).unwrap();
        witness.read(&folder.join("a.md"), 9).unwrap();
        witness.read(&folder.join("b.md"), 9).unwrap_err();
        witness.canonical(folder).unwrap();
        witness.canonical(&folder.join("b.md")).unwrap_err();
        witness.index(&Places::new(folder, None, None)).unwrap()
    }

    const OLD: Duration = Duration::from_secs(10);

    #[test]
    fn bytes_round_trip_and_every_other_byte_is_refused() {
        let (_folder, _, index) = seen(Duration::ZERO);
        let bytes = index.to_bytes();
        assert_eq!(Index::from_bytes(&bytes), Some(index));
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            assert_eq!(Index::from_bytes(&flipped), None, "byte {at}");
            assert_eq!(Index::from_bytes(&bytes[..at]), None, "the first {at} bytes");
        }
    }

    #[test]
    #[cfg(unix)]
    fn an_old_file_is_not_opened() {
        let (_folder, disk, index) = seen(OLD);
        let before = disk.count(On::Only(Operation::Read));
        assert_eq!(index.replay(disk.as_ref()), Replay::Same(None));
        assert_eq!(disk.count(On::Only(Operation::Read)), before);
    }

    #[test]
    fn a_file_that_may_have_changed_since_is_opened() {
        let (_folder, disk, index) = seen(Duration::ZERO);
        let before = disk.count(On::Only(Operation::Read));
        assert_eq!(index.replay(disk.as_ref()), Replay::Same(None));
        assert_eq!(disk.count(On::Only(Operation::Read)), before + 1);
    }

    #[test]
    #[cfg(unix)]
    fn what_was_read_again_is_known_the_next_time() {
        let (_folder, disk, index) = seen(Duration::ZERO);
        let later = index.since + TICK + 1_000_000_000;
        let Replay::Same(Some(better)) = index.replay_at(disk.as_ref(), later) else {
            panic!("no better index")
        };
        let before = disk.count(On::Only(Operation::Read));
        assert_eq!(better.replay_at(disk.as_ref(), later), Replay::Same(None));
        assert_eq!(disk.count(On::Only(Operation::Read)), before);
        assert_eq!(better.inputs, index.inputs);
    }

    #[test]
    fn a_file_edited_within_the_tick_of_its_stamp_is_seen() {
        let (folder, disk, mut index) = seen(Duration::ZERO);
        let path = folder.path().join("a.md");
        fs::write(&path, "two").unwrap();
        // The worst case: nothing but the bytes tells the two states apart.
        let stamp = RealDisk.stamp(&path).unwrap();
        for observation in &mut index.observations {
            if let Seen::File(Some((_, known))) = &mut observation.seen {
                *known = stamp;
            }
        }
        assert_eq!(index.replay(disk.as_ref()), Replay::Changed);
    }

    #[test]
    fn every_difference_is_a_change() {
        type Change = (&'static str, fn(&Path));
        let changes: [Change; 6] = [
            ("other bytes", |folder| fs::write(folder.join("a.md"), "two").unwrap()),
            ("more bytes", |folder| fs::write(folder.join("a.md"), "three").unwrap()),
            ("gone", |folder| fs::remove_file(folder.join("a.md")).unwrap()),
            ("come", |folder| fs::write(folder.join("b.md"), "").unwrap()),
            ("another name", |folder| fs::write(folder.join("c.md"), "").unwrap()),
            ("another kind", |folder| {
                fs::remove_file(folder.join("a.md")).unwrap();
                fs::create_dir(folder.join("a.md")).unwrap();
            }),
        ];
        for (what, change) in changes {
            let (folder, disk, index) = seen(Duration::ZERO);
            change(folder.path());
            assert_eq!(index.replay(disk.as_ref()), Replay::Changed, "{what}");
        }
    }

    #[test]
    fn equal_sources_in_another_place_have_equal_inputs() {
        let ((_one, _, first), (_other, _, second)) = (seen(Duration::ZERO), seen(OLD));
        assert_eq!(first.inputs, second.inputs);
        assert_ne!(first.observations, second.observations);
    }

    #[test]
    fn what_changes_while_it_is_read_is_never_remembered() {
        let (folder, disk, _) = seen(Duration::ZERO);
        let (path, places) = (folder.path().join("a.md"), Places::new(folder.path(), None, None));
        let witness = Witness::new(disk.clone());
        witness.read(&path, 9).unwrap();
        fs::write(&path, "two").unwrap();
        witness.read(&path, 9).unwrap();
        assert_eq!(witness.index(&places), None);
        let witness = Witness::new(disk);
        witness.read(&path, 1).unwrap_err();
        assert_eq!(witness.index(&places), None, "an answer that says nothing of the bytes");
    }
}
