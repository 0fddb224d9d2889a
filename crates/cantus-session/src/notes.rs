//! The notes that a pack can point to and quote.

use cantus_manifest::Digest;
use cantus_memory::{Body, Corpus, Target};

/// The notes at hand: those of the current project, and how many others there are.
#[derive(Clone, Debug, Default)]
pub struct Notes<'a> {
    project: Option<&'a str>,
    own: Vec<Target<'a>>,
    strands: Vec<Target<'a>>,
    home: usize,
    plugins: usize,
}

/// A note that was found.
#[derive(Clone, Debug)]
pub(crate) struct Note<'a> {
    pub(crate) path: &'a str,
    pub(crate) title: String,
    pub(crate) body: &'a str,
    pub(crate) revision: String,
}

impl<'a> Notes<'a> {
    /// Those of a project, which may have a name: its notes and webs in the order of their paths.
    #[must_use]
    pub fn of(project: Option<&'a str>, corpus: &'a Corpus) -> Self {
        let notes = corpus.notes.iter().map(Target::Note);
        let mut own: Vec<_> = notes.chain(corpus.webs.iter().map(Target::Web)).collect();
        own.sort_by_key(|target| target.path());
        let strands =
            corpus.webs.iter().flat_map(|web| web.strands.iter().map(move |it| Target::Strand(web, it)));
        Self { project, own, strands: strands.collect(), home: 0, plugins: 0 }
    }

    /// The same where the user's home and the dependencies have so many notes of their own.
    #[must_use]
    pub fn beside(mut self, home: usize, plugins: usize) -> Self {
        (self.home, self.plugins) = (home, plugins);
        self
    }

    pub(crate) fn project(&self) -> Option<&'a str> {
        self.project
    }

    /// The notes and webs of the project.
    pub(crate) fn own(&self) -> &[Target<'a>] {
        &self.own
    }

    /// How many others there are: the part of the wording that tells it, and the count.
    pub(crate) fn others(&self) -> [(&'static str, usize); 3] {
        [("wiki.strands", self.strands.len()), ("wiki.home", self.home), ("wiki.plugins", self.plugins)]
    }

    /// The note, web or strand at `path`, or with this address.
    pub(crate) fn find(&self, path: &str) -> Option<Note<'a>> {
        let all = || self.own.iter().chain(&self.strands);
        let at_path = all().find(|target| target.path().as_str() == path);
        let target = at_path.or_else(|| all().find(|target| target.address() == path))?;
        Some(note(*target))
    }
}

/// A note with its text.
fn note(target: Target<'_>) -> Note<'_> {
    let body = target.body();
    Note {
        path: target.path().as_str(),
        title: title(target, body),
        body: body.text,
        revision: revision(target),
    }
}

fn title(target: Target<'_>, body: Body<'_>) -> String {
    body.title().map_or_else(|| target.label(), str::to_owned)
}

/// A name for the text that a note has now: the first 16 digits of its SHA-256.
fn revision(target: Target<'_>) -> String {
    Digest::of(target.body().text).to_string().chars().take(16).collect()
}

/// What a list says of a note: path, title, revision.
pub(crate) fn listed(target: Target<'_>) -> (&str, String, String) {
    (target.path().as_str(), title(target, target.body()), revision(target))
}
