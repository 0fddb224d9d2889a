//! One adapter a provider: its plan, its limits, and how its arguments carry a bundle.
//!
//! Adapters only build arguments: the launcher runs the process. Their arguments go right behind the command's first word.

mod claude;
mod codex;
mod desk;
mod flags;
mod grok;
mod muse;

use std::ffi::OsString;
use std::path::PathBuf;

use cantus_manifest::Provider;
use cantus_manifest::manifest::{Fallback, FallbackReason};

use crate::plan::{DeliveryPlan, Slot};

pub(crate) use claude::{Knowledge, knowledge};
pub(crate) use desk::Desk;

/// The most bytes of one argument. Linux takes 128 KiB with the NUL at its end; Windows has 32,767 characters for a whole
/// command line.
pub(crate) const MOST_ARGUMENT: usize = if cfg!(windows) { 30_000 } else { 128 * 1024 - 1 };

/// How the provider's own files are kept from being read beside the bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mute {
    /// By their names.
    Files,
    /// All at once, or not at all.
    Unnamed,
}

/// What is known of one provider.
#[derive(Debug)]
pub(crate) struct Adapter {
    name: &'static str,
    pub(crate) plan: DeliveryPlan,
    pub(crate) mute: Mute,
    /// How many bytes a text needs in the root's channel.
    pub(crate) needs: fn(&str) -> usize,
    /// The caller's arguments with the bundle among them.
    pub(crate) carry: fn(&Load<'_>, Vec<OsString>) -> Result<Carried, Fallback>,
}

/// What the arguments of one call shall carry.
pub(crate) struct Load<'a> {
    /// The root's text, its marker last.
    pub(crate) root: &'a str,
    /// The helpers' text likewise, if they get one.
    pub(crate) helper: Option<&'a str>,
    /// The files that the provider would read by itself and that hold nothing but the bundle.
    pub(crate) owned: &'a [PathBuf],
    /// Where files are read and written.
    pub(crate) desk: &'a Desk,
}

/// Arguments that carry a bundle.
#[derive(Debug, PartialEq)]
pub(crate) struct Carried {
    pub(crate) args: Vec<OsString>,
    /// Why the helpers' text isn't among them.
    pub(crate) helper: Option<Fallback>,
}

impl Carried {
    fn root(args: impl IntoIterator<Item = OsString>, rest: Vec<OsString>) -> Self {
        Self { args: args.into_iter().chain(rest).collect(), helper: None }
    }
}

const fn explicit(channel: &'static str, max_bytes: Option<usize>) -> Slot {
    Slot::Explicit { channel, max_bytes }
}

/// Nothing is carried: the provider reads its own files.
const fn native(name: &'static str) -> Adapter {
    Adapter {
        name,
        plan: DeliveryPlan::NATIVE,
        mute: Mute::Unnamed,
        needs: str::len,
        carry: |_, args| Ok(Carried { args, helper: None }),
    }
}

/// The table.
const ADAPTERS: &[Adapter] = &[
    Adapter {
        name: "claude",
        plan: DeliveryPlan {
            root: explicit("claude.append_system_prompt_file", None),
            subagent: explicit("claude.append_subagent_system_prompt_file", None),
        },
        mute: Mute::Files,
        needs: str::len,
        carry: claude::carry,
    },
    Adapter {
        name: "codex",
        // Threads that it starts have its configuration.
        plan: DeliveryPlan {
            root: explicit("codex.developer_instructions", Some(MOST_ARGUMENT)),
            subagent: Slot::InheritsRoot,
        },
        mute: Mute::Unnamed,
        needs: codex::needs,
        carry: codex::carry,
    },
    Adapter {
        name: "grok",
        plan: DeliveryPlan {
            root: explicit("grok.rules", Some(MOST_ARGUMENT)),
            subagent: Slot::InheritsNative,
        },
        mute: Mute::Unnamed,
        needs: grok::needs,
        carry: grok::carry,
    },
    Adapter {
        name: "muse",
        plan: DeliveryPlan { root: explicit("muse.prompt_prefix", None), subagent: Slot::InheritsNative },
        mute: Mute::Unnamed,
        needs: str::len,
        carry: muse::carry,
    },
    native("agy"),
    native("qwen"),
    native("opencode"),
    native("native"),
];

/// The adapter of `provider`, if it is known.
pub(crate) fn find(provider: &Provider) -> Option<&'static Adapter> {
    ADAPTERS.iter().find(|adapter| adapter.name == provider.as_str())
}

/// A fallback with its words.
pub(crate) fn fallback(reason: FallbackReason, detail: impl Into<String>) -> Fallback {
    Fallback { reason, detail: Some(detail.into()) }
}

/// A hand-over that failed, with why.
pub(crate) fn failed(detail: impl Into<String>) -> Fallback {
    fallback(FallbackReason::DeliveryFailed, detail)
}

/// A text that is too long for one argument.
fn oversize(channel: &str, needs: usize) -> Fallback {
    fallback(
        FallbackReason::Oversize,
        format!("{needs} bytes are more than the {MOST_ARGUMENT} that `{channel}` takes"),
    )
}

/// Whether a text can stand in an argument at all.
fn argument(text: &str) -> Result<(), Fallback> {
    if text.contains('\0') { Err(failed("no argument can hold the NUL in the text")) } else { Ok(()) }
}

/// The last of the values that a caller gave for one flag: the one that the provider would honour. It must be Unicode.
fn last_text(flag: &str, values: Vec<OsString>) -> Result<Option<String>, Fallback> {
    let Some(value) = values.into_iter().last() else { return Ok(None) };
    value.into_string().map(Some).map_err(|_| failed(format!("the caller's `{flag}` is not Unicode")))
}

#[cfg(test)]
mod tests;
