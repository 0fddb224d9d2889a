//! What agents were really given: `exec` with stand-ins that leave conversations as providers do, then `verify` and `readout`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;

use cantus_testkit::{Output, Repo};
use serde_json::Value;
use snapbox::{assert_data_eq, str};
use walkdir::WalkDir;

use crate::exec::exec_with;
use crate::program::{CANTUS, cantus, projected};

/// An invocation of each provider that keeps conversations, which is told its session where the command line can.
const INVOCATIONS: [(&str, &[&str]); 4] = [
    ("claude", &["-p", "--session-id", "aaaaaaaa-0000-4000-8000-000000000001", "Light the lamp."]),
    ("codex", &["exec", "Light the lamp."]),
    ("grok", &["-p", "Light the lamp."]),
    ("muse", &["exec", "--session-id", "aaaaaaaa-0000-4000-8000-000000000002", "Light the lamp."]),
];

/// Runs an agent of `provider` in the run `name`; the conversation has what became of its instructions.
#[track_caller]
fn invoke(repo: &Repo, provider: &str, name: &str, fate: &str, args: &[&str]) {
    let artifacts = format!("../runs/{name}");
    let options = ["--artifacts", &artifacts, "--name", name, "-q"];
    exec_with(repo, provider, &[("FAKE_SESSION", fate)], &options, args).exits(0);
}

/// A project in which every provider ran once, with this fate of its instructions, in runs called after them.
#[track_caller]
fn invoked(fate: &str) -> Repo {
    let repo = projected();
    for (provider, args) in INVOCATIONS {
        invoke(&repo, provider, provider, fate, args);
    }
    repo
}

#[track_caller]
fn verify(repo: &Repo, args: &[&str]) -> Output {
    cantus(repo, &[&["verify"], args].concat())
}

#[track_caller]
fn report(repo: &Repo, args: &[&str]) -> Value {
    let output = verify(repo, &[args, &["--json"]].concat()).exits(0);
    serde_json::from_str(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", output.stdout))
}

/// The entry of a list in which `key` is `value`.
#[track_caller]
fn entry<'a>(list: &'a Value, key: &str, value: &str) -> &'a Value {
    let found = list.as_array().expect("a list").iter().find(|entry| entry[key] == value);
    found.unwrap_or_else(|| panic!("no {key} {value} in {list:#}"))
}

/// The path, size and bytes of every file below a folder.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = WalkDir::new(folder).into_iter().map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.file_type().is_file());
    files
        .map(|entry| (entry.path().to_string_lossy().into_owned(), fs::read(entry.path()).expect("a file")))
        .collect()
}

#[test]
fn what_arrived_whole_is_covered_and_equal() {
    let repo = invoked("whole");
    let report = report(&repo, &["-c"]);
    for (provider, _) in INVOCATIONS {
        let row = entry(&report["providers"], "provider", provider);
        assert_eq!((&row["coverage"], &row["bundle"]), (&"1/1".into(), &"1×".into()), "{row:#}");
        assert_eq!((&row["delivery"], &row["project"]), (&"explicit".into(), &"✓".into()), "{row:#}");
        let row = entry(&report["coverage"]["rows"], "provider", provider);
        let counts = ["manifests", "sessions", "covered", "errors"].map(|key| row[key].as_u64());
        assert_eq!(counts, [Some(1), Some(1), Some(1), Some(0)], "{row:#}");
        assert_eq!(row["digest"]["equal"], 1, "{row:#}");
        let verdict = entry(&report["verdicts"], "run", provider);
        assert_eq!((&verdict["evidence"], &verdict["digest"]), (&"marker".into(), &"equal".into()));
        assert_eq!(verdict["sections_seen"], verdict["sections_total"], "{verdict:#}");
    }
    assert_eq!((&report["version"], &report["schema_version"]), (&1.into(), &1.into()));
    assert_eq!(report["runs"].as_array().map(Vec::len), Some(4));
}

#[test]
fn a_clean_report_is_strict_too_and_tells_helpers() {
    let repo = projected();
    invoke(&repo, "claude", "lamp", "whole", INVOCATIONS[0].1);
    verify(&repo, &["--strict"]).exits(0);
    let output = verify(&repo, &["-c", "-H"]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
Instruction delivery (observed)
provider  manifest  bundle  contract  home  project  directive  native-full
claude    1/1       1×      1×        [..]     ✓        ✓          0
  delivery explicit
  helpers Explore: 0 attempts, 0 accepted; helper bundle 1/1; root markers 0

Coverage
provider  purpose   manifests  sessions  covered  errors
claude    ordinary  1          1         1        0
  bundles: 1 equal
  renders: [..] ms (p95 [..])

Bundles
run   session           nr  evidence  bundle  sections
lamp  aaaaa…0000000001  00  marker    equal   [..]

Helpers
run   helper   type     contract  own bundle  root bundle  tries  accepted
lamp  agent-1  Explore  0         ✓           0            0      0

runs=1 sessions=2 findings=0
✓ there  ✗ not there  ◌ can't be told  1× [0,1] mostly once; all that was seen

"#]]
    );
    assert_eq!(output.stderr, "");
}

/// What `verify` says of each run whose instructions had this fate: the verdict, and the words of the finding.
#[track_caller]
fn check_fate(fate: &str, expected: [(&str, &str); 4]) {
    let repo = invoked(fate);
    let report = report(&repo, &["-c"]);
    for ((provider, _), (digest, words)) in INVOCATIONS.iter().zip(expected) {
        let verdict = entry(&report["verdicts"], "run", provider);
        assert_eq!(verdict["digest"], digest, "{provider} {fate}: {verdict:#}");
        let status = if words.is_empty() { 0 } else { 1 };
        let output = verify(&repo, &["--strict", "-p", provider]).exits(status);
        assert!(output.stdout.contains(words), "{provider} {fate}: {}", output.stdout);
        verify(&repo, &["-p", provider]).exits(0);
    }
}

#[test]
fn a_bundle_that_is_cut_is_named_with_its_place() {
    check_fate("cut", [("cut", "its bundle is cut after "); 4]);
}

#[test]
fn a_bundle_that_is_dropped_is_absent_where_the_session_is_known() {
    let absent = ("absent", "nothing of its bundle is there");
    // By time alone nothing is proved: the words stand in the table of bundles, and it is no finding.
    check_fate("dropped", [absent, ("absent", ""), ("absent", ""), absent]);
    let repo = projected();
    invoke(&repo, "codex", "lamp", "dropped", INVOCATIONS[1].1);
    let output = verify(&repo, &["-c"]).exits(0);
    assert!(output.stdout.contains("absent (by time)"), "{}", output.stdout);
}

#[test]
fn a_bundle_that_came_twice_is_counted() {
    check_fate("doubled", [("equal", "its bundle is there 2 times"); 4]);
    let repo = projected();
    invoke(&repo, "claude", "lamp", "doubled", INVOCATIONS[0].1);
    assert_eq!(report(&repo, &[])["providers"][0]["bundle"], "2×");
}

#[test]
fn a_bundle_without_its_end_is_never_equal() {
    let repo = invoked("torn");
    for verdict in report(&repo, &["-c"])["verdicts"].as_array().expect("verdicts") {
        assert!(["cut", "absent", "differs"].iter().any(|fate| verdict["digest"] == *fate), "{verdict:#}");
    }
    let row = &report(&repo, &["-p", "claude"])["providers"][0];
    assert_eq!(row["bundle"], "0", "{row:#}");
}

#[test]
fn antigravity_is_covered_by_its_records() {
    let repo = projected();
    invoke(&repo, "agy", "lamp", "whole", &["-p", "Light the lamp."]);
    let report = report(&repo, &["-c"]);
    let row = entry(&report["providers"], "provider", "agy");
    assert_eq!((&row["coverage"], &row["contract"]), (&"1/1".into(), &"◌".into()), "{row:#}");
    verify(&repo, &["--strict"]).exits(0);
}

#[test]
fn runs_at_the_same_time_are_told_apart() {
    let repo = projected();
    // The program is copied once, before there are more of them.
    invoke(&repo, "claude", "first", "whole", &["-p", "Light the lamp."]);
    thread::scope(|scope| {
        for run in 0..4 {
            let repo = &repo;
            scope.spawn(move || {
                let fate = if run == 3 { "cut" } else { "whole" };
                invoke(repo, "claude", &format!("run-{run}"), fate, &["-p", "Light the lamp."]);
            });
        }
    });
    let report = report(&repo, &["-c"]);
    let row = &report["coverage"]["rows"][0];
    assert_eq!(
        (&row["manifests"], &row["digest"]["equal"], &row["digest"]["cut"]),
        (&5.into(), &4.into(), &1.into()),
        "{row:#}"
    );
    assert_eq!(row["covered"], 5, "{row:#}");
    assert!(row["uncovered"].as_array().is_some_and(Vec::is_empty), "{row:#}");
    let verdicts = report["verdicts"].as_array().expect("verdicts");
    let of = |run: &str| -> Vec<&str> {
        let verdicts =
            verdicts.iter().filter(|verdict| verdict["run"] == run && verdict["evidence"] != "foreign");
        verdicts.filter_map(|verdict| verdict["digest"].as_str()).collect()
    };
    assert_eq!((of("run-0"), of("run-3")), (vec!["equal"], vec!["cut"]), "{verdicts:#?}");
}

#[test]
fn a_conversation_that_goes_on_has_the_bundle_of_its_beginning() {
    let repo = projected();
    let options = ["--artifacts", "../runs/lamp", "-q"];
    invoke(&repo, "claude", "lamp", "whole", &["-p", "--session-id", "s1", "Light the lamp."]);
    let first = fs::read(repo.path().join("../runs/lamp/instructions/00-claude.json")).expect("a manifest");
    let first: Value = serde_json::from_slice(&first).expect("JSON");
    let parent = first["delivery"]["invocation_id"].as_str().expect("an id");
    let options = [&options[..], &["--resumes", parent]].concat();
    let args = ["-p", "--resume", "s1", "Trim the wick."];
    exec_with(&repo, "claude", &[("FAKE_SESSION", "whole")], &options, &args).exits(0);
    let report = report(&repo, &["-c"]);
    let row = &report["coverage"]["rows"][0];
    assert_eq!(
        (&row["manifests"], &row["sessions"], &row["digest"]["equal"]),
        (&2.into(), &1.into(), &2.into()),
        "{report:#}"
    );
    assert_eq!(report["providers"][0]["bundle"], "1×");
    verify(&repo, &["--strict"]).exits(0);
}

#[test]
fn the_page_has_the_keys_of_the_json() {
    let page = include_str!("../../docs/observed-loads.md");
    let example = page.split("## `verify --json`").nth(1).and_then(|page| page.split("```").nth(1));
    let example = example.and_then(|block| block.strip_prefix("json\n")).expect("an example");
    let example: Value = serde_json::from_str(example).expect("JSON");
    let repo = projected();
    invoke(&repo, "claude", "lamp", "whole", INVOCATIONS[0].1);
    let report = report(&repo, &["-c"]);
    for place in [
        "",
        "/filters",
        "/coverage",
        "/coverage/rows/0",
        "/coverage/rows/0/digest",
        "/providers/0",
        "/runs/0",
        "/verdicts/0",
    ] {
        let keys = |value: &Value| {
            let object = value.pointer(place).and_then(Value::as_object);
            object.unwrap_or_else(|| panic!("no object at `{place}`")).keys().cloned().collect::<Vec<_>>()
        };
        assert_eq!(keys(&example), keys(&report), "{place}");
    }
}

#[test]
fn one_run_is_compared_section_by_section() {
    let repo = invoked("whole");
    let output = verify(&repo, &["-a", "codex"]).exits(0);
    assert!(output.stdout.contains("\ncodex rollout-"), "{}", output.stdout);
    let line = output.stdout.lines().find(|line| line.starts_with("proj.core.rules")).expect("a row");
    assert_eq!(line.split_whitespace().collect::<Vec<_>>(), ["proj.core.rules", "project", "1", "0", "1"]);
    let report = report(&repo, &["-a", "../runs/codex"]);
    let seen = &report["observations"][0];
    let row = entry(&seen["section_diff"]["rows"], "id", "proj.core.tests");
    assert_eq!((&row["observed"], &row["explicit"]), (&1.into(), &1.into()));
    assert!(seen["section_diff"]["manifest"].as_str().is_some_and(|path| Path::new(path).is_absolute()));
    assert!(report["coverage"].is_null() && report["verdicts"].is_null());
    let output = verify(&repo, &["-a", "nobody"]).exits(1);
    assert!(output.stderr.starts_with("verify: no run is called `nobody`\n"), "{}", output.stderr);
    verify(&repo, &["-a", "./nowhere"]).exits(1);
}

#[test]
fn windows_and_limits_choose_the_runs() {
    let repo = invoked("whole");
    let names = |args: &[&str]| -> Vec<String> {
        let report = report(&repo, args);
        report["runs"].as_array().expect("runs").iter().map(|run| run["name"].to_string()).collect()
    };
    assert_eq!(names(&[]).len(), 4);
    assert_eq!(names(&["--since", "1h"]).len(), 4);
    assert_eq!(names(&["--since", ""]).len(), 4);
    assert_eq!(names(&["--until", "1h"]).len(), 0);
    assert_eq!(names(&["--since", "9998-01-01"]).len(), 0);
    assert_eq!(names(&["-p", "codex"]), ["\"codex\""]);
    assert_eq!(names(&["-p", "codex", "-p", "muse"]).len(), 2);
    invoke(&repo, "codex", "again", "whole", INVOCATIONS[1].1);
    assert_eq!(names(&["-p", "codex", "-n", "1"]), ["\"again\""]);
    assert_eq!(names(&["-p", "codex", "-n", "99999"]).len(), 2);
    let empty = repo.path().join("../empty");
    fs::create_dir(&empty).expect("a folder");
    assert_eq!(names(&["--runs", "../empty"]).len(), 0);
    assert_eq!(names(&["--runs", "../runs/codex", "--runs", "../runs/muse"]).len(), 2);
    assert_eq!(names(&["--runs", ".."]).len(), 5);
    let output = verify(&repo, &["--until", "1h"]).exits(0);
    let said = "verify: no run of claude, codex, muse, grok or agy began in that time; `cantus show` lists runs, `--since` looks further back\n";
    assert_eq!(output.stderr, said);
    assert!(output.stdout.ends_with("\nruns=0 sessions=0 findings=0\n"), "{}", output.stdout);
}

#[test]
fn lines_that_are_no_records_are_told_with_coverage() {
    let repo = projected();
    invoke(&repo, "claude", "lamp", "whole", INVOCATIONS[0].1);
    let sessions = WalkDir::new(repo.home().join(".claude/projects")).into_iter().filter_map(Result::ok);
    let root = sessions
        .map(walkdir::DirEntry::into_path)
        .find(|path| path.ends_with("aaaaaaaa-0000-4000-8000-000000000001.jsonl"));
    let root = root.expect("a conversation");
    let text = fs::read_to_string(&root).expect("a file");
    fs::write(&root, format!("{text}{{\"torn")).expect("a file");
    assert_eq!(report(&repo, &["-c"])["unread"][0]["lines"], 1);
    let output = verify(&repo, &["-c"]).exits(0);
    assert!(output.stdout.contains("\n  1 of its lines is no record\n"), "{}", output.stdout);
    assert!(report(&repo, &[])["unread"].is_null());
}

#[test]
fn a_record_whose_bundle_is_another_proves_nothing() {
    let repo = projected();
    invoke(&repo, "claude", "lamp", "whole", INVOCATIONS[0].1);
    let bundle = repo.path().join("../runs/lamp/instructions/00-claude.md");
    fs::write(bundle, "# Something else\n").expect("a file");
    let output = verify(&repo, &["-c", "--strict"]).exits(0);
    assert!(output.stdout.contains("bundles: 1 unknown"), "{}", output.stdout);
}

#[test]
fn wrong_usage_is_named() {
    let repo = projected();
    for (args, words) in [
        (&["-p", "gemini"][..], "no sessions of the provider `gemini` are known"),
        (&["-p", "Claude"], "no sessions of the provider `Claude` are known"),
        (&["-n", "0"], "`-n 0` looks at nothing"),
        (&["-n", "x"], "invalid value 'x'"),
        (&["--since", "90s"], "invalid --since/--until value '90s': expected like 30m"),
        (&["--until", "-1d"], "invalid --since/--until value '-1d'"),
        (&["--since", "99999999w"], "invalid --since/--until value '99999999w'"),
        (&["--runs", "nowhere"], "`nowhere`, given as a tree of runs, is not a folder"),
    ] {
        let output = verify(&repo, args).exits(2);
        assert!(output.stderr.contains(words), "{args:?}: {}", output.stderr);
        assert_eq!(output.stdout, "");
    }
    for args in [
        &["--since", "90s"][..],
        &["--memory-reads", "x"],
        &["--layout", "sase", "--memory-reads", "nowhere"],
        &["--layout", "other"],
        &["-p", "9x"],
    ] {
        cantus(&repo, &[&["readout"], args].concat()).exits(2);
    }
}

#[test]
fn nothing_is_written_and_no_session_is_quoted() {
    let repo = invoked("whole");
    invoke(&repo, "claude", "other", "cut", &["-p", "A secret prompt."]);
    let before = files(repo.path().parent().expect("a parent"));
    for args in [&["-c", "-H"][..], &["-c", "-H", "-j"], &["-a", "codex"], &["-a", "other", "-j", "-c"]] {
        let output = verify(&repo, args).exits(0);
        for text in ["Be kind.", "Light the lamp.", "secret", "You are an agent.", "Read only."] {
            assert!(!output.stdout.contains(text) && !output.stderr.contains(text), "{args:?}: {text}");
        }
    }
    cantus(&repo, &["readout"]).exits(0);
    assert!(files(repo.path().parent().expect("a parent")) == before, "something was written");
}

#[test]
fn no_sessions_at_all_are_unobserved() {
    let repo = projected();
    exec_with(&repo, "codex", &[], &["--artifacts", "../runs/a", "-q"], INVOCATIONS[1].1).exits(0);
    let report = report(&repo, &["-c"]);
    assert_eq!(report["coverage"]["rows"][0]["digest"]["unobserved"], 1, "{report:#}");
    let output = verify(&repo, &["--strict"]).exits(1);
    let told = "run  provider  session\na    codex     —\n  of 1 invocation no conversation was found\n";
    assert!(output.stdout.contains(told), "{}", output.stdout);
}

/// The runs and the home of a vector, where the program looks for them.
fn vector(case: &str) -> (Repo, Value) {
    let case = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/vectors/observed").join(case);
    let repo = Repo::without_git("");
    let folders = [("runs", repo.path().join("runs")), ("home", repo.home().to_path_buf())];
    for (from, to) in folders.into_iter().filter(|(from, _)| case.join(from).exists()) {
        for (path, bytes) in files(&case.join(from)) {
            let target = to.join(Path::new(&path).strip_prefix(case.join(from)).expect("a path below"));
            fs::create_dir_all(target.parent().expect("a parent")).expect("a folder");
            fs::write(target, bytes).expect("a file");
        }
    }
    let expected = fs::read(case.join("expected.json")).expect("expected.json");
    (repo, serde_json::from_slice(&expected).expect("JSON"))
}

#[test]
fn a_whole_vector_goes_through_the_program() {
    let (repo, expected) = vector("mixed/01-coverage");
    let mut command = repo.command(CANTUS);
    command.args(["verify", "-c", "-j", "--runs", "runs", "--since", "2026-11-01"]);
    let output = command.env("SOURCE_DATE_EPOCH", "1796083200").output().expect("the program");
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(report["generated_at"], "2026-12-01T00:00:00.000Z");
    for key in ["coverage", "providers"] {
        assert_eq!(report[key], expected["expected"][key], "{key}");
    }
    // The vector has runs by name, the report the newest first.
    let verdicts = |report: &Value| {
        let mut verdicts = report["verdicts"].as_array().expect("verdicts").clone();
        verdicts.sort_by_key(|verdict| (verdict["run"].to_string(), verdict["session"].to_string()));
        verdicts
    };
    assert_eq!(verdicts(&report), verdicts(&expected["expected"]));
}

#[test]
fn outcomes_are_told_by_delivery() {
    let repo = projected();
    for (name, outcome) in [("a", "accepted"), ("b", "handoff"), ("c", "miss")] {
        invoke(&repo, "codex", name, "whole", INVOCATIONS[1].1);
        if outcome != "miss" {
            let text = format!("{{\"version\": 1, \"class\": \"{outcome}\", \"kind\": \"review\"}}");
            fs::write(repo.path().join("../runs").join(name).join("outcome.json"), text).expect("an outcome");
        }
    }
    invoke(&repo, "agy", "d", "whole", &["-p", "x"]);
    fs::write(repo.path().join("../runs/d/outcome.json"), "{").expect("an outcome");
    let output = cantus(&repo, &["readout"]).exits(0);
    assert_data_eq!(
        output.stdout,
        str![[r#"
Outcomes by delivery
provider  delivery  runs  accepted  handoff  not req.  misses      unknown
codex     explicit  3     1         1        0         ≤1/3 (33%)  0
  accepted review: 1, handoff review: 1
agy       legacy    1     0         0        0         ≤0/1 (0%)   1
first explicit bundle of codex: [..]

"#]]
    );
    assert_data_eq!(
        output.stderr,
        str![[r#"
readout: the `outcome.json` of run `d` can't be understood; it counts as unknown

"#]]
    );
    let output = cantus(&repo, &["readout", "--json", "-p", "codex"]).exits(0);
    let report: Value = serde_json::from_str(&output.stdout).expect("JSON");
    assert_eq!(report["rows"].as_array().map(Vec::len), Some(1));
    assert_eq!(report["rows"][0]["miss_rate"], 0.3333);
    assert_eq!(report["filters"]["providers"][0], "codex");
}

#[test]
fn what_a_readout_could_not_see_is_told() {
    let repo = projected();
    for name in ["kept", "gone"] {
        invoke(&repo, "codex", name, "whole", INVOCATIONS[1].1);
    }
    fs::remove_dir_all(repo.path().join("../runs/gone")).expect("a run");
    let log = repo.path().join("../reads.jsonl");
    fs::File::create(&log).and_then(|file| file.set_len(65 << 20)).expect("a log");
    let arguments = ["readout", "--layout", "sase", "--memory-reads", "../reads.jsonl"];
    let output = cantus(&repo, &arguments).exits(0);
    assert_data_eq!(
        output.stderr,
        str![[r#"
readout: the folders of 1 run in the index are gone
readout: the log `[..]reads.jsonl` can't be read: 68157440 bytes are more than the 67108864 allowed; no memory read is counted from it
readout: 1 run began in that time, none with the files of this layout

"#]]
    );
    for (providers, said) in [
        (&["-p", "muse"][..], "readout: no run of muse began"),
        (&["-p", "muse", "-p", "grok"], "readout: no run of grok or muse began"),
        (&["--until", "1h"], "readout: no run began"),
    ] {
        let output = cantus(&repo, &[&["readout"], providers].concat()).exits(0);
        assert!(output.stderr.contains(said), "{}", output.stderr);
    }
}

#[test]
fn the_files_of_sase_tell_outcomes_too() {
    let (repo, _) = vector("readout/01-classes");
    let mut command = repo.command(CANTUS);
    command.args(["readout", "--layout", "sase", "--runs", "runs", "--since", "2026-11-01"]);
    let output = command.env("SOURCE_DATE_EPOCH", "1795996800").output().expect("the program");
    assert_data_eq!(
        String::from_utf8(output.stdout).expect("UTF-8"),
        str![[r#"
Outcomes by delivery
claude  delivery explicit  runs 18  acc 1  plan 3  mon+ 3  mon 2  other 2  n/r 3
  misses ≤3/18 (17%)  unk 1  mem 0
claude  delivery explicit  runs 2  acc 0  plan 0  mon+ 0  mon 0  other 0  n/r 0
  misses ≤2/2 (100%)  unk 0  mem 0
  research
claude  delivery legacy  runs 2  acc 0  plan 0  mon+ 0  mon 0  other 0  n/r 0
  misses ≤2/2 (100%)  unk 0  mem 0
claude  delivery none  runs 1  acc 0  plan 0  mon+ 0  mon 0  other 0  n/r 0
  misses ≤1/1 (100%)  unk 0  mem 0
codex  delivery explicit  runs 2  acc 1  plan 0  mon+ 0  mon 0  other 0  n/r 0
  misses ≤1/2 (50%)  unk 0  mem 0
first explicit bundle of claude: 2026-11-20T10:00:01Z
first explicit bundle of codex: 2026-11-20T10:00:30Z

"#]]
    );
}
