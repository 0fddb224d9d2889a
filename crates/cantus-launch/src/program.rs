//! What an installed provider program says of itself: asked once, then remembered as long as its file stays the same.

use std::ffi::OsStr;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use cantus_fs::{Disk, FileStamp, Kind};
use cantus_manifest::{Digest, Provider, canonical_json};
use serde_json::{Value, json};

use crate::adapters::{Knowledge, knowledge};

/// How long a program may take to answer one question.
const PATIENCE: Duration = Duration::from_secs(2);

/// The most bytes of an answer, and of one that is remembered.
const MOST_BYTES: u64 = 1 << 20;

/// What `program` is known to do. It is asked only if its file is called like `provider`: anything else may be a script that
/// does its work whatever its arguments are. What it says is kept in the store's folder `store`, if there is one.
pub(crate) fn ask(disk: &dyn Disk, store: Option<&Path>, provider: &Provider, program: &Path) -> Knowledge {
    let is_called = |path: &Path| path.file_stem().and_then(OsStr::to_str) == Some(provider.as_str());
    let Some(path) = find(disk, program).filter(|path| is_called(path)) else { return Knowledge::default() };
    let real = disk.canonical(&path).unwrap_or_else(|_| path.clone());
    let stamp = disk.stamp(&real).ok().flatten();
    let memory = store.zip(stamp).map(|(store, stamp)| (memory_of(store, &path), key(&real, &stamp)));
    if let Some((file, key)) = &memory
        && let Some(known) = recall(disk, file, key)
    {
        return known;
    }
    let Some(version) = answer(&path, "--version") else { return Knowledge::default() };
    let known = knowledge(Some(&version), || answer(&path, "--help"));
    if let Some((file, key)) = &memory {
        // Else it is asked again next time.
        let _ = remember(disk, file, key, &known);
    }
    known
}

/// The file that the system would run for `program`.
fn find(disk: &dyn Disk, program: &Path) -> Option<PathBuf> {
    let is_there = |path: &PathBuf| matches!(disk.kind(path), Ok(Some(Kind::File | Kind::Symlink)));
    let endings: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd"] } else { &[""] };
    let named = |folder: &Path| {
        let with = |ending: &&str| {
            let mut path = folder.join(program).into_os_string();
            path.push(ending);
            PathBuf::from(path)
        };
        endings.iter().map(with).find(|path| is_there(path))
    };
    if program.components().count() > 1 {
        return named(&std::env::current_dir().ok()?);
    }
    std::env::split_paths(&std::env::var_os("PATH")?).find_map(|folder| named(&folder))
}

/// What the program prints for one argument; `None` if it can't be run or takes too long. What it prints if it fails counts
/// too: a program that doesn't know a flag says something else.
fn answer(program: &Path, argument: &str) -> Option<String> {
    let mut command = Command::new(program);
    command.arg(argument).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let out = child.stdout.take()?;
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = out.take(MOST_BYTES).read_to_end(&mut bytes);
        // Nobody listens any more if it took too long.
        let _ = sender.send(read.ok().map(|_| bytes));
    });
    let bytes = receiver.recv_timeout(PATIENCE).ok().flatten();
    // It may have closed its output and go on.
    let _ = child.kill();
    let _ = child.wait();
    Some(String::from_utf8_lossy(&bytes?).into_owned())
}

fn memory_of(store: &Path, program: &Path) -> PathBuf {
    let name = Digest::of(program.as_os_str().as_encoded_bytes()).to_string();
    store.join("cache").join("programs").join(format!("{}.json", &name[..16]))
}

/// What changes when the program does.
fn key(real: &Path, stamp: &FileStamp) -> Value {
    let path = Digest::of(real.as_os_str().as_encoded_bytes()).to_string();
    json!({ "modified": stamp.modified, "path": path, "size": stamp.size })
}

fn recall(disk: &dyn Disk, file: &Path, key: &Value) -> Option<Knowledge> {
    let value: Value = serde_json::from_slice(&disk.read(file, MOST_BYTES).ok()?).ok()?;
    if value["version"] != 1 || value["program"] != *key {
        return None;
    }
    Some(Knowledge {
        version: value["says_version"].as_str().map(str::to_owned),
        helper_file: value["helper_file"].as_bool()?,
    })
}

fn remember(disk: &dyn Disk, file: &Path, key: &Value, known: &Knowledge) -> std::io::Result<()> {
    let Knowledge { version, helper_file } = known;
    let value = json!({ "version": 1, "program": key, "says_version": version, "helper_file": helper_file });
    disk.create_folders(file.parent().unwrap_or(file))?;
    disk.put_loose(file, canonical_json(&value).as_bytes())
}
