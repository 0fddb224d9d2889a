//! The JSON of launch descriptions and checkpoints.

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, IgnoredAny, MapAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::launch::{
    HostSection, Override, Pinned, Reference, SectionStability, Skill, State, Todo, TodoStatus, ToolGroup,
    ToolGuidance, Tools, Turn, VariantSection, WikiPointer,
};
use crate::section::Source;

/// A value that stands as an object. The derived readers would take an array too, its members in their order.
pub(super) struct Object<T>(pub(super) T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Members<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for Members<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<T, A::Error> {
                T::deserialize(MapAccessDeserializer::new(map))
            }
        }

        json.deserialize_map(Members(PhantomData)).map(Object)
    }
}

/// A whole number. The derived readers would name the types of Rust where another thing stands.
#[derive(Clone, Copy)]
pub(super) struct Number<T>(pub(super) T);

impl<'de, T: TryFrom<i64> + TryFrom<u64> + Bounded> Deserialize<'de> for Number<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct Whole<T>(PhantomData<T>);

        impl<T: TryFrom<i64> + TryFrom<u64> + Bounded> Visitor<'_> for Whole<T> {
            type Value = T;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(T::EXPECTED)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<T, E> {
                T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Unsigned(number), &self))
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<T, E> {
                T::try_from(number).map_err(|_| E::invalid_value(Unexpected::Signed(number), &self))
            }
        }

        json.deserialize_any(Whole(PhantomData)).map(Self)
    }
}

/// What an error says of the numbers that would have been right.
pub(super) trait Bounded {
    const EXPECTED: &'static str;
}

impl Bounded for i64 {
    const EXPECTED: &'static str = "a whole number of at most 64 bits";
}

impl Bounded for u64 {
    const EXPECTED: &'static str = "a whole number, 0 or more";
}

impl Bounded for usize {
    const EXPECTED: &'static str = u64::EXPECTED;
}

/// The members of an object in their order, however often one stands there.
pub(super) struct Members<'a>(pub(super) Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        struct All;

        impl<'de> Visitor<'de> for All {
            type Value = Vec<(String, &'de RawValue)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }

        json.deserialize_map(All).map(Members)
    }
}

/// What has a line of its own is read in a second step.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File<'a> {
    /// Looked at before all else.
    #[serde(rename = "version")]
    _version: IgnoredAny,
    #[serde(borrow)]
    pub(super) product: &'a RawValue,
    #[serde(borrow)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) run: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) standard: Option<Members<'a>>,
    #[serde(borrow, default)]
    pub(super) sections: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) variant: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) references: Vec<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) required_skills: Vec<&'a RawValue>,
    #[serde(borrow)]
    pub(super) state: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) tools: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) wiki: WikiShape,
    #[serde(borrow)]
    pub(super) bundle: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OverrideShape {
    order: Option<Number<i64>>,
    budget: Option<Number<usize>>,
}

fn plain<T>(number: Option<Number<T>>) -> Option<T> {
    number.map(|Number(number)| number)
}

impl From<OverrideShape> for Override {
    fn from(shape: OverrideShape) -> Self {
        Self { order: plain(shape.order), budget: plain(shape.budget) }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct HostShape {
    id: String,
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
    pinned: Option<Object<PinnedShape>>,
    order: Option<Number<i64>>,
    budget: Option<Number<usize>>,
    pointer: Option<String>,
    #[serde(default)]
    dynamic: bool,
    #[serde(default)]
    sources: Vec<Object<SourceShape>>,
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
    chars: Option<Number<u64>>,
}

impl From<HostShape> for HostSection {
    fn from(shape: HostShape) -> Self {
        let stability = if shape.dynamic { SectionStability::Dynamic } else { SectionStability::Stable };
        let source = |Object(it): Object<SourceShape>| Source {
            id: it.id,
            kind: it.kind,
            revision: it.revision,
            chars: plain(it.chars),
        };
        Self {
            id: shape.id,
            title: shape.title,
            text: shape.text.unwrap_or_default(),
            pinned: shape.pinned.map(|Object(it)| Pinned { text: it.text, pointer: it.pointer }),
            order: plain(shape.order),
            budget: plain(shape.budget),
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
    order: Option<Number<i64>>,
}

impl From<VariantSectionShape> for VariantSection {
    fn from(shape: VariantSectionShape) -> Self {
        Self { id: shape.id, title: shape.title, text: shape.text, order: plain(shape.order), line: 0 }
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
    todo: Option<Vec<Object<TodoShape>>>,
    #[serde(default)]
    previous_todo: Vec<Object<TodoShape>>,
    #[serde(default)]
    first_turn: bool,
}

fn present<'de, D: Deserializer<'de>>(json: D) -> Result<Option<Option<String>>, D::Error> {
    Deserialize::deserialize(json).map(Some)
}

impl From<StateShape> for State {
    fn from(shape: StateShape) -> Self {
        let list = |it: Vec<Object<TodoShape>>| it.into_iter().map(|Object(it)| it.into()).collect();
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
    groups: Vec<Object<GroupShape>>,
    pointer: Option<String>,
    #[serde(default)]
    hidden: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupShape {
    group: String,
    tools: Vec<String>,
    order: Option<Number<i64>>,
    guidance: Option<String>,
}

impl From<ToolsShape> for Tools {
    fn from(shape: ToolsShape) -> Self {
        let group = |Object(it): Object<GroupShape>| ToolGroup {
            group: it.group,
            tools: it.tools,
            order: plain(it.order),
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
    /// Looked at before all else.
    #[serde(rename = "version")]
    _version: IgnoredAny,
    #[serde(default)]
    pub(super) product: String,
    #[serde(default)]
    pub(super) request: String,
    pub(super) plan: Option<String>,
    #[serde(default)]
    pub(super) todo: Vec<Object<TodoShape>>,
}
