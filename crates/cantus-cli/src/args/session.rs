//! What `cantus session` understands.

use std::path::PathBuf;

use clap::Subcommand;
use clap::builder::NonEmptyStringValueParser;

use super::later::Later;

#[derive(Debug, Subcommand)]
pub(crate) enum SessionAction {
    /// Compile the pack of one request, and print its texts as JSON
    Compile(Later<CompileArgs>),
    /// Bring standard input within a budget, and print it as JSON
    Fit {
        /// The most chars that the text may have, the pointer included
        #[arg(long, value_name = "N")]
        budget: usize,
        /// What stands below a text that was cut: it says where the rest can be read
        #[arg(long, value_name = "TEXT", default_value = "", allow_hyphen_values = true)]
        pointer: String,
    },
    /// Print standard input, cut to so many chars and `…`
    Clip {
        /// The most chars
        #[arg(long, value_name = "N")]
        limit: usize,
    },
    /// Print what a conversation is told after it was compacted, as JSON
    Checkpoint {
        /// The JSON file that says where the run stood; `-` for standard input
        input: PathBuf,
    },
    /// Print the snapshot that a conversation was given last, a JSON array; `null` if there is none
    Snapshot(Later<SnapshotArgs>),
}

#[derive(Debug, clap::Args)]
pub(crate) struct CompileArgs {
    /// The JSON file that describes session and request; `-` for standard input
    pub(crate) launch: PathBuf,
    /// The conversation so far, as JSON Lines: only what changed since its last update is sent; of a folder the `*.jsonl` in it
    /// that was changed last
    #[arg(long, value_name = "FILE")]
    pub(crate) history: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
    /// Record the pack below this folder, in `runs/<run id>/context.json`
    #[arg(long, value_name = "DIR")]
    pub(crate) record: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct SnapshotArgs {
    /// The JSON Lines file of the conversation; of a folder the `*.jsonl` in it that was changed last
    pub(crate) history: PathBuf,
    #[command(flatten)]
    pub(crate) keys: KeyArgs,
}

/// How a history marks the messages that hold a snapshot.
#[derive(Debug, clap::Args)]
pub(crate) struct KeyArgs {
    /// The `customType` of the messages that hold a snapshot
    #[arg(
        long = "type",
        value_name = "NAME",
        default_value = "cantus-context",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(crate) message: String,
    /// The key in their `details` at which it stands
    #[arg(
        long,
        value_name = "NAME",
        default_value = "cantusContext",
        value_parser = NonEmptyStringValueParser::new()
    )]
    pub(crate) key: String,
}
