//! The user's own layer: notes and a small configuration in the home folder.

use std::path::Path;
use std::sync::Arc;

use cantus_compose::Home;
use cantus_fs::{Disk, Root};
use cantus_manifest::{Diagnostic, Outcome, RelPath, Severity, Stamps};
use cantus_memory::Corpus;

use crate::config::home_config;
use crate::discover::{CONFIG, MEMORIES};
use crate::gather::Gather;
use crate::project::{exists, path, read_text};

/// Reads the layer in `folder`; a folder that isn't there is an empty layer. `limit` is the most bytes that a note may have.
///
/// The layer is whole or not there at all: one fault drops it, and every fault is told as a warning, since a project must not
/// fail for what lies in its user's home. Paths in warnings stand behind `home:`.
#[must_use]
pub fn read_home(disk: &Arc<dyn Disk>, folder: &Path, limit: u64, stamps: Stamps) -> Outcome<Option<Home>> {
    let root = Root::new(disk.clone(), folder.to_path_buf());
    let mut diagnostics = Vec::new();
    let mut home = config(&root, &mut diagnostics);
    if let Some(memory) = memory(&root, &mut diagnostics) {
        let gather = Gather { root: &root, memory: &memory, limit, stamps, diagnostics: &mut diagnostics };
        home.corpus = gather.corpus();
    }
    let broken = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    for diagnostic in &mut diagnostics {
        diagnostic.severity = diagnostic.severity.min(Severity::Warning);
        diagnostic.path = diagnostic.path.take().map(|path| format!("home:{path}"));
    }
    if broken {
        let message = "the home layer is left out, since it has the faults above";
        diagnostics.push(Diagnostic::warning("home.dropped", message).help("mend them, or use `--no-home`"));
    }
    Outcome { value: (!broken).then_some(home), diagnostics }
}

fn config(root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Home {
    // A manifest names this file without hashes.
    let Some(file) = read_text(root, &path(CONFIG), Stamps::Skip, diagnostics) else {
        return Home::default();
    };
    let Some(table) = file.parse(diagnostics) else { return Home::default() };
    let (title, repositories) = home_config(table, &file.place.path, &file.text).collect(diagnostics);
    Home { corpus: Corpus::default(), title, repositories }
}

/// The first note folder that exists; both are a fault.
fn memory(root: &Root, diagnostics: &mut Vec<Diagnostic>) -> Option<RelPath> {
    let mut found = MEMORIES.into_iter().filter(|memory| exists(root, memory));
    let first = found.next()?;
    if let Some(second) = found.next() {
        let message = format!("notes lie in two places, `{first}` and `{second}`");
        diagnostics.push(Diagnostic::error("project.memory", message).help("move them into one folder"));
    }
    Some(path(first))
}
