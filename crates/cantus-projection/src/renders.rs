//! The renders that a project has by default, and how the lock names sets of them.

use cantus_manifest::{Facts, Provider};

/// The facts of the render called `name`: `native`, `helper`, `interactive`, `export`, or a provider's root render.
#[must_use]
pub fn facts_of(name: &str) -> Option<Facts> {
    match name {
        "helper" => Some(Facts::helper(Provider::native())),
        "interactive" => Some(Facts::interactive(Provider::native())),
        "export" => Some(Facts::export(Provider::native())),
        provider => Provider::new(provider).ok().map(Facts::root),
    }
}

/// Whether a render is one of a root agent.
pub(crate) fn is_root(name: &str) -> bool {
    !matches!(name, "helper" | "interactive" | "export")
}

/// The names of all renders: native, the providers, then the others.
pub(crate) fn names(providers: &[Provider]) -> Vec<String> {
    let providers = providers.iter().map(|provider| provider.as_str().to_owned());
    let others = ["helper", "interactive", "export"].map(str::to_owned);
    std::iter::once("native".to_owned()).chain(providers).chain(others).collect()
}

/// A set of renders in the lock's words: `all`, `root` for every root render, or names.
///
/// `members` says for each of `names` whether it belongs to the set.
pub(crate) fn spell(names: &[String], members: &[bool]) -> Vec<String> {
    let chosen = |wanted: &dyn Fn(&str) -> bool| {
        names.iter().zip(members).filter(|(name, _)| wanted(name)).all(|(_, member)| *member)
    };
    if chosen(&|_| true) {
        return vec!["all".to_owned()];
    }
    let root = chosen(&is_root);
    let mut spelled: Vec<String> = if root { vec!["root".to_owned()] } else { Vec::new() };
    let rest = names.iter().zip(members).filter(|(name, member)| **member && !(root && is_root(name)));
    spelled.extend(rest.map(|(name, _)| name.clone()));
    spelled
}

/// Whether the set that the lock spells so holds `render`.
pub(crate) fn holds(spelled: &[String], render: &str) -> bool {
    spelled.iter().any(|name| name == "all" || name == render || (name == "root" && is_root(render)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(members: [bool; 5], expected: &[&str]) {
        let names = names(&[Provider::new("claude").unwrap()]);
        let spelled = spell(&names, &members);
        assert_eq!(spelled, expected);
        let held: Vec<_> = names.iter().map(|name| holds(&spelled, name)).collect();
        assert_eq!(held, members);
    }

    #[test]
    fn sets_are_spelled_shortly() {
        check([true, true, true, true, true], &["all"]);
        check([true, true, false, false, false], &["root"]);
        check([true, true, true, false, false], &["root", "helper"]);
        check([false, true, false, false, false], &["claude"]);
        check([true, false, true, false, true], &["native", "helper", "export"]);
    }
}
