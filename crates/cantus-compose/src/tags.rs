//! The tags of a template, as far as their size matters: the template engine walks an expression by recursion, and bounds
//! brackets but not chains such as `a + a + …`, so that a long one would overflow the stack.

/// The most parts (names, numbers, texts, signs) that one tag may have: far above any tag that a person writes.
const MOST_PARTS: usize = 500;
/// The most `elif` in one template; each counts as nested in the one before.
const MOST_ELIFS: usize = 200;

/// The line (from 1) of the first tag that is too large, and what is wrong with it.
pub(crate) fn too_large(template: &str) -> Option<(usize, String)> {
    let line_of = |at: usize| template[..at].matches('\n').count() + 1;
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
        let tag = Tag::read(inside, if opener == "{{" { "}}" } else { "%}" });
        elifs += usize::from(opener == "{%" && tag.is_elif);
        if tag.parts > MOST_PARTS {
            return Some((line_of(start), format!("a tag has more than {MOST_PARTS} parts")));
        }
        if elifs > MOST_ELIFS {
            return Some((line_of(start), format!("more than {MOST_ELIFS} times `elif`")));
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
struct Tag {
    parts: usize,
    is_elif: bool,
    /// Bytes behind the opening mark, the closing one included.
    length: usize,
}

impl Tag {
    fn read(inside: &str, closer: &str) -> Self {
        let (mut parts, mut open, mut at) = (0, 0_isize, 0);
        let bytes = inside.as_bytes();
        let first = inside.trim_start_matches(['-', '+']).trim_ascii_start();
        let is_elif = first.starts_with("elif");
        while let Some(byte) = bytes.get(at) {
            if open == 0 && bytes[at..].starts_with(closer.as_bytes()) {
                return Self { parts, is_elif, length: at + closer.len() };
            }
            let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_' || !byte.is_ascii();
            let length = match byte {
                b'"' | b'\'' => text_length(&bytes[at..]),
                byte if is_word(byte) => bytes[at..].iter().take_while(|byte| is_word(byte)).count(),
                _ => 1,
            };
            match byte {
                b'(' | b'[' | b'{' => open += 1,
                b')' | b']' | b'}' => open -= 1,
                _ => {}
            }
            parts += usize::from(!byte.is_ascii_whitespace());
            at += length;
        }
        Self { parts, is_elif, length: at.min(bytes.len()) }
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
        assert_eq!(too_large(template).map(|(line, _)| line), expected);
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
}
