//! Any bytes are a request or are refused with a finding; nothing ends the reader.
#![no_main]

use cantus_bundle::Request;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let read = Request::read("request.kdl", bytes);
    assert_eq!(read.value.is_some(), read.diagnostics.is_empty());
    let lines = bytes.len() + 1;
    assert!(read.diagnostics.iter().all(|it| it.line.is_none_or(|line| (1..=lines as u32).contains(&line))));
});
