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

#[cfg(test)]
mod tests {
    use cantus_compose::preview;
    use cantus_manifest::manifest::{
        Budget, BundleRecord, CacheStatus, Compiler, FactsRecord, Observation, ObservationStatus,
    };
    use cantus_manifest::{Actor, ExclusionReason, Lifecycle, Mode, Purpose};

    use super::*;

    /// A manifest with the sections of `text`: `id=digest`, or `id` for an excluded one; each is ten bytes long.
    fn manifest(text: &str) -> Manifest {
        let section = |(index, word): (u64, &str)| {
            let (id, digest) = word.split_once('=').map_or((word, None), |(id, digest)| (id, Some(digest)));
            SectionRecord {
                id: id.to_owned(),
                layer: if id.starts_with("launch.") { Layer::Launch } else { Layer::Project },
                status: digest.map_or(SectionStatus::Excluded, |_| SectionStatus::Included),
                lifecycle: Lifecycle::Neutral,
                required: false,
                provider_specific: false,
                offset: digest.map(|_| index * 10),
                length: digest.map(|_| 10),
                sha256: digest.map(str::to_owned),
                tokens_est: 0,
                sources: Vec::new(),
                reason: digest.map_or(Some(ExclusionReason::Empty), |_| None),
                shadowed_by: None,
            }
        };
        Manifest {
            schema_version: 2,
            compiler: Compiler { name: "x".to_owned(), version: 1, sase_version: String::new() },
            facts: FactsRecord {
                actor: Actor::SaseRoot,
                mode: Mode::Runtime,
                purpose: Purpose::Ordinary,
                provider: "x".to_owned(),
                project: None,
                host: "x".to_owned(),
                vcs: None,
            },
            bundle: BundleRecord {
                sha256: String::new(),
                common_digest: None,
                bytes: 0,
                lines: 0,
                tokens_est: 0,
                store_path: String::new(),
            },
            budget: Budget::default(),
            sections: (0..).zip(text.split_whitespace()).map(section).collect(),
            delivery: preview(String::new(), 0.0, CacheStatus::Bypass),
            observation: Observation { status: ObservationStatus::Unobserved },
        }
    }

    #[track_caller]
    fn check(recorded: &str, fresh: &str, expected: &str) {
        let found = Comparison::of(&manifest(recorded), &manifest(fresh));
        let start = |range: &Option<Range<u64>>| {
            range.as_ref().map_or("-".to_owned(), |range| range.start.to_string())
        };
        let row = |section: &SectionChange| {
            let SectionChange { id, change, recorded, fresh, .. } = section;
            format!("{change:?} {id} {} {}", start(recorded), start(fresh))
        };
        let mut rows: Vec<_> = found.sections.iter().map(row).collect();
        rows.extend(found.unrendered.iter().map(|id| format!("host {id}")));
        rows.extend(found.reordered.then(|| "reordered".to_owned()));
        assert_eq!(rows.join(", "), expected);
        assert_eq!(found.is_same(), expected.is_empty() || expected.starts_with("host"), "{found:?}");
    }

    #[test]
    fn equal_bundles_are_the_same() {
        check("", "", "");
        check("proj.a=1 proj.b=2", "proj.a=1 proj.b=2", "");
        check("proj.a=1 proj.x", "proj.a=1 proj.y", "");
    }

    #[test]
    fn each_section_that_differs_is_a_row() {
        check(
            "proj.a=1 proj.b=2 proj.c=3",
            "proj.a=1 proj.b=9 proj.d=4",
            "Changed proj.b 10 10, Gone proj.c 20 -, New proj.d - 20",
        );
        check("proj.a=1", "proj.a", "Gone proj.a 0 -");
        check("proj.a", "proj.a=1", "New proj.a - 0");
    }

    #[test]
    fn order_counts() {
        check("proj.a=1 proj.b=2", "proj.b=2 proj.a=1", "reordered");
        check("proj.a=1 proj.b=2", "proj.x=9 proj.a=1 proj.b=2", "New proj.x - 0");
    }

    #[test]
    fn the_hosts_own_sections_count_where_both_have_them() {
        check("proj.a=1 launch.t=2", "proj.a=1", "host launch.t");
        check("proj.a=1 launch.t=2", "proj.a=1 launch.t=3", "Changed launch.t 10 10");
        check("proj.a=1", "proj.a=1 launch.t=3", "New launch.t - 10");
    }
}
