//! Words that some agents take for the name of a file to read in: `@path`.

use cantus_manifest::Diagnostic;

use super::{line_at, line_of, line_start};
use crate::fence::{fences, is_fenced};
use crate::links::code_spans;

/// The most words of one text that are told.
const MOST: usize = 10;

/// The findings on `@`-words of `text` outside code: a warning for one that is built like a path, a note for others.
#[must_use]
pub fn imports(text: &str) -> Vec<Diagnostic> {
    let mut fenced = None;
    let mut code = (usize::MAX, Vec::new());
    let words = memchr::memchr_iter(b'@', text.as_bytes()).filter_map(|at| Some((at, word(text, at)?)));
    let outside = words.filter(|(at, _)| {
        if is_fenced(fenced.get_or_insert_with(|| fences(text)), *at) {
            return false;
        }
        let start = line_start(text, *at);
        if code.0 != start {
            code = (start, code_spans(line_at(text, start)));
        }
        let after = code.1.partition_point(|span| span.end <= at - start);
        !text[start..].starts_with("    ") && code.1.get(after).is_none_or(|span| span.start > at - start)
    });
    let all: Vec<_> = outside.collect();
    let told = all.iter().take(MOST).map(|(at, word)| finding(word).line(line_of(text, *at)));
    let mut findings: Vec<_> = told.collect();
    if let (Some(last), more @ 1..) = (findings.last_mut(), all.len().saturating_sub(MOST)) {
        last.message.push_str(&format!("; behind it are {more} more"));
    }
    findings
}

fn finding(word: &str) -> Diagnostic {
    let is_path = word.starts_with('~') || word.contains(['/', '.']);
    let shown: String = word.chars().take(80).collect();
    let message = format!("`@{shown}` makes some agents read a file of that name here");
    match is_path {
        true => Diagnostic::warning("note.import", message)
            .help("link to a note with `[[name]]`, or put the word into backticks"),
        false => Diagnostic::note("note.import", message)
            .help("put the word into backticks, unless a file of that name is meant to be read"),
    }
}

/// The word behind an `@` that starts one, without what ends a sentence.
fn word(text: &str, at: usize) -> Option<&str> {
    let starts = text[..at].chars().next_back().is_none_or(char::is_whitespace);
    let rest = &text[at + 1..];
    let word = &rest[..rest.find(char::is_whitespace).unwrap_or(rest.len())];
    let word = word.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', '\'', '"', '*', '_']);
    let is_name = word.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '.' | '/' | '~' | '_' | '-'));
    (starts && is_name).then_some(word)
}

#[cfg(test)]
mod tests {
    use cantus_manifest::Severity;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(u32, &str, Severity)]) {
        let found = imports(text);
        let found: Vec<_> = found
            .iter()
            .map(|finding| {
                (finding.line.unwrap(), finding.message.split('`').nth(1).unwrap(), finding.severity)
            })
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn no_word_is_passed_over_in_silence() {
        let found = imports(&"@a/b.md\n".repeat(MOST + 5));
        assert_eq!(found.len(), MOST);
        let told: Vec<_> =
            found.iter().map(|finding| finding.message.ends_with("; behind it are 5 more")).collect();
        assert_eq!(told.iter().position(|told| *told), Some(MOST - 1));
        assert_eq!(
            imports(&"@a/b.md\n".repeat(MOST)).iter().filter(|it| it.message.contains("more")).count(),
            0
        );
    }

    #[test]
    fn words_like_paths() {
        let warning = Severity::Warning;
        check(
            "See @docs/a.md.\n@./b @~/c\n- @d.md, x\n",
            &[(1, "@docs/a.md", warning), (2, "@./b", warning), (2, "@~/c", warning), (3, "@d.md", warning)],
        );
    }

    #[test]
    fn other_words() {
        check("Ask @alice or @team.\n", &[(1, "@alice", Severity::Note), (1, "@team", Severity::Note)]);
    }

    #[test]
    fn what_no_agent_reads() {
        check("a@b.c `@d/e` ``@f.md``\n```\n@g.md\n```\n    @h.md\n@ i.md @, (@j.md)\n", &[]);
    }
}
