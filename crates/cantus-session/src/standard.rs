//! The standard sections: where they stand and how much room they have.

use cantus_manifest::Diagnostic;
use cantus_memory::nearest;

use crate::{CODE, told};

/// Who makes a standard section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Maker {
    /// Cantus, from what a launch says of product, tools and the way to report: the same in every request.
    Cantus,
    /// Cantus, from what belongs to one request.
    Request,
    /// The variant; where it has none, the package.
    Variant,
}

/// One standard section.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standard {
    pub(crate) id: &'static str,
    pub(crate) order: i64,
    /// In chars.
    pub(crate) budget: usize,
    pub(crate) maker: Maker,
}

const fn row(id: &'static str, order: i64, budget: usize, maker: Maker) -> Standard {
    Standard { id, order, budget, maker }
}

/// What is wrong with settings for a standard section called `id`: nothing, if there is one.
pub(crate) fn unknown(id: &str) -> Option<Diagnostic> {
    let known: Vec<&str> = STANDARD.iter().map(|row| row.id).collect();
    if known.contains(&id) {
        return None;
    }
    let hint = nearest(id, &known).map(|near| format!(": did you mean `{near}`?")).unwrap_or_default();
    let message = format!("no standard section is called `{}`{hint}", told(id));
    Some(Diagnostic::error(CODE, message).help(format!("they are `{}`", known.join("`, `"))))
}

/// How many chars a section of a variant may have.
pub(crate) const VARIANT_BUDGET: usize = 30_000;
/// How many chars a host's section may have that names no budget.
pub(crate) const HOST_BUDGET: usize = 12_000;
/// Where a section stands that names no order and has none by its id: behind what belongs to a request.
pub(crate) const DEFAULT_ORDER: i64 = 60;
/// Where the sections of a bundle stand: behind the identity, before the instructions of a variant.
pub(crate) const BUNDLE_ORDER: i64 = 20;
/// How many notes are listed.
pub(crate) const NOTES_LISTED: usize = 25;
/// How much room is kept for the heading of a note that a request refers to.
pub(crate) const HEADING_ROOM: usize = 256;

/// The one table of orders and budgets; a launch may change any of them.
pub(crate) const STANDARD: &[Standard] = &[
    row("harness-identity", 5, 1_000, Maker::Cantus),
    row("system", 25, VARIANT_BUDGET, Maker::Variant),
    row("session-state", 30, 1_000, Maker::Request),
    row("guardrails", 40, VARIANT_BUDGET, Maker::Variant),
    row("memory", 45, VARIANT_BUDGET, Maker::Variant),
    row("references", 50, 12_000, Maker::Request),
    row("required-skills", 52, 12_000, Maker::Request),
    row("subagents", 64, VARIANT_BUDGET, Maker::Variant),
    row("scripts", 66, VARIANT_BUDGET, Maker::Variant),
    row("wiki", 80, 2_500, Maker::Request),
    row("tools", 90, 8_000, Maker::Cantus),
    row("reporting", 95, 12_000, Maker::Cantus),
];

/// The groups of tools that the package has words for, in their order.
pub(crate) const TOOL_GROUPS: &[(&str, i64)] =
    &[("history", 10), ("notes", 20), ("files", 60), ("web", 65), ("connections", 70), ("progress", 87)];
/// Where other groups stand that name no order.
pub(crate) const OTHER_TOOLS: i64 = 90;

/// The standard section with this id.
pub(crate) fn standard(id: &str) -> Option<&'static Standard> {
    STANDARD.iter().find(|row| row.id == id)
}

/// The ids of the standard sections of one maker, in their order.
pub(crate) fn made_by(maker: Maker) -> impl Iterator<Item = &'static str> {
    STANDARD.iter().filter(move |row| row.maker == maker).map(|row| row.id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_its_order() {
        let orders: Vec<_> = STANDARD.iter().map(|row| row.order).collect();
        assert_eq!(orders, [5, 25, 30, 40, 45, 50, 52, 64, 66, 80, 90, 95]);
        assert!(TOOL_GROUPS.is_sorted_by_key(|(_, order)| order));
    }
}
