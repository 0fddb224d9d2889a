//! `session`: packs, texts within budgets, checkpoints.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use cantus_testkit::{Output, Repo};
use serde_json::{Value, json};

use crate::program::{CANTUS, NOTES, cantus};

/// Runs `cantus` with this on its standard input.
#[track_caller]
fn fed(repo: &Repo, args: &[&str], input: &[u8]) -> Output {
    let mut command = repo.command(CANTUS);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program");
    // One that reads nothing may be gone by then.
    let _ = child.stdin.take().expect("its input").write_all(input);
    let output = child.wait_with_output().expect("its end");
    Output {
        status: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

#[track_caller]
fn compiled(repo: &Repo, launch: &Value, more: &[&str]) -> Value {
    repo.write("launch.json", &launch.to_string());
    let output = cantus(repo, &[&["session", "compile", "launch.json", "--no-home"], more].concat());
    assert_eq!((output.status, output.stderr.as_str()), (0, ""), "{}", output.stdout);
    serde_json::from_str(&output.stdout).expect("JSON")
}

fn launch(work: &str) -> Value {
    json!({
        "version": 1,
        "product": "Acme",
        "run": "r-1",
        "sections": [
            {"id": "role", "title": "Role", "text": "You review."},
            {"id": "work", "title": "Work", "text": work, "dynamic": true, "order": 70},
        ],
    })
}

#[test]
fn a_conversation_is_sent_what_changed() {
    let repo = Repo::new("");
    let first = compiled(&repo, &launch("one"), &["--history", "h.jsonl"]);
    assert_eq!(first["version"], 1);
    let updated = |report: &Value| report["pack"]["delivery"]["updated"].clone();
    assert_eq!(updated(&first), json!(["session-state", "references", "required-skills", "work", "wiki"]));
    assert!(first["update"]["content"].as_str().unwrap().contains("\n## Work\n\none\n"));
    let entry = |id: &str, parent: &str, update: &Value| {
        let details = json!({"cantusContext": update["snapshot"]});
        format!(
            "{}\n",
            json!({"type": "custom_message", "id": id, "parentId": parent, "customType": "cantus-context", "details": details})
        )
    };
    repo.write("h.jsonl", &entry("a", "s", &first["update"]));
    let same = compiled(&repo, &launch("one"), &["--history", "h.jsonl"]);
    assert_eq!((&same["update"], updated(&same)), (&Value::Null, json!([])));
    assert_eq!(same["system"], first["system"]);
    let other = compiled(&repo, &launch("two"), &["--history", "h.jsonl"]);
    assert_eq!(updated(&other), json!(["work"]));
    assert_eq!(other["system"], first["system"]);
    repo.write("h.jsonl", &(entry("a", "s", &first["update"]) + &entry("b", "a", &other["update"])));
    let gone =
        compiled(&repo, &json!({"version": 1, "product": "Acme", "sections": []}), &["--history", "h.jsonl"]);
    assert_eq!(updated(&gone), json!(["work"]));
    assert_eq!(gone["update"]["snapshot"], json!([]));
    // Of a folder the newest history; another type is another's.
    let found = compiled(&repo, &launch("one"), &["--history", "."]);
    assert_eq!(updated(&found), json!(["work"]));
    let others = compiled(&repo, &launch("one"), &["--history", ".", "--type", "theirs"]);
    assert_eq!(updated(&others).as_array().unwrap().len(), 5);
    // A compacted conversation may have lost it all.
    let compaction = "{\"type\":\"compaction\",\"id\":\"c\",\"parentId\":\"a\"}\n";
    repo.write("h.jsonl", &(entry("a", "s", &first["update"]) + compaction));
    assert_eq!(
        updated(&compiled(&repo, &launch("one"), &["--history", "h.jsonl"])).as_array().unwrap().len(),
        5
    );
}

#[test]
fn keys_come_in_a_fixed_order() {
    let repo = Repo::new("");
    repo.write("launch.json", &launch("one").to_string());
    let output = cantus(&repo, &["session", "compile", "launch.json"]);
    let places = [
        "{\n  \"version\": 1,\n  \"system\": \"# Acme context\\n",
        "\n  \"update\": {\n    \"content\": ",
        "\n    \"snapshot\": [\n      {\n        \"id\": \"work\",\n        \"title\": ",
        "\n  \"pack\": {\n    \"version\": 1,\n    \"run\": \"r-1\",\n    \"product\": ",
        "\n    \"delivery\": {\n      \"stable\": [",
        "\n      \"sizes\": {\n        \"system\": {\n          \"harness-identity\": ",
    ];
    let found: Vec<_> =
        places.iter().map(|place| output.stdout.find(place).unwrap_or_else(|| panic!("{place}"))).collect();
    assert!(found.is_sorted(), "{found:?}");
    let piped = fed(&repo, &["session", "compile", "-"], launch("one").to_string().as_bytes());
    assert_eq!(piped.stdout, output.stdout);
}

#[test]
fn a_pack_is_recorded_beside_its_run() {
    let repo = Repo::new("");
    let report = compiled(&repo, &launch("one"), &["--record", "data"]);
    let recorded: Value = serde_json::from_str(&repo.read("data/runs/r-1/context.json")).unwrap();
    assert_eq!(recorded, report["pack"]);
}

#[test]
fn a_pack_that_cannot_be_recorded_fails_nothing() {
    let repo = Repo::new("");
    repo.write("launch.json", &launch("one").to_string());
    let plain = cantus(&repo, &["session", "compile", "launch.json"]);
    for folder in ["launch.json", "launch.json/below"] {
        let output = cantus(&repo, &["session", "compile", "launch.json", "--record", folder]);
        assert_eq!((output.status, &output.stdout), (0, &plain.stdout), "{}", output.stderr);
        assert!(
            output.stderr.starts_with(&format!("{folder}: warning: the pack was not recorded: ")),
            "{}",
            output.stderr
        );
    }
    assert_eq!(repo.read("launch.json"), launch("one").to_string());
}

#[test]
fn notes_of_the_project_are_pointed_to_and_quoted() {
    let repo = Repo::new(NOTES);
    let launch = json!({
        "version": 1,
        "product": "Acme",
        "wiki": true,
        "references": [{"kind": "note", "path": "memory/release.md"}, {"kind": "note", "path": "memory/gone.md"}],
    });
    let report = compiled(&repo, &launch, &[]);
    let content = report["update"]["content"].as_str().unwrap();
    assert!(content.contains("### Release (memory/release.md)\n\n# Release\n\nTag it.\n"), "{content}");
    assert!(
        content.contains("\n- memory/gone.md: this note can't be read. Tell the person so.\n"),
        "{content}"
    );
    assert!(
        content
            .contains("- memory/release.md: Release\n- memory/rules.md: Rules\n- memory/tests.md: Tests\n"),
        "{content}"
    );
    let titles: Vec<_> = content.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(
        titles,
        ["## Session State", "## Selected References", "## Required Skills", "## Notes at Hand"]
    );
}

#[test]
fn a_broken_note_is_told_and_fails_no_session() {
    let repo = Repo::new(NOTES);
    repo.write("memory/torn.md", "---\ntype: nonsense\n---\n# Torn\n");
    let references =
        json!([{"kind": "note", "path": "memory/torn.md"}, {"kind": "note", "path": "memory/release.md"}]);
    let launch = json!({"version": 1, "product": "Acme", "wiki": true, "references": references});
    repo.write("launch.json", &launch.to_string());
    let compile = ["session", "compile", "launch.json", "--no-home"];
    let output = cantus(&repo, &compile);
    assert_eq!(output.status, 0, "{}", output.stderr);
    assert!(output.stderr.starts_with("memory/torn.md:2: warning: "), "{}", output.stderr);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    let content = report["update"]["content"].as_str().expect("a text");
    assert!(
        content.contains("\n- memory/torn.md: this note can't be read. Tell the person so.\n"),
        "{content}"
    );
    assert!(content.contains("\nTag it.\n") && !content.contains("- memory/torn.md: Torn"), "{content}");
    let strict = cantus(&repo, &[&compile[..], &["--strict"]].concat());
    assert_eq!((strict.status, strict.stdout.as_str()), (2, ""), "{}", strict.stderr);
    // A bundle is what the notes say, all of them, or nothing.
    repo.write("launch.json", &json!({"version": 1, "product": "Acme", "bundle": {}}).to_string());
    let bundle = cantus(&repo, &compile);
    assert_eq!((bundle.status, bundle.stdout.as_str()), (2, ""));
    assert!(bundle.stderr.starts_with("memory/torn.md:2: error: "), "{}", bundle.stderr);
}

#[test]
fn a_bundle_is_the_stable_part() {
    let repo = Repo::new(NOTES);
    let rendered = cantus(&repo, &["render", "--no-home", "-f", "provider=claude", "-q"]);
    let launch = json!({"version": 1, "product": "Acme", "bundle": {"facts": ["provider=claude"]}});
    let report = compiled(&repo, &launch, &[]);
    assert!(report["system"].as_str().unwrap().contains(&rendered.stdout), "{}", report["system"]);
    let stable = report["pack"]["delivery"]["stable"].as_array().unwrap();
    assert!(stable.contains(&json!("proj.core.rules")), "{stable:?}");
    repo.write(
        "launch.json",
        &json!({"version": 1, "product": "A", "bundle": {"facts": ["provder=x"]}}).to_string(),
    );
    let output = cantus(&repo, &["session", "compile", "launch.json"]);
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("unknown fact `provder`"), "{}", output.stderr);
    assert!(
        output.stderr.contains("help: the facts are those under `bundle` in `launch.json`"),
        "{}",
        output.stderr
    );
}

#[test]
fn a_package_has_its_own_words() {
    let repo = Repo::new(
        "
        //- house/package.toml
        name = \"house\"
        version = \"1\"
        //- house/contract.md
        # House
        //- house/session/reporting.md
        # Reports

        Be brief in {{ product }}.
        //- house/session/guardrails.md
        ",
    );
    let report = compiled(&repo, &launch("one"), &["--package", "house"]);
    let system = report["system"].as_str().unwrap();
    assert!(system.contains("\n## Reports\n\nBe brief in Acme.\n"), "{system}");
    assert!(!system.contains("## Limits"), "{system}");
    repo.write("house/session/reporting.md", "Be brief in {{ produkt }}.\n");
    let output = cantus(&repo, &["session", "compile", "launch.json", "--package", "house"]);
    assert_eq!(output.status, 2);
    let said = "house/session/reporting.md:1: error: unknown placeholder `produkt`; expected `product`";
    assert!(output.stderr.starts_with(said), "{}", output.stderr);
}

#[test]
fn broken_launches_are_told_with_file_and_line() {
    let repo = Repo::new("");
    let check = |launch: &str, expected: &str| {
        repo.write("l.json", launch);
        let output = cantus(&repo, &["session", "compile", "l.json"]);
        assert_eq!((output.status, output.stdout.as_str()), (2, ""));
        assert!(output.stderr.starts_with(expected), "{}", output.stderr);
        output.stderr
    };
    check("", "l.json:1: error: EOF while parsing a value");
    check(
        "{\"version\": 1,\n\"product\": \"A\",\n\"sections\": [{\"id\": \"session-state\", \"text\": \"x\"}]}",
        "l.json:3: error: a host may not supply the section `session-state`",
    );
    check(
        "{\"version\": 1, \"product\": \"A\", \"run\": \"../../x\"}",
        "l.json:1: error: `../../x` can't be a run id: ",
    );
    check(
        "{\"version\": 1, \"product\": \" \"}",
        "l.json:1: error: `product` must be one line that is not blank",
    );
    check(
        "{\"version\": 1, \"product\": \"A\", \"sectoins\": []}",
        "l.json:1: error: unknown field `sectoins`, expected one of ",
    );
    check("{\"version\": 1, \"product\": \"A\", \"bundle\": {}}", "error: no project found");
    let budget = |number: &str| {
        let section = format!("{{\"id\": \"a\", \"text\": \"t\",\n\"budget\": {number}}}");
        format!("{{\"version\": 1, \"product\": \"A\", \"sections\": [{section}]}}")
    };
    for number in ["-1", "1.5", "\"1\"", "18446744073709551616"] {
        let output = check(&budget(number), "l.json:2: error: invalid ");
        assert!(output.contains(", expected a whole number, 0 or more [session.launch]\n"), "{output}");
    }
    let output = cantus(&repo, &["session", "compile", "none.json"]);
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("cannot read `none.json`: there is no such file"), "{}", output.stderr);
    repo.write("l.json", "{\"version\": 1, \"product\": \"A\"}");
    let output = cantus(&repo, &["session", "compile", "l.json", "--record", "data"]);
    assert_eq!(output.status, 2);
    assert!(output.stderr.contains("names no run to record the pack for"), "{}", output.stderr);
    let output = cantus(&repo, &["session", "compile", "l.json", "--history", "-"]);
    assert_eq!(output.status, 2, "{}", output.stderr);
}

#[test]
fn many_sections_take_no_minutes() {
    let repo = Repo::new("");
    let text = "x".repeat(1_000);
    let sections: Vec<_> =
        (0..5_000).map(|index| json!({"id": format!("s{index}"), "text": text, "dynamic": true})).collect();
    let report = compiled(&repo, &json!({"version": 1, "product": "Acme", "sections": sections}), &[]);
    assert_eq!(report["update"]["snapshot"].as_array().unwrap().len(), 5_000);
}

#[test]
fn a_launcher_in_python_keeps_a_conversation() {
    if Command::new("python3").arg("--version").output().is_err() {
        eprintln!("there is no python3 here: not tried");
        return;
    }
    let repo = Repo::new(NOTES);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python/conversation.py");
    let run = |branch: &str, requests: &[&str]| {
        let mut command = repo.command("python3");
        command
            .arg(&script)
            .args(["h.jsonl", "cat"])
            .args(requests)
            .env("CANTUS", CANTUS)
            .env("BRANCH", branch);
        let output = command.output().expect("its end");
        String::from_utf8(output.stderr).expect("UTF-8")
    };
    let all = "['session-state', 'references', 'required-skills', 'branch', 'wiki']";
    let said = |number: u8, updated: &str| format!("request {number}: updated {updated}\n");
    let same = [said(2, "['session-state']"), said(3, "[]")].concat();
    assert_eq!(run("main", &["one", "two", "two"]), said(1, all) + &same);
    assert_eq!(run("topic", &["two"]), said(1, "['session-state', 'branch']"));
    let mut history = repo.read("h.jsonl");
    let last: Value = serde_json::from_str(history.lines().last().expect("an entry")).expect("JSON");
    history.push_str(&json!({"type": "compaction", "id": "99", "parentId": last["id"]}).to_string());
    repo.write("h.jsonl", &(history + "\n"));
    assert_eq!(run("topic", &["two"]), said(1, all));
}

#[test]
fn texts_are_fitted() {
    let repo = Repo::new("");
    let fit = |args: &[&str], input: &str| {
        let output = fed(&repo, &[&["session", "fit"], args].concat(), input.as_bytes());
        assert_eq!((output.status, output.stderr.as_str()), (0, ""));
        serde_json::from_str::<Value>(&output.stdout).unwrap()
    };
    assert_eq!(
        fit(&["--budget", "18", "--pointer", "more"], " one two\n\nthree four five\n"),
        json!({"version": 1, "body": "one two\n\nmore", "size": 13, "cut": true})
    );
    assert_eq!(
        fit(&["--budget", "3"], "äöü\n"),
        json!({"version": 1, "body": "äöü", "size": 3, "cut": false})
    );
    assert_eq!(
        fit(&["--budget", "0", "--pointer", "-x"], "abc"),
        json!({"version": 1, "body": "-x", "size": 2, "cut": true})
    );
    for budget in ["-1", "1.5", "NaN", "", "99999999999999999999"] {
        assert_eq!(fed(&repo, &["session", "fit", "--budget", budget], b"x").status, 2, "{budget}");
    }
    let broken = fed(&repo, &["session", "fit", "--budget", "3"], b"a\n\xff");
    assert_eq!(broken.status, 2);
    assert!(broken.stderr.starts_with("-:2: error: not UTF-8"), "{}", broken.stderr);
}

#[test]
fn texts_are_clipped_raw() {
    let repo = Repo::new("");
    let clip = |limit: &str, input: &str| {
        let output = fed(&repo, &["session", "clip", "--limit", limit], input.as_bytes());
        assert_eq!((output.status, output.stderr.as_str()), (0, ""));
        output.stdout
    };
    assert_eq!(clip("4", "abc\n"), "abc\n");
    assert_eq!(clip("3", "\u{feff}é\r\n"), "\u{feff}é\r…");
    assert_eq!(clip("0", "\u{1b}[31m"), "…");
    assert_eq!(clip("9", "\u{1b}[31m"), "\u{1b}[31m");
    assert_eq!(clip("0", ""), "");
}

#[test]
fn checkpoints_tell_where_a_run_stood() {
    let repo = Repo::new("");
    repo.write("c.json", "{\"version\": 1, \"request\": \"Mend it.\", \"todo\": [{\"text\": \"a\"}, {\"text\": \"b\", \"status\": \"completed\"}]}");
    let output = cantus(&repo, &["session", "checkpoint", "c.json"]);
    assert_eq!((output.status, output.stderr.as_str()), (0, ""));
    let report: Value = serde_json::from_str(&output.stdout).unwrap();
    let body = report["body"].as_str().unwrap();
    assert!(body.ends_with("### Current Request\n\nMend it.\n\n### To Do\n\n#### In Progress and Pending\n\n- [ ] a\n\n#### Completed, 1\n\n- [x] b"), "{body}");
    assert_eq!(report["size"], body.chars().count());
    repo.write("c.json", "{\"version\": 1, \"request\": \"Mend it.\"}");
    let output = cantus(&repo, &["session", "checkpoint", "c.json"]);
    assert_eq!(
        serde_json::from_str::<Value>(&output.stdout).unwrap(),
        json!({"version": 1, "body": null, "size": 0})
    );
    repo.write("c.json", "{\"version\": 1,\n\"todo\": [{\"text\": \"a\", \"status\": \"done\"}]}");
    let output = cantus(&repo, &["session", "checkpoint", "c.json"]);
    assert_eq!(output.status, 2);
    assert!(
        output.stderr.starts_with(
            "c.json:2: error: unknown variant `done`, expected one of `pending`, `in_progress`, `completed`"
        ),
        "{}",
        output.stderr
    );
}
