//! Notes and strands as they are read on demand (§6.3).

use std::borrow::Cow;

use cantus_memory::{Reading, Target, body_with_roster, untitled, wrap};

use crate::roster::roster;

/// The text of what was read, from one library or several: each note below a heading that names it, then what the notes link
/// to and is not there. Generated prose is wrapped at `width` cells; 0 never.
#[must_use]
pub fn read_text(readings: &[Reading<'_>], width: usize) -> String {
    let items = readings
        .iter()
        .flat_map(|reading| reading.items.iter().map(|item| item_text(item.target, &reading.prefix, width)));
    let mut parts: Vec<String> = items.collect();
    parts.extend(linked_references(readings, width));
    let mut text = parts.join("\n\n");
    text.push('\n');
    text
}

/// A note or strand below its title and address, which has `prefix` before it; a web with its roster. A strand's title is its
/// keyword. Without line end.
#[must_use]
pub fn item_text(target: Target<'_>, prefix: &str, width: usize) -> String {
    let (body, label) = (target.body(), target.label());
    let title = body.title().filter(|title| !matches!(target, Target::Strand(..)) || *title == label);
    let text = match target {
        Target::Web(web) => Cow::Owned(body_with_roster(web, &roster(web, width)).text().to_owned()),
        _ => Cow::Borrowed(body.text),
    };
    let rest = if title.is_some() { untitled(&text) } else { text.trim_matches('\n').to_owned() };
    let heading = format!("# {} ({prefix}{})", title.unwrap_or(&label), target.address());
    if rest.is_empty() { heading } else { format!("{heading}\n\n{rest}") }
}

fn linked_references(readings: &[Reading<'_>], width: usize) -> Option<String> {
    let references = readings
        .iter()
        .flat_map(|reading| reading.references.iter().map(|target| (reading.prefix.as_str(), *target)));
    let references: Vec<_> = references.collect();
    let unresolved: Vec<_> = readings.iter().flat_map(|reading| &reading.unresolved).collect();
    if references.is_empty() && unresolved.is_empty() {
        return None;
    }
    let mut parts = vec!["## Linked References".to_owned()];
    if !references.is_empty() {
        parts.push("The text above links to these; ask for one by its address.".to_owned());
    }
    for (number, (prefix, target)) in (1..).zip(references) {
        parts.push(format!("### {number}. `{prefix}{}`", target.address()));
        let loaded = if target.is_always_loaded() { " (always loaded)" } else { "" };
        let line = format!("**{}**{loaded} — {}", target.label(), target.summary().text);
        parts.push(wrapped(&line, width));
    }
    if !unresolved.is_empty() {
        let targets: Vec<_> = unresolved.iter().map(|target| format!("`{target}`")).collect();
        parts.push(format!("Unresolved: {}", targets.join(", ")));
    }
    Some(parts.join("\n\n"))
}

fn wrapped(line: &str, width: usize) -> String {
    wrap(line, width).into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n")
}
