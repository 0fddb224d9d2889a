//! The name of a bundle: a digest over everything that made it, each part framed so that no two inputs read alike.

use cantus_manifest::Digest;

use super::layout::Layout;
use crate::resolution::Resolution;

/// How many hex digits of the digest are the name.
const DIGITS: usize = 16;

/// The name of the bundle of `resolution`, whose tree is `layout`.
///
/// Every file and folder of the tree counts (the manifest, the trace and the texts among them), and what leaves no byte there:
/// the person package, the inline briefing, the names that entry files had, the order of the skills.
pub(super) fn key(resolution: &Resolution, layout: &Layout) -> String {
    let mut frame = Frame::default();
    frame.texts(&["request", &resolution.role, resolution.delivery.as_str(), resolution.tier.as_str()]);
    frame.bytes("person", &resolution.package);
    if let Some(briefing) = &resolution.briefing {
        frame.bytes("role-briefing", briefing);
    }
    for instruction in &resolution.instructions {
        frame.texts(&["instruction", instruction.source.as_str(), &instruction.id]);
        frame.bytes("bytes", &instruction.bytes);
    }
    for skill in &resolution.skills {
        frame.texts(&["skill-entry", skill.source.as_str(), skill.id.as_str(), skill.entry.file_name()]);
    }
    for folder in &layout.folders {
        frame.texts(&["folder", folder.as_str()]);
    }
    for (path, bytes) in &layout.files {
        frame.bytes(path.as_str(), bytes);
    }
    let mut key = Digest::of(&frame.0).to_string();
    key.truncate(DIGITS);
    key
}

/// Items with a NUL after each. What may hold one itself goes in as its length and its digest.
#[derive(Default)]
struct Frame(Vec<u8>);

impl Frame {
    /// Texts without NUL, of which there are always as many.
    fn texts(&mut self, texts: &[&str]) {
        for text in texts {
            self.0.extend_from_slice(text.len().to_string().as_bytes());
            self.0.push(0);
            self.0.extend_from_slice(text.as_bytes());
            self.0.push(0);
        }
    }

    fn bytes(&mut self, name: &str, bytes: &[u8]) {
        self.texts(&[name, &bytes.len().to_string(), &Digest::of(bytes).to_string()]);
    }
}
