//! Note text to notes, webs and strands.
//!
//! Bytes of a memory folder go in; a [`Corpus`] comes out, with everything that is wrong in it.
//!
//! Invariants:
//! * No file, environment or clock is touched here: every function is pure.
//! * Parsing doesn't stop at the first fault; every problem of a corpus is reported at once.
//! * Markdown is edited by lines and the parser's spans, and every other byte is copied.
//! * Nothing here can be turned into [`Facts`](cantus_manifest::Facts).

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod checkout;
mod corpus;
mod fence;
mod front_matter;
mod import;
mod inline;
mod library;
mod links;
pub mod lints;
mod markers;
mod mentions;
mod mistakes;
mod nearest;
mod note;
pub mod parallel;
mod paths;
mod plural;
mod reading;
mod sourced;
pub mod unicode;
mod web;
mod wrap;
mod yaml;

pub use checkout::crlf;
pub use corpus::{Corpus, MemoryFile, MemoryFolder, MemoryTree, SourceFile};
pub use fence::{fences, is_fenced};
pub use import::{
    Import, ImportFile, ImportOptions, ImportedNote, SkipReason, Skipped, Stretch, import, title_of,
};
pub use inline::{heading, inline, inline_body, untitled};
pub use library::{Library, Resolved, Target};
pub use links::{Following, Link, Linking, Rendering, links};
pub use markers::body_with_roster;
pub use nearest::{nearest, shortened};
pub use note::{Body, Described, Note, NoteKind, decode};
pub use paths::{PathLink, has_heading, heading_names, path_links};
pub use plural::plural;
pub use reading::{Item, Reading};
pub use sourced::{Origin, SourcedText};
pub use web::{Roster, Strand, Supersession, Web};
pub use wrap::{WrappedLine, wrap};
