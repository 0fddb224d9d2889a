//! `cantus manifest`: validate a manifest and print it in its normal form.

use std::fmt::Display;
use std::path::Path;

use cantus_manifest::canonical_json;
use cantus_manifest::manifest::Manifest;
use serde_json::Value;

use crate::failure::Failure;
use crate::input;
use crate::visible::visible;
use crate::{Status, Streams};

/// The most bytes that a manifest may have.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(file: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let name = file.display();
    match Manifest::normalise(&parse(&input::read(file, MOST_BYTES, "manifest")?, &name)?) {
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
