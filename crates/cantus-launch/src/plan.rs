//! How a provider's agents get their bundles, before anything is rendered.

use cantus_manifest::Provider;

use crate::adapters;

/// How the root agent and the helpers that it starts get their bundles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeliveryPlan {
    /// The root agent.
    pub root: Slot,
    /// Its helpers.
    pub subagent: Slot,
}

/// One place that a bundle can reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The launcher hands it over.
    Explicit {
        /// Through which channel, as a manifest names it.
        channel: &'static str,
        /// The most bytes that the channel takes; `None` if it has no limit.
        max_bytes: Option<usize>,
    },
    /// The provider reads its own files.
    InheritsNative,
    /// It has what the root has.
    InheritsRoot,
    /// There is no such agent.
    None,
}

impl DeliveryPlan {
    /// Nothing is handed over.
    pub(crate) const NATIVE: Self = Self { root: Slot::InheritsNative, subagent: Slot::InheritsNative };

    /// The plan of `provider`. One that isn't known reads its own files.
    #[must_use]
    pub fn of(provider: &Provider) -> Self {
        adapters::find(provider).map_or(Self::NATIVE, |adapter| adapter.plan)
    }
}
