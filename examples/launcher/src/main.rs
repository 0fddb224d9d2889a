//! The smallest launcher: starts an agent with the instructions of the project in the working folder.
//!
//! `cantus-launcher-example AGENT [ARTIFACTS]`: AGENT takes the arguments of Claude Code; `agent.sh` here stands in for it and
//! prints what it was given. With ARTIFACTS the invocation is recorded in that folder.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use cantus_launch::{Composer, Invocation, Provider};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let mut args = std::env::args_os().skip(1);
    let agent = args.next().ok_or("name the agent's program")?;
    let artifacts = args.next().map(PathBuf::from);

    let composer = Composer::discover(&std::env::current_dir()?, None);
    let invocation = Invocation::root(Provider::new("claude")?).agent("build-42").model("opus");
    let status = composer.invoke(&invocation, artifacts.as_deref(), |delivery| {
        let status = delivery.command(&agent, ["-p", "Say what you know."]).status();
        if let Some(code) = status.as_ref().ok().and_then(|status| status.code()) {
            delivery.record_exit(code);
        }
        status
    })?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from))
}
