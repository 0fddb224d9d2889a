//! A bundle's manifest.

use std::collections::BTreeMap;

use cantus_manifest::manifest::{
    Budget, BundleRecord, CacheStatus, Compiler, DeliveryRecord, DeliveryStatus, FactsRecord, LayerBudget,
    Manifest, Observation, ObservationStatus, SCHEMA_VERSION, SectionRecord, SectionStatus, SourceRecord,
    SourceScope,
};
use cantus_manifest::{Digest, Layer, SectionId, Source, common_digest};

use crate::bundle::Bundle;
use crate::launch::Launch;
use crate::package::Package;
use crate::section::{Section, Status};

/// The version of our way to compose: it grows when the same inputs give other bytes.
pub const COMPILER_VERSION: u32 = 1;

/// The delivery of a bundle that is only looked at, rendered at the time `rendered_at` (RFC 3339, UTC) within `render_ms`
/// milliseconds.
#[must_use]
pub fn preview(rendered_at: String, render_ms: f64, cache: CacheStatus) -> DeliveryRecord {
    DeliveryRecord {
        status: DeliveryStatus::Preview,
        channel: None,
        subagent: None,
        fallback: None,
        invocation_id: "00000000-0000-4000-8000-000000000000".to_owned(),
        invocation_seq: 0,
        attempt: 1,
        agent_name: "preview".to_owned(),
        agent_type: "preview".to_owned(),
        model: String::new(),
        parent_invocation_id: None,
        session_ids: Vec::new(),
        provider_cli_version: None,
        rendered_at,
        render_ms,
        cache,
    }
}

impl Bundle {
    /// The manifest of this bundle, made with `package` and delivered as `delivery` says. `store_path` is where the store
    /// holds the bundle, empty for nowhere. The facts need a host.
    #[must_use]
    pub fn manifest(&self, package: &Package, delivery: DeliveryRecord, store_path: &str) -> Manifest {
        let facts = self.facts();
        let mut offset = 0;
        Manifest {
            schema_version: SCHEMA_VERSION,
            compiler: Compiler {
                name: "cantus".to_owned(),
                version: COMPILER_VERSION,
                sase_version: format!("{}/{}", package.name, package.version),
            },
            facts: FactsRecord {
                actor: facts.actor(),
                mode: facts.mode(),
                purpose: facts.purpose_fact(),
                provider: facts.provider().to_string(),
                project: facts.project_name().map(str::to_owned),
                host: facts.host_name().unwrap_or_default().to_owned(),
                vcs: facts.vcs_name().map(str::to_owned),
            },
            bundle: BundleRecord {
                sha256: self.digest().to_string(),
                common_digest: Some(self.common_digest().to_string()),
                bytes: self.bytes() as u64,
                lines: self.lines() as u64,
                tokens_est: self.tokens_est(),
                store_path: store_path.to_owned(),
            },
            budget: Budget { by_layer: self.by_layer() },
            sections: self.sections().iter().map(|section| record(section, &mut offset)).collect(),
            delivery,
            observation: Observation { status: ObservationStatus::Unobserved },
        }
    }

    /// The sums of each layer that occurs; one whose sections are all excluded has zeros.
    fn by_layer(&self) -> BTreeMap<String, LayerBudget> {
        let mut layers: BTreeMap<String, LayerBudget> = BTreeMap::new();
        for section in self.sections() {
            let sum = layers.entry(section.layer.name().to_owned()).or_default();
            sum.bytes += section.content().map_or(0, |content| content.text().len() as u64);
            sum.tokens_est += section.content().map_or(0, |content| content.tokens_est());
        }
        layers
    }
}

impl Launch {
    /// Adds these sections to a bundle that has none of the kind, and to its manifest: what comes out is the bundle of
    /// [`SectionSet::bundle_with`](crate::SectionSet::bundle_with) and its manifest.
    pub fn append(&self, text: &mut String, manifest: &mut Manifest) {
        let mut sections = self.sections().map(|(_, section)| section).peekable();
        if sections.peek().is_none() {
            return;
        }
        let sum = manifest.budget.by_layer.entry(Layer::Launch.name().to_owned()).or_default();
        let is_included = |section: &SectionRecord| section.status == SectionStatus::Included;
        let mut end = manifest.sections.iter().take_while(|section| is_included(section)).count();
        for section in sections {
            let record = record(section, &mut manifest.bundle.bytes);
            let Some(content) = section.content() else {
                manifest.sections.push(record);
                continue;
            };
            text.push_str(content.text());
            manifest.bundle.lines += content.origins().len() as u64;
            manifest.bundle.tokens_est += content.tokens_est();
            sum.bytes += content.text().len() as u64;
            sum.tokens_est += content.tokens_est();
            manifest.sections.insert(end, record);
            end += 1;
        }
        manifest.sections[end..].sort_by(|a, b| a.id.cmp(&b.id));
        manifest.bundle.sha256 = Digest::of(&text).to_string();
        manifest.bundle.common_digest = common_digest_of(manifest).map(|digest| digest.to_string());
    }
}

/// The common digest of the sections that `manifest` lists; `None` if one of them can't be in it.
#[must_use]
pub fn common_digest_of(manifest: &Manifest) -> Option<Digest> {
    let common = manifest
        .sections
        .iter()
        .filter(|section| section.status == SectionStatus::Included && !section.provider_specific);
    let pairs: Option<Vec<(SectionId, Digest)>> = common
        .map(|section| {
            Some((SectionId::new(section.id.clone()).ok()?, section.sha256.as_ref()?.parse().ok()?))
        })
        .collect();
    Some(common_digest(pairs?.iter().map(|(id, digest)| (id, *digest))))
}

/// A section as it is written down; `offset` is the first byte of the next included one.
fn record(section: &Section, offset: &mut u64) -> SectionRecord {
    let content = section.content();
    let length = content.map(|content| content.text().len() as u64);
    let start = *offset;
    *offset += length.unwrap_or_default();
    let (status, reason, shadowed_by) = match &section.status {
        Status::Included(_) => (SectionStatus::Included, None, None),
        Status::Excluded { reason, shadowed_by } => {
            (SectionStatus::Excluded, Some(*reason), shadowed_by.as_ref())
        }
    };
    SectionRecord {
        id: section.id.to_string(),
        layer: section.layer,
        status,
        lifecycle: section.lifecycle,
        required: section.required,
        provider_specific: section.provider_specific,
        offset: length.map(|_| start),
        length,
        sha256: content.map(|content| content.digest().to_string()),
        tokens_est: content.map_or(0, |content| content.tokens_est()),
        sources: section.sources.iter().map(source).collect(),
        reason,
        shadowed_by: shadowed_by.map(ToString::to_string),
    }
}

fn source(source: &Source) -> SourceRecord {
    SourceRecord {
        scope: match source.scope {
            Layer::Package | Layer::Frame => SourceScope::Package,
            Layer::Plugin => SourceScope::Plugin,
            Layer::Home => SourceScope::Home,
            Layer::Project => SourceScope::Project,
            Layer::Launch => SourceScope::Launch,
        },
        kind: source.kind,
        path: source.path.to_string(),
        sha256: source.hashes.sha256().map(|digest| digest.to_string()),
        blob_oid: source.hashes.blob().map(|blob| blob.to_string()),
    }
}
