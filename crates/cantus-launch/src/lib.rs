//! What a launcher links: the bundle for one invocation, rendered, recorded and delivered.
//!
//! Invariants:
//! * Nothing here can fail or repeat the launcher's call.
//! * The environment of this process is never changed.

mod adapters;
mod composer;
mod invocation;
mod marker;
mod plan;

pub use composer::{Composer, RenderError, Rendered};
pub use invocation::Invocation;
pub use plan::{DeliveryPlan, Slot};
