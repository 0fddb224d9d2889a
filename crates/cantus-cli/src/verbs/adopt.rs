//! What `import` and `init` share: a root that need not be a project yet, and the notes that files would become.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::{Kind, RealDisk, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity};
use cantus_memory::{Corpus, Import, ImportFile, ImportOptions, NoteKind, SourceFile, import};
use cantus_projection::{Inputs, Mend, PassReason, Passed, Projection, check, plan};
use cantus_workspace::{Notes, Options, Project, find_root};

use crate::Streams;
use crate::args::Global;
use crate::failure::Failure;
use crate::verbs::{self, finish, options};

/// The notes that some files would become.
pub(super) struct Draft {
    pub(super) files: Vec<ImportFile>,
    pub(super) passed: Vec<Passed>,
    pub(super) import: Import,
    /// What to know about it; no errors.
    pub(super) findings: Vec<Diagnostic>,
}

/// What a draft depends on besides the files.
pub(super) struct Wishes<'a> {
    pub(super) into: &'a RelPath,
    pub(super) kind: Option<NoteKind>,
    pub(super) title: &'a str,
}

/// The root that the arguments name or the search finds; without a project the top of the git repository, else the working
/// folder.
pub(super) fn root(global: &Global) -> Result<Root, Failure> {
    if global.root.is_some() {
        return verbs::root(global);
    }
    let disk = RealDisk;
    let start = verbs::working_folder()?;
    let is_top = |folder: &&Path| matches!(cantus_fs::Disk::kind(&disk, &folder.join(".git")), Ok(Some(_)));
    let folder = find_root(&disk, &start).or_else(|| start.ancestors().find(is_top).map(Path::to_path_buf));
    Ok(Root::new(Arc::new(RealDisk), folder.unwrap_or(start)))
}

/// The project at `root`, or what it would be.
pub(super) fn open(root: &Root, global: &Global) -> Outcome<Option<Project>> {
    Project::open(root, &Options { notes: Notes::ToCome, ..options(global) })
}

/// The project of an outcome; what was wrong with it is told or is the failure.
pub(super) fn opened(
    outcome: Outcome<Option<Project>>,
    global: &Global,
    streams: &mut Streams<'_>,
) -> Result<Project, Failure> {
    let is_note = |finding: &Diagnostic| finding.code.starts_with("note.");
    let hint = outcome.diagnostics.iter().any(is_note).then_some(
        "if that folder holds something else than notes, name another: `memory = \"notes\"` in cantus.toml",
    );
    finish(outcome, global, streams).map_err(|failure| match hint {
        Some(hint) => failure.hint(hint),
        None => failure,
    })
}

/// The paths below the root of files that were named from the working folder.
pub(super) fn below_root(root: &Root, names: &[PathBuf]) -> Result<Vec<RelPath>, Failure> {
    let disk = root.disk();
    let real_root = disk.canonical(root.path()).map_err(Failure::error)?;
    let path_of = |name: &PathBuf| {
        let shown = name.display();
        let path = std::path::absolute(name).map_err(Failure::error)?;
        // The name itself may be a symlink, and is kept.
        let real = match (path.parent(), path.file_name()) {
            (Some(folder), Some(last)) => disk.canonical(folder).map(|folder| folder.join(last)),
            _ => disk.canonical(&path),
        };
        let real = real.map_err(|error| Failure::error(format!("`{shown}`: {error}")))?;
        let below = real.strip_prefix(&real_root).map_err(|_| {
            Failure::error(format!("`{shown}` is not in the project"))
                .hint("copy the file into the project first")
        })?;
        if below.as_os_str().is_empty() {
            return Err(Failure::error(format!("`{shown}` is the whole project"))
                .hint("leave it out to import what agents would find, or name files"));
        }
        let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
        RelPath::new(parts.join("/")).map_err(Failure::error)
    };
    names.iter().map(path_of).collect()
}

/// Where notes go: `wanted`, else the note folder; of a symlink, the folder that it leads to.
pub(super) fn note_folder(root: &Root, project: &Project, wanted: Option<&str>) -> Result<RelPath, Failure> {
    let path = match wanted {
        Some(name) => {
            let name = name.trim_start_matches("./").trim_end_matches('/');
            RelPath::new(name)
                .map_err(|error| Failure::error(error).hint("`--into` names a folder below the root"))?
        }
        None => project.note_folder(),
    };
    if !matches!(root.kind(&path), Ok(Some(Kind::Symlink))) {
        return Ok(path);
    }
    let real = |path: &Path| root.disk().canonical(path).map_err(Failure::error);
    let (folder, top) = (real(&root.at(&path))?, real(root.path())?);
    let below = folder.strip_prefix(&top).ok().and_then(Path::to_str);
    below
        .and_then(|below| RelPath::new(below).ok())
        .ok_or_else(|| Failure::error(format!("`{path}` is a symlink out of the project")))
}

/// Makes notes of files. Errors of either are the failure, and so is what would prevent composing with them.
pub(super) fn draft(
    root: &Root,
    global: &Global,
    project: &Project,
    inputs: Outcome<Inputs>,
    wishes: &Wishes<'_>,
) -> Result<Draft, Vec<Diagnostic>> {
    let mut findings = Vec::new();
    let Inputs { files, passed } = inputs.collect(&mut findings);
    let names = root.list(Some(wishes.into)).unwrap_or_default();
    let taken: Vec<_> = names.iter().map(|entry| entry.name.to_string_lossy().into_owned()).collect();
    let is_notes = note_folder(root, project, None).is_ok_and(|folder| folder == *wishes.into);
    let none = Corpus::default();
    let known =
        passed.iter().filter(|passed| matches!(passed.reason, PassReason::Ours | PassReason::Link(_)));
    // A target that isn't there yet will be a copy of the others.
    let to_come = project.config.files.iter().filter(|path| matches!(root.kind(path), Ok(None)));
    let covered: Vec<_> = known.map(|passed| &passed.path).chain(to_come).cloned().collect();
    let options = ImportOptions {
        into: wishes.into,
        taken: &taken,
        existing: if is_notes { &project.corpus } else { &none },
        package: &project.package.name,
        kind: wishes.kind,
        title: Some(wishes.title),
        covered: &covered,
        note_bytes: project.config.note_bytes,
    };
    let import = import(files.clone(), &options).collect(&mut findings);
    if findings.iter().any(|finding| finding.severity == Severity::Error) {
        return Err(findings);
    }
    if is_notes && !import.notes.is_empty() {
        findings.extend(foreseen(root, global, &import, wishes)?);
    }
    Ok(Draft { files, passed, import, findings })
}

/// What `cantus check` will find to be wrong once there are the new notes, as warnings. What prevents composing is the failure.
fn foreseen(
    root: &Root,
    global: &Global,
    import: &Import,
    wishes: &Wishes<'_>,
) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    let Some(mut project) = open(root, global).value else { return Ok(Vec::new()) };
    let mut tree = project.corpus.tree();
    let file = |path: &RelPath, text: &str| SourceFile {
        path: path.clone(),
        bytes: text.as_bytes().to_vec(),
        stamp: None,
    };
    tree.notes.extend(import.notes.iter().map(|note| file(&note.path, &note.text)));
    tree.notes.sort_by(|a, b| a.path.cmp(&b.path));
    let is_error = |finding: &Diagnostic| finding.severity == Severity::Error;
    let Outcome { value, diagnostics } = Corpus::parse(tree);
    if diagnostics.iter().any(is_error) {
        return Err(diagnostics);
    }
    project.corpus = value;
    project.memory = Some(wishes.into.clone());
    wishes.title.clone_into(&mut project.config.title);
    let Outcome { value, diagnostics } = Projection::compose(&project);
    let Some(projection) = value else { return Err(diagnostics) };
    // A target that can't be planned is told when it is taken over.
    let Ok(plan) = plan(root, &projection, Mend::Safe) else { return Ok(Vec::new()) };
    let found = check(root, &project, &projection, &plan).into_iter();
    let is_lasting =
        |finding: &Diagnostic| !finding.code.starts_with("drift.") && finding.code != "parity.copy";
    Ok(found.filter(is_error).filter(is_lasting).map(foretold).collect())
}

/// An error of a check that is still to come, as a warning.
pub(super) fn foretold(mut finding: Diagnostic) -> Diagnostic {
    finding.severity = Severity::Warning;
    finding.message = format!("`check` will fail: {}", finding.message);
    finding
}
