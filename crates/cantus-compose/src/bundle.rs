//! A composed bundle.

use cantus_manifest::{Digest, Facts, common_digest};

use crate::section::{Content, Section};

/// One Markdown document for one set of facts, as its sections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    facts: Facts,
    sections: Vec<Section>,
    /// How many of the included sections stand before the first volatile one.
    stable: usize,
}

impl Bundle {
    /// Takes included sections, the first `stable` of them not volatile, then excluded ones.
    pub(crate) fn new(facts: Facts, sections: Vec<Section>, stable: usize) -> Self {
        Self { facts, sections, stable }
    }

    /// What the host said of this render.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The included sections in bundle order, then the excluded ones by id.
    #[must_use]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// The included sections with their bytes, in bundle order.
    pub fn included(&self) -> impl Iterator<Item = (&Section, &Content)> {
        self.sections.iter().filter_map(|section| Some((section, section.content()?)))
    }

    /// The whole text. It ends in a blank line, unless there is no section at all.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::with_capacity(self.bytes());
        for (_, content) in self.included() {
            text.push_str(content.text());
        }
        text
    }

    /// The length of the text in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.included().map(|(_, content)| content.text().len()).sum()
    }

    /// The lines of the text: its line feeds.
    #[must_use]
    pub fn lines(&self) -> usize {
        self.included().map(|(_, content)| content.origins().len()).sum()
    }

    /// The estimate of its tokens: the sum over its sections (§8.4).
    #[must_use]
    pub fn tokens_est(&self) -> u64 {
        self.included().map(|(_, content)| content.tokens_est()).sum()
    }

    /// The SHA-256 of the text's bytes.
    #[must_use]
    pub fn digest(&self) -> Digest {
        Digest::of(self.text())
    }

    /// The SHA-256 of the bytes before the first volatile section: what one invocation shares with the next. It is no part of
    /// the manifest.
    #[must_use]
    pub fn stable_digest(&self) -> Digest {
        let stable = self.included().take(self.stable).map(|(_, content)| content.text());
        Digest::of(stable.collect::<String>())
    }

    /// What bundles share that differ in provider sections alone (§8.7).
    #[must_use]
    pub fn common_digest(&self) -> Digest {
        common_digest(
            self.included()
                .filter(|(section, _)| !section.provider_specific)
                .map(|(section, content)| (&section.id, content.digest())),
        )
    }
}
