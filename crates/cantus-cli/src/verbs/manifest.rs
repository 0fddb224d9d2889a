//! `cantus manifest`: validate a manifest and print it in its normal form.

use std::fmt::Display;
use std::io::Read as _;
use std::path::Path;

use cantus_fs::{Disk as _, RealDisk};
use cantus_manifest::manifest::Manifest;
use cantus_manifest::{Diagnostic, canonical_json};
use serde_json::Value;

use crate::failure::Failure;
use crate::visible::visible;
use crate::{Status, Streams};

/// The most bytes that a manifest may have.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(file: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let name = file.display();
    match Manifest::normalise(&parse(&read(file)?, &name)?) {
        Ok(manifest) => {
            streams.out.write_all(canonical_json(&manifest.to_value()).as_bytes())?;
            Ok(Status::Yes)
        }
        Err(error) => {
            writeln!(streams.err, "{}", visible(&format!("{name}: {error}")))?;
            Ok(Status::No)
        }
    }
}

/// The bytes of a file; of standard input for `-`.
fn read(file: &Path) -> Result<Vec<u8>, Failure> {
    let unreadable = |cause: &str| Failure::error(format!("cannot read `{}`: {cause}", file.display()));
    if file != Path::new("-") {
        let read = RealDisk.read(file, MOST_BYTES);
        return read.map_err(|error| match error {
            absent if absent.is_absent() => unreadable("there is no such file"),
            error => unreadable(&Diagnostic::from_error("io", &error).message),
        });
    }
    let mut bytes = Vec::new();
    let count = std::io::stdin().lock().take(MOST_BYTES + 1).read_to_end(&mut bytes);
    match count.map_err(|error| unreadable(&error.to_string()))? as u64 {
        0..=MOST_BYTES => Ok(bytes),
        _ => Err(unreadable(&format!("more than {MOST_BYTES} bytes, which no manifest has"))),
    }
}

/// A text as JSON. Of equal keys in one object the last counts, as it does for the peer; numbers that are no finite
/// 64-bit float and more than 127 levels are refused.
fn parse(bytes: &[u8], name: &impl Display) -> Result<Value, Failure> {
    if bytes.starts_with(b"\xef\xbb\xbf") {
        let message = format!("`{name}` starts with a byte order mark, which JSON has not");
        return Err(Failure::error(message).hint("save it as UTF-8 without a byte order mark"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let message = format!("`{name}` is not UTF-8: byte {} starts no character", error.valid_up_to());
        Failure::error(message).hint("save it as UTF-8")
    })?;
    serde_json::from_str(text)
        .map_err(|error| Failure::error(format!("cannot read `{name}` as JSON: {error}")))
}
