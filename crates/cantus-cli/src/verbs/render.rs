//! `cantus render`: a bundle for given facts.

use std::time::Instant;

use cantus_compose::{Bundle, Status as Presence, preview};
use cantus_fs::Root;
use cantus_manifest::manifest::{CacheStatus, Manifest};
use cantus_manifest::{Facts, Provider, Purpose, Stamps, canonical_json};
use cantus_workspace::{Options, Project, host_name, version_control};
use serde::Serialize;

use crate::args::{Global, RenderArgs};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::report::{group, table};
use crate::verbs::{finish, home, options, root};
use crate::{Status, Streams};

/// What `render --sections --json` prints.
#[derive(Serialize)]
struct Table {
    version: u32,
    sections: Vec<Row>,
}

/// One section; what an excluded one lacks is null.
#[derive(Serialize)]
struct Row {
    id: String,
    status: &'static str,
    reason: Option<&'static str>,
    offset: Option<usize>,
    bytes: Option<usize>,
    tokens_est: u64,
    sha256: Option<String>,
    sources: Vec<String>,
}

pub(crate) fn run(global: &Global, args: &RenderArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let start = Instant::now();
    let given = Given::parse(&args.facts)?;
    let root = root(global)?;
    let clock = if args.json && !args.sections { Some(Clock::start(start)?) } else { None };
    let stamps = if clock.is_some() { Stamps::Take } else { Stamps::Skip };
    let project = finish(Project::open(&root, &Options { stamps, ..options(global) }), global, streams)?;
    let facts = given.facts(project.config.name.as_deref(), &root)?;
    let home = home(&root, global, project.config.note_bytes, stamps, streams)?;
    let set = finish(project.sections(facts.project_name(), home.as_ref()), global, streams)?;
    let bundle = set.bundle(facts);
    if let Some(clock) = clock {
        let delivery = preview(clock.rendered_at(), clock.render_ms(), CacheStatus::Bypass);
        let manifest = Manifest::normalise(&bundle.manifest(&project.package, delivery, "").to_value());
        let manifest = manifest
            .map_err(|error| Failure::error(error).hint("this is a fault of Cantus: please report it"))?;
        streams.out.write_all(canonical_json(&manifest.to_value()).as_bytes())?;
    } else if !args.sections {
        streams.out.write_all(bundle.text().as_bytes())?;
    } else if args.json {
        let table = Table { version: 1, sections: rows(&bundle) };
        serde_json::to_writer_pretty(&mut *streams.out, &table).map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        let rows: Vec<_> = rows(&bundle).iter().map(Row::cells).collect();
        table(streams.out, "", &rows)?;
    }
    streams.out.flush()?;
    if !global.quiet {
        summary(&bundle, start, streams)?;
    }
    Ok(Status::Yes)
}

fn summary(bundle: &Bundle, start: Instant, streams: &mut Streams<'_>) -> std::io::Result<()> {
    writeln!(
        streams.err,
        "render {} common={} sections={} bytes={} tokens_est={} cache=bypass {}ms",
        bundle.digest().short(),
        bundle.common_digest().short(),
        bundle.included().count(),
        bundle.bytes(),
        bundle.tokens_est(),
        start.elapsed().as_millis(),
    )
}

fn rows(bundle: &Bundle) -> Vec<Row> {
    let mut offset = 0;
    let row = |section: &cantus_compose::Section| {
        let (status, reason) = match &section.status {
            Presence::Included(_) => ("included", None),
            Presence::Excluded { reason, .. } => ("excluded", Some(reason.as_str())),
        };
        let content = section.content();
        let start = offset;
        offset += content.map_or(0, |content| content.text().len());
        Row {
            id: section.id.to_string(),
            status,
            reason,
            offset: content.map(|_| start),
            bytes: content.map(|content| content.text().len()),
            tokens_est: content.map_or(0, |content| content.tokens_est()),
            sha256: content.map(|content| content.digest().to_string()),
            sources: section.sources.iter().map(ToString::to_string).collect(),
        }
    };
    bundle.sections().iter().map(row).collect()
}

impl Row {
    fn cells(&self) -> [String; 5] {
        let number = |number: Option<usize>| number.map_or_else(String::new, |number| group(number as u64));
        let sha = self.sha256.as_deref().map_or_else(String::new, |sha| sha[..12].to_owned());
        let state = self.reason.map_or_else(
            || self.sources.first().cloned().unwrap_or_default(),
            |reason| format!("excluded: {reason}"),
        );
        [self.id.clone(), number(self.bytes), group(self.tokens_est), sha, state]
    }
}

const KEYS: &str = "actor, mode, purpose, provider, project, host, vcs";
const ACTORS: &str = "sase_root, native_helper, interactive";
const MODES: &str = "runtime, interactive, export";
const PURPOSES: &str = "ordinary, declaration_recovery, conflict_repair";

/// The facts as they were given, each once.
#[derive(Debug, Default)]
struct Given {
    actor: Option<String>,
    mode: Option<String>,
    purpose: Option<String>,
    provider: Option<String>,
    project: Option<String>,
    host: Option<String>,
    vcs: Option<String>,
}

impl Given {
    fn parse(facts: &[String]) -> Result<Self, Failure> {
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

    /// The facts that they mean; `name` is the project's own name. Host and version control are those of this machine and of
    /// the root, where they aren't given.
    fn facts(&self, name: Option<&str>, root: &Root) -> Result<Facts, Failure> {
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
        let project = self.project.as_deref().or(name);
        let host = self.host.clone().filter(|host| !host.is_empty()).unwrap_or_else(host_name);
        let host = if host.is_empty() { "localhost" } else { &host };
        let vcs = self.vcs.as_deref().or_else(|| version_control(root.disk().as_ref(), root.path()));
        Ok(facts.purpose(purpose).project(project).host(Some(host)).vcs(vcs))
    }
}

fn invalid(key: &str, value: &str, valid: &str) -> Failure {
    Failure::error(format!("invalid fact {key}=`{value}`")).hint(format!("valid values: {valid}"))
}
