//! What a host says of a session and of one request in it.

use std::collections::BTreeMap;

use crate::run_id::RunId;
use crate::section::Source;

/// Everything that a pack is made of besides notes and wording. Budgets are in chars.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionLaunch {
    /// What the agent works in; it stands in the first line of the system text. One line, not blank.
    pub product: String,
    /// The model, if the agent should know it.
    pub model: Option<String>,
    /// The run that the pack is recorded for.
    pub run: Option<RunId>,
    /// Other orders and budgets of standard sections, by their ids.
    pub overrides: BTreeMap<String, Override>,
    /// The host's own sections. One with the id of a standard section replaces it; a blank one takes it away.
    pub sections: Vec<HostSection>,
    /// The set of sections that the session runs with.
    pub variant: Option<Variant>,
    /// What was selected for this request.
    pub references: Vec<Reference>,
    /// The skills that were named for this request.
    pub skills: Vec<Skill>,
    /// Where the session stands.
    pub state: Option<State>,
    /// What the agent can call.
    pub tools: Tools,
    /// Whether the notes at hand are pointed to.
    pub wiki: WikiPointer,
}

/// Another place or another room for a standard section.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Override {
    /// Small ones stand first.
    pub order: Option<i64>,
    /// The most chars of its body.
    pub budget: Option<usize>,
}

/// A section of the host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostSection {
    /// Unique in the pack.
    pub id: String,
    /// Its heading; `None` for that of the standard section, else the id.
    pub title: Option<String>,
    /// Its text; a blank one makes no section.
    pub text: String,
    /// What stands above the text, with a pointer of its own.
    pub pinned: Option<Pinned>,
    /// `None` for that of the standard section, else a place behind what belongs to a request.
    pub order: Option<i64>,
    /// `None` for that of the standard section, else 12,000.
    pub budget: Option<usize>,
    /// Where the rest can be read, if it is cut.
    pub pointer: String,
    /// Whether it changes between the requests of a session.
    pub stability: SectionStability,
    /// What it was made from.
    pub sources: Vec<Source>,
    /// Where it is described, counted from 1; 0 for nowhere.
    pub line: u32,
}

/// A text that stands above a section's own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pinned {
    /// The text.
    pub text: String,
    /// Where the rest of both can be read; `None` for the section's own pointer.
    pub pointer: Option<String>,
}

/// Whether a section may change from one request to the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum SectionStability {
    /// It is the same in all: it stands in the system text.
    #[default]
    Stable,
    /// It may: it travels in context updates.
    Dynamic,
}

/// A named set of sections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variant {
    /// Its name, as sources cite it.
    pub scope: String,
    /// A hash of its content; `None` to have it computed.
    pub fingerprint: Option<String>,
    /// Its sections: `system`, `guardrails`, `memory`, `subagents`, `scripts`, and others with ids of their own.
    pub sections: Vec<VariantSection>,
    /// How its tools are used: the end of the section on tools.
    pub tool_guidance: String,
}

/// A section of a variant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VariantSection {
    /// Unique in the pack.
    pub id: String,
    /// Its heading; `None` for that of the standard section, else the id.
    pub title: Option<String>,
    /// Its text; a blank one makes no section.
    pub text: String,
    /// `None` for that of the standard section, else a place behind what belongs to a request.
    pub order: Option<i64>,
    /// Where it is described, counted from 1; 0 for nowhere.
    pub line: u32,
}

/// Something that was selected for one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reference {
    /// A line that is taken as it stands.
    Line {
        /// Which one it is: a second one with this id is left out.
        id: String,
        /// The line.
        text: String,
    },
    /// A note.
    Note {
        /// Its path below the project's root.
        path: String,
        /// What it is called; `None` for its own title.
        label: Option<String>,
    },
}

/// A skill that was named for one request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skill {
    /// Its name: a second one with it is left out.
    pub name: String,
    /// What it is called; `None` for its name.
    pub label: Option<String>,
    /// The file that it lies in.
    pub path: Option<String>,
    /// The folder that its paths start at.
    pub folder: Option<String>,
    /// Its text; a blank one says that the skill isn't there.
    pub text: String,
}

/// Where a session stands as a request begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Its name; `Some(None)` says that it has none yet, `None` says nothing of names.
    pub name: Option<Option<String>>,
    /// The list of this run; `None` says nothing of lists.
    pub todo: Option<Vec<Todo>>,
    /// The list of the run before.
    pub previous_todo: Vec<Todo>,
    /// Which turn it is.
    pub turn: Turn,
}

/// One entry of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// What is to be done.
    pub text: String,
    /// How far that is.
    pub status: TodoStatus,
}

/// How far an entry of a list is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum TodoStatus {
    /// Not begun.
    #[default]
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

/// Whether a session has just begun.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// It has.
    First,
    /// It goes on.
    #[default]
    Later,
}

/// What the agent can call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tools {
    /// The groups, in any order.
    pub groups: Vec<ToolGroup>,
    /// Where the rest can be read, if the section is cut; `None` for the package's words.
    pub pointer: Option<String>,
    /// Whether the section stands in the pack.
    pub guidance: ToolGuidance,
}

/// Tools that belong together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolGroup {
    /// Its name; the package has words for `history`, `notes`, `files`, `web`, `connections` and `progress`.
    pub group: String,
    /// The names of the tools; a group without any does not appear.
    pub tools: Vec<String>,
    /// `None` for the place that the name has, else one behind those.
    pub order: Option<i64>,
    /// One paragraph; `None` for the package's words.
    pub guidance: Option<String>,
}

/// Whether a pack says how tools are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolGuidance {
    /// It does, if there are any.
    #[default]
    Shown,
    /// It doesn't, and names none.
    Hidden,
}

/// Whether a pack points to the notes at hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WikiPointer {
    /// It doesn't.
    #[default]
    Absent,
    /// It does, if there are any.
    Shown,
}
