//! A file that the command line names, or standard input.

use std::io::Read as _;
use std::path::Path;

use cantus_fs::{Disk as _, RealDisk};
use cantus_manifest::Diagnostic;

use crate::failure::Failure;

/// The bytes of `file`, `-` for standard input; more than `limit` of them are an error.
pub(crate) fn read(file: &Path, limit: u64) -> Result<Vec<u8>, Failure> {
    let name = file.display();
    if file != Path::new("-") {
        return RealDisk.read(file, limit).map_err(|error| {
            let cause = Diagnostic::from_error("io", &error).message;
            Failure::error(format!("cannot read `{name}`: {cause}"))
        });
    }
    let mut bytes = Vec::new();
    std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(Failure::error(format!("standard input has more than {limit} bytes")));
    }
    Ok(bytes)
}
