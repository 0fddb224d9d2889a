//! The repositories of the manifest are those of the trace.

use std::collections::BTreeMap;

use crate::Fault;
use crate::manifest::{MANIFEST, Manifest};
use crate::names::check_repository;
use crate::trace::{Decision, Kind, TRACE, Trace};

/// Each list by itself, then the one against the other.
pub(super) fn check(manifest: &Manifest, trace: &Trace) -> Result<(), Fault> {
    check_manifest(manifest).map_err(|fault| fault.at(MANIFEST))?;
    check_trace(manifest, trace).map_err(|fault| fault.at(TRACE))
}

fn check_manifest(manifest: &Manifest) -> Result<(), Fault> {
    let fault = |message: String| Fault::new("repo.manifest", message);
    let mut before: Option<&str> = None;
    for repository in &manifest.repositories {
        let identity = repository.identity.as_str();
        check_repository(identity).map_err(|error| fault(error.to_string()))?;
        if before.is_some_and(|before| before >= identity) {
            return Err(fault(format!("`repositories` is not in ascending order at {identity:?}")));
        }
        if [&repository.source, &repository.scope, &repository.reason].into_iter().any(String::is_empty) {
            return Err(fault(format!("the repository {identity:?} lacks a source, a scope or a reason")));
        }
        before = Some(identity);
    }
    Ok(())
}

fn check_trace(manifest: &Manifest, trace: &Trace) -> Result<(), Fault> {
    let fault = |message: String| Fault::new("repo.trace", message);
    let mut decisions = BTreeMap::<&str, &Decision>::new();
    for decision in trace.selected(Kind::Repository) {
        let identity = decision.subject.strip_prefix("repository:");
        let Some(identity) = identity.filter(|identity| check_repository(identity).is_ok()) else {
            return Err(fault(format!(
                "{:?} is no repository; expected `repository:owner/name`",
                decision.subject
            )));
        };
        if decisions.insert(identity, decision).is_some() {
            return Err(fault(format!("the repository {identity:?} is selected twice")));
        }
    }
    if decisions.len() != manifest.repositories.len() {
        let (found, expected) = (decisions.len(), manifest.repositories.len());
        return Err(fault(format!("{found} repositories are selected; the manifest names {expected}")));
    }
    for repository in &manifest.repositories {
        let identity = repository.identity.as_str();
        let agrees = decisions.get(identity).is_some_and(|decision| {
            decision.source == repository.source && decision.reason == repository.reason
        });
        if !agrees {
            return Err(fault(format!(
                "no decision on the repository {identity:?} has its source and its reason"
            )));
        }
    }
    Ok(())
}
