//! Archives: the same bytes from equal trees, and readable by the tools of the system.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod fixture;

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;

use cantus_bundle::{ExportError, export, verify};
use cantus_fs::{Fault, FaultDisk, FaultKind, On, RealDisk};
use cantus_manifest::Digest;
use fixture::{contents, copy, handmade, names, put};

/// The archive of the bundle `root`.
#[track_caller]
fn archive(root: &Path) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("bundle.tar.gz");
    export(&RealDisk, root, &out).unwrap();
    assert_eq!(names(folder.path()), ["bundle.tar.gz"]);
    fs::read(out).unwrap()
}

/// What `program` makes of `input`.
#[track_caller]
fn piped(program: &str, args: &[&str], folder: &Path) -> Vec<u8> {
    let output = Command::new(program).args(args).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

#[test]
fn the_hand_made_bundle_has_this_archive() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bundle.tar.gz"), archive(&handmade())).unwrap();
    let tar = piped("gzip", &["-dc", "bundle.tar.gz"], folder.path());
    let digest = Digest::of(&tar).to_string();
    assert_eq!(digest, include_str!("../../../tests/vectors/bundle/handmade.tar.sha256").trim_end());
}

/// The same tree written in another order, at another time, with other modes and an empty folder.
#[test]
fn equal_trees_have_equal_archives() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("copy");
    let mut files: Vec<_> = contents(&handmade()).into_iter().collect();
    files.reverse();
    for (name, bytes) in files.into_iter().filter_map(|(name, bytes)| Some((name, bytes?))) {
        let path = put(&root, &name, std::str::from_utf8(&bytes).unwrap());
        let file = fs::File::options().write(true).open(&path).unwrap();
        file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(path, fs::Permissions::from_mode(0o750)).unwrap();
        }
    }
    fs::create_dir_all(root.join("empty/er")).unwrap();
    assert!(archive(&root) == archive(&handmade()));
}

#[test]
fn the_tools_of_the_system_read_it_and_what_comes_out_verifies() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("bundle");
    copy(&handmade(), &root);
    // Longer than a name may be by itself.
    let long = format!("{}/{}.md", "a".repeat(90), "b".repeat(90));
    put(&root, &long, "x");
    put(&root, "a-b.md", "");
    put(&root, "a.md", "");
    put(&root, "a/b.md", "");
    export(&RealDisk, &root, &folder.path().join("bundle.tar.gz")).unwrap();
    piped("gzip", &["-t", "bundle.tar.gz"], folder.path());
    let listed = String::from_utf8(piped("tar", &["-tzf", "bundle.tar.gz"], folder.path())).unwrap();
    let listed: Vec<_> = listed.lines().collect();
    let mut sorted = listed.clone();
    sorted.sort_unstable();
    assert_eq!(listed, sorted);
    assert!(listed.starts_with(&["a-b.md", "a.md", "a/b.md"]) && listed.contains(&long.as_str()));
    fs::create_dir(folder.path().join("out")).unwrap();
    piped("tar", &["-xzf", "bundle.tar.gz", "-C", "out"], folder.path());
    assert_eq!(contents(&folder.path().join("out")), contents(&root));
    verify(&RealDisk, &folder.path().join("out")).unwrap();
}

/// An export of the copy after `change` fails, and what stood under the archive's name stands there still.
#[track_caller]
fn refused(change: impl FnOnce(&Path), expected: &str) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("bundle");
    copy(&handmade(), &root);
    change(&root);
    put(folder.path(), "out.tar.gz", "old");
    let before = contents(folder.path());
    for name in ["out.tar.gz", "new.tar.gz"] {
        let error = export(&RealDisk, &root, &folder.path().join(name)).unwrap_err();
        let cause = std::error::Error::source(&error).unwrap().to_string();
        assert_eq!(cause, expected);
        assert_eq!(contents(folder.path()), before);
    }
}

#[test]
fn what_can_be_no_archive_leaves_none() {
    refused(
        |it| fs::remove_file(it.join("trace.json")).unwrap(),
        "`trace.json`: there is no such file in the bundle",
    );
    refused(
        |it| drop(put(it, "zebra/é.md", "x")),
        "its path is not ASCII, and archives of this kind have no other names",
    );
    refused(
        |it| drop(put(it, &"z".repeat(101), "x")),
        "its path is too long: expected at most 155 bytes, a `/`, and at most 100",
    );
}

#[cfg(unix)]
#[test]
fn a_link_in_the_bundle_leaves_no_archive() {
    refused(
        |it| std::os::unix::fs::symlink("manifest.json", it.join("link")).unwrap(),
        "`link`: a symlink; expected a regular file or a folder",
    );
}

#[test]
fn an_archive_does_not_lie_in_its_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("bundle");
    copy(&handmade(), &root);
    let before = contents(&root);
    let error = export(&RealDisk, &root, &root.join("x.tar.gz")).unwrap_err();
    assert!(matches!(error, ExportError::Inside));
    let error = export(&RealDisk, &root, folder.path()).unwrap_err();
    assert!(matches!(error, ExportError::Taken(_)));
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("bundle", folder.path().join("link")).unwrap();
        let error = export(&RealDisk, &root, &folder.path().join("link/x.tar.gz")).unwrap_err();
        assert!(matches!(error, ExportError::Inside));
        let error = export(&RealDisk, &root, &folder.path().join("link")).unwrap_err();
        assert!(matches!(error, ExportError::Inside | ExportError::Taken(_)));
    }
    assert_eq!(contents(&root), before);
}

#[test]
fn a_failure_at_any_operation_leaves_the_old_archive_or_the_new_one() {
    for at in 1.. {
        let folder = tempfile::tempdir().unwrap();
        put(folder.path(), "out.tar.gz", "old");
        let disk =
            FaultDisk::new().fault(Fault { at, on: On::Any, kind: FaultKind::Io(ErrorKind::StorageFull) });
        let result = export(&disk, &handmade(), &folder.path().join("out.tar.gz"));
        assert_eq!(names(folder.path()), ["out.tar.gz"]);
        let left = fs::read(folder.path().join("out.tar.gz")).unwrap();
        if disk.count(On::Any) < at {
            result.unwrap();
            return;
        }
        assert!(result.is_err() && (left == b"old" || left == archive(&handmade())), "{at}");
    }
}
