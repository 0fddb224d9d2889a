//! What people usually did where front matter isn't YAML.

/// A usual mistake in a front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    /// The line in the YAML, counted from 1.
    pub(crate) line: u32,
    /// What is wrong there and what was expected.
    pub(crate) message: String,
    /// What to do.
    pub(crate) help: String,
}

/// What a value can't start with unless it is quoted, and what each is taken for.
const LEADS: [(char, &str); 10] = [
    ('`', "nothing in YAML"),
    ('@', "nothing in YAML"),
    ('%', "a directive"),
    ('*', "the name of another value"),
    ('&', "a name for this value"),
    ('!', "a tag"),
    ('[', "a list"),
    ('{', "a mapping"),
    ('-', "an entry of a list"),
    ('?', "a key"),
];

/// The longest value that a help repeats, in bytes.
const LONGEST: usize = 80;

/// The first usual mistake in `block`, which the parser refused at `line`; `None` if it has none that is known.
pub(crate) fn mistake(block: &str, line: u32) -> Option<Mistake> {
    let lines: Vec<&str> = block.lines().collect();
    let last = usize::try_from(line).unwrap_or(usize::MAX).max(1);
    let numbered = || (1..).zip(lines.iter().copied());
    // A quote that stays open is refused where the block ends, or where a later one closes it.
    if let Some((number, key, quote)) = numbered().find_map(|(number, line)| open_quote(number, line)) {
        return Some(Mistake {
            line: number,
            message: format!("the quote {quote} behind `{key}:` isn't closed on its line"),
            help: format!("put {quote} at the end of the value, or take the first one away"),
        });
    }
    // A value may go on where the next line starts.
    numbered().take(last.saturating_add(1)).find_map(|(number, line)| of_line(number, line))
}

/// The line that looks like the start of the text in a front matter without end; `None` if all may be front matter.
pub(crate) fn first_text(block: &str) -> Option<u32> {
    let lines = (1..).zip(block.lines());
    let mut texts = lines.filter(|(_, line)| !line.trim().is_empty() && !may_be_yaml(line));
    texts.next().map(|(number, _)| number)
}

fn may_be_yaml(line: &str) -> bool {
    let is_inner = line.starts_with([' ', '\t', '-', '}', ']']);
    is_inner
        || key(line).is_some()
        || line.starts_with('#') && !line.starts_with("# ") && !line.starts_with("##")
}

fn of_line(number: u32, line: &str) -> Option<Mistake> {
    let found = |message: String, help: String| Some(Mistake { line: number, message, help });
    let indent = &line[..line.len() - line.trim_start().len()];
    if indent.contains('\t') {
        let help = "put blanks in its place, two for each level".to_owned();
        return found("a tab indents this line; YAML expects blanks".to_owned(), help);
    }
    let inner = line.trim_start();
    let inner = inner.strip_prefix("- ").unwrap_or(inner);
    if inner.is_empty() || inner.starts_with('#') {
        return None;
    }
    let Some((name, value)) = key(inner) else {
        return (indent.is_empty() && !may_be_yaml(line)).then(|| no_key(number, line));
    };
    let value = value.trim();
    let quoted = || match value.len() {
        0..=LONGEST => format!("quote the value: `{name}: {}`", quoted(value)),
        _ => format!("put the value of `{name}` into double quotes"),
    };
    if let Some(quote) = value.chars().next().filter(|first| ['"', '\''].contains(first)) {
        let rest = behind_quote(value, quote)?.trim_start();
        let is_more = !rest.is_empty() && !rest.starts_with('#');
        let message = format!("text follows the closing {quote} of the value");
        return if is_more { found(message, quoted()) } else { None };
    }
    if let Some((lead, taken)) = LEADS.iter().find(|(lead, _)| value.starts_with(*lead)) {
        let is_whole = (*lead == '[' && value.ends_with(']')) || (*lead == '{' && value.ends_with('}'));
        if is_whole || (*lead == '-' && !value.starts_with("- ")) {
            return None;
        }
        return found(format!("a value that starts with `{lead}` is {taken} unless it is quoted"), quoted());
    }
    if value.contains(": ") || value.ends_with(':') {
        return found("a colon in the value makes it a second key unless it is quoted".to_owned(), quoted());
    }
    None
}

/// What to say of a line at the margin that is no key.
fn no_key(number: u32, line: &str) -> Mistake {
    let word =
        |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    if let Some((name, value)) = line.split_once(':').filter(|(name, value)| word(name) && !value.is_empty())
    {
        return Mistake {
            line: number,
            message: "no blank follows the colon: expected `key: value`".to_owned(),
            help: format!("write `{name}: {value}`"),
        };
    }
    Mistake {
        line: number,
        message: "this line is no `key: value`".to_owned(),
        help: "if the note's text starts here, put the closing line `---` above it; else write `key: value`"
            .to_owned(),
    }
}

/// Whether a line is of dashes alone, those that word processors make of `---` among them, and isn't `---` itself.
pub(crate) fn dashes(line: &str) -> bool {
    let line = line.trim();
    line != "---"
        && !line.is_empty()
        && line.chars().all(|c| matches!(c, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}'))
}

/// A key at the start of a line and what follows its colon.
pub(crate) fn key(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once(':')?;
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
    (is_name && (value.is_empty() || value.starts_with([' ', '\t']))).then_some((name, value))
}

/// The line, key and quote of a value whose quote isn't closed where its line ends.
fn open_quote(number: u32, line: &str) -> Option<(u32, &str, char)> {
    let inner = line.trim_start();
    let (name, value) = key(inner.strip_prefix("- ").unwrap_or(inner))?;
    let value = value.trim();
    let quote = value.chars().next().filter(|first| ['"', '\''].contains(first))?;
    behind_quote(value, quote).is_none().then_some((number, name, quote))
}

/// What follows the quote that closes `value`, which starts with `quote`; `None` if none does.
fn behind_quote(value: &str, quote: char) -> Option<&str> {
    let inside = &value[1..];
    let mut chars = inside.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            if quote == '\'' && chars.peek().is_some_and(|(_, next)| *next == '\'') {
                chars.next();
                continue;
            }
            return Some(&inside[at + 1..]);
        }
    }
    None
}

/// A value in the quotes that need the fewest changes.
fn quoted(value: &str) -> String {
    if value.contains(['"', '\\']) {
        format!("'{}'", value.replace('\'', "''"))
    } else {
        format!("\"{value}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(block: &str, line: u32, message: &str, help: &str) {
        let error = crate::yaml::parse(block).map_or_else(|error| error.line, |_| 1);
        let found = mistake(block, error).unwrap_or_else(|| panic!("no mistake in {block:?}"));
        assert_eq!(found.line, line, "{found:?}");
        assert!(found.message.contains(message), "{found:?}");
        assert!(found.help.contains(help), "{found:?}");
    }

    #[test]
    fn tabs() {
        check("type: core\naliases:\n\t- x\n", 3, "a tab indents", "blanks");
        check("type: core\n\tdescription: x\n", 2, "a tab indents", "blanks");
    }

    #[test]
    fn colons() {
        check("type: core\ndescription: Use: it\n", 2, "a colon", "`description: \"Use: it\"`");
        check("description: say \"a\": b\n", 1, "a colon", "`description: 'say \"a\": b'`");
        check("type:core\n", 1, "no blank", "`type: core`");
    }

    #[test]
    fn quotes() {
        check("type: core\ndescription: \"abc\nparent: x\n", 2, "isn't closed", "at the end");
        check("description: 'it''s\n", 1, "isn't closed", "at the end");
        check("description: 'it's fine'\n", 1, "text follows", "quote the value");
        check("description: \"a\" b\n", 1, "text follows", "'\"a\" b'");
    }

    #[test]
    fn leads() {
        check("description: `x` is\n", 1, "starts with ``` is nothing", "\"`x` is\"");
        check("description: @x\n", 1, "starts with `@`", "\"@x\"");
        check("description: *x*\n", 1, "starts with `*`", "\"*x*\"");
        check("description: [[a]] b\n", 1, "starts with `[`", "\"[[a]] b\"");
        check("description: - x\n", 1, "starts with `-`", "\"- x\"");
    }

    #[test]
    fn texts_in_an_unclosed_front_matter() {
        check("type: core\n\nSome text.\n", 3, "no `key: value`", "closing line `---`");
        assert_eq!(first_text("type: core\n# Title\n\ntext\n"), Some(2));
        assert_eq!(first_text("type: core\ndescription: x\n"), None);
    }

    #[test]
    fn what_is_right_is_no_mistake() {
        for block in [
            "type: core\n",
            "aliases: [a, b]\n",
            "d: 'it''s'\n",
            "d: \"a \\\" b\"\n",
            "#x\nn: -1\n",
            "m:\n  a: b\n",
        ] {
            assert_eq!(mistake(block, 99), None, "{block}");
        }
    }
}
