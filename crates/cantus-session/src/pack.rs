//! The pack: every section that one request is given, in order.

mod slots;

use cantus_compose::Wording;
use cantus_manifest::{Digest, Outcome};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

use self::slots::slots;
use crate::deliver::Delivery;
use crate::launch::{SectionStability, SessionLaunch, Variant};
use crate::notes::Notes;
use crate::parts::{ToolList, groups};
use crate::run_id::RunId;
use crate::section::{Section, Snapshot};

/// What a pack is made of besides the launch.
#[derive(Clone, Debug)]
pub struct SessionMaterial<'a> {
    /// What the standard sections say.
    pub wording: &'a Wording,
    /// The notes at hand.
    pub notes: Notes<'a>,
    /// A composed bundle that is the stable part, section by section; empty for none.
    pub bundle: Vec<BundlePart>,
}

/// A section of a composed bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BundlePart {
    /// Its id in the bundle, which it keeps in the pack.
    pub id: String,
    /// Its text, headings included. It is never cut.
    pub text: String,
    /// The digest of its bytes.
    pub digest: String,
}

/// Whether a heading is written above a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Framing {
    Heading,
    /// The body brings its own.
    Own,
}

/// A section in its place.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) section: Section,
    pub(crate) stability: SectionStability,
    pub(crate) framing: Framing,
}

/// The name of what a session runs with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct VariantName {
    /// Its name.
    pub scope: String,
    /// A hash of its content.
    pub fingerprint: String,
}

/// Every section that one request is given, in order, and how it reaches the conversation.
#[derive(Clone, Debug)]
pub struct Pack {
    pub(crate) run: Option<RunId>,
    pub(crate) product: String,
    pub(crate) variant: Option<VariantName>,
    pub(crate) placed: Vec<Placed>,
    pub(crate) tools: Vec<ToolList>,
    /// The ids that may change between requests with their titles, in section order, whether there is such a section or not.
    pub(crate) dynamic: Vec<(String, String)>,
    pub(crate) words: Words,
    pub(crate) delivery: Option<Delivery>,
}

/// What is said around updates.
#[derive(Clone, Debug)]
pub(crate) struct Words {
    pub(crate) title: String,
    pub(crate) guidance: String,
    pub(crate) opening: String,
    pub(crate) withdrawn: String,
}

/// Makes the pack of one request; `None` with errors, all of which are told. Nothing is read or written.
#[must_use]
pub fn compile(launch: &SessionLaunch, material: &SessionMaterial<'_>) -> Outcome<Option<Pack>> {
    let variant = launch.variant.as_ref().map(name_of);
    let Outcome { value: slots, diagnostics } = slots(launch, material, variant.as_ref());
    if !diagnostics.is_empty() {
        return Outcome { value: None, diagnostics };
    }
    let is_dynamic = |stability| stability == SectionStability::Dynamic;
    let dynamic = slots.iter().filter(|slot| is_dynamic(slot.stability));
    let dynamic = dynamic.map(|slot| (slot.id.clone(), slot.title.clone())).collect();
    let placed = slots.into_iter().filter_map(|slot| {
        Some(Placed { section: slot.section?, stability: slot.stability, framing: slot.framing })
    });
    let placed: Vec<Placed> = placed.collect();
    // What describes no tools names none.
    let is_described = placed.iter().any(|it| it.section.id == "tools");
    let groups = if is_described { groups(&launch.tools) } else { Vec::new() };
    let tools = groups.iter().map(|it| ToolList { group: it.group.clone(), tools: it.tools.clone() });
    let tools = tools.collect();
    let (run, product) = (launch.run.clone(), launch.product.clone());
    let words = words(material.wording, &product);
    let value = Some(Pack { run, product, variant, placed, tools, dynamic, words, delivery: None });
    Outcome { value, diagnostics }
}

fn words(wording: &Wording, product: &str) -> Words {
    let say = |part: &str| wording.say(&format!("context-updates.{part}"), &[("product", product)]);
    Words { title: say("title"), guidance: say("text"), opening: say("opening"), withdrawn: say("withdrawn") }
}

/// The name of a variant, its hash computed if it has none.
fn name_of(variant: &Variant) -> VariantName {
    let computed = || {
        let mut bytes = Vec::new();
        let sections =
            variant.sections.iter().flat_map(|it| [&it.id, it.title.as_ref().unwrap_or(&it.id), &it.text]);
        for text in sections.chain([&variant.tool_guidance]) {
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
        Digest::of(bytes).to_string()
    };
    let fingerprint = variant.fingerprint.clone().unwrap_or_else(computed);
    VariantName { scope: variant.scope.clone(), fingerprint }
}

impl Pack {
    /// Its sections in order.
    pub fn sections(&self) -> impl Iterator<Item = &Section> {
        self.placed.iter().map(|it| &it.section)
    }

    /// Its dynamic sections in order: what a conversation holds once it was given this pack.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        self.dynamic_sections().cloned().collect()
    }

    /// The run that it is recorded for.
    #[must_use]
    pub fn run(&self) -> Option<&RunId> {
        self.run.as_ref()
    }

    /// The tools that it describes.
    #[must_use]
    pub fn tools(&self) -> &[ToolList] {
        &self.tools
    }

    /// How it reaches the conversation; `None` before [`Pack::deliver`].
    #[must_use]
    pub fn delivery(&self) -> Option<&Delivery> {
        self.delivery.as_ref()
    }

    pub(crate) fn dynamic_sections(&self) -> impl Iterator<Item = &Section> {
        let dynamic = self.placed.iter().filter(|it| it.stability == SectionStability::Dynamic);
        dynamic.map(|it| &it.section)
    }
}

/// The version of the shape in which a pack is recorded.
pub(crate) const PACK_VERSION: u32 = 1;

impl Serialize for Pack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut shape = serializer.serialize_struct("Pack", 7)?;
        shape.serialize_field("version", &PACK_VERSION)?;
        shape.serialize_field("run", &self.run)?;
        shape.serialize_field("product", &self.product)?;
        shape.serialize_field("variant", &self.variant)?;
        shape.serialize_field("sections", &self.sections().collect::<Vec<_>>())?;
        shape.serialize_field("tools", &self.tools)?;
        shape.serialize_field("delivery", &self.delivery)?;
        shape.end()
    }
}
