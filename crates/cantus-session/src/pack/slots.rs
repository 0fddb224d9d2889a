//! Which sections a pack has, who brings them, and where they stand.

use std::collections::BTreeMap;

use cantus_manifest::{Diagnostic, Outcome};

use super::{Framing, SessionMaterial, VariantName};
use crate::launch::{HostSection, SectionStability, SessionLaunch, VariantSection, WikiPointer};
use crate::parts::{Frame, groups, references, skills, state, tools, wiki};
use crate::section::{Draft, Section, Source, chars};
use crate::standard::{
    BUNDLE_ORDER, DEFAULT_ORDER, HOST_BUDGET, Maker, STANDARD, VARIANT_BUDGET, made_by, standard, unknown,
};
use crate::{CODE, told};

/// The section that brings its own framing.
const IDENTITY: &str = "identity";
/// The most characters of an id.
const MOST_ID: usize = 200;

/// A place in a pack, filled or not.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) section: Option<Section>,
    pub(super) stability: SectionStability,
    pub(super) framing: Framing,
    order: i64,
    origin: Origin,
}

/// Who brings a section.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Cantus,
    Bundle,
    Variant { scope: String, line: u32 },
    Host { line: u32 },
}

impl Origin {
    fn line(&self) -> Option<u32> {
        match self {
            Self::Variant { line, .. } | Self::Host { line } if *line > 0 => Some(*line),
            _ => None,
        }
    }

    fn named(&self) -> String {
        let who = match self {
            Self::Cantus => "Cantus".to_owned(),
            Self::Bundle => "the bundle".to_owned(),
            Self::Variant { scope, .. } => format!("the variant `{}`", told(scope)),
            Self::Host { .. } => "the host".to_owned(),
        };
        self.line().map_or_else(|| who.clone(), |line| format!("{who} (line {line})"))
    }
}

/// Every place of a pack in order. With faults the value is of no use.
pub(super) fn slots(
    launch: &SessionLaunch,
    material: &SessionMaterial<'_>,
    variant: Option<&VariantName>,
) -> Outcome<Vec<Slot>> {
    let builder = Builder { launch, material, variant };
    let mut faults = builder.launch_faults();
    let mut slots = builder.standard();
    slots.extend(material.bundle.iter().map(|part| Slot {
        id: part.id.clone(),
        title: part.id.clone(),
        section: whole(&part.id, &part.text, &part.digest),
        stability: SectionStability::Stable,
        framing: Framing::Own,
        order: BUNDLE_ORDER,
        origin: Origin::Bundle,
    }));
    // A host's section takes the place of a standard one, whoever brings that.
    let replaced = |id: &str| standard(id).is_some() && launch.sections.iter().any(|host| host.id == id);
    slots.retain(|slot| !replaced(&slot.id));
    slots.extend(launch.sections.iter().map(|host| builder.host(host)));
    faults.extend(twice(&slots));
    faults.extend(slots.iter().filter_map(without_room));
    slots.sort_by_key(|slot| slot.order);
    Outcome { value: slots, diagnostics: faults }
}

/// A section of a bundle, as it is.
fn whole(id: &str, text: &str, digest: &str) -> Option<Section> {
    let body = text.trim_matches('\n');
    let budget = usize::try_from(chars(body)).unwrap_or(usize::MAX);
    let sources = vec![Source::new("bundle", id, Some(digest))];
    let draft = Draft { id, title: id, text: body, budget, pointer: "", sources };
    (!body.trim().is_empty()).then(|| Section::of(draft, body.to_owned(), false))
}

/// Of sections with the same id every one but the first is at fault.
fn twice(slots: &[Slot]) -> Vec<Diagnostic> {
    let mut first: BTreeMap<&str, &Slot> = BTreeMap::new();
    let mut faults = Vec::new();
    for slot in slots {
        let other = *first.entry(slot.id.as_str()).or_insert(slot);
        if std::ptr::eq(other, slot) {
            continue;
        }
        let (id, one, two) = (told(&slot.id), other.origin.named(), slot.origin.named());
        let message = format!("two sections are called `{id}`: one of {one}, one of {two}");
        let own = made_by(Maker::Variant).collect::<Vec<_>>().join("`, `");
        let help = match (&other.origin, &slot.origin) {
            (Origin::Cantus, Origin::Variant { .. }) => format!("a variant has `{own}` and ids of its own"),
            _ => "give one of them another id".to_owned(),
        };
        faults.push(at(slot.origin.line(), message).help(help));
    }
    faults
}

/// A cut body of which nothing is left would be lost without a word.
fn without_room(slot: &Slot) -> Option<Diagnostic> {
    let section = slot.section.as_ref().filter(|it| it.cut && it.body.trim().is_empty())?;
    let (id, budget) = (told(&slot.id), section.budget);
    let message = format!("nothing of the section `{id}` fits into its budget of {budget}");
    Some(at(slot.origin.line(), message).help("raise its budget, or give it a pointer to the rest"))
}

/// A fault of what the host says.
fn at(line: Option<u32>, message: String) -> Diagnostic {
    let mut fault = Diagnostic::error(CODE, message);
    fault.line = line;
    fault
}

/// What all places are made of.
#[derive(Clone, Copy)]
struct Builder<'a> {
    launch: &'a SessionLaunch,
    material: &'a SessionMaterial<'a>,
    variant: Option<&'a VariantName>,
}

impl<'a> Builder<'a> {
    fn frame(self, id: &'static str) -> Frame<'a> {
        let budget = self.budget(id).unwrap_or_default();
        Frame { wording: self.material.wording, id, product: &self.launch.product, budget }
    }

    fn budget(self, id: &str) -> Option<usize> {
        let changed = self.launch.overrides.get(id).and_then(|change| change.budget);
        changed.or_else(|| Some(standard(id)?.budget))
    }

    fn order(self, id: &str) -> i64 {
        let changed = self.launch.overrides.get(id).and_then(|change| change.order);
        changed.or_else(|| Some(standard(id)?.order)).unwrap_or(DEFAULT_ORDER)
    }

    fn title(self, id: &str, given: Option<&str>) -> String {
        let key = format!("{id}.title");
        let known = standard(id).is_some() && self.material.wording.has(&key);
        let default = || match known {
            true => self.material.wording.say(&key, &[("product", &self.launch.product)]),
            false => id.to_owned(),
        };
        given.map_or_else(default, str::to_owned)
    }

    /// The standard sections and those of the variant, in the order of the table, then the variant's own.
    fn standard(self) -> Vec<Slot> {
        let given = self.launch.variant.as_ref().map_or(&[][..], |variant| &variant.sections);
        let mut slots = Vec::new();
        for row in STANDARD {
            let stability = match row.maker {
                Maker::Request => SectionStability::Dynamic,
                _ => SectionStability::Stable,
            };
            let mut own = given.iter().filter(|section| section.id == row.id).peekable();
            if row.maker == Maker::Variant && own.peek().is_some() {
                slots.extend(own.map(|section| self.of_variant(section)));
                continue;
            }
            let (id, title) = (row.id.to_owned(), self.title(row.id, None));
            let (section, order) = (self.made(row.id), self.order(row.id));
            let framing = Framing::Heading;
            slots.push(Slot { id, title, section, stability, framing, order, origin: Origin::Cantus });
        }
        let others = given.iter().filter(|section| !made_by(Maker::Variant).any(|id| id == section.id));
        slots.extend(others.map(|section| self.of_variant(section)));
        slots
    }

    /// What Cantus makes of a standard section.
    fn made(self, id: &'static str) -> Option<Section> {
        let (launch, frame) = (self.launch, self.frame(id));
        match id {
            "harness-identity" => {
                let model = launch.model.as_deref();
                let text = model.map(|model| frame.say("with_model", &[("model", model)]));
                frame.section(&text.unwrap_or_else(|| frame.say("text", &[])), Vec::new())
            }
            "session-state" => state(frame, launch.state.as_ref()?),
            "references" => references(frame, &launch.references, &self.material.notes),
            "required-skills" => skills(frame, &launch.skills),
            "wiki" if launch.wiki == WikiPointer::Absent => None,
            "wiki" => wiki(frame, &self.material.notes),
            "tools" => {
                let guidance = launch.variant.as_ref().map_or("", |variant| variant.tool_guidance.as_str());
                tools(frame, &launch.tools, &groups(&launch.tools), guidance, self.cited().as_ref())
            }
            _ => frame.section(&frame.say("text", &[]), Vec::new()),
        }
    }

    /// How sources cite the variant.
    fn cited(self) -> Option<Source> {
        self.variant.map(|name| Source::new("variant", &name.scope, Some(&name.fingerprint)))
    }

    fn of_variant(self, section: &VariantSection) -> Slot {
        let VariantSection { id, text, line, .. } = section;
        let title = self.title(id, section.title.as_deref());
        let budget = self.budget(id).unwrap_or(VARIANT_BUDGET);
        let pointer = self.material.wording.say("context-updates.cut", &[]);
        let sources = self.cited().into_iter().collect();
        let draft = Draft { id, title: &title, text, budget, pointer: &pointer, sources };
        let scope = self.variant.map_or_else(String::new, |name| name.scope.clone());
        Slot {
            id: id.clone(),
            section: Section::fitted(draft),
            title,
            stability: SectionStability::Stable,
            framing: framing(id),
            order: section.order.unwrap_or_else(|| self.order(id)),
            origin: Origin::Variant { scope, line: *line },
        }
    }

    fn host(self, host: &HostSection) -> Slot {
        let id = &host.id;
        let title = self.title(id, host.title.as_deref());
        let budget = host.budget.or_else(|| self.budget(id)).unwrap_or(HOST_BUDGET);
        let fitted = |text: &str, pointer: &str| {
            let sources = host.sources.clone();
            Section::fitted(Draft { id, title: &title, text, budget, pointer, sources })
        };
        let own = fitted(&host.text, &host.pointer);
        let section = match host.pinned.as_ref().filter(|pinned| !pinned.text.trim().is_empty()) {
            None => own,
            Some(pinned) => {
                let pointer = pinned.pointer.as_ref().unwrap_or(&host.pointer);
                let is_cut = own.as_ref().is_some_and(|own| own.cut);
                let text =
                    own.map_or_else(|| pinned.text.clone(), |own| format!("{}\n{}", pinned.text, own.body));
                let both = fitted(&text, pointer);
                both.map(|both| Section { cut: both.cut || is_cut, ..both })
            }
        };
        let of_request = made_by(Maker::Request).any(|made| made == id);
        Slot {
            id: id.clone(),
            section,
            title,
            stability: if of_request { SectionStability::Dynamic } else { host.stability },
            framing: framing(id),
            order: host.order.unwrap_or_else(|| self.order(id)),
            origin: Origin::Host { line: host.line },
        }
    }

    /// What is wrong with what the host says, besides ids that stand twice.
    fn launch_faults(self) -> Vec<Diagnostic> {
        let launch = self.launch;
        let mut faults = Vec::new();
        let is_line = |text: &str| !text.trim().is_empty() && !text.contains(char::is_control);
        if !is_line(&launch.product) {
            faults.push(at(None, "`product` must be one line that is not blank".to_owned()));
        }
        if launch.model.as_deref().is_some_and(|model| !is_line(model)) {
            faults.push(at(None, "`model` must be one line that is not blank".to_owned()));
        }
        let host = launch.sections.iter().map(|it| (&it.id, it.title.as_deref(), it.line));
        let variant = launch.variant.iter().flat_map(|variant| &variant.sections);
        let variant = variant.map(|it| (&it.id, it.title.as_deref(), it.line));
        for (id, title, line) in host.chain(variant) {
            let line = Some(line).filter(|line| *line > 0);
            if let Some(rule) = broken_rule(id) {
                faults.push(at(line, format!("`{}` can't be the id of a section: {rule}", told(id))));
            }
            if title.is_some_and(|title| !is_line(title)) {
                let id = told(id);
                faults.push(at(
                    line,
                    format!("the title of the section `{id}` must be one line that is not blank"),
                ));
            }
        }
        faults.extend(self.misplaced());
        faults.extend(self.unknown_overrides());
        faults
    }

    /// The section that is Cantus's to make.
    fn misplaced(self) -> Vec<Diagnostic> {
        let mut faults = Vec::new();
        for host in self.launch.sections.iter().filter(|host| host.id == "session-state") {
            let line = Some(host.line).filter(|line| *line > 0);
            let fault = at(line, "a host may not supply the section `session-state`".to_owned());
            faults.push(fault.help("give name and lists as `state`"));
        }
        faults
    }

    fn unknown_overrides(self) -> Vec<Diagnostic> {
        self.launch.overrides.keys().filter_map(|id| unknown(id)).collect()
    }
}

fn framing(id: &str) -> Framing {
    if id == IDENTITY { Framing::Own } else { Framing::Heading }
}

/// Why a text can't be the id of a section.
fn broken_rule(id: &str) -> Option<&'static str> {
    if id.trim().is_empty() {
        return Some("it is blank");
    }
    if id.trim() != id {
        return Some("it starts or ends with white space");
    }
    if id.contains(char::is_control) {
        return Some("it holds control characters");
    }
    (id.chars().count() > MOST_ID).then_some("it has more than 200 characters")
}
