//! `cantus show`: what an agent was given.

mod diff;
mod list;

use std::path::Path;

use cantus_fs::RealDisk;
use cantus_launch::{BundleSource, Integrity, Record, RecordFiles, Role, RunInfo};
use cantus_manifest::manifest::{Manifest, SectionRecord, SourceScope};
use serde::Serialize;

use crate::args::{Global, ShowArgs};
use crate::failure::Failure;
use crate::report::{group, table};
use crate::style::LABEL;
use crate::verbs::recorded::{files, find, last, runs, say_no, user_home};
use crate::visible::visible;
use crate::{Status, Streams};

pub(crate) use diff::in_words;

/// One record of a run, as it was picked.
struct Picked<'a> {
    run: &'a RunInfo,
    files: &'a RecordFiles,
    record: Record,
}

pub(crate) fn run(global: &Global, args: &ShowArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let runs = runs(&args.runs)?;
    let Some(name) = &args.name else { return list::newest(global, &runs, args, streams) };
    let Some(run) = find(global, &runs, name, "show", streams)? else { return Ok(Status::No) };
    let files = files(&run)?;
    let user = user_home();
    if args.list {
        return list::records(&run, &files, user.as_deref(), args, streams);
    }
    let Some(files) = pick(global, &run, &files, args, streams)? else { return Ok(Status::No) };
    let picked = Picked { run: &run, files, record: files.read(&RealDisk, user.as_deref()) };
    if args.diff {
        return diff::run(global, &picked, user.as_deref(), args, streams);
    }
    let printed = if args.sections {
        sections(&picked, args, streams)?
    } else if args.json {
        manifest(&picked, streams)?
    } else {
        bundle(&picked, user.as_deref(), streams)?
    };
    streams.out.flush()?;
    let status = if printed == Printed::Nothing { Status::CantTell } else { Status::Yes };
    let status = match picked.record.integrity {
        Integrity::Mismatch => Status::No,
        Integrity::Missing => Status::CantTell,
        Integrity::Match => status,
    };
    if !global.quiet || status != Status::Yes {
        tell(&picked, streams)?;
    }
    if printed == Printed::Nothing {
        why_nothing(global, &picked, args, streams)?;
    }
    Ok(status)
}

/// Whether there was something to print.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Printed {
    Something,
    Nothing,
}

/// The record that is asked for; if there is none, that is said.
fn pick<'a>(
    global: &Global,
    run: &RunInfo,
    files: &'a [RecordFiles],
    args: &ShowArgs,
    streams: &mut Streams<'_>,
) -> Result<Option<&'a RecordFiles>, Failure> {
    let (name, program) = (&run.name, global.program);
    let Some(seq) = args.number.or_else(|| last(run, files)) else {
        say_no(
            &format!("show: run {name} has no invocation"),
            &format!("run it with `{program} exec --artifacts`"),
            streams,
        )?;
        return Ok(None);
    };
    let role = if args.helper { Role::Helper } else { Role::Root };
    let found = files.iter().find(|files| (files.seq(), files.role()) == (seq, role));
    if found.is_none() {
        let what = if args.helper { "helper bundle" } else { "invocation" };
        say_no(
            &format!("show: run {name} has no {what} with the number {seq:02}"),
            &format!("`{program} show {name} --list` lists its records"),
            streams,
        )?;
    }
    Ok(found)
}

/// Prints the bundle.
fn bundle(picked: &Picked<'_>, user: Option<&Path>, streams: &mut Streams<'_>) -> Result<Printed, Failure> {
    let Some(bytes) = picked.files.bundle(&RealDisk, user) else { return Ok(Printed::Nothing) };
    streams.out.write_all(&bytes)?;
    if !bytes.ends_with(b"\n") {
        streams.out.write_all(b"\n")?;
    }
    Ok(Printed::Something)
}

/// Prints the manifest as it lies there, if it is JSON.
fn manifest(picked: &Picked<'_>, streams: &mut Streams<'_>) -> Result<Printed, Failure> {
    let bytes = picked.files.manifest_bytes(&RealDisk).unwrap_or_default();
    if serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_err() {
        return Ok(Printed::Nothing);
    }
    streams.out.write_all(bytes.trim_ascii_end())?;
    writeln!(streams.out)?;
    Ok(Printed::Something)
}

/// What `show --sections --json` prints.
#[derive(Serialize)]
struct Sections<'a> {
    version: u32,
    sections: &'a [SectionRecord],
}

/// Prints the sections of the manifest.
fn sections(picked: &Picked<'_>, args: &ShowArgs, streams: &mut Streams<'_>) -> Result<Printed, Failure> {
    let Some(manifest) = picked.files.manifest(&RealDisk) else { return Ok(Printed::Nothing) };
    let Manifest { sections, .. } = manifest;
    if args.json {
        print_json(&Sections { version: 1, sections: &sections }, streams)?;
    } else {
        let rows: Vec<_> = sections.iter().map(cells).collect();
        table(streams.out, "", &rows)?;
    }
    Ok(Printed::Something)
}

fn cells(section: &SectionRecord) -> [String; 5] {
    let source = || {
        let source = section.sources.first()?;
        let scope = match source.scope {
            SourceScope::Package => "package:",
            SourceScope::Plugin => "plugin:",
            SourceScope::Home => "home:",
            SourceScope::Launch => "launch:",
            SourceScope::Project => "",
        };
        Some(format!("{scope}{}", source.path))
    };
    let state = match section.reason {
        Some(reason) => format!("excluded: {reason}"),
        None => source().unwrap_or_default(),
    };
    let length = section.length.map_or_else(String::new, group);
    [section.id.clone(), length, group(section.tokens_est), prefix(section.sha256.as_deref(), ""), state]
}

/// Says which record it was and whether its bytes are what they should be.
fn tell(picked: &Picked<'_>, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Record { seq, role, said, found, source, integrity, problems, .. } = &picked.record;
    let found = found.map(|digest| digest.to_string());
    let hex = prefix(found.as_deref().or(said.sha256.as_deref()), "");
    let (name, provider) = (&picked.run.name, said.provider.as_deref().unwrap_or("unknown"));
    let bytes = said.bytes;
    let line =
        format!("show {name} {seq:02} {provider} {role} {hex} bytes={bytes} source={source} {integrity}");
    writeln!(streams.err, "{}", visible(&line))?;
    for problem in problems {
        writeln!(streams.err, "  {LABEL}note{LABEL:#}: {}", visible(problem))?;
    }
    Ok(())
}

/// Says why nothing was printed.
fn why_nothing(
    global: &Global,
    picked: &Picked<'_>,
    args: &ShowArgs,
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let (program, Picked { run, record, files }) = (global.program, picked);
    let (name, seq) = (&run.name, record.seq);
    let message = match record.source {
        _ if args.sections && files.has_manifest() => format!("show: the manifest of {seq:02} breaks a rule"),
        _ if args.sections || args.json => format!("show: no manifest of {seq:02} can be read"),
        BundleSource::Store => {
            format!("show: the store's file for {seq:02} has other bytes, and is not shown")
        }
        _ => format!("show: the bytes of bundle {seq:02} are missing"),
    };
    let helper = if record.role == Role::Helper { " --helper" } else { "" };
    let other = match args.sections || args.json {
        true => format!("`{program} show {name} -n {seq}{helper}` prints the bundle"),
        false if record.error => {
            format!("`{program} show {name} -n {seq}{helper} --json` says what went wrong")
        }
        false => format!("`{program} show {name} -n {seq}{helper} --json` prints what is known of it"),
    };
    say_no(&message, &other, streams)
}

/// The first 12 characters of a digest.
fn prefix(digest: Option<&str>, none: &str) -> String {
    digest.map_or_else(|| none.to_owned(), |digest| digest.chars().take(12).collect())
}

/// Prints a shape of ours.
fn print_json(shape: &impl Serialize, streams: &mut Streams<'_>) -> Result<(), Failure> {
    serde_json::to_writer_pretty(&mut *streams.out, shape).map_err(std::io::Error::from)?;
    writeln!(streams.out)?;
    Ok(())
}
