//! Note text to notes, webs and strands.

pub mod unicode;
