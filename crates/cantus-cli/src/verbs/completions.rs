//! `cantus completions`: a completion script for a shell.

use clap::CommandFactory as _;

use crate::args::Args;
use crate::failure::Failure;
use crate::{Status, Streams};

pub(crate) fn run(shell: clap_complete::Shell, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    // Written whole: the generator panics on a closed pipe.
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "cantus", &mut script);
    streams.out.write_all(&script)?;
    Ok(Status::Yes)
}
