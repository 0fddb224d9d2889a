//! Texts cut to a budget of chars, with a pointer to the rest.

use cantus_memory::{fences, is_fenced};

/// A text that was brought within a budget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fitted {
    /// The text; if it was cut, the pointer is its last paragraph.
    pub body: String,
    /// Whether anything was left out.
    pub cut: bool,
}

/// Brings `text`, trimmed, within `budget` chars; what is cut is replaced by a blank line and `pointer`, which says where the
/// rest can be read.
///
/// The cut lies at the last blank line, else at the last line end, if more than half of the room stands before it, else
/// anywhere. A fence that the cut leaves open is left out if more than half of the room stands before it, else closed. With no
/// more room than `pointer` and the blank line need, the pointer alone is the body: it is the one body that may be longer than
/// the budget. White space is what Unicode calls so; a char is a Unicode scalar value.
#[must_use]
pub fn fit(text: &str, budget: usize, pointer: &str) -> Fitted {
    let text = text.trim();
    if first_chars(text, budget).len() == text.len() {
        return Fitted { body: text.to_owned(), cut: false };
    }
    let room = budget.saturating_sub(pointer.chars().count() + 2);
    let head = at_boundary(first_chars(text, room), room).trim_end();
    let kept = closed(head, room, pointer);
    let body = if kept.is_empty() { pointer.to_owned() } else { format!("{kept}\n\n{pointer}") };
    Fitted { body, cut: true }
}

/// `text` if it has at most `limit` chars, else its first `limit` chars and `…`.
#[must_use]
pub fn clip(text: &str, limit: usize) -> String {
    let head = first_chars(text, limit);
    if head.len() == text.len() { text.to_owned() } else { format!("{head}…") }
}

/// The first `count` chars of a text, or all of it.
fn first_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(end, _)| &text[..end])
}

/// The head up to its last paragraph or line, if that keeps more than half of the room.
fn at_boundary(head: &str, room: usize) -> &str {
    let boundary = head.rfind("\n\n").or_else(|| head.rfind('\n'));
    boundary.filter(|at| *at > room / 2).map_or(head, |at| &head[..at])
}

/// A text of at most `room` chars that leaves no fence open to `pointer`.
fn closed(kept: &str, room: usize, pointer: &str) -> String {
    let Some(opener) = open_fence(kept, pointer) else { return kept.to_owned() };
    let before = kept[..opener].trim_end();
    if before.len() > room / 2 {
        return before.to_owned();
    }
    let fence = fence_of(&kept[opener..]);
    let shorter = first_chars(kept, room.saturating_sub(fence.len() + 1)).trim_end();
    // Without a line of its own below the fence there is nothing to close.
    if open_fence(shorter, pointer) == Some(opener) && shorter[opener..].contains('\n') {
        let whole = format!("{shorter}\n{fence}");
        // In a list item such a line would open a fence where it was to close one.
        if open_fence(&whole, pointer).is_none() {
            return whole;
        }
    }
    before.to_owned()
}

/// Where the fence starts that `pointer`, as the next paragraph after `text`, would belong to.
fn open_fence(text: &str, pointer: &str) -> Option<usize> {
    let indent = pointer.find(|c: char| !c.is_whitespace()).unwrap_or(0);
    let probe = format!("{text}\n\n{}x", &pointer[..indent]);
    let fences = fences(&probe);
    let last = fences.last().filter(|_| is_fenced(&fences, probe.len() - 1))?;
    Some(last.start)
}

/// The run of backticks or tildes at the start of a text.
fn fence_of(opener: &str) -> &str {
    let mark = opener.chars().next().unwrap_or('`');
    &opener[..opener.len() - opener.trim_start_matches(mark).len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, budget: usize, expected: &str) {
        let fitted = fit(text, budget, "more");
        assert_eq!(fitted.body, expected);
        assert_eq!(fitted.cut, expected != text.trim());
    }

    #[test]
    fn what_fits_is_whole() {
        check("  abc\n", 3, "abc");
        check("", 0, "");
        check("äöü", 3, "äöü");
    }

    #[test]
    fn the_cut_lies_at_a_paragraph_then_a_line_then_anywhere() {
        // Room is the budget less 6.
        check("one two\n\nthree four five", 18, "one two\n\nmore");
        check("one two\nthree four five", 18, "one two\n\nmore");
        check("a\n\nthree four five six", 18, "a\n\nthree fou\n\nmore");
        check("three four five six", 16, "three four\n\nmore");
    }

    #[test]
    fn without_room_the_pointer_stands_alone() {
        check("three four five six", 6, "more");
        check("three four five six", 0, "more");
        check("three four five six", 7, "t\n\nmore");
    }

    #[test]
    fn a_fence_is_left_out_or_closed() {
        check("twelve chars\n\n```\nab\ncd\nef\n```\nend", 26, "twelve chars\n\nmore");
        check("```\nabcd\nefgh\nijkl\n```\nend", 22, "```\nabcd\nefg\n```\n\nmore");
        check("~~~~py\nabcd\nefgh\nijkl\n~~~~\nend", 16, "more");
        check("~~~~py\nabcd\nefgh\nijkl\n~~~~\nend", 19, "~~~~py\na\n~~~~\n\nmore");
        check("- ```\n  abcdefghi\n  ```\n- more and more", 20, "- ```\n  abcdef\n\nmore");
        check("  ~~~\n  abcdefghi\n  ~~~\n and more", 20, "~~~\n  abcd\n~~~\n\nmore");
    }

    #[test]
    fn an_indented_pointer_does_not_fall_into_a_fence() {
        let text = "- ```\n  abcdefghi\n  ```\n- more and more";
        assert_eq!(fit(text, 22, "  more").body, "-\n\n  more");
    }

    #[test]
    fn clipping() {
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("abcd", 3), "abc…");
        assert_eq!(clip("äöü", 2), "äö…");
        assert_eq!(clip("a", 0), "…");
    }
}
