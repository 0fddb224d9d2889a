//! Each adapter with every spelling that its provider takes.

use std::sync::Arc;

use cantus_fs::{Fault, FaultDisk, FaultKind, On, Operation, RealDisk};
use cantus_testkit::Repo;

use super::*;

const ROOT: &str = "# T\n\n<!-- marker -->\n";
const HELPER: &str = "# H\n\n<!-- marker -->\n";

/// The arguments that `provider` gets, or why it gets none. Names of private files become `{suffix}`, with their text
/// behind them.
fn carried(repo: &Repo, provider: &str, args: &[&str]) -> Result<Vec<String>, String> {
    let name =
        format!("cantus-test-{}", repo.path().parent().unwrap().file_name().unwrap().to_str().unwrap());
    let desk = Desk::new(Arc::new(RealDisk), repo.path().to_path_buf(), name.clone());
    let owned = [PathBuf::from("/w/AGENTS.md")];
    let load = Load { root: ROOT, helper: Some(HELPER), owned: &owned, desk: &desk };
    let adapter = find(&Provider::new(provider).unwrap()).unwrap();
    let args = args.iter().map(OsString::from).collect();
    let carried = (adapter.carry)(&load, args).map_err(|fallback| fallback.detail.unwrap())?;
    let show = |arg: OsString| {
        let arg = arg.into_string().unwrap();
        match arg.split_once(&name) {
            Some((folder, suffix)) => {
                let path = format!("{folder}{name}{suffix}");
                format!("{{{suffix}}}{}", desk.read(path.as_ref()).unwrap())
            }
            None => arg,
        }
    };
    let mut args: Vec<_> = carried.args.into_iter().map(show).collect();
    args.extend(carried.helper.map(|helper| format!("helper: {}", helper.detail.unwrap())));
    Ok(args)
}

#[track_caller]
fn check_in(repo: &Repo, provider: &str, args: &[&str], expected: &[&str]) {
    assert_eq!(carried(repo, provider, args).unwrap(), expected);
}

#[track_caller]
fn check(provider: &str, args: &[&str], expected: &[&str]) {
    check_in(&Repo::without_git(""), provider, args, expected);
}

#[track_caller]
fn check_failed(provider: &str, args: &[&str], expected: &str) {
    assert_eq!(carried(&Repo::without_git(""), provider, args).unwrap_err(), expected);
}

#[test]
fn every_row_has_a_legal_name_and_channel() {
    for adapter in ADAPTERS {
        assert!(find(&Provider::new(adapter.name).unwrap()).is_some());
        for slot in [adapter.plan.root, adapter.plan.subagent] {
            let Slot::Explicit { channel, .. } = slot else { continue };
            let (provider, name) = channel.split_once('.').unwrap();
            assert_eq!(provider, adapter.name);
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{name}");
        }
    }
    assert!(find(&Provider::new("Claude").unwrap()).is_none());
}

#[test]
fn providers_that_read_by_themselves_get_nothing() {
    for provider in ["agy", "qwen", "opencode", "native"] {
        check(provider, &["-p", "x", "--rules", "y"], &["-p", "x", "--rules", "y"]);
    }
}

const SETTINGS: &str = r#"{"autoMemoryEnabled":false,"claudeMdExcludes":["/w/AGENTS.md"]}"#;

fn claude(theirs: &str, settings: &str, rest: &[&str]) -> Vec<String> {
    let ours = ["--append-system-prompt-file", &format!("{{.md}}{theirs}{ROOT}")].map(str::to_owned);
    let helper =
        ["--append-subagent-system-prompt-file", &format!("{{.helper.md}}{HELPER}")].map(str::to_owned);
    let settings = ["--settings", settings].map(str::to_owned);
    ours.into_iter().chain(helper).chain(settings).chain(rest.iter().map(|arg| (*arg).to_owned())).collect()
}

#[track_caller]
fn check_claude(repo: &Repo, args: &[&str], expected: &[String]) {
    assert_eq!(carried(repo, "claude", args).unwrap(), expected);
}

#[test]
fn claude_gets_files_in_front_of_everything() {
    let repo = Repo::without_git("");
    check_claude(&repo, &["-p", "do it"], &claude("", SETTINGS, &["-p", "do it"]));
    for print in ["--print", "-cp", "-p"] {
        check_claude(&repo, &[print, "--", "-x"], &claude("", SETTINGS, &[print, "--", "-x"]));
    }
}

#[test]
fn claudes_helpers_get_theirs_in_print_mode_alone() {
    let no = "helper: helpers' texts are for `--print` alone";
    let root = format!("{{.md}}{ROOT}");
    for args in [&["do it"][..], &["--", "-p"], &["--permission-mode", "plan"]] {
        let expected =
            [&["--append-system-prompt-file", &root, "--settings", SETTINGS], args, &[no]].concat();
        check("claude", args, &expected);
    }
}

#[test]
fn claudes_caller_may_append_by_itself() {
    let repo = Repo::without_git("//- mine.txt\nMine.\n\n//- old.txt\nOld.");
    let expected = claude("Mine.\n\n", SETTINGS, &["-p", "x"]);
    check_claude(&repo, &["-p", "--append-system-prompt-file", "mine.txt", "x"], &expected);
    check_claude(&repo, &["--append-system-prompt-file=mine.txt", "-p", "x"], &expected);
    check_claude(&repo, &["-p", "x", "--append-system-prompt", "Mine."], &expected);
    check_claude(&repo, &["-p", "x", "--append-system-prompt=Mine.\n"], &expected);
    let repeated =
        ["--append-system-prompt-file", "old.txt", "-p", "x", "--append-system-prompt-file", "mine.txt"];
    check_claude(&repo, &repeated, &expected);
    assert_eq!(repo.read("mine.txt"), "Mine.\n\n");
}

#[test]
fn claudes_caller_may_instruct_helpers() {
    let repo = Repo::without_git("//- h.txt\nBe a helper.");
    let args = ["--append-subagent-system-prompt-file", "h.txt", "-p", "x"];
    let found = carried(&repo, "claude", &args).unwrap();
    assert_eq!(
        found[2..4],
        ["--append-subagent-system-prompt-file", &format!("{{.helper.md}}Be a helper.\n\n{HELPER}")]
    );
    assert_eq!(found[4..], ["--settings", SETTINGS, "-p", "x"]);
    let args = ["--append-subagent-system-prompt-file", "none.txt", "-p", "x"];
    let found = carried(&repo, "claude", &args).unwrap();
    assert_eq!(found[2..8], ["--settings", SETTINGS, args[0], args[1], "-p", "x"]);
    assert_eq!(found[8], "helper: the caller's `--append-subagent-system-prompt-file` can't be read");
}

#[test]
fn claudes_settings_are_merged() {
    let repo = Repo::without_git("//- s.json\n{\"model\": \"opus\"}\n");
    let merged = r#"{"autoMemoryEnabled":false,"claudeMdExcludes":["/w/AGENTS.md"],"model":"opus"}"#;
    let expected = claude("", merged, &["-p"]);
    check_claude(&repo, &["-p", "--settings", "s.json"], &expected);
    check_claude(&repo, &["-p", r#"--settings= {"model":"opus"}"#], &expected);
    check_claude(&repo, &["--settings", "{}", "-p", "--settings", "s.json"], &expected);
    let theirs = r#"{"autoMemoryEnabled":true,"claudeMdExcludes":["/x","/w/AGENTS.md"]}"#;
    check_claude(&repo, &["--settings", theirs, "-p"], &claude("", theirs, &["-p"]));
    let theirs = r#"{"autoMemoryEnabled":false,"claudeMdExcludes":7}"#;
    check_claude(&repo, &["--settings", theirs, "-p"], &claude("", theirs, &["-p"]));
}

#[test]
fn large_settings_go_into_a_file() {
    let repo = Repo::without_git("");
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(MOST_ARGUMENT));
    repo.write("s.json", &large);
    let found = carried(&repo, "claude", &["-p", "--settings", "s.json"]).unwrap();
    assert!(found[5].starts_with("{.settings.json}{\"a\":\"xxx"), "{}", &found[5][..40]);
}

#[test]
fn what_claudes_caller_got_wrong_is_left_to_claude() {
    check_failed(
        "claude",
        &["--append-system-prompt-file", "none.txt"],
        "the caller's `--append-system-prompt-file` can't be read",
    );
    let both = ["--append-system-prompt-file=x", "--append-system-prompt=y"];
    check_failed("claude", &both, "the caller gives both a text and `--append-system-prompt-file`");
    for settings in ["none.json", "{", "[]", "{} x"] {
        check_failed(
            "claude",
            &["--settings", settings],
            "the caller's `--settings` are no JSON object that can be read",
        );
    }
}

#[test]
fn claude_is_known_by_its_version_or_its_help() {
    #[track_caller]
    fn check(version: Option<&str>, help: Option<&str>, expected: (Option<&str>, bool)) {
        let found = knowledge(version, || help.map(str::to_owned));
        assert_eq!((found.version.as_deref(), found.helper_file), expected);
    }
    check(Some("2.1.261 (Claude Code)\n"), None, (Some("2.1.261"), true));
    check(Some("3.0.0-beta.1"), None, (Some("3.0.0-beta.1"), true));
    check(Some("2.1.260 (Claude Code)"), None, (Some("2.1.260"), false));
    check(Some("2.0.999"), Some("… --append-subagent-system-prompt-file <file> …"), (Some("2.0.999"), true));
    check(Some("2.1"), Some("--append-subagent-system-prompt <text>"), (None, false));
    check(Some("error: unknown option"), None, (None, false));
    check(None, Some("--append-subagent-system-prompt-file"), (None, true));
}

const INSTRUCTIONS: &str = r##"developer_instructions="# T\n\n<!-- marker -->\n""##;
const MUTED: [&str; 2] = ["-c", "project_doc_max_bytes=0"];

#[track_caller]
fn check_codex(args: &[&str], theirs: &str, rest: &[&str]) {
    let instructions = INSTRUCTIONS.replacen("# T", &format!("{theirs}# T"), 1);
    check("codex", args, &[&["-c", &instructions][..], &MUTED, rest].concat());
}

#[test]
fn codex_gets_developer_instructions() {
    check_codex(&["exec", "do it"], "", &["exec", "do it"]);
    check_codex(&["-c", "model=\"o3\"", "exec", "x"], "", &["-c", "model=\"o3\"", "exec", "x"]);
    check_codex(
        &["exec", "--", "-c", "developer_instructions=x"],
        "",
        &["exec", "--", "-c", "developer_instructions=x"],
    );
}

#[test]
fn codexs_caller_may_instruct_by_itself() {
    for flag in [
        &["-c", "developer_instructions=Mine."][..],
        &["-cdeveloper_instructions=Mine."],
        &["-c=developer_instructions = Mine. "],
        &["--config", "developer_instructions=\"Mine.\""],
        &["--config=developer_instructions='Mine.'"],
        &["--config=developer_instructions=\"\"\"\nMine.\"\"\""],
        &["--config=developer_instructions=\"Mi\\u006Ee.\\n\""],
        &["-c", "developer_instructions=Old.", "-c", "developer_instructions=Mine."],
    ] {
        let args = [&["exec"], flag, &["x"]].concat();
        check_codex(&args, "Mine.\\n\\n", &["exec", "x"]);
    }
    check_codex(&["-c", "developer_instructions=\"Mine.", "x"], "Mine.\\n\\n", &["x"]);
    check_codex(&["-c", "developer_instructions=", "x"], "", &["x"]);
    check_failed(
        "codex",
        &["-c", "developer_instructions=5"],
        "the caller's `developer_instructions` is not a text",
    );
    check_failed(
        "codex",
        &["-c", "developer_instructions=[\"a\"]"],
        "the caller's `developer_instructions` is not a text",
    );
}

#[test]
fn codexs_text_is_a_string_in_toml_and_in_json() {
    let text: String = (0..0x250).filter_map(char::from_u32).chain(['😀', '\u{2028}']).collect();
    let desk = Desk::new(Arc::new(RealDisk), PathBuf::from("/"), "none".to_owned());
    let load = Load { root: &text, helper: None, owned: &[], desk: &desk };
    let carried = (find(&Provider::new("codex").unwrap()).unwrap().carry)(&load, Vec::new()).unwrap();
    let value = carried.args[1].to_str().unwrap().strip_prefix("developer_instructions=").unwrap();
    assert_eq!(serde_json::from_str::<String>(value).unwrap(), text);
    let table = format!("x = {value}").parse::<toml::Table>().unwrap();
    assert_eq!(table["x"].as_str(), Some(text.as_str()));
}

#[test]
fn grok_gets_rules() {
    check("grok", &["-p", "x"], &["--rules", ROOT, "-p", "x"]);
    let joined = format!("Mine.\n\n{ROOT}");
    for flag in [
        &["--rules", "Mine."][..],
        &["--rules=Mine."],
        &["--append-system-prompt", "Mine."],
        &["--rules=a", "--rules=Mine."],
    ] {
        check("grok", &[&["-p"], flag, &["x"]].concat(), &["--rules", &joined, "-p", "x"]);
    }
    let replaced = ["--system-prompt-override", "x", "-p", "y"];
    check_failed("grok", &replaced, "the caller's `--system-prompt-override` leaves no place for rules");
}

#[test]
fn muses_prompt_follows_the_bundle() {
    let prompt = format!("{ROOT}\n\n--- User Prompt ---\nDo it.");
    check("muse", &["exec", "--json", "Do it."], &["exec", "--json", &prompt]);
    check("muse", &["exec", "--", "Do it."], &["exec", "--", &prompt]);
    check("muse", &["Do it."], &[&prompt]);
    let dashed = format!("{ROOT}\n\n--- User Prompt ---\n-x");
    check("muse", &["exec", "--", "-x"], &["exec", "--", &dashed]);
    for args in [&[][..], &["exec"], &["exec", "--json"], &["exec", "--"]] {
        check_failed("muse", args, "the command has no prompt to put the bundle in front of");
    }
}

#[test]
fn muses_prompt_may_be_a_file() {
    let repo = Repo::without_git("//- p.md no-final-newline\nDo it.");
    let prompt = format!("{{.prompt.md}}{ROOT}\n\n--- User Prompt ---\nDo it.");
    for flag in [&["--prompt-file", "p.md"][..], &["--prompt-file=p.md"]] {
        check_in(
            &repo,
            "muse",
            &[&["exec", "--json"], flag].concat(),
            &["exec", "--prompt-file", &prompt, "--json"],
        );
    }
    check_failed("muse", &["exec", "--prompt-file", "no.md"], "the caller's `--prompt-file` can't be read");
}

#[test]
fn a_long_prompt_of_muse_goes_into_a_file() {
    let long = "x".repeat(MOST_ARGUMENT);
    let prompt = format!("{{.prompt.md}}{ROOT}\n\n--- User Prompt ---\n{long}");
    check("muse", &["exec", "--json", &long], &["exec", "--json", "--prompt-file", &prompt]);
    check("muse", &["exec", "--", &long], &["exec", "--prompt-file", &prompt]);
    assert!(carried(&Repo::without_git(""), "muse", &[&long]).unwrap_err().contains("bytes are more than"));
}

#[test]
fn an_argument_is_never_longer_than_the_system_takes() {
    let fits = |provider: &str, args: &[&str]| carried(&Repo::without_git(""), provider, args).is_ok();
    let most = MOST_ARGUMENT - ROOT.len() - 2;
    assert!(fits("grok", &["--rules", &"x".repeat(most)]));
    assert!(!fits("grok", &["--rules", &"x".repeat(most + 1)]));
    let most = MOST_ARGUMENT - INSTRUCTIONS.len() - 4;
    let theirs = |count| format!("developer_instructions={}", "x".repeat(count));
    assert!(fits("codex", &["-c", &theirs(most)]));
    assert!(!fits("codex", &["-c", &theirs(most + 1)]));
    let quotes = format!("developer_instructions='{}'", "\"".repeat(most / 2 + 1));
    assert!(!fits("codex", &["-c", &quotes]));
}

#[test]
fn no_argument_holds_a_nul() {
    let desk = Desk::new(Arc::new(RealDisk), PathBuf::from("/"), "none".to_owned());
    let load = Load { root: "a\0b\n", helper: None, owned: &[], desk: &desk };
    for provider in ["codex", "grok", "muse"] {
        let carried = (find(&Provider::new(provider).unwrap()).unwrap().carry)(&load, vec!["x".into()]);
        let args = carried.map(|carried| carried.args).unwrap_or_default();
        assert!(args.iter().all(|arg| !arg.as_encoded_bytes().contains(&0)), "{provider}");
        assert_eq!(args.is_empty(), provider != "codex", "{provider}");
    }
}

#[test]
fn needs_are_what_the_argument_takes() {
    let load = |desk| Load { root: ROOT, helper: None, owned: &[], desk };
    let desk = Desk::new(Arc::new(RealDisk), PathBuf::from("/"), "none".to_owned());
    for provider in ["codex", "grok"] {
        let adapter = find(&Provider::new(provider).unwrap()).unwrap();
        let carried = (adapter.carry)(&load(&desk), Vec::new()).unwrap();
        assert_eq!((adapter.needs)(ROOT), carried.args[1].len(), "{provider}");
    }
}

#[test]
fn private_files_are_private_and_go_with_the_call() {
    let disk = Arc::new(FaultDisk::new());
    let repo = Repo::without_git("");
    let name =
        format!("cantus-private-{}", repo.path().parent().unwrap().file_name().unwrap().to_str().unwrap());
    let desk = Desk::new(disk, repo.path().to_path_buf(), name);
    let path = desk.write(".md", "x").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;

        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    }
    assert!(path.exists());
    drop(desk);
    assert!(!path.exists());
}

#[test]
fn a_private_file_that_cannot_be_written_is_a_failure() {
    let fault = Fault { at: 1, on: On::Only(Operation::Stage), kind: FaultKind::ShortWrite };
    let disk = Arc::new(FaultDisk::new().fault(fault));
    let desk = Desk::new(disk, PathBuf::from("/"), "cantus-unwritten".to_owned());
    let load = Load { root: ROOT, helper: None, owned: &[], desk: &desk };
    let adapter = find(&Provider::new("claude").unwrap()).unwrap();
    let fallback = (adapter.carry)(&load, vec!["-p".into()]).unwrap_err();
    assert_eq!(fallback.reason, FallbackReason::DeliveryFailed);
    assert!(fallback.detail.unwrap().starts_with("a private file can't be written: "));
}
