//! JSON in one form: keys sorted by their bytes, two blanks of indentation, everything but control characters as it is.

use serde_json::Value;

/// `value` as text with a final line feed. Equal values give equal bytes, whatever order their keys came in.
#[must_use]
pub fn canonical_json(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items = items.iter().map(|item| (None, item));
            list(text, ('[', ']'), items, depth);
        }
        Value::Object(fields) if !fields.is_empty() => {
            // Whether a map of `serde_json` is sorted depends on a feature that others may switch on.
            let mut fields: Vec<_> = fields.iter().map(|(key, value)| (Some(key.as_str()), value)).collect();
            fields.sort_by_key(|(key, _)| *key);
            list(text, ('{', '}'), fields.into_iter(), depth);
        }
        plain => text.push_str(&plain.to_string()),
    }
}

fn list<'a>(
    text: &mut String,
    (open, close): (char, char),
    items: impl Iterator<Item = (Option<&'a str>, &'a Value)>,
    depth: usize,
) {
    let indent = |text: &mut String, depth: usize| {
        text.push('\n');
        text.extend(std::iter::repeat_n(' ', 2 * depth));
    };
    text.push(open);
    for (index, (key, value)) in items.enumerate() {
        if index > 0 {
            text.push(',');
        }
        indent(text, depth + 1);
        if let Some(key) = key {
            text.push_str(&Value::from(key).to_string());
            text.push_str(": ");
        }
        write(text, value, depth + 1);
    }
    indent(text, depth);
    text.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form() {
        let value: Value = serde_json::from_str(r#"{"b":[1,-1.0,{}],"a":{"é":"x\n"},"c":[]}"#).unwrap();
        let text = "{\n  \"a\": {\n    \"é\": \"x\\n\"\n  },\n  \"b\": [\n    1,\n    -1.0,\n    {}\n  ],\n  \"c\": []\n}\n";
        assert_eq!(canonical_json(&value), text);
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), value);
    }
}
