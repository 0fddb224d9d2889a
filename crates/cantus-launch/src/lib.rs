//! What a launcher links: the bundle for one invocation, rendered, recorded and delivered.
//!
//! Invariants:
//! * Nothing here can fail or repeat the launcher's call.
//! * The environment of this process is never changed.
//! * What was recorded stays whole, whatever happens while more is recorded; reading back never fails on a record.

mod adapters;
mod comparison;
mod composer;
mod delivery;
mod invocation;
mod invoke;
mod marker;
#[cfg(feature = "observe")]
pub mod observe;
mod owned;
mod plan;
mod preview;
mod program;
mod reading;
mod record;
mod runs;
#[cfg(feature = "session")]
mod session;
mod time;
mod validity;

// What a launcher needs of the crates below, so that it needs to name this one alone.
pub use cantus_compose::{Launch, LaunchError, LaunchText, Stability, TextBudget};
pub use cantus_fs::{Disk, RealDisk, Root};
pub use cantus_manifest::manifest::{DeliveryStatus, Fallback, FallbackReason};
pub use cantus_manifest::{Facts, ParseProviderError, Provider, Purpose};
// All of sessions by itself: its own names would be mistaken for those of renders.
#[cfg(feature = "session")]
pub use cantus_session as sessions;
pub use cantus_store::{Corrupt, Store};

pub use comparison::{Change, Comparison, SectionChange};
pub use composer::{Composer, RenderError, Rendered};
pub use delivery::Delivery;
pub use invocation::Invocation;
pub use invoke::{Active, Ended, Trouble};
pub use plan::{DeliveryPlan, Slot};
pub use reading::{BundleSource, Integrity, Record, RecordFiles, Said, latest_seq, record_files, records};
pub use record::{ErrorRecord, RecordError, Reservation, Role, Run};
pub use runs::{Found, IndexEntries, IndexEntry, Named, RunFile, RunIndex, RunInfo, Runs, Window, Within};
#[cfg(feature = "session")]
pub use session::{SessionComposer, SessionError, SessionTexts};
pub use time::rfc3339;
// Where the index of runs is: the folder that the environment names, else the user's data.
pub use cantus_store::default_home as store_home;
