//! Session packs: what one request of a long conversation is given.
//!
//! A pack is an ordered list of sections, each with its own budget. The stable ones form the system text, a prefix that
//! providers can cache; the dynamic ones travel as a context update, and only when they differ from what the
//! conversation already holds. [`compile`] makes a pack, [`Pack::deliver`] its texts.
//!
//! Sizes and budgets are counted in chars (Unicode scalar values) unless a line says bytes.
//!
//! Invariants:
//! * The system text depends on nothing dynamic: with the same stable sections it has the same bytes in every request.
//! * An update that is applied to the snapshot it was made against gives the snapshot that it carries.
//! * No body is longer than its budget, unless its pointer alone is, and none is cut without saying so.
//! * Sizes and framing add up to the text.
//! * Only what the host appends is delivered: recording a pack says nothing of that, and can't fail a session.

mod checkpoint;
mod deliver;
mod history;
mod json;
mod launch;
mod notes;
mod pack;
mod parts;
mod read;
mod record;
mod render;
mod resolve;
mod run_id;
mod section;
mod snapshot;
mod standard;

pub use checkpoint::{CheckpointInput, checkpoint};
pub use deliver::{Compiled, Delivery, DeliverySizes, Update};
pub use history::{Delivered, HistoryError, Keys, Limits, delivered, delivered_within};
pub use launch::{
    HostSection, Override, Pinned, Reference, SectionStability, SessionLaunch, Skill, State, Todo,
    TodoStatus, ToolGroup, ToolGuidance, Tools, Turn, Variant, VariantSection, WikiPointer,
};
pub use notes::Notes;
pub use pack::{BundlePart, Pack, SessionMaterial, VariantName, compile};
pub use parts::ToolList;
pub use read::{BundleWish, Description};
pub use record::{RecordError, Saved, copy_to_run, record, save_for_session};
pub use render::Sizes;
pub use resolve::history_file;
pub use run_id::{ParseRunIdError, RunId};
pub use section::{Section, Snapshot, Source};

/// The code of what is wrong with a launch description.
pub(crate) const CODE: &str = "session.launch";

/// An id as messages name it: a control character as its code point, a long one shortened.
pub(crate) fn told(id: &str) -> String {
    let id = cantus_memory::shortened(id);
    id.chars().flat_map(|c| if c.is_control() { c.escape_unicode().collect() } else { vec![c] }).collect()
}
