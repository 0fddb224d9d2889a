//! Grok Build: the bundle as rules at the end of its system prompt.
//!
//! Sources: the headless page of its user guide (xai-org/grok-build, `14-headless-mode.md`) and `grok --help`: `--rules <TEXT>`,
//! alias `--append-system-prompt`, appends to the system prompt; `--system-prompt-override` replaces that, rules included. Its
//! own files can't be muted.

use std::ffi::OsString;

use cantus_manifest::manifest::Fallback;

use super::flags::{Flag, has, take};
use super::{Carried, Load, MOST_ARGUMENT, argument, failed, last_text, oversize};
use crate::marker::joined;

const RULES: &[Flag] = &[Flag::Long("--rules"), Flag::Long("--append-system-prompt")];
const OVERRIDE: &[Flag] = &[Flag::Long("--system-prompt-override")];

/// How long the argument is.
pub(crate) fn needs(text: &str) -> usize {
    text.len()
}

pub(crate) fn carry(load: &Load<'_>, mut args: Vec<OsString>) -> Result<Carried, Fallback> {
    if has(&args, OVERRIDE) {
        return Err(failed("the caller's `--system-prompt-override` leaves no place for rules"));
    }
    let theirs = last_text("--rules", take(&mut args, RULES))?;
    let text = joined(&theirs.unwrap_or_default(), load.root);
    if text.len() > MOST_ARGUMENT {
        return Err(oversize("grok.rules", text.len()));
    }
    argument(&text)?;
    Ok(Carried::root([OsString::from("--rules"), OsString::from(text)], args))
}
