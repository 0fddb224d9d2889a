//! One invocation's number, and the files that have it.

use std::path::PathBuf;
use std::time::SystemTime;

use cantus_fs::{Root, TargetError};
use cantus_manifest::manifest::{FallbackReason, Manifest};
use cantus_manifest::{Purpose, RelPath, canonical_json};
use serde_json::{Value, json};

use super::names::{Part, Place, Role, parse};
use super::{RecordError, edit, folder, meta, plain};
use crate::time::rfc3339;

/// The most characters of an error's message that are kept.
const MOST_MESSAGE: usize = 2000;

/// A number of a run that no other invocation has.
#[derive(Debug)]
pub struct Reservation {
    root: Root,
    place: Place,
    attempt: u64,
}

/// Why an invocation has no bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorRecord {
    /// The provider that was asked for.
    pub provider: String,
    /// Why the invocation happens.
    pub purpose: Purpose,
    /// What kind of trouble it was; the provider reads its own files then.
    pub fallback: FallbackReason,
    /// The kind of the error, one word.
    pub kind: String,
    /// What the error says; the first 2,000 characters are kept.
    pub message: String,
    /// When that was.
    pub at: SystemTime,
}

impl Reservation {
    pub(super) fn new(root: Root, place: Place, attempt: u64) -> Self {
        Self { root, place, attempt }
    }

    /// The number, from 0.
    #[must_use]
    pub fn seq(&self) -> u64 {
        self.place.seq
    }

    /// Which attempt at its task the run is, from 1.
    #[must_use]
    pub fn attempt(&self) -> u64 {
        self.attempt
    }

    /// Where the bundle lies, absolute.
    #[must_use]
    pub fn bundle_path(&self) -> PathBuf {
        self.root.path().join(folder().as_str()).join(self.place.file(Part::Bundle))
    }

    /// Records the bundle `text` with its manifest, and the helpers' bundle if there is one. A crash leaves a bundle without a
    /// manifest, never a manifest without its bundle.
    pub fn write(
        &self,
        text: &str,
        manifest: &Manifest,
        helper: Option<(&str, &Manifest)>,
    ) -> Result<(), RecordError> {
        let root = normal_form(manifest)?;
        let helper = helper.map(|(text, manifest)| Ok::<_, RecordError>((text, normal_form(manifest)?)));
        let helper = helper.transpose()?;
        self.put(Role::Root, Part::Bundle, text)?;
        if let Some((text, manifest)) = &helper {
            self.put(Role::Helper, Part::Bundle, text)?;
            self.put(Role::Helper, Part::Manifest, manifest)?;
        }
        self.put(Role::Root, Part::Manifest, &root)
    }

    /// Records what was learned since: the manifest anew, with the sessions and how the bundle really got there.
    pub fn rewrite(&self, manifest: &Manifest) -> Result<(), RecordError> {
        self.put(Role::Root, Part::Manifest, &normal_form(manifest)?)
    }

    /// Tells the launcher's `agent_meta.json` of the invocation that was recorded with `manifest`: the key `instructions` gets
    /// a summary, everything else in the file stays as it is. Nothing is done if there is no such file; one that is no JSON
    /// object is left alone, and that is the error.
    pub fn summarise(&self, manifest: &Manifest) -> Result<(), RecordError> {
        let path = plain("agent_meta.json");
        let foreign =
            |reason: &dyn ToString| RecordError::Foreign { path: path.clone(), reason: reason.to_string() };
        edit(&self.root, &path, |old| {
            let Some(old) = old else { return Ok(None) };
            let text = std::str::from_utf8(old).map_err(|error| foreign(&error))?;
            let summary = self.summary(manifest)?;
            Ok(Some(meta::with_summary(text, &summary).map_err(|error| foreign(&error))?.into_bytes()))
        })
    }

    /// Records that there is no bundle, and why; the empty file that held the number goes once that is written.
    pub fn fail(&self, error: &ErrorRecord) -> Result<(), RecordError> {
        self.put(Role::Root, Part::Error, &canonical_json(&error.to_value(self.seq())))?;
        let bundle = self.path(Role::Root, Part::Bundle);
        match self.root.read_target(&bundle, 0) {
            Ok(Some(_)) => Ok(self.root.remove(&bundle)?),
            // One with bytes is more than its limit.
            Ok(None) | Err(TargetError::Read { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn path(&self, role: Role, part: Part) -> RelPath {
        let place = Place { role, ..self.place.clone() };
        place.path(part).unwrap_or_else(|| unreachable!("a label is a plain name"))
    }

    fn put(&self, role: Role, part: Part, text: &str) -> Result<(), RecordError> {
        Ok(put(&self.root, &self.path(role, part), text.as_bytes())?)
    }

    /// What the launcher's file is told.
    fn summary(&self, manifest: &Manifest) -> Result<Value, RecordError> {
        let entries = self.root.list(Some(&folder()))?;
        let is_root =
            |name: &str| matches!(parse(name), Some((place, Part::Manifest)) if place.role == Role::Root);
        let count = entries.iter().filter(|entry| entry.name.to_str().is_some_and(is_root)).count();
        let helper = self.path(Role::Helper, Part::Manifest);
        let mut latest = json!({
            "common_digest": manifest.bundle.common_digest,
            "delivery_status": manifest.delivery.status,
            "manifest": self.path(Role::Root, Part::Manifest).as_str(),
            "provider": manifest.facts.provider,
            "purpose": manifest.facts.purpose,
            "seq": self.seq(),
            "sha256": manifest.bundle.sha256,
        });
        if let Ok(Some(_)) = self.root.kind(&helper) {
            latest["helper_manifest"] = helper.as_str().into();
        }
        Ok(json!({ "count": count, "latest": latest, "schema_version": 1 }))
    }
}

impl ErrorRecord {
    fn to_value(&self, seq: u64) -> Value {
        let message: String = self.message.chars().take(MOST_MESSAGE).collect();
        json!({
            "delivery_fallback": self.fallback,
            "error": { "message": message, "type": self.kind },
            "invocation_seq": seq,
            "provider": self.provider,
            "purpose": self.purpose,
            "rendered_at": rfc3339(self.at),
            "schema_version": 1,
        })
    }
}

/// Writes a record in one step. It isn't flushed: a launcher's agent would wait for that several times, and a record that a
/// power cut broke is known by its digest.
fn put(root: &Root, path: &RelPath, bytes: &[u8]) -> Result<(), TargetError> {
    root.contained(path)?;
    let put = root.disk().put(&root.at(path), bytes);
    put.map_err(|source| TargetError::Stage { path: path.clone(), source })
}

/// A manifest as it is written down, if it breaks no rule.
fn normal_form(manifest: &Manifest) -> Result<String, RecordError> {
    Ok(canonical_json(&Manifest::normalise(&manifest.to_value())?.to_value()))
}
