//! Committed instruction files: what they should be, what they are, and how one becomes the other.
//!
//! [`Projection::compose`] says what every committed file should be, [`plan`] compares that with what lies there, and
//! [`apply`] writes. [`check`] asks what CI wants to know, and writes nothing.
//!
//! Invariants:
//! * A plan after an applied plan has nothing to do.
//! * Only what can be shown to be ours is overwritten or deleted: the notice and the lock are the proof, and what was edited
//!   by hand is refused, unless git holds the very bytes.
//! * Planning and checking write nothing, anywhere.
//! * A committed file is notice, blank line, and the native bundle less its last line feed; its copies are the same bytes.
//!   A page is notice, blank line, and the web for people.

mod apply;
mod check;
mod git;
mod journal;
mod line_ends;
mod locate;
mod lock;
mod notice;
mod page;
mod parity;
mod plan;
mod projection;
mod renders;
mod turn;

pub use apply::{ApplyError, apply, left_overs};
pub use check::check;
pub use git::Kept;
pub use line_ends::LineEnds;
pub use parity::{Gap, Parity, parity};
pub use plan::{Edit, Loss, Mend, Plan, PlanError, State, Target, plan};
pub use projection::{Projection, Totals};
pub use renders::facts_of;
pub use turn::{Turn, TurnError};
