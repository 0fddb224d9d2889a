//! Manifests: the vectors, invariants over generated ones, and the schema against the checks.

#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its own vectors, and panics where it is wrong"
)]

mod inputs;
mod properties;
#[cfg(feature = "schema")]
mod schema;
mod vectors;
