//! The lines of a file, the last one first.

use std::io;

use cantus_fs::Parts;
use memchr::memrchr;

use super::Limits;

/// Where a line lies in its file, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u64,
    len: usize,
}

/// The lines of a file from its end to its start, read in blocks. A line that is longer than allowed is left out; no more
/// of it is ever held than that.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    parts: &'a dyn Parts,
    limits: Limits,
    /// Bytes of the file from `start` on.
    buffer: Vec<u8>,
    start: u64,
    /// So many bytes of the buffer belong to lines that were not given yet; none once the file's start was given.
    rest: Option<usize>,
    /// So many of these, the last ones, have no line end.
    searched: usize,
    /// Whether the end of the line at hand has been thrown away.
    is_too_long: bool,
}

impl<'a> Lines<'a> {
    pub(super) fn new(parts: &'a dyn Parts, limits: Limits) -> Self {
        let start = parts.size();
        Self { parts, limits, buffer: Vec::new(), start, rest: Some(0), searched: 0, is_too_long: false }
    }

    /// The line before the one that was given last, without its LF, and where it lies. What follows the last LF is a line
    /// too, empty or not.
    pub(super) fn previous(&mut self) -> io::Result<Option<(Span, &mut [u8])>> {
        while let Some(rest) = self.rest {
            let end_before = memrchr(b'\n', &self.buffer[..rest - self.searched]);
            if end_before.is_none() && self.start > 0 {
                self.searched = rest;
                self.fill(rest)?;
                continue;
            }
            (self.rest, self.searched) = (end_before, 0);
            let first = end_before.map_or(0, |end| end + 1);
            let len = rest - first;
            if !std::mem::take(&mut self.is_too_long) && len <= self.limits.line {
                let span = Span { start: self.start + first as u64, len };
                return Ok(Some((span, &mut self.buffer[first..rest])));
            }
        }
        Ok(None)
    }

    /// The bytes of a line that was given before.
    pub(super) fn at(&self, span: Span) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; span.len];
        self.parts.read_at(&mut bytes, span.start)?;
        Ok(bytes)
    }

    /// Reads a block, or as much again as there is of a longer line (but no more than such a line may have), in front of the
    /// `rest` of the buffer.
    fn fill(&mut self, rest: usize) -> io::Result<()> {
        let kept = if rest > self.limits.line { 0 } else { rest };
        self.is_too_long |= kept < rest;
        let room = self.limits.line.saturating_add(1) - kept;
        let wanted = self.limits.block.max(kept.min(room)).max(1);
        let more = usize::try_from(self.start).map_or(wanted, |start| start.min(wanted));
        let mut buffer = vec![0; more + kept];
        let start = self.start - more as u64;
        self.parts.read_at(&mut buffer[..more], start)?;
        buffer[more..].copy_from_slice(&self.buffer[..kept]);
        (self.buffer, self.start) = (buffer, start);
        (self.rest, self.searched) = (Some(more + kept), kept);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Memory(Vec<u8>);

    impl Parts for Memory {
        fn size(&self) -> u64 {
            self.0.len() as u64
        }

        fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
            let start = usize::try_from(offset).unwrap();
            buffer.copy_from_slice(&self.0[start..start + buffer.len()]);
            Ok(())
        }
    }

    #[track_caller]
    fn check(text: &str, limit: usize) {
        let mut expected: Vec<&str> = text.split('\n').filter(|line| line.len() <= limit).collect();
        expected.reverse();
        let parts = Memory(text.into());
        for block in 0..=text.len() + 1 {
            let mut lines = Lines::new(&parts, Limits { block, line: limit });
            let (mut given, mut spans) = (Vec::new(), Vec::new());
            while let Some((span, line)) = lines.previous().unwrap() {
                given.push(String::from_utf8(line.to_vec()).unwrap());
                spans.push(span);
            }
            assert_eq!(given, expected, "blocks of {block}");
            assert!(lines.previous().unwrap().is_none());
            for (span, line) in spans.into_iter().zip(expected.iter()) {
                assert_eq!(lines.at(span).unwrap(), line.as_bytes());
            }
        }
    }

    #[test]
    fn lines_come_from_the_end_whatever_the_blocks() {
        for text in [
            "",
            "\n",
            "a",
            "a\n",
            "\na",
            "\n\n",
            "a\nbc\r\n\ndéf\n",
            "one\ntwo\nthree three three three\nfour",
        ] {
            check(text, usize::MAX);
        }
    }

    #[test]
    fn a_line_that_is_too_long_is_left_out() {
        for limit in 0..26 {
            check("one\ntwo\nthree three three three\nfour\n", limit);
            check("three three three three\nfour", limit);
            check("four\nthree three three three", limit);
        }
    }
}
