//! Muse Code: the bundle in front of the prompt.
//!
//! Sources: `muse exec --help`: `muse exec [OPTIONS] [PROMPT]`, the prompt last; `--prompt-file <PATH>` in its place; no prompt
//! is read from standard input (vendor's pages under dev.meta.ai/docs/muse-code). It has no flag for instructions.

use std::ffi::OsString;
use std::path::PathBuf;

use cantus_manifest::manifest::Fallback;

use super::flags::{Flag, take};
use super::{Carried, Load, MOST_ARGUMENT, argument, failed, oversize};

const PROMPT_FILE: &str = "--prompt-file";
const EXEC: &str = "exec";

/// Parts the bundle from the prompt.
const SEPARATOR: &str = "\n\n--- User Prompt ---\n";

pub(crate) fn carry(load: &Load<'_>, mut args: Vec<OsString>) -> Result<Carried, Fallback> {
    let files = take(&mut args, &[Flag::Long(PROMPT_FILE)]);
    if let Some(file) = files.last() {
        let prompt = load
            .desk
            .read(file)
            .map_err(|_| failed(format!("the caller's `{PROMPT_FILE}` can't be read")))?;
        let file = write(load, &prompt)?;
        // Behind the subcommand: those in front of it don't reach it.
        let at = usize::from(args.first().is_some_and(|first| first == EXEC));
        args.splice(at..at, [PROMPT_FILE.into(), file.into()]);
        return Ok(Carried { args, helper: None });
    }
    let prompt = prompt(&mut args)?;
    let text = prefixed(load.root, &prompt);
    if text.len() <= MOST_ARGUMENT && argument(&text).is_ok() {
        args.push(text.into());
    } else if args.first().is_some_and(|first| first == EXEC) {
        if args.last().is_some_and(|last| last == "--") {
            args.pop();
        }
        let file = write(load, &prompt)?;
        args.extend([PROMPT_FILE.into(), file.into()]);
    } else {
        argument(&text)?;
        return Err(oversize("muse.prompt_prefix", text.len()));
    }
    Ok(Carried { args, helper: None })
}

/// Takes the prompt: the last argument.
fn prompt(args: &mut Vec<OsString>) -> Result<String, Fallback> {
    let is_bare = |args: &[OsString]| args.len() >= 2 && args[args.len() - 2] == "--";
    let none = || failed("the command has no prompt to put the bundle in front of");
    let last = args.last().and_then(|last| last.to_str()).ok_or_else(none)?;
    let is_word = args.len() == 1 && last == EXEC;
    if is_word || last == "--" || (last.starts_with('-') && !is_bare(args)) {
        return Err(none());
    }
    let prompt = last.to_owned();
    args.pop();
    Ok(prompt)
}

fn prefixed(bundle: &str, prompt: &str) -> String {
    format!("{bundle}{SEPARATOR}{prompt}")
}

/// Writes the whole prompt to a private file.
fn write(load: &Load<'_>, prompt: &str) -> Result<PathBuf, Fallback> {
    let text = prefixed(load.root, prompt);
    load.desk
        .write(".prompt.md", &text)
        .map_err(|error| failed(format!("the prompt can't be written: {error}")))
}
