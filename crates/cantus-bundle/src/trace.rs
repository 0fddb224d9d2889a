//! `trace.json`: what was decided and why, and what each source brought.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::json::{self, list, or_default};

/// The path of the trace in a tree.
pub const TRACE: &str = "trace.json";
/// What its `format` says.
pub const TRACE_FORMAT: &str = "agent-compose.trace";

/// Where objects stand in one; `*` is each item of a list.
const OBJECTS: &[&str] = &["", "decisions/*", "providers/*"];

/// `trace.json`. Reading is as tolerant as that of a [`Manifest`](crate::Manifest).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// [`TRACE_FORMAT`].
    #[serde(deserialize_with = "or_default")]
    pub format: String,
    /// The decisions, in the order in which they were made.
    #[serde(deserialize_with = "list")]
    pub decisions: Vec<Decision>,
    /// What each source brought; a producer may leave it out.
    #[serde(deserialize_with = "list", skip_serializing_if = "Vec::is_empty")]
    pub providers: Vec<Provider>,
}

/// One decision.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Decision {
    /// What was decided on: `<kind>:<name>`, of a delivery the path alone.
    #[serde(deserialize_with = "or_default")]
    pub subject: String,
    /// A [`Kind`]; others are passed over.
    #[serde(deserialize_with = "or_default")]
    pub kind: String,
    /// The id of the source, if it came from one.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub source: String,
    /// A [`Verdict`]; others are passed over.
    #[serde(deserialize_with = "or_default")]
    pub outcome: String,
    /// Why, in one sentence.
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
}

/// What a decision is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// `repository:<owner/name>`.
    Repository,
    /// `role:<r>`, `personality:<p>` or `boundary:<b>`.
    Profile,
    /// `source:<id>`.
    Source,
    /// `selector:<skill>`.
    Selector,
    /// `instruction:<id>`.
    Instruction,
    /// `skill:<id>`.
    Skill,
    /// A path of the tree.
    Delivery,
}

impl Kind {
    /// As the trace writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Repository => "repository",
            Self::Profile => "profile",
            Self::Source => "source",
            Self::Selector => "selector",
            Self::Instruction => "instruction",
            Self::Skill => "skill",
            Self::Delivery => "delivery",
        }
    }
}

/// How a decision ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Verdict {
    /// It is in the bundle.
    Selected,
    /// It is not.
    Excluded,
    /// An equal one from another source is.
    Shadowed,
    /// A path of the tree was written.
    Delivered,
}

impl Verdict {
    /// As the trace writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Selected => "selected",
            Self::Excluded => "excluded",
            Self::Shadowed => "shadowed",
            Self::Delivered => "delivered",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Decision {
    /// A decision on `subject`, with its prefix; `source` may be empty, `reason` is one sentence without anything private.
    #[must_use]
    pub fn new(kind: Kind, subject: &str, source: &str, verdict: Verdict, reason: impl Into<String>) -> Self {
        Self {
            subject: subject.to_owned(),
            kind: kind.as_str().to_owned(),
            source: source.to_owned(),
            outcome: verdict.as_str().to_owned(),
            reason: reason.into(),
        }
    }

    /// Whether it is of this kind and ended with this verdict.
    #[must_use]
    pub fn is(&self, kind: Kind, verdict: Verdict) -> bool {
        self.kind == kind.as_str() && self.outcome == verdict.as_str()
    }
}

/// What one source brought.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Provider {
    /// The source's id.
    #[serde(deserialize_with = "or_default")]
    pub source: String,
    /// A function of the scope: [`Scope::category`].
    #[serde(deserialize_with = "or_default")]
    pub category: String,
    /// A [`Scope`].
    #[serde(deserialize_with = "or_default")]
    pub scope: String,
    /// `selected` or `excluded`.
    #[serde(deserialize_with = "or_default")]
    pub outcome: String,
    /// Why, in one sentence.
    #[serde(deserialize_with = "or_default")]
    pub reason: String,
    /// Whether a person should look at it.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "std::ops::Not::not")]
    pub warning: bool,
    /// How many of its skills were selected.
    #[serde(deserialize_with = "or_default")]
    pub skills: i64,
    /// The bytes of all files in them.
    #[serde(deserialize_with = "or_default")]
    pub context_bytes: i64,
    /// [`tokens`] of those bytes.
    #[serde(deserialize_with = "or_default")]
    pub approximate_tokens: i64,
    /// Which patterns narrowed it, if any did.
    #[serde(deserialize_with = "or_default", skip_serializing_if = "String::is_empty")]
    pub selector_reason: String,
}

/// How a source came to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The person package.
    Person,
    /// Bound to the role.
    Role,
    /// Named by the request.
    Request,
    /// Always there.
    Default,
    /// Bound to a harness.
    Harness,
    /// Let in by an organisation, which other tools know.
    Org,
}

impl Scope {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Person, Self::Role, Self::Request, Self::Default, Self::Harness, Self::Org];

    /// As the trace writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Role => "role",
            Self::Request => "request",
            Self::Default => "default",
            Self::Harness => "harness",
            Self::Org => "org",
        }
    }

    /// The scope called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == name)
    }

    /// The category of a source with this scope.
    #[must_use]
    pub fn category(self) -> &'static str {
        match self {
            Self::Person => "person-package",
            Self::Role => "role-provider",
            Self::Request | Self::Default | Self::Harness | Self::Org => "catalogue",
        }
    }
}

/// The estimate of tokens for `bytes` of context: a quarter of them, rounded up.
#[must_use]
pub fn tokens(bytes: i64) -> i64 {
    bytes.saturating_add(3) / 4
}

impl Trace {
    /// A trace of these decisions and reports.
    #[must_use]
    pub fn new(decisions: Vec<Decision>, providers: Vec<Provider>) -> Self {
        Self { format: TRACE_FORMAT.to_owned(), decisions, providers }
    }

    /// Reads the text of a trace: one JSON object and nothing after it.
    pub fn read(text: &[u8]) -> Result<Self, serde_json::Error> {
        json::read(text, OBJECTS)
    }

    /// Its text: keys in their order, two blanks of indentation, a line feed at the end.
    #[must_use]
    pub fn text(&self) -> String {
        json::text(self)
    }

    /// The decisions of this kind that ended with `selected`.
    pub fn selected(&self, kind: Kind) -> impl Iterator<Item = &Decision> {
        self.decisions.iter().filter(move |decision| decision.is(kind, Verdict::Selected))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HANDMADE: &str = include_str!("../../../tests/vectors/bundle/handmade/trace.json");

    #[test]
    fn a_trace_is_written_as_it_was_read() {
        assert_eq!(Trace::read(HANDMADE.as_bytes()).unwrap().text(), HANDMADE);
    }

    #[test]
    fn only_selected_decisions_of_the_kind_are_selected() {
        let trace = Trace::read(HANDMADE.as_bytes()).unwrap();
        let subjects: Vec<_> = trace.selected(Kind::Profile).map(|it| it.subject.as_str()).collect();
        assert_eq!(subjects, ["role:lamplighter", "personality:patient", "boundary:no-fire"]);
        assert_eq!(trace.selected(Kind::Delivery).count(), 0);
    }

    #[test]
    fn tokens_are_quarters_rounded_up() {
        assert_eq!([0, 1, 4, 5, 454].map(tokens), [0, 1, 1, 2, 114]);
        assert_eq!(tokens(i64::MAX), i64::MAX / 4);
    }

    #[test]
    fn a_warning_is_written_only_if_there_is_one() {
        let text = |warning| serde_json::to_string(&Provider { warning, ..Provider::default() }).unwrap();
        assert!(text(true).contains("\"warning\":true") && !text(false).contains("warning"));
    }
}
