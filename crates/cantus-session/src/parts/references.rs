//! What was selected for one request.

use std::collections::BTreeSet;

use cantus_compose::fit;

use super::{Frame, in_line};
use crate::launch::Reference;
use crate::notes::{Note, Notes};
use crate::section::{Section, Source, chars};
use crate::standard::HEADING_ROOM;

/// The section; `None` if nothing was selected.
pub(crate) fn references(frame: Frame<'_>, selected: &[Reference], notes: &Notes<'_>) -> Option<Section> {
    let selected = distinct(selected);
    if selected.is_empty() {
        return None;
    }
    let mut text = frame.say("intro", &[]);
    text.push('\n');
    let mut found: Vec<(Note<'_>, String)> = Vec::new();
    for reference in selected {
        match reference {
            Reference::Line { text: line, .. } => text.push_str(line),
            Reference::Note { path, label } => match notes.find(path) {
                Some(note) => {
                    let label = in_line(label.as_deref().unwrap_or(&note.title));
                    found.push((note, label));
                    continue;
                }
                None => {
                    let label = in_line(label.as_deref().unwrap_or(path));
                    text.push_str(&frame.say("unavailable", &[("label", &label), ("path", &in_line(path))]));
                }
            },
        }
        text.push('\n');
    }
    let room = frame.budget.saturating_sub(usize::try_from(chars(&text)).unwrap_or(usize::MAX));
    let each = room.saturating_sub(HEADING_ROOM * found.len()) / found.len().max(1);
    let mut is_cut = false;
    for (note, label) in &found {
        let body = fit(note.body, each, &frame.say("rest", &[("path", note.path)]));
        is_cut |= body.cut;
        let heading = frame.say("note", &[("label", label), ("path", note.path)]);
        text.push_str(&format!("\n{heading}\n\n{}\n", body.body));
    }
    let sources = found.iter().map(|(note, _)| Source::new("note", note.path, Some(&note.revision)));
    let mut section = frame.section(&text, sources.collect())?;
    section.cut |= is_cut;
    Some(section)
}

/// Each reference once, the first of equal ones.
fn distinct(selected: &[Reference]) -> Vec<&Reference> {
    let mut seen = BTreeSet::new();
    let key = |reference: &Reference| match reference {
        Reference::Line { id, .. } => ("line", id.clone()),
        Reference::Note { path, .. } => ("note", path.clone()),
    };
    selected.iter().filter(|reference| seen.insert(key(reference))).collect()
}
