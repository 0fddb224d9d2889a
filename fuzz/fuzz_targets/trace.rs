//! Any bytes are a trace or are refused; what was read is written so that it is read again.
#![no_main]

use cantus_bundle::Trace;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(trace) = Trace::read(bytes) {
        let again = Trace::read(trace.text().as_bytes());
        assert!(again.is_ok_and(|again| again == trace));
    }
});
