//! Notes, package and facts to a bundle.
//!
//! [`SectionSet::new`] makes every section that some render of the same sources can hold, once; [`SectionSet::bundle`]
//! picks those that the facts ask for.
//!
//! Invariants:
//! * No file, environment, clock or process is touched here: the same inputs give the same bytes on every machine.
//! * Every byte of a bundle belongs to exactly one section; offsets are contiguous from 0.
//! * Every line of a section knows the source line it came from, if one line can be named.
//! * An included section owns its bytes and an excluded one its reason: "included without bytes" can't be written down.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod attributes;
mod bundle;
mod contract;
mod fit;
mod language;
mod launch;
mod manifest;
mod package;
mod plugin;
mod read;
mod roster;
mod section;
mod set;
mod settings;
mod tags;
mod trace;
mod wording;

pub use bundle::Bundle;
pub use fit::{Fitted, clip, fit};
pub use launch::{Launch, LaunchError, LaunchText, Stability, TextBudget};
pub use manifest::{COMPILER_VERSION, common_digest_of, preview};
pub use package::Package;
pub use plugin::Plugin;
pub use read::{item_text, read_text};
pub use section::{Content, Section, Status};
pub use set::{Group, Home, Material, Presence, Row, SectionSet};
pub use settings::{ConfigFile, Repository, Settings};
pub use trace::{Texts, Trace, trace};
pub use wording::Wording;
