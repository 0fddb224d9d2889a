//! The checks of §9.2, in their order and with their messages.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{
    DeliveryRecord, DeliveryStatus, Manifest, ManifestError, SectionRecord, SectionStatus, Subagent,
};
use crate::section::is_layer_name;
use crate::{Actor, Digest, ExclusionReason, Lifecycle, Mode, Provider, SectionId, common_digest};

type Check = Result<(), ManifestError>;

fn fail(message: impl Into<String>) -> Check {
    Err(ManifestError::Invalid(message.into()))
}

/// Fails with the message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            fail(format!($($message)+))?;
        }
    };
}

/// Step 1: version 1 has neither key, not even with null.
pub(super) fn version_1_fields(value: &Value) -> Check {
    let Some(delivery) = value.get("delivery").and_then(Value::as_object) else { return Ok(()) };
    if value.get("schema_version").and_then(Value::as_u64) != Some(1) {
        return Ok(());
    }
    for field in ["subagent", "fallback"] {
        ensure!(
            !delivery.contains_key(field),
            "schema_version 1 cannot contain v2-only field delivery.{field}"
        );
    }
    Ok(())
}

/// The rest of step 2. Serde also takes a list of a mapping's values for the mapping, and `{"word": null}` for a word of a
/// vocabulary; the contract doesn't. `read` is what was made of `given`.
pub(super) fn same_kinds(given: &Value, read: &Value) -> Result<(), String> {
    match (given, read) {
        (Value::Object(given), Value::Object(read)) => {
            let both = given.iter().filter_map(|(key, value)| Some((value, read.get(key)?)));
            both.into_iter().try_for_each(|(given, read)| same_kinds(given, read))
        }
        (Value::Array(given), Value::Array(read)) => {
            given.iter().zip(read).try_for_each(|(given, read)| same_kinds(given, read))
        }
        (_, Value::Object(_)) => Err("invalid type: sequence, expected a map".to_owned()),
        (Value::Object(_), _) => Err("invalid type: map, expected a string".to_owned()),
        _ => Ok(()),
    }
}

/// Steps 3 to 9.
pub(super) fn normalise(mut manifest: Manifest) -> Result<Manifest, ManifestError> {
    if !matches!(manifest.schema_version, 1 | 2) {
        return Err(ManifestError::Version(manifest.schema_version));
    }
    facts(&manifest)?;
    if manifest.schema_version == 2 {
        delivery(&manifest)?;
    }
    digests(&manifest)?;
    let mut ids = BTreeSet::new();
    for record in &manifest.sections {
        let id = section_id(record)?;
        ensure!(ids.insert(id), "duplicate section id \"{}\"", record.id);
        section(record, &manifest)?;
    }
    contiguous(&manifest)?;
    let computed = computed_common_digest(&manifest)?;
    if let Some(supplied) = &manifest.bundle.common_digest
        && *supplied != computed
    {
        fail(format!("bundle.common_digest mismatch: supplied {supplied} != computed {computed}"))?;
    }
    manifest.bundle.common_digest = Some(computed);
    Ok(manifest)
}

fn facts(manifest: &Manifest) -> Check {
    let facts = &manifest.facts;
    let provider = &facts.provider;
    ensure!(Provider::new(provider.as_str()).is_ok(), "facts.provider \"{provider}\" is not an identifier");
    ensure!(!facts.host.is_empty(), "facts.host must not be empty");
    ensure!(facts.project.as_deref() != Some(""), "facts.project must not be empty when present");
    let legal = match facts.mode {
        Mode::Runtime => facts.actor != Actor::Interactive,
        Mode::Interactive | Mode::Export => facts.actor == Actor::Interactive,
    };
    let (actor, mode) = (name(&facts.actor), name(&facts.mode));
    ensure!(legal, "invalid fact combination: actor \"{actor}\" with mode \"{mode}\"");
    Ok(())
}

/// A vocabulary's word on the wire.
fn name(word: &impl serde::Serialize) -> String {
    match serde_json::to_value(word) {
        Ok(Value::String(name)) => name,
        _ => String::new(),
    }
}

fn delivery(manifest: &Manifest) -> Check {
    let delivery = &manifest.delivery;
    let explicit = delivery.status == DeliveryStatus::Explicit;
    ensure!(!explicit || delivery.channel.is_some(), "delivery.status explicit requires channel");
    channel(delivery.channel.as_deref(), "delivery.channel")?;
    ensure!(!explicit || delivery.fallback.is_none(), "delivery.status explicit forbids fallback");
    ensure!(
        delivery.fallback.is_none() || delivery.status == DeliveryStatus::InheritsNative,
        "delivery.fallback requires status inherits_native"
    );
    if let Some(helpers) = &delivery.subagent {
        subagent(helpers, manifest.facts.actor, delivery)?;
    }
    ensure!(
        !explicit || manifest.facts.actor != Actor::NativeHelper || delivery.parent_invocation_id.is_some(),
        "facts.actor native_helper with delivery.status explicit requires delivery.parent_invocation_id"
    );
    Ok(())
}

fn channel(channel: Option<&str>, field: &str) -> Check {
    let Some(channel) = channel else { return Ok(()) };
    let is_part = |part: &str| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let legal = channel.split_once('.').is_some_and(|(first, second)| is_part(first) && is_part(second));
    ensure!(legal, "{field} \"{channel}\" must match ^[a-z0-9_]+\\.[a-z0-9_]+$");
    Ok(())
}

fn subagent(helpers: &Subagent, actor: Actor, delivery: &DeliveryRecord) -> Check {
    let launched = matches!(delivery.status, DeliveryStatus::Explicit | DeliveryStatus::InheritsNative);
    ensure!(
        actor == Actor::SaseRoot && launched,
        "delivery.subagent requires facts.actor sase_root and delivery.status explicit or inherits_native"
    );
    ensure!(
        !matches!(helpers.status, DeliveryStatus::Preview | DeliveryStatus::Shadow),
        "delivery.subagent.status must not be preview or shadow"
    );
    let explicit = helpers.status == DeliveryStatus::Explicit;
    ensure!(!explicit || helpers.channel.is_some(), "delivery.subagent.status explicit requires channel");
    channel(helpers.channel.as_deref(), "delivery.subagent.channel")?;
    ensure!(!explicit || helpers.fallback.is_none(), "delivery.subagent.status explicit forbids fallback");
    ensure!(
        helpers.fallback.is_none() || helpers.status == DeliveryStatus::InheritsNative,
        "delivery.subagent.fallback requires status inherits_native"
    );
    match &helpers.bundle_sha256 {
        None => ensure!(!explicit, "delivery.subagent status explicit requires bundle_sha256"),
        Some(_) if !explicit => {
            return fail("delivery.subagent.bundle_sha256 is only allowed when status is explicit");
        }
        Some(digest) => hex64("delivery.subagent.bundle_sha256", digest)?,
    }
    Ok(())
}

fn hex64(what: &str, digest: &str) -> Check {
    ensure!(digest.parse::<Digest>().is_ok(), "{what} \"{digest}\" is not 64 lowercase hex");
    Ok(())
}

fn digests(manifest: &Manifest) -> Check {
    hex64("bundle.sha256", &manifest.bundle.sha256)?;
    if let Some(digest) = &manifest.bundle.common_digest {
        hex64("bundle.common_digest", digest)?;
    }
    ensure!(!manifest.compiler.name.is_empty(), "compiler.name must not be empty");
    // The keys are sorted: the smallest bad one is named.
    if let Some(key) = manifest.budget.by_layer.keys().find(|key| !is_layer_name(key)) {
        return fail(format!("budget.by_layer key \"{key}\" is not a layer"));
    }
    Ok(())
}

fn section_id(record: &SectionRecord) -> Result<SectionId, ManifestError> {
    SectionId::new(record.id.as_str()).map_err(|error| ManifestError::Invalid(error.to_string()))
}

fn section(record: &SectionRecord, manifest: &Manifest) -> Check {
    let SectionRecord { id, layer, .. } = record;
    let prefix = id.split('.').next().unwrap_or_default();
    ensure!(
        prefix == layer.prefix(),
        "section id \"{id}\" prefix \"{prefix}\" does not match layer \"{}\"",
        layer.prefix()
    );
    if let Some(digest) = &record.sha256 {
        hex64(&format!("section \"{id}\" sha256"), digest)?;
    }
    sources(record)?;
    match record.status {
        SectionStatus::Included => included(record, manifest)?,
        SectionStatus::Excluded => excluded(record)?,
    }
    provider(record, &manifest.facts.provider)
}

fn sources(record: &SectionRecord) -> Check {
    let id = &record.id;
    for source in &record.sources {
        ensure!(!source.path.is_empty(), "section \"{id}\" has empty source path");
        if let Some(digest) = &source.sha256 {
            hex64(&format!("section \"{id}\" source sha256"), digest)?;
        }
        if let Some(oid) = &source.blob_oid {
            let is_hex = oid.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte));
            ensure!(
                is_hex && matches!(oid.len(), 40 | 64),
                "section \"{id}\" source blob_oid \"{oid}\" is not 40 or 64 lowercase hex"
            );
        }
    }
    Ok(())
}

fn included(record: &SectionRecord, manifest: &Manifest) -> Check {
    let id = &record.id;
    ensure!(record.sha256.is_some(), "included section \"{id}\" must have sha256");
    ensure!(
        record.offset.is_some() && record.length.is_some(),
        "included section \"{id}\" must have offset and length"
    );
    ensure!(record.reason.is_none(), "included section \"{id}\" must not have a reason");
    let runtime = manifest.facts.mode == Mode::Runtime;
    let actor = manifest.facts.actor;
    match record.lifecycle {
        Lifecycle::Neutral => {}
        Lifecycle::Root => {
            ensure!(runtime && actor == Actor::SaseRoot, "root section \"{id}\" requires runtime + sase_root")
        }
        Lifecycle::Helper => ensure!(
            runtime && actor == Actor::NativeHelper,
            "helper section \"{id}\" requires runtime + native_helper"
        ),
    }
    Ok(())
}

fn excluded(record: &SectionRecord) -> Check {
    let id = &record.id;
    ensure!(
        record.offset.is_none() && record.length.is_none(),
        "excluded section \"{id}\" must not have offset or length"
    );
    ensure!(record.reason.is_some(), "excluded section \"{id}\" must have a reason");
    let allowed = matches!(record.reason, Some(ExclusionReason::Overlay | ExclusionReason::Mode));
    ensure!(
        !record.required || allowed,
        "required section \"{id}\" must not be excluded except by overlay or mode"
    );
    Ok(())
}

fn provider(record: &SectionRecord, provider: &str) -> Check {
    let own = format!("pkg.provider.{provider}");
    let id = &record.id;
    ensure!(
        !record.provider_specific || *id == own,
        "provider_specific section \"{id}\" must be exactly \"{own}\""
    );
    ensure!(record.provider_specific || *id != own, "section \"{id}\" must set provider_specific");
    Ok(())
}

fn contiguous(manifest: &Manifest) -> Check {
    let mut expected: u64 = 0;
    let included = manifest.sections.iter().filter(|record| record.status == SectionStatus::Included);
    for record in included {
        let (id, offset) = (&record.id, record.offset.unwrap_or_default());
        ensure!(
            offset == expected,
            "included section \"{id}\" offset {offset} is not contiguous (expected {expected})"
        );
        expected = expected.saturating_add(record.length.unwrap_or_default());
    }
    let bytes = manifest.bundle.bytes;
    ensure!(expected == bytes, "included section lengths sum to {expected} but bundle.bytes is {bytes}");
    Ok(())
}

fn computed_common_digest(manifest: &Manifest) -> Result<String, ManifestError> {
    let mut pairs = Vec::new();
    for record in &manifest.sections {
        if record.status != SectionStatus::Included || record.provider_specific {
            continue;
        }
        // Both were checked.
        if let Some(digest) = record.sha256.as_ref().and_then(|digest| digest.parse::<Digest>().ok()) {
            pairs.push((section_id(record)?, digest));
        }
    }
    Ok(common_digest(pairs.iter().map(|(id, digest)| (id, *digest))).to_string())
}
