//! Invariants over generated input. `PROPTEST_CASES` asks for more of it, `PROPTEST_RNG_SEED` for other.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

mod fixture;

use std::collections::BTreeMap;

use cantus_bundle::{
    Colour, Manifest, Mode, Segment, SourceId, Trace, TreePath, assemble, check_repository, materialise,
    verify,
};
use cantus_fs::RealDisk;
use fixture::{account, path, resolution, skill};
use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// The same cases in every run, unless the environment asks for others.
fn config(cases: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    ProptestConfig {
        cases: if asked.cases == 256 { cases } else { asked.cases },
        rng_seed: if asked.rng_seed == RngSeed::Random { RngSeed::Fixed(7) } else { asked.rng_seed },
        failure_persistence: None,
        ..asked
    }
}

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
    #![proptest_config(config(1000))]

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
    #![proptest_config(config(40))]

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
