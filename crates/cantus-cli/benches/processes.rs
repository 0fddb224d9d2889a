//! Whole processes on corpora of 10 to 10,000 notes, beside a floor that reads and hashes the same files.
//!
//! `cargo bench -p cantus-cli --bench processes` prints the table of `docs/performance.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark makes its own files, prints its table and stops at the first fault"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sha2::{Digest as _, Sha256};
use wait4::Wait4 as _;

const SIZES: [usize; 4] = [10, 150, 1_000, 10_000];

fn main() {
    let args: Vec<_> = std::env::args().collect();
    if let [_, verb, folder] = args.as_slice()
        && verb == "--floor"
    {
        floor(Path::new(folder));
        return;
    }
    if args.iter().any(|arg| arg == "--nothing") {
        return;
    }
    if args.iter().any(|arg| arg == "--store") {
        measure_store();
        return;
    }
    println!("| notes | what | wall ms | CPU ms | peak MiB | wall / floor |");
    println!("| ---: | --- | ---: | ---: | ---: | ---: |");
    for notes in SIZES {
        let folder = tempfile::tempdir().expect("a temporary folder");
        corpus(folder.path(), notes);
        measure_all(folder.path(), notes);
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    web(folder.path(), 1_000);
    measure_reading(folder.path(), 1_000);
    measure_store();
}

/// `render` through the store, beside a program that does nothing: `cargo bench … -- --store` prints these rows alone.
fn measure_store() {
    println!("| notes | what | wall ms | CPU ms | peak MiB | wall / empty program |");
    println!("| ---: | --- | ---: | ---: | ---: | ---: |");
    for notes in SIZES {
        let (folder, store) = (
            tempfile::tempdir().expect("a temporary folder"),
            tempfile::tempdir().expect("a temporary folder"),
        );
        corpus(folder.path(), notes);
        // What changed just now is read again: the rows are about what was not.
        std::thread::sleep(Duration::from_millis(2_100));
        let render = |args: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_cantus"));
            command.arg("render").args(args).arg("--root").arg(folder.path());
            command.env("CANTUS_STORE", store.path());
            command
        };
        let nothing = || {
            let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
            command.arg("--nothing");
            command
        };
        let runs = if notes > 1_000 { 21 } else { 101 };
        let forget = || drop(fs::remove_dir_all(store.path()));
        let empty = measure(runs, || {}, nothing);
        let rows = [
            ("an empty program", empty),
            ("`render`, nothing kept", measure(runs.min(9), forget, || render(&[]))),
            ("`render`, a hit", measure(runs, || {}, || render(&[]))),
            ("`render --json`, a hit", measure(runs, || {}, || render(&["--json"]))),
            ("`render --no-cache`", measure(runs.min(21), || {}, || render(&["--no-cache"]))),
        ];
        for (what, figures) in rows {
            row(&notes.to_string(), what, figures, empty);
        }
    }
}

/// `read` in a web whose strands name each other.
fn measure_reading(root: &Path, strands: usize) {
    let read = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cantus"));
        command.arg("read").args(args).arg("--root").arg(root);
        command
    };
    let floor = measure(21, || {}, || floor_of(root));
    let rows = [
        ("floor: read and hash", floor),
        ("`read`, one strand alone", measure(21, || {}, || read(&["web:Term 7", "--depth", "0"]))),
        ("`read`, all that it leads to", measure(21, || {}, || read(&["web:Term 7"]))),
    ];
    for (what, figures) in rows {
        row(&format!("{strands} strands"), what, figures, floor);
    }
}

fn measure_all(root: &Path, notes: usize) {
    let runs = if notes > 1_000 { 9 } else { 61 };
    let cantus = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cantus"));
        command.args(args).arg("--root").arg(root);
        command
    };
    let remove = || {
        for file in ["AGENTS.md", "CLAUDE.md", "projections/lock.toml"] {
            // Before the first run there is nothing.
            let _ = fs::remove_file(root.join(file));
        }
    };
    let write = measure(runs.min(9), remove, || cantus(&["project"]));
    const ROWS: [(&str, &[&str]); 4] = [
        ("`project`, nothing to do", &["project"]),
        ("`project --check`", &["project", "--check"]),
        ("`check`", &["check"]),
        ("`render --no-cache`", &["render", "--no-cache"]),
    ];
    let commands = std::iter::once(Vec::new()).chain(ROWS.map(|(_, args)| args.to_vec()));
    let commands: Vec<_> = commands.collect();
    let start = |args: &Vec<&str>| if args.is_empty() { floor_of(root) } else { cantus(args) };
    let figures = in_turns(runs, &commands, start);
    let floor = figures[0];
    row(&notes.to_string(), "floor: read and hash", floor, floor);
    row(&notes.to_string(), "`project`, every file new", write, floor);
    for ((what, _), figures) in ROWS.iter().zip(&figures[1..]) {
        row(&notes.to_string(), what, *figures, floor);
    }
}

/// Prints one row of the table.
fn row(corpus: &str, what: &str, figures: Figures, floor: Figures) {
    let ratio = figures.wall.as_secs_f64() / floor.wall.as_secs_f64();
    let ms = |duration: Duration| duration.as_secs_f64() * 1e3;
    let Figures { wall, cpu, peak } = figures;
    let peak = peak as f64 / (1 << 20) as f64;
    println!("| {corpus} | {what} | {:.1} | {:.1} | {peak:.1} | {ratio:.2} |", ms(wall), ms(cpu));
}

/// This program as the floor below `root`.
fn floor_of(root: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("the path of this program"));
    command.arg("--floor").arg(root);
    command
}

/// Medians of several runs.
#[derive(Clone, Copy)]
struct Figures {
    wall: Duration,
    cpu: Duration,
    /// Resident memory in bytes.
    peak: u64,
}

fn measure(runs: usize, prepare: impl Fn(), command: impl Fn() -> Command) -> Figures {
    // The first run warms the page cache and doesn't count.
    let figures = (0..=runs).map(|_| {
        prepare();
        run(command())
    });
    medians(&figures.skip(1).collect::<Vec<_>>())
}

/// The same for several commands that take turns, so that a machine which is slow for a while is slow for all of them.
fn in_turns<T>(runs: usize, commands: &[T], start: impl Fn(&T) -> Command) -> Vec<Figures> {
    let mut figures: Vec<Vec<Figures>> = commands.iter().map(|_| Vec::new()).collect();
    for round in 0..=runs {
        for (figures, command) in figures.iter_mut().zip(commands) {
            let figure = run(start(command));
            figures.extend((round > 0).then_some(figure));
        }
    }
    figures.iter().map(|figures| medians(figures)).collect()
}

fn medians(figures: &[Figures]) -> Figures {
    let median = |key: &dyn Fn(&Figures) -> u128| {
        let mut values: Vec<u128> = figures.iter().map(key).collect();
        values.sort_unstable();
        values[values.len() / 2]
    };
    let nanos = |value: u128| Duration::from_nanos(u64::try_from(value).expect("less than centuries"));
    Figures {
        wall: nanos(median(&|figures| figures.wall.as_nanos())),
        cpu: nanos(median(&|figures| figures.cpu.as_nanos())),
        peak: u64::try_from(median(&|figures| u128::from(figures.peak))).expect("less than all memory"),
    }
}

fn run(mut command: Command) -> Figures {
    let start = Instant::now();
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("the program starts");
    let used = child.wait4().expect("the program ends");
    let wall = start.elapsed();
    assert!(used.status.success(), "{command:?}: {}", used.status);
    Figures { wall, cpu: used.rusage.utime + used.rusage.stime, peak: used.rusage.maxrss }
}

/// What any tool must do at least: read every file below a folder and hash it.
fn floor(folder: &Path) {
    let mut sum = 0;
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.expect("a readable folder");
        if entry.file_type().is_file() {
            let bytes = fs::read(entry.path()).expect("a readable file");
            sum ^= Sha256::digest(&bytes)[0];
        }
    }
    println!("{sum}");
}

/// Notes of about 2 KB: half of them core, three in ten reference, two in ten strands of webs of 100.
fn corpus(root: &Path, notes: usize) {
    let memory = root.join("memory");
    fs::create_dir_all(&memory).expect("a folder");
    fs::write(root.join("cantus.toml"), "name = \"bench\"\n[budget]\nwarn_only = true\n").expect("a file");
    for index in 0..notes {
        let text = prose(index, 1_900);
        let (path, front) = match index % 10 {
            0..5 => (format!("note_{index:05}.md"), format!("type: core\npriority: {}", index % 40)),
            5..8 => (
                format!("topic_{index:05}.md"),
                format!("type: reference\ndescription: {}", prose(index, 90).trim()),
            ),
            _ => {
                let web = format!("web_{:03}", index / 500);
                let descriptor = memory.join(format!("{web}.md"));
                if !descriptor.exists() {
                    fs::create_dir_all(memory.join(&web)).expect("a folder");
                    fs::write(
                        descriptor,
                        "---\nweb: true\nroster: list\n---\n# Terms\n\nWords of this project.\n",
                    )
                    .expect("a file");
                }
                (
                    format!("{web}/term_{index:05}.md"),
                    format!("keyword: Term {index}\nsummary: {}", prose(index, 70).trim()),
                )
            }
        };
        fs::write(memory.join(path), format!("---\n{front}\n---\n# Title {index}\n\n{text}"))
            .expect("a file");
    }
}

/// A web of strands of about 2 KB, each of which mentions three others.
fn web(root: &Path, strands: usize) {
    let folder = root.join("memory/web");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(root.join("memory/web.md"), "---\nweb: true\nlink_reference: implicit\n---\n# Terms\n")
        .expect("a file");
    for index in 0..strands {
        let others =
            [index * 7 + 1, index * 3 + 2, index + 1].map(|other| format!("term {}", other % strands));
        let text = format!(
            "---\naliases: [Word {index}]\n---\n{}Mind {}.\n",
            prose(index, 1_900),
            others.join(", ")
        );
        fs::write(folder.join(format!("term_{index}.md")), text).expect("a file");
    }
}

/// Sentences in lines of about 80 bytes, the same for the same seed.
fn prose(seed: usize, bytes: usize) -> String {
    const WORDS: [&str; 16] = [
        "the", "note", "says", "what", "holds", "before", "a", "release", "and", "which", "test", "guards",
        "it", "in", "each", "crate",
    ];
    let mut text = String::with_capacity(bytes + 16);
    let mut state = seed as u64 * 2_654_435_761 + 12_345;
    let mut column = 0;
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let word = WORDS[(state >> 60) as usize];
        text.push_str(word);
        column += word.len() + 1;
        let end = column > 75 && bytes > 100;
        text.push(if end { '\n' } else { ' ' });
        if end {
            column = 0;
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    text
}
