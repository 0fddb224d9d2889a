//! What agents read in a repository and how much of it: the dated table `data/providers.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    toml::from_str(include_str!("../data/providers.toml")).unwrap_or_else(|error| unreachable!("{error}"))
});

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    reader: Vec<Reader>,
}

/// An agent that finds instruction files by itself.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reader {
    /// The provider's name, as in the configuration.
    pub name: String,
    /// What its vendor calls it.
    pub title: String,
    /// What it reads at the root: of each group the first file that is there. `dir/*` stands for the files of a folder.
    pub reads: Vec<Vec<String>>,
    /// Files of which nobody knows for sure whether it reads them.
    #[serde(default)]
    pub unsure: Vec<String>,
    /// A file that it reads under a condition only.
    pub conditional: Option<Conditional>,
    /// A file that keeps another from being read.
    pub hides: Option<Hides>,
    /// What it reads outside of the root, where that is known.
    pub beyond: Option<Beyond>,
    /// Where it stops reading.
    #[serde(default)]
    pub limit: Vec<Limit>,
    /// Anything else.
    pub remark: Option<String>,
    /// How the row is known.
    pub evidence: Evidence,
    /// Where it can be looked up.
    pub source: String,
    /// When it was looked up, `YYYY-MM-DD`.
    pub date: String,
}

/// What is read outside of the root.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Beyond {
    /// How far up it looks in the folders above the root.
    pub up_to: UpTo,
    /// A variable that names the folder with the user's own files.
    pub variable: Option<String>,
    /// Where that folder is in the user's home, if no variable names it.
    pub folder: Option<String>,
    /// What it reads there: of each group the first file.
    #[serde(default)]
    pub user: Vec<Vec<String>>,
    /// How this is known.
    pub evidence: Evidence,
    /// Where it can be looked up.
    pub source: String,
    /// When it was looked up, `YYYY-MM-DD`.
    pub date: String,
}

/// How far up an agent looks in the folders above the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum UpTo {
    /// To the folder of the repository; nowhere if there is none.
    Repository,
    /// To the highest folder below that of the disk.
    Disk,
}

/// A file that is read under a condition.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Conditional {
    /// The file.
    pub file: String,
    /// The condition.
    pub when: String,
}

/// A file that keeps another from being read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hides {
    /// The file that hides.
    pub file: String,
    /// The file that is hidden.
    pub hidden: String,
    /// Where this was seen.
    pub when: String,
}

/// How much an agent reads.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// The files that it holds for.
    pub files: Vec<String>,
    /// The most that is read.
    pub amount: u64,
    /// What `amount` counts.
    pub unit: Unit,
    /// Of what.
    pub scope: Scope,
    /// How it is known.
    pub evidence: Evidence,
    /// Where it can be looked up.
    pub source: String,
    /// When it was looked up, `YYYY-MM-DD`.
    pub date: String,
    /// The key of our configuration that stands for the agent's own setting.
    pub key: Option<String>,
}

/// What a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes of UTF-8.
    Bytes,
    /// Unicode code points.
    Chars,
}

impl Unit {
    /// How many `text` has.
    #[must_use]
    pub fn count(self, text: &str) -> u64 {
        match self {
            Self::Bytes => text.len() as u64,
            Self::Chars => text.chars().count() as u64,
        }
    }

    /// The byte of `text` before which it has this many.
    pub(crate) fn offset(self, text: &str, count: u64) -> usize {
        let count = usize::try_from(count).unwrap_or(usize::MAX);
        match self {
            Self::Bytes => text.floor_char_boundary(count.min(text.len())),
            Self::Chars => text.char_indices().nth(count).map_or(text.len(), |(at, _)| at),
        }
    }

    /// The noun in a sentence.
    #[must_use]
    pub fn noun(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Chars => "characters",
        }
    }
}

/// Of what a limit is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Each file.
    File,
    /// The files of a folder and of those above it, the root's first.
    Chain,
}

/// How something is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// The agent's code was read.
    Source,
    /// It was measured.
    Measured,
    /// The vendor says so.
    Documented,
    /// A user said so.
    Reported,
}

impl Evidence {
    /// Whether it can be relied on: a limit known so is a hard one.
    #[must_use]
    pub fn is_firm(self) -> bool {
        self != Self::Reported
    }

    /// The word for it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Measured => "measured",
            Self::Documented => "documented",
            Self::Reported => "reported",
        }
    }
}

/// Every agent of the table, in its order.
#[must_use]
pub fn readers() -> &'static [Reader] {
    &TABLE.reader
}

/// Whether a path is what an entry of the table names: itself, or a file directly in its folder.
pub(crate) fn names(entry: &str, path: &str) -> bool {
    match entry.strip_suffix("/*") {
        Some(folder) => path.rsplit_once('/').is_some_and(|(parent, _)| parent == folder),
        None => entry == path,
    }
}

#[cfg(test)]
mod tests {
    use cantus_manifest::{Provider, RelPath};

    use super::*;

    fn is_date(text: &str) -> bool {
        let parts: Vec<_> = text.split('-').collect();
        let digits =
            |part: &str, length| part.len() == length && part.bytes().all(|byte| byte.is_ascii_digit());
        matches!(parts.as_slice(), [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2))
    }

    #[test]
    fn every_row_has_a_name_of_its_own_a_source_and_a_date() {
        let mut names = Vec::new();
        for reader in readers() {
            assert!(Provider::new(reader.name.as_str()).is_ok(), "{}", reader.name);
            assert!(!names.contains(&&reader.name), "{} stands twice", reader.name);
            names.push(&reader.name);
            assert!(is_date(&reader.date) && !reader.source.is_empty(), "{}", reader.name);
            if let Some(beyond) = &reader.beyond {
                assert!(is_date(&beyond.date) && !beyond.source.is_empty(), "{}", reader.name);
                assert!(beyond.user.is_empty() || beyond.folder.is_some(), "{}", reader.name);
                let files = beyond.user.iter().flatten().map(|file| file.trim_end_matches("/*"));
                let paths = files.chain(beyond.folder.as_deref());
                paths.for_each(|path| assert!(RelPath::new(path).is_ok(), "{}: {path}", reader.name));
            }
            for limit in &reader.limit {
                assert!(
                    is_date(&limit.date) && !limit.source.is_empty() && limit.amount > 0,
                    "{}",
                    reader.name
                );
            }
        }
    }

    #[test]
    fn every_file_is_a_path_below_the_root() {
        for reader in readers() {
            let files = reader.reads.iter().flatten().chain(&reader.unsure);
            for file in files {
                assert!(RelPath::new(file.trim_end_matches("/*")).is_ok(), "{}: {file}", reader.name);
            }
            assert!(reader.reads.iter().all(|group| !group.is_empty()), "{}", reader.name);
            let known = |file: &String| reader.reads.iter().flatten().any(|other| other == file);
            assert!(reader.limit.iter().flat_map(|limit| &limit.files).all(known), "{}", reader.name);
            assert!(reader.conditional.iter().all(|conditional| known(&conditional.file)), "{}", reader.name);
            assert!(
                reader.hides.iter().all(|hides| known(&hides.file) && known(&hides.hidden)),
                "{}",
                reader.name
            );
        }
    }

    #[test]
    fn the_default_providers_are_known() {
        for name in ["agy", "claude", "codex", "grok", "muse", "opencode", "qwen"] {
            assert!(readers().iter().any(|reader| reader.name == name), "{name}");
        }
    }

    #[test]
    fn the_documentation_has_every_row() {
        let page = include_str!("../../../docs/providers.md");
        for reader in readers() {
            let start = format!("| `{}` | {} |", reader.name, reader.title);
            let row = page.lines().find(|line| line.starts_with(&start));
            let row = row.unwrap_or_else(|| panic!("no row starts with {start}"));
            assert!(row.ends_with(&format!("| {} |", reader.evidence.as_str())), "{row}");
            assert!(reader.reads.iter().flatten().all(|file| row.contains(&format!("`{file}`"))), "{row}");
        }
        let newest = readers().iter().map(|reader| reader.date.as_str()).max().unwrap();
        assert!(page.contains(newest));
    }

    #[test]
    fn entries_name_files_or_folders() {
        assert!(names("AGENTS.md", "AGENTS.md") && !names("AGENTS.md", "a/AGENTS.md"));
        assert!(names("a/b/*", "a/b/c.md") && !names("a/b/*", "a/b/c/d.md") && !names("a/*", "a"));
    }

    #[test]
    fn units_count_and_cut() {
        assert_eq!((Unit::Bytes.count("aé"), Unit::Chars.count("aé")), (3, 2));
        assert_eq!((Unit::Bytes.offset("aéb", 2), Unit::Chars.offset("aéb", 2)), (1, 3));
        assert_eq!((Unit::Bytes.offset("a", 9), Unit::Chars.offset("a", 9)), (1, 1));
    }
}
