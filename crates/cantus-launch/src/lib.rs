//! What a launcher links: the bundle for one invocation, rendered, recorded and delivered.
//!
//! Invariants:
//! * Nothing here can fail or repeat the launcher's call.
//! * The environment of this process is never changed.

mod composer;

pub use cantus_store::{Corrupt, Store, default_home};
pub use composer::{Composer, RenderError, Rendered};
