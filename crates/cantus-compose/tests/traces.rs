//! Where the words of wrapped entries and of rosters come from, line by line.

use cantus_compose::{Material, Package, SectionSet, Settings, Texts, trace};
use cantus_manifest::{Facts, Provider, RelPath, Stamps};
use cantus_memory::{Corpus, MemoryFolder, MemoryTree, SourceFile};

fn file(path: &str, text: &str) -> SourceFile {
    SourceFile { path: RelPath::new(path).expect("legal"), bytes: text.as_bytes().to_vec(), stamp: None }
}

/// Each line of the section with the stretches of it: their text and `path:line`.
#[track_caller]
fn check(
    notes: Vec<SourceFile>,
    strands: Vec<SourceFile>,
    id: &str,
    width: usize,
    expected: &[&[(&str, &str)]],
) {
    let folder = RelPath::new("memory/terms").expect("legal");
    let folders = vec![MemoryFolder { path: folder, strands, folders: Vec::new() }];
    let folders = if folders[0].strands.is_empty() { Vec::new() } else { folders };
    let corpus = Corpus::parse(MemoryTree { notes, folders }).value;
    let package = Package::built_in(Stamps::Skip);
    let settings = Settings { title: "T".to_owned(), width, repositories: Vec::new(), source: None };
    let material =
        Material { package: &package, plugins: &[], project: &corpus, home: None, settings: &settings };
    let bundle = SectionSet::new(material, None).value.bundle(Facts::root(Provider::native()));
    let (section, content) =
        bundle.included().find(|(section, _)| section.id.as_str() == id).expect("the section");
    let texts = Texts { project: &corpus, home: None, plugins: &[], width };
    let found: Vec<Vec<(String, String)>> = content
        .text()
        .lines()
        .enumerate()
        .map(|(index, line)| {
            let part = |columns: std::ops::Range<usize>| {
                line.chars().take(columns.end).skip(columns.start).collect::<String>()
            };
            let traces = trace(section, index, texts).into_iter();
            traces
                .map(|found| {
                    let source = section.sources[found.source].path.file_name().to_owned();
                    (part(found.columns), format!("{source}:{}", found.line))
                })
                .collect()
        })
        .collect();
    let expected: Vec<Vec<(String, String)>> = expected
        .iter()
        .map(|line| line.iter().map(|(text, place)| ((*text).to_owned(), (*place).to_owned())).collect())
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_description_on_several_lines() {
    let note = "---\ntype: reference\ndescription: >-\n  How to cut the\n  release: read it before the tag.\nparent: AGENTS.md\n---\n";
    check(
        vec![file("memory/release.md", note)],
        Vec::new(),
        "proj.ref.release",
        40,
        &[
            &[("**`memory/release.md`** - How to cut the", "release.md:4")],
            &[("release: read it before the tag.", "release.md:5")],
            &[],
        ],
    );
}

#[test]
fn one_line_of_an_entry_from_two_lines_of_its_note() {
    let note = "---\ntype: reference\ndescription:\n  The one\n  and the other.\n---\n";
    check(
        vec![file("memory/n.md", note)],
        Vec::new(),
        "proj.ref.n",
        80,
        &[&[("**`memory/n.md`** - The one ", "n.md:4"), ("and the other.", "n.md:5")], &[]],
    );
}

#[test]
fn a_description_that_the_text_gives() {
    check(
        vec![file("memory/n.md", "---\ntype: reference\n---\n# N\n\nFirst words\nof it.\n\nMore.\n")],
        Vec::new(),
        "proj.ref.n",
        80,
        &[&[("**`memory/n.md`** - First words ", "n.md:6"), ("of it.", "n.md:7")], &[]],
    );
}

#[test]
fn several_strands_on_a_line_of_an_inline_roster() {
    let strands = vec![
        file("memory/terms/bundle.md", "---\naliases: [parcel]\nkeyword: Bundle\n---\nText.\n"),
        file("memory/terms/note.md", "A file.\n"),
        file("memory/terms/section-of-it.md", "---\nsummary: x\n---\n"),
    ];
    check(
        vec![file("memory/terms.md", "---\nweb: true\nstrand_noun: term\n---\n# Terms\n")],
        strands,
        "proj.web.terms",
        34,
        &[
            &[("### Terms (terms)", "terms.md:5")],
            &[],
            &[("**TERMS:** Bundle (", "bundle.md:3"), ("parcel); ", "bundle.md:2"), ("Note;", "note.md:0")],
            &[("Section Of It", "section-of-it.md:0")],
            &[],
        ],
    );
}

#[test]
fn heads_and_summaries_of_a_list() {
    let strands = vec![file(
        "memory/terms/a.md",
        "---\nsummary: |\n  About it,\n  at length and more.\nkeyword: It\nmetadata:\n  status: superseded\n  superseded_by: b\n---\n",
    )];
    check(
        vec![file("memory/terms.md", "---\nweb: true\nroster: list\n---\n# Terms\n")],
        strands,
        "proj.web.terms",
        40,
        &[
            &[("### Terms (terms)", "terms.md:5")],
            &[],
            &[("1. **It** (`a`)", "a.md:5")],
            &[
                ("   - _[superseded ", "a.md:7"),
                ("by `b`]_ ", "a.md:8"),
                ("About it, ", "a.md:3"),
                ("at", "a.md:4"),
            ],
            &[("     length and more.", "a.md:4")],
            &[],
        ],
    );
}
