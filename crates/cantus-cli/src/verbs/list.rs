//! `cantus list`: the notes by kind, with their sizes; or the crates that ship notes; or the agents that read them.

use std::collections::BTreeMap;

use cantus_compose::{Group, Section, SectionSet, Status as Presence};
use cantus_manifest::RelPath;
use cantus_memory::{Corpus, Library, Target};
use cantus_projection::facts_of;
use cantus_workspace::Project;
use serde::Serialize;

use crate::args::{Global, ListArgs};
use crate::failure::Failure;
use crate::report::{self, group, plural, table};
use crate::style::LABEL;
use crate::verbs::{finish, options, plugins, providers, root, strictly};
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
    /// The crate that ships it; left out for a note of the project.
    #[serde(rename = "crate", skip_serializing_if = "Option::is_none")]
    plugin: Option<String>,
    /// The folder of the member that it belongs to; left out for a note of the project itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    member: Option<String>,
    /// Its section; none for a note that no bundle lists.
    section: Option<String>,
    /// `included`, why it is left out, or for a note that no bundle lists `linked` or `unreachable`.
    status: &'static str,
    /// The address of the note that leads to one which no bundle lists.
    through: Option<String>,
    /// Of its section, which is an entry for a reference note.
    bytes: usize,
    tokens_est: u64,
    strands: usize,
}

pub(crate) fn run(global: &Global, args: &ListArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if args.plugins {
        return plugins::run(global, args, streams);
    }
    if args.providers {
        return providers::run(global, args, streams);
    }
    let outcome = strictly(Project::open(&root(global)?, &options(global)), global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let project = finish(outcome, global, streams)?;
    let set = finish(project.sections(project.config.name.as_deref(), None), global, streams)?;
    let mut notes = entries(&set, &project.corpus)?;
    for member in &project.members {
        let set = finish(project.member_sections(member), global, streams)?;
        let own = entries(&set, &member.corpus)?.into_iter();
        notes.extend(own.map(|entry| Entry { member: Some(member.folder.to_string()), ..entry }));
    }
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
            let status = match &entry.through {
                Some(through) => format!("linked from {through}"),
                None if entry.status == "included" => String::new(),
                None => entry.status.to_owned(),
            };
            [entry.path.clone(), group(entry.tokens_est), strands, status]
        });
        table(streams.out, "  ", &rows.collect::<Vec<_>>())?;
    }
    Ok(Status::Yes)
}

/// The notes of a set of sections, and those of its corpus that no bundle lists.
fn entries(set: &SectionSet, corpus: &Corpus) -> Result<Vec<Entry>, Failure> {
    let facts = facts_of("native").ok_or_else(|| Failure::error("no native render"))?;
    let bundle = set.bundle(facts);
    let groups: BTreeMap<_, _> = set.units().map(|(section, group)| (&section.id, group)).collect();
    let of_note = |section: &Section| Some(entry(section, *groups.get(&section.id)?));
    let mut notes: Vec<_> = bundle.sections().iter().filter_map(of_note).collect();
    let library = Library::new(corpus);
    notes.extend(library.unlisted().into_iter().map(|(path, through)| unlisted(path, through)));
    Ok(notes)
}

/// A note that no bundle lists, and what leads to it.
fn unlisted(path: &RelPath, through: Option<Target<'_>>) -> Entry {
    Entry {
        kind: "reference",
        path: path.to_string(),
        plugin: None,
        member: None,
        section: None,
        status: if through.is_some() { "linked" } else { "unreachable" },
        through: through.map(Target::address),
        bytes: 0,
        tokens_est: 0,
        strands: 0,
    }
}

fn entry(section: &Section, group: Group) -> Entry {
    let path = section.sources.first().map_or_else(String::new, ToString::to_string);
    let status = match &section.status {
        Presence::Included(_) => "included",
        Presence::Excluded { reason, .. } => reason.as_str(),
    };
    // The id is `plugin.<crate>.<slug>`.
    let plugin = section.id.as_str().strip_prefix("plugin.").and_then(|rest| rest.split('.').next());
    Entry {
        kind: group.kind(),
        path,
        plugin: plugin.map(str::to_owned),
        member: None,
        section: Some(section.id.to_string()),
        status,
        through: None,
        bytes: section.content().map_or(0, |content| content.text().len()),
        tokens_est: section.content().map_or(0, |content| content.tokens_est()),
        strands: section.sources.len().saturating_sub(1),
    }
}
