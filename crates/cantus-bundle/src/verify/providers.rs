//! What the trace reports of its sources is what they brought.

use std::collections::{BTreeMap, BTreeSet};

use crate::Fault;
use crate::manifest::Manifest;
use crate::trace::{Provider, Scope, Trace, tokens};
use crate::verify::SkillTree;

/// Nothing to say of a trace without reports; one with some must report each source exactly.
pub(super) fn check(manifest: &Manifest, trace: &Trace, skills: &[SkillTree]) -> Result<(), Fault> {
    if trace.providers.is_empty() {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    let found = Found::new(manifest, skills);
    for report in &trace.providers {
        check_shape(report)?;
        if !seen.insert(report.source.as_str()) {
            return Err(Fault::new("provider.shape", format!("{:?} is reported twice", report.source)));
        }
        check_numbers(report, &found)?;
    }
    match manifest.sources.iter().find(|source| !seen.contains(source.as_str())) {
        Some(source) => Err(Fault::new("provider.omitted", format!("the source {source:?} has no report"))),
        None => Ok(()),
    }
}

/// What the manifest and the tree say of sources.
struct Found<'a> {
    listed: BTreeSet<&'a str>,
    /// How many skills each has, and their bytes.
    budgets: BTreeMap<&'a str, (usize, u64)>,
}

impl<'a> Found<'a> {
    fn new(manifest: &'a Manifest, skills: &'a [SkillTree]) -> Self {
        let mut budgets = BTreeMap::<_, (usize, u64)>::new();
        for skill in skills {
            let (count, bytes) = budgets.entry(skill.source.as_str()).or_default();
            *count += 1;
            *bytes = bytes.saturating_add(skill.bytes);
        }
        Self { listed: manifest.sources.iter().map(String::as_str).collect(), budgets }
    }
}

fn check_shape(report: &Provider) -> Result<(), Fault> {
    let fault =
        |message: &str| Fault::new("provider.shape", format!("the report on {:?} {message}", report.source));
    if report.source.is_empty() {
        return Err(fault("has no source"));
    }
    if report.reason.is_empty() {
        return Err(fault("has no reason"));
    }
    let Some(scope) = Scope::named(&report.scope) else {
        return Err(fault(&format!("has the unknown scope {:?}", report.scope)));
    };
    if report.category != scope.category() {
        return Err(fault(&format!(
            "has the category {:?}; its scope wants {:?}",
            report.category,
            scope.category()
        )));
    }
    let expected = tokens(report.context_bytes);
    if report.approximate_tokens != expected {
        let found = report.approximate_tokens;
        return Err(fault(&format!("estimates {found} tokens; its bytes make {expected}")));
    }
    Ok(())
}

fn check_numbers(report: &Provider, found: &Found<'_>) -> Result<(), Fault> {
    let source = report.source.as_str();
    let listed = found.listed.contains(source);
    match report.outcome.as_str() {
        "selected" => {
            let fault = |message: String| Fault::new("provider.budget", message);
            if !listed {
                return Err(fault(format!(
                    "{source:?} is reported as selected and not in the manifest's sources"
                )));
            }
            let (count, bytes) = found.budgets.get(source).copied().unwrap_or_default();
            let told = (usize::try_from(report.skills), u64::try_from(report.context_bytes));
            if told != (Ok(count), Ok(bytes)) {
                return Err(fault(format!(
                    "the budget of {source:?} says {} skills and {} bytes; the bundle has {count} and {bytes}",
                    report.skills, report.context_bytes
                )));
            }
            Ok(())
        }
        "excluded" => {
            let fault = |message: &str| {
                Fault::new("provider.excluded", format!("{source:?} is excluded and {message}"))
            };
            if listed {
                return Err(fault("yet in the manifest's sources"));
            }
            match (report.skills, report.context_bytes, report.approximate_tokens) {
                (0, 0, 0) => Ok(()),
                _ => Err(fault("yet counts something")),
            }
        }
        other => {
            let message =
                format!("the outcome of {source:?} is {other:?}; expected `selected` or `excluded`");
            Err(Fault::new("provider.excluded", message))
        }
    }
}
