//! Note text to notes, webs and strands.
