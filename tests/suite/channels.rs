//! What launchers of other tools ran into when they handed texts to agents; each with its row of `tests/cases.md`.

use std::fs;

use cantus_testkit::Repo;
use serde_json::Value;

use crate::exec::{Seen, artifacts, delivered, exec, exec_with, manifest, program};
use crate::program::{CANTUS, cantus, projected};

/// The most bytes of one argument on Linux.
const MOST_ARGUMENT: usize = 128 * 1024 - 1;

/// A projected repository with a core note of so many more bytes.
fn with_words(bytes: usize) -> Repo {
    let repo = projected();
    write_words(&repo, bytes);
    repo
}

fn write_words(repo: &Repo, bytes: usize) {
    repo.write("memory/words.md", &format!("---\ntype: core\n---\n# Words\n\n{}\n", "x".repeat(bytes)));
}

/// What the stand-in of `provider` got as arguments, and what it saw.
#[track_caller]
fn arguments(repo: &Repo, provider: &str, args: &[&str]) -> (String, Seen) {
    let log = repo.home().join("log");
    fs::write(&log, "").expect("a log");
    let env = [("FAKE_LOG", log.to_str().expect("UTF-8"))];
    let output = exec_with(repo, provider, &env, &["--artifacts", "../artifacts"], args).exits(0);
    let log = fs::read_to_string(&log).expect("a log");
    // Claude's program is asked for its version first.
    (log.strip_prefix("--version\n").unwrap_or(&log).trim_end().to_owned(), Seen(output.stdout))
}

/// The last record of `provider`.
fn last(repo: &Repo, provider: &str) -> Value {
    let is_one = |name: &String| name.ends_with(&format!("-{provider}.json"));
    let names = fs::read_dir(artifacts(repo).join("instructions")).expect("records");
    let names = names.map(|entry| entry.expect("a record").file_name().to_string_lossy().into_owned());
    manifest(repo, &names.filter(is_one).max().expect("a record"))["delivery"].clone()
}

#[test]
fn k1_a_long_bundle_reaches_claude_and_muse_through_files() {
    let repo = with_words(300_000);
    let (args, seen) = arguments(&repo, "claude", &["-p", "do it"]);
    assert_eq!(seen.part("system"), format!("{}\n", delivered(&repo, "00-claude")));
    assert!(seen.part("helpers").contains(&"x".repeat(300_000)));
    assert!(args.len() < 8_000, "{} bytes of arguments", args.len());
    let (args, seen) = arguments(&repo, "muse", &["exec", "do it"]);
    let prompt = format!("{}\n\n--- User Prompt ---\ndo it\n", delivered(&repo, "01-muse"));
    assert_eq!(seen.part("prompt"), prompt);
    assert!(args.len() < 8_000, "{} bytes of arguments", args.len());
}

#[cfg(target_os = "linux")]
#[test]
fn k2_the_longest_argument_is_handed_over_and_one_byte_more_falls_back() {
    for (provider, args, part) in
        [("codex", ["exec", "do it"], "developer"), ("grok", ["-p", "do it"], "rules")]
    {
        let repo = with_words(1);
        let (line, _) = arguments(&repo, provider, &args);
        // Everything but the one argument: the others, and the blanks between them.
        let rest = match provider {
            "codex" => "-c  -c project_doc_max_bytes=0 exec do it".len(),
            _ => "--rules  -p do it".len(),
        };
        let room = MOST_ARGUMENT - (line.len() - rest);
        write_words(&repo, 1 + room);
        let (line, seen) = arguments(&repo, provider, &args);
        assert_eq!((line.len() - rest, seen.notes() > 0), (MOST_ARGUMENT, true), "{provider}");
        assert!(seen.part(part).contains("<!-- cantus bundle="), "{provider}");
        assert_eq!(last(&repo, provider)["status"], "explicit");
        write_words(&repo, 2 + room);
        let (line, seen) = arguments(&repo, provider, &args);
        assert_eq!((line, seen.part(part)), (args.join(" "), "\n"), "{provider}");
        let fallback = &last(&repo, provider)["fallback"];
        assert_eq!(fallback["reason"], "oversize");
        let detail = fallback["detail"].as_str().expect("a detail");
        assert!(detail.starts_with("131072 bytes are more than the 131071"), "{detail}");
    }
}

/// Runs Codex's stand-in with 200 KB of arguments where all of them may have 256 KiB together.
#[cfg(target_os = "linux")]
fn under_a_low_limit(repo: &Repo, program: &str) -> cantus_testkit::Output {
    let script = "ulimit -s 1024; args=$(printf '%0100000d' 0); \
                  exec \"$0\" exec --provider codex --artifacts ../artifacts -- \"$1\" exec -m $args \"$args\"";
    repo.run("sh", &["-c", script, CANTUS, program])
}

#[cfg(target_os = "linux")]
#[test]
fn k3_too_many_arguments_are_no_missing_program() {
    let repo = with_words(100_000);
    let output = under_a_low_limit(&repo, program(&repo, "codex").to_str().expect("UTF-8")).exits(0);
    let seen = Seen(output.stdout);
    assert_eq!((seen.part("developer"), seen.notes()), ("\n", 1), "its own files are read");
    assert_eq!(seen.part("prompt").len(), "exec | \n".len() + 100_000);
    let fallback = &last(&repo, "codex")["fallback"];
    assert_eq!(fallback["reason"], "delivery_failed");
    assert_eq!(fallback["detail"], "the system does not take the bundle among the arguments");
    assert!(!output.stderr.contains("cannot run"), "{}", output.stderr);
    let output = under_a_low_limit(&repo, "./no-such-program").exits(127);
    assert!(output.stderr.contains("cannot run `./no-such-program`: No such file"), "{}", output.stderr);
}

#[test]
fn k5_what_a_caller_has_claude_read_besides_stays_native() {
    let repo = projected();
    repo.write("other/CLAUDE.md", "Of another folder.\n");
    let (args, seen) = arguments(&repo, "claude", &["-p", "--bare", "--add-dir", "other", "do it"]);
    assert!(args.ends_with("-p --bare --add-dir other do it"), "{args}");
    assert_eq!(seen.part("native CLAUDE.md"), "Of another folder.\n\n");
    assert_eq!(seen.part("system"), format!("{}\n", delivered(&repo, "00-claude")));
    // With the project's own folder its files come back, but for those that hold nothing else than the bundle.
    let (_, seen) = arguments(&repo, "claude", &["-p", "--bare", "--add-dir", ".", "do it"]);
    assert!(!seen.titles().iter().any(|title| title.starts_with("native")), "{:?}", seen.titles());
    // Nothing was seen of what the agent loaded, and the record claims nothing.
    assert_eq!(manifest(&repo, "01-claude.json")["observation"]["status"], "unobserved");
}

/// Each provider with arguments that it takes, the channel that a record names, and what stands for it among the arguments.
const CHANNELS: [(&str, &[&str], Option<&str>, &str); 7] = [
    ("claude", &["-p", "do it"], Some("claude.append_system_prompt_file"), "--append-system-prompt-file /"),
    ("codex", &["exec", "do it"], Some("codex.developer_instructions"), "-c developer_instructions="),
    ("grok", &["-p", "do it"], Some("grok.rules"), "--rules # "),
    ("muse", &["exec", "do it"], Some("muse.prompt_prefix"), "exec # "),
    ("agy", &["-p", "do it"], None, "-p do it"),
    ("qwen", &["-p", "do it"], None, "-p do it"),
    ("opencode", &["-p", "do it"], None, "-p do it"),
];

#[test]
fn k6_the_record_names_the_channel_that_was_used_and_files_of_the_project_switch_off_none() {
    let repo = projected();
    for (provider, args, channel, flag) in CHANNELS {
        let (line, seen) = arguments(&repo, provider, args);
        let delivery = last(&repo, provider);
        assert_eq!(delivery["channel"].as_str(), channel, "{provider}");
        assert_eq!(delivery["status"] == "explicit", channel.is_some(), "{provider}");
        if cfg!(unix) {
            assert!(line.starts_with(flag), "{provider}: {line}");
        }
        // A channel that the provider doesn't know would have been an error of the stand-in, or show nothing.
        assert_eq!(seen.0.matches("<!-- cantus bundle=").count() > 0, channel.is_some(), "{provider}");
        assert!(seen.notes() > 0, "{provider}");
    }
}

#[test]
fn k7_no_text_of_a_provider_s_own_is_replaced() {
    let repo = projected();
    let replacing = ["model_instructions_file", "experimental_instructions_file", "--system-prompt"];
    for (provider, args, ..) in CHANNELS {
        let (line, _) = arguments(&repo, provider, args);
        assert!(!replacing.iter().any(|flag| line.contains(flag)), "{provider}: {line}");
    }
    // A caller who replaces it anyway still gets the bundle where both go together, and else the provider's own way.
    let args = ["exec", "-c", "model_instructions_file=mine.md", "do it"];
    let (line, seen) = arguments(&repo, "codex", &args);
    assert!(line.ends_with("exec -c model_instructions_file=mine.md do it"), "{line}");
    assert_eq!(seen.notes(), 1);
    let (line, _) = arguments(&repo, "grok", &["-p", "do it", "--system-prompt-override", "Mine."]);
    assert_eq!(line, "-p do it --system-prompt-override Mine.");
    assert_eq!(last(&repo, "grok")["fallback"]["reason"], "delivery_failed");
}

#[test]
fn k8_the_record_says_what_helpers_get() {
    let repo = projected();
    for (provider, args, ..) in CHANNELS {
        arguments(&repo, provider, args);
        let subagent = last(&repo, provider)["subagent"].clone();
        let expected = match provider {
            "claude" => "explicit",
            "codex" => "inherits_root",
            _ => "inherits_native",
        };
        assert_eq!(subagent["status"], expected, "{provider}");
        assert_eq!(subagent["bundle_sha256"].is_string(), expected == "explicit", "{provider}");
    }
    // An agent that is talked to has helpers that get nothing of ours, and that is told with the reason.
    arguments(&repo, "claude", &["do it"]);
    let subagent = last(&repo, "claude")["subagent"].clone();
    assert_eq!(
        (&subagent["status"], &subagent["fallback"]["reason"]),
        (&"inherits_native".into(), &"unsupported_cli".into())
    );
}

#[test]
fn k10_what_is_handed_over_is_not_read_a_second_time_where_that_can_be_muted() {
    let repo = projected();
    for (provider, args, channel, _) in CHANNELS {
        let (_, seen) = arguments(&repo, provider, args);
        let own = seen.titles().into_iter().filter(|title| title.starts_with("native")).count();
        // As `docs/launching.md` has it: claude and codex mute what was handed over, grok and muse can't.
        let expected = match provider {
            "claude" | "codex" => 0,
            "grok" => 2,
            _ => 1,
        };
        assert_eq!(own, expected, "{provider}: {:?}", seen.titles());
        let told = if channel.is_some() { 1 } else { 0 };
        assert_eq!(seen.notes(), own + told + usize::from(provider == "claude"), "{provider}");
    }
}

#[test]
fn a13_the_record_lists_the_notes_that_were_handed_over_in_their_order() {
    let repo = projected();
    repo.write("part/memory/part.md", "---\ntype: core\n---\n# Part\n\nOf the part.\n");
    repo.write("cantus.toml", "members = [\"part\"]\n");
    cantus(&repo, &["project"]).exits(0);
    exec(&repo, "codex", &["exec", "do it"]);
    let manifest = manifest(&repo, "00-codex.json");
    let sections = manifest["sections"].as_array().expect("sections").iter();
    let included = sections.filter(|section| section["status"] == "included");
    let sources = included.flat_map(|section| section["sources"].as_array().expect("sources").clone());
    let paths: Vec<_> =
        sources.filter(|source| source["scope"] == "project").map(|source| source["path"].clone()).collect();
    assert_eq!(paths, ["memory/rules.md", "memory/tests.md", "memory/release.md"]);
}
