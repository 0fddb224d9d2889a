//! Codex: the bundle as the configuration key `developer_instructions`.
//!
//! Sources: `codex --help`: "-c, --config <key=value> … The `value` portion is parsed as TOML. If it fails to parse as TOML,
//! the raw string is used as a literal", quotes at its ends removed (openai/codex, `codex-rs/utils/cli/src/config_override.rs`);
//! the flag is global, those behind a subcommand come later and win. `developer_instructions` and `project_doc_max_bytes`
//! (0: no `AGENTS.md` is read): openai/codex, `docs/config.md` and the reference of the configuration.

use std::ffi::OsString;
use std::fmt::Write as _;

use cantus_manifest::manifest::Fallback;
use toml::de::DeTable;

use super::flags::{Flag, take_if};
use super::{Carried, Load, MOST_ARGUMENT, failed, last_text, oversize};
use crate::marker::joined;

const CONFIG: &[Flag] = &[Flag::Long("--config"), Flag::Short("-c")];
const KEY: &str = "developer_instructions";
/// Its own files stay unread: what they say is in the bundle.
const MUTE: [&str; 2] = ["-c", "project_doc_max_bytes=0"];

/// How long the argument is.
pub(crate) fn needs(text: &str) -> usize {
    argument(text).len()
}

pub(crate) fn carry(load: &Load<'_>, mut args: Vec<OsString>) -> Result<Carried, Fallback> {
    let given = take_if(&mut args, CONFIG, |value| {
        value.to_str().and_then(|value| value.split_once('=')).is_some_and(|(key, _)| key.trim() == KEY)
    });
    let theirs = last_text(KEY, given)?.map(|value| theirs(&value)).transpose()?;
    let argument = argument(&joined(&theirs.unwrap_or_default(), load.root));
    if argument.len() > MOST_ARGUMENT {
        return Err(oversize("codex.developer_instructions", argument.len()));
    }
    let [flag, mute] = MUTE;
    Ok(Carried::root([flag, &argument, flag, mute].map(OsString::from), args))
}

/// The text that `key=value` gives Codex.
fn theirs(assignment: &str) -> Result<String, Fallback> {
    let value = assignment.split_once('=').map_or("", |(_, value)| value.trim());
    let assignment = format!("x = {value}");
    let Ok(table) = DeTable::parse(&assignment) else {
        return Ok(value.trim_matches(['"', '\'']).to_owned());
    };
    let text = table.get_ref().get("x").and_then(|value| value.get_ref().as_str());
    text.map(str::to_owned).ok_or_else(|| failed(format!("the caller's `{KEY}` is not a text")))
}

fn argument(text: &str) -> String {
    let mut argument = format!("{KEY}=");
    quote(&mut argument, text);
    argument
}

/// A string that is the same in JSON and in TOML, which forbids DEL too.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            c if c.is_ascii_control() => drop(write!(out, "\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out.push('"');
}
