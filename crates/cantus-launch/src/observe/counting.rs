//! What was seen in one conversation: counts, titles, sections.

use cantus_manifest::Layer;
use cantus_manifest::manifest::{DeliveryStatus, FallbackReason};

use super::Known;
use super::channel::Channel;
use super::matching::Tie;
use super::records::{Recorded, Records};
use super::report::{Channels, Evidence, Needles, Observation, SectionDiff, SectionRow, Ways};
use super::text::{first_title, flat, has_title, headings, markers, occurrences};
use super::transcript::{Kin, Transcript};

/// What a conversation of which nothing was found is called.
pub(crate) const UNOBSERVED: &str = "unobserved";

/// The stand-in for a conversation that wasn't found.
pub(crate) fn stand_in(provider: Known, run: &str, session: &str) -> Observation {
    Observation {
        provider,
        run: run.to_owned(),
        session: session.to_owned(),
        contract_count: None,
        native_full_count: None,
        home: None,
        project: None,
        directive: None,
        channels: Channels::default(),
        foreign: None,
        partial: false,
        helper_type: None,
        has_helper_template: false,
        final_attempts: 0,
        final_denied: 0,
        final_accepted: 0,
        root_guard_denial: false,
        bundle_count: None,
        delivery: None,
        home_expected: None,
        helper_bundle: None,
        root_bundle_in_helper: None,
        section_diff: None,
    }
}

/// What was seen in a root's conversation.
pub(crate) fn root(
    provider: Known,
    run: &str,
    seen: &Transcript,
    tie: &Tie<'_>,
    needles: &Needles,
) -> Observation {
    let judged = tie.judged();
    let mut found = basics(provider, run, &seen.name, seen, needles);
    let explicit = judged.filter(|record| record.is_explicit());
    let title = |title: Option<&str>, layer: Layer| {
        let ways = Ways {
            native: title_way(seen, &seen.native, &|text| title.is_some() && first_title(text) == title),
            explicit: match explicit {
                Some(record) => layer_way(seen, record, layer),
                None => {
                    title_way(seen, &seen.explicit, &|text| title.is_some_and(|title| has_title(text, title)))
                }
            },
        };
        (Some(ways), overall(seen, ways, provider, judged))
    };
    (found.channels.home, found.home) = title(needles.home_title.as_deref(), Layer::Home);
    (found.channels.project, found.project) = title(needles.project_title.as_deref(), Layer::Project);
    let directive = |mut texts: Box<dyn Iterator<Item = &str> + '_>| {
        needles.directive.as_deref().is_some_and(|directive| texts.any(|text| text.contains(directive)))
    };
    let told =
        |found: bool, channel: &Channel| if found || seen.is_whole(channel) { Some(found) } else { None };
    let ways = Ways {
        native: told(directive(Box::new(seen.native.texts())), &seen.native),
        explicit: told(directive(Box::new(seen.explicit.texts())), &seen.explicit),
    };
    found.channels.directive = Some(ways);
    found.directive = match directive(Box::new(seen.prompts.iter().map(String::as_str))) {
        true => Some(true),
        false => ways.explicit,
    };
    found.foreign = foreign(seen, needles, provider).map(str::to_owned);
    found.delivery = judged.map(delivery);
    if let Some(record) = explicit {
        found.bundle_count = counted(seen, &seen.explicit, bundles(seen, record.digits(), record));
        let mut sections = record.manifest.sections.iter();
        found.home_expected =
            Some(sections.any(|section| section.layer == Layer::Home && section.offset.is_some()));
    }
    found
}

/// What was seen in a helper's conversation; `judged` is the record of its root's.
pub(crate) fn helper(
    root: &Observation,
    seen: &Transcript,
    judged: Option<&Recorded>,
    records: &Records,
    needles: &Needles,
) -> Observation {
    let session = format!("{}/{}", root.session, seen.name);
    let mut found = basics(root.provider, &root.run, &session, seen, needles);
    if let Kin::Helper { kind, .. } = &seen.kin {
        found.helper_type = Some(kind.clone());
    }
    let is_template = |line: &str| records.helper_headings.iter().any(|heading| line.trim_end() == heading);
    // Codex' helpers have the root's text, so that the template isn't looked for there.
    found.has_helper_template =
        root.provider == Known::Claude && seen.explicit.texts().any(|text| text.lines().any(is_template));
    let explicit = judged.and_then(|record| Some((record, record.helper_digits()?)));
    if let Some((record, digits)) = explicit {
        let own = counted(seen, &seen.explicit, bundles(seen, digits, record));
        found.helper_bundle = own.map(|count| count > 0);
        found.root_bundle_in_helper = counted(seen, &seen.explicit, bundles(seen, record.digits(), record));
    }
    found
}

/// What roots and helpers have in common.
fn basics(provider: Known, run: &str, session: &str, seen: &Transcript, needles: &Needles) -> Observation {
    let contract = |text: &str| needles.contract.as_deref().map_or(0, |heading| headings(text, heading));
    let (native, explicit) = (seen.native.most(contract), seen.explicit.most(contract));
    let is_whole = seen.is_whole(&seen.native) && seen.is_whole(&seen.explicit);
    let sum = native + explicit;
    let mut found = stand_in(provider, run, session);
    found.contract_count = (sum > 0 || is_whole).then_some(sum);
    found.native_full_count = counted(seen, &seen.native, native);
    found.channels.contract =
        Some(Ways { native: found.native_full_count, explicit: counted(seen, &seen.explicit, explicit) });
    found.partial = seen.is_partial;
    found.final_attempts = seen.declarations.attempts;
    found.final_denied = seen.declarations.denied;
    found.final_accepted = seen.declarations.accepted;
    found.root_guard_denial = seen.kin == Kin::Root && seen.declarations.guarded;
    found
}

/// A count; that there is nothing is known only where everything was seen.
fn counted(seen: &Transcript, channel: &Channel, count: u64) -> Option<u64> {
    (count > 0 || seen.is_whole(channel)).then_some(count)
}

/// How often the bundle with these digits stands in a conversation for the invocation of `record`.
fn bundles(seen: &Transcript, digits: &str, record: &Recorded) -> u64 {
    let id = record.manifest.delivery.invocation_id.as_str();
    seen.explicit.most(|text| {
        markers(text).iter().filter(|marker| marker.bundle == digits && marker.invocation == id).count()
            as u64
    })
}

/// Whether a title came by a way; unknown where no text did.
fn title_way(seen: &Transcript, channel: &Channel, has: &dyn Fn(&str) -> bool) -> Option<bool> {
    if channel.texts().any(has) {
        return Some(true);
    }
    (seen.is_whole(channel) && !channel.is_empty()).then_some(false)
}

/// Whether something of a layer of the recorded bundle was handed over.
fn layer_way(seen: &Transcript, record: &Recorded, layer: Layer) -> Option<bool> {
    let texts: Vec<_> = seen.explicit.distinct().into_iter().map(flat).collect();
    let mut sections = record.sections.iter().filter(|section| section.layer == layer);
    let stands = |body: &str| texts.iter().any(|text| occurrences(text, body) > 0);
    let found = sections.any(|section| stands(&section.body));
    (found || seen.is_whole(&seen.explicit)).then_some(found)
}

/// Whether notes are there, by either way.
fn overall(seen: &Transcript, ways: Ways<bool>, provider: Known, judged: Option<&Recorded>) -> Option<bool> {
    if ways.native == Some(true) || ways.explicit == Some(true) {
        return Some(true);
    }
    let is_whole = seen.is_whole(&seen.native) && seen.is_whole(&seen.explicit);
    let has_source = provider == Known::Grok || !seen.native.is_empty() || !seen.explicit.is_empty();
    (is_whole && (has_source || judged.is_some())).then_some(false)
}

/// What else was loaded.
fn foreign(seen: &Transcript, needles: &Needles, provider: Known) -> Option<&'static str> {
    if provider != Known::Codex {
        return seen.extra.map(super::transcript::Extra::as_str);
    }
    let title = needles.home_title.as_deref()?;
    let home = seen.native.texts().find(|text| first_title(text) == Some(title))?;
    let has_contract = needles.contract.as_deref().is_some_and(|heading| headings(home, heading) > 0);
    (!has_contract).then_some("codex-agents")
}

/// How a record says that its bundle was delivered.
fn delivery(record: &Recorded) -> String {
    let delivery = &record.manifest.delivery;
    let fallback =
        delivery.fallback.as_ref().map_or(FallbackReason::ProviderLegacy, |fallback| fallback.reason);
    match delivery.status {
        DeliveryStatus::Explicit => "explicit".to_owned(),
        DeliveryStatus::Shadow => "shadow".to_owned(),
        _ => format!("legacy:{}", reason(fallback)),
    }
}

fn reason(reason: FallbackReason) -> &'static str {
    match reason {
        FallbackReason::ProviderLegacy => "provider_legacy",
        FallbackReason::FlagDisabled => "flag_disabled",
        FallbackReason::RenderFailed => "render_failed",
        FallbackReason::InvalidBundle => "invalid_bundle",
        FallbackReason::Oversize => "oversize",
        FallbackReason::UnsupportedCli => "unsupported_cli",
        FallbackReason::DeliveryFailed => "delivery_failed",
    }
}

/// How often each section of `record` stands in what the agent has in view at the end.
pub(crate) fn section_rows(seen: &Transcript, record: &Recorded) -> Vec<SectionRow> {
    let flats = |channel: &Channel| channel.last().into_iter().map(flat).collect::<Vec<_>>();
    let (native, explicit) = (flats(&seen.native), flats(&seen.explicit));
    let count = |texts: &[String], body: &str| texts.iter().map(|text| occurrences(text, body)).sum::<u64>();
    let row = |section: &super::records::Section| {
        let (native, explicit) = (count(&native, &section.body), count(&explicit, &section.body));
        let sum = native + explicit;
        let observed = (sum > 0 || !seen.is_partial).then_some(sum);
        SectionRow { id: section.id.clone(), layer: section.layer, observed, native, explicit }
    };
    record.sections.iter().map(row).collect()
}

/// Intent against load, for the record that is judged.
pub(crate) fn section_diff(
    seen: Option<&Transcript>,
    tie: Option<&Tie<'_>>,
    rows: Vec<SectionRow>,
) -> SectionDiff {
    let judged = tie.filter(|tie| tie.evidence != Evidence::Foreign).and_then(Tie::judged);
    SectionDiff {
        manifest: judged.map(|record| record.path.to_string_lossy().into_owned()),
        purpose: judged.map(|record| record.purpose().to_owned()),
        unavailable: rows.is_empty() || seen.is_none_or(|seen| seen.is_partial),
        rows,
    }
}
