//! A corpus as something to look things up in: addresses, links and what they lead to (§6.2).

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use cantus_manifest::{Diagnostic, RelPath};
use memchr::memmem;

use crate::corpus::Corpus;
use crate::links::{Following, Linking, links};
use crate::mentions::names;
use crate::nearest::{nearest, shortened};
use crate::note::{Body, Content, Described, Note, NoteKind, TOP};
use crate::unicode::{norm, strip};
use crate::web::{Strand, Web, title};

/// The most suggestions for a link that leads nowhere.
const MOST_SUGGESTIONS: usize = 5;

/// The shortest name that may be a slip of the hand: of shorter ones any other is near.
const SHORTEST_SLIP: usize = 3;

/// The most bytes of a path that is looked for in a text.
const MOST_PATH_BYTES: usize = 4096;

/// What a link can lead to.
#[derive(Clone, Copy, Debug)]
pub enum Target<'a> {
    /// A core or reference note.
    Note(&'a Note),
    /// A web's descriptor.
    Web(&'a Web),
    /// A strand of a web.
    Strand(&'a Web, &'a Strand),
}

impl PartialEq for Target<'_> {
    /// Whether they are one file.
    fn eq(&self, other: &Self) -> bool {
        self.path() == other.path()
    }
}

impl<'a> Target<'a> {
    /// What a link to it says: `note.md`, `web` or `web:strand`.
    #[must_use]
    pub fn address(self) -> String {
        match self {
            Self::Note(note) => note.path.file_name().to_owned(),
            Self::Web(web) => web.slug().to_owned(),
            Self::Strand(web, strand) => format!("{}:{}", web.slug(), strand.slug()),
        }
    }

    /// Where its file lies below the root.
    #[must_use]
    pub fn path(self) -> &'a RelPath {
        match self {
            Self::Note(note) => &note.path,
            Self::Web(web) => &web.path,
            Self::Strand(_, strand) => &strand.path,
        }
    }

    /// The text after its front matter.
    #[must_use]
    pub fn body(self) -> Body<'a> {
        match self {
            Self::Note(note) => note.body(),
            Self::Web(web) => web.body(),
            Self::Strand(_, strand) => strand.body(),
        }
    }

    pub(crate) fn content(self) -> &'a Content {
        match self {
            Self::Note(note) => note.content(),
            Self::Web(web) => web.content(),
            Self::Strand(_, strand) => strand.content(),
        }
    }

    /// What it is called: a strand's keyword, else the words of the file's name.
    #[must_use]
    pub fn label(self) -> String {
        match self {
            Self::Strand(_, strand) => strand.keyword.text.clone(),
            _ => title(self.path().stem()),
        }
    }

    /// What a list says of it, on one line.
    #[must_use]
    pub fn summary(self) -> Described {
        match self {
            Self::Note(note) => note.summary(),
            Self::Web(web) => web.summary(),
            Self::Strand(_, strand) => strand.summary_or_text(),
        }
    }

    /// Whether its text stands in every bundle of its layer.
    #[must_use]
    pub fn is_always_loaded(self) -> bool {
        match self {
            Self::Note(note) => note.kind == NoteKind::Core,
            Self::Web(_) => true,
            Self::Strand(..) => false,
        }
    }

    /// What its links do.
    #[must_use]
    pub fn linking(self) -> Linking {
        match self {
            Self::Note(note) => note.linking,
            Self::Web(web) => web.linking,
            Self::Strand(web, strand) => strand.linking.or(web.linking),
        }
    }

    pub(crate) fn following(self) -> Following {
        self.linking().following.unwrap_or_default()
    }
}

/// What became of a link's target.
#[derive(Clone, Debug, PartialEq)]
pub enum Resolved<'a> {
    /// It leads here.
    Found(Target<'a>),
    /// It leads to the note that it stands in.
    Itself,
    /// It leads nowhere; these addresses are like it, at most five.
    Unresolved(Vec<String>),
}

/// A corpus, indexed.
#[derive(Debug)]
pub struct Library<'a> {
    corpus: &'a Corpus,
    /// What stands before an address that is asked for from outside.
    prefix: String,
    notes: BTreeMap<&'a str, Target<'a>>,
    webs: BTreeMap<&'a str, Names<'a>>,
}

/// The names of one web's strands.
#[derive(Debug)]
struct Names<'a> {
    web: &'a Web,
    slugs: BTreeMap<&'a str, &'a Strand>,
    keywords: BTreeMap<String, Vec<&'a Strand>>,
    /// Aliases, and the plurals of keywords and aliases.
    others: BTreeMap<String, Vec<&'a Strand>>,
}

impl<'a> Names<'a> {
    fn new(web: &'a Web) -> Self {
        let slugs = web.strands.iter().map(|strand| (strand.slug(), strand)).collect();
        let (mut keywords, mut others) = (BTreeMap::new(), BTreeMap::new());
        for strand in &web.strands {
            let keyword = norm(&strand.keyword.text);
            for name in names(strand).map(|name| norm(&name)).filter(|name| *name != keyword) {
                add(&mut others, name, strand);
            }
            add(&mut keywords, keyword, strand);
        }
        Self { web, slugs, keywords, others }
    }

    /// The strand that `reference` means: by slug, keyword, another name, or the one whose name starts so.
    fn find(&self, reference: &str) -> Option<Target<'a>> {
        if let Some(strand) = self.slugs.get(reference) {
            return Some(Target::Strand(self.web, strand));
        }
        let name = norm(reference);
        if name.is_empty() {
            return None;
        }
        let same = self.keywords.get(&name).or_else(|| self.others.get(&name));
        let strands = same.cloned().unwrap_or_else(|| self.starting(&name));
        match strands.as_slice() {
            [strand] => Some(Target::Strand(self.web, strand)),
            _ => None,
        }
    }

    /// The strands that have a name which starts with `prefix`, each once.
    fn starting(&self, prefix: &str) -> Vec<&'a Strand> {
        let mut found: Vec<&Strand> = Vec::new();
        let named = [&self.keywords, &self.others].into_iter().flatten();
        let named = named.filter(|(name, _)| name.starts_with(prefix)).flat_map(|(_, strands)| strands);
        let slugs = self.slugs.iter().filter(|(slug, _)| norm(slug).starts_with(prefix));
        for strand in named.chain(slugs.map(|(_, strand)| strand)) {
            if !found.iter().any(|other| other.path == strand.path) {
                found.push(strand);
            }
        }
        found
    }
}

impl Corpus {
    /// Every file that a link can lead to: notes, then webs, each before its strands.
    pub fn targets(&self) -> impl Iterator<Item = Target<'_>> {
        let webs = self.webs.iter().flat_map(|web| {
            let strands = web.strands.iter().map(move |strand| Target::Strand(web, strand));
            std::iter::once(Target::Web(web)).chain(strands)
        });
        self.notes.iter().map(Target::Note).chain(webs)
    }
}

fn add<'a>(names: &mut BTreeMap<String, Vec<&'a Strand>>, name: String, strand: &'a Strand) {
    let strands = names.entry(name).or_default();
    if !strands.iter().any(|other| other.path == strand.path) {
        strands.push(strand);
    }
}

impl<'a> Library<'a> {
    /// Indexes `corpus`.
    #[must_use]
    pub fn new(corpus: &'a Corpus) -> Self {
        Self::with_prefix(corpus, String::new())
    }

    /// Indexes `corpus`, whose addresses have `prefix` before them for whoever stands outside, such as `plugin:acme/`.
    #[must_use]
    pub fn with_prefix(corpus: &'a Corpus, prefix: String) -> Self {
        let notes = corpus.notes.iter().map(|note| (note.path.stem(), Target::Note(note)));
        let webs = corpus.webs.iter().map(|web| (web.slug(), Names::new(web)));
        Self { corpus, prefix, notes: notes.collect(), webs: webs.collect() }
    }

    /// What stands before its addresses for whoever stands outside; often nothing.
    #[must_use]
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// What an address from outside leads to, with or without the prefix. Suggestions have it.
    #[must_use]
    pub fn ask(&self, address: &str) -> Resolved<'a> {
        let own = strip(address).strip_prefix(&self.prefix).unwrap_or(address);
        match self.resolve(own, None) {
            Resolved::Unresolved(near) => {
                let near = near.into_iter().map(|address| format!("{}{address}", self.prefix));
                Resolved::Unresolved(near.collect())
            }
            found => found,
        }
    }

    /// What `target` leads to from the note `from`; `None` for a reader who stands nowhere.
    #[must_use]
    pub fn resolve(&self, target: &str, from: Option<Target<'a>>) -> Resolved<'a> {
        match self.find(strip(target), from) {
            Some(found) if from == Some(found) => Resolved::Itself,
            Some(found) => Resolved::Found(found),
            None => Resolved::Unresolved(self.suggestions(strip(target))),
        }
    }

    fn find(&self, target: &str, from: Option<Target<'a>>) -> Option<Target<'a>> {
        if let Some((web, reference)) = target.split_once(':') {
            return self.webs.get(strip(web))?.find(strip(reference));
        }
        let target = self.below_memory(target);
        if let Some((web, strand)) = target.split_once('/').filter(|(_, strand)| !strand.contains('/')) {
            let names = self.webs.get(web)?;
            let strand = names.slugs.get(strand.strip_suffix(".md").unwrap_or(strand))?;
            return Some(Target::Strand(names.web, strand));
        }
        if let Some(stem) = target.strip_suffix(".md") {
            return self.named(stem);
        }
        let own = match from {
            Some(Target::Strand(web, _)) => self.webs.get(web.slug()).and_then(|names| names.find(target)),
            _ => None,
        };
        own.or_else(|| self.named(target))
    }

    fn named(&self, stem: &str) -> Option<Target<'a>> {
        let web = || self.webs.get(stem).map(|names| Target::Web(names.web));
        self.notes.get(stem).copied().or_else(web)
    }

    /// A path without what leads to the memory folder.
    fn below_memory<'t>(&self, target: &'t str) -> &'t str {
        let target = target.strip_prefix("./").unwrap_or(target);
        let any = self.corpus.notes.first().map(|note| &note.path);
        let any = any.or(self.corpus.webs.first().map(|web| &web.path));
        let own = any.and_then(|path| path.as_str().strip_suffix(path.file_name())).unwrap_or_default();
        let own = target.strip_prefix(own).filter(|_| !own.is_empty());
        let usual = || target.strip_prefix("sase/memory/").or_else(|| target.strip_prefix("memory/"));
        // A web may have the folder's name.
        own.or_else(|| usual().filter(|_| !self.webs.contains_key("memory"))).unwrap_or(target)
    }

    /// Every file that a link can lead to: notes, then webs, each before its strands.
    pub fn targets(&self) -> impl Iterator<Item = Target<'a>> + use<'a> {
        self.corpus.targets()
    }

    fn suggestions(&self, target: &str) -> Vec<String> {
        let key = |text: &str| norm(text).replace(':', "/");
        let wanted = key(target.strip_suffix(".md").unwrap_or(target));
        let fits = |target: &Target<'_>| {
            let also = match target {
                Target::Strand(_, strand) => names(strand).any(|name| norm(&name).contains(&wanted)),
                _ => false,
            };
            also || key(&target.address()).contains(&wanted)
        };
        if wanted.is_empty() {
            return Vec::new();
        }
        let found: Vec<_> = self.targets().filter(fits).take(MOST_SUGGESTIONS).map(Target::address).collect();
        if !found.is_empty() {
            return found;
        }
        let near = self.nearest(&wanted);
        // What stands before a `:` is a web, or a crate that ships notes.
        match wanted.rsplit_once('/').filter(|_| near.is_empty() && !target.contains("plugin:")) {
            Some((_, last)) => self.nearest(last),
            None => near,
        }
    }

    /// The addresses of what has a name that `wanted` may be a slip of the hand for.
    fn nearest(&self, wanted: &str) -> Vec<String> {
        if wanted.chars().count() < SHORTEST_SLIP {
            return Vec::new();
        }
        let named = |target: Target<'a>| {
            let address = target.address();
            let stem = target.path().stem().to_owned();
            let own = match target {
                Target::Strand(_, strand) => names(strand).map(|name| norm(&name)).collect(),
                _ => Vec::new(),
            };
            let mut all = vec![norm(&address).replace(':', "/"), stem];
            all.extend(own);
            all.into_iter().map(move |name| (name, target))
        };
        let named: Vec<_> = self.targets().flat_map(named).collect();
        let known: Vec<_> = named.iter().map(|(name, _)| name.as_str()).collect();
        let Some(near) = nearest(wanted, &known) else { return Vec::new() };
        let mut found: Vec<String> =
            named.iter().filter(|(name, _)| name == near).map(|(_, target)| target.address()).collect();
        found.dedup();
        found.truncate(MOST_SUGGESTIONS);
        found
    }

    /// The notes that no bundle lists, each with the text that leads a reader there; `None` where nothing does.
    ///
    /// A text leads to a note by a link or by the note's path.
    #[must_use]
    pub fn unlisted(&self) -> BTreeMap<&'a RelPath, Option<Target<'a>>> {
        let hidden = self.corpus.notes.iter().filter(|note| note.is_hidden());
        let mut unlisted: BTreeMap<&RelPath, _> = hidden.map(|note| (&note.path, None)).collect();
        if unlisted.is_empty() {
            return unlisted;
        }
        let is_listed = |target: &Target<'_>| !matches!(target, Target::Note(note) if note.is_hidden());
        let mut queue: VecDeque<_> = self.targets().filter(is_listed).collect();
        while let Some(from) = queue.pop_front() {
            for target in self.leads_to(from) {
                if let Some(through @ None) = unlisted.get_mut(target.path()) {
                    *through = Some(from);
                    queue.push_back(target);
                }
            }
        }
        unlisted
    }

    /// Where the links of `from` lead, and the notes that it names by path.
    fn leads_to(&self, from: Target<'a>) -> Vec<Target<'a>> {
        let body = from.body();
        let named = paths(body.text).filter_map(|path| {
            let target = self.named(path.rsplit('/').next()?.strip_suffix(".md")?)?;
            path.ends_with(target.path().as_str()).then_some(target)
        });
        let linked = links(body).into_iter().filter(|_| from.following() != Following::None);
        let linked = linked.filter_map(|link| self.find(&link.target, Some(from)));
        linked.chain(named).collect()
    }

    /// What is wrong with the links: those that lead nowhere, and notes to which nothing leads.
    #[must_use]
    pub fn findings(&self) -> Vec<Diagnostic> {
        let mut findings = self.findings_without(&BTreeSet::new());
        findings.extend(self.unreachable());
        findings
    }

    /// The notes to which nothing leads: neither a bundle nor another note.
    #[must_use]
    pub fn unreachable(&self) -> Vec<Diagnostic> {
        let unlisted = self.unlisted();
        let lost = self.corpus.notes.iter().filter(|note| unlisted.get(&note.path) == Some(&None));
        lost.map(|note| self.lost(note)).collect()
    }

    /// That nothing leads to a note, at the line of the parent for which no bundle lists it.
    fn lost(&self, note: &Note) -> Diagnostic {
        let lost = |message: String| Diagnostic::warning("note.unreachable", message).at(&note.path);
        let remedy = format!("link to it with `[[{}]]`, or remove `parent` from it", note.path.stem());
        let Some(Described { text: parent, line }) = &note.parent else {
            return lost("no bundle lists this note, and no other note leads to it".to_owned()).help(remedy);
        };
        let shown = shortened(parent);
        let Resolved::Unresolved(near) = self.resolve(parent, None) else {
            let message = format!(
                "no bundle lists this note, since its parent is `{shown}`, and no other note leads to it"
            );
            return lost(message).line(*line).help(remedy);
        };
        let message = format!(
            "no bundle lists this note: its parent `{shown}` is neither a note nor a web, and no other note leads to it"
        );
        let is_top = nearest(parent, &[&TOP.to_ascii_lowercase()]).is_some();
        let near = if is_top { vec![TOP.to_owned()] } else { near };
        let near: Vec<_> = near.iter().map(|address| format!("`{address}`")).collect();
        let help = match near.as_slice() {
            [] => remedy,
            near => format!("did you mean {}? Otherwise {remedy}", near.join(" or ")),
        };
        lost(message).line(*line).help(help)
    }

    /// The links that lead nowhere, in a corpus that lacks the notes of these stems: what leads to them is no finding.
    #[must_use]
    pub fn findings_without(&self, missing: &BTreeSet<&str>) -> Vec<Diagnostic> {
        let mut findings = Vec::new();
        let is_missing = |target: &str| {
            let parts = target.split([':', '/']).map(strip);
            parts.into_iter().any(|part| missing.contains(part.strip_suffix(".md").unwrap_or(part)))
        };
        for from in self.targets().filter(|from| from.following() != Following::None) {
            for link in links(from.body()).into_iter().filter(|link| !is_missing(&link.target)) {
                let Resolved::Unresolved(near) = self.resolve(&link.target, Some(from)) else { continue };
                let message = format!("the link `[[{}]]` leads nowhere", link.target);
                let finding = Diagnostic::error("link.unresolved", message).at(from.path()).line(link.line);
                findings.push(finding.help(mend_link(&near)));
            }
        }
        findings
    }
}

fn mend_link(near: &[String]) -> String {
    if near.is_empty() {
        return "mend it, put it into backticks if it is no link, or set `link_reference: none`".to_owned();
    }
    let near: Vec<_> = near.iter().map(|address| format!("`[[{address}]]`")).collect();
    format!("did you mean {}?", near.join(" or "))
}

/// What may be a path to a note in `text`: what ends in `.md` and has neither white space nor quotes.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    memmem::find_iter(text.as_bytes(), b".md").map(|at| {
        // No path is longer, and a text without white space isn't searched anew for each of its ends.
        let before = &text[text.floor_char_boundary(at.saturating_sub(MOST_PATH_BYTES))..at];
        let start = before.rfind(|c: char| c.is_whitespace() || "`'\"()[]<>".contains(c));
        let start = start.map_or(0, |start| start + before[start..].chars().next().map_or(1, char::len_utf8));
        &text[at - (before.len() - start)..at + 3]
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::corpus::{MemoryFolder, MemoryTree, SourceFile};

    /// The corpus of files that are given by path and text.
    #[track_caller]
    pub(crate) fn corpus_of(files: &[(&str, &str)]) -> Corpus {
        let path = |path: &str| RelPath::new(path).unwrap();
        let mut tree = MemoryTree::default();
        for (name, text) in files {
            let file = SourceFile { path: path(name), bytes: text.as_bytes().to_vec(), stamp: None };
            let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
            if folder == "memory" {
                tree.notes.push(file);
            } else if let Some(known) = tree.folders.iter_mut().find(|known| known.path.as_str() == folder) {
                known.strands.push(file);
            } else {
                let folder = MemoryFolder { path: path(folder), strands: vec![file], folders: Vec::new() };
                tree.folders.push(folder);
            }
        }
        let outcome = Corpus::parse(tree);
        assert_eq!(outcome.diagnostics, []);
        outcome.value
    }

    pub(crate) fn corpus() -> Corpus {
        corpus_of(&[
            ("memory/rules.md", "---\ntype: core\n---\n# Rules\n\nSee [[errors]] and [[gl]].\n"),
            ("memory/errors.md", "---\ntype: reference\n---\nErrors. See memory/deep.md and [[nowhere]].\n"),
            ("memory/deep.md", "---\ntype: reference\nparent: errors.md\n---\nDeep.\n"),
            ("memory/lost.md", "---\ntype: reference\nparent: errors.md\n---\nLost.\n"),
            ("memory/gl.md", "---\nweb: true\nlink_reference: implicit\n---\n# Words\n\nIntro.\n"),
            ("memory/gl/stitch.md", "---\naliases: [Sew]\n---\nA loop. Not an axe.\n"),
            ("memory/gl/axe.md", "---\naliases: [hatchet]\n---\nA tool; see [[stitch]] and ![[errors]].\n"),
            ("memory/gl/cross-stitch.md", "Two of them.\n"),
            ("memory/other.md", "---\nweb: true\n---\nMore.\n"),
            ("memory/other/stitch.md", "Another [[axe]].\n"),
        ])
    }

    #[track_caller]
    fn check(from: Option<&str>, target: &str, expected: &str) {
        let corpus = corpus();
        let library = Library::new(&corpus);
        let from = from.map(|from| library.find(from, None).unwrap());
        let found = match library.resolve(target, from) {
            Resolved::Found(target) => target.address(),
            Resolved::Itself => "itself".to_owned(),
            Resolved::Unresolved(near) => format!("? {}", near.join(" ")),
        };
        assert_eq!(found, expected, "{target}");
    }

    #[test]
    fn a_web_and_a_name() {
        check(None, "gl:stitch", "gl:stitch");
        check(None, " gl : Stitches ", "gl:stitch");
        check(None, "gl:SEW", "gl:stitch");
        check(None, "gl:sews", "gl:stitch");
        check(None, "gl:hat", "gl:axe");
        check(None, "gl:", "? gl:axe gl:cross-stitch gl:stitch");
        check(None, "gl:nothing", "? ");
        check(None, "glossary:stitch", "? gl:stitch other:stitch");
    }

    #[test]
    fn paths() {
        for target in ["errors.md", "memory/errors.md", "./errors.md", "sase/memory/errors.md", "errors"] {
            check(None, target, "errors.md");
        }
        for target in ["gl/stitch", "gl/stitch.md", "memory/gl/stitch.md"] {
            check(None, target, "gl:stitch");
        }
        check(None, "gl/Stitch", "? gl:stitch");
        check(None, "gl.md", "gl");
        check(None, "gl", "gl");
        check(None, "a/b/c.md", "? ");
        check(None, "/etc/passwd", "? ");
        check(None, "../errors.md", "? errors.md");
    }

    #[test]
    fn bare_names_look_into_their_own_web_first() {
        check(Some("gl:axe"), "stitch", "gl:stitch");
        check(Some("other:stitch"), "stitch", "itself");
        check(Some("errors"), "stitch", "? gl:cross-stitch gl:stitch other:stitch");
        check(Some("errors"), "Errors", "? errors.md");
        check(Some("errors"), "errors.md", "itself");
        check(Some("gl:axe"), "rules", "rules.md");
        check(None, "eror", "? errors.md");
        check(None, "stich", "? gl:stitch other:stitch");
        check(None, "gl:haxe", "? gl:axe");
    }

    #[track_caller]
    fn check_read(files: &Corpus, asked: &[&str], depth: Option<usize>, expected: &str) {
        let library = Library::new(files);
        let asked: Vec<_> = asked.iter().map(|target| library.find(target, None).unwrap()).collect();
        let reading = library.read(&asked, depth);
        let items = reading.items.iter().map(|item| {
            let via = item.via.map_or_else(String::new, |via| format!("<{}", via.address()));
            format!("{}{via}", item.target.address())
        });
        let items = items.collect::<Vec<_>>().join(" ");
        let references = reading.references.into_iter().map(Target::address).collect::<Vec<_>>().join(" ");
        assert_eq!(format!("{items} | {references} | {}", reading.unresolved.join(" ")), expected);
    }

    #[test]
    fn what_is_read_along() {
        let files = corpus();
        check_read(&files, &["gl:stitch"], None, "gl:stitch gl:axe<gl:stitch errors.md<gl:axe |  | nowhere");
        check_read(&files, &["gl:stitch"], Some(1), "gl:stitch gl:axe<gl:stitch | errors.md | ");
        check_read(&files, &["gl:axe"], Some(0), "gl:axe | gl:stitch errors.md | ");
        check_read(&files, &["gl:axe", "gl:stitch", "gl:axe"], Some(0), "gl:axe gl:stitch | errors.md | ");
        check_read(&files, &["rules"], None, "rules.md | errors.md gl | ");
        check_read(&files, &["other:stitch"], None, "other:stitch |  | axe");
    }

    #[test]
    fn settings_of_a_strand_and_legacy_ones() {
        let files = corpus_of(&[
            ("memory/w.md", "---\nweb: true\nclosure: mentions\n---\n"),
            ("memory/w/a.md", "See b.\n"),
            ("memory/w/b.md", "---\nlink_reference: none\n---\nSee c and [[a]] and [[x]].\n"),
            ("memory/w/c.md", "C.\n"),
            ("memory/i.md", "---\ntype: reference\nlink_rendering: inline\n---\nSee [[j]].\n"),
            ("memory/j.md", "---\ntype: reference\n---\nSee ![[i]].\n"),
        ]);
        check_read(&files, &["w:a"], None, "w:a w:b<w:a |  | ");
        check_read(&files, &["i"], None, "i.md j.md<i.md |  | ");
        check_read(&files, &["j", "i"], None, "j.md i.md |  | ");
    }

    #[test]
    fn what_leads_to_unlisted_notes() {
        let files = corpus();
        let library = Library::new(&files);
        let unlisted = library.unlisted().into_iter();
        let unlisted: Vec<_> =
            unlisted.map(|(path, through)| (path.as_str(), through.map(Target::address))).collect();
        assert_eq!(unlisted, [("memory/deep.md", Some("errors.md".to_owned())), ("memory/lost.md", None)]);
        let findings: Vec<_> = library.findings().iter().map(ToString::to_string).collect();
        assert_eq!(
            findings,
            [
                "memory/errors.md:4: error: the link `[[nowhere]]` leads nowhere\n  help: mend it, put it into backticks if it is no \
             link, or set `link_reference: none`",
                "memory/other/stitch.md:1: error: the link `[[axe]]` leads nowhere\n  help: did you mean `[[gl:axe]]`?",
                "memory/lost.md:3: warning: no bundle lists this note, since its parent is `errors.md`, and no other note leads to \
             it\n  help: link to it with `[[lost]]`, \
             or remove `parent` from it",
            ]
        );
    }
}
