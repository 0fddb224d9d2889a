//! What every text file and every Rust file keeps to.

use super::{Files, Problem, text};

/// Crates that touch nothing outside themselves.
const PURE: &[&str] = &["cantus-manifest", "cantus-memory", "cantus-compose"];

/// What holds a pure crate to that, as a line of its `lib.rs`.
const PURE_LINE: &str = "#![deny(clippy::disallowed_methods, clippy::disallowed_types)]";

/// Folders whose files are kept byte for byte, whatever is in them.
const EXACT: &[&str] = &["/tests/vectors/", "/tests/snapshots/"];

/// Checks the file `path`; one that isn't text has no problems.
pub(super) fn check(path: &str, bytes: &[u8]) -> Vec<Problem> {
    let Ok(text) = std::str::from_utf8(bytes) else { return Vec::new() };
    if text.contains('\0') || EXACT.iter().any(|folder| format!("/{path}").contains(folder)) {
        return Vec::new();
    }
    let mut problems = blanks(path, text);
    if path.ends_with(".rs") {
        problems.extend(rust(path, text));
    }
    problems
}

/// Suite files that their `main.rs` doesn't declare, so that none of their tests runs.
pub(super) fn undeclared_suites(files: &Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    for path in files.keys() {
        let Some((folder, module)) = suite_module(path) else { continue };
        let main = format!("{folder}main.rs");
        let declaration = format!("mod {module};");
        if module != "main" && !text(files, &main).lines().any(|line| line.trim() == declaration) {
            let message = format!("no test in here runs: `{main}` doesn't say `{declaration}`");
            problems.push(Problem { path: path.clone(), line: 1, message });
        }
    }
    problems
}

/// The folder, with its `/`, and the module's name of a file right in a `tests/suite` folder.
fn suite_module(path: &str) -> Option<(&str, &str)> {
    let (folder, name) = path.split_at(path.rfind('/')? + 1);
    let is_suite = folder == "tests/suite/" || folder.ends_with("/tests/suite/");
    Some((folder, name.strip_suffix(".rs")?)).filter(|_| is_suite)
}

/// Line ends, the last line's end, blanks at the ends of lines.
fn blanks(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem = |line, message: &str| {
        problems.push(Problem { path: path.to_owned(), line, message: message.to_owned() });
    };
    for (line, content) in (1..).zip(text.split('\n')) {
        if content.contains('\r') {
            problem(line, "a carriage return; lines end in LF alone");
        }
        if content.trim_end_matches('\r').ends_with([' ', '\t']) {
            problem(line, "blanks at the end of the line");
        }
    }
    if !text.is_empty() && !text.ends_with('\n') {
        problem(text.split('\n').count(), "the last line has no line feed");
    }
    problems
}

/// Tabs, the line that says what a module is for, the purity of pure crates.
fn rust(path: &str, text: &str) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut problem = |line, message: String| {
        problems.push(Problem { path: path.to_owned(), line, message });
    };
    for (line, content) in (1..).zip(text.lines()) {
        if content.contains('\t') {
            problem(line, "a tab; indent with spaces, and write `\\t` in a literal".to_owned());
        }
    }
    if is_module(path) && !text.starts_with("//! ") {
        problem(1, "a module opens with a `//!` line that says what it is for".to_owned());
    }
    let is_pure = PURE.iter().any(|name| path == format!("crates/{name}/src/lib.rs"));
    if is_pure && !text.lines().any(|line| line == PURE_LINE) {
        problem(1, format!("a pure crate says `{PURE_LINE}`"));
    }
    problems
}

/// Whether the file is a module of a crate; programs that `trybuild` compiles, in folders of `tests`, aren't.
fn is_module(path: &str) -> bool {
    match format!("/{path}").split_once("/tests/") {
        Some((_, below)) => !below.contains('/') || below.starts_with("suite/"),
        None => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_file(path: &str, text: &str, expected: &[&str]) {
        let problems = check(path, text.as_bytes());
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn clean_files_have_no_problem() {
        check_file("a.md", "a\n\nb\n", &[]);
        check_file("empty", "", &[]);
        check_file("src/a.rs", "//! A.\n\nfn a() {}\n", &[]);
    }

    #[test]
    fn lines_end_in_lf_alone_and_without_blanks() {
        check_file("a.md", "a\r\nb\n", &["a.md:1: a carriage return; lines end in LF alone"]);
        check_file(
            "a.md",
            "a\nb \n\t\n",
            &["a.md:2: blanks at the end of the line", "a.md:3: blanks at the end of the line"],
        );
        check_file("a.md", "a\nb", &["a.md:2: the last line has no line feed"]);
    }

    #[test]
    fn vectors_snapshots_and_binary_files_are_kept_as_they_are() {
        check_file("tests/vectors/a.md", "a \r\n", &[]);
        check_file("crates/c/tests/snapshots/a.txt", "a", &[]);
        check_file("a.bin", "\0 \n", &[]);
        assert_eq!(check("a.bin", b"\xff \n"), []);
    }

    #[test]
    fn tabs_are_for_other_languages() {
        let message = "src/a.rs:2: a tab; indent with spaces, and write `\\t` in a literal";
        check_file("src/a.rs", "//! A.\n\tfn a() {}\n", &[message]);
        check_file("Makefile", "a:\n\tb\n", &[]);
    }

    #[test]
    fn modules_say_what_they_are_for() {
        let problem = |path| format!("{path}:1: a module opens with a `//!` line that says what it is for");
        for path in
            ["src/a.rs", "crates/c/src/a/b.rs", "tests/a.rs", "crates/c/tests/suite/a.rs", "benches/a.rs"]
        {
            check_file(path, "fn a() {}\n", &[&problem(path)]);
        }
        check_file("crates/c/tests/refused/a.rs", "fn a() {}\n", &[]);
    }

    #[test]
    fn pure_crates_deny_what_is_not() {
        let path = "crates/cantus-memory/src/lib.rs";
        let message = format!("{path}:1: a pure crate says `{PURE_LINE}`");
        check_file(path, "//! A.\n", &[&message]);
        check_file(path, &format!("//! A.\n\n{PURE_LINE}\n"), &[]);
        check_file("crates/cantus-fs/src/lib.rs", "//! A.\n", &[]);
    }

    #[test]
    fn suites_are_declared() {
        let files = [
            ("tests/suite/main.rs", "mod a;\n"),
            ("tests/suite/a.rs", ""),
            ("tests/suite/b.rs", ""),
            ("crates/c/tests/suite/a.rs", ""),
            ("crates/c/tests/suite/deep/d.rs", ""),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into();
        let problems: Vec<_> = undeclared_suites(&files).iter().map(Problem::to_string).collect();
        assert_eq!(
            problems,
            [
                "crates/c/tests/suite/a.rs:1: no test in here runs: `crates/c/tests/suite/main.rs` doesn't say `mod a;`",
                "tests/suite/b.rs:1: no test in here runs: `tests/suite/main.rs` doesn't say `mod b;`",
            ]
        );
    }
}
