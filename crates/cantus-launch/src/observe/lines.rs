//! The providers' files, read within bounds: whole lines of JSON, as far as they can be read.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cantus_fs::{Disk, Kind};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::time::parse;

/// The most bytes of a small JSON file beside a transcript.
const MOST_SMALL: u64 = 16 << 20;

/// How many bytes are searched at once.
const BLOCK: u64 = 1 << 20;

/// In how many lines the start of a conversation is looked for.
pub(crate) const TIMED_LINES: usize = 10;

/// The beginning of a file.
#[derive(Debug, Default)]
pub(crate) struct Head {
    /// Its bytes, no more than were asked for.
    pub(crate) bytes: Vec<u8>,
    /// Whether the file has more.
    pub(crate) is_cut: bool,
}

/// The regular file at `path`; a symlink is followed, but what it leads to is a regular file too.
pub(crate) fn regular(disk: &dyn Disk, path: &Path) -> Option<PathBuf> {
    let is_file = |path: &Path| matches!(disk.kind(path), Ok(Some(Kind::File)));
    match disk.kind(path).ok()?? {
        Kind::File => Some(path.to_path_buf()),
        Kind::Symlink => disk.canonical(path).ok().filter(|path| is_file(path)),
        Kind::Folder | Kind::Other => None,
    }
}

/// When the file at `path` last changed; `None` if that isn't known.
pub(crate) fn modified(disk: &dyn Disk, path: &Path) -> Option<SystemTime> {
    let stamp = disk.stamp(&regular(disk, path)?).ok()??;
    let nanos = Duration::from_nanos(stamp.modified.unsigned_abs());
    if stamp.modified < 0 { UNIX_EPOCH.checked_sub(nanos) } else { UNIX_EPOCH.checked_add(nanos) }
}

/// The first bytes of a file, at most `most`; `None` if it can't be read.
pub(crate) fn head(disk: &dyn Disk, path: &Path, most: u64) -> Option<Head> {
    let parts = disk.open_parts(&regular(disk, path)?).ok()?;
    let size = parts.size();
    let mut bytes = vec![0; usize::try_from(size.min(most)).ok()?];
    parts.read_at(&mut bytes, 0).ok()?;
    Some(Head { bytes, is_cut: size > most })
}

/// The whole lines at the beginning of a file that have no more than `most` bytes together; the ends of lines count for one
/// byte, however they are written. `None` if the file can't be read.
pub(crate) fn begin(disk: &dyn Disk, path: &Path, most: u64) -> Option<Head> {
    let begin = head(disk, path, most)?;
    if !begin.is_cut || memchr::memmem::find(&begin.bytes, b"\r\n").is_none() {
        return Some(begin);
    }
    // At most every other byte isn't counted.
    let mut begin = head(disk, path, most.saturating_mul(2))?;
    let (mut end, mut left) = (0, usize::try_from(most).ok()?);
    for line in begin.bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(rest) = left.checked_sub(line.len() - usize::from(line.ends_with(b"\r\n"))) else { break };
        (end, left) = (end + line.len(), rest);
    }
    let is_last_torn = begin.is_cut && begin.bytes.get(..end)?.last() != Some(&b'\n');
    begin.bytes.truncate(end);
    if !is_last_torn && begin.bytes.last().is_some_and(|byte| *byte != b'\n') {
        begin.bytes.push(b'\n');
    }
    Some(Head { is_cut: true, ..begin })
}

/// Whether `needle` stands in these bytes of a file, which are read block by block.
pub(crate) fn has(disk: &dyn Disk, path: &Path, range: Range<u64>, needle: &str) -> bool {
    let Some(parts) = regular(disk, path).and_then(|path| disk.open_parts(&path).ok()) else { return false };
    let end = range.end.min(parts.size());
    let mut at = range.start;
    let mut block = Vec::new();
    while at < end {
        // What may be the beginning of the needle is looked at again, with what follows.
        let kept = block.len().min(needle.len() - 1);
        block.drain(..block.len() - kept);
        let more = usize::try_from(BLOCK.min(end - at)).unwrap_or_default();
        block.resize(kept + more, 0);
        if parts.read_at(&mut block[kept..], at).is_err() {
            return false;
        }
        if memchr::memmem::find(&block, needle.as_bytes()).is_some() {
            return true;
        }
        at += more as u64;
    }
    false
}

/// The object in a small file of JSON; what can't be read is empty.
pub(crate) fn small<T: DeserializeOwned + Default>(disk: &dyn Disk, path: &Path) -> T {
    let read = || disk.read(&regular(disk, path)?, MOST_SMALL).ok();
    read().and_then(|bytes| record(&bytes)).unwrap_or_default()
}

/// The first of these values that is a time.
pub(crate) fn time_of(values: [&Value; 2]) -> Option<SystemTime> {
    values.into_iter().find_map(parse)
}

impl Head {
    /// Leaves the first `most` bytes and gives the others, if there are any.
    pub(crate) fn cut(&mut self, most: u64) -> Option<Vec<u8>> {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        let rest = (self.bytes.len() > most).then(|| self.bytes.split_off(most));
        self.is_cut |= rest.is_some();
        rest
    }

    /// How many bytes its whole lines have.
    pub(crate) fn whole(&self) -> usize {
        match self.is_cut {
            true => self.bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
            false => self.bytes.len(),
        }
    }

    /// The lines that were read whole, without their line ends. The torn one at a cut is none.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let lines = self.bytes[..self.whole()].split(|byte| *byte == b'\n');
        lines.map(|line| line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// The record in a line, as far as it is one. Bytes that are no UTF-8 are replaced, and so are halves of characters that JSON
/// spells as escapes.
pub(crate) fn record<T: DeserializeOwned>(line: &[u8]) -> Option<T> {
    if !line.trim_ascii_start().starts_with(b"{") {
        return None;
    }
    let text = String::from_utf8_lossy(line);
    match serde_json::from_str(&text) {
        Ok(record) => Some(record),
        Err(_) => serde_json::from_str(&mended(&text)?).ok(),
    }
}

/// The same; a line that has something and is no record is counted in `unread`.
pub(crate) fn counted<T: DeserializeOwned>(line: &[u8], unread: &mut usize) -> Option<T> {
    let found = record(line);
    *unread += usize::from(found.is_none() && !line.trim_ascii().is_empty());
    found
}

/// The text with escapes of halves of characters replaced; `None` if it has none.
fn mended(text: &str) -> Option<String> {
    let unit = |at: usize| {
        let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let (mut mended, mut at, mut is_changed) = (String::with_capacity(text.len()), 0, false);
    while let Some(next) = text[at..].find('\\').map(|found| at + found) {
        mended.push_str(&text[at..next]);
        let (high, low) = (unit(next), unit(next + 6));
        let length = match (high, low) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                mended.push_str("\\ufffd");
                is_changed = true;
                at = next + 6;
                continue;
            }
            _ => 1 + text[next + 1..].chars().next().map_or(0, char::len_utf8),
        };
        mended.push_str(&text[next..next + length]);
        at = next + length;
    }
    mended.push_str(&text[at..]);
    is_changed.then_some(mended)
}

/// A value of the expected shape, or anything else.
#[derive(Clone, Debug)]
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

impl<T> Default for Maybe<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Maybe<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Either<T> {
            Expected(T),
            Other(IgnoredAny),
        }
        Ok(match Either::deserialize(deserializer)? {
            Either::Expected(value) => Self(Some(value)),
            Either::Other(_) => Self(None),
        })
    }
}

/// A list of which only the elements of the expected shape count.
pub(crate) type List<T> = Maybe<Vec<Maybe<T>>>;

impl<T> List<T> {
    /// Its elements of the expected shape.
    pub(crate) fn into_items(self) -> impl Iterator<Item = T> {
        self.0.into_iter().flatten().filter_map(|item| item.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_whole() {
        let lines = |bytes: &[u8], is_cut| {
            let head = Head { bytes: bytes.to_vec(), is_cut };
            head.lines().map(|line| String::from_utf8_lossy(line).into_owned()).collect::<Vec<_>>()
        };
        assert_eq!(lines(b"a\r\nb\n\nc", false), ["a", "b", "", "c"]);
        assert_eq!(lines(b"a\nb", true), ["a", ""]);
        assert_eq!(lines(b"ab", true), [""]);
        assert_eq!(lines(b"", false), [""]);
    }

    #[test]
    fn halves_of_characters_are_replaced() {
        let read = |line: &str| {
            record::<Value>(line.as_bytes()).map(|value| value["a"].as_str().unwrap().to_owned())
        };
        assert_eq!(read(r#"{"a":"x\ud83dy"}"#).unwrap(), "x\u{fffd}y");
        assert_eq!(read(r#"{"a":"\udc00\ud83d\ude00\ud83d"}"#).unwrap(), "\u{fffd}\u{1f600}\u{fffd}");
        assert_eq!(read(r#"{"a":"\\ud83d \ud83d"}"#).unwrap(), "\\ud83d \u{fffd}");
        assert_eq!(read(r#"{"a":"\ud8é"}"#), None);
        assert_eq!(read(r#"{"a":"\"#), None);
    }

    #[test]
    fn other_shapes_are_passed_over() {
        #[derive(Deserialize, Default)]
        #[serde(default)]
        struct Shape {
            text: Maybe<String>,
            list: List<String>,
        }
        let shape: Shape = record(br#"{"text":7,"list":["a",1,null,{"b":[]},"c"],"more":{}}"#).unwrap();
        assert_eq!(shape.text.0, None);
        assert_eq!(shape.list.into_items().collect::<Vec<_>>(), ["a", "c"]);
        let shape: Shape = record(br#"{"text":"x","list":"y"}"#).unwrap();
        assert_eq!((shape.text.0.as_deref(), shape.list.into_items().count()), (Some("x"), 0));
        assert!(record::<Shape>(b"[1]").is_none() && record::<Shape>(b"").is_none());
        let deep = format!("{{\"text\":{}1{}}}", "[".repeat(5000), "]".repeat(5000));
        assert!(record::<Shape>(deep.as_bytes()).is_none());
    }
}
