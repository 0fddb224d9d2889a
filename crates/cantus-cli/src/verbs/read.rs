//! `cantus read`: notes and strands on demand.

use cantus_compose::{Home, item_text, read_text};
use cantus_manifest::{Diagnostic, Stamps};
use cantus_memory::{Library, Reading, Resolved, Target};
use cantus_workspace::Project;
use serde::Serialize;

use crate::args::{Global, ReadArgs};
use crate::failure::{Failure, write_diagnostics};
use crate::verbs::{finish, home, options, root};
use crate::visible::for_stdout;
use crate::{Status, Streams};

/// What `read --json` prints.
#[derive(Serialize)]
struct Answer {
    version: u32,
    items: Vec<Item>,
    references: Vec<Reference>,
    unresolved: Vec<String>,
}

/// One text.
#[derive(Serialize)]
struct Item {
    address: String,
    path: String,
    label: String,
    /// How many steps it is from what was asked for.
    depth: usize,
    /// The address of the text that led to it.
    via: Option<String>,
    text: String,
}

/// Something that the texts link to.
#[derive(Serialize)]
struct Reference {
    address: String,
    path: String,
    label: String,
    summary: String,
    always_loaded: bool,
}

pub(crate) fn run(global: &Global, args: &ReadArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    let project = finish(Project::open(&root, &options(global)), global, streams)?;
    let mut libraries = vec![Library::new(&project.corpus)];
    libraries.extend(project.plugins.iter().map(|plugin| {
        // Its entries in a bundle are written so.
        Library::with_prefix(&plugin.corpus, format!("plugin:{}/", plugin.name))
    }));
    let home = match args.targets.iter().any(|target| look_up(&libraries, target).is_err()) {
        true => home(&root, global, project.config.note_bytes, Stamps::Skip, streams)?.unwrap_or_default(),
        false => Home::default(),
    };
    libraries.push(Library::new(&home.corpus));
    let mut asked = vec![Vec::new(); libraries.len()];
    let mut status = Status::Yes;
    for target in &args.targets {
        match look_up(&libraries, target) {
            Ok((library, found)) => asked[library].push(found),
            Err(near) => {
                status = Status::No;
                not_found(global, target, &near, streams)?;
            }
        }
    }
    if status == Status::No {
        return Ok(status);
    }
    let readings = libraries.iter().zip(&asked).map(|(library, asked)| library.read(asked, args.depth));
    let readings: Vec<_> = readings.collect();
    if args.json {
        serde_json::to_writer_pretty(&mut *streams.out, &answer(&readings, project.config.width))
            .map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        let text = read_text(&readings, project.config.width);
        streams.out.write_all(for_stdout(&text).as_bytes())?;
    }
    Ok(status)
}

/// The first library that has the target, and the target; else what is like it.
fn look_up<'a>(libraries: &[Library<'a>], target: &str) -> Result<(usize, Target<'a>), Vec<String>> {
    let mut near = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        match library.ask(target) {
            Resolved::Found(found) => return Ok((index, found)),
            Resolved::Itself => {}
            Resolved::Unresolved(others) => near.extend(others),
        }
    }
    Err(near)
}

fn not_found(
    global: &Global,
    target: &str,
    near: &[String],
    streams: &mut Streams<'_>,
) -> std::io::Result<()> {
    let diagnostic = Diagnostic::error("read.unknown", format!("no note or strand is called `{target}`"));
    let near: Vec<_> = near.iter().map(|address| format!("`{address}`")).collect();
    let help = match near.as_slice() {
        [] => format!("`{} list` names the notes", global.program),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    write_diagnostics(streams.err, &[diagnostic.help(help)], None)
}

fn answer(readings: &[Reading<'_>], width: usize) -> Answer {
    let mut answer = Answer { version: 1, items: Vec::new(), references: Vec::new(), unresolved: Vec::new() };
    for reading in readings {
        let address = |target: Target<'_>| format!("{}{}", reading.prefix, target.address());
        answer.items.extend(reading.items.iter().map(|item| Item {
            address: address(item.target),
            path: item.target.path().to_string(),
            label: item.target.label(),
            depth: item.depth,
            via: item.via.map(address),
            text: item_text(item.target, &reading.prefix, width),
        }));
        answer.references.extend(reading.references.iter().map(|target| Reference {
            address: address(*target),
            path: target.path().to_string(),
            label: target.label(),
            summary: target.summary().text,
            always_loaded: target.is_always_loaded(),
        }));
        answer.unresolved.extend(reading.unresolved.iter().cloned());
    }
    answer
}
