//! The vectors of `tests/vectors/compose`: every section of notes and webs, byte for byte.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its own vectors")]

use std::fs;
use std::path::{Path, PathBuf};

use cantus_compose::{Home, Material, Package, Section, SectionSet, Settings, Status};
use cantus_manifest::{Facts, Provider, RelPath, Stamps};
use cantus_memory::{Corpus, MemoryFolder, MemoryTree, SourceFile};
use serde::Deserialize;

#[derive(Deserialize)]
struct FactsFile {
    actor: String,
    mode: String,
    project: Option<String>,
    provider: String,
}

#[derive(Deserialize)]
struct Expected {
    sections: Vec<ExpectedSection>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct ExpectedSection {
    id: String,
    #[serde(default)]
    length: Option<usize>,
    #[serde(default)]
    sha256: Option<String>,
    tokens_est: u64,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    shadowed_by: Option<String>,
}

impl From<&Section> for ExpectedSection {
    fn from(section: &Section) -> Self {
        let content = section.content();
        let (reason, shadowed_by) = match &section.status {
            Status::Included(_) => (None, None),
            Status::Excluded { reason, shadowed_by } => {
                (Some(reason.to_string()), shadowed_by.as_ref().map(ToString::to_string))
            }
        };
        Self {
            id: section.id.to_string(),
            length: content.map(|content| content.text().len()),
            sha256: content.map(|content| content.digest().to_string()),
            tokens_est: content.map_or(0, |content| content.tokens_est()),
            text: content.map(|content| content.text().to_owned()),
            reason,
            shadowed_by,
        }
    }
}

fn vectors() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/compose")
}

fn files(folder: &Path, path: &RelPath) -> (Vec<SourceFile>, Vec<String>) {
    let mut files = Vec::new();
    let mut folders = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            folders.push(name);
        } else if name.ends_with(".md") {
            files.push(SourceFile {
                path: path.join(&name).unwrap(),
                bytes: fs::read(entry.path()).unwrap(),
                stamp: None,
            });
        }
    }
    (files, folders)
}

fn corpus(root: &Path) -> Corpus {
    let memory = RelPath::new("sase/memory").unwrap();
    let folder = root.join(memory.as_str());
    let (mut notes, folders) = files(&folder, &memory);
    notes.retain(|file| !file.path.file_name().eq_ignore_ascii_case("README.md"));
    let folders = folders.into_iter().filter(|name| name != "assets").map(|name| {
        let path = memory.join(&name).unwrap();
        MemoryFolder { strands: files(&folder.join(&name), &path).0, path, folders: Vec::new() }
    });
    let outcome = Corpus::parse(MemoryTree { notes, folders: folders.collect() });
    assert_eq!(outcome.diagnostics, [], "{}", root.display());
    outcome.value
}

fn width(root: &Path) -> usize {
    let config = fs::read_to_string(root.join("cantus.toml")).unwrap();
    config.lines().find_map(|line| line.strip_prefix("width = ")).unwrap().parse().unwrap()
}

fn facts(case: &Path) -> Facts {
    let facts: FactsFile = serde_json::from_slice(&fs::read(case.join("facts.json")).unwrap()).unwrap();
    let provider = Provider::new(facts.provider).unwrap();
    let made = match (facts.actor.as_str(), facts.mode.as_str()) {
        ("sase_root", "runtime") => Facts::root(provider),
        ("native_helper", "runtime") => Facts::helper(provider),
        ("interactive", "interactive") => Facts::interactive(provider),
        ("interactive", "export") => Facts::export(provider),
        other => panic!("no such facts: {other:?}"),
    };
    made.project(facts.project.as_deref())
}

#[track_caller]
fn check(home: Option<&str>, keep: impl Fn(&str) -> bool) {
    let mut cases: Vec<_> = fs::read_dir(vectors()).unwrap().map(|entry| entry.unwrap().path()).collect();
    cases.retain(|path| path.is_dir());
    cases.sort();
    assert_eq!(cases.len(), 12);
    for case in cases {
        let root = case.join("project");
        let project = corpus(&root);
        let home = home.map(|folder| Home { corpus: corpus(&case.join(folder)), ..Home::default() });
        let settings =
            Settings { title: "T".to_owned(), width: width(&root), repositories: Vec::new(), source: None };
        let package = Package::built_in(Stamps::Skip);
        let material = Material {
            package: &package,
            plugins: &[],
            project: &project,
            home: home.as_ref(),
            settings: &settings,
        };
        let facts = facts(&case);
        let set = SectionSet::new(material, facts.project_name());
        assert_eq!(set.diagnostics, []);
        let bundle = set.value.bundle(facts);
        let found: Vec<_> = bundle.sections().iter().filter(|section| keep(section.id.as_str())).collect();
        let expected: Expected =
            serde_json::from_slice(&fs::read(case.join("expected.json")).unwrap()).unwrap();
        let expected: Vec<_> = expected.sections.into_iter().filter(|section| keep(&section.id)).collect();
        assert!(!expected.is_empty());
        let names = |sections: &[ExpectedSection]| {
            sections.iter().map(|section| section.id.clone()).collect::<Vec<_>>()
        };
        let found: Vec<ExpectedSection> = found.into_iter().map(ExpectedSection::from).collect();
        assert_eq!(names(&found), names(&expected), "{}", case.display());
        for (found, expected) in found.iter().zip(&expected) {
            assert_eq!(found, expected, "{}", case.display());
        }
        let text = bundle.text();
        assert_eq!(text.len(), bundle.bytes());
        assert_eq!(text.matches('\n').count(), bundle.lines());
    }
}

#[test]
fn project_sections_alone() {
    check(None, |id| id.starts_with("proj."));
}

#[test]
fn project_and_home_sections() {
    check(Some("home"), |id| id.starts_with("proj.") || id.starts_with("home."));
}
