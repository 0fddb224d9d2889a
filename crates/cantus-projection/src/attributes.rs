//! The lines of the project's `.gitattributes` that concern committed files.

use cantus_fs::{Root, TargetError};
use cantus_manifest::{Digest, RelPath};
use memchr::memmem;

use crate::git::lines;

const ATTRIBUTES: &str = ".gitattributes";
/// The most bytes that a file of attributes may have.
const MOST_ATTRIBUTES: u64 = 16 << 20;

/// The lines that `.gitattributes` lacks so that each of `files`, and what lies in `folders`, has LF everywhere and is folded away
/// in reviews. What it names already is the project's to say.
pub fn missing_attributes(
    root: &Root,
    files: &[RelPath],
    folders: &[RelPath],
) -> Result<Vec<String>, TargetError> {
    let old = root.read_target(&path(), MOST_ATTRIBUTES)?.unwrap_or_default();
    let old = String::from_utf8_lossy(&old);
    let files = files.iter().map(|path| pattern(path, ""));
    let missing = files.chain(folders.iter().map(|path| pattern(path, "/**")));
    let missing = missing.filter(|pattern| !old.lines().any(|line| names(line, pattern)));
    Ok(missing.map(|pattern| format!("{pattern} text eol=lf linguist-generated")).collect())
}

/// Whether a line of attributes is about `pattern`, with or without its leading slash.
fn names(line: &str, pattern: &str) -> bool {
    let loose = pattern.replacen('/', "", 1);
    let named = [pattern, &loose].into_iter().filter_map(|pattern| line.trim_start().strip_prefix(pattern));
    named.into_iter().any(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
}

/// The pattern of a line of attributes for `path`, which no character of it makes git take for another, and what git knows as
/// `suffix` behind it.
pub(crate) fn pattern(path: &RelPath, suffix: &str) -> String {
    let mut pattern = String::from("/");
    for c in path.as_str().chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push_str(suffix);
    if pattern.contains([' ', '"', '\t']) {
        pattern = format!("\"{}\"", pattern.replace('\\', r"\\").replace('"', "\\\""));
    }
    pattern
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
        let files = [RelPath::new("A.md").unwrap()];
        let missing = missing_attributes(&root, &files, &[]).unwrap();
        assert_eq!(missing, ["/A.md text eol=lf linguist-generated"]);
        repo.write(".gitattributes", "*.png binary\n");
        add_attributes(&root, &missing).unwrap();
        assert_eq!(repo.read(".gitattributes"), format!("*.png binary\n{}\n", missing[0]));
        assert_eq!(missing_attributes(&root, &files, &[]).unwrap(), [""; 0]);
        add_attributes(&root, &missing).unwrap();
        assert_eq!(repo.read(".gitattributes").lines().count(), 2);
    }
}
