//! The schema against the checks: what it refuses they refuse.

use std::sync::LazyLock;

use cantus_manifest::manifest::{Manifest, json_schema};
use cantus_testkit::cases;
use jsonschema::Validator;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::inputs::{BASE, change, change_in, patch, read};

static SCHEMA: LazyLock<Validator> = LazyLock::new(|| jsonschema::draft202012::new(&json_schema()).unwrap());

/// What the schema has against a manifest.
fn faults(manifest: &Value) -> Vec<String> {
    let faults = SCHEMA.iter_errors(manifest);
    faults.map(|fault| format!("{}: {fault}", fault.instance_path())).collect()
}

/// Every vector: its name, and the manifest.
fn vectors() -> Vec<(String, Value)> {
    let vectors = read("cases.json");
    let made = vectors.as_array().unwrap().iter().map(|case| {
        let mut manifest = BASE.clone();
        case["patch"].as_array().unwrap().iter().for_each(|operation| patch(&mut manifest, operation));
        (case["name"].as_str().unwrap().to_owned(), manifest)
    });
    made.collect()
}

#[test]
fn the_schema_is_one_of_its_draft() {
    let schema = json_schema();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema.get("$id"), None);
    assert!(jsonschema::meta::validate(&schema).is_ok());
}

#[test]
fn every_accepted_vector_is_valid_and_so_is_its_normal_form() {
    let mut count = 0;
    for (name, manifest) in vectors() {
        let Ok(normal) = Manifest::normalise(&manifest) else { continue };
        assert_eq!(faults(&manifest), [] as [&str; 0], "{name}");
        assert_eq!(faults(&normal.to_value()), [] as [&str; 0], "{name}");
        count += 1;
    }
    assert!(count >= 40, "{count}");
}

/// Vectors that are refused for their shape, and others that are refused, each if the schema knows nothing against it.
fn beyond() -> (Vec<String>, Vec<String>) {
    let refused = vectors().into_iter().filter_map(|(name, manifest)| {
        let valid = SCHEMA.is_valid(&manifest);
        let error = Manifest::normalise(&manifest).err()?.to_string();
        valid.then(|| (name, error.contains("not a valid InstructionManifestWire")))
    });
    let (shapes, others): (Vec<_>, Vec<_>) = refused.partition(|(_, shape)| *shape);
    let names = |vectors: Vec<(String, bool)>| vectors.into_iter().map(|(name, _)| name).collect();
    (names(shapes), names(others))
}

#[test]
fn a_wrong_shape_is_invalid_unless_it_is_a_whole_number_as_a_float() {
    assert_eq!(beyond().0, ["version as float", "sequence as float"]);
}

#[test]
fn what_else_the_schema_cannot_say() {
    let expected = [
        "provider in another case",
        "one byte too many",
        "common digest of something else",
        "id twice",
        "id included and excluded",
        "a gap",
        "provider section excluded, offsets left open",
        "provider section without the flag",
        "two faults: contiguity before the common digest",
    ];
    assert_eq!(beyond().1, expected);
}

#[test]
fn integers_end_where_their_types_do() {
    let mut manifest = BASE.clone();
    manifest["bundle"]["lines"] = u64::MAX.into();
    manifest["compiler"]["version"] = u32::MAX.into();
    assert_eq!(faults(&manifest), [] as [&str; 0]);
    manifest["compiler"]["version"] = (u64::from(u32::MAX) + 1).into();
    assert!(!SCHEMA.is_valid(&manifest));
}

proptest! {
    #![proptest_config(cases(4000))]

    #[test]
    fn what_the_schema_refuses_the_checks_refuse(
        vector in any::<prop::sample::Index>(),
        changes in vec(change(), 0..3),
    ) {
        static VECTORS: LazyLock<Vec<(String, Value)>> = LazyLock::new(vectors);
        let mut manifest = vector.get(&VECTORS).1.clone();
        changes.iter().for_each(|change| change_in(&mut manifest, change));
        let faults = faults(&manifest);
        if !faults.is_empty() {
            let normal = Manifest::normalise(&manifest);
            prop_assert!(normal.is_err(), "{:?} of {:?}", faults, normal);
        }
    }
}
