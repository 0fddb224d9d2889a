//! Digests and estimates.

use std::fmt::{self, Write as _};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::SectionId;

/// A SHA-256, shown as 64 lowercase hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest([u8; 32]);

/// A text that isn't a [`Digest`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not 64 lowercase hex")]
pub struct ParseDigestError(String);

impl Digest {
    /// The digest of `bytes`.
    #[must_use]
    pub fn of(bytes: impl AsRef<[u8]>) -> Self {
        Self(Sha256::digest(bytes.as_ref()).into())
    }

    /// The digest of what `parts` are one behind the other.
    #[must_use]
    pub fn of_parts(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Self {
        let digest = parts.into_iter().fold(Sha256::new(), |digest, part| digest.chain_update(part));
        Self(digest.finalize().into())
    }

    /// The first 12 of its 64 digits, for people.
    #[must_use]
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(12);
        text
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// Two lowercase hex digits a byte, of 32 bytes at most.
pub(crate) fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8]) -> fmt::Result {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    // A lock has a digest a section: written char by char they would show.
    let mut text = [0; 64];
    for (digits, byte) in text.chunks_exact_mut(2).zip(bytes) {
        digits.copy_from_slice(&[HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]]);
    }
    f.write_str(std::str::from_utf8(&text[..bytes.len() * 2]).map_err(|_| fmt::Error)?)
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = ParseDigestError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse(text).map(Self).ok_or_else(|| ParseDigestError(text.to_owned()))
    }
}

fn parse(text: &str) -> Option<[u8; 32]> {
    let text: &[u8; 64] = text.as_bytes().try_into().ok()?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
    }
    Some(bytes)
}

fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

impl TryFrom<String> for Digest {
    type Error = ParseDigestError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.to_string()
    }
}

/// The estimate of a section's tokens: its code points divided by four, rounded up (§0.4 of the peer's description).
#[must_use]
pub fn tokens_est(text: &str) -> u64 {
    (text.chars().count() as u64).div_ceil(4)
}

/// The digest that two bundles share when they differ in provider sections alone (§8.7): SHA-256 of the compact
/// JSON array of `[id, sha256]` pairs, over the included sections that belong to no provider, in bundle order.
pub fn common_digest<'a>(sections: impl IntoIterator<Item = (&'a SectionId, Digest)>) -> Digest {
    let mut json = String::from("[");
    for (id, digest) in sections {
        if json.len() > 1 {
            json.push(',');
        }
        // An id has only `[A-Za-z0-9_.-]`, a digest only hex: nothing to escape.
        let _ = write!(json, "[\"{id}\",\"{digest}\"]");
    }
    json.push(']');
    Digest::of(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_round_trips_through_its_text() {
        let digest = Digest::of("abc");
        assert_eq!(digest.to_string(), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        assert_eq!(digest.short(), "ba7816bf8f01");
    }

    #[test]
    fn a_digest_knows_no_seams() {
        assert_eq!(Digest::of_parts(["a", "", "bc"]), Digest::of("abc"));
        assert_eq!(Digest::of_parts([""; 0]), Digest::of(""));
    }

    #[test]
    fn other_spellings_of_a_digest_are_refused() {
        for text in ["", "ba78", &"A".repeat(64), &"g".repeat(64), &"a".repeat(65)] {
            assert!(text.parse::<Digest>().is_err(), "{text}");
        }
    }

    #[test]
    fn tokens_are_quarters_of_code_points_rounded_up() {
        assert_eq!(tokens_est(""), 0);
        assert_eq!(tokens_est("abcd"), 1);
        assert_eq!(tokens_est("日本語の五"), 2);
    }

    #[test]
    fn no_sections_have_the_digest_of_an_empty_array() {
        let digest = common_digest([]);
        assert_eq!(digest.to_string(), "4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945");
    }

    #[test]
    fn pairs_are_hashed_as_compact_json() {
        let (a, b) = (SectionId::new("frame.title").unwrap(), SectionId::new("proj.core.a").unwrap());
        let (x, y) = (Digest::of("x"), Digest::of("y"));
        let json = format!("[[\"frame.title\",\"{x}\"],[\"proj.core.a\",\"{y}\"]]");
        assert_eq!(common_digest([(&a, x), (&b, y)]), Digest::of(json));
    }
}
