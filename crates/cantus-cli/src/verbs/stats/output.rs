//! Writing the page where the command line says.

use std::path::Path;
use std::sync::Arc;

use cantus_fs::{Kind, RealDisk, Root};
use cantus_manifest::RelPath;

use super::page::MARK;
use crate::failure::Failure;

/// The most bytes of a file that is looked at before it is overwritten.
const MOST_BYTES: u64 = 64 << 20;

/// Writes `page` to `file`, whole or not at all. A file that isn't such a page is overwritten only if `force` says so; the name
/// must end in `.html` or `.htm`, so that a slip of the hand meets no source.
pub(super) fn write(file: &Path, page: &str, force: Force) -> Result<(), Failure> {
    let shown = file.display();
    let is_page = file
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("html") || end.eq_ignore_ascii_case("htm"));
    if !is_page {
        return Err(Failure::error(format!("`{shown}` is no name of a page"))
            .hint("give it a name that ends in `.html`"));
    }
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

/// Whether a file that isn't ours is overwritten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Yes,
    No,
}
