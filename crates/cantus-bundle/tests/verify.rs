//! Every row of the answers to mutations of the hand-made bundle, and as many more again that the rules decide.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::fs;
use std::path::{Path, PathBuf};

use cantus_bundle::verify;
use cantus_fs::RealDisk;
use serde_json::{Value, json};
use tempfile::TempDir;

const SKILLS: &str = "content/skills/example%3Ahand";
const CASES: &str = include_str!("../../../tests/vectors/bundle/verify-cases.tsv");

/// A copy of the hand-made bundle.
struct Copy {
    _folder: TempDir,
    root: PathBuf,
}

impl Copy {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("bundle");
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/bundle/handmade");
        copy(&from, &root);
        Self { _folder: folder, root }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn folder(&self, path: &str) {
        fs::create_dir_all(self.at(path)).unwrap();
    }

    fn rename(&self, from: &str, to: &str) {
        fs::rename(self.at(from), self.at(to)).unwrap();
    }

    fn remove(&self, path: &str) {
        let path = self.at(path);
        if path.is_dir() { fs::remove_dir_all(path).unwrap() } else { fs::remove_file(path).unwrap() }
    }

    fn edit(&self, file: &str, edit: impl FnOnce(&mut Value)) {
        let mut value: Value = serde_json::from_slice(&fs::read(self.at(file)).unwrap()).unwrap();
        edit(&mut value);
        self.put(file, &value.to_string());
    }

    /// Sets what stands at a pointer of the manifest; `null` takes the key away.
    fn manifest(&self, pointer: &str, value: Value) {
        self.edit("manifest.json", |manifest| set(manifest, pointer, value));
    }

    fn trace(&self, pointer: &str, value: Value) {
        self.edit("trace.json", |trace| set(trace, pointer, value));
    }

    /// Adds a decision at the end.
    fn decide(&self, kind: &str, subject: &str, source: &str, outcome: &str) {
        let decision = json!({
            "subject": subject, "kind": kind, "source": source, "outcome": outcome, "reason": "hand-written"
        });
        self.edit("trace.json", |trace| trace["decisions"].as_array_mut().unwrap().push(decision));
    }

    /// Takes the decision on a subject away.
    fn forget(&self, subject: &str) {
        self.edit("trace.json", |trace| {
            trace["decisions"].as_array_mut().unwrap().retain(|decision| decision["subject"] != subject);
        });
    }

    /// One repository in the manifest for each identity, and a decision on each.
    fn repositories(&self, identities: &[&str]) {
        let rows = identities.iter().map(|identity| {
            json!({ "identity": identity, "source": "example:hand", "scope": "role", "reason": "hand-written" })
        });
        self.manifest("/repositories", rows.collect());
        for identity in identities {
            self.decide("repository", &format!("repository:{identity}"), "example:hand", "selected");
        }
    }

    /// A file that is nothing but a hole.
    fn hole(&self, path: &str, bytes: u64) {
        self.put(path, "");
        fs::File::options().write(true).open(self.at(path)).unwrap().set_len(bytes).unwrap();
    }

    /// Writes values of every kind under keys that nobody knows.
    fn unknown(&self, file: &str) {
        let deep = format!("{}{}", "[".repeat(3000), "]".repeat(3000));
        let keys = format!("{{\"a\": 1e999, \"b\": \"\\ud800\", \"c\": {deep}, \"d\": -1, \"d\": null,");
        let text = fs::read_to_string(self.at(file)).unwrap();
        self.put(file, &text.replacen('{', &keys, 1));
    }

    fn compiled(&self) {
        self.put("delivery/compiled.md", "all of it\n");
        self.manifest("/delivery/mode", json!("compiled"));
        self.manifest("/delivery/skills_root", Value::Null);
        self.manifest("/delivery/compiled_context", json!("delivery/compiled.md"));
    }

    /// One more provider report, that of an excluded source with some keys set otherwise.
    fn report(&self, changes: &Value) {
        let mut report = json!({
            "source": "example:gone", "category": "catalogue", "scope": "request", "outcome": "excluded",
            "reason": "hand-written", "warning": true, "skills": 0, "context_bytes": 0, "approximate_tokens": 0
        });
        for (key, value) in changes.as_object().unwrap() {
            report[key] = value.clone();
        }
        self.edit("trace.json", |trace| trace["providers"].as_array_mut().unwrap().push(report));
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn set(value: &mut Value, pointer: &str, new: Value) {
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    let parent = value.pointer_mut(parent).unwrap();
    match parent {
        Value::Object(fields) if new.is_null() => drop(fields.remove(key)),
        Value::Object(fields) => drop(fields.insert(key.to_owned(), new)),
        Value::Array(items) => items[key.parse::<usize>().unwrap()] = new,
        _ => panic!("nothing stands at {pointer}"),
    }
}

/// The answer for the copy after `mutate`: `accept`, or the code of the fault.
#[track_caller]
fn check(mutate: impl FnOnce(&Copy), expected: &str) {
    let copy = Copy::new();
    mutate(&copy);
    let answer = verify(&RealDisk, &copy.root);
    let code = answer.as_ref().map_or_else(|fault| fault.code, |_| "accept");
    assert_eq!(code, expected, "{:?}", answer.err().map(|fault| fault.to_string()));
}

/// A test a row: its name in the table of answers (none for our own rows), what is changed, and the code or `accept`.
macro_rules! cases {
    ($($test:ident $($row:literal)?: $expected:literal, $mutate:expr;)*) => {
        $(
            #[test]
            fn $test() {
                check($mutate, $expected);
            }
        )*

        #[test]
        fn every_row_of_the_table_has_its_answer() {
            let ours = [$($(($row, if $expected == "accept" { "accept" } else { "reject" }),)?)*];
            let rows: Vec<_> = CASES.lines().filter(|line| !line.starts_with('#')).collect();
            let rows: Vec<_> = rows.iter().map(|line| line.split_once('\t').unwrap()).collect();
            assert_eq!(ours.as_slice(), rows);
        }
    };
}

cases! {
    name_trailing_dot "name trailing dot": "tree.path", |it| it.put("a.", "x");
    name_trailing_space "name trailing space": "tree.path", |it| it.put("a ", "x");
    reserved "reserved CON.txt": "tree.path", |it| it.put("CON.txt", "x");
    backslash "backslash name": "tree.path", |it| it.put("a\\b", "x");
    control_char "control char name": "tree.path", |it| it.put("a\tb", "x");
    percent "percent name": "accept", |it| it.put("a%zz", "x");
    extra_root_file "extra root file": "accept", |it| it.put("extra.txt", "x");
    extra_skill_file "extra file in skill dir": "provider.budget", |it| it.put(&format!("{SKILLS}/role-lamplighter/x.md"), "x");
    extra_root_folder "extra empty dir at root": "accept", |it| it.folder("empty");
    manifest_not_json "manifest not json": "manifest.parse", |it| it.put("manifest.json", "not json");
    manifest_trailing "manifest trailing data": "manifest.parse", |it| {
        let text = fs::read_to_string(it.at("manifest.json")).unwrap();
        it.put("manifest.json", &format!("{text}{{}}"));
    };
    manifest_bom "manifest BOM": "manifest.parse", |it| {
        let text = fs::read_to_string(it.at("manifest.json")).unwrap();
        it.put("manifest.json", &format!("\u{feff}{text}"));
    };
    manifest_type "manifest wrong type": "manifest.parse", |it| it.manifest("/role", json!(7));
    manifest_format "wrong format": "manifest.format", |it| it.manifest("/format", json!("agent-compose.trace"));
    no_role_skill "missing role_skill": "manifest.role", |it| it.manifest("/role_skill", Value::Null);
    no_role_source "missing role_skill_source": "manifest.role", |it| it.manifest("/role_skill_source", Value::Null);
    no_role_digest "missing role_skill_digest": "manifest.role", |it| it.manifest("/role_skill_digest", Value::Null);
    role_skill_differs "role_skill mismatch": "manifest.role_skill", |it| it.manifest("/role_skill", json!("role-baker"));
    no_personalities "no personalities": "manifest.role", |it| it.manifest("/personalities", json!([]));
    twice_a_personality "dup personality": "manifest.personality", |it| it.manifest("/personalities", json!(["patient", "patient"]));
    no_color "color missing": "manifest.color", |it| it.manifest("/color", Value::Null);
    dark "color dark": "manifest.color", |it| it.manifest("/color", json!("#101010"));
    gray "color gray": "manifest.color", |it| it.manifest("/color", json!("#a0a0a0"));
    color_bare "color no hash": "accept", |it| it.manifest("/color", json!("5fa87a"));
    color_upper "color upper": "accept", |it| it.manifest("/color", json!("#5FA87A"));
    empty_source "sources empty id": "manifest.sources", |it| it.manifest("/sources", json!(["example:hand", ""]));
    twice_a_source "sources dup": "accept", |it| it.manifest("/sources", json!(["example:hand", "example:hand"]));
    no_content "content empty": "manifest.content", |it| it.manifest("/content", json!([]));
    short_digest "content digest short": "manifest.content", |it| it.manifest("/content/0/digest", json!("sha256:12"));
    strange_digest "content digest nonhex 71": "accept", |it| it.manifest("/content/0/digest", json!(format!("sha256:{}", "z".repeat(64))));
    wrong_digest "content digest wrong value": "accept", |it| it.manifest("/content/0/digest", json!(format!("sha256:{}", "0".repeat(64))));
    unsorted_content "content unsorted": "accept", |it| it.edit("manifest.json", |it| it["content"].as_array_mut().unwrap().reverse());
    instructions_up "instructions ..": "entry.path", |it| it.manifest("/delivery/instructions", json!("content/../content/instructions.md"));
    instructions_abs "instructions abs": "entry.path", |it| it.manifest("/delivery/instructions", json!("/content/instructions.md"));
    instructions_folder "instructions is dir": "entry.type", |it| it.manifest("/delivery/instructions", json!("content"));
    instructions_other "instructions is manifest.json": "accept", |it| it.manifest("/delivery/instructions", json!("manifest.json"));
    no_skills_root "skills_root missing": "entry.missing_name", |it| it.manifest("/delivery/skills_root", Value::Null);
    other_skills_root "skills_root other dir": "accept", |it| it.manifest("/delivery/skills_root", json!("content"));
    native_and_compiled "native names compiled_context": "delivery.mode_fields", |it| {
        it.put("delivery/compiled.md", "x");
        it.manifest("/delivery/compiled_context", json!("delivery/compiled.md"));
    };
    unknown_mode "mode unknown": "delivery.mode", |it| it.manifest("/delivery/mode", json!("printed"));
    compiled_and_root "mode compiled w/ skills_root": "delivery.mode_fields", |it| {
        it.compiled();
        it.manifest("/delivery/skills_root", json!("content/skills"));
    };
    compiled "compiled ok": "accept", Copy::compiled;
    compiled_without_file "compiled missing file": "entry.absent", |it| {
        it.compiled();
        it.remove("delivery/compiled.md");
    };
    compiled_without_name "compiled no compiled_context": "entry.missing_name", |it| {
        it.compiled();
        it.manifest("/delivery/compiled_context", Value::Null);
    };
    native_with_stray "native with stray delivery/compiled.md": "accept", |it| it.put("delivery/compiled.md", "x");
    trace_bad "trace bad json": "trace.parse", |it| it.put("trace.json", "{");
    trace_format "trace format": "trace.format", |it| it.trace("/format", json!("agent-compose.bundle"));
    no_role_profile "trace lacks role profile": "trace.profile_missing", |it| it.forget("role:lamplighter");
    no_personality_profile "trace lacks personality profile": "trace.profile_missing", |it| it.forget("personality:patient");
    excluded_profile "trace extra profile excluded": "accept", |it| it.decide("profile", "boundary:other", "example:hand", "excluded");
    no_skills "trace no skills": "trace.no_skills", |it| {
        ["skill:role-lamplighter", "skill:personality-patient", "skill:boundary-no-fire"].iter().for_each(|it_| it.forget(it_));
    };
    unknown_decision "trace unknown kind/outcome": "accept", |it| it.decide("weather", "rain", "", "likely");
    extra_skill "tree extra skill dir": "skills.set", |it| it.put(&format!("{SKILLS}/other/SKILL.md"), "x");
    extra_source "tree extra source dir (empty)": "accept", |it| it.folder("content/skills/other");
    missing_skill "tree skill missing": "skills.set", |it| it.remove(&format!("{SKILLS}/boundary-no-fire"));
    raw_source "tree raw source name": "tree.path", |it| it.rename(SKILLS, "content/skills/example:hand");
    no_entry "SKILL.md missing": "skills.entry", |it| it.rename(&format!("{SKILLS}/role-lamplighter/SKILL.md"), &format!("{SKILLS}/role-lamplighter/OTHER.md"));
    entry_is_folder "SKILL.md is dir": "skills.entry", |it| {
        it.remove(&format!("{SKILLS}/role-lamplighter/SKILL.md"));
        it.folder(&format!("{SKILLS}/role-lamplighter/SKILL.md"));
    };
    entry_is_empty "SKILL.md empty": "provider.budget", |it| it.put(&format!("{SKILLS}/role-lamplighter/SKILL.md"), "");
    entry_in_other_case "SKILL.md case variant": "skills.entry", |it| it.rename(&format!("{SKILLS}/role-lamplighter/SKILL.md"), &format!("{SKILLS}/role-lamplighter/skill.md"));
    no_providers "providers absent": "accept", |it| it.trace("/providers", Value::Null);
    empty_providers "providers empty": "accept", |it| it.trace("/providers", json!([]));
    provider_twice "provider dup": "provider.shape", |it| it.edit("trace.json", |it| {
        let report = it["providers"][0].clone();
        it["providers"].as_array_mut().unwrap().push(report);
    });
    provider_no_reason "provider no reason": "provider.shape", |it| it.trace("/providers/0/reason", json!(""));
    provider_scope "provider scope unknown": "provider.shape", |it| it.trace("/providers/0/scope", json!("galaxy"));
    provider_category "provider category mismatch": "provider.shape", |it| it.trace("/providers/0/category", json!("catalogue"));
    provider_skills "provider skills wrong": "provider.budget", |it| it.trace("/providers/0/skills", json!(2));
    provider_shadowed "provider outcome shadowed": "provider.excluded", |it| it.trace("/providers/0/outcome", json!("shadowed"));
    provider_unlisted "provider selected not in sources": "provider.budget", |it| it.report(&json!({"outcome": "selected"}));
    repositories "repositories ok": "accept", |it| it.repositories(&["a/one", "a/two"]);
    repositories_undecided "repositories no decision": "repo.trace", |it| {
        it.repositories(&["a/one"]);
        it.forget("repository:a/one");
    };
    repository_decision "repository decision only": "repo.trace", |it| it.decide("repository", "repository:a/one", "example:hand", "selected");
    repositories_unsafe "repositories unsafe": "repo.manifest", |it| it.repositories(&["a/.."]);
    repositories_unsorted "repositories unsorted": "repo.manifest", |it| it.repositories(&["a/two", "a/one"]);
    repositories_scope "repositories no scope": "repo.manifest", |it| {
        it.repositories(&["a/one"]);
        it.manifest("/repositories/0/scope", json!(""));
    };
    repositories_reason "repositories reason disagrees": "repo.trace", |it| {
        it.repositories(&["a/one"]);
        it.manifest("/repositories/0/reason", json!("another"));
    };
    repository_twice "repository dup decision": "repo.trace", |it| {
        it.repositories(&["a/one", "a/two"]);
        it.forget("repository:a/two");
        it.decide("repository", "repository:a/one", "example:hand", "selected");
    };
    modes "dir mode 0700 / file 0600": "accept", |it| {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            for (path, mode) in [(".", 0o700), ("content", 0o700), ("manifest.json", 0o600), ("trace.json", 0o755)] {
                fs::set_permissions(it.at(path), fs::Permissions::from_mode(mode)).unwrap();
            }
        }
        it.folder("content");
    };

    // What follows is ours, decided by the rules alone.
    as_it_is: "accept", |_| {};
    root_absent: "tree.unreadable", |it| it.remove("");
    root_is_a_file: "tree.unreadable", |it| {
        it.remove("");
        fs::write(&it.root, "x").unwrap();
    };
    folder_name_not_portable: "tree.path", |it| it.folder("content/nul");
    deep_name_not_portable: "tree.path", |it| it.put(&format!("{SKILLS}/role-lamplighter/deep/a:b"), "x");
    question_mark: "tree.path", |it| it.put("what?", "x");
    device_number: "tree.path", |it| it.put("com7.md", "x");
    hidden_names: "accept", |it| it.put(".hidden/é ü.md", "x");
    no_device_number: "accept", |it| it.put("com10.md", "x");
    manifest_absent: "manifest.read", |it| it.remove("manifest.json");
    manifest_is_a_folder: "manifest.read", |it| {
        it.remove("manifest.json");
        it.folder("manifest.json");
    };
    manifest_is_empty: "manifest.parse", |it| it.put("manifest.json", "");
    manifest_is_a_list: "manifest.parse", |it| it.put("manifest.json", "[]");
    manifest_is_null: "manifest.parse", |it| it.put("manifest.json", "null");
    manifest_blanks_after: "accept", |it| {
        let text = fs::read_to_string(it.at("manifest.json")).unwrap();
        it.put("manifest.json", &format!("\n {text} \n\t\r\n"));
    };
    manifest_key_twice: "manifest.parse", |it| {
        let text = fs::read_to_string(it.at("manifest.json")).unwrap();
        it.put("manifest.json", &text.replacen('{', "{\"role\": \"lamplighter\",", 1));
    };
    manifest_key_in_other_case: "manifest.role", |it| {
        it.manifest("/role", Value::Null);
        it.manifest("/Role", json!("lamplighter"));
    };
    manifest_unknown_keys: "accept", |it| {
        it.manifest("/guardrail", json!({"any": ["thing"]}));
        it.manifest("/delivery/voice_profile", json!("content/voice-profile.json"));
        it.manifest("/identity/display_name", json!("Lamp Lighter"));
        it.manifest("/model_class", json!("legacy"));
    };
    manifest_unknown_values: "accept", |it| it.unknown("manifest.json");
    trace_unknown_values: "accept", |it| it.unknown("trace.json");
    decision_null: "accept", |it| it.edit("trace.json", |it| it["decisions"].as_array_mut().unwrap().push(Value::Null));
    provider_null: "provider.shape", |it| it.edit("trace.json", |it| it["providers"].as_array_mut().unwrap().push(Value::Null));
    content_null: "manifest.content", |it| it.edit("manifest.json", |it| it["content"].as_array_mut().unwrap().push(Value::Null));
    personality_null: "manifest.personality", |it| it.edit("manifest.json", |it| it["personalities"].as_array_mut().unwrap().push(Value::Null));
    sources_null: "manifest.sources", |it| it.edit("manifest.json", |it| it["sources"].as_array_mut().unwrap().push(Value::Null));
    identity_seat_null: "accept", |it| it.manifest("/identity/seats", json!([null]));
    delivery_list: "manifest.parse", |it| it.manifest("/delivery", json!(["native-skills"]));
    decision_list: "trace.parse", |it| it.edit("trace.json", |it| it["decisions"].as_array_mut().unwrap().push(json!(["a"])));
    no_format: "manifest.format", |it| it.manifest("/format", Value::Null);
    no_role: "manifest.role", |it| it.manifest("/role", json!(""));
    no_personalities_key: "manifest.role", |it| it.manifest("/personalities", Value::Null);
    tier_unknown: "manifest.tier", |it| it.manifest("/model_tier", json!("Frontier"));
    tier_absent: "accept", |it| it.manifest("/model_tier", Value::Null);
    tier_empty: "accept", |it| it.manifest("/model_tier", json!(""));
    tier_oss: "accept", |it| it.manifest("/model_tier", json!("oss"));
    personality_path: "manifest.personality", |it| it.manifest("/personalities", json!(["a/b"]));
    personality_empty: "manifest.personality", |it| it.manifest("/personalities", json!([""]));
    role_is_not_a_name: "accept", |it| {
        it.manifest("/role", json!("a/b:c"));
        it.manifest("/role_skill", json!("role-a/b:c"));
        it.forget("role:lamplighter");
        it.decide("profile", "role:a/b:c", "example:hand", "selected");
    };
    color_light: "manifest.color", |it| it.manifest("/color", json!("#ffffff"));
    color_short: "manifest.color", |it| it.manifest("/color", json!("#5fa"));
    color_blank: "manifest.color", |it| it.manifest("/color", json!("#5fa8 7a"));
    color_blank_around: "manifest.color", |it| it.manifest("/color", json!(" #5fa87a"));
    sources_empty: "manifest.sources", |it| it.manifest("/sources", json!([]));
    source_extra_unreported: "provider.omitted", |it| it.manifest("/sources", json!(["example:hand", "other"]));
    source_extra_without_reports: "accept", |it| {
        it.manifest("/sources", json!(["example:hand", "other"]));
        it.trace("/providers", Value::Null);
    };
    content_twice: "manifest.content", |it| it.edit("manifest.json", |it| {
        let row = it["content"][0].clone();
        it["content"].as_array_mut().unwrap().push(row);
    });
    content_no_id: "manifest.content", |it| it.manifest("/content/0/id", json!(""));
    content_other_prefix: "manifest.content", |it| it.manifest("/content/0/digest", json!(format!("SHA256:{}", "0".repeat(64))));
    content_upper: "accept", |it| it.manifest("/content/0/digest", json!(format!("sha256:{}", "A".repeat(64))));
    role_digest_of_any_shape: "accept", |it| it.manifest("/role_skill_digest", json!("x"));
    no_delivery: "entry.missing_name", |it| it.manifest("/delivery", Value::Null);
    instructions_absent: "entry.absent", |it| it.remove("content/instructions.md");
    instructions_slash: "entry.path", |it| it.manifest("/delivery/instructions", json!("content/instructions.md/"));
    instructions_dot: "entry.path", |it| it.manifest("/delivery/instructions", json!("./content/instructions.md"));
    instructions_in_other_case: "entry.absent", |it| it.manifest("/delivery/instructions", json!("content/Instructions.md"));
    skills_root_file: "entry.type", |it| it.manifest("/delivery/skills_root", json!("manifest.json"));
    skills_root_dot: "entry.path", |it| it.manifest("/delivery/skills_root", json!("."));
    skills_root_absent: "entry.absent", |it| it.manifest("/delivery/skills_root", json!("content/none"));
    mode_absent: "delivery.mode", |it| it.manifest("/delivery/mode", Value::Null);
    compiled_is_folder: "entry.type", |it| {
        it.compiled();
        it.manifest("/delivery/compiled_context", json!("content/skills"));
    };
    compiled_path: "entry.path", |it| {
        it.compiled();
        it.manifest("/delivery/compiled_context", json!("../compiled.md"));
    };
    body_bytes_negative: "accept", |it| it.manifest("/delivery/body_bytes", json!(-4));
    body_bytes_absent: "accept", |it| it.manifest("/delivery/body_bytes", Value::Null);
    body_bytes_text: "manifest.parse", |it| it.manifest("/delivery/body_bytes", json!("83"));
    body_bytes_fraction: "manifest.parse", |it| it.manifest("/delivery/body_bytes", json!(83.5));
    identity_absent: "accept", |it| it.manifest("/identity", Value::Null);
    identity_seats_null: "accept", |it| it.edit("manifest.json", |it| it["identity"]["seats"] = Value::Null);
    identity_wrong_type: "manifest.parse", |it| it.manifest("/identity", json!("hand"));
    emblem_later_shape: "accept", |it| it.manifest("/identity/personalities/0/emblem", json!({"names": ["lamp"], "emoji": "x"}));
    trace_absent: "trace.read", |it| it.remove("trace.json");
    trace_trailing: "trace.parse", |it| {
        let text = fs::read_to_string(it.at("trace.json")).unwrap();
        it.put("trace.json", &format!("{text}null"));
    };
    trace_type: "trace.parse", |it| it.trace("/decisions", json!({}));
    trace_number_type: "trace.parse", |it| it.trace("/providers/0/skills", json!("3"));
    no_boundary_profile: "trace.profile_missing", |it| it.forget("boundary:no-fire");
    role_profile_excluded: "trace.profile_missing", |it| it.trace("/decisions/0/outcome", json!("excluded"));
    role_profile_other_kind: "trace.profile_missing", |it| it.trace("/decisions/0/kind", json!("role"));
    profile_twice: "trace.profile_count", |it| it.decide("profile", "role:lamplighter", "example:hand", "selected");
    profile_extra: "trace.profile_count", |it| it.decide("profile", "boundary:other", "example:hand", "selected");
    boundary_unlisted: "trace.profile_count", |it| it.manifest("/boundaries", Value::Null);
    decision_without_reason: "accept", |it| it.trace("/decisions/0/reason", Value::Null);
    repository_parts: "repo.manifest", |it| it.repositories(&["a/b/c"]);
    repository_same_twice: "repo.manifest", |it| it.repositories(&["a/one", "a/one"]);
    repository_no_source: "repo.manifest", |it| {
        it.repositories(&["a/one"]);
        it.manifest("/repositories/0/source", json!(""));
    };
    repository_source_differs: "repo.trace", |it| {
        it.repositories(&["a/one"]);
        it.manifest("/repositories/0/source", json!("other"));
    };
    repository_other_scope: "accept", |it| {
        it.repositories(&["a/one"]);
        it.manifest("/repositories/0/scope", json!("anything"));
    };
    repository_decision_unsafe: "repo.trace", |it| {
        it.repositories(&["a/one"]);
        it.forget("repository:a/one");
        it.decide("repository", "a/one", "example:hand", "selected");
    };
    repository_excluded: "accept", |it| it.decide("repository", "repository:..", "example:hand", "excluded");
    skill_without_prefix: "trace.skill_path", |it| it.decide("skill", "other", "example:hand", "selected");
    skill_not_portable: "trace.skill_path", |it| it.decide("skill", "skill:a/b", "example:hand", "selected");
    skill_without_source: "trace.skill_path", |it| it.decide("skill", "skill:other", "", "selected");
    skill_of_an_illegal_source: "trace.skill_path", |it| it.decide("skill", "skill:other", "a/b", "selected");
    skill_of_an_unlisted_source: "trace.source_unlisted", |it| it.decide("skill", "skill:other", "other", "selected");
    skill_excluded: "accept", |it| it.decide("skill", "skill:a/b", "a/b", "excluded");
    skill_twice: "skills.set", |it| it.decide("skill", "skill:role-lamplighter", "example:hand", "selected");
    skill_not_on_disk: "skills.set", |it| it.decide("skill", "skill:other", "example:hand", "selected");
    skills_absent: "skills.layout", |it| {
        it.remove("content/skills");
        it.manifest("/delivery/skills_root", json!("content"));
    };
    file_among_sources: "skills.layout", |it| it.put("content/skills/note.md", "x");
    file_among_skills: "skills.layout", |it| it.put(&format!("{SKILLS}/note.md"), "x");
    lower_hex_source: "skills.set", |it| it.rename(SKILLS, "content/skills/example%3ahand");
    role_skill_not_selected: "accept", |it| {
        it.remove(&format!("{SKILLS}/role-lamplighter"));
        it.forget("skill:role-lamplighter");
        it.trace("/providers", Value::Null);
    };
    empty_folder_in_a_skill: "accept", |it| it.folder(&format!("{SKILLS}/role-lamplighter/empty"));
    extra_skill_file_without_reports: "accept", |it| {
        it.put(&format!("{SKILLS}/role-lamplighter/deep/x.md"), "x");
        it.trace("/providers", Value::Null);
    };
    extra_huge_skill_file: "provider.budget", |it| it.hole(&format!("{SKILLS}/role-lamplighter/x.md"), 1 << 40);
    extra_empty_skill_file: "accept", |it| it.put(&format!("{SKILLS}/role-lamplighter/x.md"), "");
    entry_is_empty_without_reports: "accept", |it| {
        it.put(&format!("{SKILLS}/role-lamplighter/SKILL.md"), "");
        it.trace("/providers", Value::Null);
    };
    providers_null: "accept", |it| it.edit("trace.json", |it| it["providers"] = Value::Null);
    provider_no_source: "provider.shape", |it| it.trace("/providers/0/source", json!(""));
    provider_org: "accept", |it| {
        it.trace("/providers/0/scope", json!("org"));
        it.trace("/providers/0/category", json!("catalogue"));
    };
    provider_org_category: "provider.shape", |it| {
        it.trace("/providers/0/scope", json!("org"));
        it.trace("/providers/0/category", json!("role-provider"));
    };
    provider_role_scope: "accept", |it| {
        it.trace("/providers/0/scope", json!("role"));
        it.trace("/providers/0/category", json!("role-provider"));
    };
    provider_default_scope: "accept", |it| {
        it.trace("/providers/0/scope", json!("default"));
        it.trace("/providers/0/category", json!("catalogue"));
    };
    provider_tokens: "provider.shape", |it| it.trace("/providers/0/approximate_tokens", json!(113));
    provider_bytes_off_by_one: "provider.budget", |it| it.trace("/providers/0/context_bytes", json!(455));
    provider_bytes_negative: "provider.budget", |it| {
        it.trace("/providers/0/context_bytes", json!(-454));
        it.trace("/providers/0/approximate_tokens", json!(-112));
    };
    provider_excluded: "accept", |it| it.report(&json!({}));
    provider_excluded_counts: "provider.excluded", |it| it.report(&json!({"skills": 1}));
    provider_excluded_bytes: "provider.excluded", |it| it.report(&json!({"context_bytes": 4, "approximate_tokens": 1}));
    provider_excluded_listed: "provider.excluded", |it| it.trace("/providers/0/outcome", json!("excluded"));
    provider_omitted: "provider.omitted", |it| {
        it.trace("/providers", json!([]));
        it.report(&json!({}));
    };
    provider_selected_without_skills: "accept", |it| {
        it.manifest("/sources", json!(["example:hand", "example:gone"]));
        it.report(&json!({"outcome": "selected"}));
    };
}

#[cfg(unix)]
mod links {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_link_anywhere_is_refused() {
        for path in ["link", "content/skills/link", "content/skills/example%3Ahand/role-lamplighter/link"] {
            check(|it| symlink("manifest.json", it.at(path)).unwrap(), "tree.symlink");
            check(|it| symlink("nothing", it.at(path)).unwrap(), "tree.symlink");
        }
    }

    #[test]
    fn a_skill_that_is_a_link_is_refused() {
        check(
            |it| {
                it.rename(&format!("{SKILLS}/role-lamplighter"), "moved");
                symlink("../../../moved", it.at(&format!("{SKILLS}/role-lamplighter"))).unwrap();
            },
            "tree.symlink",
        );
    }

    #[test]
    fn a_root_that_is_a_link_is_refused_unless_a_slash_follows_it() {
        let copy = Copy::new();
        let link = copy.root.with_file_name("link");
        symlink(&copy.root, &link).unwrap();
        assert_eq!(verify(&RealDisk, &link).unwrap_err().code, "tree.symlink");
        let mut slash = link.into_os_string();
        slash.push("/");
        assert!(verify(&RealDisk, Path::new(&slash)).is_ok());
    }

    #[test]
    fn a_special_file_is_refused() {
        use std::os::unix::net::UnixListener;

        check(|it| drop(UnixListener::bind(it.at("socket")).unwrap()), "tree.special");
    }

    #[test]
    fn a_name_that_is_not_utf8_is_refused() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        check(|it| fs::write(it.root.join(OsStr::from_bytes(b"a\xff")), "x").unwrap(), "tree.path");
    }
}

#[test]
fn what_was_verified_is_told() {
    let copy = Copy::new();
    let verified = verify(&RealDisk, &copy.root).unwrap();
    let names: Vec<_> = verified.skills.iter().map(|skill| skill.id.as_str()).collect();
    assert_eq!(names, ["boundary-no-fire", "personality-patient", "role-lamplighter"]);
    assert_eq!(verified.tree.files.len(), 6);
    assert_eq!(verified.manifest.model_tier, "frontier");
}

#[test]
fn sets_that_differ_are_told_by_a_few_names() {
    let copy = Copy::new();
    (0..9).for_each(|index| copy.put(&format!("{SKILLS}/more-{index}/SKILL.md"), "x"));
    let fault = verify(&RealDisk, &copy.root).unwrap_err().to_string();
    let names = "\"example%3Ahand/more-0\", \"example%3Ahand/more-1\", \"example%3Ahand/more-2\" and 6 more";
    assert_eq!(fault, format!("`content/skills`: not selected by the trace: {names}"));
}
