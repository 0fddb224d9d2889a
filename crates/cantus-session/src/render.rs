//! Sections as one text, with the chars of each.

use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};

use crate::pack::{Framing, Placed};
use crate::section::{Section, chars};

/// How many chars each section contributed to a text, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sizes(pub(crate) Vec<(String, u64)>);

impl Sizes {
    /// Ids and chars.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(id, size)| (id.as_str(), *size))
    }

    /// All of them together.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().map(|(_, size)| size).sum()
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (id, size) in &self.0 {
            map.serialize_entry(id, size)?;
        }
        map.end()
    }
}

/// A text with the chars that each section contributed; the rest is framing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Measured {
    pub(crate) text: String,
    pub(crate) sizes: Sizes,
}

impl Measured {
    /// Starts with a text that belongs to no section.
    pub(crate) fn new(text: String) -> Self {
        Self { text, sizes: Sizes::default() }
    }

    pub(crate) fn push(&mut self, id: &str, piece: &str) {
        self.text.push_str(piece);
        self.sizes.0.push((id.to_owned(), chars(piece)));
    }

    /// The chars that belong to no section.
    pub(crate) fn framing(&self) -> u64 {
        chars(&self.text) - self.sizes.total()
    }
}

/// The first line, then each section below its title.
pub(crate) fn render<'a>(product: &str, sections: impl Iterator<Item = &'a Placed>) -> Measured {
    let mut rendered = Measured::new(format!("# {product} context\n"));
    for Placed { section, framing, .. } in sections {
        let piece = match framing {
            Framing::Heading => titled(&section.title, &section.body),
            Framing::Own => format!("\n{}\n", section.body),
        };
        rendered.push(&section.id, &piece);
    }
    rendered
}

/// A body below its heading, blank lines around that.
pub(crate) fn titled(title: &str, body: &str) -> String {
    format!("\n## {title}\n\n{body}\n")
}

/// A section below its heading, whatever framing it has in the system text.
pub(crate) fn piece(section: &Section) -> String {
    titled(&section.title, &section.body)
}
