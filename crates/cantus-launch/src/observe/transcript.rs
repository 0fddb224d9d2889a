//! One conversation as its provider's reader saw it.

use std::collections::BTreeSet;
use std::time::SystemTime;

use super::channel::Channel;
use super::text::markers;

/// The most characters of what kind a helper is.
const MOST_KIND: usize = 64;

/// One conversation.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    /// What the provider calls it.
    pub(crate) name: String,
    /// Other names that records may have for it.
    pub(crate) ids: Vec<String>,
    /// When it began.
    pub(crate) start: Option<SystemTime>,
    /// Whether only a part of it was read.
    pub(crate) is_partial: bool,
    /// How many of its lines are no records.
    pub(crate) unread: usize,
    /// What the provider found by itself.
    pub(crate) native: Channel,
    /// What the launcher handed over.
    pub(crate) explicit: Channel,
    /// Further texts in which the provider's own section may stand.
    pub(crate) prompts: Vec<String>,
    /// What it did about the final declaration.
    pub(crate) declarations: Declarations,
    /// What else the provider loaded.
    pub(crate) extra: Option<Extra>,
    /// Whose it is.
    pub(crate) kin: Kin,
}

/// Who holds a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kin {
    /// The agent that was given the task.
    Root,
    /// An agent that another one started.
    Helper {
        /// What kind of helper it is.
        kind: String,
        /// The session that started it, as the provider calls it.
        parent: Option<String>,
    },
}

impl Kin {
    /// A helper of this kind, if it is told: a few words at most, since files of conversations may say anything.
    pub(crate) fn helper(kind: Option<String>, parent: Option<String>) -> Self {
        let kind = kind.filter(|kind| !kind.is_empty());
        let kind = kind.map_or_else(|| "unknown".to_owned(), |kind| kind.chars().take(MOST_KIND).collect());
        Self::Helper { kind, parent }
    }
}

/// What a provider loaded besides instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extra {
    /// Claude's memory of earlier sessions.
    AutoMemory,
    /// Grok's memory.
    Memory,
}

impl Extra {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::AutoMemory => "auto-memory",
            Self::Memory => "memory",
        }
    }
}

/// What a conversation shows of final declarations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Declarations {
    /// How often one was tried.
    pub(crate) attempts: u64,
    /// How often that was denied.
    pub(crate) denied: u64,
    /// How often it was accepted.
    pub(crate) accepted: u64,
    /// Whether a tool was denied as if to a helper.
    pub(crate) guarded: bool,
}

impl Transcript {
    /// An empty one of a root.
    pub(crate) fn new(name: String) -> Self {
        Self {
            name,
            ids: Vec::new(),
            start: None,
            is_partial: false,
            unread: 0,
            native: Channel::new(),
            explicit: Channel::new(),
            prompts: Vec::new(),
            declarations: Declarations::default(),
            extra: None,
            kin: Kin::Root,
        }
    }

    /// Whether everything that came by a way was seen.
    pub(crate) fn is_whole(&self, channel: &Channel) -> bool {
        channel.is_observable && !self.is_partial
    }

    /// The markers in what was handed over, each once, in the order in which they were first met.
    pub(crate) fn markers(&self) -> Vec<(String, String)> {
        let mut met = BTreeSet::new();
        let pairs = self.explicit.texts().flat_map(markers).map(|marker| (marker.bundle, marker.invocation));
        let first = pairs.filter(|pair| met.insert(*pair));
        first.map(|(bundle, invocation)| (bundle.to_owned(), invocation.to_owned())).collect()
    }

    /// The session that started this helper, if it is told.
    pub(crate) fn parent(&self) -> Option<&str> {
        match &self.kin {
            Kin::Helper { parent, .. } => parent.as_deref(),
            Kin::Root => None,
        }
    }

    /// Whether one of these ids, which a record holds, is this conversation's.
    pub(crate) fn is_one_of(&self, ids: &[String]) -> bool {
        ids.iter().any(|id| *id == self.name || self.ids.contains(id))
    }
}
