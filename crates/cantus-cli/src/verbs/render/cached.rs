//! A bundle out of the store, or composed and put there.

use cantus_launch::{Composer, RenderError};

use super::{Answer, Request};
use crate::Streams;
use crate::args::Global;
use crate::failure::Failure;
use crate::style::CARE;
use crate::verbs::{home_folder, is_bad, judged, tell_findings};

/// The bundle that is asked for. What was found in sources or store is told.
pub(super) fn render(
    global: &Global,
    request: &Request,
    streams: &mut Streams<'_>,
) -> Result<Answer, Failure> {
    let Request { given, launch, root, .. } = request;
    let facts = given.stated()?;
    let home = home_folder(root, global)?;
    let mut composer = Composer::at(root, home.as_deref());
    if let Some(folder) = &global.package {
        composer = composer.package(folder);
    }
    if given.is_for_no_project() {
        composer = composer.without_project();
    }
    if given.is_under_no_vcs() {
        composer = composer.without_vcs();
    }
    let mut rendered = composer.render(facts, launch).map_err(|error| match error {
        RenderError::Faults(findings) => Failure::diagnostics(judged(findings, global)),
        error @ RenderError::NoProject => Failure::error(error),
    })?;
    let findings = judged(rendered.warnings.clone(), global);
    if is_bad(&findings) {
        return Err(Failure::diagnostics(findings));
    }
    tell_findings(&findings, global, streams)?;
    for corrupt in &rendered.corrupt {
        writeln!(streams.err, "{CARE}warning{CARE:#}: {corrupt}")?;
    }
    let (cache, stored) = (rendered.cache, rendered.stored.take());
    let (text, manifest) = rendered.into_parts();
    Ok(Answer { text, manifest, cache, stored })
}
