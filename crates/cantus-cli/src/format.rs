//! Findings in the formats of machines.

mod github;
mod place;
mod sarif;

use std::io::{self, Write};

use cantus_manifest::Diagnostic;

use crate::Status;
use crate::report::json_broken;

pub(crate) use github::github;
pub(crate) use place::Place;
pub(crate) use sarif::sarif;

use crate::args::Format;

/// Prints the findings of a project that can't be judged.
pub(crate) fn broken(
    out: &mut dyn Write,
    format: Format,
    findings: &[Diagnostic],
    place: &Place,
) -> io::Result<()> {
    match format {
        Format::Human => crate::failure::write_diagnostics(out, findings, None),
        Format::Github => github(out, findings, place),
        Format::Json => json_broken(out, findings),
        Format::Sarif => sarif(out, findings, place, Status::CantTell),
    }
}
