//! What differs between two bundles: decisions first, then content.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use cantus_fs::{Disk, ReadError};
use cantus_manifest::Digest;
use serde::Serialize;
use thiserror::Error;

use crate::Fault;
use crate::describe::{DescribeError, Description, describe};
use crate::manifest::{MANIFEST, Manifest};
use crate::names::TreePath;
use crate::trace::{Decision, TRACE, Trace};
use crate::tree::{self, Tree};

/// How much of a digest is told: `sha256:` and 12 digits.
const SHORT: usize = 19;

/// Why two bundles can't be compared.
#[derive(Debug, Error)]
pub enum DiffError {
    /// What one says of itself can't be read.
    #[error(transparent)]
    Describe(#[from] DescribeError),
    /// One holds something that no tree may.
    #[error("it is no tree")]
    Tree(#[source] Fault),
    /// A file can't be read.
    #[error("cannot read `{path}`")]
    Read {
        /// The file.
        path: TreePath,
        /// Why.
        source: ReadError,
    },
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Side {
    description: Description,
    /// The digests of all files but the two JSON files.
    files: BTreeMap<String, String>,
}

/// What differs between two bundles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Role, personalities and delivery of the left one.
    pub left: String,
    /// Those of the right one.
    pub right: String,
    /// Subjects that were decided otherwise.
    pub decisions: Vec<Change>,
    /// How many subjects were decided alike.
    pub unchanged: usize,
    /// Logical content, by its id, and files, by their path, whose digests differ.
    pub content: Vec<Change>,
}

/// One thing that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Change {
    /// The subject, the id or the path.
    pub name: String,
    /// What the left one has.
    pub left: Option<String>,
    /// What the right one has.
    pub right: Option<String>,
}

/// Reads one side.
pub fn side(disk: &dyn Disk, root: &Path) -> Result<Side, DiffError> {
    let description = describe(disk, root)?;
    let tree = Tree::walk(disk, root).map_err(DiffError::Tree)?;
    let mut files = BTreeMap::new();
    for path in tree.files.keys().filter(|path| ![MANIFEST, TRACE].contains(&path.as_str())) {
        let bytes = tree::read(disk, root, path);
        let bytes = bytes.map_err(|source| DiffError::Read { path: path.clone(), source })?;
        files.insert(path.to_string(), format!("sha256:{}", Digest::of(bytes)));
    }
    Ok(Side { description, files })
}

/// Compares two bundles. Of several decisions on one subject the last one counts.
#[must_use]
pub fn diff(left: &Side, right: &Side) -> Difference {
    let (before, after) = (&left.description, &right.description);
    let (old, new) = (decisions(&before.trace), decisions(&after.trace));
    let decisions = changes(&old, &new);
    let mut content = changes(&digests(&before.manifest), &digests(&after.manifest));
    content.extend(changes(&left.files, &right.files));
    let subjects: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    Difference {
        left: heading(&before.manifest),
        right: heading(&after.manifest),
        unchanged: subjects.len() - decisions.len(),
        decisions,
        content,
    }
}

fn heading(manifest: &Manifest) -> String {
    format!("{}/{} ({})", manifest.role, manifest.personalities.join("+"), manifest.delivery.mode)
}

/// What was decided on each subject.
fn decisions(trace: &Trace) -> BTreeMap<String, String> {
    let decided = |decision: &Decision| format!("{}: {}", decision.outcome, decision.reason);
    trace.decisions.iter().map(|decision| (decision.subject.clone(), decided(decision))).collect()
}

fn digests(manifest: &Manifest) -> BTreeMap<String, String> {
    manifest.content.iter().map(|content| (content.id.clone(), content.digest.clone())).collect()
}

fn changes(left: &BTreeMap<String, String>, right: &BTreeMap<String, String>) -> Vec<Change> {
    let names: BTreeSet<_> = left.keys().chain(right.keys()).collect();
    let changes = names.into_iter().filter_map(|name| {
        let (left, right) = (left.get(name).cloned(), right.get(name).cloned());
        (left != right).then(|| Change { name: name.clone(), left, right })
    });
    changes.collect()
}

impl Difference {
    /// The difference in lines: `+`, `-` and `~` for what came, went and changed.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = format!("{} → {}\n", self.left, self.right);
        if self.decisions.is_empty() {
            text.push_str("no semantic differences\n");
        }
        for Change { name, left, right } in &self.decisions {
            let _ = match (left, right) {
                (None, Some(right)) => writeln!(text, "+ {name}  {right}"),
                (Some(left), None) => writeln!(text, "- {name}  {left}"),
                (left, right) => {
                    let [left, right] = [left, right].map(|side| side.as_deref().unwrap_or_default());
                    writeln!(text, "~ {name}  {left} → {right}")
                }
            };
        }
        let _ = writeln!(text, "{} decisions unchanged", self.unchanged);
        for Change { name, left, right } in &self.content {
            let _ = match (left, right) {
                (None, _) => writeln!(text, "+ {name}"),
                (_, None) => writeln!(text, "- {name}"),
                (Some(left), Some(right)) => writeln!(text, "~ {name}  {} → {}", short(left), short(right)),
            };
        }
        text
    }
}

fn short(digest: &str) -> String {
    digest.chars().take(SHORT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Content;
    use crate::trace::{Kind, Verdict};

    fn one(outcomes: &[(&str, Verdict)], digests: &[(&str, &str)], files: &[(&str, &str)]) -> Side {
        let decision =
            |(name, verdict): &(&str, Verdict)| Decision::new(Kind::Skill, name, "s", *verdict, "so");
        let content =
            |(id, digest): &(&str, &str)| Content { id: (*id).into(), digest: format!("sha256:{digest}") };
        let manifest = Manifest { content: digests.iter().map(content).collect(), ..Manifest::default() };
        let trace = Trace::new(outcomes.iter().map(decision).collect(), Vec::new());
        let file = |(path, digest): &(&str, &str)| ((*path).to_owned(), format!("sha256:{digest}"));
        let description = Description { name: String::new(), manifest, trace };
        Side { description, files: files.iter().map(file).collect() }
    }

    #[test]
    fn a_bundle_does_not_differ_from_itself() {
        let side = one(&[("skill:a", Verdict::Selected)], &[("x", "1")], &[("f", "1")]);
        let expected = "/ () → / ()\nno semantic differences\n1 decisions unchanged\n";
        assert_eq!(diff(&side, &side).text(), expected);
    }

    #[test]
    fn what_came_went_and_changed() {
        let (select, exclude) = (Verdict::Selected, Verdict::Excluded);
        let left = one(
            &[("skill:a", select), ("skill:b", select), ("skill:c", exclude), ("skill:c", select)],
            &[("x", "0123456789abcdef"), ("y", "1")],
            &[("f", "1"), ("g", "1")],
        );
        let right = one(
            &[("skill:b", exclude), ("skill:c", select), ("skill:d", select)],
            &[("x", "1123456789abcdef")],
            &[("f", "1"), ("delivery/compiled.md", "1")],
        );
        let expected = "\
/ () → / ()
- skill:a  selected: so
~ skill:b  selected: so → excluded: so
+ skill:d  selected: so
1 decisions unchanged
~ x  sha256:0123456789ab → sha256:1123456789ab
- y
+ delivery/compiled.md
- g
";
        assert_eq!(diff(&left, &right).text(), expected);
    }
}
