//! What runs were really given and what came of them, read back from files that launchers and providers wrote.

mod readout;
mod when;

pub use readout::{Layout, ModeRow, Readout, ReadoutFilters, ReadoutKind, ReadoutRequest, readout};
pub use when::{WhenError, when};
