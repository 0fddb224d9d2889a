//! Attributes of a package's headings: `## Repositories {#repos .required}`.

/// What the braces at the end of a heading say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) id: Option<String>,
    pub(crate) root: bool,
    pub(crate) helper: bool,
    pub(crate) required: bool,
}

/// A heading line without its attributes, and the attributes; an error says what is wrong with them.
pub(crate) fn split(line: &str) -> Result<(&str, Attributes), String> {
    let trimmed = line.trim_end();
    let Some(open) = trimmed.strip_suffix('}').and_then(|rest| rest.rfind('{')) else {
        return Ok((line, Attributes::default()));
    };
    let inside = &trimmed[open + 1..trimmed.len() - 1];
    if !inside.trim_start().starts_with(['#', '.']) {
        return Ok((line, Attributes::default()));
    }
    let mut attributes = Attributes::default();
    for word in inside.split_whitespace() {
        match (word.strip_prefix('#'), word) {
            (Some(_), _) if attributes.id.is_some() => {
                return Err("a heading can have one id only".to_owned());
            }
            (Some(id), _) if is_id(id) => attributes.id = Some(id.to_owned()),
            (Some(id), _) => {
                return Err(format!("`{id}` is no id: expected parts of `[A-Za-z0-9_-]` with dots between"));
            }
            (None, ".root") => attributes.root = true,
            (None, ".helper") => attributes.helper = true,
            (None, ".required") => attributes.required = true,
            _ => {
                return Err(format!(
                    "unknown heading attribute `{word}`: expected `#id`, `.root`, `.helper` or `.required`"
                ));
            }
        }
    }
    if attributes.root && attributes.helper {
        return Err(
            "a section is for root agents or for helpers, not for both: drop `.root` or `.helper`".to_owned()
        );
    }
    Ok((trimmed[..open].trim_end(), attributes))
}

fn is_id(id: &str) -> bool {
    id.split('.').all(|part| {
        !part.is_empty()
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_with_and_without() {
        assert_eq!(split("## A"), Ok(("## A", Attributes::default())));
        assert_eq!(split("## A {b}"), Ok(("## A {b}", Attributes::default())));
        let (text, attributes) = split("## A {#root.x .root .required}  ").unwrap();
        assert_eq!((text, attributes.id.as_deref()), ("## A", Some("root.x")));
        assert!(attributes.root && attributes.required && !attributes.helper);
    }

    #[test]
    fn faults() {
        for line in
            ["## A {#a b}", "## A {#}", "## A {#a..b}", "## A {#a #b}", "## A {.rot}", "## A {.root .helper}"]
        {
            assert!(split(line).is_err(), "{line}");
        }
    }
}
