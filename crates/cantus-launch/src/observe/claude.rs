//! Claude Code's transcripts: `<folder>/<session>.jsonl`, helpers below `<session>/subagents`.
//!
//! Instruction files come as `instructions` records, all of them at first and then what changed; `nested_memory` adds a file of
//! a folder that the agent came to. What was handed over stands in `prompt_snapshot` records, each the whole system prompt.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind};
use serde::Deserialize;
use serde_json::Value;

use super::channel::Step;
use super::lines::{Head, List, Maybe, TIMED_LINES, begin, counted, has, head, record, small, time_of};
use super::roots::{MOST_HELPER, MOST_ROOT};
use super::text::is_attempt;
use super::transcript::{Declarations, Extra, Kin, Transcript};

/// From how many characters on a folder's name is cut.
const MOST_NAME: usize = 200;

/// How deep helpers lie below `subagents`.
const MOST_DEPTH: usize = 64;

/// How many files and folders below `subagents` are looked at.
const MOST_ENTRIES: usize = 10_000;

/// What a tool answers to a helper that isn't allowed to do something.
const GUARD: &str = "SASE helper guard:";

/// What a tool answers to a final declaration that counts.
const ACCEPTED: &str = "Accepted final declaration";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Record {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    timestamp: Value,
    build_timestamp_utc: Value,
    cwd: Maybe<String>,
    #[serde(rename = "isSidechain")]
    is_sidechain: Maybe<bool>,
    attachment: Maybe<Attachment>,
    message: Maybe<Message>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Attachment {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    files: List<File>,
    removed: List<String>,
    #[serde(rename = "systemPrompt")]
    system_prompt: Maybe<Prompt>,
    #[serde(rename = "contextRendering")]
    rendering: Maybe<String>,
    path: Maybe<String>,
    content: Maybe<File>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct File {
    path: Maybe<String>,
    #[serde(rename = "type")]
    kind: Maybe<String>,
    content: Maybe<String>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Prompt {
    One(String),
    Many(Vec<Value>),
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Message {
    content: List<Block>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Block {
    #[serde(rename = "type")]
    kind: Maybe<String>,
    id: Maybe<String>,
    tool_use_id: Maybe<String>,
    name: Maybe<String>,
    input: Maybe<Input>,
    is_error: Maybe<bool>,
    content: Value,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Input {
    command: Maybe<String>,
    skill: Maybe<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Meta {
    #[serde(rename = "agentType")]
    kind: Maybe<String>,
    agent_type: Maybe<String>,
}

/// The folders of `projects` in which sessions of the folder `workspace` may lie.
fn folders(disk: &dyn Disk, projects: &Path, workspace: &str) -> Vec<PathBuf> {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = workspace.chars().map(plain).collect();
    let mut folders = vec![projects.join(&name)];
    if name.len() > MOST_NAME {
        // The rest of the name is a digest that differs between versions.
        let start = format!("{}-", &name[..MOST_NAME]);
        let entries = disk.list(projects).unwrap_or_default();
        let names = entries.into_iter().map(|entry| entry.name);
        let cut = names.filter(|name| name.to_str().is_some_and(|name| name.starts_with(&start)));
        folders.extend(cut.map(|name| projects.join(name)));
        folders.sort();
        folders.dedup();
    }
    folders
}

/// The transcripts of roots that may be of `workspace`, in order.
pub(crate) fn files(disk: &dyn Disk, projects: &Path, workspace: &str) -> Vec<PathBuf> {
    let sessions = |folder: PathBuf| {
        let entries = disk.list(&folder).unwrap_or_default();
        let names = entries.into_iter().filter_map(|entry| entry.name.into_string().ok());
        // Older versions put helpers beside their roots.
        let roots = names.filter(|name| name.ends_with(".jsonl") && !name.starts_with("agent-"));
        roots.map(move |name| folder.join(name)).collect::<Vec<_>>()
    };
    folders(disk, projects, workspace).into_iter().flat_map(sessions).collect()
}

/// A root's transcript, if it is one of `workspace` and `is_wanted`.
pub(crate) fn read(
    disk: &dyn Disk,
    path: &Path,
    workspace: &str,
    is_wanted: &dyn Fn(&Transcript) -> bool,
) -> Option<Transcript> {
    let name = path.file_stem()?.to_str()?.to_owned();
    let begin = begin(disk, path, MOST_ROOT)?;
    let mut reading = Reading::new(name);
    reading.take_all(&begin, Side::Root);
    let is_long = workspace.chars().count() > MOST_NAME;
    match &reading.cwd {
        Some(cwd) if super::same_folder(cwd, workspace) => {}
        None if !is_long => {}
        _ => return None,
    }
    let mut transcript = reading.finish();
    transcript.start?;
    if !is_wanted(&transcript) {
        return None;
    }
    // A denial may stand far behind what counts otherwise.
    if begin.is_cut && has(disk, path, begin.whole() as u64..MOST_HELPER, GUARD) {
        transcript.declarations.guarded |= is_guarded(&head(disk, path, MOST_HELPER).unwrap_or_default());
    }
    Some(transcript)
}

/// Whether a tool was denied as if to a helper, anywhere in what was read.
fn is_guarded(head: &Head) -> bool {
    let mut tools = Tools::default();
    let tells = |line: &&[u8]| {
        memchr::memmem::find(line, b"tool_use").is_some()
            || memchr::memmem::find(line, GUARD.as_bytes()).is_some()
    };
    for record in head.lines().filter(tells).filter_map(record::<Record>) {
        if record.is_sidechain.0 != Some(true) {
            tools.take(record);
        }
    }
    tools.finish().guarded
}

/// The transcripts of the helpers that the root in the file `path` started, in the order of their paths.
pub(crate) fn helpers(disk: &dyn Disk, path: &Path) -> Vec<Transcript> {
    let mut files = Vec::new();
    let mut level = vec![path.with_extension("").join("subagents")];
    let mut seen = 0;
    for _ in 0..MOST_DEPTH {
        let mut next = Vec::new();
        for folder in level {
            for entry in disk.list(&folder).unwrap_or_default() {
                seen += 1;
                let at = folder.join(&entry.name);
                let name = entry.name.to_str().unwrap_or_default();
                match entry.kind {
                    _ if seen > MOST_ENTRIES => {}
                    Kind::Folder => next.push(at),
                    Kind::File | Kind::Symlink if name.starts_with("agent-") && name.ends_with(".jsonl") => {
                        files.push(at)
                    }
                    Kind::File | Kind::Symlink | Kind::Other => {}
                }
            }
        }
        level = next;
    }
    files.sort();
    files.iter().filter_map(|file| read_helper(disk, file)).collect()
}

fn read_helper(disk: &dyn Disk, path: &Path) -> Option<Transcript> {
    let name = path.file_stem()?.to_str()?.to_owned();
    let mut reading = Reading::new(name);
    reading.take_all(&begin(disk, path, MOST_HELPER).unwrap_or_default(), Side::Helper);
    let mut transcript = reading.finish();
    let meta: Meta = small(disk, &path.with_extension("meta.json"));
    let kind = [meta.kind.0, meta.agent_type.0].into_iter().flatten().find(|kind| !kind.is_empty());
    transcript.kin = Kin::helper(kind, None);
    Some(transcript)
}

/// Whose file is read: the rows of helpers in a root's file don't count.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Root,
    Helper,
}

/// A transcript on its way.
struct Reading {
    transcript: Transcript,
    cwd: Option<String>,
    /// The place of each instruction file.
    places: BTreeMap<String, usize>,
    tools: Tools,
    has_snapshot: bool,
    shows_files: bool,
}

impl Reading {
    fn new(name: String) -> Self {
        Self {
            transcript: Transcript::new(name),
            cwd: None,
            places: BTreeMap::new(),
            tools: Tools::default(),
            has_snapshot: false,
            shows_files: false,
        }
    }

    fn take_all(&mut self, head: &Head, side: Side) {
        self.transcript.is_partial = head.is_cut;
        for (number, line) in head.lines().enumerate() {
            let Some(mut record) = counted::<Record>(line, &mut self.transcript.unread) else { continue };
            if number < TIMED_LINES && self.transcript.start.is_none() {
                self.transcript.start = time_of([&record.timestamp, &record.build_timestamp_utc]);
            }
            self.cwd = self.cwd.take().or_else(|| record.cwd.0.take());
            if side == Side::Root && record.is_sidechain.0 == Some(true) {
                continue;
            }
            match record.kind.0.as_deref() {
                Some("attachment") => self.attach(record.attachment.0.unwrap_or_default()),
                Some("assistant" | "user") => self.tools.take(record),
                _ => {}
            }
        }
    }

    fn attach(&mut self, attachment: Attachment) {
        match attachment.kind.0.as_deref() {
            Some("instructions") => self.load(attachment.files.into_items(), attachment.removed.into_items()),
            Some("nested_memory") => {
                let mut file = attachment.content.0.unwrap_or_default();
                file.path.0 = attachment.path.0.or(file.path.0);
                self.load(std::iter::once(file), std::iter::empty());
            }
            Some("prompt_snapshot") => {
                self.shows_files |= attachment.rendering.0.as_deref() != Some("inline");
                self.snapshot(attachment.system_prompt.0);
            }
            _ => {}
        }
    }

    /// Takes instruction files that are new or changed, and the paths of those that are gone.
    fn load(&mut self, files: impl Iterator<Item = File>, removed: impl Iterator<Item = String>) {
        self.shows_files = true;
        let mut step = Step::default();
        step.dropped.extend(removed.filter_map(|path| self.places.get(&path).copied()));
        for file in files {
            if file.kind.0.as_deref() == Some("AutoMem") {
                self.transcript.extra = Some(Extra::AutoMemory);
                continue;
            }
            let (Some(path), Some(content)) = (file.path.0, file.content.0) else { continue };
            let next = self.places.len();
            step.put.push((*self.places.entry(path).or_insert(next), content));
        }
        self.transcript.native.push(step);
    }

    fn snapshot(&mut self, prompt: Option<Prompt>) {
        self.has_snapshot = true;
        let parts = match prompt {
            Some(Prompt::One(text)) => vec![text],
            Some(Prompt::Many(parts)) => parts.into_iter().map(text_of).collect(),
            None => Vec::new(),
        };
        if has_memory(&parts.join("\n")) {
            self.transcript.extra = Some(Extra::AutoMemory);
        }
        let put = parts.into_iter().enumerate().collect();
        self.transcript.explicit.push(Step { clears: true, dropped: Vec::new(), put });
    }

    fn finish(mut self) -> Transcript {
        self.transcript.native.is_observable = self.shows_files;
        self.transcript.explicit.is_observable = self.has_snapshot;
        self.transcript.declarations = self.tools.finish();
        self.transcript
    }
}

/// The text of a part of a system prompt.
fn text_of(part: Value) -> String {
    match part {
        Value::String(text) => text,
        Value::Object(fields) if fields.get("text").is_some_and(Value::is_string) => {
            fields["text"].as_str().unwrap_or_default().to_owned()
        }
        other => other.to_string(),
    }
}

/// Whether a system prompt tells of the provider's memory of earlier sessions.
fn has_memory(prompt: &str) -> bool {
    let lines: Vec<_> = prompt.lines().collect();
    let tells = |line: &&str| line.contains("You have a persistent file-based memory at");
    (0..lines.len()).any(|at| lines[at] == "# Memory" && lines[at + 1..].iter().take(4).any(&tells))
}

/// Uses of tools and their results, which are told apart by their ids.
#[derive(Default)]
struct Tools {
    /// The uses of tools that run commands or skills.
    runs: BTreeSet<String>,
    /// Those that try to make a final declaration.
    tries: BTreeSet<String>,
    attempts: u64,
    results: Vec<ToolResult>,
}

/// A result that was denied or accepted.
struct ToolResult {
    id: String,
    denials: u64,
    acceptances: u64,
}

impl Tools {
    fn take(&mut self, record: Record) {
        let is_user = record.kind.0.as_deref() == Some("user");
        for block in record.message.0.unwrap_or_default().content.into_items() {
            match block.kind.0.as_deref() {
                Some("tool_use") if !is_user => self.take_use(block),
                Some("tool_result") if is_user => self.take_result(block),
                _ => {}
            }
        }
    }

    fn take_use(&mut self, block: Block) {
        let Some(id) = block.id.0.or(block.tool_use_id.0) else { return };
        let input = block.input.0.unwrap_or_default();
        let is_try = match block.name.0.as_deref() {
            Some("Bash") => input.command.0.is_some_and(|command| is_attempt(&command)),
            Some("Skill") => input.skill.0.as_deref() == Some("sase_final"),
            _ => return,
        };
        if is_try {
            self.attempts += 1;
            self.tries.insert(id.clone());
        }
        self.runs.insert(id);
    }

    fn take_result(&mut self, block: Block) {
        let Some(id) = block.tool_use_id.0.or(block.id.0) else { return };
        let texts = result_texts(&block.content);
        let with = |needle: &str| texts.iter().filter(|text| text.contains(needle)).count() as u64;
        let denials = if block.is_error.0 == Some(true) { with(GUARD) } else { 0 };
        let result = ToolResult { id, denials, acceptances: with(ACCEPTED) };
        if result.denials + result.acceptances > 0 {
            self.results.push(result);
        }
    }

    fn finish(&self) -> Declarations {
        let mut found = Declarations { attempts: self.attempts, ..Declarations::default() };
        for result in &self.results {
            if self.tries.contains(&result.id) {
                found.denied += result.denials;
                found.accepted += result.acceptances;
            }
            found.guarded |= result.denials > 0 && self.runs.contains(&result.id);
        }
        found
    }
}

/// The texts of a result: one, or a list of texts and of objects that have one.
fn result_texts(content: &Value) -> Vec<&str> {
    match content {
        Value::String(text) => vec![text],
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part.as_str().or_else(|| part["text"].as_str())).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_of_a_prompt_are_texts() {
        assert_eq!(text_of(json!("a")), "a");
        assert_eq!(text_of(json!({"type": "text", "text": "a\nb"})), "a\nb");
        assert_eq!(text_of(json!(7)), "7");
    }

    #[test]
    fn memory_of_earlier_sessions() {
        let tells = "You have a persistent file-based memory at `~/m`.";
        assert!(has_memory(&format!("x\n# Memory\n\n\n\n{tells}")));
        assert!(!has_memory(&format!("x\n# Memory\n\n\n\n\n{tells}")));
        assert!(!has_memory(&format!("## Memory\n{tells}")));
        assert!(!has_memory("# Memory"));
    }

    #[test]
    fn rows_of_helpers_in_a_roots_file_are_passed_over() {
        let line = json!({"type": "attachment", "isSidechain": true, "cwd": "/w", "timestamp": 5,
            "attachment": {"type": "prompt_snapshot", "systemPrompt": "x"}});
        let head = Head { bytes: line.to_string().into_bytes(), is_cut: false };
        let read = |side| {
            let mut reading = Reading::new("s".to_owned());
            reading.take_all(&head, side);
            reading.finish()
        };
        assert_eq!(
            (read(Side::Root).explicit.is_observable, read(Side::Root).explicit.is_empty()),
            (false, true)
        );
        assert_eq!(read(Side::Helper).explicit.last(), ["x"]);
        assert!(read(Side::Root).start.is_some());
    }

    #[test]
    fn unknown_files_and_shapes_are_passed_over() {
        let mut reading = Reading::new("s".to_owned());
        for attachment in [
            json!({"type": "instructions", "files": [{"path": "a"}, {"content": "b"}, 3], "removed": [1, "x"]}),
            json!({"type": "instructions", "files": "a", "removed": null}),
            json!({"type": "nested_memory", "content": "a"}),
            json!({"type": "prompt_snapshot", "contextRendering": "inline"}),
            json!({"type": "other"}),
            json!({}),
        ] {
            reading.attach(serde_json::from_value(attachment).unwrap());
        }
        let transcript = reading.finish();
        assert!(transcript.native.is_empty() && transcript.native.is_observable);
        assert!(transcript.explicit.is_empty() && transcript.explicit.is_observable);
    }
}
