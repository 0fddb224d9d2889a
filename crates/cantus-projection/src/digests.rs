//! Whether the common digest is what it promises to be: equal for all root renders, and for every form of checkout.

use cantus_compose::{Presence, Row};
use cantus_manifest::{Diagnostic, Digest, common_digest};
use cantus_memory::{Corpus, MemoryTree, SourceFile, crlf};
use cantus_workspace::Project;

use crate::lock::LockFile;
use crate::projection::{Projection, our_bug};
use crate::renders::{facts_of, is_root};

/// What every message of this module starts with.
const UNSTABLE: &str = "the common digest is not stable:";

/// The findings on the renders and on the lock.
pub(crate) fn check(projection: &Projection) -> Vec<Diagnostic> {
    let (renders, rows) = projection.table();
    let digest = projection.totals().common_digest;
    let mut findings: Vec<_> = unequal(renders, rows)
        .into_iter()
        .map(|(render, section)| {
            let message = format!("{UNSTABLE} `{section}` sets the render `{render}` apart from `native`");
            Diagnostic::error("digest.render", message)
                .help("only a text under `providers/` of the package may be for one provider")
        })
        .collect();
    let locked = LockFile::parse(&projection.lock).ok().map(|lock| {
        let common =
            lock.sections_of("native").filter(|section| !section.id.as_str().starts_with("pkg.provider."));
        common_digest(common.map(|section| (&section.id, section.sha256)))
    });
    if locked != Some(digest) {
        findings.push(our_bug(format!("{UNSTABLE} the lock gives another one")));
    }
    findings
}

/// The root renders that hold another choice of common sections than the native one, each with the first such section.
fn unequal<'a>(renders: &'a [String], rows: &'a [Row]) -> Vec<(&'a str, String)> {
    let Some(native) = renders.iter().position(|render| render == "native") else { return Vec::new() };
    let roots = renders.iter().enumerate().filter(|(_, render)| is_root(render));
    let is_in = |row: &Row, render: usize| row.presence[render] == Presence::Included;
    let common = || rows.iter().filter(|row| !row.section.provider_specific);
    let first = |render| common().find(|row| is_in(row, render) != is_in(row, native));
    roots
        .filter_map(|(index, render)| Some((render.as_str(), first(index)?.section.id.to_string())))
        .collect()
}

/// The finding on the notes as another checkout holds them: every line ends in CRLF, every folder is listed backwards.
pub(crate) fn check_other_checkout(project: &Project, digest: Digest) -> Option<Diagnostic> {
    // Parsing and composing are functions: equal texts give equal notes, and those an equal digest.
    if project.corpus.survives_checkout() {
        return None;
    }
    let corpus = Corpus::parse(other_checkout(project.corpus.tree()));
    if corpus.value == project.corpus {
        return None;
    }
    let set = project.sections_of(&corpus.value, project.config.name.as_deref(), None).value;
    let other = set.zip(facts_of("native")).map(|(set, facts)| set.bundle(facts).common_digest());
    let same = other == Some(digest);
    (!same).then(|| {
        our_bug(format!("{UNSTABLE} a checkout with CRLF, or another order of files, gives another one"))
    })
}

fn other_checkout(mut tree: MemoryTree) -> MemoryTree {
    let turn = |files: &mut Vec<SourceFile>| {
        files.reverse();
        for file in files {
            file.bytes = crlf(&file.bytes);
        }
    };
    turn(&mut tree.notes);
    tree.folders.reverse();
    for folder in &mut tree.folders {
        turn(&mut folder.strands);
    }
    tree
}
