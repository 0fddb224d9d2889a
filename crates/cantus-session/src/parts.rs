//! The standard sections that are made of what a request brings.

mod references;
mod skills;
mod state;
mod tools;
mod wiki;

pub(crate) use references::references;
pub(crate) use skills::skills;
pub(crate) use state::{list, state};
pub use tools::ToolList;
pub(crate) use tools::{groups, tools};
pub(crate) use wiki::wiki;

use cantus_compose::Wording;

use crate::section::{Draft, Section, Source};

/// A text as it stands in a line of ours: what would end the line, or is no letter at all, is a space.
pub(crate) fn in_line(text: &str) -> String {
    let text = text.replace("\r\n", " ");
    text.replace(|c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}'), " ")
}

/// The wording of one section, and the room that it has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Frame<'a> {
    pub(crate) wording: &'a Wording,
    pub(crate) id: &'static str,
    pub(crate) product: &'a str,
    /// In chars.
    pub(crate) budget: usize,
}

impl Frame<'_> {
    /// A text of the section; `part` is the rest of its key.
    pub(crate) fn say(&self, part: &str, values: &[(&str, &str)]) -> String {
        self.say_key(&format!("{}.{part}", self.id), values)
    }

    /// A text of any section.
    pub(crate) fn say_key(&self, key: &str, values: &[(&str, &str)]) -> String {
        let mut all = vec![("product", self.product)];
        all.extend_from_slice(values);
        self.wording.say(key, &all)
    }

    /// The section of this text.
    pub(crate) fn section(&self, text: &str, sources: Vec<Source>) -> Option<Section> {
        let own = self.say("pointer", &[]);
        let pointer = if own.is_empty() { self.say_key("context-updates.cut", &[]) } else { own };
        self.section_with(text, &pointer, sources)
    }

    /// The same with another pointer.
    pub(crate) fn section_with(&self, text: &str, pointer: &str, sources: Vec<Source>) -> Option<Section> {
        let title = self.say("title", &[]);
        Section::fitted(Draft { id: self.id, title: &title, text, budget: self.budget, pointer, sources })
    }
}
