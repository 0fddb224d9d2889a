//! One module a verb, and what they share: the project at the root.

mod check;
#[cfg(feature = "completions")]
mod completions;
mod list;
mod manifest;
mod plugins;
mod project;
mod read;
mod render;
#[cfg(feature = "watch")]
mod watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_compose::Home;
use cantus_fs::{Disk, Kind, RealDisk, Root};
use cantus_manifest::{Diagnostic, Outcome, Severity, Stamps};
use cantus_projection::Projection;
use cantus_workspace::{Options, Project, find_root, read_home};

use crate::args::{Args, Global, Verb};
use crate::failure::{Failure, write_diagnostics};
use crate::{Status, Streams, Unheard};

pub(crate) fn run(args: &Args, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    // Where the exit code is the answer, a reader that leaves must not change it: `check | head` isn't green on drift.
    let mut report = Unheard(&mut *streams.out);
    let mut judged = Streams { out: &mut report, err: &mut *streams.err };
    match &args.verb {
        Verb::Project(verb) => project::run(&args.global, verb, &mut judged),
        Verb::Check(verb) => check::run(&args.global, verb, &mut judged),
        Verb::Render(verb) => render::run(&args.global, verb, streams),
        Verb::List(verb) => list::run(&args.global, verb, streams),
        Verb::Read(verb) => read::run(&args.global, verb, streams),
        Verb::Manifest { file } => manifest::run(file, streams),
        #[cfg(feature = "watch")]
        Verb::Watch => watch::run(&args.global, streams),
        #[cfg(feature = "completions")]
        Verb::Completions { shell } => completions::run(*shell, streams),
    }
}

/// The root that the arguments name or that the search finds.
fn root(global: &Global) -> Result<Root, Failure> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let start = match &global.root {
        Some(folder) => folder.clone(),
        None => std::env::current_dir().map_err(Failure::error)?,
    };
    let start = std::path::absolute(&start).map_err(Failure::error)?;
    if let Some(named) = &global.root {
        return match disk.canonical(&start).map(|real| disk.kind(&real)) {
            Ok(Ok(Some(Kind::Folder))) => Ok(Root::new(disk, start)),
            Ok(_) => {
                Err(Failure::error(format!("`{}`, given as the root, is not a folder", named.display())))
            }
            Err(error) => Err(Failure::error(format!("`{}`, given as the root: {error}", named.display()))),
        };
    }
    match find_root(disk.as_ref(), &start) {
        Some(folder) => Ok(Root::new(disk, folder)),
        None => Err(Failure::error(
            "no project found from the working folder upward: neither a configuration nor a note folder",
        )
        .hint("write a first note, `memory/<name>.md`, that starts with the lines `---`, `type: core`, `---`")
        .hint("or name the project's folder with `--root DIR`")),
    }
}

/// The project at `root` with its committed files, composed.
fn compose(root: &Root, global: &Global) -> Outcome<Option<(Project, Projection)>> {
    let Outcome { value, mut diagnostics } = Project::open(root, &options(global));
    let value = value.and_then(|project| {
        let projection = Projection::compose(&project).collect(&mut diagnostics)?;
        Some((project, projection))
    });
    Outcome { value, diagnostics }
}

/// The folder of the user's own layer; `None` if there is none, or if it is not wanted.
fn home_folder(root: &Root, global: &Global) -> Result<Option<PathBuf>, Failure> {
    let folder = match &global.home {
        _ if global.no_home => None,
        Some(folder) => Some(folder.clone()),
        None => default_home(root.disk().as_ref()),
    };
    folder.map(std::path::absolute).transpose().map_err(Failure::error)
}

/// The user's own layer, its faults told; `None` if there is none, or if it is not wanted.
fn home(
    root: &Root,
    global: &Global,
    limit: u64,
    stamps: Stamps,
    streams: &mut Streams<'_>,
) -> Result<Option<Home>, Failure> {
    let Some(folder) = home_folder(root, global)? else { return Ok(None) };
    let Outcome { value, diagnostics } = read_home(root.disk(), &folder, limit, stamps);
    let diagnostics = judged(diagnostics, global);
    if is_bad(&diagnostics) {
        return Err(Failure::diagnostics(diagnostics));
    }
    write_diagnostics(streams.err, &diagnostics)?;
    Ok(value)
}

/// `$XDG_CONFIG_HOME/cantus` (default `~/.config/cantus`) if it has notes, else the home folder if it has `sase/memory`: a stray
/// `memory` in a home folder is nobody's layer.
fn default_home(disk: &dyn Disk) -> Option<PathBuf> {
    let user = std::env::home_dir()?;
    let configured = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let own = configured.unwrap_or_else(|| user.join(".config")).join("cantus");
    let has = |folder: &Path, memory: &str| matches!(disk.kind(&folder.join(memory)), Ok(Some(_)));
    if has(&own, "memory") || has(&own, "sase/memory") {
        return Some(own);
    }
    has(&user, "sase/memory").then_some(user)
}

/// What the arguments ask for besides the configuration.
fn options(global: &Global) -> Options {
    Options { package: global.package.clone(), stamps: Stamps::Skip }
}

/// The findings, warnings being errors where those count.
fn judged(mut findings: Vec<Diagnostic>, global: &Global) -> Vec<Diagnostic> {
    let warnings = findings.iter_mut().filter(|finding| finding.severity == Severity::Warning);
    warnings.filter(|_| global.strict).for_each(|finding| finding.severity = Severity::Error);
    findings
}

/// The outcome of a verb that has no answer where a finding is an error: then there is no value either.
fn strictly<T>(outcome: Outcome<Option<T>>, global: &Global) -> Outcome<Option<T>> {
    let diagnostics = judged(outcome.diagnostics, global);
    Outcome { value: outcome.value.filter(|_| !is_bad(&diagnostics)), diagnostics }
}

/// The value of an outcome. Its warnings are printed; its errors, and warnings where those count, are the failure.
fn finish<T>(outcome: Outcome<Option<T>>, global: &Global, streams: &mut Streams<'_>) -> Result<T, Failure> {
    let Outcome { value, diagnostics } = strictly(outcome, global);
    let Some(value) = value else { return Err(Failure::diagnostics(diagnostics)) };
    write_diagnostics(streams.err, &diagnostics)?;
    Ok(value)
}

/// Whether any finding is an error.
fn is_bad(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
