//! Invariants of packs over generated launches.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::collections::BTreeMap;

use cantus_compose::{Package, Wording};
use cantus_manifest::Stamps;
use cantus_memory::{fences, is_fenced};
use cantus_session::{
    Compiled, HostSection, Notes, Override, Pack, Pinned, Reference, Section, SectionStability,
    SessionLaunch, SessionMaterial, Skill, Snapshot, State, Todo, TodoStatus, ToolGroup, Tools, Turn,
    Variant, VariantSection, compile,
};
use cantus_testkit::{TEXT_PIECES, cases};
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

/// Texts of letters that take one to four bytes, marks that combine, wide ones, paragraphs and fences.
fn text() -> impl Strategy<Value = String> {
    vec(select(TEXT_PIECES.as_slice()), 0..40).prop_map(|pieces| pieces.concat())
}

fn pointer() -> impl Strategy<Value = String> {
    select(vec!["", "more", "  mehr davon", "続き", "(see `x`)"]).prop_map(str::to_owned)
}

fn stability() -> impl Strategy<Value = SectionStability> {
    select(vec![SectionStability::Stable, SectionStability::Dynamic])
}

/// Sections with ids of their own, and some that replace standard ones.
fn host() -> impl Strategy<Value = Vec<HostSection>> {
    let ids = ["a", "b", "c", "identity", "reporting", "wiki", "references"];
    let section = (
        text(),
        option::of((text(), option::of(pointer()))),
        60..200_usize,
        pointer(),
        stability(),
        -5..100_i64,
    );
    let section = section.prop_map(|(text, pinned, budget, pointer, stability, order)| HostSection {
        text,
        pinned: pinned.map(|(text, pointer)| Pinned { text, pointer }),
        budget: Some(budget),
        pointer,
        stability,
        order: Some(order),
        ..HostSection::default()
    });
    vec(option::of(section), ids.len()).prop_map(move |sections| {
        let named = sections.into_iter().zip(ids);
        named.filter_map(|(section, id)| Some(HostSection { id: id.to_owned(), ..section? })).collect()
    })
}

fn todo() -> impl Strategy<Value = Vec<Todo>> {
    let status = select(vec![TodoStatus::Pending, TodoStatus::InProgress, TodoStatus::Completed]);
    vec((text(), status).prop_map(|(text, status)| Todo { text, status }), 0..4)
}

fn state() -> impl Strategy<Value = State> {
    let turn = select(vec![Turn::First, Turn::Later]);
    (option::of(option::of(text())), option::of(todo()), todo(), turn)
        .prop_map(|(name, todo, previous_todo, turn)| State { name, todo, previous_todo, turn })
}

fn references() -> impl Strategy<Value = Vec<Reference>> {
    let line =
        (select(vec!["1", "2"]), text()).prop_map(|(id, text)| Reference::Line { id: id.to_owned(), text });
    let note = select(vec!["memory/x.md", "memory/y.md"])
        .prop_map(|path| Reference::Note { path: path.to_owned(), label: None });
    vec(prop_oneof![line, note], 0..4)
}

fn skills() -> impl Strategy<Value = Vec<Skill>> {
    let skill = (select(vec!["one", "two"]), text());
    vec(skill.prop_map(|(name, text)| Skill { name: name.to_owned(), text, ..Skill::default() }), 0..3)
}

fn variant() -> impl Strategy<Value = Variant> {
    (vec(text(), 3), text()).prop_map(|(texts, tool_guidance)| {
        let sections = texts.into_iter().zip(["system", "guardrails", "own"]);
        let sections = sections.map(|(text, id)| VariantSection {
            id: id.to_owned(),
            text,
            ..VariantSection::default()
        });
        Variant { scope: "v".to_owned(), sections: sections.collect(), tool_guidance, ..Variant::default() }
    })
}

fn tools() -> impl Strategy<Value = Tools> {
    let group = |name: &'static str| {
        vec(select(vec!["t", "u"]), 0..2).prop_map(move |tools| ToolGroup {
            group: name.to_owned(),
            tools: tools.into_iter().map(str::to_owned).collect(),
            ..ToolGroup::default()
        })
    };
    (group("web"), group("files"), group("own"))
        .prop_map(|(a, b, c)| Tools { groups: vec![a, b, c], ..Tools::default() })
}

fn launch() -> impl Strategy<Value = SessionLaunch> {
    let budget = option::of(300..3_000_usize);
    let parts = (host(), option::of(variant()), references(), skills(), option::of(state()), tools(), budget);
    parts.prop_map(|(sections, variant, references, skills, state, tools, budget)| SessionLaunch {
        product: "Akme 株".to_owned(),
        sections,
        variant,
        references,
        skills,
        state,
        tools,
        overrides: ["references", "required-skills", "session-state"]
            .into_iter()
            .map(|id| (id.to_owned(), Override { order: None, budget }))
            .collect(),
        ..SessionLaunch::default()
    })
}

fn wording() -> Wording {
    Package::built_in(Stamps::Skip).wording()
}

fn pack(launch: &SessionLaunch, wording: &Wording) -> Pack {
    let outcome = compile(launch, &SessionMaterial { wording, notes: Notes::default(), bundle: Vec::new() });
    assert_eq!(outcome.diagnostics, []);
    outcome.value.unwrap()
}

fn deliver(launch: &SessionLaunch, wording: &Wording, previous: Option<&Snapshot>) -> Compiled {
    pack(launch, wording).deliver(previous)
}

fn chars(text: &str) -> u64 {
    text.chars().count() as u64
}

/// What a conversation holds that had `previous` and was then given the ids of an update.
fn apply(previous: Option<&Snapshot>, compiled: &Compiled) -> BTreeMap<String, Section> {
    let by_id = |snapshot: &Snapshot| -> BTreeMap<String, Section> {
        snapshot.iter().map(|section| (section.id.clone(), section.clone())).collect()
    };
    let mut held = previous.map(by_id).unwrap_or_default();
    let Some(update) = &compiled.update else { return held };
    let brought = by_id(&update.snapshot);
    for id in &compiled.pack.delivery().unwrap().updated {
        match brought.get(id) {
            Some(section) => {
                let piece = format!("\n## {}\n\n{}\n", section.title, section.body);
                assert!(update.content.contains(&piece), "{id}: {}", update.content);
                held.insert(id.clone(), section.clone());
            }
            None => drop(held.remove(id)),
        }
    }
    held
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn every_body_is_within_its_budget_and_closes_its_fences(launch in launch()) {
        for section in pack(&launch, &wording()).sections() {
            prop_assert_eq!(section.size, chars(&section.body));
            prop_assert!(section.size <= section.budget, "{:?}", section);
            let whole = format!("{}\n\nx", section.body);
            let is_own = launch.sections.iter().any(|host| host.id == section.id && host.pinned.is_none());
            if section.cut && is_own {
                prop_assert!(!is_fenced(&fences(&whole), whole.len() - 1), "{:?}", section);
            }
        }
    }

    #[test]
    fn sizes_and_framing_make_up_the_texts(launch in launch(), before in launch()) {
        let wording = wording();
        let previous = pack(&before, &wording).snapshot();
        for previous in [None, Some(&previous)] {
            let compiled = deliver(&launch, &wording, previous);
            let delivery = compiled.pack.delivery().unwrap();
            let system = delivery.sizes.system.total() + delivery.sizes.system_framing;
            prop_assert_eq!(system, chars(&compiled.system));
            let update = delivery.sizes.update.total() + delivery.sizes.update_framing;
            prop_assert_eq!(update, compiled.update.as_ref().map_or(0, |update| chars(&update.content)));
            let listed: Vec<_> = delivery.sizes.system.iter().map(|(id, _)| id).collect();
            prop_assert_eq!(&listed, &delivery.stable);
        }
    }

    #[test]
    fn the_system_text_depends_on_nothing_dynamic(launch in launch(), other in launch()) {
        let wording = wording();
        let of_request = |id: &str| ["references", "required-skills", "wiki"].contains(&id);
        let mut changed = launch.clone();
        (changed.references, changed.skills) = (other.references, other.skills);
        changed.state = other.state;
        for section in &mut changed.sections {
            if section.stability == SectionStability::Dynamic || of_request(&section.id) {
                section.text.push_str("changed");
                section.title = Some("Changed".to_owned());
            }
        }
        changed.sections.push(HostSection {
            id: "new".to_owned(),
            text: "x".to_owned(),
            stability: SectionStability::Dynamic,
            ..HostSection::default()
        });
        let first = deliver(&launch, &wording, None);
        let second = deliver(&changed, &wording, first.update.as_ref().map(|update| &update.snapshot));
        prop_assert_eq!(first.system, second.system);
    }

    #[test]
    fn an_update_applied_to_what_was_held_gives_what_is(launch in launch(), before in option::of(launch())) {
        let wording = wording();
        let previous = before.map(|before| pack(&before, &wording).snapshot());
        let compiled = deliver(&launch, &wording, previous.as_ref());
        let now: BTreeMap<_, _> = pack(&launch, &wording).snapshot().into_iter().map(|it| (it.id.clone(), it)).collect();
        prop_assert_eq!(apply(previous.as_ref(), &compiled), now);
    }

    #[test]
    fn an_unchanged_pack_gives_no_update(launch in launch()) {
        let wording = wording();
        let held = pack(&launch, &wording).snapshot();
        let again = deliver(&launch, &wording, Some(&held));
        let belongs_to_request = |id: &str| ["references", "required-skills"].contains(&id);
        let expected: Vec<_> = held.iter().map(|it| it.id.as_str()).filter(|id| belongs_to_request(id)).collect();
        prop_assert_eq!(&again.pack.delivery().unwrap().updated, &expected);
        prop_assert_eq!(again.update.is_some(), !expected.is_empty());
    }

    #[test]
    fn a_first_update_speaks_of_every_dynamic_section(launch in launch()) {
        let wording = wording();
        let compiled = deliver(&launch, &wording, None);
        let updated = &compiled.pack.delivery().unwrap().updated;
        for id in ["session-state", "references", "required-skills", "wiki"] {
            prop_assert_eq!(updated.iter().filter(|it| *it == id).count(), 1, "{}", id);
        }
        let dynamic = launch.sections.iter().filter(|host| host.stability == SectionStability::Dynamic);
        for host in dynamic {
            prop_assert!(updated.contains(&host.id));
        }
    }
}
