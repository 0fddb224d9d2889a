//! What lies exactly at the border of a rule, and what one thing more or less makes of it.

use std::fs;

use cantus_launch::RunInfo;
use cantus_launch::observe::{Evidence, Fate, Observation, Report};
use serde_json::{Value, json};

use crate::fixture::{Case, Memory, time};

/// The most bytes of a root's conversation that are read, and of a helper's.
const MOST_ROOT: usize = 524_288;

/// How many lines without anything stand in front of a conversation's instructions.
const BLANK: usize = 5000;

/// The conversation of most cases.
const SESSION: &str = "projects/-w-lamp/aaaaaaaa-0000-4000-8000-000000000001.jsonl";

/// A line of exactly so many bytes, its end included.
fn pad(bytes: usize, end: &str) -> String {
    let empty = json!({"type": "pad", "pad": ""}).to_string();
    let text = "x".repeat(bytes - empty.len() - end.len());
    format!("{}{end}", json!({"type": "pad", "pad": text}))
}

/// The report on a case whose files in memory were changed.
#[track_caller]
fn changed(name: &str, change: impl FnOnce(&mut Memory)) -> Report {
    let case = Case::new(name);
    let mut memory = case.memory();
    change(&mut memory);
    let folder = case.folder.path().join("runs");
    let runs = ["keeper", "mate"].map(|run| RunInfo::read(&memory, &folder.join(run)));
    let runs = runs.into_iter().filter(|run| run.started_at.is_some()).collect();
    case.report_on(&memory, runs, None)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

fn root(report: &Report) -> &Observation {
    &report.observations.as_ref().expect("observations")[0]
}

/// What a report says of a conversation in front of whose instructions so many bytes stand, its lines ending so; `more` follows.
#[track_caller]
fn check_cap(in_front: usize, end: &str, more: &str, expected: (bool, Option<u64>)) {
    let report = changed("claude/01-explicit", |memory| {
        let file = memory.file(SESSION);
        let lines: Vec<_> = text(file).lines().map(|line| format!("{line}{end}")).collect();
        let counted: usize = lines.iter().map(|line| line.trim_end().len() + 1).sum();
        let blank = end.repeat(BLANK);
        let long = pad(in_front - counted - BLANK + end.len() - 1, end) + &blank;
        *file = format!("{}{long}{}{more}", lines[..2].concat(), lines[2..].concat()).into_bytes();
    });
    let seen = root(&report);
    assert_eq!((seen.partial, seen.bundle_count), expected, "{in_front} {end:?}");
}

#[test]
fn a_conversation_is_read_to_its_last_byte_and_no_further() {
    check_cap(MOST_ROOT, "\n", "", (false, Some(1)));
    check_cap(MOST_ROOT, "\n", "\n", (true, Some(1)));
    check_cap(MOST_ROOT - 1, "\n", "\n", (false, Some(1)));
}

#[test]
fn the_end_of_a_line_counts_for_one_byte() {
    // The file is larger, so that it is partial; but its lines fit.
    check_cap(MOST_ROOT, "\r\n", "", (true, Some(1)));
    check_cap(MOST_ROOT, "\r\n", "{}", (true, Some(1)));
}

#[test]
fn a_line_that_does_not_fit_ends_the_reading() {
    let report = changed("claude/01-explicit", |memory| {
        let file = memory.file(SESSION);
        let lines: Vec<_> = text(file).lines().map(|line| format!("{line}\r\n")).collect();
        let first = lines[..2].concat().len() - 2;
        let long = pad(MOST_ROOT - first + 2, "\r\n");
        *file = format!("{}{long}{}", lines[..2].concat(), lines[2..].concat()).into_bytes();
    });
    assert_eq!((root(&report).partial, root(&report).bundle_count), (true, None));
}

#[test]
fn a_denial_in_the_line_at_the_border_is_found() {
    let report = changed("claude/01-explicit", |memory| {
        let file = memory.file(SESSION);
        let tool = json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash"}]}});
        let result = json!([{"type": "tool_result", "tool_use_id": "t", "is_error": true, "content": "SASE helper guard: no"}]);
        let denied = json!({"type": "user", "message": {"content": result}, "more": "x".repeat(500)});
        let used = file.len() + tool.to_string().len() + 1;
        file.extend(format!("{tool}\n{}", pad(MOST_ROOT - used - 400, "\n")).into_bytes());
        file.extend(format!("{denied}\n").into_bytes());
    });
    assert!(root(&report).partial && root(&report).root_guard_denial);
}

#[test]
fn helpers_of_codex_are_read_as_far_as_others() {
    let spawned = "rollout-2026-11-20T10-00-20-bbbbbbbb-0000-4000-8000-000000000001.jsonl";
    let contracts = |bytes: usize| {
        let report = changed("codex/05-subagent", |memory| {
            let file = memory.file(spawned);
            let text = text(file);
            let (meta, rest) = text.split_once('\n').expect("lines");
            *file = format!("{meta}\n{}{rest}", pad(bytes, "\n")).into_bytes();
        });
        let observations = report.observations.expect("observations");
        (observations[1].partial, observations[1].contract_count)
    };
    assert_eq!(contracts(1 << 20), (false, Some(1)));
    assert_eq!(contracts(17 << 20), (true, None));
}

#[test]
fn any_memory_of_grok_counts() {
    let foreign = |flags: Value| {
        let report = changed("grok/01-explicit", |memory| {
            let file = memory.file("prompt_context.json");
            let mut context: Value = serde_json::from_slice(file).expect("JSON");
            for key in ["memory_enabled", "memory_v2_enabled"] {
                context[key] = flags[key].clone();
            }
            *file = context.to_string().into_bytes();
        });
        root(&report).foreign.clone()
    };
    let memory = Some("memory".to_owned());
    assert_eq!(foreign(json!({"memory_enabled": true, "memory_v2_enabled": false})), memory);
    assert_eq!(foreign(json!({"memory_v2_enabled": true})), memory);
    assert_eq!(foreign(json!({"memory_enabled": "true"})), None);
}

#[cfg(unix)]
#[test]
fn the_time_of_a_folder_of_grok_counts_where_none_is_named() {
    let case = Case::new("grok/01-explicit");
    let session =
        case.folder.path().join("home/.grok/sessions/%2Fw%2Flamp/aaaaaaaa-0000-4000-8000-000000000001");
    let context = session.join("prompt_context.json");
    let mut value: Value = serde_json::from_slice(&fs::read(&context).unwrap()).unwrap();
    value.as_object_mut().unwrap().remove("build_timestamp_utc");
    fs::write(&context, value.to_string()).unwrap();
    let start = |at: &str| {
        fs::File::open(&session).unwrap().set_modified(time(at)).unwrap();
        let report = case.report(case.runs(), None);
        report.sessions.first().map(|session| session.start.clone())
    };
    assert_eq!(start("2026-11-20T10:00:02Z").as_deref(), Some("2026-11-20T10:00:02.000Z"));
    assert_eq!(start("2026-11-20T10:29:59Z").as_deref(), Some("2026-11-20T10:29:59.000Z"));
}

/// A case whose conversation, or whose record, has `from` replaced.
#[track_caller]
fn replaced(name: &str, edits: &[(&str, &str, &str)]) -> Report {
    changed(name, |memory| {
        for (file, from, to) in edits {
            let file = memory.file(file);
            let old = text(file);
            assert!(old.contains(from), "{from}");
            *file = old.replace(from, to).into_bytes();
        }
    })
}

/// The marker in most conversations, and the file of their record.
const MARKER: &str = "<!-- cantus bundle=85f2de1056c7 invocation=11111111-0000-4000-8000-000000000001 -->";
const RECORD: &str = "instructions/00-claude.json";

#[test]
fn a_record_may_be_five_seconds_late_and_no_more() {
    let evidence = |rendered: &str| {
        let ids = "\"session_ids\": [\n      \"aaaaaaaa-0000-4000-8000-000000000001\"\n    ]";
        let edits = [
            (SESSION, MARKER, ""),
            (RECORD, ids, "\"session_ids\": []"),
            (RECORD, "2026-11-20T10:00:01Z", rendered),
        ];
        let verdict = replaced("claude/01-explicit", &edits).verdicts.unwrap()[0].clone();
        (verdict.evidence, verdict.digest)
    };
    assert_eq!(evidence("2026-11-20T10:00:07Z"), (Evidence::Time, Some(Fate::Equal)));
    assert_eq!(evidence("2026-11-20T10:00:07.001Z"), (Evidence::None, None));
}

#[test]
fn a_conversation_begins_between_the_ends_of_its_run() {
    let is_found = |start: &str| {
        let ids = "\"session_ids\": [\n      \"aaaaaaaa-0000-4000-8000-000000000001\"\n    ]";
        let edits = [(SESSION, "2026-11-20T10:00:02Z", start), (RECORD, ids, "\"session_ids\": []")];
        !replaced("claude/01-explicit", &edits).sessions.is_empty()
    };
    for start in
        ["2026-11-20T10:00:00Z", "2026-11-20T10:30:00Z", "2026-11-20T10:00Z", "2026-11-20T12:00:00+02"]
    {
        assert!(is_found(start), "{start}");
    }
    for start in ["2026-11-20T09:59:59.999Z", "2026-11-20T10:30:00.001Z"] {
        assert!(!is_found(start), "{start}");
    }
}

#[test]
fn the_first_folder_of_a_conversation_says_whose_it_is() {
    let is_found = |folders: [Value; 2]| {
        let report = changed("claude/01-explicit", |memory| {
            let file = memory.file(SESSION);
            let lines = folders.map(|folder| json!({"cwd": folder}).to_string());
            *file = format!("{}\n{}", lines.join("\n"), text(file)).into_bytes();
        });
        !report.sessions.is_empty()
    };
    assert!(is_found([json!("/w/lamp/"), json!("/w/other")]));
    assert!(is_found([json!(7), json!("/w/lamp")]));
    assert!(!is_found([json!("/w/other"), json!("/w/lamp")]));
}

#[test]
fn a_prompt_of_grok_is_read_to_its_last_byte() {
    let seen = |more: usize| {
        let report = changed("grok/01-explicit", |memory| {
            let file = memory.file("system_prompt.txt");
            file.resize(MOST_ROOT + more, b'x');
        });
        (root(&report).partial, root(&report).bundle_count, root(&report).native_full_count)
    };
    assert_eq!(seen(0), (false, Some(1), Some(0)));
    assert_eq!(seen(1), (true, Some(1), None));
}

#[test]
fn a_plain_rollout_counts_before_its_compressed_twin() {
    let report = changed("codex/07-compressed", |memory| {
        let packed =
            memory.files.keys().find(|path| path.extension().is_some_and(|end| end == "zst")).cloned();
        let plain = packed.unwrap().with_extension("");
        let meta = json!({"timestamp": "2026-11-20T10:00:02Z", "cwd": "/w/lamp"});
        let line = format!("{}\n", json!({"type": "session_meta", "payload": meta}));
        memory.files.insert(plain, line.into_bytes());
    });
    assert_eq!((report.sessions.len(), root(&report).bundle_count), (1, Some(0)));
}

#[test]
fn a_helper_tells_its_kind_in_a_few_words() {
    let report = changed("claude/01-explicit", |memory| {
        *memory.file("agent-a1.meta.json") =
            json!({"agentType": "word ".repeat(1000)}).to_string().into_bytes();
    });
    let observations = report.observations.unwrap();
    assert_eq!(observations[1].helper_type.as_ref().unwrap().len(), 64);
}

#[test]
fn a_run_at_the_root_of_the_disk_has_conversations_too() {
    let report = changed("claude/01-explicit", |memory| {
        let moved =
            |path: &std::path::Path| path.to_string_lossy().replace("projects/-w-lamp", "projects/-").into();
        let files = std::mem::take(&mut memory.files);
        let at_root = |bytes: Vec<u8>| text(&bytes).replace("\"/w/lamp\"", "\"/\"").into_bytes();
        memory.files = files.into_iter().map(|(path, bytes)| (moved(&path), at_root(bytes))).collect();
    });
    assert_eq!(root(&report).bundle_count, Some(1));
}

#[test]
fn a_helper_without_a_kind_of_the_new_name_has_that_of_the_old_one() {
    let report = changed("claude/01-explicit", |memory| {
        *memory.file("agent-a1.meta.json") = br#"{"agentType":"","agent_type":"Plan"}"#.to_vec();
    });
    let observations = report.observations.unwrap();
    assert_eq!(observations[1].helper_type.as_deref(), Some("Plan"));
}

#[test]
fn a_conversation_that_goes_on_in_another_run_has_the_bundle_of_its_beginning() {
    let report = changed("claude/16-resumed", |memory| {
        let moved: Vec<_> = memory
            .files
            .keys()
            .filter(|path| path.to_string_lossy().contains("01-claude"))
            .cloned()
            .collect();
        let other = |path: &std::path::Path| path.to_string_lossy().replace("keeper", "mate").into();
        for path in moved {
            let bytes = memory.files.remove(&path).expect("a file");
            // The other run's own bundle isn't known.
            if path.extension().is_some_and(|ending| ending == "json") {
                memory.files.insert(other(&path), bytes);
            }
        }
        let files: Vec<_> =
            memory.files.keys().filter(|path| path.ends_with("runs/keeper/run.json")).cloned().collect();
        for path in files {
            let file = text(&memory.files[&path]).replace("keeper", "mate");
            memory.files.insert(other(&path), file.into_bytes());
        }
    });
    let row = &report.coverage.as_ref().expect("coverage").rows[0];
    assert_eq!((row.manifests, row.digest[&Fate::Equal]), (2, 2), "{row:?}");
}
