//! `cantus project`: compose and write every committed file.

use cantus_fs::Root;
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity};
use cantus_memory::Library;
use cantus_memory::lints::conflicts_of;
use cantus_projection::{Mend, Plan, PlanError, Projection, Turn, TurnError, apply, left_overs, plan};
use cantus_workspace::Project;

use crate::args::{Global, ProjectArgs};
use crate::failure::{Failure, write_diagnostics};
use crate::report::{self, Deed};
use crate::verbs::{compose, finish, is_bad, judged, leave, root, strictly};
use crate::{Status, Streams};

pub(crate) fn run(global: &Global, args: &ProjectArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    run_told(global, args, streams).map(|(status, _)| status)
}

/// The same, and whether anything was written.
pub(crate) fn run_told(
    global: &Global,
    args: &ProjectArgs,
    streams: &mut Streams<'_>,
) -> Result<(Status, bool), Failure> {
    let unwritten = |status| (status, false);
    let root = root(global)?;
    let mend = if args.force { Mend::Force } else { Mend::Safe };
    let outcome = strictly(composed(&root, global), global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(unwritten(Status::CantTell));
    }
    // The notes are of no use any more, and may be large.
    let projection = finish(outcome, global, streams)?.1;
    let plan = match plan(&root, &projection, mend) {
        Err(error) if args.json => {
            report::json_broken(streams.out, &error.diagnostics())?;
            return Ok(unwritten(Status::CantTell));
        }
        plan => selected(plan, &projection, args)?,
    };
    // What a killed run left beside fresh files is swept by a run that has the turn.
    let is_done = plan.is_fresh() && left_overs(&root, &plan).is_empty();
    if args.check || is_done {
        let told = tell(global, args, &projection, &plan, Deed::Checked, streams);
        // What `watch` runs again and again isn't this.
        if args.check {
            leave((plan, projection));
        }
        return told.map(unwritten);
    }
    let turn = match Turn::take(&root, projection.command()) {
        Ok(turn) => turn,
        // Another run may be what makes this a refusal, but it can't be waited for any longer.
        Err(_) if plan.is_refused() => {
            return tell(global, args, &projection, &plan, Deed::Refused, streams).map(unwritten);
        }
        Err(error) => return Err(no_turn(error)),
    };
    // Everything is read anew now that it is this run's turn: two of it would cost twice the memory.
    drop((plan, projection));
    write(global, args, &root, turn, mend, streams)
}

/// The project and its files. Notes that are in no bundle are among what is told: that nothing comes of them shows nowhere else.
fn composed(root: &Root, global: &Global) -> Outcome<Option<(Project, Projection)>> {
    let mut outcome = compose(root, global);
    let project = outcome.value.iter().map(|(project, _)| project);
    let corpora = project.flat_map(|project| {
        std::iter::once(&project.corpus).chain(project.members.iter().map(|member| &member.corpus))
    });
    let corpora = corpora.filter(|corpus| corpus.notes.iter().any(cantus_memory::Note::is_hidden));
    let lost: Vec<_> = corpora.flat_map(|corpus| Library::new(corpus).unreachable()).collect();
    outcome.diagnostics.extend(lost);
    outcome
}

fn no_turn(error: TurnError) -> Failure {
    let held = matches!(error, TurnError::Held { .. });
    let failure = Failure::error(error);
    if held { failure.hint("it had 10 seconds to end; run this again when it has") } else { failure }
}

/// Reads everything anew (another run may have written, and notes may have changed, meanwhile), judges, writes, and looks once
/// more.
fn write(
    global: &Global,
    args: &ProjectArgs,
    root: &Root,
    turn: Turn,
    mend: Mend,
    streams: &mut Streams<'_>,
) -> Result<(Status, bool), Failure> {
    let Outcome { value, diagnostics } = strictly(composed(root, global), global);
    // Their warnings were told before.
    let (project, projection) = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
    let conflicts = judged(conflicts(&project), global);
    if is_bad(&conflicts) {
        return Err(Failure::diagnostics(conflicts));
    }
    write_diagnostics(streams.err, &conflicts, Some(root))?;
    drop(project);
    let projection = &projection;
    let plan = make_plan(root, projection, mend, args)?;
    if plan.is_refused() {
        let status = tell(global, args, projection, &plan, Deed::Refused, streams)?;
        return Ok((status, false));
    }
    let applied = apply(root, &plan);
    applied.map_err(|error| {
        Failure::error(error).hint("every file is whole, old or new; the next run completes")
    })?;
    let after = make_plan(root, projection, Mend::Safe, args)?;
    let left = judged(left_overs(root, &after).iter().map(left_over).collect(), global);
    write_diagnostics(streams.err, &left, None)?;
    drop(turn);
    if !after.is_fresh() {
        tell(global, args, projection, &after, Deed::Checked, streams)?;
        return Err(Failure::error("files are not fresh right after they were written")
            .hint("unless something else writes them too, this is a fault of Cantus: please report it"));
    }
    let deed = if plan.is_fresh() { Deed::Checked } else { Deed::Written };
    let status = tell(global, args, projection, &plan, deed, streams)?;
    Ok((if is_bad(&left) { Status::CantTell } else { status }, deed == Deed::Written))
}

/// What a merge left in the notes: it goes into the files as it is, and `check` will fail on it.
fn conflicts(project: &Project) -> Vec<Diagnostic> {
    let members = project.members.iter().map(|member| &member.corpus);
    let found = std::iter::once(&project.corpus).chain(members).flat_map(conflicts_of);
    found.map(|finding| Diagnostic { severity: Severity::Warning, ..finding }).collect()
}

fn left_over(path: &RelPath) -> Diagnostic {
    let message = "nothing shows that a killed run left this file: it stays";
    Diagnostic::warning("target.left", message).at(path).help("look what it holds, then remove it")
}

fn make_plan(root: &Root, projection: &Projection, mend: Mend, args: &ProjectArgs) -> Result<Plan, Failure> {
    selected(plan(root, projection, mend), projection, args)
}

/// The part of a plan that the arguments name.
fn selected(
    plan: Result<Plan, PlanError>,
    projection: &Projection,
    args: &ProjectArgs,
) -> Result<Plan, Failure> {
    let plan = plan.map_err(|error| Failure::diagnostics(error.diagnostics()))?;
    if args.only.is_empty() {
        return Ok(plan);
    }
    let mut keep = Vec::new();
    for name in &args.only {
        let name = name.strip_prefix("./").unwrap_or(name);
        match RelPath::new(name).ok().filter(|path| plan.targets.iter().any(|target| target.path == *path)) {
            Some(path) => keep.push(path),
            None => {
                let known: Vec<_> = plan.targets.iter().map(|target| target.path.to_string()).collect();
                return Err(Failure::absent(format!("`{name}` is not a committed file of this project"))
                    .hint(format!("known, from the project's root: {}", known.join(", "))));
            }
        }
    }
    Ok(plan.only(projection, &keep))
}

fn tell(
    global: &Global,
    args: &ProjectArgs,
    projection: &Projection,
    plan: &Plan,
    deed: Deed,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let good = deed == Deed::Written || plan.is_fresh();
    let warnings = judged(plan.warnings.clone(), global);
    write_diagnostics(streams.err, &warnings, None)?;
    if args.json {
        report::json(streams.out, projection, plan, deed)?;
    } else if !(global.quiet && good) {
        report::human(streams.out, projection, plan, deed)?;
    }
    Ok(match good {
        _ if is_bad(&warnings) => Status::CantTell,
        true => Status::Yes,
        false => Status::No,
    })
}
