//! The roster that is built in, so that a bundle can be composed without any configuration.

use super::{Roster, merge, package};
use crate::faults::Faults;
use crate::folder::Folder;
use crate::names::TreePath;

macro_rules! texts {
    ($($path:literal),* $(,)?) => {
        &[$(($path, include_str!(concat!("../../roster/", $path)))),*]
    };
}

/// Every file of it, by its path.
const TEXTS: &[(&str, &str)] = texts![
    "person.kdl",
    "roles/10-maker.kdl",
    "roles/20-reviewer.kdl",
    "roles/30-investigator.kdl",
    "roles/maker/SKILL.md",
    "roles/reviewer/SKILL.md",
    "roles/investigator/SKILL.md",
    "roles/investigator/skills/method-one-change/SKILL.md",
    "boundaries/10-merging.kdl",
    "boundaries/20-rewriting.kdl",
    "personalities/10-careful.kdl",
    "personalities/20-plain.kdl",
    "personalities/30-curious.kdl",
    "personalities/40-thrifty.kdl",
    "definitions/INVARIANT.md",
    "definitions/skills/personality-careful/SKILL.md",
    "definitions/skills/personality-plain/SKILL.md",
    "definitions/skills/personality-curious/SKILL.md",
    "definitions/skills/personality-thrifty/SKILL.md",
    "definitions/skills/boundary-merging/SKILL.md",
    "definitions/skills/boundary-rewriting/SKILL.md",
];

/// The built-in roster; a fault in it is one of ours.
pub(crate) fn built_in(faults: &mut Faults<'_>) -> Option<Roster> {
    let mut roster = package(&files(), faults)?;
    merge(&mut roster, Vec::new(), faults);
    Some(roster)
}

fn files() -> Folder {
    let mut folder = Folder::default();
    for (path, text) in TEXTS {
        let Ok(path) = TreePath::new(*path) else { continue };
        folder.folders.extend(path.folders());
        folder.files.insert(path, text.as_bytes().to_vec());
    }
    folder
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colour::meld;

    #[test]
    fn the_built_in_roster_keeps_every_rule() {
        let mut found = Vec::new();
        let roster = built_in(&mut Faults::new("x", "roster", &mut found));
        assert_eq!(found, []);
        let roster = roster.unwrap();
        assert_eq!(roster.id.as_str(), "roster:cantus");
        let catalogue = &roster.catalogue;
        assert_eq!(
            (roster.roles.len(), catalogue.personalities.len(), catalogue.boundaries.len()),
            (3, 4, 2)
        );
        assert!(roster.roles.iter().all(|role| role.personalities.len() == 2));
        assert!(catalogue.boundaries.iter().all(|boundary| roster.role(&boundary.owner).is_some()));
        assert_eq!(files().files.len(), TEXTS.len());
    }

    #[test]
    fn the_favourites_of_its_roles_can_be_told_apart() {
        let roster = built_in(&mut Faults::new("x", "roster", &mut Vec::new())).unwrap();
        let colours = |role: &crate::roster::Role| {
            let colours = role.personalities.iter().filter_map(|name| roster.catalogue.personality(name));
            colours.map(|personality| personality.colour).collect::<Vec<_>>()
        };
        let labs: Vec<_> = roster.roles.iter().map(|role| meld(&colours(role)).unwrap().oklab()).collect();
        for (at, one) in labs.iter().enumerate() {
            for other in &labs[at + 1..] {
                let distance = (one.l - other.l).hypot((one.a - other.a).hypot(one.b - other.b));
                assert!(distance >= 0.08, "{one:?} {other:?}");
            }
        }
    }
}
