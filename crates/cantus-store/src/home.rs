//! Where the store is.

use std::ffi::OsString;
use std::path::PathBuf;

/// The variables that name the store, the first that is set before the others.
pub const VARIABLES: [&str; 3] = ["CANTUS_STORE", "CANTUS_HOME", "SASE_INSTRUCTIONS_HOME"];

/// The store that the environment names, else `cantus` in the user's folder for data; `None` if there is no such folder. It
/// need not exist.
#[must_use]
pub fn default_home() -> Option<PathBuf> {
    let home = home_in(|name| std::env::var_os(name), std::env::home_dir)?;
    std::path::absolute(home).ok()
}

fn home_in(
    variable: impl Fn(&str) -> Option<OsString>,
    user: impl Fn() -> Option<PathBuf>,
) -> Option<PathBuf> {
    let variable = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if let Some(named) = VARIABLES.into_iter().find_map(variable) {
        return Some(named);
    }
    let data = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_DATA_HOME" };
    let data = variable(data).filter(|folder| folder.is_absolute());
    let data = data.or_else(|| Some(user()?.join(".local").join("share")));
    Some(data?.join("cantus"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(set: &[(&str, &str)], expected: &str) {
        let variable =
            |name: &str| set.iter().find(|(known, _)| *known == name).map(|(_, value)| OsString::from(value));
        let found = home_in(variable, || Some(PathBuf::from("/u")));
        assert_eq!(found, Some(PathBuf::from(expected)));
    }

    #[test]
    fn the_first_variable_that_is_set_counts() {
        let all = [("CANTUS_STORE", "/a"), ("CANTUS_HOME", "/b"), ("SASE_INSTRUCTIONS_HOME", "/c")];
        check(&all, "/a");
        check(&all[1..], "/b");
        check(&all[2..], "/c");
        check(&[("CANTUS_STORE", ""), ("CANTUS_HOME", "/b")], "/b");
    }

    #[test]
    #[cfg(not(windows))]
    fn else_it_lies_among_the_users_data() {
        check(&[], "/u/.local/share/cantus");
        check(&[("XDG_DATA_HOME", "/d")], "/d/cantus");
        check(&[("XDG_DATA_HOME", "d")], "/u/.local/share/cantus");
        assert_eq!(home_in(|_| None, || None), None);
    }
}
