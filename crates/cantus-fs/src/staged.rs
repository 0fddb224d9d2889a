//! A file that waits beside its target.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
#[cfg(feature = "fault")]
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use tempfile::TempPath;

/// What the name of a staged file ends in.
pub(crate) const SUFFIX: &str = ".cantus-tmp";
/// How many random letters and digits stand before [`SUFFIX`].
pub(crate) const RANDOM: usize = 6;

/// New bytes of a target, whole and flushed, under a name of their own beside it.
///
/// [`Disk::commit`](crate::Disk::commit) puts them in place; dropping them removes the temporary file.
#[derive(Debug)]
#[must_use = "dropping it removes the staged file; `commit` puts it in place"]
pub struct Staged {
    target: PathBuf,
    /// `None` only between `into_parts` and the end of that call.
    temporary: Option<TempPath>,
    /// Set when a simulated process has died: nobody is left to tidy up.
    #[cfg(feature = "fault")]
    dead: Arc<AtomicBool>,
}

impl Staged {
    pub(crate) fn new(target: PathBuf, temporary: TempPath) -> Self {
        Self {
            target,
            temporary: Some(temporary),
            #[cfg(feature = "fault")]
            dead: Arc::default(),
        }
    }

    /// The absolute path of the target.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The absolute path of the temporary file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.as_deref().unwrap_or(Path::new(""))
    }

    /// The same, its temporary file no longer removed by dropping it.
    pub fn kept(mut self) -> Self {
        if let Some(temporary) = &mut self.temporary {
            temporary.disable_cleanup(true);
        }
        self
    }

    /// The temporary file and the target, to rename the one over the other.
    pub(crate) fn into_parts(mut self) -> Option<(TempPath, PathBuf)> {
        let temporary = self.temporary.take()?;
        Some((temporary, std::mem::take(&mut self.target)))
    }

    /// The same, never tidied up once `dead` is set.
    #[cfg(feature = "fault")]
    pub(crate) fn outlive(mut self, dead: Arc<AtomicBool>) -> Self {
        self.dead = dead;
        self
    }

    /// Leaves the temporary file where it is, for good.
    #[cfg(feature = "fault")]
    pub(crate) fn abandon(self) {
        self.dead.store(true, Ordering::SeqCst);
    }
}

#[cfg(feature = "fault")]
impl Drop for Staged {
    fn drop(&mut self) {
        if let Some(temporary) = &mut self.temporary
            && self.dead.load(Ordering::SeqCst)
        {
            temporary.disable_cleanup(true);
        }
    }
}

/// What the name of a staged file of a target called `name` begins with.
pub(crate) fn prefix(name: &OsStr) -> OsString {
    let mut prefix = OsString::from(".");
    prefix.push(name);
    prefix.push(".");
    prefix
}

/// Whether `name` is the name of a staged file, whatever its target.
#[must_use]
pub fn is_leftover(name: &OsStr) -> bool {
    let target = name.to_str().and_then(|name| {
        let (target, _) = name.strip_prefix('.')?.strip_suffix(SUFFIX)?.rsplit_once('.')?;
        Some(target)
    });
    target.is_some_and(|target| is_staged_name(name, target))
}

/// Whether `name` is the name of a staged file of a target called `target`.
pub(crate) fn is_staged_name(name: &OsStr, target: &str) -> bool {
    let random = name.to_str().and_then(|name| {
        name.strip_prefix('.')?.strip_prefix(target)?.strip_prefix('.')?.strip_suffix(SUFFIX)
    });
    random.is_some_and(|random| {
        random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, expected: bool) {
        assert_eq!(is_staged_name(OsStr::new(name), "AGENTS.md"), expected, "{name}");
    }

    #[test]
    fn a_leftover_is_one_of_any_target() {
        assert!(is_leftover(OsStr::new(".AGENTS.md.a1B2c3.cantus-tmp")));
        assert!(is_leftover(OsStr::new(".x.a1B2c3.cantus-tmp")));
        for name in [".x.a1B2c.cantus-tmp", "x.a1B2c3.cantus-tmp", ".a1B2c3.cantus-tmp", ".x.a1B2c3"] {
            assert!(!is_leftover(OsStr::new(name)), "{name}");
        }
    }

    #[test]
    fn only_the_exact_shape_is_a_staged_name() {
        check(".AGENTS.md.a1B2c3.cantus-tmp", true);
        for name in [
            "AGENTS.md.a1B2c3.cantus-tmp",
            ".AGENTS.md.a1B2c.cantus-tmp",
            ".AGENTS.md.a1B2c34.cantus-tmp",
            ".AGENTS.md.a1B-c3.cantus-tmp",
            ".AGENTS.md.é1234.cantus-tmp",
            ".AGENTS.md.a1B2c3.cantus-tmp~",
            ".AGENTS.md.a1B2c3",
            ".CLAUDE.md.a1B2c3.cantus-tmp",
            ".AGENTS.md..cantus-tmp",
            ".AGENTS.md.cantus-tmp",
        ] {
            check(name, false);
        }
    }
}
