//! The manifest: a bundle's description as JSON, in two versions, and the checks that it must pass.
//!
//! Field names, vocabularies, the order of the checks and their messages are the shared contract (§9 and Appendix B of the
//! peer's description): validators of either side must accept what the other writes.

#[cfg(feature = "schema")]
mod schema;
mod validate;

use std::collections::BTreeMap;
use std::fmt::Display;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use thiserror::Error;

use crate::{Actor, ExclusionReason, Layer, Lifecycle, Mode, Purpose, SourceKind};

#[cfg(feature = "schema")]
pub use schema::json_schema;

/// The version that is written.
pub const SCHEMA_VERSION: u32 = 2;

/// Why a text or a value is no manifest.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ManifestError {
    /// The version is neither 1 nor 2.
    #[error("unsupported instruction manifest schema_version {0}")]
    Version(u32),
    /// Anything else.
    #[error("invalid instruction manifest: {0}")]
    Invalid(String),
}

/// A manifest that passed every check, or one on its way to them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// 1 or 2.
    pub schema_version: u32,
    /// Who composed the bundle.
    pub compiler: Compiler,
    /// What the host said of the render.
    pub facts: FactsRecord,
    /// The bundle as a whole.
    pub bundle: BundleRecord,
    /// Sums by layer.
    pub budget: Budget,
    /// The sections: included ones in bundle order, then excluded ones.
    pub sections: Vec<SectionRecord>,
    /// How the bundle reached the agent.
    pub delivery: DeliveryRecord,
    /// Whether it was seen there.
    pub observation: Observation,
}

/// Who composed a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Compiler {
    /// The program's name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub name: String,
    /// The version of its way to compose.
    pub version: u32,
    /// The package's name and version, `name/version`.
    pub sase_version: String,
}

/// The facts of a render as they are written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FactsRecord {
    /// Who reads the bundle.
    pub actor: Actor,
    /// What the bundle is for.
    pub mode: Mode,
    /// Why the invocation happens.
    pub purpose: Purpose,
    /// Whose bundle it is.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[A-Za-z][A-Za-z0-9_-]*$")))]
    pub provider: String,
    /// The project's name.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub project: Option<String>,
    /// The host's short name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub host: String,
    /// The version control's name.
    #[serde(default)]
    pub vcs: Option<String>,
}

/// A bundle as a whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BundleRecord {
    /// The SHA-256 of its bytes.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9a-f]{64}$")))]
    pub sha256: String,
    /// What it shares with bundles that differ in provider sections alone; filled in where it is missing.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9a-f]{64}$")))]
    pub common_digest: Option<String>,
    /// Its length in bytes.
    pub bytes: u64,
    /// Its line feeds.
    pub lines: u64,
    /// The estimate of its tokens.
    pub tokens_est: u64,
    /// Where the store holds it; empty if nowhere.
    pub store_path: String,
}

/// Sums by layer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Budget {
    /// For each layer that occurs.
    pub by_layer: BTreeMap<String, LayerBudget>,
}

/// The sum of one layer's included sections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct LayerBudget {
    /// Bytes.
    pub bytes: u64,
    /// Estimated tokens.
    pub tokens_est: u64,
}

/// Whether a section is in the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SectionStatus {
    /// In.
    Included,
    /// Out.
    Excluded,
}

/// One section as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SectionRecord {
    /// Its name.
    #[cfg_attr(
        feature = "schema",
        schemars(regex(pattern = r"^(frame|pkg|plugin|home|proj|launch)(\.[A-Za-z0-9_-]+)+$"))
    )]
    pub id: String,
    /// Where it comes from.
    pub layer: Layer,
    /// In or out.
    pub status: SectionStatus,
    /// Whom it is for.
    pub lifecycle: Lifecycle,
    /// Whether a bundle without it would be wrong.
    pub required: bool,
    /// Whether it belongs to one provider.
    pub provider_specific: bool,
    /// Its first byte in the bundle, if it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Its length in bytes, if it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The SHA-256 of its bytes, if it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9a-f]{64}$")))]
    pub sha256: Option<String>,
    /// The estimate of its tokens; 0 if it is out.
    pub tokens_est: u64,
    /// What it was made of.
    #[serde(default)]
    pub sources: Vec<SourceRecord>,
    /// Why it is out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<ExclusionReason>,
    /// What stands in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadowed_by: Option<String>,
}

/// One input as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SourceRecord {
    /// The layer that it belongs to.
    pub scope: SourceScope,
    /// What kind of input it is.
    pub kind: SourceKind,
    /// Where it lies below its root.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub path: String,
    /// The SHA-256 of its bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9a-f]{64}$")))]
    pub sha256: Option<String>,
    /// Its name as a blob of git.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^([0-9a-f]{40}|[0-9a-f]{64})$")))]
    pub blob_oid: Option<String>,
}

/// The layers that have sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum SourceScope {
    /// The package.
    Package,
    /// A dependency's notes.
    Plugin,
    /// The user's own notes.
    Home,
    /// The project's notes.
    Project,
    /// The host.
    Launch,
}

/// How a bundle, or the helpers' bundle, reached its agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DeliveryStatus {
    /// It was only looked at.
    Preview,
    /// It was recorded beside what the provider reads by itself.
    Shadow,
    /// The launcher handed it over.
    Explicit,
    /// The provider reads its own files.
    InheritsNative,
    /// It has what its root has.
    InheritsRoot,
    /// There is none.
    None,
}

/// Why the launcher fell back to the provider's own files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FallbackReason {
    /// The provider has no channel that is known.
    ProviderLegacy,
    /// Delivery was switched off.
    FlagDisabled,
    /// There was no bundle.
    RenderFailed,
    /// The bundle was not what it must be.
    InvalidBundle,
    /// The bundle was too large for the channel.
    Oversize,
    /// The provider's program is too old.
    UnsupportedCli,
    /// Handing it over failed.
    DeliveryFailed,
}

/// What the render cache did.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CacheStatus {
    /// It had the bundle.
    Hit,
    /// It had not.
    Miss,
    /// It was not asked.
    Bypass,
}

/// A fallback and what there is to say of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    /// Why.
    pub reason: FallbackReason,
    /// More words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The helpers' part of a delivery.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Subagent {
    /// How the helpers' bundle reaches them.
    pub status: DeliveryStatus,
    /// Through which channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[a-z0-9_]+\.[a-z0-9_]+$")))]
    pub channel: Option<String>,
    /// The SHA-256 of the helpers' bundle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = r"^[0-9a-f]{64}$")))]
    pub bundle_sha256: Option<String>,
    /// Why it fell back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
}

/// How a bundle reached the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DeliveryRecord {
    /// How.
    pub status: DeliveryStatus,
    /// Through which channel.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub channel: Option<String>,
    /// The helpers' part; version 2 alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent: Option<Subagent>,
    /// Why it fell back; version 2 alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback: Option<Fallback>,
    /// The invocation's own id.
    pub invocation_id: String,
    /// Its number in the run.
    pub invocation_seq: u64,
    /// The run's attempt, from 1.
    pub attempt: u64,
    /// The agent's name.
    pub agent_name: String,
    /// The agent's type.
    pub agent_type: String,
    /// The model.
    pub model: String,
    /// The root's invocation, for a helper.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_invocation_id: Option<String>,
    /// The provider's sessions.
    #[serde(default)]
    pub session_ids: Vec<String>,
    /// The version of the provider's program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_cli_version: Option<String>,
    /// When it was rendered.
    pub rendered_at: String,
    /// How long that took, in milliseconds.
    pub render_ms: f64,
    /// What the cache did.
    pub cache: CacheStatus,
}

/// Whether the agent loaded the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ObservationStatus {
    /// Nobody has looked.
    Unobserved,
    /// All of it was seen.
    Observed,
    /// A part was seen.
    Partial,
    /// It can't be told.
    Unavailable,
}

/// Whether a bundle was seen where it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Observation {
    /// What is known.
    pub status: ObservationStatus,
}

impl Manifest {
    /// Takes a manifest that passes every check, in their order; the first failure is the error. A missing
    /// `bundle.common_digest` is filled in.
    pub fn normalise(value: &Value) -> Result<Self, ManifestError> {
        validate::version_1_fields(value)?;
        let shape = |error: &dyn Display| {
            ManifestError::Invalid(format!("manifest is not a valid InstructionManifestWire: {error}"))
        };
        let manifest = Self::deserialize(value).map_err(|error| shape(&error))?;
        validate::same_kinds(value, &manifest.to_value()).map_err(|error| shape(&error))?;
        validate::normalise(manifest)
    }

    /// The manifest as a JSON value: nothing but what every validator of the contract accepts.
    #[must_use]
    pub fn to_value(&self) -> Value {
        // Texts, numbers and lists of them: nothing that JSON lacks. A time that is no number was refused.
        serde_json::to_value(self).unwrap_or_default()
    }
}
