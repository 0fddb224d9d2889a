//! What a report on one run costs whose transcript is small, at the cap, and far beyond it: time, bytes read, and memory.
//!
//! `cargo bench -p cantus-launch --features observe --bench observed` prints the table of `docs/performance.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark makes its own files, prints its table and stops at the first fault"
)]

use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use cantus_fs::{CountingDisk, Disk};
use cantus_launch::RunInfo;
use cantus_launch::observe::{Report, Request, Roots, report};

/// How often each report is made.
const ROUNDS: usize = 20;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    println!("| transcript | least ms | median ms | bytes read | peak MiB |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for (name, bytes) in
        [("64 KiB", 64 << 10), ("512 KiB", 512 << 10), ("16 MiB", 16 << 20), ("200 MB", 200_000_000)]
    {
        let home = folder.path().join(name.replace(' ', "-"));
        transcript(&home, bytes);
        row(name, &home);
    }
}

fn row(name: &str, home: &Path) {
    let disk = CountingDisk::default();
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let report = ask(&disk, home);
        times.push(start.elapsed());
        assert_eq!(report.providers[0].sessions, 1);
    }
    times.sort();
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let read = disk.bytes_read() / ROUNDS as u64;
    println!("| {name} | {:.2} | {:.2} | {read} | {} |", millis(times[0]), millis(times[ROUNDS / 2]), peak());
}

fn ask(disk: &dyn Disk, home: &Path) -> Report {
    let now = SystemTime::now();
    let run = RunInfo {
        name: "run".to_owned(),
        artifacts: home.join("artifacts"),
        provider: Some("claude".to_owned()),
        workspace: Some("/w/lamp".to_owned()),
        started_at: Some(now - Duration::from_secs(3_600)),
        ended_at: None,
        exit_status: None,
    };
    let request = Request {
        runs: vec![run],
        providers: Vec::new(),
        limit: 20,
        since: None,
        until: None,
        agent: None,
        coverage: true,
        helpers: true,
        roots: Roots::of(Some(home), &|_| None),
        user: None,
        now,
        today: None,
    };
    report(disk, &request)
}

/// A transcript of so many bytes: two snapshots, then answers of 8 KB and results of tools.
fn transcript(home: &Path, bytes: usize) {
    let folder = home.join(".claude/projects/-w-lamp");
    fs::create_dir_all(&folder).expect("a folder");
    let path = folder.join("aaaaaaaa-0000-4000-8000-000000000001.jsonl");
    let mut file = BufWriter::new(fs::File::create(path).expect("a file"));
    let time = cantus_launch::rfc3339(SystemTime::now());
    let bundle = "Keep the lamp lit.\\n".repeat(800);
    let snapshot = format!(
        r#"{{"type":"attachment","timestamp":"{time}","cwd":"/w/lamp","attachment":{{"type":"prompt_snapshot","systemPrompt":["You tend.","{bundle}"]}}}}"#
    );
    let text = "The lamp was lit at dusk. ".repeat(300);
    let answer = format!(
        r#"{{"type":"assistant","timestamp":"{time}","cwd":"/w/lamp","message":{{"content":[{{"type":"text","text":"{text}"}},{{"type":"tool_use","id":"t","name":"Bash","input":{{"command":"ls"}}}}]}}}}"#
    );
    let mut written = 0;
    for line in [&snapshot, &snapshot].into_iter().chain(std::iter::repeat(&answer)) {
        if written + line.len() + 1 > bytes {
            break;
        }
        writeln!(file, "{line}").expect("a line");
        written += line.len() + 1;
    }
    file.flush().expect("the file");
}

/// The most memory that this process ever had, in MiB; 0 where that isn't known.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
