//! Libraries go into a roster, and then everything that roles name must be there.

use std::collections::BTreeSet;

use super::{Catalogue, Role, Roster, catalogue};
use crate::faults::Faults;

/// A library that was read: its name, what it lends, and its KDL texts.
pub(crate) type Lent = (String, Catalogue, Vec<u8>);

/// Merges the libraries in their order, and checks what the roles name. What is equal is taken once; what differs is a fault, and so
/// is a library that comes twice.
pub(crate) fn merge(roster: &mut Roster, libraries: Vec<Lent>, faults: &mut Faults<'_>) {
    let mut seen = BTreeSet::new();
    for (name, lent, text) in libraries {
        if !seen.insert(name.clone()) {
            faults.add(format!("the library `{name}` comes twice"));
            continue;
        }
        take(&mut roster.catalogue, lent, &name, faults);
        roster.text.extend_from_slice(format!("// library {name} {}\n", text.len()).as_bytes());
        roster.text.extend_from_slice(&text);
    }
    catalogue::check_unique(&roster.catalogue, faults);
    for role in &roster.roles {
        check_role(role, &roster.catalogue, faults);
    }
}

fn take(own: &mut Catalogue, lent: Catalogue, library: &str, faults: &mut Faults<'_>) {
    let differs = |what: &str, name: &str| format!("the library `{library}` has another {what} `{name}`");
    for personality in lent.personalities {
        match own.personality(&personality.slug) {
            Some(known) if *known == personality => {}
            Some(_) => faults.add(differs("personality", &personality.slug)),
            None if own.definitions.contains_key(&personality.skill) => {
                faults.add(differs("personality with the skill", &personality.skill));
            }
            None => own.personalities.push(personality),
        }
    }
    for boundary in lent.boundaries {
        match own.boundary(&boundary.slug) {
            Some(known) if *known == boundary => {}
            Some(_) => faults.add(differs("boundary", &boundary.slug)),
            None => own.boundaries.push(boundary),
        }
    }
    for (id, definition) in lent.definitions {
        match own.definitions.get(&id) {
            Some(known) if *known != definition => faults.add(differs("definition of", &id)),
            Some(_) => {}
            None => drop(own.definitions.insert(id, definition)),
        }
    }
}

/// Tells what a role names and nobody defines, and on which sides of a boundary it may not be.
fn check_role(role: &Role, catalogue: &Catalogue, faults: &mut Faults<'_>) {
    let slug = &role.slug;
    let mut skills = BTreeSet::new();
    for name in &role.personalities {
        match catalogue.personality(name) {
            None => {
                faults.add(format!("the role `{slug}` has the personality `{name}`, which nobody defines"))
            }
            Some(personality) if !skills.insert(&personality.skill) => {
                faults.add(format!(
                    "two personalities of the role `{slug}` have the skill `{}`",
                    personality.skill
                ));
            }
            Some(_) => {}
        }
    }
    for name in role.defers.iter().chain(role.scoped.iter().map(|(name, _)| name)) {
        match catalogue.boundary(name) {
            None => faults.add(format!("the role `{slug}` has the boundary `{name}`, which nobody defines")),
            Some(boundary) if boundary.owner == *slug => {
                faults.add(format!(
                    "the role `{slug}` owns the boundary `{name}`, and may not name it besides"
                ));
            }
            Some(_) => {}
        }
    }
}
