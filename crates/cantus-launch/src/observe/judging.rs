//! What became of a recorded bundle in a conversation.

use std::collections::BTreeSet;

use cantus_manifest::manifest::{DeliveryStatus, SectionStatus};

use super::channel::Channel;
use super::matching::Tie;
use super::records::Recorded;
use super::report::{Fate, SectionRow};
use super::text::{Marker, markers};
use super::transcript::Transcript;

/// How many markers of one text are looked at for where it was cut.
const MOST_MARKERS: usize = 16;

/// What became of a bundle, and how much of it is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Judgement {
    pub(crate) fate: Fate,
    /// Where it was cut, in bytes.
    pub(crate) cut_at: Option<u64>,
    /// The section at that place.
    pub(crate) cut_section: Option<String>,
    /// Sections that stand in the conversation, and all that could.
    pub(crate) seen: usize,
    pub(crate) total: usize,
}

/// What became of the bundle of `record`; `rows` are its sections in the conversation.
pub(crate) fn judge(seen: &Transcript, tie: &Tie<'_>, record: &Recorded, rows: &[SectionRow]) -> Judgement {
    let sections = rows.iter().filter(|row| row.native + row.explicit > 0).count();
    let mut judgement =
        Judgement { fate: Fate::Unknown, cut_at: None, cut_section: None, seen: sections, total: rows.len() };
    let Some(bundle) = record.bundle.as_deref() else { return judgement };
    let channel = channel(seen, record);
    let texts = channel.distinct();
    let whole = bundle.trim_matches('\n');
    let is_marked = tie.markers.iter().any(|(_, id)| record.invocations().any(|own| own == id));
    judgement.fate = if whole.is_empty() {
        Fate::Unknown
    } else if texts.iter().any(|text| memchr::memmem::find(text.as_bytes(), whole.as_bytes()).is_some()) {
        Fate::Equal
    } else if let Some(length) =
        cut(&texts, whole, is_marked.then_some(record)).filter(|_| record.is_explicit())
    {
        let at = length + (bundle.len() - bundle.trim_start_matches('\n').len());
        judgement.cut_at = Some(at as u64);
        judgement.cut_section = section_at(record, at as u64);
        Fate::Cut
    } else if record.is_explicit() && rows.iter().any(|row| row.explicit > 0) {
        Fate::Differs
    } else if record.manifest.delivery.status == DeliveryStatus::InheritsRoot {
        // The conversation has another invocation's bundle, which this record doesn't hold.
        Fate::Unknown
    } else if is_marked || (sections > 0 && std::ptr::eq(channel, &seen.native)) {
        Fate::Differs
    } else if seen.is_whole(channel) {
        Fate::Absent
    } else {
        Fate::Unknown
    };
    judgement
}

/// The way by which a bundle should have come.
fn channel<'a>(seen: &'a Transcript, record: &Recorded) -> &'a Channel {
    match record.manifest.delivery.status {
        DeliveryStatus::Explicit | DeliveryStatus::InheritsRoot => &seen.explicit,
        _ => &seen.native,
    }
}

/// How much of the bundle stands at the end of a text, or of what is beside the marker of `marked`: its first line at least.
fn cut(texts: &BTreeSet<&str>, bundle: &str, marked: Option<&Recorded>) -> Option<usize> {
    let mut ends = Vec::new();
    for text in texts {
        match marked {
            None => ends.push(*text),
            Some(record) => {
                let own = |it: &&Marker<'_>| record.invocations().any(|id| id == it.invocation);
                for marker in markers(text).iter().filter(own).take(MOST_MARKERS) {
                    ends.extend([&text[..marker.range.start], &text[marker.range.end..]]);
                }
            }
        }
    }
    ends.into_iter().filter_map(|end| beginning_at_end(end.trim_matches('\n'), bundle)).max()
}

/// The length of the beginning of `bundle` that `text` ends in.
fn beginning_at_end(text: &str, bundle: &str) -> Option<usize> {
    let first = bundle.split_inclusive('\n').next()?.trim_end_matches('\n');
    let starts = memchr::memmem::find_iter(text.as_bytes(), first.as_bytes());
    let lengths = starts.map(|start| &text[start..]).filter(|rest| rest.len() < bundle.len());
    lengths.filter(|rest| bundle.starts_with(rest)).map(str::len).next()
}

fn section_at(record: &Recorded, at: u64) -> Option<String> {
    let mut included = record.manifest.sections.iter().filter(|it| it.status == SectionStatus::Included);
    let holds = |offset: Option<u64>, length: Option<u64>| {
        offset
            .zip(length)
            .is_some_and(|(offset, length)| (offset..offset.saturating_add(length)).contains(&at))
    };
    included.find(|it| holds(it.offset, it.length)).map(|it| it.id.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_bundle_at_the_end_of_a_text() {
        let bundle = "# Title\nHome: x\n\nBody.";
        for (text, expected) in [
            ("theirs\n\n# Title\nHome", Some(12)),
            ("# Title", Some(7)),
            ("# Title\n# Title\nH", Some(9)),
            ("# Tit", None),
            ("# Title\nHome: y", None),
            ("", None),
            (bundle, None),
        ] {
            assert_eq!(beginning_at_end(text, bundle), expected, "{text}");
        }
    }
}
