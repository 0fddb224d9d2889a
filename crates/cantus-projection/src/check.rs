//! What CI wants to know: drift, parity, digests, budgets, readers and notes. Nothing is written.

use std::panic::resume_unwind;
use std::thread;

use cantus_compose::{Plugin, Presence, Section};
use cantus_fs::Root;
use cantus_manifest::{Diagnostic, Layer, RelPath};
use cantus_memory::Library;
use cantus_workspace::Project;

use crate::git::Kept;
use crate::line_ends::LineEnds;
use crate::plan::{Edit, MOST_BYTES, Plan, State, Target};
use crate::projection::{Projection, our_bug};
use crate::renders::is_root;
use crate::{budgets, digests, paths, readers, sections};

/// Every finding on the committed files of `project`: on its targets in their order, on what they must have in common, on their
/// size and readers, then on its notes.
#[must_use]
pub fn check(root: &Root, project: &Project, projection: &Projection, plan: &Plan) -> Vec<Diagnostic> {
    let of_sections = || (sections::check_composed(projection), sections::check(projection, &project.config));
    thread::scope(|scope| {
        let spawned = thread::Builder::new().spawn_scoped(scope, of_sections).ok();
        let mut findings: Vec<_> = plan.targets.iter().flat_map(|target| drift(target, projection)).collect();
        findings.extend(projection.all().flat_map(|one| copies(root, one, plan)));
        findings.extend(notes(project, projection));
        findings.extend(repositories(project, projection));
        findings.extend(declaration(projection));
        findings.extend(digests::check(projection));
        let readings = readers::readings(root, &project.config);
        findings.extend(budgets::check(&project.config, projection, &readings));
        findings.extend(readers::check(root, &project.config, &readings));
        let members = projection.members.iter().map(|(folder, _)| folder);
        findings.extend(readers::check_members(root, &project.config, members));
        findings.extend(check_notes(project));
        findings.extend(paths::check(root, project, projection));
        // Where the machine gives no thread, it is done here.
        let (composed, others) = spawned
            .map_or_else(of_sections, |found| found.join().unwrap_or_else(|panic| resume_unwind(panic)));
        // What stands in a note's text was told of the note.
        let known = |found: &Diagnostic| {
            findings.iter().any(|known| (known.code, &known.path) == (found.code, &found.path))
        };
        let composed: Vec<_> = composed.into_iter().filter(|found| !known(found)).collect();
        findings.extend(composed);
        findings.extend(others);
        findings.extend(digests::check_other_checkout(project, projection.totals().common_digest));
        findings
    })
}

/// The findings on the notes of `project` and its members alone, whatever its files are.
#[must_use]
pub fn check_notes(project: &Project) -> Vec<Diagnostic> {
    let members = project.members.iter().map(|member| &member.corpus);
    let of_corpus = |corpus| {
        let library = Library::new(corpus);
        library.findings().into_iter().chain(library.lints())
    };
    std::iter::once(&project.corpus).chain(members).flat_map(of_corpus).collect()
}

/// The findings on one target.
fn drift(target: &Target, projection: &Projection) -> Vec<Diagnostic> {
    let regenerate = format!("run `{}`", projection.command);
    let one = |code, message: String| {
        vec![Diagnostic::error(code, message).at(&target.path).help(regenerate.as_str())]
    };
    match &target.state {
        State::Fresh(LineEnds::Crlf) => {
            vec![
                Diagnostic::note("drift.line_ends", "checked out with CRLF; otherwise fresh")
                    .at(&target.path),
            ]
        }
        State::Fresh(_) => Vec::new(),
        State::Missing => one("drift.missing", "the file is missing".to_owned()),
        State::Stale { problem } => one("drift.stale", problem.clone()),
        State::Form(ends) => one("drift.form", ends.problem().to_owned()),
        State::Foreign => {
            let fault = Diagnostic::error("drift.foreign", "Cantus did not write this file").at(&target.path);
            vec![fault.help(adopting(target, projection))]
        }
        State::Orphan => one("drift.orphan", "the file is generated, but no longer configured".to_owned()),
        State::Edited { edits, .. } if edits.is_empty() => {
            one("drift.edited", "the path is unmerged".to_owned())
        }
        State::Edited { edits, kept } => {
            edits.iter().map(|edit| edited(target, edit, *kept, projection)).collect()
        }
    }
}

/// What to do about a file that someone else wrote. A lock is no text that could become notes.
fn adopting(target: &Target, projection: &Projection) -> String {
    let command = &projection.command;
    if projection.is_lock(&target.path) {
        return format!("move it away, then run `{command}`");
    }
    let adoption = projection.adoption(&target.path);
    format!("to adopt it, {adoption}; or move its text into notes yourself, then run `{command} --force`")
}

fn edited(target: &Target, edit: &Edit, kept: Option<Kept>, projection: &Projection) -> Diagnostic {
    let line = u32::try_from(edit.line).unwrap_or(u32::MAX);
    let section = edit.section.as_ref().map_or_else(String::new, |section| format!(" (section `{section}`)"));
    let fault =
        Diagnostic::error("drift.edited", format!("{}{section}", edit.what)).at(&target.path).line(line);
    let command = &projection.command;
    let drop = match kept {
        Some(_) => format!("run `{command}`: git holds the edited text"),
        None => format!("run `{command} --force`"),
    };
    fault.help(match (edit.note(), edit.dependency()) {
        (Some((path, line)), _) if edit.is_added() => {
            format!("to keep it, write it into a note, such as next to {path}:{line}, then run `{command}`; to drop it, {drop}")
        }
        (None, Some((path, line))) if edit.is_added() => format!(
            "it stands next to text of a dependency, {path}:{line}: to keep it, write it into a note of your own, then run \
             `{command}`; to drop it, {drop}"
        ),
        (Some((path, line)), _) => {
            format!("to keep it, make the change in {path}:{line}, then run `{command}`; to drop it, {drop}")
        }
        (None, Some((path, line))) => format!(
            "the text comes from a dependency, {path}:{line}: have it changed there, or write a note of your own; to drop it, \
             {drop}"
        ),
        (None, None) => format!("keep what you need of it, then {drop}"),
    })
}

/// Copies that are not byte for byte the original, told of the file that was changed. Whether either is right is another question.
fn copies(root: &Root, projection: &Projection, plan: &Plan) -> Vec<Diagnostic> {
    // Fresh files were compared with each other by the plan.
    if plan.is_fresh() {
        return Vec::new();
    }
    let help = match plan.is_refused() {
        true => format!("mend what is said of the files first, then run `{}`", projection.command),
        false => format!("run `{}`", projection.command),
    };
    let mut files = projection.files.iter();
    let Some(original) = files.next() else { return Vec::new() };
    let read = |path: &RelPath| root.read_target(path, MOST_BYTES).ok().flatten();
    let Some(bytes) = read(&original.path) else { return Vec::new() };
    let differs = |path: &RelPath| read(path).is_some_and(|copy| copy != bytes);
    let copies = files.filter(|file| file.copy && differs(&file.path));
    // A copy that is as it was written is not the one that was changed.
    let is_changed = |path: &RelPath| {
        let target = plan.targets.iter().find(|target| target.path == *path);
        target.is_some_and(|target| matches!(target.state, State::Edited { .. } | State::Foreign))
    };
    let original_alone = |copy: &RelPath| is_changed(&original.path) && !is_changed(copy);
    let mut findings: Vec<Diagnostic> = copies
        .map(|file| match original_alone(&file.path) {
            true => differing(&original.path, &format!("its copy `{}`", file.path)),
            false => differing(&file.path, &format!("`{}`", original.path)),
        })
        .map(|finding| finding.help(help.as_str()))
        .collect();
    findings.dedup_by(|one, other| one.path == other.path);
    findings
}

fn differing(file: &RelPath, other: &str) -> Diagnostic {
    Diagnostic::error("parity.copy", format!("not byte for byte the same as {other}")).at(file)
}

/// Every note that should be in the bundle is there exactly once, or excluded once.
fn notes(project: &Project, projection: &Projection) -> Vec<Diagnostic> {
    let own = project.corpus.unit_paths().map(|path| (Layer::Project, path.clone()));
    let of_plugin = |plugin| Plugin::sources(plugin).map(|path| (Layer::Plugin, path));
    let members = project.members.iter().flat_map(|member| member.corpus.unit_paths());
    let members = members.map(|path| (Layer::Project, path.clone()));
    let mut wanted: Vec<_> = own.chain(project.plugins.iter().flat_map(of_plugin)).chain(members).collect();
    let of_notes = |section: &&Section| matches!(section.layer, Layer::Project | Layer::Plugin);
    let sections = projection.all().flat_map(|one| one.native().sections()).filter(of_notes);
    let mut found: Vec<_> =
        sections.filter_map(|section| Some((section.layer, section.sources.first()?.path.clone()))).collect();
    wanted.sort();
    found.sort();
    if found == wanted {
        return Vec::new();
    }
    vec![our_bug("the sections of the bundle are not one for each note")]
}

/// Configured repositories that the contract doesn't name, if it has a section for them.
fn repositories(project: &Project, projection: &Projection) -> Vec<Diagnostic> {
    let id = format!("pkg.{}.repos", project.package.name);
    let native = projection.native();
    let Some((_, content)) = native.included().find(|(section, _)| section.id.as_str() == id) else {
        return Vec::new();
    };
    let missing =
        project.config.repositories.iter().filter(|repository| !content.text().contains(&repository.name));
    missing
        .map(|repository| {
            let message =
                format!("the repository `{}` is configured, but `{id}` does not name it", repository.name);
            let fault =
                Diagnostic::error("parity.repository", message).at(project.package.label("contract.md"));
            fault.help("use `{{ repository_entries }}` in that section")
        })
        .collect()
}

/// The final declaration stands in every root render and in no other, judged by its id.
fn declaration(projection: &Projection) -> Vec<Diagnostic> {
    const ID: &str = "pkg.root.final_declaration";
    let wrong = projection
        .presence_of(ID)
        .filter(|(render, presence)| (*presence == Presence::Included) != is_root(render))
        .map(|(render, _)| render.to_owned())
        .collect::<Vec<_>>();
    if wrong.is_empty() {
        return Vec::new();
    }
    let message = format!("`{ID}` belongs in every root render and in no other; wrong: {}", wrong.join(", "));
    let help = "give its heading the attribute `.root`";
    vec![Diagnostic::error("parity.declaration", message).help(help)]
}
