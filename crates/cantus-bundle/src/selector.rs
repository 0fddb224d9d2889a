//! Patterns that admit skills by their ids.

use std::fmt;

use thiserror::Error;

/// A pattern over whole ids: `*` any text, `?` any one character, `[a-z]` one of these, `[^a]` one of the others, `\` before a
/// character that means itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    text: String,
    tokens: Vec<Token>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    Many,
    One,
    Exactly(char),
    Among { ranges: Vec<(char, char)>, negated: bool },
}

/// Why a text is no pattern.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("`{}` is no pattern: {fault}", .pattern.escape_debug())]
pub struct PatternError {
    pattern: String,
    fault: &'static str,
}

/// Why patterns don't fit the skills that they choose from.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum SelectError {
    /// No pattern at all, where some are asked for.
    #[error("an empty list of patterns admits nothing; leave it out to admit every skill")]
    Empty,
    /// A pattern admits nothing.
    #[error("{} `{}` matches no skill", if .0.is_literal() { "the name" } else { "the pattern" }, .0)]
    Unmatched(Pattern),
    /// Two patterns admit the same skill.
    #[error("the skill `{skill}` is matched by `{first}` and by `{second}`")]
    Overlap {
        /// The skill.
        skill: String,
        /// One pattern.
        first: Pattern,
        /// The other.
        second: Pattern,
    },
}

impl Pattern {
    /// Reads a pattern, which is not empty and has no `/`.
    pub fn new(text: &str) -> Result<Self, PatternError> {
        let wrong = |fault| PatternError { pattern: text.to_owned(), fault };
        if text.is_empty() {
            return Err(wrong("it is empty"));
        }
        let mut tokens = Vec::new();
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            tokens.push(match c {
                '*' => Token::Many,
                '?' => Token::One,
                '/' => return Err(wrong("an id has no `/`")),
                '\\' => Token::Exactly(chars.next().ok_or_else(|| wrong("nothing follows its `\\`"))?),
                '[' => class(&mut chars).map_err(wrong)?,
                c => Token::Exactly(c),
            });
        }
        Ok(Self { text: text.to_owned(), tokens })
    }

    /// Whether it matches the whole of `id`.
    #[must_use]
    pub fn matches(&self, id: &str) -> bool {
        let id: Vec<char> = id.chars().collect();
        // `reached[n]`: what came so far can match the first `n` characters.
        let mut reached = vec![false; id.len() + 1];
        reached[0] = true;
        for token in &self.tokens {
            let mut next = vec![false; id.len() + 1];
            match token {
                Token::Many => {
                    let mut open = false;
                    for (next, reached) in next.iter_mut().zip(&reached) {
                        open |= reached;
                        *next = open;
                    }
                }
                token => {
                    for (at, c) in id.iter().enumerate() {
                        next[at + 1] = reached[at] && token.takes(*c);
                    }
                }
            }
            reached = next;
        }
        reached[id.len()]
    }

    /// Whether it is a plain name.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.tokens.iter().all(|token| matches!(token, Token::Exactly(_)))
    }
}

/// As it was written.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.escape_debug().fmt(f)
    }
}

impl Token {
    fn takes(&self, c: char) -> bool {
        match self {
            Self::Many => false,
            Self::One => true,
            Self::Exactly(own) => *own == c,
            Self::Among { ranges, negated } => {
                ranges.iter().any(|(low, high)| (*low..=*high).contains(&c)) != *negated
            }
        }
    }
}

/// What stands between brackets, the first of which is read already.
fn class(chars: &mut std::str::Chars<'_>) -> Result<Token, &'static str> {
    const OPEN: &str = "its `[` is not closed";
    let negated = chars.as_str().starts_with('^');
    if negated {
        chars.next();
    }
    let mut ranges = Vec::new();
    loop {
        let low = match chars.next().ok_or(OPEN)? {
            ']' if ranges.is_empty() => return Err("its brackets are empty"),
            ']' => return Ok(Token::Among { ranges, negated }),
            '-' => return Err("a range in its brackets has no start"),
            '/' => return Err("an id has no `/`"),
            '\\' => chars.next().ok_or(OPEN)?,
            c => c,
        };
        let mut high = low;
        if chars.as_str().starts_with('-') {
            chars.next();
            high = match chars.next().ok_or(OPEN)? {
                ']' => return Err("a range in its brackets has no end"),
                '\\' => chars.next().ok_or(OPEN)?,
                c => c,
            };
        }
        if low > high {
            return Err("a range in its brackets runs backwards");
        }
        ranges.push((low, high));
    }
}

/// Which of `ids` the patterns admit, in the order of `ids`. Each pattern must admit one at least, none two patterns the same.
pub fn select(patterns: &[Pattern], ids: &[&str]) -> Result<Vec<bool>, SelectError> {
    if patterns.is_empty() {
        return Err(SelectError::Empty);
    }
    if let Some(idle) = patterns.iter().find(|pattern| !ids.iter().any(|id| pattern.matches(id))) {
        return Err(SelectError::Unmatched(idle.clone()));
    }
    let admitted = |id: &&str| {
        let mut matching = patterns.iter().filter(|pattern| pattern.matches(id));
        match (matching.next(), matching.next()) {
            (Some(first), Some(second)) => Err(SelectError::Overlap {
                skill: (*id).to_owned(),
                first: first.clone(),
                second: second.clone(),
            }),
            (first, _) => Ok(first.is_some()),
        }
    };
    ids.iter().map(admitted).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pattern: &str, taken: &[&str], refused: &[&str]) {
        let pattern = Pattern::new(pattern).unwrap();
        assert!(taken.iter().all(|id| pattern.matches(id)), "{pattern} takes {taken:?}");
        assert!(!refused.iter().any(|id| pattern.matches(id)), "{pattern} refuses {refused:?}");
    }

    #[test]
    fn what_patterns_match() {
        check("rust-*", &["rust-", "rust-api"], &["rust", "a-rust-b"]);
        check("*", &["", "x"], &[]);
        check("a?c", &["abc", "aéc"], &["ac", "abbc"]);
        check("[a-c]x[^y]", &["axz", "cx-"], &["dxz", "axy"]);
        check("\\*[\\]\\-]*", &["*]", "*-x"], &["x]"]);
        check("*a*b*", &["ab", "xaxbx"], &["ba"]);
    }

    #[test]
    fn what_is_no_pattern() {
        for text in ["", "[", "[a", "[]", "[^]", "a\\", "[a-", "[a-]", "[-a]", "[b-a]", "a/b", "[\\"] {
            assert!(Pattern::new(text).is_err(), "{text:?}");
        }
    }

    #[track_caller]
    fn selects(patterns: &[&str], expected: Result<&str, &str>) {
        let patterns: Vec<_> = patterns.iter().map(|text| Pattern::new(text).unwrap()).collect();
        let ids = ["one", "three", "two"];
        let got = select(&patterns, &ids).map(|admitted| {
            let ids = ids.iter().zip(admitted).filter(|(_, admitted)| *admitted);
            ids.map(|(id, _)| *id).collect::<Vec<_>>().join(" ")
        });
        assert_eq!(
            got.map_err(|error| error.to_string()),
            expected.map(str::to_owned).map_err(str::to_owned)
        );
    }

    #[test]
    fn what_patterns_select() {
        selects(&["two", "o*"], Ok("one two"));
        selects(&[], Err("an empty list of patterns admits nothing; leave it out to admit every skill"));
        selects(&["four"], Err("the name `four` matches no skill"));
        selects(&["t*", "f*"], Err("the pattern `f*` matches no skill"));
        selects(&["t*", "two"], Err("the skill `two` is matched by `t*` and by `two`"));
    }
}
