//! `cantus watch`, as a process that runs while notes change.

#![expect(clippy::disallowed_methods, reason = "an editor writes as it likes")]

use std::fs;
use std::io::{BufRead as _, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use cantus_testkit::Repo;

use crate::plugins::workspace;
use crate::program::{CANTUS, CARGO, NOTES, TARGETS, cantus, give_cargo, replace};

/// How long anything is waited for: far more than it takes.
const DEADLINE: Duration = Duration::from_secs(60);

/// A watch at work; it is killed with the value.
struct Watch {
    child: Child,
    /// The lines of both its streams, as they come.
    lines: Receiver<String>,
    /// Those that were taken.
    said: Vec<String>,
}

impl Watch {
    /// Starts one in `repo` and waits until it is ready.
    #[track_caller]
    fn start(repo: &Repo) -> Self {
        Self::start_in(repo, "")
    }

    /// The same in a folder of `repo`.
    #[track_caller]
    fn start_in(repo: &Repo, folder: &str) -> Self {
        let mut command = repo.command(CANTUS);
        command.current_dir(repo.path().join(folder));
        Self::of(repo, command)
    }

    /// Starts `command` as one.
    #[track_caller]
    fn of(repo: &Repo, mut command: Command) -> Self {
        command.arg("watch").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the program");
        let (sender, lines) = channel();
        let streams: [Option<Box<dyn Read + Send>>; 2] = [
            child.stdout.take().map(|stream| Box::new(stream) as _),
            child.stderr.take().map(|stream| Box::new(stream) as _),
        ];
        for stream in streams.into_iter().flatten() {
            let sender = sender.clone();
            thread::spawn(move || {
                BufReader::new(stream).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
            });
        }
        let mut watch = Self { child, lines, said: Vec::new() };
        let said = watch.hears("Watching for changes");
        // The first report is on the other stream: it may come later, and must not pass for the next one.
        if repo.exists("AGENTS.md") && !said.iter().any(|line| line.contains("common digest")) {
            watch.hears("common digest");
        }
        watch
    }

    /// Waits for a line that holds `text`, and gives the lines before it.
    #[track_caller]
    fn hears(&mut self, text: &str) -> Vec<String> {
        let start = Instant::now();
        loop {
            let left = DEADLINE.saturating_sub(start.elapsed());
            let Ok(line) = self.lines.recv_timeout(left) else {
                panic!("`{text}` was never said, only:\n{}", self.said.join("\n"));
            };
            let found = line.contains(text);
            self.said.push(line);
            if found {
                return std::mem::take(&mut self.said);
            }
        }
    }

    /// Sends the signal of Ctrl-C, and gives what was said since.
    #[track_caller]
    fn interrupted(self) -> Vec<String> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().is_ok_and(|status| status.success()));
        self.ends(0)
    }

    /// Waits for its end, and gives what was said since.
    #[track_caller]
    fn ends(mut self, code: i32) -> Vec<String> {
        let start = Instant::now();
        while start.elapsed() < DEADLINE {
            if let Some(status) = self.child.try_wait().expect("a child") {
                assert_eq!(status.code(), Some(code));
                return self.lines.iter().collect();
            }
            thread::sleep(Duration::from_millis(10));
        }
        panic!("it went on");
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until `holds` does.
#[track_caller]
fn until(what: &str, holds: impl Fn() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < DEADLINE, "never: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[track_caller]
fn until_file_holds(repo: &Repo, file: &str, text: &str) {
    let path = repo.path().join(file);
    until(text, || fs::read_to_string(&path).is_ok_and(|found| found.contains(text)));
}

#[test]
fn a_changed_note_is_projected_and_ctrl_c_ends_it_well() {
    let repo = Repo::new(NOTES);
    let mut watch = Watch::start(&repo);
    assert!(repo.exists("AGENTS.md"));
    replace(&repo, "memory/rules.md", "Be kind.", "Be patient.");
    watch.hears("Wrote 3 of 3 files");
    watch.hears("common digest");
    assert!(repo.read("AGENTS.md").contains("Be patient."));
    cantus(&repo, &["project", "--check"]).exits(0);
    assert_eq!(watch.interrupted(), Vec::<String>::new());
}

#[test]
fn its_own_writes_are_no_news() {
    let repo = Repo::new(NOTES);
    let mut watch = Watch::start(&repo);
    for number in 0..3 {
        repo.write("memory/tests.md", &format!("---\ntype: core\n---\n# Tests\n\nRun {number}.\n"));
        let said = watch.hears("common digest");
        let wrote = said.iter().filter(|line| line.contains("Wrote")).count();
        assert_eq!(wrote, 1, "{said:#?}");
        assert!(!said.iter().any(|line| line.contains("Fresh AGENTS.md")), "{said:#?}");
    }
    assert_eq!(watch.interrupted(), Vec::<String>::new());
}

#[test]
fn an_editor_that_renames_a_file_over_the_note() {
    let repo = Repo::new(NOTES);
    let watch = Watch::start(&repo);
    for word in ["Renamed once.", "Renamed twice."] {
        let text = repo.read("memory/rules.md") + "\n" + word + "\n";
        let hidden = repo.path().join("memory/.rules.md.swp");
        fs::write(&hidden, text).expect("a file");
        fs::rename(&hidden, repo.path().join("memory/rules.md")).expect("a file");
        until_file_holds(&repo, "AGENTS.md", word);
    }
    watch.interrupted();
}

#[cfg(unix)]
#[test]
fn a_lock_that_emacs_holds_while_a_note_is_unsaved() {
    let repo = Repo::new(NOTES);
    let watch = Watch::start(&repo);
    let lock = repo.path().join("memory/.#rules.md");
    std::os::unix::fs::symlink("me@machine.17:42", &lock).expect("a symlink");
    replace(&repo, "memory/rules.md", "Be kind.", "Be kinder.");
    until_file_holds(&repo, "AGENTS.md", "Be kinder.");
    let said = watch.interrupted();
    assert!(!said.iter().any(|line| line.contains("error")), "{said:#?}");
}

#[test]
fn a_note_folder_that_goes_and_comes_back() {
    let repo = Repo::new(NOTES);
    repo.write("cantus.toml", "");
    let mut watch = Watch::start(&repo);
    repo.remove("memory");
    watch.hears("common digest");
    repo.add(NOTES);
    until_file_holds(&repo, "AGENTS.md", "Be kind.");
    // The new folder is watched like the old one, a folder in it too.
    repo.write("memory/terms.md", "---\nweb: true\n---\n# Terms\n");
    repo.write("memory/terms/word.md", "---\nkeyword: Word\n---\nA term.\n");
    until_file_holds(&repo, "AGENTS.md", "Word");
    replace(&repo, "memory/terms/word.md", "keyword: Word", "keyword: Sentence");
    until_file_holds(&repo, "AGENTS.md", "Sentence");
    watch.interrupted();
}

#[test]
fn without_the_project_s_folder_it_ends() {
    let repo = Repo::new("//- project/memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe kind.\n");
    let watch = Watch::start_in(&repo, "project");
    repo.remove("project");
    let said = watch.ends(2);
    let last = said.iter().rev().find(|line| line.contains("error")).expect("an error");
    assert_eq!(last, "error: the project's folder is gone", "{said:#?}");
    let path = repo.path().to_str().expect("UTF-8");
    assert!(!said.iter().any(|line| line.contains(path)), "{said:#?}");
}

#[test]
fn a_project_whose_only_sign_goes_is_still_watched() {
    let repo = Repo::new(NOTES);
    let mut watch = Watch::start(&repo);
    let before = repo.read("AGENTS.md");
    repo.remove("memory");
    watch.hears("no project here");
    assert_eq!(repo.read("AGENTS.md"), before);
    repo.add(NOTES);
    replace(&repo, "memory/rules.md", "Be kind.", "Be back.");
    until_file_holds(&repo, "AGENTS.md", "Be back.");
    watch.interrupted();
}

#[test]
fn broken_notes_are_told_and_it_goes_on() {
    let repo = Repo::new(NOTES);
    let mut watch = Watch::start(&repo);
    repo.write("memory/rules.md", "---\ntype: core\nprioriti: 5\n---\n# Rules\n");
    watch.hears("memory/rules.md:3: error: unknown key `prioriti`");
    repo.write("memory/rules.md", "---\ntype: core\npriority: 5\n---\n# Rules\n\nMended.\n");
    until_file_holds(&repo, "AGENTS.md", "Mended.");
    watch.interrupted();
}

#[test]
fn an_edited_file_is_refused_and_told_once() {
    let repo = Repo::new(NOTES);
    let mut watch = Watch::start(&repo);
    let edited = repo.read("AGENTS.md").replace("Be kind.", "Be rude.");
    repo.write("AGENTS.md", &edited);
    watch.hears("nothing was written");
    assert_eq!(repo.read("AGENTS.md"), edited);
    replace(&repo, "AGENTS.md", "Be rude.", "Be kind.");
    watch.hears("Fresh 3 files");
    let mut said = watch.interrupted();
    said.retain(|line| line.contains("Refused"));
    assert_eq!(said, Vec::<String>::new());
}

#[test]
fn members_and_configuration_are_watched() {
    let repo = Repo::new(NOTES);
    let watch = Watch::start(&repo);
    fs::create_dir(repo.path().join("parts")).expect("a folder");
    repo.write("cantus.toml", "members = [\"parts/*\"]\n");
    repo.write("parts/one/memory/rule.md", "---\ntype: core\n---\n# Rule\n\nOf a part.\n");
    until_file_holds(&repo, "parts/one/AGENTS.md", "Of a part.");
    replace(&repo, "parts/one/memory/rule.md", "Of a part.", "Of one part.");
    until_file_holds(&repo, "parts/one/CLAUDE.md", "Of one part.");
    repo.write("cantus.toml", "");
    until("the part's file is gone", || !repo.exists("parts/one/AGENTS.md"));
    watch.interrupted();
    cantus(&repo, &["project", "--check"]).exits(0);
    assert!(TARGETS.iter().all(|target| repo.exists(target)));
}

#[test]
fn notes_of_a_crate_in_the_repository_are_watched() {
    let repo = workspace("[{ crate = \"acme-rules\", kind = \"core\" }]");
    let mut command = repo.command(CANTUS);
    give_cargo(&mut command, CARGO);
    let watch = Watch::of(&repo, command);
    replace(&repo, "vendor/acme-rules/agents/rules.md", "Never block.", "Never wait.");
    until_file_holds(&repo, "AGENTS.md", "Never wait.");
    repo.write("vendor/acme-rules/agents/more.md", "---\ntype: core\n---\n# More\n\nOne more.\n");
    until_file_holds(&repo, "AGENTS.md", "One more.");
    watch.interrupted();
}
