//! What names the bytes of a source.

use std::fmt;

use sha1::Sha1;
use sha2::Digest as _;

use crate::Digest;
use crate::digest::write_hex;

/// The name that git gives to a file's bytes: SHA-1 of `blob`, a blank, the length, a NUL and the bytes; shown as 40
/// lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 20]);

impl BlobId {
    /// The name of `bytes`.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        let mut hash = Sha1::new();
        hash.update(format!("blob {}\0", bytes.len()));
        hash.update(bytes);
        Self(hash.finalize().into())
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

/// Both names of a file's raw bytes, taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    sha256: Digest,
    blob: BlobId,
}

impl Stamp {
    /// The stamp of a file that holds `bytes`, as they lie on disk: before any decoding.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        let bytes = bytes.as_ref();
        Self { sha256: Digest::of(bytes), blob: BlobId::of(bytes) }
    }

    /// The SHA-256 of the bytes.
    #[must_use]
    pub fn sha256(&self) -> Digest {
        self.sha256
    }

    /// What git calls a blob of these bytes.
    #[must_use]
    pub fn blob(&self) -> BlobId {
        self.blob
    }
}

/// Whether each source is hashed as it is read: a manifest names the hashes, a committed file doesn't need them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stamps {
    /// Not.
    #[default]
    Skip,
    /// Each.
    Take,
}

impl Stamps {
    /// The stamp of `bytes`, where stamps are taken.
    #[must_use]
    pub fn of(self, bytes: impl AsRef<[u8]>) -> Option<Stamp> {
        (self == Self::Take).then(|| Stamp::of(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_have_the_names_that_git_gives_them() {
        assert_eq!(BlobId::of("").to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(BlobId::of("hello\n").to_string(), "ce013625030ba8dba906f756967f9e9ca394464a");
    }

    #[test]
    fn a_stamp_is_of_the_raw_bytes() {
        let stamp = Stamp::of(b"a\r\n\xff");
        assert_eq!(stamp.sha256(), Digest::of(b"a\r\n\xff"));
        assert_eq!(stamp.blob(), BlobId::of(b"a\r\n\xff"));
        assert_ne!(stamp, Stamp::of(b"a\n\xff"));
    }

    #[test]
    fn stamps_are_taken_where_asked() {
        assert_eq!(Stamps::Skip.of("a"), None);
        assert_eq!(Stamps::Take.of("a"), Some(Stamp::of("a")));
    }
}
