//! Codex' rollouts: `YYYY/MM/DD/rollout-*.jsonl` below the folder of sessions, cold ones compressed, archived ones beside it.
//!
//! The first line tells whose session it is. What was handed over are messages of the role `developer`, instruction files come
//! as one message of the user. A `compacted` record starts a new context.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cantus_fs::Disk;
use ruzstd::decoding::{FrameDecoder, StreamingDecoder};
use serde::Deserialize;
use serde_json::Value;

use super::channel::Step;
use super::lines::{Head, List, Maybe, begin, counted, head, record};
use super::roots::{MOST_HELPER, MOST_ROOT};
use super::transcript::{Kin, Transcript};
use crate::time::{parse, rfc3339};

/// One day.
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How many days are looked at for one run.
const MOST_DAYS: usize = 367;

/// How many bytes the first line is looked for in: it has the provider's own instructions.
const MOST_META: u64 = 128 << 10;

/// How far back a compressed file may refer, in bytes of memory.
const MOST_WINDOW: u64 = 16 << 20;

/// What stands in front of the id in a rollout's name.
const STAMP: &str = "rollout-YYYY-MM-DDTHH-MM-SS-";

/// What a message with instruction files begins with.
const HEADER: &str = "# AGENTS.md instructions";

/// Parts the user's own file from the project's.
const SEPARATOR: &str = "--- project-doc ---";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    payload: Maybe<Payload>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Payload {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    role: Maybe<String>,
    content: List<Item>,
    id: Maybe<String>,
    timestamp: Value,
    cwd: Maybe<String>,
    source: Maybe<Source>,
    thread_source: Maybe<String>,
    agent_role: Maybe<String>,
    parent_thread_id: Maybe<String>,
    replacement_history: List<Payload>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Item {
    text: Maybe<String>,
}

#[derive(Deserialize)]
struct Source {
    subagent: Subagent,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Subagent {
    Kind(String),
    Spawned {
        #[serde(default)]
        thread_spawn: Maybe<Spawn>,
    },
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Spawn {
    parent_thread_id: Maybe<String>,
    agent_role: Maybe<String>,
}

/// The rollouts that may be of one of these runs, each told by its start and end, in order. Of a file and its compressed twin,
/// and of one that was archived meanwhile, the first counts.
pub(crate) fn files(disk: &dyn Disk, sessions: &Path, spans: &[(SystemTime, SystemTime)]) -> Vec<PathBuf> {
    let days: BTreeSet<_> = spans.iter().flat_map(|(start, end)| days(*start, *end)).collect();
    let mut files: Vec<_> = days.iter().flat_map(|day| rollouts(disk, &sessions.join(day))).collect();
    let is_near = |path: &PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let day = name.get("rollout-".len()..).and_then(|rest| rest.get(.."YYYY-MM-DD".len()));
        day.is_none_or(|day| !is_day(day) || days.contains(&day.replace('-', "/")))
    };
    files.extend(rollouts(disk, &sessions.with_file_name("archived_sessions")).into_iter().filter(is_near));
    let mut met = BTreeSet::new();
    files.retain(|file| met.insert(stem(file)));
    files
}

/// The folders of the days of a span and of those around it: rollouts are filed by the local date.
fn days(start: SystemTime, end: SystemTime) -> Vec<String> {
    let mut days = Vec::new();
    let mut day = start.checked_sub(DAY).unwrap_or(start);
    while days.len() < MOST_DAYS && date(day) <= date(end.checked_add(DAY).unwrap_or(end)) {
        days.push(date(day).replace('-', "/"));
        let Some(next) = day.checked_add(DAY) else { break };
        day = next;
    }
    days
}

fn date(time: SystemTime) -> String {
    let mut text = rfc3339(time);
    text.truncate("YYYY-MM-DD".len());
    text
}

fn is_day(text: &str) -> bool {
    text.bytes()
        .enumerate()
        .all(|(at, byte)| if matches!(at, 4 | 7) { byte == b'-' } else { byte.is_ascii_digit() })
}

/// The rollouts in a folder, a plain file before its compressed twin.
fn rollouts(disk: &dyn Disk, folder: &Path) -> Vec<PathBuf> {
    let entries = disk.list(folder).unwrap_or_default();
    let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
    let is_rollout = |name: &String| {
        name.starts_with("rollout-") && (name.ends_with(".jsonl") || name.ends_with(".jsonl.zst"))
    };
    names.filter(is_rollout).map(|name| folder.join(name)).collect()
}

/// What a rollout's file is called without its endings.
fn stem(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain = name.strip_suffix(".zst").unwrap_or(&name);
    plain.strip_suffix(".jsonl").unwrap_or(plain).to_owned()
}

/// The transcript in a rollout, of a root or a helper, if it is one of `workspace`.
pub(crate) fn read(disk: &dyn Disk, path: &Path, workspace: &str) -> Option<Transcript> {
    let is_packed = path.extension().is_some_and(|ending| ending == "zst");
    let read = |most| if is_packed { unpacked(disk, path, most) } else { begin(disk, path, most) };
    // Most rollouts of a day are of other folders.
    let first = read(MOST_META)?;
    let first = if first.is_cut && first.whole() == 0 { read(MOST_ROOT)? } else { first };
    let meta: Record = record(first.lines().next()?)?;
    let meta = meta.payload.0.filter(|_| meta.kind.0.as_deref() == Some("session_meta"))?;
    if !super::same_folder(meta.cwd.0.as_deref()?, workspace) {
        return None;
    }
    let start = parse(&meta.timestamp)?;
    let id = meta.id.0.clone();
    let kin = kin(meta);
    let most = if kin == Kin::Root { MOST_ROOT } else { MOST_HELPER };
    let head = if first.is_cut { read(most)? } else { first };
    let lines = head.lines().skip(1);
    let mut transcript = Transcript::new(stem(path));
    transcript.is_partial = head.is_cut;
    transcript.start = Some(start);
    transcript.ids.extend(id);
    transcript.ids.extend(transcript.name.get(STAMP.len()..).map(str::to_owned));
    transcript.kin = kin;
    let mut places = 0;
    for line in lines {
        let Some(record) = counted::<Record>(line, &mut transcript.unread) else { continue };
        let Some(payload) = record.payload.0 else { continue };
        match record.kind.0.as_deref() {
            Some("response_item") => add(&mut transcript, payload, &mut places),
            Some("compacted") => {
                let cleared = || Step { clears: true, ..Step::default() };
                transcript.native.push(cleared());
                transcript.explicit.push(cleared());
                payload
                    .replacement_history
                    .into_items()
                    .for_each(|kept| add(&mut transcript, kept, &mut places));
            }
            _ => {}
        }
    }
    Some(transcript)
}

/// The beginning of a compressed file. What is broken ends it.
fn unpacked(disk: &dyn Disk, path: &Path, most: u64) -> Option<Head> {
    // Nothing gets much longer by being compressed.
    let packed = head(disk, path, most + most / 8)?;
    let mut head = Head { bytes: Vec::new(), is_cut: packed.is_cut };
    let mut rest = packed.bytes.as_slice();
    while !rest.is_empty() && head.bytes.len() as u64 <= most {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MOST_WINDOW);
        let frame = StreamingDecoder::new_with_decoder(&mut rest, decoder).ok();
        let more = most + 1 - head.bytes.len() as u64;
        let read = frame.and_then(|frame| frame.take(more).read_to_end(&mut head.bytes).ok());
        if read.is_none() {
            head.is_cut = true;
            break;
        }
    }
    head.cut(most);
    Some(head)
}

/// Whose rollout it is.
fn kin(meta: Payload) -> Kin {
    let is_thread = meta.thread_source.0.as_deref() == Some("subagent");
    let (kind, spawn) = match meta.source.0.map(|source| source.subagent) {
        Some(Subagent::Kind(kind)) => (Some(kind), Spawn::default()),
        Some(Subagent::Spawned { thread_spawn }) => (None, thread_spawn.0.unwrap_or_default()),
        None if is_thread => (None, Spawn::default()),
        None => return Kin::Root,
    };
    let kind = spawn.agent_role.0.or(meta.agent_role.0).or(kind);
    let parent = spawn.parent_thread_id.0.or(meta.parent_thread_id.0);
    Kin::helper(kind, parent)
}

/// Adds a message to what is in view.
fn add(transcript: &mut Transcript, payload: Payload, places: &mut usize) {
    if payload.kind.0.as_deref() != Some("message") {
        return;
    }
    let texts = payload.content.into_items().filter_map(|item| item.text.0);
    let mut put = |texts: &mut dyn Iterator<Item = String>| {
        let put = texts.map(|text| {
            *places += 1;
            (*places, text)
        });
        Step { put: put.collect(), ..Step::default() }
    };
    match payload.role.0.as_deref() {
        Some("developer") => transcript.explicit.push(put(&mut texts.into_iter())),
        Some("user") => {
            let mut files = texts.flat_map(|text| documents(&text));
            transcript.native.push(put(&mut files));
        }
        _ => {}
    }
}

/// The instruction files in a message of the user; none if it is another message.
fn documents(text: &str) -> Vec<String> {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let is_header =
        first.strip_prefix(HEADER).is_some_and(|end| end.trim().is_empty() || end.starts_with(" for "));
    if !is_header {
        return Vec::new();
    }
    let (open, close) = ("<INSTRUCTIONS>", "</INSTRUCTIONS>");
    let start = rest.find(open).map_or(0, |at| at + open.len());
    let end = rest.rfind(close).filter(|end| *end >= start).unwrap_or(rest.len());
    let mut parts = vec![String::new()];
    for line in rest[start..end].split_inclusive('\n') {
        match parts.last_mut() {
            Some(part) if line.trim() != SEPARATOR => part.push_str(line),
            _ => parts.push(String::new()),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

#[cfg(test)]
mod tests {
    use std::time::UNIX_EPOCH;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        assert_eq!(documents(text), expected, "{text}");
    }

    #[test]
    fn instruction_files_in_a_message() {
        let inside = "<INSTRUCTIONS>\n# A\n\n--- project-doc ---\n\n# B\n</INSTRUCTIONS>";
        for header in
            ["# AGENTS.md instructions for /w/lamp", "# AGENTS.md instructions", "# AGENTS.md instructions "]
        {
            check(&format!("{header}\n\n{inside}"), &["\n# A\n\n", "\n# B\n"]);
        }
        check("# AGENTS.md instructions\nA", &["A"]);
        check(
            "# AGENTS.md instructions\n<INSTRUCTIONS>\nA </INSTRUCTIONS> B\n</INSTRUCTIONS> C",
            &["\nA </INSTRUCTIONS> B\n"],
        );
        check("# AGENTS.md instructions\n</INSTRUCTIONS>A<INSTRUCTIONS>B", &["B"]);
        check("# AGENTS.md instructions\n\n  --- project-doc ---  \r\n \n", &[]);
    }

    #[test]
    fn other_messages_have_none() {
        for text in ["", "Light the lamp.", "# AGENTS.md instructionsX\nA", " # AGENTS.md instructions\nA"] {
            check(text, &[]);
        }
    }

    #[test]
    fn the_days_around_a_span() {
        let at = |days: u64| UNIX_EPOCH + DAY * u32::try_from(days).unwrap();
        assert_eq!(days(at(1), at(1)), ["1970/01/01", "1970/01/02", "1970/01/03"]);
        assert_eq!(days(at(0), at(0))[0], "1970/01/01");
        assert_eq!(days(at(1), at(20_000)).len(), MOST_DAYS);
        assert!(is_day("2026-11-20") && !is_day("2026-11-2x") && !is_day("2026/11/20"));
    }

    #[test]
    fn whose_a_rollout_is() {
        let kin_of = |json: &str| kin(serde_json::from_str(json).unwrap());
        let helper = |kind: &str, parent: Option<&str>| Kin::Helper {
            kind: kind.to_owned(),
            parent: parent.map(str::to_owned),
        };
        assert_eq!(kin_of(r#"{"source":"exec"}"#), Kin::Root);
        assert_eq!(kin_of(r#"{"source":7,"thread_source":"user"}"#), Kin::Root);
        assert_eq!(kin_of(r#"{"source":{"subagent":"review"}}"#), helper("review", None));
        assert_eq!(
            kin_of(r#"{"thread_source":"subagent","parent_thread_id":"p"}"#),
            helper("unknown", Some("p"))
        );
        let spawned =
            r#"{"source":{"subagent":{"thread_spawn":{"parent_thread_id":"p","agent_role":"r","depth":1}}}}"#;
        assert_eq!(kin_of(spawned), helper("r", Some("p")));
        assert_eq!(kin_of(r#"{"source":{"subagent":{"other":1}}}"#), helper("unknown", None));
    }
}
