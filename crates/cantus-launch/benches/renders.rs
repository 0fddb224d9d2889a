//! Renders within one process, on corpora of 150 to 10,000 notes: composed anew, out of the store, and out of a store whose
//! index may not be trusted, so that every file is opened and hashed.
//!
//! `cargo bench -p cantus-launch --bench renders` prints the table of `docs/performance.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark makes its own files, prints its table and stops at the first fault"
)]

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cantus_compose::Launch;
use cantus_fs::{RealDisk, Root};
use cantus_launch::Composer;
use cantus_manifest::manifest::CacheStatus;
use cantus_manifest::{Facts, Provider};

fn main() {
    println!("| notes | what | least ms | median ms | p95 ms |");
    println!("| ---: | --- | ---: | ---: | ---: |");
    for notes in [150, 1_000, 10_000] {
        let (settled, fresh) =
            (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        corpus(settled.path(), notes, None);
        // A file from the future may always have changed again: no stamp of it proves anything.
        corpus(fresh.path(), notes, Some(SystemTime::now() + Duration::from_secs(1_000_000)));
        std::thread::sleep(Duration::from_millis(2_100));
        let runs = if notes > 1_000 { 60 } else { 400 };
        let composer = |folder: &Path| Composer::at(&Root::new(Arc::new(RealDisk), folder.join("p")), None);
        let kept = |folder: &Path| composer(folder).store(&folder.join("s"));
        row(notes, "composed anew", runs.min(60), &composer(settled.path()).bypass(), CacheStatus::Bypass);
        row(notes, "a hit, through the index", runs, &kept(settled.path()), CacheStatus::Hit);
        row(notes, "a hit, every file hashed", runs, &kept(fresh.path()), CacheStatus::Hit);
    }
}

fn row(notes: usize, what: &str, runs: usize, composer: &Composer, expected: CacheStatus) {
    let render = || {
        let facts = Facts::root(Provider::native());
        composer.render(facts, &Launch::default()).expect("a project without fault")
    };
    // The first keeps the bundle.
    let _ = render();
    let mut times: Vec<f64> = (0..runs)
        .map(|_| {
            let rendered = render();
            assert_eq!(rendered.cache, expected, "{what}");
            rendered.duration.as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    println!("| {notes} | {what} | {:.2} | {:.2} | {:.2} |", at(0), at(50), at(95));
}

/// Notes of about 2 KB: half of them core, three in ten reference, two in ten strands of one web.
fn corpus(folder: &Path, notes: usize, modified: Option<SystemTime>) {
    let memory = folder.join("p/memory");
    fs::create_dir_all(memory.join("web")).expect("a folder");
    let write = |name: &str, text: &str| {
        fs::write(memory.join(name), text).expect("a file");
        if let Some(time) = modified {
            let file = fs::OpenOptions::new().write(true).open(memory.join(name)).expect("the file");
            file.set_modified(time).expect("its time");
        }
    };
    write("web.md", "---\nweb: true\nroster: list\n---\n# Terms\n");
    for index in 0..notes {
        let text = "The note says what holds before a release and which test guards it.\n".repeat(28);
        let (name, front) = match index % 10 {
            0..5 => (format!("note_{index}.md"), format!("type: core\npriority: {}", index % 40)),
            5..8 => {
                (format!("topic_{index}.md"), "type: reference\ndescription: What it is about.".to_owned())
            }
            _ => (format!("web/term_{index}.md"), format!("keyword: Term {index}\nsummary: What it means.")),
        };
        write(&name, &format!("---\n{front}\n---\n# Title {index}\n\n{text}"));
    }
}
