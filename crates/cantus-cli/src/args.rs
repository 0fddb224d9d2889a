//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

/// One set of standing instructions for coding agents, composed from small Markdown notes.
#[derive(Debug, Parser)]
#[command(name = "cantus", version = env!("CANTUS_VERSION"), max_term_width = 100)]
pub(crate) struct Args {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) verb: Verb,
}

/// What every verb understands.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Global {
    /// The project's root [default: search upward from the working folder]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,
    /// The folder of the user's own notes [default: the `cantus` folder among the user's configuration if it has notes, else
    /// the home folder if it has `sase/memory`]
    #[arg(long, global = true, value_name = "DIR", conflicts_with = "no_home")]
    pub(crate) home: Option<PathBuf>,
    /// Leave the user's own notes out
    #[arg(long, global = true)]
    pub(crate) no_home: bool,
    /// The package of standing texts [default: the configured one, else the built-in one]
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) package: Option<PathBuf>,
    /// When to colour
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,
    /// Say something only if there is trouble
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Treat warnings as errors
    #[arg(long, global = true)]
    pub(crate) strict: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum Color {
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    /// Compose and write every committed instruction file
    Project(ProjectArgs),
    /// Check the committed files without writing: drift and parity
    Check(CheckArgs),
    /// Print a bundle for given facts
    Render(RenderArgs),
    /// List the notes with their sizes
    List(ListArgs),
    /// Print notes or strands, with what they depend on
    Read(ReadArgs),
    /// Validate a manifest and print it in its normal form
    Manifest {
        /// The file; `-` for standard input
        file: PathBuf,
    },
    /// Compose and write anew whenever notes or configuration change, until Ctrl-C
    #[cfg(feature = "watch")]
    Watch,
    /// Print a completion script for a shell
    #[cfg(feature = "completions")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Verb {
    /// Whether what it prints is for programs, so that each byte counts.
    pub(crate) fn prints_data(&self) -> bool {
        match self {
            Self::Project(args) => args.json,
            Self::Check(args) => args.json,
            Self::List(args) => args.json,
            #[cfg(feature = "watch")]
            Self::Watch => false,
            Self::Read(_) | Self::Render(_) | Self::Manifest { .. } => true,
            #[cfg(feature = "completions")]
            Self::Completions { .. } => true,
        }
    }
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    /// Write nothing; exit 1 if something is not fresh
    #[arg(long)]
    pub(crate) check: bool,
    /// Overwrite files that were edited by hand or that Cantus didn't write
    #[arg(long)]
    pub(crate) force: bool,
    /// Only this file (may be repeated)
    #[arg(long, value_name = "PATH")]
    pub(crate) only: Vec<String>,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct CheckArgs {
    /// Print the findings as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct RenderArgs {
    /// Facts of the render: actor, mode, purpose, provider, project, host, vcs
    #[arg(short, long = "fact", value_name = "K=V,...", value_delimiter = ',')]
    pub(crate) facts: Vec<String>,
    /// Print a table of sections instead of the text
    #[arg(short, long)]
    pub(crate) sections: bool,
    /// Print the manifest instead of the text; with --sections the table as JSON
    #[arg(short, long)]
    pub(crate) json: bool,
    /// Compare with the committed files of project and home; exit 1 if they hold something that the bundle lacks
    #[arg(short, long)]
    pub(crate) parity: bool,
    /// Compose anew, whatever is kept from earlier renders
    #[arg(short = 'N', long)]
    pub(crate) no_cache: bool,
    /// Add the sections of this JSON file behind everything else; `-` for standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) launch: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ReadArgs {
    /// A note's name or path, a web, or WEB:KEYWORD
    #[arg(required = true, value_name = "NOTE|WEB:KEYWORD")]
    pub(crate) targets: Vec<String>,
    /// Follow dependencies this many steps; 0 prints only what was asked for [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) depth: Option<usize>,
    /// Print the texts and links as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// List the crates among the dependencies that ship notes instead, used or not
    #[arg(long)]
    pub(crate) plugins: bool,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}
