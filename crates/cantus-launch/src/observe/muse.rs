//! Muse's logs: `YYYY/MM/DD/<session>/session.jsonl`. They are found by the ids of sessions that were recorded.
//!
//! Instruction files stand in records of the source `rules_file` and in the roster of each request. What was handed over stands
//! in front of the prompt.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind};
use serde::Deserialize;
use serde_json::Value;

use super::channel::Channel;
use super::lines::{List, Maybe, TIMED_LINES, begin, counted, modified, record, small, time_of};
use super::roots::MOST_ROOT;
use super::transcript::Transcript;

/// Parts what was handed over from the prompt.
const SEPARATOR: &str = "--- User Prompt ---";

/// The source of instruction files.
const RULES: &str = "rules_file";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Envelope {
    timestamp: Value,
    build_timestamp_utc: Value,
    payload: Maybe<Payload>,
    children: List<Child>,
    prompt: Maybe<String>,
    text: Maybe<String>,
    message: Maybe<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Child {
    record_json: Maybe<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Payload {
    source: Maybe<String>,
    prompt: Maybe<String>,
    text: Maybe<String>,
    message: Maybe<String>,
    event: Maybe<Event>,
    model_messages: List<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Event {
    text: Maybe<String>,
    prompt: Maybe<String>,
    run_context_messages: List<Rostered>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Rostered {
    source: Maybe<String>,
    text: Maybe<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    content: List<Part>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Part {
    text: Maybe<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RunMetadata {
    muse_session_id: Maybe<String>,
}

/// The session that the launcher's own file in the artifacts folder names.
pub(crate) fn named(disk: &dyn Disk, artifacts: &Path) -> Option<String> {
    let metadata: RunMetadata = small(disk, &artifacts.join("run_metadata.json"));
    metadata.muse_session_id.0.filter(|id| !id.is_empty())
}

/// The log of the session `id`, in the first folder that has one.
pub(crate) fn file(disk: &dyn Disk, sessions: &Path, id: &str) -> Option<PathBuf> {
    let is_name = !id.is_empty() && id != "." && id != ".." && !id.contains(['/', '\\', '\0']);
    let mut level = vec![sessions.to_path_buf()];
    for _ in 0..3 {
        let below = |folder: &PathBuf| {
            let entries = disk.list(folder).unwrap_or_default();
            let folders = entries.into_iter().filter(|entry| entry.kind == Kind::Folder);
            folders.map(|entry| folder.join(entry.name)).collect::<Vec<_>>()
        };
        level = level.iter().flat_map(below).collect();
    }
    let logs = level.into_iter().map(|day| day.join(id).join("session.jsonl"));
    logs.into_iter().find(|log| is_name && super::lines::regular(disk, log).is_some())
}

/// The transcript in a log.
pub(crate) fn read(disk: &dyn Disk, path: &Path) -> Option<Transcript> {
    let head = begin(disk, path, MOST_ROOT)?;
    let mut transcript = Transcript::new(path.parent()?.file_name()?.to_str()?.to_owned());
    transcript.is_partial = head.is_cut;
    let mut reading = Reading::default();
    for (number, line) in head.lines().enumerate() {
        let Some(mut envelope) = counted::<Envelope>(line, &mut transcript.unread) else { continue };
        if number < TIMED_LINES && transcript.start.is_none() {
            transcript.start = time_of([&envelope.timestamp, &envelope.build_timestamp_utc]);
        }
        for child in std::mem::take(&mut envelope.children).into_items() {
            let inner = child.record_json.0.and_then(|json| record::<Envelope>(json.as_bytes()));
            reading.take(inner.unwrap_or_default(), Depth::Framed);
        }
        reading.take(envelope, Depth::Plain);
    }
    transcript.start = transcript.start.or_else(|| modified(disk, path));
    let fronts =
        reading.prompts.texts.iter().filter_map(|text| Some(text.split_once(SEPARATOR)?.0.to_owned()));
    let mut explicit = Texts::default();
    fronts.filter(|front| !front.trim().is_empty()).for_each(|front| explicit.add(Some(front)));
    transcript.native = Channel::of(reading.native.texts);
    transcript.explicit = Channel::of(explicit.texts);
    transcript.prompts = reading.prompts.texts;
    Some(transcript)
}

/// Whether a record stands by itself or inside a retained frame.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    Plain,
    Framed,
}

/// Texts, equal ones once, in the order in which they came.
#[derive(Default)]
struct Texts {
    texts: Vec<String>,
    met: BTreeSet<String>,
}

impl Texts {
    fn add(&mut self, text: Option<String>) {
        if let Some(text) = text.filter(|text| !self.met.contains(text)) {
            self.met.insert(text.clone());
            self.texts.push(text);
        }
    }
}

#[derive(Default)]
struct Reading {
    native: Texts,
    prompts: Texts,
}

impl Reading {
    fn take(&mut self, envelope: Envelope, depth: Depth) {
        let payload = envelope.payload.0.unwrap_or_default();
        let prompts = &mut self.prompts;
        if payload.source.0.as_deref() == Some(RULES) {
            self.native.add(payload.text.0);
        } else if depth == Depth::Framed {
            [payload.prompt.0, payload.text.0, payload.message.0]
                .into_iter()
                .for_each(|text| prompts.add(text));
        }
        let event = payload.event.0.unwrap_or_default();
        for message in event.run_context_messages.into_items() {
            if message.source.0.as_deref() == Some(RULES) {
                self.native.add(message.text.0);
            }
        }
        [event.text.0, event.prompt.0].into_iter().for_each(|text| prompts.add(text));
        let parts = payload.model_messages.into_items().flat_map(|message| message.content.into_items());
        parts.for_each(|part| prompts.add(part.text.0));
        [envelope.prompt.0, envelope.text.0, envelope.message.0]
            .into_iter()
            .for_each(|text| prompts.add(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, depth: Depth, native: &[&str], prompts: &[&str]) {
        let mut reading = Reading::default();
        reading.take(record(json.as_bytes()).unwrap(), depth);
        assert_eq!((reading.native.texts, reading.prompts.texts), (owned(native), owned(prompts)), "{json}");
    }

    fn owned(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn instruction_files_are_no_prompts() {
        check(r#"{"payload":{"source":"rules_file","text":"r"}}"#, Depth::Plain, &["r"], &[]);
        check(r#"{"payload":{"source":"rules_file","text":"r"}}"#, Depth::Framed, &["r"], &[]);
        let roster = r#"{"payload":{"event":{"run_context_messages":[{"source":"rules_file","text":"r"},{"source":"rules_file","text":"r"},{"source":"system","text":"s"},7]}}}"#;
        check(roster, Depth::Framed, &["r"], &[]);
    }

    #[test]
    fn prompts_stand_in_many_places() {
        check(
            r#"{"payload":{"event":{"text":"a","prompt":"b"}},"prompt":"c","message":"d"}"#,
            Depth::Plain,
            &[],
            &["a", "b", "c", "d"],
        );
        check(
            r#"{"payload":{"model_messages":[{"content":[{"text":"a"},{"text":"a"},{}]},null]}}"#,
            Depth::Plain,
            &[],
            &["a"],
        );
        check(r#"{"payload":{"prompt":"a","text":"b","message":{"x":1}}}"#, Depth::Framed, &[], &["a", "b"]);
        check(r#"{"payload":{"prompt":"a","text":"b"}}"#, Depth::Plain, &[], &[]);
        check(r#"{"payload":{"model_messages":null,"event":[]},"text":5}"#, Depth::Plain, &[], &[]);
    }
}
