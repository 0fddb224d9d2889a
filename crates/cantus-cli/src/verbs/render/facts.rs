//! Facts as they are given on the command line.

use cantus_fs::Root;
#[cfg(feature = "launch")]
use cantus_manifest::manifest::FactsRecord;
use cantus_manifest::{Facts, Provider, Purpose};
use cantus_workspace::{host_name, version_control};
#[cfg(feature = "launch")]
use serde_json::{Value, json};

use crate::failure::Failure;

const KEYS: &str = "actor, mode, purpose, provider, project, host, vcs";
const ACTORS: &str = "sase_root, native_helper, interactive";
const MODES: &str = "runtime, interactive, export";
const PURPOSES: &str = "ordinary, declaration_recovery, conflict_repair";

/// The facts as they were given, each once.
#[derive(Debug, Default)]
pub(crate) struct Given {
    actor: Option<String>,
    mode: Option<String>,
    purpose: Option<String>,
    provider: Option<String>,
    project: Option<String>,
    host: Option<String>,
    vcs: Option<String>,
}

impl Given {
    pub(crate) fn parse(facts: &[String]) -> Result<Self, Failure> {
        let mut given = Self::default();
        for fact in facts.iter().filter(|fact| !fact.is_empty()) {
            let Some((key, value)) = fact.split_once('=') else {
                return Err(Failure::error(format!("`{fact}` is not a fact: expected KEY=VALUE"))
                    .hint(format!("keys: {KEYS}")));
            };
            let slot = match key.trim() {
                "actor" => &mut given.actor,
                "mode" => &mut given.mode,
                "purpose" => &mut given.purpose,
                "provider" => &mut given.provider,
                "project" => &mut given.project,
                "host" => &mut given.host,
                "vcs" => &mut given.vcs,
                unknown => {
                    return Err(
                        Failure::error(format!("unknown fact `{unknown}`")).hint(format!("keys: {KEYS}"))
                    );
                }
            };
            if slot.as_ref().is_some_and(|before| before != value.trim()) {
                return Err(Failure::error(format!("conflicting facts: `{}` is given twice", key.trim())));
            }
            *slot = Some(value.trim().to_owned());
        }
        Ok(given)
    }

    /// The same, with those of a recorded render where nothing is given.
    #[cfg(feature = "launch")]
    pub(crate) fn or_recorded(self, recorded: &FactsRecord) -> Self {
        let word = |value: Value| value.as_str().map(str::to_owned);
        // Actor and mode go together: one that is given brings its own partner.
        let is_free = self.actor.is_none() && self.mode.is_none();
        let (actor, mode) = match is_free {
            true => (word(json!(recorded.actor)), word(json!(recorded.mode))),
            false => (self.actor, self.mode),
        };
        // What was recorded as nothing is nothing, whatever this machine knows.
        let text = |given: Option<String>, recorded: &Option<String>| {
            given.or_else(|| Some(recorded.clone().unwrap_or_default()))
        };
        Self {
            actor,
            mode,
            purpose: self.purpose.or_else(|| word(json!(recorded.purpose))),
            provider: self.provider.or_else(|| Some(recorded.provider.clone())),
            project: text(self.project, &recorded.project),
            host: self.host.or_else(|| Some(recorded.host.clone())),
            vcs: text(self.vcs, &recorded.vcs),
        }
    }

    /// The facts that they mean; `name` is the project's own name. Host and version control are those of this machine and of
    /// the root, where they aren't given.
    pub(crate) fn facts(&self, name: Option<&str>, root: &Root) -> Result<Facts, Failure> {
        let project = self.project.as_deref().or(name);
        let host = self.host.clone().filter(|host| !host.is_empty()).unwrap_or_else(host_name);
        let host = if host.is_empty() { "localhost" } else { &host };
        let vcs = self.vcs.as_deref().or_else(|| version_control(root.disk().as_ref(), root.path()));
        Ok(self.stated()?.project(project).host(Some(host)).vcs(vcs))
    }

    /// Whether no project is what they mean.
    #[cfg(feature = "launch")]
    pub(crate) fn is_for_no_project(&self) -> bool {
        self.project.as_deref() == Some("")
    }

    /// Whether no version control is what they mean.
    #[cfg(feature = "launch")]
    pub(crate) fn is_under_no_vcs(&self) -> bool {
        self.vcs.as_deref() == Some("")
    }

    /// The facts as they were given.
    pub(crate) fn stated(&self) -> Result<Facts, Failure> {
        let provider = self.provider.as_deref().map_or_else(|| Ok(Provider::native()), Provider::new);
        let provider = provider.map_err(|error| Failure::error(format!("invalid fact provider: {error}")))?;
        let mode = self.mode.as_deref();
        // A mode without a launcher has no agent: it implies the actor.
        let implied =
            if matches!(mode, Some("interactive" | "export")) { "interactive" } else { "sase_root" };
        let actor = self.actor.as_deref().unwrap_or(implied);
        let implied = if actor == "interactive" { "interactive" } else { "runtime" };
        let facts = match (actor, mode.unwrap_or(implied)) {
            ("sase_root", "runtime") => Facts::root(provider),
            ("native_helper", "runtime") => Facts::helper(provider),
            ("interactive", "interactive") => Facts::interactive(provider),
            ("interactive", "export") => Facts::export(provider),
            (
                "sase_root" | "native_helper" | "interactive",
                mode @ ("runtime" | "interactive" | "export"),
            ) => {
                return Err(Failure::error(format!("conflicting facts: no actor `{actor}` in mode `{mode}`"))
                    .hint("mode runtime goes with actor sase_root or native_helper; the other modes with actor interactive"));
            }
            ("sase_root" | "native_helper" | "interactive", mode) => {
                return Err(invalid("mode", mode, MODES));
            }
            (actor, _) => return Err(invalid("actor", actor, ACTORS)),
        };
        let purpose = match self.purpose.as_deref() {
            None | Some("ordinary") => Purpose::Ordinary,
            Some("declaration_recovery") => Purpose::DeclarationRecovery,
            Some("conflict_repair") => Purpose::ConflictRepair,
            Some(purpose) => return Err(invalid("purpose", purpose, PURPOSES)),
        };
        let (project, host, vcs) = (self.project.as_deref(), self.host.as_deref(), self.vcs.as_deref());
        Ok(facts.purpose(purpose).project(project).host(host).vcs(vcs))
    }
}

fn invalid(key: &str, value: &str, valid: &str) -> Failure {
    Failure::error(format!("invalid fact {key}=`{value}`")).hint(format!("valid values: {valid}"))
}

#[cfg(feature = "launch")]
#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cantus_fs::RealDisk;
    use cantus_manifest::{Actor, Mode};

    use super::*;

    /// The facts of `given` beside those of a helper of Claude for conflict repair in `lamp`, without version control.
    #[track_caller]
    fn facts(given: &[&str]) -> Facts {
        let given: Vec<_> = given.iter().map(|fact| (*fact).to_owned()).collect();
        let recorded = FactsRecord {
            actor: Actor::NativeHelper,
            mode: Mode::Runtime,
            purpose: Purpose::ConflictRepair,
            provider: "claude".to_owned(),
            project: Some("lamp".to_owned()),
            host: "tower".to_owned(),
            vcs: None,
        };
        let root = Root::new(Arc::new(RealDisk), std::env::current_dir().unwrap());
        let given = Given::parse(&given).unwrap().or_recorded(&recorded);
        given.facts(Some("acme"), &root).unwrap()
    }

    fn recorded() -> Facts {
        let facts = Facts::helper(Provider::new("claude").unwrap()).purpose(Purpose::ConflictRepair);
        facts.project(Some("lamp")).host(Some("tower"))
    }

    #[test]
    fn what_is_not_given_is_as_it_was_recorded() {
        assert_eq!(facts(&[]), recorded());
    }

    #[test]
    fn what_is_given_counts() {
        assert_eq!(facts(&["project=x", "vcs=git"]), recorded().project(Some("x")).vcs(Some("git")));
        let root = Facts::root(Provider::new("codex").unwrap()).purpose(Purpose::Ordinary);
        let given = facts(&["actor=sase_root", "provider=codex", "purpose=ordinary"]);
        assert_eq!(given, root.project(Some("lamp")).host(Some("tower")));
        assert_eq!(facts(&["mode=export"]).actor(), Actor::Interactive);
    }
}
