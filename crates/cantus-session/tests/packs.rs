//! Packs, section by section.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use cantus_compose::{Package, Wording};
use cantus_manifest::{RelPath, Stamps};
use cantus_memory::{Corpus, MemoryFolder, MemoryTree, SourceFile};
use cantus_session::{
    BundlePart, CheckpointInput, Compiled, Description, HostSection, Notes, Pack, Pinned, Section,
    SectionStability, SessionLaunch, SessionMaterial, Snapshot, compile,
};

fn wording() -> Wording {
    Package::built_in(Stamps::Skip).wording()
}

/// The launch that this JSON describes, `version` and `product` left out.
#[track_caller]
fn launch(json: &str) -> SessionLaunch {
    let text = format!("{{\"version\": 1, \"product\": \"Acme\", {json}}}");
    let outcome = Description::read("launch.json", text.into_bytes());
    assert_eq!(outcome.diagnostics, []);
    outcome.value.unwrap().launch
}

#[track_caller]
fn pack_of(launch: &SessionLaunch, corpus: &Corpus, bundle: Vec<BundlePart>) -> Pack {
    let wording = wording();
    let notes = Notes::of(Some("acme"), corpus).beside(2, 0);
    let outcome = compile(launch, &SessionMaterial { wording: &wording, notes, bundle });
    assert_eq!(outcome.diagnostics, []);
    outcome.value.unwrap()
}

#[track_caller]
fn pack(json: &str) -> Pack {
    pack_of(&launch(json), &Corpus::default(), Vec::new())
}

#[track_caller]
fn section(pack: &Pack, id: &str) -> Section {
    pack.sections().find(|section| section.id == id).unwrap_or_else(|| panic!("no `{id}`")).clone()
}

fn ids(pack: &Pack) -> Vec<&str> {
    pack.sections().map(|section| section.id.as_str()).collect()
}

/// `count` notes of one paragraph, a web with two strands.
fn corpus(count: usize) -> Corpus {
    let file = |path: String, text: &str| SourceFile {
        path: RelPath::new(path).unwrap(),
        bytes: text.as_bytes().to_vec(),
        stamp: None,
    };
    let note = |index| {
        let text = format!("---\ntype: reference\n---\n# Note {index}\n\nBody {index}.\n");
        file(format!("memory/n{index:02}.md"), &text)
    };
    let mut notes: Vec<_> = (0..count).map(note).collect();
    notes.push(file("memory/web.md".to_owned(), "---\nweb: true\n---\n# Terms\n"));
    let strand = |slug| file(format!("memory/web/{slug}.md"), "---\nsummary: S.\n---\nText.\n");
    let folder = MemoryFolder {
        path: RelPath::new("memory/web").unwrap(),
        strands: vec![strand("one"), strand("two")],
        folders: Vec::new(),
    };
    let outcome = Corpus::parse(MemoryTree { notes, folders: vec![folder] });
    assert!(!outcome.has_errors(), "{:?}", outcome.diagnostics);
    outcome.value
}

#[test]
fn sections_stand_by_order_and_then_as_they_were_added() {
    let pack = pack(
        r#""model": "m-1", "state": {"todo": []}, "wiki": true,
        "standard": {"reporting": {"order": 1}},
        "tools": {"groups": [{"group": "x", "tools": ["t"], "guidance": "Use it."}]},
        "variant": {"scope": "v", "sections": [{"id": "system", "text": "S"}, {"id": "scripts", "text": "C"}]},
        "sections": [{"id": "z", "text": "Z"}, {"id": "a", "text": "A"}, {"id": "last", "order": 99, "text": "L"},
        {"id": "identity", "order": 0, "text": "I"}, {"id": "blank", "text": " \n"}]"#,
    );
    let expected = [
        "identity",
        "reporting",
        "harness-identity",
        "system",
        "session-state",
        "guardrails",
        "z",
        "a",
        "scripts",
        "wiki",
        "tools",
        "last",
    ];
    assert_eq!(ids(&pack), expected);
    assert!(section(&pack, "harness-identity").body.contains("m-1"));
}

#[test]
fn a_host_replaces_standard_sections() {
    let pack = pack(
        r##""variant": {"scope": "v", "sections": [{"id": "memory", "text": "of the variant"}]},
        "sections": [{"id": "memory", "text": "of the host"}, {"id": "reporting", "text": ""}, {"id": "references", "text": "R"}],
        "references": [{"kind": "line", "id": "1", "text": "x"}]"##,
    );
    assert_eq!(ids(&pack), ["harness-identity", "guardrails", "memory", "references"]);
    assert_eq!(
        (section(&pack, "memory").body, section(&pack, "memory").title),
        ("of the host".to_owned(), "Memory".to_owned())
    );
    // What belongs to a request does so whoever brings it.
    assert_eq!(pack.snapshot().iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["references"]);
}

#[test]
fn a_variant_is_cited() {
    let pack = pack(
        r##""variant": {"scope": "work", "fingerprint": "f1", "tool_guidance": "Be careful.",
        "sections": [{"id": "guardrails", "text": "G"}, {"id": "own", "title": "Own", "text": "O"}]}"##,
    );
    for id in ["guardrails", "own"] {
        let source = &section(&pack, id).sources[0];
        assert_eq!(
            (source.kind.as_str(), source.id.as_str(), source.revision.as_deref()),
            ("variant", "work", Some("f1"))
        );
        assert_eq!(section(&pack, id).budget, 30_000);
    }
    let tools = section(&pack, "tools");
    let own = "### How to Use These Tools\n\nBe careful.";
    assert!(tools.body.ends_with(own), "{}", tools.body);
    assert_eq!(tools.sources[0].chars, Some(own.chars().count() as u64));
}

#[test]
fn a_variant_without_fingerprint_is_named_by_its_content() {
    let named = |text: &str| {
        let json =
            format!(r#""variant": {{"scope": "v", "sections": [{{"id": "system", "text": "{text}"}}]}}"#);
        section(&pack(&json), "system").sources[0].revision.clone().unwrap()
    };
    assert_eq!(named("a"), named("a"));
    assert_ne!(named("a"), named("b"));
    assert_eq!(named("a").len(), 64);
}

#[test]
fn pinned_text_stands_above_the_body_and_is_fitted_with_it() {
    let host = |budget, text: &str| HostSection {
        id: "p".to_owned(),
        text: text.to_owned(),
        pinned: Some(Pinned { text: "Pinned.".to_owned(), pointer: Some("all".to_owned()) }),
        budget: Some(budget),
        pointer: "rest".to_owned(),
        ..HostSection::default()
    };
    let body = |host: HostSection| {
        let launch =
            SessionLaunch { product: "A".to_owned(), sections: vec![host], ..SessionLaunch::default() };
        let section = section(&pack_of(&launch, &Corpus::default(), Vec::new()), "p");
        (section.body, section.cut)
    };
    assert_eq!(body(host(40, "Body.")), ("Pinned.\nBody.".to_owned(), false));
    assert_eq!(body(host(40, " ")), ("Pinned.".to_owned(), false));
    // The body is cut to its budget first; what is too long with the pinned text is cut again.
    assert_eq!(body(host(20, "one two three four five six")), ("Pinned.\none two\n\nall".to_owned(), true));
}

#[test]
fn references_are_deduplicated_and_share_the_room() {
    let corpus = corpus(3);
    let launch = launch(
        r#""references": [{"kind": "line", "id": "1", "text": "- first"}, {"kind": "note", "path": "memory/n01.md"},
        {"kind": "line", "id": "1", "text": "- again"}, {"kind": "note", "path": "memory/n01.md", "label": "Again"},
        {"kind": "note", "path": "memory/gone.md"}, {"kind": "note", "path": "../../etc/passwd", "label": "Outside"},
        {"kind": "note", "path": "web:two", "label": "Two"}]"#,
    );
    let found = section(&pack_of(&launch, &corpus, Vec::new()), "references");
    let tail = "- first
- memory/gone.md: this note can't be read. Tell the person so.
- Outside: this note can't be read. Tell the person so.

### Note 1 (memory/n01.md)

# Note 1

Body 1.

### Two (memory/web/two.md)

Text.";
    assert!(found.body.ends_with(tail), "{}", found.body);
    assert!(!found.cut);
    let sources: Vec<_> = found.sources.iter().map(|it| (it.kind.as_str(), it.id.as_str())).collect();
    assert_eq!(sources, [("note", "memory/n01.md"), ("note", "memory/web/two.md")]);
    assert!(found.sources.iter().all(|it| it.revision.as_ref().is_some_and(|it| it.len() == 16)));
}

#[test]
fn references_are_cut_if_any_of_them_is() {
    let corpus = corpus(2);
    let mut launch = launch(
        r#""standard": {"references": {"budget": 900}},
        "references": [{"kind": "note", "path": "memory/n00.md"}, {"kind": "note", "path": "memory/n01.md"}]"#,
    );
    assert!(!section(&pack_of(&launch, &corpus, Vec::new()), "references").cut);
    launch.overrides.get_mut("references").unwrap().budget = Some(650);
    let found = section(&pack_of(&launch, &corpus, Vec::new()), "references");
    assert!(found.cut && found.body.contains("`cantus read memory/n00.md`"), "{}", found.body);
    assert!(found.size <= 650);
}

#[test]
fn required_skills_say_where_they_lie() {
    let pack = pack(
        r#""required_skills": [{"name": "a", "path": "s/a/SKILL.md", "folder": "s/a", "text": "Do A.\n"},
        {"name": "a", "text": "twice"}, {"name": "b", "label": "Skill B", "text": " "}]"#,
    );
    let found = section(&pack, "required-skills");
    let tail = "### a

Paths in it start at `s/a`. It lies in `s/a/SKILL.md`.

Do A.

- Skill B: this skill isn't available here. Say so; don't guess what it would have told you.";
    assert!(found.body.ends_with(tail), "{}", found.body);
    assert_eq!(found.sources.iter().map(|it| it.id.as_str()).collect::<Vec<_>>(), ["a"]);
}

#[test]
fn session_state_tells_name_lists_and_turn_and_is_clipped() {
    let body = |json: &str| section(&pack(json), "session-state").body;
    assert_eq!(
        body(r#""state": {"name": null, "first_turn": true}"#),
        "This session has no name yet.\n\nThis is the first turn of the session."
    );
    let both = body(
        r#""state": {"name": "N", "todo": [{"text": "a"}, {"text": "b", "status": "in_progress"}],
        "previous_todo": [{"text": "c", "status": "completed"}]}"#,
    );
    assert!(
        both.starts_with(
            "This session is called \"N\".\n\nTo do in this run:\n\n- [ ] a\n- [ ] b (in progress)\n"
        ),
        "{both}"
    );
    assert!(both.contains("it isn't this run's list:\n\n- [x] c\n"), "{both}");
    let long = format!(r#""state": {{"name": "{}"}}"#, "é".repeat(5_000));
    let found = section(&pack(&long), "session-state");
    assert!(found.cut && found.body.ends_with('…'));
    assert_eq!((found.size, found.budget), (1_000, 1_000));
    assert!(
        !ids(&pack(r#""state": {"first_turn": true, "previous_todo": [{"text": "x"}]}"#))
            .contains(&"session-state")
    );
}

#[test]
fn what_stands_in_one_line_cannot_leave_it() {
    let pack = pack(
        r###""references": [{"kind": "note", "path": "gone\n## B", "label": "a\r\n## A"}],
        "required_skills": [{"name": "n\n## C", "text": "Do.", "path": "p\n## D", "folder": "f\u2028## E"}, {"name": "g\n## F"}],
        "state": {"name": "s\n## G"}"###,
    );
    let found = |id: &str| section(&pack, id).body;
    assert!(found("references").ends_with("\n- a ## A: this note can't be read. Tell the person so."));
    assert!(found("session-state").starts_with("This session is called \"s ## G\".\n"));
    let skills = found("required-skills");
    let told = "\n### n ## C\n\nPaths in it start at `f ## E`. It lies in `p ## D`.\n\nDo.\n\n- g ## F: this";
    assert!(skills.contains(told), "{skills}");
}

#[test]
fn the_wiki_pointer_lists_25_notes_and_counts_the_rest() {
    let (many, few) = (corpus(30), corpus(2));
    let body = |corpus| section(&pack_of(&launch(r#""wiki": true"#), corpus, Vec::new()), "wiki");
    let found = body(&many);
    assert!(found.body.contains("Notes of acme:\n\n- memory/n00.md: Note 0\n"), "{}", found.body);
    assert_eq!(found.body.lines().filter(|line| line.starts_with("- memory/")).count(), 25);
    assert!(
        found.body.ends_with(
            "- 6 more: `cantus list` names them.\n\nBesides: strands of webs (2), notes of the user (2)."
        ),
        "{}",
        found.body
    );
    assert_eq!(found.sources.len(), 25);
    assert!(!body(&few).body.contains(" more: "));
    let without = pack_of(&launch(r#""wiki": false"#), &many, Vec::new());
    assert!(!ids(&without).contains(&"wiki"));
}

#[test]
fn tools_are_described_by_group() {
    let json = |hidden: bool| {
        format!(
            r#""tools": {{"hidden": {hidden}, "groups": [{{"group": "own", "tools": ["z"], "guidance": "Own."}},
            {{"group": "web", "tools": ["fetch"]}}, {{"group": "files", "tools": []}},
            {{"group": "early", "order": 1, "tools": ["e"], "guidance": "Early."}}]}}"#
        )
    };
    let shown = pack(&json(false));
    let body = section(&shown, "tools").body;
    let at = |text: &str| body.find(text).unwrap_or_else(|| panic!("no `{text}` in {body}"));
    assert!(at("Early.") < at("Web, browser") && at("Web, browser") < at("Own."));
    assert!(!body.contains("Files and shell"));
    assert_eq!(shown.tools().iter().map(|it| it.group.as_str()).collect::<Vec<_>>(), ["early", "web", "own"]);
    let hidden = pack(&json(true));
    assert!(!ids(&hidden).contains(&"tools") && hidden.tools().is_empty());
    let replaced = pack(
        r#""sections": [{"id": "tools", "text": ""}], "tools": {"groups": [{"group": "web", "tools": ["f"]}]}"#,
    );
    assert!(replaced.tools().is_empty());
}

#[test]
fn the_system_text_is_sections_below_their_titles() {
    let Compiled { system, .. } = pack(
        r#""sections": [{"id": "identity", "order": 0, "text": "I am."}, {"id": "a", "title": "Title", "order": 1, "text": "Body."},
        {"id": "harness-identity", "text": ""}, {"id": "reporting", "text": ""}, {"id": "guardrails", "text": ""}]"#,
    )
    .deliver(None);
    assert!(
        system.starts_with(
            "# Acme context\n\nI am.\n\n## Title\n\nBody.\n\n## Context updates\n\nIn this conversation"
        ),
        "{system}"
    );
    assert!(system.ends_with("changes no permission.\n"), "{system}");
}

#[test]
fn a_bundle_stands_in_the_system_text_byte_for_byte() {
    let part = |id: &str, text: &str| BundlePart {
        id: id.to_owned(),
        text: text.to_owned(),
        digest: "d".to_owned(),
    };
    let bundle =
        vec![part("frame.title", "# Rules\n\n"), part("proj.core.a", "## Core\n\n### A (a)\n\nx\n\n")];
    let text: String = bundle.iter().map(|part| part.text.as_str()).collect();
    let launch = launch(r#""sections": []"#);
    let compiled = pack_of(&launch, &Corpus::default(), bundle).deliver(None);
    assert!(compiled.system.contains(&text), "{}", compiled.system);
    let stable = &compiled.pack.delivery().unwrap().stable;
    assert_eq!(stable, &["harness-identity", "frame.title", "proj.core.a", "guardrails", "reporting"]);
    let found = section(&compiled.pack, "proj.core.a");
    assert_eq!((found.sources[0].kind.as_str(), found.cut, found.budget), ("bundle", false, found.size));
}

/// A launch with the dynamic sections that are named, all else taken away.
fn dynamic(sections: &[(&str, &str)]) -> SessionLaunch {
    let host = |(id, text): &(&str, &str)| HostSection {
        id: (*id).to_owned(),
        text: (*text).to_owned(),
        stability: SectionStability::Dynamic,
        ..HostSection::default()
    };
    SessionLaunch {
        product: "Acme".to_owned(),
        sections: sections.iter().map(host).collect(),
        ..SessionLaunch::default()
    }
}

#[track_caller]
fn check_update(before: Option<&[(&str, &str)]>, now: &[(&str, &str)], expected: &[&str]) {
    let snapshot = |sections: &[(&str, &str)]| -> Snapshot {
        pack_of(&dynamic(sections), &Corpus::default(), Vec::new()).snapshot()
    };
    let previous = before.map(snapshot);
    let compiled = pack_of(&dynamic(now), &Corpus::default(), Vec::new()).deliver(previous.as_ref());
    assert_eq!(compiled.pack.delivery().unwrap().updated, expected);
    assert_eq!(compiled.update.is_none(), expected.is_empty());
}

#[test]
fn an_update_brings_what_changed() {
    let all = ["session-state", "references", "required-skills", "a", "wiki"];
    check_update(None, &[("a", "1")], &all);
    check_update(Some(&[]), &[], &[]);
    check_update(Some(&[("a", "1")]), &[("a", "1")], &[]);
    check_update(Some(&[("a", "1"), ("b", "1")]), &[("a", "1"), ("b", "2")], &["b"]);
    check_update(Some(&[("a", "1")]), &[("a", " ")], &["a"]);
    check_update(Some(&[]), &[("a", "1")], &["a"]);
    // What belongs to the request is sent with each.
    check_update(Some(&[("references", "r")]), &[("references", "r")], &["references"]);
    check_update(Some(&[("references", "r")]), &[], &["references"]);
    // A section that the launch doesn't know any more would stay current.
    check_update(Some(&[("gone", "1"), ("a", "1")]), &[("a", "1")], &["gone"]);
}

#[test]
fn a_withdrawn_section_is_named_by_its_title() {
    let previous = pack_of(&dynamic(&[("a", "1")]), &Corpus::default(), Vec::new()).snapshot();
    let compiled = pack_of(&dynamic(&[]), &Corpus::default(), Vec::new()).deliver(Some(&previous));
    let content = compiled.update.unwrap().content;
    assert!(content.starts_with("Context update of Acme (not a message of the person)."), "{content}");
    assert!(content.ends_with("\n\n## a\n\nThis section isn't supplied now. What earlier updates said under this title no longer holds.\n"), "{content}");
}

#[test]
fn a_new_title_takes_back_what_stood_under_the_old_one() {
    let titled = |titles: [&str; 2]| {
        let mut launch = dynamic(&[("a", "1"), ("b", "2")]);
        for (section, title) in launch.sections.iter_mut().zip(titles) {
            section.title = Some(title.to_owned());
        }
        pack_of(&launch, &Corpus::default(), Vec::new())
    };
    let opening =
        "Context update of Acme (not a message of the person). Each section replaces its earlier one.\n";
    let gone = "This section isn't supplied now. What earlier updates said under this title no longer holds.";
    let compiled = titled(["New", "B"]).deliver(Some(&titled(["Old", "B"]).snapshot()));
    assert_eq!(compiled.pack.delivery().unwrap().updated, ["a"]);
    let update = compiled.update.unwrap();
    assert_eq!(update.content, format!("{opening}\n## Old\n\n{gone}\n\n## New\n\n1\n"));
    let sizes = &compiled.pack.delivery().unwrap().sizes;
    assert_eq!(sizes.update.total() + sizes.update_framing, update.content.chars().count() as u64);
    // A title that another section has now is replaced by that.
    let compiled = titled(["Y", "X"]).deliver(Some(&titled(["X", "Y"]).snapshot()));
    assert_eq!(compiled.update.unwrap().content, format!("{opening}\n## Y\n\n1\n\n## X\n\n2\n"));
}

#[test]
fn a_title_of_the_history_stays_in_its_line() {
    let mut previous = pack_of(&dynamic(&[("a", "1")]), &Corpus::default(), Vec::new()).snapshot();
    previous[0].title = "A\n## B".to_owned();
    let compiled = pack_of(&dynamic(&[]), &Corpus::default(), Vec::new()).deliver(Some(&previous));
    let content = compiled.update.unwrap().content;
    assert!(content.contains("\n## A ## B\n\nThis section isn't"), "{content}");
}

#[test]
fn what_is_withdrawn_takes_nothing_with_it_that_has_its_title() {
    let launch = |others: &[(&str, &str)]| {
        let mut launch = dynamic(&[&[("mine", "1")], others].concat());
        for section in &mut launch.sections {
            section.title = Some("Notes at Hand".to_owned());
        }
        pack_of(&launch, &Corpus::default(), Vec::new())
    };
    let gone = |name: &str| format!("\n## {name}\n\nThis section isn't supplied now.");
    let first = launch(&[]).deliver(None).update.unwrap().content;
    assert!(first.contains(&gone("wiki")) && !first.contains(&gone("Notes at Hand")), "{first}");
    let later = launch(&[]).deliver(Some(&launch(&[("other", "2")]).snapshot())).update.unwrap().content;
    assert!(later.contains(&gone("other")) && !later.contains(&gone("Notes at Hand")), "{later}");
}

#[test]
fn sources_count_but_not_what_they_contributed() {
    let with = |revision: &str, chars: u64| {
        let mut launch = dynamic(&[("a", "1")]);
        launch.sections[0].sources = vec![cantus_session::Source {
            id: "s".to_owned(),
            kind: "k".to_owned(),
            revision: Some(revision.to_owned()),
            chars: Some(chars),
        }];
        pack_of(&launch, &Corpus::default(), Vec::new())
    };
    let previous = with("1", 1).snapshot();
    assert!(with("1", 2).deliver(Some(&previous)).update.is_none());
    assert!(with("2", 1).deliver(Some(&previous)).update.is_some());
}

#[test]
fn an_unknown_standard_section_is_told_with_those_there_are() {
    let text = "{\"version\": 1, \"product\": \"Acme\",\n\"standard\": {\"nothing\": {}}}";
    let found = Description::read("l.json", text.into()).diagnostics;
    let told: Vec<_> = found.iter().map(|it| (it.line.unwrap(), it.help.as_deref().unwrap())).collect();
    assert!(
        matches!(told[..], [(2, help)] if help.starts_with("they are `harness-identity`, `system`, `")),
        "{told:?}"
    );
}

#[track_caller]
fn check_fault(json: &str, expected: &[&str]) {
    let text = format!("{{\"version\": 1, \"product\": \"Acme\",\n{json}}}");
    let outcome = Description::read("l.json", text.into_bytes());
    let mut found = outcome.diagnostics;
    if let Some(description) = outcome.value {
        let wording = wording();
        let material = SessionMaterial { wording: &wording, notes: Notes::default(), bundle: Vec::new() };
        let compiled = compile(&description.launch, &material);
        found.extend(compiled.diagnostics.into_iter().map(|fault| fault.at("l.json")));
    }
    let found: Vec<_> =
        found.iter().map(|fault| fault.to_string().lines().next().unwrap().to_owned()).collect();
    assert_eq!(found, expected, "{json}");
}

#[test]
fn ids_that_stand_twice_name_both_origins() {
    check_fault(
        "\"sections\": [{\"id\": \"a\", \"text\": \"x\"},\n{\"id\": \"a\", \"text\": \"y\"}]",
        &["l.json:3: error: two sections are called `a`: one of the host (line 2), one of the host (line 3)"],
    );
    check_fault(
        "\"variant\": {\"scope\": \"v\", \"sections\": [{\"id\": \"own\", \"text\": \"x\"}]},\n\"sections\": [{\"id\": \"own\", \"text\": \"\"}]",
        &[
            "l.json:3: error: two sections are called `own`: one of the variant `v` (line 2), one of the host (line 3)",
        ],
    );
    check_fault(
        r#""variant": {"scope": "v", "sections": [{"id": "wiki", "text": "x"}]}"#,
        &["l.json:2: error: two sections are called `wiki`: one of Cantus, one of the variant `v` (line 2)"],
    );
    check_fault(
        r#""variant": {"scope": "v", "sections": [{"id": "system", "text": "x"}, {"id": "system", "text": "y"}]}"#,
        &[
            "l.json:2: error: two sections are called `system`: one of the variant `v` (line 2), one of the variant `v` (line 2)",
        ],
    );
}

#[test]
fn what_a_launch_may_not_say() {
    let check = |section: &str, expected: &str| {
        check_fault(&format!("\"sections\": [{section}]"), &[&format!("l.json:2: error: {expected}")]);
    };
    check(r#"{"id": "session-state", "text": "x"}"#, "a host may not supply the section `session-state`");
    check(r#"{"id": " ", "text": "x"}"#, "` ` can't be the id of a section: it is blank");
    check(
        r#"{"id": "a\u0000", "text": "x"}"#,
        "`a\\u{0}` can't be the id of a section: it holds control characters",
    );
    check(
        r#"{"id": "a", "title": "x\ny", "text": "x"}"#,
        "the title of the section `a` must be one line that is not blank",
    );
    check(r#"{"id": "a", "budget": 0, "text": "x"}"#, "nothing of the section `a` fits into its budget of 0");
    check(
        r#"{"id": "a", "budget": -1, "text": "x"}"#,
        "invalid value: integer `-1`, expected a whole number, 0 or more",
    );
    check(
        r#"{"id": "a", "budget": 1.5, "text": "x"}"#,
        "invalid type: floating point `1.5`, expected a whole number, 0 or more",
    );
    check(
        r#"{"id": "a", "titel": "x", "text": "x"}"#,
        "unknown field `titel`, expected one of `id`, `title`, `text`, `pinned`, `order`, `budget`, `pointer`, `dynamic`, `sources`",
    );
    check(r#"{"text": "x"}"#, "missing field `id`");
    check(r#"["a", "b"]"#, "invalid type: sequence, expected an object");
    check(r#"{"id": "a", "id": "b", "text": "x"}"#, "duplicate field `id`");
    check_fault(
        r#""sections": [], "run": "../x""#,
        &["l.json:2: error: `../x` can't be a run id: expected ASCII letters, digits, `.`, `_` and `-`"],
    );
    check_fault(
        r#""standard": {"wikki": {"order": 1}}"#,
        &["l.json:2: error: no standard section is called `wikki`: did you mean `wiki`?"],
    );
    check_fault(
        r#""standard": {"wiki": {}, "wiki": {}}"#,
        &["l.json:2: error: `wiki` stands twice under `standard`"],
    );
    check_fault(r#""model": "a\nb""#, &["l.json:2: error: `model` must be one line that is not blank"]);
    check_fault(
        r#""sections": [{"id": "a", "text": "x", "budget": NaN}]"#,
        &["l.json:2: error: expected value"],
    );
}

#[test]
fn an_array_is_no_object_wherever_one_stands() {
    let check = |json: &str| {
        check_fault(json, &["l.json:2: error: invalid type: sequence, expected an object"]);
    };
    check(r#""standard": {"wiki": [1, 2]}"#);
    check(r#""variant": ["v"]"#);
    check(r#""state": [null, [], [], true]"#);
    check(r#""state": {"todo": [["x", "pending"]]}"#);
    check(r#""tools": [[]]"#);
    check(r#""tools": {"groups": [["x", ["y"]]]}"#);
    check(r#""references": [["line", "1", "x"]]"#);
    check(r#""required_skills": [["a"]]"#);
    check(r#""bundle": [[]]"#);
    check(r#""sections": [{"id": "a", "pinned": ["x"]}]"#);
    check(r#""sections": [{"id": "a", "text": "x", "sources": [["x", "y"]]}]"#);
}

#[test]
fn what_else_a_launch_may_not_say() {
    let check = |json: &str, expected: &str| check_fault(json, &[&format!("l.json:2: error: {expected}")]);
    check(
        r#""tools": {"groups": [{"group": "a", "tools": []}, {"group": "a", "tools": []}]}"#,
        "two groups of tools are called `a`",
    );
    check(r#""variant": {"scope": "\n"}"#, "`scope` must be one line that is not blank");
    check(
        r#""references": [{"kind": "file", "path": "x"}]"#,
        "unknown variant `file`, expected `line` or `note`",
    );
    check(
        r#""references": [{"kind": "note", "path": "x", "id": "y"}]"#,
        "unknown field `id`, expected `path` or `label`",
    );
    check(r#""run": 7"#, "invalid type: integer `7`, expected a string");
    check(r#""wiki": "yes""#, "invalid type: string \"yes\", expected a boolean");
    check(r#""sections": [{"id": "a", "text": "\ud800"}]"#, "unexpected end of hex escape");
    check(r#""sections": [{"id": "a", "text": "x", "budget": 1e400}]"#, "number out of range");
    check(r#""version": 1"#, "duplicate field `version`");
}

#[test]
fn a_fault_says_in_which_part_it_is() {
    let check = |json: &str, line: u32, place: &str| {
        let text = format!("{{\"version\": 1, \"product\": \"Acme\",\n{json}}}");
        let found = Description::read("l.json", text.into_bytes()).diagnostics;
        let told: Vec<_> = found.iter().map(|it| (it.line.unwrap(), it.help.as_deref().unwrap())).collect();
        assert_eq!(told, [(line, format!("look at `{place}`").as_str())], "{json}");
    };
    check(r#""sections": [{"id": "a"},\n{"text": "x"}]"#.replace("\\n", "\n").as_str(), 3, "sections[1]");
    check(
        r#""references": [{"kind": "line", "id": "1", "text": ""}, {"kind": "line", "text": "x"}]"#,
        2,
        "references[1]",
    );
    check(r#""required_skills": ["ship"]"#, 2, "required_skills[0]");
    check(r#""variant": {"scope": "v", "sections": [{"id": "system"}]}"#, 2, "variant.sections[0]");
    check(r#""variant": {"sections": []}"#, 2, "variant");
    check(r#""standard": {"wiki": {"budget": -1}}"#, 2, "standard.wiki");
    check(r#""state": {"todo": ["read"]}"#, 2, "state");
    check(r#""tools": {"groups": [{"group": "x"}]}"#, 2, "tools");
    check(r#""bundle": true"#, 2, "bundle");
}

#[test]
fn a_newer_version_is_told_before_what_it_brings() {
    for json in [r#"{"version": 2, "fresh": 1}"#, r#"{"fresh": 1, "product": "A", "version": 2}"#] {
        let found = Description::read("l.json", json.as_bytes().to_vec()).diagnostics;
        let told: Vec<_> = found.iter().map(|it| it.message.as_str()).collect();
        assert_eq!(told, ["version 2; this program knows version 1"]);
        let found = CheckpointInput::read("l.json", json.as_bytes().to_vec()).diagnostics;
        assert_eq!(found[0].message, "version 2; this program knows version 1");
    }
}

#[test]
fn what_is_no_launch() {
    let check = |text: &[u8], expected: &str| {
        let outcome = Description::read("l.json", text.to_vec());
        assert!(outcome.value.is_none());
        assert_eq!(outcome.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
    };
    check(b"", "l.json:1: error: EOF while parsing a value");
    check(b"[1, \"A\"]", "l.json:1: error: invalid type: sequence, expected an object");
    check(
        b"{\"version\": 2, \"product\": \"A\"}",
        "l.json:1: error: version 2; this program knows version 1",
    );
    check(b"{\n\"version\": 1}", "l.json:2: error: missing field `product`");
    check(b"{\n\"product\": \"A\"", "l.json:2: error: EOF while parsing an object");
    check(
        b"\n\xff",
        "l.json:2: error: not UTF-8: byte 1 starts no character\n  help: save the file as UTF-8",
    );
    let marked = "\u{feff}{\"version\": 1, \"product\": \"A\"}\r\n";
    assert!(Description::read("l.json", marked.as_bytes().to_vec()).value.is_some());
}

#[test]
fn a_small_or_huge_budget_is_one() {
    let huge = pack(r#""sections": [{"id": "a", "budget": 18446744073709551615, "text": "x"}]"#);
    assert_eq!((section(&huge, "a").body.as_str(), section(&huge, "a").budget), ("x", u64::MAX));
    let small = pack(r#""sections": [{"id": "a", "budget": 0, "pointer": "see x", "text": "text"}]"#);
    assert_eq!((section(&small, "a").body.as_str(), section(&small, "a").cut), ("see x", true));
}
