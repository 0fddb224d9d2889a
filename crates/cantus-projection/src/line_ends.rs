//! How a file ends its lines.

use std::borrow::Cow;

/// How the lines of a file end, and whether a byte order mark leads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineEnds {
    /// Line feeds alone: what we write.
    Lf,
    /// Every line ends in CRLF: what a checkout with `core.autocrlf` makes of it.
    Crlf,
    /// Some of each, or lone carriage returns.
    Mixed,
    /// A byte order mark leads the file, whatever the line ends.
    ByteOrderMark,
}

impl LineEnds {
    /// What is wrong with a file of these line ends whose text is right.
    #[must_use]
    pub fn problem(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "the text is right, but a byte order mark leads it",
            Self::Mixed => "the text is right, but its line ends are mixed",
            Self::Lf | Self::Crlf => "the text is right, but its line ends are not those of the original",
        }
    }
}

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The line ends of `bytes`, and the bytes with line feeds alone and without a mark.
pub(crate) fn normalise(bytes: &[u8]) -> (LineEnds, Cow<'_, [u8]>) {
    let unmarked = bytes.strip_prefix(MARK);
    let text = unmarked.unwrap_or(bytes);
    if memchr::memchr(b'\r', text).is_none() {
        let ends = if unmarked.is_some() { LineEnds::ByteOrderMark } else { LineEnds::Lf };
        return (ends, Cow::Borrowed(text));
    }
    let mut normal = Vec::with_capacity(text.len());
    let mut uniform = true;
    for (at, byte) in text.iter().copied().enumerate() {
        let after_return = at > 0 && text[at - 1] == b'\r';
        match byte {
            b'\n' if after_return => {}
            b'\n' => {
                uniform = false;
                normal.push(byte);
            }
            b'\r' => {
                uniform &= text.get(at + 1) == Some(&b'\n');
                normal.push(b'\n');
            }
            _ => normal.push(byte),
        }
    }
    let ends = match (unmarked.is_some(), uniform) {
        (true, _) => LineEnds::ByteOrderMark,
        (false, true) => LineEnds::Crlf,
        (false, false) => LineEnds::Mixed,
    };
    (ends, Cow::Owned(normal))
}

/// `text` with CRLF for every line feed.
pub(crate) fn crlf(text: &str) -> String {
    text.replace('\n', "\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(bytes: &[u8], ends: LineEnds, normal: &[u8]) {
        let (found, text) = normalise(bytes);
        assert_eq!((found, text.as_ref()), (ends, normal));
    }

    #[test]
    fn every_form() {
        check(b"a\nb\n", LineEnds::Lf, b"a\nb\n");
        check(b"", LineEnds::Lf, b"");
        check(b"a\r\nb\r\n", LineEnds::Crlf, b"a\nb\n");
        check(b"a\r\nb\n", LineEnds::Mixed, b"a\nb\n");
        check(b"a\rb\r\n", LineEnds::Mixed, b"a\nb\n");
        check(b"a\r\r\nb", LineEnds::Mixed, b"a\n\nb");
        check(b"\xef\xbb\xbfa\r\n", LineEnds::ByteOrderMark, b"a\n");
        check(b"\xef\xbb\xbfa\n", LineEnds::ByteOrderMark, b"a\n");
    }

    #[test]
    fn crlf_and_back() {
        assert_eq!(normalise(crlf("a\n\nb").as_bytes()).1.as_ref(), b"a\n\nb");
    }
}
