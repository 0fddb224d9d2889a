//! The JSON Schema of a manifest: what serde's shapes say, and those of the checks that a schema can say.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Manifest;

/// The schema of a manifest of either version, in draft 2020-12 and without `$id`.
///
/// It refuses no manifest that [`Manifest::normalise`] takes. The reverse does not hold: that ids are unique, that offsets
/// follow one another and that digests fit is beyond a schema, and `2.0` is an integer for JSON Schema alone.
#[must_use]
pub fn json_schema() -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<Manifest>().to_value();
    bounded(&mut schema);
    schema["title"] = "Instruction manifest".into();
    schema["description"] =
        "What a bundle of standing instructions says about itself: facts, sections with their sources, delivery.".into();
    schema["properties"]["schema_version"] = json!({
        "description": schema["properties"]["schema_version"]["description"],
        "type": "integer",
        "enum": [1, 2],
    });
    schema["allOf"] = across();
    let types = &mut schema["$defs"];
    types["Budget"]["properties"]["by_layer"]["propertyNames"] = json!({"$ref": "#/$defs/Layer"});
    types["FactsRecord"]["allOf"] = facts();
    types["SectionRecord"]["allOf"] = section();
    types["DeliveryRecord"]["allOf"] = json!([fallback()]);
    types["Subagent"]["allOf"] = subagent();
    schema
}

/// Says in every integer's schema how large it may be, in the place of a `format` that other validators don't know.
fn bounded(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            if let Some(most) = fields.get("format").and_then(most) {
                fields.remove("format");
                if let Some(most) = most {
                    fields.insert("maximum".to_owned(), most.into());
                }
            }
            fields.values_mut().for_each(bounded);
        }
        Value::Array(items) => items.iter_mut().for_each(bounded),
        _ => {}
    }
}

/// Whether `format` is that of a number, and the largest integer that has it.
fn most(format: &Value) -> Option<Option<u64>> {
    match format.as_str()? {
        "uint32" => Some(Some(u32::MAX.into())),
        "uint64" => Some(Some(u64::MAX)),
        "double" => Some(None),
        _ => None,
    }
}

/// `then` where the value's `field` is one of `words`.
fn when(field: &str, words: &[&str], then: &Value) -> Value {
    json!({"if": has(field, words), "then": then})
}

/// A value whose `field` is one of `words`.
fn has(field: &str, words: &[&str]) -> Value {
    json!({"properties": {field: {"enum": words}}, "required": [field]})
}

/// A value that has `fields`, none of them null.
fn with(fields: &[&str]) -> Value {
    let properties: Map<_, _> =
        fields.iter().map(|field| ((*field).to_owned(), json!({"not": {"type": "null"}}))).collect();
    json!({"properties": properties, "required": fields})
}

/// A value that lacks `fields`; null counts as lacking.
fn without(fields: &[&str]) -> Value {
    let properties: Map<_, _> =
        fields.iter().map(|field| ((*field).to_owned(), json!({"type": "null"}))).collect();
    json!({"properties": properties})
}

/// Everything in `schemas` at once.
fn all(schemas: &[Value]) -> Value {
    json!({"allOf": schemas})
}

/// Legal pairs of actor and mode.
fn facts() -> Value {
    json!([
        when("mode", &["runtime"], &has("actor", &["sase_root", "native_helper"])),
        when("mode", &["interactive", "export"], &has("actor", &["interactive"])),
    ])
}

/// What a section has by its status, and how its id follows from its layer and provider.
fn section() -> Value {
    let included = all(&[with(&["offset", "length", "sha256"]), without(&["reason"])]);
    let excluded = all(&[without(&["offset", "length"]), with(&["reason"])]);
    let required = json!({"properties": {"status": {"const": "excluded"}, "required": {"const": true}}});
    let mut rules = vec![
        when("status", &["included"], &included),
        when("status", &["excluded"], &excluded),
        json!({"if": required, "then": has("reason", &["overlay", "mode"])}),
        json!({
            "if": {"properties": {"provider_specific": {"const": true}}},
            "then": {"properties": {"id": {"pattern": "^pkg\\.provider\\.[A-Za-z][A-Za-z0-9_-]*$"}}},
        }),
    ];
    rules.extend(crate::Layer::ALL.map(|layer| {
        let id = json!({"properties": {"id": {"pattern": format!("^{}\\.", layer.prefix())}}});
        when("layer", &[layer.name()], &id)
    }));
    rules.into()
}

/// A fallback is one to the provider's own files.
fn fallback() -> Value {
    json!({"if": with(&["fallback"]), "then": has("status", &["inherits_native"])})
}

/// The helpers' part of a delivery.
fn subagent() -> Value {
    json!([
        has("status", &["explicit", "inherits_native", "inherits_root", "none"]),
        when("status", &["explicit"], &with(&["channel", "bundle_sha256"])),
        {"if": with(&["bundle_sha256"]), "then": has("status", &["explicit"])},
        fallback(),
    ])
}

/// What the versions have of their own, and what facts say of sections and delivery.
fn across() -> Value {
    let delivery = |schema: &Value| json!({"properties": {"delivery": schema}});
    let actor = |words: &[&str]| json!({"properties": {"facts": has("actor", words)}});
    let launched = has("status", &["explicit", "inherits_native"]);
    let helpers = all(&[actor(&["sase_root"]), delivery(&launched)]);
    let parent = when("status", &["explicit"], &with(&["parent_invocation_id"]));
    let version_2 = all(&[
        delivery(&json!({"properties": {"channel": {"pattern": "^[a-z0-9_]+\\.[a-z0-9_]+$"}}})),
        delivery(&when("status", &["explicit"], &with(&["channel"]))),
        json!({"if": delivery(&with(&["subagent"])), "then": helpers}),
        json!({"if": actor(&["native_helper"]), "then": delivery(&parent)}),
    ]);
    let version = |number: u32| json!({"properties": {"schema_version": {"const": number}}});
    json!([
        {"if": version(1), "then": delivery(&json!({"properties": {"subagent": false, "fallback": false}}))},
        {"if": version(2), "then": version_2},
        {"if": actor(&["native_helper", "interactive"]), "then": no_section("root")},
        {"if": actor(&["sase_root", "interactive"]), "then": no_section("helper")},
    ])
}

/// A manifest that includes no section of this lifecycle.
fn no_section(lifecycle: &str) -> Value {
    let included = all(&[has("status", &["included"]), has("lifecycle", &[lifecycle])]);
    json!({"properties": {"sections": {"items": {"not": included}}}})
}
