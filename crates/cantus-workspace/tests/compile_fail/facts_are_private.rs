//! Facts come from their constructors alone, so an illegal combination of actor and mode can't be made.

use cantus_manifest::{Actor, Facts, Mode, Provider};

fn changed(mut facts: Facts) {
    facts.actor = Actor::Interactive;
    facts.mode = Mode::Export;
}

fn combined() -> Facts {
    Facts::new(Actor::NativeHelper, Mode::Export, Provider::native())
}

fn main() {}
