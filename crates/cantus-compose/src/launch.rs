//! Sections that a host adds to one invocation.

use std::collections::BTreeSet;

use cantus_manifest::{ExclusionReason, Layer, Lifecycle, ParseSectionIdError, SectionId};
use cantus_memory::unicode::is_blank;
use cantus_memory::{Origin, SourcedText};
use thiserror::Error;

use crate::fit::fit;
use crate::section::{Content, Section, Status};

/// A text for one invocation. Only a host can make one: nothing that is read from a note or a configuration becomes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchText {
    /// What follows `launch.` in the section's id: ASCII letters, digits, `_` and `-`.
    pub name: String,
    /// Markdown, taken as it stands but for CRLF and CR, which become LF. A blank one is listed as excluded.
    pub text: String,
    /// How long it may be.
    pub budget: Option<TextBudget>,
    /// Whether it changes from one invocation to the next.
    pub stability: Stability,
}

/// The most that a text may need, and what stands in place of the rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextBudget {
    /// In chars (Unicode scalar values), the pointer included.
    pub chars: usize,
    /// Says where the rest can be read.
    pub pointer: String,
}

/// Whether a text is the same in every invocation of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stability {
    /// It is: it may be part of a prefix that a provider keeps.
    #[default]
    Stable,
    /// It isn't: it stands behind everything else.
    Volatile,
}

/// Why texts are no launch layer.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum LaunchError {
    /// A name that no section can have.
    #[error("`{name}` can't name a launch section: expected ASCII letters, digits, `_` and `-`")]
    Name {
        /// The name.
        name: String,
        /// The rule of section ids that it breaks.
        source: ParseSectionIdError,
    },
    /// A name that stands twice.
    #[error("two launch sections are called `{0}`")]
    Twice(String),
}

/// The launch layer of one invocation: its sections, stable ones first.
#[derive(Clone, Debug, Default)]
pub struct Launch {
    sections: Vec<(Stability, Section)>,
}

impl Launch {
    /// Takes `texts` in their order, volatile ones last.
    pub fn new(texts: Vec<LaunchText>) -> Result<Self, LaunchError> {
        let mut names = BTreeSet::new();
        let mut sections = Vec::new();
        for text in texts {
            if !names.insert(text.name.clone()) {
                return Err(LaunchError::Twice(text.name));
            }
            sections.push((text.stability, section(text)?));
        }
        sections.sort_by_key(|(stability, _)| *stability);
        Ok(Self { sections })
    }

    /// The sections in bundle order.
    pub(crate) fn sections(&self) -> impl Iterator<Item = (Stability, &Section)> {
        self.sections.iter().map(|(stability, section)| (*stability, section))
    }
}

fn section(text: LaunchText) -> Result<Section, LaunchError> {
    let id = match SectionId::new(format!("launch.{}", text.name)) {
        // A dot would make it two parts.
        Ok(id) if !text.name.contains('.') => id,
        Ok(id) => {
            let source = ParseSectionIdError::Part { id: id.to_string(), part: text.name.clone() };
            return Err(LaunchError::Name { name: text.name, source });
        }
        Err(source) => return Err(LaunchError::Name { name: text.name, source }),
    };
    Ok(Section {
        id,
        layer: Layer::Launch,
        lifecycle: Lifecycle::Neutral,
        required: false,
        provider_specific: false,
        sources: Vec::new().into(),
        status: status(&text.text.replace("\r\n", "\n").replace('\r', "\n"), text.budget.as_ref()),
    })
}

fn status(text: &str, budget: Option<&TextBudget>) -> Status {
    if is_blank(text) {
        return Status::Excluded { reason: ExclusionReason::Empty, shadowed_by: None };
    }
    let fitted = budget.map(|budget| fit(text, budget.chars, &budget.pointer).body);
    let mut lines = SourcedText::with_capacity(text.len());
    for line in fitted.as_deref().unwrap_or(text).lines() {
        lines.push(line, Origin::NONE);
    }
    Status::Included(Content::new(lines))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(name: &str, text: &str, stability: Stability) -> LaunchText {
        LaunchText { name: name.to_owned(), text: text.to_owned(), budget: None, stability }
    }

    #[test]
    fn volatile_sections_stand_last() {
        let texts = vec![
            text("a", "A\r\nb\rc", Stability::Volatile),
            text("b", "\n\nB\n", Stability::Stable),
            text("c", " \n", Stability::Stable),
        ];
        let launch = Launch::new(texts).unwrap();
        let found: Vec<_> = launch
            .sections()
            .map(|(stability, section)| {
                (section.id.as_str(), stability, section.content().map(|content| content.text().to_owned()))
            })
            .collect();
        assert_eq!(
            found,
            [
                ("launch.b", Stability::Stable, Some("B\n\n".to_owned())),
                ("launch.c", Stability::Stable, None),
                ("launch.a", Stability::Volatile, Some("A\nb\nc\n\n".to_owned())),
            ]
        );
    }

    #[track_caller]
    fn check_error(names: &[&str], expected: &str) {
        let texts = names.iter().map(|name| text(name, "x", Stability::Stable)).collect();
        assert_eq!(Launch::new(texts).unwrap_err().to_string(), expected);
    }

    #[test]
    fn names_are_parts_of_ids() {
        let wrong = |name| {
            format!("`{name}` can't name a launch section: expected ASCII letters, digits, `_` and `-`")
        };
        for name in ["", "a b", "a.b", "é", "../x"] {
            check_error(&[name], &wrong(name));
        }
        check_error(&["a", "b", "a"], "two launch sections are called `a`");
    }

    #[test]
    fn a_budget_cuts() {
        let budget = Some(TextBudget { chars: 20, pointer: "see ticket".to_owned() });
        let text = LaunchText { budget, ..text("t", "one two three four five", Stability::Stable) };
        let launch = Launch::new(vec![text]).unwrap();
        let (_, section) = launch.sections().next().unwrap();
        assert_eq!(section.content().unwrap().text(), "one two \n\nsee ticket\n\n".replace(" \n", "\n"));
    }
}
