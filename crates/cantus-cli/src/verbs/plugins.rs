//! `cantus list --plugins`: the crates among the dependencies that ship notes.

use cantus_manifest::{Outcome, Severity};
use cantus_workspace::{PluginKind, PluginListing, ShippedNotes, list_plugins};
use serde::Serialize;

use crate::args::{Global, ListArgs};
use crate::failure::Failure;
use crate::report::{self, plural, table};
use crate::style::LABEL;
use crate::verbs::{root, tell_findings};
use crate::{Status, Streams};

/// What `list --plugins --json` prints.
#[derive(Serialize)]
struct Listing<'a> {
    version: u32,
    /// Why there is no dependency graph, where there is none.
    no_graph: Option<&'a str>,
    plugins: Vec<Entry<'a>>,
}

/// One crate.
#[derive(Serialize)]
struct Entry<'a> {
    #[serde(rename = "crate")]
    name: &'a str,
    crate_version: &'a str,
    /// The note folder below the crate's own.
    notes: &'a str,
    used: bool,
    /// `reference` or `core`; null if it isn't used.
    kind: Option<&'static str>,
    /// How to use it; null if it is used or can't be.
    allow: Option<&'a str>,
}

pub(super) fn run(global: &Global, args: &ListArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let Outcome { value, diagnostics } = list_plugins(&root(global)?);
    let broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match value {
        Some(listing) if args.json => json(&listing, streams)?,
        Some(listing) => human(&listing, streams)?,
        None if args.json => {
            report::json_broken(streams.out, &diagnostics)?;
            return Ok(Status::CantTell);
        }
        None => {}
    }
    tell_findings(&diagnostics, global, streams)?;
    Ok(if broken { Status::CantTell } else { Status::Yes })
}

fn json(listing: &PluginListing, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let plugins = listing.crates.iter().map(entry).collect();
    let listing = Listing { version: 1, no_graph: listing.no_graph.as_deref(), plugins };
    serde_json::to_writer_pretty(&mut *streams.out, &listing).map_err(std::io::Error::from)?;
    Ok(writeln!(streams.out)?)
}

fn entry(shipped: &ShippedNotes) -> Entry<'_> {
    Entry {
        name: &shipped.name,
        crate_version: &shipped.version,
        notes: &shipped.notes,
        used: shipped.used.is_some(),
        kind: shipped.used.map(PluginKind::as_str),
        allow: shipped.allow.as_deref(),
    }
}

fn human(listing: &PluginListing, streams: &mut Streams<'_>) -> Result<(), Failure> {
    if let Some(why) = &listing.no_graph {
        return Ok(writeln!(streams.out, "no plugins: {why}")?);
    }
    if listing.crates.is_empty() {
        return Ok(writeln!(streams.out, "no plugins: no crate among the dependencies ships notes")?);
    }
    writeln!(streams.out, "{LABEL}plugins{LABEL:#} ({})", plural(listing.crates.len(), "crate"))?;
    let rows = listing.crates.iter().map(|shipped| {
        let state = match shipped.used {
            Some(kind) => format!("used ({})", kind.as_str()),
            None => "available".to_owned(),
        };
        [
            shipped.name.clone(),
            shipped.version.clone(),
            format!("{}/", shipped.notes.trim_end_matches('/')),
            state,
        ]
    });
    table(streams.out, "  ", &rows.collect::<Vec<_>>())?;
    let mut told: Option<&str> = None;
    for shipped in &listing.crates {
        // One line for all versions of a crate.
        let Some(allow) = shipped.allow.as_deref().filter(|_| told != Some(&shipped.name)) else { continue };
        told = Some(&shipped.name);
        writeln!(streams.out, "to use {}: {allow}", shipped.name)?;
    }
    Ok(())
}
