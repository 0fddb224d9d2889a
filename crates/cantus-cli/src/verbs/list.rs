//! `cantus list`: the notes by kind, with their sizes.

use std::collections::BTreeMap;

use cantus_compose::{Section, Status as Presence};
use cantus_projection::facts_of;
use cantus_workspace::Project;
use serde::Serialize;

use crate::args::{Global, ListArgs};
use crate::failure::Failure;
use crate::report::{self, group, plural, table};
use crate::style::LABEL;
use crate::verbs::{finish, options, root, strictly};
use crate::{Status, Streams};

/// What `list --json` prints.
#[derive(Serialize)]
struct Listing {
    version: u32,
    notes: Vec<Entry>,
}

/// One note or web.
#[derive(Serialize)]
struct Entry {
    kind: &'static str,
    path: String,
    section: String,
    status: &'static str,
    /// Of its section, which is an entry for a reference note.
    bytes: usize,
    tokens_est: u64,
    strands: usize,
}

pub(crate) fn run(global: &Global, args: &ListArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let outcome = strictly(Project::open(&root(global)?, &options(global)), global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let project = finish(outcome, global, streams)?;
    let set = finish(project.sections(project.config.name.as_deref(), None), global, streams)?;
    let facts = facts_of("native").ok_or_else(|| Failure::error("no native render"))?;
    let bundle = set.bundle(facts);
    let notes: Vec<_> = bundle.sections().iter().filter_map(entry).collect();
    if args.json {
        serde_json::to_writer_pretty(&mut *streams.out, &Listing { version: 1, notes })
            .map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
        return Ok(Status::Yes);
    }
    let mut kinds: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for note in &notes {
        kinds.entry(note.kind).or_default().push(note);
    }
    if notes.is_empty() {
        writeln!(streams.out, "no notes")?;
    }
    for (kind, entries) in kinds {
        let tokens: u64 = entries.iter().map(|entry| entry.tokens_est).sum();
        writeln!(
            streams.out,
            "{LABEL}{kind}{LABEL:#} ({}, ~{} tokens)",
            plural(entries.len(), "note"),
            group(tokens)
        )?;
        let rows = entries.iter().map(|entry| {
            let strands = if entry.kind == "web" { plural(entry.strands, "strand") } else { String::new() };
            let status = if entry.status == "included" { "" } else { entry.status };
            [entry.path.clone(), group(entry.tokens_est), strands, status.to_owned()]
        });
        table(streams.out, "  ", &rows.collect::<Vec<_>>())?;
    }
    Ok(Status::Yes)
}

fn entry(section: &Section) -> Option<Entry> {
    let kind = match section.id.as_str().split('.').nth(1)? {
        "core" => "core",
        "ref" => "reference",
        "web" => "web",
        _ => return None,
    };
    let path = section.sources.first().filter(|_| section.id.as_str().starts_with("proj."))?.path.to_string();
    let status = match &section.status {
        Presence::Included(_) => "included",
        Presence::Excluded { reason, .. } => reason.as_str(),
    };
    Some(Entry {
        kind,
        path,
        section: section.id.to_string(),
        status,
        bytes: section.content().map_or(0, |content| content.text().len()),
        tokens_est: section.content().map_or(0, |content| content.tokens_est()),
        strands: section.sources.len() - 1,
    })
}
