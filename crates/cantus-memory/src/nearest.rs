//! The nearest known name, for errors.

use std::borrow::Cow;

/// The one of `known` that `name` was most likely meant to be; `None` if nothing is close.
#[must_use]
pub fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let lower = name.to_ascii_lowercase();
    let length = lower.chars().count();
    let most = |candidate: &str| (candidate.len() / 3).max(1);
    known
        .iter()
        // Names of another length are that far away at least, and comparing a huge one costs seconds.
        .filter(|candidate| length.abs_diff(candidate.chars().count()) <= most(candidate))
        .map(|candidate| (strsim::damerau_levenshtein(&lower, candidate), *candidate))
        .filter(|(distance, candidate)| *distance <= most(candidate))
        .min()
        .map(|(_, candidate)| candidate)
}

/// The most characters of an unknown name that an error repeats.
const MOST_SHOWN: usize = 60;

/// `name` as an error shows it: a long one ends in `…`.
#[must_use]
pub fn shortened(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &name[..end]).into(),
        None => name.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_are_shortened() {
        assert_eq!(shortened(&"é".repeat(60)), "é".repeat(60));
        assert_eq!(shortened(&"é".repeat(61)), format!("{}…", "é".repeat(60)));
    }

    #[test]
    fn typing_errors_are_close_and_other_words_are_not() {
        let known = ["type", "parent", "description", "priority"];
        assert_eq!(nearest("typ", &known), Some("type"));
        assert_eq!(nearest("Type", &known), Some("type"));
        assert_eq!(nearest("desciption", &known), Some("description"));
        assert_eq!(nearest("colour", &known), None);
    }
}
