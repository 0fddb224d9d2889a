//! What is wrong with a tree.

use cantus_manifest::Diagnostic;
use thiserror::Error;

/// What to do about a tree that is not valid: it is never mended in place.
const REMEDY: &str =
    "a bundle is never mended in place: compose or unpack it again, or mend the tool that wrote it";

/// The first thing that is wrong with a tree.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{}{message}", .path.as_ref().map_or_else(String::new, |path| format!("`{}`: ", path.escape_debug())))]
pub struct Fault {
    /// A stable name of its kind, such as `skills.set`.
    pub code: &'static str,
    /// The file or folder in the tree, if it is about one.
    pub path: Option<String>,
    /// What is wrong and what was expected.
    pub message: String,
}

impl Fault {
    pub(crate) fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, path: None, message: message.into() }
    }

    pub(crate) fn at(mut self, path: impl Into<String>) -> Self {
        self.path = Some(path.into());
        self
    }

    /// The same for a report, with what to do about it.
    #[must_use]
    pub fn diagnostic(&self) -> Diagnostic {
        let diagnostic = Diagnostic::error(self.code, self.message.clone()).help(REMEDY);
        match &self.path {
            Some(path) => diagnostic.at(path.escape_debug()),
            None => diagnostic,
        }
    }
}
