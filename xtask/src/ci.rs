//! `cargo xtask ci`: everything that must hold before a change lands, one command after the other.

use std::env;
use std::error::Error;
use std::ffi::OsString;
use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use cargo_metadata::{Metadata, MetadataCommand};

use crate::{schema, tidy};

/// One command, shown as it can be typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    /// Cargo with these arguments.
    Cargo(&'static [&'static str]),
    /// The same, warnings of rustdoc being errors.
    Doc(&'static [&'static str]),
    /// The task of that name.
    Tidy,
    /// The schema's check.
    Schema,
    /// A verb of `cantus` on this repository itself.
    Cantus(&'static [&'static str]),
}

/// All of them: the cheap ones that fail most often come first.
const STEPS: &[Step] = &[
    Step::Cargo(&["fmt", "--all", "--check"]),
    Step::Cargo(&["clippy", "--workspace", "--all-targets", "--all-features", "--", "-D", "warnings"]),
    Step::Cargo(&["test", "--workspace", "--all-features"]),
    Step::Cargo(&["build", "--package", "cantus-cli", "--no-default-features"]),
    Step::Doc(&["doc", "--workspace", "--no-deps"]),
    Step::Tidy,
    Step::Schema,
    Step::Cantus(&["project", "--check"]),
    Step::Cantus(&["check"]),
];

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cargo(args) => write!(f, "cargo {}", args.join(" ")),
            Self::Doc(args) => write!(f, "RUSTDOCFLAGS='-D warnings' cargo {}", args.join(" ")),
            Self::Tidy => f.write_str("cargo xtask tidy"),
            Self::Schema => f.write_str("cargo xtask schema --check"),
            Self::Cantus(args) => write!(f, "cargo xtask {}", args.join(" ")),
        }
    }
}

/// Runs the task: exit code 1 if a step failed, 2 if one couldn't be run.
pub(crate) fn main() -> ExitCode {
    let mut out = io::stdout();
    let passed = MetadataCommand::new()
        .no_deps()
        .exec()
        .map_err(Box::from)
        .and_then(|metadata| run(STEPS, &mut out, |step| perform(step, &metadata)));
    match passed {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: ci: {error}");
            ExitCode::from(2)
        }
    }
}

/// Announces and performs `steps` until one fails; says which, and gives whether all passed.
fn run(
    steps: &[Step],
    out: &mut dyn Write,
    mut perform: impl FnMut(Step) -> Result<bool, Box<dyn Error>>,
) -> Result<bool, Box<dyn Error>> {
    for (number, step) in (1..).zip(steps) {
        writeln!(out, "$ {step}")?;
        out.flush()?;
        if !perform(*step).map_err(|error| format!("`{step}` couldn't be run: {error}"))? {
            writeln!(out, "ci: step {number} of {} failed: `{step}`", steps.len())?;
            return Ok(false);
        }
    }
    writeln!(out, "ci: all {} steps passed", steps.len())?;
    Ok(true)
}

/// Runs one step at the root of the workspace, its output going where ours goes; gives whether it passed.
fn perform(step: Step, metadata: &Metadata) -> Result<bool, Box<dyn Error>> {
    let root = metadata.workspace_root.as_std_path();
    let cargo =
        |args: &[&str]| duct::cmd(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()), args).dir(root);
    match step {
        Step::Cargo(args) => Ok(cargo(args).unchecked().run()?.status.success()),
        Step::Doc(args) => {
            Ok(cargo(args).env("RUSTDOCFLAGS", "-D warnings").unchecked().run()?.status.success())
        }
        Step::Tidy => tidy::run(metadata, &mut io::stdout()),
        Step::Schema => schema::run(schema::Mode::Check, metadata, &mut io::stdout()),
        Step::Cantus(args) => {
            let args = ["xtask"].iter().chain(args).map(OsString::from);
            let args = args.chain([OsString::from("--root"), root.into()]);
            Ok(cantus_cli::main_with(args) == ExitCode::SUCCESS)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const THREE: &[Step] = &[Step::Cargo(&["fmt"]), Step::Tidy, Step::Cantus(&["check"])];

    #[track_caller]
    fn check(fails: Option<Step>, passed: bool, expected: &str) {
        let mut out = Vec::new();
        let result = run(THREE, &mut out, |step| Ok(Some(step) != fails));
        assert_eq!(result.unwrap(), passed);
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }

    #[test]
    fn each_step_is_announced() {
        check(None, true, "$ cargo fmt\n$ cargo xtask tidy\n$ cargo xtask check\nci: all 3 steps passed\n");
    }

    #[test]
    fn the_first_failure_ends_it() {
        let expected = "$ cargo fmt\n$ cargo xtask tidy\nci: step 2 of 3 failed: `cargo xtask tidy`\n";
        check(Some(Step::Tidy), false, expected);
    }

    #[test]
    fn a_step_that_cannot_be_run_is_named() {
        let result = run(THREE, &mut Vec::new(), |_| Err("no such file".into()));
        assert_eq!(result.unwrap_err().to_string(), "`cargo fmt` couldn't be run: no such file");
    }

    #[test]
    fn settings_are_shown_with_the_command() {
        assert_eq!(Step::Doc(&["doc"]).to_string(), "RUSTDOCFLAGS='-D warnings' cargo doc");
    }
}
