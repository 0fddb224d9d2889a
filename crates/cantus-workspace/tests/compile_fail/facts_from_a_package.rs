//! Nothing that a package says becomes facts.

use cantus_compose::{Package, Settings};
use cantus_manifest::Facts;

fn package(package: Package) -> Facts {
    package.into()
}

fn settings(settings: &Settings) -> Facts {
    Facts::from(settings)
}

fn main() {}
