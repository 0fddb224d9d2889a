//! Which sections of a committed file are what the lock says, and which were edited.

use std::ops::Range;

use cantus_manifest::Digest;

use crate::lock::LockedSection;

/// A stretch of a file that is not what the lock says, and the sections that should stand there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Gap {
    /// Bytes of the file; may be empty, where something was removed.
    pub(crate) bytes: Range<usize>,
    /// Indices of the sections; may be empty, where something was added between two.
    pub(crate) sections: Range<usize>,
}

/// How many bytes may be hashed in search of sections that moved.
const EFFORT: usize = 64 << 20;

/// The gaps of `body`, a bundle's bytes, against the sections that the lock lists for it; none if all is as it was written.
pub(crate) fn gaps(body: &[u8], sections: &[&LockedSection]) -> Vec<Gap> {
    let mut search = Search { body, sections, effort: EFFORT, gaps: Vec::new() };
    search.between(0..body.len(), 0..sections.len());
    search.gaps
}

/// The sections that stand in `body` as the lock says: their indices and bytes, in order.
pub(crate) fn intact(body: &[u8], sections: &[&LockedSection]) -> Vec<(usize, Range<usize>)> {
    let mut intact = Vec::new();
    let (mut next, mut at) = (0, 0);
    let end = Gap { bytes: body.len()..body.len(), sections: sections.len()..sections.len() };
    for gap in gaps(body, sections).into_iter().chain([end]) {
        for (index, section) in sections.iter().enumerate().take(gap.sections.start).skip(next) {
            intact.push((index, at..at + section.bytes));
            at += section.bytes;
        }
        (next, at) = (gap.sections.end, gap.bytes.end);
    }
    intact
}

struct Search<'a> {
    body: &'a [u8],
    sections: &'a [&'a LockedSection],
    effort: usize,
    gaps: Vec<Gap>,
}

impl Search<'_> {
    /// Finds the gaps in a stretch of the body that should be this range of sections.
    fn between(&mut self, bytes: Range<usize>, sections: Range<usize>) {
        let (mut bytes, mut sections) = (bytes, sections);
        while let Some(next) = self.matches_start(&bytes, &sections) {
            bytes.start = next;
            sections.start += 1;
        }
        while let Some(next) = self.matches_end(&bytes, &sections) {
            bytes.end = next;
            sections.end -= 1;
        }
        if bytes.is_empty() && sections.is_empty() {
            return;
        }
        match self.island(&bytes, &sections) {
            None => self.gaps.push(Gap { bytes, sections }),
            Some((index, at)) => {
                let end = at + self.sections[index].bytes;
                self.between(bytes.start..at, sections.start..index);
                self.between(end..bytes.end, index + 1..sections.end);
            }
        }
    }

    fn matches_start(&self, bytes: &Range<usize>, sections: &Range<usize>) -> Option<usize> {
        let section = self.sections[sections.clone()].first()?;
        let end = bytes.start.checked_add(section.bytes).filter(|end| *end <= bytes.end)?;
        self.is_at(section, bytes.start).then_some(end)
    }

    fn matches_end(&self, bytes: &Range<usize>, sections: &Range<usize>) -> Option<usize> {
        let section = self.sections[sections.clone()].last()?;
        let start = bytes.end.checked_sub(section.bytes).filter(|start| *start >= bytes.start)?;
        self.is_at(section, start).then_some(start)
    }

    fn is_at(&self, section: &LockedSection, start: usize) -> bool {
        let slice = &self.body[start..start + section.bytes];
        section.bytes > 0 && slice.ends_with(b"\n\n") && Digest::of(slice) == section.sha256
    }

    /// A section within the stretch that stands whole at the start of some line: its index and its first byte.
    fn island(&mut self, bytes: &Range<usize>, sections: &Range<usize>) -> Option<(usize, usize)> {
        let starts: Vec<usize> = self.starts(bytes).collect();
        for index in sections.clone() {
            let section = self.sections[index];
            for &start in &starts {
                if section.bytes > bytes.end - start {
                    break;
                }
                if !self.body[start..start + section.bytes].ends_with(b"\n\n") {
                    continue;
                }
                self.effort = self.effort.checked_sub(section.bytes)?;
                if self.is_at(section, start) {
                    return Some((index, start));
                }
            }
        }
        None
    }

    /// Where sections can start: every section's first line is a heading or an entry.
    fn starts(&self, bytes: &Range<usize>) -> impl Iterator<Item = usize> {
        let text = &self.body[bytes.clone()];
        let lines = std::iter::once(0)
            .chain(text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1));
        lines.filter(|at| matches!(text.get(*at), Some(b'#' | b'*'))).map(|at| bytes.start + at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lock::LockFile;

    const SECTIONS: [&str; 4] = ["# T\n\n", "## A\n\ntext\n\n", "### B\n\nmore\n\n", "### C\n\nend\n\n"];

    fn lock() -> LockFile {
        let mut text = String::from("# Generated by `x`; do not edit.\n[sections]\n");
        for (index, section) in SECTIONS.iter().enumerate() {
            let (bytes, digest) = (section.len(), Digest::of(section));
            text.push_str(&format!("\"proj.core.s{index}\" = {{ bytes = {bytes}, tokens = 1, sha256 = \"{digest}\", in = \"all\" }}\n"));
        }
        LockFile::parse(&text).unwrap()
    }

    #[track_caller]
    fn check_intact(body: &str, expected: &[(usize, &str)]) {
        let lock = lock();
        let sections: Vec<_> = lock.sections_of("native").collect();
        let found = intact(body.as_bytes(), &sections).into_iter().map(|(index, at)| (index, &body[at]));
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn sections_that_stand_as_they_were_written() {
        let whole = [(0, SECTIONS[0]), (1, SECTIONS[1]), (2, SECTIONS[2]), (3, SECTIONS[3])];
        check_intact(&SECTIONS.concat(), &whole);
        check_intact(
            "# T!\n\n## A\n\ntext\n\nnew\n\n### C\n\nend\n\n",
            &[(1, SECTIONS[1]), (3, SECTIONS[3])],
        );
        check_intact("x", &[]);
    }

    #[track_caller]
    fn check(body: &str, expected: &[(&str, Range<usize>)]) {
        let lock = lock();
        let sections: Vec<_> = lock.sections_of("native").collect();
        let found: Vec<_> = gaps(body.as_bytes(), &sections)
            .into_iter()
            .map(|gap| (&body[gap.bytes], gap.sections))
            .collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn as_written() {
        check(&SECTIONS.concat(), &[]);
    }

    #[test]
    fn one_section_changed() {
        check("# T\n\n## A\n\nTEXT\n\n### B\n\nmore\n\n### C\n\nend\n\n", &[("## A\n\nTEXT\n\n", 1..2)]);
    }

    #[test]
    fn two_sections_changed_with_one_between() {
        check(
            "# T!\n\n## A\n\ntext\n\n### B\n\nmore!\n\n### C\n\nend\n\n",
            &[("# T!\n\n", 0..1), ("### B\n\nmore!\n\n", 2..3)],
        );
    }

    #[test]
    fn added_between_and_removed() {
        check("# T\n\nnew\n\n## A\n\ntext\n\n### B\n\nmore\n\n### C\n\nend\n\n", &[("new\n\n", 1..1)]);
        check("# T\n\n### B\n\nmore\n\n### C\n\nend\n\n", &[("", 1..2)]);
    }

    #[test]
    fn a_row_of_any_length_is_only_a_row_that_fits_nowhere() {
        let mut lock = lock();
        lock.sections[2].bytes = usize::MAX;
        let sections: Vec<_> = lock.sections_of("native").collect();
        let body = SECTIONS.concat().replace("end", "END");
        let found = gaps(body.as_bytes(), &sections);
        assert_eq!(found, [Gap { bytes: 17..body.len(), sections: 2..4 }]);
    }

    #[test]
    fn nothing_left_and_nothing_wanted() {
        check("", &[("", 0..4)]);
        check("x", &[("x", 0..4)]);
    }
}
