//! Claude Code: the bundle as a file that is appended to its system prompt, and another for its helpers.
//!
//! Sources: its CLI reference (code.claude.com/docs/en/cli-reference):
//! * `--append-system-prompt-file`: a file's text behind the default prompt. Only the last one counts
//!   (anthropics/claude-code, issues 38286 and 45935), and `--append-system-prompt` beside it is an error.
//! * `--append-subagent-system-prompt-file`: the same for every helper; with `--print` alone, since 2.1.261 (its changelog); its
//!   help lists neither file flag, so the version decides.
//! * `--settings <file-or-json>`: further settings; only one counts (databricks/unity-gateway, pull request 189).
//!
//! Settings (code.claude.com/docs/en/settings and /memory): `claudeMdExcludes`, patterns or paths of instruction files that are
//! not loaded; `autoMemoryEnabled`, its own notes of earlier sessions.

use std::ffi::OsString;
use std::path::PathBuf;

use cantus_manifest::manifest::{Fallback, FallbackReason};
use serde_json::{Map, Value, json};

use super::flags::{Flag, take};
use super::{Carried, Load, MOST_ARGUMENT, failed, fallback, last_text};
use crate::marker::joined;

const ROOT_FILE: &str = "--append-system-prompt-file";
const ROOT_TEXT: &str = "--append-system-prompt";
const HELPER_FILE: &str = "--append-subagent-system-prompt-file";
const HELPER_TEXT: &str = "--append-subagent-system-prompt";
const SETTINGS: &str = "--settings";

/// The first version that reads the helpers' text from a file.
const FIRST_HELPER_FILE: [u64; 3] = [2, 1, 261];

/// What an installed program says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Knowledge {
    /// Its version, if it tells one.
    pub(crate) version: Option<String>,
    /// Whether it reads the helpers' text from a file.
    pub(crate) helper_file: bool,
}

/// What follows from the answers to `--version` and, where that isn't enough, `--help`.
pub(crate) fn knowledge(version: Option<&str>, help: impl FnOnce() -> Option<String>) -> Knowledge {
    let version =
        version.and_then(|text| text.split_whitespace().next()).filter(|word| numbers(word).is_some());
    let is_new = version.and_then(numbers).is_some_and(|version| version >= FIRST_HELPER_FILE);
    let helper_file = is_new || help().is_some_and(|help| help.contains(HELPER_FILE));
    Knowledge { version: version.map(str::to_owned), helper_file }
}

/// The three numbers of a version such as `2.1.261`; what follows `-` is not looked at.
fn numbers(version: &str) -> Option<[u64; 3]> {
    let mut parts = version.split('-').next()?.split('.').map(|part| part.parse().ok());
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Whether it prints an answer and ends: its helpers' text is for that mode alone.
fn in_print_mode(args: &[OsString]) -> bool {
    let is_print = |arg: &OsString| {
        let Some(arg) = arg.to_str() else { return false };
        let cluster = arg.strip_prefix('-').filter(|rest| rest.bytes().all(|byte| b"cdpv".contains(&byte)));
        arg == "--print" || cluster.is_some_and(|letters| letters.contains('p'))
    };
    args.iter().take_while(|arg| *arg != "--").any(is_print)
}

pub(crate) fn carry(load: &Load<'_>, mut args: Vec<OsString>) -> Result<Carried, Fallback> {
    let is_print = in_print_mode(&args);
    let theirs = theirs(load, &mut args, ROOT_FILE, ROOT_TEXT)?;
    let settings = settings(load, &take(&mut args, &[Flag::Long(SETTINGS)]))?;
    let file = load.desk.write(".md", &joined(&theirs, load.root)).map_err(|error| unwritten(&error))?;
    let mut ours: Vec<OsString> = vec![ROOT_FILE.into(), file.into()];
    let helper = match load.helper {
        None => None,
        Some(_) if !is_print => {
            Some(fallback(FallbackReason::UnsupportedCli, "helpers' texts are for `--print` alone"))
        }
        Some(text) => match helper(load, text, &args) {
            Ok((file, rest)) => {
                args = rest;
                ours.extend([HELPER_FILE.into(), file.into()]);
                None
            }
            Err(fallback) => Some(fallback),
        },
    };
    ours.extend([SETTINGS.into(), settings]);
    Ok(Carried { helper, ..Carried::root(ours, args) })
}

/// The helpers' file, and the arguments without the caller's own text for helpers, which it holds.
fn helper(load: &Load<'_>, text: &str, args: &[OsString]) -> Result<(PathBuf, Vec<OsString>), Fallback> {
    let mut rest = args.to_vec();
    let theirs = theirs(load, &mut rest, HELPER_FILE, HELPER_TEXT)?;
    let file = load.desk.write(".helper.md", &joined(&theirs, text)).map_err(|error| unwritten(&error))?;
    Ok((file, rest))
}

/// The text that the caller appends by itself; its flags are taken out.
fn theirs(
    load: &Load<'_>,
    args: &mut Vec<OsString>,
    file: &'static str,
    text: &'static str,
) -> Result<String, Fallback> {
    let files = take(args, &[Flag::Long(file)]);
    let text = last_text(text, take(args, &[Flag::Long(text)]))?;
    match (files.last(), text) {
        (None, text) => Ok(text.unwrap_or_default()),
        (Some(path), None) => {
            load.desk.read(path).map_err(|_| failed(format!("the caller's `{file}` can't be read")))
        }
        (Some(_), Some(_)) => Err(failed(format!("the caller gives both a text and `{file}`"))),
    }
}

/// The caller's settings with ours, as one argument.
fn settings(load: &Load<'_>, given: &[OsString]) -> Result<OsString, Fallback> {
    let unreadable = || failed(format!("the caller's `{SETTINGS}` are no JSON object that can be read"));
    let theirs = match given.last() {
        None => Map::new(),
        Some(value) => {
            let inline = value.to_str().filter(|value| value.trim_start().starts_with('{'));
            let text = inline.map(str::to_owned).map_or_else(|| load.desk.read(value), Ok);
            let value =
                text.ok().and_then(|text| serde_json::from_str(text.trim_start_matches('\u{feff}')).ok());
            match value {
                Some(Value::Object(settings)) => settings,
                _ => return Err(unreadable()),
            }
        }
    };
    let text = Value::Object(merged(theirs, load.owned)).to_string();
    if text.len() <= MOST_ARGUMENT {
        return Ok(text.into());
    }
    load.desk.write(".settings.json", &text).map(OsString::from).map_err(|error| unwritten(&error))
}

/// `theirs` and ours: nothing of theirs goes.
fn merged(mut theirs: Map<String, Value>, owned: &[PathBuf]) -> Map<String, Value> {
    // A path that isn't Unicode can't stand in JSON. Patterns have `/` on every system.
    let slashed = |path: &str| if cfg!(windows) { path.replace('\\', "/") } else { path.to_owned() };
    let paths: Vec<_> =
        owned.iter().filter_map(|path| path.to_str()).map(|path| json!(slashed(path))).collect();
    if !paths.is_empty()
        && let Value::Array(excluded) = theirs.entry("claudeMdExcludes").or_insert_with(|| json!([]))
    {
        let new: Vec<_> = paths.into_iter().filter(|path| !excluded.contains(path)).collect();
        excluded.extend(new);
    }
    theirs.entry("autoMemoryEnabled").or_insert(Value::Bool(false));
    theirs
}

fn unwritten(error: &std::io::Error) -> Fallback {
    failed(format!("a private file can't be written: {error}"))
}
