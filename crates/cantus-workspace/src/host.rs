//! What the host says of itself: facts that never come from a project.

use std::path::Path;

use cantus_fs::Disk;

/// The short name of this machine; empty if it has none.
#[must_use]
pub fn host_name() -> String {
    let name = full_name();
    name.split('.').next().unwrap_or_default().to_owned()
}

#[cfg(unix)]
fn full_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

#[cfg(not(unix))]
fn full_name() -> String {
    std::env::var_os("COMPUTERNAME").map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// The version control that `folder`, an absolute path, is under: `git` where a folder on the way up holds `.git`.
#[must_use]
pub fn version_control(disk: &dyn Disk, folder: &Path) -> Option<&'static str> {
    let has_git = |folder: &Path| matches!(disk.kind(&folder.join(".git")), Ok(Some(_)));
    folder.ancestors().any(has_git).then_some("git")
}
