//! What a launcher says of one invocation of an agent.

use std::path::{Path, PathBuf};

use cantus_compose::Launch;
use cantus_manifest::{Facts, Provider, Purpose};

/// One invocation of a root agent. Only a host makes one: nothing of it comes from a note or a configuration.
#[derive(Clone, Debug)]
pub struct Invocation {
    pub(crate) provider: Provider,
    pub(crate) agent: String,
    pub(crate) agent_type: String,
    pub(crate) model: String,
    pub(crate) purpose: Purpose,
    pub(crate) lineage: Lineage,
    pub(crate) launch: Launch,
    pub(crate) run_name: Option<String>,
    pub(crate) folder: Option<PathBuf>,
    pub(crate) program: Option<PathBuf>,
    pub(crate) channel: Channel,
}

/// Where an invocation comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Lineage {
    /// From nowhere: it is the first of its conversation.
    #[default]
    New,
    /// Another invocation, with this id, started it.
    Child(String),
    /// It goes on with the conversation of the invocation with this id, whose bundle that still holds.
    Resumed(String),
}

/// Whether the bundle may be handed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Channel {
    /// Through the provider's own channel, where it has one.
    #[default]
    Explicit,
    /// Not: the provider reads its own files.
    SwitchedOff,
}

impl Invocation {
    /// A root agent of `provider`, for ordinary work, without a name, a model or a parent.
    #[must_use]
    pub fn root(provider: Provider) -> Self {
        Self {
            provider,
            agent: String::new(),
            agent_type: String::new(),
            model: String::new(),
            purpose: Purpose::default(),
            lineage: Lineage::default(),
            launch: Launch::default(),
            run_name: None,
            folder: None,
            program: None,
            channel: Channel::default(),
        }
    }

    /// The same for the agent of this name, for the record.
    #[must_use]
    pub fn agent(mut self, name: impl Into<String>) -> Self {
        self.agent = name.into();
        self
    }

    /// The same for an agent of this type, for the record.
    #[must_use]
    pub fn agent_type(mut self, name: impl Into<String>) -> Self {
        self.agent_type = name.into();
        self
    }

    /// The same with this model, for the record.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>) -> Self {
        self.model = name.into();
        self
    }

    /// The same with this purpose. Never changes bytes.
    #[must_use]
    pub fn purpose(mut self, purpose: Purpose) -> Self {
        self.purpose = purpose;
        self
    }

    /// The same, started by the invocation with the id `invocation`.
    #[must_use]
    pub fn parent(mut self, invocation: impl Into<String>) -> Self {
        self.lineage = Lineage::Child(invocation.into());
        self
    }

    /// The same, going on with the conversation of the invocation with the id `invocation`: it has that one's bundle, and
    /// gets no other.
    #[must_use]
    pub fn resume(mut self, invocation: impl Into<String>) -> Self {
        self.lineage = Lineage::Resumed(invocation.into());
        self
    }

    /// The same with the host's own sections behind all others.
    #[must_use]
    pub fn launch(mut self, launch: Launch) -> Self {
        self.launch = launch;
        self
    }

    /// The same in a run of this name (default: `$CANTUS_RUN_NAME`, else the name of the artifacts folder).
    #[must_use]
    pub fn run_name(mut self, name: impl Into<String>) -> Self {
        self.run_name = Some(name.into());
        self
    }

    /// The same for a child that runs in `folder` (default: this process's working folder). Relative paths among its
    /// arguments start there.
    #[must_use]
    pub fn folder(mut self, folder: &Path) -> Self {
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// The same with `program` as the provider's program (default: the provider's name, looked up as the system does). It is
    /// asked for its version where the delivery depends on that, and only if its file is called like the provider.
    #[must_use]
    pub fn program(mut self, program: impl Into<PathBuf>) -> Self {
        self.program = Some(program.into());
        self
    }

    /// The same without a hand-over: the provider reads its own files, and the record says `flag_disabled`.
    #[must_use]
    pub fn undelivered(mut self) -> Self {
        self.channel = Channel::SwitchedOff;
        self
    }

    /// The facts of its bundle.
    pub(crate) fn facts(&self) -> Facts {
        Facts::root(self.provider.clone()).purpose(self.purpose)
    }
}
