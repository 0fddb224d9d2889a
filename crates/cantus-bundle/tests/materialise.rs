//! Trees from resolutions: their bytes, their names, and what holds whatever fails and whoever runs beside.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod fixture;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};

use cantus_bundle::{
    Entry, MaterialiseError, Materialised, Mode, Repository, Resolution, Tier, materialise, verify,
};
use cantus_fs::{Fault, FaultDisk, FaultKind, On, RealDisk};
use cantus_manifest::Digest;
use fixture::{account, contents, names, path, put, resolution, segment, skill};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

#[track_caller]
fn make(resolution: &Resolution, out: &Path) -> Materialised {
    materialise(&RealDisk, resolution, out).unwrap()
}

#[test]
fn a_native_tree_holds_what_was_resolved() {
    let out = folder();
    let made = make(&resolution(Mode::NativeSkills), &out.path().join("deep/out"));
    let tree = contents(&made.folder);
    let skills = "content/skills/example%3Ahand";
    let expected = [
        "content",
        "content/instructions.md",
        "content/skills",
        skills,
        &format!("{skills}/boundary-no-fire"),
        &format!("{skills}/boundary-no-fire/SKILL.md"),
        &format!("{skills}/personality-patient"),
        &format!("{skills}/personality-patient/SKILL.md"),
        &format!("{skills}/role-lamplighter"),
        &format!("{skills}/role-lamplighter/SKILL.md"),
        &format!("{skills}/role-lamplighter/deep"),
        &format!("{skills}/role-lamplighter/deep/er"),
        &format!("{skills}/role-lamplighter/deep/er/x.md"),
        &format!("{skills}/role-lamplighter/empty"),
        &format!("{skills}/role-lamplighter/empty/inner"),
        "manifest.json",
        "trace.json",
    ];
    assert_eq!(tree.keys().collect::<Vec<_>>(), expected);
    assert_eq!(
        tree[&format!("{skills}/personality-patient/SKILL.md")].as_deref(),
        Some(&b"# Patient\r\n"[..])
    );
    let verified = verify(&RealDisk, &made.folder).unwrap();
    let text = tree["content/instructions.md"].as_ref().unwrap();
    assert_eq!(usize::try_from(verified.manifest.delivery.body_bytes), Ok(text.len()));
    assert!(text.starts_with(b"# Base\n\n# Role instructions\n") && text.ends_with(b"\n\nHello.\r\n"));
    assert_eq!(names(&out.path().join("deep/out")), [made.key]);
}

#[test]
fn a_compiled_tree_has_one_document_and_the_same_skills() {
    let out = folder();
    let native = contents(&make(&resolution(Mode::NativeSkills), out.path()).folder);
    let made = make(&resolution(Mode::Compiled), out.path());
    let compiled = contents(&made.folder);
    let text = compiled["delivery/compiled.md"].as_ref().unwrap();
    assert!(text.starts_with(native["content/instructions.md"].as_ref().unwrap()));
    assert!(text.ends_with(b"\n\n# Lamplighter\n\nLight it.\n\n# No fire\n\n# Patient\r\n"));
    let verified = verify(&RealDisk, &made.folder).unwrap();
    assert_eq!(usize::try_from(verified.manifest.delivery.body_bytes), Ok(text.len()));
    let differs = |name: &&String| native.get(*name) != compiled.get(*name);
    let differing: Vec<_> = compiled.keys().filter(differs).collect();
    assert_eq!(differing, ["delivery", "delivery/compiled.md", "manifest.json"]);
}

#[cfg(unix)]
#[test]
fn files_and_folders_have_plain_modes() {
    use std::os::unix::fs::PermissionsExt;

    let out = folder();
    let made = make(&resolution(Mode::NativeSkills), out.path());
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    // What the umask of this process leaves of a mode.
    let probe = out.path().join("probe");
    fs::create_dir(&probe).unwrap();
    let umasked = |wanted: u32| wanted & mode(&probe);
    assert_eq!(mode(&made.folder), umasked(0o755));
    assert_eq!(mode(&made.folder.join("content/skills")), umasked(0o755));
    assert_eq!(mode(&made.folder.join("manifest.json")), umasked(0o644));
}

#[test]
fn a_second_run_reuses_the_tree_without_touching_it() {
    let out = folder();
    let first = make(&resolution(Mode::NativeSkills), out.path());
    let stamp = |name: &str| fs::metadata(first.folder.join(name)).unwrap().modified().unwrap();
    let stamps = || ["", "manifest.json", "content", "content/instructions.md"].map(stamp);
    let before = (stamps(), contents(out.path()));
    let second = make(&resolution(Mode::NativeSkills), out.path());
    assert_eq!(second, Materialised { reused: true, ..first.clone() });
    assert_eq!((stamps(), contents(out.path())), before);
}

#[test]
fn where_a_tree_is_made_leaves_no_sign_in_it() {
    let outs = [folder(), folder()];
    let [one, two] = outs.each_ref().map(|out| make(&resolution(Mode::Compiled), &out.path().join("out")));
    assert_eq!((one.key, contents(&one.folder)), (two.key, contents(&two.folder)));
}

/// Changes that a consumer could see, or that the person package makes.
fn changes() -> Vec<fn(&mut Resolution)> {
    vec![
        |it| it.role_source.push('x'),
        |it| it.role_digest = Digest::of("other"),
        |it| it.tier = Tier::Oss,
        |it| it.delivery = Mode::Compiled,
        |it| it.personalities.push(segment("brave")),
        |it| it.boundaries.push("other".to_owned()),
        |it| it.colour = "#d98e48".parse().unwrap(),
        |it| it.identity.purpose.push('x'),
        |it| it.sources.push(cantus_bundle::SourceId::new("other").unwrap()),
        |it| it.content.extend([("x".to_owned(), Digest::of("x"))]),
        |it| it.package.push(b'x'),
        |it| it.briefing = Some(Vec::new()),
        |it| it.base.push(b'x'),
        |it| it.card.push_str("x\n"),
        |it| it.instructions[0].bytes.push(b'x'),
        |it| it.instructions[0].id.push('x'),
        |it| it.skills.swap(1, 2),
        |it| drop(it.skills[0].files.insert(path("y.md"), b"y".to_vec())),
        |it| it.skills[0].folders.extend([path("more")]),
        |it| it.skills.push(skill("more", &[("SKILL.md", "x")])),
        |it| {
            let skill = &mut it.skills[0];
            let bytes = skill.files.remove(&path("SKILL.md")).unwrap();
            skill.files.insert(path("COMPOSED.md"), bytes);
            skill.entry = Entry::Composed;
        },
    ]
}

#[test]
fn whatever_made_a_tree_is_in_its_key() {
    let out = folder();
    let mut keys = BTreeSet::from([make(&resolution(Mode::NativeSkills), out.path()).key]);
    for (index, change) in changes().into_iter().enumerate() {
        let mut changed = resolution(Mode::NativeSkills);
        change(&mut changed);
        account(&mut changed);
        let made = make(&changed, out.path());
        assert!(!made.reused && keys.insert(made.key), "change {index}");
    }
    let mut changed = resolution(Mode::NativeSkills);
    changed.decisions[0].reason.push('x');
    assert!(keys.insert(make(&changed, out.path()).key));
    changed.providers[0].reason.push('x');
    assert!(keys.insert(make(&changed, out.path()).key));
}

#[test]
fn an_entry_file_has_one_name_in_the_tree() {
    let out = folder();
    let mut composed = resolution(Mode::NativeSkills);
    composed.skills[1] =
        skill("boundary-no-fire", &[("COMPOSED.md", "# No fire\n"), ("deep/COMPOSED.md", "x")]);
    composed.skills[1].entry = Entry::Composed;
    account(&mut composed);
    let tree = contents(&make(&composed, out.path()).folder);
    let names: Vec<_> =
        tree.keys().filter_map(|name| name.split_once("boundary-no-fire/")).map(|it| it.1).collect();
    assert_eq!(names, ["SKILL.md", "deep", "deep/COMPOSED.md"]);
}

/// A resolution that can't be a tree: nothing is left of it.
#[track_caller]
fn refused(change: impl FnOnce(&mut Resolution), expected: &str) {
    let out = folder();
    let mut changed = resolution(Mode::NativeSkills);
    change(&mut changed);
    let error = materialise(&RealDisk, &changed, out.path()).unwrap_err();
    let mut said = error.to_string();
    if let Some(cause) = std::error::Error::source(&error) {
        said = format!("{said}: {cause}");
    }
    assert_eq!(said, expected);
    assert_eq!(names(out.path()), [] as [&str; 0]);
}

#[test]
fn what_can_be_no_tree_is_refused() {
    refused(|it| it.skills.clear(), "no skill is selected; a bundle has at least one");
    refused(
        |it| drop(it.skills[0].files.remove(&path("SKILL.md"))),
        "the skill `role-lamplighter` has no `SKILL.md`",
    );
    refused(|it| it.skills[0].entry = Entry::Composed, "the skill `role-lamplighter` has no `COMPOSED.md`");
    refused(
        |it| it.skills.push(it.skills[0].clone()),
        "the skill `role-lamplighter` of `example:hand` is selected twice",
    );
    refused(
        |it| {
            it.skills[0].entry = Entry::Composed;
            it.skills[0].files.insert(path("COMPOSED.md"), Vec::new());
        },
        "the skill `role-lamplighter` has both `COMPOSED.md` and `SKILL.md`",
    );
    refused(
        |it| it.skills[0].source = cantus_bundle::SourceId::new("con").unwrap(),
        "`con` is the name of a device on Windows",
    );
}

#[test]
fn what_does_not_verify_is_removed() {
    refused(
        |it| it.providers[0].context_bytes -= 1,
        "the new bundle is not valid: `trace.json`: the budget of \"example:hand\" says 3 skills and 47 bytes; the bundle has 3 and 48",
    );
    refused(
        |it| it.repositories.push(Repository { identity: "a/b".to_owned(), ..Repository::default() }),
        "the new bundle is not valid: `manifest.json`: the repository \"a/b\" lacks a source, a scope or a reason",
    );
}

#[test]
fn what_blocks_the_name_stays() {
    let out = folder();
    let key = make(&resolution(Mode::NativeSkills), out.path()).key;
    let place = out.path().join(&key);
    fs::remove_dir_all(&place).unwrap();
    for block in [
        (|place| fs::write(place, "mine").unwrap()) as fn(&Path),
        |place| fs::create_dir(place).unwrap(),
        |place| drop(put(place, "content/mine.md", "mine")),
    ] {
        block(&place);
        let before = contents(out.path());
        let error = materialise(&RealDisk, &resolution(Mode::NativeSkills), out.path()).unwrap_err();
        assert!(matches!(error, MaterialiseError::Blocked { .. }), "{error}");
        assert_eq!(contents(out.path()), before);
        if place.is_dir() { fs::remove_dir_all(&place).unwrap() } else { fs::remove_file(&place).unwrap() }
    }
}

/// A change to a tree that is there makes the next run fail and leave it alone.
#[track_caller]
fn tampered(change: impl FnOnce(&Path)) {
    let out = folder();
    let made = make(&resolution(Mode::NativeSkills), out.path());
    change(&made.folder);
    let before = contents(out.path());
    materialise(&RealDisk, &resolution(Mode::NativeSkills), out.path()).unwrap_err();
    assert_eq!(contents(out.path()), before);
}

#[test]
fn a_tree_that_was_tampered_with_is_neither_used_nor_mended() {
    let skill = "content/skills/example%3Ahand/role-lamplighter";
    tampered(|it| drop(put(it, "content/instructions.md", "Do as you like.\n")));
    tampered(|it| drop(put(it, &format!("{skill}/SKILL.md"), "# Lamplighter\n\nPuff it..\n")));
    tampered(|it| drop(put(it, &format!("{skill}/more.md"), "x")));
    tampered(|it| drop(put(it, &format!("{skill}/__init__.py"), "")));
    tampered(|it| drop(put(it, "content/skills/other/other/SKILL.md", "x")));
    tampered(|it| fs::remove_file(it.join("trace.json")).unwrap());
    tampered(|it| fs::remove_file(it.join("manifest.json")).unwrap());
    tampered(|it| fs::remove_file(it.join(format!("{skill}/deep/er/x.md"))).unwrap());
}

#[test]
fn a_stray_file_outside_the_skills_survives() {
    let out = folder();
    let made = make(&resolution(Mode::NativeSkills), out.path());
    put(&made.folder, "note.txt", "mine");
    assert!(make(&resolution(Mode::NativeSkills), out.path()).reused);
    assert!(made.folder.join("note.txt").exists());
}

#[test]
fn a_failure_at_any_operation_leaves_no_part_of_a_tree() {
    for at in 1.. {
        let out = folder();
        let fault = Fault { at, on: On::Any, kind: FaultKind::Io(ErrorKind::PermissionDenied) };
        let disk = FaultDisk::new().fault(fault);
        let result = materialise(&disk, &resolution(Mode::NativeSkills), out.path());
        let left = names(out.path());
        if disk.count(On::Any) < at {
            result.unwrap();
            return;
        }
        match &result {
            Ok(made) => assert!(verify(&RealDisk, &made.folder).is_ok()),
            // The flush of the folder after the rename may be what failed: then the tree is whole.
            Err(_) => assert!(
                left.iter().all(|name| verify(&RealDisk, &out.path().join(name)).is_ok()),
                "{at}: {left:?}"
            ),
        }
        let made = make(&resolution(Mode::NativeSkills), out.path());
        assert_eq!(names(out.path()), [made.key], "{at}");
    }
}

#[test]
fn a_full_disk_at_any_operation_leaves_no_part_of_a_tree() {
    for at in 1.. {
        let out = folder();
        let disk = FaultDisk::new().fault(Fault { at, on: On::Mutating, kind: FaultKind::ShortWrite });
        let result = materialise(&disk, &resolution(Mode::Compiled), out.path());
        if disk.count(On::Mutating) < at {
            result.unwrap();
            return;
        }
        assert!(
            names(out.path()).iter().all(|name| verify(&RealDisk, &out.path().join(name)).is_ok()),
            "{at}"
        );
    }
}

#[test]
fn a_death_at_any_operation_leaves_no_part_under_a_final_name() {
    for kind in [FaultKind::Crash, FaultKind::CrashAfter] {
        for at in 1.. {
            let out = folder();
            let disk = FaultDisk::new().fault(Fault { at, on: On::Mutating, kind });
            let result = materialise(&disk, &resolution(Mode::NativeSkills), out.path());
            if !disk.crashed() {
                result.unwrap();
                break;
            }
            check_remains(out.path());
        }
    }
}

/// What a dead run left: nothing under a final name but a whole tree, and a later run of anything takes the rest away.
#[track_caller]
fn check_remains(out: &Path) {
    for name in names(out) {
        assert!(name.starts_with(".stage-") || verify(&RealDisk, &out.join(&name)).is_ok(), "{name}");
    }
    let other = make(&resolution(Mode::Compiled), out);
    let made = make(&resolution(Mode::NativeSkills), out);
    let mut expected = [other.key, made.key];
    expected.sort();
    assert_eq!(names(out), expected);
}

#[test]
fn the_staging_of_a_live_run_and_what_is_not_ours_stay() {
    let out = folder();
    put(out.path(), ".stage-0123456789abcdef-1234/half.md", "of another tool");
    let at = out.path().to_path_buf();
    // In the middle of one run another one comes and ends.
    let disk = FaultDisk::new().before(On::Only(cantus_fs::Operation::Stage), 3, move || {
        make(&resolution(Mode::Compiled), &at);
    });
    let made = materialise(&disk, &resolution(Mode::NativeSkills), out.path()).unwrap();
    assert!(!made.reused && verify(&RealDisk, &made.folder).is_ok());
    assert_eq!(names(out.path()).len(), 3);
}

#[test]
fn the_slower_of_two_equal_runs_takes_the_tree_of_the_faster() {
    let out = folder();
    let at = out.path().to_path_buf();
    let disk = FaultDisk::new().before(On::Only(cantus_fs::Operation::Stage), 3, move || {
        make(&resolution(Mode::NativeSkills), &at);
    });
    let made = materialise(&disk, &resolution(Mode::NativeSkills), out.path()).unwrap();
    assert!(made.reused);
    assert_eq!(names(out.path()), [made.key]);
}

const OUT: &str = "CANTUS_TEST_OUT";
const DIE_AT: &str = "CANTUS_TEST_DIE_AT";

/// A process that materialises, for the tests below; alone it does nothing.
#[test]
#[ignore = "started by other tests, as a process of its own"]
fn process() {
    let Some(out) = env::var_os(OUT) else { return };
    let mut disk = FaultDisk::new();
    if let Ok(at) = env::var(DIE_AT) {
        disk = disk.before(On::Mutating, at.parse().unwrap(), || std::process::abort());
    }
    let made = materialise(&disk, &resolution(Mode::NativeSkills), Path::new(&out)).unwrap();
    println!("key={} reused={}", made.key, made.reused);
}

/// Starts [`process`].
fn start(out: &Path, die_at: Option<usize>) -> Command {
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "process", "--ignored", "--nocapture", "--test-threads=1"]).env(OUT, out);
    die_at.map(|at| command.env(DIE_AT, at.to_string()));
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

/// So many processes at once end with one tree, made by one of them.
#[track_caller]
fn converge(count: usize) {
    let out = folder();
    let runs: Vec<_> = (0..count).map(|_| start(out.path(), None).spawn().unwrap()).collect();
    let texts = runs.into_iter().map(|run| {
        let output = run.wait_with_output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stdout).unwrap()
    });
    let texts: Vec<_> = texts.collect();
    let key = make(&resolution(Mode::NativeSkills), out.path()).key;
    let ended =
        |text: &str| texts.iter().filter(|it| it.contains(&format!("key={key} reused={text}"))).count();
    assert_eq!((ended("false"), ended("true")), (1, count - 1));
    assert_eq!(names(out.path()), [key]);
}

#[test]
fn six_processes_converge() {
    converge(6);
}

#[test]
fn thirty_two_processes_converge() {
    converge(32);
}

#[test]
fn processes_that_are_killed_are_swept() {
    let mut killed = 0;
    for at in (1..).step_by(4) {
        let out = folder();
        let output = start(out.path(), Some(at)).output().unwrap();
        if output.status.success() {
            break;
        }
        killed += 1;
        check_remains(out.path());
    }
    assert!(killed > 3);
}
