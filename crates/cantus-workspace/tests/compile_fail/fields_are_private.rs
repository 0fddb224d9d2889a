//! What keeps an invariant isn't written down field by field.

use cantus_compose::{Bundle, Content, Section};
use cantus_manifest::{Actor, Digest, Facts, Mode, Provider, Purpose};
use cantus_memory::SourcedText;

fn facts() -> Facts {
    Facts {
        actor: Actor::NativeHelper,
        mode: Mode::Export,
        purpose: Purpose::Ordinary,
        provider: Provider::native(),
        project: None,
        host: None,
        vcs: None,
    }
}

fn content(text: SourcedText) -> Content {
    Content { text, digest: Digest::of(""), tokens: 0 }
}

fn bundle(facts: Facts, sections: Vec<Section>) -> Bundle {
    Bundle { facts, sections, stable: 0 }
}

fn main() {}
