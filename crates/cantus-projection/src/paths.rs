//! Whether the ordinary Markdown links of the notes lead anywhere in the repository.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use cantus_fs::Root;
use cantus_manifest::{Diagnostic, RelPath};
use cantus_memory::{Corpus, PathLink, Target, has_heading, heading_names, path_links};
use cantus_workspace::Project;

use crate::projection::{Projection, Shape};

/// The findings on links of the notes of `project` and of its members to files and headings that aren't there.
pub(crate) fn check(root: &Root, project: &Project, projection: &Projection) -> Vec<Diagnostic> {
    let is_top = RelPath::new(".git").is_ok_and(|git| matches!(root.kind(&git), Ok(Some(_))));
    let disk = Disk { root, is_top, targets: projection.paths().collect(), known: RefCell::default() };
    let mut findings = of_corpus(&disk, &project.corpus, projection);
    for (member, (_, projection)) in project.members.iter().zip(&projection.members) {
        findings.extend(of_corpus(&disk, &member.corpus, projection));
    }
    findings
}

/// What is there.
struct Disk<'a> {
    root: &'a Root,
    /// Whether the project's root is the repository's.
    is_top: bool,
    /// The committed files, which are there once they were written.
    targets: BTreeSet<&'a RelPath>,
    known: RefCell<BTreeMap<RelPath, bool>>,
}

impl Disk<'_> {
    fn has(&self, path: &RelPath) -> bool {
        if let Some(known) = self.known.borrow().get(path) {
            return *known;
        }
        let has = self.targets.contains(path) || matches!(self.root.kind(path), Ok(Some(_)));
        self.known.borrow_mut().insert(path.clone(), has);
        has
    }
}

/// Where a path leads from some folder.
enum Way {
    /// Out of the project, where nobody looks.
    Out,
    /// To the root itself.
    Root,
    To(RelPath),
}

impl Way {
    /// The way of `path` from a folder, the root if `None`.
    fn of(folder: Option<&RelPath>, path: &str) -> Self {
        let mut parts: Vec<&str> =
            folder.map(|folder| folder.as_str().split('/').collect()).unwrap_or_default();
        for part in path.split('/') {
            match part {
                "" | "." => {}
                ".." if parts.pop().is_none() => return Self::Out,
                ".." => {}
                part => parts.push(part),
            }
        }
        match RelPath::new(parts.join("/")) {
            _ if parts.is_empty() => Self::Root,
            Ok(path) => Self::To(path),
            Err(_) => Self::Out,
        }
    }

    /// Whether it leads anywhere; `None` for what can't be seen from here.
    fn is_there(&self, disk: &Disk<'_>) -> Option<bool> {
        match self {
            // In a repository of its own nothing stands above.
            Self::Out => disk.is_top.then_some(false),
            Self::Root => Some(true),
            Self::To(path) => Some(disk.has(path)),
        }
    }
}

fn of_corpus(disk: &Disk<'_>, corpus: &Corpus, projection: &Projection) -> Vec<Diagnostic> {
    let base = projection.files.first().and_then(|file| file.path.parent());
    let file = projection.files.first().map_or("the bundle", |file| file.path.as_str());
    let composed = OnceCell::new();
    let composed =
        || composed.get_or_init(|| heading_names(&projection.expected(&Shape::native()).text())).clone();
    let mut findings = Vec::new();
    for target in corpus.targets() {
        for link in path_links(target.body()) {
            let finding = match link.path.as_str() {
                "" => heading(target, &link, composed),
                _ => path(disk, target, &link, base.as_ref(), file),
            };
            findings.extend(finding.map(|finding| finding.at(target.path()).line(link.line)));
        }
    }
    findings
}

/// What is wrong with a link to a path. A text that stands in the committed file is read from there; one that is opened on demand
/// may mean its own folder as well.
fn path(
    disk: &Disk<'_>,
    target: Target<'_>,
    link: &PathLink,
    base: Option<&RelPath>,
    file: &str,
) -> Option<Diagnostic> {
    if Way::of(base, &link.path).is_there(disk) == Some(true) {
        return None;
    }
    let written = &link.written;
    let own = Way::of(target.path().parent().as_ref(), &link.path);
    if own.is_there(disk) == Some(true) {
        let Way::To(meant) = own else { return None };
        return target.is_always_loaded().then(|| {
            let message = format!(
                "the link `{written}` leads nowhere from `{file}`, where this text stands; it starts at the note's folder"
            );
            let tail = written.find(['#', '?']).map_or("", |at| &written[at..]);
            let help = format!("write `{}{tail}`", way_from(base, &meant));
            Diagnostic::warning("link.path", message).help(help)
        });
    }
    Way::of(base, &link.path).is_there(disk)?;
    let message = format!("the link `{written}` leads to no file of the repository");
    let help = "mend the path, which starts at the folder of the committed file, or put it into backticks";
    Some(Diagnostic::warning("link.path", message).help(help))
}

/// The path to `path` from the folder `base`.
fn way_from(base: Option<&RelPath>, path: &RelPath) -> String {
    let base: Vec<&str> = base.map(|base| base.as_str().split('/').collect()).unwrap_or_default();
    let parts: Vec<&str> = path.as_str().split('/').collect();
    let common = base.iter().zip(&parts).take_while(|(one, other)| one == other).count();
    let up = base.iter().skip(common).map(|_| "..");
    up.chain(parts.into_iter().skip(common)).collect::<Vec<_>>().join("/").replace(' ', "%20")
}

/// What is wrong with a link to a heading of the text itself, or of the committed file that it stands in.
fn heading(
    target: Target<'_>,
    link: &PathLink,
    composed: impl Fn() -> BTreeSet<String>,
) -> Option<Diagnostic> {
    let name = link.heading.as_deref()?;
    let text = target.body().text;
    let is_marked = ["id=\"", "name=\"", "{#"].iter().any(|mark| text.contains(&format!("{mark}{name}")));
    if is_marked
        || has_heading(&heading_names(text), name)
        || (target.is_always_loaded() && has_heading(&composed(), name))
    {
        return None;
    }
    let message = format!("the link `#{name}` leads to no heading here");
    let help =
        "mend it: a heading's name is its text in lower case, with `-` for blanks and without other signs";
    Some(Diagnostic::warning("link.heading", message).help(help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(folder: &str, path: &str, expected: Option<&str>) {
        let folder = RelPath::new(folder).ok();
        let found = match Way::of(folder.as_ref(), path) {
            Way::Out => None,
            Way::Root => Some(String::new()),
            Way::To(path) => Some(path.to_string()),
        };
        assert_eq!(found.as_deref(), expected);
    }

    #[test]
    fn ways() {
        check("", "a/b.md", Some("a/b.md"));
        check("memory", "../a/./b.md", Some("a/b.md"));
        check("memory", "..", Some(""));
        check("memory", "../../a", None);
        check("", "a/", Some("a"));
    }

    #[test]
    fn ways_back() {
        let path = |path: &str| RelPath::new(path).unwrap();
        assert_eq!(way_from(None, &path("docs/a b.md")), "docs/a%20b.md");
        assert_eq!(way_from(Some(&path("crates/a")), &path("crates/a/memory/b.md")), "memory/b.md");
        assert_eq!(way_from(Some(&path("crates/a")), &path("docs/b.md")), "../../docs/b.md");
    }
}
