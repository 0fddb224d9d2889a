//! Renders through the store: whatever happens to sources, store or disk, what comes out is what composing anew gives.

#![expect(clippy::disallowed_methods, reason = "tests set up their files without the code that they test")]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cantus_compose::Launch;
use cantus_fs::{Disk, Fault, FaultDisk, FaultKind, On, RealDisk, Root};
use cantus_launch::{Composer, RenderError, Rendered, Store};
use cantus_manifest::manifest::{CacheStatus, Manifest};
use cantus_manifest::{Diagnostic, Digest, Facts, Provider};
use cantus_testkit::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

/// A project, a home layer and a store, in a folder that goes away with the value.
struct Scene {
    folder: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let scene = Self { folder: tempfile::tempdir().unwrap() };
        scene.write("p/memory/a.md", "---\ntype: core\n---\n# A\n\nOne.\n");
        scene.write("p/memory/b.md", "---\ntype: reference\ndescription: What b is.\n---\n# B\n\nTwo.\n");
        scene.write("p/memory/web.md", "---\nweb: true\n---\n# Web\n");
        scene.write("p/memory/web/s.md", "---\nkeyword: S\n---\nThree.\n");
        scene.write("h/memory/mine.md", "---\ntype: core\n---\n# Mine\n\nFour.\n");
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// On this disk, without a store.
    fn composer(&self, disk: Arc<dyn Disk>) -> Composer {
        Composer::at(&Root::new(disk, self.at("p")), Some(&self.at("h"))).bypass()
    }

    fn fresh(&self, facts: &Facts) -> Answer {
        answer(self.composer(Arc::new(RealDisk)).render(facts.clone(), &Launch::default()))
    }
}

fn facts() -> Facts {
    Facts::root(Provider::native()).host(Some("h"))
}

/// What a render says, however it came by it.
#[derive(Debug, PartialEq)]
enum Answer {
    Bundle { text: String, table: Box<Manifest>, warnings: Vec<Diagnostic> },
    Faults(Vec<Diagnostic>),
    NoProject,
}

fn answer(rendered: Result<Rendered, RenderError>) -> Answer {
    match rendered {
        Ok(rendered) => {
            let warnings = rendered.warnings.clone();
            let (text, mut table) = rendered.into_parts();
            table.delivery.cache = CacheStatus::Bypass;
            Answer::Bundle { text, table: Box::new(table), warnings }
        }
        Err(RenderError::Faults(faults)) => Answer::Faults(faults),
        Err(_) => Answer::NoProject,
    }
}

/// Every bundle of a store is what its name says.
#[track_caller]
fn assert_valid(store: &Path) {
    let Ok(folders) = fs::read_dir(store.join("bundles")) else { return };
    for folder in folders {
        for file in fs::read_dir(folder.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.to_string_lossy().contains("cantus-tmp") {
                continue;
            }
            let digest = Digest::of(fs::read(&path).unwrap()).to_string();
            assert_eq!(path.file_stem().unwrap().to_str(), Some(digest.as_str()));
        }
    }
}

/// What happens between two renders.
#[derive(Clone, Debug)]
enum Step {
    Write(&'static str, &'static str),
    Touch(&'static str),
    SetBack(&'static str),
    Remove(&'static str),
    Rename(&'static str, &'static str),
    Ask(&'static str),
    Break(&'static str, usize),
}

const NOTES: &[&str] = &[
    "p/memory/a.md",
    "p/memory/b.md",
    "p/memory/c.md",
    "p/memory/web.md",
    "p/memory/web/s.md",
    "p/memory/web/t.md",
    "p/memory/odd.MD",
    "p/sase/memory/a.md",
    "h/memory/mine.md",
    "h/memory/a.md",
];

const OTHERS: &[&str] =
    &["p/cantus.toml", "h/cantus.toml", "p/Cargo.toml", "p/xtask/x", "p/memory/README.md"];

const TEXTS: &[&str] = &[
    "---\ntype: core\n---\n# A\n\nOne.\n",
    "---\ntype: core\n---\n# A\n\nTwo.\n",
    "---\ntype: core\npriority: 3\n---\n# Z\n\n[[b]]\n",
    "---\ntype: reference\ndescription: Some words.\n---\n# R\n",
    "---\nkeyword: T\n---\nText.\n",
    "---\nweb: true\nroster: list\n---\n# Web\n",
    "---\ntype: [\n---\n",
    "",
];

const SETTINGS: &[&str] = &[
    "name = \"one\"\n",
    "name = \"two\"\n",
    "width = 40\n",
    "memory = \"sase/memory\"\n",
    "package = \"pkg\"\n",
    "members = [\"m*\"]\n",
    "title = \"T\"\n",
    "[workspace.metadata.cantus]\nname = \"three\"\n",
    "[package]\nname = \"four\"\n",
    "nonsense = 1\n",
];

fn step() -> impl Strategy<Value = Step> {
    let note = || select(NOTES);
    prop_oneof![
        6 => (note(), select(TEXTS)).prop_map(|(path, text)| Step::Write(path, text)),
        2 => (select(OTHERS), select(SETTINGS)).prop_map(|(path, text)| Step::Write(path, text)),
        1 => note().prop_map(Step::Touch),
        1 => note().prop_map(Step::SetBack),
        2 => note().prop_map(Step::Remove),
        1 => select(OTHERS).prop_map(Step::Remove),
        2 => (note(), note()).prop_map(|(from, to)| Step::Rename(from, to)),
        1 => select(&["claude", "native"][..]).prop_map(Step::Ask),
        1 => (select(&["bundles", "cache", "index"][..]), 0..200_usize).prop_map(|(part, at)| Step::Break(part, at)),
    ]
}

impl Step {
    fn take(&self, scene: &Scene, edit: Edit, asked: &mut Facts) {
        match self {
            Self::Write(path, text) => match edit {
                Edit::InPlace => scene.write(path, text),
                Edit::Anew => {
                    scene.write("new", text);
                    fs::create_dir_all(scene.at(path).parent().unwrap()).unwrap();
                    fs::rename(scene.at("new"), scene.at(path)).unwrap();
                }
            },
            Self::Touch(path) => set_time(&scene.at(path), SystemTime::now()),
            Self::SetBack(path) => {
                set_time(&scene.at(path), SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 30))
            }
            Self::Remove(path) => drop(fs::remove_file(scene.at(path))),
            Self::Rename(from, to) => drop(fs::rename(scene.at(from), scene.at(to))),
            Self::Ask(provider) => *asked = Facts::root(Provider::new(*provider).unwrap()).host(Some("h")),
            Self::Break(part, at) => break_files(&scene.at("s").join(part), *at),
        }
    }
}

fn set_time(path: &Path, time: SystemTime) {
    if let Ok(file) = fs::OpenOptions::new().write(true).open(path) {
        file.set_modified(time).unwrap();
    }
}

/// Flips a bit of every file below a folder.
fn break_files(folder: &Path, at: usize) {
    for entry in fs::read_dir(folder).into_iter().flatten().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            break_files(&path, at);
            continue;
        }
        let mut bytes = fs::read(&path).unwrap();
        let length = bytes.len().max(1);
        if let Some(byte) = bytes.get_mut(at % length) {
            *byte ^= 4;
        }
        fs::remove_file(&path).unwrap();
        fs::write(&path, bytes).unwrap();
    }
}

/// How a file gets its new text.
#[derive(Clone, Copy, Debug)]
enum Edit {
    InPlace,
    /// As another file, so that its stamp is another one for sure.
    Anew,
}

fn check_steps(steps: &[Step], edit: Edit, age: Duration) -> Result<(), TestCaseError> {
    let scene = Scene::new();
    let disk: Arc<dyn Disk> = Arc::new(FaultDisk::new().aged(age));
    let composer = scene.composer(disk).store(&scene.at("s"));
    let mut asked = facts();
    for step in steps {
        step.take(&scene, edit, &mut asked);
        let fresh = scene.fresh(&asked);
        for _ in 0..2 {
            let cached = answer(composer.render(asked.clone(), &Launch::default()));
            prop_assert_eq!(&cached, &fresh, "after {:?}", step);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(cases(24))]

    /// Every stamp is too young to be trusted.
    #[test]
    fn a_cached_render_is_a_fresh_one(steps in vec(step(), 1..12)) {
        check_steps(&steps, Edit::InPlace, Duration::ZERO)?;
    }

    /// Every stamp is old enough to be trusted.
    #[test]
    fn a_cached_render_is_a_fresh_one_where_stamps_are_trusted(steps in vec(step(), 1..12)) {
        check_steps(&steps, Edit::Anew, Duration::from_secs(60))?;
    }
}

const KINDS: [FaultKind; 4] = [
    FaultKind::Io(io::ErrorKind::PermissionDenied),
    FaultKind::ShortWrite,
    FaultKind::Crash,
    FaultKind::CrashAfter,
];

/// What lies in the store before the disk fails.
#[derive(Clone, Copy, Debug)]
enum Before {
    Nothing,
    /// The render.
    Kept,
    /// The render, with other bytes in its place.
    Broken,
}

#[test]
fn a_store_that_fails_at_any_operation_takes_no_bundle_away() {
    for (before, kind) in [Before::Nothing, Before::Kept, Before::Broken]
        .into_iter()
        .flat_map(|before| KINDS.map(|kind| (before, kind)))
    {
        for at in 1.. {
            let scene = Scene::new();
            let composer = scene.composer(Arc::new(RealDisk));
            let healthy = composer.clone().store(&scene.at("s"));
            if !matches!(before, Before::Nothing) {
                healthy.render(facts(), &Launch::default()).unwrap();
            }
            if matches!(before, Before::Broken) {
                break_files(&scene.at("s/bundles"), 9);
            }
            let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Any, kind }));
            let failing = composer.keeping(Store::new(disk.clone(), scene.at("s")));
            let fresh = scene.fresh(&facts());
            let rendered = failing.render(facts(), &Launch::default()).unwrap();
            if matches!(before, Before::Nothing) {
                assert_ne!(rendered.cache, CacheStatus::Hit);
            }
            assert_eq!(answer(Ok(rendered)), fresh, "{before:?} {kind:?} at {at}");
            assert_eq!(answer(healthy.render(facts(), &Launch::default())), fresh);
            assert_eq!(healthy.render(facts(), &Launch::default()).unwrap().cache, CacheStatus::Hit);
            if !matches!(before, Before::Broken) {
                assert_valid(&scene.at("s"));
            }
            if disk.count(On::Any) < at {
                assert!(at > 3, "{before:?}: only {at} operations");
                break;
            }
        }
    }
}

#[test]
fn a_disk_that_fails_while_sources_are_read_never_spoils_the_store() {
    for at in 1.. {
        let scene = Scene::new();
        let healthy = scene.composer(Arc::new(RealDisk)).store(&scene.at("s"));
        let kind = FaultKind::Io(io::ErrorKind::PermissionDenied);
        let disk = Arc::new(FaultDisk::new().fault(Fault { at, on: On::Any, kind }));
        let store = Store::new(Arc::new(RealDisk), scene.at("s"));
        // What it says is for the reader of sources to decide; what it leaves is not.
        let _ = scene.composer(disk.clone()).keeping(store).render(facts(), &Launch::default());
        let fresh = scene.fresh(&facts());
        for _ in 0..2 {
            assert_eq!(answer(healthy.render(facts(), &Launch::default())), fresh, "at {at}");
        }
        if disk.count(On::Any) < at {
            break;
        }
    }
}

#[test]
fn a_source_that_changes_while_it_is_read_never_spoils_the_store() {
    for at in 1.. {
        let scene = Scene::new();
        let path = scene.at("p/memory/a.md");
        let edit = move || fs::write(&path, "---\ntype: core\n---\n# A\n\nNew.\n").unwrap();
        let disk = Arc::new(FaultDisk::new().before(On::Any, at, edit));
        let store = Store::new(Arc::new(RealDisk), scene.at("s"));
        let old = scene.fresh(&facts());
        let composer = scene.composer(disk.clone()).keeping(store.clone());
        let during = answer(composer.render(facts(), &Launch::default()));
        let new = scene.fresh(&facts());
        assert!(during == old || during == new, "at {at}: neither the old nor the new bundle");
        let healthy = scene.composer(Arc::new(RealDisk)).keeping(store);
        assert_eq!(answer(healthy.render(facts(), &Launch::default())), new, "at {at}");
        if disk.count(On::Any) < at {
            break;
        }
    }
}

#[test]
fn threads_share_a_store() {
    let scene = Scene::new();
    let composer = scene.composer(Arc::new(RealDisk)).store(&scene.at("s"));
    let fresh = scene.fresh(&facts());
    std::thread::scope(|scope| {
        let render = || answer(composer.render(facts(), &Launch::default()));
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(render)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), fresh);
        }
    });
    assert_valid(&scene.at("s"));
}

#[test]
fn equal_projects_in_two_places_share_a_bundle() {
    let scene = Scene::new();
    let store = scene.at("s");
    let render = |folder: &str| {
        let root = Root::new(Arc::new(RealDisk), scene.at(folder));
        Composer::at(&root, Some(&scene.at("h"))).store(&store).render(facts(), &Launch::default()).unwrap()
    };
    assert_eq!(render("p").cache, CacheStatus::Miss);
    fs::create_dir_all(scene.at("q/memory/web")).unwrap();
    for path in ["memory/a.md", "memory/b.md", "memory/web.md", "memory/web/s.md"] {
        fs::copy(scene.at("p").join(path), scene.at("q").join(path)).unwrap();
    }
    assert_eq!(render("q").cache, CacheStatus::Hit);
}

#[test]
fn without_a_project_there_is_an_error_and_no_store() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let composer = Composer::discover(folder.path(), None).store(&folder.path().join("s"));
    assert!(matches!(composer.render(facts(), &Launch::default()), Err(RenderError::NoProject)));
    assert!(!folder.path().join("s").exists());
}
