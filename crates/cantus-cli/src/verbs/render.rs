//! `cantus render`: a bundle for given facts.

#[cfg(feature = "launch")]
mod agent;
#[cfg(feature = "launch")]
mod cached;
pub(super) mod facts;
mod launch;
mod parity;

use std::path::PathBuf;
use std::time::Instant;

use cantus_compose::{Bundle, Launch, SectionSet, preview};
use cantus_fs::Root;
use cantus_manifest::manifest::{
    CacheStatus, Manifest, SectionRecord, SectionStatus, SourceRecord, SourceScope,
};
use cantus_manifest::{Stamps, canonical_json};
use cantus_workspace::{Options, Project};
use serde::Serialize;

use crate::args::{Global, RenderArgs};
use crate::clock::Clock;
use crate::failure::Failure;
use crate::report::{group, table};
use crate::verbs::{finish, home, home_folder, options, root};
use crate::visible::for_stdout;
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
    offset: Option<u64>,
    bytes: Option<u64>,
    tokens_est: u64,
    sha256: Option<String>,
    sources: Vec<String>,
}

/// A bundle, however it was come by.
struct Answer {
    text: String,
    manifest: Manifest,
    cache: CacheStatus,
    stored: Option<PathBuf>,
}

/// What a bundle was composed of just now.
struct Composed {
    project: Project,
    set: SectionSet,
    bundle: Bundle,
}

/// What was asked for.
struct Request {
    given: Given,
    launch: Launch,
    root: Root,
    /// Where a manifest is asked for.
    clock: Option<Clock>,
}

pub(crate) fn run(global: &Global, args: &RenderArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let start = Instant::now();
    let given = Given::parse(&args.facts)?;
    #[cfg(feature = "launch")]
    let (given, recorded) = match &args.agent {
        None => (given, None),
        Some(name) => {
            let Some(recorded) = agent::last_of(global, name, args, streams)? else { return Ok(Status::No) };
            (given.or_recorded(&recorded.manifest.facts), Some(recorded))
        }
    };
    let launch = args.launch.as_deref().map(launch::read).transpose()?.unwrap_or_default();
    let root = root(global)?;
    let clock = if args.json && !args.sections { Some(Clock::start(start)?) } else { None };
    let request = Request { given, launch, root, clock };
    let (answer, composed) = answer(global, args, &request, streams)?;
    print(&answer, args, request.clock.as_ref(), streams)?;
    if !global.quiet {
        summary(&answer, start, streams)?;
        #[cfg(feature = "launch")]
        if let Some(recorded) = &recorded {
            agent::tell(recorded, &answer.manifest, streams)?;
        }
    }
    let Some(Composed { project, set, bundle }) = composed.filter(|_| args.parity) else {
        return Ok(Status::Yes);
    };
    let home = home_folder(&request.root, global)?;
    parity::run(&request.root, &project, home.as_deref(), &set, &bundle, streams)
}

/// The bundle that is asked for, and what it was composed of if that was just now.
fn answer(
    global: &Global,
    args: &RenderArgs,
    request: &Request,
    streams: &mut Streams<'_>,
) -> Result<(Answer, Option<Composed>), Failure> {
    #[cfg(feature = "launch")]
    if !args.no_cache && !args.parity && !request.clock.as_ref().is_some_and(Clock::is_given) {
        return Ok((cached::render(global, request, streams)?, None));
    }
    let composed = compose(global, request, streams)?;
    let delivery = preview(String::new(), 0.0, CacheStatus::Bypass);
    let manifest = composed.bundle.manifest(&composed.project.package, delivery, "");
    let text = if args.json || args.sections { String::new() } else { composed.bundle.text() };
    Ok((Answer { text, manifest, cache: CacheStatus::Bypass, stored: None }, Some(composed)))
}

/// Reads every source and composes.
fn compose(global: &Global, request: &Request, streams: &mut Streams<'_>) -> Result<Composed, Failure> {
    let Request { given, launch, root, clock } = request;
    let stamps = if clock.is_some() { Stamps::Take } else { Stamps::Skip };
    let project = finish(Project::open(root, &Options { stamps, ..options(global) }), global, streams)?;
    let facts = given.facts(project.config.name.as_deref(), root)?;
    let home = home(root, global, project.config.note_bytes, stamps, streams)?;
    let set = finish(project.sections(facts.project_name(), home.as_ref()), global, streams)?;
    let bundle = set.bundle_with(facts, launch);
    Ok(Composed { project, set, bundle })
}

fn print(
    answer: &Answer,
    args: &RenderArgs,
    clock: Option<&Clock>,
    streams: &mut Streams<'_>,
) -> Result<(), Failure> {
    if let Some(clock) = clock {
        let mut manifest = answer.manifest.clone();
        manifest.delivery = preview(clock.rendered_at(), clock.render_ms(), answer.cache);
        let stored = answer.stored.as_ref().map(|path| path.display().to_string());
        manifest.bundle.store_path = stored.unwrap_or_default();
        let manifest = Manifest::normalise(&manifest.to_value())
            .map_err(|error| Failure::error(error).hint("this is a fault of Cantus: please report it"))?;
        streams.out.write_all(canonical_json(&manifest.to_value()).as_bytes())?;
    } else if !args.sections {
        streams.out.write_all(for_stdout(&answer.text).as_bytes())?;
    } else if args.json {
        let table = Table { version: 1, sections: rows(&answer.manifest) };
        serde_json::to_writer_pretty(&mut *streams.out, &table).map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        let rows: Vec<_> = rows(&answer.manifest).iter().map(Row::cells).collect();
        table(streams.out, "", &rows)?;
    }
    Ok(streams.out.flush()?)
}

fn summary(answer: &Answer, start: Instant, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Manifest { bundle, sections, .. } = &answer.manifest;
    // The stream has no buffer: one text is one write.
    let line = format!(
        "render {:.12} common={:.12} sections={} bytes={} tokens_est={} cache={} {}ms\n",
        bundle.sha256,
        bundle.common_digest.as_deref().unwrap_or_default(),
        sections.iter().filter(|section| section.status == SectionStatus::Included).count(),
        bundle.bytes,
        bundle.tokens_est,
        match answer.cache {
            CacheStatus::Hit => "hit",
            CacheStatus::Miss => "miss",
            CacheStatus::Bypass => "bypass",
        },
        start.elapsed().as_millis(),
    );
    streams.err.write_all(line.as_bytes())
}

fn rows(manifest: &Manifest) -> Vec<Row> {
    let row = |section: &SectionRecord| Row {
        id: section.id.clone(),
        status: match section.status {
            SectionStatus::Included => "included",
            SectionStatus::Excluded => "excluded",
        },
        reason: section.reason.map(|reason| reason.as_str()),
        offset: section.offset,
        bytes: section.length,
        tokens_est: section.tokens_est,
        sha256: section.sha256.clone(),
        sources: section.sources.iter().map(shown).collect(),
    };
    manifest.sections.iter().map(row).collect()
}

/// A source by its path, with its layer where it is no file of the project.
fn shown(source: &SourceRecord) -> String {
    let layer = match source.scope {
        SourceScope::Package => "package:",
        SourceScope::Plugin => "plugin:",
        SourceScope::Home => "home:",
        SourceScope::Project | SourceScope::Launch => "",
    };
    format!("{layer}{}", source.path)
}

impl Row {
    fn cells(&self) -> [String; 5] {
        let number = |number: Option<u64>| number.map_or_else(String::new, group);
        let sha = self.sha256.as_deref().map_or_else(String::new, |sha| sha[..12].to_owned());
        let state = self.reason.map_or_else(
            || self.sources.first().cloned().unwrap_or_default(),
            |reason| format!("excluded: {reason}"),
        );
        [self.id.clone(), number(self.bytes), group(self.tokens_est), sha, state]
    }
}
