//! What is doubtful about a file as a whole: its form, its front matter, and that it says nothing.

use cantus_manifest::Diagnostic;

use crate::inline::untitled;
use crate::library::Target;
use crate::note::{Content, NoteKind};
use crate::unicode::is_blank;

/// A body longer than this says something.
const MOST_OF_A_TITLE: usize = 400;

pub(super) fn check(target: Target<'_>) -> Vec<Diagnostic> {
    let content = target.content();
    let mut findings = form(content);
    findings.extend(legacy(target, content));
    findings.extend(empty(target));
    findings.extend(description(target, content));
    findings
}

/// The lead and the line ends. A file with CRLF alone is how git checks out a text.
fn form(content: &Content) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    if content.form.mark {
        let finding = Diagnostic::warning("note.mark", "a byte order mark leads the file; it is left out");
        findings.push(finding.line(1).help("save the file as UTF-8 without a mark"));
    }
    if let Some(line) = content.form.mixed {
        let finding = Diagnostic::warning(
            "note.line_ends",
            "this line ends otherwise than the ones above, or in a lone carriage return",
        );
        findings.push(finding.line(line).help("end every line of the file with a line feed"));
    }
    findings
}

/// Keys that older tools wrote.
fn legacy(target: Target<'_>, content: &Content) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for (line, key) in keys(content) {
        let help = match (key, target) {
            ("closure", Target::Note(_) | Target::Web(_)) => {
                "`mentions` is `link_reference: implicit` now, `none` is `link_reference: none`"
            }
            ("closure", Target::Strand(..)) => "remove it: its web decides, or its own `link_reference`",
            ("keywords", _) => "remove it, and say in `description` when the note is to be read",
            _ => continue,
        };
        let message = format!("`{key}` is a key of older notes");
        findings.push(Diagnostic::warning("note.legacy", message).line(line).help(help));
    }
    findings
}

/// A text that says nothing. Strands must have one, and a web has its roster.
fn empty(target: Target<'_>) -> Option<Diagnostic> {
    let Target::Note(_) = target else { return None };
    let body = target.body();
    let says_nothing = body.text.len() <= MOST_OF_A_TITLE && is_blank(&untitled(body.text));
    let help = "write what it is for, or remove the file";
    says_nothing.then(|| Diagnostic::warning("note.empty", "the note has no text").line(1).help(help))
}

/// A description that is none, and an entry that says no more than the file's name.
fn description(target: Target<'_>, content: &Content) -> Option<Diagnostic> {
    let Target::Note(note) = target else { return None };
    if note.description.is_some() {
        return None;
    }
    let declared = keys(content).find(|(_, key)| *key == "description").map(|(line, _)| line);
    let message = match declared {
        Some(_) => "the description is empty",
        None if note.kind == NoteKind::Reference && note.top_level && note.summary().line == 0 => {
            "no description, paragraph or title says what the note is about"
        }
        None => return None,
    };
    let help = "write `description:` and one sentence: it decides whether an agent reads the note";
    Some(Diagnostic::warning("note.description", message).line(declared.unwrap_or(1)).help(help))
}

/// The top keys of the front matter, each with its line.
fn keys(content: &Content) -> impl Iterator<Item = (u32, &str)> {
    let lines = (1..).zip(content.text[..content.body].lines());
    lines.filter(|(_, line)| line.starts_with(|c: char| c.is_ascii_lowercase())).filter_map(
        |(number, line)| {
            let (key, _) = line.split_once(':')?;
            Some((number, key))
        },
    )
}

#[cfg(test)]
mod tests {
    use cantus_manifest::RelPath;

    use crate::corpus::{Corpus, MemoryTree, SourceFile};
    use crate::library::Library;

    #[track_caller]
    fn check(bytes: &[u8], expected: &[&str]) {
        let path = RelPath::new("memory/a.md").unwrap();
        let notes = vec![SourceFile { path, bytes: bytes.to_vec(), stamp: None }];
        let outcome = Corpus::parse(MemoryTree { notes, ..MemoryTree::default() });
        assert_eq!(outcome.diagnostics, []);
        let found = Library::new(&outcome.value).lints();
        let found: Vec<_> =
            found.iter().map(|finding| format!("{} {}", finding.code, finding.line.unwrap())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn forms() {
        check(b"---\ntype: core\n---\na\n", &[]);
        check(b"---\r\ntype: core\r\n---\r\na\r\n", &[]);
        check(b"\xef\xbb\xbf---\ntype: core\n---\na\n", &["note.mark 1"]);
        check(b"---\ntype: core\n---\na\r\nb\n", &["note.line_ends 4"]);
        check(b"---\ntype: core\n---\na\rb\n", &["note.line_ends 4"]);
    }

    #[test]
    fn older_keys() {
        check(
            b"---\ntype: core\nclosure: none\nkeywords: [a]\n---\na\n",
            &["note.legacy 3", "note.legacy 4"],
        );
        check(b"---\ntype: core\nmetadata:\n  closure: x\n---\nclosure: y\n", &[]);
    }

    #[test]
    fn texts_that_say_nothing() {
        check(b"---\ntype: core\n---\n# Title\n\n", &["note.empty 1"]);
        check(b"---\ntype: core\n---\n", &["note.empty 1"]);
        check(b"---\ntype: core\n---\n# Title\n## Sub\n", &[]);
    }

    #[test]
    fn descriptions() {
        check(b"---\ntype: core\ndescription: ''\n---\na\n", &["note.description 3"]);
        check(b"---\ntype: reference\n---\n## Sub\n", &["note.description 1"]);
        check(b"---\ntype: reference\n---\n# Title\n## Sub\n", &[]);
        check(b"---\ntype: reference\nparent: b.md\n---\n## Sub\n", &[]);
    }
}
