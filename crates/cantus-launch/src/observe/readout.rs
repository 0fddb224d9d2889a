//! How runs ended, by provider and by the way in which their instructions reached them.

mod sase;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::SystemTime;

use cantus_fs::{Disk, ReadError};
use cantus_manifest::Actor;
use cantus_manifest::Purpose;
use cantus_manifest::manifest::{DeliveryStatus, Manifest};
use serde::Serialize;
use serde_json::Value;

use crate::reading::record_files;
use crate::record::{MOST_META, Role};
use crate::runs::{RunInfo, Runs, Window};
use crate::time::rfc3339;

/// The file in which a launcher says what came of a run.
const OUTCOME: &str = "outcome.json";

/// The most characters of a launcher's own word for an outcome that are kept.
const MOST_KIND: usize = 40;

/// Providers in the order of the rows; others follow by name.
const ORDER: [&str; 5] = ["claude", "codex", "grok", "muse", "agy"];

/// Whose files say how a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Layout {
    /// `outcome.json`, which any launcher may write.
    #[default]
    Cantus,
    /// The files of SASE, and these logs of memory reads.
    Sase(Vec<PathBuf>),
}

/// What is asked for.
#[derive(Clone, Debug)]
pub struct ReadoutRequest<'a> {
    /// Where runs are looked for.
    pub runs: &'a Runs,
    /// When they began.
    pub window: Window,
    /// Whose they are; all of them if there is none.
    pub providers: BTreeSet<String>,
    /// Whose files tell.
    pub layout: Layout,
    /// The present.
    pub now: SystemTime,
}

/// How runs ended. Its JSON is what `readout --json` prints.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Readout {
    /// The version of the shape.
    pub version: u32,
    /// The same for readers of SASE.
    pub schema_version: u32,
    /// When it was made.
    pub generated_at: String,
    /// What was asked for.
    pub filters: ReadoutFilters,
    /// By provider, when the first bundle was rendered that was handed over.
    pub first_explicit_rendered_at: BTreeMap<String, String>,
    /// By provider and delivery mode.
    pub rows: Vec<ModeRow>,
    /// How many runs were looked at; those without the files of the layout are in no row.
    #[serde(skip)]
    pub looked_at: usize,
    /// Trees of runs of which only the first folders were looked at.
    #[serde(skip)]
    pub cut: Vec<PathBuf>,
    /// How many entries of the index led to a folder that is gone.
    #[serde(skip)]
    pub gone: usize,
    /// Runs whose `outcome.json` can't be understood, by name; they count as `unknown`.
    #[serde(skip)]
    pub broken: Vec<String>,
    /// Logs of memory reads that could not be read, and why; no read in them is counted.
    #[serde(skip)]
    pub unread: Vec<(PathBuf, String)>,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadoutFilters {
    /// Runs that began not before this.
    pub since: Option<String>,
    /// Runs that began not after this.
    pub until: Option<String>,
    /// Runs of these; all if there is none.
    pub providers: Vec<String>,
}

/// The runs of one provider whose instructions reached them in one way.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModeRow {
    /// Whose runs.
    pub provider: String,
    /// `explicit`, `legacy` (its own files) or `none` (nothing was recorded).
    pub delivery_mode: &'static str,
    /// Whether they are research, for SASE alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_research: Option<bool>,
    /// How many there are.
    pub total: u64,
    /// How many of each class, each in a key of its own.
    #[serde(flatten)]
    pub classes: BTreeMap<&'static str, u64>,
    /// The misses for people: `≤m/N (p%)`.
    pub misses: String,
    /// The part that missed, to four digits.
    pub miss_rate: f64,
    /// How often memory was read in a run, for SASE alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mean: Option<f64>,
    /// The part of the runs that read memory, for SASE alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_share: Option<f64>,
    /// The launchers' own words for outcomes; left out if there is none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<ReadoutKind>,
}

/// A launcher's own word for outcomes of a class.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReadoutKind {
    /// The class.
    pub class: &'static str,
    /// The word.
    pub kind: String,
    /// How many runs ended so.
    pub runs: u64,
}

/// How one run counts.
struct Counted {
    mode: &'static str,
    class: &'static str,
    kind: Option<String>,
    is_research: bool,
    memory_reads: u64,
    first_explicit: Option<String>,
}

/// How the runs that are asked for ended. What can't be read says nothing; this never fails.
#[must_use]
pub fn readout(disk: &dyn Disk, request: &ReadoutRequest<'_>) -> Readout {
    let mut within = request.runs.within(request.window);
    let is_asked = |run: &RunInfo| {
        let provider = run.provider.as_ref();
        provider.is_some_and(|name| request.providers.is_empty() || request.providers.contains(name))
    };
    let runs: Vec<RunInfo> = within.by_ref().filter(is_asked).collect();
    let (mut broken, mut unread) = (Vec::new(), Vec::new());
    let counted: Vec<(&str, Counted)> = match &request.layout {
        Layout::Cantus => runs.iter().map(|run| (provider(run), told(disk, run, &mut broken))).collect(),
        Layout::Sase(logs) => {
            let reads = sase::memory_reads(disk, logs, &runs, &mut unread);
            let counted = runs.iter().zip(reads);
            let counted = counted.filter_map(|(run, reads)| {
                Some((provider(run), sase::counted(disk, run, reads, request.now)?))
            });
            counted.collect()
        }
    };
    let stamp = |time| stamp(&request.layout, time);
    Readout {
        version: 1,
        schema_version: 1,
        generated_at: stamp(request.now),
        filters: ReadoutFilters {
            since: request.window.since.map(stamp),
            until: request.window.until.map(stamp),
            providers: request.providers.iter().cloned().collect(),
        },
        first_explicit_rendered_at: first_explicit(&counted),
        rows: rows(&counted, &request.layout),
        looked_at: runs.len(),
        cut: within.cut,
        gone: within.gone,
        broken,
        unread: unread.into_iter().map(|(log, error)| (log, reason(&error))).collect(),
    }
}

/// Why a file could not be read.
fn reason(error: &ReadError) -> String {
    match error {
        ReadError::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

fn provider(run: &RunInfo) -> &str {
    run.provider.as_deref().unwrap_or_default()
}

/// A time as the readers of a layout know it: SASE's have no fraction and the offset of UTC in digits.
fn stamp(layout: &Layout, time: SystemTime) -> String {
    let text = rfc3339(time);
    match layout {
        Layout::Cantus => text,
        Layout::Sase(_) => format!("{}+00:00", text.get(..19).unwrap_or(&text)),
    }
}

/// A run as the launcher itself tells of it; the names of those that tell nothing sensible are added to `broken`.
fn told(disk: &dyn Disk, run: &RunInfo, broken: &mut Vec<String>) -> Counted {
    let (mode, first_explicit) = mode(disk, run);
    let (class, kind) = match outcome(disk, run) {
        Ok(Some((class, kind))) => (class, kind),
        Ok(None) if run.ended_at.is_some() => ("miss", None),
        Ok(None) => ("unknown", None),
        Err(Broken) => {
            broken.push(run.name.clone());
            ("unknown", None)
        }
    };
    Counted { mode, class, kind, is_research: false, memory_reads: 0, first_explicit }
}

/// An `outcome.json` that can't be understood.
struct Broken;

/// What the launcher says of a run: its class and its own word for it; `None` if it says nothing.
fn outcome(disk: &dyn Disk, run: &RunInfo) -> Result<Option<(&'static str, Option<String>)>, Broken> {
    let bytes = match disk.read(&run.artifacts.join(OUTCOME), MOST_META) {
        Err(error) if error.is_absent() => return Ok(None),
        bytes => bytes.map_err(|_| Broken)?,
    };
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| Broken)?;
    let classes = ["accepted", "handoff", "not_required"];
    let class = classes.into_iter().find(|class| value["class"] == *class);
    let class = class.filter(|_| value["version"] == 1).ok_or(Broken)?;
    let kind = value["kind"].as_str().map(|kind| kind.chars().take(MOST_KIND).collect());
    Ok(Some((class, kind)))
}

/// How the instructions reached a run's root agents, and when the first bundle was rendered that was handed over: the ordinary
/// invocations count, if there is one.
fn mode(disk: &dyn Disk, run: &RunInfo) -> (&'static str, Option<String>) {
    let files = record_files(disk, &run.artifacts).unwrap_or_default();
    let roots = files.iter().filter(|files| files.role() == Role::Root);
    let mut roots: Vec<Manifest> = roots.filter_map(|files| files.manifest(disk)).collect();
    roots.retain(|manifest| manifest.facts.actor != Actor::NativeHelper);
    if roots.iter().any(|manifest| manifest.facts.purpose == Purpose::Ordinary) {
        roots.retain(|manifest| manifest.facts.purpose == Purpose::Ordinary);
    }
    let is_explicit = |manifest: &&Manifest| manifest.delivery.status == DeliveryStatus::Explicit;
    let first = roots.iter().filter(is_explicit).map(|manifest| manifest.delivery.rendered_at.clone()).min();
    let mode = match (&first, roots.is_empty()) {
        (Some(_), _) => "explicit",
        (None, false) => "legacy",
        (None, true) => "none",
    };
    (mode, first)
}

/// By provider, the smallest of the times that are known.
fn first_explicit(counted: &[(&str, Counted)]) -> BTreeMap<String, String> {
    let mut first = BTreeMap::new();
    for (provider, Counted { first_explicit, .. }) in counted {
        let Some(time) = first_explicit else { continue };
        let least = first.entry((*provider).to_owned()).or_insert_with(|| time.clone());
        if time < least {
            least.clone_from(time);
        }
    }
    first
}

fn rows(counted: &[(&str, Counted)], layout: &Layout) -> Vec<ModeRow> {
    let mut groups: BTreeMap<_, Vec<&Counted>> = BTreeMap::new();
    for (provider, run) in counted {
        let place = ORDER.iter().position(|name| name == provider).unwrap_or(ORDER.len());
        groups.entry((place, *provider, run.mode, run.is_research)).or_default().push(run);
    }
    groups.into_iter().map(|((_, provider, ..), runs)| row(provider, &runs, layout)).collect()
}

fn row(provider: &str, runs: &[&Counted], layout: &Layout) -> ModeRow {
    let known: &[&'static str] = match layout {
        Layout::Cantus => &["accepted", "handoff", "not_required", "miss", "unknown"],
        Layout::Sase(_) => &sase::CLASSES,
    };
    let mut classes: BTreeMap<_, u64> = known.iter().map(|class| (*class, 0)).collect();
    let mut kinds: BTreeMap<(&'static str, &str), u64> = BTreeMap::new();
    for run in runs {
        *classes.entry(run.class).or_default() += 1;
        if let Some(kind) = &run.kind {
            *kinds.entry((run.class, kind)).or_default() += 1;
        }
    }
    let (total, misses) = (runs.len() as u64, classes["miss"]);
    let part = |count: u64| count as f64 / total as f64;
    let is_sase = matches!(layout, Layout::Sase(_));
    let reads: u64 = runs.iter().map(|run| run.memory_reads).sum();
    let readers = runs.iter().filter(|run| run.memory_reads > 0).count() as u64;
    let first = runs.first();
    ModeRow {
        provider: provider.to_owned(),
        delivery_mode: first.map_or("none", |run| run.mode),
        is_research: first.map(|run| run.is_research).filter(|_| is_sase),
        total,
        misses: format!("≤{misses}/{total} ({:.0}%)", part(misses) * 100.0),
        miss_rate: rounded(part(misses), 4),
        memory_mean: is_sase.then(|| rounded(part(reads), 2)),
        memory_share: is_sase.then(|| rounded(part(readers), 4)),
        classes,
        kinds: kinds
            .into_iter()
            .map(|((class, kind), runs)| ReadoutKind { class, kind: kind.to_owned(), runs })
            .collect(),
    }
}

/// `number` to so many digits, the even one of two that are as near.
fn rounded(number: f64, digits: usize) -> f64 {
    format!("{number:.digits$}").parse().unwrap_or(number)
}
