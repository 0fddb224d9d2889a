//! `cantus render`: a bundle for given facts.

#[cfg(feature = "launch")]
mod agent;
mod facts;
mod launch;
mod parity;

use std::time::Instant;

use cantus_compose::{Bundle, Status as Presence, preview};
use cantus_manifest::Stamps;
use cantus_manifest::canonical_json;
use cantus_manifest::manifest::{CacheStatus, Manifest};
use cantus_workspace::{Options, Project};
use serde::Serialize;

use crate::args::{Global, RenderArgs};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::report::{group, table};
use crate::verbs::{finish, home, home_folder, options, root};
use crate::{Status, Streams};
use facts::Given;

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
    #[cfg(feature = "launch")]
    let (given, recorded) = match &args.agent {
        None => (given, None),
        Some(name) => {
            let Some(recorded) = agent::last_of(name, args, streams)? else { return Ok(Status::No) };
            (given.or_recorded(&recorded.manifest.facts), Some(recorded))
        }
    };
    let launch = args.launch.as_deref().map(launch::read).transpose()?.unwrap_or_default();
    let root = root(global)?;
    let clock = if args.json && !args.sections { Some(Clock::start(start)?) } else { None };
    let stamps = if clock.is_some() { Stamps::Take } else { Stamps::Skip };
    let project = finish(Project::open(&root, &Options { stamps, ..options(global) }), global, streams)?;
    let facts = given.facts(project.config.name.as_deref(), &root)?;
    let home = home(&root, global, project.config.note_bytes, stamps, streams)?;
    let set = finish(project.sections(facts.project_name(), home.as_ref()), global, streams)?;
    let bundle = set.bundle_with(facts, &launch);
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
        #[cfg(feature = "launch")]
        if let Some(recorded) = &recorded {
            agent::tell(recorded, &bundle, &project.package, streams)?;
        }
    }
    if args.parity {
        let home = home_folder(&root, global)?;
        return parity::run(&root, &project, home.as_deref(), &set, &bundle, streams);
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
