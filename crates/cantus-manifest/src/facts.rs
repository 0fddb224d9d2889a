//! What the host says of one render.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Who reads the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The agent that owns the turn and its result.
    SaseRoot,
    /// An agent that a root agent started with the provider's own means.
    NativeHelper,
    /// A person at the provider's prompt, or nobody (an export).
    Interactive,
}

/// What the bundle is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// One invocation by a launcher.
    Runtime,
    /// A session that a person leads.
    Interactive,
    /// A document for other places, without the home layer.
    Export,
}

/// Why the invocation happens; recorded, without influence on bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// Ordinary work.
    #[default]
    Ordinary,
    /// Asking again for a declaration that was missing.
    DeclarationRecovery,
    /// Mending a conflict.
    ConflictRepair,
}

/// A provider's name: an ASCII letter, then ASCII letters, digits, `_` and `-`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Provider(String);

/// A text that isn't a [`Provider`].
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{0}` is not a provider: expected a letter, then letters, digits, `_` and `-`")]
pub struct ParseProviderError(String);

impl Provider {
    /// Takes `name` if it is an identifier.
    pub fn new(name: impl Into<String>) -> Result<Self, ParseProviderError> {
        let name = name.into();
        let rest = name.strip_prefix(|first: char| first.is_ascii_alphabetic());
        if rest.is_some_and(|rest| rest.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-')))
        {
            Ok(Self(name))
        } else {
            Err(ParseProviderError(name))
        }
    }

    /// The provider without a directive, whose bundle is the committed file.
    #[must_use]
    pub fn native() -> Self {
        Self("native".to_owned())
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Provider {
    type Err = ParseProviderError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::new(name)
    }
}

impl TryFrom<String> for Provider {
    type Error = ParseProviderError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        Self::new(name)
    }
}

impl From<Provider> for String {
    fn from(provider: Provider) -> Self {
        provider.0
    }
}

/// What the host says of one render. Only legal combinations of actor and mode can be made (§7.7).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    actor: Actor,
    mode: Mode,
    purpose: Purpose,
    provider: Provider,
    project: Option<String>,
    host: Option<String>,
    vcs: Option<String>,
}

impl Facts {
    /// A root agent in one invocation.
    #[must_use]
    pub fn root(provider: Provider) -> Self {
        Self::new(Actor::SaseRoot, Mode::Runtime, provider)
    }

    /// A helper that a root agent started in one invocation.
    #[must_use]
    pub fn helper(provider: Provider) -> Self {
        Self::new(Actor::NativeHelper, Mode::Runtime, provider)
    }

    /// A session that a person leads.
    #[must_use]
    pub fn interactive(provider: Provider) -> Self {
        Self::new(Actor::Interactive, Mode::Interactive, provider)
    }

    /// A document for other places: no home layer, no lifecycle section.
    #[must_use]
    pub fn export(provider: Provider) -> Self {
        Self::new(Actor::Interactive, Mode::Export, provider)
    }

    fn new(actor: Actor, mode: Mode, provider: Provider) -> Self {
        Self { actor, mode, purpose: Purpose::default(), provider, project: None, host: None, vcs: None }
    }

    /// The same for the project of this name; an empty name is none.
    #[must_use]
    pub fn project(mut self, name: Option<&str>) -> Self {
        self.project = non_empty(name);
        self
    }

    /// The same with this purpose. Never changes bytes.
    #[must_use]
    pub fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// The same on this host (short name); an empty name is none. Never changes bytes.
    #[must_use]
    pub fn host(mut self, name: Option<&str>) -> Self {
        self.host = non_empty(name);
        self
    }

    /// The same under this version control; an empty name is none. Never changes bytes.
    #[must_use]
    pub fn vcs(mut self, name: Option<&str>) -> Self {
        self.vcs = non_empty(name);
        self
    }

    /// Who reads the bundle.
    #[must_use]
    pub fn actor(&self) -> Actor {
        self.actor
    }

    /// What the bundle is for.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Why the invocation happens.
    #[must_use]
    pub fn purpose_fact(&self) -> Purpose {
        self.purpose
    }

    /// Whose bundle it is.
    #[must_use]
    pub fn provider(&self) -> &Provider {
        &self.provider
    }

    /// The project's name, never empty.
    #[must_use]
    pub fn project_name(&self) -> Option<&str> {
        self.project.as_deref()
    }

    /// The host's short name, never empty.
    #[must_use]
    pub fn host_name(&self) -> Option<&str> {
        self.host.as_deref()
    }

    /// The version control's name, never empty.
    #[must_use]
    pub fn vcs_name(&self) -> Option<&str> {
        self.vcs.as_deref()
    }
}

fn non_empty(name: Option<&str>) -> Option<String> {
    name.filter(|name| !name.is_empty()).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn providers_are_identifiers() {
        for name in ["claude", "Claude", "a-b_9"] {
            assert!(Provider::new(name).is_ok(), "{name}");
        }
        for name in ["", "9x", "a.b", "é", "-a", "a b"] {
            assert!(Provider::new(name).is_err(), "{name}");
        }
    }

    #[test]
    fn empty_names_are_none() {
        let facts = Facts::root(Provider::native()).project(Some("")).vcs(Some("")).host(Some("h"));
        assert_eq!((facts.project_name(), facts.vcs_name(), facts.host_name()), (None, None, Some("h")));
    }
}
