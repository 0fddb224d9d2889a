//! Where a text mentions the strands of a web by name (§5.10).

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, BuildError};

use crate::links::prose;
use crate::plural::plural;
use crate::unicode::norm;
use crate::web::{Strand, Web};

/// The names of a web's strands, ready to be looked for.
#[derive(Debug)]
pub(crate) struct Mentions {
    automaton: AhoCorasick,
    /// For each pattern the index of its strand.
    strands: Vec<usize>,
}

impl Mentions {
    /// Takes keywords, aliases and their plurals. The error is the library's limit: more bytes of names than it can number.
    pub(crate) fn new(web: &Web) -> Result<Self, BuildError> {
        let mut phrases = BTreeMap::new();
        for (index, strand) in web.strands.iter().enumerate() {
            for phrase in names(strand).map(|name| norm(&name)).filter(|phrase| !phrase.is_empty()) {
                phrases.entry(phrase).or_insert(index);
            }
        }
        let (phrases, strands): (Vec<_>, Vec<_>) = phrases.into_iter().unzip();
        Ok(Self { automaton: AhoCorasick::new(phrases)?, strands })
    }

    /// The strands that `text` mentions outside code, by index, in the order of their first mention. Where names overlap the
    /// first counts, and of those that start together the longest.
    pub(crate) fn find(&self, text: &str) -> Vec<usize> {
        let text = norm(&prose(text));
        let whole = |start: usize, end: usize| {
            !text[..start].ends_with(char::is_alphanumeric) && !text[end..].starts_with(char::is_alphanumeric)
        };
        // The longest name at each place where one starts.
        let mut longest: BTreeMap<usize, (usize, usize)> = BTreeMap::new();
        let found = self.automaton.find_overlapping_iter(&text);
        for found in found.filter(|found| whole(found.start(), found.end())) {
            let best = (found.end(), self.strands[found.pattern().as_usize()]);
            let known = longest.entry(found.start()).or_insert(best);
            if known.0 < best.0 {
                *known = best;
            }
        }
        let mut strands = Vec::new();
        let mut from = 0;
        for (start, (end, strand)) in longest {
            if start >= from {
                from = end;
                if !strands.contains(&strand) {
                    strands.push(strand);
                }
            }
        }
        strands
    }
}

/// What a strand is called, plurals included.
pub(crate) fn names(strand: &Strand) -> impl Iterator<Item = String> {
    let declared = std::iter::once(&strand.keyword.text).chain(&strand.aliases);
    declared.flat_map(|name| [Some(name.clone()), plural(name)]).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::library::tests::corpus;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let corpus = corpus();
        let web = corpus.webs.iter().find(|web| web.slug() == "gl").unwrap();
        let found = Mentions::new(web).unwrap().find(text);
        let found: Vec<_> = found.into_iter().map(|index| web.strands[index].slug()).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn whole_phrases_in_any_spelling() {
        check("an axe and a Stitch", &["axe", "stitch"]);
        check("axes, STITCHES; hatchet", &["axe", "stitch"]);
        check("taxes are restitched", &[]);
        check("a cross-\nstitch or cross  stitches", &["cross-stitch"]);
        check("Stitch-work", &["stitch"]);
    }

    #[test]
    fn the_longest_of_those_that_start_together() {
        check("cross stitch", &["cross-stitch"]);
        check("cross stitching axe", &["axe"]);
    }

    #[test]
    fn code_mentions_nothing() {
        check("`axe` and\n```\nstitch\n```\n", &[]);
    }
}
