//! Tasks of this repository: `tidy`, `schema`, `ci`, and with `cargo xtask VERB` every verb of `cantus`.

mod ci;
mod schema;
mod tidy;

use std::env;
use std::process::ExitCode;

fn main() -> ExitCode {
    let args: Vec<_> = env::args_os().collect();
    match args.as_slice() {
        [_, task] if task == "tidy" => tidy::main(),
        [_, task] if task == "schema" => schema::main(schema::Mode::Write),
        [_, task, check] if task == "schema" && check == "--check" => schema::main(schema::Mode::Check),
        [_, task] if task == "ci" => ci::main(),
        _ => cantus_cli::main_with(args),
    }
}
