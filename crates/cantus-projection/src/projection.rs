//! What every committed file of a project should be.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use cantus_compose::{Bundle, Content, Presence, Row, Section};
use cantus_manifest::{Diagnostic, Digest, Facts, Outcome, RelPath};
use cantus_workspace::{Config, LOCK, Project};

use crate::lock;
use crate::notice::Notice;
use crate::renders;

/// The committed files of a project, composed.
#[derive(Debug)]
pub struct Projection {
    pub(crate) command: String,
    pub(crate) notice: Option<String>,
    pub(crate) files: Vec<File>,
    pub(crate) lock: String,
    pub(crate) lock_path: RelPath,
    /// The package's folder, if it is the project's own.
    package: Option<RelPath>,
    /// The renders that are committed, by name; `native` is always there.
    bundles: BTreeMap<String, Bundle>,
    renders: Vec<String>,
    rows: Vec<Row>,
    /// The native bundle's common digest, once somebody asked.
    common_digest: OnceLock<Digest>,
}

/// One committed file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) path: RelPath,
    pub(crate) render: String,
    /// Whether it must be byte for byte the first file.
    pub(crate) copy: bool,
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
        let outcome = project.sections(config.name.as_deref(), None);
        let Some(set) = outcome.value else {
            return Outcome { value: None, diagnostics: outcome.diagnostics };
        };
        let names = renders::names(&config.providers);
        let facts: Vec<Facts> = names.iter().filter_map(|name| renders::facts_of(name)).collect();
        let rows = set.table(&facts);
        let files = files(config);
        let lock_files: Vec<_> = files.iter().map(|file| (&file.path, file.render.as_str())).collect();
        let lock = lock::text(&config.command, &names, &rows, &lock_files);
        let wanted = files.iter().map(|file| file.render.as_str()).chain(["native"]);
        let bundles =
            wanted.filter_map(|name| Some((name.to_owned(), set.bundle(renders::facts_of(name)?)))).collect();
        let notice = notice(config, project.memory.as_ref());
        let lock_path = RelPath::new(LOCK).unwrap_or_else(|error| unreachable!("{error}"));
        let command = config.command.clone();
        let own = |folder: &&RelPath| project.package.label("") == format!("{folder}/");
        let package = config.package.as_ref().filter(own).cloned();
        let common_digest = OnceLock::new();
        let value = Self {
            command,
            notice,
            files,
            lock,
            lock_path,
            package,
            bundles,
            renders: names,
            rows,
            common_digest,
        };
        Outcome { value: Some(value), diagnostics: outcome.diagnostics }
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

    /// Every target's path: the files in their order, then the lock.
    pub fn paths(&self) -> impl Iterator<Item = &RelPath> {
        self.files.iter().map(|file| &file.path).chain([&self.lock_path])
    }

    /// The committed files in their order, the lock aside, each with its bundle.
    pub fn files(&self) -> impl Iterator<Item = (&RelPath, &Bundle)> {
        self.files.iter().map(|file| (&file.path, self.expected(&file.render).bundle))
    }

    /// The whole text of a committed file; `None` for a path that is none.
    #[must_use]
    pub fn text(&self, path: &RelPath) -> Option<String> {
        let file = self.files.iter().find(|file| file.path == *path)?;
        Some(self.expected(&file.render).text())
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

    pub(crate) fn expected(&self, render: &str) -> Expected<'_> {
        let notice = self.notice.as_ref().map_or_else(String::new, |notice| format!("{notice}\n\n"));
        let bundle = self.bundles.get(render).unwrap_or_else(|| self.native());
        Expected { head: notice, bundle, package: self.package.as_ref() }
    }
}

fn files(config: &Config) -> Vec<File> {
    let file = |(index, path): (usize, &RelPath)| File {
        path: path.clone(),
        render: "native".to_owned(),
        copy: index > 0,
    };
    let native = config.files.iter().enumerate().map(file);
    let others = config.outputs.iter();
    let others =
        others.map(|output| File { path: output.file.clone(), render: output.render.clone(), copy: false });
    native.chain(others).collect()
}

fn notice(config: &Config, memory: Option<&RelPath>) -> Option<String> {
    let original = config.files.first().or(config.outputs.first().map(|output| &output.file))?;
    let memory = memory.map_or("memory", RelPath::as_str);
    config.notice.then(|| Notice { command: &config.command, memory, original }.line())
}

/// What one committed file should hold, in pieces.
pub(crate) struct Expected<'a> {
    /// The notice and its blank line, or nothing.
    head: String,
    bundle: &'a Bundle,
    package: Option<&'a RelPath>,
}

impl<'a> Expected<'a> {
    fn pieces(&self) -> impl Iterator<Item = &str> {
        let last = self.bundle.included().count().saturating_sub(1);
        let contents = self.bundle.included().enumerate().map(move |(index, (_, content))| {
            let text = content.text();
            // The file ends in one line feed where the bundle ends in two.
            if index == last { text.strip_suffix('\n').unwrap_or(text) } else { text }
        });
        std::iter::once(self.head.as_str()).chain(contents)
    }

    /// Whether `bytes` are the file.
    pub(crate) fn equals(&self, bytes: &[u8]) -> bool {
        let rest = self.pieces().try_fold(bytes, |rest, piece| rest.strip_prefix(piece.as_bytes()));
        rest.is_some_and(<[u8]>::is_empty)
    }

    /// The file.
    pub(crate) fn text(&self) -> String {
        let mut text = String::with_capacity(self.head.len() + self.bundle.bytes());
        text.extend(self.pieces());
        text
    }

    /// The file of the project that a source names: one of its own package by its path.
    pub(crate) fn file_of(&self, source: String) -> String {
        match (self.package, source.strip_prefix("package:")) {
            (Some(folder), Some(file)) => format!("{folder}/{file}"),
            _ => source,
        }
    }

    /// How many lines stand above the bundle.
    pub(crate) fn head_lines(&self) -> usize {
        self.head.matches('\n').count()
    }

    /// The bundle of the file.
    pub(crate) fn bundle(&self) -> &'a Bundle {
        self.bundle
    }

    /// The length of the file in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.pieces().map(str::len).sum()
    }

    /// The sections of the file with their bytes.
    pub(crate) fn included(&self) -> impl Iterator<Item = (&'a Section, &'a Content)> {
        self.bundle.included()
    }

    /// Where the byte at `offset` stands; one behind the end counts as the last.
    pub(crate) fn place(&self, offset: usize) -> Place<'a> {
        let (mut start, mut lines) = (self.head.len(), self.head.matches('\n').count());
        let mut place = Place { line: lines.max(1), section: None };
        if offset < start {
            return Place { line: self.head[..offset].matches('\n').count() + 1, section: None };
        }
        for (section, content) in self.bundle.included() {
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
        self.bundle.included().map(|(section, _)| section).find(|section| section.id.as_str() == id)
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
