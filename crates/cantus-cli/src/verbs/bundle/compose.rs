//! `cantus bundle compose`: the bundle of one role, as a request asks for it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_bundle::{
    Base, Decision, Detail, MaterialiseError, Materialised, Request, Resolution, Verdict, built_in_roles,
    describe, materialise, resolve,
};
use cantus_fs::{Disk as _, Kind, RealDisk};
use cantus_manifest::{Diagnostic, Outcome};
use cantus_projection::facts_of;
use cantus_workspace::{Project, find_root};
use serde::Serialize;

use super::{absolute, print_json, write_lines};
use crate::args::{ComposeArgs, Global};
use crate::failure::{Failure, write_diagnostics};
use crate::style::GOOD;
use crate::verbs::{finish, options, root_on, start, strictly};
use crate::visible::visible;
use crate::{Status, Streams};

/// The most bytes that a request may have.
const MOST_BYTES: u64 = 1 << 20;

/// What `bundle compose --json` prints.
#[derive(Serialize)]
struct Report {
    version: u32,
    key: String,
    /// Whether it was there already.
    reused: bool,
    /// Its folder.
    path: String,
    role: String,
    personalities: Vec<String>,
    boundaries: Vec<String>,
    model_tier: &'static str,
    delivery: &'static str,
    color: String,
    sources: Vec<String>,
    /// How many decisions ended in which way.
    decisions: BTreeMap<String, usize>,
}

pub(super) fn run(global: &Global, args: &ComposeArgs, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let (request, folder) = request(args.request.as_deref())?;
    let base = base(global, &request, &folder, streams)?;
    let outcome = strictly(resolve(&RealDisk, &request, &folder, base.as_ref()), global);
    let Outcome { value, diagnostics } = outcome;
    let Some(resolution) = value else {
        return Err(Failure::diagnostics(diagnostics));
    };
    if !global.quiet {
        write_diagnostics(streams.err, &diagnostics, None)?;
    }
    let out = match &args.out {
        Some(out) => out.clone(),
        None => default_out()?,
    };
    match materialise(&RealDisk, &resolution, &absolute(&out)?) {
        Ok(made) => tell(global, args, &resolution, &made, &out.join(&made.key), streams),
        Err(error) => refuse(error, streams),
    }
}

/// The request that the argument names, and the absolute folder that its paths start at.
fn request(named: Option<&Path>) -> Result<(Request, PathBuf), Failure> {
    let roles = built_in_roles();
    let Some(named) = named else {
        let first = roles.first().map_or("", String::as_str);
        return Ok((Request::for_role(first), absolute(Path::new("."))?));
    };
    let path = absolute(named)?;
    let role = named.to_str().filter(|name| roles.iter().any(|role| role == name));
    if let Some(role) = role
        && !matches!(RealDisk.kind(&path), Ok(Some(Kind::File)))
    {
        return Ok((Request::for_role(role), absolute(Path::new("."))?));
    }
    let text = RealDisk.read(&path, MOST_BYTES).map_err(|error| {
        let said = Diagnostic::from_error("error", &error).message;
        Failure::error(format!("cannot read the request `{}`: {said}", named.display()))
            .hint(format!("name a KDL file, or a role of the built-in roster: `{}`", roles.join("`, `")))
    })?;
    let Outcome { value, diagnostics } = Request::read(&named.display().to_string(), &text);
    let request = value.ok_or_else(|| Failure::diagnostics(diagnostics))?;
    let folder = path.parent().map_or_else(|| path.clone(), Path::to_path_buf);
    Ok((request, folder))
}

/// The render that the request names, of the project that the request lies in, or that the arguments name.
fn base(
    global: &Global,
    request: &Request,
    folder: &Path,
    streams: &mut Streams<'_>,
) -> Result<Option<Base>, Failure> {
    let Some(name) = &request.base else { return Ok(None) };
    let refused = |message: String| {
        Diagnostic::error("bundle.request", message).at(&request.name).line(request.lines.base)
    };
    let from = if global.root.is_some() { start(global)? } else { folder.to_path_buf() };
    if global.root.is_none() && find_root(&RealDisk, &from).is_none() {
        let message = format!(
            "the render `{name}` needs a project, and none is found from the request's folder upward"
        );
        let help = "put the request into the project whose instructions should lead, name that with `--root DIR`, or leave `base` out";
        return Err(Failure::diagnostics(vec![refused(message).help(help)]));
    }
    let root = root_on(Arc::new(RealDisk), &from, global)?;
    let project = finish(Project::open(&root, &options(global)), global, streams)?;
    let mut known = vec!["native", "helper", "interactive", "export"];
    known.extend(project.config.providers.iter().map(cantus_manifest::Provider::as_str));
    let facts = facts_of(name).filter(|_| known.contains(&name.as_str())).ok_or_else(|| {
        let message = format!("no render is called `{name}`; expected one of `{}`", known.join("`, `"));
        Failure::diagnostics(vec![refused(message)])
    })?;
    let set = finish(project.sections(project.config.name.as_deref(), None), global, streams)?;
    let bundle = set.bundle(facts);
    let text = bundle.text().as_bytes().to_vec();
    Ok(Some(Base { render: name.clone(), text, common: bundle.common_digest() }))
}

/// The folder of bundles that nobody named: `trees` in the store.
fn default_out() -> Result<PathBuf, Failure> {
    let trees = cantus_store::default_home().map(|store| store.join("trees"));
    trees.ok_or_else(|| Failure::error("no folder for bundles is known").hint("name one with `--out DIR`"))
}

fn counts(decisions: &[Decision]) -> BTreeMap<String, usize> {
    let all = [Verdict::Selected, Verdict::Excluded, Verdict::Shadowed, Verdict::Delivered];
    let count = |verdict: Verdict| decisions.iter().filter(|it| it.outcome == verdict.as_str()).count();
    all.into_iter().map(|verdict| (verdict.to_string(), count(verdict))).collect()
}

fn tell(
    global: &Global,
    args: &ComposeArgs,
    resolution: &Resolution,
    made: &Materialised,
    path: &Path,
    streams: &mut Streams<'_>,
) -> Result<Status, Failure> {
    let counts = counts(&resolution.decisions);
    let texts = |list: &[String]| list.join("+");
    let personalities: Vec<_> = resolution.personalities.iter().map(ToString::to_string).collect();
    let sources: Vec<_> = resolution.sources.iter().map(ToString::to_string).collect();
    if args.json {
        let report = Report {
            version: 1,
            key: made.key.clone(),
            reused: made.reused,
            path: path.display().to_string(),
            role: resolution.role.clone(),
            personalities,
            boundaries: resolution.boundaries.clone(),
            model_tier: resolution.tier.as_str(),
            delivery: resolution.delivery.as_str(),
            color: resolution.colour.to_string(),
            sources,
            decisions: counts,
        };
        return print_json(&report, streams);
    }
    if !global.quiet {
        let state = if made.reused { "reused" } else { "new" };
        let Resolution { role, tier, delivery, colour, .. } = resolution;
        let decided: Vec<_> = ["selected", "excluded", "shadowed", "delivered"]
            .into_iter()
            .map(|verdict| format!("{} {verdict}", counts.get(verdict).copied().unwrap_or_default()))
            .collect();
        let lines = [
            format!("request: model tier {tier} // delivery {delivery}"),
            format!("role: {role} // {} // melded {colour}", texts(&personalities)),
            format!("sources: {}", sources.join(" // ")),
            format!("decisions: {}", decided.join(" // ")),
            format!("path: {}", path.display()),
            format!("trace: {}", path.join("trace.json").display()),
        ];
        writeln!(streams.out, "{GOOD}bundle {}{GOOD:#} ({state})", made.key)?;
        for line in lines {
            writeln!(streams.out, "{}", visible(&line))?;
        }
    }
    if !args.explain {
        return Ok(Status::Yes);
    }
    let description = describe(&RealDisk, &made.folder).map_err(Failure::error)?;
    writeln!(streams.out)?;
    write_lines(&description.text(Detail::All), streams)
}

/// The answer "no" where a bundle of this name is there and not what it should be; the failure if there is none.
fn refuse(error: MaterialiseError, streams: &mut Streams<'_>) -> Result<Status, Failure> {
    let help = match &error {
        MaterialiseError::Invalid { .. } | MaterialiseError::Tampered { .. } => {
            "remove the folder if nobody uses it; the next run makes it anew"
        }
        MaterialiseError::Blocked { .. } => "move it away, or name another folder with `--out`",
        MaterialiseError::Out(_) | MaterialiseError::Lock(_) | MaterialiseError::Write { .. } => {
            let help = "name a folder where there is room and you may write with `--out DIR`";
            return Err(Failure::error(error).hint(help));
        }
        _ => return Err(Failure::error(error)),
    };
    Failure::error(error).hint(help).write(streams.err, None)?;
    Ok(Status::No)
}
