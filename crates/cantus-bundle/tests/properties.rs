//! Invariants over generated input. `PROPTEST_CASES` asks for more of it, `PROPTEST_RNG_SEED` for other.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

mod fixture;

use std::collections::BTreeMap;

use cantus_bundle::{
    Colour, Manifest, MeldError, Mode, OkLab, Pattern, Request, Segment, SourceId, Trace, TreePath, assemble,
    check_repository, materialise, meld, select, verify,
};
use cantus_fs::RealDisk;
use cantus_testkit::cases;
use fixture::{account, path, resolution, skill};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

/// Names near the edge of what is legal.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-c./\\\\: %~<>|?*\"\u{0}\u{1f}\u{7f}é]{0,6}",
        "(con|CON|prn|aux|Nul|com[0-9]|LPT[0-9])(\\.[a-z]{0,2})?",
    ]
}

/// The bytes that a percent-encoded name stands for.
fn decode(text: &str) -> Vec<u8> {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        if *first == b'%' {
            bytes.push(u8::from_str_radix(std::str::from_utf8(&after[..2]).unwrap(), 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    bytes
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_portable_name_has_nothing_that_a_file_system_refuses(name in name()) {
        let legal = Segment::new(name.as_str()).is_ok();
        let stem = name.split('.').next().unwrap().to_uppercase();
        let number = stem.strip_prefix("COM").or_else(|| stem.strip_prefix("LPT"));
        let device = ["CON", "PRN", "AUX", "NUL"].contains(&stem.as_str())
            || number.is_some_and(|it| it.len() == 1 && ('1'..='9').contains(&it.chars().next().unwrap()));
        let bad = name.is_empty()
            || name.ends_with(['.', ' '])
            || name.chars().any(|c| (c as u32) < 0x20 || "/\\<>:\"|?*".contains(c))
            || device;
        prop_assert_eq!(legal, !bad);
    }

    #[test]
    fn a_path_is_portable_if_its_parts_are(parts in vec(name(), 0..4)) {
        let path = parts.join("/");
        let legal = path.split('/').all(|part| Segment::new(part).is_ok());
        prop_assert_eq!(TreePath::new(path.as_str()).is_ok(), legal);
        let two = path.split('/').count() == 2;
        prop_assert_eq!(check_repository(&path).is_ok(), legal && two);
    }

    #[test]
    fn a_path_cannot_leave_its_root(name in name()) {
        if let Ok(path) = TreePath::new(name) {
            let plain = |part| matches!(part, std::path::Component::Normal(_));
            prop_assert!(std::path::Path::new(path.as_str()).components().all(plain));
            prop_assert!(path.folders().all(|folder| path.strip(folder.as_str()).is_some()));
        }
    }

    #[test]
    fn an_id_comes_back_from_its_folder(one in name(), other in name()) {
        if let (Ok(one), Ok(other)) = (SourceId::new(one), SourceId::new(other)) {
            let encoded = one.encoded();
            prop_assert_eq!(decode(&encoded), one.as_str().as_bytes());
            prop_assert!(encoded.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.%".contains(&byte)));
            prop_assert_eq!(encoded == other.encoded(), one == other);
        }
    }

    #[test]
    fn a_colour_is_read_as_it_is_shown(channels in any::<[u8; 3]>()) {
        let colour = Colour::new(channels);
        prop_assert_eq!(colour.to_string().parse(), Ok(colour));
        let lab = colour.oklab();
        let legible = (0.60..=0.80).contains(&lab.l) && lab.chroma() >= 0.05;
        prop_assert_eq!(colour.check_legible().is_ok(), legible);
    }

    #[test]
    fn what_is_read_is_read_again(text in any::<String>(), number in any::<i64>()) {
        let text = serde_json::json!({
            "role": text, "personalities": [text], "delivery": { "mode": text, "body_bytes": number },
            "decisions": [{ "subject": text, "kind": text }], "providers": [{ "source": text, "skills": number }],
        });
        let manifest = Manifest::read(text.to_string().as_bytes()).unwrap();
        prop_assert_eq!(Manifest::read(manifest.text().as_bytes()).unwrap(), manifest);
        let trace = Trace::read(text.to_string().as_bytes()).unwrap();
        prop_assert_eq!(Trace::read(trace.text().as_bytes()).unwrap(), trace);
    }

    #[test]
    fn instructions_keep_the_bytes_of_their_parts(base in vec(any::<u8>(), 0..20), card in "[a-z#\n]{0,20}") {
        let text = assemble(&base, "role", &card, &[]);
        prop_assert!(text.ends_with(b"\n"));
        let held = |part: &[u8]| part.is_empty() || text.windows(part.len()).any(|window| window == part);
        let base = std::str::from_utf8(&base).map_or_else(|_| base.trim_ascii(), |text| text.trim().as_bytes());
        prop_assert!(text.starts_with(base) && held(card.as_bytes()));
    }
}

proptest! {
    #![proptest_config(cases(40))]

    #[test]
    fn whatever_a_skill_holds_the_tree_verifies_and_is_found_again(
        files in btree_map("[a-c]{1,2}(/[d-f]{1,2}){0,2}\\.md", vec(any::<u8>(), 0..40), 0..5),
        delivery in prop_oneof![Just(Mode::NativeSkills), Just(Mode::Compiled)],
    ) {
        let out = tempfile::tempdir().unwrap();
        let mut resolved = resolution(delivery);
        let mut more = skill("more", &[("SKILL.md", "more\n")]);
        more.files.extend(files.iter().map(|(name, bytes)| (path(name), bytes.clone())));
        let expected: BTreeMap<_, _> = more.files.clone();
        resolved.skills.push(more);
        account(&mut resolved);
        let made = materialise(&RealDisk, &resolved, out.path()).unwrap();
        let verified = verify(&RealDisk, &made.folder).unwrap();
        let own = verified.skills.iter().find(|skill| skill.id.as_str() == "more").unwrap();
        let found: BTreeMap<_, _> = verified
            .tree
            .files_below(own.folder.as_str())
            .map(|(file, _)| {
                let bytes = std::fs::read(made.folder.join(file.as_str())).unwrap();
                (path(file.strip(own.folder.as_str()).unwrap()), bytes)
            })
            .collect();
        prop_assert_eq!(found, expected);
        prop_assert!(materialise(&RealDisk, &resolved, out.path()).unwrap().reused);
    }
}

/// Patterns and ids over few letters, so that they often fit.
fn pattern() -> impl Strategy<Value = String> {
    vec(
        prop_oneof![
            Just("*"),
            Just("?"),
            Just("a"),
            Just("b"),
            Just("-"),
            Just("[ab]"),
            Just("[^a]"),
            Just("\\*")
        ],
        1..6,
    )
    .prop_map(|parts| parts.concat())
}

/// Whether the pattern matches, decided by trying everything.
fn tried(pattern: &str, id: &str) -> bool {
    let first = id.chars().next();
    let after = || &id[first.map_or(0, char::len_utf8)..];
    if let Some(rest) = pattern.strip_prefix('*') {
        return tried(rest, id) || (first.is_some() && tried(pattern, after()));
    }
    let takes = |sign: &str, c: char| match sign {
        "?" => true,
        "[ab]" => c == 'a' || c == 'b',
        "[^a]" => c != 'a',
        sign => sign.trim_start_matches('\\').starts_with(c),
    };
    let signs = ["?", "[ab]", "[^a]", "\\*", "a", "b", "-"];
    match signs.into_iter().find_map(|sign| Some((pattern.strip_prefix(sign)?, sign))) {
        Some((rest, sign)) => first.is_some_and(|c| takes(sign, c)) && tried(rest, after()),
        None => id.is_empty(),
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn a_pattern_matches_what_trying_everything_matches(text in pattern(), id in "[ab*-]{0,6}") {
        prop_assert_eq!(Pattern::new(&text).unwrap().matches(&id), tried(&text, &id));
    }

    #[test]
    fn an_escaped_id_matches_itself_alone(id in "[^/]{1,8}", other in "[^/]{0,8}") {
        let text: String = id.chars().flat_map(|c| ['\\', c]).collect();
        let pattern = Pattern::new(&text).unwrap();
        prop_assert!(pattern.matches(&id) && pattern.is_literal());
        prop_assert_eq!(pattern.matches(&other), other == id);
    }

    #[test]
    fn any_text_is_a_pattern_or_is_refused(text in any::<String>(), id in any::<String>()) {
        if let Ok(pattern) = Pattern::new(&text) {
            let _ = pattern.matches(&id);
            prop_assert_eq!(pattern.to_string(), text.escape_debug().to_string());
        }
    }

    #[test]
    fn a_selection_is_what_its_patterns_match(texts in vec(pattern(), 0..3), ids in vec("[ab*-]{1,4}", 0..6)) {
        let patterns: Vec<_> = texts.iter().map(|text| Pattern::new(text).unwrap()).collect();
        let ids: Vec<_> = ids.iter().map(String::as_str).collect();
        let matching = |id: &str| patterns.iter().filter(|pattern| pattern.matches(id)).count();
        let idle = patterns.iter().any(|pattern| !ids.iter().any(|id| pattern.matches(id)));
        let legal = !patterns.is_empty() && !idle && ids.iter().all(|id| matching(id) < 2);
        let selected = select(&patterns, &ids);
        prop_assert_eq!(selected.is_ok(), legal);
        if let Ok(selected) = selected {
            prop_assert_eq!(selected, ids.iter().map(|id| matching(id) == 1).collect::<Vec<_>>());
        }
    }

    #[test]
    fn any_text_is_a_request_or_is_refused(text in prop_oneof![
        any::<String>(),
        "compose \\{( |;|\n|role|delivery|compiled|source|root=|\"a\"|=|\\}|/-|#true|\"){0,12}\\}",
    ]) {
        let read = Request::read("r.kdl", text.as_bytes());
        prop_assert_eq!(read.value.is_some(), read.diagnostics.is_empty());
    }

    #[test]
    fn a_meld_is_legible_whatever_the_order(parts in vec((0.6..0.8, 0.05..0.2, 0.0..6.3), 1..5)) {
        let colour = |(l, chroma, angle): (f64, f64, f64)| {
            Colour::of(OkLab { l, a: chroma * angle.cos(), b: chroma * angle.sin() })
        };
        let colours = parts.into_iter().map(colour).filter(|colour| colour.check_legible().is_ok());
        let mut colours: Vec<_> = colours.collect();
        match meld(&colours) {
            Ok(one) => {
                prop_assert_eq!(one.check_legible(), Ok(()));
                colours.reverse();
                prop_assert_eq!(meld(&colours), Ok(one));
            }
            Err(error) => prop_assert!(matches!(error, MeldError::Empty | MeldError::Gray), "{error}"),
        }
    }
}
