//! What every committed file of a project should be.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

use cantus_compose::{Bundle, Content, Presence, Row, Section};
use cantus_manifest::{Diagnostic, Digest, Facts, Layer, Outcome, Provider, RelPath};
use cantus_workspace::{Config, LOCK, Member, Project};

use crate::lock::{self, FileRow, LockFile};
use crate::notice::Notice;
use crate::page::{self, Page};
use crate::renders;

/// The committed files of a project, composed.
#[derive(Debug)]
pub struct Projection {
    pub(crate) command: String,
    /// The note folder.
    memory: String,
    pub(crate) notes: Notes,
    pub(crate) notice: Option<String>,
    pub(crate) files: Vec<File>,
    pub(crate) lock: String,
    pub(crate) lock_path: RelPath,
    /// The package's folder, if it is the project's own.
    package: Option<RelPath>,
    /// The renders that are committed, by name; `native` is always there.
    bundles: BTreeMap<String, Bundle>,
    /// The pages by their files.
    pages: BTreeMap<RelPath, Page>,
    /// Those of the members, each with the member's folder.
    pub(crate) members: Vec<(RelPath, Projection)>,
    renders: Vec<String>,
    rows: Vec<Row>,
    /// The native bundle's common digest, once somebody asked.
    common_digest: OnceLock<Digest>,
}

/// What a project has of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Notes {
    /// Some.
    Some,
    /// None, but nobody misses them: there is no configuration, or it names a package, repositories, members, or dependencies'
    /// notes.
    Others,
    /// None, nor anything else, though somebody wrote a configuration.
    None,
}

impl Notes {
    fn of(project: &Project) -> Self {
        let config = &project.config;
        if !project.corpus.notes.is_empty() || !project.corpus.webs.is_empty() {
            return Self::Some;
        }
        let is_bare = config.source.is_some()
            && config.package.is_none()
            && config.repositories.is_empty()
            && project.members.is_empty()
            && project.plugins.is_empty();
        if is_bare { Self::None } else { Self::Others }
    }
}

/// One committed file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: RelPath,
    pub(crate) shape: Shape,
    /// Whether it must be byte for byte the first file.
    pub(crate) copy: bool,
}

/// What a committed file holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Shape {
    /// The render of this name.
    Render(String),
    /// The page that is committed as this file.
    Page(RelPath),
}

impl Shape {
    pub(crate) fn native() -> Self {
        Self::Render("native".to_owned())
    }
}

/// The sums that a report ends with, of the native render.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Totals {
    /// Included sections.
    pub sections: usize,
    /// Bytes of the bundle, the notice not among them.
    pub bytes: usize,
    /// Estimated tokens.
    pub tokens_est: u64,
    /// What all root renders share.
    pub common_digest: Digest,
}

impl Projection {
    /// Composes every committed file of `project`; `None` with errors.
    #[must_use]
    pub fn compose(project: &Project) -> Outcome<Option<Self>> {
        let config = &project.config;
        let Outcome { value: set, mut diagnostics } = project.sections(config.name.as_deref(), None);
        let pages = page::pages(config, &project.corpus, &mut diagnostics);
        let set = set.filter(|_| pages.len() == config.pages.len());
        let Some(set) = set else { return Outcome { value: None, diagnostics } };
        let names = renders::names(&config.providers);
        let facts: Vec<Facts> = names.iter().filter_map(|name| renders::facts_of(name)).collect();
        let rows = set.table(&facts);
        let files = files(config);
        let renders = files.iter().filter_map(|file| match &file.shape {
            Shape::Render(render) => Some(render.as_str()),
            Shape::Page(_) => None,
        });
        let bundles: BTreeSet<&str> = renders.chain(["native"]).collect();
        let bundles = bundles
            .into_iter()
            .filter_map(|name| Some((name.to_owned(), set.bundle(renders::facts_of(name)?))))
            .collect();
        let memory = project.memory.as_ref().map_or("memory", RelPath::as_str).to_owned();
        let notice = notice(config, &memory);
        let lock_path = RelPath::new(LOCK).unwrap_or_else(|error| unreachable!("{error}"));
        let command = config.command.clone();
        let package = own_package(project);
        let mut members = Vec::new();
        for member in &project.members {
            let composed = Self::compose_member(project, member).collect(&mut diagnostics);
            members.extend(composed.map(|composed| (member.folder.clone(), composed)));
        }
        let lock = String::new();
        let mut value = Self {
            command,
            memory,
            notes: Notes::of(project),
            notice,
            files,
            lock,
            lock_path,
            package,
            bundles,
            pages,
            members,
            renders: names,
            rows,
            common_digest: OnceLock::new(),
        };
        value.lock = value.lock_text(config);
        let is_whole = value.members.len() == project.members.len();
        Outcome { value: is_whole.then_some(value), diagnostics }
    }

    /// Composes the files of one member: they have its own sections alone.
    fn compose_member(project: &Project, member: &Member) -> Outcome<Option<Self>> {
        let config = &project.config;
        let Outcome { value: set, diagnostics } = project.member_sections(member);
        let Some(set) = set else { return Outcome { value: None, diagnostics } };
        let facts = Facts::root(Provider::native());
        let mut rows = set.table(std::slice::from_ref(&facts));
        rows.retain(|row| row.section.layer != Layer::Package);
        let files = config.files.iter().enumerate();
        let files: Vec<_> = files
            .map(|(index, file)| File { path: member.file(file), shape: Shape::native(), copy: index > 0 })
            .collect();
        let memory = member.memory.to_string();
        let original = files.first().map(|file| &file.path).filter(|_| config.notice);
        let notice =
            original.map(|original| Notice { command: &config.command, memory: &memory, original }.line());
        let mut value = Self {
            command: config.command.clone(),
            memory,
            notes: Notes::Some,
            notice,
            files,
            lock: String::new(),
            lock_path: member.lock(),
            package: own_package(project),
            bundles: BTreeMap::from([("native".to_owned(), set.bundle(facts))]),
            pages: BTreeMap::new(),
            members: Vec::new(),
            renders: vec!["native".to_owned()],
            rows,
            common_digest: OnceLock::new(),
        };
        value.lock = value.lock_text(config);
        Outcome { value: Some(value), diagnostics }
    }

    /// The file of the project that a source names: one of its own package by its path.
    pub(crate) fn file_of(&self, source: String) -> String {
        file_of(self.package.as_ref(), source)
    }

    /// That the project has no notes: where it has nothing else either, or where the committed `lock` lists some.
    pub(crate) fn bare(&self, lock: Option<&LockFile>) -> Option<Diagnostic> {
        let listed = lock.map_or(0, LockFile::notes);
        let memory = lock.and_then(LockFile::memory).unwrap_or(&self.memory);
        let command = &self.command;
        let (message, help) = match (self.notes, listed) {
            (Notes::Some, _) | (Notes::Others, 0) => return None,
            (Notes::None, 0) => (
                format!("the project has no notes: `{memory}/` is empty or not there"),
                format!(
                    "write a first one, `{memory}/<name>.md`, that starts with the lines `---`, `type: core`, `---`; or name the \
                     folder where they are with `memory` in the configuration"
                ),
            ),
            (_, listed) => (
                format!(
                    "the project has no notes any more: what `{}` lists of theirs, {listed} in all, is left out",
                    self.lock_path
                ),
                format!(
                    "if that isn't meant, bring them back, such as with `git restore --source HEAD {memory}`, or name the folder \
                     where they are now with `memory` in the configuration; then run `{command}`"
                ),
            ),
        };
        Some(Diagnostic::warning("project.bare", message).help(help))
    }

    /// This one, then those of its members.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Self> {
        std::iter::once(self).chain(self.members.iter().map(|(_, member)| member))
    }

    /// The note folder of the member that the committed file `path` belongs to; `None` if it is the project's own.
    #[must_use]
    pub fn member_notes(&self, path: &RelPath) -> Option<&str> {
        let mut members = self.members.iter().map(|(_, member)| member);
        Some(&*members.find(|member| member.own_paths().any(|own| own == path))?.memory)
    }

    /// What to run to have notes made of the text of `path`, a committed file that someone else wrote.
    #[must_use]
    pub fn adoption(&self, path: &RelPath) -> String {
        match self.member_notes(path) {
            Some(notes) => {
                let import = sibling(&self.command, "import");
                format!("run `{import} {path} --into {notes}`, and go on as that says")
            }
            None => format!("run `{}`, which makes notes of its text", sibling(&self.command, "init")),
        }
    }

    /// The lock, once everything else is there.
    fn lock_text(&self, config: &Config) -> String {
        let web =
            |path: &RelPath| config.pages.iter().find(|page| page.file == *path).map(|page| page.web.clone());
        let row = |file: &File| match &file.shape {
            Shape::Render(render) => FileRow::Render(render.clone()),
            shape @ Shape::Page(path) => {
                FileRow::Page(web(path).unwrap_or_default(), Digest::of_parts(self.expected(shape).pieces()))
            }
        };
        let own = self.files.iter().map(|file| (&file.path, row(file)));
        let of_member = |(folder, member): &'_ (RelPath, Self)| {
            let row = FileRow::Member(folder.clone());
            member.own_paths().map(move |path| (path.clone(), row.clone())).collect::<Vec<_>>()
        };
        let of_members: Vec<_> = self.members.iter().flat_map(of_member).collect();
        let files: Vec<_> = own.chain(of_members.iter().map(|(path, row)| (path, row.clone()))).collect();
        lock::text(&self.command, &self.renders, &self.rows, &files)
    }

    /// The command that regenerates the files.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The bundle of the committed files.
    #[must_use]
    pub fn native(&self) -> &Bundle {
        &self.bundles["native"]
    }

    /// Every target's path: the files in their order and the lock, then those of each member.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.all().flat_map(Self::own_paths)
    }

    /// The same without those of members.
    pub(crate) fn own_paths(&self) -> impl Iterator<Item = &RelPath> {
        self.files.iter().map(|file| &file.path).chain([&self.lock_path])
    }

    /// Whether `path` is the lock of the project or of a member.
    #[must_use]
    pub fn is_lock(&self, path: &RelPath) -> bool {
        self.all().any(|one| one.lock_path == *path)
    }

    /// The committed files in their order, then those of the members, locks aside, each with its bundle; a page has none.
    pub fn files(&self) -> impl Iterator<Item = (&RelPath, Option<&Bundle>)> {
        self.all_files().map(|(one, file)| (&file.path, one.expected(&file.shape).bundle()))
    }

    /// The same, each with whose it is.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = (&Self, &File)> {
        self.all().flat_map(|one| one.files.iter().map(move |file| (one, file)))
    }

    /// The whole text of a committed file; `None` for a path that is none.
    #[must_use]
    pub fn text(&self, path: &RelPath) -> Option<String> {
        let (one, file) = self.all_files().find(|(_, file)| file.path == *path)?;
        Some(one.expected(&file.shape).text())
    }

    /// The sums of the native render.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let bundle = self.native();
        Totals {
            sections: bundle.included().count(),
            bytes: bundle.bytes(),
            tokens_est: bundle.tokens_est(),
            common_digest: *self.common_digest.get_or_init(|| bundle.common_digest()),
        }
    }

    /// Every section that some render holds.
    pub(crate) fn sections(&self) -> impl Iterator<Item = &Section> {
        self.rows.iter().map(|row| &row.section)
    }

    /// The names of all renders, and the sections with their presence in each.
    pub(crate) fn table(&self) -> (&[String], &[Row]) {
        (&self.renders, &self.rows)
    }

    /// The section's presence in each render, by the render's name.
    pub(crate) fn presence_of<'a>(&'a self, id: &'a str) -> impl Iterator<Item = (&'a str, Presence)> {
        let rows = self.rows.iter().filter(move |row| row.section.id.as_str() == id);
        rows.flat_map(|row| self.renders.iter().map(String::as_str).zip(row.presence.iter().copied()))
    }

    pub(crate) fn expected(&self, shape: &Shape) -> Expected<'_> {
        let notice = match (shape, &self.notice) {
            (_, None) => None,
            (Shape::Render(_), Some(notice)) => Some(notice.clone()),
            (Shape::Page(path), Some(_)) => Some(self.notice_of(path)),
        };
        let body = match shape {
            Shape::Render(render) => Body::Bundle(self.bundles.get(render).unwrap_or_else(|| self.native())),
            Shape::Page(path) => self.pages.get(path).map_or_else(|| Body::Bundle(self.native()), Body::Page),
        };
        let head = notice.map_or_else(String::new, |notice| format!("{notice}\n\n"));
        Expected { head, body, package: self.package.as_ref() }
    }

    /// The notice of a page, which is its own original.
    fn notice_of(&self, path: &RelPath) -> String {
        Notice { command: &self.command, memory: &self.memory, original: path }.line()
    }
}

/// The command of another verb for a project whose files `command` regenerates: `cargo xtask init` where that is
/// `cargo xtask project`.
#[must_use]
pub fn sibling(command: &str, verb: &str) -> String {
    match command.strip_suffix(" project").filter(|start| !start.contains(' ') || *start == "cargo xtask") {
        Some(start) => format!("{start} {verb}"),
        None => format!("cantus {verb}"),
    }
}

/// The package's folder, if it is the project's own.
/// The file of a project with its own `package` that a source names.
fn file_of(package: Option<&RelPath>, source: String) -> String {
    match (package, source.strip_prefix("package:")) {
        (Some(folder), Some(file)) => format!("{folder}/{file}"),
        _ => source,
    }
}

fn own_package(project: &Project) -> Option<RelPath> {
    let own = |folder: &&RelPath| project.package.label("") == format!("{folder}/");
    project.config.package.as_ref().filter(own).cloned()
}

fn files(config: &Config) -> Vec<File> {
    let native = config.files.iter().enumerate().map(|(index, path)| (path, Shape::native(), index > 0));
    let outputs = config.outputs.iter();
    let outputs = outputs.map(|output| (&output.file, Shape::Render(output.render.clone()), false));
    let pages = config.pages.iter().map(|page| (&page.file, Shape::Page(page.file.clone()), false));
    let files = native.chain(outputs).chain(pages);
    files.map(|(path, shape, copy)| File { path: path.clone(), shape, copy }).collect()
}

fn notice(config: &Config, memory: &str) -> Option<String> {
    let original = config.targets().next()?;
    config.notice.then(|| Notice { command: &config.command, memory, original }.line())
}

/// What one committed file should hold, in pieces.
pub(crate) struct Expected<'a> {
    /// The notice and its blank line, or nothing.
    head: String,
    body: Body<'a>,
    package: Option<&'a RelPath>,
}

/// What stands below the notice.
enum Body<'a> {
    Bundle(&'a Bundle),
    Page(&'a Page),
}

impl<'a> Expected<'a> {
    /// The parts that the file is put together from, in their order.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &str> {
        let (bundle, page) = match self.body {
            Body::Bundle(bundle) => (Some(bundle), None),
            Body::Page(page) => (None, Some(page)),
        };
        let last = bundle.map_or(0, |bundle| bundle.included().count().saturating_sub(1));
        let contents = bundle.into_iter().flat_map(Bundle::included).enumerate();
        let contents = contents.map(move |(index, (_, content))| {
            let text = content.text();
            // The file ends in one line feed where the bundle ends in two.
            if index == last { text.strip_suffix('\n').unwrap_or(text) } else { text }
        });
        std::iter::once(self.head.as_str()).chain(contents).chain(page.map(Page::text))
    }

    /// Whether `bytes` are the file.
    pub(crate) fn equals(&self, bytes: &[u8]) -> bool {
        let rest = self.pieces().try_fold(bytes, |rest, piece| rest.strip_prefix(piece.as_bytes()));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// The file.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.pieces().map(str::len).sum());
        text.extend(self.pieces());
        text
    }

    /// The file of the project that a source names: one of its own package by its path.
    pub(crate) fn file_of(&self, source: String) -> String {
        file_of(self.package, source)
    }

    /// How many lines stand above the bundle.
    pub(crate) fn head_lines(&self) -> usize {
        self.head.matches('\n').count()
    }

    /// The bundle of the file; a page has none.
    pub(crate) fn bundle(&self) -> Option<&'a Bundle> {
        match self.body {
            Body::Bundle(bundle) => Some(bundle),
            Body::Page(_) => None,
        }
    }

    /// The length of the file in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces().map(str::len).sum()
    }

    /// The sections of the file with their bytes.
    pub(crate) fn included(&self) -> impl Iterator<Item = (&'a Section, &'a Content)> {
        self.bundle().into_iter().flat_map(Bundle::included)
    }

    /// Where the byte at `offset` stands; one behind the end counts as the last.
    pub(crate) fn place(&self, offset: usize) -> Place<'a> {
        let (mut start, mut lines) = (self.head.len(), self.head.matches('\n').count());
        let mut place = Place { line: lines.max(1), section: None };
        if offset < start {
            return Place { line: self.head[..offset].matches('\n').count() + 1, section: None };
        }
        for (section, content) in self.included() {
            let text = content.text();
            let end = offset.saturating_sub(start).min(text.len() - 1);
            let index = memchr::memchr_iter(b'\n', &text.as_bytes()[..end]).count();
            place = Place { line: lines + index + 1, section: Some((section, index)) };
            if offset < start + text.len() {
                return place;
            }
            start += text.len();
            lines += content.origins().len();
        }
        place
    }

    /// The section of this id, if the file holds it.
    pub(crate) fn section(&self, id: &str) -> Option<&'a Section> {
        let Body::Bundle(bundle) = self.body else { return None };
        bundle.included().map(|(section, _)| section).find(|section| section.id.as_str() == id)
    }

    /// For a page: the note and the line that its file's line with this index (from 0) came from.
    pub(crate) fn page_source(&self, index: usize) -> Option<(String, u32)> {
        let Body::Page(page) = self.body else { return None };
        let above = self.head.matches('\n').count();
        let (path, line) = page.source_line(index.checked_sub(above)?)?;
        Some((path.to_string(), line))
    }
}

/// Where a byte of a file stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place<'a> {
    /// The line of the file, counted from 1.
    pub(crate) line: usize,
    /// The section, and its line with this index, from 0; `None` above the first section.
    pub(crate) section: Option<(&'a Section, usize)>,
}

/// A fault that no configuration can bring about.
pub(crate) fn our_bug(message: impl Into<String>) -> Diagnostic {
    Diagnostic::error("bug", message).help("this is a fault of Cantus: please report it")
}
