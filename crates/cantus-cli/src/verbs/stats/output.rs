//! Writing the page where the command line says.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::{Kind, RealDisk, Root};
use cantus_manifest::RelPath;
use cantus_workspace::Project;

use super::page::MARK;
use crate::failure::Failure;

/// The most bytes of a file that is looked at before it is overwritten.
const MOST_BYTES: u64 = 64 << 20;

/// Writes `page` to `file`, whole or not at all. A file that isn't such a page is overwritten only if `force` says so. The
/// caller has had its place checked.
pub(super) fn write(file: &Path, page: &str, force: Force) -> Result<(), Failure> {
    let shown = file.display();
    let absolute = std::path::absolute(file).map_err(Failure::error)?;
    let name = absolute.file_name().and_then(|name| name.to_str()).and_then(|name| RelPath::new(name).ok());
    let (Some(folder), Some(name)) = (absolute.parent(), name) else {
        return Err(Failure::error(format!("`{shown}` can't be a file's name")));
    };
    let root = Root::new(Arc::new(RealDisk), folder.to_path_buf());
    if !matches!(
        root.disk().canonical(folder).map(|real| root.disk().kind(&real)),
        Ok(Ok(Some(Kind::Folder)))
    ) {
        let missing = file.parent().unwrap_or(file).display();
        return Err(Failure::error(format!("`{shown}`: there is no folder `{missing}`"))
            .hint("make the folder first, or name a file in one that is there"));
    }
    let old = root.read_target(&name, MOST_BYTES).map_err(Failure::error)?;
    let is_ours = |old: &Vec<u8>| String::from_utf8_lossy(old).contains(MARK);
    if force == Force::No && old.as_ref().is_some_and(|old| !is_ours(old)) {
        return Err(Failure::error(format!("`{shown}` is not a page that `stats` wrote"))
            .hint("name another file, or overwrite this one with `--force`"));
    }
    if old.is_some_and(|old| old == page.as_bytes()) {
        return Ok(());
    }
    let staged = root.stage(&name, page.as_bytes()).map_err(Failure::error)?;
    root.commit(&name, staged).map_err(Failure::error)
}

/// Refuses a name that doesn't end in `.html` or `.htm`, so that a slip of the hand meets no source, and a place where `project`
/// has a committed file, whether or not it is there yet, or what Cantus reads.
pub(super) fn check(file: &Path, root: &Root, project: &Project) -> Result<(), Failure> {
    let shown = file.display();
    let is_page = file
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"));
    if !is_page {
        return Err(Failure::error(format!("`{shown}` is no name of a page"))
            .hint("give it a name that ends in `.html`"));
    }
    let Some(below) = below(file, root) else { return Ok(()) };
    let other = |failure: Failure| Err(failure.hint("name another file, such as one that git ignores"));
    // The same file where a file system doesn't tell case apart.
    let key = |path: &RelPath| path.as_str().to_lowercase();
    let of_members = project.members.iter().flat_map(|member| member.files(&project.config));
    let mut targets = project.config.targets().cloned().chain(of_members);
    if let Some(target) = targets.find(|target| key(target) == below) {
        return other(Failure::error(format!("`{target}` is a committed file of this project")));
    }
    let notes = project.members.iter().map(|member| &member.memory);
    let mut sources = project.memory.iter().chain(&project.config.package).chain(notes);
    match sources.find(|source| below.starts_with(&format!("{}/", key(source)))) {
        Some(source) => other(Failure::error(format!("`{source}` holds notes or texts that Cantus reads"))),
        None => Ok(()),
    }
}

/// The path of `file` below the real root, in lower case; `None` if it lies elsewhere.
fn below(file: &Path, root: &Root) -> Option<String> {
    let disk = root.disk();
    let absolute = std::path::absolute(file).ok()?;
    let folder = disk.canonical(absolute.parent()?).ok()?;
    let real: PathBuf = folder.join(absolute.file_name()?);
    let parts = real.strip_prefix(disk.canonical(root.path()).ok()?).ok()?.iter();
    let parts: Option<Vec<&str>> = parts.map(|part| part.to_str()).collect();
    Some(parts?.join("/").to_lowercase())
}

/// Whether a file that isn't ours is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Yes,
    No,
}
