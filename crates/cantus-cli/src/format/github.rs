//! Workflow commands of GitHub Actions: it shows them beside the lines of a pull request.
//!
//! The escapes are those of <https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands> and of the
//! toolkit that GitHub ships: `%`, CR and LF everywhere, `:` and `,` in properties too.

use std::io::{self, Write};

use cantus_manifest::{Diagnostic, Severity};

use crate::format::place::{Place, whole_text};

/// Prints one command a finding.
pub(crate) fn github(out: &mut dyn Write, findings: &[Diagnostic], place: &Place) -> io::Result<()> {
    for finding in findings {
        writeln!(out, "{}", command(finding, place))?;
    }
    Ok(())
}

fn command(finding: &Diagnostic, place: &Place) -> String {
    let kind = match finding.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "notice",
    };
    let file = place.file(finding.path.as_deref());
    let mut command = format!("::{kind} ");
    if let Some(file) = &file {
        command.push_str(&format!("file={},", property(file)));
        if let Some(line) = finding.line {
            command.push_str(&format!("line={line},"));
        }
    }
    command.push_str(&format!("title={}::", property(finding.code)));
    command.push_str(&data(&whole_text(finding, place)));
    command
}

/// What stands behind the second `::`.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// The value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(finding: &Diagnostic, expected: &str) {
        assert_eq!(command(finding, &Place::default()), expected);
    }

    #[test]
    fn a_finding_with_everything() {
        let finding = Diagnostic::error("drift.edited", "edited").at("AGENTS.md").line(3).help("undo it");
        check(&finding, "::error file=AGENTS.md,line=3,title=drift.edited::edited%0Ahelp: undo it");
    }

    #[test]
    fn severities_and_findings_without_a_file() {
        check(&Diagnostic::warning("a", "b"), "::warning title=a::b");
        check(&Diagnostic::note("a", "b").at("x.md"), "::notice file=x.md,title=a::b");
        check(&Diagnostic::note("a", "b").at("home:x.md").line(2), "::notice title=a::home:x.md:2: b");
    }

    #[test]
    fn percent_signs_and_line_ends_are_escaped_everywhere() {
        check(&Diagnostic::error("a", "100%\nb\n::warning::c"), "::error title=a::100%25%0Ab%0A::warning::c");
        check(&Diagnostic::error("a", "b").at("50%.md"), "::error file=50%25.md,title=a::b");
        assert_eq!(data("a\r\nb"), "a%0D%0Ab");
    }

    #[test]
    fn colons_and_commas_are_escaped_in_properties_alone() {
        let finding = Diagnostic::error("a", "x: y, z").at("memory/a,b:c.md");
        check(&finding, "::error file=memory/a%2Cb%3Ac.md,title=a::x: y, z");
    }

    #[test]
    fn control_characters_are_shown() {
        check(&Diagnostic::error("a", "x\u{1b}[2J\ry"), "::error title=a::x\\u{1b}[2J\\u{d}y");
    }
}
