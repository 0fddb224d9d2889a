//! Grok's sessions: a folder each, with `prompt_context.json` and `system_prompt.txt`.

use std::path::{Path, PathBuf};

use cantus_fs::{Disk, Kind};
use serde::Deserialize;
use serde_json::Value;

use super::channel::Channel;
use super::lines::{List, Maybe, head, small};
use super::roots::MOST_ROOT;
use super::transcript::{Extra, Transcript};
use crate::time::parse;

const CONTEXT: &str = "prompt_context.json";
const PROMPT: &str = "system_prompt.txt";

#[derive(Deserialize, Default)]
#[serde(default)]
struct Context {
    working_directory: Maybe<String>,
    build_timestamp_utc: Value,
    memory_enabled: Value,
    memory_v2_enabled: Value,
    agents_md_files: List<File>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum File {
    Text(String),
    Named { content: String },
}

/// The folders of sessions that may be of `workspace`, in order.
pub(crate) fn files(disk: &dyn Disk, sessions: &Path, workspace: &str) -> Vec<PathBuf> {
    let folder = sessions.join(encoded(workspace));
    let entries = disk.list(&folder).unwrap_or_default();
    entries
        .into_iter()
        .filter(|entry| entry.kind == Kind::Folder)
        .map(|entry| folder.join(entry.name))
        .collect()
}

/// The file of a session's folder by whose age one tells whether it is too old.
pub(crate) fn dated(folder: &Path) -> PathBuf {
    folder.join(CONTEXT)
}

/// A folder's name: percent-encoded UTF-8.
fn encoded(workspace: &str) -> String {
    let mut name = String::new();
    for byte in workspace.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => {
                name.push(char::from(byte))
            }
            _ => name.push_str(&format!("%{byte:02X}")),
        }
    }
    name
}

/// The transcript in a session's folder, if it is one of `workspace`.
pub(crate) fn read(disk: &dyn Disk, folder: &Path, workspace: &str) -> Option<Transcript> {
    let context: Context = small(disk, &dated(folder));
    if !super::same_folder(context.working_directory.0.as_deref()?, workspace) {
        return None;
    }
    let mut transcript = Transcript::new(folder.file_name()?.to_str()?.to_owned());
    let written = || disk.modified(folder).ok()?;
    transcript.start = Some(parse(&context.build_timestamp_utc).or_else(written)?);
    let has_memory = context.memory_enabled == true || context.memory_v2_enabled == true;
    transcript.extra = has_memory.then_some(Extra::Memory);
    let files = context.agents_md_files.into_items().map(|file| match file {
        File::Text(content) | File::Named { content } => content,
    });
    transcript.native = Channel::of(files.collect());
    match head(disk, &folder.join(PROMPT), MOST_ROOT) {
        Some(prompt) => {
            transcript.is_partial = prompt.is_cut;
            transcript.explicit = Channel::of(rules(&String::from_utf8_lossy(&prompt.bytes)));
        }
        None => transcript.explicit.is_observable = false,
    }
    Some(transcript)
}

/// What stands in the closed blocks of rules.
fn rules(prompt: &str) -> Vec<String> {
    let (open, close) = ("<human_rules>", "</human_rules>");
    let (mut rules, mut rest) = (Vec::new(), prompt);
    while let Some(start) = rest.find(open) {
        let inside = &rest[start + open.len()..];
        let Some(end) = inside.find(close) else { break };
        rules.push(inside[..end].replace("<\\/human_rules>", close));
        rest = &inside[end + close.len()..];
    }
    rules
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_rules() {
        assert_eq!(rules("a<human_rules>\nx\n</human_rules>b<human_rules>y</human_rules>"), ["\nx\n", "y"]);
        assert_eq!(rules("<human_rules>a <\\/human_rules> b</human_rules>"), ["a </human_rules> b"]);
        assert_eq!(rules("<human_rules>torn"), Vec::<String>::new());
        assert_eq!(rules("</human_rules>"), Vec::<String>::new());
    }

    #[test]
    fn folders_are_percent_encoded() {
        assert_eq!(encoded("/w/my app_1.x-y~é"), "%2Fw%2Fmy%20app_1.x-y~%C3%A9");
    }
}
