//! Nothing that a note says becomes facts.

use cantus_manifest::Facts;
use cantus_memory::{Corpus, Note, Web};

fn note(note: Note) -> Facts {
    note.into()
}

fn web(web: &Web) -> Facts {
    Facts::from(web)
}

fn corpus(corpus: Corpus) -> Facts {
    corpus.into()
}

fn main() {}
