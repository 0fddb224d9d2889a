//! What the cache keeps of a render beside its bytes.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use cantus_compose::common_digest_of;
use cantus_manifest::manifest::{Manifest, SectionStatus};
use cantus_manifest::{Diagnostic, Digest, Severity, tokens_est};
use serde::{Deserialize, Serialize};

/// The version of an entry's shape.
pub(crate) const FORMAT: u32 = 1;

/// A render without its bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The table of sections and the totals. Facts that change no byte, and the delivery, are those of the render that made
    /// the entry.
    pub manifest: Manifest,
    /// What the sources were found to have.
    pub warnings: Vec<Diagnostic>,
}

#[derive(Serialize)]
struct Written<'a> {
    version: u32,
    manifest: &'a Manifest,
    warnings: &'a [Diagnostic],
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    version: u32,
    manifest: Manifest,
    warnings: Vec<Warning>,
}

/// A [`Diagnostic`] as it is read.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Warning {
    code: String,
    severity: Weight,
    path: Option<String>,
    line: Option<u32>,
    message: String,
    help: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Weight {
    Note,
    Warning,
    Error,
}

/// What stands around the entry itself: the digest of its bytes.
const HEAD: &str = "{\"check\":\"";
const MIDDLE: &str = "\",\"entry\":";
const TAIL: &str = "}\n";

impl Entry {
    /// The entry as it is written: JSON on one line, with a digest of itself.
    #[must_use]
    pub(crate) fn to_json(&self) -> String {
        let written = Written { version: FORMAT, manifest: &self.manifest, warnings: &self.warnings };
        // Texts, numbers and lists of them: nothing that JSON lacks.
        let json = serde_json::to_string(&written).unwrap_or_default();
        format!("{HEAD}{}{MIDDLE}{json}{TAIL}", Digest::of(&json))
    }

    /// The entry that was written; `None` if one byte is another one.
    #[must_use]
    pub(crate) fn from_json(bytes: &[u8]) -> Option<Self> {
        let (check, rest) = bytes.strip_prefix(HEAD.as_bytes())?.split_at_checked(64)?;
        let json = rest.strip_prefix(MIDDLE.as_bytes())?.strip_suffix(TAIL.as_bytes())?;
        let check: Digest = std::str::from_utf8(check).ok()?.parse().ok()?;
        if Digest::of(json) != check {
            return None;
        }
        let read: Read = serde_json::from_slice(json).ok()?;
        let warnings = read.warnings.into_iter().map(Warning::diagnostic).collect();
        (read.version == FORMAT).then_some(Self { manifest: read.manifest, warnings })
    }

    /// Whether the table is that of `text`: its sections cover the text without gap, each has its own bytes, and the totals are
    /// theirs. The digest of the whole is not compared.
    #[must_use]
    pub(crate) fn fits(&self, text: &str) -> bool {
        self.covers(text).unwrap_or(false)
    }

    fn covers(&self, text: &str) -> Option<bool> {
        let bundle = &self.manifest.bundle;
        let (mut end, mut tokens) = (0, 0);
        for section in &self.manifest.sections {
            if section.status == SectionStatus::Excluded {
                continue;
            }
            let (start, length) = (usize::try_from(section.offset?).ok()?, section.length?);
            let next = start.checked_add(usize::try_from(length).ok()?)?;
            let part = text.get(start..next)?;
            let digest: Digest = section.sha256.as_ref()?.parse().ok()?;
            if start != end || Digest::of(part) != digest || tokens_est(part) != section.tokens_est {
                return None;
            }
            end = next;
            tokens += section.tokens_est;
        }
        let lines = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
        let common = common_digest_of(&self.manifest)?.to_string();
        Some(
            end == text.len()
                && bundle.bytes == text.len() as u64
                && (bundle.lines, bundle.tokens_est) == (lines, tokens)
                && bundle.common_digest.as_ref() == Some(&common),
        )
    }
}

impl Warning {
    fn diagnostic(self) -> Diagnostic {
        let severity = match self.severity {
            Weight::Note => Severity::Note,
            Weight::Warning => Severity::Warning,
            Weight::Error => Severity::Error,
        };
        let Self { code, path, line, message, help, .. } = self;
        Diagnostic { code: known(&code), severity, path, line, message, help }
    }
}

/// The one text that is equal to `code`. There are as many as there are kinds of findings.
fn known(code: &str) -> &'static str {
    static KNOWN: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

    let mut codes = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(code) = codes.get(code) {
        return code;
    }
    let code: &'static str = code.to_owned().leak();
    codes.insert(code);
    code
}
