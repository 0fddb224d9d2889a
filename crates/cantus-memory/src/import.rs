//! Instruction files that others wrote, split into notes without losing a line.

mod at_paths;
mod names;
mod pieces;
mod rule;

use std::collections::BTreeMap;

use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity};

use crate::corpus::Corpus;
use crate::inline::heading;
use crate::note::{NoteKind, decode};
use crate::unicode::{capitalize, is_blank, strip};
use at_paths::{at_paths, imports_only};
use names::{Names, label, stem_of};
use pieces::{Piece, key, pieces, underlined, whole};
use rule::Rule;

/// How far apart the priorities of two notes are, so that others fit between them.
const STEP: u32 = 10;
/// The priority of the first note, behind those that name none.
const FIRST: u32 = 30;

/// One file that is to become notes.
#[derive(Clone, Debug)]
pub struct ImportFile {
    /// Where it lies below the root.
    pub path: RelPath,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What an import has to fit in with.
#[derive(Clone, Copy, Debug)]
pub struct ImportOptions<'a> {
    /// The note folder.
    pub into: &'a RelPath,
    /// What the folder holds, by name.
    pub taken: &'a [String],
    /// The notes that are there.
    pub existing: &'a Corpus,
    /// The package's name, which no note may have.
    pub package: &'a str,
    /// The kind of every note; `None` for what each file says, core if it says nothing.
    pub kind: Option<NoteKind>,
    /// The bundle's title: a heading that says just that needs no note.
    pub title: Option<&'a str>,
    /// Files whose text is in notes already, besides those that are imported.
    pub covered: &'a [RelPath],
    /// The most bytes that a note may have.
    pub note_bytes: u64,
}

/// The notes that some files become.
#[derive(Clone, Debug, Default)]
pub struct Import {
    /// The new notes, in the order of the files and of their lines.
    pub notes: Vec<ImportedNote>,
    /// What needs no note of its own.
    pub skipped: Vec<Skipped>,
}

/// Some lines of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The file.
    pub file: RelPath,
    /// The first line, counted from 1.
    pub first: usize,
    /// The last line.
    pub last: usize,
}

/// A note to be written.
#[derive(Clone, Debug)]
pub struct ImportedNote {
    /// Where.
    pub path: RelPath,
    /// How it reaches the bundle.
    pub kind: NoteKind,
    /// The whole file, with LF alone.
    pub text: String,
    /// The lines that it holds.
    pub source: Stretch,
    /// The note of the same heading in another file, whose text differs.
    pub differs_from: Option<RelPath>,
    /// Estimated tokens of its text: code points divided by four, rounded up.
    pub tokens_est: u64,
}

/// Lines that need no note of their own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// The lines.
    pub source: Stretch,
    /// Why.
    pub reason: SkipReason,
}

/// Why lines need no note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The same text stands in another file, from this line on.
    SameAs(RelPath, usize),
    /// A note of the project has this text.
    Exists(RelPath),
    /// It is the title of the bundle.
    Title,
    /// The lines only import a file whose text is in notes.
    Imports(RelPath),
    /// The file has no text.
    Empty,
}

/// Splits `files` into notes: a note for each heading of level 1 or 2 and for the text before the first; a rule that tools read on
/// demand stays one reference note. Every other line of a file is in exactly one note or is named as skipped.
#[must_use]
pub fn import(files: Vec<ImportFile>, options: &ImportOptions<'_>) -> Outcome<Import> {
    let mut diagnostics = Vec::new();
    let mut texts = Vec::new();
    for file in files {
        match readable(&file.path, file.bytes) {
            Ok(text) => texts.push((file.path, text)),
            Err(fault) => diagnostics.push(fault),
        }
    }
    let covered = texts.iter().map(|(path, _)| path).chain(options.covered).cloned().collect();
    let mut maker = Maker::new(options, covered);
    for (index, (path, text)) in texts.iter().enumerate() {
        maker.file(index, path, text);
    }
    diagnostics.extend(maker.diagnostics);
    Outcome { value: maker.import, diagnostics }
}

fn readable(path: &RelPath, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    if let Some(at) = bytes.iter().position(|byte| *byte == 0) {
        let message = format!("not a text: byte {at} is zero");
        return Err(Diagnostic::error("import.text", message).at(path).help("name Markdown files alone"));
    }
    decode(path, bytes)
}

/// Where a text was seen first, and what stood above it.
struct Seen {
    place: Place,
    front_matter: String,
}

enum Place {
    Note(RelPath),
    File(usize, RelPath, usize),
}

impl Seen {
    /// Whether every line of the front matter that leads a piece stands here too.
    fn holds(&self, block: Option<&str>) -> bool {
        let mut own = block.unwrap_or_default().lines().map(strip);
        own.all(|line| self.front_matter.lines().any(|other| strip(other) == line))
    }
}

struct Maker<'a> {
    options: &'a ImportOptions<'a>,
    covered: Vec<RelPath>,
    names: Names,
    seen: BTreeMap<String, Seen>,
    priority: u32,
    import: Import,
    diagnostics: Vec<Diagnostic>,
}

/// What holds for all pieces of one file.
struct Context<'a> {
    index: usize,
    path: &'a RelPath,
    rule: &'a Rule<'a>,
    kind: NoteKind,
    label: String,
    count: usize,
}

impl<'a> Maker<'a> {
    fn new(options: &'a ImportOptions<'a>, covered: Vec<RelPath>) -> Self {
        let notes = &options.existing.notes;
        let seen = notes.iter().map(|note| {
            let place = Place::Note(note.path.clone());
            (key(note.body().text), Seen { place, front_matter: note.head().to_owned() })
        });
        let last = notes.iter().map(|note| note.priority).max().unwrap_or(0);
        Self {
            options,
            covered,
            names: Names::new(options.taken.iter().map(String::as_str), options.package),
            seen: seen.collect(),
            priority: FIRST.max((last / STEP).saturating_add(1).saturating_mul(STEP)),
            import: Import::default(),
            diagnostics: Vec::new(),
        }
    }

    fn file(&mut self, index: usize, path: &RelPath, text: &str) {
        let rule = Rule::read(path, text);
        let kind = self.options.kind.unwrap_or(rule.kind);
        // A rule that is read on demand is one topic already.
        let stays_whole = rule.kind == NoteKind::Reference && kind == NoteKind::Reference;
        let mut found = match stays_whole {
            true => vec![whole(rule.body, rule.body_line)],
            false => pieces(rule.body, rule.body_line),
        };
        found.retain(|piece| !piece.lines.is_empty() || rule.block.is_some());
        if found.is_empty() && rule.block.is_some() {
            found.push(whole("", rule.body_line));
        }
        if found.is_empty() {
            let lines = text.lines().count().max(1);
            self.skip(path, 1, lines, SkipReason::Empty);
            return;
        }
        self.remarks(path, &rule);
        let context = Context { index, path, rule: &rule, kind, label: label(path), count: found.len() };
        for (number, piece) in found.iter().enumerate() {
            self.piece(&context, number, piece);
        }
    }

    fn piece(&mut self, context: &Context<'_>, number: usize, piece: &Piece<'_>) {
        let base = base_name(context, number, piece);
        // Only a core note's title moves to its top.
        let title = (context.kind == NoteKind::Core).then(|| capitalize(&base.replace('-', " ")));
        let body = piece.body(title.as_deref());
        let key = key(&body);
        let block = context.rule.block.filter(|_| number == 0);
        if let Some(reason) = self.skip_reason(context, piece, &key, block) {
            self.skip(context.path, first_line(piece, block), piece.last_line(), reason);
            return;
        }
        let place = Place::File(context.index, context.path.clone(), piece.first_line);
        let front_matter = block.unwrap_or_default().to_owned();
        self.seen.entry(key).or_insert(Seen { place, front_matter });
        let (stem, other) = self.names.take(&base, context.index, &context.label);
        let in_folder = |stem: &str| self.options.into.join(&format!("{stem}.md"));
        let Ok(path) = in_folder(&stem) else { return };
        let text = note_text(context, self.priority, block, piece, &body);
        let source =
            Stretch { file: context.path.clone(), first: first_line(piece, block), last: piece.last_line() };
        self.check_size(&source, text.len());
        if context.kind == NoteKind::Core {
            self.priority = self.priority.saturating_add(STEP);
        }
        self.import.notes.push(ImportedNote {
            path,
            kind: context.kind,
            source,
            differs_from: other.and_then(|stem| in_folder(&stem).ok()),
            tokens_est: body.chars().count().div_ceil(4) as u64,
            text,
        });
    }

    /// Why a piece needs no note. Front matter that isn't elsewhere keeps its piece.
    fn skip_reason(
        &self,
        context: &Context<'_>,
        piece: &Piece<'_>,
        key: &str,
        block: Option<&str>,
    ) -> Option<SkipReason> {
        if let (Some((1, text)), Some(title), [], None) =
            (piece.heading, self.options.title, piece.below_heading(), block)
            && text == title
        {
            return Some(SkipReason::Title);
        }
        if let (Some(target), None) = (imports_only(context.path, piece, &self.covered), block) {
            return Some(SkipReason::Imports(target));
        }
        let seen = self.seen.get(key).filter(|seen| seen.holds(block))?;
        match &seen.place {
            Place::Note(path) => Some(SkipReason::Exists(path.clone())),
            Place::File(index, path, line) => {
                (*index != context.index).then(|| SkipReason::SameAs(path.clone(), *line))
            }
        }
    }

    fn skip(&mut self, path: &RelPath, first: usize, last: usize, reason: SkipReason) {
        let source = Stretch { file: path.clone(), first, last };
        self.import.skipped.push(Skipped { source, reason });
    }

    fn check_size(&mut self, source: &Stretch, bytes: usize) {
        let limit = self.options.note_bytes;
        if bytes as u64 > limit {
            let message = format!(
                "lines {} to {} would be a note of {bytes} bytes, more than the {limit} that one may have",
                source.first, source.last
            );
            let fault = Diagnostic::error("import.size", message).at(&source.file).line(small(source.first));
            self.diagnostics.push(fault.help(
                "cut it with `## ` headings, or set `note_bytes` under `[limits]` in the configuration",
            ));
        }
    }

    /// What an importer should know of a file, without any effect on its notes.
    fn remarks(&mut self, path: &RelPath, rule: &Rule<'_>) {
        let mut remark = |severity, code, line, message: String, help: &str| {
            let mut remark = Diagnostic::note(code, message).at(path).line(small(line)).help(help);
            remark.severity = severity;
            self.diagnostics.push(remark);
        };
        let offset = rule.body_line - 1;
        if let Some(line) = underlined(rule.body) {
            let message = "underlined headings stay as they are, and the text isn't cut there".to_owned();
            remark(
                Severity::Note,
                "import.underlined",
                line + offset,
                message,
                "write `## ` before such a heading to have it cut",
            );
        }
        for (line, target) in at_paths(rule.body) {
            let message = format!("`@{target}` stays as text, and some agents read that file in its place");
            let help = "name the file without the `@` in the note, or import it as well";
            remark(Severity::Note, "import.at", line + offset, message, help);
        }
        let all = whole(rule.body, rule.body_line);
        if all.closing_fence().is_some() {
            let message = "the code fence that is open at the end is closed in the note".to_owned();
            remark(
                Severity::Note,
                "import.fence",
                all.last_line(),
                message,
                "look whether it should end earlier",
            );
        }
        if open_comment(rule.body) {
            let message =
                "a comment `<!--` is not closed: it would hide what follows in the bundle".to_owned();
            remark(
                Severity::Warning,
                "import.comment",
                all.last_line(),
                message,
                "close it with `-->` in the note",
            );
        }
    }
}

fn small(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

/// Whether the last `<!--` that opens a line has no end.
fn open_comment(text: &str) -> bool {
    let fences = crate::fence::fences(text);
    let opens = crate::fence::lines_at(text)
        .filter(|(at, line)| strip(line).starts_with("<!--") && !crate::fence::is_fenced(&fences, *at));
    opens.last().is_some_and(|(at, _)| !text[at..].contains("-->"))
}

/// The first line of a piece in its file, front matter included where it is this piece's.
fn first_line(piece: &Piece<'_>, block: Option<&str>) -> usize {
    if block.is_some() { 1 } else { piece.first_line }
}

/// What a note is called, before anyone else has that name.
fn base_name(context: &Context<'_>, number: usize, piece: &Piece<'_>) -> String {
    if let Some(stem) = piece.heading.and_then(|(_, text)| stem_of(text)) {
        return stem;
    }
    let is_standard =
        context.path.parent().is_none() || context.path.file_name() == "copilot-instructions.md";
    match piece.heading {
        Some(_) => format!("{}-{}", context.label, number + 1),
        None if !is_standard => context.label.clone(),
        None if context.count > 1 => format!("{}-intro", context.label),
        None => format!("{}-notes", context.label),
    }
}

/// The whole file of a note.
fn note_text(
    context: &Context<'_>,
    priority: u32,
    block: Option<&str>,
    piece: &Piece<'_>,
    body: &str,
) -> String {
    let mut text = String::from("---\n");
    match context.kind {
        NoteKind::Core => text.push_str(&format!("type: core\npriority: {priority}\n")),
        NoteKind::Reference => text.push_str("type: reference\n"),
    }
    if let Some(description) = description(context, piece) {
        text.push_str(&format!("description: {}\n", quoted(&description)));
    }
    if let Some(block) = block {
        text.push_str("metadata:\n  front_matter: ");
        if block.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t') || !is_printable(c)) {
            text.push_str(&format!("{}\n", quoted(block)));
        } else {
            text.push_str("|2\n");
            for line in block.lines() {
                let indented = if is_blank(line) { String::new() } else { format!("    {line}") };
                text.push_str(&indented);
                text.push('\n');
            }
        }
    }
    text.push_str("---\n\n");
    text.push_str(body);
    text
}

/// Whether YAML lets the character stand as it is.
fn is_printable(c: char) -> bool {
    !matches!(c, '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// What a rule's entry says: its description, and the files that it is for.
fn description(context: &Context<'_>, piece: &Piece<'_>) -> Option<String> {
    let rule = context.rule;
    if context.kind != NoteKind::Reference {
        return rule.description.clone();
    }
    let Some(patterns) = &rule.patterns else { return rule.description.clone() };
    let title = piece.lines.iter().find_map(|line| match heading(line) {
        Some((_, text)) if !text.is_empty() => Some(text.to_owned()),
        _ => None,
    });
    let about =
        rule.description.clone().or(title).unwrap_or_else(|| capitalize(&context.label.replace('-', " ")));
    let about = about.trim_end_matches('.');
    Some(format!("{about}. Read it before you work on files like {patterns}."))
}

/// `text` as a YAML text between double quotes, on one line.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() || !is_printable(c) => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
