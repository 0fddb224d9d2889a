//! Immutable bundle trees: what was composed for one role, as a folder that consumers enter through `manifest.json`.
//!
//! A [`Request`] is resolved to a [`Resolution`] ([`resolve`]), which becomes a tree ([`materialise`]); a tree is judged
//! ([`verify`]), shown ([`describe`], [`diff`]), packed ([`export`]) and laid out where a harness looks ([`project`],
//! [`unproject`]).
//!
//! Invariants:
//! * A tree that has its final name is whole and is never written again; its name comes from everything that made it.
//! * Equal trees give equal archives, whatever their times, modes and order on the disk.
//! * No link is followed inside a tree, and no path in one leaves it.
//! * Nothing at a target changes before the bundle was verified; a projection that fails gives everything back.
//! * A request names nothing outside its own folder, and nothing is fetched; what it names is read without following a link.
//! * Every decision has its reason from the moment at which it is made.
//! * What Cantus didn't write at a target is neither overwritten nor claimed nor removed.

mod card;
mod colour;
mod describe;
mod diff;
mod export;
mod fault;
mod faults;
mod folder;
mod graph;
mod instructions;
mod json;
mod load;
mod manifest;
mod materialise;
mod names;
mod node;
mod place;
mod project;
mod relative;
mod request;
mod resolution;
mod resolve;
mod roster;
mod selector;
mod source;
mod strict;
mod syntax;
mod trace;
mod tree;
mod verify;

pub use colour::{Colour, ColourError, MeldError, OkLab, meld};
pub use describe::{DescribeError, Description, Detail, describe};
pub use diff::{Change, DiffError, Difference, Side, diff, side};
pub use export::{EntryError, ExportError, export};
pub use fault::Fault;
pub use instructions::{assemble, compile};
pub use manifest::{
    Content, Delivery, Emblem, FORMAT, Identity, Look, MANIFEST, Manifest, Mode, Repository, Seat, Tier,
};
pub use materialise::{MaterialiseError, Materialised, materialise};
pub use names::{NameError, Segment, SourceId, TreePath, check_repository};
pub use project::{
    FileState, Layout, ProjectError, Projected, Reach, State, Unprojected, Wanted, check_projection, project,
    unproject,
};
pub use relative::Relative;
pub use request::{BUILT_IN, Library, Lines, Named, Need, Place, Policy, Request, SourceRequest};
pub use resolution::{Entry, Instruction, Resolution, Skill};
pub use resolve::{Base, built_in_roles, resolve};
pub use selector::{Pattern, PatternError, SelectError, select};
pub use strict::verify_strictly;
pub use trace::{Decision, Kind, Provider, Scope, TRACE, TRACE_FORMAT, Trace, Verdict, tokens};
pub use tree::Tree;
pub use verify::{SkillTree, Verified, verify};
