//! `cantus init`: from whatever is here to a project that is fresh.

mod json;
mod propose;

use std::io::{self, IsTerminal, Write};

use cantus_fs::{AccessError, Kind, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity};
use cantus_projection::{
    Backup, Mend, PlanError, Projection, TakeOver, Turn, add_attributes, apply, check, foreign_targets,
    is_ignored, plan, take_over, write_new,
};
use cantus_workspace::Project;

use crate::args::{Global, InitArgs};
use crate::failure::{Failure, write_diagnostics};
use crate::report::{self, sibling};
use crate::style::{BAD, CARE, GOOD, LABEL};
use crate::verbs::adopt;
use crate::verbs::{compose, import, is_bad, judged, working_folder};
use crate::{Status, Streams};
use propose::{Proposal, propose};

pub(crate) fn run(global: &Global, args: &InitArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if args.json && !args.yes && !args.dry_run {
        return Err(Failure::error("`--json` asks nobody").hint("add `--yes` or `--dry-run`"));
    }
    match set_up(global, args, streams) {
        Err(failure) if args.json => {
            report::json_broken(streams.out, &failure.into_findings("project.none"))?;
            Ok(Status::CantTell)
        }
        answer => answer,
    }
}

fn set_up(global: &Global, args: &InitArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = adopt::root(global)?;
    let project = adopt::opened(adopt::open(&root, global), global, streams)?;
    let state = State::of(&root, &project)?;
    let mut proposal = propose(&root, global, &project, &state.foreign)?;
    proposal.standing_tokens = state.standing_tokens;
    let findings = judged(proposal.draft.findings.clone(), global);
    if is_bad(&findings) {
        return Err(Failure::diagnostics(findings)
            .hint("`--strict` counts these warnings as errors; nothing was done"));
    }
    let is_done = state.fresh && proposal.is_empty();
    let deed = match is_done {
        true => Deed::Nothing,
        false if args.dry_run => Deed::Planned,
        false => Deed::Written,
    };
    if !args.json {
        write_diagnostics(streams.err, &findings, None)?;
        if is_done && !global.quiet {
            let style = GOOD;
            writeln!(streams.out, "{style}{:>12}{style:#} is set up; nothing was changed", "Everything")?;
        }
        if !is_done && (!global.quiet || !args.yes) {
            show(streams.out, &project, &proposal)?;
        }
    }
    if deed == Deed::Written {
        if !args.yes {
            streams.out.flush()?;
            ask(streams, &sibling(&project.config.command, "init"))?;
        }
        return carry_out(&root, global, args, &proposal, streams);
    }
    if args.json {
        json::print(
            streams.out,
            &Told { proposal: &proposal, deed, findings: &findings, done: &Done::default() },
        )?;
    }
    Ok(Status::Yes)
}

/// What is done about a proposal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Nothing,
    Planned,
    Written,
}

/// What came of a proposal.
#[derive(Default)]
struct Done {
    backups: Vec<Backup>,
    /// What to know and to do, each with a label.
    advice: Vec<(&'static str, String)>,
    /// What `cantus check` finds to be wrong.
    faults: Vec<Diagnostic>,
}

/// What is told of one run.
struct Told<'a> {
    proposal: &'a Proposal,
    deed: Deed,
    findings: &'a [Diagnostic],
    done: &'a Done,
}

/// What the targets are before anything is done.
struct State {
    /// Whether there are notes and every target is what they say.
    fresh: bool,
    foreign: Vec<RelPath>,
    /// What stands in a bundle without any note; `None` where there are notes.
    standing_tokens: Option<u64>,
}

impl State {
    fn of(root: &Root, project: &Project) -> Result<Self, Failure> {
        let Outcome { value, diagnostics } = Projection::compose(project);
        let projection = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
        let mut foreign = foreign(root, project, &projection)?;
        // A member's text belongs into its own notes, not into the project's.
        foreign.retain(|path| projection.member_notes(path).is_none());
        let fresh = plan(root, &projection, Mend::Safe).is_ok_and(|plan| plan.is_fresh());
        let has_notes = propose::has_notes(project);
        let standing_tokens = (!has_notes).then(|| projection.totals().tokens_est);
        Ok(Self { fresh: fresh && has_notes, foreign, standing_tokens })
    }
}

/// The targets that Cantus didn't write. One that can't be a file is a failure before anything is done; a symlink may be one to a
/// file that is imported, which is seen to when it is taken over.
fn foreign(root: &Root, project: &Project, projection: &Projection) -> Result<Vec<RelPath>, Failure> {
    let PlanError(mut errors) = match foreign_targets(root, projection) {
        Ok(foreign) => return Ok(foreign),
        Err(error) => error,
    };
    errors.retain(|error| !matches!(root.kind(error.path()), Ok(Some(Kind::Symlink))));
    match errors.is_empty() {
        true => Ok(project.config.files.clone()),
        false => Err(Failure::diagnostics(PlanError(errors).diagnostics()).hint("nothing was done")),
    }
}

/// Asks on a terminal; elsewhere nobody could answer.
fn ask(streams: &mut Streams<'_>, command: &str) -> Result<(), Failure> {
    let hint = format!(
        "run `{command} --yes` to do all of it, or `{}` for the notes alone",
        command.replace("init", "import")
    );
    if !io::stdin().is_terminal() {
        return Err(Failure::error("nothing was done: this is no terminal, and nobody said yes").hint(hint));
    }
    write!(streams.err, "Do this? [y/N] ")?;
    streams.err.flush()?;
    let mut answer = String::new();
    io::stdin().read_line(&mut answer)?;
    if matches!(answer.trim().to_lowercase().as_str(), "y" | "yes") {
        return Ok(());
    }
    Err(Failure::error("nothing was done").hint(hint))
}

fn show(out: &mut dyn Write, project: &Project, proposal: &Proposal) -> io::Result<()> {
    import::human(out, &proposal.draft)?;
    writeln!(out, "     -------")?;
    if !proposal.found.is_empty() {
        writeln!(out, "{LABEL}{:>12}{LABEL:#} {}", "Found", proposal.found.join(", "))?;
    }
    let mut step = |text: &str| writeln!(out, "{CARE}{:>12}{CARE:#} {text}", "Plan");
    let draft = &proposal.draft;
    if !draft.import.notes.is_empty() {
        step(&format!("write {}", import::totals(draft)))?;
    }
    if let Some((path, _)) = &proposal.first_note {
        step(&format!("write a first note, {path}"))?;
    }
    if let Some(tokens) = proposal.standing_tokens {
        step(&standing(project, tokens))?;
    }
    if let Some(config) = &proposal.config {
        let lines: Vec<_> = config.lines().filter(|line| !line.is_empty()).collect();
        step(&format!("write cantus.toml: {}", lines.join("; ")))?;
    }
    if !proposal.attributes.is_empty() {
        step(&format!("add to .gitattributes: {}", proposal.attributes.join("; ")))?;
    }
    for path in &proposal.links {
        step(&format!("put a regular file in the place of the symlink {path}"))?;
    }
    let kept = if proposal.has_git { "in git or a copy" } else { "in a copy" };
    for path in &proposal.taken_over {
        step(&format!("overwrite {path} with what the notes say; its text is kept in them, and {kept}"))?;
    }
    step(&format!("`{}`", project.config.command))
}

/// What every agent reads besides the notes.
fn standing(project: &Project, tokens: u64) -> String {
    let (whose, advice) = match project.config.package {
        None => (
            "the built-in package",
            "; `package = \"DIR\"` in cantus.toml puts your own texts in their place",
        ),
        Some(_) => ("the package", ""),
    };
    format!("put the standing texts of {whose} above the notes, ~{} tokens{advice}", report::group(tokens))
}

/// Does what was proposed. Whatever fails, running it again goes on from there.
fn carry_out(
    root: &Root,
    global: &Global,
    args: &InitArgs,
    proposal: &Proposal,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let turn = Turn::take(root, &proposal.command).map_err(Failure::error)?;
    write_sources(root, proposal)?;
    let Outcome { value, diagnostics } = compose(root, global);
    let (project, projection) = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
    let taken = take_over(root, &projection, &proposal.draft.files);
    let TakeOver { plan: planned, backups } =
        taken.map_err(|error| Failure::diagnostics(error.diagnostics()))?;
    if planned.is_refused() {
        match args.json {
            true => report::json(streams.out, &projection, &planned, report::Deed::Refused)?,
            false => report::human(streams.out, &projection, &planned, report::Deed::Refused)?,
        }
        return Ok(Status::No);
    }
    let applied = apply(root, &planned);
    applied.map_err(|error| Failure::error(error).hint("every file is whole, old or new; run this again"))?;
    let after = plan(root, &projection, Mend::Safe);
    drop(turn);
    let after = after.map_err(|error: PlanError| Failure::diagnostics(error.diagnostics()))?;
    if !after.is_fresh() {
        report::human(streams.err, &projection, &after, report::Deed::Checked)?;
        return Err(Failure::error("files are not fresh right after they were written"));
    }
    let mut faults = judged(check(root, &project, &projection, &after), global);
    faults.retain(|finding| finding.severity == Severity::Error);
    let advice = advice(root, &project, proposal, &backups);
    let done = Done { backups, advice, faults };
    if args.json {
        let findings = &proposal.draft.findings;
        json::print(streams.out, &Told { proposal, deed: Deed::Written, findings, done: &done })?;
    } else {
        if !global.quiet {
            report::human(streams.out, &projection, &planned, report::Deed::Written)?;
        }
        tell(global, &project, &proposal.draft.findings, &done, streams)?;
    }
    Ok(if done.faults.is_empty() { Status::Yes } else { Status::No })
}

/// Tells people what came of it: what is left to them, and what `check` won't let pass.
fn tell(
    global: &Global,
    project: &Project,
    told: &[Diagnostic],
    done: &Done,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    if !global.quiet {
        for (label, text) in &done.advice {
            writeln!(streams.out, "{LABEL}{label:>12}{LABEL:#}: {text}")?;
        }
    }
    if done.faults.is_empty() {
        return Ok(());
    }
    let is_new = |fault: &&Diagnostic| !told.contains(&adopt::foretold((*fault).clone()));
    let new: Vec<_> = done.faults.iter().filter(is_new).cloned().collect();
    write_diagnostics(streams.err, &new, None)?;
    let check = sibling(&project.config.command, "check");
    writeln!(
        streams.err,
        "{BAD}error{BAD:#}: everything was written, but `{check}` fails until what is said above is mended"
    )
}

/// Writes notes and configuration, all or none, and adds to `.gitattributes`.
fn write_sources(root: &Root, proposal: &Proposal) -> Result<(), Failure> {
    let config = RelPath::new(cantus_workspace::CONFIG).map_err(Failure::error)?;
    let notes = proposal.draft.import.notes.iter().map(|note| (&note.path, note.text.as_str()));
    let first = proposal.first_note.iter().map(|(path, text)| (path, text.as_str()));
    let config = proposal.config.iter().map(|text| (&config, text.as_str()));
    let files: Vec<_> = notes.chain(first).chain(config).collect();
    write_new(root, &files).map_err(Failure::error)?;
    // A person may have thought for long: what the file holds now is what is added to.
    add_attributes(root, &proposal.attributes).map_err(Failure::error)?;
    Ok(())
}

/// What is left to people.
fn advice(
    root: &Root,
    project: &Project,
    proposal: &Proposal,
    backups: &[Backup],
) -> Vec<(&'static str, String)> {
    let mut advice = Vec::new();
    for Backup { of, at } in backups {
        let why =
            if proposal.has_git { format!("git did not hold {of}") } else { format!("{of} was overwritten") };
        let text = "delete that when you have read the notes";
        advice.push(("note", format!("{why}: its old text is in {at}; {text}")));
    }
    let (ignored, added): (Vec<_>, Vec<_>) =
        made(root, project, proposal).into_iter().partition(|(_, example)| is_ignored(root, example));
    for (name, _) in ignored {
        let text = format!("git ignores {name}: take it out of .gitignore, since clones would lack it");
        advice.push(("note", text));
    }
    advice.extend(import::left_over(project, &proposal.draft).into_iter().map(|text| ("next", text)));
    if proposal.has_git && !added.is_empty() {
        let way = way_to(root);
        let names: Vec<_> = added.iter().map(|(name, _)| format!("{way}{name}")).collect();
        advice.push(("next", format!("git add {}", names.join(" "))));
        advice.push(("next", "git commit -m \"Agent instructions from notes\"".to_owned()));
    }
    let check = sibling(&project.config.command, "check");
    advice.push(("next", format!("in CI, run `{check}`")));
    if exists(root, ".pre-commit-config.yaml") {
        let text = "for pre-commit, put this below `repos:` in .pre-commit-config.yaml:";
        advice.push(("next", format!("{text}\n{}", hook(&check))));
    } else if proposal.has_git {
        let install = sibling(&project.config.command, "hook install");
        advice.push(("next", format!("to have git judge each commit, run `{install}`")));
    }
    let formatters =
        [".prettierignore", ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".markdownlint.json"];
    if formatters.iter().any(|name| exists(root, name)) {
        let names: Vec<_> = project.config.files.iter().map(|path| format!("/{path}")).collect();
        let names = names.join(", ");
        advice.push(("next", format!("tell your Markdown formatter to ignore {names} and /projections/")));
    }
    advice
}

/// What leads from the working folder to the root, up to its last `/`; nothing if that is the same or lies elsewhere.
fn way_to(root: &Root) -> String {
    let Ok(here) = working_folder() else { return String::new() };
    if let Ok(below) = here.strip_prefix(root.path()) {
        return "../".repeat(below.components().count());
    }
    let below = root.path().strip_prefix(&here).ok();
    below.map_or_else(String::new, |below| below.iter().map(|part| part.to_string_lossy() + "/").collect())
}

/// What is to be committed, files and folders, each with a file that shows whether git ignores it.
fn made(root: &Root, project: &Project, proposal: &Proposal) -> Vec<(String, RelPath)> {
    let notes = proposal.draft.import.notes.iter().map(|note| note.path.clone());
    let first = proposal.first_note.iter().map(|(path, _)| path.clone());
    let old = project.corpus.notes.iter().map(|note| note.path.clone());
    let note = notes.chain(first).chain(old).next();
    let mut made: Vec<_> = note.map(|note| (project.note_folder().to_string(), note)).into_iter().collect();
    let outputs = project.config.outputs.iter().map(|output| &output.file);
    made.extend(project.config.files.iter().chain(outputs).map(|path| (path.to_string(), path.clone())));
    let mut add = |name: &str, example: &str| {
        made.extend(RelPath::new(example).ok().map(|example| (name.to_owned(), example)));
    };
    add("projections", "projections/lock.toml");
    for member in &project.members {
        let (notes, lock) = (member.memory.as_str(), member.lock());
        let example = member.corpus.unit_paths().next().unwrap_or(&member.memory);
        add(notes, example.as_str());
        member.files(&project.config).for_each(|file| add(file.as_str(), file.as_str()));
        add(lock.parent().as_ref().map_or("", RelPath::as_str), lock.as_str());
    }
    if proposal.config.is_some() {
        add(cantus_workspace::CONFIG, cantus_workspace::CONFIG);
    }
    if !proposal.attributes.is_empty() {
        add(".gitattributes", ".gitattributes");
    }
    made.retain(|(name, _)| exists(root, name));
    made
}

fn exists(root: &Root, name: &str) -> bool {
    RelPath::new(name).is_ok_and(|path| matches!(root.kind(&path), Result::<_, AccessError>::Ok(Some(_))))
}

fn hook(command: &str) -> String {
    format!(
        "  - repo: local\n    hooks:\n      - id: cantus-check\n        name: cantus check\n        entry: {command}\n        \
         language: system\n        always_run: true\n        pass_filenames: false"
    )
}
