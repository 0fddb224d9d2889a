//! Whatever fails at whatever moment: every target stays whole, and the next run completes.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]
#![expect(clippy::disallowed_methods, reason = "another process writes as it likes")]

use std::io::ErrorKind;
use std::sync::Arc;

use cantus_fs::{Fault, FaultDisk, FaultKind, On, Operation, RealDisk, Root, TargetError};
use cantus_projection::{ApplyError, Mend, Plan, Projection, apply, check, plan};
use cantus_testkit::Repo;
use cantus_workspace::{Options, Project};

const STAGES: On = On::Only(Operation::Stage);
const COMMITS: On = On::Only(Operation::Commit);
const REMOVALS: On = On::Only(Operation::Remove);

/// In the order of the plan; the last but one is to be removed.
const TARGETS: [&str; 6] = [
    "AGENTS.md",
    "CLAUDE.md",
    "docs/GEMINI.md",
    "projections/helper.md",
    "docs/OLD.md",
    "projections/lock.toml",
];

const OLD: &str = "
    //- cantus.toml
    [projection]
    files = [\"AGENTS.md\", \"docs/OLD.md\"]
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Be brief.
    ";

/// Other notes, two more files, a further output, and `docs/OLD.md` no more.
const NEW: &str = "
    //- cantus.toml
    [projection]
    files = [\"AGENTS.md\", \"CLAUDE.md\", \"docs/GEMINI.md\"]
    [[output]]
    render = \"helper\"
    file = \"projections/helper.md\"
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Be brief and kind.
    ";

fn root(repo: &Repo, disk: FaultDisk) -> (Arc<FaultDisk>, Root) {
    let disk = Arc::new(disk);
    (Arc::clone(&disk), Root::new(disk, repo.path().to_path_buf()))
}

fn failing(repo: &Repo, on: On, at: usize, kind: FaultKind) -> (Arc<FaultDisk>, Root) {
    root(repo, FaultDisk::new().fault(Fault { at, on, kind }))
}

fn real(repo: &Repo) -> Root {
    Root::new(Arc::new(RealDisk), repo.path().to_path_buf())
}

#[track_caller]
fn composed(root: &Root) -> (Project, Projection) {
    let project = Project::open(root, &Options::default()).value.unwrap();
    let projection = Projection::compose(&project).value.unwrap();
    (project, projection)
}

#[track_caller]
fn planned(root: &Root) -> Plan {
    plan(root, &composed(root).1, Mend::Safe).unwrap()
}

/// Plans and applies on the disk of the machine, and looks that nothing is left to do.
#[track_caller]
fn complete(repo: &Repo) {
    let root = real(repo);
    apply(&root, &planned(&root)).unwrap();
    assert!(planned(&root).is_fresh(), "{:#?}", planned(&root));
    assert_eq!(left_overs(repo), Vec::<String>::new());
}

fn left_overs(repo: &Repo) -> Vec<String> {
    repo.files().into_iter().filter(|file| file.contains("cantus-tmp")).collect()
}

type Contents = [Option<Vec<u8>>; 6];

fn contents(repo: &Repo) -> Contents {
    TARGETS.map(|path| repo.exists(path).then(|| repo.read_bytes(path)))
}

/// A project whose committed files are those of [`OLD`], and its notes those of [`NEW`].
#[track_caller]
fn stale() -> Repo {
    let repo = Repo::without_git(OLD);
    complete(&repo);
    repo.add(NEW);
    repo
}

/// Every target is what it was or what it should be; those that the error calls replaced are the latter.
#[track_caller]
fn assert_whole(repo: &Repo, old: &Contents, new: &Contents, result: &Result<(), ApplyError>) {
    let now = contents(repo);
    let done = match result {
        Err(ApplyError::Target { done, .. } | ApplyError::Changed { done, .. }) => done.as_slice(),
        _ => &[],
    };
    for (index, path) in TARGETS.into_iter().enumerate() {
        let (is_old, is_new) = (now[index] == old[index], now[index] == new[index]);
        let wants_new = result.is_ok() || done.iter().any(|done| done.as_str() == path);
        assert!(is_new || (is_old && !wants_new), "`{path}`: old {is_old}, new {is_new}, {result:?}");
    }
}

/// Fails with `kind` at every operation of an apply in turn; gives how many there were.
#[track_caller]
fn check_each(kind: FaultKind) -> usize {
    let after = stale();
    let old = contents(&after);
    complete(&after);
    let new = contents(&after);
    assert!(old.iter().zip(&new).all(|(old, new)| old != new));
    let mut at = 0;
    loop {
        at += 1;
        let repo = stale();
        let plan = planned(&real(&repo));
        let (disk, root) = failing(&repo, On::Any, at, kind);
        let result = apply(&root, &plan);
        assert_whole(&repo, &old, &new, &result);
        complete(&repo);
        assert!(contents(&repo) == new, "{kind:?} at {at}");
        if disk.count(On::Any) < at {
            result.unwrap();
            return at - 1;
        }
    }
}

#[test]
fn a_crash_at_any_operation_leaves_every_target_whole() {
    let count = check_each(FaultKind::Crash);
    // At the least: five files staged and committed, one removed.
    assert!(count >= 11, "{count}");
    assert_eq!(check_each(FaultKind::CrashAfter), count);
}

#[test]
fn a_full_disk_at_any_operation_leaves_every_target_whole() {
    check_each(FaultKind::ShortWrite);
    check_each(FaultKind::Io(ErrorKind::StorageFull));
}

#[test]
fn missing_rights_at_any_operation_leave_every_target_whole() {
    check_each(FaultKind::Io(ErrorKind::PermissionDenied));
    check_each(FaultKind::Io(ErrorKind::ReadOnlyFilesystem));
}

#[test]
fn a_fault_while_staging_replaces_nothing() {
    for kind in [FaultKind::ShortWrite, FaultKind::Io(ErrorKind::ReadOnlyFilesystem), FaultKind::Crash] {
        for at in 1..=5 {
            let repo = stale();
            let old = contents(&repo);
            let plan = planned(&real(&repo));
            let (disk, root) = failing(&repo, STAGES, at, kind);
            let error = apply(&root, &plan).unwrap_err();
            assert!(
                matches!(&error, ApplyError::Target { source: TargetError::Stage { .. }, .. }),
                "{error:?}"
            );
            assert_eq!(error.to_string(), "nothing was replaced");
            assert!(contents(&repo) == old);
            assert_eq!(disk.count(COMMITS), 0);
            complete(&repo);
        }
    }
}

#[test]
fn a_fault_while_committing_names_what_was_replaced() {
    let repo = stale();
    let plan = planned(&real(&repo));
    let (_, root) = failing(&repo, COMMITS, 3, FaultKind::Io(ErrorKind::PermissionDenied));
    let error = apply(&root, &plan).unwrap_err();
    assert_eq!(error.to_string(), "not everything was replaced, only `AGENTS.md`, `CLAUDE.md`");
    assert!(matches!(&error, ApplyError::Target { source: TargetError::Commit { .. }, .. }), "{error:?}");
    assert_eq!(left_overs(&repo), Vec::<String>::new());
    complete(&repo);
}

#[test]
fn the_original_comes_first_and_the_lock_last() {
    let plan = planned(&real(&stale()));
    assert_eq!(plan.targets.iter().map(|target| target.path.as_str()).collect::<Vec<_>>(), TARGETS);
}

/// What another process makes of `path` right before the run's operation `on` number `at` survives.
#[track_caller]
fn check_race(path: &'static str, on: On, at: usize, edit: Option<&'static str>) {
    let repo = stale();
    let (plan, full) = (planned(&real(&repo)), repo.path().join(path));
    let disk = FaultDisk::new().before(on, at, move || match edit {
        Some(text) => std::fs::write(full, text).unwrap(),
        None => std::fs::remove_file(full).unwrap(),
    });
    let (_, root) = root(&repo, disk);
    let error = apply(&root, &plan).unwrap_err();
    assert!(matches!(&error, ApplyError::Changed { path: found, .. } if found.as_str() == path), "{error:?}");
    let now = repo.exists(path).then(|| repo.read(path));
    assert_eq!(now.as_deref(), edit);
    assert_eq!(left_overs(&repo), Vec::<String>::new());
}

#[test]
fn an_edit_between_plan_and_commit_survives() {
    // A stale file, one that wasn't there, one to be removed, and the lock.
    check_race("AGENTS.md", STAGES, 1, Some("by hand\n"));
    check_race("AGENTS.md", STAGES, 5, Some("by hand\n"));
    check_race("AGENTS.md", STAGES, 5, None);
    check_race("CLAUDE.md", STAGES, 2, Some("by hand\n"));
    check_race("CLAUDE.md", COMMITS, 1, Some("by hand\n"));
    check_race("docs/OLD.md", COMMITS, 4, Some("by hand\n"));
    check_race("projections/lock.toml", COMMITS, 2, Some("by hand\n"));
}

#[test]
fn an_edit_between_the_last_look_and_the_write_survives() {
    // The hook runs in the very operation that puts the new file in place, or takes the old one away.
    check_race("AGENTS.md", COMMITS, 1, Some("by hand\n"));
    check_race("AGENTS.md", COMMITS, 1, None);
    check_race("CLAUDE.md", COMMITS, 2, Some("by hand\n"));
    check_race("projections/lock.toml", COMMITS, 5, Some("by hand\n"));
    check_race("docs/OLD.md", REMOVALS, 1, Some("by hand\n"));
    check_race("docs/OLD.md", REMOVALS, 1, None);
}

/// Two edits: the second comes when the first one is about to be put back.
#[test]
fn an_edit_that_meets_another_one_being_put_back_is_kept_beside() {
    let repo = stale();
    let (plan, path) = (planned(&real(&repo)), repo.path().join("AGENTS.md"));
    let [first, second] = ["first\n", "second\n"].map(|text| {
        let path = path.clone();
        move || std::fs::write(path, text).unwrap()
    });
    let disk = FaultDisk::new().before(COMMITS, 1, first).before(COMMITS, 2, second);
    let error = apply(&root(&repo, disk).1, &plan).unwrap_err();
    let ApplyError::Changed { kept: Some(kept), .. } = &error else { panic!("{error:?}") };
    assert_eq!([repo.read("AGENTS.md"), repo.read(kept.as_str())], ["first\n", "second\n"]);
    let said = format!("`AGENTS.md` changed while this ran; what stood there is kept as `{kept}`");
    assert!(error.to_string().ends_with(&said), "{error}");
}

#[test]
fn where_files_cannot_be_swapped_they_are_looked_at_and_renamed() {
    let repo = stale();
    let plan = planned(&real(&repo));
    let unsupported = FaultKind::Io(ErrorKind::Unsupported);
    let disk = FaultDisk::new().fault(Fault { at: 1, on: COMMITS, kind: unsupported });
    let (disk, root) = root(&repo, disk);
    apply(&root, &plan).unwrap();
    // Five files, and one more try for the first.
    assert_eq!(disk.count(COMMITS), 6);
    assert!(planned(&real(&repo)).is_fresh());
}

#[test]
fn a_target_that_becomes_a_folder_is_not_replaced() {
    let repo = stale();
    let (plan, full) = (planned(&real(&repo)), repo.path().join("CLAUDE.md"));
    let disk = FaultDisk::new().before(COMMITS, 1, move || std::fs::create_dir(full).unwrap());
    let (_, root) = root(&repo, disk);
    let error = apply(&root, &plan).unwrap_err();
    assert!(matches!(&error, ApplyError::Changed { path, .. } if path.as_str() == "CLAUDE.md"), "{error:?}");
    repo.remove("CLAUDE.md");
    complete(&repo);
}

/// Composing, planning and checking ask the disk for nothing that may change it.
#[track_caller]
fn check_reads_only(repo: &Repo, mend: Mend) {
    let files = || repo.files().into_iter().map(|file| (file.clone(), repo.read_bytes(&file)));
    let before: Vec<_> = files().collect();
    let (disk, root) = root(repo, FaultDisk::new());
    let (project, projection) = composed(&root);
    let plan = plan(&root, &projection, mend).unwrap();
    let _ = check(&root, &project, &projection, &plan);
    assert!(disk.count(On::Any) > 0);
    assert_eq!(disk.count(On::Mutating), 0);
    assert!(files().eq(before));
}

#[test]
fn planning_and_checking_change_nothing() {
    let fresh = Repo::without_git(OLD);
    complete(&fresh);
    let edited = stale();
    edited.write("AGENTS.md", "by hand\n");
    for repo in [Repo::new(OLD), fresh, stale(), edited] {
        check_reads_only(&repo, Mend::Safe);
        check_reads_only(&repo, Mend::Force);
    }
}

#[test]
fn applying_a_fresh_plan_changes_nothing() {
    let repo = Repo::without_git(OLD);
    complete(&repo);
    let (disk, root) = root(&repo, FaultDisk::new());
    apply(&root, &planned(&root)).unwrap();
    assert_eq!(disk.count(On::Mutating), 0);
}

#[test]
fn a_refused_plan_is_not_applied() {
    let repo = stale();
    repo.write("CLAUDE.md", "by hand\n");
    let (disk, root) = root(&repo, FaultDisk::new());
    let error = apply(&root, &planned(&root)).unwrap_err();
    assert_eq!(error.to_string(), "nothing was written: `CLAUDE.md` may not be overwritten");
    assert_eq!(disk.count(On::Mutating), 0);
}

#[test]
fn after_a_kill_notes_may_change_and_the_next_run_still_completes() {
    let mut killed_between = 0;
    for at in 1..=6 {
        let repo = stale();
        let plan = planned(&real(&repo));
        let (_, root) = failing(&repo, COMMITS, at, FaultKind::CrashAfter);
        let _ = apply(&root, &plan);
        killed_between += usize::from(!left_overs(&repo).is_empty());
        repo.write("memory/rules.md", &repo.read("memory/rules.md").replace("brief and kind", "kind"));
        complete(&repo);
    }
    assert!(killed_between >= 4, "{killed_between}");
}
