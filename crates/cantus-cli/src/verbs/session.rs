//! `cantus session`: what the requests of one long conversation are given.

mod compile;
mod snapshot;

use std::path::Path;

use cantus_compose::{Fitted, clip, fit};
use cantus_launch::SessionComposer;
use cantus_manifest::{Diagnostic, Outcome};
use cantus_memory::decode;
use cantus_session::{CheckpointInput, checkpoint};
use serde::Serialize;

use crate::args::{Global, SessionAction};
use crate::failure::Failure;
use crate::input;
use crate::{Status, Streams};

/// The most bytes that a text or a description may have.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(
    global: &Global,
    action: &SessionAction,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    match action {
        SessionAction::Compile(args) => compile::run(global, args, streams),
        SessionAction::Fit { budget, pointer } => {
            let Fitted { body, cut } = fit(&standard_input()?, *budget, pointer);
            let size = body.chars().count();
            print_json(&FitReport { version: 1, body, size, cut }, streams)
        }
        SessionAction::Clip { limit } => {
            write!(streams.out, "{}", clip(&standard_input()?, *limit))?;
            Ok(Status::Yes)
        }
        SessionAction::Checkpoint { input } => tell_checkpoint(global, input, streams),
        SessionAction::Snapshot(args) => snapshot::run(args, streams),
    }
}

/// What `session fit` prints.
#[derive(Serialize)]
struct FitReport {
    version: u32,
    body: String,
    /// In chars.
    size: usize,
    cut: bool,
}

/// What `session checkpoint` prints.
#[derive(Serialize)]
struct CheckpointReport {
    version: u32,
    /// `null` if there is nothing to tell.
    body: Option<String>,
    /// In chars.
    size: usize,
}

fn print_json(value: &impl Serialize, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    serde_json::to_writer_pretty(&mut *streams.out, value).map_err(std::io::Error::from)?;
    writeln!(streams.out)?;
    Ok(Status::Yes)
}

/// The text of standard input, byte for byte.
fn standard_input() -> Result<String, Failure> {
    let bytes = input::read(Path::new("-"), MOST_BYTES, "text")?;
    String::from_utf8(bytes).map_err(|error| {
        // Said as of any other file.
        let fault = decode(&"-", error.into_bytes()).err();
        Failure::diagnostics(
            fault.into_iter().map(|fault| Diagnostic { code: "session.text", ..fault }).collect(),
        )
    })
}

fn tell_checkpoint(global: &Global, file: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let bytes = input::read(file, MOST_BYTES, "checkpoint")?;
    let Outcome { value, diagnostics } = CheckpointInput::read(&file.display().to_string(), bytes);
    let input = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
    let composer = SessionComposer::new(compile::composer(global)?);
    let wording = composer.wording().map_err(|error| compile::failure(error, file, global))?;
    let body = checkpoint(&input, &wording);
    let size = body.as_deref().map_or(0, |body| body.chars().count());
    print_json(&CheckpointReport { version: 1, body, size }, streams)
}
