//! How a pack reaches a conversation: the system text, and a context update with what is new.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::launch::SectionStability;
use crate::pack::Pack;
use crate::render::{Measured, Sizes, piece, render, titled};
use crate::section::{Section, Snapshot, chars};

/// The dynamic sections that belong to the request they come with, and are sent with each.
const PER_REQUEST: &[&str] = &["references", "required-skills"];

/// A pack, ready for the conversation.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The system text: the same bytes in every request of a session whose stable sections are the same.
    pub system: String,
    /// What is to be appended to the conversation; `None` if nothing changed.
    pub update: Option<Update>,
    /// The pack, with its delivery.
    pub pack: Pack,
}

/// A message that brings a conversation up to date.
///
/// Whoever appends it stores `snapshot` with it: that alone makes it delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Update {
    /// The text of the message.
    pub content: String,
    /// All dynamic sections as they are now, not only what the text brings.
    pub snapshot: Snapshot,
}

/// Which sections went where, and how many chars each took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Delivery {
    /// The sections of the system text, in order.
    pub stable: Vec<String>,
    /// The sections that the update brings or withdraws, in order.
    pub updated: Vec<String>,
    /// Their chars.
    pub sizes: DeliverySizes,
}

/// The chars of what was delivered: sections and framing make up the texts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DeliverySizes {
    /// Of each section in the system text.
    pub system: Sizes,
    /// Of the rest of the system text.
    pub system_framing: u64,
    /// Of each section in the update.
    pub update: Sizes,
    /// Of the rest of the update.
    pub update_framing: u64,
}

impl Pack {
    /// The texts that bring it to a conversation which was last given `previous`, `None` if it holds nothing.
    ///
    /// Every dynamic section is sent that isn't the same in `previous`; one that isn't there (any more) is withdrawn. So is the
    /// old title of one that has another now, since whoever reads the conversation knows sections by their titles.
    #[must_use]
    pub fn deliver(mut self, previous: Option<&Snapshot>) -> Compiled {
        let stable = || self.placed.iter().filter(|it| it.stability == SectionStability::Stable);
        let rendered = render(&self.product, stable());
        let system = format!("{}{}", rendered.text, titled(&self.words.title, &self.words.guidance));
        let update = self.update(previous);
        let (sizes, framing) = match &update {
            Some(update) => (update.sizes.clone(), update.framing()),
            None => (Sizes::default(), 0),
        };
        self.delivery = Some(Delivery {
            stable: stable().map(|it| it.section.id.clone()).collect(),
            updated: sizes.iter().map(|(id, _)| id.to_owned()).collect(),
            sizes: DeliverySizes {
                system_framing: chars(&system) - rendered.sizes.total(),
                system: rendered.sizes,
                update: sizes,
                update_framing: framing,
            },
        });
        let update = update.map(|update| Update { content: update.text, snapshot: self.snapshot() });
        Compiled { system, update, pack: self }
    }

    /// The text of an update; `None` if nothing changed.
    fn update(&self, previous: Option<&Snapshot>) -> Option<Measured> {
        let now: BTreeMap<&str, &Section> = self.dynamic_sections().map(|it| (it.id.as_str(), it)).collect();
        // Of sections with the same id in a snapshot, which none of ours has, the first counts.
        let before = previous.into_iter().flatten().rev().map(|it| (it.id.as_str(), it));
        let before: BTreeMap<&str, &Section> = before.collect();
        let mut update = Measured::new(format!("{}\n", self.words.opening));
        for (id, title) in &self.dynamic {
            let (old, new) = (before.get(id.as_str()), now.get(id.as_str()));
            let is_same = match (old, new) {
                (None, None) => true,
                (Some(old), Some(new)) => old.tells_the_same(new),
                _ => false,
            };
            let is_due = new.is_some() && PER_REQUEST.contains(&id.as_str());
            if previous.is_some() && is_same && !is_due {
                continue;
            }
            let title = old.map_or(title, |old| &old.title);
            let renamed = new.is_some_and(|new| *title != new.title && !self.is_title(title));
            let gone = if new.is_none() || renamed { self.withdrawn(title) } else { String::new() };
            update.push(id, &(gone + &new.map_or_else(String::new, |new| piece(new))));
        }
        // What was dynamic once and isn't any more would stay current in the conversation.
        let mut known: BTreeSet<&str> = self.dynamic.iter().map(|(id, _)| id.as_str()).collect();
        for old in previous.into_iter().flatten() {
            if known.insert(&old.id) {
                update.push(&old.id, &self.withdrawn(&old.title));
            }
        }
        (!update.sizes.0.is_empty()).then_some(update)
    }

    /// Whether a dynamic section has this title now.
    fn is_title(&self, title: &str) -> bool {
        self.dynamic_sections().any(|section| section.title == title)
    }

    /// What is said of a section that isn't supplied.
    fn withdrawn(&self, title: &str) -> String {
        titled(title, &self.words.withdrawn)
    }
}
