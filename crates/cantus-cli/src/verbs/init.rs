//! `cantus init`: from whatever is here to a project that is fresh.

mod propose;

use std::io::{self, IsTerminal, Write};

use cantus_fs::{AccessError, Root};
use cantus_manifest::{Outcome, RelPath};
use cantus_projection::{
    Backup, Mend, PlanError, Projection, TakeOver, Turn, add_attributes, apply, foreign_targets, is_ignored,
    plan, take_over, write_new,
};
use cantus_workspace::Project;

use crate::args::{Global, InitArgs};
use crate::failure::{Failure, write_diagnostics};
use crate::report::{self, Deed, sibling};
use crate::style::{CARE, GOOD, LABEL};
use crate::verbs::adopt;
use crate::verbs::{compose, import, is_bad, judged};
use crate::{Status, Streams};
use propose::{Proposal, propose};

pub(crate) fn run(global: &Global, args: &InitArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = adopt::root(global)?;
    let project = adopt::opened(adopt::open(&root, global), global, streams)?;
    let state = State::of(&root, &project)?;
    let proposal = propose(&root, &project, &state.foreign)?;
    let findings = judged(proposal.draft.findings.clone(), global);
    write_diagnostics(streams.err, &findings, None)?;
    if is_bad(&findings) {
        return Err(Failure::error("`--strict` counts these warnings as errors; nothing was done"));
    }
    if state.fresh && proposal.is_empty() {
        if !global.quiet {
            let style = GOOD;
            writeln!(streams.out, "{style}{:>12}{style:#} is set up; nothing was changed", "Everything")?;
        }
        return Ok(Status::Yes);
    }
    if !global.quiet || !args.yes {
        show(streams.out, &project, &proposal)?;
    }
    if !args.yes {
        streams.out.flush()?;
        ask(streams, &sibling(&project.config.command, "init"))?;
    }
    carry_out(&root, global, &project, &proposal, streams)
}

/// What the targets are before anything is done.
struct State {
    /// Whether there are notes and every target is what they say.
    fresh: bool,
    foreign: Vec<RelPath>,
}

impl State {
    fn of(root: &Root, project: &Project) -> Result<Self, Failure> {
        let Outcome { value, diagnostics } = Projection::compose(project);
        let projection = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
        // A target that is a symlink may be one to a file that is imported: that is seen to when it is taken over.
        let foreign = foreign_targets(root, &projection).unwrap_or_else(|_| project.config.files.clone());
        let fresh = plan(root, &projection, Mend::Safe).is_ok_and(|plan| plan.is_fresh());
        Ok(Self { fresh: fresh && propose::has_notes(project), foreign })
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
    for path in &proposal.taken_over {
        step(&format!(
            "overwrite {path} with what the notes say; its text is kept in them, and in git or a copy"
        ))?;
    }
    step(&format!("`{}`", project.config.command))
}

/// Does what was proposed. Whatever fails, running it again goes on from there.
fn carry_out(
    root: &Root,
    global: &Global,
    project: &Project,
    proposal: &Proposal,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let turn = Turn::take(root, &project.config.command).map_err(Failure::error)?;
    write_sources(root, proposal)?;
    let Outcome { value, diagnostics } = compose(root, global);
    let (project, projection) = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
    let taken = take_over(root, &projection, &proposal.draft.files);
    let TakeOver { plan: planned, backups } =
        taken.map_err(|error| Failure::diagnostics(error.diagnostics()))?;
    if planned.is_refused() {
        report::human(streams.out, &projection, &planned, Deed::Refused)?;
        return Ok(Status::No);
    }
    let applied = apply(root, &planned);
    applied.map_err(|error| Failure::error(error).hint("every file is whole, old or new; run this again"))?;
    let after = plan(root, &projection, Mend::Safe);
    drop(turn);
    let after = after.map_err(|error: PlanError| Failure::diagnostics(error.diagnostics()))?;
    if !after.is_fresh() {
        report::human(streams.out, &projection, &after, Deed::Checked)?;
        return Err(Failure::error("files are not fresh right after they were written"));
    }
    if !global.quiet {
        report::human_with(streams.out, &projection, &planned, Deed::Written, &backups)?;
        advise(streams.out, root, &project, proposal, &backups)?;
    }
    Ok(Status::Yes)
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
fn advise(
    out: &mut dyn Write,
    root: &Root,
    project: &Project,
    proposal: &Proposal,
    backups: &[Backup],
) -> io::Result<()> {
    let mut say = |label: &str, text: &str| writeln!(out, "{LABEL}{label:>12}{LABEL:#}: {text}");
    for Backup { of, at } in backups {
        let why =
            if proposal.has_git { format!("git did not hold {of}") } else { format!("{of} was overwritten") };
        say("note", &format!("{why}: its old text is in {at}; delete that when you have read the notes"))?;
    }
    for path in project.config.files.iter().filter(|path| is_ignored(root, path)) {
        say("note", &format!("git ignores {path}: take it out of .gitignore, since clones would lack it"))?;
    }
    for others in import::left_over(project, &proposal.draft) {
        say("next", &others)?;
    }
    if proposal.has_git {
        say("next", &format!("git add {}", added(root, project, proposal)))?;
        say("next", "git commit -m \"Agent instructions from notes\"")?;
    }
    say("next", &format!("in CI, run `{}`", sibling(&project.config.command, "check")))?;
    if exists(root, ".pre-commit-config.yaml") {
        say("next", "for pre-commit, put this below `repos:` in .pre-commit-config.yaml:")?;
        writeln!(out, "{}", hook(&sibling(&project.config.command, "check")))?;
    }
    let formatters =
        [".prettierignore", ".prettierrc", ".prettierrc.json", ".prettierrc.yaml", ".markdownlint.json"];
    if formatters.iter().any(|name| exists(root, name)) {
        let names: Vec<_> = project.config.files.iter().map(|path| format!("/{path}")).collect();
        let names = names.join(", ");
        writeln!(
            out,
            "{LABEL}{:>12}{LABEL:#}: tell your Markdown formatter to ignore {names} and /projections/",
            "next"
        )?;
    }
    Ok(())
}

/// What is to be committed.
fn added(root: &Root, project: &Project, proposal: &Proposal) -> String {
    let mut names = vec![project.note_folder().to_string()];
    names.extend(project.config.files.iter().map(RelPath::to_string));
    names.extend(project.config.outputs.iter().map(|output| output.file.to_string()));
    names.push("projections".to_owned());
    names.extend(proposal.config.iter().map(|_| cantus_workspace::CONFIG.to_owned()));
    names.extend((!proposal.attributes.is_empty()).then(|| ".gitattributes".to_owned()));
    names.retain(|name| exists(root, name));
    names.join(" ")
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
