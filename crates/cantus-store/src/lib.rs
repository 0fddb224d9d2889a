//! Bundles by digest, the render cache and the index of inputs.
//!
//! Invariants:
//! * A blob's name is the hash of its bytes, checked on every read.
//! * What is missing or broken here is a miss, never an error of a render.
