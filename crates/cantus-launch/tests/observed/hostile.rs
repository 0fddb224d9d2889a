//! Session files that are cut, torn, mixed up or full of what nobody knows: reports come all the same, and claim nothing that
//! wasn't seen.

use std::sync::LazyLock;

use cantus_launch::observe::{Evidence, Fate, Report, Verdict};
use cantus_testkit::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value, json};

use crate::fixture::{Case, Memory};

/// A case with its files in memory.
struct Lab {
    case: Case,
    memory: Memory,
}

impl Lab {
    fn new(name: &str) -> Self {
        let case = Case::new(name);
        let memory = case.memory();
        Self { case, memory }
    }

    fn report(&self, memory: &Memory) -> Report {
        self.case.report_on(memory, self.case.runs(), None)
    }

    /// The report with the session's file changed.
    fn changed(&self, file: &str, change: impl FnOnce(&mut Vec<u8>)) -> Report {
        let mut memory = self.memory.clone();
        change(memory.file(file));
        self.report(&memory)
    }
}

/// A case a provider, with the file in which its session lies.
static LABS: LazyLock<Vec<(Lab, &str)>> = LazyLock::new(|| {
    vec![
        (Lab::new("claude/01-explicit"), "projects/-w-lamp/aaaaaaaa-0000-4000-8000-000000000001.jsonl"),
        (
            Lab::new("claude/08-deltas-and-nested"),
            "projects/-w-lamp/aaaaaaaa-0000-4000-8000-000000000001.jsonl",
        ),
        (Lab::new("claude/06-helper-signals"), "subagents/agent-a1.jsonl"),
        (
            Lab::new("codex/01-explicit"),
            "rollout-2026-11-20T10-00-02-aaaaaaaa-0000-4000-8000-000000000001.jsonl",
        ),
        (
            Lab::new("codex/07-compressed"),
            "rollout-2026-11-20T10-00-02-aaaaaaaa-0000-4000-8000-000000000001.jsonl.zst",
        ),
        (Lab::new("grok/01-explicit"), "system_prompt.txt"),
        (Lab::new("grok/02-native-pair"), "aaaaaaaa-0000-4000-8000-000000000001/prompt_context.json"),
        (Lab::new("muse/01-explicit"), "session.jsonl"),
        (Lab::new("muse/02-rules-file"), "session.jsonl"),
    ]
});

/// The number of one of them.
fn lab() -> impl Strategy<Value = usize> {
    0..LABS.len()
}

/// A word that records use.
fn word() -> impl Strategy<Value = String> {
    select(
        &[
            "type",
            "timestamp",
            "cwd",
            "isSidechain",
            "attachment",
            "message",
            "files",
            "removed",
            "systemPrompt",
            "path",
            "content",
            "instructions",
            "prompt_snapshot",
            "nested_memory",
            "session_meta",
            "response_item",
            "payload",
            "role",
            "developer",
            "user",
            "text",
            "compacted",
            "replacement_history",
            "source",
            "subagent",
            "thread_spawn",
            "id",
            "record_json",
            "children",
            "event",
            "rules_file",
            "run_context_messages",
            "model_messages",
            "tool_use",
            "tool_result",
            "assistant",
            "name",
            "Bash",
            "input",
            "command",
            "is_error",
            "agents_md_files",
            "memory_enabled",
            "working_directory",
            "/w/lamp",
            "2026-11-20T10:00:02Z",
            "# Lamp Works - Agent Instructions",
            "<human_rules>",
        ][..],
    )
    .prop_map(str::to_owned)
}

/// Any JSON made of such words.
fn json_of_words() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..5).prop_map(Value::from),
            vec((word(), inner), 0..6)
                .prop_map(|fields| Value::from(fields.into_iter().collect::<Map<_, _>>())),
        ]
    })
}

/// The verdict of the one conversation; `None` if it isn't seen as one.
fn verdict(report: &Report) -> Option<Verdict> {
    report.verdicts.as_ref().and_then(|verdicts| verdicts.first()).cloned()
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_torn_file_claims_no_more_than_a_whole_one(number in lab(), at in any::<Index>()) {
        let (lab, file) = &LABS[number];
        let whole = lab.report(&lab.memory);
        let torn = lab.changed(file, |bytes| bytes.truncate(at.index(bytes.len())));
        for (torn, whole) in torn.providers.iter().zip(&whole.providers) {
            prop_assert!(torn.sessions <= whole.sessions);
        }
        let counts = |report: &Report| {
            let seen = report.observations.iter().flatten();
            seen.map(|it| it.contract_count.unwrap_or_default() + it.bundle_count.unwrap_or_default()).sum::<u64>()
        };
        prop_assert!(counts(&torn) <= counts(&whole));
    }

    #[test]
    fn bytes_that_were_hit_harm_nothing(number in lab(), hits in vec((any::<Index>(), any::<u8>()), 1..20)) {
        let (lab, file) = &LABS[number];
        let report = lab.changed(file, |bytes| {
            for (at, byte) in &hits {
                let at = at.index(bytes.len());
                bytes[at] = *byte;
            }
        });
        prop_assert_eq!(report.runs.len(), 1);
    }

    #[test]
    fn records_that_nobody_knows_harm_nothing(number in lab(), values in vec(json_of_words(), 1..12), at in any::<Index>()) {
        let (lab, file) = &LABS[number];
        let report = lab.changed(file, |bytes| {
            let mut lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
            let at = at.index(lines.len() + 1);
            for value in values {
                lines.insert(at, format!("{value}\n").into_bytes());
            }
            *bytes = lines.concat();
        });
        prop_assert_eq!(report.runs.len(), 1);
    }

    #[test]
    fn records_of_other_kinds_change_nothing(kinds in vec("[a-z_]{12}", 1..30), value in json_of_words()) {
        let (lab, file) = &LABS[0];
        let report = lab.changed(file, |bytes| {
            for kind in kinds {
                bytes.extend(format!("{}\n", json!({"type": kind, "more": value})).into_bytes());
            }
        });
        prop_assert_eq!(report, lab.report(&lab.memory));
    }

    #[test]
    fn no_text_of_a_session_is_told(secret in "[a-z]{24}") {
        for (lab, file) in LABS.iter() {
            let report = lab.changed(file, |bytes| {
                let text = String::from_utf8_lossy(bytes).replace("lighthouse", &secret).replace("Write down", &secret);
                *bytes = text.into_bytes();
            });
            prop_assert!(!json!(report).to_string().contains(&secret));
        }
    }

    #[test]
    fn sessions_side_by_side_are_told_apart(order in Just((0..6).collect::<Vec<u32>>()).prop_shuffle(), gap in 0_u32..3) {
        let (report, _) = side_by_side(&order, gap);
        let mut covered = 0;
        for session in report.sessions.iter().filter(|session| !session.foreign) {
            let number = session.session[..8].parse::<u32>().unwrap();
            prop_assert_eq!(&session.run, &format!("run-{number}"));
            covered += 1;
        }
        prop_assert_eq!(covered, order.len());
        let verdicts = report.verdicts.unwrap();
        let own = verdicts.iter().filter(|verdict| verdict.evidence == Evidence::Marker);
        prop_assert!(own.clone().all(|verdict| verdict.digest == Some(Fate::Equal)));
        prop_assert_eq!(own.count(), order.len());
    }
}

/// Runs of one folder that go on at the same time, each with a session of its own, and their report.
fn side_by_side(order: &[u32], gap: u32) -> (Report, Lab) {
    let lab = Lab::new("claude/01-explicit");
    let mut memory = lab.memory.clone();
    let session = "projects/-w-lamp/aaaaaaaa-0000-4000-8000-000000000001.jsonl";
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let transcript = text(memory.file(session));
    let folder = lab.case.folder.path();
    let files = std::mem::take(&mut memory.files);
    let mut runs = Vec::new();
    for (place, number) in order.iter().enumerate() {
        let own = |text: &str| {
            let place = u32::try_from(place).unwrap();
            text.replace("11111111-0000", &format!("{number:08}-1111"))
                .replace("aaaaaaaa-0000-4000-8000-000000000001", "")
                .replace("T10:00:02", &format!("T10:00:{:02}", 2 + place * gap))
                .replace("\"keeper\"", &format!("\"run-{number}\""))
        };
        let artifacts = folder.join("runs").join(format!("run-{number}"));
        for (path, bytes) in &files {
            if let Ok(below) = path.strip_prefix(folder.join("runs/keeper")) {
                memory.files.insert(artifacts.join(below), own(&text(bytes)).into_bytes());
            }
        }
        let at = format!("home/.claude/projects/-w-lamp/{number:08}-0000-4000-8000-000000000001.jsonl");
        memory.files.insert(folder.join(at), own(&transcript).into_bytes());
        runs.push(cantus_launch::RunInfo::read(&memory, &artifacts));
    }
    (lab.case.report_on(&memory, runs, None), lab)
}

#[test]
fn a_line_of_megabytes_makes_a_session_partial() {
    let (lab, file) = &LABS[0];
    let long = format!("{}\n", json!({"type": "pad", "pad": "x".repeat(3 << 20)}));
    let in_front = lab.changed(file, |bytes| {
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        let second = first + bytes[first..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
        bytes.splice(second..second, long.bytes());
    });
    // The record holds the session's id, so that it is tied; but nothing was seen.
    let found = verdict(&in_front).unwrap();
    assert_eq!((found.evidence, found.digest), (Evidence::Session, Some(Fate::Unknown)));
    let root = &in_front.observations.as_ref().unwrap()[0];
    assert_eq!(
        (root.partial, root.contract_count, root.project, root.bundle_count),
        (true, None, None, None)
    );
    let behind = lab.changed(file, |bytes| bytes.extend(long.bytes()));
    assert_eq!(verdict(&behind).unwrap().digest, Some(Fate::Equal));
    assert!(behind.observations.unwrap()[0].partial);
}

#[test]
fn less_more_or_something_else_is_told() {
    let (lab, file) = &LABS[0];
    let edit = |edit: &dyn Fn(&str) -> String| {
        lab.changed(file, |bytes| *bytes = edit(std::str::from_utf8(bytes).unwrap()).into_bytes())
    };
    let marker = "<!-- cantus bundle=85f2de1056c7 invocation=11111111-0000-4000-8000-000000000001 -->";
    let start = "# Lamp Works";
    let part = |text: &str, edit: &dyn Fn(&str) -> String| {
        let (from, to) = (text.find(start).unwrap(), text.find(marker).unwrap() + marker.len());
        text.replace(&text[from..to], &edit(&text[from..to]))
    };
    let dropped = edit(&|text| part(text, &|_| String::new()));
    let found = verdict(&dropped).unwrap();
    assert_eq!(
        (found.evidence, found.digest, found.sections_seen),
        (Evidence::Session, Some(Fate::Absent), Some(0))
    );
    assert_eq!(dropped.providers[0].bundle, "0");

    let truncated = edit(&|text| part(text, &|bundle| bundle[..bundle.len() / 2].to_owned()));
    let found = verdict(&truncated).unwrap();
    assert_eq!((found.evidence, found.digest), (Evidence::Session, Some(Fate::Cut)));
    assert!(
        found.cut_at.is_some() && found.cut_section.is_some() && found.sections_seen < found.sections_total
    );

    let doubled = edit(&|text| part(text, &|bundle| format!("{bundle}\\n{bundle}")));
    assert_eq!(verdict(&doubled).unwrap().digest, Some(Fate::Equal));
    assert_eq!((doubled.providers[0].bundle.as_str(), doubled.providers[0].contract.as_str()), ("2×", "2×"));

    let unmarked = edit(&|text| text.replace(marker, "").replace("Polish the lens", "Break the lens"));
    let found = verdict(&unmarked).unwrap();
    assert_eq!(
        (found.evidence, found.digest, found.sections_seen),
        (Evidence::Session, Some(Fate::Differs), Some(4))
    );

    let altered = edit(&|text| text.replace("Polish the lens", "Break the lens"));
    let found = verdict(&altered).unwrap();
    assert_eq!(
        (found.evidence, found.digest, found.sections_seen),
        (Evidence::Marker, Some(Fate::Differs), Some(4))
    );
}

#[test]
fn a_session_that_goes_on_is_of_the_run_that_recorded_it() {
    let (lab, file) = &LABS[0];
    let early = lab.changed(file, |bytes| {
        let text = std::str::from_utf8(bytes).unwrap().replace("2026-11-20", "2026-11-19");
        *bytes = text.into_bytes();
    });
    assert_eq!(verdict(&early).unwrap().digest, Some(Fate::Equal));
}

#[test]
fn many_small_changes_are_counted_in_little_time() {
    let lab = Lab::new("claude/08-deltas-and-nested");
    let report = lab.changed("-w-lamp/aaaaaaaa-0000-4000-8000-000000000001.jsonl", |bytes| {
        for number in 0..4000 {
            let nested =
                json!({"type": "nested_memory", "path": number.to_string(), "content": {"content": "x"}});
            bytes.extend(format!("{}\n", json!({"type": "attachment", "attachment": nested})).into_bytes());
        }
    });
    assert_eq!(report.observations.unwrap()[0].contract_count, Some(2));
}

#[test]
fn a_denial_far_behind_is_found_and_one_beyond_is_not_looked_for() {
    let (lab, file) = &LABS[0];
    let long = format!("{}\n", json!({"type": "pad", "pad": "x".repeat(1 << 20)}));
    let tool = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}});
    let content = json!([{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "SASE helper guard: no"}]);
    let denied = json!({"type": "user", "message": {"content": content}});
    let with = |pads: usize| {
        let report = lab.changed(file, |bytes| {
            bytes.extend(long.repeat(pads).bytes());
            bytes.extend(format!("{tool}\n{denied}\n").bytes());
        });
        report.observations.unwrap()[0].root_guard_denial
    };
    assert_eq!((with(0), with(1), with(9), with(17)), (true, true, true, false));
}

#[test]
fn a_compressed_session_in_several_frames_is_whole_and_a_torn_one_is_partial() {
    let (lab, file) = &LABS[4];
    let plain = lab.changed(file, |bytes| {
        // A frame that holds one more line, uncompressed.
        let line = b"{\"type\":\"event_msg\"}\n";
        let mut frame = vec![0x28, 0xb5, 0x2f, 0xfd, 0x20, u8::try_from(line.len()).unwrap()];
        let block = u32::try_from(line.len()).unwrap() << 3 | 1;
        frame.extend(&block.to_le_bytes()[..3]);
        frame.extend(line);
        bytes.extend(frame);
    });
    assert_eq!(plain, lab.report(&lab.memory));
    let torn = lab.changed(file, |bytes| bytes.truncate(bytes.len() - 3));
    let observations = torn.observations.unwrap();
    assert!(
        observations.is_empty() || observations.iter().all(|it| it.partial || it.session == "unobserved")
    );
}

#[test]
fn helpers_of_codex_are_given_to_their_root() {
    let lab = Lab::new("codex/05-subagent");
    let spawned = "rollout-2026-11-20T10-00-20-bbbbbbbb-0000-4000-8000-000000000001.jsonl";
    let helpers = |edit: &dyn Fn(String) -> String| {
        let report = lab
            .changed(spawned, |bytes| *bytes = edit(String::from_utf8(bytes.clone()).unwrap()).into_bytes());
        let found = report.observations.unwrap();
        found.iter().filter_map(|it| it.helper_type.clone()).collect::<Vec<_>>()
    };
    assert_eq!(helpers(&|text| text), ["explorer"]);
    let parent = "\"parent_thread_id\": \"aaaaaaaa-0000-4000-8000-000000000001\"";
    assert_eq!(helpers(&|text| text.replace(parent, "\"x\": 1")), ["explorer"]);
    assert!(helpers(&|text| text.replace(parent, "\"parent_thread_id\": \"elsewhere\"")).is_empty());
    // One that names itself has no root.
    let own = "\"parent_thread_id\": \"bbbbbbbb-0000-4000-8000-000000000001\"";
    assert!(helpers(&|text| text.replace(parent, own)).is_empty());
}
