//! Ten thousand seeded edits of a committed file: each is seen, told from stale notes, and found where it is.

#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

use std::ops::Range;
use std::sync::Arc;

use cantus_fs::{RealDisk, Root};
use cantus_projection::{Edit, LineEnds, Mend, Projection, State, apply, plan};
use cantus_testkit::Repo;
use cantus_workspace::{Options, Project};

const PROJECT: &str = "
    //- cantus.toml
    name = \"acme\"
    //- memory/rules.md
    ---
    type: core
    ---
    # Rules

    Be brief.

    ## Style

    - one
    - two

    ```
    # in a fence
    ```

    Wide: 日本語 and \u{fffd}.
    //- memory/build.md
    ---
    type: core
    priority: 5
    ---
    # Build

    Run `make`.

    Run `make`.
    //- memory/empty.md
    ---
    type: core
    ---
    //- memory/api.md
    ---
    type: reference
    description: What the interface promises, with more words than fit on one line of the committed file.
    ---
    # API
    //- memory/terms.md
    ---
    web: true
    roster: list
    ---
    # Terms

    Words.
    //- memory/terms/bundle.md
    ---
    summary: All sections.
    ---
    A bundle.
    //- memory/terms/strand.md
    ---
    summary: One entry.
    ---
    A strand.
    ";

/// SplitMix64: the same numbers everywhere.
struct Random(u64);

impl Random {
    /// A number below `bound`.
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % bound as u64).unwrap()
    }

    /// A stretch of at most `most` out of `length`.
    fn range(&mut self, length: usize, most: usize) -> Range<usize> {
        let start = self.below(length + 1);
        start..(start + self.below(most + 1)).min(length)
    }
}

/// A project whose files are committed, and one of them as it was written.
struct Committed {
    repo: Repo,
    root: Root,
    projection: Projection,
    text: Vec<u8>,
    /// The lines of each section, from 0, by its id.
    sections: Vec<(String, Range<usize>)>,
}

const FILE: &str = "AGENTS.md";
const LOCK: &str = "projections/lock.toml";

impl Committed {
    /// The text of each section, its blank line at the end aside.
    fn section_texts(&self) -> impl Iterator<Item = Vec<u8>> {
        let lines: Vec<_> = self.text.split(|byte| *byte == b'\n').collect();
        self.sections.iter().map(move |(_, range)| lines[range.start..range.end - 1].join(&b'\n'))
    }

    fn new() -> Self {
        let repo = Repo::without_git(PROJECT);
        let root = Root::new(Arc::new(RealDisk), repo.path().to_path_buf());
        let outcome = Project::open(&root, &Options::default());
        let project = outcome.value.unwrap_or_else(|| panic!("{:?}", outcome.diagnostics));
        let projection = Projection::compose(&project).value.unwrap();
        apply(&root, &plan(&root, &projection, Mend::Safe).unwrap()).unwrap();
        let text = repo.read_bytes(FILE);
        // The notice and its blank line come first.
        let mut at = 2;
        let mut sections = Vec::new();
        for (section, content) in projection.native().included() {
            let end = at + content.origins().len();
            sections.push((section.id.to_string(), at..end));
            at = end;
        }
        Self { repo, root, projection, text, sections }
    }

    /// What the file is once it holds `bytes`.
    fn judge(&self, bytes: &[u8]) -> State {
        self.repo.write_bytes(FILE, bytes);
        let plan = plan(&self.root, &self.projection, Mend::Safe).unwrap();
        let target = plan.targets.into_iter().find(|target| target.path.as_str() == FILE).unwrap();
        let safe = matches!(target.state, State::Fresh(_) | State::Form(_));
        assert_eq!(target.is_refused(), !safe, "{:?}", target.state);
        target.state
    }

    /// The first byte of each section, and the end of the file.
    fn section_starts(&self) -> Vec<usize> {
        let starts: Vec<_> = line_starts(&self.text);
        self.sections.iter().map(|(_, lines)| starts[lines.start]).chain([self.text.len()]).collect()
    }
}

fn line_starts(text: &[u8]) -> Vec<usize> {
    let ends = text.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

/// What the tool compares: line feeds alone, no mark.
fn plain(bytes: &[u8]) -> Vec<u8> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut plain = Vec::with_capacity(bytes.len());
    for (at, byte) in bytes.iter().enumerate() {
        match byte {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => {}
            b'\r' => plain.push(b'\n'),
            other => plain.push(*other),
        }
    }
    plain
}

/// Bytes that are no text, and text that a file of ours has elsewhere.
const SNIPPETS: &[&[u8]] = &[
    b"x",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b" ",
    b"#",
    b"# New\n\n",
    b"### Rules (rules)\n\n",
    b"**`memory/x.md`** - new\n\n",
    b"```\n",
    b"\xff",
    b"\xc3",
    b"\xef\xbf\xbd",
    b"\xef\xbb\xbf",
    b"\0",
    b"<!-- Generated by `x` from the notes in `y/`; -->\n\n",
    b"a line\nand one more\nand a third\n",
    "日本".as_bytes(),
];

/// The text after one random edit.
fn edited(committed: &Committed, random: &mut Random) -> Vec<u8> {
    let text = &committed.text;
    let mut bytes = text.clone();
    let snippet = SNIPPETS[random.below(SNIPPETS.len())];
    let starts = line_starts(text);
    let lines = random.range(starts.len() - 1, 6);
    let lines = starts[lines.start]..starts[lines.end];
    let sections = committed.section_starts();
    let one = random.below(sections.len() - 1);
    let other = random.below(sections.len() - 1);
    match random.below(14) {
        0 => drop(bytes.splice(random.range(text.len(), 0), snippet.iter().copied())),
        1 => drop(bytes.drain(random.range(text.len(), 40))),
        2 => drop(bytes.splice(random.range(text.len(), 40), snippet.iter().copied())),
        3 => drop(bytes.splice(lines.start..lines.start, snippet.iter().copied())),
        4 => drop(bytes.drain(lines)),
        5 => drop(bytes.splice(lines, snippet.iter().copied())),
        6 => drop(bytes.splice(lines.end..lines.end, text[lines].iter().copied())),
        7 => {
            let (one, other) = (one.min(other), one.max(other));
            let (a, b) = (sections[one]..sections[one + 1], sections[other]..sections[other + 1]);
            if one != other {
                let middle = &text[a.end..b.start];
                bytes = [&text[..a.start], &text[b.clone()], middle, &text[a], &text[b.end..]].concat();
            }
        }
        8 => drop(bytes.splice(
            sections[other]..sections[other],
            text[sections[one]..sections[one + 1]].iter().copied(),
        )),
        9 => drop(bytes.drain(sections[one]..sections[one + 1])),
        10 => bytes.truncate(random.below(text.len())),
        11 => {
            let at = random.below(text.len());
            bytes[at] = u8::try_from(random.below(256)).unwrap();
        }
        12 => bytes = [b"\xef\xbb\xbf".as_slice(), text].concat(),
        _ => {
            let all = random.below(2) == 0;
            bytes.clear();
            for line in text.split_inclusive(|byte| *byte == b'\n') {
                bytes.extend_from_slice(&line[..line.len() - 1]);
                let end: &[u8] = if all || random.below(2) == 0 { b"\r\n" } else { b"\n" };
                bytes.extend_from_slice(end);
            }
        }
    }
    // Now and then a second change elsewhere in the form alone.
    match random.below(10) {
        0 => [b"\xef\xbb\xbf".as_slice(), &bytes].concat(),
        1 if !bytes.contains(&b'\r') => String::from_utf8_lossy(&bytes).replace('\n', "\r\n").into_bytes(),
        _ => bytes,
    }
}

/// The lines (from 0) at which two texts differ, of the first and of the second, as far as that can be told.
fn difference(old: &[u8], new: &[u8]) -> (Range<usize>, Range<usize>) {
    let lines = |text: &[u8]| text.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect::<Vec<_>>();
    let (old, new) = (lines(old), lines(new));
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let after = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let region = |length: usize| before.min(length - after)..before.max(length - after);
    (region(old.len()), region(new.len()))
}

/// Whether an edit names a line of the changed region or one beside it, or a section that the region meets.
fn is_found(committed: &Committed, edit: &Edit, old: &Range<usize>, new: &Range<usize>) -> bool {
    let line = edit.line - 1;
    let beside = line + 1 >= new.start && line <= new.end + 1;
    let section = committed.sections.iter().find(|(id, _)| Some(id) == edit.section.as_ref());
    beside || section.is_some_and(|(_, lines)| lines.start <= old.end && old.start <= lines.end)
}

fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|window| window == part)
}

#[track_caller]
fn check(committed: &Committed, bytes: &[u8], seed: usize) {
    let (old, new) = (&committed.text, plain(bytes));
    let state = committed.judge(bytes);
    let shown = || format!("edit {seed}: {state:?}\n{}", String::from_utf8_lossy(bytes));
    if new == *old {
        let marked = bytes.starts_with(b"\xef\xbb\xbf");
        let expected = match (marked, bytes == old.as_slice()) {
            (false, true) => State::Fresh(LineEnds::Lf),
            (true, _) => State::Form(LineEnds::ByteOrderMark),
            (false, false) if bytes == String::from_utf8_lossy(old).replace('\n', "\r\n").as_bytes() => {
                State::Fresh(LineEnds::Crlf)
            }
            (false, false) => State::Form(LineEnds::Mixed),
        };
        assert_eq!(state, expected, "{}", shown());
        return;
    }
    // Where neither the notice nor any section is left, nothing says that the file was ever ours.
    if state == State::Foreign {
        let left = committed.section_texts().filter(|text| contains(&new, text)).count();
        assert!(
            left == 0 && !contains(&new, committed.text.split(|byte| *byte == b'\n').next().unwrap()),
            "{}",
            shown()
        );
        return;
    }
    let State::Edited { edits, kept: None } = &state else { panic!("{}", shown()) };
    let (old, new) = difference(old, &new);
    assert!(!edits.is_empty(), "{}", shown());
    for edit in edits {
        assert!(is_found(committed, edit, &old, &new), "{edit:?} is not in {new:?}: {}", shown());
    }
}

#[test]
fn every_edit_is_seen_as_one_and_found_where_it_is() {
    const THREADS: usize = 4;
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            scope.spawn(move || {
                let committed = Committed::new();
                for seed in (thread..10_000).step_by(THREADS) {
                    let bytes = edited(&committed, &mut Random(seed as u64));
                    check(&committed, &bytes, seed);
                }
            });
        }
    });
}

#[test]
fn without_a_lock_an_edit_is_one_and_a_file_without_notice_is_foreign() {
    let committed = Committed::new();
    committed.repo.remove(LOCK);
    let notice = committed.text.split(|byte| *byte == b'\n').next().unwrap();
    for seed in 0..150 {
        let bytes = edited(&committed, &mut Random(seed));
        let new = plain(&bytes);
        let state = committed.judge(&bytes);
        let first = new.split(|byte| *byte == b'\n').next().unwrap();
        let right = match &state {
            State::Fresh(_) | State::Form(_) => new == committed.text,
            State::Edited { edits, .. } => new != committed.text && !edits.is_empty(),
            State::Foreign => first != notice,
            State::Missing | State::Stale { .. } | State::Orphan => false,
        };
        assert!(right, "edit {seed}: {state:?}\n{}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_line_that_is_removed_or_doubled_is_an_edit() {
    let committed = Committed::new();
    let starts = line_starts(&committed.text);
    for (number, line) in starts.windows(2).map(|pair| pair[0]..pair[1]).enumerate() {
        let text = &committed.text;
        check(&committed, &[&text[..line.start], &text[line.end..]].concat(), number);
        check(&committed, &[&text[..line.end], &text[line.start..]].concat(), number);
    }
}

#[test]
fn bytes_that_look_like_the_text_are_an_edit() {
    let committed = Committed::new();
    let text = String::from_utf8(committed.text.clone()).unwrap();
    let (before, after) = text.split_once('\u{fffd}').unwrap();
    check(&committed, &[before.as_bytes(), b"\xff", after.as_bytes()].concat(), 0);
}
