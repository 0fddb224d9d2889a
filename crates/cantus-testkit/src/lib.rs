//! Fixtures and temporary repositories for the tests of Cantus. For tests alone: every fault is a panic at the
//! caller's line.
//!
//! ```
//! # use cantus_testkit::Repo;
//! let repo = Repo::new(
//!     "
//!     //- cantus.toml
//!     name = \"acme\"
//!     //- memory/rules.md crlf
//!     Be brief.
//!     ",
//! );
//! assert_eq!(repo.files(), ["cantus.toml", "memory/rules.md"]);
//! assert_eq!(repo.read("memory/rules.md"), "Be brief.\r\n");
//! ```
//!
//! Invariants:
//! * It depends on no other crate of ours, so each of them may use it in its tests.
//! * Neither the user's git configuration nor the user's environment reaches what runs in a [`Repo`].

#![expect(clippy::disallowed_methods, reason = "tests set up their files without the code that they test")]

mod cases;
mod fixture;
mod repo;

pub use cases::{TEXT_PIECES, cases};
pub use fixture::{Fixture, FixtureFile};
pub use repo::{Output, Repo};
