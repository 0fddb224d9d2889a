//! The file of `--launch`: what a host adds to one invocation.

use std::path::Path;

use cantus_compose::{Launch, LaunchText, Stability, TextBudget};
use serde::Deserialize;

use crate::failure::Failure;
use crate::input;

/// The most bytes that the file may have.
const MOST_BYTES: u64 = 64 << 20;

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    sections: Vec<Section>,
}

/// One section.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    id: String,
    text: String,
    /// In chars.
    budget: Option<usize>,
    pointer: Option<String>,
    #[serde(default)]
    volatile: bool,
}

/// Reads the file, `-` for standard input.
pub(super) fn read(file: &Path) -> Result<Launch, Failure> {
    let name = file.display();
    let bytes = input::read(file, MOST_BYTES, "launch file")?;
    // Editors put a byte order mark before JSON too, which the parser doesn't know.
    let json = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&bytes);
    let file: File = serde_json::from_slice(json).map_err(|error| {
        let shape = "expected {\"version\": 1, \"sections\": [{\"id\": …, \"text\": …}]}; a section may have `budget` with `pointer`, \
                     and `volatile`";
        Failure::error(format!("`{name}` is no launch file: {error}")).hint(shape)
    })?;
    if file.version != 1 {
        let found = file.version;
        return Err(Failure::error(format!("`{name}` has version {found}; this program knows version 1")));
    }
    let texts = file.sections.into_iter().map(text).collect::<Result<Vec<_>, _>>();
    let texts = texts.map_err(|problem| Failure::error(format!("`{name}`: {problem}")))?;
    Launch::new(texts).map_err(|error| Failure::error(format!("`{name}`: {error}")))
}

fn text(section: Section) -> Result<LaunchText, String> {
    let budget = match (section.budget, section.pointer) {
        (None, None) => None,
        (Some(chars), Some(pointer)) => Some(TextBudget { chars, pointer }),
        (Some(_), None) => {
            return Err(format!(
                "the section `{}` has a `budget` and needs a `pointer`, which says where the rest can be read",
                section.id
            ));
        }
        (None, Some(_)) => {
            return Err(format!("the section `{}` has a `pointer` without a `budget`", section.id));
        }
    };
    let stability = if section.volatile { Stability::Volatile } else { Stability::Stable };
    Ok(LaunchText { name: section.id, text: section.text, budget, stability })
}
