//! The role with its personalities and boundaries, as the request wants them.

use std::collections::BTreeSet;

use crate::colour::{Colour, meld};
use crate::faults::Faults;
use crate::names::Segment;
use crate::request::Request;
use crate::roster::{Bound, Boundary, Personality, Role, Roster};
use crate::trace::{Decision, Kind, Verdict};

/// Who the bundle is for.
pub(super) struct Profile<'a> {
    /// The role, under the name that the request gives it.
    pub(super) role: Role,
    /// In the role's order.
    pub(super) personalities: Vec<&'a Personality>,
    /// Their slugs.
    pub(super) names: Vec<Segment>,
    /// The active ones: deferred, held within a scope, owned; what is omitted is gone.
    pub(super) boundaries: Vec<(&'a Boundary, Bound)>,
    pub(super) colour: Colour,
}

impl<'a> Profile<'a> {
    /// Without a value something is wrong.
    pub(super) fn new(request: &Request, roster: &'a Roster, faults: &mut Faults<'_>) -> Option<Self> {
        let before = faults.count();
        let role = role(request, roster, faults)?;
        let found: Option<Vec<_>> =
            role.personalities.iter().map(|name| roster.catalogue.personality(name)).collect();
        let Some(personalities) = found else {
            faults.add(format!("a personality of the role `{}` is defined nowhere", role.slug));
            return None;
        };
        let names: Result<Vec<_>, _> = role.personalities.iter().map(Segment::new).collect();
        let names = names.map_err(|error| faults.add(error.to_string())).ok()?;
        let mut boundaries = active(&role, roster);
        for (at, name) in request.omitted.iter().enumerate() {
            if let Some(message) = check_omitted(name, &role, roster, &boundaries) {
                faults.at(request.lines.omitted.get(at).copied().unwrap_or_default(), message);
            }
        }
        boundaries.retain(|(boundary, _)| !request.omitted.contains(&boundary.slug));
        let colours: Vec<_> = personalities.iter().map(|personality| personality.colour).collect();
        let colour = meld(&colours)
            .map_err(|error| faults.add(format!("the colours of the role `{}`: {error}", role.slug)));
        (faults.count() == before).then_some(Self {
            role,
            personalities,
            names,
            boundaries,
            colour: colour.ok()?,
        })
    }

    /// Whether a skill is that of one of its personalities.
    pub(super) fn has_personality_skill(&self, id: &str) -> bool {
        self.personalities.iter().any(|personality| personality.skill == id)
    }

    /// The decisions on role, personalities and boundaries.
    pub(super) fn decide(&self, request: &Request, roster: &Roster, decisions: &mut Vec<Decision>) {
        let slug = &self.role.slug;
        let mut put = |kind: &str, name: &str, verdict: Verdict, reason: String| {
            let subject = format!("{kind}:{name}");
            let decision = Decision::new(Kind::Profile, &subject, roster.id.as_str(), verdict, reason);
            decisions.push(decision);
        };
        put("role", slug, Verdict::Selected, "the request asks for this role".to_owned());
        for personality in &self.personalities {
            let reason = format!("the role `{slug}` has it");
            put("personality", &personality.slug, Verdict::Selected, reason);
        }
        for name in &request.omitted {
            put("boundary", name, Verdict::Excluded, "the request omits it".to_owned());
        }
        for (boundary, bound) in &self.boundaries {
            let reason = match bound {
                Bound::Owns => format!("the role `{slug}` owns it"),
                Bound::Scoped(_) => format!("the role `{slug}` holds it within a scope"),
                Bound::Defers => format!("the role `{slug}` defers to `{}`, who owns it", boundary.owner),
            };
            put("boundary", &boundary.slug, Verdict::Selected, reason);
        }
    }
}

/// The role of the request, named as it says.
fn role(request: &Request, roster: &Roster, faults: &mut Faults<'_>) -> Option<Role> {
    let Some(role) = roster.role(&request.role) else {
        let known: Vec<_> = roster.roles.iter().map(|role| format!("`{}`", role.slug)).collect();
        let (wanted, known) = (request.role.escape_debug(), known.join(", "));
        let message = format!("`{}` has no role `{wanted}`; expected one of {known}", roster.id);
        faults.at(request.lines.role, message);
        return None;
    };
    if !role.supports(request.tier) {
        let tiers: Vec<_> = role.tiers.iter().map(|tier| format!("`{tier}`")).collect();
        let (tier, tiers) = (request.tier, tiers.join(", "));
        let message = format!("the role `{}` doesn't work on the tier `{tier}`; expected {tiers}", role.slug);
        let line = if request.lines.tier > 0 { request.lines.tier } else { request.lines.role };
        faults.at(line, message);
        return None;
    }
    let mut role = role.clone();
    if let Some(named) = &request.identity {
        role.identity = Some(named.clone());
        role.seats.iter_mut().for_each(|seat| seat.named = None);
    }
    Some(role)
}

/// The boundaries of a role: those that it defers, then those that it holds within a scope, then those that it owns.
fn active<'a>(role: &Role, roster: &'a Roster) -> Vec<(&'a Boundary, Bound)> {
    let catalogue = &roster.catalogue;
    let deferred = role.defers.iter().filter_map(|name| Some((catalogue.boundary(name)?, Bound::Defers)));
    let scoped = role.scoped.iter();
    let scoped =
        scoped.filter_map(|(name, scope)| Some((catalogue.boundary(name)?, Bound::Scoped(scope.clone()))));
    let owned = catalogue.boundaries.iter().filter(|boundary| boundary.owner == role.slug);
    deferred.chain(scoped).chain(owned.map(|boundary| (boundary, Bound::Owns))).collect()
}

/// What is to be said of a boundary that can't be omitted.
fn check_omitted(name: &str, role: &Role, roster: &Roster, active: &[(&Boundary, Bound)]) -> Option<String> {
    let (slug, shown) = (&role.slug, name.escape_debug());
    let bound = active.iter().find(|(boundary, _)| boundary.slug == name).map(|(_, bound)| bound);
    let known: BTreeSet<_> =
        roster.catalogue.boundaries.iter().map(|boundary| boundary.slug.as_str()).collect();
    let why = match bound {
        Some(Bound::Defers) => return None,
        Some(Bound::Owns) => format!("the role `{slug}` owns it"),
        Some(Bound::Scoped(_)) => format!("the role `{slug}` holds it within a scope"),
        None if known.contains(name) => format!("the role `{slug}` doesn't have it"),
        None => format!("`{}` knows no such boundary", roster.id),
    };
    Some(format!("the boundary `{shown}` can't be omitted: {why}"))
}
