//! The bytes of a section are made where sections are made, with their digest.

use std::sync::Arc;

use cantus_compose::Content;
use cantus_memory::SourcedText;

fn constructor(text: SourcedText) -> Arc<Content> {
    Content::new(text)
}

fn main() {}
