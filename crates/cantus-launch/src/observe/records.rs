//! What a run recorded, as far as conversations are held against it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cantus_fs::Disk;
use cantus_manifest::manifest::{DeliveryStatus, Manifest, SectionRecord, SectionStatus};
use cantus_manifest::{Actor, Digest, Layer, Lifecycle, Purpose};
use serde::Deserialize;
use serde_json::Value;

use super::lines::record;
use super::report::Needles;
use super::text::{first_title, flat, heading_of, unnumbered};
use crate::reading::{RecordFiles, record_files};
use crate::record::Role;
use crate::time::parse;

/// How many digits of a bundle's digest a marker has.
const DIGITS: usize = 12;

/// The heading of the text for helpers that the peer's package has.
const HELPER_HEADING: &str = "# SASE Helper Instructions";

/// What a run recorded.
#[derive(Debug, Default)]
pub(crate) struct Records {
    /// The roots' invocations that have a manifest, by number.
    pub(crate) roots: Vec<Recorded>,
    /// The provider and the purpose of each invocation without a bundle.
    pub(crate) errors: Vec<(String, String)>,
    /// Lines by which the text for helpers is known.
    pub(crate) helper_headings: Vec<String>,
}

/// One root's invocation.
#[derive(Debug)]
pub(crate) struct Recorded {
    /// Its number in the run.
    pub(crate) seq: u64,
    /// Where the manifest lies.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) manifest: Manifest,
    /// When the bundle was rendered.
    pub(crate) rendered_at: Option<SystemTime>,
    /// The bundle, if it is the one that the manifest describes.
    pub(crate) bundle: Option<String>,
    /// Its sections but for the composer's own, by id.
    pub(crate) sections: Vec<Section>,
    /// What it says is looked for.
    pub(crate) needles: Needles,
}

/// One section of a recorded bundle.
#[derive(Debug)]
pub(crate) struct Section {
    pub(crate) id: String,
    pub(crate) layer: Layer,
    /// What follows its first line, white space evened.
    pub(crate) body: String,
}

impl Records {
    /// What lies in the folder `artifacts`. What can't be read isn't there.
    pub(crate) fn load(disk: &dyn Disk, artifacts: &Path, user: Option<&Path>) -> Self {
        let mut records = Self { helper_headings: vec![HELPER_HEADING.to_owned()], ..Self::default() };
        for files in record_files(disk, artifacts).unwrap_or_default() {
            if files.has_error() {
                records.errors.push(error_of(disk, &files));
            }
            let Some(manifest) = files.manifest(disk) else { continue };
            let bytes = files.bundle(disk, user).unwrap_or_default();
            let text = String::from_utf8_lossy(&bytes);
            if files.role() == Role::Helper || manifest.facts.actor == Actor::NativeHelper {
                records.helper_headings.extend(helper_heading(&manifest, &text));
            } else {
                records.roots.push(Recorded::of(&files, manifest, &bytes, &text));
            }
        }
        records
    }

    /// The providers of the roots' records in the folder, as the names of their files have them; nothing is opened.
    pub(crate) fn labels(disk: &dyn Disk, artifacts: &Path) -> BTreeSet<String> {
        let files = record_files(disk, artifacts).unwrap_or_default();
        files
            .iter()
            .filter(|files| files.role() == Role::Root)
            .map(|files| files.label().to_owned())
            .collect()
    }

    /// The roots' records of one provider.
    pub(crate) fn of<'a>(&'a self, provider: &'a str) -> impl DoubleEndedIterator<Item = &'a Recorded> {
        self.roots.iter().filter(move |record| record.manifest.facts.provider == provider)
    }

    /// What is looked for in a conversation of `provider` that belongs to `judged`, if it belongs to any record. Where that doesn't
    /// tell, what the newest record that does says; `today` where there is none to ask.
    pub(crate) fn needles(
        &self,
        provider: &str,
        judged: Option<&Recorded>,
        today: impl FnOnce() -> Option<Needles>,
    ) -> Needles {
        let own: Vec<_> = judged.into_iter().chain(self.of(provider).rev()).collect();
        let all: Vec<_> = own.iter().copied().chain(self.roots.iter().rev()).collect();
        let first = |records: &[&Recorded], needle: fn(&Needles) -> &Option<String>| {
            records.iter().find_map(|record| needle(&record.needles).clone())
        };
        let mut found = Needles {
            home_title: first(&all, |it| &it.home_title),
            project_title: first(&all, |it| &it.project_title),
            contract: first(&all, |it| &it.contract),
            directive: first(&own, |it| &it.directive),
        };
        if let Some(today) = own.is_empty().then(today).flatten() {
            found.directive = today.directive;
            if all.is_empty() {
                found = Needles { directive: found.directive, ..today };
            }
        }
        found
    }
}

impl Recorded {
    fn of(files: &RecordFiles, manifest: Manifest, bytes: &[u8], text: &str) -> Self {
        let is_genuine = Digest::of(bytes).to_string() == manifest.bundle.sha256;
        Self {
            seq: files.seq(),
            path: files.manifest_path(),
            rendered_at: parse(&Value::from(manifest.delivery.rendered_at.as_str())),
            bundle: (is_genuine && !bytes.is_empty()).then(|| text.to_owned()),
            sections: sections(&manifest, text),
            needles: needles(&manifest, text),
            manifest,
        }
    }

    /// The bundle's digest as markers have it.
    pub(crate) fn digits(&self) -> &str {
        first_digits(&self.manifest.bundle.sha256)
    }

    /// The digest of the helpers' bundle as markers have it, if one was handed over.
    pub(crate) fn helper_digits(&self) -> Option<&str> {
        let helpers = self.manifest.delivery.subagent.as_ref()?;
        let is_explicit = helpers.status == DeliveryStatus::Explicit;
        helpers.bundle_sha256.as_deref().filter(|_| is_explicit).map(first_digits)
    }

    pub(crate) fn is_explicit(&self) -> bool {
        self.manifest.delivery.status == DeliveryStatus::Explicit
    }

    /// The ids of invocations whose markers stand in its conversation: its own and, of one that goes on with another's
    /// conversation, the other's.
    pub(crate) fn invocations(&self) -> impl Iterator<Item = &str> {
        let delivery = &self.manifest.delivery;
        let inherits = delivery.status == DeliveryStatus::InheritsRoot;
        let parent = delivery.parent_invocation_id.as_deref().filter(|_| inherits);
        parent.into_iter().chain([delivery.invocation_id.as_str()])
    }

    pub(crate) fn purpose(&self) -> &'static str {
        purpose(self.manifest.facts.purpose)
    }
}

fn first_digits(digest: &str) -> &str {
    digest.get(..DIGITS).unwrap_or(digest)
}

fn purpose(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Ordinary => "ordinary",
        Purpose::DeclarationRecovery => "declaration_recovery",
        Purpose::ConflictRepair => "conflict_repair",
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorFile {
    provider: Option<String>,
    purpose: Option<String>,
}

fn error_of(disk: &dyn Disk, files: &RecordFiles) -> (String, String) {
    let error: ErrorFile = files.error_bytes(disk).and_then(|bytes| record(&bytes)).unwrap_or_default();
    let provider = error.provider.unwrap_or_else(|| files.label().to_owned());
    (provider, error.purpose.unwrap_or_else(|| purpose(Purpose::Ordinary).to_owned()))
}

/// The bytes of a section that is included.
fn text_of<'a>(section: &SectionRecord, text: &'a str) -> Option<&'a str> {
    let start = usize::try_from(section.offset?).ok()?;
    let end = start.checked_add(usize::try_from(section.length?).ok()?)?;
    text.get(start..end).filter(|_| section.status == SectionStatus::Included)
}

/// What follows the first line of a section.
fn body(text: &str) -> &str {
    text.split_once('\n').map_or("", |(_, body)| body)
}

fn sections(manifest: &Manifest, text: &str) -> Vec<Section> {
    let rows = manifest.sections.iter().filter(|section| section.layer != Layer::Frame);
    let mut sections: Vec<_> = rows
        .filter_map(|section| {
            let body = flat(body(text_of(section, text)?));
            (!body.is_empty()).then(|| Section { id: section.id.clone(), layer: section.layer, body })
        })
        .collect();
    sections.sort_by(|a, b| a.id.cmp(&b.id));
    sections
}

/// What a recorded bundle says is looked for in conversations.
pub(crate) fn needles(manifest: &Manifest, text: &str) -> Needles {
    let named = |id: &str| manifest.sections.iter().find(|section| section.id == id);
    let title = named("frame.title").and_then(|section| text_of(section, text)).unwrap_or_default();
    let provider = format!("pkg.provider.{}", manifest.facts.provider);
    let is_contract = |section: &&SectionRecord| {
        section.required && section.lifecycle == Lifecycle::Root && !section.provider_specific
    };
    let contract = named("pkg.root.final_declaration").or_else(|| {
        manifest.sections.iter().filter(|section| section.status == SectionStatus::Included).find(is_contract)
    });
    let directive = named(&provider).and_then(|section| text_of(section, text));
    let heading =
        contract.and_then(|section| text_of(section, text)).and_then(|text| heading_of(text.lines().next()?));
    let some = |text: &str| Some(text.trim().to_owned()).filter(|text| !text.is_empty());
    Needles {
        home_title: title.lines().find_map(|line| line.trim().strip_prefix("Home: ")).and_then(some),
        project_title: first_title(title).and_then(some),
        contract: heading.map(|heading| unnumbered(heading).unwrap_or(heading)).and_then(some),
        directive: directive.and_then(|text| body(text).trim().lines().next()).and_then(some),
    }
}

/// The line that the text for helpers begins with.
fn helper_heading(manifest: &Manifest, text: &str) -> Option<String> {
    let mut included = manifest.sections.iter().filter(|section| section.status == SectionStatus::Included);
    let section = included.find(|section| section.lifecycle == Lifecycle::Helper && section.required)?;
    let line = text_of(section, text)?.lines().next()?;
    heading_of(line).map(|_| line.trim_end().to_owned())
}
