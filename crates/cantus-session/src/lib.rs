//! Session packs: what one request of a long conversation is given.
//!
//! A pack is an ordered list of sections, each with its own budget. The stable ones form the system text, a prefix that
//! providers can cache; the dynamic ones travel as a context update, and only when they differ from what the
//! conversation already holds.
//!
//! Sizes and budgets are counted in chars (Unicode scalar values) unless a line says bytes.

mod section;

pub use section::{Section, Snapshot, Source};
