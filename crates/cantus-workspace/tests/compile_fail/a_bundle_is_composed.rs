//! A bundle comes from a set of sections alone.

use cantus_compose::{Bundle, Section};
use cantus_manifest::Facts;

fn constructor(facts: Facts, sections: Vec<Section>) -> Bundle {
    Bundle::new(facts, sections, 0)
}

fn main() {}
