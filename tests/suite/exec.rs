//! `exec` with stand-ins for the programs of providers, which print what an agent would see.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use cantus_testkit::{Output, Repo};
use serde_json::Value;

use crate::program::{CANTUS, CARGO, NOTES, cantus, projected};

/// The stand-in, compiled once.
fn stand_in() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fakes");
        fs::create_dir_all(&folder).expect("a folder");
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fakes/agent.rs");
        let program = folder.join(format!("agent{}", env::consts::EXE_SUFFIX));
        let near = Path::new(CARGO).with_file_name(format!("rustc{}", env::consts::EXE_SUFFIX));
        let rustc = if near.exists() { near } else { PathBuf::from("rustc") };
        let built = Command::new(rustc).args(["--edition", "2024", "-o"]).args([&program, &source]).status();
        assert!(built.expect("rustc").success());
        program
    })
}

/// The program of `provider`, outside of the repository.
pub(crate) fn program(repo: &Repo, provider: &str) -> PathBuf {
    let path = repo.home().join(format!("{provider}{}", env::consts::EXE_SUFFIX));
    if !path.exists() {
        fs::copy(stand_in(), &path).expect("a program");
    }
    path
}

/// What an agent saw.
pub(crate) struct Seen(pub(crate) String);

impl Seen {
    /// The text under each title.
    fn parts(&self) -> Vec<(&str, &str)> {
        let parts = self.0.split("=== ").skip(1);
        parts.map(|part| part.split_once('\n').expect("a title")).collect()
    }

    #[track_caller]
    pub(crate) fn part(&self, title: &str) -> &str {
        let parts = self.parts();
        let part = parts.iter().find(|(found, _)| *found == title);
        part.unwrap_or_else(|| panic!("`{title}` in:\n{}", self.0)).1
    }

    pub(crate) fn titles(&self) -> Vec<&str> {
        self.parts().into_iter().map(|(title, _)| title).collect()
    }

    /// How often the notes were seen.
    pub(crate) fn notes(&self) -> usize {
        self.0.matches("Be kind.").count()
    }
}

/// Runs `exec` in a repository for the stand-in of `provider`, with these variables.
pub(crate) fn exec_with(
    repo: &Repo,
    provider: &str,
    env: &[(&str, &str)],
    options: &[&str],
    args: &[&str],
) -> Output {
    let mut command = repo.command(CANTUS);
    command
        .args(["exec", "--provider", provider])
        .args(options)
        .arg("--")
        .arg(program(repo, provider))
        .args(args);
    let output = command.envs(env.iter().copied()).output().expect("the program");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[track_caller]
pub(crate) fn exec(repo: &Repo, provider: &str, args: &[&str]) -> Seen {
    let output = exec_with(repo, provider, &[], &["--artifacts", "../artifacts"], args).exits(0);
    Seen(output.stdout)
}

pub(crate) fn artifacts(repo: &Repo) -> PathBuf {
    repo.path().parent().expect("a parent").join("artifacts")
}

#[track_caller]
pub(crate) fn manifest(repo: &Repo, name: &str) -> Value {
    let text = fs::read_to_string(artifacts(repo).join("instructions").join(name)).expect("a manifest");
    serde_json::from_str(&text).expect("JSON")
}

/// The recorded bundle and the marker, as they are delivered.
#[track_caller]
pub(crate) fn delivered(repo: &Repo, name: &str) -> String {
    let manifest = manifest(repo, &format!("{name}.json"));
    let bundle = fs::read_to_string(artifacts(repo).join("instructions").join(format!("{name}.md")))
        .expect("a bundle");
    let sha256 = manifest["bundle"]["sha256"].as_str().expect("a digest");
    let id = manifest["delivery"]["invocation_id"].as_str().expect("an id");
    assert_eq!(manifest["delivery"]["status"], "explicit");
    format!("{bundle}<!-- cantus bundle={} invocation={id} -->\n", &sha256[..12])
}

#[test]
fn claude_sees_the_bundle_once_and_its_helpers_theirs() {
    let repo = projected();
    let seen = exec(&repo, "claude", &["-p", "do it"]);
    assert_eq!(seen.part("system"), format!("{}\n", delivered(&repo, "00-claude")));
    assert!(seen.part("helpers").contains("Helper Contract"));
    assert_eq!((seen.part("prompt"), seen.notes()), ("do it\n", 2));
    assert!(
        !seen.titles().iter().any(|title| title.starts_with("native") || *title == "auto memory"),
        "{:?}",
        seen.titles()
    );
    let bundle = seen.part("SASE_INSTRUCTIONS_FILE").trim_end();
    assert_eq!(Path::new(bundle).file_name().and_then(|name| name.to_str()), Some("00-claude.md"));
    cantus(&repo, &["show", "../artifacts"]).exits(0);
}

#[test]
fn claude_keeps_what_its_caller_hands_over() {
    let repo = projected();
    repo.write("mine.txt", "Mine.\n");
    let args =
        ["-p", "--append-system-prompt-file", "mine.txt", "--settings", r#"{"model":"opus"}"#, "do it"];
    let seen = exec(&repo, "claude", &args);
    assert_eq!(seen.part("system"), format!("Mine.\n\n{}\n", delivered(&repo, "00-claude")));
    assert_eq!(seen.part("model"), "Some(Text(\"opus\"))\n");
    assert_eq!(seen.notes(), 2);
}

#[test]
fn claude_still_reads_what_is_not_ours() {
    let repo = projected();
    let edited = format!("{}\nBy hand.\n", repo.read("CLAUDE.md"));
    repo.write("CLAUDE.md", &edited);
    let seen = exec(&repo, "claude", &["-p", "do it"]);
    assert!(seen.part("native CLAUDE.md").contains("By hand."));
    let repo = Repo::new(NOTES);
    repo.write("AGENTS.md", "Mine.\n");
    let seen = exec(&repo, "claude", &["-p", "do it"]);
    assert_eq!(seen.part("native AGENTS.md"), "Mine.\n\n");
}

#[test]
fn an_old_claude_gets_no_text_for_helpers() {
    let repo = projected();
    let output = exec_with(
        &repo,
        "claude",
        &[("FAKE_VERSION", "2.1.260")],
        &["--artifacts", "../artifacts"],
        &["-p", "x"],
    );
    assert_eq!(Seen(output.exits(0).stdout).notes(), 1);
    let delivery = &manifest(&repo, "00-claude.json")["delivery"];
    assert_eq!(delivery["subagent"]["fallback"]["reason"], "unsupported_cli");
    assert_eq!(delivery["provider_cli_version"], "2.1.260");
}

#[test]
fn codex_sees_the_bundle_once() {
    let repo = projected();
    let seen = exec(&repo, "codex", &["exec", "--json", "do it"]);
    assert_eq!(seen.part("developer"), format!("{}\n", delivered(&repo, "00-codex")));
    assert_eq!((seen.part("prompt"), seen.notes()), ("exec | do it\n", 1));
    let seen = exec(&repo, "codex", &["exec", "-c", "developer_instructions=Mine.", "do it"]);
    assert_eq!(seen.part("developer"), format!("Mine.\n\n{}\n", delivered(&repo, "01-codex")));
}

#[test]
fn grok_gets_rules_beside_its_own_files() {
    let repo = projected();
    let seen = exec(&repo, "grok", &["-p", "do it", "--rules", "Mine."]);
    assert_eq!(seen.part("rules"), format!("Mine.\n\n{}\n", delivered(&repo, "00-grok")));
    assert_eq!(seen.titles()[..3], ["rules", "native AGENTS.md", "native CLAUDE.md"]);
}

#[test]
fn muse_gets_the_bundle_in_front_of_its_prompt() {
    let repo = projected();
    let seen = exec(&repo, "muse", &["exec", "--enable-shell-tool", "do it"]);
    assert_eq!(
        seen.part("prompt"),
        format!("{}\n\n--- User Prompt ---\ndo it\n", delivered(&repo, "00-muse"))
    );
    repo.write("prompt.md", "do it");
    let seen = exec(&repo, "muse", &["exec", "--json", "--prompt-file", "prompt.md"]);
    assert_eq!(
        seen.part("prompt"),
        format!("{}\n\n--- User Prompt ---\ndo it\n", delivered(&repo, "01-muse"))
    );
}

#[test]
fn the_others_read_for_themselves() {
    let repo = projected();
    for provider in ["agy", "qwen", "opencode"] {
        let seen = exec(&repo, provider, &["-p", "do it"]);
        assert_eq!((seen.part("args"), seen.notes()), ("-p\ndo it\n", 1), "{provider}");
    }
    let delivery = &manifest(&repo, "00-agy.json")["delivery"];
    assert_eq!((&delivery["status"], &delivery["fallback"]), (&"inherits_native".into(), &Value::Null));
    let output = exec_with(&repo, "other", &[], &[], &["x"]).exits(0);
    assert!(output.stderr.contains("provider_legacy"), "{}", output.stderr);
    assert_eq!(exec_with(&repo, "other", &[], &["-q"], &["x"]).exits(0).stderr, "");
}

#[test]
fn after_a_fallback_native_files_are_not_muted() {
    let repo = projected();
    repo.write("memory/large.md", &format!("---\ntype: core\n---\n# Large\n\n{}\n", "word ".repeat(30_000)));
    let output =
        exec_with(&repo, "codex", &[], &["--artifacts", "../artifacts"], &["exec", "do it"]).exits(0);
    assert!(output.stderr.contains("without a bundle, oversize"), "{}", output.stderr);
    let seen = Seen(output.stdout);
    assert_eq!((seen.part("developer"), seen.notes()), ("\n", 1));
    repo.write("memory/broken.md", "---\ntype: cor\n---\n# X\n");
    let output = exec_with(&repo, "claude", &[("FAKE_STATUS", "9")], &[], &["-p", "do it"]).exits(9);
    let seen = Seen(output.stdout);
    assert_eq!((seen.part("system"), seen.notes()), ("\n", 1));
    assert!(output.stderr.contains("the project doesn't compile"), "{}", output.stderr);
}

/// The command runs once, its status is its own, and whether it has the bundle.
#[track_caller]
fn check_runs(repo: &Repo, env: &[(&str, &str)], options: &[&str], has_bundle: bool) -> Output {
    let log = repo.home().join("log");
    fs::write(&log, "").expect("a log");
    let env = [env, &[("FAKE_LOG", log.to_str().expect("UTF-8")), ("FAKE_STATUS", "3")]].concat();
    let output = exec_with(repo, "codex", &env, options, &["exec", "do it"]).exits(3);
    assert_eq!(fs::read_to_string(&log).expect("a log").matches("do it").count(), 1);
    let seen = Seen(output.stdout.clone());
    assert_eq!(seen.part("developer").contains("<!-- cantus bundle="), has_bundle);
    output
}

#[test]
fn nothing_keeps_the_command_from_running() {
    let repo = projected();
    repo.write("file", "mine");
    check_runs(&repo, &[], &["--artifacts", "file"], true);
    assert_eq!(repo.read("file"), "mine");
    let file = repo.path().join("file");
    let file = file.to_str().expect("UTF-8");
    check_runs(&repo, &[("CANTUS_STORE", file)], &["--artifacts", "../artifacts"], true);
    assert_eq!(manifest(&repo, "00-codex.json")["delivery"]["cache"], "bypass");
    check_runs(&repo, &[], &["--root", "nowhere"], false);
    check_runs(&repo, &[], &["--package", "nowhere"], false);
    check_runs(&repo, &[("CANTUS_DELIVER", "0")], &[], false);
    repo.write("memory/broken.md", "---\ntype: cor\n---\n# X\n");
    check_runs(&repo, &[], &["--artifacts", "../artifacts"], false);
    let names: Vec<_> = fs::read_dir(artifacts(&repo).join("instructions")).expect("records").collect();
    assert_eq!(names.len(), 3, "{names:?}");
    let outside = Repo::without_git("");
    check_runs(&outside, &[], &[], false);
}

#[test]
fn recording_can_be_switched_off() {
    let repo = projected();
    let output = check_runs(&repo, &[("CANTUS_RECORD", "0")], &["--artifacts", "../artifacts"], true);
    assert!(!artifacts(&repo).exists());
    let stored = Seen(output.stdout).part("SASE_INSTRUCTIONS_FILE").to_owned();
    assert!(stored.contains("bundles"), "{stored}");
}

#[test]
fn a_run_tells_its_name_and_its_end() {
    let repo = projected();
    exec_with(
        &repo,
        "codex",
        &[("FAKE_STATUS", "4")],
        &["--artifacts", "../artifacts", "--name", "build-42"],
        &["exec", "x"],
    )
    .exits(4);
    let run = fs::read_to_string(artifacts(&repo).join("run.json")).expect("a run");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!((&run["name"], &run["exit_status"]), (&"build-42".into(), &4.into()));
    let output = cantus(&repo, &["show", "build-42"]).exits(0);
    assert!(output.stdout.contains("Be kind."));
}

#[test]
fn a_session_and_a_parent_can_be_named() {
    let repo = projected();
    let options = ["--artifacts", "../artifacts", "--model", "opus"];
    exec_with(&repo, "claude", &[], &options, &["-p", "--session-id", "s1", "x"]).exits(0);
    let first = manifest(&repo, "00-claude.json");
    assert_eq!(first["delivery"]["session_ids"], serde_json::json!(["s1"]));
    assert_eq!(first["delivery"]["model"], "opus");
    let parent = first["delivery"]["invocation_id"].as_str().expect("an id");
    let options = ["--artifacts", "../artifacts", "--resumes", parent];
    let output = exec_with(&repo, "claude", &[], &options, &["-p", "--continue", "y"]).exits(0);
    assert_eq!(Seen(output.stdout).part("system"), "\n");
    let second = &manifest(&repo, "01-claude.json")["delivery"];
    assert_eq!(
        (&second["status"], &second["parent_invocation_id"]),
        (&"inherits_root".into(), &parent.into())
    );
}

#[test]
fn commands_that_do_not_run_end_like_in_a_shell() {
    let repo = projected();
    let run = |command: &str| {
        cantus(&repo, &["exec", "--provider", "codex", "--artifacts", "../artifacts", "--", command])
    };
    let output = run("no-such-command").exits(127);
    assert!(output.stderr.contains("cannot run `no-such-command`"), "{}", output.stderr);
    run("./AGENTS.md").exits(126);
    let run: Value =
        serde_json::from_str(&fs::read_to_string(artifacts(&repo).join("run.json")).expect("a run"))
            .expect("JSON");
    assert_eq!(run["exit_status"], 126);
    cantus(&repo, &["exec", "--provider", "codex"]).exits(2);
    cantus(&repo, &["exec", "--provider", "9x", "--", "true"]).exits(2);
}

#[test]
fn streams_are_the_commands_own() {
    let repo = projected();
    let mut command = repo.command(CANTUS);
    command.args(["exec", "--provider", "agy", "--", "sh", "-c", "cat; echo no >&2"]);
    let mut child = command
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the program");
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), b"in\xff").expect("a write");
    let output = child.wait_with_output().expect("an end");
    assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"in\xff"[..], &b"no\n"[..]));
}

#[cfg(unix)]
mod signals {
    use std::io::Read;
    use std::process::{Child, Stdio};

    use super::*;

    /// Starts a shell script under `exec`, which must say `ready` first.
    fn start(repo: &Repo, script: &str) -> Child {
        let mut command = repo.command(CANTUS);
        command.args(["exec", "--provider", "agy", "--artifacts", "../artifacts", "--", "sh", "-c", script]);
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().expect("the program");
        let mut said = [0; 5];
        child.stdout.as_mut().expect("stdout").read_exact(&mut said).expect("a word");
        assert_eq!(&said, b"ready");
        child
    }

    /// Sends `signal` to `exec` alone and gives its status and what the script said since.
    fn end(mut child: Child, signal: &str) -> (Option<i32>, String) {
        let sent = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status();
        assert!(sent.expect("a shell").success());
        let mut said = String::new();
        child.stdout.take().expect("stdout").read_to_string(&mut said).expect("words");
        (child.wait().expect("an end").code(), said)
    }

    const LOOP: &str = "while :; do sleep 0.05; done";

    #[test]
    fn are_passed_on_and_tell_the_end() {
        let repo = projected();
        let mut last = 0;
        for (signal, status) in [("TERM", 143), ("INT", 130), ("HUP", 129)] {
            if is_ignored(status - 128) {
                continue;
            }
            last = status;
            // The trap makes a shell that waits for `sleep` end like a program that has none.
            let script = format!("trap 'trap - {signal}; kill -{signal} $$' {signal}; printf ready; {LOOP}");
            assert_eq!(end(start(&repo, &script), signal), (Some(status), String::new()), "{signal}");
        }
        let run = fs::read_to_string(artifacts(&repo).join("run.json")).expect("a run");
        assert!(run.contains(&format!("\"exit_status\": {last}")), "{run}");
    }

    /// Whether this process ignores a signal, as under `nohup`: no shell that it starts can then heed it.
    fn is_ignored(signal: i32) -> bool {
        let text = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.map_or(0, |mask| u64::from_str_radix(mask.trim(), 16).expect("a mask"));
        mask >> (signal - 1) & 1 == 1
    }

    #[test]
    fn may_be_handled_by_the_command() {
        let repo = projected();
        let script = format!("trap 'printf bye; exit 7' TERM; printf ready; {LOOP}");
        assert_eq!(end(start(&repo, &script), "TERM"), (Some(7), "bye".to_owned()));
    }
}

#[test]
fn arguments_may_be_anything() {
    let repo = projected();
    let seen = exec(&repo, "agy", &["--", "--provider", "", "a b", "é\n"]);
    assert_eq!(seen.part("args"), "--\n--provider\n\na b\né\n\n");
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;

        let mut command = repo.command(CANTUS);
        command.args(["exec", "--provider", "agy", "--", "sh", "-c", "printf '%s' \"$1\"", "sh"]);
        let output = command.arg(OsString::from_vec(b"\xff".to_vec())).output().expect("the program");
        assert_eq!(output.stdout, b"\xff");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_or_closed_error_stream_keeps_nothing_from_running() {
    let repo = projected();
    repo.write("memory/rules.md", "---\ntype: nonsense\n---\n");
    for stderr in ["2>/dev/full", "2>&-"] {
        let script = format!("\"$0\" exec --provider claude -- sh -c 'echo ran; exit 5' {stderr}");
        let output = repo.run("sh", &["-c", &script, CANTUS]).exits(5);
        assert_eq!(output.stdout, "ran\n", "{stderr}");
    }
}
