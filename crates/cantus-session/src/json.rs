//! JSON that others wrote: a few fields of a value, the rest only known to be valid.
//!
//! As whoever writes such files reads them: the last of equal keys counts, a value that nobody asks for may be as deep and a
//! number as large as it likes, bytes that aren't UTF-8 and lone surrogates read as U+FFFD.

use std::borrow::Cow;
use std::fmt;

use memchr::{memchr, memmem};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// The text of `bytes`, in which no escape is half a pair of surrogates any more: such a one becomes that of U+FFFD, and
/// nothing else changes.
pub(crate) fn readable(bytes: &mut [u8]) -> Cow<'_, str> {
    if memmem::find(bytes, b"\\u").is_some() {
        mend(bytes);
    }
    // Which is several times as fast as the other.
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A backslash stands only in strings and in front of what it escapes, or the text is no JSON anyway.
fn mend(bytes: &mut [u8]) {
    let mut at = 0;
    while let Some(found) = bytes.get(at..).and_then(|rest| memchr(b'\\', rest)) {
        at += found;
        at += match unit(bytes, at) {
            Some(0xD800..=0xDBFF) if matches!(unit(bytes, at + 6), Some(0xDC00..=0xDFFF)) => 12,
            Some(0xD800..=0xDFFF) => {
                bytes[at + 2..at + 6].copy_from_slice(b"FFFD");
                6
            }
            _ => 2,
        };
    }
}

/// The UTF-16 unit that is escaped at `at`.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let value = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | u16::try_from(value).ok()?)
    })
}

/// The values at `names` in the object `json`; `None` if it is no object or no JSON.
pub(crate) fn fields<'a, const N: usize>(
    json: &'a str,
    names: [&str; N],
) -> Option<[Option<&'a RawValue>; N]> {
    let mut reader = serde_json::Deserializer::from_str(json);
    let fields = (&mut reader).deserialize_map(Fields(names)).ok()?;
    reader.end().ok().map(|()| fields)
}

/// The elements of the array `json`; `None` if it is no array.
pub(crate) fn elements(json: Option<&RawValue>) -> Option<Vec<&RawValue>> {
    serde_json::from_str(json?.get()).ok()
}

/// The string `json`; `None` if it is no string.
pub(crate) fn text(json: Option<&RawValue>) -> Option<Cow<'_, str>> {
    let json = json?.get();
    let inner = json.strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(Cow::Borrowed(inner));
    }
    serde_json::from_str(json).ok().map(Cow::Owned)
}

/// The count `json`; `None` if it is no number. One that counts nothing, being negative, a fraction, too large, or written
/// with an exponent and too large to be held exactly, is [`u64::MAX`].
pub(crate) fn count(json: Option<&RawValue>) -> Option<u64> {
    /// Up to here a double holds each integer.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let json = json?.get();
    if !json.starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
        return None;
    }
    if let Ok(count) = json.parse() {
        return Some(count);
    }
    let number: f64 = json.parse().ok()?;
    if !(0.0..=EXACT).contains(&number) || number.fract() != 0.0 {
        return Some(u64::MAX);
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an integer of that range")]
    Some(number as u64)
}

/// The boolean `json`; `None` if it is none.
pub(crate) fn boolean(json: Option<&RawValue>) -> Option<bool> {
    json?.get().parse().ok()
}

struct Fields<'n, const N: usize>([&'n str; N]);

impl<'de, const N: usize> Visitor<'de> for Fields<'_, N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut values = [None; N];
        while let Some(place) = map.next_key_seed(Name(&self.0))? {
            match place {
                Some(place) => values[place] = Some(map.next_value()?),
                None => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(values)
    }
}

/// Reads a key as its place among the names.
struct Name<'n>(&'n [&'n str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|name| *name == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_readable(bytes: &[u8], expected: &str) {
        assert_eq!(readable(&mut bytes.to_vec()), expected);
    }

    #[test]
    fn half_a_pair_of_surrogates_is_replaced() {
        check_readable(br#""\ud800""#, r#""\uFFFD""#);
        check_readable(br#""a\uDFFFb""#, r#""a\uFFFDb""#);
        check_readable(br#""\udc00\ud800""#, r#""\uFFFD\uFFFD""#);
        check_readable(br#""\ud83d\ud83d\ude00""#, r#""\uFFFD\ud83d\ude00""#);
        check_readable(br#""\ud83dx\ude00""#, r#""\uFFFDx\uFFFD""#);
        check_readable(br#"{"\ud800":1}"#, r#"{"\uFFFD":1}"#);
        check_readable(br#""\ud83d\u0041""#, r#""\uFFFD\u0041""#);
    }

    #[test]
    fn what_only_looks_like_one_stays() {
        for text in [
            r#""\ud83d\ude00""#,
            r#""\uD83D\uDE00""#,
            r#""\\ud800""#,
            r#""\\\\ud800""#,
            r#""\u00e9 \n \" \\""#,
            r#""\ud7ff\ue000""#,
            r#""\ud8"#,
            r#""\ud8zz""#,
            r#""\u+800""#,
            r"\u",
            r"\",
            "",
        ] {
            check_readable(text.as_bytes(), text);
        }
        check_readable(br#""\\\ud800""#, r#""\\\uFFFD""#);
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_replaced() {
        check_readable(b"\"a\xFFb\xC3\"", "\"a\u{FFFD}b\u{FFFD}\"");
    }

    #[test]
    fn a_field_is_the_last_of_its_name() {
        let [a, b] = fields(r#" {"b":[1, {"a":2}],"a":1,"c":{"a":9},"\u0061": "x" } "#, ["a", "b"]).unwrap();
        assert_eq!((a.unwrap().get(), b.unwrap().get()), (r#""x""#, r#"[1, {"a":2}]"#));
        for json in ["", "{", "{}x", "[]", "1", "null", r#"{"a":01}"#, r#"{"a":"#, "{} {}", r#"{"z":"\x"}"#] {
            assert!(fields(json, ["a"]).is_none(), "{json}");
        }
    }

    #[test]
    fn what_nobody_asks_for_may_be_deep_and_large() {
        let deep = format!(
            r#"{{"z":{}{},"y":1e999,"a":[{}{}]}}"#,
            "[".repeat(5_000),
            "]".repeat(5_000),
            "[".repeat(900),
            "]".repeat(900)
        );
        assert!(fields(&deep, ["a"]).unwrap()[0].is_some());
    }

    #[track_caller]
    fn check_count(json: &str, expected: Option<u64>) {
        let object = format!(r#"{{"n":{json}}}"#);
        assert_eq!(count(fields(&object, ["n"]).unwrap()[0]), expected, "{json}");
    }

    #[test]
    fn a_count_is_any_number() {
        check_count("0", Some(0));
        check_count("12", Some(12));
        check_count("12.0", Some(12));
        check_count("1.2e4", Some(12_000));
        check_count("-0", Some(0));
        check_count("9007199254740992", Some(1 << 53));
        check_count("9007199254740993", Some((1 << 53) + 1));
        check_count("18446744073709551614", Some(u64::MAX - 1));
        for other in ["-1", "0.5", "1e300", "1e999", "-1e999", "18446744073709551615", "18446744073709551616"]
        {
            check_count(other, Some(u64::MAX));
        }
        for none in ["\"1\"", "null", "true", "[]", "{}", "\"inf\""] {
            check_count(none, None);
        }
    }
}
