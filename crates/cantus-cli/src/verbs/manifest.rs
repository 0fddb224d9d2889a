//! `cantus manifest`: validate a manifest and print it in its normal form.

use std::io::Read as _;
use std::path::Path;

use cantus_fs::{Disk as _, RealDisk};
use cantus_manifest::manifest::Manifest;
use cantus_manifest::{Diagnostic, canonical_json};

use crate::failure::Failure;
use crate::visible::visible;
use crate::{Status, Streams};

/// The most bytes that a manifest may have.
const MOST_BYTES: u64 = 64 << 20;

pub(crate) fn run(file: &Path, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let name = file.display();
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().take(MOST_BYTES).read_to_end(&mut bytes)?;
        bytes
    } else {
        RealDisk.read(file, MOST_BYTES).map_err(|error| {
            let cause = Diagnostic::from_error("io", &error).message;
            Failure::error(format!("cannot read `{name}`: {cause}"))
        })?
    };
    let value = serde_json::from_slice(&bytes)
        .map_err(|error| Failure::error(format!("`{name}` is not JSON: {error}")))?;
    match Manifest::normalise(value) {
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
