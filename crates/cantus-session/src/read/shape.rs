//! The JSON of launch descriptions and checkpoints.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::launch::{
    HostSection, Override, Pinned, Reference, SectionStability, Skill, State, Todo, TodoStatus, ToolGroup,
    ToolGuidance, Tools, Turn, VariantSection, WikiPointer,
};
use crate::section::Source;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File<'a> {
    pub(super) version: u64,
    pub(super) product: String,
    pub(super) model: Option<String>,
    pub(super) run: Option<String>,
    #[serde(default, deserialize_with = "each_once")]
    pub(super) standard: Vec<(String, OverrideShape)>,
    #[serde(borrow, default)]
    pub(super) sections: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) variant: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) references: Vec<ReferenceShape>,
    #[serde(default)]
    pub(super) required_skills: Vec<SkillShape>,
    pub(super) state: Option<StateShape>,
    pub(super) tools: Option<ToolsShape>,
    #[serde(default)]
    pub(super) wiki: WikiShape,
    pub(super) bundle: Option<BundleShape>,
}

/// The members of an object, none of which may stand twice.
fn each_once<'de, D: Deserializer<'de>>(json: D) -> Result<Vec<(String, OverrideShape)>, D::Error> {
    struct Members;

    impl<'de> serde::de::Visitor<'de> for Members {
        type Value = BTreeMap<String, OverrideShape>;

        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("an object of standard sections")
        }

        fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut members = BTreeMap::new();
            while let Some((id, change)) = map.next_entry::<String, OverrideShape>()? {
                let twice = serde::de::Error::custom(format_args!("`{id}` stands twice under `standard`"));
                if members.insert(id, change).is_some() {
                    return Err(twice);
                }
            }
            Ok(members)
        }
    }

    Ok(json.deserialize_map(Members)?.into_iter().collect())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OverrideShape {
    order: Option<i64>,
    budget: Option<usize>,
}

impl From<OverrideShape> for Override {
    fn from(shape: OverrideShape) -> Self {
        Self { order: shape.order, budget: shape.budget }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostShape {
    id: String,
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
    pinned: Option<PinnedShape>,
    order: Option<i64>,
    budget: Option<usize>,
    pointer: Option<String>,
    #[serde(default)]
    dynamic: bool,
    #[serde(default)]
    sources: Vec<SourceShape>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PinnedShape {
    text: String,
    pointer: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SourceShape {
    id: String,
    kind: String,
    revision: Option<String>,
    chars: Option<u64>,
}

impl From<HostShape> for HostSection {
    fn from(shape: HostShape) -> Self {
        let stability = if shape.dynamic { SectionStability::Dynamic } else { SectionStability::Stable };
        let source =
            |it: SourceShape| Source { id: it.id, kind: it.kind, revision: it.revision, chars: it.chars };
        Self {
            id: shape.id,
            title: shape.title,
            text: shape.text.unwrap_or_default(),
            pinned: shape.pinned.map(|it| Pinned { text: it.text, pointer: it.pointer }),
            order: shape.order,
            budget: shape.budget,
            pointer: shape.pointer.unwrap_or_default(),
            stability,
            sources: shape.sources.into_iter().map(source).collect(),
            line: 0,
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantShape<'a> {
    pub(super) scope: String,
    pub(super) fingerprint: Option<String>,
    #[serde(borrow, default)]
    pub(super) sections: Vec<&'a RawValue>,
    #[serde(default)]
    pub(super) tool_guidance: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VariantSectionShape {
    id: String,
    title: Option<String>,
    text: String,
    order: Option<i64>,
}

impl From<VariantSectionShape> for VariantSection {
    fn from(shape: VariantSectionShape) -> Self {
        Self { id: shape.id, title: shape.title, text: shape.text, order: shape.order, line: 0 }
    }
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum ReferenceShape {
    Line { id: String, text: String },
    Note { path: String, label: Option<String> },
}

impl From<ReferenceShape> for Reference {
    fn from(shape: ReferenceShape) -> Self {
        match shape {
            ReferenceShape::Line { id, text } => Self::Line { id, text },
            ReferenceShape::Note { path, label } => Self::Note { path, label },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SkillShape {
    name: String,
    label: Option<String>,
    path: Option<String>,
    folder: Option<String>,
    text: Option<String>,
}

impl From<SkillShape> for Skill {
    fn from(shape: SkillShape) -> Self {
        let SkillShape { name, label, path, folder, text } = shape;
        Self { name, label, path, folder, text: text.unwrap_or_default() }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct StateShape {
    /// Present and `null` is another thing than absent.
    #[serde(default, deserialize_with = "present")]
    name: Option<Option<String>>,
    todo: Option<Vec<TodoShape>>,
    #[serde(default)]
    previous_todo: Vec<TodoShape>,
    #[serde(default)]
    first_turn: bool,
}

fn present<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(json).map(Some)
}

impl From<StateShape> for State {
    fn from(shape: StateShape) -> Self {
        let list = |it: Vec<TodoShape>| it.into_iter().map(Into::into).collect();
        Self {
            name: shape.name,
            todo: shape.todo.map(list),
            previous_todo: list(shape.previous_todo),
            turn: if shape.first_turn { Turn::First } else { Turn::Later },
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TodoShape {
    text: String,
    #[serde(default)]
    status: StatusShape,
}

#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusShape {
    #[default]
    Pending,
    InProgress,
    Completed,
}

impl From<TodoShape> for Todo {
    fn from(shape: TodoShape) -> Self {
        let status = match shape.status {
            StatusShape::Pending => TodoStatus::Pending,
            StatusShape::InProgress => TodoStatus::InProgress,
            StatusShape::Completed => TodoStatus::Completed,
        };
        Self { text: shape.text, status }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolsShape {
    #[serde(default)]
    groups: Vec<GroupShape>,
    pointer: Option<String>,
    #[serde(default)]
    hidden: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupShape {
    group: String,
    tools: Vec<String>,
    order: Option<i64>,
    guidance: Option<String>,
}

impl From<ToolsShape> for Tools {
    fn from(shape: ToolsShape) -> Self {
        let group = |it: GroupShape| ToolGroup {
            group: it.group,
            tools: it.tools,
            order: it.order,
            guidance: it.guidance,
        };
        Self {
            groups: shape.groups.into_iter().map(group).collect(),
            pointer: shape.pointer,
            guidance: if shape.hidden { ToolGuidance::Hidden } else { ToolGuidance::Shown },
        }
    }
}

/// `true` or `false`.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct WikiShape(bool);

impl From<WikiShape> for WikiPointer {
    fn from(shape: WikiShape) -> Self {
        if shape.0 { Self::Shown } else { Self::Absent }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BundleShape {
    #[serde(default)]
    pub(super) facts: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CheckpointShape {
    pub(super) version: u64,
    #[serde(default)]
    pub(super) product: String,
    #[serde(default)]
    pub(super) request: String,
    pub(super) plan: Option<String>,
    #[serde(default)]
    pub(super) todo: Vec<TodoShape>,
}
