//! `cantus import`: instruction files that others wrote become notes.

use std::io::{self, Write};

use cantus_fs::Root;
use cantus_manifest::{Diagnostic, RelPath};
use cantus_memory::{ImportedNote, NoteKind, SkipReason, Skipped};
use cantus_projection::{
    PassReason, Passed, Projection, Turn, find_inputs, foreign_targets, read_inputs, write_notes,
};
use cantus_workspace::Project;
use serde::Serialize;

use crate::args::{Global, ImportArgs, KindArg};
use crate::failure::{Failure, write_diagnostics};
use crate::report::{self, group, plural, sibling, table};
use crate::style::{CARE, GOOD, LABEL};
use crate::verbs::adopt::{self, Draft, Wishes};
use crate::verbs::{is_bad, judged};
use crate::{Status, Streams};

pub(crate) fn run(global: &Global, args: &ImportArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = adopt::root(global)?;
    let outcome = adopt::open(&root, global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let project = adopt::opened(outcome, global, streams)?;
    let into = adopt::note_folder(&root, &project, args.into.as_deref())?;
    let kind = args.kind.map(|kind| match kind {
        KindArg::Core => NoteKind::Core,
        KindArg::Reference => NoteKind::Reference,
    });
    let inputs = match args.files.as_slice() {
        [] => find_inputs(&root, &project),
        names => read_inputs(&root, &project, &adopt::below_root(&root, names)?),
    };
    let wishes = Wishes { into: &into, kind, title: &project.config.title };
    let draft = match adopt::draft(&root, global, &project, inputs, &wishes) {
        Err(findings) if args.json => {
            report::json_broken(streams.out, &findings)?;
            return Ok(Status::CantTell);
        }
        draft => draft.map_err(Failure::diagnostics)?,
    };
    let draft = Draft { findings: judged(draft.findings, global), ..draft };
    if is_bad(&draft.findings) {
        return Err(Failure::diagnostics(draft.findings));
    }
    let deed = match args.dry_run {
        _ if draft.import.notes.is_empty() => Deed::Nothing,
        true => Deed::Planned,
        false => {
            write(&root, &project, &draft)?;
            Deed::Written
        }
    };
    // With its first note a folder may have become a member.
    let project = match deed {
        Deed::Written => adopt::open(&root, global).value.unwrap_or(project),
        Deed::Planned | Deed::Nothing => project,
    };
    let next = next(&root, &project, &draft, &into);
    if args.json {
        json(streams.out, &draft, deed, &next)?;
    } else {
        write_diagnostics(streams.err, &draft.findings, None)?;
        if !global.quiet {
            human(streams.out, &draft)?;
            summary(streams.out, &draft, deed, &next)?;
        }
    }
    let is_ours = |passed: &Passed| passed.reason == PassReason::Ours;
    let found = !draft.files.is_empty() || draft.passed.iter().any(is_ours);
    Ok(if found { Status::Yes } else { Status::No })
}

/// What was done about a draft.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Deed {
    Planned,
    Written,
    Nothing,
}

fn write(root: &Root, project: &Project, draft: &Draft) -> Result<(), Failure> {
    let turn = Turn::take(root, &project.config.command).map_err(Failure::error)?;
    let written = write_notes(root, &draft.import.notes);
    drop(turn);
    written.map_err(|error| Failure::error(error).hint("mend what is named, and run this again"))
}

impl Draft {
    /// Whether the text of a file is in notes now.
    fn covers(&self, path: &RelPath) -> bool {
        self.files.iter().any(|file| file.path == *path)
    }
}

/// What to do next, a line each.
fn next(root: &Root, project: &Project, draft: &Draft, into: &RelPath) -> Vec<String> {
    let command = &project.config.command;
    let mut next = Vec::new();
    let is_members = project.members.iter().any(|member| member.memory == *into);
    if !is_members && !adopt::note_folder(root, project, None).is_ok_and(|folder| folder == *into) {
        next.push(match folder_of(into) {
            Some(folder) => {
                format!("add \"{folder}\" to `members` in cantus.toml, so that the notes are found")
            }
            None => format!("set `memory = \"{into}\"` in cantus.toml, so that the notes are found"),
        });
    }
    let Some(projection) = Projection::compose(project).value else { return next };
    let foreign = match foreign_targets(root, &projection) {
        Ok(foreign) => foreign,
        Err(error) => {
            let names: Vec<_> = error.0.iter().map(|error| format!("`{}`", error.path())).collect();
            next.push(format!("move away {}: a committed file is a regular file", names.join(", ")));
            Vec::new()
        }
    };
    let (ready, open): (Vec<_>, Vec<_>) = foreign.iter().partition(|path| draft.covers(path));
    if !open.is_empty() {
        next.extend(imports(&projection, &open, command));
    } else if ready.is_empty() {
        next.push(format!("`{command}`"));
    } else {
        let names: Vec<_> = ready.iter().map(|path| path.as_str()).collect();
        let names = names.join(" and ");
        next.push(format!("read the notes, and commit {names} as they are, so that git keeps the old text"));
        next.push(format!("`{command} --force`, which overwrites {names} with the text of the notes"));
    }
    next.extend(left_over(project, draft));
    next
}

/// How the committed files `open`, which Cantus didn't write, are imported: those of a member into its own notes.
fn imports(projection: &Projection, open: &[&RelPath], command: &str) -> Vec<String> {
    let import = sibling(command, "import");
    let step = |words: String| format!("`{import} {words}`: Cantus didn't write that either");
    let into = |path: &RelPath| Some(step(format!("{path} --into {}", projection.member_notes(path)?)));
    let (of_members, own): (Vec<&RelPath>, Vec<&RelPath>) =
        open.iter().partition(|path| projection.member_notes(path).is_some());
    let own: Vec<_> = own.into_iter().map(RelPath::as_str).collect();
    let own = (!own.is_empty()).then(|| step(own.join(" ")));
    own.into_iter().chain(of_members.into_iter().filter_map(into)).collect()
}

/// The folder whose note folder `into` would be if it were a member.
fn folder_of(into: &RelPath) -> Option<RelPath> {
    let folder = into.as_str().strip_suffix("/sase/memory").or(into.as_str().strip_suffix("/memory"))?;
    RelPath::new(folder).ok()
}

/// Says which imported files would go on to reach agents beside the committed ones, or over them.
pub(super) fn left_over(project: &Project, draft: &Draft) -> Vec<String> {
    let others = draft.files.iter().map(|file| file.path.as_str());
    let files = &project.config.files;
    let of_members = project.members.iter().flat_map(|member| member.files(&project.config));
    let targets: Vec<_> = files.iter().cloned().chain(of_members).collect();
    let others = others.filter(|path| !targets.iter().any(|target| target.as_str() == *path));
    let is_generators = |path: &&str| path.starts_with(".ruler/") || path.starts_with(".rulesync/");
    let (sources, read): (Vec<_>, Vec<_>) = others.partition(is_generators);
    let mut steps = Vec::new();
    if !read.is_empty() {
        let gemini = if read.contains(&"GEMINI.md") {
            ", or add `GEMINI.md` to `files` under `[projection]`"
        } else {
            ""
        };
        steps.push(format!("delete {}: agents would read that text twice{gemini}", read.join(", ")));
    }
    if !sources.is_empty() {
        let names = sources.join(", ");
        steps.push(format!(
            "delete {names}, and run that generator no more: it would write over the committed files"
        ));
    }
    steps
}

/// The table for people: each file with its notes, then what is passed over.
pub(super) fn human(out: &mut dyn Write, draft: &Draft) -> io::Result<()> {
    for file in &draft.files {
        writeln!(out, "{LABEL}{}{LABEL:#}", file.path)?;
        let mut rows: Vec<(usize, [String; 5])> = Vec::new();
        for note in draft.import.notes.iter().filter(|note| note.source.file == file.path) {
            rows.push((note.source.first, note_row(note)));
        }
        for skipped in draft.import.skipped.iter().filter(|skipped| skipped.source.file == file.path) {
            rows.push((skipped.source.first, skipped_row(skipped)));
        }
        rows.sort_by_key(|(line, _)| *line);
        table(out, "  ", &rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>())?;
    }
    for passed in &draft.passed {
        writeln!(out, "{LABEL}{}{LABEL:#}: {}", passed.path, passed.reason)?;
    }
    Ok(())
}

fn note_row(note: &ImportedNote) -> [String; 5] {
    let remark =
        note.differs_from.as_ref().map_or_else(String::new, |other| format!("not the text of {other}"));
    [
        note.path.to_string(),
        kind(note.kind).to_owned(),
        lines(note.source.first, note.source.last),
        format!("~{} tokens", group(note.tokens_est)),
        remark,
    ]
}

fn skipped_row(skipped: &Skipped) -> [String; 5] {
    let lines = lines(skipped.source.first, skipped.source.last);
    ["-".to_owned(), String::new(), lines, String::new(), reason(&skipped.reason)]
}

fn lines(first: usize, last: usize) -> String {
    if first == last { format!("line {first}") } else { format!("lines {first}-{last}") }
}

fn kind(kind: NoteKind) -> &'static str {
    match kind {
        NoteKind::Core => "core",
        NoteKind::Reference => "reference",
    }
}

fn reason(reason: &SkipReason) -> String {
    match reason {
        SkipReason::SameAs(path, line) => format!("the same as {path}:{line}"),
        SkipReason::Exists(path) => format!("{path} has this text already"),
        SkipReason::Title => "the title of the committed files".to_owned(),
        SkipReason::FileName => "it only names the file".to_owned(),
        SkipReason::Heading => "a heading, and what stands below it is in notes already".to_owned(),
        SkipReason::Imports(path) => format!("it only imports {path}"),
        SkipReason::Empty => "there is no text".to_owned(),
    }
}

fn summary(out: &mut dyn Write, draft: &Draft, deed: Deed, next: &[String]) -> io::Result<()> {
    writeln!(out, "     -------")?;
    match deed {
        Deed::Nothing if draft.files.is_empty() => {
            let sought =
                "AGENTS.md, CLAUDE.md, GEMINI.md, rules of Cursor, Copilot, Windsurf, Cline, ruler, rulesync";
            writeln!(out, "{CARE}{:>12}{CARE:#} to import; looked for {sought}", "Nothing")?;
        }
        Deed::Nothing => {
            writeln!(out, "{GOOD}{:>12}{GOOD:#} new in {}", "Nothing", plural(draft.files.len(), "file"))?
        }
        Deed::Planned => {
            writeln!(out, "{CARE}{:>12}{CARE:#} {}; nothing was written", "Planned", totals(draft))?
        }
        Deed::Written => writeln!(out, "{GOOD}{:>12}{GOOD:#} {}", "Wrote", totals(draft))?,
    }
    for step in next.iter().filter(|_| !draft.files.is_empty()) {
        writeln!(out, "{LABEL}{:>12}{LABEL:#}: {step}", "next")?;
    }
    Ok(())
}

/// `3 notes from 2 files, ~400 tokens`.
pub(super) fn totals(draft: &Draft) -> String {
    let tokens: u64 = draft.import.notes.iter().map(|note| note.tokens_est).sum();
    let (notes, files) = (draft.import.notes.len(), draft.files.len());
    format!("{} from {}, ~{} tokens", plural(notes, "note"), plural(files, "file"), group(tokens))
}

/// What `import --json` prints.
#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    /// `planned`, `written` or `nothing`.
    outcome: &'static str,
    files: Vec<FileReport<'a>>,
    passed: Vec<PassedReport<'a>>,
    findings: &'a [Diagnostic],
    tokens_est: u64,
    next: &'a [String],
}

/// A file that was imported, as JSON.
#[derive(Serialize)]
pub(super) struct FileReport<'a> {
    path: &'a str,
    notes: Vec<NoteReport<'a>>,
    skipped: Vec<SkippedReport<'a>>,
}

#[derive(Serialize)]
struct NoteReport<'a> {
    path: &'a str,
    kind: &'static str,
    first_line: usize,
    last_line: usize,
    bytes: usize,
    tokens_est: u64,
    differs_from: Option<&'a str>,
}

#[derive(Serialize)]
struct SkippedReport<'a> {
    first_line: usize,
    last_line: usize,
    /// `same`, `exists`, `title`, `file_name`, `heading`, `imports` or `empty`.
    reason: &'static str,
    /// The file or note that has the text.
    of: Option<&'a str>,
}

/// A file that was passed over, as JSON.
#[derive(Serialize)]
pub(super) struct PassedReport<'a> {
    path: &'a str,
    reason: String,
}

fn json(out: &mut dyn Write, draft: &Draft, deed: Deed, next: &[String]) -> io::Result<()> {
    let report = Report {
        version: 1,
        outcome: match deed {
            Deed::Planned => "planned",
            Deed::Written => "written",
            Deed::Nothing => "nothing",
        },
        files: file_reports(draft),
        passed: passed_reports(draft),
        findings: &draft.findings,
        tokens_est: draft.import.notes.iter().map(|note| note.tokens_est).sum(),
        next,
    };
    serde_json::to_writer_pretty(&mut *out, &report)?;
    writeln!(out)
}

/// Each file of a draft, as JSON.
pub(super) fn file_reports(draft: &Draft) -> Vec<FileReport<'_>> {
    draft.files.iter().map(|file| file_report(draft, &file.path)).collect()
}

/// What a draft passes over, as JSON.
pub(super) fn passed_reports(draft: &Draft) -> Vec<PassedReport<'_>> {
    draft
        .passed
        .iter()
        .map(|passed| PassedReport { path: passed.path.as_str(), reason: passed.reason.to_string() })
        .collect()
}

fn file_report<'a>(draft: &'a Draft, path: &'a RelPath) -> FileReport<'a> {
    let notes = draft.import.notes.iter().filter(|note| note.source.file == *path);
    let skipped = draft.import.skipped.iter().filter(|skipped| skipped.source.file == *path);
    FileReport {
        path: path.as_str(),
        notes: notes
            .map(|note| NoteReport {
                path: note.path.as_str(),
                kind: kind(note.kind),
                first_line: note.source.first,
                last_line: note.source.last,
                bytes: note.text.len(),
                tokens_est: note.tokens_est,
                differs_from: note.differs_from.as_ref().map(RelPath::as_str),
            })
            .collect(),
        skipped: skipped.map(skipped_report).collect(),
    }
}

fn skipped_report(skipped: &Skipped) -> SkippedReport<'_> {
    let (reason, of) = match &skipped.reason {
        SkipReason::SameAs(path, _) => ("same", Some(path)),
        SkipReason::Exists(path) => ("exists", Some(path)),
        SkipReason::Title => ("title", None),
        SkipReason::FileName => ("file_name", None),
        SkipReason::Heading => ("heading", None),
        SkipReason::Imports(path) => ("imports", Some(path)),
        SkipReason::Empty => ("empty", None),
    };
    SkippedReport {
        first_line: skipped.source.first,
        last_line: skipped.source.last,
        reason,
        of: of.map(RelPath::as_str),
    }
}
