//! Flags with a value among arguments that a caller wrote.

use std::ffi::{OsStr, OsString};

/// How a flag with a value is spelled.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Flag {
    /// `--flag value` or `--flag=value`; with its two dashes.
    Long(&'static str),
    /// `-f value`, `-fvalue` or `-f=value`; with its dash.
    Short(&'static str),
}

/// What an argument is to a flag.
enum Part {
    /// Something else.
    Other,
    /// The flag; its value is the next argument.
    Flag,
    /// The flag with its value.
    Whole(OsString),
}

impl Flag {
    fn part(self, arg: &OsStr) -> Part {
        let (Self::Long(name) | Self::Short(name)) = self;
        let Some(rest) = after(arg, name) else { return Part::Other };
        if rest.is_empty() {
            return Part::Flag;
        }
        match (self, after(&rest, "=")) {
            (_, Some(value)) => Part::Whole(value),
            (Self::Long(_), None) => Part::Other,
            (Self::Short(_), None) => Part::Whole(rest),
        }
    }
}

/// Takes every occurrence of one of `flags` out of `args` whose value is `wanted`, and gives the values in their order. What
/// stands behind `--` is no flag.
pub(crate) fn take_if(
    args: &mut Vec<OsString>,
    flags: &[Flag],
    wanted: impl Fn(&OsStr) -> bool,
) -> Vec<OsString> {
    let (mut kept, mut values) = (Vec::with_capacity(args.len()), Vec::new());
    let mut rest = std::mem::take(args).into_iter();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            kept.push(arg);
            break;
        }
        let parts = flags.iter().map(|flag| flag.part(&arg));
        match parts.into_iter().find(|part| !matches!(part, Part::Other)) {
            Some(Part::Whole(value)) if wanted(&value) => values.push(value),
            Some(Part::Flag) => match rest.next() {
                Some(value) if wanted(&value) => values.push(value),
                value => kept.extend([Some(arg), value].into_iter().flatten()),
            },
            _ => kept.push(arg),
        }
    }
    kept.extend(rest);
    *args = kept;
    values
}

/// The same, whatever the value.
pub(crate) fn take(args: &mut Vec<OsString>, flags: &[Flag]) -> Vec<OsString> {
    take_if(args, flags, |_| true)
}

/// Whether `args` have one of `flags`.
pub(crate) fn has(args: &[OsString], flags: &[Flag]) -> bool {
    !take(&mut args.to_vec(), flags).is_empty()
}

/// `arg` without `prefix`, if it starts with it.
#[cfg(unix)]
fn after(arg: &OsStr, prefix: &str) -> Option<OsString> {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    arg.as_bytes().strip_prefix(prefix.as_bytes()).map(|rest| OsString::from_vec(rest.to_vec()))
}

/// `arg` without `prefix`, if it starts with it and is Unicode.
#[cfg(not(unix))]
fn after(arg: &OsStr, prefix: &str) -> Option<OsString> {
    arg.to_str()?.strip_prefix(prefix).map(OsString::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLAGS: &[Flag] = &[Flag::Long("--rules"), Flag::Short("-c")];

    #[track_caller]
    fn check(args: &[&str], values: &[&str], kept: &[&str]) {
        let mut args: Vec<OsString> = args.iter().map(OsString::from).collect();
        assert_eq!((take(&mut args, FLAGS), args), (os(values), os(kept)));
    }

    fn os(args: &[&str]) -> Vec<OsString> {
        args.iter().map(OsString::from).collect()
    }

    #[test]
    fn every_spelling_is_taken() {
        check(&["--rules", "a", "x"], &["a"], &["x"]);
        check(&["x", "--rules=a"], &["a"], &["x"]);
        check(&["--rules="], &[""], &[]);
        check(&["-c", "a=1", "-cb=2", "-c=c=3"], &["a=1", "b=2", "c=3"], &[]);
        check(&["--rules", "--rules", "--rules", "b"], &["--rules", "b"], &[]);
    }

    #[test]
    fn other_arguments_stay() {
        check(
            &["--rulesets", "a", "--rule", "-x", "rules", ""],
            &[],
            &["--rulesets", "a", "--rule", "-x", "rules", ""],
        );
        check(&["x", "--", "--rules", "a"], &[], &["x", "--", "--rules", "a"]);
        check(&["x", "--rules"], &[], &["x", "--rules"]);
    }

    #[test]
    fn unwanted_values_stay_with_their_flag() {
        let mut args = os(&["-c", "a=1", "-cb=2", "--rules=b=3", "p"]);
        let values =
            take_if(&mut args, FLAGS, |value| value.to_str().is_some_and(|value| value.starts_with('b')));
        assert_eq!((values, args), (os(&["b=2", "b=3"]), os(&["-c", "a=1", "p"])));
    }

    #[cfg(unix)]
    #[test]
    fn arguments_need_not_be_unicode() {
        use std::os::unix::ffi::OsStringExt;

        let mut args =
            vec![OsString::from_vec(b"--rules=\xff".to_vec()), OsString::from_vec(b"\xfe".to_vec())];
        assert_eq!(take(&mut args, FLAGS), [OsString::from_vec(b"\xff".to_vec())]);
        assert_eq!(args, [OsString::from_vec(b"\xfe".to_vec())]);
    }
}
