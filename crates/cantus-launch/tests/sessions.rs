//! Packs with a project behind them.

#![cfg(feature = "session")]
#![expect(clippy::disallowed_methods, reason = "tests set up their files without the code that they test")]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::fs;
use std::path::Path;
use std::sync::Arc;

use cantus_fs::{RealDisk, Root};
use cantus_launch::sessions::{Reference, SessionLaunch, Snapshot, WikiPointer};
use cantus_launch::{Composer, Facts, Launch, Provider, SessionComposer, SessionError, SessionTexts};
use cantus_manifest::Severity;

fn project() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "memory/a.md", "---\ntype: core\n---\n# A\n\nOne.\n");
    write(folder.path(), "memory/b.md", "---\ntype: reference\ndescription: What b is.\n---\n# B\n\nTwo.\n");
    folder
}

fn write(folder: &Path, path: &str, text: &str) {
    let path = folder.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn composer(folder: &Path) -> Composer {
    Composer::at(&Root::new(Arc::new(RealDisk), folder.to_path_buf()), None).bypass()
}

fn facts() -> Facts {
    Facts::root(Provider::native()).host(Some("h"))
}

fn launch() -> SessionLaunch {
    SessionLaunch { product: "Acme".to_owned(), wiki: WikiPointer::Shown, ..SessionLaunch::default() }
}

#[track_caller]
fn texts(folder: &Path, previous: Option<&Snapshot>) -> SessionTexts {
    SessionComposer::new(composer(folder)).bundle(facts()).compile(&launch(), previous).unwrap()
}

#[test]
fn a_conversation_starts_with_the_composed_instructions_and_is_told_what_changed() {
    let folder = project();
    let bundle = composer(folder.path()).render(facts(), &Launch::default()).unwrap();
    let first = texts(folder.path(), None).compiled;
    assert!(first.system.contains(bundle.text()), "{}", first.system);
    let held = first.update.unwrap().snapshot;
    let same = texts(folder.path(), Some(&held)).compiled;
    assert_eq!((same.system.as_str(), same.update), (first.system.as_str(), None));
    write(
        folder.path(),
        "memory/b.md",
        "---\ntype: reference\ndescription: What b is.\n---\n# B\n\nThree.\n",
    );
    let changed = texts(folder.path(), Some(&held)).compiled;
    assert_eq!(changed.system, first.system);
    assert_eq!(changed.pack.delivery().unwrap().updated, ["wiki"]);
}

#[test]
fn notes_that_nothing_asks_for_are_not_read() {
    let folder = project();
    write(folder.path(), "memory/broken.md", "---\ntype: nonsense\n---\n");
    let composer = SessionComposer::new(composer(folder.path()));
    let plain = SessionLaunch { product: "Acme".to_owned(), ..SessionLaunch::default() };
    assert_eq!(composer.compile(&plain, None).unwrap().warnings, []);
    assert_eq!(composer.compile(&launch(), None).unwrap().warnings.len(), 1);
}

#[test]
fn what_is_doubtful_in_a_bundle_is_told_once() {
    let folder = project();
    write(folder.path(), "memory/cantus.md", "---\ntype: core\n---\n# Of The Package's Name\n");
    let composer = SessionComposer::new(composer(folder.path())).bundle(facts());
    let plain = SessionLaunch { product: "Acme".to_owned(), ..SessionLaunch::default() };
    for asked in [plain, launch()] {
        let warnings = composer.compile(&asked, None).unwrap().warnings;
        let codes: Vec<_> = warnings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, ["note.superseded"]);
    }
}

#[test]
fn a_broken_note_is_a_warning_and_a_broken_project_an_error() {
    let folder = project();
    write(folder.path(), "memory/broken.md", "---\ntype: nonsense\n---\n");
    let note = |path: &str| Reference::Note { path: path.to_owned(), label: None };
    let references = vec![note("memory/broken.md"), note("memory/b.md")];
    let asked = SessionLaunch { references, ..launch() };
    let plain = SessionComposer::new(composer(folder.path()));
    let texts = plain.compile(&asked, None).unwrap();
    let found: Vec<_> = texts.warnings.iter().map(|it| (it.severity, it.path.as_deref())).collect();
    assert_eq!(found, [(Severity::Warning, Some("memory/broken.md"))]);
    let content = texts.compiled.update.unwrap().content;
    assert!(content.contains("\n- memory/broken.md: this note can't be read."), "{content}");
    assert!(content.contains("\nTwo.\n"), "{content}");
    let whole = SessionComposer::new(composer(folder.path())).bundle(facts());
    assert!(matches!(whole.compile(&asked, None), Err(SessionError::Render(_))));
    write(folder.path(), "cantus.toml", "name = 1\n");
    assert!(matches!(plain.compile(&asked, None), Err(SessionError::Render(_))));
}

#[test]
fn without_a_project_there_is_a_pack_but_no_bundle() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let composer = SessionComposer::new(Composer::discover(folder.path(), None).bypass());
    let note = Reference::Note { path: "memory/a.md".to_owned(), label: None };
    let asked = SessionLaunch { references: vec![note], ..launch() };
    let compiled = composer.compile(&asked, None).unwrap().compiled;
    let bodies: Vec<_> = compiled.pack.snapshot().into_iter().map(|it| (it.id, it.body)).collect();
    assert_eq!(bodies.len(), 1);
    assert!(
        bodies[0].1.ends_with("- memory/a.md: this note can't be read. Tell the person so."),
        "{bodies:?}"
    );
    assert!(matches!(composer.bundle(facts()).compile(&asked, None), Err(SessionError::Render(_))));
}

#[test]
fn what_the_host_says_wrong_is_told() {
    let folder = project();
    let composer = SessionComposer::new(composer(folder.path()));
    let error = composer.compile(&SessionLaunch::default(), None).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the session can't be launched: `product` must be one line that is not blank"
    );
}
