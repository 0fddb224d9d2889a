//! `cargo xtask schema`: the JSON Schema of a manifest, `projections/manifest.schema.json`, from the types.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Arc;

use cantus_fs::{RealDisk, Root};
use cantus_manifest::manifest::json_schema;
use cantus_manifest::{RelPath, canonical_json};
use cargo_metadata::{Metadata, MetadataCommand};
use similar::{ChangeTag, TextDiff};

/// Where the schema lies, below the root of the workspace.
const FILE: &str = "projections/manifest.schema.json";

/// The command that mends it.
const COMMAND: &str = "cargo xtask schema";

/// The most bytes that are read of it.
const MOST_BYTES: u64 = 16 << 20;

/// What is to be done with the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// It is written if it is not what it should be.
    Write,
    /// It is only judged.
    Check,
}

/// Runs the task: exit code 1 if a check found another file than it should be, 2 if it can't tell.
pub(crate) fn main(mode: Mode) -> ExitCode {
    let fresh = MetadataCommand::new()
        .no_deps()
        .exec()
        .map_err(Box::from)
        .and_then(|metadata| run(mode, &metadata, &mut io::stdout().lock()));
    match fresh {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: schema: {error}");
            ExitCode::from(2)
        }
    }
}

/// Does as `mode` says in the workspace and says what that was; gives whether the file is now what it should be.
pub(crate) fn run(mode: Mode, metadata: &Metadata, out: &mut dyn Write) -> Result<bool, Box<dyn Error>> {
    let root = Root::new(Arc::new(RealDisk), metadata.workspace_root.clone().into_std_path_buf());
    keep(mode, &root, &canonical_json(&json_schema()), out)
}

/// The same for the file's `text`, below any root.
fn keep(mode: Mode, root: &Root, text: &str, out: &mut dyn Write) -> Result<bool, Box<dyn Error>> {
    let file = RelPath::new(FILE)?;
    let found = root.read_target(&file, MOST_BYTES)?;
    // A checkout may have turned LF to CRLF.
    let found = found.map(|bytes| String::from_utf8_lossy(&bytes).replace("\r\n", "\n"));
    if found.as_deref() == Some(text) {
        writeln!(out, "schema: `{FILE}` is fresh")?;
        return Ok(true);
    }
    if mode == Mode::Write {
        root.commit(&file, root.stage(&file, text.as_bytes())?)?;
        writeln!(out, "schema: `{FILE}` is written")?;
        return Ok(true);
    }
    let state = match found {
        None => "is missing".to_owned(),
        Some(found) => format!("is stale: {}", difference(&found, text)),
    };
    writeln!(out, "schema: `{FILE}` {state}; run `{COMMAND}` and commit what it writes")?;
    Ok(false)
}

/// How many lines differ.
fn difference(found: &str, expected: &str) -> String {
    let diff = TextDiff::from_lines(found, expected);
    let count = |tag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
    format!("{} lines to add, {} to remove", count(ChangeTag::Insert), count(ChangeTag::Delete))
}

#[cfg(test)]
mod tests {
    use cantus_testkit::Repo;

    use super::*;

    /// Runs in `repo` for the text `a`, `b`, `c` on three lines.
    #[track_caller]
    fn check(mode: Mode, repo: &Repo, fresh: bool, said: &str) {
        let root = Root::new(Arc::new(RealDisk), repo.path().to_path_buf());
        let mut out = Vec::new();
        assert_eq!(keep(mode, &root, "a\nb\nc\n", &mut out).unwrap(), fresh);
        assert_eq!(
            String::from_utf8(out).unwrap(),
            format!("schema: `projections/manifest.schema.json` {said}\n")
        );
    }

    #[test]
    fn a_check_writes_nothing_and_names_the_command() {
        let repo = Repo::without_git("");
        check(Mode::Check, &repo, false, "is missing; run `cargo xtask schema` and commit what it writes");
        assert_eq!(repo.files(), [] as [&str; 0]);
        repo.write(FILE, "a\nx\n");
        let said =
            "is stale: 2 lines to add, 1 to remove; run `cargo xtask schema` and commit what it writes";
        check(Mode::Check, &repo, false, said);
        assert_eq!(repo.read(FILE), "a\nx\n");
    }

    #[test]
    fn what_is_written_is_fresh() {
        let repo = Repo::without_git("");
        check(Mode::Write, &repo, true, "is written");
        assert_eq!(repo.read(FILE), "a\nb\nc\n");
        check(Mode::Check, &repo, true, "is fresh");
        check(Mode::Write, &repo, true, "is fresh");
        repo.write(FILE, "a\r\nb\r\nc\r\n");
        check(Mode::Check, &repo, true, "is fresh");
    }

    #[test]
    fn the_schema_is_the_same_each_time_and_ends_in_one_line_feed() {
        let text = canonical_json(&json_schema());
        assert_eq!(canonical_json(&json_schema()), text);
        assert!(text.ends_with("}\n") && !text.contains('\r'));
    }
}
