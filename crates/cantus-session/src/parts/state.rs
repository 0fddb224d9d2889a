//! Where a session stands.

use cantus_compose::clip;

use super::{Frame, in_line};
use crate::launch::{State, Todo, TodoStatus, Turn};
use crate::section::{Draft, Section};

/// The section; `None` if there is nothing to say of name or list.
pub(crate) fn state(frame: Frame<'_>, state: &State) -> Option<Section> {
    let mut parts = Vec::new();
    if let Some(name) = &state.name {
        let name = name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        parts.push(match name {
            Some(name) => frame.say("named", &[("name", &in_line(name))]),
            None => frame.say("unnamed", &[]),
        });
    }
    if let Some(todo) = &state.todo {
        parts.push(match todo.as_slice() {
            [] => frame.say("no_todo", &[]),
            todo => frame.say("todo", &[("list", &list(frame, todo))]),
        });
        if !state.previous_todo.is_empty() {
            parts.push(frame.say("previous_todo", &[("list", &list(frame, &state.previous_todo))]));
        }
    }
    if parts.is_empty() {
        return None;
    }
    parts.push(match state.turn {
        Turn::First => frame.say("first_turn", &[]),
        Turn::Later => frame.say("later_turn", &[]),
    });
    clipped(frame, parts.join("\n\n").trim())
}

/// The text, clipped so that it stays within the budget with its `…`.
fn clipped(frame: Frame<'_>, text: &str) -> Option<Section> {
    if text.is_empty() {
        return None;
    }
    let fits = text.chars().nth(frame.budget).is_none();
    let body = match frame.budget {
        _ if fits => text.to_owned(),
        0 => String::new(),
        budget => clip(text, budget - 1),
    };
    let title = frame.say("title", &[]);
    let draft =
        Draft { id: frame.id, title: &title, text, budget: frame.budget, pointer: "", sources: Vec::new() };
    Some(Section::of(draft, body, !fits))
}

/// A list, one line an entry.
pub(crate) fn list(frame: Frame<'_>, todo: &[Todo]) -> String {
    let line = |entry: &Todo| {
        let part = match entry.status {
            TodoStatus::Pending => "session-state.pending",
            TodoStatus::InProgress => "session-state.in_progress",
            TodoStatus::Completed => "session-state.completed",
        };
        let text = entry.text.split_whitespace().collect::<Vec<_>>().join(" ");
        frame.say_key(part, &[("text", &text)])
    };
    todo.iter().map(line).collect::<Vec<_>>().join("\n")
}
