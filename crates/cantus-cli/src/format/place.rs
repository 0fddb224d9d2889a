//! Where the files of findings lie in the repository.

use cantus_fs::Root;
use cantus_manifest::{Diagnostic, RelPath};

use crate::visible::visible;

/// What the paths of findings start with that are no files of the project.
const LABELS: [&str; 3] = ["home:", "package:", "plugin:"];

/// Where the project lies in its repository, since those who show findings beside lines know the repository alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The project's folder below the repository's, with `/` at its end; empty if they are the same.
    prefix: String,
}

impl Place {
    /// The place of the project at `root`. Outside git, or where it can't be told as text, the project is the repository.
    pub(crate) fn of(root: &Root) -> Self {
        let has_git =
            |folder: &&std::path::Path| matches!(root.disk().kind(&folder.join(".git")), Ok(Some(_)));
        let below = root.path().ancestors().find(has_git).and_then(|top| root.path().strip_prefix(top).ok());
        let parts =
            below.and_then(|below| below.iter().map(|part| part.to_str()).collect::<Option<Vec<_>>>());
        let prefix = parts.unwrap_or_default().iter().map(|part| format!("{part}/")).collect();
        Self { prefix }
    }

    /// The path from the repository's root of the file that a finding names; `None` if it is no file of the project.
    pub(crate) fn file(&self, path: Option<&str>) -> Option<String> {
        let path = path.filter(|path| !LABELS.iter().any(|label| path.starts_with(label)))?;
        RelPath::new(path).ok().map(|path| self.of_project(path.as_str()))
    }

    /// The path from the repository's root of a path of the project.
    pub(crate) fn of_project(&self, path: &str) -> String {
        format!("{}{path}", self.prefix)
    }

    /// What a text has to say in front of a finding whose file it can't name: `path:line: `, or nothing.
    fn told(&self, finding: &Diagnostic) -> String {
        match (self.file(finding.path.as_deref()), &finding.path, finding.line) {
            (None, Some(path), Some(line)) => format!("{path}:{line}: "),
            (None, Some(path), None) => format!("{path}: "),
            _ => String::new(),
        }
    }
}

/// A finding's message and help as one text, behind its place where `place` has no file for it.
pub(crate) fn whole_text(finding: &Diagnostic, place: &Place) -> String {
    let help = finding.help.as_ref().map_or_else(String::new, |help| format!("\nhelp: {help}"));
    let text = format!("{}{}{help}", place.told(finding), finding.message);
    text.lines().map(visible).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(prefix: &str, path: &str, expected: Option<&str>) {
        let place = Place { prefix: prefix.to_owned() };
        assert_eq!(place.file(Some(path)).as_deref(), expected);
    }

    #[test]
    fn files_are_named_from_the_repository() {
        check("", "memory/a.md", Some("memory/a.md"));
        check("sub/x/", "memory/a.md", Some("sub/x/memory/a.md"));
    }

    #[test]
    fn what_is_no_file_of_the_project_has_no_place() {
        check("", "plugin:acme-1.0.0/agents/a.md", None);
        check("", "home:memory/a.md", None);
        check("", "package:contract.md", None);
        check("", "../house/contract.md", None);
        check("", "/house/contract.md", None);
        assert_eq!(Place::default().file(None), None);
    }
}
