//! What is read when a note is asked for: the note, and what it depends on, each once (§5.10).

use std::collections::{BTreeMap, BTreeSet};

use crate::library::{Library, Resolved, Target};
use crate::links::{Following, Rendering, links};
use crate::mentions::Mentions;

/// One text that is read.
#[derive(Clone, Copy, Debug)]
pub struct Item<'a> {
    /// Its note or strand.
    pub target: Target<'a>,
    /// How many steps it is from what was asked for.
    pub depth: usize,
    /// The text that led to it; `None` if it was asked for.
    pub via: Option<Target<'a>>,
}

/// Everything that is read for one question in one library.
#[derive(Clone, Debug, Default)]
pub struct Reading<'a> {
    /// What stands before the addresses of the library.
    pub prefix: String,
    /// The texts: what was asked for, then what that depends on, nearest first.
    pub items: Vec<Item<'a>>,
    /// What the texts link to and is not among them, in the order of the links.
    pub references: Vec<Target<'a>>,
    /// Targets of links that lead nowhere, each once.
    pub unresolved: Vec<String>,
}

impl<'a> Library<'a> {
    /// Reads `requested` with what it depends on, up to `depth` steps away (`None`: however far; 0: nothing else).
    ///
    /// Embedding links are followed, and in a web with `link_reference: implicit` mentions of its other strands as well.
    /// What stands in every bundle anyway is named, not read. A cycle ends where it closes.
    #[must_use]
    pub fn read(&self, requested: &[Target<'a>], depth: Option<usize>) -> Reading<'a> {
        let mut walk = Walk { library: self, mentions: BTreeMap::new(), seen: BTreeSet::new() };
        let mut reading = Reading { prefix: self.prefix().to_owned(), ..Reading::default() };
        for target in requested {
            walk.add(Item { target: *target, depth: 0, via: None }, &mut reading.items);
        }
        let mut next = 0;
        let mut named = Vec::new();
        while let Some(item) = reading.items.get(next).copied() {
            next += 1;
            let mut found = walk.links(item, &mut reading.unresolved);
            let deeper = depth.is_none_or(|most| item.depth < most);
            if deeper {
                found.extend(walk.mentioned(item.target));
            }
            for (target, followed) in found {
                if followed && deeper && !target.is_always_loaded() {
                    walk.add(
                        Item { target, depth: item.depth + 1, via: Some(item.target) },
                        &mut reading.items,
                    );
                } else {
                    named.push(target);
                }
            }
        }
        let mut listed = BTreeSet::new();
        named.retain(|target| !walk.seen.contains(target.path().as_str()) && listed.insert(target.path()));
        reading.references = named;
        reading
    }
}

/// One walk from text to text.
struct Walk<'l, 'a> {
    library: &'l Library<'a>,
    /// The names of each web that was met, once.
    mentions: BTreeMap<&'a str, Option<Mentions>>,
    /// The paths of what is read.
    seen: BTreeSet<&'a str>,
}

impl<'a> Walk<'_, 'a> {
    fn add(&mut self, item: Item<'a>, items: &mut Vec<Item<'a>>) {
        if self.seen.insert(item.target.path().as_str()) {
            items.push(item);
        }
    }

    /// What a text links to, each with whether it is to be read along.
    fn links(&self, item: Item<'a>, unresolved: &mut Vec<String>) -> Vec<(Target<'a>, bool)> {
        let from = item.target;
        let mut found = Vec::new();
        if from.following() == Following::None {
            return found;
        }
        let embeds = from.linking().rendering == Some(Rendering::Inline);
        for link in links(from.body()) {
            match self.library.resolve(&link.target, Some(from)) {
                Resolved::Found(target) => found.push((target, link.inline || embeds)),
                Resolved::Itself => {}
                Resolved::Unresolved(_) if unresolved.contains(&link.target) => {}
                Resolved::Unresolved(_) => unresolved.push(link.target),
            }
        }
        found
    }

    /// The other strands of its web that a strand mentions, where that counts.
    fn mentioned(&mut self, from: Target<'a>) -> Vec<(Target<'a>, bool)> {
        let Target::Strand(web, strand) = from else { return Vec::new() };
        if from.following() != Following::Implicit {
            return Vec::new();
        }
        // More names than the search can number: then nothing is mentioned.
        let mentions = self.mentions.entry(web.slug()).or_insert_with(|| Mentions::new(web).ok());
        let found = mentions.as_ref().map_or_else(Vec::new, |mentions| mentions.find(strand.body().text));
        let others = found.into_iter().map(|index| Target::Strand(web, &web.strands[index]));
        others.filter(|other| *other != from).map(|other| (other, true)).collect()
    }
}
