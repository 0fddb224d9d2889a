//! The examples run as they stand.

#![cfg(unix)]

use std::path::Path;

use cantus_testkit::Repo;

#[test]
fn the_agent_gets_its_instructions() {
    let repo = Repo::new("//- memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe brief.\n");
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("agent.sh");
    let program = env!("CARGO_BIN_EXE_cantus-launcher-example");
    let output = repo.run(program, &[agent.to_str().unwrap(), "../artifacts"]).exits(3);
    let (system, rest) = output.stdout.split_once("== settings\n").unwrap();
    assert!(system.starts_with("== system prompt\n# Agent Instructions\n"), "{system}");
    assert!(system.contains("Be brief.") && system.contains("Claude: One Turn"), "{system}");
    assert!(system.lines().last().unwrap().starts_with("<!-- cantus bundle="), "{system}");
    let expected = "{\"autoMemoryEnabled\":false}\n== argument\n-p\n== argument\nSay what you know.\n\
                    == SASE_INSTRUCTIONS_FILE\n00-claude.md\n";
    assert_eq!(rest, expected);
    let record = repo.path().parent().unwrap().join("artifacts/instructions/00-claude.json");
    assert!(record.exists());
}

#[test]
fn a_conversation_is_sent_what_changed() {
    let repo = Repo::new("//- memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe brief.\n");
    let run = |requests: &[&str]| {
        let args = [&["../conversation.jsonl", "cat"], requests].concat();
        repo.run(env!("CARGO_BIN_EXE_conversation"), &args).exits(0)
    };
    let output = run(&["one", "two"]).stdout;
    let (first, second) = output.split_once("\none").unwrap();
    let (system, update) = first.split_once("\nContext update of Acme (").unwrap();
    assert!(system.starts_with("# Acme context\n") && system.contains("You answer briefly."), "{system}");
    assert!(update.contains("- memory/rules.md: Rules\n"), "{update}");
    // The list and the turn changed, the notes did not.
    let second = second.strip_prefix(system).unwrap();
    let titles: Vec<_> = second.lines().filter(|line| line.starts_with("## ")).collect();
    assert_eq!(titles, ["## Session State"]);
    // A later launcher goes on where this one stopped, and a broken project fails nothing.
    let again = run(&["two"]).stdout;
    assert_eq!(again, format!("{system}\ntwo"));
    repo.write("cantus.toml", "name = 1\n");
    let broken = run(&["three"]);
    assert_eq!(broken.stdout, "three");
    assert!(broken.stderr.starts_with("no context for this request: "), "{}", broken.stderr);
}
