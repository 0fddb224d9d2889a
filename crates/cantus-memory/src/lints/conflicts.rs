//! Marks that an unfinished merge leaves in a text.

use std::sync::LazyLock;

use cantus_manifest::Diagnostic;
use memchr::memmem::Finder;

use super::line_of;

/// The most conflicts of one text that are told.
const MOST: usize = 10;

// Made once, since they are looked for in every text.
static START: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("<<<<<<<"));
static MIDDLE: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("======="));
static END: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(">>>>>>>"));

/// The findings on conflict markers: each start of a conflict, and each end without one. Fences protect nothing: a merge
/// doesn't know them.
#[must_use]
pub fn conflicts(text: &str) -> Vec<Diagnostic> {
    let starts = marks(text, &START);
    let ends = marks(text, &END);
    // Seven levels of quoting are no end of a conflict: that has a middle above it.
    let middles = if ends.is_empty() { Vec::new() } else { marks(text, &MIDDLE) };
    let all = [(starts, Mark::Start), (middles, Mark::Middle), (ends, Mark::End)];
    let mut all: Vec<_> =
        all.into_iter().flat_map(|(at, mark)| at.into_iter().map(move |at| (at, mark))).collect();
    all.sort_unstable_by_key(|(at, _)| *at);
    let mut above = None;
    let told = all.into_iter().filter(|(_, mark)| {
        let told = *mark == Mark::Start || (*mark == Mark::End && above == Some(Mark::Middle));
        above = match (above, *mark) {
            // The middle of a conflict that was told already.
            (Some(Mark::Start), Mark::Middle) => above,
            (_, mark) => Some(mark),
        };
        told
    });
    told.take(MOST).map(|(at, _)| finding(text, at)).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Start,
    Middle,
    End,
}

fn finding(text: &str, at: usize) -> Diagnostic {
    let message = format!("a conflict marker, `{}`", &text[at..at + 7]);
    let help = "finish the merge; where the text is about conflicts, put a blank before the marker";
    Diagnostic::error("note.conflict", message).line(line_of(text, at)).help(help)
}

/// Where lines start with this mark, followed by a blank or nothing.
fn marks(text: &str, finder: &Finder<'_>) -> Vec<usize> {
    let (text, mark) = (text.as_bytes(), finder.needle());
    let is_mark = |at: &usize| {
        let starts = *at == 0 || text[at - 1] == b'\n';
        starts && matches!(text.get(at + mark.len()), None | Some(b' ' | b'\n' | b'\r'))
    };
    finder.find_iter(text).filter(is_mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(u32, &str)]) {
        let found: Vec<_> = conflicts(text)
            .into_iter()
            .map(|finding| (finding.line.unwrap(), finding.message.replace("a conflict marker, ", "")))
            .collect();
        let found: Vec<_> = found.iter().map(|(line, mark)| (*line, mark.as_str())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn whole_conflicts() {
        check("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n", &[(2, "`<<<<<<<`")]);
        check("<<<<<<<\nb\n||||||| base\n=======\nc\n>>>>>>>", &[(1, "`<<<<<<<`")]);
        check("```\n<<<<<<< a\n=======\n>>>>>>> b\n```\n", &[(2, "`<<<<<<<`")]);
        check(
            "<<<<<<< a\n=======\n>>>>>>> b\n<<<<<<< a\n=======\n>>>>>>> b\n",
            &[(1, "`<<<<<<<`"), (4, "`<<<<<<<`")],
        );
    }

    #[test]
    fn half_a_conflict() {
        check("a\n=======\nb\n>>>>>>> other\n", &[(4, "`>>>>>>>`")]);
        check("<<<<<<< ours\n", &[(1, "`<<<<<<<`")]);
    }

    #[test]
    fn what_is_no_conflict() {
        check("Title\n=======\n\n    <<<<<<< HEAD\n <<<<<<< x\n<<<<<<<<\n<<<<<<<x\n", &[]);
        check(">>>>>>> deep quote\n\nTitle\n=======\n", &[]);
    }
}
