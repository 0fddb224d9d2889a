//! The JSON files of a tree: read tolerantly, written in the order of their keys.

use std::fmt;

use serde::de::{
    DeserializeOwned, DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Unexpected, Visitor,
};
use serde::{Deserialize, Deserializer, Serialize};

/// Reads one JSON value and nothing after it. `objects` says where an object (or `null`) must stand: `a/b/*` is each item of the
/// list `b` in `a`. The derived readers would take a list of the fields' values for one.
///
/// What nobody asks for is passed over whatever it is, a number beyond all bounds or a deep nest of lists.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8], objects: &[&str]) -> Result<T, serde_json::Error> {
    let read = serde_json::from_slice(text)?;
    let mut reader = serde_json::Deserializer::from_slice(text);
    Objects(objects.to_vec()).deserialize(&mut reader)?;
    Ok(read)
}

/// Where objects must stand, from here on; the empty path is here.
struct Objects<'p>(Vec<&'p str>);

impl<'p> Objects<'p> {
    /// The same for what stands under `key`.
    fn below(&self, key: &str) -> Self {
        let rest = |path: &&'p str| {
            let (first, rest) = path.split_once('/').unwrap_or((path, ""));
            (!path.is_empty() && first == key).then_some(rest)
        };
        Self(self.0.iter().filter_map(rest).collect())
    }

    /// What is to be said to something else than an object.
    fn other<E: Error>(&self, found: Unexpected<'_>) -> Result<(), E> {
        if self.0.contains(&"") { Err(E::invalid_type(found, self)) } else { Ok(()) }
    }
}

impl<'de> DeserializeSeed<'de> for Objects<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.0.is_empty() {
            return IgnoredAny::deserialize(deserializer).map(drop);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Objects<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            map.next_value_seed(self.below(&key))?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        self.other(Unexpected::Seq)?;
        while items.next_element_seed(self.below("*"))?.is_some() {}
        Ok(())
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E: Error>(self, found: bool) -> Result<(), E> {
        self.other(Unexpected::Bool(found))
    }

    fn visit_i64<E: Error>(self, found: i64) -> Result<(), E> {
        self.other(Unexpected::Signed(found))
    }

    fn visit_u64<E: Error>(self, found: u64) -> Result<(), E> {
        self.other(Unexpected::Unsigned(found))
    }

    fn visit_f64<E: Error>(self, found: f64) -> Result<(), E> {
        self.other(Unexpected::Float(found))
    }

    fn visit_str<E: Error>(self, found: &str) -> Result<(), E> {
        self.other(Unexpected::Str(found))
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

/// A list that may be `null`, and so may each of its items.
pub(crate) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let items: Vec<Option<T>> = or_default(deserializer)?;
    Ok(items.into_iter().map(Option::unwrap_or_default).collect())
}
