//! Recorded runs: where they are looked for, which one a name means, and what was rendered there.

use std::io;
use std::path::{Path, PathBuf, is_separator};
use std::sync::Arc;

use cantus_fs::{Disk, Kind, RealDisk};
use cantus_launch::{RecordFiles, Role, RunIndex, RunInfo, Runs, latest_seq, record_files, store_home};
use cantus_manifest::manifest::FactsRecord;
use cantus_manifest::{Actor, Facts, Mode, Provider};

use crate::Streams;
use crate::args::Global;
use crate::failure::Failure;
use crate::report::plural;
use crate::style::LABEL;
use crate::visible::visible;

/// The variable with the artifacts folder of the run that this process belongs to.
const CURRENT: &str = "CANTUS_ARTIFACTS";

/// Where runs are looked for: in these trees, else in the index of the store; and the run that this process belongs to.
pub(crate) fn runs(trees: &[PathBuf]) -> Result<Runs, Failure> {
    let disk: Arc<dyn Disk> = Arc::new(RealDisk);
    for tree in trees {
        let real = disk.canonical(tree).map(|real| disk.kind(&real));
        if !matches!(real, Ok(Ok(Some(Kind::Folder)))) {
            return Err(Failure::error(format!(
                "`{}`, given as a tree of runs, is not a folder",
                tree.display()
            )));
        }
    }
    let trees =
        trees.iter().map(std::path::absolute).collect::<Result<Vec<_>, _>>().map_err(Failure::error)?;
    let current = std::env::var_os(CURRENT).filter(|folder| !folder.is_empty());
    let current = current.and_then(|folder| std::path::absolute(PathBuf::from(folder)).ok());
    let runs = match store_home() {
        Some(home) if trees.is_empty() => Runs::of_index(disk.clone(), RunIndex::open(disk, &home)),
        _ => Runs::in_trees(disk, trees),
    };
    Ok(runs.and(current))
}

/// The user's home, for paths in manifests.
pub(crate) fn user_home() -> Option<PathBuf> {
    std::env::home_dir()
}

/// The run that `name` means: a path names its artifacts folder, another name the newest run of that name. If there is none,
/// that is said.
pub(crate) fn find(
    global: &Global,
    runs: &Runs,
    name: &str,
    verb: &str,
    streams: &mut Streams<'_>,
) -> Result<Option<RunInfo>, Failure> {
    if name.contains(is_separator) {
        let artifacts = std::path::absolute(name).map_err(Failure::error)?;
        if let Some(run) = RunInfo::find(&RealDisk, &artifacts) {
            return Ok(Some(run));
        }
        let help = "name the folder that holds `instructions`";
        say_no(&format!("{verb}: no run was recorded in `{name}`"), help, streams)?;
        return Ok(None);
    }
    let Some(named) = runs.named(name) else {
        let help = format!(
            "`{} show` lists runs; a path with `/`, such as `./artifacts`, names an artifacts folder",
            global.program
        );
        say_no(&format!("{verb}: no run is called `{name}`"), &help, streams)?;
        return Ok(None);
    };
    if named.others > 0 {
        let (name, others) = (visible(name), plural(named.others, "older run"));
        writeln!(streams.err, "{verb}: `{name}` is also the name of {others}; this is the newest")?;
    }
    Ok(Some(named.run))
}

/// Says what a search for runs did not see: what lies behind the first folders of these trees, and `gone` runs of the index.
pub(crate) fn tell_unseen(
    verb: &str,
    cut: &[PathBuf],
    gone: usize,
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    for tree in cut {
        writeln!(streams.err, "{verb}: only the first 10,000 folders of `{}` were looked at", shown(tree))?;
    }
    if gone > 0 {
        writeln!(streams.err, "{verb}: the folders of {} in the index are gone", plural(gone, "run"))?;
    }
    Ok(())
}

/// Says that no run, or none of these providers, began when it was looked for.
pub(crate) fn tell_none(
    global: &Global,
    verb: &str,
    providers: &[String],
    streams: &mut Streams<'_>,
) -> io::Result<()> {
    let of = match providers {
        [] => String::new(),
        [first @ .., last] if !first.is_empty() => format!(" of {} or {last}", first.join(", ")),
        [only, ..] => format!(" of {only}"),
    };
    writeln!(
        streams.err,
        "{verb}: no run{} began in that time; `{} show` lists runs, `--since` looks further back",
        visible(&of),
        global.program
    )
}

/// Says that the answer is no, and what to do about it.
pub(crate) fn say_no(message: &str, help: &str, streams: &mut Streams<'_>) -> io::Result<()> {
    writeln!(streams.err, "{}", visible(message))?;
    writeln!(streams.err, "  {LABEL}help{LABEL:#}: {}", visible(help))
}

/// The records of a run.
pub(crate) fn files(run: &RunInfo) -> Result<Vec<RecordFiles>, Failure> {
    record_files(&RealDisk, &run.artifacts)
        .map_err(|error| Failure::error(format!("cannot list the records of `{}`: {error}", run.name)))
}

/// The number of the run's last invocation.
pub(crate) fn last(run: &RunInfo, files: &[RecordFiles]) -> Option<u64> {
    let roots = || files.iter().filter(|files| files.role() == Role::Root).map(RecordFiles::seq);
    latest_seq(&RealDisk, &run.artifacts)
        .filter(|latest| roots().any(|seq| seq == *latest))
        .or_else(|| roots().max())
}

/// The facts that a manifest records.
pub(crate) fn facts(record: &FactsRecord) -> Result<Facts, Failure> {
    let provider = Provider::new(&record.provider).map_err(Failure::error)?;
    let facts = match (record.actor, record.mode) {
        (Actor::SaseRoot, Mode::Runtime) => Facts::root(provider),
        (Actor::NativeHelper, Mode::Runtime) => Facts::helper(provider),
        (Actor::Interactive, Mode::Interactive) => Facts::interactive(provider),
        (Actor::Interactive, Mode::Export) => Facts::export(provider),
        _ => return Err(Failure::error("the recorded facts have an actor that its mode doesn't know")),
    };
    let facts = facts.purpose(record.purpose).project(record.project.as_deref());
    Ok(facts.host(Some(&record.host)).vcs(record.vcs.as_deref()))
}

/// A path for people.
pub(crate) fn shown(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}
