//! The example runs as it stands.

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
