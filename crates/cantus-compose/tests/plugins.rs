//! The notes of dependencies in a bundle.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use cantus_compose::{Bundle, Home, Material, Package, Plugin, SectionSet, Settings, Status};
use cantus_manifest::{Facts, Layer, Provider, RelPath, Stamps};
use cantus_memory::{Corpus, MemoryFolder, MemoryTree, SourceFile};

/// The notes at these paths; a path of three parts is a strand.
fn corpus(files: &[(&str, &str)]) -> Corpus {
    let mut tree = MemoryTree::default();
    for (path, text) in files {
        let path = RelPath::new(*path).unwrap();
        let file = SourceFile { path: path.clone(), bytes: text.as_bytes().to_vec(), stamp: None };
        match path.as_str().matches('/').count() {
            1 => tree.notes.push(file),
            _ => tree.folders.push(MemoryFolder {
                path: path.parent().unwrap(),
                strands: vec![file],
                folders: Vec::new(),
            }),
        }
    }
    let outcome = Corpus::parse(tree);
    assert_eq!(outcome.diagnostics, []);
    outcome.value
}

const CORE: &str = "---\ntype: core\n---\n# Title\n\nText.\n";
const REFERENCE: &str = "---\ntype: reference\ndescription: On it.\n---\nText.\n";

fn plugin(name: &str, version: &str) -> Plugin {
    let corpus = corpus(&[
        ("agents/cantus.md", CORE),
        ("agents/rules.md", CORE),
        ("agents/errors.md", REFERENCE),
        ("agents/terms.md", "---\nweb: true\n---\n# Terms\n"),
        ("agents/terms/x.md", "A strand.\n"),
    ]);
    Plugin { name: name.to_owned(), version: version.to_owned(), corpus }
}

fn bundle(plugins: &[Plugin], facts: Facts) -> Bundle {
    let notes = [("memory/rules.md", CORE), ("memory/errors.md", REFERENCE)];
    let project = corpus(&notes);
    let home =
        Home { corpus: corpus(&[("memory/rules.md", CORE), ("memory/mine.md", CORE)]), ..Home::default() };
    let settings = Settings { title: "T".to_owned(), width: 88, repositories: Vec::new(), source: None };
    let package = Package::built_in(Stamps::Skip);
    let material =
        Material { package: &package, plugins, project: &project, home: Some(&home), settings: &settings };
    let outcome = SectionSet::new(material, None);
    assert_eq!(outcome.diagnostics, []);
    outcome.value.bundle(facts)
}

fn root() -> Facts {
    Facts::root(Provider::native())
}

/// The ids of the included sections, those of the package aside.
fn ids(bundle: &Bundle) -> Vec<&str> {
    let ids = bundle.included().map(|(section, _)| section.id.as_str());
    ids.filter(|id| !id.starts_with("pkg.")).collect()
}

#[test]
fn plugins_stand_with_their_kind_before_home_and_project() {
    let plugins = [plugin("a-b", "1.0.0"), plugin("c", "1.0.0")];
    let bundle = bundle(&plugins, root());
    assert_eq!(
        ids(&bundle),
        [
            "frame.title",
            "frame.core",
            "plugin.a-b.cantus",
            "plugin.a-b.rules",
            "plugin.c.cantus",
            "plugin.c.rules",
            "home.core.mine",
            "proj.core.rules",
            "frame.reference",
            "plugin.a-b.errors",
            "plugin.c.errors",
            "proj.ref.errors",
            "frame.webs",
            "plugin.a-b.terms",
            "plugin.c.terms",
        ]
    );
}

#[test]
fn a_note_called_like_the_package_or_a_note_of_the_project_is_neither_superseded_nor_shadowed() {
    let bundle = bundle(&[plugin("a", "1.0.0")], root());
    let excluded =
        bundle.sections().iter().filter(|section| matches!(section.status, Status::Excluded { .. }));
    let own = excluded
        .filter(|section| !section.id.as_str().starts_with("pkg."))
        .map(|section| section.id.as_str());
    assert_eq!(own.collect::<Vec<_>>(), ["home.core.rules"]);
}

#[test]
fn plugins_are_in_every_mode() {
    let provider = Provider::native;
    for facts in [Facts::helper(provider()), Facts::interactive(provider()), Facts::export(provider())] {
        let bundle = bundle(&[plugin("a", "1.0.0")], facts);
        assert_eq!(ids(&bundle).iter().filter(|id| id.starts_with("plugin.")).count(), 4);
    }
}

#[test]
fn a_version_is_provenance_and_no_byte_of_the_bundle() {
    let [old, new] = ["1.0.0", "2.0.0-rc.1+x"].map(|version| bundle(&[plugin("a", version)], root()));
    assert_eq!(old.text(), new.text());
    let paths = |bundle: &Bundle| {
        let sections = bundle.sections().iter().filter(|section| section.layer == Layer::Plugin);
        sections.flat_map(|section| section.sources.iter().map(ToString::to_string)).collect::<Vec<_>>()
    };
    assert_eq!(
        paths(&new),
        [
            "plugin:a-2.0.0-rc.1+x/agents/cantus.md",
            "plugin:a-2.0.0-rc.1+x/agents/rules.md",
            "plugin:a-2.0.0-rc.1+x/agents/errors.md",
            "plugin:a-2.0.0-rc.1+x/agents/terms.md",
            "plugin:a-2.0.0-rc.1+x/agents/terms/x.md",
        ]
    );
    assert!(new.text().contains("**`plugin:a/errors.md`** - On it.\n"), "{}", new.text());
}

#[test]
fn sections_of_a_plugin_are_neutral_and_not_required() {
    let bundle = bundle(&[plugin("a", "1.0.0")], root());
    let record = bundle.manifest(
        &Package::built_in(Stamps::Skip),
        cantus_compose::preview(String::new(), 0.0, cantus_manifest::manifest::CacheStatus::Bypass),
        "",
    );
    let value = record.to_value();
    let sections = value["sections"].as_array().unwrap().iter();
    let section = sections.clone().find(|section| section["id"] == "plugin.a.terms").unwrap();
    assert_eq!(
        (section["layer"].as_str(), section["lifecycle"].as_str(), section["required"].as_bool()),
        (Some("plugin"), Some("neutral"), Some(false))
    );
    let source = |index: usize| {
        let source = &section["sources"][index];
        ["scope", "kind", "path"].map(|key| source[key].as_str().unwrap().to_owned())
    };
    assert_eq!(source(0), ["plugin", "memory_web", "a-1.0.0/agents/terms.md"]);
    assert_eq!(source(1), ["plugin", "memory_strands", "a-1.0.0/agents/terms/x.md"]);
}
