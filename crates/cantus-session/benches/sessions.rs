//! One request of a conversation: compiling a pack of 12 sections with 25 notes listed and delivering it against a history of
//! 5,000 lines; and what 200 requests send, with updates and without.
//!
//! `cargo bench -p cantus-session --bench sessions` prints the tables of `docs/performance.md`.

#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::expect_used,
    reason = "a benchmark makes its own files, prints its table and stops at the first fault"
)]

#[path = "../tests/requests/mod.rs"]
mod requests;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use cantus_compose::{Package, Wording};
use cantus_fs::RealDisk;
use cantus_manifest::{RelPath, Stamps};
use cantus_memory::{Corpus, MemoryTree, SourceFile};
use cantus_session::{
    Compiled, Keys, Notes, Pack, Reference, SessionLaunch, SessionMaterial, Skill, Snapshot, WikiPointer,
    compile, delivered,
};
use requests::{Conversation, REQUESTS};

/// How many entries stand behind the update that the history holds.
const BEHIND: usize = 200;
const LINES: usize = 5_000;
const RUNS: usize = 400;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let (corpus, wording) = (corpus(), Package::built_in(Stamps::Skip).wording());
    let launch = launch();
    let first = pack(&launch, &corpus, &wording).deliver(None);
    assert_eq!(first.pack.sections().count(), 12, "sections");
    let history = history(folder.path(), &first.update.expect("a first update").snapshot);
    println!("| what | least ms | median ms | p95 ms |");
    println!("| --- | ---: | ---: | ---: |");
    row("compile", || drop(pack(&launch, &corpus, &wording)));
    row("history", || drop(previous(&history)));
    row("compile, history, update", || {
        let compiled = pack(&launch, &corpus, &wording).deliver(previous(&history).as_ref());
        assert!(compiled.update.is_some(), "references are sent");
    });
    println!();
    conversation(&wording);
}

fn row(what: &str, run: impl Fn()) {
    let mut times: Vec<f64> = (0..RUNS)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    let at = |part: usize| times[(times.len() - 1) * part / 100];
    println!("| {what} | {:.2} | {:.2} | {:.2} |", at(0), at(50), at(95));
}

/// What a conversation sends: the system text once and updates, or everything with each request.
fn conversation(wording: &Wording) {
    let none = Corpus::default();
    let mut conversation = Conversation::new(1);
    let (mut held, mut updates, mut messages, mut dynamic, mut resent, mut system) = (None, 0, 0, 0, 0, 0);
    for _ in 0..REQUESTS {
        let pack = pack(&conversation.next(), &none, wording);
        let whole = pack.clone().deliver(None);
        let now: Compiled = pack.deliver(held.as_ref());
        system = now.system.len();
        let all = whole.update.map_or(0, |update| update.content.len());
        (dynamic, resent) = (dynamic + all, resent + system + all);
        if let Some(update) = now.update {
            updates += update.content.len();
            messages += 1;
            held = Some(update.snapshot);
        }
    }
    println!("| {REQUESTS} requests send | messages | bytes |");
    println!("| --- | ---: | ---: |");
    println!("| everything each time | {REQUESTS} | {resent} |");
    println!("| the system text once, all dynamic sections each time | {REQUESTS} | {} |", system + dynamic);
    println!("| the system text once, then updates | {messages} | {} |", system + updates);
}

fn pack(launch: &SessionLaunch, corpus: &Corpus, wording: &Wording) -> Pack {
    let material = SessionMaterial { wording, notes: Notes::of(Some("acme"), corpus), bundle: Vec::new() };
    compile(launch, &material).value.expect("a launch without fault")
}

fn previous(history: &Path) -> Option<Snapshot> {
    delivered(&RealDisk, history, &Keys::default()).expect("a history")
}

/// All twelve standard sections.
fn launch() -> SessionLaunch {
    let mut launch = Conversation::new(2).next();
    launch.sections.clear();
    launch.wiki = WikiPointer::Shown;
    launch.references =
        (0..4).map(|index| Reference::Note { path: format!("memory/n{index:02}.md"), label: None }).collect();
    let text = "Do one thing after the other.\n".repeat(60);
    launch.skills = vec![Skill { name: "ship".to_owned(), text, ..Skill::default() }];
    launch
}

/// 25 notes of about 2 KB.
fn corpus() -> Corpus {
    let note = |index: usize| {
        let body = "The note says what holds before a release and which test guards it.\n".repeat(28);
        let text = format!("---\ntype: reference\n---\n# Note {index}\n\n{body}");
        let path = RelPath::new(format!("memory/n{index:02}.md")).expect("a path");
        SourceFile { path, bytes: text.into_bytes(), stamp: None }
    };
    Corpus::parse(MemoryTree { notes: (0..25).map(note).collect(), folders: Vec::new() }).value
}

/// A conversation of 5,000 lines whose update has 200 entries behind it.
fn history(folder: &Path, snapshot: &Snapshot) -> PathBuf {
    let mut lines = vec![r#"{"type":"session","id":"s"}"#.to_owned()];
    let said = "Some words of the conversation. ".repeat(20);
    for index in 0..LINES - 1 {
        let parent = if index == 0 { "null".to_owned() } else { format!("\"e{}\"", index - 1) };
        lines.push(if index == LINES - BEHIND {
            let snapshot = serde_json::to_string(snapshot).expect("JSON");
            format!(
                r#"{{"type":"custom_message","id":"e{index}","parentId":{parent},"customType":"cantus-context","details":{{"cantusContext":{snapshot}}}}}"#
            )
        } else {
            format!(r#"{{"type":"message","id":"e{index}","parentId":{parent},"text":"{said}"}}"#)
        });
    }
    let path = folder.join("history.jsonl");
    fs::write(&path, lines.join("\n") + "\n").expect("a file");
    path
}
