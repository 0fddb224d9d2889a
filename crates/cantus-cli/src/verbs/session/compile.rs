//! `cantus session compile`: the texts of one request.

use std::path::Path;
use std::sync::Arc;

use cantus_fs::{Disk, RealDisk};
use cantus_launch::{Composer, RenderError, SessionComposer, SessionError};
use cantus_manifest::{Diagnostic, Outcome};
use cantus_session::{BundleWish, Compiled, Description, Pack, Update, record};
use serde::Serialize;

use super::{MOST_BYTES, print_json, snapshot};
use crate::args::{CompileArgs, Global};
use crate::failure::{Failure, write_diagnostics};
use crate::input;
use crate::verbs::render::facts::Given;
use crate::verbs::{
    default_home, home_folder, is_bad, judged, named_home, root_on, start, tell_findings, working_folder,
};
use crate::{Status, Streams};

/// What `session compile` prints.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    system: &'a str,
    /// `null` if nothing changed.
    update: Option<&'a Update>,
    pack: &'a Pack,
}

pub(super) fn run(global: &Global, args: &CompileArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let file = args.launch.as_path();
    let bytes = input::read(file, MOST_BYTES, "launch description")?;
    let Outcome { value, diagnostics } = Description::read(&file.display().to_string(), bytes);
    let Description { launch, bundle } = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
    if args.record.is_some() && launch.run.is_none() {
        let failure = Failure::error(format!("`{}` names no run to record the pack for", file.display()));
        return Err(failure.hint("give it a `run`, or leave `--record` out"));
    }
    let history = args.history.as_deref().map(|history| snapshot::read(history, &args.keys));
    let previous = history.transpose()?.flatten().map(|delivered| delivered.sections);
    let composer = match &bundle {
        Some(wish) => with_bundle(global, wish, file)?,
        None => SessionComposer::new(composer(global)?),
    };
    let texts = composer.compile(&launch, previous.as_ref()).map_err(|error| failure(error, file, global))?;
    let findings = judged(texts.warnings, global);
    if is_bad(&findings) {
        return Err(Failure::diagnostics(findings));
    }
    tell_findings(&findings, global, streams)?;
    let Compiled { system, update, pack } = &texts.compiled;
    if let Some(folder) = &args.record {
        tell_recording(folder, pack, streams)?;
    }
    print_json(&Report { version: 1, system, update: update.as_ref(), pack }, streams)
}

/// Records the pack. A failure is told, and changes nothing else.
fn tell_recording(folder: &Path, pack: &Pack, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let Some(run) = pack.run() else { return Ok(()) };
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    let root = std::path::absolute(folder).map_err(Failure::error)?;
    if let Err(error) = record(&disk, &root, run, pack) {
        let said = Diagnostic::from_error("session.record", &error);
        let warning =
            Diagnostic::warning("session.record", format!("the pack was not recorded: {}", said.message));
        write_diagnostics(streams.err, &[warning.at(folder.display())], None)?;
    }
    Ok(())
}

/// The composer of the project that the arguments mean, or of no project.
pub(super) fn composer(global: &Global) -> Result<Composer, Failure> {
    let absolute = |path: &Path| std::path::absolute(path).map_err(Failure::error);
    let composer = match &global.root {
        Some(_) => {
            let root = root_on(Arc::new(RealDisk), &start(global)?, global)?;
            Composer::at(&root, home_folder(&root, global)?.as_deref())
        }
        None => {
            let home = match &global.home {
                _ if global.no_home => None,
                Some(folder) => Some(named_home(&RealDisk, folder)?),
                None => default_home(&RealDisk).map(|folder| absolute(&folder)).transpose()?,
            };
            Composer::discover(&working_folder()?, home.as_deref())
        }
    };
    Ok(match &global.package {
        // As it was named, since errors name it so.
        Some(package) => composer.package(package),
        None => composer,
    })
}

/// The same with a bundle as the stable part, as `file` wants it.
fn with_bundle(global: &Global, wish: &BundleWish, file: &Path) -> Result<SessionComposer, Failure> {
    let place = || format!("the facts are those under `bundle` in `{}`", file.display());
    let given = Given::parse(&wish.facts).map_err(|failure| failure.hint(place()))?;
    let mut composer = composer(global)?;
    if given.is_for_no_project() {
        composer = composer.without_project();
    }
    if given.is_under_no_vcs() {
        composer = composer.without_vcs();
    }
    let facts = given.stated().map_err(|failure| failure.hint(place()))?;
    Ok(SessionComposer::new(composer).bundle(facts))
}

/// Why there is no pack; `file` is where the launch is described.
pub(super) fn failure(error: SessionError, file: &Path, global: &Global) -> Failure {
    match error {
        SessionError::Launch(faults) => {
            let faults = faults.into_iter().map(|fault| fault.at(file.display()));
            Failure::diagnostics(faults.collect())
        }
        SessionError::Render(RenderError::Faults(faults)) => Failure::diagnostics(judged(faults, global)),
        SessionError::Render(error @ RenderError::NoProject) => {
            Failure::error(error).hint("name the project's folder with `--root DIR`, or ask for no `bundle`")
        }
    }
}
