//! `cantus session snapshot`: what a conversation was told last.

use std::path::{Path, PathBuf};

use cantus_fs::{Disk as _, Kind, RealDisk};
use cantus_manifest::Diagnostic;
use cantus_session::{Delivered, HistoryError, Keys, Limits, delivered_within, history_file};

use crate::args::SnapshotArgs;
use crate::failure::Failure;
use crate::{Status, Streams};

pub(super) fn run(args: &SnapshotArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let keys = Keys { message: args.message.clone(), snapshot: args.key.clone() };
    let json = read(&args.history, &keys)?.map_or_else(|| "null".to_owned(), |delivered| delivered.json);
    writeln!(streams.out, "{json}")?;
    Ok(Status::Yes)
}

/// The snapshot delivered last in the history that the command line names; `None` if there is none, or no such file.
pub(super) fn read(named: &Path, keys: &Keys) -> Result<Option<Delivered>, Failure> {
    let Some(path) = history(named)? else { return Ok(None) };
    delivered_within(&RealDisk, &path, keys, Limits::default()).map_err(|error| unreadable(named, &error))
}

/// The absolute path of the history that is meant: of a folder the one that a resumed session opens; `None` if it has none.
fn history(named: &Path) -> Result<Option<PathBuf>, Failure> {
    if named == Path::new("-") {
        return Err(Failure::error("a history is read from its end, which standard input can't be")
            .hint("name the file; `./-` if that is its name"));
    }
    let absolute = std::path::absolute(named).map_err(Failure::error)?;
    let is_folder =
        matches!(RealDisk.canonical(&absolute).map(|real| RealDisk.kind(&real)), Ok(Ok(Some(Kind::Folder))));
    let explicit = (!is_folder).then_some(absolute.as_path());
    history_file(&RealDisk, explicit, &absolute).map_err(|error| unreadable(named, &error))
}

fn unreadable(named: &Path, error: &HistoryError) -> Failure {
    let cause = match error {
        HistoryError::Unreadable(cause) => Diagnostic::from_error("io", cause).message,
        HistoryError::Shrank => error.to_string(),
    };
    Failure::error(format!("cannot read the history `{}`: {cause}", named.display()))
        .hint("name the JSON Lines file of the conversation, or the folder of such files")
}
