//! Why a verb could not do its work.

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;

use cantus_fs::Root;
use cantus_manifest::{Diagnostic, Severity};

use crate::excerpt::Excerpts;
use crate::style::{BAD, CARE, FAINT, LABEL};
use crate::visible::{visible, visible_lines};

/// More findings than these are told without the lines that they speak of.
const MOST_EXCERPTS: usize = 20;

/// Why a verb could not do its work, with what to do about it. The exit code is 2, and 1 where the project lacks what was asked
/// for by name.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: Kind,
    hints: Vec<String>,
}

#[derive(Debug)]
enum Kind {
    /// Faults of the input, each with its place.
    Diagnostics(Vec<Diagnostic>),
    /// The project has nothing of a name that was asked for: the answer is no.
    Absent(String),
    /// Anything else.
    Error(Box<dyn Error>),
    /// Nobody reads on: a quiet success.
    BrokenPipe,
}

impl Failure {
    pub(crate) fn diagnostics(diagnostics: Vec<Diagnostic>) -> Self {
        Self { kind: Kind::Diagnostics(diagnostics), hints: Vec::new() }
    }

    pub(crate) fn error(error: impl Into<Box<dyn Error>>) -> Self {
        Self { kind: Kind::Error(error.into()), hints: Vec::new() }
    }

    /// That the project has nothing of a name that was asked for.
    pub(crate) fn absent(message: String) -> Self {
        Self { kind: Kind::Absent(message), hints: Vec::new() }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The same as findings, for a report that has nothing else; what has no code of its own gets `code`.
    pub(crate) fn into_findings(self, code: &'static str) -> Vec<Diagnostic> {
        match self.kind {
            Kind::Diagnostics(findings) => findings,
            Kind::Absent(message) => vec![Diagnostic::error(code, message)],
            Kind::Error(error) => {
                let mut finding = Diagnostic::from_error(code, error.as_ref());
                finding.help = (!self.hints.is_empty()).then(|| self.hints.join("; "));
                vec![finding]
            }
            Kind::BrokenPipe => Vec::new(),
        }
    }

    /// Its findings, if it is made of such.
    pub(crate) fn findings(self) -> Result<Vec<Diagnostic>, Self> {
        match self.kind {
            Kind::Diagnostics(findings) => Ok(findings),
            kind => Err(Self { kind, hints: self.hints }),
        }
    }

    /// Prints it, with lines of the files in `root`, and gives the exit code.
    pub(crate) fn show(self, err: &mut dyn Write, root: Option<&Root>) -> ExitCode {
        let code = match self.kind {
            Kind::BrokenPipe => return ExitCode::SUCCESS,
            Kind::Absent(_) => ExitCode::from(1),
            Kind::Diagnostics(_) | Kind::Error(_) => ExitCode::from(2),
        };
        // If even this can't be written there is nobody left to tell.
        let _ = self.write(err, root);
        code
    }

    /// Prints it.
    pub(crate) fn write(&self, err: &mut dyn Write, root: Option<&Root>) -> io::Result<()> {
        match &self.kind {
            Kind::BrokenPipe => {}
            Kind::Diagnostics(diagnostics) => write_diagnostics(err, diagnostics, root)?,
            Kind::Absent(message) => writeln!(err, "{BAD}error{BAD:#}: {}", visible(message))?,
            Kind::Error(error) => {
                let message = Diagnostic::from_error("error", error.as_ref()).message;
                writeln!(err, "{BAD}error{BAD:#}: {}", visible(&message))?;
            }
        }
        for hint in &self.hints {
            writeln!(err, "  {LABEL}help{LABEL:#}: {}", visible(hint))?;
        }
        Ok(())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { kind: Kind::BrokenPipe, hints: Vec::new() };
        }
        Self::error(error)
    }
}

/// Prints each finding: where, how bad, what, the line that it speaks of (if it lies in `root` and there aren't too many), and
/// what to do.
pub(crate) fn write_diagnostics(
    out: &mut dyn Write,
    diagnostics: &[Diagnostic],
    root: Option<&Root>,
) -> io::Result<()> {
    let root = root.filter(|_| diagnostics.len() <= MOST_EXCERPTS);
    let mut excerpts = root.map(Excerpts::new);
    for diagnostic in diagnostics {
        let style = match diagnostic.severity {
            Severity::Error => BAD,
            Severity::Warning => CARE,
            Severity::Note => LABEL,
        };
        if let Some(path) = &diagnostic.path {
            write!(out, "{}:", visible(path))?;
            if let Some(line) = diagnostic.line {
                write!(out, "{line}:")?;
            }
            write!(out, " ")?;
        }
        let Diagnostic { code, severity, message, .. } = diagnostic;
        let message = visible_lines(message);
        writeln!(out, "{style}{severity}{style:#}: {message} {FAINT}[{code}]{FAINT:#}")?;
        let excerpt = excerpts.as_mut().and_then(|excerpts| excerpts.of(diagnostic));
        for line in excerpt.iter().flat_map(|excerpt| excerpt.lines()) {
            writeln!(out, "  {line}")?;
        }
        if let Some(help) = &diagnostic.help {
            writeln!(out, "  {LABEL}help{LABEL:#}: {}", visible(help))?;
        }
    }
    Ok(())
}
