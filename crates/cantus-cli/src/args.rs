//! The command line.

#[cfg(feature = "bundle")]
mod bundle;
mod later;
#[cfg(feature = "observe")]
mod observe;
#[cfg(feature = "session")]
mod session;

#[cfg(feature = "launch")]
use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(feature = "launch")]
use cantus_manifest::Provider;
use cantus_workspace::Program;
use clap::{Parser, Subcommand, ValueEnum};

#[cfg(feature = "bundle")]
pub(crate) use self::bundle::{BundleAction, ComposeArgs, DescribeArgs, LayOutArgs};
use self::later::Later;
#[cfg(feature = "observe")]
pub(crate) use self::observe::{LayoutName, ReadoutArgs, VerifyArgs};
#[cfg(feature = "session")]
pub(crate) use self::session::{CompileArgs, KeyArgs, SessionAction, SnapshotArgs};

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
#[command(next_help_heading = "Options of every verb")]
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
    /// Say something only if there is trouble; `check`: only if it fails
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
    /// Treat warnings as errors
    #[arg(long, global = true)]
    pub(crate) strict: bool,
    /// What messages call the program.
    #[arg(skip)]
    pub(crate) program: Program,
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
    Project(Later<ProjectArgs>),
    /// Check the committed files and the notes without writing
    Check(Later<CheckArgs>),
    /// Print a bundle for given facts
    Render(Later<RenderArgs>),
    /// Run an agent with its bundle, and end with its exit status
    #[cfg(feature = "launch")]
    Exec(Later<ExecArgs>),
    /// Show what an agent was given: a run's recorded bundles, or the newest runs
    #[cfg(feature = "launch")]
    Show(Later<ShowArgs>),
    /// Hold what agents were really given against what was recorded
    #[cfg(feature = "observe")]
    Verify(Later<VerifyArgs>),
    /// Say how runs ended, by the way in which their instructions reached them
    #[cfg(feature = "observe")]
    Readout(Later<ReadoutArgs>),
    /// List the notes with their sizes
    List(Later<ListArgs>),
    /// Print notes or strands, with what they depend on
    Read(Later<ReadArgs>),
    /// Set Cantus up: notes from the instruction files that are here, configuration, committed files
    Init(Later<InitArgs>),
    /// Split instruction files that others wrote into notes
    Import(Later<ImportArgs>),
    /// Validate a manifest and print it in its normal form
    Manifest {
        /// The file; `-` for standard input
        file: PathBuf,
    },
    /// Say where a line of a committed file comes from, or where a note's line goes
    Why(Later<WhyArgs>),
    /// Say what a context costs: tokens by layer, section and note
    Stats(Later<StatsArgs>),
    /// Compose, judge, show, pack and lay out bundles: immutable trees that were composed for one role
    #[cfg(feature = "bundle")]
    Bundle {
        /// What to do
        #[command(subcommand)]
        action: BundleAction,
    },
    /// Make what the requests of one long conversation are given: a stable text, and updates to it
    #[cfg(feature = "session")]
    Session {
        /// What to do
        #[command(subcommand)]
        action: SessionAction,
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
    /// Have git judge each commit before it is made
    Hook {
        /// What to do
        #[command(subcommand)]
        action: HookAction,
    },
    /// Have git merge the generated files without conflicts
    MergeDriver {
        /// What to do
        #[command(subcommand)]
        action: DriverAction,
    },
}

impl Verb {
    /// Whether what it prints is for programs, so that each byte counts.
    pub(crate) fn prints_data(&self) -> bool {
        match self {
            Self::Project(args) => args.json,
            Self::Check(args) => args.json,
            Self::List(args) => args.json,
            Self::Init(_) => false,
            Self::Import(args) => args.json,
            #[cfg(feature = "launch")]
            Self::Exec(_) => true,
            #[cfg(feature = "launch")]
            Self::Show(args) => args.prints_data(),
            #[cfg(feature = "observe")]
            Self::Verify(args) => args.json,
            #[cfg(feature = "observe")]
            Self::Readout(args) => args.json,
            Self::Why(args) => args.json,
            Self::Stats(args) => args.json,
            #[cfg(feature = "bundle")]
            Self::Bundle { action } => action.prints_data(),
            #[cfg(feature = "session")]
            Self::Session { .. } => true,
            #[cfg(feature = "watch")]
            Self::Watch => false,
            Self::Read(_) | Self::Render(_) | Self::Manifest { .. } => true,
            #[cfg(feature = "completions")]
            Self::Completions { .. } => true,
            Self::Hook { .. } | Self::MergeDriver { .. } => false,
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
    /// Judge what is staged in git instead of the working tree
    #[arg(long)]
    pub(crate) staged: bool,
    /// How the findings are printed
    #[arg(long, value_name = "FORMAT", default_value = "human")]
    format: Format,
    /// The same as `--format json`
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// For people
    Human,
    /// Workflow commands, which GitHub shows beside the lines
    Github,
    /// A documented shape
    Json,
    /// SARIF 2.1.0, for code scanning
    Sarif,
}

impl CheckArgs {
    /// How the findings are printed.
    pub(crate) fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
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
    /// Take the facts that aren't given from the last invocation of this run, and say how the bundle differs from its
    #[cfg(feature = "launch")]
    #[arg(short, long, value_name = "NAME")]
    pub(crate) agent: Option<String>,
    /// Look for the run in this tree of folders instead of the index (may be repeated)
    #[cfg(feature = "launch")]
    #[arg(long, value_name = "DIR", requires = "agent")]
    pub(crate) runs: Vec<PathBuf>,
}

#[cfg(feature = "launch")]
#[derive(Debug, clap::Args)]
pub(crate) struct ExecArgs {
    /// Whose agent the command is: claude, codex, grok, muse, agy, qwen, opencode or another name
    #[arg(long, value_name = "P")]
    pub(crate) provider: Provider,
    /// Record the invocation in this folder, which is made if it is missing
    #[arg(long, value_name = "DIR")]
    pub(crate) artifacts: Option<PathBuf>,
    /// What the run and its agent are called [default: `$CANTUS_RUN_NAME`, else the name of the folder for artifacts]
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    /// The model, for the record
    #[arg(long, value_name = "NAME")]
    pub(crate) model: Option<String>,
    /// The invocation whose conversation the command goes on with, by its id: that has a bundle, and gets no other
    #[arg(long, value_name = "ID")]
    pub(crate) resumes: Option<String>,
    /// The command and its arguments
    #[arg(last = true, required = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[cfg(feature = "launch")]
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("what").args(["sections", "list", "diff"]))]
pub(crate) struct ShowArgs {
    /// The run: its name, or a path with `/` to its artifacts folder [default: list the newest runs]
    pub(crate) name: Option<String>,
    /// The number of the invocation [default: the last one]; without NAME how many runs are listed [default: 20]
    #[arg(short, long, value_name = "NN")]
    pub(crate) number: Option<u64>,
    /// The helpers' bundle instead of the root's
    #[arg(short = 'H', long, requires = "name")]
    pub(crate) helper: bool,
    /// Print a table of the bundle's sections instead of its text
    #[arg(short, long, requires = "name")]
    pub(crate) sections: bool,
    /// Print every record of the run; exit 1 if the bytes of any are missing or not those of its manifest
    #[arg(short, long, requires = "name")]
    pub(crate) list: bool,
    /// Print how a fresh render for the same facts differs, section by section; exit 1 if it does
    #[arg(long, requires = "name")]
    pub(crate) diff: bool,
    /// Print the manifest, or what else is asked for, as JSON
    #[arg(short, long)]
    pub(crate) json: bool,
    /// Look for runs in this tree of folders instead of the index (may be repeated)
    #[arg(long, value_name = "DIR")]
    pub(crate) runs: Vec<PathBuf>,
}

#[cfg(feature = "launch")]
impl ShowArgs {
    fn prints_data(&self) -> bool {
        self.json || (self.name.is_some() && !(self.sections || self.list || self.diff))
    }
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
    #[arg(long, conflicts_with = "providers")]
    pub(crate) plugins: bool,
    /// List the agents instead, with what they read here and where they stop
    #[arg(long)]
    pub(crate) providers: bool,
    /// Print the list as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct WhyArgs {
    /// The line: FILE:LINE, or FILE:LINE:COL for what stands at one column
    #[arg(value_name = "FILE:LINE")]
    pub(crate) place: String,
    /// Print the answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct StatsArgs {
    /// Print the numbers as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write a page with charts to this file, which must end in `.html`
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Overwrite a file that is no such page
    #[arg(long, requires = "html")]
    pub(crate) force: bool,
    /// Add the size of the committed file over the last N commits that changed it
    #[arg(long, value_name = "N")]
    pub(crate) history: Option<usize>,
}

#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Do it without asking
    #[arg(short, long, conflicts_with = "dry_run")]
    pub(crate) yes: bool,
    /// Show the plan and write nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the report as JSON; with `--yes` or `--dry-run`
    #[arg(long)]
    pub(crate) json: bool,
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

#[derive(Clone, Copy, Debug, Subcommand)]
pub(crate) enum HookAction {
    /// Write hooks for commits and merges that run `check --staged`; existing hooks are kept and run first
    Install,
    /// Remove the hooks; earlier ones get their places back
    Uninstall,
}

#[derive(Debug, Subcommand)]
pub(crate) enum DriverAction {
    /// Name the driver in this repository's configuration, and the generated files in `.gitattributes`
    Install,
    /// Take both away again
    Uninstall,
    /// Merge one file; git calls this
    Run {
        /// The file that both sides come from
        base: PathBuf,
        /// Our side, where the result goes
        ours: PathBuf,
        /// Their side
        theirs: PathBuf,
        /// The path in the repository
        path: String,
    },
}
