//! Names for the notes that an import makes.

use std::collections::BTreeMap;

use cantus_manifest::RelPath;
use unicode_normalization::UnicodeNormalization;

use crate::unicode::{fold, slug};

/// The most characters that a name takes from a heading.
const LONGEST: usize = 48;

/// Stems that agents, file systems or the note folder give a meaning of their own.
const RESERVED: [&str; 7] = ["readme", "assets", "agents", "claude", "gemini", "qwen", "cantus"];

/// Who has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// Something that was there before.
    Existing,
    /// A note of the import's file with this index.
    File(usize),
    /// Nobody may have it.
    Reserved,
}

/// The names that are taken.
pub(super) struct Names {
    /// By the part of a section's id that they would be.
    owners: BTreeMap<String, Owner>,
    /// The last number that a name got.
    numbers: BTreeMap<String, u32>,
}

impl Names {
    /// The names of what lies in the note folder, and the package's.
    pub(super) fn new<'a>(existing: impl Iterator<Item = &'a str>, package: &str) -> Self {
        let mut owners = BTreeMap::new();
        for name in RESERVED.into_iter().chain([package]) {
            owners.insert(slug(name), Owner::Reserved);
        }
        for name in existing {
            let stem = name.strip_suffix(".md").unwrap_or(name);
            owners.entry(slug(stem)).or_insert(Owner::Existing);
        }
        Self { owners, numbers: BTreeMap::new() }
    }

    /// Gives a name that nobody has, near `base`, to a note of the file with this index and label. Also gives the name that
    /// another file's or an older note already had.
    pub(super) fn take(&mut self, base: &str, file: usize, label: &str) -> (String, Option<String>) {
        let owner =
            if is_device(base) { Some(Owner::Reserved) } else { self.owners.get(&slug(base)).cloned() };
        let (start, other) = match owner {
            None => (base.to_owned(), None),
            Some(Owner::Reserved) => (format!("{base}-notes"), None),
            Some(Owner::File(other)) if other == file => (base.to_owned(), None),
            Some(Owner::File(_) | Owner::Existing) => (format!("{base}-{label}"), Some(base.to_owned())),
        };
        let mut name = start.clone();
        while self.owners.contains_key(&slug(&name)) {
            let number = self.numbers.entry(start.clone()).or_insert(1);
            *number += 1;
            name = format!("{start}-{number}");
        }
        self.owners.insert(slug(&name), Owner::File(file));
        (name, other)
    }
}

/// Whether Windows takes the name for a device.
fn is_device(stem: &str) -> bool {
    let numbered = |prefix: &str| {
        stem.strip_prefix(prefix).is_some_and(|rest| rest.len() == 1 && rest.as_bytes()[0].is_ascii_digit())
    };
    ["con", "prn", "aux", "nul"].contains(&stem) || numbered("com") || numbered("lpt")
}

/// `text` as a file's stem: small ASCII letters, digits and hyphens; accents go, what has no such form goes. `None` if
/// nothing is left.
pub(super) fn stem_of(text: &str) -> Option<String> {
    let plain: String =
        fold(text).nfkd().filter(|c| !unicode_normalization::char::is_combining_mark(*c)).collect();
    let words = plain.to_ascii_lowercase();
    let mut stem = String::new();
    for word in words.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()) {
        if !stem.is_empty() && stem.len() + word.len() >= LONGEST {
            break;
        }
        if !stem.is_empty() {
            stem.push('-');
        }
        stem.push_str(&word[..word.len().min(LONGEST)]);
    }
    (!stem.is_empty()).then_some(stem)
}

/// What stands for a file in names: `claude` for `CLAUDE.md`, `api-agents` for `packages/api/AGENTS.md`, `copilot` for
/// `.github/copilot-instructions.md`.
pub(super) fn label(path: &RelPath) -> String {
    let name = path.file_name().trim_start_matches('.');
    let name = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let name = name.strip_suffix("-instructions").or(name.strip_suffix("rules")).unwrap_or(&name);
    let name = stem_of(name).unwrap_or_else(|| "rules".to_owned());
    let is_standard = ["agents", "claude", "gemini"].contains(&name.as_str());
    match path.parent().filter(|_| is_standard) {
        Some(folder) => stem_of(folder.file_name()).map_or(name.clone(), |folder| format!("{folder}-{name}")),
        None => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_stem(text: &str, expected: Option<&str>) {
        assert_eq!(stem_of(text).as_deref(), expected);
    }

    #[test]
    fn headings_to_stems() {
        check_stem("Build & test", Some("build-test"));
        check_stem("Überblick — Maße", Some("uberblick-masse"));
        check_stem("`cargo` *fmt*!", Some("cargo-fmt"));
        check_stem("日本語", None);
        check_stem("日本語 API", Some("api"));
        check_stem("", None);
        check_stem(&"long words ".repeat(9), Some("long-words-long-words-long-words-long-words-long"));
        check_stem(&"x".repeat(99), Some(&"x".repeat(48)));
    }

    #[test]
    fn labels() {
        for (path, label) in [
            ("AGENTS.md", "agents"),
            ("packages/api/CLAUDE.md", "api-claude"),
            (".github/copilot-instructions.md", "copilot"),
            (".github/instructions/web.instructions.md", "web"),
            (".windsurfrules", "windsurf"),
            (".cursor/rules/Näme x.mdc", "name-x"),
            ("日本.md", "rules"),
        ] {
            assert_eq!(super::label(&RelPath::new(path).unwrap()), label);
        }
    }

    #[test]
    fn names_are_unique_whatever_the_case() {
        let mut names = Names::new(["Rules.md", "web", "README.md"].into_iter(), "house");
        let mut take = |base, file| names.take(base, file, ["agents", "claude"][file]);
        assert_eq!(take("rules", 0), ("rules-agents".into(), Some("rules".into())));
        assert_eq!(take("web", 0).0, "web-agents");
        assert_eq!(take("test", 0), ("test".into(), None));
        assert_eq!(take("test", 0), ("test-2".into(), None));
        assert_eq!(take("test", 1), ("test-claude".into(), Some("test".into())));
        assert_eq!(take("test", 1).0, "test-claude-2");
        for reserved in ["readme", "house", "claude", "con", "lpt1"] {
            assert_eq!(take(reserved, 0).0, format!("{reserved}-notes"));
        }
    }
}
