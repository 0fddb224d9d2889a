//! The JSON files of a tree: read tolerantly, written in the order of their keys.

use serde::de::{DeserializeOwned, Error};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Reads one JSON value and nothing after it. `objects` says where an object (or `null`) must stand: `a/b/*` is each item of the
/// list `b` in `a`. The derived readers would take a list of the fields' values for one.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8], objects: &[&str]) -> Result<T, serde_json::Error> {
    let read = serde_json::from_slice(text)?;
    let value: Value = serde_json::from_slice(text)?;
    match objects.iter().find(|path| !is_object_at(&value, path)) {
        Some(path) => Err(Error::custom(format!("expected an object at `/{path}`"))),
        None => Ok(read),
    }
}

fn is_object_at(value: &Value, path: &str) -> bool {
    let Some((first, rest)) = path.split_once('/').or_else(|| (!path.is_empty()).then_some((path, "")))
    else {
        return value.is_object() || value.is_null();
    };
    match (first, value) {
        ("*", Value::Array(items)) => items.iter().all(|item| is_object_at(item, rest)),
        ("*", _) => true,
        (key, value) => value.get(key).is_none_or(|value| is_object_at(value, rest)),
    }
}

/// A value as JSON for people, with a line feed at the end.
pub(crate) fn text(value: &impl Serialize) -> String {
    // Texts, numbers and lists can't fail to become JSON.
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}

/// A value that may be `null`, which is the same as absent: some producers write that for an empty list.
pub(crate) fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
