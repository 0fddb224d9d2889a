//! A child process on our own streams, which gets the signals that we get.

use std::io;
use std::process::{Command, ExitStatus};

/// Runs `command` on the streams of this process and gives its status as a shell would: 128 and the signal's number if a signal
/// ended it. An error means that it has not run.
pub(super) fn run(command: &mut Command) -> io::Result<u8> {
    let passing = imp::Passing::new();
    let mut child = command.spawn()?;
    // Once it runs, an error of ours must not read as if it hadn't.
    let status = imp::wait(passing, &mut child);
    Ok(status.map_or(1, code))
}

#[cfg(unix)]
fn code(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt;

    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    u8::try_from(code).unwrap_or(1)
}

#[cfg(not(unix))]
fn code(status: ExitStatus) -> u8 {
    status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)
}

#[cfg(unix)]
mod imp {
    use std::io;
    use std::path::Path;
    use std::process::{Child, ExitStatus};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::thread;

    use cantus_fs::{Disk, RealDisk};
    use rustix::io::Errno;
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpgrp, kill_process, waitid};
    use rustix::termios::tcgetpgrp;
    use signal_hook::iterator::Signals;

    /// What is passed on.
    const SIGNALS: [Signal; 6] =
        [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2];

    /// What a terminal sends to every process in the foreground by itself.
    const OF_TERMINALS: [Signal; 3] = [Signal::HUP, Signal::INT, Signal::QUIT];

    /// Signals that are waited for; `None` if that can't be done.
    pub(super) struct Passing(Option<Signals>);

    impl Passing {
        /// From here on no signal of [`SIGNALS`] ends this process. Those that it ignores stay ignored, for the child too.
        pub(super) fn new() -> Self {
            let ignored = ignored();
            let wanted = SIGNALS.map(Signal::as_raw).into_iter().filter(|raw| ignored >> (raw - 1) & 1 == 0);
            Self(Signals::new(wanted).ok())
        }
    }

    /// Waits for `child`, passing signals on until it has ended, those that came before it began included.
    pub(super) fn wait(passing: Passing, child: &mut Child) -> io::Result<ExitStatus> {
        let Some(mut signals) = passing.0 else { return child.wait() };
        let pid = Pid::from_child(child);
        let running = Arc::new(Mutex::new(true));
        let (handle, is_running) = (signals.handle(), running.clone());
        let passer = thread::spawn(move || {
            for raw in &mut signals {
                // While this is held, the child's number can't become another process's.
                let is_running = is_running.lock().unwrap_or_else(PoisonError::into_inner);
                if *is_running {
                    pass(raw, pid);
                }
            }
        });
        // Its end is seen, but its number stays taken until it is waited for below.
        let seen = || waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        while seen().is_err_and(|error| error == Errno::INTR) {}
        *running.lock().unwrap_or_else(PoisonError::into_inner) = false;
        let status = child.wait();
        handle.close();
        // It has nothing left to do.
        let _ = passer.join();
        status
    }

    fn pass(raw: i32, pid: Pid) {
        let Some(signal) = Signal::from_named_raw(raw) else { return };
        if !(OF_TERMINALS.contains(&signal) && in_foreground()) {
            // It may have ended just now.
            let _ = kill_process(pid, signal);
        }
    }

    /// Whether a terminal sends its signals to this process, and so to the child, which is of the same group.
    fn in_foreground() -> bool {
        let group = |result: rustix::io::Result<Pid>| result.is_ok_and(|group| group == getpgrp());
        group(tcgetpgrp(rustix::stdio::stdin()))
            || group(tcgetpgrp(rustix::stdio::stdout()))
            || group(tcgetpgrp(rustix::stdio::stderr()))
    }

    /// The signals that this process ignores, the first in the lowest bit; none where the system doesn't say.
    fn ignored() -> u64 {
        let text = RealDisk.read(Path::new("/proc/self/status"), 1 << 16).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let mask = text.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}

#[cfg(not(unix))]
mod imp {
    use std::io;
    use std::process::{Child, ExitStatus};

    /// The console sends its events to the child by itself.
    pub(super) struct Passing;

    impl Passing {
        pub(super) fn new() -> Self {
            Self
        }
    }

    pub(super) fn wait(_: Passing, child: &mut Child) -> io::Result<ExitStatus> {
        child.wait()
    }
}
