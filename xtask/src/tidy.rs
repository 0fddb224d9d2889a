//! `cargo xtask tidy`: the rules of this repository that neither the compiler nor clippy knows.

mod edges;
mod manifest;
mod source;

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use cargo_metadata::{Metadata, MetadataCommand, Package};

/// Something that a rule forbids, shown as `path:line: message`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Problem {
    /// The file, relative to the workspace, with `/`.
    path: String,
    /// The line, counted from 1.
    line: usize,
    message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// The files of the repository: path relative to the workspace, with `/`, to bytes.
type Files = BTreeMap<String, Vec<u8>>;

/// Runs the task: exit code 1 if there are problems, 2 if it can't tell.
pub(crate) fn main() -> ExitCode {
    let tidy = MetadataCommand::new()
        .no_deps()
        .exec()
        .map_err(Box::from)
        .and_then(|metadata| run(&metadata, &mut io::stdout().lock()));
    match tidy {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(error) => {
            let _ = writeln!(io::stderr(), "error: can't tell whether all is tidy: {error}");
            ExitCode::from(2)
        }
    }
}

/// Prints every problem of the workspace to `out`, then how many there are; gives whether there are none.
pub(crate) fn run(metadata: &Metadata, out: &mut dyn Write) -> Result<bool, Box<dyn Error>> {
    let files = read(metadata.workspace_root.as_std_path())?;
    let problems = check(metadata, &files);
    for problem in &problems {
        writeln!(out, "{problem}")?;
    }
    match problems.len() {
        0 => writeln!(out, "tidy: {} files, no problem", files.len())?,
        1 => writeln!(out, "tidy: 1 problem")?,
        count => writeln!(out, "tidy: {count} problems")?,
    }
    Ok(problems.is_empty())
}

/// All problems, by path and line.
fn check(metadata: &Metadata, files: &Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (path, bytes) in files {
        problems.extend(source::check(path, bytes));
    }
    problems.extend(source::undeclared_suites(files));
    problems.extend(manifest::root(text(files, "Cargo.toml")));
    for package in metadata.workspace_packages() {
        problems.extend(member(metadata, package, files));
    }
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        if !files.contains_key(licence) {
            problems.push(Problem { path: licence.to_owned(), line: 1, message: "is missing".to_owned() });
        }
    }
    problems.sort();
    problems
}

/// The problems of one package's manifest.
fn member(metadata: &Metadata, package: &Package, files: &Files) -> Vec<Problem> {
    let path = package.manifest_path.strip_prefix(&metadata.workspace_root).unwrap_or(&package.manifest_path);
    let path = path.as_str().replace('\\', "/");
    let manifest = text(files, &path);
    let mut problems = manifest::member(&path, package.name.as_str(), manifest);
    for (dependency, message) in edges::check(package) {
        problems.push(Problem {
            line: manifest::line_of(manifest, &dependency),
            path: path.clone(),
            message,
        });
    }
    problems
}

fn text<'a>(files: &'a Files, path: &str) -> &'a str {
    files.get(path).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
}

/// What git tracks, or would track, and is there; links aren't followed.
fn read(root: &Path) -> Result<Files, Box<dyn Error>> {
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let git = duct::cmd("git", ["-c", "safe.directory=*"].iter().chain(&list)).dir(root);
    let mut files = Files::new();
    for path in git.read()?.split_terminator('\0') {
        let file = root.join(path);
        if file.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
            #[expect(
                clippy::disallowed_methods,
                reason = "tidy reads the repository itself, not a project's notes"
            )]
            let bytes = std::fs::read(&file)?;
            files.insert(path.to_owned(), bytes);
        }
    }
    Ok(files)
}
