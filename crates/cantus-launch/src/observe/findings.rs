//! Where agents got less than they should have, more, or something else: what a report proves, in words.

use std::fmt;

use super::{Evidence, Fate, Known, Observation, Report, Verdict};

/// Something that an agent got otherwise than its record says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Whose agent it is; `None` where the report doesn't say.
    pub provider: Option<Known>,
    /// The run.
    pub run: String,
    /// The conversation; empty where there is none.
    pub session: String,
    /// What is wrong.
    pub what: Fault,
}

/// What is wrong with what an agent got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing of its bundle is there.
    Absent,
    /// Its bundle ends early.
    Cut {
        /// After so many bytes.
        at: Option<u64>,
        /// In this section.
        section: Option<String>,
    },
    /// Its bundle is there with another text.
    Differs,
    /// Its bundle is there more than once.
    Bundles(u64),
    /// The provider's own files brought the contract so often as well.
    Native(u64),
    /// The contract is there so often, and not once.
    Contracts(u64),
    /// A helper got the root's bundle.
    RootInHelper,
    /// A helper made the final declaration.
    HelperDeclares,
    /// The root was taken for a helper.
    RootDenied,
    /// Of so many invocations no conversation was found.
    Unobserved(usize),
    /// So many invocations have no bundle.
    Errors(usize),
}

/// What a report with coverage and observations proves to be wrong; what can't be told is no finding. Conversations that merely
/// fit by folder and time prove nothing.
#[must_use]
pub fn findings(report: &Report) -> Vec<Finding> {
    let verdicts = report.verdicts.as_deref().unwrap_or_default();
    let mut findings = Vec::new();
    for seen in report.observations.as_deref().unwrap_or_default() {
        let is_its = |verdict: &&Verdict| (&verdict.run, &verdict.session) == (&seen.run, &seen.session);
        let faults = match seen.is_helper() {
            true => of_helper(seen),
            false => of_root(seen, verdicts.iter().find(is_its)),
        };
        findings.extend(faults.into_iter().map(|what| Finding {
            provider: Some(seen.provider),
            run: seen.run.clone(),
            session: seen.session.clone(),
            what,
        }));
    }
    for missing in &report.missing {
        let unobserved = (missing.unobserved > 0).then_some(Fault::Unobserved(missing.unobserved));
        let errors = (missing.errors > 0).then_some(Fault::Errors(missing.errors));
        findings.extend([unobserved, errors].into_iter().flatten().map(|what| Finding {
            provider: Some(missing.provider),
            run: missing.run.clone(),
            session: String::new(),
            what,
        }));
    }
    findings
}

impl Observation {
    /// Whether it is that of a helper: of its texts the contract alone is judged.
    #[must_use]
    pub fn is_helper(&self) -> bool {
        self.channels.contract.is_some() && self.channels.project.is_none()
    }
}

fn of_helper(seen: &Observation) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(seen.root_bundle_in_helper.filter(|count| *count > 0).map(|_| Fault::RootInHelper));
    faults.extend((seen.final_accepted > 0).then_some(Fault::HelperDeclares));
    faults
}

fn of_root(seen: &Observation, verdict: Option<&Verdict>) -> Vec<Fault> {
    let sure = verdict.filter(|verdict| matches!(verdict.evidence, Evidence::Marker | Evidence::Session));
    let Some(verdict) = sure else { return Vec::new() };
    let is_explicit = seen.delivery.as_deref() == Some("explicit");
    let mut faults = Vec::new();
    match (fate(verdict, is_explicit), &seen.delivery) {
        // What else is missing is missing for this reason.
        (Some(fault), _) => faults.push(fault),
        (None, Some(_)) if is_explicit => faults.extend(of_explicit(seen)),
        (None, Some(_)) => faults.extend(contracts(seen)),
        (None, None) => {}
    }
    faults.extend(seen.root_guard_denial.then_some(Fault::RootDenied));
    faults
}

/// What a verdict proves. A file that the provider found by itself lacks what a bundle has besides, so that it differs for good
/// reason.
fn fate(verdict: &Verdict, is_explicit: bool) -> Option<Fault> {
    match verdict.digest? {
        Fate::Cut => Some(Fault::Cut { at: verdict.cut_at, section: verdict.cut_section.clone() }),
        Fate::Differs if is_explicit => Some(Fault::Differs),
        Fate::Absent => Some(Fault::Absent),
        _ => None,
    }
}

/// What there is too much of beside a bundle that was handed over and isn't cut or absent. What isn't there proves nothing: a
/// bundle that is there whole has no more, and of one whose record can't be read nobody knows what it has.
fn of_explicit(seen: &Observation) -> Vec<Fault> {
    let mut faults = Vec::new();
    faults.extend(seen.bundle_count.filter(|count| *count > 1).map(Fault::Bundles));
    faults.extend(seen.native_full_count.filter(|count| *count > 0).map(Fault::Native));
    if faults.is_empty() {
        faults.extend(contracts(seen));
    }
    faults
}

/// A contract that is there more than once.
fn contracts(seen: &Observation) -> Option<Fault> {
    seen.contract_count.filter(|count| *count > 1).map(Fault::Contracts)
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Absent => f.write_str("nothing of its bundle is there"),
            Self::Cut { at, section } => {
                f.write_str("its bundle is cut")?;
                at.iter().try_for_each(|at| write!(f, " after {at} bytes"))?;
                section.iter().try_for_each(|section| write!(f, ", in {section}"))
            }
            Self::Differs => f.write_str("its bundle is there with another text"),
            Self::Bundles(count) => write!(f, "its bundle is there {count} times"),
            Self::Native(1) => f.write_str("its own files brought the contract as well"),
            Self::Native(count) => write!(f, "its own files brought the contract as well, {count} times"),
            Self::Contracts(count) => write!(f, "the contract is there {count} times"),
            Self::RootInHelper => f.write_str("a helper got the root's bundle"),
            Self::HelperDeclares => f.write_str("a helper made the final declaration"),
            Self::RootDenied => f.write_str("the root was taken for a helper"),
            Self::Unobserved(1) => f.write_str("of 1 invocation no conversation was found"),
            Self::Unobserved(count) => write!(f, "of {count} invocations no conversation was found"),
            Self::Errors(1) => f.write_str("1 invocation has no bundle"),
            Self::Errors(count) => write!(f, "{count} invocations have no bundle"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observe::counting::stand_in;
    use crate::observe::{Channels, Ways};

    /// A root conversation in which everything is as it should be.
    fn clean() -> Observation {
        let ways = || Some(Ways { native: None, explicit: Some(true) });
        Observation {
            contract_count: Some(1),
            native_full_count: Some(0),
            home: Some(true),
            project: Some(true),
            directive: Some(true),
            channels: Channels {
                contract: Some(Ways { native: Some(0), explicit: Some(1) }),
                home: ways(),
                project: ways(),
                directive: ways(),
            },
            bundle_count: Some(1),
            delivery: Some("explicit".to_owned()),
            home_expected: Some(true),
            ..stand_in(Known::Claude, "keeper", "s")
        }
    }

    fn verdict(digest: Fate, evidence: Evidence) -> Verdict {
        Verdict {
            run: "keeper".to_owned(),
            session: "s".to_owned(),
            evidence,
            manifest: Some(0),
            digest: Some(digest),
            cut_at: (digest == Fate::Cut).then_some(120),
            cut_section: (digest == Fate::Cut).then(|| "proj.core.lens".to_owned()),
            sections_seen: Some(5),
            sections_total: Some(5),
        }
    }

    #[track_caller]
    fn check(seen: &Observation, digest: Fate, evidence: Evidence, expected: &[&str]) {
        let faults = of_root(seen, Some(&verdict(digest, evidence)));
        assert_eq!(faults.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_bundle_that_is_there_once_is_no_finding() {
        check(&clean(), Fate::Equal, Evidence::Marker, &[]);
        check(
            &Observation { home: Some(false), home_expected: Some(false), ..clean() },
            Fate::Equal,
            Evidence::Marker,
            &[],
        );
        check(
            &Observation { project: None, contract_count: None, ..clean() },
            Fate::Unknown,
            Evidence::Marker,
            &[],
        );
    }

    #[test]
    fn what_no_bundle_is_known_to_have_is_missed_by_nobody() {
        // A package without a contract, a project without notes; and a record whose bundle is gone.
        let without = || Observation {
            contract_count: Some(0),
            project: Some(false),
            directive: Some(false),
            ..clean()
        };
        check(&without(), Fate::Equal, Evidence::Marker, &[]);
        check(&without(), Fate::Unknown, Evidence::Marker, &[]);
    }

    #[test]
    fn each_fault_has_its_words() {
        check(
            &clean(),
            Fate::Cut,
            Evidence::Marker,
            &["its bundle is cut after 120 bytes, in proj.core.lens"],
        );
        check(&clean(), Fate::Differs, Evidence::Marker, &["its bundle is there with another text"]);
        let twice = Observation { bundle_count: Some(2), contract_count: Some(2), ..clean() };
        check(&twice, Fate::Equal, Evidence::Marker, &["its bundle is there 2 times"]);
        let both = Observation { native_full_count: Some(1), contract_count: Some(2), ..clean() };
        check(&both, Fate::Equal, Evidence::Marker, &["its own files brought the contract as well"]);
        let contracts = Observation { contract_count: Some(2), ..clean() };
        check(&contracts, Fate::Equal, Evidence::Marker, &["the contract is there 2 times"]);
        let denied = Observation { root_guard_denial: true, ..clean() };
        check(&denied, Fate::Equal, Evidence::Marker, &["the root was taken for a helper"]);
    }

    #[test]
    fn absence_is_proved_by_a_marker_or_a_session() {
        let gone = || Observation {
            bundle_count: Some(0),
            contract_count: Some(0),
            project: Some(false),
            directive: Some(false),
            ..clean()
        };
        check(&gone(), Fate::Absent, Evidence::Session, &["nothing of its bundle is there"]);
        let by_time = gone();
        check(&by_time, Fate::Absent, Evidence::Time, &[]);
    }

    #[test]
    fn files_that_the_provider_finds_are_judged_by_their_number() {
        let native = |count| Observation {
            delivery: Some("legacy:provider_legacy".to_owned()),
            contract_count: Some(count),
            native_full_count: Some(count),
            directive: Some(false),
            bundle_count: None,
            ..clean()
        };
        check(&native(1), Fate::Differs, Evidence::Session, &[]);
        check(&native(2), Fate::Differs, Evidence::Session, &["the contract is there 2 times"]);
        let unrecorded = Observation { delivery: None, bundle_count: None, ..native(2) };
        assert_eq!(of_root(&unrecorded, None), []);
    }

    #[test]
    fn helpers_are_judged_by_what_is_not_theirs() {
        let helper = Observation {
            channels: Channels { contract: Some(Ways::default()), ..Channels::default() },
            root_bundle_in_helper: Some(1),
            final_accepted: 1,
            ..clean()
        };
        assert!(helper.is_helper() && !clean().is_helper());
        assert_eq!(of_helper(&helper), [Fault::RootInHelper, Fault::HelperDeclares]);
    }
}
