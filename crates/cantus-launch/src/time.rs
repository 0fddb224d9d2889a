//! Times as texts: RFC 3339 in UTC out, and what others write in.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// The last second of the year 9999: RFC 3339 has four digits for the year.
const LAST: u64 = 253_402_300_799;

/// `time` in UTC to the millisecond, such as `2026-11-30T08:00:00.250Z`. Times that have no such text become the nearest that
/// has one.
#[must_use]
pub fn rfc3339(time: SystemTime) -> String {
    humantime::format_rfc3339_millis(within(time)).to_string()
}

/// `time` in UTC with its digits alone, as names of files have it: `20261130T080000250`.
pub(crate) fn compact(time: SystemTime) -> String {
    rfc3339(time).chars().filter(|c| c.is_ascii_digit() || *c == 'T').collect()
}

/// `time` without what its text doesn't show.
pub(crate) fn to_millis(time: SystemTime) -> SystemTime {
    let since = within(time).duration_since(UNIX_EPOCH).unwrap_or_default();
    UNIX_EPOCH + Duration::from_millis(u64::try_from(since.as_millis()).unwrap_or_default())
}

fn within(time: SystemTime) -> SystemTime {
    let last = Duration::from_secs(LAST);
    UNIX_EPOCH + time.duration_since(UNIX_EPOCH).unwrap_or_default().min(last)
}

/// The time that a text or a number of seconds since 1970 means; `None` if it means none. A text is a date and a time to the
/// minute or finer, `T` or a blank between them, then `Z`, an offset such as `+02:00`, or nothing for UTC.
pub(crate) fn parse(value: &Value) -> Option<SystemTime> {
    match value {
        Value::String(text) => parse_text(text),
        Value::Number(seconds) => {
            let since = Duration::try_from_secs_f64(seconds.as_f64()?).ok()?;
            UNIX_EPOCH.checked_add(since).filter(|time| within(*time) == *time)
        }
        _ => None,
    }
}

fn parse_text(text: &str) -> Option<SystemTime> {
    let (base, offset) = match text.get(16..)?.find(['+', '-']) {
        Some(at) => (&text[..16 + at], offset(&text[16 + at..])?),
        None => (text, 0),
    };
    let (minutes, rest) = base.split_at_checked(16)?;
    let seconds = if rest.starts_with(':') { "" } else { ":00" };
    let base = format!("{minutes}{seconds}{}", rest.replacen(',', ".", 1));
    let time = humantime::parse_rfc3339_weak(&base).ok()?;
    let minutes = Duration::from_secs(u64::from(offset.unsigned_abs()) * 60);
    let moved = if offset < 0 { time.checked_add(minutes) } else { time.checked_sub(minutes) };
    moved.filter(|time| within(*time) == *time)
}

/// The minutes of `+02:00`, `-0330` or `+02`.
fn offset(text: &str) -> Option<i32> {
    let mut digits: String = text.get(1..)?.chars().filter(|c| *c != ':').collect();
    if digits.len() == 2 {
        digits.push_str("00");
    }
    if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (hours, minutes): (i32, i32) = (digits[..2].parse().ok()?, digits[2..].parse().ok()?);
    let sum = hours * 60 + minutes;
    (hours < 24 && minutes < 60).then_some(if text.starts_with('-') { -sum } else { sum })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: &Value, expected: Option<&str>) {
        assert_eq!(parse(value).map(rfc3339).as_deref(), expected, "{value}");
    }

    #[test]
    fn times_in_many_spellings() {
        check(&json!("2026-11-20T10:00:00Z"), Some("2026-11-20T10:00:00.000Z"));
        check(&json!("2026-11-20T10:00:00"), Some("2026-11-20T10:00:00.000Z"));
        check(&json!("2026-11-20 10:00:00.250"), Some("2026-11-20T10:00:00.250Z"));
        check(&json!("2026-11-20T10:00:00.123456+02:00"), Some("2026-11-20T08:00:00.123Z"));
        check(&json!("2026-11-20T10:00:00-0330"), Some("2026-11-20T13:30:00.000Z"));
        check(&json!(1_796_025_600), Some("2026-11-30T08:00:00.000Z"));
        check(&json!("2026-11-20T10:00Z"), Some("2026-11-20T10:00:00.000Z"));
        check(&json!("2026-11-20 10:00+02"), Some("2026-11-20T08:00:00.000Z"));
        check(&json!("2026-11-20T10:00:00,5-03:30"), Some("2026-11-20T13:30:00.500Z"));
        check(&json!(0.5), Some("1970-01-01T00:00:00.500Z"));
    }

    #[test]
    fn other_values_are_no_time() {
        for value in [json!(null), json!(-1), json!(1e300), json!([]), json!(""), json!("now")] {
            check(&value, None);
        }
        for text in [
            "2026-11-20",
            "2026-11-20T10",
            "2026-11-20T10:00:",
            "2026-11-20T10:0é",
            "2026-11-20T10:00:00+2",
            "2026-11-20T10:00:00+99:00",
            "9999-99-99T99:99:99Z",
        ] {
            check(&json!(text), None);
        }
        check(&json!("2026-11-20T10:00:0é+02:00"), None);
        check(&json!("1970-01-01T00:00:00+01:00"), None);
    }

    #[test]
    fn a_time_without_a_text_becomes_the_nearest() {
        assert_eq!(rfc3339(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00.000Z");
        let late = UNIX_EPOCH + Duration::from_secs(LAST + 9);
        assert_eq!(rfc3339(late), "9999-12-31T23:59:59.000Z");
        assert_eq!(compact(late), "99991231T235959000");
    }
}
