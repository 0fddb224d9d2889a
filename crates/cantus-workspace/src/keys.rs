//! Keys of a TOML table taken one by one, with the line of every fault.

use std::ops::Range;

use cantus_manifest::{Diagnostic, RelPath};
use cantus_memory::{nearest, shortened};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A configuration file's text, for lines and faults.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

impl Source<'_> {
    /// Reports a fault at a span of the text.
    pub(crate) fn fault(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Diagnostic {
        let line = self.line(&span);
        self.diagnostics.push(Diagnostic::error("config", message).at(self.file).line(line));
        let last = self.diagnostics.len() - 1;
        &mut self.diagnostics[last]
    }

    /// The line on which a span starts, counted from 1.
    pub(crate) fn line(&self, span: &Range<usize>) -> u32 {
        let line = self.text[..span.start.min(self.text.len())].matches('\n').count() + 1;
        u32::try_from(line).unwrap_or(u32::MAX)
    }
}

/// One entry of a list that holds texts and tables.
pub(crate) enum Item<'a> {
    Text(String),
    Table(Keys<'a>),
}

/// A value that is `true`, `false` or a list of texts, with spans.
pub(crate) enum Choice {
    Boolean(bool, Range<usize>),
    Texts(Vec<(String, Range<usize>)>),
}

/// The keys of one table that nobody has taken yet.
pub(crate) struct Keys<'a> {
    table: DeTable<'a>,
    prefix: &'static str,
}

impl<'a> Keys<'a> {
    /// The keys of `table`; errors name them behind `prefix`, such as `projection.`.
    pub(crate) fn new(table: DeTable<'a>, prefix: &'static str) -> Self {
        Self { table, prefix }
    }

    fn take(&mut self, name: &str) -> Option<Spanned<DeValue<'a>>> {
        self.table.remove(name)
    }

    fn wrong(&self, source: &mut Source<'_>, name: &str, expected: &str, value: &Spanned<DeValue<'_>>) {
        let found = match value.get_ref() {
            DeValue::Integer(number) => format!("`{number}`"),
            other => article(other.type_str()),
        };
        source.fault(value.span(), format!("`{}{name}` must be {expected}, not {found}", self.prefix));
    }

    /// A text on one line, not blank, without the white space at its ends.
    pub(crate) fn text(&mut self, source: &mut Source<'_>, name: &str) -> Option<(String, Range<usize>)> {
        let value = self.take(name)?;
        match value.get_ref() {
            DeValue::String(text) if !text.trim().is_empty() && !text.contains(['\n', '\r']) => {
                Some((text.trim().to_owned(), value.span()))
            }
            DeValue::String(_) => {
                source.fault(
                    value.span(),
                    format!("`{}{name}` must be one line of text, not blank", self.prefix),
                );
                None
            }
            _ => {
                self.wrong(source, name, "a text", &value);
                None
            }
        }
    }

    /// A path inside the project.
    pub(crate) fn path(&mut self, source: &mut Source<'_>, name: &str) -> Option<(RelPath, Range<usize>)> {
        let (text, span) = self.text(source, name)?;
        // A folder may end in `/`.
        match RelPath::new(text.strip_suffix('/').unwrap_or(&text)) {
            Ok(path) => Some((path, span)),
            Err(error) => {
                source.fault(span, format!("`{}{name}`: {error}", self.prefix));
                None
            }
        }
    }

    pub(crate) fn boolean(&mut self, source: &mut Source<'_>, name: &str) -> Option<bool> {
        let value = self.take(name)?;
        let found = value.get_ref().as_bool();
        if found.is_none() {
            self.wrong(source, name, "`true` or `false`", &value);
        }
        found
    }

    /// A whole number, 0 or more.
    pub(crate) fn natural(&mut self, source: &mut Source<'_>, name: &str) -> Option<(u64, Range<usize>)> {
        let value = self.take(name)?;
        let number = value
            .get_ref()
            .as_integer()
            .and_then(|number| u64::from_str_radix(number.as_str(), number.radix()).ok());
        if number.is_none() {
            self.wrong(source, name, "a whole number, 0 or more", &value);
        }
        number.map(|number| (number, value.span()))
    }

    /// A list of texts, each with its span.
    pub(crate) fn texts(
        &mut self,
        source: &mut Source<'_>,
        name: &str,
    ) -> Option<Vec<(String, Range<usize>)>> {
        let value = self.take(name)?;
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(source, name, "a list of texts", &value);
            return None;
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((text.to_owned(), item.span())),
                None => self.wrong(source, name, "a list of texts", item),
            }
        }
        Some(texts)
    }

    /// `true`, `false` or a list of texts.
    pub(crate) fn boolean_or_texts(&mut self, source: &mut Source<'_>, name: &str) -> Option<Choice> {
        const EXPECTED: &str = "`true`, `false` or a list of texts";
        let value = self.take(name)?;
        if let Some(boolean) = value.get_ref().as_bool() {
            return Some(Choice::Boolean(boolean, value.span()));
        }
        let Some(items) = value.get_ref().as_array() else {
            self.wrong(source, name, EXPECTED, &value);
            return None;
        };
        let mut texts = Vec::new();
        for item in items {
            match item.get_ref().as_str() {
                Some(text) => texts.push((text.to_owned(), item.span())),
                None => self.wrong(source, name, EXPECTED, item),
            }
        }
        Some(Choice::Texts(texts))
    }

    /// A table of its own.
    pub(crate) fn table(
        &mut self,
        source: &mut Source<'_>,
        name: &str,
        prefix: &'static str,
    ) -> Option<Keys<'a>> {
        let value = self.take(name)?;
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(table) => Some(Keys::new(table, prefix)),
            other => {
                self.wrong(source, name, "a table", &Spanned::new(span, other));
                None
            }
        }
    }

    /// A list of tables, each with its span.
    pub(crate) fn tables(
        &mut self,
        source: &mut Source<'_>,
        name: &str,
        prefix: &'static str,
    ) -> Vec<(Keys<'a>, Range<usize>)> {
        let Some(value) = self.take(name) else { return Vec::new() };
        let span = value.span();
        let DeValue::Array(items) = value.into_inner() else {
            source.fault(span, format!("`{}{name}` must be a list of tables", self.prefix));
            return Vec::new();
        };
        let mut tables = Vec::new();
        for item in items {
            let span = item.span();
            match item.into_inner() {
                DeValue::Table(table) => tables.push((Keys::new(table, prefix), span)),
                other => self.wrong(source, name, "a list of tables", &Spanned::new(span, other)),
            }
        }
        tables
    }

    /// A list of texts and tables, each with its span.
    pub(crate) fn items(
        &mut self,
        source: &mut Source<'_>,
        name: &str,
        prefix: &'static str,
    ) -> Vec<(Item<'a>, Range<usize>)> {
        const EXPECTED: &str = "a list of texts and tables";
        let Some(value) = self.take(name) else { return Vec::new() };
        let span = value.span();
        let values = match value.into_inner() {
            DeValue::Array(values) => values,
            other => {
                self.wrong(source, name, EXPECTED, &Spanned::new(span, other));
                return Vec::new();
            }
        };
        let mut items = Vec::new();
        for value in values {
            let span = value.span();
            match value.into_inner() {
                DeValue::String(text) => items.push((Item::Text(text.into_owned()), span)),
                DeValue::Table(table) => items.push((Item::Table(Keys::new(table, prefix)), span)),
                other => self.wrong(source, name, EXPECTED, &Spanned::new(span, other)),
            }
        }
        items
    }

    /// Reports the keys that nobody took.
    pub(crate) fn finish(self, source: &mut Source<'_>, known: &[&str]) {
        let mut unknown: Vec<_> = self.table.into_iter().map(|(key, _)| key).collect();
        unknown.sort_by_key(|key| key.span().start);
        for key in unknown {
            let name = key.get_ref();
            let help = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys here: {}", known.join(", ")),
            };
            source.fault(key.span(), format!("unknown key `{}{}`", self.prefix, shortened(name))).help =
                Some(help);
        }
    }
}

fn article(kind: &str) -> String {
    let an = kind.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {kind}", if an { "an" } else { "a" })
}
