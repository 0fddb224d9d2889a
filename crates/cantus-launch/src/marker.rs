//! The last line of what is delivered: which bundle it is, and for which invocation.

/// How many digits of the bundle's digest the marker has.
const DIGITS: usize = 12;

/// The line, without its line feed, for the bundle with this SHA-256. It stands last: in front of the bundle, it would make
/// all that follows new to a provider's prefix cache.
pub(crate) fn marker(sha256: &str, invocation: &str) -> String {
    format!("<!-- cantus bundle={} invocation={invocation} -->", sha256.get(..DIGITS).unwrap_or(sha256))
}

/// What is delivered for `bundle`: its bytes, the marker, and a line feed.
pub(crate) fn marked(bundle: &str, sha256: &str, invocation: &str) -> String {
    let gap = if bundle.is_empty() || bundle.ends_with('\n') { "" } else { "\n" };
    format!("{bundle}{gap}{}\n", marker(sha256, invocation))
}

/// `theirs`, a blank line, and what is delivered. A blank text of theirs adds nothing.
pub(crate) fn joined(theirs: &str, delivered: &str) -> String {
    let theirs = theirs.trim_end_matches(['\n', '\r']);
    if theirs.trim().is_empty() { delivered.to_owned() } else { format!("{theirs}\n\n{delivered}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "11111111-1111-4111-8111-111111111111";

    #[test]
    fn the_marker_is_the_last_line() {
        let text = marked("# T\n\n", &"0123456789abcdef".repeat(4), ID);
        assert_eq!(text, format!("# T\n\n<!-- cantus bundle=0123456789ab invocation={ID} -->\n"));
    }

    #[test]
    fn a_text_of_the_caller_stands_in_front() {
        for theirs in ["Mine.", "Mine.\n", "Mine.\r\n\n\n"] {
            assert_eq!(joined(theirs, "ours\n"), "Mine.\n\nours\n", "{theirs:?}");
        }
        assert_eq!(joined("\u{feff}a", "ours\n"), "\u{feff}a\n\nours\n");
        for theirs in ["", "\n", " \n"] {
            assert_eq!(joined(theirs, "ours\n"), "ours\n", "{theirs:?}");
        }
    }
}
