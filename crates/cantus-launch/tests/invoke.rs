//! The launcher's call, with a disk that fails at each operation in turn.

#![expect(clippy::disallowed_methods, reason = "tests look at files by themselves")]

use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use cantus_fs::{Disk, Fault, FaultDisk, FaultKind, On, RealDisk, Root};
use cantus_launch::{Active, Composer, Delivery, Invocation, Trouble};
use cantus_manifest::Provider;
use cantus_manifest::manifest::{DeliveryStatus, FallbackReason};
use cantus_testkit::Repo;
use serde_json::Value;

const NOTES: &str = "
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Be brief.
    ";

/// A project with a store and artifacts beside it.
struct Bench {
    repo: Repo,
    store: PathBuf,
    artifacts: PathBuf,
}

impl Bench {
    fn new(fixture: &str) -> Self {
        let repo = Repo::without_git(fixture);
        let beside = |name| repo.path().parent().expect("a parent").join(name);
        Self { store: beside("store"), artifacts: beside("artifacts"), repo }
    }

    fn composer_on(&self, disk: Arc<dyn Disk>) -> Composer {
        Composer::at(&Root::new(disk, self.repo.path().to_path_buf()), None).store(&self.store)
    }

    fn composer(&self) -> Composer {
        self.composer_on(Arc::new(RealDisk))
    }

    /// The manifest with the number `seq`.
    #[track_caller]
    fn manifest(&self, name: &str) -> Value {
        let text = fs::read_to_string(self.artifacts.join("instructions").join(name)).expect("a file");
        serde_json::from_str(&text).expect("JSON")
    }

    /// What lies in the folder for records.
    fn names(&self) -> Vec<String> {
        let entries = RealDisk.list(&self.artifacts.join("instructions")).unwrap_or_default();
        entries.into_iter().map(|entry| entry.name.into_string().expect("UTF-8")).collect()
    }
}

fn root(provider: &str) -> Invocation {
    Invocation::root(Provider::new(provider).expect("a name"))
}

fn text(arg: &OsString) -> &str {
    arg.to_str().expect("UTF-8")
}

/// What a provider called `claude` would be given, and the files that it was given it in.
fn hand_over(delivery: &Delivery) -> (Vec<OsString>, PathBuf) {
    let args = delivery.arguments(["-p", "do it"]);
    let file = PathBuf::from(&args[1]);
    (args, file)
}

#[test]
fn a_bundle_is_handed_over_and_recorded() {
    let bench = Bench::new(NOTES);
    let invocation = root("claude").agent("build-42").agent_type("builder").model("opus").parent("p");
    let file = bench.composer().invoke(&invocation, &*bench.artifacts, |delivery| {
        let (args, file) = hand_over(delivery);
        assert_eq!(text(&args[0]), "--append-system-prompt-file");
        assert_eq!(text(&args[2]), "--settings");
        assert_eq!(&args[4..], ["-p", "do it"]);
        let handed = fs::read_to_string(&file).unwrap();
        let recorded = fs::read_to_string(&delivery.env()[0].1).unwrap();
        let marker = handed.strip_prefix(&recorded).unwrap();
        assert!(marker.starts_with("<!-- cantus bundle=") && marker.ends_with(" -->\n"), "{marker}");
        assert!(marker.contains(delivery.invocation_id()));
        assert!(recorded.contains("Be brief.") && recorded.contains("Claude: One Turn"));
        delivery.record_session("s1");
        delivery.record_session("s1");
        delivery.record_exit(3);
        file
    });
    assert!(!file.exists());
    assert_eq!(bench.names(), ["00-claude.json", "00-claude.md"]);
    let delivery = &bench.manifest("00-claude.json")["delivery"];
    for (key, value) in [
        ("status", "explicit"),
        ("channel", "claude.append_system_prompt_file"),
        ("agent_name", "build-42"),
        ("agent_type", "builder"),
        ("model", "opus"),
        ("parent_invocation_id", "p"),
        ("cache", "miss"),
    ] {
        assert_eq!(delivery[key], value, "{key}");
    }
    assert_eq!(delivery["session_ids"], serde_json::json!(["s1"]));
    assert_eq!(delivery["subagent"]["fallback"]["reason"], "unsupported_cli");
    let run: Value =
        serde_json::from_str(&fs::read_to_string(bench.artifacts.join("run.json")).unwrap()).unwrap();
    assert_eq!((&run["name"], &run["exit_status"]), (&"artifacts".into(), &3.into()));
    assert!(run["ended_at"].is_string());
}

#[cfg(unix)]
#[test]
fn helpers_get_a_bundle_where_the_program_takes_one() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::new(NOTES);
    let asked = bench.repo.path().join("asked");
    let script = format!("#!/bin/sh\necho \"$1\" >> '{}'\necho '2.1.300 (Claude Code)'\n", asked.display());
    bench.repo.write("bin/claude", &script);
    let program = bench.repo.path().join("bin/claude");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let invocation = root("claude").program(&program);
    for _ in 0..2 {
        bench.composer().invoke(&invocation, &*bench.artifacts, |delivery| {
            let args = delivery.arguments(["-p", "x"]);
            assert_eq!(text(&args[2]), "--append-subagent-system-prompt-file");
            let helper = fs::read_to_string(&args[3]).unwrap();
            assert!(helper.contains("Helper Contract") && !helper.contains("Claude: One Turn"));
            assert!(helper.contains(delivery.invocation_id()));
        });
    }
    assert_eq!(fs::read_to_string(asked).unwrap(), "--version\n");
    assert!(bench.names().contains(&"01-claude.helper.md".to_owned()), "{:?}", bench.names());
    let (root, helper) = (bench.manifest("01-claude.json"), bench.manifest("01-claude.helper.json"));
    assert_eq!(root["delivery"]["subagent"]["status"], "explicit");
    assert_eq!(root["delivery"]["subagent"]["bundle_sha256"], helper["bundle"]["sha256"]);
    assert_eq!(root["delivery"]["provider_cli_version"], "2.1.300");
    assert_eq!(helper["delivery"]["parent_invocation_id"], root["delivery"]["invocation_id"]);
    assert_ne!(helper["delivery"]["invocation_id"], root["delivery"]["invocation_id"]);
    assert_eq!(helper["facts"]["actor"], "native_helper");
}

#[cfg(unix)]
#[test]
fn a_program_of_another_name_is_never_asked() {
    use std::os::unix::fs::PermissionsExt;

    let bench = Bench::new(NOTES);
    let asked = bench.repo.path().join("asked");
    bench.repo.write("bin/work.sh", &format!("#!/bin/sh\ntouch '{}'\n", asked.display()));
    let program = bench.repo.path().join("bin/work.sh");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    bench.composer().invoke(&root("claude").program(&program), None, |_| {});
    assert!(!asked.exists());
}

/// The status and the reason that a launcher sees, which hands over what it is given.
#[track_caller]
fn seen(bench: &Bench, invocation: &Invocation) -> (DeliveryStatus, Option<FallbackReason>) {
    let args = ["exec", "do it"];
    bench.composer().invoke(invocation, &*bench.artifacts, |delivery| {
        let given = delivery.arguments(args);
        assert_eq!(given != args, delivery.status() == DeliveryStatus::Explicit);
        (delivery.status(), delivery.fallback().map(|fallback| fallback.reason))
    })
}

#[test]
fn what_is_not_handed_over_has_a_reason() {
    let bench = Bench::new(NOTES);
    let native = |reason| (DeliveryStatus::InheritsNative, reason);
    assert_eq!(seen(&bench, &root("codex")), (DeliveryStatus::Explicit, None));
    assert_eq!(seen(&bench, &root("agy")), native(None));
    assert_eq!(seen(&bench, &root("other")), native(Some(FallbackReason::ProviderLegacy)));
    assert_eq!(seen(&bench, &root("codex").undelivered()), native(Some(FallbackReason::FlagDisabled)));
    assert_eq!(seen(&bench, &root("codex").resume("p")), (DeliveryStatus::InheritsRoot, None));
    let parent = |name| bench.manifest(name)["delivery"]["parent_invocation_id"].clone();
    assert_eq!(parent("04-codex.json"), "p");
    bench
        .repo
        .write("memory/large.md", &format!("---\ntype: core\n---\n# Large\n\n{}\n", "word ".repeat(30_000)));
    assert_eq!(seen(&bench, &root("grok")), native(Some(FallbackReason::Oversize)));
    assert_eq!(seen(&bench, &root("codex")), native(Some(FallbackReason::Oversize)));
    assert_eq!(seen(&bench, &root("muse")), (DeliveryStatus::Explicit, None));
    bench.repo.write("memory/broken.md", "---\ntype: cor\n---\n# X\n");
    assert_eq!(seen(&bench, &root("codex")), native(Some(FallbackReason::RenderFailed)));
    assert!(bench.names().contains(&"08-codex.error.json".to_owned()), "{:?}", bench.names());
    assert!(!bench.names().contains(&"08-codex.md".to_owned()));
}

#[test]
fn a_bundle_without_its_provider_section_is_invalid() {
    // A note of the package's name can't take the declaration out; a package that has none needs none.
    let bench = Bench::new(NOTES);
    let package = Repo::without_git(
        "
        //- package.toml
        name = \"house\"
        version = \"1\"
        //- contract.md
        # House

        ## Rules {#rules}

        Be kind.
        ",
    );
    let composer = bench.composer().package(package.path());
    composer.invoke(&root("codex"), None, |delivery| assert_eq!(delivery.status(), DeliveryStatus::Explicit));
}

#[test]
fn no_project_is_no_obstacle() {
    let folder = Repo::without_git("//- x.txt\nx");
    let composer = Composer::discover(folder.path(), None).store(&folder.path().join("store"));
    let active = composer.begin(&root("claude"), None);
    assert_eq!(
        active.delivery().fallback().map(|fallback| fallback.reason),
        Some(FallbackReason::RenderFailed)
    );
    assert_eq!(active.delivery().arguments(["-p", "x"]), ["-p", "x"]);
    assert!(matches!(active.finish().troubles.as_slice(), [Trouble::Render(_)]));
}

#[test]
fn a_launcher_that_takes_nothing_has_handed_over_nothing() {
    let bench = Bench::new(NOTES);
    bench.composer().invoke(&root("codex"), &*bench.artifacts, |_| {});
    let delivery = &bench.manifest("00-codex.json")["delivery"];
    assert_eq!(delivery["status"], "inherits_native");
    assert_eq!(delivery["fallback"]["reason"], "delivery_failed");
    bench.composer().invoke(&root("codex"), &*bench.artifacts, |delivery| {
        assert!(delivery.text().unwrap().ends_with(" -->\n"));
    });
    assert_eq!(bench.manifest("01-codex.json")["delivery"]["status"], "explicit");
}

#[test]
fn a_failure_during_the_call_is_recorded() {
    let bench = Bench::new(NOTES);
    bench.composer().invoke(&root("codex"), &*bench.artifacts, |delivery| {
        assert!(delivery.text().is_some());
        delivery.fail(FallbackReason::UnsupportedCli, "too old");
        assert_eq!((delivery.text(), delivery.arguments(["x"])), (None, vec![OsString::from("x")]));
    });
    let delivery = &bench.manifest("00-codex.json")["delivery"];
    assert_eq!(delivery["fallback"], serde_json::json!({"reason": "unsupported_cli", "detail": "too old"}));
    assert_eq!(delivery["subagent"]["status"], "inherits_native");
    bench.composer().invoke(&root("codex"), &*bench.artifacts, |delivery| {
        let args = ["-c", "developer_instructions=5", "exec", "x"];
        assert_eq!(delivery.arguments(args), args);
    });
    assert_eq!(bench.manifest("01-codex.json")["delivery"]["fallback"]["reason"], "delivery_failed");
}

#[test]
fn the_result_and_the_panic_of_the_call_pass_through() {
    let bench = Bench::new(NOTES);
    assert_eq!(bench.composer().invoke(&root("codex"), None, |_| 7), 7);
    let panic = catch_unwind(AssertUnwindSafe(|| {
        bench.composer().invoke(&root("codex"), &*bench.artifacts, |delivery| {
            delivery.record_session("s");
            assert!(delivery.text().is_none(), "mine");
        });
    }));
    assert_eq!(panic.unwrap_err().downcast_ref::<&str>(), Some(&"mine"));
    assert_eq!(bench.manifest("00-codex.json")["delivery"]["session_ids"], serde_json::json!(["s"]));
}

#[test]
fn a_call_may_end_later_and_elsewhere() {
    fn check<T: Send>() {}
    fn check_shared<T: Send + Sync>() {}
    check::<Active>();
    check_shared::<Delivery>();
    let bench = Bench::new(NOTES);
    let active = bench.composer().begin(&root("codex"), &*bench.artifacts);
    let troubles = std::thread::spawn(move || {
        active.delivery().record_exit(0);
        active.finish()
    });
    assert!(troubles.join().unwrap().troubles.is_empty());
    assert!(fs::read_to_string(bench.artifacts.join("run.json")).unwrap().contains("\"exit_status\": 0"));
}

#[test]
fn nothing_is_recorded_without_artifacts() {
    let bench = Bench::new(NOTES);
    let status = bench.composer().invoke(&root("codex"), None, |delivery| {
        assert_eq!(delivery.env()[0].0, "SASE_INSTRUCTIONS_FILE");
        assert!(PathBuf::from(&delivery.env()[0].1).starts_with(&bench.store));
        delivery.status()
    });
    assert_eq!(status, DeliveryStatus::Explicit);
    assert!(!bench.artifacts.exists() && !bench.store.join("runs").exists());
}

#[test]
fn artifacts_that_are_a_file_and_a_store_that_is_one_are_no_obstacles() {
    let bench = Bench::new(NOTES);
    fs::write(&bench.artifacts, "mine").unwrap();
    fs::write(&bench.store, "mine").unwrap();
    let active = bench.composer().begin(&root("codex"), &*bench.artifacts);
    assert_eq!(active.delivery().status(), DeliveryStatus::Explicit);
    assert_ne!(active.delivery().arguments(["exec", "x"]), ["exec", "x"]);
    assert!(!active.finish().troubles.is_empty());
    assert_eq!(fs::read_to_string(&bench.artifacts).unwrap(), "mine");
}

#[test]
fn the_configured_variable_names_the_bundle() {
    let bench = Bench::new(&format!(
        "{NOTES}//- cantus.toml\n    [record]\n    variable = \"MY_INSTRUCTIONS\"\n    "
    ));
    bench.composer().invoke(&root("codex"), &*bench.artifacts, |delivery| {
        let names: Vec<_> = delivery.env().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["MY_INSTRUCTIONS", "CANTUS_ARTIFACTS"]);
    });
}

/// Runs one invocation on `disk` and checks that its call ran once, whatever the disk does, and what it saw.
#[track_caller]
fn check_call(bench: &Bench, disk: Arc<dyn Disk>) {
    let before: Vec<_> = std::env::vars_os().collect();
    let mut calls = 0;
    let result = bench.composer_on(disk).invoke(&root("claude"), &*bench.artifacts, |delivery| {
        calls += 1;
        let args = delivery.arguments(["-p", "x"]);
        let is_explicit = delivery.status() == DeliveryStatus::Explicit;
        assert_eq!(is_explicit, delivery.fallback().is_none());
        assert_eq!(is_explicit, args.len() == 6, "{args:?}");
        if is_explicit {
            let handed = fs::read_to_string(&args[1]).expect("a file");
            assert!(handed.contains("Be brief.") && handed.ends_with(" -->\n"), "half a bundle:\n{handed}");
        } else {
            assert_eq!(args, ["-p", "x"]);
        }
        42
    });
    assert_eq!((calls, result), (1, 42));
    assert_eq!(before, std::env::vars_os().collect::<Vec<_>>());
}

/// How many operations of a kind one invocation takes.
fn operations(on: On) -> usize {
    let (bench, disk) = (Bench::new(NOTES), Arc::new(FaultDisk::new()));
    check_call(&bench, disk.clone());
    disk.count(on)
}

#[track_caller]
fn check_faults(on: On, kinds: &[FaultKind]) {
    for at in 1..=operations(on) {
        for kind in kinds {
            let bench = Bench::new(NOTES);
            check_call(&bench, Arc::new(FaultDisk::new().fault(Fault { at, on, kind: *kind })));
            // What was recorded, if anything was, is whole.
            for name in bench.names().iter().filter(|name| name.ends_with(".json") && !name.starts_with('.'))
            {
                bench.manifest(name);
            }
        }
    }
}

#[test]
fn the_call_runs_once_whatever_operation_fails() {
    check_faults(On::Any, &[FaultKind::Io(ErrorKind::PermissionDenied)]);
}

#[test]
fn the_call_runs_once_on_a_disk_that_is_full_or_goes_away() {
    check_faults(On::Mutating, &[FaultKind::ShortWrite, FaultKind::Crash, FaultKind::CrashAfter]);
}

#[test]
fn the_call_runs_once_wherever_we_panic() {
    for at in 1..=operations(On::Any) {
        let bench = Bench::new(NOTES);
        check_call(&bench, Arc::new(FaultDisk::new().before(On::Any, at, || panic!("ours"))));
    }
}
