//! A lock in the form in which it is written, read without the TOML parser, which takes longer than composing.

use std::collections::HashSet;

use cantus_manifest::{RelPath, SectionId};

use super::{FileRow, LockFile, LockedSection};

/// What `text` holds; `None` for every text that is not to the letter of the form that locks are written in.
pub(super) fn parse(text: &str, command: &str) -> Option<LockFile> {
    let mut lines = text.strip_suffix('\n')?.split('\n');
    if lines.next()?.contains(char::is_control) || lines.next()? != "[sections]" {
        return None;
    }
    let mut lock = LockFile { command: command.to_owned(), ..LockFile::default() };
    let mut keys = HashSet::new();
    rows(&mut lines, Some("[excluded]"), &mut keys, |id, row| {
        lock.sections.push(row.section(id)?);
        Some(())
    })?;
    rows(&mut lines, Some("[files]"), &mut keys, |_, row| row.reasons())?;
    rows(&mut lines, None, &mut keys, |path, row| {
        lock.files.push((RelPath::new(path).ok()?, row.file()?));
        Some(())
    })?;
    Some(lock)
}

/// Takes the rows of one table down to the line `end`, or to the end of the text.
fn rows<'a>(
    lines: &mut impl Iterator<Item = &'a str>,
    end: Option<&str>,
    keys: &mut HashSet<&'a str>,
    mut take: impl FnMut(&'a str, &mut Rest<'a>) -> Option<()>,
) -> Option<()> {
    keys.clear();
    for line in lines {
        if Some(line) == end {
            return Some(());
        }
        if line.is_empty() {
            continue;
        }
        let mut row = Rest(line);
        let key = row.text()?;
        row.literal(" = { ")?;
        take(key, &mut row)?;
        row.literal(" }")?;
        if !row.0.is_empty() || !keys.insert(key) {
            return None;
        }
    }
    end.is_none().then_some(())
}

/// What is left of a line.
struct Rest<'a>(&'a str);

impl<'a> Rest<'a> {
    fn literal(&mut self, literal: &str) -> Option<()> {
        self.0 = self.0.strip_prefix(literal)?;
        Some(())
    }

    /// A text in quotes that nothing in it ends or escapes.
    fn text(&mut self) -> Option<&'a str> {
        let inside = self.0.strip_prefix('"')?;
        let end = inside.bytes().position(|byte| matches!(byte, b'"' | b'\\' | 0x7f | ..b' '))?;
        let (text, rest) = inside.split_at(end);
        self.0 = rest.strip_prefix('"')?;
        Some(text)
    }

    /// A number as it is written: digits, at most 18, without a zero before others.
    fn number(&mut self) -> Option<&'a str> {
        let length = self.0.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = self.0.split_at(length);
        self.0 = rest;
        ((1..=18).contains(&length) && (length == 1 || !number.starts_with('0'))).then_some(number)
    }

    /// Texts in a list.
    fn list(&mut self) -> Option<Vec<String>> {
        self.literal("[")?;
        let mut texts = vec![self.text()?.to_owned()];
        while self.literal(", ").is_some() {
            texts.push(self.text()?.to_owned());
        }
        self.literal("]")?;
        Some(texts)
    }

    /// One text alone, or several in a list.
    fn texts(&mut self) -> Option<Vec<String>> {
        if self.0.starts_with('[') { self.list() } else { Some(vec![self.text()?.to_owned()]) }
    }

    fn section(&mut self, id: &str) -> Option<LockedSection> {
        self.literal("bytes = ")?;
        let bytes = self.number()?.parse().ok()?;
        self.literal(", tokens = ")?;
        self.number()?;
        self.literal(", sha256 = ")?;
        let sha256 = self.text()?.parse().ok()?;
        self.literal(", in = ")?;
        let renders = self.texts()?;
        let from = match self.literal(", from = ") {
            Some(()) => self.list()?,
            None => Vec::new(),
        };
        Some(LockedSection { id: SectionId::new(id).ok()?, bytes, sha256, renders, from })
    }

    /// The reasons of an excluded section, in the order of their names.
    fn reasons(&mut self) -> Option<()> {
        let mut before = "";
        loop {
            let length = self.0.bytes().take_while(|byte| byte.is_ascii_lowercase() || *byte == b'_').count();
            let (name, rest) = self.0.split_at(length);
            self.0 = rest;
            self.literal(" = ")?;
            self.texts()?;
            if name <= before {
                return None;
            }
            before = name;
            if self.literal(", ").is_none() {
                return Some(());
            }
        }
    }

    fn file(&mut self) -> Option<FileRow> {
        if self.literal("render = ").is_some() {
            return Some(FileRow::Render(self.text()?.to_owned()));
        }
        if self.literal("member = ").is_some() {
            return RelPath::new(self.text()?).ok().map(FileRow::Member);
        }
        self.literal("page = ")?;
        let web = self.text()?.to_owned();
        self.literal(", sha256 = ")?;
        Some(FileRow::Page(web, self.text()?.parse().ok()?))
    }
}
