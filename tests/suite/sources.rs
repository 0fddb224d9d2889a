//! The sources in a manifest: every file that a section was made of, by the names of its raw bytes.

use std::collections::BTreeSet;
use std::fs;

use cantus_testkit::Repo;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::program::{NOTES, cantus};

/// A project with every kind of source; files of three kinds have CRLF.
const ALL_KINDS: &str = "
    //- cantus.toml crlf
    package = \"house\"

    [[repositories]]
    name = \"infra\"
    description = \"All of it.\"
    //- house/package.toml
    name = \"house\"
    version = \"1\"
    //- house/contract.md crlf
    # Contract

    ## Repositories {#repos}

    {{ repository_entries }}

    ## Other {#other}

    Text.
    //- house/helper.md
    # Helper

    Help.
    //- house/frame.md
    ## Kern {#core}

    Intro.
    //- house/providers/p.md crlf
    # P

    For p.
    //- memory/rules.md crlf
    ---
    type: core
    ---
    # Rules

    Be brief.
    //- memory/release.md
    ---
    type: reference
    description: Schön.
    ---
    # Release
    //- memory/terms.md
    ---
    web: true
    ---
    # Terms

    <!-- cantus:strands -->
    <!-- /cantus:strands -->
    //- memory/terms/bundle.md
    ---
    keyword: Bundle
    ---
    All sections.
    ";

fn manifest(repo: &Repo, args: &[&str]) -> Value {
    let output = cantus(repo, &[&["render", "-jq"], args].concat()).exits(0);
    serde_json::from_str(&output.stdout).expect("JSON")
}

/// Every source of every section, with the section's id.
fn sources(manifest: &Value) -> Vec<(&str, &Value)> {
    let sections = manifest["sections"].as_array().expect("sections").iter();
    let sources = sections.flat_map(|section| {
        let sources = section["sources"].as_array().expect("sources").iter();
        sources.map(|source| (section["id"].as_str().expect("an id"), source))
    });
    sources.collect()
}

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn files_have_the_digest_of_their_raw_bytes_and_the_name_that_git_gives_them() {
    let repo = Repo::new(ALL_KINDS);
    let value = manifest(&repo, &["-f", "provider=p"]);
    let mut kinds = BTreeSet::new();
    for (id, source) in sources(&value) {
        let (kind, path) =
            (source["kind"].as_str().expect("a kind"), source["path"].as_str().expect("a path"));
        let file = if source["scope"] == "package" { format!("house/{path}") } else { path.to_owned() };
        kinds.insert(kind.to_owned());
        if kind == "provider_directive" {
            assert_eq!(source["sha256"], sha256(b"# P\n\nFor p.\n"), "{id}");
            assert_eq!(source.get("blob_oid"), None, "{id}");
            continue;
        }
        assert_eq!(source["sha256"], sha256(&repo.read_bytes(&file)), "{id}: {file}");
        let blob = repo.git(&["hash-object", "--no-filters", &file]);
        assert_eq!(source["blob_oid"], blob.trim(), "{id}: {file}");
    }
    let expected = [
        "config",
        "helper_template",
        "memory_note",
        "memory_strands",
        "memory_web",
        "package_template",
        "provider_directive",
    ];
    assert_eq!(kinds.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    assert!(repo.read("house/contract.md").contains("\r\n") && repo.read("cantus.toml").contains("\r\n"));
}

#[test]
fn committed_files_have_the_names_of_their_blobs() {
    let repo = Repo::new(NOTES);
    repo.commit_all("notes");
    let value = manifest(&repo, &[]);
    let (_, note) = sources(&value)
        .into_iter()
        .find(|(_, source)| source["path"] == "memory/rules.md")
        .expect("the note");
    assert_eq!(note["blob_oid"], repo.git(&["rev-parse", "HEAD:memory/rules.md"]).trim());
}

#[test]
fn files_of_the_built_in_package_have_both_hashes() {
    let repo = Repo::new(NOTES);
    let value = manifest(&repo, &["-f", "provider=claude"]);
    let contract = sources(&value).into_iter().find(|(_, source)| source["path"] == "contract.md");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../cantus-compose/package/contract.md");
    let bytes = fs::read(file).expect("the contract");
    repo.write_bytes("copy.md", &bytes);
    let expected = json!({
        "scope": "package",
        "kind": "package_template",
        "path": "contract.md",
        "sha256": sha256(&bytes),
        "blob_oid": repo.git(&["hash-object", "--no-filters", "copy.md"]).trim(),
    });
    assert_eq!(contract.expect("the contract").1, &expected);
}

/// The configurations that the section of repositories names.
fn configs(value: &Value) -> Vec<Value> {
    let sources = sources(value).into_iter().filter(|(_, source)| source["kind"] == "config");
    let named = sources.map(|(id, source)| {
        assert!(id.ends_with(".repos"), "{id}");
        json!([
            source["scope"],
            source["path"],
            source.get("sha256").is_some(),
            source.get("blob_oid").is_some()
        ])
    });
    named.collect()
}

#[test]
fn repositories_name_the_configurations_that_list_them() {
    let repo = Repo::new(NOTES);
    assert_eq!(configs(&manifest(&repo, &[])), [] as [Value; 0]);
    let list = |names: &[&str]| -> String {
        names
            .iter()
            .map(|name| format!("[[repositories]]\nname = \"{name}\"\ndescription = \"D.\"\n"))
            .collect()
    };
    repo.write("user/cantus.toml", &list(&["one", "two"]));
    let home = ["--home", "user"];
    let of_home = json!(["home", "cantus.toml", false, false]);
    assert_eq!(configs(&manifest(&repo, &home)), std::slice::from_ref(&of_home));

    repo.write("cantus.toml", &list(&["one"]));
    let own = json!(["project", "cantus.toml", true, true]);
    assert_eq!(configs(&manifest(&repo, &home)), [own.clone(), of_home]);
    assert_eq!(configs(&manifest(&repo, &[])), std::slice::from_ref(&own));
    // Both are listed by the project already.
    repo.write("cantus.toml", &list(&["two", "one"]));
    assert_eq!(configs(&manifest(&repo, &home)), [own]);

    repo.remove("cantus.toml");
    let table = "[workspace]\nresolver = \"3\"\n[[workspace.metadata.cantus.repositories]]\nname = \"one\"\ndescription = \"D.\"\n";
    repo.write("Cargo.toml", table);
    assert_eq!(configs(&manifest(&repo, &[])), [json!(["project", "Cargo.toml", true, true])]);
}
