//! The names of a run's files: `NN-<label>.md`, `.json`, `.error.json`, a helper's with `.helper` before that.

use std::fmt;

use cantus_manifest::RelPath;

/// The folder of a run's records, below its artifacts folder.
pub(crate) const FOLDER: &str = "instructions";

/// The most digits that a number has: whoever writes a longer one isn't counting.
const MOST_DIGITS: usize = 9;

/// The most characters that a label has: names of files are bounded.
const MOST_LABEL: usize = 64;

/// Whose bundle a record is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The agent that was given the task.
    Root,
    /// The agents that it starts.
    Helper,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Root => "root",
            Self::Helper => "helper",
        })
    }
}

/// What a file of a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// The bundle.
    Bundle,
    /// Its manifest.
    Manifest,
    /// Why there is no bundle.
    Error,
}

impl Part {
    fn ending(self) -> &'static str {
        match self {
            Self::Bundle => ".md",
            Self::Manifest => ".json",
            Self::Error => ".error.json",
        }
    }
}

/// A record's place in its run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) seq: u64,
    pub(crate) role: Role,
    pub(crate) label: String,
}

impl Place {
    /// The name of one of its files.
    pub(crate) fn file(&self, part: Part) -> String {
        let helper = if self.role == Role::Helper { ".helper" } else { "" };
        format!("{:02}-{}{helper}{}", self.seq, self.label, part.ending())
    }

    /// The same below the artifacts folder. A label that was read may have characters that no path of ours has.
    pub(crate) fn path(&self, part: Part) -> Option<RelPath> {
        RelPath::new(format!("{FOLDER}/{}", self.file(part))).ok()
    }
}

/// The place and the part that the name of a file means; `None` if it is none of ours.
pub(crate) fn parse(name: &str) -> Option<(Place, Part)> {
    let seq = number(name)?;
    let rest = name.split_once('-')?.1;
    let (stem, part) = [Part::Error, Part::Manifest, Part::Bundle]
        .into_iter()
        .find_map(|part| Some((rest.strip_suffix(part.ending())?, part)))?;
    let (label, role) = match stem.strip_suffix(".helper") {
        Some(label) => (label, Role::Helper),
        None => (stem, Role::Root),
    };
    let place = Place { seq, role, label: label.to_owned() };
    // A name that we would write otherwise could not be found again.
    (!label.is_empty() && place.file(part) == name).then_some((place, part))
}

/// The number that a name begins with: two digits, or more without a leading zero, then `-`.
pub(crate) fn number(name: &str) -> Option<u64> {
    let digits = name.split_once('-')?.0;
    let fits =
        digits.len() == 2 || (digits.len() > 2 && digits.len() <= MOST_DIGITS && !digits.starts_with('0'));
    if !fits || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

/// A provider's name as part of a file's name: each run of anything but ASCII letters, digits, `_` and `-` is one `-`, none
/// stands at an end, and what would be empty is `unknown`.
pub(crate) fn label(provider: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let (mut label, mut replaced) = (String::new(), false);
    for c in provider.chars() {
        match is_plain(c) {
            true => label.push(c),
            false if !replaced => label.push('-'),
            false => {}
        }
        replaced = !is_plain(c);
    }
    match label.trim_matches('-') {
        "" => "unknown".to_owned(),
        label => label.chars().take(MOST_LABEL).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: Option<(u64, Role, &str, Part)>) {
        let found = parse(name);
        let found = found.as_ref().map(|(place, part)| (place.seq, place.role, place.label.as_str(), *part));
        assert_eq!(found, expected, "{name}");
    }

    #[test]
    fn names_of_records() {
        check("00-claude.md", Some((0, Role::Root, "claude", Part::Bundle)));
        check("07-a_b.json", Some((7, Role::Root, "a_b", Part::Manifest)));
        check("99-x.error.json", Some((99, Role::Root, "x", Part::Error)));
        check("100-x.helper.json", Some((100, Role::Helper, "x", Part::Manifest)));
        check("05-x.helper.md", Some((5, Role::Helper, "x", Part::Bundle)));
        check("05-a.b.md", Some((5, Role::Root, "a.b", Part::Bundle)));
    }

    #[test]
    fn other_names() {
        for name in
            ["notes.md", "0-a.md", "007-a.md", "00a.md", "00-.md", "00-a.txt", "1234567890-a.md", "٠٠-a.md"]
        {
            check(name, None);
        }
        for name in ["", "-", "00", "00-", ".00-a.md.a1B2c3.cantus-tmp"] {
            check(name, None);
        }
    }

    #[test]
    fn labels_are_names_of_files() {
        for (provider, expected) in [
            ("claude", "claude"),
            ("a b//c", "a-b-c"),
            ("../../etc", "etc"),
            ("日本", "unknown"),
            ("", "unknown"),
            ("-x-", "x"),
            ("a\nb", "a-b"),
            ("a--b", "a--b"),
            ("a- b", "a--b"),
        ] {
            assert_eq!(label(provider), expected);
        }
        assert_eq!(label(&"x".repeat(500)).len(), 64);
    }
}
