//! How many invocations were seen, and what became of their bundles.

use std::collections::{BTreeMap, BTreeSet};

use cantus_manifest::manifest::{CacheStatus, DeliveryStatus};

use super::Known;
use super::gather::{RunSeen, Seen};
use super::records::Recorded;
use super::report::{Coverage, CoverageRow, Evidence, Fate, Missing, Uncovered, Verdict};

/// The purpose that conversations without a record count for.
const ORDINARY: &str = "ordinary";

/// The purpose of a provider without records.
const NONE: &str = "—";

/// How many conversations without a record are named.
const MOST_UNCOVERED: usize = 10;

/// The coverage of all providers that were looked at.
pub(crate) fn coverage(all: &[(Known, Vec<RunSeen<'_>>)]) -> Coverage {
    let rows: Vec<_> = all.iter().flat_map(|(provider, runs)| rows(*provider, runs)).collect();
    Coverage { errors_total: rows.iter().map(|row| row.errors).sum(), rows }
}

/// The verdict of each root's conversation, those of other invocations too.
pub(crate) fn verdicts(runs: &[RunSeen<'_>]) -> impl Iterator<Item = Verdict> {
    runs.iter().flat_map(|run| &run.seen).map(|seen| {
        let (manifest, judged) = seen.judged.clone().unzip();
        Verdict {
            run: seen.observation.run.clone(),
            session: seen.observation.session.clone(),
            evidence: seen.evidence,
            manifest,
            digest: judged.as_ref().map(|it| it.fate),
            cut_at: judged.as_ref().and_then(|it| it.cut_at),
            cut_section: judged.as_ref().and_then(|it| it.cut_section.clone()),
            sections_seen: judged.as_ref().map(|it| it.seen),
            sections_total: judged.as_ref().map(|it| it.total),
        }
    })
}

/// The rows of a provider, by purpose.
fn rows(provider: Known, runs: &[RunSeen<'_>]) -> Vec<CoverageRow> {
    let records =
        |run: &RunSeen<'_>| run.run.records.of(provider.as_str()).map(Recorded::purpose).collect::<Vec<_>>();
    let mut purposes: BTreeSet<_> = runs.iter().flat_map(records).map(str::to_owned).collect();
    let errors = runs.iter().flat_map(|run| &run.run.records.errors);
    purposes.extend(errors.filter(|(of, _)| of == provider.as_str()).map(|(_, purpose)| purpose.clone()));
    let unmatched = runs.iter().flat_map(RunSeen::counted).any(|seen| seen.evidence == Evidence::None);
    if unmatched {
        purposes.insert(if purposes.is_empty() { NONE } else { ORDINARY }.to_owned());
    }
    purposes.into_iter().map(|purpose| row(provider, runs, purpose)).collect()
}

fn row(provider: Known, runs: &[RunSeen<'_>], purpose: String) -> CoverageRow {
    let takes_rest = purpose == ORDINARY || purpose == NONE;
    let counts = |seen: &&Seen| match seen.evidence {
        Evidence::None => takes_rest,
        _ => seen.purposes.contains(&purpose.as_str()),
    };
    let seen: Vec<_> = runs.iter().flat_map(RunSeen::counted).filter(counts).collect();
    let is_covered = |seen: &&&Seen| seen.evidence != Evidence::None;
    let name = |seen: &&Seen| Uncovered {
        agent: seen.observation.run.clone(),
        session: seen.observation.session.clone(),
    };
    let mut uncovered: Vec<_> = seen.iter().filter(|seen| !is_covered(seen)).map(name).collect();
    uncovered.sort();
    uncovered.truncate(MOST_UNCOVERED);
    let of_purpose = |run: &RunSeen<'_>| {
        run.run.records.of(provider.as_str()).filter(|it| it.purpose() == purpose).count()
    };
    let errors = runs.iter().flat_map(|run| &run.run.records.errors);
    let (warm, cold) = render_times(provider, runs, &purpose);
    CoverageRow {
        provider,
        manifests: runs.iter().map(of_purpose).sum(),
        sessions: seen.len(),
        covered: seen.iter().filter(is_covered).count(),
        uncovered,
        errors: errors.filter(|(of, why)| of == provider.as_str() && *why == purpose).count(),
        warm_p50_ms: percentile(&warm, 0.5),
        warm_p95_ms: percentile(&warm, 0.95),
        cold_p50_ms: percentile(&cold, 0.5),
        cold_p95_ms: percentile(&cold, 0.95),
        digest: fates(provider, runs, &purpose),
        purpose,
    }
}

/// How long the renders took, in milliseconds: those from the cache and the others, both sorted.
fn render_times(provider: Known, runs: &[RunSeen<'_>], purpose: &str) -> (Vec<f64>, Vec<f64>) {
    let (mut warm, mut cold) = (Vec::new(), Vec::new());
    for record in runs.iter().flat_map(|run| run.run.records.of(provider.as_str())) {
        let delivery = &record.manifest.delivery;
        if record.purpose() == purpose {
            if delivery.cache == CacheStatus::Hit { &mut warm } else { &mut cold }.push(delivery.render_ms);
        }
    }
    warm.sort_by(f64::total_cmp);
    cold.sort_by(f64::total_cmp);
    (warm, cold)
}

/// The value below which `part` of the sorted ones lie, interpolated.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "ranks of a short list"
)]
fn percentile(sorted: &[f64], part: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let rank = part * last as f64;
    let below = rank.floor() as usize;
    let (low, high) = (sorted.get(below)?, sorted.get(below + 1).or(sorted.last())?);
    Some(low + (high - low) * (rank - below as f64))
}

/// What became of the bundle of each root's record.
fn fates(provider: Known, runs: &[RunSeen<'_>], purpose: &str) -> BTreeMap<Fate, usize> {
    let mut fates: BTreeMap<_, _> = Fate::ALL.into_iter().map(|fate| (fate, 0)).collect();
    for run in runs {
        for record in run.run.records.of(provider.as_str()).filter(|it| it.purpose() == purpose) {
            *fates.entry(fate(runs, run, record)).or_default() += 1;
        }
    }
    fates
}

/// What each run of a provider recorded and nothing was seen of. Antigravity's conversations show nothing, so that none of them
/// is missing.
pub(crate) fn missing(provider: Known, runs: &[RunSeen<'_>]) -> impl Iterator<Item = Missing> {
    let missing = move |run: &RunSeen<'_>| {
        let records = run.run.records.of(provider.as_str());
        let is_unobserved = |it: &&Recorded| fate(runs, run, it) == Fate::Unobserved;
        Missing {
            provider,
            run: run.run.info.name.clone(),
            unobserved: if provider == Known::Agy { 0 } else { records.filter(is_unobserved).count() },
            errors: run.run.records.errors.iter().filter(|(of, _)| of == provider.as_str()).count(),
        }
    };
    runs.iter().map(missing).filter(|run| run.unobserved + run.errors > 0)
}

/// The best that any conversation tells of a record. One that goes on with another's conversation has what that one had,
/// whichever run it is of.
fn fate(runs: &[RunSeen<'_>], own: &RunSeen<'_>, record: &Recorded) -> Fate {
    let delivery = &record.manifest.delivery;
    let inherits = delivery.status == DeliveryStatus::InheritsRoot;
    let parent = delivery.parent_invocation_id.as_deref().filter(|_| inherits);
    let is_parent = |it: &&Recorded| parent == Some(it.manifest.delivery.invocation_id.as_str());
    let parent_in = |run: &RunSeen<'_>| run.run.records.roots.iter().find(is_parent).map(|it| it.seq);
    let others = || runs.iter().find_map(|run| Some(told(run, parent_in(run)?)));
    match parent_in(own) {
        Some(seq) => told(own, seq),
        None => parent.and_then(|_| others()).unwrap_or_else(|| told(own, record.seq)),
    }
}

/// The best that the conversations of a run tell of its record with this number.
fn told(run: &RunSeen<'_>, seq: u64) -> Fate {
    let judgements = run.counted().flat_map(|seen| &seen.judgements).filter(|(of, _)| *of == seq);
    judgements.map(|(_, judgement)| judgement.fate).min().unwrap_or(Fate::Unobserved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_interpolated() {
        for (sorted, part, expected) in [
            (&[][..], 0.5, None),
            (&[3.0], 0.95, Some(3.0)),
            (&[1.0, 2.0], 0.5, Some(1.5)),
            (&[0.0, 10.0, 20.0], 0.95, Some(19.0)),
            (&[0.0, 10.0, 20.0], 0.5, Some(10.0)),
        ] {
            assert_eq!(percentile(sorted, part), expected, "{sorted:?}");
        }
    }
}
