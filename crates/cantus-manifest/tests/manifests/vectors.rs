//! The vectors of `tests/vectors/manifest`: every verdict, message and normal form.

use cantus_manifest::canonical_json;
use cantus_manifest::manifest::Manifest;
use serde_json::{Value, json};

use crate::inputs::{patch, read};

#[track_caller]
fn check_accepted(case: &Value, input: &Value) {
    let name = &case["name"];
    let mut expected = input.clone();
    for change in case["normalised"].as_array().unwrap() {
        let absent = change["absent"] == true;
        let operation = if absent { "remove" } else { "add" };
        let mut change = change.clone();
        change["op"] = operation.into();
        if !absent && expected.pointer(change["path"].as_str().unwrap()).is_some() {
            change["op"] = "replace".into();
        }
        patch(&mut expected, &change);
    }
    let manifest = Manifest::normalise(input).unwrap_or_else(|error| panic!("{name}: {error}"));
    // Texts are compared, since `-1` and `-1.0` are equal as values.
    assert_eq!(canonical_json(&manifest.to_value()), canonical_json(&expected), "{name}");
    let again = Manifest::normalise(&manifest.to_value()).unwrap();
    assert_eq!(
        canonical_json(&again.to_value()),
        canonical_json(&manifest.to_value()),
        "{name}: not idempotent"
    );
}

#[track_caller]
fn check_shape(pointer: &str, value: Value, message: &str) {
    let mut input = read("base.json");
    *input.pointer_mut(pointer).unwrap() = value;
    let said = Manifest::normalise(&input).unwrap_err().to_string();
    let shape = "invalid instruction manifest: manifest is not a valid InstructionManifestWire: ";
    assert_eq!(said, format!("{shape}{message}"));
}

#[test]
fn a_list_is_no_mapping_and_a_mapping_no_word() {
    check_shape("/observation", json!(["unobserved"]), "invalid type: sequence, expected a map");
    check_shape("/budget/by_layer/home", json!([1, 2]), "invalid type: sequence, expected a map");
    check_shape("/compiler", json!(["cantus", 1, ""]), "invalid type: sequence, expected a map");
    check_shape("/sections/0/layer", json!({"frame": null}), "invalid type: map, expected a string");
    check_shape("/delivery/cache", json!({"miss": null}), "invalid type: map, expected a string");
    let fields = read("base.json").as_object().unwrap().clone();
    let order =
        ["schema_version", "compiler", "facts", "bundle", "budget", "sections", "delivery", "observation"];
    let list: Vec<_> = order.iter().map(|key| fields[*key].clone()).collect();
    check_shape("", list.into(), "invalid type: sequence, expected a map");
}

#[test]
fn every_verdict() {
    let (base, cases) = (read("base.json"), read("cases.json"));
    let cases = cases.as_array().unwrap();
    assert!(cases.len() >= 122);
    for case in cases {
        let mut input = base.clone();
        for operation in case["patch"].as_array().unwrap() {
            patch(&mut input, operation);
        }
        if case["expect"] == "accept" {
            check_accepted(case, &input);
            continue;
        }
        let message = Manifest::normalise(&input).expect_err(case["name"].as_str().unwrap()).to_string();
        for part in case["message"].as_array().unwrap() {
            assert!(message.contains(part.as_str().unwrap()), "{}: {message}", case["name"]);
        }
    }
}
