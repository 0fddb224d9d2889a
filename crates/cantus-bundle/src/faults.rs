//! Everything that is wrong with the texts that a bundle is composed from.

use std::fmt;

use cantus_manifest::{Diagnostic, Severity};

/// Collects what is wrong in one file or folder, under the name that the user knows it by.
pub(crate) struct Faults<'a> {
    code: &'static str,
    root: String,
    path: Option<String>,
    found: &'a mut Vec<Diagnostic>,
}

impl<'a> Faults<'a> {
    /// Nothing yet: what comes has this code and lies at this place, a file or a folder.
    pub(crate) fn new(code: &'static str, root: impl fmt::Display, found: &'a mut Vec<Diagnostic>) -> Self {
        Self { code, root: root.to_string(), path: None, found }
    }

    /// The same collection for the file or folder `path` of this folder, whichever of its files this one is for.
    pub(crate) fn inside(&mut self, path: &str) -> Faults<'_> {
        Faults { code: self.code, root: self.root.clone(), path: Some(path.to_owned()), found: self.found }
    }

    /// The same collection for a folder in this one, of whose files others speak then.
    pub(crate) fn below(&mut self, path: &str) -> Faults<'_> {
        Faults { code: self.code, root: join(&self.root, path), path: None, found: self.found }
    }

    /// The same collection for the file or folder `path` beside this file.
    pub(crate) fn beside(&mut self, path: &str) -> Faults<'_> {
        let folder = self.root.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        Faults { code: self.code, root: join(&folder, path), path: None, found: self.found }
    }

    /// The same collection for a place that has nothing to do with this one.
    pub(crate) fn elsewhere(&mut self, root: &str) -> Faults<'_> {
        Faults { code: self.code, root: root.to_owned(), path: None, found: self.found }
    }

    /// The name of the folder or file that the paths of findings start with.
    pub(crate) fn root(&self) -> &str {
        &self.root
    }

    /// Whether anything that was found is an error.
    pub(crate) fn any(&self) -> bool {
        self.found.iter().any(|fault| fault.severity == Severity::Error)
    }

    /// The place that findings of the whole name.
    pub(crate) fn place(&self) -> String {
        let place = self.path.as_ref().map_or_else(|| self.root.clone(), |path| join(&self.root, path));
        place.escape_debug().to_string()
    }

    /// Something is wrong with the whole.
    pub(crate) fn add(&mut self, message: impl Into<String>) {
        self.found.push(Diagnostic::error(self.code, message).at(self.place()));
    }

    /// Something is wrong at a line; 0 is the whole.
    pub(crate) fn at(&mut self, line: u32, message: impl Into<String>) {
        let fault = Diagnostic::error(self.code, message).at(self.place());
        self.found.push(if line == 0 { fault } else { fault.line(line) });
    }

    /// Something is wrong, and this is what to do.
    pub(crate) fn help(&mut self, line: u32, message: impl Into<String>, help: &str) {
        self.at(line, message);
        if let Some(fault) = self.found.last_mut() {
            fault.help = Some(help.to_owned());
        }
    }

    /// Something at a line is worth mending, though it prevents nothing.
    pub(crate) fn warn(&mut self, code: &'static str, line: u32, message: impl Into<String>, help: &str) {
        self.found.push(Diagnostic::warning(code, message).at(self.place()).line(line).help(help));
    }

    /// How much is wrong so far, here and elsewhere.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }
}

/// One path in another, either of which may be the folder itself.
fn join(root: &str, path: &str) -> String {
    let mut path = path;
    while let Some(rest) = path.strip_prefix("./") {
        path = rest.trim_start_matches('/');
    }
    match (root, path) {
        ("" | ".", "" | ".") => ".".to_owned(),
        ("" | ".", path) => path.to_owned(),
        (root, "" | ".") => root.to_owned(),
        (root, path) => format!("{}/{path}", root.trim_end_matches('/')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_joined() {
        for (root, path, expected) in [
            ("", "a", "a"),
            (".", "./a", "a"),
            ("a", ".", "a"),
            ("a/", ".//b/c", "a/b/c"),
            ("/", "a", "/a"),
            ("", ".", "."),
        ] {
            assert_eq!(join(root, path), expected, "{root} {path}");
        }
    }
}
