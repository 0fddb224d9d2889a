//! `render --agent`: facts from a recorded run, and how the bundle differs from the one recorded there.

use cantus_fs::RealDisk;
use cantus_launch::{Comparison, Role};
use cantus_manifest::manifest::Manifest;

use crate::Streams;
use crate::args::{Global, RenderArgs};
use crate::failure::Failure;
use crate::verbs::recorded::{files, find, last, runs, say_no};
use crate::verbs::show::in_words;
use crate::visible::visible;

/// The last invocation of a run.
pub(super) struct Recorded {
    name: String,
    seq: u64,
    pub(super) manifest: Manifest,
}

/// The last invocation of the run called `name`; if there is none, that is said.
pub(super) fn last_of(
    global: &Global,
    name: &str,
    args: &RenderArgs,
    streams: &mut Streams<'_>,
) -> Result<Option<Recorded>, Failure> {
    let Some(run) = find(global, &runs(&args.runs)?, name, "render", streams)? else { return Ok(None) };
    let files = files(&run)?;
    let Some(seq) = last(&run, &files) else {
        let name = &run.name;
        let help = format!("`{} show {name} --list` lists its records", global.program);
        say_no(&format!("render: run {name} has no invocation"), &help, streams)?;
        return Ok(None);
    };
    let is_last = |role: Role, number: u64| role == Role::Root && number == seq;
    let found = files.iter().find(|files| is_last(files.role(), files.seq()));
    let Some(manifest) = found.and_then(|files| files.manifest(&RealDisk)) else {
        let message = format!("invocation {seq:02} of run {} has no good manifest", run.name);
        let hint = format!("`{} show {} --list --json` says what is wrong with it", global.program, run.name);
        return Err(Failure::error(message).hint(hint));
    };
    Ok(Some(Recorded { name: run.name, seq, manifest }))
}

/// Says how a bundle differs from the recorded one.
pub(super) fn tell(recorded: &Recorded, fresh: &Manifest, streams: &mut Streams<'_>) -> std::io::Result<()> {
    let Recorded { name, seq, manifest } = recorded;
    let words = in_words(&Comparison::of(manifest, fresh));
    let sha: String = manifest.bundle.sha256.chars().take(12).collect();
    let line = format!("render against {name} {seq:02} {sha}: {words}");
    writeln!(streams.err, "{}", visible(&line))
}
