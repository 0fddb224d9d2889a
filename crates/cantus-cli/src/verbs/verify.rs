//! `cantus verify`: what agents were really given, held against what was recorded.

mod human;

use std::time::{Duration, Instant, SystemTime};

use cantus_fs::RealDisk;
use cantus_launch::observe::{
    Candidates, Finding, Known, Report, Request, Roots, candidates, composed, findings, report, when,
};
use cantus_launch::{Runs, Window};
use cantus_manifest::canonical_json;

use crate::args::{Global, VerifyArgs};
use crate::blocks::width;
use crate::clock::Clock;
use crate::failure::Failure;
use crate::verbs::default_home;
use crate::verbs::recorded::{find, runs, say_no, tell_none, tell_unseen, user_home};
use crate::{Status, Streams};

/// The most runs of each provider that are looked at.
const MOST_RUNS: usize = 200;

/// How far back a window reaches where nobody says.
const SINCE: Duration = Duration::from_secs(7 * 86_400);

pub(crate) fn run(global: &Global, args: &VerifyArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    if args.number == 0 {
        return Err(Failure::error("`-n 0` looks at nothing").hint("give a number from 1, or leave it out"));
    }
    let now = Clock::start(Instant::now())?.at();
    let window = window(args.since.as_deref(), args.until.as_deref(), now)?;
    let limit = usize::try_from(args.number).map_or(MOST_RUNS, |number| number.min(MOST_RUNS));
    let runs = runs(&args.runs)?;
    let Some(chosen) = chosen(global, &runs, args, window, limit, streams)? else { return Ok(Status::No) };
    let (mut report, findings) = looked(global, args, chosen, window, limit, now);
    if let (Some(name), []) = (&args.agent, report.runs.as_slice()) {
        let message =
            format!("verify: nothing of run {name} was looked at: it has no start, or another provider");
        say_no(
            &message,
            &format!("leave out `-p`; `{} show {name} --list` lists its records", global.program),
            streams,
        )?;
    }
    if args.json {
        trim(&mut report, args);
        let value = serde_json::to_value(&report).map_err(Failure::error)?;
        streams.out.write_all(canonical_json(&value).as_bytes())?;
    } else {
        human::print(&report, &findings, args, width(), streams.out)?;
    }
    Ok(if global.strict && !findings.is_empty() { Status::No } else { Status::Yes })
}

/// The window that is meant; an empty text is none.
pub(super) fn window(since: Option<&str>, until: Option<&str>, now: SystemTime) -> Result<Window, Failure> {
    let time = |text: Option<&str>| {
        let text = text.filter(|text| !text.is_empty());
        text.map(|text| when(text, now).map_err(Failure::error)).transpose()
    };
    let since = time(since)?.or_else(|| now.checked_sub(SINCE));
    Ok(Window { since, until: time(until)? })
}

/// The runs to look at: the one that is named, else the newest of the window. If the named one isn't there, that is said.
fn chosen(
    global: &Global,
    runs: &Runs,
    args: &VerifyArgs,
    window: Window,
    limit: usize,
    streams: &mut Streams<'_>,
) -> Result<Option<Candidates>, Failure> {
    if let Some(name) = &args.agent {
        let run = find(global, runs, name, "verify", streams)?;
        return Ok(run.map(|run| Candidates { runs: vec![run], ..Candidates::default() }));
    }
    let providers = if args.providers.is_empty() { Known::ALL.as_slice() } else { &args.providers };
    let chosen = candidates(&RealDisk, runs, window, providers, limit);
    tell_unseen("verify", &chosen.cut, chosen.gone, streams)?;
    if chosen.runs.is_empty() {
        let providers: Vec<_> = providers.iter().map(ToString::to_string).collect();
        tell_none(global, "verify", &providers, streams)?;
    }
    Ok(Some(chosen))
}

/// The report with all that it may have, and what it proves to be wrong.
fn looked(
    global: &Global,
    args: &VerifyArgs,
    chosen: Candidates,
    window: Window,
    limit: usize,
    now: SystemTime,
) -> (Report, Vec<Finding>) {
    let user = user_home();
    let home = match &global.home {
        _ if global.no_home => None,
        Some(home) => std::path::absolute(home).ok(),
        None => default_home(&RealDisk),
    };
    let today = composed(home.as_deref());
    let request = Request {
        runs: chosen.runs,
        providers: args.providers.clone(),
        limit,
        since: window.since,
        until: window.until,
        agent: args.agent.clone(),
        coverage: true,
        helpers: true,
        roots: Roots::of(user.as_deref(), &|name| std::env::var_os(name)),
        user,
        now,
        today: Some(&*today),
    };
    let report = report(&RealDisk, &request);
    let findings = findings(&report);
    (report, findings)
}

/// Leaves out what nobody asked for.
fn trim(report: &mut Report, args: &VerifyArgs) {
    report.filters.coverage = args.coverage;
    report.filters.helpers = args.helpers;
    if !args.coverage {
        report.coverage = None;
        report.verdicts = None;
        report.unread.clear();
        report.observations.take_if(|_| !args.helpers && args.agent.is_none());
    }
}
