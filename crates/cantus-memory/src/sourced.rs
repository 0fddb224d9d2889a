//! Text whose every line knows where it came from.

/// Where one line came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Origin {
    /// Index into the sources of the section that holds the line.
    pub source: u32,
    /// The line in that source, counted from 1; 0 where no single line can be named.
    pub line: u32,
}

impl Origin {
    /// A line that no source holds, such as a blank one between generated parts.
    pub const NONE: Self = Self { source: u32::MAX, line: 0 };

    /// Line `line`, counted from 1, of the source with this index.
    #[must_use]
    pub fn new(source: usize, line: usize) -> Self {
        let small = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self { source: small(source), line: small(line) }
    }

    /// Whether it names a source at all.
    #[must_use]
    pub fn is_some(self) -> bool {
        self != Self::NONE
    }
}

/// Text in lines that each end in LF, with an [`Origin`] for each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourcedText {
    text: String,
    origins: Vec<Origin>,
}

impl SourcedText {
    /// Room for `bytes` of text.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes), origins: Vec::with_capacity(bytes / 32) }
    }

    /// Adds `line`, which holds no LF, and an LF.
    pub fn push(&mut self, line: &str, origin: Origin) {
        self.push_parts(&[line], origin);
    }

    /// Adds a line that is made of `parts`, which hold no LF, and an LF.
    pub(crate) fn push_parts(&mut self, parts: &[&str], origin: Origin) {
        parts.iter().for_each(|part| self.text.push_str(part));
        self.text.push('\n');
        self.origins.push(origin);
    }

    /// Adds every line of `text`, whose last may lack its LF; the one with index `n` (from 0) has the origin `origin(n)`. How
    /// many they were.
    pub(crate) fn push_lines(&mut self, text: &str, origin: impl Fn(usize) -> Origin) -> usize {
        let is_torn = !text.is_empty() && !text.ends_with('\n');
        let lines = memchr::memchr_iter(b'\n', text.as_bytes()).count() + usize::from(is_torn);
        self.text.push_str(text);
        self.text.extend(is_torn.then_some('\n'));
        self.origins.extend((0..lines).map(origin));
        lines
    }

    /// Adds every line of `other`.
    pub fn append(&mut self, other: &SourcedText) {
        self.text.push_str(&other.text);
        self.origins.extend_from_slice(&other.origins);
    }

    /// The text; empty or ending in LF.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// One origin a line.
    #[must_use]
    pub fn origins(&self) -> &[Origin] {
        &self.origins
    }

    /// The lines without their LF, each with its origin.
    pub fn lines(&self) -> impl Iterator<Item = (&str, Origin)> {
        self.text.split_terminator('\n').zip(self.origins.iter().copied())
    }

    /// Whether there is no line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }

    /// The same as the text of a section (§8.4): empty lines at both ends gone, one blank line at the end.
    #[must_use]
    pub fn into_section(mut self) -> Self {
        let leading = self.text.bytes().take_while(|byte| *byte == b'\n').count();
        let kept = self.text.trim_end_matches('\n').len().max(leading);
        let trailing = self.text.len() - kept;
        if leading == 0 && (1..=2).contains(&trailing) {
            if trailing == 1 {
                self.push("", Origin::NONE);
            }
            return self;
        }
        let mut text = self.text[leading..kept].to_owned();
        text.push_str("\n\n");
        let mut origins = self.origins;
        origins.drain(..leading.min(origins.len()));
        origins.resize(text.bytes().filter(|byte| *byte == b'\n').count(), Origin::NONE);
        if let Some(last) = origins.last_mut() {
            *last = Origin::NONE;
        }
        Self { text, origins }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sourced(lines: &[&str]) -> SourcedText {
        let mut text = SourcedText::default();
        for (index, line) in lines.iter().enumerate() {
            text.push(line, Origin::new(0, index + 1));
        }
        text
    }

    #[track_caller]
    fn check(lines: &[&str], text: &str, origins: &[u32]) {
        let section = sourced(lines).into_section();
        assert_eq!(section.text(), text);
        assert_eq!(section.origins().iter().map(|origin| origin.line).collect::<Vec<_>>(), origins);
    }

    #[test]
    fn a_section_ends_in_one_blank_line() {
        check(&["a", "b"], "a\nb\n\n", &[1, 2, 0]);
        check(&["a", "b", ""], "a\nb\n\n", &[1, 2, 3]);
        check(&["", "a", "", "", ""], "a\n\n", &[2, 0]);
    }

    #[test]
    fn blanks_within_and_white_space_stay() {
        check(&["a", "", "  ", ""], "a\n\n  \n\n", &[1, 2, 3, 4]);
    }

    #[test]
    fn nothing_is_two_line_feeds() {
        check(&[], "\n\n", &[0, 0]);
    }
}
