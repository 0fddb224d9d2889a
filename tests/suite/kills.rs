//! A run that is killed at any moment leaves every file whole.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::process::Stdio;
use std::thread;
use std::time::Instant;

use cantus_testkit::Repo;

use crate::program::{CANTUS, TARGETS, cantus, targets};

const KILLS_A_THREAD: u32 = 100;
const NOTES: usize = 300;
const SIGKILL: i32 = 9;

/// Delays that are the same in every run of the test: xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from(self.0 % u64::from(limit)).unwrap_or(0)
    }
}

fn write_note(repo: &Repo, index: usize, text: &str) {
    repo.write(
        &format!("memory/note-{index}.md"),
        &format!("---\ntype: core\n---\n# Note {index}\n\n{text}\n"),
    );
}

/// What killed runs leave behind until the next one.
fn left_overs(repo: &Repo) -> Vec<String> {
    repo.files().into_iter().filter(|file| file.contains("cantus-tmp")).collect()
}

/// What the kills of one thread met.
#[derive(Debug, Default)]
struct Met {
    killed: u32,
    part_way: u32,
}

/// Kills runs that take the files from one text to another, and looks at the files after each.
#[track_caller]
fn check(seed: u64) -> Met {
    let repo = Repo::new("");
    (0..NOTES)
        .for_each(|index| write_note(&repo, index, &format!("The text of note {index}, at some length.")));
    let made = ["one", "two"].map(|text| {
        write_note(&repo, 7, text);
        let start = Instant::now();
        cantus(&repo, &["project"]).exits(0);
        (targets(&repo), start.elapsed())
    });
    let [(one, _), (two, whole)] = made;
    let (mut old, mut new, mut met, mut random) = (two, one, Met::default(), Random(seed));
    let mut text = ["one", "two"].into_iter().cycle();
    write_note(&repo, 7, text.next().unwrap_or_default());
    for kill in 0..KILLS_A_THREAD {
        let mut run = repo.command(CANTUS);
        let mut child = run.arg("project").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        // Every other kill falls into the later part of the run, where the writing is.
        let earliest = if kill % 2 == 0 { 0 } else { 600 };
        thread::sleep(whole * (earliest + random.below(1100 - earliest)) / 1000);
        child.kill().unwrap();
        let status = child.wait().unwrap();
        met.killed += u32::from(std::os::unix::process::ExitStatusExt::signal(&status) == Some(SIGKILL));
        let now = targets(&repo);
        for (path, ((now, old), new)) in TARGETS.iter().zip(now.iter().zip(&old).zip(&new)) {
            assert!(now == old || now == new, "`{path}` is neither old nor new");
        }
        let left = left_overs(&repo);
        if now == old && left.is_empty() {
            continue;
        }
        met.part_way += u32::from(now != new);
        cantus(&repo, &["project"]).exits(0);
        assert!(targets(&repo) == new, "the next run did not complete");
        assert_eq!(left_overs(&repo), Vec::<String>::new());
        std::mem::swap(&mut old, &mut new);
        write_note(&repo, 7, text.next().unwrap_or_default());
    }
    met
}

#[test]
fn every_file_is_old_or_new_after_each_of_200_kills() {
    let met = thread::scope(|scope| {
        let threads =
            [0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03].map(|seed| scope.spawn(move || check(seed)));
        threads.map(|thread| thread.join().unwrap())
    });
    assert!(met.iter().map(|met| met.killed).sum::<u32>() > 0, "no run was killed: {met:?}");
    println!("{met:?}");
}
