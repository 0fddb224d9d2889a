//! Rules that hold for every corpus.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use cantus_compose::{Bundle, Material, Package, SectionSet, Settings};
use cantus_manifest::{Facts, Provider, RelPath};
use cantus_memory::{Corpus, MemoryFolder, MemoryTree, SourceFile};
use proptest::collection::vec;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use proptest::test_runner::Config;

/// Lines that mean something to Markdown, to wrapping or to the roster.
const LINES: &[&str] = &[
    "",
    "",
    "plain words of a sentence",
    "# Title",
    "## Part",
    "###### deep ##",
    "#no heading",
    "  # indented",
    "#\tTab",
    "```",
    "```rust",
    "````",
    "~~~",
    "    code",
    "- item",
    "  - nested `code span` here",
    "1. first",
    "> quote",
    "> # quoted",
    "| a | b |",
    "<!-- comment",
    "-->",
    "<div>",
    "[[link]] and ![[inline]]",
    "日本語のテキスト はここで 折り返す",
    "e\u{301}\u{200d}\u{fe0f}",
    "trailing blanks   ",
    "a lone ` backtick",
    "a\u{2028}b\u{c}c\u{85}d",
    "{{ jinja }} {% if %}",
    "***",
    "Setext",
    "===",
    "\\",
];

fn body() -> impl Strategy<Value = String> {
    vec(select(LINES), 0..14).prop_map(|lines| lines.iter().map(|line| format!("{line}\n")).collect())
}

#[derive(Clone, Debug)]
struct Note {
    front: String,
    body: String,
}

impl Note {
    fn text(&self) -> String {
        format!("---\n{}---\n{}", self.front, self.body)
    }
}

fn note() -> impl Strategy<Value = Note> {
    let front = prop_oneof![
        (0..30u32).prop_map(|priority| format!("type: core\npriority: {priority}\n")),
        Just("type: short\n".to_owned()),
        Just("type: reference\n".to_owned()),
        Just(
            "type: long\ndescription: >-\n  Folded words that go on for\n  more than one line `and code`\n"
                .to_owned()
        ),
        Just("type: reference\nparent: memory/other.md\n".to_owned()),
        Just(
            "type: reference\ndescription: \"quoted: with a colon, **bold** and [a link](x y)\"\n".to_owned()
        ),
    ];
    (front, body()).prop_map(|(front, body)| Note { front, body })
}

#[derive(Clone, Debug)]
struct Web {
    front: &'static str,
    body: String,
    strands: Vec<String>,
}

fn web() -> impl Strategy<Value = Web> {
    let front = select(
        ["web: true\n", "web: true\nroster: list\n", "web: true\nstrand_noun: Fluß\npriority: 3\n"]
            .as_slice(),
    );
    let strand = ("[a-z]{1,8}( [a-z]{1,12}){0,5}", body());
    (front, body(), vec(strand, 0..6)).prop_map(|(front, body, strands)| {
        let strand = |(index, (words, body)): (usize, (String, String))| {
            format!("---\nkeyword: Term {index} {words}\naliases: [\"{words}s {index}\"]\nsummary: {words} is *that*\n---\nx\n{body}")
        };
        Web { front, body, strands: strands.into_iter().enumerate().map(strand).collect() }
    })
}

/// Files of a corpus: path and text.
type Files = Vec<(String, String)>;

fn files() -> impl Strategy<Value = Files> {
    (vec(note(), 0..6), vec(web(), 0..3)).prop_map(|(notes, webs)| {
        let mut files: Files = Vec::new();
        for (index, note) in notes.iter().enumerate() {
            files.push((format!("memory/note-{index}.md"), note.text()));
        }
        for (index, web) in webs.iter().enumerate() {
            files.push((format!("memory/web_{index}.md"), format!("---\n{}---\n{}", web.front, web.body)));
            for (strand, text) in web.strands.iter().enumerate() {
                files.push((format!("memory/web_{index}/s{strand}.md"), text.clone()));
            }
        }
        files
    })
}

fn tree(files: &Files) -> MemoryTree {
    let mut tree = MemoryTree::default();
    for (path, text) in files {
        let file = SourceFile {
            path: RelPath::new(path.as_str()).unwrap(),
            bytes: text.clone().into_bytes(),
            sha256: None,
        };
        let folder = file.path.parent().unwrap();
        if folder.as_str() == "memory" {
            if text.contains("web: true") {
                let path = RelPath::new(path.strip_suffix(".md").unwrap()).unwrap();
                tree.folders.push(MemoryFolder { path, strands: Vec::new(), folders: Vec::new() });
            }
            tree.notes.push(file);
        } else {
            let found = tree.folders.iter_mut().find(|other| other.path == folder);
            found.unwrap().strands.push(file);
        }
    }
    tree
}

fn bundles(tree: MemoryTree, width: usize) -> Vec<Bundle> {
    let outcome = Corpus::parse(tree);
    assert_eq!(outcome.diagnostics, []);
    let settings = Settings { title: "T".to_owned(), width, repositories: Vec::new(), source: None };
    let package = Package::built_in();
    let material = Material { package: &package, project: &outcome.value, home: None, settings: &settings };
    let set = SectionSet::new(material, Some("p")).value;
    let provider = || Provider::new("claude").unwrap();
    [
        Facts::root(provider()),
        Facts::root(Provider::native()),
        Facts::helper(provider()),
        Facts::export(provider()),
    ]
    .map(|facts| set.bundle(facts))
    .into()
}

fn texts(tree: MemoryTree, width: usize) -> Vec<String> {
    bundles(tree, width).iter().map(Bundle::text).collect()
}

proptest! {
    #![proptest_config(Config { cases: 96, failure_persistence: None, ..Config::default() })]

    #[test]
    fn sections_cover_their_bundle_and_end_in_one_blank_line(files in files(), width in select([0usize, 20, 40, 88].as_slice())) {
        for bundle in bundles(tree(&files), width) {
            let mut text = String::new();
            for (section, content) in bundle.included() {
                let own = content.text();
                prop_assert!(own.ends_with("\n\n") && !own.starts_with('\n'), "{}: {own:?}", section.id);
                prop_assert!(!own.ends_with("\n\n\n"), "{}: {own:?}", section.id);
                prop_assert_eq!(content.origins().len(), own.matches('\n').count());
                text.push_str(own);
            }
            prop_assert_eq!(bundle.bytes(), text.len());
            prop_assert_eq!(bundle.lines(), text.matches('\n').count());
            prop_assert_eq!(bundle.text(), text);
        }
    }

    #[test]
    fn every_copied_line_is_the_line_that_its_origin_names(files in files()) {
        for bundle in bundles(tree(&files), 88) {
            for (section, content) in bundle.included().filter(|(section, _)| section.id.as_str().starts_with("proj.core.")) {
                let source = &section.sources[0];
                let (_, text) = files.iter().find(|(path, _)| path == source.path.as_str()).unwrap();
                let lines: Vec<&str> = text.split('\n').collect();
                for (line, origin) in content.text().split('\n').zip(content.origins()).filter(|(_, origin)| origin.is_some()) {
                    let original = lines[origin.line as usize - 1];
                    let same = line == original || (line.starts_with("##") && original.starts_with('#'));
                    prop_assert!(same, "{}: {line:?} is not {original:?}", section.id);
                }
            }
        }
    }

    #[test]
    fn neither_order_nor_line_ends_nor_a_mark_change_a_byte(files in files(), seed in any::<u64>()) {
        let expected = texts(tree(&files), 60);
        let mut shuffled = tree(&files);
        let key = |path: &RelPath| path.as_str().bytes().fold(seed, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        shuffled.notes.sort_by_key(|file| key(&file.path));
        shuffled.folders.sort_by_key(|folder| key(&folder.path));
        for folder in &mut shuffled.folders {
            folder.strands.sort_by_key(|file| key(&file.path));
        }
        prop_assert_eq!(&texts(shuffled, 60), &expected);
        let crlf: Files = files.iter().map(|(path, text)| (path.clone(), text.replace('\n', "\r\n"))).collect();
        prop_assert_eq!(&texts(tree(&crlf), 60), &expected);
        let marked: Files = files.iter().map(|(path, text)| (path.clone(), format!("\u{feff}{text}"))).collect();
        prop_assert_eq!(&texts(tree(&marked), 60), &expected);
    }

    #[test]
    fn root_renders_share_their_digest_and_helpers_do_not(files in files()) {
        let bundles = bundles(tree(&files), 88);
        prop_assert_eq!(bundles[0].common_digest(), bundles[1].common_digest());
        prop_assert!(bundles[0].common_digest() != bundles[2].common_digest());
        for bundle in &bundles {
            let lifecycle = bundle.included().filter(|(section, _)| section.id.as_str() == "pkg.root.final_declaration");
            prop_assert_eq!(lifecycle.count(), usize::from(bundle.facts().actor() == cantus_manifest::Actor::SaseRoot));
        }
    }

    #[test]
    fn no_note_claims_a_section_outside_its_layer(files in files()) {
        for bundle in bundles(tree(&files), 88) {
            for section in bundle.sections().iter().filter(|section| section.sources.iter().any(|source| source.path.as_str().starts_with("memory/"))) {
                prop_assert!(section.id.as_str().starts_with("proj."), "{}", section.id);
            }
        }
    }
}
