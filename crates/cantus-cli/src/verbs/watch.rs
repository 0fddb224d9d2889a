//! `cantus watch`: `project`, again and again, whenever something changes.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use cantus_fs::Root;
use cantus_workspace::{Watched, watched};
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::args::{Global, ProjectArgs};
use crate::failure::Failure;
use crate::style::GOOD;
use crate::verbs::{project, root};
use crate::{Status, Streams};

/// How long it must be quiet before a run: an editor writes a file in several steps.
const QUIET: Duration = Duration::from_millis(100);
/// How long a run waits for quiet at most.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often folders are looked up anew before a change is waited for: each look may find that they have changed.
const MOST_LOOKS: usize = 4;

/// Linux's errors where this process, or the system, has as many files open as it may.
const MOST_OPEN: i32 = 24;
const MOST_OPEN_OF_ALL: i32 = 23;

/// What wakes the watch.
enum Wake {
    Changed,
    Stop,
}

/// What was said last.
#[derive(Default)]
struct Last {
    text: Vec<u8>,
    /// Whether it was that all is well.
    good: bool,
}

pub(crate) fn run(global: &Global, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    // Else a search for it may end in a project further up, once the notes are gone.
    let global = Global { root: Some(root.path().to_path_buf()), ..global.clone() };
    let (sender, wakes) = channel();
    let stop = sender.clone();
    ctrlc::set_handler(move || drop(stop.send(Wake::Stop))).map_err(Failure::error)?;
    let mut last = Last::default();
    let mut is_first = true;
    loop {
        still_there(&root)?;
        let _watcher = compose(&root, &global, &sender, &mut last, streams)?;
        still_there(&root)?;
        if std::mem::take(&mut is_first) {
            writeln!(streams.err, "{GOOD}{:>12}{GOOD:#} for changes; Ctrl-C ends it", "Watching")?;
            streams.err.flush()?;
        }
        if matches!(wait(&wakes), Wake::Stop) {
            return Ok(Status::Yes);
        }
    }
}

/// Whether there is something to watch: what comes back in another folder's place would never be told.
fn still_there(root: &Root) -> Result<(), Failure> {
    match root.disk().kind(root.path()) {
        Ok(None) => {
            Err(Failure::error("the project's folder is gone").hint("run `watch` again once it is back"))
        }
        _ => Ok(()),
    }
}

/// Watches, then projects: what changes meanwhile wakes it again. Gives the watcher.
fn compose(
    root: &Root,
    global: &Global,
    wakes: &Sender<Wake>,
    last: &mut Last,
    streams: &mut Streams<'_>,
) -> Result<RecommendedWatcher, Failure> {
    let mut folders = watched(root);
    let mut watcher = watch(&folders, wakes)?;
    for _ in 0..MOST_LOOKS {
        project_once(global, last, streams)?;
        let now = watched(root);
        if now == folders {
            break;
        }
        watcher = watch(&now, wakes)?;
        folders = now;
    }
    Ok(watcher)
}

fn watch(folders: &Watched, wakes: &Sender<Wake>) -> Result<RecommendedWatcher, Failure> {
    let wakes = wakes.clone();
    let tell = move |event: notify::Result<Event>| {
        // Reading is no change, and this reads all that it watches.
        if event.is_ok_and(|event| event.kind.is_access()) {
            return;
        }
        // Whoever waited has left.
        let _ = wakes.send(Wake::Changed);
    };
    let mut watcher = notify::recommended_watcher(tell).map_err(unwatched)?;
    let whole = folders.whole.iter().map(|folder| (folder, RecursiveMode::Recursive));
    let flat = folders.flat.iter().filter(|folder| !folders.whole.contains(*folder));
    let flat = flat.map(|folder| (folder, RecursiveMode::NonRecursive));
    for (folder, mode) in flat.chain(whole) {
        match watcher.watch(folder, mode) {
            Ok(()) => {}
            // What isn't there comes into a folder that is.
            Err(error) if is_absent(&error) => {}
            Err(error) => return Err(unwatched(error)),
        }
    }
    Ok(watcher)
}

/// Why nothing can be watched. The error's paths are those of the machine, and left out.
fn unwatched(error: notify::Error) -> Failure {
    let is_limit = match &error.kind {
        notify::ErrorKind::MaxFilesWatch => true,
        notify::ErrorKind::Io(error) => matches!(error.raw_os_error(), Some(MOST_OPEN | MOST_OPEN_OF_ALL)),
        _ => false,
    };
    let failure = Failure::error(notify::Error::new(error.kind));
    let failure = match is_limit && cfg!(target_os = "linux") {
        true => failure.hint(
            "end other programs that watch folders, or raise the limits, as root: \
             `sysctl fs.inotify.max_user_watches=524288 fs.inotify.max_user_instances=512`",
        ),
        false => failure,
    };
    failure.hint("`project` works without it")
}

fn is_absent(error: &notify::Error) -> bool {
    match &error.kind {
        notify::ErrorKind::PathNotFound => true,
        notify::ErrorKind::Io(error) => {
            matches!(error.kind(), std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory)
        }
        _ => false,
    }
}

/// One run. It is told if it wrote, and else if it has something new to say.
fn project_once(global: &Global, last: &mut Last, streams: &mut Streams<'_>) -> Result<(), Failure> {
    let args = ProjectArgs { check: false, force: false, only: Vec::new(), json: false };
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let result = project::run_told(global, &args, &mut Streams { out: &mut out, err: &mut err });
    let (good, wrote) = match result {
        Ok((status, wrote)) => (status == Status::Yes, wrote),
        Err(failure) => {
            failure.show(&mut err, None);
            (false, false)
        }
    };
    let text = [out.as_slice(), err.as_slice()].concat();
    let is_news = wrote || last.text.is_empty() || good != last.good || (!good && text != last.text);
    if is_news {
        streams.out.write_all(&out)?;
        streams.out.flush()?;
        streams.err.write_all(&err)?;
        streams.err.flush()?;
    }
    *last = Last { text, good };
    Ok(())
}

/// Waits for a change, then until it is quiet.
fn wait(wakes: &Receiver<Wake>) -> Wake {
    let Ok(Wake::Changed) = wakes.recv() else { return Wake::Stop };
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        match wakes.recv_timeout(QUIET) {
            Ok(Wake::Changed) => {}
            Ok(Wake::Stop) => return Wake::Stop,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => break,
        }
    }
    Wake::Changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_without_paths_and_with_what_to_do() {
        for error in [
            notify::Error::new(notify::ErrorKind::MaxFilesWatch).add_path("/home/somebody".into()),
            notify::Error::io(std::io::Error::from_raw_os_error(MOST_OPEN)),
        ] {
            let mut said = Vec::new();
            unwatched(error).write(&mut said, None).unwrap();
            let said = String::from_utf8(said).unwrap();
            assert!(!said.contains("somebody"), "{said}");
            assert_eq!(said.contains("max_user_watches"), cfg!(target_os = "linux"), "{said}");
            assert!(said.contains("`project` works without it"), "{said}");
        }
    }
}
