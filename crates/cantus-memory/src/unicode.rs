//! White space, cell widths, case and slugs, by Unicode 15.1 whatever the compiler's own tables say.
//!
//! Output and identities depend on these, so a newer toolchain must not move them: apart from ASCII nothing here
//! asks `std` about a character. Section numbers are those of the peer's description.

#[rustfmt::skip]
mod tables;

use std::cmp::Ordering;

use tables::{Full, Range, Run};

/// Whether `c` is white space (WS of §0.2). U+200B and U+FEFF are not; the separators U+001C to U+001F are.
#[must_use]
pub fn is_space(c: char) -> bool {
    matches!(c,
        '\u{9}'..='\u{d}' | '\u{1c}'..='\u{20}' | '\u{85}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}'
        | '\u{2028}' | '\u{2029}' | '\u{202f}' | '\u{205f}' | '\u{3000}')
}

/// `text` without white space at either end.
#[must_use]
pub fn strip(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `text` without white space at its start.
#[must_use]
pub fn strip_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// `text` without white space at its end.
#[must_use]
pub fn strip_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

/// Whether `text` is empty or white space alone.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// The words of `text` with one space between them (COLLAPSE of §0.2): every run of white space becomes a
/// space, and the ends are stripped.
#[must_use]
pub fn collapse(text: &str) -> String {
    if is_collapsed(text) { text.to_owned() } else { join_pieces(text, is_space) }
}

/// [`collapse`] of a text that is of no other use.
pub(crate) fn collapsed(text: String) -> String {
    if is_collapsed(&text) { text } else { join_pieces(&text, is_space) }
}

/// Whether `text` is seen at a glance to be what [`collapse`] makes of it: visible ASCII with single blanks within.
fn is_collapsed(text: &str) -> bool {
    let mut before = b' ';
    for byte in text.bytes() {
        if !(byte.is_ascii_graphic() || (byte == b' ' && before != b' ')) {
            return false;
        }
        before = byte;
    }
    before != b' ' || text.is_empty()
}

/// What lies between the characters that `cuts` accepts, with one space between the pieces.
fn join_pieces(text: &str, cuts: impl Fn(char) -> bool) -> String {
    let mut joined = String::with_capacity(text.len());
    for piece in text.split(cuts).filter(|piece| !piece.is_empty()) {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(piece);
    }
    joined
}

/// Whether `c` is a decimal digit of any script (category Nd, what `\d` means in §0.2).
#[must_use]
pub fn is_decimal(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_digit() } else { holds(tables::DECIMAL, c) }
}

/// The width of `text` in terminal cells (CELLS of §0.3), summed over its code points.
///
/// A code point with a combining class is 0 wide, another one of East Asian Width W or F is 2, and all others
/// are 1: also control characters, joiners and variation selectors.
#[must_use]
pub fn cells(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { text.chars().map(cells_of).sum() }
}

fn cells_of(c: char) -> usize {
    // Nothing below the first combining mark is wide.
    if c < '\u{300}' {
        1
    } else if holds(tables::COMBINING, c) {
        0
    } else if holds(tables::WIDE, c) {
        2
    } else {
        1
    }
}

/// `text` in lower case, by the full mapping of Unicode without a language's own rules (§0.3).
///
/// A capital sigma that ends a word becomes `ς`, elsewhere `σ`.
#[must_use]
pub fn lower(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    let mut mapped = String::with_capacity(text.len());
    lower_from(text, 0, &mut mapped);
    mapped
}

/// `text` in upper case, by the full mapping of Unicode without a language's own rules (§0.3): `ß` gives `SS`.
#[must_use]
pub fn upper(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_uppercase() } else { UPPER.apply(text) }
}

/// `text` with its first code point in title case and the others in lower case (§0.3): `MY NOTE` gives `My note`.
#[must_use]
pub fn capitalize(text: &str) -> String {
    let mut mapped = String::with_capacity(text.len());
    if let Some(first) = text.chars().next() {
        TITLE.push(first, &mut mapped);
        lower_from(text, first.len_utf8(), &mut mapped);
    }
    mapped
}

/// `text` with its first code point in upper case and the others as they are (the words of §5.2).
#[must_use]
pub fn upper_first(text: &str) -> String {
    let mut mapped = String::with_capacity(text.len());
    let mut rest = text.chars();
    if let Some(first) = rest.next() {
        UPPER.push(first, &mut mapped);
        mapped.push_str(rest.as_str());
    }
    mapped
}

/// `text` in full case folding (§0.3), for comparing: texts that differ in case alone fold to the same text.
#[must_use]
pub fn fold(text: &str) -> String {
    if text.is_ascii() { text.to_ascii_lowercase() } else { FOLD.apply(text) }
}

/// The part of a section's id that stands for `text` (SLUG of §0.5): in lower case, with one `_` for every run
/// of anything but ASCII letters, digits and hyphens, none at the ends; `section` if nothing is left.
#[must_use]
pub fn slug(text: &str) -> String {
    if is_slug(text) {
        return text.to_owned();
    }
    // White space and `_` itself are runs like any other, so stripping and squeezing happen on the way.
    let cuts = |c| !matches!(c, 'a'..='z' | '0'..='9' | '-');
    let mut slug = String::with_capacity(text.len());
    for piece in lower(text).split(cuts).filter(|piece| !piece.is_empty()) {
        if !slug.is_empty() {
            slug.push('_');
        }
        slug.push_str(piece);
    }
    if slug.is_empty() { "section".to_owned() } else { slug }
}

/// Whether `text` is its own [`slug`].
fn is_slug(text: &str) -> bool {
    let mut before = b'_';
    for byte in text.bytes() {
        if !matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-') && (byte != b'_' || before == b'_') {
            return false;
        }
        before = byte;
    }
    before != b'_'
}

/// `text` as labels are compared and ordered (NORM of §5.3): folded, with one space for every run of hyphens,
/// underscores and white space, none at the ends.
#[must_use]
pub fn norm(text: &str) -> String {
    if text.is_ascii() {
        return norm_ascii(text);
    }
    join_pieces(&fold(text), |c| matches!(c, '-' | '_') || is_space(c))
}

/// [`norm`] for ASCII alone, which nearly every label is.
fn norm_ascii(text: &str) -> String {
    let mut norm = Vec::with_capacity(text.len());
    let mut apart = false;
    for byte in text.bytes() {
        if matches!(byte, b'-' | b'_' | b'\t'..=b'\r' | b'\x1c'..=b' ') {
            apart = !norm.is_empty();
            continue;
        }
        if apart {
            norm.push(b' ');
            apart = false;
        }
        norm.push(byte.to_ascii_lowercase());
    }
    String::from_utf8(norm).unwrap_or_else(|error| unreachable!("ASCII: {error}"))
}

/// A mapping of single code points: what gives several characters, and what gives one.
struct Mapping {
    full: &'static [Full],
    simple: &'static [Run],
}

static LOWER: Mapping = Mapping { full: tables::LOWER_FULL, simple: tables::LOWER };
static UPPER: Mapping = Mapping { full: tables::UPPER_FULL, simple: tables::UPPER };
static TITLE: Mapping = Mapping { full: tables::TITLE_FULL, simple: tables::TITLE };
static FOLD: Mapping = Mapping { full: tables::FOLD_FULL, simple: tables::FOLD };

impl Mapping {
    /// Appends what `c` maps to.
    fn push(&self, c: char, mapped: &mut String) {
        if let Ok(at) = self.full.binary_search_by_key(&u32::from(c), |&(code, _)| code) {
            mapped.push_str(self.full[at].1);
        } else {
            mapped.push(shift(self.simple, c));
        }
    }

    fn apply(&self, text: &str) -> String {
        let mut mapped = String::with_capacity(text.len());
        for c in text.chars() {
            self.push(c, &mut mapped);
        }
        mapped
    }
}

/// `c` moved by the delta of the run that it is a member of, or itself.
fn shift(runs: &[Run], c: char) -> char {
    let code = u32::from(c);
    let Ok(at) = runs.binary_search_by(|&(first, last, ..)| place(first, last, code)) else { return c };
    let (first, _, step, delta) = runs[at];
    if (code - first) % step == 0 {
        code.checked_add_signed(delta).and_then(char::from_u32).unwrap_or(c)
    } else {
        c
    }
}

/// Whether `c` lies in one of the sorted `ranges`.
fn holds(ranges: &[Range], c: char) -> bool {
    ranges.binary_search_by(|&(first, last)| place(first, last, c.into())).is_ok()
}

/// Where the range from `first` to `last` lies, seen from `code`.
fn place(first: u32, last: u32, code: u32) -> Ordering {
    if last < code {
        Ordering::Less
    } else if first > code {
        Ordering::Greater
    } else {
        Ordering::Equal
    }
}

/// Appends `text` in lower case from the byte offset `start` on; what is before it still counts as context.
fn lower_from(text: &str, start: usize, mapped: &mut String) {
    for (at, c) in text[start..].char_indices() {
        match c {
            'Σ' if ends_word(text, start + at) => mapped.push('ς'),
            c if c.is_ascii() => mapped.push(c.to_ascii_lowercase()),
            c => LOWER.push(c, mapped),
        }
    }
}

/// Whether the sigma at the byte offset `at` follows a cased letter and precedes none (`Final_Sigma`), with
/// everything that case ignores, such as apostrophes and marks, skipped on both sides.
fn ends_word(text: &str, at: usize) -> bool {
    let counts = |c: &char| !holds(tables::CASE_IGNORABLE, *c);
    let cased = |c: char| holds(tables::CASED, c);
    let before = text[..at].chars().rev().find(counts);
    let after = text[at + 'Σ'.len_utf8()..].chars().find(counts);
    before.is_some_and(cased) && !after.is_some_and(cased)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGES: [&[Range]; 5] =
        [tables::WIDE, tables::COMBINING, tables::DECIMAL, tables::CASED, tables::CASE_IGNORABLE];

    #[test]
    fn ranges_are_sorted_and_disjoint() {
        for table in RANGES {
            assert!(table.iter().all(|(first, last)| first <= last));
            assert!(table.windows(2).all(|pair| pair[0].1 < pair[1].0));
        }
    }

    #[test]
    fn mappings_are_sorted_disjoint_and_change_what_they_list() {
        for Mapping { full, simple } in [&LOWER, &UPPER, &TITLE, &FOLD] {
            assert!(full.windows(2).all(|pair| pair[0].0 < pair[1].0));
            assert!(full.iter().all(|(_, target)| target.chars().count() > 1));
            assert!(simple.windows(2).all(|pair| pair[0].1 < pair[1].0));
            for &(first, last, step, delta) in *simple {
                assert!(first <= last && (1..=2).contains(&step) && (last - first) % step == 0 && delta != 0);
                for code in (first..=last).step_by(step as usize) {
                    assert!(full.binary_search_by_key(&code, |entry| entry.0).is_err());
                    assert!(code.checked_add_signed(delta).and_then(char::from_u32).is_some());
                }
            }
        }
    }

    #[test]
    fn white_space_is_a_set_of_29() {
        let spaces: Vec<char> = ('\0'..=char::MAX).filter(|&c| is_space(c)).collect();
        assert_eq!(spaces.len(), 29);
        for c in ['\u{b}', '\u{1c}', '\u{1f}', '\u{85}', '\u{a0}', '\u{2007}', '\u{3000}'] {
            assert!(is_space(c), "{c:?}");
        }
        for c in ['\u{1b}', '\u{180e}', '\u{200b}', '\u{2060}', '\u{feff}'] {
            assert!(!is_space(c), "{c:?}");
        }
    }

    #[test]
    fn stripping_and_collapsing() {
        let text = "\u{a0}\u{1c} a \u{3000}b\t\n";
        assert_eq!(strip(text), "a \u{3000}b");
        assert_eq!(strip_start(text), "a \u{3000}b\t\n");
        assert_eq!(strip_end(text), "\u{a0}\u{1c} a \u{3000}b");
        assert_eq!(collapse(text), "a b");
        assert_eq!(collapse(" \u{2028} "), "");
        assert_eq!(strip("\u{feff}a"), "\u{feff}a");
        assert!(is_blank("") && is_blank("\u{85}\u{1f} ") && !is_blank("\u{200b}"));
    }

    #[test]
    fn decimals_of_any_script() {
        for c in ['0', '9', '\u{660}', '\u{96f}', '\u{ff10}', '\u{1d7ff}', '\u{1fbf9}'] {
            assert!(is_decimal(c), "{c:?}");
        }
        for c in ['a', '/', ':', '²', '½', 'Ⅷ', '①', '一'] {
            assert!(!is_decimal(c), "{c:?}");
        }
    }

    #[test]
    fn widths() {
        for (text, width) in [
            ("", 0),
            ("plain\ttext\u{7}", 11),
            ("é", 1),
            ("e\u{301}", 1),
            ("日本", 4),
            ("한", 2),
            ("ﾊﾝ", 2),
            ("Ａ", 2),
            ("😀", 2),
            ("❤", 1),
            ("❤\u{fe0f}", 2),
            ("\u{200d}", 1),
            ("\u{200b}", 1),
            ("\u{ad}", 1),
            // Three emoji and two joiners.
            ("👩\u{200d}👩\u{200d}👧", 8),
            // A leading consonant of Hangul is wide; vowels and trailing consonants are not.
            ("\u{1112}\u{1161}\u{11ab}", 4),
            // Wide by its property, but a combining mark first; one without a class is a plain cell.
            ("\u{302a}\u{3099}", 0),
            ("\u{903}\u{93e}", 2),
            // Not assigned: wide in the ideographic blocks, else narrow.
            ("\u{2a6e0}\u{3fffd}", 4),
            ("\u{3fffe}\u{378}", 2),
            // New and wide in 15.1; not wide before 16.0.
            ("\u{2ffc}\u{31ef}", 4),
            ("\u{4dc0}\u{2630}", 2),
        ] {
            assert_eq!(cells(text), width, "{text:?}");
        }
    }

    #[test]
    fn lower_case() {
        for (text, mapped) in [
            ("MY Note 1", "my note 1"),
            ("ÉCLAT", "éclat"),
            ("İ", "i\u{307}"),
            ("ẞ", "ß"),
            ("Ǆǅ", "ǆǆ"),
            ("Ⓐ", "ⓐ"),
            ("\u{10a0}\u{13a0}\u{10400}", "\u{2d00}\u{ab70}\u{10428}"),
            ("日", "日"),
        ] {
            assert_eq!(lower(text), mapped);
        }
    }

    #[test]
    fn a_sigma_is_final_where_a_word_ends() {
        for (text, mapped) in [
            ("ΟΔΟΣ", "οδος"),
            ("ΟΔΟΣ ΟΔΟΣ.", "οδος οδος."),
            ("ΣΑΣ", "σας"),
            ("Σ", "σ"),
            ("1Σ", "1σ"),
            ("ΑΣ\u{301}", "ας\u{301}"),
            ("ΑΣ'Α", "ασ'α"),
            ("Α'Σ'", "α'ς'"),
            ("ΑΣ1", "ας1"),
            ("ΑΣΣ", "ασς"),
            // U+02B0 has case and is ignored; ignoring wins.
            ("\u{2b0}Σ", "\u{2b0}σ"),
        ] {
            assert_eq!(lower(text), mapped);
        }
    }

    #[test]
    fn upper_case() {
        for (text, mapped) in [
            ("my Note 1", "MY NOTE 1"),
            ("straße", "STRASSE"),
            ("ŉ", "\u{2bc}N"),
            ("ﬃ", "FFI"),
            ("ΐ", "\u{399}\u{308}\u{301}"),
            ("ᾳ", "ΑΙ"),
            ("\u{345}", "\u{399}"),
            ("ıſÿµ", "ISŸΜ"),
            ("ǆǅ", "ǄǄ"),
            ("ς", "Σ"),
            ("\u{10d0}", "\u{1c90}"),
        ] {
            assert_eq!(upper(text), mapped);
        }
    }

    #[test]
    fn capitals() {
        for (text, mapped) in [
            ("", ""),
            ("MY NOTE", "My note"),
            ("ß", "Ss"),
            ("ǆABC", "ǅabc"),
            ("ﬁX", "Fix"),
            ("\u{345}", "\u{399}"),
            ("ᾳ", "ᾼ"),
            ("\u{10d0}", "\u{10d0}"),
            ("ΣΣ", "Σς"),
            ("ΑΣ", "Ας"),
            (" A", " a"),
        ] {
            assert_eq!(capitalize(text), mapped);
        }
    }

    #[test]
    fn first_in_upper_case() {
        for (text, mapped) in [
            ("", ""),
            ("two", "Two"),
            ("README", "README"),
            (".x", ".x"),
            ("éa", "Éa"),
            ("ßA", "SSA"),
            ("ǆ", "Ǆ"),
        ] {
            assert_eq!(upper_first(text), mapped);
        }
    }

    #[test]
    fn folding() {
        for (text, mapped) in [
            ("MY Note", "my note"),
            ("Straße ẞ", "strasse ss"),
            ("ΟΔΟΣς", "οδοσσ"),
            ("İ", "i\u{307}"),
            ("ı", "ı"),
            ("ﬁ", "fi"),
            ("\u{345}", "\u{3b9}"),
            ("\u{13a0}\u{ab70}", "\u{13a0}\u{13a0}"),
            ("K", "k"),
        ] {
            assert_eq!(fold(text), mapped);
        }
    }

    #[test]
    fn early_letters_map_as_in_std() {
        // Unicode 16.0 gave U+019B an upper case, which `std` may know and we must not.
        assert_eq!(upper("\u{19b}"), "\u{19b}");
        for c in ('\0'..'\u{250}').filter(|&c| c != '\u{19b}') {
            let text = c.to_string();
            assert_eq!(lower(&text), text.to_lowercase(), "{c:?}");
            assert_eq!(upper(&text), text.to_uppercase(), "{c:?}");
        }
    }

    #[test]
    fn slugs() {
        for (text, slugged) in [
            ("N", "n"),
            ("a b", "a_b"),
            ("a-b", "a-b"),
            ("_x", "x"),
            ("MY_NOTE", "my_note"),
            ("日", "section"),
            ("é", "section"),
            ("Custom Bit, Here!", "custom_bit_here"),
            (".hid", "hid"),
            ("", "section"),
            (" _.- a__b \u{a0}", "-_a_b"),
            // The Kelvin sign is an ASCII letter in lower case; a dotted I is one with a mark.
            ("K", "k"),
            ("İx", "i_x"),
        ] {
            assert_eq!(slug(text), slugged);
        }
    }

    #[test]
    fn labels_in_order() {
        for (text, normed) in [
            ("Alpha-Beta 2", "alpha beta 2"),
            ("__X\u{a0}-Y ", "x y"),
            ("Éa", "éa"),
            ("ẞ", "ss"),
            ("- _", ""),
        ] {
            assert_eq!(norm(text), normed);
        }
        let mut labels = ["zeta", "Éa", "Alpha-Beta 2", "ALPHA", "alpha beta"];
        labels.sort_by_key(|label| norm(label));
        assert_eq!(labels, ["ALPHA", "alpha beta", "Alpha-Beta 2", "zeta", "Éa"]);
    }
}
