//! Manifests for tests: the vectors, and changes of their base.

use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

/// A file of `tests/vectors/manifest`.
pub(crate) fn read(name: &str) -> Value {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/manifest");
    serde_json::from_slice(&fs::read(folder.join(name)).unwrap()).unwrap()
}

/// Applies one operation of a JSON Patch: `add`, `replace` or `remove`.
pub(crate) fn patch(value: &mut Value, operation: &Value) {
    let path = operation["path"].as_str().unwrap();
    let (parent, key) = path.rsplit_once('/').unwrap();
    let remove = operation["op"] == "remove";
    match value.pointer_mut(parent).unwrap() {
        Value::Object(fields) if remove => drop(fields.remove(key).unwrap()),
        Value::Object(fields) => drop(fields.insert(key.to_owned(), operation["value"].clone())),
        Value::Array(items) if remove => drop(items.remove(key.parse().unwrap())),
        Value::Array(items) if operation["op"] == "replace" => {
            items[key.parse::<usize>().unwrap()] = operation["value"].clone();
        }
        Value::Array(items) if key == "-" => items.push(operation["value"].clone()),
        Value::Array(items) => items.insert(key.parse().unwrap(), operation["value"].clone()),
        other => panic!("no container at {parent}: {other}"),
    }
}

pub(crate) static BASE: LazyLock<Value> = LazyLock::new(|| read("base.json"));

/// Every place of `value`, as a JSON Pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| {
            places(value, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), found)
        }),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, item)| places(item, &format!("{at}/{index}"), found));
        }
        _ => {}
    }
}

pub(crate) fn value() -> impl Strategy<Value = Value> {
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
pub(crate) enum Change {
    Replace(Index, Value),
    Remove(Index),
    Add(Index, String, Value),
    Copy(Index, Index),
}

pub(crate) fn change() -> impl Strategy<Value = Change> {
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

pub(crate) fn change_in(manifest: &mut Value, change: &Change) {
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
                Value::Object(fields) => drop(fields.remove(&key.replace("~1", "/").replace("~0", "~"))),
                Value::Array(items) => drop(items.remove(key.parse().unwrap())),
                _ => {}
            }
        }
    }
}
