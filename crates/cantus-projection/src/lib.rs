//! Committed instruction files: what they should be, what they are, and how one becomes the other.
//!
//! [`Projection::compose`] says what every committed file should be, [`plan`] compares that with what lies there, and
//! [`apply`] writes. [`find_inputs`], [`write_notes`] and [`take_over`] bring in files that others wrote. [`check`] asks what CI wants to know, and writes nothing.
//!
//! Invariants:
//! * A plan after an applied plan has nothing to do.
//! * Only what can be shown to be ours is overwritten or deleted: the notice and the lock are the proof, and what was edited
//!   by hand is refused, unless git holds the very bytes.
//! * Planning and checking write nothing, anywhere.
//! * A committed file is notice, blank line, and the native bundle less its last line feed; its copies are the same bytes.
//!   A page is notice, blank line, and the web for people.

mod adopt;
mod apply;
mod attributes;
mod budgets;
mod check;
mod digests;
mod git;
mod history;
mod hook;
mod index;
mod journal;
mod line_ends;
mod loads;
mod locate;
mod lock;
mod merge_driver;
mod notice;
mod page;
mod parity;
mod paths;
mod plan;
mod projection;
mod providers;
mod readers;
mod renders;
mod sections;
mod turn;
mod why;
mod written;

pub use adopt::{
    Backup, Inputs, PassReason, Passed, TakeOver, TakeOverError, WriteError, find_inputs, foreign_inputs,
    foreign_targets, is_ignored, read_inputs, take_over, write_new, write_notes,
};
pub use apply::{ApplyError, apply, left_overs};
pub use attributes::{add_attributes, missing_attributes};
pub use check::{check, check_notes};
pub use git::Kept;
pub use history::{Version, history};
pub use hook::{HookDeed, HookError, HookReport, install_hooks, uninstall_hooks};
pub use index::{IndexDisk, IndexError};
pub use line_ends::LineEnds;
pub use loads::{Load, LoadPlace, Used, UserFolders, loads};
pub use merge_driver::{
    DriverDeed, MergeDriverError, Merged, Side, Sides, install_merge_driver, merge, uninstall_merge_driver,
};
pub use parity::{Gap, Parity, parity};
pub use plan::{Edit, Loss, Mend, Plan, PlanError, State, Target, plan};
pub use projection::{Projection, Totals, sibling};
pub use providers::{Beyond, Conditional, Evidence, Hides, Limit, Reader, Scope, Unit, UpTo, readers};
pub use readers::{ReadFile, Reading, Shadow, readings};
pub use renders::facts_of;
pub use turn::{Turn, TurnError};
pub use why::{Match, Place, Why, appearances, why};
pub use written::HandEdit;
