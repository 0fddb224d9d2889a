//! Which crate may depend on which.

use cargo_metadata::{DependencyKind, Package};

/// What one crate may use of ours, and which other packages it never uses.
///
/// Our crates go by their short names, without `cantus-`.
struct Row {
    name: &'static str,
    may: &'static [&'static str],
    /// Allowed behind a feature only.
    optional: &'static [&'static str],
    never: &'static [&'static [&'static str]],
}

const CLAP: &[&str] = &["clap", "clap_complete", "clap_mangen"];
const FILES: &[&str] = &["fs-err", "rustix", "tempfile", "walkdir"];
const HASHING: &[&str] = &["sha1", "sha2"];
const MARKDOWN: &[&str] = &["pulldown-cmark"];
const PROCESS: &[&str] = &["duct", "wait4"];
const STDOUT: &[&str] = &["anstream"];

/// The table of crates, the same as in the architecture's description. A new edge is a decision: it is written
/// here first.
const TABLE: &[Row] = &[
    Row { name: "fs", may: &["manifest"], optional: &[], never: &[MARKDOWN, STDOUT, CLAP] },
    Row { name: "manifest", may: &[], optional: &[], never: &[FILES, PROCESS, MARKDOWN, CLAP] },
    Row { name: "memory", may: &["manifest"], optional: &[], never: &[FILES, PROCESS, CLAP] },
    Row { name: "compose", may: &["manifest", "memory"], optional: &[], never: &[FILES, PROCESS, CLAP] },
    Row { name: "workspace", may: &["manifest", "memory", "compose", "fs"], optional: &[], never: &[STDOUT] },
    Row {
        name: "projection",
        may: &["manifest", "memory", "compose", "workspace", "fs"],
        optional: &[],
        never: &[STDOUT, CLAP],
    },
    Row {
        name: "store",
        may: &["manifest", "compose", "fs"],
        optional: &[],
        never: &[STDOUT, CLAP, MARKDOWN],
    },
    Row {
        name: "launch",
        may: &["manifest", "memory", "compose", "workspace", "store", "fs"],
        optional: &["session"],
        never: &[CLAP, STDOUT],
    },
    Row {
        name: "session",
        may: &["manifest", "memory", "compose", "fs"],
        optional: &[],
        never: &[CLAP, STDOUT],
    },
    Row { name: "bundle", may: &["manifest", "fs"], optional: &[], never: &[CLAP, STDOUT] },
    Row { name: "capi", may: &["launch"], optional: &[], never: &[CLAP, STDOUT, MARKDOWN, HASHING] },
    Row {
        name: "cli",
        may: &[
            "fs",
            "manifest",
            "memory",
            "compose",
            "workspace",
            "projection",
            "store",
            "launch",
            "session",
            "bundle",
            "capi",
        ],
        optional: &[],
        never: &[MARKDOWN, HASHING],
    },
    Row { name: "testkit", may: &[], optional: &[], never: &[] },
    // What an author of a launcher starts from: it needs one crate of ours.
    Row { name: "launcher-example", may: &["launch"], optional: &[], never: &[] },
    // The task `schema` makes a file from the types of `manifest` and writes it through `fs`.
    Row { name: "xtask", may: &["cli", "manifest", "fs", "testkit"], optional: &[], never: &[] },
];

/// One dependency as a manifest declares it.
#[derive(Clone, Copy)]
struct Edge<'a> {
    from: &'a str,
    to: &'a str,
    kind: DependencyKind,
    optional: bool,
}

/// What the table forbids in `package`: the name of a dependency (or of the package itself), and why.
pub(super) fn check(package: &Package) -> Vec<(String, String)> {
    let from = package.name.as_str();
    if row(from).is_none() {
        return vec![(
            from.to_owned(),
            format!("`{from}` is not in the table of crates, xtask/src/tidy/edges.rs"),
        )];
    }
    let edges = package.dependencies.iter().map(|dependency| Edge {
        from,
        to: &dependency.name,
        kind: dependency.kind,
        optional: dependency.optional,
    });
    edges.filter_map(|edge| Some((edge.to.to_owned(), fault(edge)?))).collect()
}

/// Why `edge` isn't allowed.
fn fault(edge: Edge<'_>) -> Option<String> {
    let Edge { from, to, kind, optional } = edge;
    let uses = row(from)?;
    let is_dev = kind == DependencyKind::Development;
    if row(to).is_none() {
        let banned = !is_dev && uses.never.iter().any(|packages| packages.contains(&to));
        return banned.then(|| format!("`{from}` must never use `{to}`"));
    }
    let to_short = short(to);
    let own_features = is_dev && from == to;
    let testing = is_dev && to_short == "testkit" && uses.name != "testkit";
    if own_features || testing || uses.may.contains(&to_short) {
        return None;
    }
    if uses.optional.contains(&to_short) {
        let bare = !is_dev && !optional;
        return bare.then(|| format!("`{from}` may use `{to}` behind a feature only: make it optional"));
    }
    if to_short == "testkit" {
        return Some(format!("`{to}` is for tests: only a dev-dependency may name it"));
    }
    let may = match uses.may {
        [] => "nothing of ours".to_owned(),
        names => names.join(", "),
    };
    Some(format!("`{from}` must not use `{to}`; it may use {may}"))
}

fn row(name: &str) -> Option<&'static Row> {
    let is_ours = name == "xtask" || (name.starts_with("cantus-") && name != "cantus-xtask");
    TABLE.iter().find(|row| is_ours && row.name == short(name))
}

fn short(name: &str) -> &str {
    name.strip_prefix("cantus-").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NORMAL: DependencyKind = DependencyKind::Normal;
    const DEV: DependencyKind = DependencyKind::Development;

    #[track_caller]
    fn check(from: &str, to: &str, kind: DependencyKind, expected: Option<&str>) {
        assert_eq!(fault(Edge { from, to, kind, optional: false }).as_deref(), expected);
    }

    #[test]
    fn edges_of_the_table_are_allowed() {
        check("cantus-compose", "cantus-memory", NORMAL, None);
        check("cantus-capi", "cantus-launch", NORMAL, None);
        check("cantus-cli", "cantus-bundle", NORMAL, None);
        check("xtask", "cantus-cli", NORMAL, None);
        check("xtask", "cantus-manifest", NORMAL, None);
        check("cantus-memory", "pulldown-cmark", NORMAL, None);
    }

    #[test]
    fn edges_against_the_direction_are_not() {
        let message = "`cantus-memory` must not use `cantus-compose`; it may use manifest";
        for kind in [NORMAL, DEV, DependencyKind::Build] {
            check("cantus-memory", "cantus-compose", kind, Some(message));
        }
        check(
            "cantus-manifest",
            "cantus-fs",
            NORMAL,
            Some("`cantus-manifest` must not use `cantus-fs`; it may use nothing of ours"),
        );
    }

    #[test]
    fn the_testkit_is_for_tests_and_stands_alone() {
        let tests_only = "`cantus-testkit` is for tests: only a dev-dependency may name it";
        check("cantus-manifest", "cantus-testkit", DEV, None);
        check("cantus-manifest", "cantus-testkit", NORMAL, Some(tests_only));
        check("cantus-cli", "cantus-testkit", DependencyKind::Build, Some(tests_only));
        check("xtask", "cantus-testkit", NORMAL, None);
        check(
            "cantus-testkit",
            "cantus-fs",
            DEV,
            Some("`cantus-testkit` must not use `cantus-fs`; it may use nothing of ours"),
        );
    }

    #[test]
    fn a_crate_may_turn_on_its_own_features_in_its_tests() {
        check("cantus-fs", "cantus-fs", DEV, None);
    }

    #[test]
    fn a_session_is_a_feature_of_the_launch() {
        let edge = Edge { from: "cantus-launch", to: "cantus-session", kind: NORMAL, optional: true };
        assert_eq!(fault(edge), None);
        assert_eq!(
            fault(Edge { optional: false, ..edge }).as_deref(),
            Some("`cantus-launch` may use `cantus-session` behind a feature only: make it optional")
        );
    }

    #[test]
    fn packages_of_others_are_banned_outside_tests() {
        check("cantus-fs", "clap", NORMAL, Some("`cantus-fs` must never use `clap`"));
        check("cantus-cli", "sha2", NORMAL, Some("`cantus-cli` must never use `sha2`"));
        check("cantus-compose", "tempfile", NORMAL, Some("`cantus-compose` must never use `tempfile`"));
        check("cantus-compose", "tempfile", DEV, None);
    }

    #[test]
    fn only_crates_of_the_table_are_ours() {
        assert!(row("cantus-nothing").is_none() && row("fs").is_none() && row("cantus-xtask").is_none());
        assert!(row("xtask").is_some() && row("cantus-fs").is_some());
    }

    #[test]
    fn the_table_has_no_cycle() {
        let mut sorted: Vec<&str> = Vec::new();
        for _ in TABLE {
            for row in TABLE {
                let ready = row.may.iter().chain(row.optional).all(|name| sorted.contains(name));
                if ready && !sorted.contains(&row.name) {
                    sorted.push(row.name);
                }
            }
        }
        assert_eq!(sorted.len(), TABLE.len(), "{sorted:?}");
    }
}
