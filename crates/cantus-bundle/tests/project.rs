//! Projections to load points: what is ours, what is not, and what holds whatever fails.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod fixture;

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use cantus_bundle::{
    Layout, Mode, ProjectError, Projected, Reach, Resolution, State, Unprojected, Wanted, check_projection,
    materialise, project, unproject,
};
use cantus_fs::{Disk, Fault, FaultDisk, FaultKind, On, RealDisk, Root};
use fixture::{account, contents, copy, handmade, put, resolution, skill};
use tempfile::TempDir;

const SIDECAR: &str = ".agent-compose/projection.json";
const LOCK: &str = ".agent-compose/lock";
const ROLE: &str = ".claude/skills/role-lamplighter/SKILL.md";

/// Bundles and a target beside them.
struct Place {
    folder: TempDir,
    target: PathBuf,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("target");
        fs::create_dir(&target).unwrap();
        Self { folder, target }
    }

    fn bundle(&self, resolution: &Resolution) -> PathBuf {
        materialise(&RealDisk, resolution, &self.folder.path().join("bundles")).unwrap().folder
    }

    fn native(&self) -> PathBuf {
        self.bundle(&resolution(Mode::NativeSkills))
    }

    /// The native bundle with one more skill and other instructions.
    fn richer(&self) -> PathBuf {
        let mut richer = resolution(Mode::NativeSkills);
        richer.base = b"# Another base\n".to_vec();
        richer.skills.push(skill("more", &[("SKILL.md", "more\n"), ("deep/x.md", "x\n")]));
        account(&mut richer);
        self.bundle(&richer)
    }

    fn root(&self) -> Root {
        root(Arc::new(RealDisk), &self.target)
    }

    #[track_caller]
    fn project(&self, bundle: &Path) -> Projected {
        project(&self.root(), &wanted(bundle)).unwrap()
    }

    /// A projection that is refused and changes nothing.
    #[track_caller]
    fn refused(&self, bundle: &Path) -> ProjectError {
        let before = contents(&self.target);
        let error = project(&self.root(), &wanted(bundle)).unwrap_err();
        assert_eq!(without_lock(contents(&self.target)), without_lock(before));
        error
    }

    #[track_caller]
    fn states(&self, bundle: &Path) -> BTreeMap<String, State> {
        let before = contents(&self.target);
        let files = check_projection(&self.root(), &wanted(bundle)).unwrap();
        assert_eq!(contents(&self.target), before);
        files.into_iter().map(|file| (file.path.to_string(), file.state)).collect()
    }

    /// The paths of the files at the target, the record and its lock aside.
    fn files(&self) -> Vec<String> {
        let files = contents(&self.target).into_iter().filter(|(_, bytes)| bytes.is_some());
        files.map(|(path, _)| path).filter(|path| path != SIDECAR && path != LOCK).collect()
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.target.join(path)).unwrap()
    }
}

fn root(disk: Arc<dyn Disk>, target: &Path) -> Root {
    Root::new(disk, target.to_path_buf())
}

#[track_caller]
fn wanted(bundle: &Path) -> Wanted {
    Wanted::read(&RealDisk, bundle, Layout::Claude, Reach::Repo).unwrap()
}

/// The contents of a target without the lock that stays behind, and without the half of a file that a full disk of the tests leaves.
fn without_lock(mut contents: BTreeMap<String, Option<Vec<u8>>>) -> BTreeMap<String, Option<Vec<u8>>> {
    contents.remove(LOCK);
    let half = contents.keys().find(|path| path.ends_with(".cantus-tmp")).cloned();
    if let Some(half) = half {
        contents.remove(&half);
        let mut folder = half.as_str();
        while let Some((above, _)) = folder.rsplit_once('/') {
            if contents.keys().any(|path| path.starts_with(&format!("{above}/"))) {
                break;
            }
            contents.remove(above);
            folder = above;
        }
    }
    if contents.keys().filter(|path| path.starts_with(".agent-compose")).count() == 1 {
        contents.remove(".agent-compose");
    }
    contents
}

const NATIVE: [&str; 5] = [
    ".claude/skills/boundary-no-fire/SKILL.md",
    ".claude/skills/personality-patient/SKILL.md",
    ".claude/skills/role-lamplighter/SKILL.md",
    ".claude/skills/role-lamplighter/deep/er/x.md",
    "CLAUDE.md",
];

#[test]
fn every_layout_has_its_places() {
    for (layout, repo, home, skills) in [
        (Layout::Claude, "CLAUDE.md", ".claude/CLAUDE.md", ".claude/skills"),
        (Layout::Codex, "AGENTS.md", ".codex/AGENTS.md", ".agents/skills"),
        (Layout::Goose, ".goosehints", ".config/goose/.goosehints", ".agents/skills"),
        (Layout::Opencode, "AGENTS.md", ".config/opencode/AGENTS.md", ".agents/skills"),
    ] {
        for (reach, instructions) in [(Reach::Repo, repo), (Reach::Home, home)] {
            let wanted = Wanted::read(&RealDisk, &handmade(), layout, reach).unwrap();
            let names = ["boundary-no-fire", "personality-patient", "role-lamplighter"];
            let mut expected = names.map(|name| format!("{skills}/{name}/SKILL.md")).to_vec();
            expected.push(instructions.to_owned());
            expected.sort();
            assert_eq!(wanted.files.keys().map(ToString::to_string).collect::<Vec<_>>(), expected);
        }
    }
}

#[test]
fn a_native_bundle_is_laid_out_and_left_as_it_is() {
    let place = Place::new();
    let bundle = place.native();
    let before = contents(&bundle);
    place.project(&bundle);
    assert_eq!(place.files(), NATIVE);
    assert_eq!(place.read("CLAUDE.md").as_bytes(), before["content/instructions.md"].as_deref().unwrap());
    assert_eq!(contents(&bundle), before);
    assert!(place.states(&bundle).values().all(|state| *state == State::Fresh));
    let record: serde_json::Value = serde_json::from_str(&place.read(SIDECAR)).unwrap();
    assert_eq!(record["layout"], "claude");
    assert_eq!(record["bundle"], bundle.to_str().unwrap());
    assert_eq!(record["files"], serde_json::json!(NATIVE));
    assert_eq!(record["digests"].as_object().unwrap().len(), NATIVE.len());
}

#[test]
fn a_compiled_bundle_is_one_file() {
    let place = Place::new();
    place.project(&place.native());
    let mine = put(&place.target, ".claude/skills/mine/SKILL.md", "mine");
    place.project(&place.bundle(&resolution(Mode::Compiled)));
    assert_eq!(place.files(), [".claude/skills/mine/SKILL.md", "CLAUDE.md"]);
    assert!(place.read("CLAUDE.md").ends_with("# Patient\r\n") && mine.exists());
    assert!(!place.target.join(".claude/skills/role-lamplighter").exists());
}

#[test]
fn a_second_projection_touches_nothing() {
    let place = Place::new();
    let bundle = place.native();
    place.project(&bundle);
    let stamps = || {
        [SIDECAR, ROLE, "CLAUDE.md"]
            .map(|path| fs::metadata(place.target.join(path)).unwrap().modified().unwrap())
    };
    let before = (stamps(), contents(&place.target));
    place.project(&bundle);
    assert_eq!((stamps(), contents(&place.target)), before);
}

#[cfg(unix)]
#[test]
fn files_are_readable_whatever_they_were() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    place.project(&place.native());
    let file = place.target.join("CLAUDE.md");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    place.project(&place.richer());
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o7777, 0o644);
}

#[test]
fn foreign_files_are_refused_and_named() {
    let place = Place::new();
    put(&place.target, "CLAUDE.md", "mine");
    let error = place.refused(&place.native());
    assert_eq!(
        error.to_string(),
        "not written by an earlier projection, and other than the bundle has it: `CLAUDE.md`"
    );
    assert!(!place.target.join(".agent-compose").exists());
    assert_eq!(place.states(&place.native())["CLAUDE.md"], State::Foreign);
}

#[test]
fn a_folder_in_the_place_of_a_file_is_foreign() {
    let place = Place::new();
    put(&place.target, "CLAUDE.md/x", "mine");
    assert!(matches!(place.refused(&place.native()), ProjectError::Foreign(_)));
}

#[test]
fn equal_foreign_files_are_left_and_not_claimed() {
    let place = Place::new();
    let bundle = place.native();
    fs::copy(bundle.join("content/instructions.md"), place.target.join("CLAUDE.md")).unwrap();
    place.project(&bundle);
    assert_eq!(place.states(&bundle)["CLAUDE.md"], State::Unclaimed);
    assert!(!place.read(SIDECAR).contains("CLAUDE.md"));
    unproject(&place.root()).unwrap();
    assert_eq!(place.files(), ["CLAUDE.md"]);
}

#[cfg(unix)]
#[test]
fn an_equal_foreign_link_is_left_and_not_claimed() {
    let place = Place::new();
    let bundle = place.native();
    std::os::unix::fs::symlink(bundle.join("content/instructions.md"), place.target.join("CLAUDE.md"))
        .unwrap();
    place.project(&bundle);
    assert_eq!(place.states(&bundle)["CLAUDE.md"], State::Unclaimed);
    assert!(matches!(place.refused(&place.richer()), ProjectError::Foreign(_)));
}

#[cfg(unix)]
#[test]
fn nothing_is_written_behind_a_link() {
    let place = Place::new();
    let outside = place.folder.path().join("outside");
    fs::create_dir(&outside).unwrap();
    for link in [".claude", ".agent-compose"] {
        std::os::unix::fs::symlink(&outside, place.target.join(link)).unwrap();
        let error = place.refused(&place.native());
        assert!(matches!(error, ProjectError::Contain(_) | ProjectError::Target(_)), "{error}");
        assert_eq!(contents(&outside), BTreeMap::new());
        fs::remove_file(place.target.join(link)).unwrap();
    }
    place.project(&place.native());
    fs::remove_file(place.target.join("CLAUDE.md")).unwrap();
    std::os::unix::fs::symlink("elsewhere", place.target.join("CLAUDE.md")).unwrap();
    assert!(matches!(place.refused(&place.native()), ProjectError::Target(_)));
}

#[test]
fn stale_edited_and_missing_files_are_told_apart_and_mended() {
    let place = Place::new();
    let (bundle, richer) = (place.native(), place.richer());
    place.project(&bundle);
    put(&place.target, ROLE, "edited");
    fs::remove_file(place.target.join(".claude/skills/boundary-no-fire/SKILL.md")).unwrap();
    let states = place.states(&richer);
    assert_eq!(states["CLAUDE.md"], State::Stale);
    assert_eq!(states[ROLE], State::Edited);
    assert_eq!(states[".claude/skills/boundary-no-fire/SKILL.md"], State::Missing);
    assert_eq!(states[".claude/skills/more/SKILL.md"], State::Missing);
    let done = place.project(&richer);
    let kept = &done.kept[0];
    assert_eq!((done.kept.len(), kept.0.as_str()), (1, ROLE));
    assert_eq!(place.read(kept.1.as_str()), "edited");
    assert!(place.states(&richer).values().all(|state| *state == State::Fresh));
    let states = place.states(&bundle);
    assert_eq!(states[".claude/skills/more/deep/x.md"], State::Left);
}

#[test]
fn an_edited_file_that_nobody_wants_any_more_is_kept_aside() {
    let place = Place::new();
    place.project(&place.richer());
    put(&place.target, ".claude/skills/more/SKILL.md", "edited");
    let done = place.project(&place.native());
    assert!(!place.target.join(".claude/skills/more").exists());
    assert_eq!(place.read(done.kept[0].1.as_str()), "edited");
}

#[test]
fn unprojecting_leaves_the_target_as_it_was() {
    let place = Place::new();
    put(&place.target, ".claude/mine.md", "mine");
    let before = contents(&place.target);
    place.project(&place.native());
    let done = unproject(&place.root()).unwrap();
    assert_eq!(done.removed.iter().map(ToString::to_string).collect::<Vec<_>>(), NATIVE);
    assert_eq!(contents(&place.target), before);
    assert_eq!(unproject(&place.root()).unwrap(), Unprojected::default());
    assert_eq!(contents(&place.target), before);
}

#[test]
fn unprojecting_leaves_what_was_edited() {
    let place = Place::new();
    place.project(&place.native());
    put(&place.target, "CLAUDE.md", "edited");
    let done = unproject(&place.root()).unwrap();
    assert_eq!(done.left.iter().map(ToString::to_string).collect::<Vec<_>>(), ["CLAUDE.md"]);
    assert_eq!(contents(&place.target).into_keys().collect::<Vec<_>>(), ["CLAUDE.md"]);
}

/// The record of another tool has no digests: what it names is ours, and whether it was edited nobody can tell.
fn without_digests() -> Place {
    let place = Place::new();
    put(&place.target, "CLAUDE.md", "theirs");
    put(&place.target, "old/x.md", "old");
    put(
        &place.target,
        SIDECAR,
        "{\"layout\": \"claude\", \"bundle\": \"rel\", \"files\": [\"CLAUDE.md\", \"old/x.md\"]}",
    );
    place
}

#[test]
fn a_record_without_digests_is_taken_over_and_its_texts_are_kept() {
    let place = without_digests();
    let done = place.project(&place.native());
    let kept: Vec<_> =
        done.kept.iter().map(|(path, kept)| (path.as_str(), place.read(kept.as_str()))).collect();
    assert_eq!(kept, [("CLAUDE.md", "theirs".to_owned()), ("old/x.md", "old".to_owned())]);
    let mut files = place.files();
    files.retain(|path| !path.starts_with(".agent-compose/kept/"));
    assert_eq!(files, NATIVE);
    assert!(!place.target.join("old").exists());
}

#[test]
fn unprojecting_keeps_texts_that_have_no_digest() {
    let place = without_digests();
    let done = unproject(&place.root()).unwrap();
    let kept: Vec<_> =
        done.kept.iter().map(|(path, kept)| (path.as_str(), place.read(kept.as_str()))).collect();
    assert_eq!(kept, [("CLAUDE.md", "theirs".to_owned()), ("old/x.md", "old".to_owned())]);
    assert_eq!(done.removed.len(), 2);
    assert!(!place.target.join("CLAUDE.md").exists() && !place.target.join("old").exists());
}

#[test]
fn a_broken_record_owns_nothing() {
    let place = Place::new();
    let bundle = place.native();
    place.project(&bundle);
    put(&place.target, SIDECAR, "{");
    assert!(matches!(unproject(&place.root()), Err(ProjectError::Record)));
    assert!(matches!(place.refused(&place.richer()), ProjectError::Foreign(_)));
    assert!(place.project(&bundle).broken_record);
    assert!(place.states(&bundle).values().all(|state| *state == State::Unclaimed));
}

#[test]
fn a_record_with_paths_that_lead_elsewhere_is_refused() {
    for path in [
        "../outside",
        "/etc/passwd",
        ".agent-compose/lock",
        ".agent-compose",
        ".Agent-Compose/x",
        "a//b",
        "",
        ".git/HEAD",
        ".GIT/config",
    ] {
        let place = Place::new();
        put(place.folder.path(), "outside", "mine");
        let record = serde_json::json!({ "layout": "claude", "bundle": "", "files": [path] });
        put(&place.target, SIDECAR, &record.to_string());
        assert!(matches!(place.refused(&place.native()), ProjectError::Previous(_)), "{path}");
        assert!(matches!(unproject(&place.root()), Err(ProjectError::Previous(_))), "{path}");
        assert!(place.folder.path().join("outside").exists());
    }
}

#[test]
fn a_bundle_is_no_target() {
    let place = Place::new();
    let bundle = place.native();
    let before = contents(&bundle);
    for target in
        [bundle.clone(), bundle.join("content/new"), bundle.join("../x/..").join(bundle.file_name().unwrap())]
    {
        let error = project(&root(Arc::new(RealDisk), &target), &wanted(&bundle)).unwrap_err();
        assert!(matches!(error, ProjectError::Inside), "{error}");
    }
    #[cfg(unix)]
    {
        let link = place.folder.path().join("link");
        std::os::unix::fs::symlink(&bundle, &link).unwrap();
        let error = project(&root(Arc::new(RealDisk), &link.join("new/er")), &wanted(&bundle)).unwrap_err();
        assert!(matches!(error, ProjectError::Inside), "{error}");
    }
    assert_eq!(contents(&bundle), before);
}

#[test]
fn an_invalid_bundle_is_not_projected() {
    let place = Place::new();
    let bundle = place.folder.path().join("bundle");
    copy(&handmade(), &bundle);
    fs::remove_file(bundle.join("trace.json")).unwrap();
    let error = Wanted::read(&RealDisk, &bundle, Layout::Goose, Reach::Home).unwrap_err();
    assert!(matches!(error, ProjectError::Invalid(_)));
}

#[test]
fn two_skills_in_one_place_are_refused() {
    let place = Place::new();
    let mut twice = resolution(Mode::NativeSkills);
    twice.sources.push(cantus_bundle::SourceId::new("other").unwrap());
    let mut more = skill("personality-patient", &[("SKILL.md", "other\n")]);
    more.source = twice.sources[1].clone();
    twice.skills.push(more);
    account(&mut twice);
    let error = Wanted::read(&RealDisk, &place.bundle(&twice), Layout::Claude, Reach::Repo).unwrap_err();
    assert_eq!(
        error.to_string(),
        "two skills of the bundle would both be `.claude/skills/personality-patient/SKILL.md`"
    );
}

/// A skill that has a repository of its own in it.
#[test]
fn whatever_is_projected_may_be_recorded() {
    let place = Place::new();
    let mut odd = resolution(Mode::NativeSkills);
    odd.skills.push(skill(
        "odd",
        &[("SKILL.md", "x"), (".git/config", "x"), (".agent-compose/x", "x"), ("é %20", "x")],
    ));
    account(&mut odd);
    let bundle = place.bundle(&odd);
    place.project(&bundle);
    assert!(place.states(&bundle).values().all(|state| *state == State::Fresh));
    unproject(&place.root()).unwrap();
    assert_eq!(contents(&place.target), BTreeMap::new());
}

#[test]
fn a_missing_target_is_made() {
    let place = Place::new();
    let target = root(Arc::new(RealDisk), &place.target.join("new/er"));
    project(&target, &wanted(&place.native())).unwrap();
    assert!(place.target.join("new/er/CLAUDE.md").exists());
}

/// A target with an earlier projection, one of its files edited, and a foreign file; the bundle it should get.
fn laid_out() -> (Place, PathBuf) {
    let place = Place::new();
    place.project(&place.richer());
    put(&place.target, ROLE, "edited");
    put(&place.target, ".claude/skills/mine/SKILL.md", "mine");
    let bundle = place.native();
    (place, bundle)
}

#[cfg(unix)]
fn modes(place: &Place) -> Vec<u32> {
    use std::os::unix::fs::PermissionsExt;

    let mode = |path: &String| fs::metadata(place.target.join(path)).unwrap().permissions().mode();
    place.files().iter().filter(|path| !path.ends_with(".cantus-tmp")).map(mode).collect()
}

/// A change that fails at any operation: everything is as before, or as after.
#[track_caller]
fn check_failures(
    set_up: impl Fn() -> (Place, PathBuf),
    act: impl Fn(&Root, &Wanted) -> Result<(), ProjectError>,
    kind: FaultKind,
) {
    let (done, bundle) = set_up();
    act(&done.root(), &wanted(&bundle)).unwrap();
    let after = contents(&done.target);
    let mut failed = 0;
    for at in 1.. {
        let (place, bundle) = set_up();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let claude = place.target.join("CLAUDE.md");
            if claude.exists() {
                fs::set_permissions(claude, fs::Permissions::from_mode(0o640)).unwrap();
            }
        }
        let before = contents(&place.target);
        #[cfg(unix)]
        let modes_before = modes(&place);
        let wanted = wanted(&bundle);
        let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Mutating, kind }));
        let result = act(&root(Arc::clone(&disk) as Arc<dyn Disk>, &place.target), &wanted);
        if disk.count(On::Mutating) < at {
            result.unwrap();
            assert!(failed > 5, "{failed}");
            return;
        }
        let left = without_lock(contents(&place.target));
        // Emptied folders and lock files may stay; they are nobody's text.
        let files = |all: &BTreeMap<String, Option<Vec<u8>>>| {
            let mut all = without_lock(all.clone());
            all.retain(|_, bytes| bytes.is_some());
            all.remove(SIDECAR);
            all
        };
        match result {
            Ok(()) => assert!(files(&left) == files(&after), "{at}"),
            Err(error) => {
                failed += 1;
                assert!(left == without_lock(before), "{at}: {error}: {:?}", left.keys());
                #[cfg(unix)]
                assert_eq!(modes(&place), modes_before, "{at}");
                assert!(!matches!(error, ProjectError::Change { restored: false, .. }), "{at}: {error}");
            }
        }
    }
}

fn project_only(root: &Root, wanted: &Wanted) -> Result<(), ProjectError> {
    project(root, wanted).map(drop)
}

#[test]
fn a_first_projection_that_fails_leaves_nothing() {
    let fresh = || {
        let place = Place::new();
        let bundle = place.native();
        (place, bundle)
    };
    check_failures(fresh, project_only, FaultKind::Io(ErrorKind::PermissionDenied));
    check_failures(fresh, project_only, FaultKind::ShortWrite);
}

#[test]
fn a_later_projection_that_fails_gives_everything_back() {
    check_failures(laid_out, project_only, FaultKind::Io(ErrorKind::PermissionDenied));
    check_failures(laid_out, project_only, FaultKind::ShortWrite);
}

#[test]
fn unprojecting_that_fails_gives_everything_back() {
    check_failures(laid_out, |root, _| unproject(root).map(drop), FaultKind::Io(ErrorKind::Other));
}

/// A folder that becomes a link at any moment: nothing below it can be taken back, and whoever isn't told so finds all as before.
#[cfg(unix)]
#[test]
fn what_a_link_keeps_from_being_restored_is_told() {
    let mut told = 0;
    for at in 1.. {
        let (place, bundle) = laid_out();
        let before = without_lock(contents(&place.target));
        let (folder, moved) = (place.target.join(".claude"), place.folder.path().join("moved"));
        let (from, to) = (folder.clone(), moved.clone());
        let edit = move || {
            fs::rename(&from, &to).unwrap();
            std::os::unix::fs::symlink(&to, &from).unwrap();
        };
        let disk = Arc::new(FaultDisk::new().before(On::Mutating, at, edit));
        let result = project(&root(Arc::clone(&disk) as Arc<dyn Disk>, &place.target), &wanted(&bundle));
        if disk.count(On::Mutating) < at {
            assert!(told > 0);
            return;
        }
        fs::remove_file(&folder).unwrap();
        fs::rename(&moved, &folder).unwrap();
        match result {
            Err(ProjectError::Change { restored: false, .. }) => told += 1,
            Err(error) => assert!(without_lock(contents(&place.target)) == before, "{at}: {error}"),
            Ok(_) => {}
        }
    }
}

/// What is at a target, the record, its lock and what is kept aside.
fn apart_from_ours(target: &Path) -> Vec<String> {
    let paths = contents(target).into_keys();
    paths.filter(|path| path != ".agent-compose" && !path.starts_with(".agent-compose/")).collect()
}

#[test]
fn after_a_death_at_any_operation_the_next_run_owns_and_mends_everything() {
    let (done, bundle) = laid_out();
    done.project(&bundle);
    let expected = apart_from_ours(&done.target);
    for kind in [FaultKind::Crash, FaultKind::CrashAfter] {
        for at in 1.. {
            let (place, bundle) = laid_out();
            let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Mutating, kind }));
            let result = project(&root(Arc::clone(&disk) as Arc<dyn Disk>, &place.target), &wanted(&bundle));
            if !disk.crashed() {
                result.unwrap();
                break;
            }
            place.project(&bundle);
            assert!(place.states(&bundle).values().all(|state| *state == State::Fresh), "{kind:?} {at}");
            assert_eq!(apart_from_ours(&place.target), expected, "{kind:?} {at}");
            let kept: Vec<_> =
                place.files().into_iter().filter(|path| path.starts_with(".agent-compose/kept/")).collect();
            assert_eq!(kept.len(), 1, "{kind:?} {at}: {kept:?}");
            assert_eq!(place.read(&kept[0]), "edited", "{kind:?} {at}");
        }
    }
}

#[test]
fn after_a_death_while_unprojecting_the_next_run_takes_the_rest_away() {
    let (done, _) = laid_out();
    unproject(&done.root()).unwrap();
    let expected = apart_from_ours(&done.target);
    for kind in [FaultKind::Crash, FaultKind::CrashAfter] {
        for at in 1.. {
            let (place, _) = laid_out();
            let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Mutating, kind }));
            let result = unproject(&root(Arc::clone(&disk) as Arc<dyn Disk>, &place.target));
            if !disk.crashed() {
                result.unwrap();
                break;
            }
            unproject(&place.root()).unwrap();
            assert_eq!(apart_from_ours(&place.target), expected, "{kind:?} {at}");
            assert_eq!(place.read(ROLE), "edited", "{kind:?} {at}");
        }
    }
}

/// An edit at any moment of a run is there afterwards, in its place or kept aside.
#[track_caller]
fn check_late_edits(path: &str, act: impl Fn(&Root, &Wanted) -> Result<(), ProjectError>) {
    let mut edits = 0;
    for at in 1.. {
        let (place, bundle) = laid_out();
        let (file, wanted) = (place.target.join(path), wanted(&bundle));
        let edited = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&edited);
        let edit = move || {
            if file.exists() {
                fs::write(file, "late").unwrap();
                told.store(true, Ordering::Relaxed);
            }
        };
        let disk = Arc::new(FaultDisk::new().before(On::Mutating, at, edit));
        let result = act(&root(Arc::clone(&disk) as Arc<dyn Disk>, &place.target), &wanted);
        if disk.count(On::Mutating) < at {
            assert!(edits > 3, "{edits}");
            return;
        }
        if edited.load(Ordering::Relaxed) {
            edits += 1;
            let is_late = |text: &Option<Vec<u8>>| text.as_deref() == Some(b"late");
            assert!(contents(&place.target).values().any(is_late), "{at}: {result:?}");
        }
    }
}

#[test]
fn an_edit_at_any_moment_is_never_lost() {
    check_late_edits("CLAUDE.md", project_only);
    check_late_edits("CLAUDE.md", |root, _| unproject(root).map(drop));
}

#[test]
fn projecting_and_unprojecting_take_turns() {
    let place = Place::new();
    let bundle = place.native();
    std::thread::scope(|scope| {
        for index in 0..8 {
            let (place, bundle) = (&place, &bundle);
            scope.spawn(move || {
                for _ in 0..10 {
                    match index % 2 {
                        0 => drop(project(&place.root(), &wanted(bundle)).unwrap()),
                        _ => drop(unproject(&place.root()).unwrap()),
                    }
                }
            });
        }
    });
    unproject(&place.root()).unwrap();
    assert_eq!(place.files(), [] as [&str; 0]);
}

#[test]
fn what_is_no_folder_is_no_target() {
    let place = Place::new();
    let bundle = place.native();
    put(&place.target, "file", "mine");
    let refused = |name: &str, expected: &str| {
        let target = root(Arc::new(RealDisk), &place.target.join(name));
        for said in [
            project(&target, &wanted(&bundle)).unwrap_err(),
            check_projection(&target, &wanted(&bundle)).unwrap_err(),
            unproject(&target).unwrap_err(),
        ] {
            assert_eq!(said.to_string(), expected);
        }
    };
    refused("file", "the target is a regular file; expected a folder, or nothing yet");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("nowhere", place.target.join("link")).unwrap();
        refused("link", "the target is a symlink that leads to no folder; expected a folder, or nothing yet");
        std::os::unix::fs::symlink(".", place.target.join("here")).unwrap();
        let target = root(Arc::new(RealDisk), &place.target.join("here"));
        project(&target, &wanted(&bundle)).unwrap();
        assert!(place.target.join("CLAUDE.md").exists());
    }
}

#[test]
fn runs_at_one_target_take_turns() {
    let place = Place::new();
    let bundles = [place.native(), place.richer()];
    std::thread::scope(|scope| {
        for index in 0..8 {
            let (place, bundle) = (&place, &bundles[index % 2]);
            scope.spawn(move || place.project(bundle));
        }
    });
    let fresh = |bundle: &PathBuf| place.states(bundle).values().all(|state| *state == State::Fresh);
    assert_eq!(bundles.iter().filter(|bundle| fresh(bundle)).count(), 1);
}
