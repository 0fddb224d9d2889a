//! Break-only wrapping (WRAP, §4.4): a line that is too wide is broken at blanks; short lines are never joined.

use crate::unicode::{cells, is_decimal, is_space, strip_end};

/// Wrapping is off below this width, in cells.
const NARROWEST: usize = 20;

/// One line of a wrapped text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrappedLine {
    /// The line without LF.
    pub text: String,
    /// Where its first word stands in the input, in bytes.
    pub start: usize,
}

/// Breaks `line`, which holds no LF, so that each piece takes at most `width` cells where its words allow.
///
/// Code spans, links, `<…>` and addresses at the start of a word stay whole; continuations of list items and quotes are indented.
/// A width below 20 leaves the line as it is.
#[must_use]
pub fn wrap(line: &str, width: usize) -> Vec<WrappedLine> {
    match (width >= NARROWEST && cells(line) > width).then(|| prefix(line, width)).flatten() {
        Some(prefix) => fill(line, width, &prefix),
        None => vec![WrappedLine { text: line.to_owned(), start: 0 }],
    }
}

/// What continuation lines begin with; `None` if the line is kept as it is.
fn prefix(line: &str, width: usize) -> Option<String> {
    let indent = leading_spaces(line);
    let text = line.trim_start_matches(is_space);
    let (list, quote) = (list_marker(line), quote_marker(line));
    if text.starts_with('|')
        || line.contains('\t')
        || backtick_runs(line) % 2 == 1
        || (indent.len() >= 4 && list.is_none() && quote.is_none())
    {
        return None;
    }
    let wanted = if let Some(marker) = list {
        " ".repeat(cells(marker))
    } else if let Some(marker) = quote {
        marker.to_owned()
    } else if is_atx_heading(text) {
        line[..line.len() - text.len()].to_owned()
    } else {
        indent.to_owned()
    };
    [wanted, indent.to_owned()].into_iter().find(|prefix| cells(prefix) + NARROWEST <= width)
}

fn leading_spaces(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches(' ').len()]
}

/// How many maximal runs of backticks there are.
fn backtick_runs(line: &str) -> usize {
    let bytes = line.as_bytes();
    (0..bytes.len()).filter(|at| bytes[*at] == b'`' && (*at == 0 || bytes[at - 1] != b'`')).count()
}

/// The marker of a list item with the white space around it.
fn list_marker(line: &str) -> Option<&str> {
    let text = line.trim_start_matches(is_space);
    let after = match text.strip_prefix(['-', '*', '+']) {
        Some(after) => after,
        None => {
            let digits = text.trim_start_matches(is_decimal);
            (digits.len() < text.len()).then(|| digits.strip_prefix(['.', ')'])).flatten()?
        }
    };
    let rest = after.trim_start_matches(is_space);
    (rest.len() < after.len()).then(|| &line[..line.len() - rest.len()])
}

/// The marks of a quote: groups of `>` with one blank each, with the white space before.
fn quote_marker(line: &str) -> Option<&str> {
    let mut rest = line.trim_start_matches(is_space);
    if !rest.starts_with('>') {
        return None;
    }
    while rest.starts_with('>') {
        rest = rest.trim_start_matches('>');
        rest = rest.strip_prefix(is_space).unwrap_or(rest);
    }
    Some(&line[..line.len() - rest.len()])
}

fn is_atx_heading(text: &str) -> bool {
    let level = text.bytes().take_while(|byte| *byte == b'#').count();
    (1..=6).contains(&level) && text[level..].starts_with(is_space)
}

fn fill(line: &str, width: usize, prefix: &str) -> Vec<WrappedLine> {
    let may_move_dash = prefix != leading_spaces(line);
    let mut lines = Vec::new();
    let mut current = WrappedLine { text: String::with_capacity(width.min(line.len())), start: 0 };
    let mut links = Links::default();
    let (mut end, mut used) = (0, 0);
    while let Some(token) = next_token(line, end, &mut links) {
        let (gap, atom) = (&line[end..token.start], &line[token.start..token.end]);
        let needed = cells(gap) + cells(atom);
        if end == 0 || used + needed <= width {
            if end == 0 {
                current.start = token.start;
            }
            current.text.push_str(gap);
            current.text.push_str(atom);
            used += needed;
        } else {
            let next = match current.text.rsplit_once(' ').filter(|_| may_move_dash && atom == "-") {
                Some((head, chunk)) if !strip_end(head).is_empty() && !chunk.is_empty() => {
                    let next =
                        WrappedLine { text: format!("{prefix}{chunk}{gap}-"), start: end - chunk.len() };
                    current.text.truncate(head.len());
                    next
                }
                _ => WrappedLine { text: format!("{prefix}{atom}"), start: token.start },
            };
            let mut full = std::mem::replace(&mut current, next);
            full.text.truncate(strip_end(&full.text).len());
            lines.push(full);
            used = cells(&current.text);
        }
        end = token.end;
    }
    current.text.push_str(&line[end..]);
    lines.push(current);
    lines
}

/// The next word from `at` on, which is where the last one ended.
fn next_token(line: &str, at: usize, links: &mut Links) -> Option<std::ops::Range<usize>> {
    let rest = &line[at..];
    let text = rest.trim_start_matches(is_space);
    let start = at + rest.len() - text.len();
    let end = code_span(text)
        .map(|length| start + length)
        .or_else(|| links.end(line, start))
        .or_else(|| angle(text).map(|length| start + length))
        .unwrap_or_else(|| start + word(text));
    (end > start).then_some(start..end)
}

/// The length of what stands before the first white space.
fn word(text: &str) -> usize {
    let ascii = text.bytes().take_while(u8::is_ascii_graphic).count();
    text[ascii..].find(is_space).map_or(text.len(), |length| ascii + length)
}

/// The length of inline code at the start: a run of backticks, something that doesn't hold that run, the run again.
///
/// Of the first run as many backticks count as some later run has, if those are more than half of it: with fewer, what
/// is left of the first run would close it at once.
fn code_span(text: &str) -> Option<usize> {
    let run = text.len() - text.trim_start_matches('`').len();
    let (mut longest, mut end) = (0, 0);
    let mut at = run;
    while longest < run {
        let Some(gap) = text[at..].find('`') else { break };
        let start = at + gap;
        let length = text[start..].bytes().take_while(|byte| *byte == b'`').count();
        if length.min(run) > longest {
            longest = length.min(run);
            end = start + longest;
        }
        at = start + length;
    }
    (2 * longest > run).then_some(end)
}

/// The links and images of one line, asked for from left to right. What follows a `]` is looked at once, not again for
/// every `[` before it.
#[derive(Default)]
struct Links {
    /// Where the search for `close` started.
    from: usize,
    /// The first `]` from there on; `usize::MAX` if there is none, 0 before the first search.
    close: usize,
    /// Where a link ends whose label ends there.
    end: Option<usize>,
}

impl Links {
    /// The end of a link or an image that starts at `at`.
    fn end(&mut self, line: &str, at: usize) -> Option<usize> {
        let text = &line[at..];
        let label = text.strip_prefix('!').unwrap_or(text).strip_prefix('[')?;
        let from = line.len() - label.len();
        if !(self.from..=self.close).contains(&from) {
            let close = label.find(']').map(|length| from + length);
            let end = close.and_then(|close| target(&line[close + 1..]).map(|length| close + 1 + length));
            *self = Self { from, close: close.unwrap_or(usize::MAX), end };
        }
        self.end
    }
}

/// The length of a link's target at the start: `(…)`, with or without a title.
fn target(text: &str) -> Option<usize> {
    let rest = text.strip_prefix('(')?.trim_start_matches(|c: char| c != ')' && !is_space(c));
    let end = match rest.strip_prefix(')') {
        Some(end) => end,
        None => {
            let title = rest.trim_start_matches(is_space);
            let title = title.strip_prefix('"').filter(|_| title.len() < rest.len())?;
            title[title.find('"')? + 1..].strip_prefix(')')?
        }
    };
    Some(text.len() - end.len())
}

/// The length of `<…>` at the start.
fn angle(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('<')?;
    let length = inside.find(|c: char| c == '>' || is_space(c)).filter(|length| *length > 0)?;
    inside[length..].starts_with('>').then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[track_caller]
    fn check(width: usize, input: &str, expected: &[&str]) {
        let lines = wrap(input, width);
        assert_eq!(lines.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), expected);
        for line in &lines {
            let word = line.text.trim_start_matches(|c| is_space(c) || c == '>');
            let word = word.split(is_space).next().unwrap_or_default();
            assert!(
                input[line.start..].trim_start_matches('>').trim_start_matches(is_space).starts_with(word),
                "{line:?}"
            );
        }
    }

    #[test]
    fn list_items_hang() {
        check(
            30,
            "- aaaa bbbb cccc dddd eeee ffff gggg hhhh",
            &["- aaaa bbbb cccc dddd eeee", "  ffff gggg hhhh"],
        );
        check(
            30,
            "1. aaaa bbbb cccc dddd eeee f - gggg hhhh",
            &["1. aaaa bbbb cccc dddd eeee", "   f - gggg hhhh"],
        );
    }

    #[test]
    fn headings_do_not_hang() {
        check(30, "## aaaa bbbb cccc dddd eeee ffff gggg", &["## aaaa bbbb cccc dddd eeee", "ffff gggg"]);
    }

    #[test]
    fn quotes_repeat_their_marks() {
        check(30, "> - aaaa bbbb cccc dddd eeee ffff", &["> - aaaa bbbb cccc dddd eeee", "> ffff"]);
    }

    #[test]
    fn code_at_the_start_of_a_word_stays_whole() {
        check(30, "aaaa bbbb cccc `dddd eeee fff`, hhhh", &["aaaa bbbb cccc `dddd eeee fff`", ", hhhh"]);
        check(30, "aaaa bbbb ccc x`dddd eeee ffff` hhhh", &["aaaa bbbb ccc x`dddd eeee", "ffff` hhhh"]);
    }

    #[test]
    fn a_dash_moves_in_lists_alone() {
        check(30, "aaaa bbbb cccc dddd eeee ffff - gggg", &["aaaa bbbb cccc dddd eeee ffff", "- gggg"]);
    }

    #[test]
    fn wide_characters_take_two_cells() {
        check(
            30,
            "日本語のテキスト はここで 折り返す 必要があります",
            &["日本語のテキスト はここで", "折り返す 必要があります"],
        );
    }

    #[test]
    fn a_long_word_stands_alone() {
        let long = "x".repeat(50);
        check(30, &format!("{long} tail"), &[&long, "tail"]);
    }

    #[test]
    fn inner_gaps_stay() {
        check(30, "aaa   bbb     ccc ddd eee fff    ggg", &["aaa   bbb     ccc ddd eee fff", "ggg"]);
    }

    #[test]
    fn kept_lines() {
        for line in [
            "| a table row that is far too long for thirty cells |",
            "a tab\tthat is far too long for the thirty cells here",
            "a lone ` backtick that is far too long for thirty cells",
            "    indented code that is far too long for thirty cells",
        ] {
            check(30, line, &[line]);
        }
        check(19, "aaaa bbbb cccc dddd eeee ffff", &["aaaa bbbb cccc dddd eeee ffff"]);
    }

    #[test]
    fn links_stay_whole() {
        check(
            24,
            "aaaa bbbb ![an image](x.png \"a title\") cccc",
            &["aaaa bbbb", "![an image](x.png \"a title\")", "cccc"],
        );
        check(24, "aaaa bbbb cccc dddd <http://a.b/c>d", &["aaaa bbbb cccc dddd", "<http://a.b/c>d"]);
    }

    #[test]
    fn code_spans_backtrack() {
        assert_eq!(code_span("``a`b``c"), Some(7));
        assert_eq!(code_span("```a`"), None);
        assert_eq!(code_span("``a`"), None);
        assert_eq!(code_span("`a``b`"), Some(3));
        assert_eq!(code_span("```a``"), Some(6));
    }

    /// [`code_span`] as it is specified (§4.4): try every length of the first run, the longest first.
    fn specified_code_span(text: &str) -> Option<usize> {
        let run = text.bytes().take_while(|byte| *byte == b'`').count();
        (1..=run).rev().find_map(|length| {
            let (fence, content) = text.split_at(length);
            content.find(fence).filter(|end| *end > 0).map(|end| end + 2 * length)
        })
    }

    /// The length of a link at the start, found without a look at the rest of the line.
    fn specified_link(text: &str) -> Option<usize> {
        let label = text.strip_prefix('!').unwrap_or(text).strip_prefix('[')?;
        let after = &label[label.find(']')? + 1..];
        Some(text.len() - after.len() + target(after)?)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn code_is_found_as_specified(text in "`{0,6}[a` ]{0,12}`{0,3}") {
            prop_assert_eq!(code_span(&text), specified_code_span(&text));
        }

        #[test]
        fn links_are_found_as_specified(line in "([\\[\\]!()\" a]|\\]\\(){0,24}") {
            let mut links = Links::default();
            for at in 0..line.len() {
                let expected = specified_link(&line[at..]).map(|length| at + length);
                prop_assert_eq!(links.end(&line, at), expected, "at {}", at);
            }
        }
    }

    #[test]
    fn a_megabyte_of_marks_is_wrapped() {
        // Each took minutes when every mark searched for its partner anew.
        for line in [
            "[ ".repeat(1 << 19),
            format!("{}](b \"c", "[ ".repeat(1 << 19)),
            format!("{}]({}", "[ ".repeat(1 << 18), "x".repeat(1 << 19)),
            format!("{} x `", "`".repeat(1 << 20)),
            format!("{} x `", "`` ` ".repeat(1 << 18)),
        ] {
            assert!(!wrap(&line, 88).is_empty());
        }
    }
}
