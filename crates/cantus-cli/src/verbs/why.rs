//! `cantus why`: where a line of a committed file comes from, and where a line of a note goes.

mod location;

use std::io;

use cantus_compose::{Section, Texts, Trace, trace};
use cantus_fs::{Kind, Root};
use cantus_manifest::{Diagnostic, Layer, RelPath, Source};
use cantus_memory::Corpus;
use cantus_projection::{Match, Mend, Place, Projection, State, Target, Why, appearances, plan, why};
use cantus_workspace::{Member, Project};
use serde::Serialize;

use crate::args::{Global, WhyArgs};
use crate::failure::{Failure, write_diagnostics};
use crate::report;
use crate::style::{CARE, FAINT, LABEL};
use crate::verbs::{compose, finish, root};
use crate::visible::visible;
use crate::{Status, Streams};
use location::{Location, locations, relative};

/// What `why --json` prints.
#[derive(Serialize)]
struct Answer {
    version: u32,
    file: String,
    line: usize,
    column: Option<usize>,
    /// `source`, `separator`, `frame`, `notice`, `gone` or `note`.
    kind: &'static str,
    /// The line as it is committed, or as the note has it.
    text: String,
    /// What the committed file is; null for a note.
    state: Option<&'static str>,
    /// Whether the line itself is composed; if not, section and sources are the nearest.
    exact: bool,
    section: Option<SectionAnswer>,
    sources: Vec<SourceAnswer>,
    /// Where a note's line stands in the committed files.
    appears: Vec<PlaceAnswer>,
    /// In words, where there is no line of a source to name.
    says: Option<String>,
}

#[derive(Serialize)]
struct SectionAnswer {
    id: String,
    layer: &'static str,
    /// The line in the section, counted from 1; null where it isn't known.
    line: Option<usize>,
}

#[derive(Serialize)]
struct SourceAnswer {
    source: String,
    /// Where it lies below the root, if it does.
    file: Option<String>,
    line: Option<u32>,
    /// The first and the last column of the committed line, counted from 1, that it gives; null for the whole line.
    columns: Option<[usize; 2]>,
}

#[derive(Serialize)]
struct PlaceAnswer {
    file: String,
    line: usize,
}

pub(crate) fn run(global: &Global, args: &WhyArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let root = root(global)?;
    let locations = locations(&args.place).map_err(Failure::error)?;
    let outcome = compose(&root, global);
    if let (None, true) = (&outcome.value, args.json) {
        report::json_broken(streams.out, &outcome.diagnostics)?;
        return Ok(Status::CantTell);
    }
    let (project, projection) = finish(outcome, global, streams)?;
    let here = Here { root: &root, project: &project, projection: &projection };
    for location in &locations {
        for path in relative(&root, &location.file) {
            let answer = match here.source_name(&path) {
                Some(source) => here.note(&path, &source, location),
                None if here.is_committed(&path) => here.committed(&path, location)?,
                None => continue,
            };
            return match answer {
                Ok(answer) => {
                    tell(&answer, args, streams)?;
                    Ok(if answer.kind == "note" && answer.section.is_none() {
                        Status::No
                    } else {
                        Status::Yes
                    })
                }
                Err(fault) => {
                    write_diagnostics(streams.err, &[fault], None)?;
                    Ok(Status::No)
                }
            };
        }
    }
    let known: Vec<_> = projection.files().map(|(path, _)| path.to_string()).collect();
    let named = &locations[0].file;
    Err(Failure::absent(format!("`{named}` is neither a committed file of this project nor a note of it"))
        .hint(format!("committed, from the project's root: {}", known.join(", "))))
}

/// The project that is asked.
struct Here<'a> {
    root: &'a Root,
    project: &'a Project,
    projection: &'a Projection,
}

impl Here<'_> {
    /// What the sections are made of that stand together with the source `path`: a member has notes of its own.
    fn texts(&self, path: &str) -> Texts<'_> {
        let Project { corpus, plugins, config, members, .. } = self.project;
        let holds = |member: &&Member| {
            path.strip_prefix(member.memory.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        let corpus = members.iter().find(holds).map_or(corpus, |member| &member.corpus);
        Texts { project: corpus, home: None, plugins, width: config.width }
    }

    fn is_committed(&self, path: &RelPath) -> bool {
        self.projection.files().any(|(file, _)| file == path)
    }

    /// What sections call a file of the project, if it is a note, a strand or a text of the package.
    fn source_name(&self, path: &RelPath) -> Option<String> {
        let corpora = self.project.members.iter().map(|member| &member.corpus);
        let is_note = |corpus: &Corpus| {
            let strands = corpus.webs.iter().flat_map(|web| web.strands.iter().map(|strand| &strand.path));
            let webs = corpus.webs.iter().map(|web| &web.path);
            corpus.notes.iter().map(|note| &note.path).chain(webs).chain(strands).any(|note| note == path)
        };
        if corpora.chain([&self.project.corpus]).any(is_note) {
            return Some(path.to_string());
        }
        let file = path.as_str().strip_prefix(&self.project.package.label(""))?;
        // The built-in package lies nowhere.
        let is_there = matches!(self.root.kind(path), Ok(Some(Kind::File | Kind::Symlink)));
        is_there.then(|| format!("package:{file}"))
    }

    /// Where a source lies below the root; `None` for the built-in package and for dependencies.
    fn file_of(&self, source: &Source) -> Option<String> {
        let path = match source.scope {
            Layer::Package => self.project.package.label(source.path.as_str()),
            Layer::Plugin | Layer::Home | Layer::Launch => return None,
            Layer::Project | Layer::Frame => source.path.to_string(),
        };
        let is_there = |path: &RelPath| matches!(self.root.kind(path), Ok(Some(Kind::File | Kind::Symlink)));
        RelPath::new(path).ok().filter(is_there).map(|path| path.to_string())
    }

    fn note(&self, path: &RelPath, source: &str, location: &Location) -> Result<Answer, Diagnostic> {
        let bytes = self.root.read(path, self.project.config.note_bytes.max(1 << 20));
        let text = bytes.ok().and_then(|bytes| cantus_memory::decode(path, bytes).ok()).unwrap_or_default();
        let line = text.split_terminator('\n').nth(location.line - 1);
        let text =
            line.ok_or_else(|| beyond(path, location, text.split_terminator('\n').count()))?.to_owned();
        let number = u32::try_from(location.line).unwrap_or(u32::MAX);
        let (sections, places) = appearances(self.projection, self.texts(path.as_str()), source, number);
        let appears = places.into_iter().map(|(file, line)| PlaceAnswer { file: file.to_string(), line });
        let appears: Vec<_> = appears.collect();
        let says = match (sections.first(), appears.is_empty()) {
            (None, _) => Some("no committed file is made of this note; it is read on demand".to_owned()),
            (Some(_), true) => Some("no committed file has this line".to_owned()),
            (Some(_), false) => None,
        };
        Ok(Answer {
            version: 1,
            file: path.to_string(),
            line: location.line,
            column: location.column,
            kind: "note",
            text,
            state: None,
            exact: true,
            section: sections.first().map(|section| section_answer(section, None)),
            sources: vec![SourceAnswer {
                source: source.to_owned(),
                file: Some(path.to_string()),
                line: Some(number),
                columns: None,
            }],
            appears,
            says,
        })
    }

    fn committed(&self, path: &RelPath, location: &Location) -> Result<Result<Answer, Diagnostic>, Failure> {
        let plan = plan(self.root, self.projection, Mend::Safe)
            .map_err(|error| Failure::diagnostics(error.diagnostics()))?;
        let Some(target) = plan.targets.iter().find(|target| target.path == *path) else {
            return Err(Failure::error(format!("`{path}` has no plan")));
        };
        let command = self.projection.command();
        let fault =
            |message: &str, help: String| Ok(Err(Diagnostic::error("why.file", message).at(path).help(help)));
        match &target.state {
            State::Missing => return fault("the file is missing", format!("run `{command}`")),
            State::Foreign => {
                let help = format!("its text comes from no note; `{command}` says how to adopt it");
                return fault("Cantus did not write this file", help);
            }
            _ => {}
        }
        let Some(found) = why(self.root, self.projection, target, location.line) else {
            return Ok(Err(beyond(path, location, self.count_lines(target))));
        };
        Ok(Ok(self.answer(path, location, target, found)))
    }

    fn count_lines(&self, target: &Target) -> usize {
        let composed = || self.projection.text(&target.path).unwrap_or_default();
        let text = target.texts.as_ref().map_or_else(composed, |(committed, _)| committed.clone());
        text.split_terminator('\n').count()
    }

    fn answer(&self, path: &RelPath, location: &Location, target: &Target, found: Why<'_>) -> Answer {
        let mut answer = Answer {
            version: 1,
            file: path.to_string(),
            line: location.line,
            column: location.column,
            kind: "notice",
            text: found.text,
            state: Some(state(&target.state)),
            exact: found.matched == Match::Exact,
            section: None,
            sources: Vec::new(),
            appears: Vec::new(),
            says: None,
        };
        match found.place {
            Place::Notice => {
                answer.says = Some(
                    "the notice, which Cantus writes above the bundle unless the configuration says `notice = false`"
                        .to_owned(),
                );
            }
            Place::BelowNotice => answer.says = Some("the blank line below the notice".to_owned()),
            Place::Nowhere => {
                answer.kind = "gone";
                answer.says = Some("no section of the project is near".to_owned());
            }
            Place::Gone(id, from) => {
                answer.kind = "gone";
                answer.says = Some("the sources no longer give this section".to_owned());
                let layer = layer_of(id.as_str());
                answer.section = Some(SectionAnswer { id: id.to_string(), layer, line: None });
                let source = |source| SourceAnswer { source, file: None, line: None, columns: None };
                answer.sources = from.into_iter().map(source).collect();
            }
            Place::Page(source, line) => {
                answer.kind = "source";
                let file = Some(source.clone());
                answer.sources = vec![SourceAnswer { source, file, line: Some(line), columns: None }];
            }
            Place::Line(section, index) => self.in_section(&mut answer, section, index, location.column),
        }
        answer
    }

    /// Says where the line with this index of a section comes from.
    fn in_section(&self, answer: &mut Answer, section: &Section, index: usize, column: Option<usize>) {
        answer.section = Some(section_answer(section, answer.exact.then_some(index + 1)));
        let first = section.sources.first().map_or_else(String::new, ToString::to_string);
        let traces = trace(section, index, self.texts(&first));
        let wanted =
            |found: &&Trace| column.is_none_or(|column| column == 0 || found.columns.contains(&(column - 1)));
        let mut chosen: Vec<&Trace> = traces.iter().filter(wanted).collect();
        if chosen.is_empty() {
            // A column beyond the end belongs to what stands last.
            chosen.extend(traces.last());
        }
        let only = traces.len() == 1;
        let source_answer = |found: &Trace| SourceAnswer {
            source: section.sources[found.source].to_string(),
            file: self.file_of(&section.sources[found.source]),
            line: (found.line > 0).then_some(found.line),
            columns: (!only && answer.exact).then_some([found.columns.start + 1, found.columns.end]),
        };
        answer.sources = chosen.into_iter().map(source_answer).collect();
        answer.kind = "source";
        if !answer.sources.is_empty() {
            return;
        }
        (answer.kind, answer.says) = (
            if answer.text.is_empty() { "separator" } else { "frame" },
            Some(self.own_words(section, answer.text.is_empty())),
        );
        let nearest = section.source_line(index).map(|(source, line)| SourceAnswer {
            source: source.to_string(),
            file: self.file_of(source),
            line: Some(line),
            columns: None,
        });
        answer.sources.extend(nearest);
    }

    /// What a line of the composer's own is.
    fn own_words(&self, section: &Section, is_blank: bool) -> String {
        match section.id.as_str() {
            _ if is_blank => "a blank line that Cantus puts between parts".to_owned(),
            "frame.title" => match &self.project.config.source {
                Some(file) => {
                    format!("the title, from `title` or `name` in {}, else from Cargo.toml", file.path)
                }
                None => "the title, from the package's name in Cargo.toml if there is one".to_owned(),
            },
            _ if section.layer == Layer::Frame => {
                "a text of the built-in frame; a package may bring its own in `frame.md`".to_owned()
            }
            _ => "a text that Cantus writes".to_owned(),
        }
    }
}

fn section_answer(section: &Section, line: Option<usize>) -> SectionAnswer {
    SectionAnswer { id: section.id.to_string(), layer: section.layer.name(), line }
}

/// The layer that an id's first part names.
fn layer_of(id: &str) -> &'static str {
    let layers = [Layer::Frame, Layer::Package, Layer::Plugin, Layer::Home, Layer::Project, Layer::Launch];
    let prefix = id.split('.').next().unwrap_or_default();
    layers.into_iter().find(|layer| layer.prefix() == prefix).map_or("frame", Layer::name)
}

fn state(state: &State) -> &'static str {
    match state {
        State::Fresh(_) => "fresh",
        State::Missing => "missing",
        State::Stale { .. } => "stale",
        State::Form(_) => "line_ends",
        State::Edited { .. } => "edited",
        State::Foreign => "foreign",
        State::Orphan => "orphan",
    }
}

fn beyond(path: &RelPath, location: &Location, lines: usize) -> Diagnostic {
    let message = format!("there is no line {}", location.line);
    Diagnostic::error("why.line", message)
        .at(path)
        .help(format!("the file has {}", report::plural(lines, "line")))
}

fn tell(answer: &Answer, args: &WhyArgs, streams: &mut Streams<'_>) -> Result<(), Failure> {
    if args.json {
        serde_json::to_writer_pretty(&mut *streams.out, answer).map_err(io::Error::from)?;
        writeln!(streams.out)?;
        return Ok(());
    }
    human(answer, streams).map_err(Failure::from)
}

fn human(answer: &Answer, streams: &mut Streams<'_>) -> io::Result<()> {
    let out = &mut *streams.out;
    let mut labelled = |label: &str, text: &str| writeln!(out, "{LABEL}{label:>12}{LABEL:#} {text}");
    let place = format!("{}:{}", visible(&answer.file), answer.line);
    match answer.text.trim_end() {
        "" => labelled("Line", &place)?,
        text => labelled("Line", &format!("{place} {FAINT}{}{FAINT:#}", visible(text)))?,
    }
    if let Some(section) = &answer.section {
        labelled("Section", &format!("{} ({} layer)", section.id, section.layer))?;
    }
    if let Some(says) = &answer.says {
        labelled("Text", &visible(says))?;
    }
    let label = match (answer.kind, answer.exact) {
        ("note", _) => None,
        ("source", true) => Some("Source"),
        _ => Some("Nearest"),
    };
    for source in label.iter().flat_map(|_| &answer.sources) {
        let name = visible(source.file.as_ref().unwrap_or(&source.source));
        let place = source.line.map_or_else(|| format!("{name} (its name)"), |line| format!("{name}:{line}"));
        let columns = source.columns.map_or_else(String::new, |[first, last]| {
            let part: String = answer.text.chars().take(last).skip(first - 1).collect();
            format!(" {FAINT}{}{FAINT:#}", visible(part.trim()))
        });
        labelled(label.unwrap_or_default(), &format!("{place}{columns}"))?;
    }
    for place in &answer.appears {
        labelled("Stands in", &format!("{}:{}", visible(&place.file), place.line))?;
    }
    if !answer.exact {
        writeln!(out, "{CARE}{:>12}{CARE:#} the sources don't give this line now", "Changed")?;
    }
    match answer.state {
        Some("stale") => writeln!(out, "{CARE}{:>12}{CARE:#} the file is older than its sources", "Stale"),
        Some("edited") => writeln!(out, "{CARE}{:>12}{CARE:#} the file was edited by hand", "Edited"),
        _ => Ok(()),
    }
}
