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
#[derive(Debug, clap::Args)]
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
    /// Set Cantus up: notes from the instruction files that are here, configuration, committed files
    Init(InitArgs),
    /// Split instruction files that others wrote into notes
    Import(ImportArgs),
    /// Validate a manifest and print it in its normal form
    Manifest {
        /// The file; `-` for standard input
        file: PathBuf,
    },
    /// Print a completion script for a shell
    #[cfg(feature = "completions")]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct ProjectArgs {
    /// Write nothing; exit 1 if something is not fresh
    #[arg(long)]
    pub(crate) check: bool,
    /// Overwrite files that were edited by hand or that Cantus didn't write
    #[arg(long, conflicts_with = "check")]
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
}

#[derive(Debug, clap::Args)]
pub(crate) struct ListArgs {
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Do it without asking
    #[arg(short, long)]
    pub(crate) yes: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct ImportArgs {
    /// Files, or folders of Markdown files [default: every instruction file that is found]
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The folder for the notes, below the root [default: the note folder]
    #[arg(long, value_name = "DIR")]
    pub(crate) into: Option<String>,
    /// The kind of every note [default: what a rule's front matter says, else core]
    #[arg(long, value_name = "KIND")]
    pub(crate) kind: Option<KindArg>,
    /// Show the notes and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the report as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// How a note reaches the bundle.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum KindArg {
    /// Its whole text stands there
    Core,
    /// It is named there and read on demand
    Reference,
}
