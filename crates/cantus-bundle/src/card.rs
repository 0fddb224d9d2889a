//! A role's identity card, and how the cards of all roles are taken out of an operating base.

use std::fmt::Write as _;

use crate::colour::Colour;
use crate::roster::{Bound, Boundary, Personality, Role, Roster, description, titled};

/// What a card is made of, looked up already.
pub(crate) struct Card<'a> {
    pub(crate) role: &'a Role,
    pub(crate) colour: Colour,
    pub(crate) personalities: &'a [&'a Personality],
    pub(crate) boundaries: &'a [(&'a Boundary, Bound)],
    pub(crate) roster: &'a Roster,
}

impl Card<'_> {
    /// The card as Markdown, ending with a line feed; what the base said to the role's contract is not in it.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        self.write(&mut text).map_or_else(|_| String::new(), |()| text)
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        let role = self.role;
        write!(text, "# {}\n\n{}\n\n", role.title(), paragraph(&role.purpose))?;
        fact(text, "Role skill", &[quoted(&role.skill())])?;
        fact(text, "Role methods", &role.methods.iter().map(|(id, _)| quoted(id)).collect::<Vec<_>>())?;
        let boundaries: Vec<_> =
            self.boundaries.iter().map(|(boundary, _)| quoted(&boundary.skill)).collect();
        fact(text, "Boundaries", &boundaries)?;
        fact(text, "Favorite color", &[self.colour.to_string()])?;
        if let Some(named) = &role.identity {
            fact(text, "Agent", &[format!("{} ({})", named.name, named.pronouns)])?;
        }
        let seats = role.seats.iter().map(|seat| match (&seat.named, &role.identity) {
            (Some(named), None) => format!("{}: {} ({})", seat.key, named.name, named.pronouns),
            _ => seat.key.clone(),
        });
        fact(text, "Seats", &seats.collect::<Vec<_>>())?;
        self.write_personalities(text)?;
        self.write_boundaries(text)?;
        text.push_str("\n## Active doctrine\n\nLoad each of these before you act:\n\n");
        let personalities = self.personalities.iter().map(|it| quoted(&it.skill));
        for skill in std::iter::once(quoted(&role.skill())).chain(boundaries).chain(personalities) {
            writeln!(text, "- {skill}")?;
        }
        contract(text, role)
    }

    fn write_personalities(&self, text: &mut String) -> std::fmt::Result {
        text.push_str("\n## Personality meld\n");
        for personality in self.personalities {
            let Personality { slug, skill, colour, motif, emblem, .. } = personality;
            write!(text, "\n### {} {}\n\n", flat(&emblem.emoji), titled(slug))?;
            let (name, glyph) = (flat(&emblem.name), flat(&emblem.glyph));
            writeln!(text, "**{colour} // {name} // {glyph} // {motif}**")?;
            let entry =
                self.roster.catalogue.definitions.get(skill).and_then(|folder| folder.file("SKILL.md"));
            let said = description(entry.unwrap_or_default());
            if !said.is_empty() {
                write!(text, "\n{}\n", paragraph(first_sentence(&said)))?;
            }
        }
        Ok(())
    }

    fn write_boundaries(&self, text: &mut String) -> std::fmt::Result {
        if self.boundaries.is_empty() {
            return Ok(());
        }
        text.push_str("\n## Boundaries\n\n");
        for (boundary, bound) in self.boundaries {
            let side = match bound {
                Bound::Owns => "this role owns it".to_owned(),
                Bound::Scoped(scope) => format!("this role holds it within a scope ({})", flat(scope)),
                Bound::Defers => "this role defers to its owner".to_owned(),
            };
            writeln!(text, "- {}: {side}. {}", quoted(&boundary.skill), flat(&boundary.summary))?;
        }
        Ok(())
    }
}

/// What tools' responses must not copy, if the role says so.
fn contract(text: &mut String, role: &Role) -> std::fmt::Result {
    if role.contract.is_empty() {
        return Ok(());
    }
    text.push_str("\n## Copy contract\n\nIn responses of tools write the second instead of the first:\n\n");
    for (cue, prefer) in &role.contract {
        writeln!(text, "- {} // {}", quoted(&flat(cue)), quoted(&flat(prefer)))?;
    }
    Ok(())
}

/// A bold line, if there is anything to say.
fn fact(text: &mut String, name: &str, values: &[String]) -> std::fmt::Result {
    if values.is_empty() {
        return Ok(());
    }
    writeln!(text, "**{name} // {}**", flat(&values.join(" // ")))
}

/// A text on one line, so that it opens no heading of its own.
fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A text as a line of its own that is an ordinary paragraph: no heading, fence or comment begins with it.
fn paragraph(text: &str) -> String {
    let text = flat(text);
    if ["#", "```", "~~~", "<"].iter().any(|sign| text.starts_with(sign)) {
        format!("\\{text}")
    } else {
        text
    }
}

fn quoted(id: &str) -> String {
    format!("`{id}`")
}

/// The text up to its first full stop that a blank follows, that stop with it.
fn first_sentence(text: &str) -> &str {
    text.find(". ").map_or(text, |end| &text[..=end])
}

/// `base` without the cards of the roles of `roster`: from a heading that is a role's name to the next heading of the first level or
/// the end of the source that it stands in. A base without one comes back as it is.
///
/// Headings in fenced code are none, and a line may end in CRLF.
pub(crate) fn strip(base: &[u8], roster: Option<&Roster>) -> Vec<u8> {
    let (Ok(text), Some(roster)) = (std::str::from_utf8(base), roster) else { return base.to_vec() };
    let headings: Vec<_> = roster.roles.iter().map(|role| format!("# {}", role.title())).collect();
    let mut kept = String::with_capacity(text.len());
    let mut cutting = false;
    let mut fence: Option<Fence> = None;
    for line in text.split_inclusive('\n') {
        let plain = line.trim_end_matches(['\n', '\r', ' ', '\t']);
        let in_fence = fence.is_some();
        fence = Fence::after(fence, plain);
        if !in_fence {
            let is_end = plain.starts_with("# ") || plain.starts_with("<!-- source:");
            cutting = (cutting && !is_end) || headings.iter().any(|heading| heading == plain);
        }
        if !cutting {
            kept.push_str(line);
        }
    }
    kept.into_bytes()
}

/// The sign of a fence that is open.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Fence {
    sign: char,
    length: usize,
}

impl Fence {
    /// What is open behind `line`.
    fn after(open: Option<Self>, line: &str) -> Option<Self> {
        let inner = line.trim_start_matches(' ');
        let indented = line.len() - inner.len() > 3;
        let sign = inner.chars().next().filter(|sign| matches!(sign, '`' | '~') && !indented);
        let Some(sign) = sign else { return open };
        let length = inner.chars().take_while(|c| *c == sign).count();
        let rest = &inner[length..];
        match open {
            Some(fence) if sign == fence.sign && length >= fence.length && rest.trim().is_empty() => None,
            Some(fence) => Some(fence),
            None if length >= 3 && !(sign == '`' && rest.contains('`')) => Some(Self { sign, length }),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::Faults;
    use crate::roster::built_in;

    fn roster() -> Roster {
        built_in(&mut Faults::new("x", "r", &mut Vec::new())).unwrap()
    }

    #[track_caller]
    fn check(base: &str, expected: &str) {
        let stripped = strip(base.as_bytes(), Some(&roster()));
        assert_eq!(String::from_utf8(stripped).unwrap(), expected);
    }

    #[test]
    fn cards_are_cut_out() {
        check("a\n# Maker\nb\n## c\n# Other\nd\n", "a\n# Other\nd\n");
        check("# Maker \t\nb\n# Reviewer\nc\n# Investigator\n", "");
        check("# Maker\r\nb\r\n# Other\r\nd", "# Other\r\nd");
        check("# Maker\na\n<!-- source: x -->\nb\n", "<!-- source: x -->\nb\n");
        check("# Maker\n```\n# no heading\n```\nb\n# Other\n", "# Other\n");
    }

    #[test]
    fn what_is_no_card_stays_byte_for_byte() {
        for base in [
            "",
            "no card\r\n\n",
            "```\n# Maker\n```\n",
            "~~~~\n```\n# Maker\n~~~~\n",
            "## Maker\n# Makers\n #  Maker\nMaker\n# maker\n",
        ] {
            check(base, base);
        }
        assert_eq!(strip(b"# Maker\n", None), b"# Maker\n");
        assert_eq!(strip(b"# Maker\n\xff", Some(&roster())), b"# Maker\n\xff");
    }

    #[test]
    fn first_sentences() {
        assert_eq!(first_sentence("One. Two."), "One.");
        assert_eq!(first_sentence("One 1.5 two."), "One 1.5 two.");
    }

    #[test]
    fn the_card_of_a_role() {
        let roster = roster();
        let role = roster.role("reviewer").unwrap();
        let personalities: Vec<_> =
            role.personalities.iter().filter_map(|name| roster.catalogue.personality(name)).collect();
        let bounds = [
            (&roster.catalogue.boundaries[1], Bound::Scoped("spelling".to_owned())),
            (&roster.catalogue.boundaries[0], Bound::Owns),
        ];
        let colour = "#a89e4f".parse().unwrap();
        let card = Card { role, colour, personalities: &personalities, boundaries: &bounds, roster: &roster };
        snapbox::assert_data_eq!(card.text(), snapbox::file!["../tests/snapshots/card.md"].raw());
    }
}
