//! Whether notes would be read the same from another checkout of their files.

use std::collections::BTreeSet;

use crate::corpus::Corpus;
use crate::library::Target;
use crate::note::Content;
use crate::web::Web;

impl Corpus {
    /// Whether a checkout with CRLF between lines, and with every folder listed in another order, is read as these notes.
    ///
    /// Parsing takes the decoded text of each file, in an order that it makes itself. So it is enough that each text comes
    /// back from its other form, and that no two files have the same place in that order. `false` is no proof of the contrary.
    #[must_use]
    pub fn survives_checkout(&self) -> bool {
        self.is_strictly_ordered() && self.contents().all(survives)
    }

    /// Whether sorting puts the files into this order whatever order they come in.
    fn is_strictly_ordered(&self) -> bool {
        let names: BTreeSet<_> = self.webs.iter().map(Web::slug).collect();
        names.len() == self.webs.len()
            && self.notes.is_sorted_by(|a, b| a.path < b.path)
            && self.webs.is_sorted_by(|a, b| (a.priority, a.slug()) < (b.priority, b.slug()))
            && self.webs.iter().all(|web| web.strands.is_sorted_by(|a, b| a.path.stem() < b.path.stem()))
    }

    /// Every file's content.
    fn contents(&self) -> impl Iterator<Item = &Content> {
        self.targets().map(Target::content)
    }
}

/// Whether decoding gives the text back from CRLF line ends. It takes away one byte order mark and carriage returns, and nothing
/// else; so there is no need to write the text down in its other form and read it again.
fn survives(content: &Content) -> bool {
    !content.text.starts_with('\u{feff}') && memchr::memchr(b'\r', content.text.as_bytes()).is_none()
}

/// `text`, whose lines end in LF, with CRLF instead.
#[must_use]
pub fn crlf(text: &[u8]) -> Vec<u8> {
    let mut other = Vec::with_capacity(text.len() + text.len() / 16);
    let mut start = 0;
    for at in memchr::memchr_iter(b'\n', text) {
        other.extend_from_slice(&text[start..at]);
        other.extend_from_slice(b"\r\n");
        start = at + 1;
    }
    other.extend_from_slice(&text[start..]);
    other
}

#[cfg(test)]
mod tests {
    use cantus_manifest::RelPath;
    use proptest::prelude::*;

    use super::*;
    use crate::note::{Form, decode};
    use crate::{MemoryFolder, MemoryTree, SourceFile};

    fn file(path: &str, text: &str) -> SourceFile {
        SourceFile { path: RelPath::new(path).unwrap(), bytes: text.into(), stamp: None }
    }

    /// Two notes, and a web of two strands.
    fn corpus() -> Corpus {
        let notes = vec![
            file("n/a.md", "---\ntype: core\n---\nText\n\nmore\n"),
            file("n/b.md", "---\ntype: reference\n---\nText without an end"),
            file("n/w.md", "---\nweb: true\n---\nText\n"),
        ];
        let strands = vec![file("n/w/x.md", "one\n"), file("n/w/y.md", "two\n")];
        let folder = MemoryFolder { path: RelPath::new("n/w").unwrap(), strands, folders: Vec::new() };
        let outcome = Corpus::parse(MemoryTree { notes, folders: vec![folder] });
        assert_eq!(outcome.diagnostics, []);
        outcome.value
    }

    #[test]
    fn every_line_feed_gets_a_carriage_return() {
        assert_eq!(crlf(b"a\n\nb"), b"a\r\n\r\nb");
        assert_eq!(crlf(b""), b"");
    }

    #[test]
    fn what_was_parsed_survives() {
        assert!(corpus().survives_checkout());
        assert!(Corpus::default().survives_checkout());
    }

    fn content(text: &str) -> Content {
        Content { text: text.to_owned(), body: 0, body_line: 1, form: Form::default(), stamp: None }
    }

    #[test]
    fn a_text_that_decoding_would_change_does_not() {
        assert!(survives(&content("a\n\nb")));
        for text in ["a\rb\n", "\u{feff}a\n", "\r"] {
            assert!(!survives(&content(text)), "{text:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2_000) })]

        #[test]
        fn what_survives_is_what_decoding_gives_back(text in "[\r\n\u{feff}aé]{0,12}") {
            let back = decode(&"a", crlf(text.as_bytes()));
            prop_assert_eq!(survives(&content(&text)), back == Ok(text));
        }
    }

    #[test]
    fn files_of_one_place_or_in_another_order_do_not() {
        let mut twice = corpus();
        twice.notes.push(twice.notes[1].clone());
        assert!(!twice.survives_checkout());
        let mut turned = corpus();
        turned.webs[0].strands.reverse();
        assert!(!turned.survives_checkout());
        let mut webs = corpus();
        let mut web = webs.webs[0].clone();
        web.priority = 99;
        webs.webs.push(web);
        assert!(!webs.survives_checkout());
    }
}
