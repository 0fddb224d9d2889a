//! `cantus read`: notes and strands on demand.

use cantus_compose::{Home, item_text, read_text};
use cantus_fs::Root;
use cantus_memory::{Library, Reading, Resolved, Target};
use cantus_workspace::{Project, Stamps};
use serde::Serialize;

use crate::args::{Global, ReadArgs};
use crate::failure::Failure;
use crate::verbs::{finish, home, options, root};
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
    let own = Library::new(&project.corpus);
    let needs_home = args.targets.iter().any(|target| !matches!(find(&own, target), Resolved::Found(_)));
    let home = match needs_home {
        true => home_layer(&root, &project, global, streams)?,
        false => Home::default(),
    };
    let libraries = [own, Library::new(&home.corpus)];
    let mut asked = [Vec::new(), Vec::new()];
    let mut status = Status::Yes;
    for target in &args.targets {
        match look_up(&libraries, target) {
            Ok((library, found)) => asked[library].push(found),
            Err(near) => {
                status = Status::No;
                not_found(target, &near, streams)?;
            }
        }
    }
    if status == Status::No {
        return Ok(status);
    }
    let mut reading = Reading::default();
    for (library, asked) in libraries.iter().zip(&asked) {
        let part = library.read(asked, args.depth);
        reading.items.extend(part.items);
        reading.references.extend(part.references);
        reading.unresolved.extend(part.unresolved);
    }
    if args.json {
        serde_json::to_writer_pretty(&mut *streams.out, &answer(&reading, project.config.width))
            .map_err(std::io::Error::from)?;
        writeln!(streams.out)?;
    } else {
        streams.out.write_all(read_text(&reading, project.config.width).as_bytes())?;
    }
    Ok(status)
}

fn home_layer(
    root: &Root,
    project: &Project,
    global: &Global,
    streams: &mut Streams<'_>,
) -> Result<Home, Failure> {
    Ok(home(root, global, project.config.note_bytes, Stamps::Skip, streams)?.unwrap_or_default())
}

/// The first library that has the target, and the target; else what is like it.
fn look_up<'a>(libraries: &[Library<'a>], target: &str) -> Result<(usize, Target<'a>), Vec<String>> {
    let mut near = Vec::new();
    for (index, library) in libraries.iter().enumerate() {
        match find(library, target) {
            Resolved::Found(found) => return Ok((index, found)),
            Resolved::Itself => {}
            Resolved::Unresolved(others) => near.extend(others),
        }
    }
    Err(near)
}

fn find<'a>(library: &Library<'a>, target: &str) -> Resolved<'a> {
    library.resolve(target, None)
}

fn not_found(target: &str, near: &[String], streams: &mut Streams<'_>) -> std::io::Result<()> {
    let diagnostic =
        cantus_manifest::Diagnostic::error("read.unknown", format!("no note or strand is called `{target}`"));
    let near: Vec<_> = near.iter().map(|address| format!("`{address}`")).collect();
    let help = match near.as_slice() {
        [] => "`cantus list` names the notes".to_owned(),
        near => format!("did you mean {}?", near.join(" or ")),
    };
    crate::failure::write_diagnostics(streams.err, &[diagnostic.help(help)])
}

fn answer(reading: &Reading<'_>, width: usize) -> Answer {
    let item = |item: &cantus_memory::Item<'_>| Item {
        address: item.target.address(),
        path: item.target.path().to_string(),
        label: item.target.label(),
        depth: item.depth,
        via: item.via.map(Target::address),
        text: item_text(item.target, width),
    };
    let reference = |target: &Target<'_>| Reference {
        address: target.address(),
        path: target.path().to_string(),
        label: target.label(),
        summary: target.summary().text,
        always_loaded: target.is_always_loaded(),
    };
    Answer {
        version: 1,
        items: reading.items.iter().map(item).collect(),
        references: reading.references.iter().map(reference).collect(),
        unresolved: reading.unresolved.clone(),
    }
}
