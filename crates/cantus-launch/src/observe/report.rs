//! What is asked about observed loads, and what the answer is, as the shapes of its JSON.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::path::PathBuf;
use std::time::SystemTime;

use cantus_manifest::Layer;
use serde::Serialize;

use super::Known;
use super::roots::Roots;
use crate::RunInfo;

/// The version of the keys that the peer's report has too.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// The version of the report as a whole.
pub(crate) const VERSION: u32 = 1;

/// What today's composition would look for in the conversations of a provider in a run.
pub type Today<'a> = dyn Fn(&RunInfo, Known) -> Needles + 'a;

/// What is asked.
#[derive(Clone)]
pub struct Request<'a> {
    /// The runs that may be looked at, in any order. Those without a start or without a provider are no runs.
    pub runs: Vec<RunInfo>,
    /// The providers that are wanted; none means every known one.
    pub providers: Vec<Known>,
    /// How many of the newest runs count for each provider.
    pub limit: usize,
    /// Only runs that started then or later. Not looked at if an agent is named.
    pub since: Option<SystemTime>,
    /// Only runs that started then or earlier. Not looked at if an agent is named.
    pub until: Option<SystemTime>,
    /// The name of the one run that is asked about: it alone is in `runs`, and its sections are compared.
    pub agent: Option<String>,
    /// Whether the report has its `coverage` and `verdicts`.
    pub coverage: bool,
    /// Whether helpers are asked for, so that the report has its `observations`.
    pub helpers: bool,
    /// Where the providers keep their sessions.
    pub roots: Roots,
    /// The user's home, for what a record keeps in the store.
    pub user: Option<PathBuf>,
    /// The time of the report; a run that goes on ends here.
    pub now: SystemTime,
    /// What today's composition would look for, where no record of a run tells.
    pub today: Option<&'a Today<'a>>,
}

impl Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("runs", &self.runs)
            .field("providers", &self.providers)
            .field("limit", &self.limit)
            .field("since", &self.since)
            .field("until", &self.until)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// What is looked for in the texts of a session besides the sections of a bundle. What is `None` is never found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Needles {
    /// The title of the user's own notes, without `#` and `Home:`.
    pub home_title: Option<String>,
    /// The title of the project's notes, without `#`.
    pub project_title: Option<String>,
    /// The heading of the contract that each root agent has, without `#` and numbers.
    pub contract: Option<String>,
    /// A text that the provider's own section of the package begins with.
    pub directive: Option<String>,
}

/// The answer. Its JSON has no text of any session: counts, ids, names of sections, and paths.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// 1: the version of the keys that the peer's report has too.
    pub schema_version: u32,
    /// 1: the version of the report as a whole.
    pub version: u32,
    /// When it was made, RFC 3339.
    pub generated_at: String,
    /// What was asked.
    pub filters: Filters,
    /// A row a provider, in their order.
    pub providers: Vec<Row>,
    /// The runs that were looked at, the newest first.
    pub runs: Vec<RunRow>,
    /// Every conversation, a stand-in for each run without one; with an agent, helpers or coverage alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observations: Option<Vec<Observation>>,
    /// How many invocations were seen; with coverage alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
    /// What became of the bundle in each root conversation, those of other invocations too; with coverage alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdicts: Option<Vec<Verdict>>,
    /// Root conversations with lines that could not be read; with coverage alone, and if there are any.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<Unread>,
    /// What runs recorded and nothing was seen of; with coverage alone, and not in the JSON.
    #[serde(skip)]
    pub missing: Vec<Missing>,
    /// The root conversations with what ties them to their runs; not in the JSON.
    #[serde(skip)]
    pub sessions: Vec<Session>,
}

/// What was asked, as the report repeats it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Filters {
    /// The one agent.
    pub agent: Option<String>,
    /// Whether coverage was asked for.
    pub coverage: bool,
    /// Whether helpers were asked for.
    pub helpers: bool,
    /// How many runs count for each provider.
    pub limit: usize,
    /// The providers that were named.
    pub providers: Vec<Known>,
    /// RFC 3339.
    pub since: Option<String>,
    /// RFC 3339.
    pub until: Option<String>,
}

/// A run that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunRow {
    /// What it is called.
    pub name: String,
    /// The provider of its first invocation.
    pub provider: Option<String>,
    /// Its artifacts folder, absolute.
    pub artifacts: String,
    /// RFC 3339.
    pub started_at: Option<String>,
    /// RFC 3339; `None` while it goes on.
    pub ended_at: Option<String>,
    /// The exit status of its last invocation.
    pub exit_status: Option<i32>,
}

/// A root conversation of which something could not be read: its last line may be on its way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unread {
    /// The run.
    pub run: String,
    /// The conversation.
    pub session: String,
    /// How many lines are no records.
    pub lines: usize,
}

/// What a run recorded of a provider and nothing was seen of; at least one number isn't 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Whose invocations they are.
    pub provider: Known,
    /// The run.
    pub run: String,
    /// How many invocations have no conversation.
    pub unobserved: usize,
    /// How many invocations have no bundle.
    pub errors: usize,
}

/// A root conversation and its tie to a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Whose it is.
    pub provider: Known,
    /// The run in whose time and folder it began.
    pub run: String,
    /// What the provider calls it.
    pub session: String,
    /// When it began, RFC 3339 to the millisecond.
    pub start: String,
    /// The markers in it, each once: 12 hex of a bundle and an invocation.
    pub markers: Vec<(String, String)>,
    /// The numbers of the records that it belongs to, the best first.
    pub matches: Vec<u64>,
    /// Whether it is another invocation's, and not counted.
    pub foreign: bool,
    /// Whether only a part of it was read.
    pub partial: bool,
}

/// What was seen in one conversation. What is `None` could not be told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observation {
    /// Whose conversation it is.
    pub provider: Known,
    /// The run.
    pub run: String,
    /// What the provider calls it; a helper's begins with that of its root and `/`. `unobserved` stands for none.
    pub session: String,
    /// How often the contract stands in it, however it came there.
    pub contract_count: Option<u64>,
    /// How often it came there by the provider's own files.
    pub native_full_count: Option<u64>,
    /// Whether the user's own notes are in it.
    pub home: Option<bool>,
    /// Whether the project's notes are in it.
    pub project: Option<bool>,
    /// Whether the provider's own section of the package was handed over.
    pub directive: Option<bool>,
    /// The same for each of the two ways; what a helper isn't judged by is missing.
    pub channels: Channels,
    /// What else the provider loaded by itself.
    pub foreign: Option<String>,
    /// Whether only a part of it was read.
    pub partial: bool,
    /// The kind of helper it is.
    pub helper_type: Option<String>,
    /// Whether the text for helpers is in it.
    pub has_helper_template: bool,
    /// How often it tried to make the final declaration.
    pub final_attempts: u64,
    /// How often that was denied.
    pub final_denied: u64,
    /// How often it was accepted.
    pub final_accepted: u64,
    /// Whether a root was kept from something as if it were a helper.
    pub root_guard_denial: bool,
    /// How often its own bundle stands in it, by the marker.
    pub bundle_count: Option<u64>,
    /// How its record says that the bundle got there.
    pub delivery: Option<String>,
    /// Whether its bundle has notes of the user.
    pub home_expected: Option<bool>,
    /// Whether a helper has the helpers' bundle.
    pub helper_bundle: Option<bool>,
    /// How often the root's bundle stands in a helper, where it doesn't belong.
    pub root_bundle_in_helper: Option<u64>,
    /// Intent against load, section by section; with an agent alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section_diff: Option<SectionDiff>,
}

/// What came by which way.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Channels {
    /// How often the contract came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contract: Option<Ways<u64>>,
    /// Whether the user's own notes came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub home: Option<Ways<bool>>,
    /// Whether the project's notes came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Ways<bool>>,
    /// Whether the provider's own section came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directive: Option<Ways<bool>>,
}

/// One finding for each way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ways<T> {
    /// In files that the provider found by itself.
    pub native: Option<T>,
    /// In what the launcher handed over.
    pub explicit: Option<T>,
}

/// The sections of a record, looked for in one conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionDiff {
    /// The record's manifest, absolute; `None` if the conversation has no record.
    pub manifest: Option<String>,
    /// Why that invocation happened.
    pub purpose: Option<String>,
    /// Whether there is nothing to compare, or only a part of the conversation was read.
    pub unavailable: bool,
    /// A row a section, by id.
    pub rows: Vec<SectionRow>,
}

/// How often one section stands in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionRow {
    /// Its name.
    pub id: String,
    /// Where it comes from.
    pub layer: Layer,
    /// In all; `None` if it wasn't seen in a conversation of which only a part was read.
    pub observed: Option<u64>,
    /// In files that the provider found by itself.
    pub native: u64,
    /// In what the launcher handed over.
    pub explicit: u64,
}

/// What was seen of one provider, as people read it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Row {
    /// Whose row it is.
    pub provider: Known,
    /// How many runs were looked at.
    pub runs: usize,
    /// How many conversations were found, helpers among them.
    pub sessions: usize,
    /// Counts of the contract, such as `1×`.
    pub contract: String,
    /// `✓`, `✗` or `◌`.
    pub home: String,
    /// `✓`, `✗` or `◌`.
    pub project: String,
    /// `✓`, `✗` or `◌`.
    pub directive: String,
    /// Counts of the contract in the provider's own files.
    pub native_full: String,
    /// What else was loaded, `—` if nothing.
    pub foreign: String,
    /// What the helpers did and got.
    pub helpers: String,
    /// How many conversations had a root kept from something as if it were a helper.
    pub root_denials: usize,
    /// Conversations with a record, of all, such as `3/4`.
    pub coverage: String,
    /// Counts of the bundle, `—` where it wasn't handed over.
    pub bundle: String,
    /// How bundles got there.
    pub delivery: String,
    /// What came by which way, mostly.
    pub channels: Channels,
}

/// How many invocations were seen.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Coverage {
    /// Invocations without a bundle, in all.
    pub errors_total: usize,
    /// A row a provider and purpose.
    pub rows: Vec<CoverageRow>,
}

/// The invocations of one provider with one purpose.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CoverageRow {
    /// Whose they are.
    pub provider: Known,
    /// Why they happened; `—` where nothing was recorded.
    pub purpose: String,
    /// How many have a manifest.
    pub manifests: usize,
    /// How many conversations were found.
    pub sessions: usize,
    /// How many of those have a record.
    pub covered: usize,
    /// The first ten of the others.
    pub uncovered: Vec<Uncovered>,
    /// Invocations without a bundle.
    pub errors: usize,
    /// Milliseconds of a render from the cache: the median.
    pub warm_p50_ms: Option<f64>,
    /// Of 95 in a hundred.
    pub warm_p95_ms: Option<f64>,
    /// Milliseconds of the other renders: the median.
    pub cold_p50_ms: Option<f64>,
    /// Of 95 in a hundred.
    pub cold_p95_ms: Option<f64>,
    /// What became of their bundles: all six of [`Fate`].
    pub digest: BTreeMap<Fate, usize>,
}

/// A conversation without a record.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Uncovered {
    /// The run.
    pub agent: String,
    /// The conversation.
    pub session: String,
}

/// What became of the bundle in one root conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// The run.
    pub run: String,
    /// The conversation.
    pub session: String,
    /// What ties it to a record.
    pub evidence: Evidence,
    /// The number of the record that is judged.
    pub manifest: Option<u64>,
    /// What became of its bundle.
    pub digest: Option<Fate>,
    /// Where it was cut, in bytes of the bundle.
    pub cut_at: Option<u64>,
    /// The section at that place.
    pub cut_section: Option<String>,
    /// How many of its sections stand in the conversation.
    pub sections_seen: Option<usize>,
    /// How many it has, headings of the composer's own aside.
    pub sections_total: Option<usize>,
}

/// What ties a conversation to a record, the strongest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// The marker of the invocation stands in it.
    Marker,
    /// The record names the session.
    Session,
    /// Provider, folder and time fit. Too weak to call a delivery failed.
    Time,
    /// It is another invocation's.
    Foreign,
    /// There is no record for it.
    None,
}

/// What became of a bundle, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Fate {
    /// It stands there whole.
    Equal,
    /// Its beginning does.
    Cut,
    /// Something of it does.
    Differs,
    /// Nothing does, though the place was seen whole.
    Absent,
    /// That can't be told.
    Unknown,
    /// No conversation was found.
    Unobserved,
}

impl Fate {
    /// All of them, the best first.
    pub const ALL: [Self; 6] =
        [Self::Equal, Self::Cut, Self::Differs, Self::Absent, Self::Unknown, Self::Unobserved];
}

macro_rules! words {
    ($($kind:ident { $($name:ident => $word:literal),* $(,)? })*) => { $(
        impl $kind {
            /// The word for it in reports.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word),* }
            }
        }

        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.as_str())
            }
        }
    )* };
}

words! {
    Evidence { Marker => "marker", Session => "session", Time => "time", Foreign => "foreign", None => "none" }
    Fate {
        Equal => "equal", Cut => "cut", Differs => "differs", Absent => "absent", Unknown => "unknown",
        Unobserved => "unobserved",
    }
}
