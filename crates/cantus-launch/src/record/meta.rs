//! The launcher's own `agent_meta.json`: one key in it is ours, every other byte stays.

use std::fmt;

use cantus_manifest::canonical_json;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The key that is ours.
const KEY: &str = "instructions";

/// The fields of an object in their order, each value as it is written.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(fields)
            }
        }

        deserializer.deserialize_map(Collect).map(Fields)
    }
}

/// The object `text` with `summary` as the value of our key: in the place of the value that it has, else behind the last
/// field, in the style of the others.
pub(crate) fn with_summary(text: &str, summary: &Value) -> Result<String, serde_json::Error> {
    let Fields(fields) = serde_json::from_str(text)?;
    let span = |raw: &RawValue| {
        // The value is a part of the text.
        let start = raw.get().as_ptr() as usize - text.as_ptr() as usize;
        start..start + raw.get().len()
    };
    let style = Style::of(text);
    let value = style.value(summary);
    // Of equal keys the last one counts.
    if let Some((_, old)) = fields.iter().rev().find(|(key, _)| key == KEY) {
        let old = span(old);
        return Ok([&text[..old.start], &value, &text[old.end..]].concat());
    }
    let field = [style.gap, "\"", KEY, "\": ", &value].concat();
    Ok(match fields.last() {
        Some((_, last)) => {
            let end = span(last).end;
            [&text[..end], ",", &field, &text[end..]].concat()
        }
        None => {
            let open = text.find('{').map_or(0, |at| at + 1);
            let close = if style.gap.is_empty() { "" } else { "\n" };
            [&text[..open], &field, close, text[open..].trim_start()].concat()
        }
    })
}

/// How an object is laid out.
struct Style<'a> {
    /// What stands in front of a key.
    gap: &'a str,
}

impl<'a> Style<'a> {
    fn of(text: &'a str) -> Self {
        let inside = text.split_once('{').map_or("", |(_, inside)| inside);
        let gap = &inside[..inside.len() - inside.trim_start_matches([' ', '\t', '\r', '\n']).len()];
        let is_empty = inside[gap.len()..].starts_with('}');
        Self { gap: if is_empty { "\n  " } else { gap } }
    }

    /// The line end and indentation of a key, if keys have lines of their own.
    fn line(&self) -> Option<(&'a str, &'a str)> {
        let (_, indent) = self.gap.rsplit_once('\n')?;
        Some((if self.gap.contains('\r') { "\r\n" } else { "\n" }, indent))
    }

    fn value(&self, value: &Value) -> String {
        let Some((end, indent)) = self.line() else { return value.to_string() };
        let own = if indent.is_empty() { "  " } else { indent };
        let text = canonical_json(value);
        let mut shown = String::new();
        for (index, line) in text.trim_end().lines().enumerate() {
            let bare = line.trim_start_matches(' ');
            if index > 0 {
                shown.push_str(end);
                shown.push_str(indent);
                shown.push_str(&own.repeat((line.len() - bare.len()) / 2));
            }
            shown.push_str(bare);
        }
        shown
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{Strategy, prop_assert_eq, proptest};
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let summary = json!({"count": 1, "a": {"b": []}});
        assert_eq!(with_summary(text, &summary).unwrap(), expected);
    }

    #[test]
    fn a_key_joins_in_the_style_of_the_others() {
        let value = "{\n    \"a\": {\n      \"b\": []\n    },\n    \"count\": 1\n  }";
        check(
            "{\n  \"z\": 1.50,\n  \"a\": [1,  2]\n}\n",
            &format!("{{\n  \"z\": 1.50,\n  \"a\": [1,  2],\n  \"instructions\": {value}\n}}\n"),
        );
        check("{}", &format!("{{\n  \"instructions\": {value}\n}}"));
        check("{ \n }\n", &format!("{{\n  \"instructions\": {value}\n}}\n"));
        check(
            "{\"a\":1e400,\"b\":\"\\u00e9\"}",
            "{\"a\":1e400,\"b\":\"\\u00e9\",\"instructions\": {\"a\":{\"b\":[]},\"count\":1}}",
        );
        check(
            "{\r\n\t\"a\": 1\r\n}",
            "{\r\n\t\"a\": 1,\r\n\t\"instructions\": {\r\n\t\t\"a\": {\r\n\t\t\t\"b\": []\r\n\t\t},\r\n\t\t\"count\": 1\r\n\t}\r\n}",
        );
    }

    #[test]
    fn the_value_that_counts_is_replaced() {
        check(
            r#"{"instructions": 1, "a": {"instructions": 2}, "instr\u0075ctions": [3], "b": 4}"#,
            r#"{"instructions": 1, "a": {"instructions": 2}, "instr\u0075ctions": {"a":{"b":[]},"count":1}, "b": 4}"#,
        );
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["", "[]", "null", "{", "{\"a\":}", "{} x", "\u{feff}{}", "{\"a\": 1,}"] {
            assert!(with_summary(text, &json!({})).is_err(), "{text}");
        }
    }

    fn json_text() -> impl Strategy<Value = String> {
        let space = || "[ \n\t]{0,3}";
        let value = r#"(1|-0\.10|true|null|"a\\n"|\[\]|\[ 1 ,2\]|\{\}|\{"instructions": 3\})"#;
        let key = r#""(a|b|instructions|é)""#;
        let field = (space(), key, space(), space(), value, space());
        let fields = proptest::collection::vec(field, 0..4);
        (space(), fields, space()).prop_map(|(before, fields, after)| {
            let fields: Vec<_> = fields
                .into_iter()
                .map(|(a, key, b, c, value, d)| format!("{a}{key}{b}:{c}{value}{d}"))
                .collect();
            format!("{before}{{{}}}{after}", fields.join(","))
        })
    }

    proptest! {
        #[test]
        fn every_other_field_stays_as_it_is_written(text in json_text()) {
            let summary = json!({"count": 2});
            let new = with_summary(&text, &summary).unwrap();
            let others = |text: &str| -> Vec<(String, String)> {
                let Fields(fields) = serde_json::from_str(text).unwrap();
                let last = fields.iter().rposition(|(key, _)| key == KEY);
                let kept = fields.iter().enumerate().filter(|(index, _)| Some(*index) != last);
                kept.map(|(_, (key, raw))| (key.clone(), raw.get().to_owned())).collect()
            };
            prop_assert_eq!(others(&new), others(&text));
            let value: Value = serde_json::from_str(&new).unwrap();
            prop_assert_eq!(&value[KEY], &summary);
            // Again changes nothing.
            prop_assert_eq!(with_summary(&new, &summary).unwrap(), new);
        }
    }
}
