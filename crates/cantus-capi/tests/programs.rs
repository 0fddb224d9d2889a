//! The examples in C and Python, compiled and run like anyone would, with a provider that shows what it was given.
#![cfg(target_os = "linux")]

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use cantus_testkit::{Output, Repo};

/// A provider's program: shows its arguments, each in brackets, and the file that it was told to add.
const FAKE: &str = "#!/bin/sh
for arg; do printf '[%s]' \"$arg\"; done
echo
while [ $# -gt 1 ]; do
    [ \"$1\" = --append-system-prompt-file ] && cat \"$2\"
    shift
done
printf 'variable %s\\n' \"$SASE_INSTRUCTIONS_FILE\"
exit 7
";

fn repo() -> Repo {
    let repo = Repo::new(
        "
        //- memory/rules.md
        ---
        type: core
        ---
        # Rules

        Be brief.
        ",
    );
    repo.write("bin/claude", FAKE);
    let fake = repo.path().join("bin/claude");
    fs::set_permissions(fake, fs::Permissions::from_mode(0o755)).expect("a mode is set");
    repo
}

fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folder with the library that belongs to this test.
fn built() -> PathBuf {
    let own = env::current_exe().expect("a test has a path");
    own.parent().expect("it lies in a folder").to_path_buf()
}

fn run(repo: &Repo, program: &Path, args: &[&str]) -> Output {
    let mut command = repo.command(program);
    let output = command
        .args(args)
        .env("LD_LIBRARY_PATH", built())
        .env("CANTUS_LIBRARY", built().join("libcantus_capi.so"))
        .env("CANTUS_STORE", repo.home().join("store"))
        .env("SASE_INSTRUCTIONS_FILE", "inherited")
        .output()
        .expect("the program starts");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Compiles `source` with the system's compiler.
fn compile(repo: &Repo, source: &Path) -> PathBuf {
    let program = repo.home().join("launcher");
    let status = Command::new("cc")
        .args(["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(sources().join("crates/cantus-capi/include"))
        .arg(source)
        .arg("-L")
        .arg(built())
        .args(["-lcantus_capi", "-o"])
        .arg(&program)
        .status()
        .expect("the system has the compiler that Rust links with");
    assert!(status.success());
    program
}

#[track_caller]
fn assert_delivered(repo: &Repo, output: Output) {
    let output = output.exits(7);
    assert!(output.stdout.contains("[--append-system-prompt-file]"), "{output:?}");
    assert!(output.stdout.contains("[-p][Say hello]"), "{output:?}");
    assert!(output.stdout.contains("Be brief."), "{output:?}");
    assert!(output.stdout.contains("<!-- cantus bundle="), "{output:?}");
    assert!(output.stdout.contains("variable /"), "{output:?}");
    assert_eq!(output.stderr, "status 0, troubles []\n");
    let manifest = repo.read("run/instructions/00-claude.json");
    assert!(manifest.contains("\"agent_name\": \"example\""), "{manifest}");
    assert!(manifest.contains("\"status\": \"explicit\""), "{manifest}");
    assert!(repo.read("run/run.json").contains("\"exit_status\": 7"));
}

const ARGS: [&str; 5] = ["claude", "run", "./bin/claude", "-p", "Say hello"];

#[test]
fn a_launcher_in_c_delivers_and_records() {
    let repo = repo();
    let program = compile(&repo, &sources().join("examples/c/launcher.c"));
    assert_delivered(&repo, run(&repo, &program, &ARGS));
}

#[test]
fn a_launcher_in_c_runs_its_command_whatever_happens() {
    let repo = repo();
    let program = compile(&repo, &sources().join("examples/c/launcher.c"));
    repo.write("memory/rules.md", "---\ntype: nonsense\n---\n# Rules\n");
    let output = run(&repo, &program, &ARGS).exits(7);
    assert!(output.stdout.starts_with("[-p][Say hello]\n"), "{output:?}");
    assert!(output.stdout.ends_with("variable \n"), "{output:?}");
    assert!(output.stderr.starts_with("status 1, troubles [\"the project doesn't compile"), "{output:?}");

    let output = run(&repo, &program, &["no provider", "run", "./bin/claude"]).exits(7);
    assert!(output.stderr.contains("is not a provider"), "{output:?}");
}

#[test]
fn a_launcher_in_python_delivers_and_records() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("there is no python3 here: not tried");
        return;
    }
    let repo = repo();
    let script = sources().join("examples/python/launcher.py");
    let mut args = vec![script.to_str().expect("a path in UTF-8")];
    args.extend(ARGS);
    assert_delivered(&repo, run(&repo, Path::new("python3"), &args));
}

#[test]
fn the_header_is_also_one_of_cpp() {
    let repo = repo();
    repo.write(
        "header.cpp",
        "#include \"cantus.h\"\nint main() { return cantus_abi() == CANTUS_ABI ? 0 : 1; }\n",
    );
    let status = Command::new("cc")
        .args(["-x", "c++", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-I"])
        .arg(sources().join("crates/cantus-capi/include"))
        .arg(repo.path().join("header.cpp"))
        .status()
        .expect("the system has the compiler that Rust links with");
    assert!(status.success());
}
