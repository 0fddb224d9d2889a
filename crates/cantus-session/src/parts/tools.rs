//! What the agent can call, and how.

use serde::Serialize;

use super::Frame;
use crate::launch::{ToolGroup, ToolGuidance, Tools};
use crate::section::{Section, Source, chars};
use crate::standard::{OTHER_TOOLS, TOOL_GROUPS};

/// A group of tools as a pack names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToolList {
    /// Its name.
    pub group: String,
    /// The names of its tools.
    pub tools: Vec<String>,
}

/// The groups that have tools, in their order; none where their section is hidden.
pub(crate) fn groups(tools: &Tools) -> Vec<&ToolGroup> {
    if tools.guidance == ToolGuidance::Hidden {
        return Vec::new();
    }
    let mut present: Vec<_> = tools.groups.iter().filter(|group| !group.tools.is_empty()).collect();
    present.sort_by_key(|group| order(group));
    present
}

fn order(group: &ToolGroup) -> i64 {
    let known = || TOOL_GROUPS.iter().find(|(name, _)| *name == group.group);
    group.order.or_else(|| known().map(|(_, order)| *order)).unwrap_or(OTHER_TOOLS)
}

/// The section; `None` if there is nothing to call and nothing to say. `guidance` is the variant's own, whose source is `cited`.
pub(crate) fn tools(
    frame: Frame<'_>,
    tools: &Tools,
    groups: &[&ToolGroup],
    guidance: &str,
    cited: Option<&Source>,
) -> Option<Section> {
    let guidance = guidance.trim();
    if tools.guidance == ToolGuidance::Hidden || (groups.is_empty() && guidance.is_empty()) {
        return None;
    }
    let mut parts = vec![frame.say("intro", &[])];
    parts.extend(groups.iter().map(|group| paragraph(frame, group)));
    let own = format!("{}\n\n{guidance}", frame.say("guidance", &[]));
    if !guidance.is_empty() {
        parts.push(own.clone());
    }
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.trim().is_empty()).collect();
    let pointer = tools.pointer.clone().unwrap_or_else(|| frame.say("pointer", &[]));
    let mut section = frame.section_with(&parts.join("\n\n"), &pointer, Vec::new())?;
    if !guidance.is_empty() && !section.cut {
        let size = section.size;
        section
            .sources
            .extend(cited.map(|cited| Source { chars: Some(chars(&own).min(size)), ..cited.clone() }));
    }
    Some(section)
}

/// What is said of one group: its own words, else the package's.
fn paragraph(frame: Frame<'_>, group: &ToolGroup) -> String {
    match &group.guidance {
        Some(guidance) => guidance.trim().to_owned(),
        None if TOOL_GROUPS.iter().any(|(name, _)| *name == group.group) => frame.say(&group.group, &[]),
        None => String::new(),
    }
}
