//! Which records of its run a conversation belongs to, and what says so.

use std::time::{Duration, SystemTime};

use super::Known;
use super::records::{Recorded, Records};
use super::report::Evidence;
use super::transcript::Transcript;

/// How much earlier than its record a conversation may have begun.
const SLACK: Duration = Duration::from_secs(5);

/// The tie of a conversation to its run.
#[derive(Debug)]
pub(crate) struct Tie<'a> {
    /// The markers in it, each once.
    pub(crate) markers: Vec<(String, String)>,
    /// The records that it belongs to, the newest first.
    pub(crate) matches: Vec<&'a Recorded>,
    /// What says so.
    pub(crate) evidence: Evidence,
}

impl<'a> Tie<'a> {
    /// The tie of a root's conversation.
    pub(crate) fn of(transcript: &Transcript, provider: Known, records: &'a Records) -> Self {
        let markers = transcript.markers();
        if is_foreign(transcript, &markers, provider, records) {
            return Self { markers, matches: Vec::new(), evidence: Evidence::Foreign };
        }
        let (mut matches, evidence) = matching(transcript, &markers, provider, records);
        matches.sort_by_key(|record| std::cmp::Reverse((record.rendered_at, record.seq)));
        let evidence = if matches.is_empty() { Evidence::None } else { evidence };
        Self { markers, matches, evidence }
    }

    /// The record whose delivery is judged: the first that was handed over, else the first.
    pub(crate) fn judged(&self) -> Option<&'a Recorded> {
        let explicit = self.matches.iter().find(|record| record.is_explicit());
        explicit.or(self.matches.first()).copied()
    }
}

/// Whether a conversation is another invocation's.
fn is_foreign(
    transcript: &Transcript,
    markers: &[(String, String)],
    provider: Known,
    records: &Records,
) -> bool {
    if !markers.is_empty() {
        return !records.roots.iter().any(|record| is_marked(record, markers));
    }
    let mut own = records.of(provider.as_str()).peekable();
    let has_own = own.peek().is_some();
    has_own
        && own.all(|record| {
            let ids = &record.manifest.delivery.session_ids;
            !ids.is_empty() && !transcript.is_one_of(ids)
        })
}

fn is_marked(record: &Recorded, markers: &[(String, String)]) -> bool {
    record.invocations().any(|id| markers.iter().any(|(_, invocation)| invocation == id))
}

fn matching<'a>(
    transcript: &Transcript,
    markers: &[(String, String)],
    provider: Known,
    records: &'a Records,
) -> (Vec<&'a Recorded>, Evidence) {
    let own: Vec<_> =
        records.roots.iter().filter(|it| it.manifest.facts.provider == provider.as_str()).collect();
    let those =
        |wanted: &dyn Fn(&Recorded) -> bool| own.iter().copied().filter(|it| wanted(it)).collect::<Vec<_>>();
    if !markers.is_empty() {
        return (those(&|record| is_marked(record, markers)), Evidence::Marker);
    }
    let recorded = those(&|record| transcript.is_one_of(&record.manifest.delivery.session_ids));
    if !recorded.is_empty() {
        return (recorded, Evidence::Session);
    }
    let latest = transcript.start.and_then(|start| start.checked_add(SLACK));
    let is_earlier = |rendered: SystemTime| latest.is_some_and(|latest| rendered <= latest);
    let fits = |record: &Recorded| {
        record.manifest.delivery.session_ids.is_empty() && record.rendered_at.is_some_and(is_earlier)
    };
    (those(&fits), Evidence::Time)
}
