//! A recorded bundle against a fresh one, section by section.

use std::collections::BTreeMap;
use std::ops::Range;

use cantus_manifest::Layer;
use cantus_manifest::manifest::{Manifest, SectionRecord, SectionStatus};

/// What became of a section since it was recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Change {
    /// It has other bytes.
    Changed,
    /// The fresh bundle lacks it.
    Gone,
    /// The recorded bundle lacked it.
    New,
}

/// A section that isn't what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SectionChange {
    /// Its name.
    pub id: String,
    /// Where it comes from.
    pub layer: Layer,
    /// What became of it.
    pub change: Change,
    /// Its bytes in the recorded bundle.
    pub recorded: Option<Range<u64>>,
    /// Its bytes in the fresh bundle.
    pub fresh: Option<Range<u64>>,
}

/// How a fresh bundle differs from a recorded one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// The sections that differ: changed and gone ones as they were recorded, then new ones, each in bundle order.
    pub sections: Vec<SectionChange>,
    /// How many sections are equal.
    pub equal: usize,
    /// Whether sections that both have stand in another order.
    pub reordered: bool,
    /// The host's own sections that were recorded and that the fresh bundle was not given. They don't count.
    pub unrendered: Vec<String>,
}

impl Comparison {
    /// Compares the included sections of two manifests.
    #[must_use]
    pub fn of(recorded: &Manifest, fresh: &Manifest) -> Self {
        let (old, new) = (included(recorded), included(fresh));
        let at = |sections: &[&SectionRecord]| -> BTreeMap<String, usize> {
            sections.iter().enumerate().map(|(index, section)| (section.id.clone(), index)).collect()
        };
        let (in_old, in_new) = (at(&old), at(&new));
        let mut comparison = Self::default();
        let mut order = Vec::new();
        for section in &old {
            match in_new.get(&section.id).map(|index| (index, new[*index])) {
                Some((index, other)) => {
                    order.push(*index);
                    if other.sha256 == section.sha256 {
                        comparison.equal += 1;
                    } else {
                        comparison.sections.push(change(Change::Changed, Some(section), Some(other)));
                    }
                }
                None if section.layer == Layer::Launch => comparison.unrendered.push(section.id.clone()),
                None => comparison.sections.push(change(Change::Gone, Some(section), None)),
            }
        }
        comparison.reordered = !order.is_sorted();
        let added = new.iter().filter(|section| !in_old.contains_key(&section.id));
        comparison.sections.extend(added.map(|section| change(Change::New, None, Some(section))));
        comparison
    }

    /// Whether the fresh bundle is the recorded one, the host's own sections aside.
    #[must_use]
    pub fn is_same(&self) -> bool {
        self.sections.is_empty() && !self.reordered
    }
}

fn included(manifest: &Manifest) -> Vec<&SectionRecord> {
    manifest.sections.iter().filter(|section| section.status == SectionStatus::Included).collect()
}

fn change(change: Change, recorded: Option<&SectionRecord>, fresh: Option<&SectionRecord>) -> SectionChange {
    let any = recorded.or(fresh);
    let range = |section: &SectionRecord| {
        let start = section.offset.unwrap_or_default();
        start..start.saturating_add(section.length.unwrap_or_default())
    };
    SectionChange {
        id: any.map_or_else(String::new, |section| section.id.clone()),
        layer: any.map_or(Layer::Project, |section| section.layer),
        change,
        recorded: recorded.map(range),
        fresh: fresh.map(range),
    }
}
