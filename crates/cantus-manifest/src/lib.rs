//! The contract of Cantus: what a bundle says about itself, in types that allow only what is legal.
//!
//! Facts, layers, sections' names and states, digests, diagnostics, and the one path type that may reach output.
//!
//! Invariants:
//! * No file, environment, clock or Markdown is touched here: every function is pure.
//! * [`RelPath`] is the only path type that may reach output; it can't be absolute or leave its root.
//! * [`Facts`] come from constructors that allow legal combinations alone; nothing that a note or a
//!   configuration says can be turned into them.

#![deny(clippy::disallowed_methods, clippy::disallowed_types)]

mod diagnostic;
mod digest;
mod facts;
mod json;
pub mod manifest;
mod path;
mod section;
mod stamp;

pub use diagnostic::{Diagnostic, Outcome, Severity, sort_by_place};
pub use digest::{Digest, ParseDigestError, common_digest, tokens_est};
pub use facts::{Actor, Facts, Mode, ParseProviderError, Provider, Purpose};
pub use json::canonical_json;
pub use path::{ParseRelPathError, RelPath};
pub use section::{
    ExclusionReason, Hashes, Layer, Lifecycle, ParseSectionIdError, SectionId, Source, SourceKind,
};
pub use stamp::{BlobId, Stamp, Stamps};
