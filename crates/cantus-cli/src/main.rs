//! The `cantus` program.

use std::process::ExitCode;

fn main() -> ExitCode {
    cantus_cli::main_with(std::env::args_os())
}
