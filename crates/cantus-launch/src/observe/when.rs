//! The ends of a window as people write them: how long ago, or a time.

use std::time::{Duration, SystemTime};

use serde_json::Value;
use thiserror::Error;

use crate::time::parse;

/// A text that names no time.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("invalid --since/--until value '{text}': expected like 30m, 24h, 7d, 2w, or an ISO timestamp")]
pub struct WhenError {
    /// The text as it was given.
    pub text: String,
}

/// The time that `text` means at `now`: so many minutes, hours, days or weeks ago, such as `90m` or `1.5 D`; or a date, alone or
/// with a time to the minute or finer and an offset, UTC without one. Times before 1970 and after 9999 are none.
pub fn when(text: &str, now: SystemTime) -> Result<SystemTime, WhenError> {
    let trimmed = text.trim();
    let time = ago(trimmed).map_or_else(|| absolute(trimmed), |ago| earlier(now, ago?));
    time.ok_or_else(|| WhenError { text: text.to_owned() })
}

/// How long ago a text says, the inner `None` being too long; the outer one if it says no such thing.
fn ago(text: &str) -> Option<Option<Duration>> {
    let unit = match text.chars().next_back()?.to_ascii_lowercase() {
        'm' => 60,
        'h' => 3600,
        'd' => 86_400,
        'w' => 604_800,
        _ => return None,
    };
    let number = text[..text.len() - 1].trim_end();
    let (whole, fraction) = number.split_once('.').unwrap_or((number, "0"));
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(whole) && is_number(fraction)).then(|| duration(whole, fraction, unit))
}

/// `whole.fraction` units of so many seconds, to the nanosecond; `None` if there are none of that length.
fn duration(whole: &str, fraction: &str, unit: u64) -> Option<Duration> {
    let digits: String = fraction.chars().chain("000000000".chars()).take(9).collect();
    let nanos = u128::from(whole.parse::<u64>().ok()?) * 1_000_000_000 + digits.parse::<u128>().ok()?;
    let nanos = nanos.checked_mul(u128::from(unit))?;
    Some(Duration::new(u64::try_from(nanos / 1_000_000_000).ok()?, (nanos % 1_000_000_000) as u32))
}

fn earlier(now: SystemTime, ago: Duration) -> Option<SystemTime> {
    now.checked_sub(ago).filter(|time| *time >= SystemTime::UNIX_EPOCH)
}

/// A date, alone or with a time of RFC 3339 in which seconds and offset may be missing, and a blank stand for the `T`.
fn absolute(text: &str) -> Option<SystemTime> {
    let text = text.to_ascii_uppercase();
    let (date, rest) = text.split_at_checked(10)?;
    let time = match rest {
        "" => "00:00",
        rest => rest.strip_prefix(['T', ' '])?,
    };
    let (clock, zone) = time.find(['Z', '+', '-']).map_or((time, "Z"), |at| time.split_at(at));
    let seconds = match clock.split_at_checked(5)? {
        (_, "") => ":00",
        (_, seconds) => seconds,
    };
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_whole = fits(date, "0000-00-00")
        && fits(&clock[..5], "00:00")
        && fits(second, ":00")
        && second < ":60"
        && !fraction.is_empty()
        && fraction.bytes().all(|byte| byte.is_ascii_digit())
        && (zone == "Z" || fits(zone, "+00:00") || fits(zone, "-00:00"));
    let fraction = &fraction[..fraction.len().min(9)];
    is_whole.then(|| parse(&Value::String(format!("{date}T{}{second}.{fraction}{zone}", &clock[..5]))))?
}

/// Whether a text is like `shape`, in which a 0 stands for any digit.
fn fits(text: &str, shape: &str) -> bool {
    let is_like = |(byte, like): (u8, u8)| if like == b'0' { byte.is_ascii_digit() } else { byte == like };
    text.len() == shape.len() && text.bytes().zip(shape.bytes()).all(is_like)
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;
    use crate::time::rfc3339;

    fn now() -> SystemTime {
        parse(&Value::from("2026-11-30T12:00:00Z")).unwrap()
    }

    fn micros(time: SystemTime) -> u128 {
        time.duration_since(UNIX_EPOCH).unwrap().as_micros()
    }

    #[test]
    fn every_form_of_the_vector_means_what_it_says() {
        let vector = include_str!("../../../../tests/vectors/observed/windows/parse.json");
        let vector: Value = serde_json::from_str(vector).unwrap();
        assert_eq!(vector["now"], "2026-11-30T12:00:00+00:00");
        let cases = vector["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 45);
        for case in cases {
            let text = case["text"].as_str().unwrap();
            match (when(text, now()), case["instant"].as_str().unwrap()) {
                (Err(error), "error") => {
                    let expected = vector["message"].as_str().unwrap().replace("<text>", text);
                    assert_eq!(error.to_string(), expected);
                }
                (Ok(found), expected) => {
                    let expected = parse(&Value::from(expected)).unwrap_or_else(|| panic!("{case}"));
                    assert_eq!(micros(found), micros(expected), "{case}");
                }
                (Err(error), _) => panic!("{error}: {case}"),
            }
        }
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        assert_eq!(when(text, now()).ok().map(rfc3339).as_deref(), expected, "{text}");
    }

    #[test]
    fn times_at_the_edges() {
        check("1970-01-01", Some("1970-01-01T00:00:00.000Z"));
        check("1969-12-31T23:59:59Z", None);
        check("9999-12-31T23:59:59Z", Some("9999-12-31T23:59:59.000Z"));
        check("9999-12-31T23:59:59-00:01", None);
        check("2026-11-20T10:00:00.1234567890123456789+00:00", Some("2026-11-20T10:00:00.123Z"));
        check("2026-11-20t10:00-03:30", Some("2026-11-20T13:30:00.000Z"));
        check("2026-11-20T10:00:00.Z", None);
        check("2026-11-20T10:00:00+99:00", None);
        check("2026-11-20é", None);
        check("é", None);
        check("20000d", Some("1972-02-27T12:00:00.000Z"));
        check("30000d", None);
        check("18446744073709551615w", None);
        check("0.000000001w", Some("2026-11-30T11:59:59.999Z"));
    }
}
