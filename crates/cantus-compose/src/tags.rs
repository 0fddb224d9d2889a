//! The tags of a template: how large they may be, and what they may say.
//!
//! The template engine walks an expression by recursion, and bounds brackets but not chains such as `a ~ a ~ …`, so that a long
//! one would overflow the stack.

use cantus_memory::shortened;

use crate::language::{self, Kind};

/// The most parts (names, numbers, texts, signs) that one tag may have: far above any tag that a person writes.
const MOST_PARTS: usize = 500;
/// The most `elif` in one template; each counts as nested in the one before.
const MOST_ELIFS: usize = 200;

/// What is wrong with a tag.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TagFault {
    /// The line on which it starts, counted from 1.
    pub(crate) line: usize,
    pub(crate) message: String,
    pub(crate) help: String,
}

/// The first tag that is too large, or says what no contract may.
pub(crate) fn fault(template: &str) -> Option<TagFault> {
    let mut elifs = 0;
    let mut at = 0;
    while let Some((start, opener)) = next_tag(template, at) {
        let inside = &template[start + 2..];
        if opener == "<#" {
            at = inside.find("#>").map(|end| start + 2 + end + 2)?;
            continue;
        }
        if let Some(raw) = (opener == "{%").then(|| plain_tag(inside, "raw")).flatten() {
            at = start + 2 + raw + end_of_raw(&inside[raw..])?;
            continue;
        }
        let (closer, kind) = if opener == "{{" { ("}}", Kind::Expression) } else { ("%}", Kind::Statement) };
        let tag = Tag::read(inside, closer);
        elifs += usize::from(kind == Kind::Statement && tag.parts.first() == Some(&"elif"));
        let several = || "make several tags of it".to_owned();
        let found = if tag.count > MOST_PARTS {
            Some((format!("a tag has more than {MOST_PARTS} parts"), several()))
        } else if elifs > MOST_ELIFS {
            Some((format!("more than {MOST_ELIFS} times `elif`"), several()))
        } else {
            let refused = language::refused(&tag.parts, kind);
            refused.map(|message| (shortened(&message).into_owned(), language::help()))
        };
        if let Some((message, help)) = found {
            let line = template[..start].matches('\n').count() + 1;
            return Some(TagFault { line, message, help });
        }
        at = start + 2 + tag.length;
    }
    None
}

/// The next place from `at` on where a tag or a comment starts, and with what.
fn next_tag(template: &str, at: usize) -> Option<(usize, &'static str)> {
    let bytes = template.as_bytes();
    let mut at = at;
    loop {
        at += memchr::memchr2(b'{', b'<', bytes.get(at..)?)?;
        let opener = ["{{", "{%", "<#"].into_iter().find(|opener| bytes[at..].starts_with(opener.as_bytes()));
        match opener {
            Some(opener) => return Some((at, opener)),
            None => at += 1,
        }
    }
}

/// Where the text behind a tag ends that holds `name` alone; `None` if it is another one.
fn plain_tag(inside: &str, name: &str) -> Option<usize> {
    let rest = inside
        .strip_prefix(['-', '+'])
        .unwrap_or(inside)
        .trim_ascii_start()
        .strip_prefix(name)?
        .trim_ascii_start();
    let rest = rest.strip_prefix(['-', '+']).unwrap_or(rest).strip_prefix("%}")?;
    Some(inside.len() - rest.len())
}

/// Where a raw block ends, its closing tag included.
fn end_of_raw(text: &str) -> Option<usize> {
    text.match_indices("{%").find_map(|(at, _)| Some(at + 2 + plain_tag(&text[at + 2..], "endraw")?))
}

/// One tag, read up to its end or to that of the template.
struct Tag<'a> {
    /// Names, numbers, texts and single signs, at most [`MOST_PARTS`] of them, without the signs that trim white space.
    parts: Vec<&'a str>,
    /// How many there are.
    count: usize,
    /// Bytes behind the opening mark, the closing one included.
    length: usize,
}

impl<'a> Tag<'a> {
    fn read(inside: &'a str, closer: &str) -> Self {
        let bytes = inside.as_bytes();
        let trims = |byte: &u8| matches!(byte, b'-' | b'+');
        let (mut parts, mut count, mut open) = (Vec::new(), 0, 0_isize);
        let mut at = usize::from(bytes.first().is_some_and(trims));
        while let Some(byte) = bytes.get(at) {
            let rest = &bytes[at..];
            let end = if trims(byte) { &rest[1..] } else { rest };
            if open == 0 && end.starts_with(closer.as_bytes()) {
                at = bytes.len() - end.len() + closer.len();
                break;
            }
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
            let length = match byte {
                b'"' | b'\'' => text_length(rest),
                byte if is_word(byte) => rest.iter().take_while(|byte| is_word(byte)).count(),
                _ => 1,
            };
            match byte {
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' => open -= 1,
                _ => {}
            }
            if !byte.is_ascii_whitespace() {
                count += 1;
                parts.extend((count <= MOST_PARTS).then(|| &inside[at..at + length]));
            }
            at += length;
        }
        Self { parts, count, length: at.min(bytes.len()) }
    }
}

/// The bytes of a quoted text, its marks included.
fn text_length(bytes: &[u8]) -> usize {
    let mut escaped = false;
    let end = bytes.iter().skip(1).position(|byte| {
        let is_end = !escaped && *byte == bytes[0];
        escaped = !escaped && *byte == b'\\';
        is_end
    });
    end.map_or(bytes.len(), |end| end + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(template: &str, expected: Option<usize>) {
        let found = fault(template).filter(|fault| fault.help == "make several tags of it");
        assert_eq!(found.map(|fault| fault.line), expected);
    }

    fn times(text: &str) -> String {
        text.repeat(MOST_PARTS)
    }

    #[test]
    fn chains_are_counted_in_their_tag() {
        check(&format!("a\n{{{{ 1{} }}}}", times("+1")), Some(2));
        check(&format!("a\n{{% if not\n{} 1 %}}", times("not ")), Some(2));
        check(&format!("{{{{ \"}}}}\" {} }}}}", times("|f")), Some(1));
        check(&format!("{{{{ {{'a': {{}}}} {} }}}}", times("~1")), Some(1));
        check(&times("{{ 1 + 1 }}\n"), None);
        check(&times("{% if a %}{% endif %}"), None);
    }

    #[test]
    fn texts_comments_and_raw_blocks_are_no_chains() {
        check(&format!("{{{{ \"{}\" }}}}", times("+1\\\"")), None);
        check(&format!("<# {} #>", times("{{ +1 ")), None);
        check(&format!("{{%- raw -%}} {{{{ {} {{% endraw %}}", times("+1")), None);
        check(&format!("{} {{ < {{", times("+1")), None);
        check(&format!("{{% raw %}}{{% endraw %}}\n{{{{ 1{} }}}}", times("+1")), Some(2));
    }

    #[test]
    fn elifs_are_counted_together() {
        check(&format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}\n".repeat(MOST_ELIFS)), None);
        check(
            &format!("{{% if a %}}{}{{% endif %}}", "{% elif a %}\n".repeat(MOST_ELIFS + 1)),
            Some(MOST_ELIFS + 1),
        );
    }
    #[track_caller]
    fn check_refused(tag: &str, expected: &str) {
        let found = fault(&format!("a\n{tag}\n")).map(|fault| format!("{}: {}", fault.line, fault.message));
        assert_eq!(found.as_deref(), Some(format!("2: {expected}").as_str()), "{tag}");
    }

    #[test]
    fn what_makes_lists_is_refused() {
        let (lists, mappings) = ("a contract makes no lists", "a contract makes no mappings");
        for tag in
            ["{% set a = [a] %}", "{{ [] }}", "{% for x in [1] %}", "{{ f|default([]) }}", "{{ (a, a) }}"]
        {
            check_refused(tag, lists);
        }
        for tag in ["{{ a, a }}", "{% set a = a, a %}", "{{ a[1, 2] }}", "{{ not [1] }}", "{{ a == [1] }}"] {
            check_refused(tag, lists);
        }
        check_refused("{{ {'a': 1} }}", mappings);
        check_refused("{%- set a = {} -%}", mappings);
        for sign in ["+", "*", "**"] {
            check_refused(&format!("{{{{ a {sign} 2 }}}}"), &format!("a contract has no `{}`", &sign[..1]));
        }
        for filter in ["batch", "slice", "zip", "list", "map", "items", "groupby", "nonesuch"] {
            let said = format!("a contract has no filter `{filter}`");
            check_refused(&format!("{{{{ a | {filter} }}}}"), &said);
            check_refused(&format!("{{% if a|{filter}(2) %}}"), &said);
        }
        for callee in ["dict", "namespace", "debug", "loop", "x", "]", "\"t\""] {
            check_refused(&format!("{{{{ {callee}(a) }}}}"), &format!("a contract calls no `{callee}`"));
        }
        check_refused("{{ a.range(1) }}", "a contract calls no `range`");
        for statement in
            ["macro m()", "call m()", "with a = 1", "filter upper", "autoescape true", "do x", "include y"]
        {
            let word = statement.split(' ').next().unwrap_or_default();
            check_refused(&format!("{{%+ {statement} %}}"), &format!("a contract has no `{word}`"));
        }
    }

    #[test]
    fn what_a_contract_needs_is_allowed() {
        for tag in [
            "{% for r in repositories if r.home and not r.name in project %}{{ r.name ~ ', ' }}{% endfor %}",
            "{%- if (a or b) and not (c == \"[+]\") -%}x{%- elif a is not defined +%}{%+ endif %}",
            "{{ plugins[0] }}{{ plugins|join(', ') }}{{ (a|upper)[1:3] }}{{ repositories[0].name[0] }}",
            "{% set a = -1 %}{% for i in range(1, 3) %}{{ loop.index - 1 }}{% endfor %}{{- a|default('x', true) -}}",
            "{{ repositories|selectattr('home')|join(', ', attribute='name') }}{{ a is divisibleby(3) }}",
            "{% raw %}{{ [1] + 2 }}{% endraw %}<# {{ [1] }} #>{{ '}}' }}",
            "{% set a %}text{% endset %}",
        ] {
            assert_eq!(fault(tag), None, "{tag}");
        }
    }
}
