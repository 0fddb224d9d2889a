//! The same notes give the same bytes, wherever and however they lie.
#![expect(clippy::disallowed_methods, reason = "tests read and write without the code that they test")]

use std::fs;
use std::path::Path;
use std::process::Command;

use cantus_testkit::Repo;

use crate::program::{CANTUS, NOTES, TARGETS, cantus, projected, targets};

/// Notes whose order, wrapping and entries could depend on a locale.
const MIXED: &str = "
    //- memory/a.md
    ---
    type: core
    ---
    # A

    One.
    //- memory/B.md
    ---
    type: core
    ---
    # B

    Two.
    //- memory/zebra.md
    ---
    type: core
    ---
    # Zebra

    Three.
    //- memory/ångström.md
    ---
    type: core
    ---
    # Ångström

    Vier: naïve, 東京, I and ı.
    //- memory/öl.md
    ---
    type: reference
    description: Schön lange Beschreibung, die ganz gewiss über das Ende der Zeile hinausgeht, mit Wörtern wie Straße.
    ---
    # Öl

    Five.
    //- memory/terms.md
    ---
    web: true
    description: Words.
    ---
    # Terms

    <!-- cantus:strands -->
    <!-- /cantus:strands -->
    //- memory/terms/ärende.md
    ---
    keyword: Ärende
    ---
    # Ärende

    An errand.
    //- memory/terms/zon.md
    ---
    keyword: Zon
    ---
    # Zon

    A zone.
    ";

/// The committed files of `fixture`, made by a run that `change` has had its way with.
#[track_caller]
fn made(fixture: &str, change: impl FnOnce(&Repo, &mut Command)) -> [Vec<u8>; 3] {
    let repo = Repo::new(fixture);
    let mut command = repo.command(CANTUS);
    command.arg("project");
    change(&repo, &mut command);
    match command.output() {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(error) => panic!("{error}"),
    }
    targets(&repo)
}

/// A run that `change` has had its way with gives the bytes of a plain one.
#[track_caller]
fn check(change: impl FnOnce(&Repo, &mut Command)) {
    assert!(made(MIXED, change) == made(MIXED, |_, _| {}));
}

#[test]
fn locales_change_nothing() {
    for locale in ["sv_SE.UTF-8", "en_US.UTF-8", "C", "C.UTF-8", "tr_TR.UTF-8"] {
        check(|_, command| {
            command.env("LC_ALL", locale).env("LANG", locale).env("LANGUAGE", "sv");
        });
    }
}

#[test]
fn time_zones_users_and_terminals_change_nothing() {
    for zone in ["Asia/Kolkata", "America/St_Johns", "UTC", ":/nowhere"] {
        check(|_, command| {
            command.env("TZ", zone).env("USER", zone).env("COLUMNS", "40").env("TERM", "dumb");
        });
    }
}

#[test]
fn sub_folders_and_named_roots_change_nothing() {
    check(|repo, command| {
        command.current_dir(repo.path().join("memory").join("terms"));
    });
    check(|repo, command| {
        command.current_dir(repo.home()).arg("--root").arg(repo.path());
    });
    check(|_, command| {
        command.arg("--root").arg(".");
    });
}

#[test]
fn what_lies_beside_the_notes_changes_nothing() {
    check(|repo, _| {
        repo.write("memory/README.md", "not a note\n");
        repo.write("memory/assets/logo.svg", "");
        repo.write("src/main.rs", "");
    });
}

#[test]
fn the_order_in_which_notes_were_made_changes_nothing() {
    check(|repo, _| {
        let mut notes: Vec<_> =
            repo.files().into_iter().map(|file| (file.clone(), repo.read(&file))).collect();
        repo.remove("memory");
        notes.reverse();
        for (file, text) in notes {
            repo.write(&file, &text);
        }
    });
}

#[track_caller]
fn copy(from: &Path, to: &Path) {
    let made = fs::create_dir_all(to).and_then(|()| {
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                copy(&entry.path(), &to.join(entry.file_name()));
            } else {
                fs::copy(entry.path(), to.join(entry.file_name()))?;
            }
        }
        Ok(())
    });
    assert!(made.is_ok(), "{made:?}");
}

#[test]
fn a_copy_at_another_path_is_fresh() {
    let repo = Repo::new(MIXED);
    cantus(&repo, &["project"]).exits(0);
    let other = repo.home().join("Kopia av allt – 2").join("deep");
    copy(repo.path(), &other);
    let root = other.to_string_lossy();
    cantus(&repo, &["--root", &root, "project", "--check"]).exits(0);
    fs::remove_file(other.join("AGENTS.md")).unwrap();
    fs::remove_file(other.join("projections/lock.toml")).unwrap();
    cantus(&repo, &["--root", &root, "project"]).exits(0);
    assert!(TARGETS.map(|path| fs::read(other.join(path)).unwrap()) == targets(&repo));
}

#[test]
fn no_path_name_or_date_of_this_machine_is_in_the_files() {
    let repo = projected();
    for bytes in targets(&repo) {
        let text = String::from_utf8_lossy(&bytes);
        let parts = repo.path().iter().filter_map(|part| part.to_str()).filter(|part| part.len() > 5);
        for part in parts {
            assert!(!text.contains(part), "`{part}` in:\n{text}");
        }
        assert!(!text.contains("202"), "{text}");
    }
}

#[test]
fn notes_with_crlf_give_the_same_files() {
    let crlf: String = NOTES
        .lines()
        .map(|line| match line.contains("//- ") {
            true => format!("{line} crlf\n"),
            false => format!("{line}\n"),
        })
        .collect();
    assert!(
        made(&crlf, |repo, _| assert!(repo.read("memory/rules.md").contains("\r\n")))
            == made(NOTES, |_, _| {})
    );
}

#[test]
fn a_checkout_with_crlf_is_fresh_and_stays_as_it_is() {
    let repo = Repo::new(MIXED);
    cantus(&repo, &["project"]).exits(0);
    repo.commit_all("all");
    let lf = targets(&repo);
    // A clone inside the home folder, so that its project is found from there alone.
    let clone = repo.home().join("clone");
    let root = clone.to_string_lossy();
    repo.git(&["clone", "--quiet", "-c", "core.autocrlf=true", ".", &root]);
    let read = || TARGETS.map(|path| fs::read(clone.join(path)).unwrap());
    let crlf = read();
    for (crlf, lf) in crlf.iter().zip(&lf) {
        assert!(String::from_utf8_lossy(crlf).replace("\r\n", "\n").as_bytes() == lf && crlf != lf);
    }
    let note = fs::read(clone.join("memory/a.md")).unwrap();
    assert!(note.starts_with(b"---\r\n"));
    cantus(&repo, &["--root", &root, "project", "--check"]).exits(0);
    cantus(&repo, &["--root", &root, "check"]).exits(0);
    cantus(&repo, &["--root", &root, "project"]).exits(0);
    assert!(read() == crlf);
    // Whatever way it is written anew, git sees no change.
    fs::remove_file(clone.join("AGENTS.md")).unwrap();
    fs::remove_file(clone.join("CLAUDE.md")).unwrap();
    cantus(&repo, &["--root", &root, "project"]).exits(0);
    assert_eq!(repo.git(&["-C", &root, "diff", "--stat"]), "");
    assert_eq!(fs::read(clone.join("AGENTS.md")).unwrap(), lf[0]);
    cantus(&repo, &["--root", &root, "check"]).exits(0);
}
