//! Tasks of this repository: `tidy`, `ci`, and with `cargo xtask VERB` every verb of `cantus`.

mod ci;
mod tidy;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = env::args_os().collect();
    match args.as_slice() {
        [_, task] if task == "tidy" => tidy::main(),
        [_, task] if task == "ci" => ci::main(),
        _ => cantus_cli::main_with(args),
    }
}
