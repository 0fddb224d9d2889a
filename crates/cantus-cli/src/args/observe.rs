//! The arguments of the verbs that look at runs from outside.

use std::path::PathBuf;

use cantus_launch::observe::Known;
use cantus_manifest::Provider;
use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    /// Only runs of this provider: claude, codex, muse, grok or agy (may be repeated)
    #[arg(short, long = "provider", value_name = "P")]
    pub(crate) providers: Vec<Known>,
    /// Only the run of this name, or in the folder of this path, section by section, whenever it was
    #[arg(short, long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Add how many conversations have a record, and what became of each bundle
    #[arg(short, long)]
    pub(crate) coverage: bool,
    /// Add what helpers got
    #[arg(short = 'H', long)]
    pub(crate) helpers: bool,
    /// How many of the newest runs of each provider are looked at, at most 200
    #[arg(short, long, value_name = "N", default_value_t = 20)]
    pub(crate) number: u64,
    /// Only runs that began then or later: 30m, 24h, 7d, 2w ago, or an ISO timestamp [default: 7d]
    #[arg(short, long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only runs that began then or earlier
    #[arg(short, long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Look for runs in this tree of folders instead of the index (may be repeated)
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Vec<PathBuf>,
    /// Print the report as JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReadoutArgs {
    /// Only runs of this provider (may be repeated)
    #[arg(short, long = "provider", value_name = "P")]
    pub(crate) providers: Vec<Provider>,
    /// Only runs that began then or later: 30m, 24h, 7d, 2w ago, or an ISO timestamp [default: 7d]
    #[arg(short, long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) since: Option<String>,
    /// Only runs that began then or earlier
    #[arg(short, long, value_name = "WHEN", allow_hyphen_values = true)]
    pub(crate) until: Option<String>,
    /// Whose files say how a run ended
    #[arg(long, value_name = "NAME", default_value = "cantus")]
    pub(crate) layout: LayoutName,
    /// A log of memory reads, for `--layout sase` (may be repeated)
    #[arg(long, value_name = "FILE")]
    pub(crate) memory_reads: Vec<PathBuf>,
    /// Look for runs in this tree of folders instead of the index (may be repeated)
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Vec<PathBuf>,
    /// Print the report as JSON
    #[arg(short, long)]
    pub(crate) json: bool,
}

/// Whose files say how a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutName {
    /// `outcome.json`, which any launcher may write
    Cantus,
    /// The files that SASE writes
    Sase,
}
