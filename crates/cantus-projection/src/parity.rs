//! What a committed file holds and a bundle lacks (§10.6).
//!
//! The file is read as a person reads it, by its headings and entries: it may be the work of an older version, of another
//! composer, or of a home folder. What the bundle has on top of it is no gap.

use std::collections::{BTreeMap, BTreeSet};

use cantus_compose::{Bundle, Section, SectionSet, Status};
use cantus_manifest::{ExclusionReason, Facts, Layer, Provider};
use cantus_memory::{fences, heading, is_fenced};

/// How a committed file and a bundle compare.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parity {
    /// How many notes, entries, package sections and repositories the file holds.
    pub held: usize,
    /// Those that the bundle lacks, in the order of the file.
    pub gaps: Vec<Gap>,
}

/// Something that a file holds and a bundle lacks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The line of the file, counted from 1.
    pub line: usize,
    /// What it is, in words.
    pub what: String,
    /// Why the bundle leaves it out, if it knows of it.
    pub reason: Option<ExclusionReason>,
}

/// One thing that a line of a file stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item<'a> {
    /// A note or a web, by the stem of its file, and the whole line.
    Unit(&'a str, &'a str),
    /// The entry of a reference note, by its path.
    Entry(&'a str),
    /// A heading that may be a package's.
    Heading(&'a str),
    /// An entry of a list of repositories.
    Repository(&'a str),
}

/// Compares the text of a committed file with a bundle that was made of `set`.
#[must_use]
pub fn parity(committed: &str, set: &SectionSet, bundle: &Bundle) -> Parity {
    let native = set.bundle(Facts::root(Provider::native()));
    let text = bundle.text();
    let known = Known::new(&native, bundle, &text);
    let (mut held, mut gaps) = (0, Vec::new());
    for (line, item) in items(committed, known.repositories) {
        let Some(lack) = known.lack(item) else { continue };
        held += 1;
        gaps.extend(lack.map(|(what, reason)| Gap { line, what, reason }));
    }
    Parity { held, gaps }
}

/// A text and why the bundle leaves it out.
type Lack = (String, Option<ExclusionReason>);

/// What a bundle has, by what a file can say of it.
struct Known<'a> {
    /// The bundle's headings and entries, whole lines.
    lines: BTreeSet<&'a str>,
    /// The bundle's notes and webs by the stems of their files.
    units: BTreeMap<&'a str, Vec<&'a Section>>,
    /// The package's sections that a native render has, by their first line.
    package: BTreeMap<&'a str, &'a Section>,
    /// What became of each section of the package.
    bundle: &'a Bundle,
    /// The heading of the list of repositories.
    repositories: Option<&'a str>,
    /// The names of the repositories that the bundle lists.
    names: BTreeSet<&'a str>,
}

impl<'a> Known<'a> {
    fn new(native: &'a Bundle, bundle: &'a Bundle, text: &'a str) -> Self {
        let mut units: BTreeMap<_, Vec<_>> = BTreeMap::new();
        let is_unit =
            |section: &&Section| matches!(section.layer, Layer::Plugin | Layer::Home | Layer::Project);
        for section in bundle.sections().iter().filter(is_unit) {
            let stem = section.sources.first().map_or("", |source| source.path.stem());
            units.entry(stem).or_default().push(section);
        }
        let package = native.included().filter(|(section, _)| section.layer == Layer::Package);
        let package =
            package.filter_map(|(section, content)| Some((content.text().lines().next()?, section)));
        let package: BTreeMap<_, _> = package.filter(|(line, _)| line.starts_with("####")).collect();
        let is_list = |(_, section): &(&&str, &&Section)| section.id.as_str().ends_with(".repos");
        let repositories = package.iter().find(is_list).map(|(line, _)| *line);
        let listed = bundle.included().filter(|(section, _)| section.id.as_str().ends_with(".repos"));
        let names = listed.flat_map(|(_, content)| content.text().lines()).filter_map(repository).collect();
        let lines = outside_fences(text).map(|(_, line)| line).filter(|line| is_mark(line)).collect();
        Self { lines, units, package, bundle, repositories, names }
    }

    /// What the bundle lacks of an item: nothing (`Some(None)`), or it; `None` for what is no item at all.
    fn lack(&self, item: Item<'_>) -> Option<Option<Lack>> {
        match item {
            Item::Unit(stem, line) => {
                Some(self.units_lack(stem, line).map(|reason| (format!("the note `{stem}`"), reason)))
            }
            Item::Entry(path) => {
                let line = format!("**`{path}`**");
                let stem = path.rsplit(['/', ':']).next().unwrap_or(path).strip_suffix(".md").unwrap_or(path);
                let named =
                    self.lines.range(line.as_str()..).next().is_some_and(|found| found.starts_with(&line));
                let lack = if named { None } else { self.units_lack(stem, &line) };
                Some(lack.map(|reason| (format!("the entry of `{path}`"), reason)))
            }
            Item::Heading(line) => {
                let id = &self.package.get(line)?.id;
                let found = self.bundle.sections().iter().find(|section| section.id == *id);
                let lack = match found.map(|section| &section.status) {
                    Some(Status::Included(_)) => None,
                    Some(Status::Excluded { reason, .. }) => Some(Some(*reason)),
                    None => Some(None),
                };
                Some(lack.map(|reason| (format!("the section `{id}`"), reason)))
            }
            Item::Repository(name) => {
                let lack = !self.names.contains(name);
                Some(lack.then(|| (format!("the repository `{name}`"), None)))
            }
        }
    }

    /// Why no note of this stem stands in the bundle; `None` if one does, or another in its place.
    fn units_lack(&self, stem: &str, line: &str) -> Option<Option<ExclusionReason>> {
        let units = self.units.get(stem).map_or(&[][..], Vec::as_slice);
        let reason = |section: &&Section| match &section.status {
            Status::Included(_) => None,
            Status::Excluded { reason, .. } => Some(*reason),
        };
        let reasons: Vec<_> = units.iter().map(reason).collect();
        let is_there = |reason: &Option<_>| matches!(reason, None | Some(ExclusionReason::Shadowed));
        if reasons.iter().any(is_there) || self.lines.contains(line) {
            return None;
        }
        Some(reasons.first().copied().flatten())
    }
}

/// The items of a file, each with its line.
fn items<'a>(text: &'a str, repositories: Option<&str>) -> Vec<(usize, Item<'a>)> {
    let mut items = Vec::new();
    let mut in_list = false;
    for (number, line) in outside_fences(text) {
        if let Some((level, title)) = heading(line) {
            in_list = in_list && level > 4 || repositories == Some(line);
            match level {
                3 => items.push((number, Item::Unit(stem(title), line))),
                4 => items.push((number, Item::Heading(line))),
                _ => {}
            }
        } else if let Some(path) = line.strip_prefix("**`").and_then(|rest| rest.split_once("`**")) {
            items.push((number, Item::Entry(path.0)));
        } else if let Some(name) = repository(line).filter(|_| in_list) {
            items.push((number, Item::Repository(name)));
        }
    }
    items
}

/// The stem in a note's heading, `Title (stem)` or `stem`.
fn stem(title: &str) -> &str {
    let inner = title.strip_suffix(')').and_then(|title| title.rsplit_once(" ("));
    inner.map_or(title, |(_, stem)| stem)
}

fn repository(line: &str) -> Option<&str> {
    Some(line.strip_prefix("- `")?.split_once('`')?.0)
}

fn is_mark(line: &str) -> bool {
    line.starts_with('#') || line.starts_with("**`")
}

/// The lines outside fences, each with its number.
fn outside_fences(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let fences = fences(text);
    let mut start = 0;
    let lines = text.split_inclusive('\n').map(move |line| {
        let at = start;
        start += line.len();
        (at, line.trim_end_matches('\n'))
    });
    (1..)
        .zip(lines)
        .filter(move |(_, (at, _))| !is_fenced(&fences, *at))
        .map(|(number, (_, line))| (number, line))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_items_of_a_file() {
        let text = "# T\n\n## Core\n\n### A Note (of) me (a)\n\n#### Sub\n\n```\n### no (x)\n```\n\n### plain\n\n#### Repos\n\n- `r`: d\n\n\
                    #### Next\n\n- `s`: d\n\n**`memory/b.md`** - text\n";
        let found = items(text, Some("#### Repos"));
        assert_eq!(
            found,
            [
                (5, Item::Unit("a", "### A Note (of) me (a)")),
                (7, Item::Heading("#### Sub")),
                (13, Item::Unit("plain", "### plain")),
                (15, Item::Heading("#### Repos")),
                (17, Item::Repository("r")),
                (19, Item::Heading("#### Next")),
                (23, Item::Entry("memory/b.md")),
            ]
        );
    }
}
