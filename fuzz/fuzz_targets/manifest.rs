//! Any bytes are a manifest or are refused; what was read is written so that it is read again.
#![no_main]

use cantus_bundle::Manifest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(manifest) = Manifest::read(bytes) {
        let again = Manifest::read(manifest.text().as_bytes());
        assert!(again.is_ok_and(|again| again == manifest));
    }
});
