//! The report of `--parity`.

use std::path::Path;

use cantus_compose::{Bundle, SectionSet};
use cantus_fs::Root;
use cantus_manifest::{Diagnostic, RelPath};
use cantus_projection::{Parity, parity};
use cantus_workspace::Project;

use crate::failure::Failure;
use crate::report::plural;
use crate::style::{BAD, GOOD};
use crate::{Status, Streams};

/// The most bytes of a committed file.
const MOST_BYTES: u64 = 64 << 20;

/// The committed file of a home folder.
const HOME_FILE: &str = "AGENTS.md";

/// Compares `bundle` with the committed file of the project and that of the home folder, and tells the gaps.
pub(super) fn run(
    root: &Root,
    project: &Project,
    home: Option<&Path>,
    set: &SectionSet,
    bundle: &Bundle,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let mut status = Status::Yes;
    let mut compare = |root: &Root, file: &RelPath, name: &str| -> Result<(), Failure> {
        match committed(root, file)? {
            None => writeln!(streams.err, "parity {name}: no such file, nothing to compare with")?,
            Some(text) => {
                let parity = parity(&text, set, bundle);
                tell(&parity, name, streams)?;
                if !parity.gaps.is_empty() {
                    status = Status::No;
                }
            }
        }
        Ok(())
    };
    if let Some(file) = project.config.files.first() {
        compare(root, file, file.as_str())?;
    }
    if let Some(folder) = home {
        let root = Root::new(root.disk().clone(), folder.to_path_buf());
        let file = RelPath::new(HOME_FILE).map_err(Failure::error)?;
        compare(&root, &file, &format!("home:{file}"))?;
    }
    Ok(status)
}

fn committed(root: &Root, file: &RelPath) -> Result<Option<String>, Failure> {
    let bytes = match root.read(file, MOST_BYTES) {
        Ok(bytes) => bytes,
        Err(error) if error.is_absent() => return Ok(None),
        Err(error) => return Err(Failure::diagnostics(vec![Diagnostic::from_error("io", &error).at(file)])),
    };
    let text = cantus_memory::decode(file, bytes);
    text.map(Some).map_err(|fault| Failure::diagnostics(vec![fault]))
}

fn tell(parity: &Parity, name: &str, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let held = plural(parity.held, "item");
    if parity.gaps.is_empty() {
        return writeln!(streams.err, "parity {name}: {GOOD}no gap{GOOD:#} in {held}");
    }
    writeln!(streams.err, "parity {name}: {BAD}{}{BAD:#} in {held}", plural(parity.gaps.len(), "gap"))?;
    for gap in &parity.gaps {
        let reason = gap.reason.map_or_else(String::new, |reason| format!(" ({reason})"));
        writeln!(streams.err, "  line {}: the bundle lacks {}{reason}", gap.line, gap.what)?;
    }
    Ok(())
}
