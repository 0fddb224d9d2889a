//! What a launcher links: the bundle for one invocation, rendered, recorded and delivered.
//!
//! Invariants:
//! * Nothing here can fail or repeat the launcher's call.
//! * The environment of this process is never changed.
//! * What was recorded stays whole, whatever happens while more is recorded; reading back never fails on a record.

mod adapters;
mod composer;
mod delivery;
mod invocation;
mod invoke;
mod marker;
mod owned;
mod plan;
mod preview;
mod program;
mod reading;
mod record;
mod runs;
mod time;
mod validity;

pub use cantus_compose::{Launch, LaunchError, LaunchText, Stability, TextBudget};
pub use cantus_manifest::manifest::{DeliveryStatus, Fallback, FallbackReason};
pub use cantus_manifest::{Facts, ParseProviderError, Provider, Purpose};
pub use composer::{Composer, RenderError, Rendered};
pub use delivery::Delivery;
pub use invocation::Invocation;
pub use invoke::{Active, Ended, Trouble};
pub use plan::{DeliveryPlan, Slot};
pub use reading::{BundleSource, Integrity, Record, RecordFiles, Said, latest_seq, record_files, records};
pub use record::{ErrorRecord, RecordError, Reservation, Role, Run};
pub use runs::{Found, IndexEntries, IndexEntry, Named, RunFile, RunIndex, RunInfo, Runs};
pub use time::rfc3339;
