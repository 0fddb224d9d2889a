//! The conversations of the runs that are looked at, provider by provider.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cantus_fs::Disk;

use super::counting::{self, UNOBSERVED, section_diff, section_rows, stand_in};
use super::judging::{Judgement, judge};
use super::matching::Tie;
use super::records::Records;
use super::report::{Evidence, Needles, Observation, Request};
use super::transcript::{Kin, Transcript};
use super::{Known, claude, codex, grok, lines, muse};
use crate::RunInfo;
use crate::time::rfc3339;

/// How many helpers between a helper and its root are followed.
const MOST_GENERATIONS: usize = 32;

/// A run that is looked at, and what it recorded.
#[derive(Debug)]
pub(crate) struct Looked {
    pub(crate) info: RunInfo,
    pub(crate) start: SystemTime,
    pub(crate) end: SystemTime,
    pub(crate) records: Records,
}

/// One root's conversation in one run, with its helpers.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) observation: Observation,
    pub(crate) helpers: Vec<Observation>,
    pub(crate) evidence: Evidence,
    pub(crate) markers: Vec<(String, String)>,
    pub(crate) start: String,
    /// How many of its lines are no records.
    pub(crate) unread: usize,
    /// The number of the record that is judged, with what became of its bundle.
    pub(crate) judged: Option<(u64, Judgement)>,
    /// The same for each record that the conversation belongs to.
    pub(crate) judgements: Vec<(u64, Judgement)>,
    /// Why the invocations of these records happened.
    pub(crate) purposes: Vec<&'static str>,
}

impl Seen {
    /// Whether `id` is its session's; a rollout's name ends in it.
    fn is_called(&self, id: &str) -> bool {
        let session = &self.observation.session;
        session == id || session.strip_suffix(id).is_some_and(|start| start.ends_with('-'))
    }
}

/// What was seen of one run.
#[derive(Debug)]
pub(crate) struct RunSeen<'a> {
    pub(crate) run: &'a Looked,
    /// Its conversations; what wasn't found isn't among them.
    pub(crate) seen: Vec<Seen>,
}

impl RunSeen<'_> {
    /// The stand-in for a run of which no conversation was found.
    pub(crate) fn stand_in(&self, provider: Known, request: &Request<'_>) -> Option<Observation> {
        let run = &self.run.info;
        if provider == Known::Agy {
            let mut stand_in = stand_in(provider, &run.name, &run.artifacts.to_string_lossy());
            stand_in.section_diff = request.agent.is_some().then(|| section_diff(None, None, Vec::new()));
            return Some(stand_in);
        }
        self.counted().next().is_none().then(|| stand_in(provider, &run.name, UNOBSERVED))
    }

    /// Conversations that count.
    pub(crate) fn counted(&self) -> impl Iterator<Item = &Seen> {
        self.seen.iter().filter(|seen| seen.evidence != Evidence::Foreign)
    }
}

/// What was seen of `provider` in these runs, in their order.
pub(crate) fn gather<'a>(
    disk: &dyn Disk,
    request: &Request<'_>,
    provider: Known,
    runs: &[&'a Looked],
) -> Vec<RunSeen<'a>> {
    let mut gathering = Gathering {
        disk,
        request,
        provider,
        runs: runs.iter().map(|run| RunSeen { run, seen: Vec::new() }).collect(),
    };
    match provider {
        Known::Agy => {}
        Known::Muse => gathering.by_id(),
        Known::Claude | Known::Codex | Known::Grok => gathering.by_folder(),
    }
    gathering.runs
}

struct Gathering<'r, 'a> {
    disk: &'r dyn Disk,
    request: &'r Request<'r>,
    provider: Known,
    runs: Vec<RunSeen<'a>>,
}

impl Gathering<'_, '_> {
    /// Sessions that recorded ids lead to.
    fn by_id(&mut self) {
        let Some(root) = &self.request.roots.muse else { return };
        for index in 0..self.runs.len() {
            let run = self.runs[index].run;
            let mut ids: Vec<_> = muse::named(self.disk, &run.info.artifacts).into_iter().collect();
            for record in run.records.of(self.provider.as_str()) {
                ids.extend(record.manifest.delivery.session_ids.iter().cloned());
            }
            let mut met = BTreeSet::new();
            ids.retain(|id| met.insert(id.clone()));
            for id in ids {
                let log = muse::file(self.disk, root, &id);
                if let Some(transcript) = log.and_then(|log| muse::read(self.disk, &log)) {
                    self.take(index, &transcript, Vec::new);
                }
            }
        }
    }

    /// Sessions that lie where those of a folder do.
    fn by_folder(&mut self) {
        let mut folders = BTreeMap::<String, Vec<usize>>::new();
        for (index, seen) in self.runs.iter().enumerate() {
            let workspace = seen.run.info.workspace.as_deref().filter(|workspace| !workspace.is_empty());
            if let Some(workspace) = workspace {
                let folder = Some(workspace.trim_end_matches('/')).filter(|folder| !folder.is_empty());
                folders.entry(folder.unwrap_or("/").to_owned()).or_default().push(index);
            }
        }
        for (workspace, runs) in folders {
            let mut helpers = Vec::new();
            for path in self.files(&workspace, &runs) {
                let Some(transcript) = self.read(&path, &workspace, &runs) else { continue };
                if transcript.kin != Kin::Root {
                    helpers.push(transcript);
                    continue;
                }
                let mut beside = None;
                for &index in runs.iter().filter(|&&index| self.is_of(&transcript, index)).collect::<Vec<_>>()
                {
                    let (disk, provider) = (self.disk, self.provider);
                    self.take(index, &transcript, || {
                        let read = || {
                            if provider == Known::Claude { claude::helpers(disk, &path) } else { Vec::new() }
                        };
                        beside.get_or_insert_with(read).clone()
                    });
                }
            }
            self.adopt(&runs, &helpers);
        }
    }

    /// The files that may be sessions of one of these runs, which share a folder. Those that were written last before the first
    /// of them began are not opened.
    fn files(&self, workspace: &str, runs: &[usize]) -> Vec<PathBuf> {
        let spans: Vec<_> =
            runs.iter().map(|&index| (self.runs[index].run.start, self.runs[index].run.end)).collect();
        let roots = &self.request.roots;
        let files = match (self.provider, &roots.claude, &roots.codex, &roots.grok) {
            (Known::Claude, Some(root), _, _) => claude::files(self.disk, root, workspace),
            (Known::Codex, _, Some(root), _) => codex::files(self.disk, root, &spans),
            (Known::Grok, _, _, Some(root)) => grok::files(self.disk, root, workspace),
            _ => Vec::new(),
        };
        let first = spans.iter().map(|(start, _)| *start).min();
        let is_late = |file: &PathBuf| {
            let dated = if self.provider == Known::Grok { grok::dated(file) } else { file.clone() };
            lines::modified(self.disk, &dated)
                .is_none_or(|modified| first.is_none_or(|first| modified >= first))
        };
        files.into_iter().filter(is_late).collect()
    }

    fn read(&self, path: &Path, workspace: &str, runs: &[usize]) -> Option<Transcript> {
        let is_wanted = |transcript: &Transcript| runs.iter().any(|&index| self.is_of(transcript, index));
        match self.provider {
            Known::Claude => claude::read(self.disk, path, workspace, &is_wanted),
            Known::Codex => codex::read(self.disk, path, workspace),
            Known::Grok => grok::read(self.disk, path, workspace),
            Known::Muse | Known::Agy => None,
        }
    }

    /// Whether a session began while the run went on, or is one that the run recorded.
    fn is_of(&self, transcript: &Transcript, index: usize) -> bool {
        let run = self.runs[index].run;
        let is_within = transcript.start.is_some_and(|start| (run.start..=run.end).contains(&start));
        let mut records = run.records.of(self.provider.as_str());
        is_within || records.any(|record| transcript.is_one_of(&record.manifest.delivery.session_ids))
    }

    /// Takes a root's conversation as one of the run, with its helpers if it isn't foreign.
    fn take(&mut self, index: usize, transcript: &Transcript, helpers: impl FnOnce() -> Vec<Transcript>) {
        let run = self.runs[index].run;
        let tie = Tie::of(transcript, self.provider, &run.records);
        let needles = self.needles(run, &tie);
        let mut seen = self.seen(run, transcript, &tie, &needles);
        if tie.evidence != Evidence::Foreign {
            let judged = tie.judged();
            let helper = |helper: &Transcript| {
                counting::helper(&seen.observation, helper, judged, &run.records, &needles)
            };
            seen.helpers = helpers().iter().map(helper).collect();
        }
        self.runs[index].seen.push(seen);
    }

    fn needles(&self, run: &Looked, tie: &Tie<'_>) -> Needles {
        let today = || Some(self.request.today?(&run.info, self.provider));
        run.records.needles(self.provider.as_str(), tie.judged(), today)
    }

    fn seen(&self, run: &Looked, transcript: &Transcript, tie: &Tie<'_>, needles: &Needles) -> Seen {
        let mut observation = counting::root(self.provider, &run.info.name, transcript, tie, needles);
        let mut judgements = Vec::new();
        let mut judged = None;
        for record in &tie.matches {
            let rows = section_rows(transcript, record);
            let judgement = judge(transcript, tie, record, &rows);
            if tie.judged().is_some_and(|it| it.seq == record.seq) {
                judged = Some((record.seq, judgement.clone()));
                observation.section_diff =
                    self.request.agent.is_some().then(|| section_diff(Some(transcript), Some(tie), rows));
            }
            judgements.push((record.seq, judgement));
        }
        if tie.matches.is_empty() && self.request.agent.is_some() && tie.evidence != Evidence::Foreign {
            observation.section_diff = Some(section_diff(Some(transcript), Some(tie), Vec::new()));
        }
        let mut purposes: Vec<_> = tie.matches.iter().map(|record| record.purpose()).collect();
        purposes.dedup();
        Seen {
            observation,
            helpers: Vec::new(),
            evidence: tie.evidence,
            markers: tie.markers.clone(),
            start: transcript.start.map(rfc3339).unwrap_or_default(),
            unread: transcript.unread,
            judged,
            judgements,
            purposes,
        }
    }

    /// Gives helpers that have transcripts of their own to the roots of these runs.
    fn adopt(&mut self, runs: &[usize], helpers: &[Transcript]) {
        let names = |it: &'_ Transcript| it.ids.iter().chain([&it.name]).cloned().collect::<Vec<_>>();
        let known: BTreeMap<String, &Transcript> =
            helpers.iter().flat_map(|it| names(it).into_iter().map(move |name| (name, it))).collect();
        for helper in helpers {
            // A helper may have been started by another one.
            let mut above = helper.parent();
            for _ in 0..MOST_GENERATIONS {
                let Some(next) = above.and_then(|id| known.get(id)) else { break };
                above = next.parent();
            }
            for &index in runs {
                self.adopt_in(index, helper, above);
            }
        }
    }

    /// Gives a helper to the root of this run that it names, or to the only one if it began meanwhile and names none.
    fn adopt_in(&mut self, index: usize, helper: &Transcript, root: Option<&str>) {
        let run = self.runs[index].run;
        let all = &self.runs[index].seen;
        let at = match root {
            Some(root) => all.iter().position(|seen| seen.is_called(root)),
            None => (all.len() == 1 && self.is_of(helper, index)).then_some(0),
        };
        let Some(at) = at else { return };
        let seen = &self.runs[index].seen[at];
        if seen.evidence == Evidence::Foreign {
            return;
        }
        let number = seen.judged.as_ref().map(|(seq, _)| *seq);
        let mut own = run.records.of(self.provider.as_str());
        let judged = own.find(|record| Some(record.seq) == number);
        let tie = Tie { markers: Vec::new(), matches: judged.into_iter().collect(), evidence: seen.evidence };
        let needles = self.needles(run, &tie);
        let found = counting::helper(&seen.observation, helper, judged, &run.records, &needles);
        self.runs[index].seen[at].helpers.push(found);
    }
}
