//! Packs.
fn main() {}
