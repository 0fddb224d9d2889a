//! A file that the command line names, or standard input.

use std::io::Read as _;
use std::path::Path;

use cantus_fs::{Disk as _, RealDisk};
use cantus_manifest::Diagnostic;

use crate::failure::Failure;

/// The bytes of `file`, `-` for standard input; more than `limit` of them, which no `kind` has, are an
/// error.
pub(crate) fn read(file: &Path, limit: u64, kind: &str) -> Result<Vec<u8>, Failure> {
    let unreadable = |cause: &str| Failure::error(format!("cannot read `{}`: {cause}", file.display()));
    if file != Path::new("-") {
        return RealDisk.read(file, limit).map_err(|error| match error {
            absent if absent.is_absent() => unreadable("there is no such file"),
            error => unreadable(&Diagnostic::from_error("io", &error).message),
        });
    }
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes);
    read.map_err(|error| unreadable(&error.to_string()))?;
    match bytes.len() as u64 > limit {
        true => Err(unreadable(&format!("more than {limit} bytes, which no {kind} has"))),
        false => Ok(bytes),
    }
}
