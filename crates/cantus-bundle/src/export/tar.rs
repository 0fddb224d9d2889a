//! The USTAR stream: a header of constants, a path and a size a file.

use thiserror::Error;

/// The size of a header, and what everything is padded to.
const BLOCK: usize = 512;
/// The bytes of the field for a name.
const NAME: usize = 100;
/// The bytes of the field for what stands before it.
const PREFIX: usize = 155;
/// The most that eleven octal digits can say.
const MOST_BYTES: u64 = 0o77_777_777_777;

/// Why a file can't be in such an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum EntryError {
    /// Its path is not ASCII.
    #[error("its path is not ASCII, and archives of this kind have no other names")]
    NotAscii,
    /// Its path can't be split at a `/`.
    #[error("its path is too long: expected at most 155 bytes, a `/`, and at most 100")]
    TooLong,
    /// It is too large.
    #[error("it has 8 GiB or more")]
    TooLarge,
}

/// Appends a file: its header, its bytes, and zeros up to a whole block.
pub(super) fn append(stream: &mut Vec<u8>, path: &str, bytes: &[u8]) -> Result<(), EntryError> {
    stream.extend_from_slice(&header(path, bytes.len() as u64)?);
    stream.extend_from_slice(bytes);
    stream.resize(stream.len().next_multiple_of(BLOCK), 0);
    Ok(())
}

/// Appends the end: two blocks of zeros.
pub(super) fn end(stream: &mut Vec<u8>) {
    stream.resize(stream.len() + 2 * BLOCK, 0);
}

/// The header of a regular file.
pub(super) fn header(path: &str, size: u64) -> Result<[u8; BLOCK], EntryError> {
    let (prefix, name) = split(path)?;
    if size > MOST_BYTES {
        return Err(EntryError::TooLarge);
    }
    let mut header = [0; BLOCK];
    put(&mut header, 0, name);
    put(&mut header, 100, "0000644");
    put(&mut header, 108, "0000000");
    put(&mut header, 116, "0000000");
    put(&mut header, 124, &format!("{size:011o}"));
    put(&mut header, 136, "00000000000");
    // While it is summed up, the sum itself counts as blanks.
    put(&mut header, 148, "        ");
    put(&mut header, 156, "0");
    put(&mut header, 257, "ustar\0");
    put(&mut header, 263, "00");
    put(&mut header, 329, "0000000");
    put(&mut header, 337, "0000000");
    put(&mut header, 345, prefix);
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    put(&mut header, 148, &format!("{sum:06o}\0 "));
    Ok(header)
}

fn put(header: &mut [u8; BLOCK], at: usize, text: &str) {
    header[at..at + text.len()].copy_from_slice(text.as_bytes());
}

/// `path` for its two fields: whole as the name if it fits, else split at the last `/` that leaves a prefix short enough.
fn split(path: &str) -> Result<(&str, &str), EntryError> {
    if !path.is_ascii() {
        return Err(EntryError::NotAscii);
    }
    if path.len() <= NAME {
        return Ok(("", path));
    }
    let slash = path[..path.len().min(PREFIX + 1)].rfind('/').ok_or(EntryError::TooLong)?;
    let (prefix, name) = (&path[..slash], &path[slash + 1..]);
    if prefix.is_empty() || name.is_empty() || name.len() > NAME {
        return Err(EntryError::TooLong);
    }
    Ok((prefix, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_has_these_bytes() {
        let header = header("content/instructions.md", 83).unwrap();
        let mut expected = vec![0; BLOCK];
        let fields: &[(usize, &[u8])] = &[
            (0, b"content/instructions.md\0"),
            (100, b"0000644\0"),
            (108, b"0000000\0"),
            (116, b"0000000\0"),
            (124, b"00000000123\0"),
            (136, b"00000000000\0"),
            (148, b"013741\0 "),
            (156, b"0"),
            (257, b"ustar\x0000"),
            (329, b"0000000\0"),
            (337, b"0000000\0"),
        ];
        for (at, bytes) in fields {
            expected[*at..at + bytes.len()].copy_from_slice(bytes);
        }
        assert_eq!(header.as_slice(), expected);
    }

    #[track_caller]
    fn check(parts: &[usize], expected: Result<(usize, usize), EntryError>) {
        let path = parts.iter().map(|len| "x".repeat(*len)).collect::<Vec<_>>().join("/");
        assert_eq!(split(&path).map(|(prefix, name)| (prefix.len(), name.len())), expected);
    }

    #[test]
    fn long_paths_are_split_at_a_slash() {
        check(&[100], Ok((0, 100)));
        check(&[49, 50], Ok((0, 100)));
        check(&[50, 50], Ok((50, 50)));
        check(&[1, 100], Ok((1, 100)));
        check(&[155, 100], Ok((155, 100)));
        check(&[100, 54, 60, 39], Ok((155, 100)));
        check(&[101], Err(EntryError::TooLong));
        check(&[1, 101], Err(EntryError::TooLong));
        check(&[156, 10], Err(EntryError::TooLong));
        check(&[100, 100, 100], Err(EntryError::TooLong));
        assert_eq!(split("é"), Err(EntryError::NotAscii));
    }

    #[test]
    fn sizes_have_a_limit() {
        assert!(header("a", MOST_BYTES).is_ok());
        assert_eq!(header("a", MOST_BYTES + 1), Err(EntryError::TooLarge));
    }

    #[test]
    fn files_are_padded_and_the_end_is_two_blocks() {
        for (len, expected) in [(0, 3), (1, 4), (512, 4), (513, 5)] {
            let mut stream = Vec::new();
            append(&mut stream, "a", &vec![b'x'; len]).unwrap();
            end(&mut stream);
            assert_eq!(stream.len(), expected * BLOCK);
        }
    }
}
