//! The clock, for what a manifest says of its render: nothing else that is printed knows the time.

use std::ffi::OsStr;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::failure::Failure;

/// The variable that takes the clock's place: seconds since 1970, as reproducible builds set it.
const EPOCH: &str = "SOURCE_DATE_EPOCH";

/// The last second of the year 9999: RFC 3339 has four digits for the year.
const LAST: u64 = 253_402_300_799;

/// A render's beginning.
#[derive(Debug)]
pub(crate) struct Clock {
    at: SystemTime,
    /// `None` where the time was given: nothing of the manifest may then tell one run from another.
    start: Option<Instant>,
}

impl Clock {
    /// Starts at `start`: at the time that `SOURCE_DATE_EPOCH` gives, else now.
    pub(crate) fn start(start: Instant) -> Result<Self, Failure> {
        match std::env::var_os(EPOCH).filter(|given| !given.is_empty()) {
            Some(given) => Ok(Self { at: parse(&given)?, start: None }),
            None => Ok(Self { at: SystemTime::now(), start: Some(start) }),
        }
    }

    /// Whether the time was given, so that one run is like another.
    #[cfg(feature = "launch")]
    pub(crate) fn is_given(&self) -> bool {
        self.start.is_none()
    }

    /// The beginning.
    #[cfg(feature = "observe")]
    pub(crate) fn at(&self) -> SystemTime {
        self.at
    }

    /// The beginning in UTC, such as `2026-11-30T08:00:00Z`.
    pub(crate) fn rendered_at(&self) -> String {
        let seconds = self.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let at = UNIX_EPOCH + Duration::from_secs(seconds.min(LAST));
        humantime::format_rfc3339_seconds(at).to_string()
    }

    /// The milliseconds since then; 0 where the time was given.
    pub(crate) fn render_ms(&self) -> f64 {
        self.start.map_or(0.0, |start| start.elapsed().as_secs_f64() * 1e3)
    }
}

fn parse(given: &OsStr) -> Result<SystemTime, Failure> {
    let digits = given.to_str().filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    match digits.and_then(|digits| digits.parse().ok()).filter(|seconds| *seconds <= LAST) {
        Some(seconds) => Ok(UNIX_EPOCH + Duration::from_secs(seconds)),
        None => Err(Failure::error(format!(
            "`{EPOCH}` is `{}`: expected seconds since 1970, from 0 to {LAST}",
            given.display()
        ))
        .hint(format!("unset `{EPOCH}`, or set it to the time that the manifest shall have"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(given: &str, expected: Option<&str>) {
        let clock = parse(OsStr::new(given)).ok().map(|at| Clock { at, start: None });
        assert_eq!(clock.as_ref().map(Clock::rendered_at).as_deref(), expected);
        assert!(clock.is_none_or(|clock| clock.render_ms() == 0.0));
    }

    #[test]
    fn times_are_utc_with_seconds() {
        check("0", Some("1970-01-01T00:00:00Z"));
        check("1796025600", Some("2026-11-30T08:00:00Z"));
        check("951782400", Some("2000-02-29T00:00:00Z"));
        check("253402300799", Some("9999-12-31T23:59:59Z"));
    }

    #[test]
    fn other_texts_are_refused() {
        for given in ["-1", "+1", "1.5", "now", " 1", "253402300800", "99999999999999999999999"] {
            check(given, None);
        }
    }

    #[test]
    fn a_clock_outside_of_these_years_is_no_panic() {
        let at = |at| Clock { at, start: None }.rendered_at();
        assert_eq!(at(UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
        assert_eq!(at(UNIX_EPOCH + Duration::from_secs(LAST + 1)), "9999-12-31T23:59:59Z");
    }
}
