//! How runs of SASE ended, by the files that it leaves behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use cantus_fs::{Disk, ReadError};
use serde_json::Value;

use super::{Counted, mode};
use crate::runs::{RunInfo, read_object};
use crate::time::parse;

/// What a run may have come to.
pub(super) const CLASSES: [&str; 8] =
    ["accepted", "plan_handoff", PREPARED, PLAIN, "other_handoff", "not_required", "miss", "unknown"];

/// What is watched by a monitor once the final declaration was prepared, and without that.
const PREPARED: &str = "monitor_prepared";
const PLAIN: &str = "monitor_plain";

/// How much of the end of a log of tool calls is looked at, in bytes.
const TAIL: usize = 262_144;

/// The most bytes of a log that are read.
const MOST_LOG: u64 = 64 << 20;

/// How old a run that has not ended must be to count.
const RIPE: Duration = Duration::from_secs(2 * 3600);

/// How long after a run's start a read of memory by an agent of its name is taken for one of its own.
const READING: Duration = Duration::from_secs(48 * 3600);

/// How a run counts; `None` if it is none of those that are counted.
pub(super) fn counted(disk: &dyn Disk, run: &RunInfo, memory_reads: u64, now: SystemTime) -> Option<Counted> {
    let file = |name: &str| read_object(disk, &run.artifacts.join(name));
    let meta = file("agent_meta.json");
    let has_ended = exists(disk, &run.artifacts.join("done.json"));
    if is_watcher(run, &meta) || (!has_ended && is_unripe(run, &meta, now)) {
        return None;
    }
    let (mode, first_explicit) = mode(disk, run);
    let class = class(disk, run, &meta).unwrap_or(if has_ended { "miss" } else { "unknown" });
    let is_research = [&run.name, text(&meta["agent_clan"])].iter().any(|name| name.starts_with("research."));
    Some(Counted { mode, class, kind: None, is_research, memory_reads, first_explicit })
}

/// Whether the run watches another one.
fn is_watcher(run: &RunInfo, meta: &Value) -> bool {
    let word = |key: &str| text(&meta[key]).trim().to_lowercase();
    let is_role = |role: String| ["monitor", "gate"].contains(&role.as_str());
    let suffix = word("role_suffix");
    let has_suffix = ["--mon", "--gate"].iter().any(|start| suffix.starts_with(start))
        || ["-mon", "-gate", "mon", "gate"].contains(&suffix.as_str());
    let is_called = ["--mon", "--gate"].iter().any(|part| run.name.contains(part));
    is_role(word("agent_session_role")) || is_role(word("turn_kind")) || has_suffix || is_called
}

/// Whether a run that has not ended is too young to say anything of, or waits.
fn is_unripe(run: &RunInfo, meta: &Value, now: SystemTime) -> bool {
    let ripe = run.started_at.and_then(|start| start.checked_add(RIPE));
    text(&meta["lifecycle_phase"]) == "waiting" || ripe.is_none_or(|ripe| now < ripe)
}

/// What the files of the run say that it came to, if they say anything.
fn class(disk: &dyn Disk, run: &RunInfo, meta: &Value) -> Option<&'static str> {
    let file = |name: &str| read_object(disk, &run.artifacts.join(name));
    if file("final_submission.json").as_object().is_some_and(|submission| !submission.is_empty()) {
        return Some("accepted");
    }
    if !exists(disk, &run.artifacts.join("handoff_aborted.json"))
        && let Some(class) = handoff(disk, run, meta)
    {
        return Some(class);
    }
    let context = file("final_context.json");
    let all_say_no = |list: &Value| {
        let list = list.as_array().map_or(&[][..], Vec::as_slice);
        !list.is_empty() && list.iter().all(|one| one["submission_required"] == false)
    };
    let is_not_required = context["submission_required"] == false
        || all_say_no(&context["selected_instances"])
        || all_say_no(&context["context"]["requirements"]);
    is_not_required.then_some("not_required")
}

/// To whom the run handed over, if it did.
fn handoff(disk: &dyn Disk, run: &RunInfo, meta: &Value) -> Option<&'static str> {
    let tail = tail(disk, &run.artifacts.join("tool_calls.jsonl"));
    let phases = meta["lifecycle_phases"].as_array().map_or(&[][..], Vec::as_slice);
    if phases.iter().any(|phase| phase["phase"] == "handoff") {
        if exists(disk, &run.artifacts.join("plan_path.json")) {
            return Some("plan_handoff");
        }
        if !is_set(&meta["monitor_id"]) && !is_set(&meta["monitor_member_agent_name"]) {
            return Some("other_handoff");
        }
        let index = read_object(disk, &run.artifacts.join("continuation/completion_intents/index.json"));
        let has_intents = index["intents"].as_object().is_some_and(|intents| !intents.is_empty());
        return Some(if has_intents || prepares(&tail) { PREPARED } else { PLAIN });
    }
    let has = |command: &str| tail.contains(&format!("sase {command}"));
    if ["plan propose", "plan validate", "plan decide"].into_iter().any(has) {
        return Some("plan_handoff");
    }
    if let Some((before, _)) = tail.split_once("sase monitor start") {
        return Some(if prepares(before) { PREPARED } else { PLAIN });
    }
    ["pipe", "questions", "handoff"].into_iter().any(has).then_some("other_handoff")
}

/// Whether a log has a call that prepares the final declaration, and doesn't ask how that is done.
fn prepares(log: &str) -> bool {
    let mut calls = log.split("sase final prepare").skip(1);
    calls.any(|rest| !rest.starts_with(" -h") && !rest.starts_with(" --help"))
}

/// The end of a log; nothing if it can't be read.
fn tail(disk: &dyn Disk, path: &Path) -> String {
    let Ok(parts) = disk.open_parts(path) else { return String::new() };
    let size = parts.size();
    let mut bytes = vec![0; usize::try_from(size).map_or(TAIL, |size| size.min(TAIL))];
    if parts.read_at(&mut bytes, size.saturating_sub(TAIL as u64)).is_err() {
        return String::new();
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// How often each of `runs` read memory, by these logs; those that can't be read are added to `unread`.
pub(super) fn memory_reads(
    disk: &dyn Disk,
    logs: &[PathBuf],
    runs: &[RunInfo],
    unread: &mut Vec<(PathBuf, ReadError)>,
) -> Vec<u64> {
    let mut reads = vec![0; runs.len()];
    for log in logs {
        let bytes = match disk.read(log, MOST_LOG) {
            Ok(bytes) => bytes,
            Err(error) => {
                unread.push((log.clone(), error));
                continue;
            }
        };
        for line in bytes.split(|byte| *byte == b'\n') {
            let line: Value = serde_json::from_slice(line).unwrap_or_default();
            if let Some(run) = reader(&line, runs) {
                reads[run] += 1;
            }
        }
    }
    reads
}

/// Which of `runs`, the newest first, a line of a log speaks of.
fn reader(line: &Value, runs: &[RunInfo]) -> Option<usize> {
    if is_set(&line["artifacts_dir"]) {
        let folder = Path::new(text(&line["artifacts_dir"]));
        return runs.iter().position(|run| run.artifacts == folder);
    }
    let (name, time) = (text(&line["agent_name"]), parse(&line["timestamp"])?);
    let is_while =
        |start: SystemTime| start <= time && start.checked_add(READING).is_some_and(|end| time <= end);
    runs.iter().position(|run| run.name == name && run.started_at.is_some_and(is_while))
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Whether a value says anything at all.
fn is_set(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Array(list) => !list.is_empty(),
        Value::Object(object) => !object.is_empty(),
        Value::Bool(true) => true,
        Value::Number(number) => number.as_f64() != Some(0.0),
    }
}

/// Whether anything stands at `path`.
fn exists(disk: &dyn Disk, path: &Path) -> bool {
    matches!(disk.kind(path), Ok(Some(_)))
}
