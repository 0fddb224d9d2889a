//! Lines that import another file, as some agents do for `@path`.

use std::borrow::Cow;

use cantus_manifest::RelPath;

use crate::fence::{fences, is_fenced, lines_at};
use crate::inline::heading;
use crate::unicode::{is_blank, is_space, strip};

/// Every `@path` outside code: its line, counted from 1, and the path. A word without a dot, a slash or a tilde is a name.
pub(super) fn at_paths(text: &str) -> Vec<(usize, &str)> {
    if !text.contains('@') {
        return Vec::new();
    }
    let fences = fences(text);
    let mut found = Vec::new();
    for (number, (offset, line)) in (1..).zip(lines_at(text)) {
        if is_fenced(&fences, offset) {
            continue;
        }
        // What stands between backticks has an odd index.
        for prose in line.split('`').step_by(2) {
            found.extend(prose.split(is_space).filter_map(at_path).map(|path| (number, path)));
        }
    }
    found
}

fn at_path(word: &str) -> Option<&str> {
    let path = word.strip_prefix('@')?.trim_end_matches(['.', ',', ';', ':', ')', '!', '?']);
    let is_path = path.contains(['/', '.']) || path.starts_with('~');
    (is_path && !path.contains('@')).then_some(path)
}

/// The file that the text of `path` imports, if it does nothing else and the file is one of `covered`: `@AGENTS.md`, or the bare
/// name that a symlink becomes where there are none. A title may stand above.
pub(super) fn imports_only(path: &RelPath, text: &str, covered: &[RelPath]) -> Option<RelPath> {
    let mut lines: Vec<_> = text.lines().filter(|line| !is_blank(line)).map(strip).collect();
    if lines.first().is_some_and(|line| matches!(heading(line), Some((1, _)))) {
        lines.remove(0);
    }
    let mut target = None;
    for line in &lines {
        let name = line.strip_prefix('@').or((lines.len() == 1).then_some(line))?;
        let named = beside(path, name)?;
        target = Some(covered.iter().find(|other| **other == named && *other != path)?.clone());
    }
    target
}

/// The text without its lines that only import one of `covered`, such as `@AGENTS.md`: each is blank then. Also gives those lines,
/// counted from 1. In code they stay.
pub(super) fn without_imports<'a>(
    path: &RelPath,
    text: &'a str,
    covered: &[RelPath],
) -> (Cow<'a, str>, Vec<(usize, RelPath)>) {
    let mut found = Vec::new();
    if !text.contains('@') {
        return (Cow::Borrowed(text), found);
    }
    let fences = fences(text);
    let mut rest = String::with_capacity(text.len());
    for (number, (offset, line)) in (1..).zip(lines_at(text)) {
        let target = line_import(line).filter(|_| !is_fenced(&fences, offset));
        let target = target.and_then(|name| beside(path, name)).filter(|named| covered.contains(named));
        match target {
            Some(target) => found.push((number, target)),
            None => rest.push_str(line),
        }
        rest.push('\n');
    }
    if found.is_empty() { (Cow::Borrowed(text), found) } else { (Cow::Owned(rest), found) }
}

/// What a line imports that does nothing else.
fn line_import(line: &str) -> Option<&str> {
    let is_code = line.starts_with("    ") || line.starts_with('\t');
    strip(line).strip_prefix('@').filter(|_| !is_code)
}

/// What `name` means in a file at `path`.
fn beside(path: &RelPath, name: &str) -> Option<RelPath> {
    let folder = path.parent();
    let mut parts: Vec<&str> = folder.iter().flat_map(|folder| folder.as_str().split('/')).collect();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    RelPath::new(parts.join("/")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_what_only_looks_like_one() {
        let text =
            "see @docs/a.md, and @~/x\nmail a@b.org @team `@code/x.md`\n```\n@in/fence.md\n```\n- @./y.\n";
        assert_eq!(at_paths(text), [(1, "docs/a.md"), (1, "~/x"), (6, "./y")]);
    }

    #[track_caller]
    fn check(text: &str, expected: Option<&str>) {
        let (path, agents) = (RelPath::new("CLAUDE.md").unwrap(), RelPath::new("AGENTS.md").unwrap());
        let covered = [path.clone(), agents];
        let found = imports_only(&path, text, &covered);
        assert_eq!(found.as_ref().map(RelPath::as_str), expected);
    }

    #[test]
    fn files_that_only_import() {
        check("@AGENTS.md\n", Some("AGENTS.md"));
        check("# CLAUDE.md\n\n@./AGENTS.md\n", Some("AGENTS.md"));
        check("AGENTS.md", Some("AGENTS.md"));
        check("@CLAUDE.md\n", None);
        check("@AGENTS.md\nand more\n", None);
        check("@docs/other.md\n", None);
        check("# Title\n", None);
    }

    #[test]
    fn lines_that_only_import() {
        let paths = ["AGENTS.md", ".claude/CLAUDE.md"].map(|path| RelPath::new(path).unwrap());
        let text = "a\n@../AGENTS.md\n@CLAUDE.md \n@../gone.md\n    @../AGENTS.md\n```\n@../AGENTS.md\n```\nsee @../AGENTS.md\n";
        let (rest, found) = without_imports(&paths[1], text, &paths);
        assert_eq!(
            rest,
            "a\n\n\n@../gone.md\n    @../AGENTS.md\n```\n@../AGENTS.md\n```\nsee @../AGENTS.md\n"
        );
        assert_eq!(found, [(2, paths[0].clone()), (3, paths[1].clone())]);
    }
}
