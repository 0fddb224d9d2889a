//! A memory folder's files to notes and webs, and what is wrong among them.

use std::borrow::Cow;

use cantus_manifest::{Diagnostic, Outcome, RelPath, Stamp};
use unicode_normalization::UnicodeNormalization;

use crate::front_matter::{Block, Fields, split, unclosed};
use crate::markers;
use crate::note::{Content, Note, NoteKind, decode_form, open};
use crate::parallel;
use crate::unicode::{fold, is_blank, norm, slug};
use crate::web::{Roster, Strand, Web};

/// One file as it lies on disk.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Where it lies below its root.
    pub path: RelPath,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Their stamp, where whoever read them took it.
    pub stamp: Option<Stamp>,
}

/// A file of a memory folder, read or still to be read.
pub trait MemoryFile {
    /// Where it lies below its root.
    fn path(&self) -> &RelPath;
}

impl MemoryFile for SourceFile {
    fn path(&self) -> &RelPath {
        &self.path
    }
}

/// What a memory folder holds, as far as notes are concerned.
#[derive(Clone, Debug)]
pub struct MemoryTree<F = SourceFile> {
    /// The direct `*.md` files but `README.md`, in any order.
    pub notes: Vec<F>,
    /// The direct folders but `assets`, each with its entries.
    pub folders: Vec<MemoryFolder<F>>,
}

impl<F> Default for MemoryTree<F> {
    fn default() -> Self {
        Self { notes: Vec::new(), folders: Vec::new() }
    }
}

/// A folder directly below a memory folder.
#[derive(Clone, Debug)]
pub struct MemoryFolder<F = SourceFile> {
    /// Where it lies.
    pub path: RelPath,
    /// Its direct `*.md` files, in any order.
    pub strands: Vec<F>,
    /// Its direct folders.
    pub folders: Vec<RelPath>,
}

/// The notes and webs of one memory folder. Two are equal if they hold the same texts, however those lie on disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Corpus {
    /// Core and reference notes, in the order of their paths' bytes.
    pub notes: Vec<Note>,
    /// Webs, in the order of their priority, then of their name's bytes.
    pub webs: Vec<Web>,
}

impl Corpus {
    /// Takes every file of `tree`. What isn't a note is left out and reported; nothing is left out silently.
    #[must_use]
    pub fn parse(tree: MemoryTree) -> Outcome<Self> {
        Self::read(tree, Ok)
    }

    /// [`parse`](Self::parse) for files that `read` still has to read, from several threads at once. Why it can't read one is
    /// among what is reported.
    pub fn read<F: MemoryFile + Send>(
        mut tree: MemoryTree<F>,
        read: impl Fn(F) -> Result<SourceFile, Diagnostic> + Sync,
    ) -> Outcome<Self> {
        let mut diagnostics = Vec::new();
        tree.notes.sort_by(|a, b| a.path().cmp(b.path()));
        tree.folders.sort_by(|a, b| a.path.cmp(&b.path));
        equal_names(tree.notes.iter().map(F::path), &mut diagnostics);
        let (notes, folders) = parse_files(tree, read, &mut diagnostics);
        let mut corpus = Self::default();
        let mut unread = Vec::new();
        for (path, outcome) in notes {
            match outcome.collect(&mut diagnostics) {
                Some(Parsed::Note(note)) => corpus.notes.push(note),
                Some(Parsed::Web(web)) => corpus.webs.push(web),
                None => unread.push(path),
            }
        }
        corpus.add_strands(folders, &unread, &mut diagnostics);
        corpus.webs.sort_by(|a, b| (a.priority, a.slug()).cmp(&(b.priority, b.slug())));
        corpus.equal_slugs(&mut diagnostics);
        Outcome { value: corpus, diagnostics }
    }

    /// The files that it would be read from again, with LF alone between lines, sorted by path.
    #[must_use]
    pub fn tree(&self) -> MemoryTree {
        let file = |path: &RelPath, content: &Content| SourceFile {
            path: path.clone(),
            bytes: content.text.clone().into_bytes(),
            stamp: content.stamp,
        };
        let notes = self.notes.iter().map(|note| file(&note.path, note.content()));
        let webs = self.webs.iter().map(|web| file(&web.path, web.content()));
        let mut notes: Vec<_> = notes.chain(webs).collect();
        notes.sort_by(|a, b| a.path.cmp(&b.path));
        let folder = |web: &Web| {
            let path = RelPath::new(web.path.as_str().strip_suffix(".md")?).ok()?;
            let strands = web.strands.iter().map(|strand| file(&strand.path, strand.content()));
            Some(MemoryFolder { path, strands: strands.collect(), folders: Vec::new() })
        };
        let mut folders: Vec<_> = self.webs.iter().filter_map(folder).collect();
        folders.sort_by(|a, b| a.path.cmp(&b.path));
        MemoryTree { notes, folders }
    }

    /// The core notes in bundle order (§3.1): by priority, then by path.
    #[must_use]
    pub fn core(&self) -> Vec<&Note> {
        let mut notes: Vec<_> = self.notes.iter().filter(|note| note.kind == NoteKind::Core).collect();
        notes.sort_by_key(|note| note.priority);
        notes
    }

    /// The reference notes that the bundle lists (§4.1), by path.
    pub fn references(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().filter(|note| note.kind == NoteKind::Reference && note.top_level)
    }

    fn add_strands(
        &mut self,
        folders: Vec<ParsedFolder>,
        unread: &[RelPath],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut filled = Vec::new();
        for folder in folders {
            let name = folder.path.file_name();
            if let Some(web) = self.webs.iter_mut().find(|web| web.slug() == name) {
                filled.push(name.to_owned());
                nested_folders(&folder, diagnostics);
                diagnostics.extend(folder.equal);
                let strands = folder.strands.into_iter();
                let strands = strands.filter_map(|strand| rostered(strand, web.roster).collect(diagnostics));
                web.strands = strands.collect();
                colliding_labels(web, diagnostics);
            } else if !folder.strands.is_empty() && !unread.iter().any(|path| path.stem() == name) {
                let descriptor = self.notes.iter().map(|note| &note.path).find(|path| path.stem() == name);
                diagnostics.push(stray_folder(&folder.path, descriptor));
            }
        }
        for web in &self.webs {
            reserved_name(web, diagnostics);
            diagnostics.extend(markers::check(web));
            if !filled.iter().any(|name| name == web.slug()) {
                let folder = web.path.as_str().strip_suffix(".md").unwrap_or_default();
                let message = format!("the web has no strand folder `{folder}`");
                diagnostics.push(
                    Diagnostic::error("web.folder", message).at(&web.path).help(format!(
                        "create `{folder}/` and its first strand, or make the note `type: core`"
                    )),
                );
            }
        }
    }

    /// The paths of the notes and webs that have a section, in no order to rely on.
    pub fn unit_paths(&self) -> impl Iterator<Item = &RelPath> {
        self.units().into_iter().flatten()
    }

    /// The paths of what has a section, by kind: core notes, listed reference notes, webs.
    fn units(&self) -> [Vec<&RelPath>; 3] {
        let core = self.notes.iter().filter(|note| note.kind == NoteKind::Core).map(|note| &note.path);
        [
            core.collect(),
            self.references().map(|note| &note.path).collect(),
            self.webs.iter().map(|web| &web.path).collect(),
        ]
    }

    /// Reports notes of one kind whose section would have the same id.
    fn equal_slugs(&self, diagnostics: &mut Vec<Diagnostic>) {
        for paths in self.units() {
            diagnostics.extend(slug_pairs(paths.into_iter()).map(|(path, other)| one_section(path, other)));
        }
    }

    /// Reports notes of different kinds whose section would have the same id where an id doesn't name the kind.
    #[must_use]
    pub fn equal_slugs_across_kinds(&self) -> Vec<Diagnostic> {
        let kinds = self.units();
        let kind = |path: &RelPath| kinds.iter().position(|paths| paths.contains(&path));
        let pairs = slug_pairs(kinds.iter().flatten().copied());
        pairs
            .filter(|(path, other)| kind(path) != kind(other))
            .map(|(path, other)| one_section(path, other))
            .collect()
    }

    /// Makes every core note a listed reference note.
    pub fn list_core(&mut self) {
        for note in self.notes.iter_mut().filter(|note| note.kind == NoteKind::Core) {
            note.kind = NoteKind::Reference;
            // A core note stands in the bundle whatever its parent.
            note.top_level = true;
        }
    }
}

enum Parsed {
    Note(Note),
    Web(Web),
}

type ParsedNote = (RelPath, Outcome<Option<Parsed>>);

/// A folder's strands in the order of their slugs, and which of their names are equal.
struct ParsedFolder {
    path: RelPath,
    folders: Vec<RelPath>,
    equal: Vec<Diagnostic>,
    strands: Vec<Outcome<Option<Strand>>>,
}

/// A file to be read and parsed.
enum Task<F> {
    Note(F),
    Strand(F),
}

/// What became of it; an error where it could not be read.
enum Done {
    Note(Result<ParsedNote, Diagnostic>),
    Strand(Result<Outcome<Option<Strand>>, Diagnostic>),
}

/// Reads and parses all files of a sorted tree at once: a text is parsed while the processor still has it at hand.
fn parse_files<F: MemoryFile + Send>(
    tree: MemoryTree<F>,
    read: impl Fn(F) -> Result<SourceFile, Diagnostic> + Sync,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Vec<ParsedNote>, Vec<ParsedFolder>) {
    let strands = tree.folders.iter().map(|folder| folder.strands.len()).sum::<usize>();
    let mut notes = Vec::with_capacity(tree.notes.len());
    let mut tasks = Vec::with_capacity(tree.notes.len() + strands);
    tasks.extend(tree.notes.into_iter().map(Task::Note));
    let mut folders = Vec::with_capacity(tree.folders.len());
    for mut folder in tree.folders {
        folder.strands.sort_by(|a, b| a.path().stem().cmp(b.path().stem()));
        let mut equal = Vec::new();
        equal_names(folder.strands.iter().map(F::path), &mut equal);
        let (path, count) = (folder.path, folder.strands.len());
        folders.push((count, ParsedFolder { path, folders: folder.folders, equal, strands: Vec::new() }));
        tasks.extend(folder.strands.into_iter().map(Task::Strand));
    }
    let mut strands = Vec::with_capacity(strands);
    for done in parallel::map(tasks, |task| match task {
        Task::Note(file) => Done::Note(read(file).map(parse_note)),
        Task::Strand(file) => Done::Strand(read(file).map(parse_strand)),
    }) {
        match done {
            Done::Note(note) => notes.extend(note.map_err(|fault| diagnostics.push(fault))),
            Done::Strand(strand) => strands.push(strand.map_err(|fault| diagnostics.push(fault)).ok()),
        }
    }
    let mut strands = strands.into_iter();
    let folders = folders.into_iter().map(|(count, folder)| {
        let strands = strands.by_ref().take(count).flatten().collect();
        ParsedFolder { strands, ..folder }
    });
    let folders = folders.collect();
    (notes, folders)
}

fn parse_note(file: SourceFile) -> ParsedNote {
    let mut diagnostics = Vec::new();
    let path = file.path.clone();
    let value = parse_note_into(file, &mut diagnostics);
    (path, Outcome { value, diagnostics })
}

fn parse_note_into(file: SourceFile, diagnostics: &mut Vec<Diagnostic>) -> Option<Parsed> {
    let SourceFile { path, bytes, stamp } = file;
    let (text, form) = decode_form(&path, bytes).map_err(|diagnostic| diagnostics.push(diagnostic)).ok()?;
    let (mut fields, body, body_line) = open(&text, &path, diagnostics)?;
    let faults = fields.faults();
    let is_web = fields.boolean("web");
    if fields.faults() > faults {
        return None;
    }
    let content = Content { text, body, body_line, form, stamp };
    if is_web == Some(true) {
        return Some(Parsed::Web(Web::from_fields(&path, fields, content)));
    }
    Note::from_fields(&path, fields, content).map(Parsed::Note)
}

fn parse_strand(file: SourceFile) -> Outcome<Option<Strand>> {
    let mut diagnostics = Vec::new();
    let SourceFile { path, bytes, stamp } = file;
    let path = &path;
    let (text, form) = match decode_form(path, bytes) {
        Ok(decoded) => decoded,
        Err(diagnostic) => return Outcome { value: None, diagnostics: vec![diagnostic] },
    };
    let parts = split(&text);
    let (body, body_line) = (parts.body, parts.body_line);
    let fields = match parts.block {
        Block::None => None,
        Block::Unclosed => {
            diagnostics.push(unclosed(&text).at(path));
            None
        }
        Block::Yaml(yaml) => Fields::parse(yaml, path, &mut diagnostics),
    };
    let strand = Strand::from_fields(path, fields, Content { text, body, body_line, form, stamp });
    if is_blank(strand.body().text) {
        let message = "a strand needs a text below its front matter";
        let fault = Diagnostic::error("note.value", message).at(path).line(1);
        diagnostics.push(fault.help("write what its keyword stands for, or remove the file"));
    }
    Outcome { value: Some(strand), diagnostics }
}

/// A strand, and what its web's roster misses in it if nothing else is wrong.
fn rostered(mut strand: Outcome<Option<Strand>>, roster: Roster) -> Outcome<Option<Strand>> {
    let unsaid = strand.value.as_ref().filter(|strand| roster == Roster::List && strand.summary.is_none());
    if let (Some(unsaid), []) = (unsaid, strand.diagnostics.as_slice()) {
        let message = "a strand of a web with `roster: list` needs a `summary`";
        let fault = Diagnostic::error("web.summary", message).at(&unsaid.path).line(1);
        strand.diagnostics.push(fault.help("add `summary:` and one sentence to its front matter"));
    }
    strand
}

/// Reports names that are equal but for case or Unicode form: some file systems hold only one of them.
fn equal_names<'a>(paths: impl Iterator<Item = &'a RelPath>, diagnostics: &mut Vec<Diagnostic>) {
    for (path, other) in pairs(paths, |path| name_key(path.file_name())) {
        diagnostics.push(
            Diagnostic::error(
                "name.collision",
                format!(
                    "`{}` and `{}` have one name but for case or Unicode form",
                    spelled(path),
                    spelled(other)
                ),
            )
            .at(path)
            .help("rename one: macOS and Windows can't hold both"),
        );
    }
}

/// Each path with the one before it that gives the same part of an id. Names that are equal but for case are reported as that.
fn slug_pairs<'a>(
    paths: impl Iterator<Item = &'a RelPath>,
) -> impl Iterator<Item = (&'a RelPath, &'a RelPath)> {
    let pairs = pairs(paths, |path| slug(path.stem()).into()).into_iter();
    pairs.filter(|(path, other)| name_key(other.file_name()) != name_key(path.file_name()))
}

fn one_section(path: &RelPath, other: &RelPath) -> Diagnostic {
    let slug = slug(path.stem());
    let message = format!("`{path}` and `{other}` would both be the section `{slug}`");
    Diagnostic::error("name.collision", message)
        .at(path)
        .help("rename one: only ASCII letters, digits, `_` and `-` tell sections apart")
}

/// A path with its non-ASCII characters as code points, so that two forms of one name can be told apart.
fn spelled(path: &RelPath) -> String {
    let spell = |c: char| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() };
    path.as_str().chars().map(spell).collect()
}

/// Each path with the one before it that has the same key.
fn pairs<'a>(
    paths: impl Iterator<Item = &'a RelPath>,
    key: impl Fn(&'a RelPath) -> Cow<'a, str>,
) -> Vec<(&'a RelPath, &'a RelPath)> {
    let mut keyed: Vec<_> = paths.map(|path| (key(path), path)).collect();
    keyed.sort();
    let same = keyed.windows(2).filter(|pair| pair[0].0 == pair[1].0);
    same.map(|pair| (pair[1].1, pair[0].1)).collect()
}

/// What two names share when a file system may take them for one.
fn name_key(name: &str) -> Cow<'_, str> {
    if !name.is_ascii() {
        return fold(&name.nfc().collect::<String>()).nfc().collect();
    }
    match name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        true => name.to_ascii_lowercase().into(),
        false => name.into(),
    }
}

fn stray_folder(folder: &RelPath, descriptor: Option<&RelPath>) -> Diagnostic {
    let (message, help) = match descriptor {
        Some(note) => (
            format!("the folder holds notes, but `{note}` does not say `web: true`"),
            format!("put `web: true` into the front matter of `{note}`, or move the folder away"),
        ),
        None => (
            format!("the folder holds notes, but there is no descriptor `{folder}.md`"),
            format!(
                "write `{folder}.md` with `web: true` in its front matter, or move the notes up or into `assets/`"
            ),
        ),
    };
    Diagnostic::error("web.stray", message).at(folder).help(help)
}

fn nested_folders(folder: &ParsedFolder, diagnostics: &mut Vec<Diagnostic>) {
    diagnostics.extend(folder.folders.iter().map(|nested| {
        Diagnostic::error("web.nested", "a web's folder can't hold folders")
            .at(nested)
            .help(format!("move its notes up into `{}/`", folder.path))
    }));
}

fn reserved_name(web: &Web, diagnostics: &mut Vec<Diagnostic>) {
    let name = norm(web.slug());
    if ["readme", "assets"].contains(&name.as_str()) {
        let message = format!("`{}` can't be a web's name: it is reserved", web.slug());
        diagnostics.push(
            Diagnostic::error("web.reserved", message).at(&web.path).help("rename the note and its folder"),
        );
    }
}

/// Reports labels that two strands share once case, hyphens and blanks are evened out (§5.8).
fn colliding_labels(web: &Web, diagnostics: &mut Vec<Diagnostic>) {
    let mut labels = Vec::new();
    for strand in &web.strands {
        let aliases = strand.aliases.iter().map(|alias| (alias.as_str(), "alias"));
        let own = [(strand.slug(), "file name"), (strand.keyword.text.as_str(), "keyword")];
        labels.extend(own.into_iter().chain(aliases).map(|(label, kind)| (norm(label), strand, kind)));
    }
    labels.sort_by(|(label, ..), (other, ..)| label.cmp(other));
    // What one strand calls itself twice stands side by side: the sort is stable.
    labels.dedup_by(|later, first| later.0 == first.0 && later.1.path == first.1.path);
    for users in labels.chunk_by(|(label, ..), (next, ..)| label == next).filter(|users| users.len() > 1) {
        let label = &users[0].0;
        let names: Vec<_> = users.iter().map(|(_, user, kind)| format!("`{}` ({kind})", user.path)).collect();
        let message = format!("the label `{label}` means more than one strand: {}", names.join(", "));
        let second = users[1].1;
        diagnostics.push(
            Diagnostic::error("web.label", message)
                .at(&second.path)
                .line(second.keyword.line)
                .help("rename a keyword or an alias so that each label means one strand"),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corpus(files: &[(&str, &str)]) -> Corpus {
        let file = |(path, front): &(&str, &str)| SourceFile {
            path: RelPath::new(*path).unwrap(),
            bytes: format!("---\n{front}\n---\nText.\n").into_bytes(),
            stamp: None,
        };
        let tree = MemoryTree { notes: files.iter().map(file).collect(), folders: Vec::new() };
        let outcome = Corpus::parse(tree);
        assert_eq!(outcome.diagnostics, []);
        outcome.value
    }

    #[test]
    fn ids_that_are_equal_across_kinds_name_both_files() {
        let corpus =
            corpus(&[("n/a b.md", "type: core"), ("n/a_b.md", "type: reference"), ("n/c.md", "type: core")]);
        let faults: Vec<_> = corpus.equal_slugs_across_kinds().iter().map(ToString::to_string).collect();
        assert_eq!(
            faults,
            [
                "n/a_b.md: error: `n/a_b.md` and `n/a b.md` would both be the section `a_b`\n  help: rename one: only ASCII \
                 letters, digits, `_` and `-` tell sections apart"
            ]
        );
    }

    #[test]
    fn core_notes_can_be_listed_whatever_their_parent() {
        let mut corpus = corpus(&[
            ("n/a.md", "{type: core, parent: x.md}"),
            ("n/b.md", "{type: reference, parent: x.md}"),
            ("n/c.md", "type: reference"),
        ]);
        corpus.list_core();
        assert!(corpus.core().is_empty());
        assert_eq!(
            corpus.references().map(|note| note.path.as_str()).collect::<Vec<_>>(),
            ["n/a.md", "n/c.md"]
        );
    }
}
