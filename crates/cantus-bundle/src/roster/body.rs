//! What the doctrine of a roster must look like: front matter, length, sections.

use crate::faults::Faults;

/// The most words of a role and of each side of a boundary.
const ROLE_WORDS: usize = 400;
/// The most words of a personality.
const PERSONALITY_WORDS: usize = 320;
/// The least paragraphs of a role.
const PARAGRAPHS: usize = 3;

/// The sections of a boundary in their order; the second may be absent.
const SIDES: [&str; 3] = [
    "## If you own this boundary",
    "## If you hold this boundary within a scope",
    "## If you defer this boundary",
];

/// The front matter's description and the body of a `SKILL.md` that is called `id`.
pub(crate) fn parts<'t>(bytes: &'t [u8], id: &str, faults: &mut Faults<'_>) -> Option<(&'t str, &'t str)> {
    let Ok(text) = std::str::from_utf8(bytes) else {
        faults.add("not UTF-8; save it as UTF-8");
        return None;
    };
    let Some((front, body)) = split(text) else {
        faults.at(1, "expected front matter: a first line `---`, and another `---` behind its keys");
        return None;
    };
    let value = |key: &str| {
        let found = front.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        found.map(str::trim).filter(|value| !value.is_empty())
    };
    let named = value("name") == Some(id);
    if !named {
        faults.at(1, format!("expected `name: {id}` in the front matter"));
    }
    let description = value("description");
    if description.is_none() {
        faults.at(1, "expected `description: …` in the front matter");
    }
    if body.trim().is_empty() {
        faults.add("nothing follows the front matter");
        return None;
    }
    named.then_some((description?, body))
}

/// The description of a skill, empty if it has none that can be read.
pub(crate) fn description(bytes: &[u8]) -> String {
    let text = std::str::from_utf8(bytes).unwrap_or_default();
    let front = split(text).map_or("", |(front, _)| front);
    let found = front.lines().find_map(|line| line.strip_prefix("description: "));
    let value = found.unwrap_or_default().trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    quoted.unwrap_or(value).to_owned()
}

/// Front matter and body.
fn split(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix("---\n").or_else(|| text.strip_prefix("---\r\n"))?;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

/// Checks a role's doctrine.
pub(crate) fn check_role(text: &str, faults: &mut Faults<'_>) {
    check_words(text, ROLE_WORDS, "the doctrine of a role", faults);
    let paragraphs = paragraphs(text);
    if paragraphs < PARAGRAPHS {
        faults.add(format!(
            "the doctrine of a role has {paragraphs} paragraphs; expected {PARAGRAPHS} at least"
        ));
    }
}

/// Checks a personality's body.
pub(crate) fn check_personality(text: &str, faults: &mut Faults<'_>) {
    check_words(text, PERSONALITY_WORDS, "a personality", faults);
}

/// Checks that a boundary's body has its sides, in their order.
pub(crate) fn check_boundary(text: &str, faults: &mut Faults<'_>) {
    let found: Vec<_> = text.lines().map(str::trim_end).filter(|line| SIDES.contains(line)).collect();
    let [own, scope, defer] = SIDES;
    if found != [own, defer] && found != [own, scope, defer] {
        faults.add(format!("expected the headings `{own}`, perhaps `{scope}`, then `{defer}`, each once"));
        return;
    }
    let mut rest = text;
    for side in found.iter().rev() {
        if let Some(at) = rest.rfind(side) {
            check_words(&rest[at + side.len()..], ROLE_WORDS, "a side of a boundary", faults);
            rest = &rest[..at];
        }
    }
}

fn check_words(text: &str, most: usize, what: &str, faults: &mut Faults<'_>) {
    let words = untitled(text).split_whitespace().count();
    if words > most {
        faults.add(format!("{what} has {words} words; expected {most} at most"));
    }
}

fn paragraphs(text: &str) -> usize {
    let mut count = 0;
    let mut inside = false;
    for line in untitled(text).lines() {
        let blank = line.trim().is_empty();
        count += usize::from(!blank && !inside);
        inside = !blank;
    }
    count
}

/// The text without its first line if that is a title.
fn untitled(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix("# ") {
        Some(rest) => rest.split_once('\n').map_or("", |(_, rest)| rest),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(judge: impl FnOnce(&mut Faults<'_>), expected: &[&str]) {
        let mut found = Vec::new();
        judge(&mut Faults::new("x", "f", &mut found));
        let found: Vec<_> = found.into_iter().map(|fault| fault.message).collect();
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn front(text: &str, expected: &[&str]) {
        check(
            |faults| {
                let _ = parts(text.as_bytes(), "a", faults);
            },
            expected,
        );
    }

    #[test]
    fn front_matter() {
        front("---\nname: a\ndescription: d\n---\nx\n", &[]);
        front("---\r\nname: a\r\ndescription: d\r\n---\r\nx\r\n", &[]);
        front("x", &["expected front matter: a first line `---`, and another `---` behind its keys"]);
        front("---\nname: b\ndescription: d\n---\nx\n", &["expected `name: a` in the front matter"]);
        front("---\nname: a\n---\nx\n", &["expected `description: …` in the front matter"]);
        front("---\nname: a\ndescription: d\n---\n \n", &["nothing follows the front matter"]);
        assert_eq!(description(b"---\ndescription: \"d e\"\n---\nx"), "d e");
    }

    #[test]
    fn roles() {
        check(|faults| check_role("# T\n\na\n\nb\n\nc\n", faults), &[]);
        check(
            |faults| check_role("# T\n\na\nb\n\nc\n", faults),
            &["the doctrine of a role has 2 paragraphs; expected 3 at least"],
        );
        let long = format!("# T\n\na\n\nb\n\n{}", "w ".repeat(399));
        check(
            |faults| check_role(&long, faults),
            &["the doctrine of a role has 401 words; expected 400 at most"],
        );
    }

    #[test]
    fn boundaries() {
        let [own, scope, defer] = SIDES;
        check(|faults| check_boundary(&format!("# T\n{own}\na\n{defer}\nb"), faults), &[]);
        check(|faults| check_boundary(&format!("{own}\na\n{scope}\nb\n{defer}\nc"), faults), &[]);
        let wrong = [format!("{own}\na"), format!("{defer}\na\n{own}\nb"), format!("{own}\n{own}\n{defer}")];
        for text in wrong {
            let mut found = Vec::new();
            check_boundary(&text, &mut Faults::new("x", "f", &mut found));
            assert_eq!(found.len(), 1, "{text}");
        }
        let long = format!("{own}\n{}\n{defer}\nb", "w ".repeat(401));
        check(
            |faults| check_boundary(&long, faults),
            &["a side of a boundary has 401 words; expected 400 at most"],
        );
    }
}
