//! Notes made of files, one after another.

use std::collections::BTreeMap;

use cantus_manifest::{Diagnostic, RelPath};

use super::at_paths::{imports_only, without_imports};
use super::names::{Names, label, stem_of};
use super::pieces::{Heading, Piece, key, keys, pieces, whole};
use super::remarks::{self, small};
use super::rule::Rule;
use super::text::{self, Head};
use super::{Import, ImportOptions, ImportedNote, SkipReason, Skipped, Stretch};
use crate::library::{Library, Resolved};
use crate::links::links;
use crate::note::{Body, Note, NoteKind};
use crate::unicode::{capitalize, collapse, fold, strip};

/// How far apart the priorities of two notes are, so that others fit between them.
const STEP: u32 = 10;
/// The priority of the first note, behind those that name none.
const FIRST: u32 = 30;
/// Names under which agents look for a file in each folder.
const STANDARD: [&str; 4] = ["AGENTS.md", "AGENT.md", "CLAUDE.md", "GEMINI.md"];

/// Where a text was seen first, and what stood above it.
struct Seen {
    place: Place,
    reach: Reach,
    front_matter: String,
}

enum Place {
    Note(RelPath),
    File(usize, RelPath, usize),
}

/// Whom a text reaches.
enum Reach {
    /// Every agent, always.
    All,
    /// Those who read it on demand, which this says when to do.
    OnDemand(String),
}

impl Reach {
    fn of(note: &Note) -> Self {
        let about = || note.description.as_ref().map_or_else(String::new, |about| about.text.clone());
        if note.kind == NoteKind::Core { Self::All } else { Self::OnDemand(about()) }
    }

    /// Whether whoever should be reached as `wanted` says is.
    fn covers(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::All, _) => true,
            (Self::OnDemand(_), Self::All) => false,
            (Self::OnDemand(own), Self::OnDemand(wanted)) => own.contains(wanted.as_str()),
        }
    }
}

impl Seen {
    /// Whether every line of the front matter that leads a piece stands here too.
    fn holds(&self, block: Option<&str>) -> bool {
        let mut own = block.unwrap_or_default().lines().map(strip);
        own.all(|line| self.front_matter.lines().any(|other| strip(other) == line))
    }
}

/// A heading that has a text, where it was met first.
struct Titled {
    /// The index of the file; `None` for a note that was there.
    file: Option<usize>,
    place: String,
    note: RelPath,
}

pub(super) struct Maker<'a> {
    options: &'a ImportOptions<'a>,
    covered: Vec<RelPath>,
    library: Library<'a>,
    names: Names,
    /// By their keys.
    seen: BTreeMap<String, Vec<Seen>>,
    titles: BTreeMap<String, Titled>,
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
    /// The folder that the file is for, if that isn't the whole project.
    scope: Option<RelPath>,
    count: usize,
}

impl<'a> Maker<'a> {
    pub(super) fn new(options: &'a ImportOptions<'a>, covered: Vec<RelPath>) -> Self {
        let notes = &options.existing.notes;
        let mut seen: BTreeMap<String, Vec<Seen>> = BTreeMap::new();
        let mut titles = BTreeMap::new();
        for note in notes {
            let front_matter = note.head();
            for key in known(note.body().text) {
                let place = Place::Note(note.path.clone());
                let reach = Reach::of(note);
                let front_matter = front_matter.to_owned();
                seen.entry(key).or_default().push(Seen { place, reach, front_matter });
            }
            if let Some(title) = note.body().title() {
                let place = note.path.to_string();
                titles.insert(folded(title), Titled { file: None, place, note: note.path.clone() });
            }
        }
        let last = notes.iter().map(|note| note.priority).max().unwrap_or(0);
        Self {
            options,
            covered,
            library: Library::new(options.existing),
            names: Names::new(options.taken.iter().map(String::as_str), options.package),
            seen,
            titles,
            priority: FIRST.max((last / STEP).saturating_add(1).saturating_mul(STEP)),
            import: Import::default(),
            diagnostics: Vec::new(),
        }
    }

    /// The notes, and what to know of them.
    pub(super) fn finish(self) -> (Import, Vec<Diagnostic>) {
        (self.import, self.diagnostics)
    }

    pub(super) fn file(&mut self, index: usize, path: &RelPath, text: &str) {
        let rule = Rule::read(path, text);
        if let Some(target) = imports_only(path, rule.body, &self.covered).filter(|_| rule.block.is_none()) {
            return self.skip(path, 1, text.lines().count(), SkipReason::Imports(target));
        }
        let (body, dropped) = without_imports(path, rule.body, &self.covered);
        for (line, target) in &dropped {
            let line = line + rule.body_line - 1;
            self.skip(path, line, line, SkipReason::Imports(target.clone()));
        }
        let scope = scope(path).filter(|folder| !is_below(self.options.into, folder));
        // A rule that is read on demand is one topic already, and so is what one folder needs.
        let on_demand = rule.kind == NoteKind::Reference || scope.is_some();
        let kind = self.options.kind.unwrap_or(if on_demand { NoteKind::Reference } else { NoteKind::Core });
        let mut found = match on_demand && kind == NoteKind::Reference {
            true => vec![whole(&body, rule.body_line)],
            false => pieces(&body, rule.body_line),
        };
        found.retain(|piece| !piece.lines.is_empty());
        if found.is_empty() && rule.block.is_none() {
            if dropped.is_empty() {
                self.skip(path, 1, text.lines().count().max(1), SkipReason::Empty);
            }
            return;
        }
        let (rule, label, count) = (&rule, label(path), found.len());
        self.pieces(&Context { index, path, rule, kind, label, scope, count }, found);
    }

    /// Makes notes of the pieces of one file.
    fn pieces(&mut self, context: &Context<'_>, found: Vec<Piece<'_>>) {
        let mut block = context.rule.block;
        let mut kept = Vec::new();
        let mut is_elsewhere = false;
        for piece in found {
            let key = context.key(&body_of(context, &piece));
            match self.skip_reason(context, &piece, &key, block) {
                Some(reason) => {
                    let same = matches!(reason, SkipReason::SameAs(..) | SkipReason::Exists(_));
                    let block = block.take_if(|_| same);
                    self.skip(context.path, first_line(&piece, block), piece.last_line(), reason);
                    is_elsewhere |= same;
                }
                None => {
                    let place = Place::File(context.index, context.path.clone(), piece.first_line());
                    let front_matter = block.unwrap_or_default().to_owned();
                    let seen = Seen { place, reach: context.reach(), front_matter };
                    self.seen.entry(key).or_default().push(seen);
                    kept.push(piece);
                }
            }
        }
        if is_elsewhere && kept.iter().all(Piece::is_bare) {
            for piece in kept.drain(..) {
                self.skip(context.path, piece.first_line(), piece.last_line(), SkipReason::Heading);
            }
        }
        if kept.is_empty() && block.is_some() {
            kept.push(whole("", context.rule.body_line));
        }
        for piece in merged(kept) {
            self.note(context, &piece, block.take());
        }
    }

    fn note(&mut self, context: &Context<'_>, piece: &Piece<'_>, block: Option<&str>) {
        let base = base_name(context, piece);
        let (stem, other) = self.names.take(&base, context.index, &context.label);
        let in_folder = |stem: &str| self.options.into.join(&format!("{stem}.md"));
        let Ok(path) = in_folder(&stem) else { return };
        let named = other.and_then(|stem| in_folder(&stem).ok());
        let mut body = body_of(context, piece);
        if let Some(folder) = context.scope.as_ref().filter(|_| context.kind == NoteKind::Core) {
            body = text::scoped(&body, folder);
        }
        let plain_links = self.plain_links(context, piece, &body, &path);
        let head = Head { kind: context.kind, priority: self.priority, plain_links, block };
        let text = text::note_text(&head, description(context, piece), &body);
        let source =
            Stretch { file: context.path.clone(), first: first_line(piece, block), last: piece.last_line() };
        self.check_size(&source, text.len());
        self.diagnostics.extend(remarks::of_piece(context.path, piece));
        if context.kind == NoteKind::Core {
            self.priority = self.priority.saturating_add(STEP);
        }
        let differs_from = self.differs(context, piece, &path).or(named);
        self.import.notes.push(ImportedNote {
            path,
            kind: context.kind,
            source,
            differs_from,
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
        if let [Heading { at: 0, level: 1, text, .. }] = piece.headings.as_slice()
            && piece.is_bare()
        {
            if self.options.title == Some(text) {
                return Some(SkipReason::Title);
            }
            let mut files = self.covered.iter().chain([context.path]);
            if files.any(|file| file.file_name().eq_ignore_ascii_case(text)) {
                return Some(SkipReason::FileName);
            }
        }
        let is_same = |seen: &&Seen| seen.holds(block) && seen.reach.covers(&context.reach());
        let seen = self.seen.get(key)?.iter().find(is_same)?;
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

    /// Whether a note has words that would be links and lead nowhere, so that it must say that they are text.
    fn plain_links(&mut self, context: &Context<'_>, piece: &Piece<'_>, body: &str, note: &RelPath) -> bool {
        let mut open = links(Body { text: body, first_line: 1 });
        open.retain(|link| !matches!(self.library.resolve(&link.target, None), Resolved::Found(_)));
        let Some(first) = open.first() else { return false };
        let line = piece.lines.iter().find(|(_, line)| line.contains("[[") && line.contains(&first.target));
        let line = line.map_or_else(|| piece.first_line(), |(number, _)| *number);
        let shown: String = first.target.chars().take(80).collect();
        let message = format!("`[[{shown}]]` stays text: it leads to no note");
        let help = format!("to make it a link, name a note in it, and remove `link_reference` from {note}");
        self.diagnostics
            .push(Diagnostic::note("import.link", message).at(context.path).line(small(line)).help(help));
        true
    }

    /// The note that has a heading of this piece with another text, of which people are told.
    fn differs(&mut self, context: &Context<'_>, piece: &Piece<'_>, note: &RelPath) -> Option<RelPath> {
        if context.scope.is_some() {
            return None;
        }
        let mut differs_from = None;
        for found in piece.with_text().filter(|found| found.level <= 2) {
            let line = piece.lines[found.at].0;
            let other = self.titles.entry(folded(&found.text)).or_insert_with(|| Titled {
                file: Some(context.index),
                place: format!("{}:{line}", context.path),
                note: note.clone(),
            });
            if other.file == Some(context.index) || found.text.is_empty() {
                continue;
            }
            let message = format!(
                "`{}` stands in {} too, with another text: both are kept, in `{}` and `{note}`",
                found.text, other.place, other.note
            );
            let told = Diagnostic::note("import.differs", message).at(context.path).line(small(line));
            self.diagnostics.push(told.help("read both, and keep what holds in one of them"));
            differs_from = differs_from.or(Some(other.note.clone()));
        }
        differs_from
    }
}

/// Joins each piece that has only headings with the next one, or at the end with the one before, so that no note is empty.
fn merged(pieces: Vec<Piece<'_>>) -> Vec<Piece<'_>> {
    let mut done: Vec<Piece<'_>> = Vec::new();
    let mut open: Option<Piece<'_>> = None;
    for piece in pieces {
        let is_bare = piece.is_bare();
        let piece = match open.take() {
            Some(above) => above.joined(piece),
            None => piece,
        };
        match is_bare {
            true => open = Some(piece),
            false => done.push(piece),
        }
    }
    if let Some(last) = open {
        let above = done.pop();
        done.push(match above {
            Some(above) => above.joined(last),
            None => last,
        });
    }
    done
}

/// The keys of all that a note's body may have been made of.
fn known(body: &str) -> Vec<String> {
    match text::unscoped(body) {
        Some((folder, rest)) => keys(&rest).iter().map(|key| scoped_key(&folder, key)).collect(),
        None => keys(body),
    }
}

/// The key of a text that is for one folder alone; blank lines don't count.
fn scoped_key(folder: &str, key: &str) -> String {
    let lines = key.lines().filter(|line| !line.is_empty());
    [folder].into_iter().chain(lines).collect::<Vec<_>>().join("\n")
}

impl Context<'_> {
    /// When a reference note says that it is to be read; nothing if that is for its description alone to say.
    fn place(&self) -> Option<String> {
        match (&self.rule.patterns, &self.scope) {
            (Some(patterns), _) => Some(format!("on files like {patterns}")),
            (None, Some(folder)) => Some(format!("in `{folder}/`")),
            (None, None) => None,
        }
    }

    fn reach(&self) -> Reach {
        match self.kind {
            NoteKind::Core => Reach::All,
            NoteKind::Reference => Reach::OnDemand(self.place().unwrap_or_default()),
        }
    }

    fn key(&self, body: &str) -> String {
        match self.scope.as_ref().filter(|_| self.kind == NoteKind::Core) {
            Some(folder) => scoped_key(folder.as_str(), &key(body)),
            None => key(body),
        }
    }
}

/// The folder that a file is for, if agents look for its name in each folder.
fn scope(path: &RelPath) -> Option<RelPath> {
    let folder = path.parent()?;
    let is_tools = folder.as_str().split('/').any(|part| part.starts_with('.'));
    (STANDARD.contains(&path.file_name()) && !is_tools).then_some(folder)
}

/// Whether notes lie in a folder, and so are for it alone without saying so.
fn is_below(notes: &RelPath, folder: &RelPath) -> bool {
    notes.as_str().strip_prefix(folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
}

fn folded(title: &str) -> String {
    collapse(&fold(title))
}

/// The body that a piece has as a note. Only a core note's title moves to its top.
fn body_of(context: &Context<'_>, piece: &Piece<'_>) -> String {
    let title =
        (context.kind == NoteKind::Core).then(|| capitalize(&base_name(context, piece).replace('-', " ")));
    piece.body(title.as_deref())
}

/// The first line of a piece in its file, front matter included where it is this piece's.
fn first_line(piece: &Piece<'_>, block: Option<&str>) -> usize {
    if block.is_some() { 1 } else { piece.first_line() }
}

/// What a note is called, before anyone else has that name.
fn base_name(context: &Context<'_>, piece: &Piece<'_>) -> String {
    if let Some(stem) = piece.opening().and_then(|found| stem_of(&found.text)) {
        return stem;
    }
    let is_standard =
        context.path.parent().is_none() || context.path.file_name() == "copilot-instructions.md";
    match piece.opening() {
        Some(_) => format!("{}-{}", context.label, piece.number + 1),
        None if !is_standard => context.label.clone(),
        None if context.count > 1 => format!("{}-intro", context.label),
        None => format!("{}-notes", context.label),
    }
}

/// What a note's entry says: its description, and the files or the folder that it is for.
fn description(context: &Context<'_>, piece: &Piece<'_>) -> Option<String> {
    let rule = context.rule;
    let place = context.place().filter(|_| context.kind == NoteKind::Reference);
    let Some(place) = place else { return rule.description.clone() };
    let about = rule.description.clone().or_else(|| text::first_heading(piece));
    let about = about.unwrap_or_else(|| capitalize(&context.label.replace('-', " ")));
    Some(format!("{}. Read it before you work {place}.", about.trim_end_matches('.')))
}
