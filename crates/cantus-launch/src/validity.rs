//! Whether a bundle is what its reader must get.

use cantus_manifest::manifest::{Manifest, SectionRecord, SectionStatus};
use cantus_manifest::{ExclusionReason, Lifecycle};

/// The section that tells a root agent how its turn ends.
const DECLARATION: &str = "pkg.root.final_declaration";

/// What a root's bundle lacks: the final declaration (of a package without one, its first required section for roots), or the
/// provider's own section where the package has one. `None` if it is whole.
pub(crate) fn root_fault(manifest: &Manifest) -> Option<String> {
    let sections = &manifest.sections;
    let is_root = |section: &&SectionRecord| {
        section.lifecycle == Lifecycle::Root && section.required && !section.provider_specific
    };
    let declaration = sections.iter().find(|section| section.id == DECLARATION);
    let declaration = declaration.or_else(|| sections.iter().find(is_root));
    let provider = format!("pkg.provider.{}", manifest.facts.provider);
    let is_missing = |section: &&SectionRecord| {
        section.id == provider && !is_in(section) && section.reason != Some(ExclusionReason::NoDirective)
    };
    declaration
        .filter(|section| sections.iter().filter(|other| other.id == section.id && is_in(other)).count() != 1)
        .or_else(|| sections.iter().find(is_missing))
        .map(|section| format!("the bundle lacks its section `{}`", section.id))
}

/// What is wrong with a helpers' bundle: a required section for helpers that it lacks, or one for roots that it has. `None` if
/// nothing is.
pub(crate) fn helper_fault(manifest: &Manifest) -> Option<String> {
    let fault = |section: &SectionRecord| match section.lifecycle {
        Lifecycle::Helper if section.required && !is_in(section) => {
            Some(format!("the helpers' bundle lacks its section `{}`", section.id))
        }
        Lifecycle::Root if is_in(section) => {
            Some(format!("the helpers' bundle has the section `{}`, which is for roots", section.id))
        }
        _ => None,
    };
    manifest.sections.iter().find_map(fault)
}

fn is_in(section: &SectionRecord) -> bool {
    section.status == SectionStatus::Included
}
