//! What `cantus bundle` understands.

use std::path::PathBuf;

use cantus_bundle::{Layout, Reach};
use clap::{Subcommand, ValueEnum};

use super::later::Later;

#[derive(Debug, Subcommand)]
pub(crate) enum BundleAction {
    /// Compose the bundle of one role, unless it is there already
    Compose(Later<ComposeArgs>),
    /// Say whether a folder is a whole, consistent bundle; --strict wants more than consumers need
    Verify {
        /// The bundle's folder
        bundle: PathBuf,
        /// Print the answer as JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a bundle is, and why
    Describe(Later<DescribeArgs>),
    /// Show what differs between two bundles
    Diff {
        /// One bundle's folder
        left: PathBuf,
        /// The other's
        right: PathBuf,
        /// Print the difference as JSON
        #[arg(long)]
        json: bool,
    },
    /// Pack a bundle into an archive whose bytes depend on nothing else
    Export {
        /// The bundle's folder
        bundle: PathBuf,
        /// The archive, usually `<name>.tar.gz`
        #[arg(long, value_name = "FILE")]
        out: PathBuf,
    },
    /// Lay a bundle out where a harness looks
    Project(Later<LayOutArgs>),
    /// Take away what was laid out
    Unproject {
        /// The folder it was laid out in [default: the working folder]
        #[arg(long, value_name = "DIR")]
        target: Option<PathBuf>,
        /// Print the report as JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct ComposeArgs {
    /// The request, a KDL file; or a role of the built-in roster [default: the first of them]
    pub(crate) request: Option<PathBuf>,
    /// The folder of bundles [default: `trees` in the store]
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
    /// Show every decision with its reason
    #[arg(long, conflicts_with = "json")]
    pub(crate) explain: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct DescribeArgs {
    /// The bundle's folder
    pub(crate) bundle: PathBuf,
    /// Show every excluded skill, however many there are
    #[arg(long)]
    pub(crate) all: bool,
    /// Show what was decided on this subject alone: KIND:ID, or the id
    #[arg(long, value_name = "SUBJECT", conflicts_with_all = ["all", "json"])]
    pub(crate) why: Option<String>,
    /// Print manifest and trace as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct LayOutArgs {
    /// The bundle's folder
    pub(crate) bundle: PathBuf,
    /// The harness
    #[arg(long, value_name = "LAYOUT")]
    pub(crate) layout: LayoutArg,
    /// What it reaches
    #[arg(long, value_name = "SCOPE", default_value = "repo")]
    pub(crate) scope: ScopeArg,
    /// The folder to lay it out in [default: the working folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) target: Option<PathBuf>,
    /// Write nothing; exit 1 if something is not fresh
    #[arg(long)]
    pub(crate) check: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// A harness by its name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum LayoutArg {
    /// Claude Code
    Claude,
    /// Codex
    Codex,
    /// Goose
    Goose,
    /// OpenCode
    Opencode,
}

impl From<LayoutArg> for Layout {
    fn from(arg: LayoutArg) -> Self {
        match arg {
            LayoutArg::Claude => Self::Claude,
            LayoutArg::Codex => Self::Codex,
            LayoutArg::Goose => Self::Goose,
            LayoutArg::Opencode => Self::Opencode,
        }
    }
}

/// What a projection reaches, by its name.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScopeArg {
    /// One repository
    Repo,
    /// A whole home folder
    Home,
}

impl From<ScopeArg> for Reach {
    fn from(arg: ScopeArg) -> Self {
        match arg {
            ScopeArg::Repo => Self::Repo,
            ScopeArg::Home => Self::Home,
        }
    }
}

impl BundleAction {
    /// Whether what it prints is for programs.
    pub(crate) fn prints_data(&self) -> bool {
        match self {
            Self::Verify { json, .. } | Self::Diff { json, .. } | Self::Unproject { json, .. } => *json,
            Self::Compose(args) => args.json,
            Self::Describe(args) => args.json,
            Self::Project(args) => args.json,
            Self::Export { .. } => false,
        }
    }
}
