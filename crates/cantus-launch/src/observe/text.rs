//! What is looked for in texts: headings, titles, markers, and sections without regard to their white space.

use std::ops::Range;

/// A marker in a text: which bundle was delivered there, and for which invocation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Marker<'a> {
    /// Twelve lower-case hex of the bundle's digest.
    pub(crate) bundle: &'a str,
    /// The invocation's id.
    pub(crate) invocation: &'a str,
    /// Its bytes in the text.
    pub(crate) range: Range<usize>,
}

/// How often `heading` stands in `text` as a heading of any level, numbered or not.
pub(crate) fn headings(text: &str, heading: &str) -> u64 {
    text.split('\n').filter(|line| heading_of(line).is_some_and(|rest| is_named(rest, heading))).count()
        as u64
}

/// What follows the `#` of a heading and the blanks behind them.
pub(crate) fn heading_of(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('#');
    let level = line.len() - rest.len();
    let named = rest.trim_start_matches([' ', '\t']);
    ((1..=6).contains(&level) && named.len() < rest.len()).then_some(named)
}

fn is_named(rest: &str, heading: &str) -> bool {
    let is_it =
        |rest: &str| rest.strip_prefix(heading).is_some_and(|end| end.trim_matches([' ', '\t']).is_empty());
    is_it(rest) || unnumbered(rest).is_some_and(is_it)
}

/// What follows a number such as `1.1.2` and the blanks behind it.
pub(crate) fn unnumbered(rest: &str) -> Option<&str> {
    let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
    let (number, named) = rest.split_at(end);
    let is_number = number.split('.').all(|part| !part.is_empty());
    let trimmed = named.trim_start_matches([' ', '\t']);
    (is_number && trimmed.len() < named.len()).then_some(trimmed)
}

/// The first heading of level 1, without its `#`.
pub(crate) fn first_title(text: &str) -> Option<&str> {
    text.split('\n').find_map(|line| line.trim().strip_prefix("# ")).map(str::trim)
}

/// Whether a line of `text` is the title, as a heading or behind `Home:`.
pub(crate) fn has_title(text: &str, title: &str) -> bool {
    let is_title = |line: &str| {
        let named = line.strip_prefix("# ").or_else(|| line.strip_prefix("Home: "));
        named.is_some_and(|named| named == title)
    };
    text.split('\n').any(|line| is_title(line.trim()))
}

/// `text` with each run of white space as one blank, and none at its ends.
pub(crate) fn flat(text: &str) -> String {
    let mut flat = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if !flat.is_empty() {
            flat.push(' ');
        }
        flat.push_str(word);
    }
    flat
}

/// How often `needle` stands in `text`; both are flat already.
pub(crate) fn occurrences(text: &str, needle: &str) -> u64 {
    if needle.is_empty() {
        return 0;
    }
    memchr::memmem::find_iter(text.as_bytes(), needle).count() as u64
}

/// Every marker in `text`, in its order.
pub(crate) fn markers(text: &str) -> Vec<Marker<'_>> {
    let starts = memchr::memmem::find_iter(text.as_bytes(), "<!--");
    starts.filter_map(|start| marker_at(text, start)).collect()
}

fn marker_at(text: &str, start: usize) -> Option<Marker<'_>> {
    let rest = text.get(start + "<!--".len()..)?.trim_start();
    let rest = rest.strip_prefix("cantus").or_else(|| rest.strip_prefix("sase-instructions"))?;
    let rest = blanks(rest)?.strip_prefix("bundle=")?;
    let (bundle, rest) = rest.split_at_checked(12)?;
    if !bundle.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')) {
        return None;
    }
    let rest = blanks(rest)?.strip_prefix("invocation=")?;
    let end = rest.find(|c: char| c.is_whitespace() || c == '>')?;
    let (invocation, rest) = match rest[..end].strip_suffix("--") {
        Some(invocation) if rest[end..].starts_with('>') => (invocation, &rest[end + 1..]),
        _ => (&rest[..end], rest[end..].trim_start().strip_prefix("-->")?),
    };
    let range = start..text.len() - rest.len();
    (!invocation.is_empty()).then_some(Marker { bundle, invocation, range })
}

/// What follows one blank or more.
fn blanks(text: &str) -> Option<&str> {
    let rest = text.trim_start();
    (rest.len() < text.len()).then_some(rest)
}

/// Whether a command line calls one of the verbs that make a final declaration.
pub(crate) fn is_attempt(command: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let verb = |rest: &str| {
        ["context", "defer", "prepare", "submit"]
            .iter()
            .filter_map(|verb| rest.strip_prefix(verb))
            .any(|rest| !rest.starts_with(is_word))
    };
    command.match_indices("sase").any(|(at, word)| {
        let rest = blanks(&command[at + word.len()..]).and_then(|rest| rest.strip_prefix("final"));
        !command[..at].ends_with(is_word) && rest.and_then(blanks).is_some_and(verb)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_markers(text: &str, expected: &[(&str, &str)]) {
        let found = markers(text);
        let pairs: Vec<_> = found.iter().map(|marker| (marker.bundle, marker.invocation)).collect();
        assert_eq!(pairs, expected, "{text}");
        for marker in found {
            let whole = &text[marker.range];
            assert!(whole.starts_with("<!--") && whole.ends_with("-->"), "{whole}");
        }
    }

    #[test]
    fn markers_in_their_forms() {
        check_markers("a\n<!-- cantus bundle=0123456789ab invocation=x-1 -->\n", &[("0123456789ab", "x-1")]);
        check_markers("<!--cantus bundle=0123456789ab invocation=x-1-->", &[("0123456789ab", "x-1")]);
        check_markers(
            "<!--\tsase-instructions\n bundle=0123456789ab  invocation=x-->y",
            &[("0123456789ab", "x")],
        );
        let twice = "<!-- <!-- cantus bundle=0123456789ab invocation=a --> <!-- cantus bundle=0123456789ab invocation=b -->";
        check_markers(twice, &[("0123456789ab", "a"), ("0123456789ab", "b")]);
    }

    #[test]
    fn what_is_no_marker() {
        for text in [
            "<!-- cantus bundle=0123456789AB invocation=x -->",
            "<!-- cantus bundle=0123456789a invocation=x -->",
            "<!-- cantus bundle=0123456789abc invocation=x -->",
            "<!-- cantus bundle=0123456789ab invocation= -->",
            "<!-- cantus bundle=0123456789ab invocation=--> ",
            "<!-- cantus bundle=0123456789ab invocation=x",
            "<!-- cantus bundle=0123456789ab invocation=x y -->",
            "<!-- cantusbundle=0123456789ab invocation=x -->",
            "<!-- other bundle=0123456789ab invocation=x -->",
            "<!-- cantus bundle=01234567é invocation=x -->",
            "<!--",
        ] {
            check_markers(text, &[]);
        }
    }

    #[test]
    fn headings_of_a_contract() {
        for (text, expected) in [
            ("# A B", 1),
            ("###### 1.2.3 \t A B \t", 1),
            ("x\n## A B\n### 1 A B", 2),
            ("####### A B", 0),
            ("#A B", 0),
            (" # A B", 0),
            ("> # A B", 0),
            ("# A B\r", 0),
            ("# 1. A B", 0),
            ("# .1 A B", 0),
            ("# 1.A B", 0),
            ("# A B C", 0),
            ("```\n# A B\n```", 1),
        ] {
            assert_eq!(headings(text, "A B"), expected, "{text}");
        }
        assert_eq!(headings("# 1 2 A", "2 A"), 1);
    }

    #[test]
    fn titles() {
        assert_eq!(first_title("x\n ## no\n  #  T \n# U"), Some("T"));
        assert_eq!(first_title("#x\n##"), None);
        assert!(has_title("a\n  Home: T \n", "T") && has_title("# T\r\n", "T"));
        assert!(!has_title("## T\nhome: T\nT", "T"));
    }

    #[test]
    fn attempts() {
        for command in ["sase final submit", "cd x && sase  final\tprepare;", "(sase final defer)"] {
            assert!(is_attempt(command), "{command}");
        }
        for command in
            ["sase finally submit", "xsase final submit", "sase final submits", "sase final", "final submit"]
        {
            assert!(!is_attempt(command), "{command}");
        }
    }

    #[test]
    fn white_space_does_not_count() {
        assert_eq!(flat(" a\r\n\tb  c "), "a b c");
        assert_eq!(occurrences("aa aa aa", "aa"), 3);
        assert_eq!(occurrences("aaa", "aa"), 1);
        assert_eq!(occurrences("a", ""), 0);
    }
}
