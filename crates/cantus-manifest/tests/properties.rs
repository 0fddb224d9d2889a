//! Invariants of the manifest over generated JSON. `PROPTEST_CASES` asks for more of it, `PROPTEST_RNG_SEED` for other.

#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its own vectors")]

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use cantus_manifest::canonical_json;
use cantus_manifest::manifest::Manifest;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

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

static BASE: LazyLock<Value> = LazyLock::new(|| {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/manifest/base.json");
    serde_json::from_slice(&fs::read(file).unwrap()).unwrap()
});

/// Every place of `value`, as a JSON Pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(key, value)| places(value, &format!("{at}/{key}"), found))
        }
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

fn value() -> impl Strategy<Value = Value> {
    let known = select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(1.5),
        json!(u64::MAX),
        json!(""),
        json!("proj.core.rules"),
        json!("frame.title"),
        json!("a.b"),
        json!("included"),
        json!("excluded"),
        json!("native_helper"),
        json!("interactive"),
        json!("export"),
        json!("explicit"),
        json!("inherits_native"),
        json!("root"),
        json!("helper"),
        json!("mode"),
        json!({}),
        json!([]),
        json!({"reason": "oversize"}),
        json!({"status": "inherits_root"}),
        json!("0".repeat(64)),
    ]);
    let plain = prop_oneof![
        6 => known,
        1 => any::<i64>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => any::<String>().prop_map(Value::from),
    ];
    plain.prop_recursive(3, 12, 4, |inner| {
        let fields = vec((any::<String>(), inner.clone()), 0..4);
        prop_oneof![
            vec(inner, 0..4).prop_map(Value::from),
            fields.prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// One change of a manifest.
#[derive(Clone, Debug)]
enum Change {
    Replace(Index, Value),
    Remove(Index),
    Add(Index, String, Value),
    Copy(Index, Index),
}

fn change() -> impl Strategy<Value = Change> {
    let key = select(vec![
        "common_digest",
        "subagent",
        "fallback",
        "channel",
        "reason",
        "shadowed_by",
        "offset",
        "vcs",
        "project",
        "parent_invocation_id",
        "provider_cli_version",
        "unknown",
        "sha256",
        "blob_oid",
    ]);
    let at = any::<Index>;
    prop_oneof![
        3 => (at(), value()).prop_map(|(at, value)| Change::Replace(at, value)),
        2 => at().prop_map(Change::Remove),
        2 => (at(), key, value()).prop_map(|(at, key, value)| Change::Add(at, key.to_owned(), value)),
        1 => (at(), at()).prop_map(|(from, to)| Change::Copy(from, to)),
    ]
}

fn change_in(manifest: &mut Value, change: &Change) {
    let mut all = Vec::new();
    places(manifest, "", &mut all);
    match change {
        Change::Replace(at, value) => *manifest.pointer_mut(at.get::<String>(&all)).unwrap() = value.clone(),
        Change::Copy(from, to) => {
            let value = manifest.pointer(from.get::<String>(&all)).unwrap().clone();
            *manifest.pointer_mut(to.get::<String>(&all)).unwrap() = value;
        }
        Change::Add(at, key, value) => match manifest.pointer_mut(at.get::<String>(&all)).unwrap() {
            Value::Object(fields) => drop(fields.insert(key.clone(), value.clone())),
            Value::Array(items) => items.push(value.clone()),
            other => *other = value.clone(),
        },
        Change::Remove(at) => {
            let Some((parent, key)) = at.get::<String>(&all).rsplit_once('/') else { return };
            match manifest.pointer_mut(parent).unwrap() {
                Value::Object(fields) => drop(fields.remove(key)),
                Value::Array(items) => drop(items.remove(key.parse().unwrap())),
                _ => {}
            }
        }
    }
}

/// Parses JSON and gives the same for a number, whatever its last digit.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #![proptest_config(config(2000))]

    #[test]
    fn a_changed_manifest_is_refused_or_has_one_normal_form(
        version in 1..=2u32,
        changes in vec(change(), 0..3),
    ) {
        let mut manifest = BASE.clone();
        manifest["schema_version"] = version.into();
        for change in &changes {
            change_in(&mut manifest, change);
        }
        match Manifest::normalise(manifest) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(first) => {
                let again = Manifest::normalise(first.to_value());
                prop_assert_eq!(again.as_ref(), Ok(&first));
                let read = Manifest::normalise(parsed(&canonical_json(&first.to_value())));
                prop_assert_eq!(read, Ok(first));
            }
        }
    }

    #[test]
    fn any_json_is_refused_without_a_panic(value in value()) {
        prop_assert!(Manifest::normalise(value).is_err());
    }

    #[test]
    fn canonical_json_says_what_it_was_given(value in value()) {
        let text = canonical_json(&value);
        prop_assert_eq!(&parsed(&text), &value);
        prop_assert_eq!(canonical_json(&parsed(&text)), text);
    }
}
