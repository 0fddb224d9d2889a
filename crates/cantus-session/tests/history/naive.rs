//! The rules of a history once more, with the whole file in memory, and histories at random to hold both readers against.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use cantus_fs::RealDisk;
use cantus_session::{Keys, Limits, delivered_within};
use cantus_testkit::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::Value;

/// The snapshot of a history.
fn naive(history: &[u8], longest: usize) -> Option<Value> {
    let lines = history.split(|byte| *byte == b'\n').filter(|line| line.len() <= longest);
    let entries: Vec<Value> = lines
        .filter_map(|line| serde_json::from_str(&mended(&String::from_utf8_lossy(line))).ok())
        .filter(|entry: &Value| entry["id"].is_string() && entry["type"] != "session")
        .collect();
    let last: BTreeMap<&str, &Value> =
        entries.iter().map(|entry| (entry["id"].as_str().unwrap(), entry)).collect();
    let mut visited = BTreeSet::new();
    let mut at = entries.last();
    while let Some(entry) = at {
        if entry["type"] == "compaction" || !visited.insert(entry["id"].as_str()) {
            return None;
        }
        if entry["type"] == "custom_message" && entry["customType"] == "cantus-context" {
            let snapshot = &entry["details"]["cantusContext"];
            return snapshot.as_array()?.iter().all(is_section).then(|| snapshot.clone());
        }
        at = last.get(entry["parentId"].as_str()?).copied();
    }
    None
}

fn is_section(value: &Value) -> bool {
    let texts = |value: &Value, keys: &[&str]| keys.iter().all(|key| value[key].is_string());
    let source = |value: &Value| texts(value, &["id", "kind"]);
    texts(value, &["id", "title", "body"])
        && value["sources"].as_array().is_some_and(|sources| sources.iter().all(source))
        && value["budget"].is_number()
        && value["size"].is_number()
        && value["cut"].is_boolean()
}

/// With U+FFFD for every escape that UTF-16 would not take.
fn mended(line: &str) -> String {
    let chars: Vec<char> = line.chars().collect();
    let escape = |at: usize| {
        let digits: String = chars.get(at + 2..at + 6)?.iter().collect();
        let is_escape = chars[at..at + 2] == ['\\', 'u'] && digits.chars().all(|it| it.is_ascii_hexdigit());
        is_escape.then(|| u16::from_str_radix(&digits, 16).unwrap())
    };
    let (mut text, mut at) = (String::new(), 0);
    while at < chars.len() {
        let mut units = Vec::new();
        while let Some(unit) = escape(at) {
            units.push(unit);
            at += 6;
        }
        for unit in char::decode_utf16(units) {
            let mut buffer = [0; 2];
            for unit in unit.unwrap_or('\u{fffd}').encode_utf16(&mut buffer) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        }
        let step = if chars.get(at) == Some(&'\\') { 2 } else { 1 };
        text.extend(chars.iter().skip(at).take(step));
        at += step;
    }
    text
}

/// An id as JSON, from so few that they meet.
fn id() -> impl Strategy<Value = &'static str> {
    let plain = select(vec![r#""a""#, r#""b""#, r#""c""#, r#""d""#, r#""\u0061""#, r#""é""#, r#""\u00e9""#]);
    let odd =
        select(vec![r#""\ud800""#, r#""\uDFFF""#, r#""😀""#, r#""\ud83d\ude00""#, r#""""#, r#""\\ud800""#]);
    prop_oneof![5 => plain, 1 => odd]
}

fn parent() -> impl Strategy<Value = &'static str> {
    prop_oneof![20 => id(), 1 => select(vec!["null", "7", "[]"])]
}

fn snapshot() -> impl Strategy<Value = String> {
    let field = |right: &'static str, wrong: &'static str| prop_oneof![30 => Just(right), 1 => Just(wrong)];
    let section = (
        id(),
        field("\"T\"", "null"),
        "[ -~é漢]{0,9}",
        field("[]", "[{\"id\":\"n\"}]"),
        field("[{\"id\":\"n\",\"kind\":\"note\"}]", "{}"),
        field("12", "\"12\""),
        field("2.0", "true"),
        field("false", "0"),
    )
        .prop_map(|(id, title, body, few, some, budget, size, cut)| {
            let body = Value::from(body);
            let sources = if few == "[]" { some } else { few };
            format!(
                r#"{{"id":{id},"title":{title},"body":{body},"sources":{sources},"budget":{budget},"size":{size},"cut":{cut},"more":0}}"#
            )
        });
    prop_oneof![
        12 => vec(section, 0..3).prop_map(|sections| format!("[{}]", sections.join(","))),
        1 => Just("null".to_owned()),
    ]
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let kind = select(vec!["\"message\"", "\"label\"", "\"session\"", "\"compaction\"", "null"]);
    let plain = (kind, id(), parent(), "[a-zé漢😀]{0,40}").prop_map(|(kind, id, parent, text)| {
        format!(r#"{{"type":{kind},"id":{id},"parentId":{parent},"text":"{text}"}}"#).into_bytes()
    });
    let message = (id(), parent()).prop_map(|(id, parent)| {
        format!(r#"{{"type":"message","id":{id},"parentId":{parent}}}"#).into_bytes()
    });
    let custom = select(vec!["cantus-context", "cantus-context", "other"]);
    let update = (id(), parent(), custom, snapshot()).prop_map(|(id, parent, custom, snapshot)| {
        format!(
            r#"{{"details":{{"cantusContext":{snapshot}}},"type":"custom_message","id":{id},"parentId":{parent},"customType":"{custom}"}}"#
        )
        .into_bytes()
    });
    let noise = prop_oneof![
        vec(any::<u8>(), 0..12),
        Just(Vec::new()),
        Just(br#"{"id":"a""#.to_vec()),
        Just(b"{\"id\":\"\xC3\",\"parentId\":\"a\"}".to_vec()),
        Just(br#"{"id":"a","parentId":"b"}{"id":"c"}"#.to_vec()),
    ];
    prop_oneof![6 => message, 1 => plain, 3 => update, 1 => noise]
}

fn history() -> impl Strategy<Value = Vec<u8>> {
    let end = select(vec![&b"\n"[..], b"\n", b"\n", b"\r\n", b"\n\n", b"\r"]);
    (vec((line(), end), 0..24), any::<bool>()).prop_map(|(lines, ends)| {
        let mut bytes: Vec<u8> =
            lines.into_iter().flat_map(|(line, end)| [line.as_slice(), end].concat()).collect();
        if !ends {
            bytes.pop();
        }
        bytes
    })
}

proptest! {
    #![proptest_config(cases(1_500))]

    #[test]
    fn reading_from_the_end_finds_what_reading_it_all_finds(
        history in history(),
        block in prop_oneof![1_usize..40, Just(4_096)],
        longest in prop_oneof![3 => Just(usize::MAX), 1 => 40_usize..400],
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.jsonl");
        fs::write(&path, &history).unwrap();
        let limits = Limits { block, line: longest };
        let found = delivered_within(&RealDisk, &path, &Keys::default(), limits).unwrap();
        let expected = naive(&history, longest);
        let json = found.as_ref().map(|it| serde_json::from_str::<Value>(&it.json).unwrap());
        prop_assert_eq!(json, expected.clone());
        let ids = |sections: &Value| sections.as_array().unwrap().iter().map(|it| it["id"].clone()).collect::<Vec<_>>();
        let given = found.map(|it| it.sections.into_iter().map(|it| Value::from(it.id)).collect());
        prop_assert_eq!(given, expected.as_ref().map(ids));
    }
}

/// What the histories at random are worth: enough of them have a snapshot, enough have none.
#[test]
fn histories_at_random_hold_what_is_looked_for() {
    use proptest::strategy::ValueTree as _;
    use proptest::test_runner::{TestRng, TestRunner};

    let mut runner = TestRunner::new_with_rng(cases(1), TestRng::deterministic_rng(Default::default()));
    let found =
        (0..600).filter(|_| naive(&history().new_tree(&mut runner).unwrap().current(), usize::MAX).is_some());
    let found = found.count();
    assert!((120..480).contains(&found), "{found} of 600 have one");
}
