//! What was seen of a provider, as one row.

use std::collections::{BTreeMap, BTreeSet};

use super::Known;
use super::gather::RunSeen;
use super::report::{Channels, Observation, Row, Ways};

/// What can't be told.
const UNKNOWN: &str = "◌";

/// What there is none of.
const NONE: &str = "—";

/// The row of a provider.
pub(crate) fn row(provider: Known, runs: &[RunSeen<'_>]) -> Row {
    let roots: Vec<_> = runs.iter().flat_map(RunSeen::counted).map(|seen| &seen.observation).collect();
    let helpers: Vec<_> = runs.iter().flat_map(RunSeen::counted).flat_map(|seen| &seen.helpers).collect();
    let all = || roots.iter().chain(&helpers);
    let deliveries = || roots.iter().filter_map(|root| root.delivery.as_deref());
    let covered = runs.iter().flat_map(RunSeen::counted).filter(|seen| !seen.judgements.is_empty()).count();
    let (sessions, coverage) = match provider {
        Known::Agy => {
            let recorded =
                runs.iter().filter(|run| run.run.records.of(provider.as_str()).next().is_some()).count();
            (runs.len(), format!("{recorded}/{}", runs.len()))
        }
        _ => (roots.len() + helpers.len(), format!("{covered}/{}", roots.len())),
    };
    let native: Vec<_> = roots.iter().map(|root| root.native_full_count).collect();
    Row {
        provider,
        runs: runs.len(),
        sessions,
        contract: counts(roots.iter().map(|root| root.contract_count)),
        home: vote_sign(roots.iter().map(|root| root.home)),
        project: vote_sign(roots.iter().map(|root| root.project)),
        directive: vote_sign(roots.iter().map(|root| root.directive)),
        native_full: if native.iter().flatten().any(|count| *count > 0) {
            counts(native.into_iter())
        } else if native.iter().flatten().next().is_none() {
            UNKNOWN.to_owned()
        } else {
            "0".to_owned()
        },
        foreign: match provider {
            Known::Muse | Known::Agy => NONE.to_owned(),
            _ => all().find_map(|it| it.foreign.clone()).unwrap_or_else(|| NONE.to_owned()),
        },
        helpers: helpers_text(provider, roots.len(), &helpers),
        root_denials: all().filter(|it| it.root_guard_denial).count(),
        coverage,
        bundle: bundle(&roots),
        delivery: label(deliveries()),
        channels: channels(provider, &roots),
    }
}

/// Counts as people read them: the most frequent, and all of them if they differ.
fn counts(counts: impl Iterator<Item = Option<u64>>) -> String {
    let known: Vec<_> = counts.flatten().collect();
    let distinct: BTreeSet<_> = known.iter().copied().collect();
    let often = |count: u64| known.iter().filter(|it| **it == count).count();
    // The first that was met wins: `max_by_key` would give the last.
    let Some(most) = known.iter().rev().copied().max_by_key(|count| often(*count)) else {
        return UNKNOWN.to_owned();
    };
    match distinct.len() {
        1 if most == 0 => "0".to_owned(),
        1 => format!("{most}×"),
        _ => {
            let all: Vec<_> = distinct.iter().map(u64::to_string).collect();
            format!("{most}× [{}]", all.join(","))
        }
    }
}

/// What most of the known ones say; yes if they are as many.
fn vote(known: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let (yes, no): (Vec<_>, Vec<_>) = known.flatten().partition(|it| *it);
    (yes.len() + no.len() > 0).then_some(yes.len() >= no.len())
}

fn vote_sign(known: impl Iterator<Item = Option<bool>>) -> String {
    match vote(known) {
        Some(true) => "✓",
        Some(false) => "✗",
        None => UNKNOWN,
    }
    .to_owned()
}

/// The most frequent words.
fn label<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let mut often = BTreeMap::<&str, usize>::new();
    words.for_each(|word| *often.entry(word).or_default() += 1);
    let Some(most) = often.values().max().copied() else { return UNKNOWN.to_owned() };
    let words: Vec<_> = often.iter().filter(|(_, count)| **count == most).map(|(word, _)| *word).collect();
    words.join("/")
}

fn bundle(roots: &[&Observation]) -> String {
    let explicit: Vec<_> = roots.iter().filter(|it| it.delivery.as_deref() == Some("explicit")).collect();
    if !explicit.is_empty() {
        return counts(explicit.iter().map(|it| it.bundle_count));
    }
    let all_else = !roots.is_empty() && roots.iter().all(|it| it.delivery.is_some());
    if all_else { NONE } else { UNKNOWN }.to_owned()
}

fn helpers_text(provider: Known, roots: usize, helpers: &[&Observation]) -> String {
    match (provider, helpers.len()) {
        (Known::Codex, 0) if roots > 0 => "0 spawns".to_owned(),
        (_, 0) => NONE.to_owned(),
        (Known::Claude, _) => claude_helpers(helpers),
        (_, count) => format!("{count} helpers"),
    }
}

fn claude_helpers(helpers: &[&Observation]) -> String {
    let kinds: BTreeSet<_> = helpers.iter().filter_map(|it| it.helper_type.as_deref()).collect();
    let kinds: Vec<_> = kinds.into_iter().collect();
    let sum = |count: &dyn Fn(&Observation) -> u64| helpers.iter().map(|it| count(it)).sum::<u64>();
    let (attempts, accepted) = (sum(&|it| it.final_attempts), sum(&|it| it.final_accepted));
    let mut text = format!("{}: {attempts} attempts, {accepted} accepted", kinds.join(","));
    let bundles: Vec<_> = helpers.iter().filter_map(|it| it.helper_bundle).collect();
    if !bundles.is_empty() {
        let with = bundles.iter().filter(|has| **has).count();
        text.push_str(&format!("; helper bundle {with}/{}", bundles.len()));
    }
    let markers: Vec<_> = helpers.iter().filter_map(|it| it.root_bundle_in_helper).collect();
    if !markers.is_empty() {
        text.push_str(&format!("; root markers {}", markers.iter().sum::<u64>()));
    }
    text
}

/// What came by which way, mostly.
fn channels(provider: Known, roots: &[&Observation]) -> Channels {
    if provider == Known::Agy {
        let none = Some(Ways { native: None, explicit: None });
        return Channels {
            contract: Some(Ways { native: None, explicit: None }),
            home: none,
            project: none,
            directive: none,
        };
    }
    if roots.is_empty() {
        return Channels::default();
    }
    let contract = |way: &dyn Fn(Ways<u64>) -> Option<u64>| {
        let counts: Vec<_> = roots.iter().filter_map(|it| way(it.channels.contract?)).collect();
        let often = |count: u64| counts.iter().filter(|it| **it == count).count();
        counts.iter().copied().max_by_key(|count| (often(*count), std::cmp::Reverse(*count)))
    };
    let votes = |of: &dyn Fn(&Channels) -> Option<Ways<bool>>| {
        let all = || roots.iter().filter_map(|it| of(&it.channels));
        Some(Ways { native: vote(all().map(|it| it.native)), explicit: vote(all().map(|it| it.explicit)) })
    };
    Channels {
        contract: Some(Ways { native: contract(&|it| it.native), explicit: contract(&|it| it.explicit) }),
        home: votes(&|it| it.home),
        project: votes(&|it| it.project),
        directive: votes(&|it| it.directive),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_as_people_read_them() {
        for (values, expected) in [
            (vec![], "◌"),
            (vec![None], "◌"),
            (vec![Some(0), None], "0"),
            (vec![Some(2), Some(2)], "2×"),
            (vec![Some(2), Some(1), Some(1)], "1× [1,2]"),
            (vec![Some(2), Some(1)], "2× [1,2]"),
            (vec![Some(0), Some(3), Some(0)], "0× [0,3]"),
        ] {
            assert_eq!(counts(values.clone().into_iter()), expected, "{values:?}");
        }
    }

    #[test]
    fn votes_and_labels() {
        let sign = |votes: &[Option<bool>]| vote_sign(votes.iter().copied());
        assert_eq!(sign(&[Some(true), Some(false), None]), "✓");
        assert_eq!(sign(&[Some(true), Some(false), Some(false)]), "✗");
        assert_eq!((sign(&[None]), sign(&[])), ("◌".to_owned(), "◌".to_owned()));
        assert_eq!(label(["b", "a", "b", "a", "c"].into_iter()), "a/b");
        assert_eq!(label([].into_iter()), "◌");
    }
}
