//! Invariants of bundles over generated corpora. `PROPTEST_CASES` asks for more of them, `PROPTEST_RNG_SEED` for others.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use cantus_compose::{
    Bundle, Home, Launch, LaunchText, Material, Package, Repository, Section, SectionSet, Settings,
    Stability, TextBudget, Texts, clip, fit, preview, trace,
};
use cantus_manifest::manifest::{CacheStatus, Manifest, SectionStatus};
use cantus_manifest::{Digest, Facts, Layer, Provider, RelPath, Stamps};
use cantus_memory::unicode::strip_end;
use cantus_memory::{Corpus, MemoryFolder, MemoryTree, SourceFile, fences, heading, is_fenced};
use cantus_testkit::{TEXT_PIECES, cases};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::sample::select;

/// Lines at which some rule looks.
const LINES: &[&str] = &[
    "",
    "",
    "   ",
    "# Title",
    "## Sub ##",
    "##\tTab",
    "#",
    "#tag",
    "=====",
    "---",
    "```",
    "````py",
    "~~~",
    "- ```",
    "> ```",
    "    # code",
    "- item",
    "| a | b |",
    "日本語のテキスト はここで 折り返す 必要があります",
    "e\u{301}\u{200d}\u{fffd}",
    "`code` and `",
    "[[link]] ![[other]] [a b](c \"d\")",
    "x\u{2028}# y\u{85}z\u{c}",
    "\u{feff}",
    "{{ project }} {% raw %}",
    "a line of prose that is wider than any of the widths that these settings have - with a dash",
];

fn line() -> impl Strategy<Value = String> {
    let free = any::<String>().prop_map(|text| text.replace(['\r', '\n'], ""));
    prop_oneof![6 => select(LINES).prop_map(str::to_owned), 2 => "[ -~]{0,40}", 1 => free]
}

/// A text in lines, some of them the markers of a roster.
fn body(markers: bool) -> impl Strategy<Value = String> {
    let place = if markers { 0..4usize } else { 0..1 };
    (vec(line(), 0..6), vec(line(), 0..6), place, any::<bool>()).prop_map(|(above, below, place, ended)| {
        let between = match place {
            0 => "",
            1 => "\n<!-- cantus:strands -->\n<!-- /cantus:strands -->\n",
            2 => "\n<!-- sase:strands -->\nold\n# roster\n<!-- /sase:strands -->\n",
            _ => "\na <!-- cantus:strands --> b <!-- /cantus:strands --> c\n",
        };
        let (above, below) = (above.join("\n"), below.join("\n"));
        format!("{above}\n{between}\n{below}{}", if ended { "\n" } else { "" })
    })
}

/// A text of YAML on one line.
fn scalar() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        3 => "[a-zA-Z_# *-]{1,12}x",
        1 => "[a-z` ]{30,90}x",
        1 => select(vec!["日本語 の テキスト", "é_e\u{301}", "C++", "**bold**", "~~~", "# Word", "[x](y)"])
            .prop_map(str::to_owned),
    ];
    text.prop_map(|text| format!("'{text}'"))
}

/// A text of YAML that may stand on several lines.
fn folded() -> impl Strategy<Value = String> {
    let lines = vec("[a-z]{1,9}( [a-z]{1,9}){0,6}x", 1..4);
    let folded = (select(vec![">-", ">", "|"]), lines).prop_map(|(style, lines)| {
        let lines: String = lines.iter().map(|line| format!("\n  {line}")).collect();
        format!("{style}{lines}")
    });
    prop_oneof![2 => scalar(), 1 => folded]
}

/// A note: its front matter, mostly valid, and its text.
fn note() -> impl Strategy<Value = String> {
    let kind = select(vec!["core", "core", "core", "reference", "reference", "short", "long", "odd"]);
    let field = prop_oneof![
        2 => (0..40u32).prop_map(|priority| format!("priority: {priority}\n")),
        2 => folded().prop_map(|text| format!("description: {text}\n")),
        1 => select(vec!["parent: AGENTS.md\n", "parent: b.md\n", "link_reference: none\n", "keywords: [a]\n"])
            .prop_map(str::to_owned),
    ];
    (kind, prop::option::of(field), body(false), any::<bool>()).prop_map(|(kind, field, body, blank)| {
        let blank = if blank { "\n" } else { "" };
        format!("---\ntype: {kind}\n{}---\n{blank}{body}", field.unwrap_or_default())
    })
}

fn strand() -> impl Strategy<Value = String> {
    let keyword = prop::option::of(scalar());
    let replaced = select(vec![
        "",
        "",
        "metadata: {status: superseded, superseded_by: web/b}\n",
        "metadata: {status: superseded-in-part, superseded_by: [web/b, elsewhere]}\n",
    ]);
    (keyword, vec(scalar(), 0..4), folded(), replaced, line()).prop_map(
        |(keyword, aliases, summary, replaced, body)| {
            let keyword = keyword.map_or_else(String::new, |keyword| format!("keyword: {keyword}\n"));
            let aliases = aliases.join(", ");
            format!("---\n{keyword}aliases: [{aliases}]\nsummary: {summary}\n{replaced}---\n{body}\ntext\n")
        },
    )
}

const NAMES: &[&str] =
    &["a", "b", "Z", "a-b", "a b", "_x", "é", "日", ".hid", "x.y", "cantus", "a_name_that_is_long"];

/// A memory folder with notes and webs.
fn tree() -> impl Strategy<Value = MemoryTree> {
    let notes = btree_map(select(NAMES), note(), 0..5);
    let descriptor = (select(vec!["inline", "list"]), prop::option::of(scalar()), body(true)).prop_map(
        |(roster, noun, body)| {
            let noun = noun.map_or_else(String::new, |noun| format!("strand_noun: {noun}\n"));
            format!("---\nweb: true\nroster: {roster}\n{noun}---\n{body}")
        },
    );
    let web = (descriptor, btree_map(select(NAMES), strand(), 0..4));
    let webs = btree_map(select(vec!["web", "glossary"]), web, 0..3);
    (notes, webs).prop_map(|(notes, webs)| {
        let file = |folder: &str, (name, text): (&str, String)| SourceFile {
            path: RelPath::new(format!("{folder}/{name}.md")).unwrap(),
            bytes: text.into_bytes(),
            stamp: None,
        };
        let mut tree = MemoryTree::default();
        tree.notes.extend(notes.into_iter().map(|note| file("memory", note)));
        for (name, (descriptor, strands)) in webs {
            tree.notes.push(file("memory", (name, descriptor)));
            let folder = format!("memory/{name}");
            let strands = strands.into_iter().map(|strand| file(&folder, strand)).collect();
            tree.folders.push(MemoryFolder {
                path: RelPath::new(folder).unwrap(),
                strands,
                folders: Vec::new(),
            });
        }
        tree
    })
}

const CONTRACT: &str = "# Contract

Above.

## Repositories {#repos}

{{ repository_entries }}

```
## no heading
```

## {{ project }} {#project .required}

{% for repository in repositories %}
- {{ repository.name }}
{% endfor %}
last

## Final Declaration {#root.final_declaration .root .required}

At the end.
";

const HELPER: &str = "# Helper\n\nHelp.\n";

static PACKAGE: LazyLock<Package> = LazyLock::new(|| {
    let files = [
        ("package.toml", "name = \"kit\"\nversion = \"1\"\n"),
        ("contract.md", CONTRACT),
        ("helper.md", HELPER),
        ("providers/p.md", "# P\n\nFor p.\n"),
    ];
    let files = files.map(|(name, text)| (name.to_owned(), text.as_bytes().to_vec()));
    let outcome = Package::parse(None, BTreeMap::from(files), Stamps::Skip);
    assert!(!outcome.has_errors(), "{:?}", outcome.diagnostics);
    outcome.value.unwrap()
});

fn facts() -> impl Strategy<Value = Facts> {
    let make = select(
        vec![Facts::root, Facts::helper, Facts::interactive, Facts::export] as Vec<fn(Provider) -> Facts>
    );
    (make, select(vec!["native", "p", "q"]))
        .prop_map(|(make, provider)| make(Provider::new(provider).unwrap()))
}

/// The bundle of a project's and a user's notes, whatever is wrong with them.
fn compose(project: &MemoryTree, home: &MemoryTree, width: usize, facts: &Facts) -> Bundle {
    sections(project, home, width).bundle(facts.clone())
}

/// The sections of their bundles.
fn sections(project: &MemoryTree, home: &MemoryTree, width: usize) -> SectionSet {
    let repository = |name: &str| Repository {
        name: name.to_owned(),
        description: "A repository that has a description of more than one line's width.".to_owned(),
        line: 1,
    };
    let settings =
        Settings { title: "Acme".to_owned(), width, repositories: vec![repository("one")], source: None };
    let home = Home {
        corpus: Corpus::parse(home.clone()).value,
        title: Some("Me".to_owned()),
        repositories: vec![repository("two")],
    };
    let project = Corpus::parse(project.clone()).value;
    let material = Material {
        package: &PACKAGE,
        plugins: &[],
        project: &project,
        home: Some(&home),
        settings: &settings,
    };
    let outcome = SectionSet::new(material, Some("Acme"));
    assert!(!outcome.has_errors(), "{:?}", outcome.diagnostics);
    outcome.value
}

/// The same files with other bytes.
fn with_bytes(tree: &MemoryTree, change: impl Fn(Vec<u8>) -> Vec<u8>) -> MemoryTree {
    let mut tree = tree.clone();
    let strands = tree.folders.iter_mut().flat_map(|folder| &mut folder.strands);
    for file in tree.notes.iter_mut().chain(strands) {
        file.bytes = change(std::mem::take(&mut file.bytes));
    }
    tree
}

fn with_line_ends(tree: &MemoryTree, end: &str) -> MemoryTree {
    with_bytes(tree, |bytes| String::from_utf8(bytes).unwrap().replace('\n', end).into_bytes())
}

/// A file's lines.
fn lines_of<'a>(tree: &'a MemoryTree, path: &RelPath) -> Vec<&'a str> {
    let strands = tree.folders.iter().flat_map(|folder| &folder.strands);
    let file = tree.notes.iter().chain(strands).find(|file| file.path == *path).unwrap();
    std::str::from_utf8(&file.bytes).unwrap().split('\n').collect()
}

/// Whether a section's line is what its source says there, or a heading of it, lowered.
fn is_verbatim(line: &str, source: &str) -> bool {
    line == source
        || heading(source).is_some_and(|(level, title)| {
            line == format!("{} {title}", "#".repeat(level + 2)).trim_end()
                || line.strip_prefix("### ").is_some_and(|line| level == 1 && line.starts_with(title))
        })
}

/// The runs of letters and digits.
fn words(text: &str) -> BTreeSet<String> {
    let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    runs.map(str::to_lowercase).collect()
}

fn check_traces(
    section: &Section,
    tree: &MemoryTree,
    corpus: &Corpus,
    texts: Texts<'_>,
) -> Result<(), TestCaseError> {
    let content = section.content().unwrap();
    // What the composer adds: paths, slugs, a web's label, and whether a strand was replaced.
    let mut ours: BTreeSet<String> = words("partly superseded by elsewhere web b");
    ours.extend(section.sources.iter().flat_map(|source| words(source.path.as_str())));
    let web = corpus.webs.iter().find(|web| web.path == section.sources[0].path);
    ours.extend(web.iter().flat_map(|web| words(&web.label)));
    let is_list = web.is_some_and(|web| web.roster == cantus_memory::Roster::List);
    for (index, line) in content.text().split_terminator('\n').enumerate() {
        let traces = trace(section, index, texts);
        let mut end = 0;
        for found in &traces {
            prop_assert_eq!(found.columns.start, end, "{}: {:?}", section.id, line);
            end = found.columns.end;
            let source = &section.sources[found.source];
            let lines = lines_of(tree, &source.path);
            let Some(number) = (found.line as usize).checked_sub(1) else { continue };
            prop_assert!(number < lines.len(), "{}:{}", source.path, found.line);
            let there = words(lines[number]);
            let stretch: String = line.chars().take(end).skip(found.columns.start).collect();
            let number_of_item = |word: &str| is_list && word.parse::<u32>().is_ok();
            let missing: Vec<_> = words(&stretch)
                .into_iter()
                .filter(|word| !there.contains(word) && !ours.contains(word) && !number_of_item(word))
                .collect();
            prop_assert!(
                missing.is_empty(),
                "{}: {:?} of {:?} not in {:?}",
                section.id,
                missing,
                line,
                lines[number]
            );
        }
        prop_assert!(traces.is_empty() || end == line.chars().count(), "{}: {:?}", section.id, line);
        let own = words(line).is_subset(&ours);
        prop_assert!(!traces.is_empty() || own, "{}: {:?} has no source", section.id, line);
    }
    Ok(())
}

fn check_origins(section: &Section, project: &MemoryTree, home: &MemoryTree) -> Result<(), TestCaseError> {
    let content = section.content().unwrap();
    let lines = content.text().split_terminator('\n');
    prop_assert_eq!(content.origins().len(), lines.clone().count(), "{}", section.id);
    let (tree, names) = match section.layer {
        Layer::Home => (home, ["home.core.", "home.ref.", "home.web."]),
        Layer::Project => (project, ["proj.core.", "proj.ref.", "proj.web."]),
        _ => return Ok(()),
    };
    let kind = names.iter().position(|name| section.id.as_str().starts_with(name)).unwrap();
    for (index, (line, origin)) in lines.zip(content.origins()).enumerate() {
        if !origin.is_some() {
            prop_assert!(
                line.is_empty() || index == 0 || kind == 2,
                "{}: {:?} has no origin",
                section.id,
                line
            );
            continue;
        }
        let source = &section.sources[origin.source as usize];
        let lines = lines_of(tree, &source.path);
        let number = origin.line.max(1) as usize;
        prop_assert!(number <= lines.len(), "{}:{} of {}", source.path, number, lines.len());
        let found = lines[number - 1];
        // A line with a marker of the roster is cut there, and the last one above a roster loses its blanks (§5.7).
        let cut = kind == 2
            && (strip_end(found) == line
                || found.contains(":strands -->") && (found.starts_with(line) || found.ends_with(line)));
        let is_roster = kind == 1 || origin.source > 0;
        prop_assert!(
            is_roster || cut || is_verbatim(line, found),
            "{}: {:?} is not {:?}",
            section.id,
            line,
            found
        );
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(80))]

    #[test]
    fn sections_are_a_bundle_without_gap_and_each_ends_in_one_blank_line(
        project in tree(), home in tree(), width in 0usize..60, facts in facts(),
    ) {
        let bundle = compose(&project, &home, width, &facts);
        let text = bundle.text();
        let mut offset = 0;
        for (section, content) in bundle.included() {
            let part = content.text();
            prop_assert_eq!(text.get(offset..offset + part.len()), Some(part));
            offset += part.len();
            prop_assert!(part.ends_with("\n\n") && !part.ends_with("\n\n\n"), "{}: {:?}", section.id, part);
            prop_assert!(!part.starts_with('\n') && !part.contains('\r'), "{}: {:?}", section.id, part);
        }
        prop_assert_eq!((offset, bundle.bytes()), (text.len(), text.len()));
        prop_assert_eq!(bundle.lines(), text.matches('\n').count());
    }

    #[test]
    fn every_bundle_has_a_manifest_that_is_its_own_normal_form(
        project in tree(), home in tree(), width in 0usize..60, facts in facts(),
    ) {
        let bundle = compose(&project, &home, width, &facts.host(Some("h")));
        let delivery = preview("2026-01-02T03:04:05Z".to_owned(), 1.5, CacheStatus::Bypass);
        let manifest = bundle.manifest(&PACKAGE, delivery, "");
        let ids: BTreeSet<_> = manifest.sections.iter().map(|section| &section.id).collect();
        let normal = Manifest::normalise(&manifest.to_value());
        if ids.len() < manifest.sections.len() {
            // Names whose slugs are equal were reported when the notes were parsed.
            prop_assert!(normal.unwrap_err().to_string().contains("duplicate section id"));
            return Ok(());
        }
        prop_assert_eq!(normal.as_ref(), Ok(&manifest));
        let text = bundle.text();
        for section in manifest.sections.iter().filter(|section| section.status == SectionStatus::Included) {
            let (offset, length) = (section.offset.unwrap() as usize, section.length.unwrap() as usize);
            let digest = Digest::of(&text[offset..offset + length]).to_string();
            prop_assert_eq!(section.sha256.as_ref(), Some(&digest));
        }
        prop_assert_eq!(&manifest.bundle.sha256, &Digest::of(&text).to_string());
        let layers = manifest.budget.by_layer.values();
        let sums = layers.fold((0, 0), |sums, layer| (sums.0 + layer.bytes, sums.1 + layer.tokens_est));
        prop_assert_eq!(sums, (manifest.bundle.bytes, manifest.bundle.tokens_est));
    }

    #[test]
    fn roots_of_all_providers_share_a_digest_that_helpers_have_not(project in tree(), home in tree()) {
        let project = Corpus::parse(project).value;
        let home = Home { corpus: Corpus::parse(home).value, ..Home::default() };
        let settings = Settings { title: "Acme".to_owned(), width: 40, repositories: Vec::new(), source: None };
        let package = Package::built_in(Stamps::Skip);
        let material = Material { package: &package, plugins: &[], project: &project, home: Some(&home), settings: &settings };
        let set = SectionSet::new(material, None).value;
        let native = set.bundle(Facts::root(Provider::native()));
        for name in ["claude", "codex", "grok", "muse", "agy", "qwen", "opencode"] {
            let provider = Provider::new(name).unwrap();
            let root = set.bundle(Facts::root(provider.clone()));
            prop_assert_eq!(root.common_digest(), native.common_digest(), "{}", name);
            let has_directive = root.included().any(|(section, _)| section.provider_specific);
            prop_assert_eq!(root.digest() != native.digest(), has_directive, "{}", name);
            let helper = set.bundle(Facts::helper(provider));
            prop_assert_ne!(helper.common_digest(), native.common_digest(), "{}", name);
        }
    }

    #[test]
    fn every_verbatim_line_equals_the_line_that_its_origin_names(
        project in tree(), home in tree(), width in 0usize..60, facts in facts(),
    ) {
        let bundle = compose(&project, &home, width, &facts);
        for (section, _) in bundle.included() {
            check_origins(section, &project, &home)?;
        }
    }

    #[test]
    fn the_words_of_each_line_stand_on_the_lines_that_it_is_traced_to(
        project in tree(), home in tree(), width in 0usize..60, facts in facts(),
    ) {
        let bundle = compose(&project, &home, width, &facts);
        let corpora = [Corpus::parse(project.clone()).value, Corpus::parse(home.clone()).value];
        let texts = Texts { project: &corpora[0], home: Some(&corpora[1]), plugins: &[], width };
        for (section, _) in bundle.included() {
            let (tree, corpus) = match section.layer {
                Layer::Project => (&project, &corpora[0]),
                Layer::Home => (&home, &corpora[1]),
                _ => continue,
            };
            check_traces(section, tree, corpus, texts)?;
        }
    }

    #[test]
    fn the_order_of_files_changes_nothing(
        (project, shuffled) in tree().prop_flat_map(|tree| {
            let notes = Just(tree.notes.clone()).prop_shuffle();
            let folders = Just(tree.folders.clone()).prop_shuffle();
            let shuffled = (notes, folders, any::<bool>()).prop_map(|(notes, mut folders, turned)| {
                if turned {
                    folders.iter_mut().for_each(|folder| folder.strands.reverse());
                }
                MemoryTree { notes, folders }
            });
            (Just(tree), shuffled)
        }),
        width in 0usize..60,
        facts in facts(),
    ) {
        let one = compose(&project, &shuffled, width, &facts);
        prop_assert_eq!(&compose(&shuffled, &project, width, &facts), &one);
        prop_assert_eq!(Corpus::parse(project).diagnostics, Corpus::parse(shuffled).diagnostics);
    }

    #[test]
    fn line_ends_and_a_byte_order_mark_change_nothing(
        project in tree(), home in tree(), width in 0usize..60, facts in facts(),
    ) {
        let plain = compose(&project, &home, width, &facts);
        for end in ["\r\n", "\r"] {
            let (project, home) = (with_line_ends(&project, end), with_line_ends(&home, end));
            prop_assert_eq!(&compose(&project, &home, width, &facts), &plain);
        }
        let marked = |tree: &MemoryTree| with_bytes(tree, |bytes| [b"\xef\xbb\xbf".as_slice(), &bytes].concat());
        prop_assert_eq!(&compose(&marked(&project), &marked(&home), width, &facts), &plain);
    }

    #[test]
    fn facts_that_only_describe_a_run_change_no_byte(project in tree(), home in tree(), facts in facts()) {
        let plain = compose(&project, &home, 40, &facts);
        let described = facts.host(Some("h")).vcs(Some("git"));
        prop_assert_eq!(compose(&project, &home, 40, &described).text(), plain.text());
    }

    #[test]
    fn a_table_says_the_same_as_each_bundle(project in tree(), home in tree(), width in 0usize..60) {
        let project = Corpus::parse(project).value;
        let home = Home { corpus: Corpus::parse(home).value, ..Home::default() };
        let settings = Settings { title: "Acme".to_owned(), width, repositories: Vec::new(), source: None };
        let material = Material { package: &PACKAGE, plugins: &[], project: &project, home: Some(&home), settings: &settings };
        let set = SectionSet::new(material, None).value;
        let facts = [Facts::root(Provider::new("p").unwrap()), Facts::export(Provider::native())];
        let table = set.table(&facts);
        for (index, facts) in facts.into_iter().enumerate() {
            let bundle = set.bundle(facts);
            let included = |row: &&cantus_compose::Row| row.presence[index] == cantus_compose::Presence::Included;
            let listed: Vec<_> = table.iter().filter(included).map(|row| &row.section).collect();
            let held: Vec<_> = bundle.included().map(|(section, _)| section).collect();
            prop_assert_eq!(listed, held);
        }
    }
}

#[test]
fn every_line_of_a_contract_without_tags_equals_the_line_that_its_origin_names() {
    let empty = MemoryTree::default();
    let bundle = compose(&empty, &empty, 30, &Facts::root(Provider::native()));
    let template: Vec<_> = CONTRACT.lines().collect();
    let parts = bundle.included().filter(|(section, _)| section.id.as_str().starts_with("pkg."));
    let mut seen = 0;
    for (section, content) in parts {
        for (line, origin) in
            content.text().lines().zip(content.origins()).filter(|(_, origin)| origin.is_some())
        {
            let source = template[origin.line as usize - 1];
            let tag = ["{{", "{%", "{#"].iter().any(|tag| source.contains(tag));
            assert!(tag || is_verbatim(line, source), "{}: {line:?} is not {source:?}", section.id);
            seen += usize::from(!tag);
        }
    }
    assert!(seen >= 10, "{seen}");
}

fn chars(text: &str) -> usize {
    text.chars().count()
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_fitted_text_is_within_its_budget(text in body(false), budget in 0..200usize, pointer in "|[a-zé][a-z é]{0,11}") {
        let fitted = fit(&text, budget, &pointer);
        if chars(text.trim()) <= budget {
            prop_assert_eq!((fitted.body.as_str(), fitted.cut), (text.trim(), false));
        } else if budget <= chars(&pointer) + 2 {
            prop_assert_eq!((fitted.body, fitted.cut), (pointer, true));
        } else {
            prop_assert!(fitted.cut);
            prop_assert!(chars(&fitted.body) <= budget, "{:?}", fitted.body);
            prop_assert!(fitted.body.ends_with(&pointer));
            let fences = fences(&fitted.body);
            let start = fitted.body.len() - pointer.len();
            prop_assert!(pointer.trim().is_empty() || !is_fenced(&fences, start), "{:?}", fitted.body);
            // What is kept is a head of the text, a fence that closes it aside.
            let kept = fitted.body[..start].trim_end();
            let head = kept.trim_end_matches(['`', '~']).trim_end();
            prop_assert!(text.trim().starts_with(kept) || text.trim().starts_with(head), "{:?}", fitted.body);
        }
    }

    #[test]
    fn a_text_of_any_letters_and_fences_is_fitted(
        pieces in vec(select(TEXT_PIECES.to_vec()), 0..60),
        more in 0..120_usize,
        pointer in select(vec!["", "more", "  more", "続き", "> see", "é\u{301}"]),
    ) {
        let (text, least) = (pieces.concat(), chars(pointer) + 2);
        let fitted = fit(&text, least + more, pointer);
        prop_assert!(chars(&fitted.body) <= least + more, "{:?}", fitted.body);
        if fitted.cut {
            prop_assert!(fitted.body.ends_with(pointer), "{:?}", fitted.body);
            let whole = format!("{}x", fitted.body);
            prop_assert!(pointer.starts_with('>') || !is_fenced(&fences(&whole), whole.len() - 1), "{:?}", fitted.body);
        } else {
            prop_assert_eq!(fitted.body, text.trim());
        }
    }

    #[test]
    fn without_fences_a_text_is_fitted_by_the_five_rules(
        pieces in vec(select(TEXT_PIECES.to_vec()), 0..60),
        budget in 0..120_usize,
        pointer in select(vec!["", "more", "続き"]),
    ) {
        let text = pieces.concat().replace(['`', '~'], "");
        let trimmed: Vec<char> = text.trim().chars().collect();
        let room = budget.saturating_sub(chars(pointer) + 2);
        let head: String = trimmed.iter().take(room).collect();
        let boundary = head.rfind("\n\n").or_else(|| head.rfind('\n')).filter(|at| *at > room / 2);
        let expected = match boundary.unwrap_or(head.len()) {
            _ if trimmed.len() <= budget => trimmed.iter().collect(),
            0 => pointer.to_owned(),
            end => format!("{}\n\n{pointer}", head[..end].trim_end()),
        };
        let fitted = fit(&text, budget, pointer);
        prop_assert_eq!((fitted.body, fitted.cut), (expected, trimmed.len() > budget));
    }

    #[test]
    fn a_clipped_text_is_a_head(text in any::<String>(), limit in 0..40usize) {
        let clipped = clip(&text, limit);
        match clipped.strip_suffix('…').filter(|_| chars(&text) > limit) {
            Some(head) => prop_assert!(text.starts_with(head) && chars(head) == limit),
            None => prop_assert_eq!(clipped, text),
        }
    }
}

fn launch_text() -> impl Strategy<Value = LaunchText> {
    let budget = proptest::option::of(
        (0..80usize).prop_map(|chars| TextBudget { chars, pointer: "see host".to_owned() }),
    );
    let stability = select(vec![Stability::Stable, Stability::Volatile]);
    (body(false), budget, stability).prop_map(|(text, budget, stability)| LaunchText {
        name: String::new(),
        text,
        budget,
        stability,
    })
}

proptest! {
    #![proptest_config(cases(200))]

    #[test]
    fn launch_sections_stand_last_and_volatile_ones_change_no_prefix(
        project in tree(),
        texts in vec(launch_text(), 0..5),
        other in launch_text(),
    ) {
        let texts: Vec<_> =
            texts.into_iter().enumerate().map(|(n, text)| LaunchText { name: format!("t{n}"), ..text }).collect();
        let set = sections(&project, &MemoryTree::default(), 40);
        let plain = set.bundle(Facts::root(Provider::native()));
        let bundle = set.bundle_with(Facts::root(Provider::native()), &Launch::new(texts.clone()).unwrap());
        prop_assert!(bundle.text().starts_with(&plain.text()));
        let layers: Vec<_> = bundle.included().map(|(section, _)| section.layer == Layer::Launch).collect();
        prop_assert!(layers.is_sorted());
        let others: Vec<_> = texts
            .iter()
            .cloned()
            .map(|text| match text.stability {
                Stability::Volatile => LaunchText { text: other.text.clone(), ..text },
                Stability::Stable => text,
            })
            .collect();
        let delivery = || preview(String::new(), 0.0, CacheStatus::Bypass);
        let package = Package::built_in(Stamps::Skip);
        let (mut text, mut manifest) = (plain.text(), plain.manifest(&package, delivery(), ""));
        Launch::new(texts).unwrap().append(&mut text, &mut manifest);
        prop_assert_eq!(text, bundle.text());
        prop_assert_eq!(manifest, bundle.manifest(&package, delivery(), ""));
        let changed = set.bundle_with(Facts::root(Provider::native()), &Launch::new(others).unwrap());
        prop_assert_eq!(changed.stable_digest(), bundle.stable_digest());
        prop_assert_eq!(plain.stable_digest(), plain.digest());
    }
}
