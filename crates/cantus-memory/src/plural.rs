//! The plural that a phrase has without being declared.

/// The automatic plural of a phrase: of its last word, if that is ASCII letters alone and doesn't end in `s` (§5.4).
#[must_use]
pub fn plural(phrase: &str) -> Option<String> {
    let word = phrase.rsplit(' ').next().unwrap_or_default();
    if word.is_empty() || !word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        return None;
    }
    let word = word.to_ascii_lowercase();
    let (last, before) = (word.as_bytes()[word.len() - 1], word.as_bytes().get(word.len().wrapping_sub(2)));
    let consonant = before.is_some_and(|byte| !matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u'));
    Some(match last {
        b's' => return None,
        b'y' if consonant => format!("{}ies", &phrase[..phrase.len() - 1]),
        b'x' | b'z' => format!("{phrase}es"),
        b'h' if matches!(before, Some(b'c' | b's')) => format!("{phrase}es"),
        _ => format!("{phrase}s"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_plural(phrase: &str, expected: Option<&str>) {
        assert_eq!(plural(phrase).as_deref(), expected);
    }

    #[test]
    fn plurals() {
        check_plural("Stitch", Some("Stitches"));
        check_plural("City", Some("Cities"));
        check_plural("Day", Some("Days"));
        check_plural("y", Some("ys"));
        check_plural("Axe", Some("Axes"));
        check_plural("box", Some("boxes"));
        check_plural("X Y", Some("X Ys"));
        check_plural("Éclat", None);
        check_plural("class", None);
        check_plural("C++", None);
        check_plural("big h", Some("big hs"));
    }
}
