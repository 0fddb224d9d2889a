//! The `cantus` command: verbs, reports, exit codes.
//!
//! [`main_with`] is the whole program; the `cantus` binary and an adopter's xtask both call it.
//!
//! Exit codes: 0 fine; 1 the answer is no (drift, a finding that is an error, a refused target, no note, line or committed file
//! of the name that was asked for); 2 can't tell (usage, configuration, unreadable or broken input, a refused path). The verb
//! `exec` ends with the status of its command.

mod args;
mod blocks;
mod chart;
mod clock;
mod excerpt;
mod failure;
mod format;
mod input;
mod report;
mod rules;
mod style;
mod verbs;
mod visible;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use anstream::{AutoStream, ColorChoice};
use cantus_workspace::Program;
use clap::{Args as _, Command, CommandFactory as _, FromArgMatches as _};

use crate::args::{Args, Color, Global};
use crate::failure::Failure;

/// How a verb that could do its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Status {
    /// Fine.
    Yes,
    /// The answer is no.
    No,
    /// There is no answer, and the report says why.
    CantTell,
    /// The answer is what a command that was run made of it.
    #[cfg(feature = "launch")]
    Child(u8),
}

impl Status {
    /// The exit code.
    fn code(self) -> u8 {
        match self {
            Self::Yes => 0,
            Self::No => 1,
            Self::CantTell => 2,
            #[cfg(feature = "launch")]
            Self::Child(code) => code,
        }
    }
}

/// Where a verb writes.
struct Streams<'a> {
    out: &'a mut dyn Write,
    err: &'a mut dyn Write,
}

/// Runs the command with these arguments, the program's name first, on the process's own streams and working folder. If that
/// is the name of a file `xtask`, help and messages name the verbs as `cargo xtask VERB`, else as `cantus VERB`.
#[must_use]
pub fn main_with(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<_> = args.into_iter().collect();
    let program = args.first().map_or_else(Program::default, |first| Program::called(first));
    let args = match parse(args, program) {
        Ok(args) => args,
        Err(error) => {
            let code = if error.use_stderr() { 2 } else { 0 };
            // A closed pipe is nobody's fault.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    let choice = match args.global.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    };
    // A stream that drops colours would drop parts of data.
    let out = if args.verb.prints_data() { ColorChoice::AlwaysAnsi } else { resolve(choice, &io::stdout()) };
    let mut out = io::BufWriter::new(AutoStream::new(io::stdout().lock(), out));
    let mut err = AutoStream::new(io::stderr().lock(), resolve(choice, &io::stderr()));
    let result = verbs::run(&args, &mut Streams { out: &mut out, err: &mut err });
    let result =
        result.and_then(|status| Unheard::new(&mut out).flush().map(|()| status).map_err(Failure::from));
    match result {
        Ok(status) => ExitCode::from(status.code()),
        Err(failure) => {
            // What was said before the failure still belongs on the screen, in front of it.
            let _ = out.flush();
            failure.show(&mut err, verbs::sources(&args).as_ref())
        }
    }
}

/// What the arguments say; usage and help name `program`.
fn parse(args: Vec<OsString>, program: Program) -> clap::error::Result<Args> {
    let whole = Args::command().bin_name(program.as_str());
    let matches = narrowed(&whole, &args).and_then(|command| command.try_get_matches_from(&args).ok());
    let mut matches = matches.map_or_else(|| whole.try_get_matches_from(args), Ok)?;
    let mut args = Args::from_arg_matches_mut(&mut matches)?;
    args.global.program = program;
    Ok(args)
}

/// The command with no other verb than the one that `args` seem to name. What it understands means the same to the whole
/// command, whose parser copies the options of every verb to each of its verbs first; what it doesn't, help included, is for
/// the whole command to answer.
fn narrowed(whole: &Command, args: &[OsString]) -> Option<Command> {
    let verb = args.iter().skip(1).find_map(|arg| whole.find_subcommand(arg))?;
    let command = Command::default().disable_help_subcommand(true);
    Some(Global::augment_args(command).subcommand(verb.clone()))
}

/// A stream whose reader may leave: what nobody reads is dropped, and the verb still comes to its answer.
struct Unheard<W> {
    stream: W,
    /// Whether the reader left. A buffered stream keeps what it couldn't write, and would try it again with each piece.
    left: bool,
}

impl<W: Write> Unheard<W> {
    fn new(stream: W) -> Self {
        Self { stream, left: false }
    }

    /// What `attempt` gives, and `dropped` once the reader has left.
    fn unless_left<T>(&mut self, dropped: T, attempt: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.left {
            return Ok(dropped);
        }
        match attempt(&mut self.stream) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.left = true;
                Ok(dropped)
            }
            result => result,
        }
    }
}

impl<W: Write> Write for Unheard<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.unless_left(bytes.len(), |stream| stream.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.unless_left((), Write::flush)
    }
}

/// The choice for a stream; what `auto` means is for `NO_COLOR`, `CLICOLOR` and the terminal to say.
fn resolve(choice: ColorChoice, stream: &impl anstream::stream::RawStream) -> ColorChoice {
    match choice {
        ColorChoice::Auto => AutoStream::choice(stream),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that nobody reads, and how often it was tried.
    struct Closed(usize);

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_pipe_that_nobody_reads_is_tried_once() {
        let mut pipe = Closed(0);
        let mut buffered = io::BufWriter::with_capacity(8, &mut pipe);
        let mut unheard = Unheard::new(&mut buffered);
        for _ in 0..100 {
            unheard.write_all(b"a piece of a report").unwrap();
            unheard.flush().unwrap();
        }
        let (_, rest) = buffered.into_parts();
        drop(rest);
        assert_eq!(pipe.0, 1);
    }

    #[test]
    fn every_verb_is_described_without_a_contradiction() {
        Args::command().debug_assert();
    }

    #[test]
    fn what_one_verb_understands_means_the_same_among_all() {
        #[rustfmt::skip]
        let lines = [
            "check", "check --json", "--root x check --strict", "check --root x", "--root check project --check", "--root=a project --root=b",
            "-q list --providers", "list list", "project check", "bundle compose role --explain", "bundle verify b --json -q",
            "session fit --budget 5 --pointer -x", "hook install", "merge-driver run a b c d", "exec --provider codex -- check --root x",
            "exec --provider check -- list", "--color never read a check", "read check", "why a:1 --no-home", "stats --history 3",
            "watch", "--version", "check --help", "help check", "bundle help compose", "check --nothing", "chek", "", "--home a --no-home check",
        ];
        let understood = |command: Command, args: &[OsString]| {
            let mut matches = command.try_get_matches_from(args).ok()?;
            Args::from_arg_matches_mut(&mut matches).ok().map(|args| format!("{args:?}"))
        };
        let mut narrow = 0;
        for line in lines {
            let args: Vec<OsString> =
                ["cantus"].into_iter().chain(line.split_whitespace()).map(OsString::from).collect();
            let whole = Args::command();
            let Some(found) = narrowed(&whole, &args).and_then(|command| understood(command, &args)) else {
                continue;
            };
            assert_eq!(Some(found), understood(whole, &args), "{line}");
            narrow += 1;
        }
        assert!(narrow > 15, "{narrow}");
    }
}
