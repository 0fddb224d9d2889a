//! `FILE:LINE` as people and editors write it.

use std::path::{Component, Path, PathBuf};

use cantus_fs::Root;
use cantus_manifest::RelPath;

/// A line of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Location {
    pub(super) file: String,
    /// Counted from 1.
    pub(super) line: usize,
    /// In chars, counted from 1.
    pub(super) column: Option<usize>,
}

/// What `text` can mean, the likeliest first: `FILE:LINE:COL`, or `FILE:LINE` with a file whose name ends in a number.
pub(super) fn locations(text: &str) -> Result<Vec<Location>, String> {
    let split = |text: &str| {
        let (file, number) = text.rsplit_once(':')?;
        let number = number.parse::<usize>().ok().filter(|number| *number > 0)?;
        (!file.is_empty()).then(|| (file.to_owned(), number))
    };
    let wrong = || format!("`{text}` is no place: expected FILE:LINE or FILE:LINE:COL, both counted from 1");
    let (file, last) = split(text).ok_or_else(wrong)?;
    let with_column = split(&file).map(|(file, line)| Location { file, line, column: Some(last) });
    let without = Location { file, line: last, column: None };
    Ok(with_column.into_iter().chain([without]).collect())
}

/// What `file` can be below the root: from the working folder or absolute, else from the root itself.
pub(super) fn relative(root: &Root, file: &str) -> Vec<RelPath> {
    let path = Path::new(file);
    let mut found = Vec::new();
    if let Ok(absolute) = std::path::absolute(path) {
        let disk = root.disk();
        let real_root = disk.canonical(root.path()).ok();
        let plain = lexical(&absolute);
        // The folder's real place; the file itself is not followed.
        let real =
            plain.parent().and_then(|folder| Some(disk.canonical(folder).ok()?.join(plain.file_name()?)));
        found.extend(below(&plain, root.path()));
        found.extend(real.zip(real_root).and_then(|(path, root)| below(&path, &root)));
    }
    if path.is_relative() {
        found.extend(as_rel(&lexical(path)));
    }
    found
}

fn below(path: &Path, root: &Path) -> Option<RelPath> {
    as_rel(path.strip_prefix(root).ok()?)
}

fn as_rel(path: &Path) -> Option<RelPath> {
    let parts: Option<Vec<&str>> = path.components().map(|part| part.as_os_str().to_str()).collect();
    RelPath::new(parts?.join("/")).ok()
}

/// The path without `.` and, as far as that goes, without `..`.
fn lexical(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if plain.file_name().is_some() => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[(&str, usize, Option<usize>)]) {
        let found = locations(text).unwrap();
        let found: Vec<_> =
            found.iter().map(|place| (place.file.as_str(), place.line, place.column)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn lines_and_columns() {
        check("AGENTS.md:3", &[("AGENTS.md", 3, None)]);
        check("a/b.md:3:14", &[("a/b.md", 3, Some(14)), ("a/b.md:3", 14, None)]);
        check("C:\\x\\AGENTS.md:3", &[("C:\\x\\AGENTS.md", 3, None)]);
    }

    #[test]
    fn no_places() {
        for text in ["AGENTS.md", "AGENTS.md:", "AGENTS.md:0", "AGENTS.md:x", ":3", "AGENTS.md:-1"] {
            assert!(locations(text).is_err(), "{text}");
        }
    }

    #[test]
    fn folders_up_and_here_go() {
        assert_eq!(lexical(Path::new("/a/./b/../c.md")), Path::new("/a/c.md"));
        assert_eq!(lexical(Path::new("../x")), Path::new("../x"));
    }
}
