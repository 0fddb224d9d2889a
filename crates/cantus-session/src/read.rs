//! Launch descriptions and checkpoints as JSON.

mod shape;

use std::collections::{BTreeMap, BTreeSet};

use cantus_manifest::{Diagnostic, Outcome};
use cantus_memory::{decode, shortened};
use serde::Deserialize;
use serde_json::value::RawValue;

use self::shape::{
    BundleShape, CheckpointShape, File, HostShape, Members, Number, Object, OverrideShape, ReferenceShape,
    SkillShape, StateShape, ToolsShape, VariantSectionShape, VariantShape,
};
use crate::CODE;
use crate::checkpoint::CheckpointInput;
use crate::json::fields;
use crate::launch::{HostSection, Override, SessionLaunch, Tools, Variant, VariantSection};
use crate::run_id::RunId;
use crate::standard::unknown;

/// The version of the shapes.
const VERSION: u64 = 1;

/// A launch as it stands in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The launch.
    pub launch: SessionLaunch,
    /// The bundle that is to be the stable part.
    pub bundle: Option<BundleWish>,
}

/// The bundle that is to be the stable part of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BundleWish {
    /// Its facts, as `key=value`.
    pub facts: Vec<String>,
}

impl Description {
    /// Reads a launch description; faults name `file` and the line. `None` with faults.
    #[must_use]
    pub fn read(file: &str, bytes: Vec<u8>) -> Outcome<Option<Self>> {
        read(file, bytes, |reader| reader.description())
    }
}

impl CheckpointInput {
    /// Reads what a checkpoint is made of; faults name `file` and the line. `None` with faults.
    #[must_use]
    pub fn read(file: &str, bytes: Vec<u8>) -> Outcome<Option<Self>> {
        read(file, bytes, |reader| {
            let shape: CheckpointShape =
                if reader.is_known() { reader.object(reader.text, 1)? } else { return None };
            Some(Self {
                product: shape.product,
                request: shape.request,
                plan: shape.plan.unwrap_or_default(),
                todo: shape.todo.into_iter().map(|Object(it)| it.into()).collect(),
            })
        })
    }
}

/// What `take` makes of the text of a file; `None` with faults.
fn read<T>(
    file: &str,
    bytes: Vec<u8>,
    take: impl FnOnce(&mut Reader<'_>) -> Option<T>,
) -> Outcome<Option<T>> {
    let text = match decode(&file, bytes) {
        Ok(text) => text,
        Err(fault) => return Outcome { value: None, diagnostics: vec![Diagnostic { code: CODE, ..fault }] },
    };
    let mut reader = Reader { file, text: &text, counted: (0, 0), faults: Vec::new() };
    let value = take(&mut reader);
    let diagnostics = reader.faults;
    Outcome { value: value.filter(|_| diagnostics.is_empty()), diagnostics }
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    /// A place in the text, in bytes, and the line ends before it.
    counted: (usize, usize),
    faults: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn fault(&mut self, line: Option<u32>, message: String) {
        let mut fault = Diagnostic::error(CODE, message).at(self.file);
        fault.line = line;
        self.faults.push(fault);
    }

    /// Takes a JSON object which starts at `line`, counted from 1.
    fn object<T: Deserialize<'a>>(&mut self, json: &'a str, line: u32) -> Option<T> {
        self.value(json, line).map(|Object(value)| value)
    }

    /// Takes any JSON value which starts at `line`, counted from 1.
    fn value<T: Deserialize<'a>>(&mut self, json: &'a str, line: u32) -> Option<T> {
        match serde_json::from_str(json) {
            Ok(value) => Some(value),
            Err(error) => {
                let (at, said) = (error.line(), error.to_string());
                let place = format!(" at line {at} column {}", error.column());
                let at = line + u32::try_from(at.saturating_sub(1)).unwrap_or_default();
                self.fault(Some(at), said.strip_suffix(&place).unwrap_or(&said).to_owned());
                None
            }
        }
    }

    /// The line on which a part of the file starts, counted from 1.
    fn line_of(&mut self, part: &'a RawValue) -> u32 {
        let at = (part.get().as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let bytes = self.text.as_bytes();
        // Parts come in the order of the file, but for a few: to count from the start each time would take minutes.
        let (start, before) = if at >= self.counted.0 { self.counted } else { (0, 0) };
        let passed = bytes.get(start..at).unwrap_or_default();
        let lines = before + passed.iter().filter(|byte| **byte == b'\n').count();
        self.counted = (at, lines);
        u32::try_from(lines + 1).unwrap_or(u32::MAX)
    }

    /// Takes a part of the file, an object; a fault says where it stands. Its line comes with it.
    fn part<T: Deserialize<'a>>(&mut self, place: &str, part: &'a RawValue) -> Option<(T, u32)> {
        let line = self.line_of(part);
        let value = self.object(part.get(), line);
        if value.is_none()
            && let Some(fault) = self.faults.last_mut()
        {
            fault.help = Some(format!("look at `{place}`"));
        }
        Some((value?, line))
    }

    /// Takes the parts of a list, objects, and makes what each describes.
    fn each<T: Deserialize<'a>, U>(
        &mut self,
        place: &str,
        parts: Vec<&'a RawValue>,
        make: impl Fn(T, u32) -> U,
    ) -> Vec<U> {
        let mut made = Vec::with_capacity(parts.len());
        for (index, part) in parts.into_iter().enumerate() {
            let place = format!("{place}[{index}]");
            made.extend(self.part(&place, part).map(|(value, line)| make(value, line)));
        }
        made
    }

    fn knows(&mut self, version: &'a RawValue) -> bool {
        let line = self.line_of(version);
        let Some(Number(version)) = self.value::<Number<u64>>(version.get(), line) else { return false };
        if version != VERSION {
            self.fault(Some(line), format!("version {version}; this program knows version {VERSION}"));
        }
        version == VERSION
    }

    /// Whether the file is of no other version; it may name none. What a newer one brings would be told as a mistake.
    fn is_known(&mut self) -> bool {
        let version = fields(self.text, ["version"]).and_then(|[version]| version);
        version.is_none_or(|version| self.knows(version))
    }

    fn description(&mut self) -> Option<Description> {
        if !self.is_known() {
            return None;
        }
        let file: File<'a> = self.object(self.text, 1)?;
        let launch = SessionLaunch {
            product: self.line("product", file.product).unwrap_or_default(),
            model: file.model.and_then(|model| self.line("model", model)),
            run: file.run.and_then(|run| self.run(run)),
            overrides: file.standard.map(|standard| self.overrides(standard)).unwrap_or_default(),
            sections: self
                .each("sections", file.sections, |it: HostShape, line| HostSection { line, ..it.into() }),
            variant: file.variant.and_then(|raw| self.variant(raw)),
            references: self.each("references", file.references, |it: ReferenceShape, _| it.into()),
            skills: self.each("required_skills", file.required_skills, |it: SkillShape, _| it.into()),
            state: file.state.and_then(|raw| Some(self.part::<StateShape>("state", raw)?.0.into())),
            tools: file.tools.and_then(|raw| self.tools(raw)).unwrap_or_default(),
            wiki: file.wiki.into(),
        };
        let bundle = file.bundle.and_then(|raw| self.part("bundle", raw));
        let bundle = bundle.map(|(BundleShape { facts }, _)| BundleWish { facts });
        Some(Description { launch, bundle })
    }

    /// A text of one line that is not blank.
    fn line(&mut self, key: &str, raw: &'a RawValue) -> Option<String> {
        let line = self.line_of(raw);
        let text: String = self.value(raw.get(), line)?;
        if !is_line(&text) {
            self.fault(Some(line), format!("`{key}` must be one line that is not blank"));
        }
        Some(text)
    }

    fn run(&mut self, raw: &'a RawValue) -> Option<RunId> {
        let line = self.line_of(raw);
        let run: String = self.value(raw.get(), line)?;
        RunId::new(&run).map_err(|error| self.fault(Some(line), error.to_string())).ok()
    }

    fn overrides(&mut self, members: Members<'a>) -> BTreeMap<String, Override> {
        let mut overrides = BTreeMap::new();
        for (id, raw) in members.0 {
            let line = self.line_of(raw);
            self.faults.extend(unknown(&id).map(|fault| fault.at(self.file).line(line)));
            let place = format!("standard.{}", shortened(&id));
            let Some((shape, _)) = self.part::<OverrideShape>(&place, raw) else { continue };
            if overrides.insert(id.clone(), shape.into()).is_some() {
                self.fault(Some(line), format!("`{}` stands twice under `standard`", shortened(&id)));
            }
        }
        overrides
    }

    fn variant(&mut self, raw: &'a RawValue) -> Option<Variant> {
        let (shape, line): (VariantShape<'a>, u32) = self.part("variant", raw)?;
        if !is_line(&shape.scope) {
            self.fault(Some(line), "`scope` must be one line that is not blank".to_owned());
        }
        let of = |it: VariantSectionShape, line| VariantSection { line, ..it.into() };
        let sections = self.each("variant.sections", shape.sections, of);
        let VariantShape { scope, fingerprint, tool_guidance, .. } = shape;
        Some(Variant { scope, fingerprint, sections, tool_guidance })
    }

    /// A group of tools that stands twice would be described twice.
    fn tools(&mut self, raw: &'a RawValue) -> Option<Tools> {
        let (shape, line): (ToolsShape, u32) = self.part("tools", raw)?;
        let tools: Tools = shape.into();
        let mut seen = BTreeSet::new();
        for group in &tools.groups {
            if !seen.insert(group.group.as_str()) {
                self.fault(
                    Some(line),
                    format!("two groups of tools are called `{}`", shortened(&group.group)),
                );
            }
        }
        Some(tools)
    }
}

fn is_line(text: &str) -> bool {
    !text.trim().is_empty() && !text.contains(char::is_control)
}
