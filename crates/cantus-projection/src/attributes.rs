//! The lines of the project's `.gitattributes` that concern committed files.

use cantus_fs::{Root, TargetError};
use cantus_manifest::{Digest, RelPath};
use memchr::memmem;

use crate::git::lines;

const ATTRIBUTES: &str = ".gitattributes";
/// The most bytes that a file of attributes may have.
const MOST_ATTRIBUTES: u64 = 16 << 20;

/// The lines that `.gitattributes` lacks so that each of `paths` has LF everywhere and is folded away in reviews. A path that it
/// names already is the project's to say.
pub fn missing_attributes(root: &Root, paths: &[&str]) -> Result<Vec<String>, TargetError> {
    let old = root.read_target(&path(), MOST_ATTRIBUTES)?.unwrap_or_default();
    let old = String::from_utf8_lossy(&old);
    let has = |pattern: &str| {
        let mut named = old.lines().filter_map(|line| line.split_whitespace().next());
        named.any(|first| first.trim_start_matches('/') == pattern)
    };
    let missing = paths.iter().filter(|path| !has(path));
    Ok(missing.map(|path| format!("/{path} text eol=lf linguist-generated")).collect())
}

/// Adds lines to what `.gitattributes` holds now.
pub fn add_attributes(root: &Root, wanted: &[String]) -> Result<(), TargetError> {
    change_attributes(root, |old| with_lines(old, wanted.iter().cloned())).map(drop)
}

fn path() -> RelPath {
    RelPath::new(ATTRIBUTES).unwrap_or_else(|error| unreachable!("{error}"))
}

/// Writes the project's `.gitattributes` as `change` says, and tells whether that changed it. An empty one is removed.
pub(crate) fn change_attributes(
    root: &Root,
    change: impl FnOnce(&[u8]) -> Vec<u8>,
) -> Result<bool, TargetError> {
    let path = path();
    let old = root.read_target(&path, MOST_ATTRIBUTES)?;
    let new = change(old.as_deref().unwrap_or_default());
    if new == old.as_deref().unwrap_or_default() {
        return Ok(false);
    }
    let seen = old.as_deref().map(Digest::of);
    match &seen {
        Some(seen) if new.is_empty() => root.remove_seen(&path, seen, MOST_ATTRIBUTES)?,
        seen => {
            let staged = root.stage(&path, &new)?;
            root.replace(&path, staged, seen.as_ref(), MOST_ATTRIBUTES)?;
        }
    }
    Ok(true)
}

/// The attributes with those of `wanted` that they lack at the end, where they outrank others.
pub(crate) fn with_lines(old: &[u8], wanted: impl Iterator<Item = String>) -> Vec<u8> {
    let end: &[u8] = if memmem::find(old, b"\r\n").is_some() { b"\r\n" } else { b"\n" };
    let mut new = old.to_vec();
    for line in wanted {
        if lines(old).any(|old| old.trim_ascii_end() == line.as_bytes()) {
            continue;
        }
        if !new.is_empty() && !new.ends_with(b"\n") {
            new.extend(end);
        }
        new.extend(line.as_bytes());
        new.extend(end);
    }
    new
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cantus_fs::RealDisk;
    use cantus_testkit::Repo;

    use super::*;

    #[test]
    fn lines_are_added_to_what_the_file_holds_by_then() {
        let repo = Repo::without_git("//- .gitattributes\n* text=auto\n");
        let root = Root::new(Arc::new(RealDisk), repo.path().to_path_buf());
        let missing = missing_attributes(&root, &["A.md"]).unwrap();
        assert_eq!(missing, ["/A.md text eol=lf linguist-generated"]);
        repo.write(".gitattributes", "*.png binary\n");
        add_attributes(&root, &missing).unwrap();
        assert_eq!(repo.read(".gitattributes"), format!("*.png binary\n{}\n", missing[0]));
        assert_eq!(missing_attributes(&root, &["A.md"]).unwrap(), [""; 0]);
        add_attributes(&root, &missing).unwrap();
        assert_eq!(repo.read(".gitattributes").lines().count(), 2);
    }
}
