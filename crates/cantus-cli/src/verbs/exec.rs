//! `cantus exec`: one invocation of an agent, with its bundle.

mod child;

use std::ffi::{OsStr, OsString};
use std::io;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use cantus_fs::{RealDisk, Root};
use cantus_launch::{Active, Composer, Invocation, Trouble};
use cantus_manifest::Diagnostic;
use cantus_manifest::manifest::FallbackReason;

use crate::args::{ExecArgs, Global};
use crate::failure::Failure;
use crate::style::{CARE, LABEL};
use crate::verbs::default_home;
use crate::visible::visible;
use crate::{Status, Streams};

/// The exit statuses of shells for commands that don't run.
const NOT_FOUND: u8 = 127;
const NOT_RUNNABLE: u8 = 126;

/// The variable that keeps bundles from being handed over.
const DELIVER: &str = "CANTUS_DELIVER";

/// Flags with which a command names the session of its provider.
const SESSIONS: [&str; 2] = ["--session-id", "--resume"];

pub(crate) fn run(global: &Global, args: &ExecArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let Some((program, rest)) = args.command.split_first() else {
        return Err(Failure::error("there is no command to run").hint("name it behind `--`"));
    };
    let active = composer(global).begin(&invocation(args, program), args.artifacts.as_deref());
    for session in sessions(rest) {
        active.delivery().record_session(session);
    }
    let mut command = active.delivery().command(program, rest);
    let told = active.troubles().len();
    // A stream that takes no words must not keep the command from running, nor change how it ends.
    let _ = tell(&active, active.troubles(), global, streams);
    let ended = match child::run(&mut command) {
        Err(error) if is_refused(&error) => plain(&active, program, rest),
        ended => ended,
    };
    let (status, error) = match ended {
        Ok(status) => (status, None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => (NOT_FOUND, Some(error)),
        Err(error) => (NOT_RUNNABLE, Some(error)),
    };
    active.delivery().record_exit(i32::from(status));
    let ended = active.finish();
    if let Some(error) = error {
        let failure = Failure::error(format!("cannot run `{}`: {error}", program.display()));
        let _ = failure.write(streams.err, None);
    }
    let _ = warn(&ended.troubles[told..], global, streams);
    Ok(Status::Child(status))
}

/// The composer of the project that the arguments mean. What is wrong with them shows when it renders.
fn composer(global: &Global) -> Composer {
    let home = match &global.home {
        _ if global.no_home => None,
        Some(home) => Some(home.clone()),
        None => default_home(&RealDisk),
    };
    let absolute = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    let home = home.map(absolute);
    let composer = match &global.root {
        Some(root) => Composer::at(&Root::new(Arc::new(RealDisk), absolute(root.clone())), home.as_deref()),
        None => Composer::discover(&std::env::current_dir().unwrap_or_default(), home.as_deref()),
    };
    match &global.package {
        Some(package) => composer.package(&absolute(package.clone())),
        None => composer,
    }
}

fn invocation(args: &ExecArgs, program: &OsStr) -> Invocation {
    let mut invocation = Invocation::root(args.provider.clone()).program(program);
    if let Some(name) = &args.name {
        invocation = invocation.run_name(name).agent(name);
    }
    if let Some(model) = &args.model {
        invocation = invocation.model(model);
    }
    if let Some(parent) = &args.resumes {
        invocation = invocation.resume(parent);
    }
    match std::env::var_os(DELIVER) {
        Some(value) if value == "0" => invocation.undelivered(),
        _ => invocation,
    }
}

/// The sessions that the command line names.
fn sessions(args: &[OsString]) -> Vec<String> {
    let args: Vec<&str> = args.iter().map_while(|arg| arg.to_str().filter(|arg| *arg != "--")).collect();
    let value = |(at, arg): (usize, &&str)| {
        let (flag, attached) = arg.split_once('=').map_or((*arg, None), |(flag, value)| (flag, Some(value)));
        let value = attached.or_else(|| args.get(at + 1).copied()).filter(|value| !value.starts_with('-'))?;
        SESSIONS.contains(&flag).then(|| value.to_owned())
    };
    args.iter().enumerate().filter_map(value).collect()
}

/// Whether the arguments are what the system doesn't take: too long together, or nothing that a batch file can get.
fn is_refused(error: &io::Error) -> bool {
    match error.kind() {
        io::ErrorKind::ArgumentListTooLong | io::ErrorKind::InvalidInput => true,
        // What Windows says of a command line of more than 32,767 characters; elsewhere the program's own path is too long.
        io::ErrorKind::InvalidFilename => cfg!(windows),
        _ => false,
    }
}

/// Runs the command as the caller wrote it, since the system doesn't take the bundle among its arguments. It hasn't run yet.
fn plain(active: &Active, program: &OsStr, args: &[OsString]) -> io::Result<u8> {
    let delivery = active.delivery();
    delivery.fail(FallbackReason::DeliveryFailed, "the system does not take the bundle among the arguments");
    let mut command = Command::new(program);
    let env = delivery.env().iter().map(|(name, value)| (name, value));
    command.args(args).env_remove(delivery.variable()).envs(env);
    child::run(&mut command)
}

/// Tells what has gone wrong so far, and whether the provider's own files stand in for the bundle.
fn tell(active: &Active, troubles: &[Trouble], global: &Global, streams: &mut Streams<'_>) -> io::Result<()> {
    warn(troubles, global, streams)?;
    let Some(fallback) = active.delivery().fallback().filter(|_| !global.quiet) else { return Ok(()) };
    if fallback.reason == FallbackReason::RenderFailed && !troubles.is_empty() {
        return writeln!(
            streams.err,
            "  {LABEL}help{LABEL:#}: `{} check` tells more; the command runs without a bundle",
            global.program
        );
    }
    let reason = serde_json::to_value(fallback.reason).unwrap_or_default();
    let reason = reason.as_str().unwrap_or_default();
    let detail = fallback.detail.map_or_else(String::new, |detail| format!(": {}", visible(&detail)));
    writeln!(streams.err, "{CARE}warning{CARE:#}: the command runs without a bundle, {reason}{detail}")
}

fn warn(troubles: &[Trouble], global: &Global, streams: &mut Streams<'_>) -> io::Result<()> {
    for trouble in troubles.iter().filter(|_| !global.quiet) {
        let message = Diagnostic::from_error("exec", trouble).message;
        writeln!(streams.err, "{CARE}warning{CARE:#}: {}", visible(&message))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(args: &[&str], expected: &[&str]) {
        assert_eq!(sessions(&args.iter().map(OsString::from).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn arguments_that_are_too_long_are_told_from_a_program_that_is_missing() {
        let refused = |kind: io::ErrorKind| is_refused(&kind.into());
        assert!(refused(io::ErrorKind::ArgumentListTooLong));
        assert!(!refused(io::ErrorKind::NotFound));
        assert_eq!(refused(io::ErrorKind::InvalidFilename), cfg!(windows));
    }

    #[test]
    fn the_command_line_may_name_its_session() {
        check(&["-p", "--session-id", "s1", "x"], &["s1"]);
        check(&["--resume=s1", "-p", "x"], &["s1"]);
        check(&["--resume", "--print"], &[]);
        check(&["--resume"], &[]);
        check(&["-p", "--", "--session-id", "s1"], &[]);
    }
}
