//! Tells the program its version with the commit it was built from, for `--version`.

#![expect(
    clippy::disallowed_methods,
    reason = "a build script reads one file, before there is a disk of ours"
)]

use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let version = std::env::var("CARGO_PKG_VERSION").unwrap_or_default();
    match published().or_else(checked_out) {
        Some(commit) => println!("cargo::rustc-env=CANTUS_VERSION={version} ({commit})"),
        None => println!("cargo::rustc-env=CANTUS_VERSION={version}"),
    }
}

/// The commit that cargo wrote into a published crate.
fn published() -> Option<String> {
    let info = std::fs::read_to_string(".cargo_vcs_info.json").ok()?;
    let (_, rest) = info.split_once("\"sha1\": \"")?;
    Some(rest.chars().take(12).collect())
}

/// The commit of the checkout, if it is ours: vendored into another repository, its commit would mean nothing.
fn checked_out() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let ours = Path::new(&top).join("crates/cantus-cli");
    let here = std::env::current_dir().ok()?;
    if ours.canonicalize().ok()? != here.canonicalize().ok()? {
        return None;
    }
    let head = git(&["rev-parse", "--git-path", "logs/HEAD"])?;
    println!("cargo::rerun-if-changed={head}");
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}
