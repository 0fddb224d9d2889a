//! How long it takes to find the delivered snapshot, and how many bytes of the history are read for it: one of 100 MB whose
//! last branch is short, the same without any snapshot, and one of 5,000 lines.
//!
//! `cargo bench -p cantus-session --bench history` prints the table of `docs/performance.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark makes its own files, prints its table and stops at the first fault"
)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use cantus_fs::CountingDisk;
use cantus_session::{Keys, delivered};

/// Messages of about 2 KB, as long histories have them.
const HUNDRED_MEGABYTES: usize = 50_000;

fn main() {
    println!("| history | snapshot | MB | KB read | least ms | median ms | p95 ms |");
    println!("| --- | --- | ---: | ---: | ---: | ---: | ---: |");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("h.jsonl");
    for (what, lines) in [("5,000 lines", 5_000), ("100 MB", HUNDRED_MEGABYTES)] {
        for (place, back) in
            [("20 messages back", Some(20)), ("1,000 messages back", Some(1_000)), ("none", None)]
        {
            fs::write(&path, history(lines, back)).expect("a file");
            row(what, place, &path, if back.is_some() { 200 } else { 20 }, back.is_some());
        }
        // The branch forks off at the second message: everything after it is passed to find its parent.
        let fork = format!("{}{}", history(lines, None), message("fork", "m1"));
        fs::write(&path, fork).expect("a file");
        row(what, "none, on a branch from the start", &path, 20, false);
    }
}

fn row(what: &str, place: &str, path: &Path, runs: usize, is_there: bool) {
    let disk = CountingDisk::default();
    let find = || delivered(&disk, path, &Keys::default()).expect("a history");
    let mut times: Vec<f64> = (0..=runs)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(find().is_some(), is_there, "{place}");
            start.elapsed().as_secs_f64() * 1e3
        })
        .skip(1)
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    let read = disk.bytes_read() / (runs as u64 + 1);
    let size = fs::metadata(path).expect("a file").len();
    println!(
        "| {what} | {place} | {:.1} | {} | {:.2} | {:.2} | {:.2} |",
        megabytes(size),
        read.div_ceil(1_000),
        at(0),
        at(50),
        at(95)
    );
}

fn megabytes(bytes: u64) -> f64 {
    u32::try_from(bytes / 1_000).map_or(f64::INFINITY, |kilobytes| f64::from(kilobytes) / 1e3)
}

/// A line of messages, with a context update so many messages before its end.
fn history(lines: usize, back: Option<usize>) -> String {
    let mut text = String::from("{\"type\":\"session\",\"id\":\"s\",\"version\":3}\n");
    for line in 0..lines {
        let parent = line.checked_sub(1).map_or_else(|| "s".to_owned(), |parent| format!("m{parent}"));
        let is_update = back.is_some_and(|back| line + back + 1 == lines);
        text.push_str(&if is_update { update(line, &parent) } else { message(&format!("m{line}"), &parent) });
    }
    text
}

fn message(id: &str, parent: &str) -> String {
    let said = "The test fails where the \\\"second\\\" line is read.\\n".repeat(38);
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":\"{parent}\",\"message\":{{\"role\":\"assistant\",\"content\":[{{\"type\":\"text\",\"text\":\"{said}\"}}]}}}}\n"
    )
}

/// Four sections of 3 KB.
fn update(line: usize, parent: &str) -> String {
    let section = |id: usize| {
        let body = "What is known of this project, in a line.\\n".repeat(72);
        format!(
            "{{\"id\":\"s{id}\",\"title\":\"T\",\"body\":\"{body}\",\"sources\":[{{\"id\":\"a.md\",\"kind\":\"note\"}}],\"budget\":12000,\"size\":3024,\"cut\":false}}"
        )
    };
    let sections: Vec<String> = (0..4).map(section).collect();
    format!(
        "{{\"type\":\"custom_message\",\"customType\":\"cantus-context\",\"id\":\"m{line}\",\"parentId\":\"{parent}\",\"details\":{{\"cantusContext\":[{}]}}}}\n",
        sections.join(",")
    )
}
