//! Characters that nobody sees, that steer a terminal, or that some programs take for line ends.

use cantus_manifest::Diagnostic;

use super::{line_of, line_start};

/// How many bytes are looked at together.
const CHUNK: usize = 64;
/// The flag that subdivisions are spelled behind.
const FLAG: char = '\u{1f3f4}';
/// The subdivisions whose flags are in common use: tags spell them.
const SUBDIVISIONS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// What is wrong with a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// It shows nothing, or changes how others are shown.
    Hidden(&'static str),
    /// A control character.
    Control,
    /// Some programs end a line here; Markdown doesn't.
    Break,
}

/// The findings on the characters of a text: of each class the first, with how many more there are.
///
/// Hidden characters and control characters are errors; line and page separators are warnings. Joiners and selectors pass
/// where a script or an emoji needs them.
#[must_use]
pub fn characters(text: &str) -> Vec<Diagnostic> {
    let mut first: [Option<(usize, char, Class)>; 3] = [None; 3];
    let mut counts = [0; 3];
    for (at, c, class) in doubtful(text) {
        let index = match class {
            Class::Hidden(_) => 0,
            Class::Control => 1,
            Class::Break => 2,
        };
        first[index].get_or_insert((at, c, class));
        counts[index] += 1;
    }
    let found = first.into_iter().zip(counts);
    found.filter_map(|(first, count)| first.map(|first| finding(text, first, count - 1))).collect()
}

fn finding(text: &str, (at, c, class): (usize, char, Class), more: usize) -> Diagnostic {
    let column = text[line_start(text, at)..at].chars().count() + 1;
    let what = match class {
        Class::Hidden(what) => what,
        Class::Control => "a control character",
        Class::Break => "a line end for some programs only",
    };
    let mut message = format!("U+{:04X}, {what}, in column {column}", u32::from(c));
    match more {
        0 => {}
        1 => message.push_str(", and another such character below"),
        _ => message.push_str(&format!(", and {more} more such characters below")),
    }
    let (finding, help) = match class {
        Class::Hidden(_) => (
            Diagnostic::error("note.hidden", message),
            "remove it: agents read what no reviewer sees; where a text is about it, write `U+…`",
        ),
        Class::Control => (
            Diagnostic::error("note.control", message),
            "remove it: it has no place in a text; where a text is about it, write `U+…`",
        ),
        Class::Break => {
            (Diagnostic::warning("note.line_break", message), "end the line with a line feed instead")
        }
    };
    finding.line(line_of(text, at)).help(help)
}

/// The doubtful characters of `text`, each with its offset.
fn doubtful(text: &str) -> impl Iterator<Item = (usize, char, Class)> {
    let chunks = text.as_bytes().chunks(CHUNK).enumerate().filter(|(_, chunk)| has_unusual(chunk));
    chunks
        .flat_map(|(index, chunk)| {
            let start = text.ceil_char_boundary(index * CHUNK);
            let end = text.ceil_char_boundary(index * CHUNK + chunk.len());
            let chars = text[start..end].char_indices();
            chars.filter_map(move |(at, c)| Some((start + at, c, class(c)?)))
        })
        .filter(|(at, c, _)| !is_needed(text, *at, *c))
}

/// Whether any byte is neither a visible ASCII character nor a blank, a tab or a line feed.
fn has_unusual(chunk: &[u8]) -> bool {
    let unusual = |byte: u8| (byte.wrapping_sub(0x20) >= 0x5f) & (byte != b'\t') & (byte != b'\n');
    // Without an early end, so that many bytes are looked at in one step.
    chunk.iter().fold(false, |found, byte| found | unusual(*byte))
}

fn class(c: char) -> Option<Class> {
    Some(match c {
        '\t' | '\n' | ' '..='~' | '\u{a0}'..='\u{ac}' | '\u{ae}'..='\u{34e}' => return None,
        '\u{b}' | '\u{c}' | '\u{1c}'..='\u{1e}' | '\u{85}' | '\u{2028}' | '\u{2029}' => Class::Break,
        '\0'..='\u{9f}' => Class::Control,
        '\u{ad}' => Class::Hidden("a soft hyphen"),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            Class::Hidden("a control of writing direction")
        }
        '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => Class::Hidden("a character without width"),
        '\u{180b}'..='\u{180f}' | '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}' => {
            Class::Hidden("a variation selector")
        }
        '\u{e0000}'..='\u{e007f}' => Class::Hidden("a tag character"),
        '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{ffffd}' | '\u{100000}'..='\u{10fffd}' => {
            Class::Hidden("a character for private use")
        }
        '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{2061}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{3164}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0080}'..='\u{e0fff}' => Class::Hidden("an invisible character"),
        '\u{fdd0}'..='\u{fdef}' => Class::Hidden("no character at all"),
        c if u32::from(c) & 0xfffe == 0xfffe => Class::Hidden("no character at all"),
        _ => return None,
    })
}

/// Whether a script or an emoji needs the hidden character `c` at `at`.
fn is_needed(text: &str, at: usize, c: char) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + c.len_utf8()..].chars().next();
    match c {
        '\u{200c}' => before.is_some_and(joins),
        '\u{200d}' => {
            let emoji = |c: char| is_symbol(c) && class(c).is_none();
            before.is_some_and(joins)
                || (before.is_some_and(|before| emoji(before) || before == '\u{fe0f}')
                    && after.is_some_and(emoji))
        }
        '\u{fe0e}' | '\u{fe0f}' if after == Some('\u{20e3}') => true,
        '\u{fe00}'..='\u{fe0f}' => before.is_some_and(|before| before >= '\u{a9}' && class(before).is_none()),
        '\u{e0100}'..='\u{e01ef}' => before.is_some_and(is_ideograph),
        '\u{180b}'..='\u{180f}' => before.is_some_and(|before| ('\u{1820}'..='\u{18aa}').contains(&before)),
        '\u{e0020}'..='\u{e007f}' => is_in_flag(text, at),
        _ => false,
    }
}

/// Whether letters of this script change their form with a joiner.
fn joins(c: char) -> bool {
    matches!(c, '\u{620}'..='\u{8ff}' | '\u{900}'..='\u{dff}' | '\u{f00}'..='\u{fff}' | '\u{1000}'..='\u{109f}'
        | '\u{1780}'..='\u{17b3}' | '\u{17b6}'..='\u{17ff}' | '\u{1820}'..='\u{18aa}' | '\u{fb50}'..='\u{fdcf}'
        | '\u{fe70}'..='\u{fefc}')
}

fn is_symbol(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3fffd}')
}

/// Whether the tag at `at` belongs to the flag of a known subdivision.
fn is_in_flag(text: &str, at: usize) -> bool {
    let Some(flag) = text[..at].char_indices().rev().take(6).find(|(_, c)| *c == FLAG) else { return false };
    let tags = text[flag.0 + FLAG.len_utf8()..].chars();
    let tags: String =
        tags.map_while(|c| char::from_u32(u32::from(c).checked_sub(0xe0000)?)).take(6).collect();
    tags.strip_suffix('\u{7f}').is_some_and(|name| SUBDIVISIONS.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found: Vec<_> = characters(text)
            .into_iter()
            .map(|finding| format!("{} {}: {}", finding.code, finding.line.unwrap(), finding.message))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn plain_texts() {
        check("", &[]);
        check("a\tb\n~ ! é ß ñ – “quoted” … ✓ → 漢字 한국어 עברית عربى हिन्दी \u{a0}\n", &[]);
    }

    #[test]
    fn every_kind_of_hidden_character() {
        for (c, what) in [
            ('\u{ad}', "a soft hyphen"),
            ('\u{34f}', "an invisible character"),
            ('\u{61c}', "a control of writing direction"),
            ('\u{200b}', "a character without width"),
            ('\u{200c}', "a character without width"),
            ('\u{200d}', "a character without width"),
            ('\u{200f}', "a control of writing direction"),
            ('\u{202e}', "a control of writing direction"),
            ('\u{2060}', "a character without width"),
            ('\u{2063}', "an invisible character"),
            ('\u{2069}', "a control of writing direction"),
            ('\u{3164}', "an invisible character"),
            ('\u{e000}', "a character for private use"),
            ('\u{fe0f}', "a variation selector"),
            ('\u{feff}', "a character without width"),
            ('\u{fffe}', "no character at all"),
            ('\u{e0041}', "a tag character"),
            ('\u{e0100}', "a variation selector"),
            ('\u{f0000}', "a character for private use"),
            ('\u{10ffff}', "no character at all"),
        ] {
            let expected = format!("note.hidden 2: U+{:04X}, {what}, in column 3", u32::from(c));
            check(&format!("é\nab{c}c\n"), &[&expected]);
        }
    }

    #[test]
    fn the_first_of_each_class_and_how_many_more() {
        check(
            "a\u{200b}\u{200b}\u{200b}\n\0\u{1b}[31m\n\u{c}\u{2028}\n",
            &[
                "note.hidden 1: U+200B, a character without width, in column 2, and 2 more such characters below",
                "note.control 2: U+0000, a control character, in column 1, and another such character below",
                "note.line_break 3: U+000C, a line end for some programs only, in column 1, and another such character below",
            ],
        );
        check(
            "\u{7f}\u{80}",
            &["note.control 1: U+007F, a control character, in column 1, and another such character below"],
        );
    }

    #[test]
    fn what_lies_across_two_chunks() {
        for length in CHUNK - 4..CHUNK + 2 {
            let expected = format!("note.hidden 1: U+E0041, a tag character, in column {}", length + 1);
            check(&format!("{}\u{e0041}b", "a".repeat(length)), &[&expected]);
        }
    }

    #[test]
    fn emoji_and_scripts_need_some() {
        check("❤\u{fe0f} ⚠\u{fe0f} 1\u{fe0f}\u{20e3} ☝\u{1f3fd}", &[]);
        check("👩\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 👨\u{200d}👩\u{200d}👧", &[]);
        check("می\u{200c}خواهم क्\u{200d}ष 葛\u{e0100}", &[]);
        check("🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}", &[]);
    }

    #[test]
    fn what_only_looks_needed() {
        check("❤\u{fe0f}\u{fe0e}", &["note.hidden 1: U+FE0E, a variation selector, in column 3"]);
        check("👩\u{200d} x", &["note.hidden 1: U+200D, a character without width, in column 2"]);
        check(
            "🏴\u{e0068}\u{e0069}\u{e007f}",
            &["note.hidden 1: U+E0068, a tag character, in column 2, and 2 more such characters below"],
        );
        let long: String = "🏴".chars().chain(std::iter::repeat_n('\u{e0061}', 5000)).collect();
        check(
            &long,
            &["note.hidden 1: U+E0061, a tag character, in column 2, and 4999 more such characters below"],
        );
    }
}
