//! Launch descriptions and checkpoints as JSON.

mod shape;

use std::collections::BTreeSet;

use cantus_manifest::{Diagnostic, Outcome};
use cantus_memory::{decode, shortened};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use self::shape::{BundleShape, CheckpointShape, File, HostShape, VariantSectionShape, VariantShape};
use crate::CODE;
use crate::checkpoint::CheckpointInput;
use crate::launch::{HostSection, SessionLaunch, Variant, VariantSection};
use crate::run_id::RunId;

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
        let text = match text(file, bytes) {
            Ok(text) => text,
            Err(fault) => return Outcome { value: None, diagnostics: vec![fault] },
        };
        let mut reader = Reader { file, text: &text, faults: Vec::new() };
        let value = reader.description();
        let diagnostics = reader.faults;
        Outcome { value: value.filter(|_| diagnostics.is_empty()), diagnostics }
    }
}

impl CheckpointInput {
    /// Reads what a checkpoint is made of; faults name `file` and the line. `None` with faults.
    #[must_use]
    pub fn read(file: &str, bytes: Vec<u8>) -> Outcome<Option<Self>> {
        let text = match text(file, bytes) {
            Ok(text) => text,
            Err(fault) => return Outcome { value: None, diagnostics: vec![fault] },
        };
        let mut reader = Reader { file, text: &text, faults: Vec::new() };
        let shape: Option<CheckpointShape> = reader.whole(&text);
        let shape = shape.filter(|shape| reader.knows(shape.version));
        let value = shape.map(|shape| Self {
            product: shape.product,
            request: shape.request,
            plan: shape.plan.unwrap_or_default(),
            todo: shape.todo.into_iter().map(Into::into).collect(),
        });
        Outcome { value, diagnostics: reader.faults }
    }
}

/// The text of a file.
fn text(file: &str, bytes: Vec<u8>) -> Result<String, Diagnostic> {
    decode(&file, bytes).map_err(|fault| Diagnostic { code: CODE, ..fault })
}

struct Reader<'a> {
    file: &'a str,
    text: &'a str,
    faults: Vec<Diagnostic>,
}

impl<'a> Reader<'a> {
    fn fault(&mut self, line: Option<u32>, message: String) {
        let mut fault = Diagnostic::error(CODE, message).at(self.file);
        fault.line = line;
        self.faults.push(fault);
    }

    /// Takes a JSON object which starts at `line`, counted from 1.
    fn object<T: serde::Deserialize<'a>>(&mut self, json: &'a str, line: u32) -> Option<T> {
        // The parser would take an array for an object, its members in their order.
        if !json.trim_start().starts_with('{') {
            self.fault(Some(line), "expected an object in braces".to_owned());
            return None;
        }
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

    fn whole<T: DeserializeOwned>(&mut self, text: &'a str) -> Option<T> {
        self.object(text, 1)
    }

    /// The line on which a part of the file starts, counted from 1.
    fn line_of(&self, part: &'a RawValue) -> u32 {
        let at = (part.get().as_ptr() as usize).wrapping_sub(self.text.as_ptr() as usize);
        let before = self.text.as_bytes().get(..at).unwrap_or_default();
        u32::try_from(before.iter().filter(|byte| **byte == b'\n').count() + 1).unwrap_or(u32::MAX)
    }

    fn part<T: serde::Deserialize<'a>>(&mut self, part: &'a RawValue) -> Option<(T, u32)> {
        let line = self.line_of(part);
        Some((self.object(part.get(), line)?, line))
    }

    fn knows(&mut self, version: u64) -> bool {
        let known = version == VERSION;
        if !known {
            self.fault(None, format!("version {version}; this program knows version {VERSION}"));
        }
        known
    }

    fn description(&mut self) -> Option<Description> {
        let file: File<'a> = self.object(self.text, 1)?;
        if !self.knows(file.version) {
            return None;
        }
        let mut launch = SessionLaunch {
            product: file.product,
            model: file.model,
            run: file.run.and_then(|run| self.run(&run)),
            overrides: file.standard.into_iter().map(|(id, change)| (id, change.into())).collect(),
            sections: file.sections.into_iter().filter_map(|raw| self.host(raw)).collect(),
            variant: file.variant.and_then(|raw| self.variant(raw)),
            references: file.references.into_iter().map(Into::into).collect(),
            skills: file.required_skills.into_iter().map(Into::into).collect(),
            state: file.state.map(Into::into),
            tools: file.tools.map(Into::into).unwrap_or_default(),
            wiki: file.wiki.into(),
        };
        self.check_groups(&mut launch);
        let bundle = file.bundle.map(|BundleShape { facts }| BundleWish { facts });
        Some(Description { launch, bundle })
    }

    fn run(&mut self, run: &str) -> Option<RunId> {
        RunId::new(run).map_err(|error| self.fault(None, error.to_string())).ok()
    }

    fn host(&mut self, raw: &'a RawValue) -> Option<HostSection> {
        let (shape, line): (HostShape, u32) = self.part(raw)?;
        Some(HostSection { line, ..shape.into() })
    }

    fn variant(&mut self, raw: &'a RawValue) -> Option<Variant> {
        let (shape, line): (VariantShape<'a>, u32) = self.part(raw)?;
        let is_line = |text: &str| !text.trim().is_empty() && !text.contains(char::is_control);
        if !is_line(&shape.scope) {
            self.fault(Some(line), "`scope` must be one line that is not blank".to_owned());
        }
        let sections = shape.sections.into_iter().filter_map(|raw| {
            let (shape, line): (VariantSectionShape, u32) = self.part(raw)?;
            Some(VariantSection { line, ..shape.into() })
        });
        let sections = sections.collect();
        let VariantShape { scope, fingerprint, tool_guidance, .. } = shape;
        Some(Variant { scope, fingerprint, sections, tool_guidance })
    }

    /// A group of tools that stands twice would be described twice.
    fn check_groups(&mut self, launch: &mut SessionLaunch) {
        let mut seen = BTreeSet::new();
        for group in &launch.tools.groups {
            if !seen.insert(group.group.clone()) {
                self.fault(None, format!("two groups of tools are called `{}`", shortened(&group.group)));
            }
        }
    }
}
