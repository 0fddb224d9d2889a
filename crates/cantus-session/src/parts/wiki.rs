//! The pointer to the notes at hand.

use super::Frame;
use crate::notes::{Notes, listed};
use crate::section::{Section, Source};
use crate::standard::NOTES_LISTED;

/// The section; `None` if there is no note.
pub(crate) fn wiki(frame: Frame<'_>, notes: &Notes<'_>) -> Option<Section> {
    let own = notes.own();
    let others: Vec<_> = notes.others().into_iter().filter(|(_, count)| *count > 0).collect();
    if own.is_empty() && others.is_empty() {
        return None;
    }
    let mut parts = vec![frame.say("intro", &[])];
    let mut sources = Vec::new();
    if !own.is_empty() {
        parts.push(match notes.project() {
            Some(project) => frame.say("project", &[("project", project)]),
            None => frame.say("nameless", &[]),
        });
        let mut lines = Vec::new();
        for target in own.iter().take(NOTES_LISTED) {
            let (path, title, revision) = listed(*target);
            lines.push(frame.say("note", &[("path", path), ("title", &title)]));
            sources.push(Source::new("note", path, Some(&revision)));
        }
        if let Some(more) = own.len().checked_sub(NOTES_LISTED).filter(|more| *more > 0) {
            lines.push(frame.say("more", &[("count", &more.to_string())]));
        }
        parts.push(lines.join("\n"));
    }
    if !others.is_empty() {
        let count = |(key, count): &(&str, usize)| frame.say_key(key, &[("count", &count.to_string())]);
        let counts: Vec<_> = others.iter().map(count).collect();
        parts.push(frame.say("rest", &[("counts", &counts.join(", "))]));
    }
    frame.section(&parts.join("\n\n"), sources)
}
