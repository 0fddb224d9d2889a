//! What each code means, as `docs/findings.md` says it.

/// One code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// The code.
    pub(crate) code: &'static str,
    /// The severity that its findings have.
    pub(crate) severity: &'static str,
    /// What a finding with it means.
    pub(crate) means: &'static str,
    /// What to do about one.
    pub(crate) help: &'static str,
}

/// A row a code, its four cells between ` | `. `SNAPSHOTS=overwrite cargo test -p cantus-cli rules` makes it anew.
const TABLE: &str = include_str!("rules.txt");

/// Every code, in the order of the documentation.
pub(crate) fn rules() -> impl Iterator<Item = Rule> {
    TABLE.lines().filter_map(|row| {
        let mut cells = row.split(" | ");
        let (code, severity) = (cells.next()?, cells.next()?);
        Some(Rule { code, severity, means: cells.next()?, help: cells.next()? })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DOCS: &str = include_str!("../../../docs/findings.md");

    #[test]
    fn the_table_is_that_of_the_documentation() {
        let rows = DOCS.lines().filter_map(|line| line.strip_prefix("| `")?.strip_suffix(" |"));
        let table: String = rows.map(|row| format!("{}\n", row.replacen('`', "", 1))).collect();
        snapbox::assert_data_eq!(table, snapbox::file!["rules.txt"].raw());
    }

    #[test]
    fn every_row_is_read() {
        assert_eq!(rules().count(), TABLE.lines().count());
        assert!(rules().all(|rule| ["error", "warning", "note"].contains(&rule.severity)));
        let none = Rule {
            code: "bug",
            severity: "error",
            means: "a fault that no input should bring about",
            help: "report it",
        };
        assert_eq!(rules().find(|rule| rule.code == "bug"), Some(none));
    }
}
