//! Lines that import another file, as some agents do for `@path`.

use cantus_manifest::RelPath;

use super::pieces::Piece;
use crate::fence::{fences, is_fenced, lines_at};
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

/// The file that a piece imports, if it does nothing else and the file is one of `covered`: `@AGENTS.md`, or the bare name that
/// a symlink becomes where there are none. A title may stand above.
pub(super) fn imports_only(path: &RelPath, piece: &Piece<'_>, covered: &[RelPath]) -> Option<RelPath> {
    let lines = match piece.heading {
        Some((1, _)) => piece.below_heading(),
        Some(_) => return None,
        None => &piece.lines,
    };
    let mut target = None;
    for line in lines.iter().filter(|line| !is_blank(line)) {
        let line = strip(line);
        let name = line.strip_prefix('@').or((lines.len() == 1).then_some(line))?;
        let name = name.strip_prefix("./").unwrap_or(name);
        let beside = path.parent().map_or_else(|| RelPath::new(name), |folder| folder.join(name)).ok()?;
        target = Some(covered.iter().find(|other| **other == beside && *other != path)?.clone());
    }
    target
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::pieces::pieces;

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
        let pieces = pieces(text, 1);
        let found = imports_only(&path, &pieces[0], &covered);
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
}
