//! One module a verb, and what they share: the project at the root.

mod adopt;
#[cfg(feature = "bundle")]
mod bundle;
mod check;
#[cfg(feature = "completions")]
mod completions;
#[cfg(feature = "launch")]
mod exec;
mod hook;
mod import;
mod init;
mod list;
mod manifest;
mod merge_driver;
mod plugins;
mod project;
mod providers;
mod read;
#[cfg(feature = "observe")]
mod readout;
#[cfg(feature = "launch")]
mod recorded;
mod render;
#[cfg(feature = "session")]
mod session;
#[cfg(feature = "launch")]
mod show;
mod stats;
#[cfg(feature = "observe")]
mod verify;
#[cfg(feature = "watch")]
mod watch;
mod why;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_compose::Home;
use cantus_fs::{Disk, Kind, RealDisk, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity, Stamps};
use cantus_projection::{IndexDisk, IndexError, Projection};
use cantus_workspace::{Options, Project, find_root, read_home};

use crate::args::{Args, Global, Verb};
use crate::failure::{Failure, write_diagnostics};
use crate::{Status, Streams, Unheard};

pub(crate) fn run(args: &Args, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    // Where the exit code is the answer, a reader that leaves must not change it: `check | head` isn't green on drift.
    let mut report = Unheard::new(&mut *streams.out);
    let mut judged = Streams { out: &mut report, err: &mut *streams.err };
    match &args.verb {
        Verb::Project(verb) => project::run(&args.global, verb, &mut judged),
        Verb::Check(verb) => check::run(&args.global, verb, &mut judged),
        Verb::Render(verb) => render::run(&args.global, verb, streams),
        #[cfg(feature = "launch")]
        Verb::Exec(verb) => exec::run(&args.global, verb, streams),
        #[cfg(feature = "launch")]
        Verb::Show(verb) => show::run(&args.global, verb, &mut judged),
        #[cfg(feature = "observe")]
        Verb::Verify(verb) => verify::run(&args.global, verb, &mut judged),
        #[cfg(feature = "observe")]
        Verb::Readout(verb) => readout::run(&args.global, verb, &mut judged),
        Verb::List(verb) => list::run(&args.global, verb, streams),
        Verb::Read(verb) => read::run(&args.global, verb, streams),
        Verb::Init(verb) => init::run(&args.global, verb, &mut judged),
        Verb::Import(verb) => import::run(&args.global, verb, &mut judged),
        Verb::Manifest { file } => manifest::run(file, streams),
        Verb::Stats(verb) => stats::run(&args.global, verb, streams),
        Verb::Why(verb) => why::run(&args.global, verb, streams),
        #[cfg(feature = "bundle")]
        Verb::Bundle { action } => bundle::run(&args.global, action, &mut judged),
        #[cfg(feature = "session")]
        Verb::Session { action } => session::run(&args.global, action, streams),
        #[cfg(feature = "watch")]
        Verb::Watch => watch::run(&args.global, streams),
        #[cfg(feature = "completions")]
        Verb::Completions { shell } => completions::run(*shell, streams),
        Verb::Hook { action } => hook::run(&args.global, *action, streams),
        Verb::MergeDriver { action } => merge_driver::run(&args.global, action, streams),
    }
}

/// Leaves a large value of many parts to the end of the process, which gives its memory back as a whole.
fn leave<T>(value: T) {
    std::mem::forget(value);
}

/// The root whose files a report may show lines of; `None` if there is none or no one wants to see them.
pub(crate) fn sources(args: &Args) -> Option<Root> {
    match &args.verb {
        _ if args.global.quiet => None,
        Verb::Check(check) if check.staged => staged_root(&args.global).ok(),
        Verb::Manifest { .. } => None,
        #[cfg(feature = "launch")]
        Verb::Exec(_) => None,
        #[cfg(feature = "launch")]
        Verb::Show(show) if !show.diff => None,
        #[cfg(feature = "observe")]
        Verb::Verify(_) | Verb::Readout(_) => None,
        #[cfg(feature = "bundle")]
        Verb::Bundle { .. } => None,
        #[cfg(feature = "session")]
        Verb::Session { .. } => None,
        _ => root(&args.global).ok(),
    }
}

/// Prints what the sources of the project were found to have.
fn tell_findings(findings: &[Diagnostic], global: &Global, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let wanted = !findings.is_empty() && !global.quiet;
    let root = wanted.then(|| root(global).ok()).flatten();
    write_diagnostics(streams.err, findings, root.as_ref())
}

/// The root that the arguments name or that the search finds.
fn root(global: &Global) -> Result<Root, Failure> {
    root_on(Arc::new(RealDisk), &start(global)?, global)
}

/// The same in the index of git, which stands for the disk.
fn staged_root(global: &Global) -> Result<Root, Failure> {
    let real: Arc<dyn Disk> = Arc::new(RealDisk);
    let named = start(global)?;
    // A real path has no `..` and no symlink behind which git would see another repository.
    let start = if cfg!(windows) { named } else { real.canonical(&named).unwrap_or(named) };
    let staged = |error: IndexError| Failure::diagnostics(vec![error.diagnostic()]);
    let index = Arc::new(IndexDisk::open(real, &start).map_err(staged)?);
    let root = root_on(index.clone(), &start, global)
        .map_err(|failure| failure.hint("only what is staged counts here: `git add` the notes"))?;
    let unmerged = index.unmerged(root.path());
    if unmerged.is_empty() {
        return Ok(root);
    }
    let finding = |path: &RelPath| {
        let fault = Diagnostic::error("staged.unmerged", "the path is unmerged in the index").at(path);
        fault.help(format!("finish the merge, then `git add {path}`"))
    };
    Err(Failure::diagnostics(unmerged.iter().map(finding).collect()))
}

/// The absolute path of the working folder.
fn working_folder() -> Result<PathBuf, Failure> {
    std::env::current_dir().map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Failure::error("the working folder is gone").hint("change to a folder that is there")
        }
        _ => Failure::error(error),
    })
}

/// The absolute path that the search for a project starts from.
fn start(global: &Global) -> Result<PathBuf, Failure> {
    let start = match &global.root {
        Some(folder) => folder.clone(),
        None => working_folder()?,
    };
    std::path::absolute(&start).map_err(Failure::error)
}

fn root_on(disk: Arc<dyn Disk>, start: &Path, global: &Global) -> Result<Root, Failure> {
    if let Some(named) = &global.root {
        return match disk.canonical(start).map(|real| disk.kind(&real)) {
            Ok(Ok(Some(Kind::Folder))) => Ok(Root::new(disk, start.to_path_buf())),
            Ok(_) => {
                Err(Failure::error(format!("`{}`, given as the root, is not a folder", named.display())))
            }
            Err(error) => Err(Failure::error(format!("`{}`, given as the root: {error}", named.display()))),
        };
    }
    match find_root(disk.as_ref(), start) {
        Some(folder) => Ok(Root::new(disk, folder)),
        None => Err(Failure::error(
            "no project found from the working folder upward: neither a configuration nor a note folder",
        )
        .hint(format!(
            "`{} init` sets one up here; or write a first note, `memory/<name>.md`, that starts with the lines `---`, \
             `type: core`, `---`",
            global.program
        ))
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
        Some(folder) => Some(named_home(root.disk().as_ref(), folder)?),
        None => default_home(root.disk().as_ref()),
    };
    folder.map(std::path::absolute).transpose().map_err(Failure::error)
}

/// The home folder that the arguments name, absolute: whoever names one means one that is there.
fn named_home(disk: &dyn Disk, folder: &Path) -> Result<PathBuf, Failure> {
    let shown = folder.display();
    let absolute = std::path::absolute(folder).map_err(Failure::error)?;
    let failure = match disk.canonical(&absolute).map(|real| disk.kind(&real)) {
        Ok(Ok(Some(Kind::Folder))) => return Ok(absolute),
        Ok(_) => Failure::error(format!("`{shown}`, given as the home, is not a folder")),
        Err(error) => Failure::error(format!("`{shown}`, given as the home: {error}")),
    };
    Err(failure.hint("name the folder that holds `memory`, or leave `--home` out"))
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
    write_diagnostics(streams.err, &diagnostics, None)?;
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
    Options { package: global.package.clone(), program: global.program, ..Options::default() }
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
    tell_findings(&diagnostics, global, streams)?;
    Ok(value)
}

/// Whether any finding is an error.
fn is_bad(findings: &[Diagnostic]) -> bool {
    findings.iter().any(|finding| finding.severity == Severity::Error)
}
