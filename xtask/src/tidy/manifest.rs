//! What every `Cargo.toml` keeps to.

use toml::de::{DeTable, DeValue};

use super::Problem;

/// The heading above our own crates in `[workspace.dependencies]`; they need no reason.
const OURS: &str = "# Ours.";

/// The licence of every crate.
const LICENCE: &str = "MIT OR Apache-2.0";

/// Crates with a lint table of their own; everyone else takes the workspace's.
const OWN_LINTS: &[&str] = &["cantus-capi"];

/// The tables that name dependencies.
const DEPENDENCIES: &[&str] = &["dependencies", "dev-dependencies", "build-dependencies"];

/// Checks the workspace's manifest: the licence, and a reason above every dependency.
pub(super) fn root(text: &str) -> Vec<Problem> {
    let check = Check { path: "Cargo.toml", text };
    let manifest = match DeTable::parse(text) {
        Ok(manifest) => manifest.into_inner(),
        Err(error) => return vec![check.unreadable(&error)],
    };
    let mut problems = Vec::new();
    let licence = string(&manifest, &["workspace", "package", "license"]);
    if licence != Some(LICENCE) {
        problems.push(check.problem(0, format!("`workspace.package.license` must be `{LICENCE}`")));
    }
    for (key, value) in table(&manifest, &["workspace", "dependencies"]).into_iter().flatten() {
        let is_ours = value.get_ref().as_table().is_some_and(|table| table.contains_key("path"));
        let line = line_at(text, key.span().start);
        let is_excused = is_ours && is_among_ours(text, line);
        if !is_excused && !has_reason(text, line) {
            let message = format!("`{}` needs a comment above it that gives its reason", key.get_ref());
            problems.push(check.problem(key.span().start, message));
        }
    }
    problems
}

/// Checks a member's manifest at `path`: lints, licence and dependencies come from the workspace.
pub(super) fn member(path: &str, package: &str, text: &str) -> Vec<Problem> {
    let check = Check { path, text };
    let manifest = match DeTable::parse(text) {
        Ok(manifest) => manifest.into_inner(),
        Err(error) => return vec![check.unreadable(&error)],
    };
    let mut problems = Vec::new();
    if !OWN_LINTS.contains(&package) && !from_workspace(&manifest, &["lints"]) {
        problems.push(check.problem(0, "`lints.workspace = true` is missing".to_owned()));
    }
    if !from_workspace(&manifest, &["package", "license"]) {
        problems.push(check.problem(0, "`license.workspace = true` is missing".to_owned()));
    }
    for (key, value) in dependencies(&manifest) {
        if !value.as_table().is_some_and(|table| from_workspace(table, &[])) {
            let message =
                format!("`{}` must say `workspace = true`; its version stands in the root", key.name);
            problems.push(check.problem(key.at, message));
        }
    }
    problems
}

/// The line on which a member's manifest first names `dependency`; the first line if it doesn't.
pub(super) fn line_of(text: &str, dependency: &str) -> usize {
    let Ok(manifest) = DeTable::parse(text) else { return 1 };
    let manifest = manifest.into_inner();
    let named = dependencies(&manifest).into_iter().filter(|(key, _)| key.name == dependency);
    named.map(|(key, _)| line_at(text, key.at)).min().unwrap_or(1)
}

/// Whether the entry at `line` stands below [`OURS`], with no other comment between.
fn is_among_ours(text: &str, line: usize) -> bool {
    text.lines().take(line - 1).filter(|line| line.starts_with('#')).last() == Some(OURS)
}

/// Whether a comment that says something stands right above the entry at `line`.
fn has_reason(text: &str, line: usize) -> bool {
    let above = text.lines().take(line - 1).last().unwrap_or_default();
    above != OURS && above.strip_prefix('#').is_some_and(|reason| !reason.trim().is_empty())
}

/// The manifest that is being checked.
struct Check<'a> {
    path: &'a str,
    text: &'a str,
}

impl Check<'_> {
    fn problem(&self, at: usize, message: String) -> Problem {
        Problem { path: self.path.to_owned(), line: line_at(self.text, at), message }
    }

    fn unreadable(&self, error: &toml::de::Error) -> Problem {
        self.problem(error.span().map_or(0, |span| span.start), error.message().to_owned())
    }
}

/// A key of a table, and the byte at which it starts.
struct Key<'a> {
    name: &'a str,
    at: usize,
}

/// Every dependency that a manifest declares, those of one platform included.
fn dependencies<'a>(manifest: &'a DeTable<'a>) -> Vec<(Key<'a>, &'a DeValue<'a>)> {
    let platforms = table(manifest, &["target"]).into_iter().flat_map(|targets| targets.values());
    let platforms = platforms.filter_map(|platform| platform.get_ref().as_table());
    std::iter::once(manifest)
        .chain(platforms)
        .flat_map(|holder| DEPENDENCIES.iter().filter_map(|name| table(holder, &[name])))
        .flatten()
        .map(|(key, value)| (Key { name: key.get_ref(), at: key.span().start }, value.get_ref()))
        .collect()
}

/// Whether the table at `path` says `workspace = true`.
fn from_workspace(manifest: &DeTable<'_>, path: &[&str]) -> bool {
    let holder = table(manifest, path);
    holder.and_then(|table| table.get("workspace")).and_then(|value| value.get_ref().as_bool()) == Some(true)
}

fn table<'a>(manifest: &'a DeTable<'a>, path: &[&str]) -> Option<&'a DeTable<'a>> {
    path.iter().try_fold(manifest, |table, key| table.get(*key)?.get_ref().as_table())
}

fn string<'a>(manifest: &'a DeTable<'a>, path: &[&str]) -> Option<&'a str> {
    let (key, holders) = path.split_last()?;
    table(manifest, holders)?.get(*key)?.get_ref().as_str()
}

/// The line of the byte `at`, counted from 1.
fn line_at(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    const LICENSED: &str = "[workspace.package]\nlicense = \"MIT OR Apache-2.0\"\n[workspace.dependencies]\n";

    #[track_caller]
    fn check_root(dependencies: &str, expected: &[&str]) {
        let problems = root(&format!("{LICENSED}{dependencies}"));
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), expected);
    }

    #[track_caller]
    fn check_member(text: &str, expected: &[&str]) {
        let problems = member("c/Cargo.toml", "c", text);
        assert_eq!(problems.iter().map(Problem::to_string).collect::<Vec<_>>(), expected);
    }

    const MEMBER: &str = "package.license.workspace = true\nlints.workspace = true\n";

    #[test]
    fn a_comment_above_a_dependency_is_its_reason() {
        check_root("# Why a.\na = \"1\"\n# Why b.\nb = { version = \"1\" }\n", &[]);
        check_root(
            "# Why a.\na = \"1\"\nb = \"1\"\n",
            &["Cargo.toml:6: `b` needs a comment above it that gives its reason"],
        );
        check_root(
            "# Why a.\n\na = \"1\"\n",
            &["Cargo.toml:6: `a` needs a comment above it that gives its reason"],
        );
        check_root("#\na = \"1\"\n", &["Cargo.toml:5: `a` needs a comment above it that gives its reason"]);
    }

    #[test]
    fn our_own_need_no_reason() {
        check_root("# Ours.\na = { path = \"a\" }\nb = { path = \"b\" }\n# Why c.\nc = \"1\"\n", &[]);
        check_root(
            "# Ours.\na = { path = \"a\" }\n# Why b.\nb = \"1\"\nc = \"1\"\n",
            &["Cargo.toml:8: `c` needs a comment above it that gives its reason"],
        );
    }

    #[test]
    fn a_dependency_of_others_among_ours_needs_its_reason() {
        check_root(
            "# Ours.\na = \"1\"\nb = { version = \"1\" }\n",
            &[
                "Cargo.toml:5: `a` needs a comment above it that gives its reason",
                "Cargo.toml:6: `b` needs a comment above it that gives its reason",
            ],
        );
    }

    #[test]
    fn the_workspace_names_the_licence() {
        let problems = root("[workspace]\n");
        assert_eq!(
            problems[0].to_string(),
            "Cargo.toml:1: `workspace.package.license` must be `MIT OR Apache-2.0`"
        );
    }

    #[test]
    fn members_take_what_the_workspace_says() {
        check_member(MEMBER, &[]);
        check_member(
            "[package]\nname = \"c\"\nlicense = \"MIT\"\n[lints.clippy]\ntodo = \"warn\"\n",
            &[
                "c/Cargo.toml:1: `lints.workspace = true` is missing",
                "c/Cargo.toml:1: `license.workspace = true` is missing",
            ],
        );
    }

    #[test]
    fn the_capi_has_lints_of_its_own() {
        assert_eq!(member("c/Cargo.toml", "cantus-capi", "package.license.workspace = true\n"), []);
    }

    #[test]
    fn versions_stand_in_the_root() {
        check_member(
            &format!(
                "{MEMBER}[dependencies]\na.workspace = true\nb = {{ workspace = true, optional = true }}\n\
                 c = \"1\"\n[target.'cfg(unix)'.dev-dependencies]\nd = {{ path = \"../d\" }}\n"
            ),
            &[
                "c/Cargo.toml:6: `c` must say `workspace = true`; its version stands in the root",
                "c/Cargo.toml:8: `d` must say `workspace = true`; its version stands in the root",
            ],
        );
    }

    #[test]
    fn what_cannot_be_read_is_a_problem() {
        assert_eq!(member("c/Cargo.toml", "c", "a = \n")[0].line, 1);
    }

    #[test]
    fn a_dependency_s_line_is_found() {
        let text = "[dependencies]\na.workspace = true\n[target.x.build-dependencies]\nb.workspace = true\n";
        assert_eq!(line_of(text, "a"), 2);
        assert_eq!(line_of(text, "b"), 4);
        assert_eq!(line_of(text, "c"), 1);
    }
}
