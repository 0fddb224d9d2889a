//! The exact shape of a snapshot that a conversation holds.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::json::{boolean, count, elements, fields, text};
use crate::{Section, Snapshot, Source};

/// The snapshot `json`; `None` if it hasn't the exact shape: an array of objects with strings `id`, `title`, `body`, an array
/// `sources` of objects with strings `id` and `kind`, numbers `budget` and `size`, a boolean `cut`. Further keys are ignored.
///
/// A number that no section of ours has, like `-1` or `0.5`, is of the shape all the same and reads as [`u64::MAX`]: the
/// section is then another one than any that is compiled, and is sent anew. So is one with a `revision` that is no string,
/// which reads as its JSON.
pub(crate) fn parse(json: &RawValue) -> Option<Snapshot> {
    elements(Some(json))?.into_iter().map(section).collect()
}

fn section(json: &RawValue) -> Option<Section> {
    let names = ["id", "title", "body", "sources", "budget", "size", "cut"];
    let [id, title, body, sources, budget, size, cut] = fields(json.get(), names)?;
    Some(Section {
        id: text(id)?.into_owned(),
        title: text(title)?.into_owned(),
        body: text(body)?.into_owned(),
        sources: elements(sources)?.into_iter().map(source).collect::<Option<_>>()?,
        budget: count(budget)?,
        size: count(size)?,
        cut: boolean(cut)?,
    })
}

fn source(json: &RawValue) -> Option<Source> {
    let [id, kind, revision, chars] = fields(json.get(), ["id", "kind", "revision", "chars"])?;
    Some(Source {
        id: text(id)?.into_owned(),
        kind: text(kind)?.into_owned(),
        revision: revision
            .filter(|json| json.get() != "null")
            .map(|json| text(Some(json)).unwrap_or(Cow::Borrowed(json.get())).into_owned()),
        chars: count(chars).filter(|chars| *chars != u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = r#"{"id":"wiki","title":"Wiki","body":"B","sources":[{"id":"a.md","kind":"note"}],"budget":9,"size":1,"cut":false}"#;

    #[track_caller]
    fn parsed(json: &str) -> Option<Snapshot> {
        parse(serde_json::from_str(json).unwrap())
    }

    #[track_caller]
    fn check(old: &str, new: &str, is_exact: bool) {
        assert!(WHOLE.contains(old), "{old}");
        assert_eq!(parsed(&format!("[{}]", WHOLE.replace(old, new))).is_some(), is_exact, "{old} -> {new}");
    }

    #[test]
    fn a_snapshot_is_read_as_it_was_written() {
        let sections = parsed(&format!("[{WHOLE}]")).unwrap();
        assert_eq!(serde_json::to_string(&sections).unwrap(), format!("[{WHOLE}]"));
        assert_eq!(parsed("[]"), Some(Vec::new()));
    }

    #[test]
    fn each_key_must_be_there_with_its_type() {
        for key in ["id", "title", "body", "sources", "budget", "size", "cut"] {
            check(&format!("\"{key}\":"), "\"other\":", false);
            check(&format!("\"{key}\":"), &format!("\"{key}\":null,\"other\":"), false);
        }
        check("\"Wiki\"", "1", false);
        check("\"B\"", "[\"B\"]", false);
        check("9", "\"9\"", false);
        check("1,", "true,", false);
        check("false", "0", false);
        check("false", "\"false\"", false);
        for json in ["{}", "null", "\"x\"", "[1]", "[null]", "[[]]"] {
            assert_eq!(parsed(json), None, "{json}");
        }
        assert_eq!(parsed(&format!("[{WHOLE},{{}}]")), None);
    }

    #[test]
    fn sources_have_their_shape_too() {
        check("[{\"id\":\"a.md\",\"kind\":\"note\"}]", "[]", true);
        check("[{\"id\":\"a.md\",\"kind\":\"note\"}]", "{}", false);
        check("{\"id\":\"a.md\",\"kind\":\"note\"}", "\"a.md\"", false);
        check("\"kind\":\"note\"", "\"kind\":1", false);
        check(",\"kind\":\"note\"", "", false);
        check("\"note\"", "\"note\",\"revision\":null,\"chars\":1.5,\"more\":[]", true);
    }

    #[test]
    fn a_revision_that_is_no_string_is_still_told_from_none() {
        let revision = |json: &str| {
            let whole = WHOLE.replace("\"note\"", &format!("\"note\",\"revision\":{json}"));
            parsed(&format!("[{whole}]")).unwrap().remove(0).sources.remove(0).revision
        };
        assert_eq!(revision("null"), None);
        assert_eq!(revision("\"r\\u0031\"").as_deref(), Some("r1"));
        assert_eq!(revision("5").as_deref(), Some("5"));
    }

    #[test]
    fn further_keys_and_odd_numbers_are_of_the_shape() {
        check("\"B\"", "\"B\",\"more\":{\"id\":1}", true);
        check("9", "9.0", true);
        check("9", "-9", true);
        check("9", "1e999", true);
        check("\"Wiki\"", "1,\"title\":\"Wiki\"", true);
        check("\"Wiki\"", "\"Wiki\",\"title\":1", false);
    }
}
