//! Bundles by digest, the render cache and the index of inputs.
//!
//! Invariants:
//! * A blob's name is the hash of its bytes, checked on every read.
//! * What is missing or broken here is a miss, never an error of a render.
//! * A key is made of what was read, never of what lies there by now.
//! * Nothing is locked: readers and writers see whole files or none.

mod blobs;
mod entry;
mod home;
mod index;
mod key;
mod observation;
mod pool;
mod store;
mod witness;

pub use blobs::Corrupt;
pub use entry::Entry;
pub use home::{VARIABLES, default_home};
pub use index::{Index, Replay};
pub use key::{Asked, Named};
pub use observation::{Observation, Places, Seen};
pub use store::{Found, Store};
pub use witness::Witness;
