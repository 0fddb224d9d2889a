//! What a launcher says of an invocation, as JSON.

use std::path::PathBuf;

use cantus_launch::{
    Invocation, Launch, LaunchError, LaunchText, ParseProviderError, Provider, Purpose, Stability, TextBudget,
};
use serde::Deserialize;
use thiserror::Error;

/// The version of the request that is known.
const VERSION: u32 = 1;

/// Why a text is no request.
#[derive(Debug, Error)]
pub(crate) enum RequestError {
    #[error("the request is null")]
    Null,
    #[error("the request is not as expected: {0}")]
    Json(#[from] serde_json::Error),
    #[error("the request has version {0}; this library knows version {VERSION}")]
    Version(u32),
    #[error(transparent)]
    Provider(#[from] ParseProviderError),
    #[error("the section `{0}` needs both `budget` and `pointer`, or neither")]
    Budget(String),
    #[error(transparent)]
    Launch(#[from] LaunchError),
    #[error("the request has both a `parent` and a conversation to `resume`")]
    Lineage,
}

/// An invocation, and whether its bundle may be handed over.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    version: u32,
    provider: String,
    agent: Option<String>,
    agent_type: Option<String>,
    model: Option<String>,
    #[serde(default)]
    purpose: Purpose,
    parent: Option<String>,
    resume: Option<String>,
    run_name: Option<String>,
    folder: Option<PathBuf>,
    program: Option<PathBuf>,
    #[serde(default)]
    sections: Vec<Section>,
    #[serde(default = "yes")]
    deliver: bool,
}

fn yes() -> bool {
    true
}

/// A text of the host's own.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    id: String,
    text: String,
    budget: Option<usize>,
    pointer: Option<String>,
    #[serde(default)]
    volatile: bool,
}

/// The invocation that `json` describes.
pub(crate) fn parse(json: Option<&str>) -> Result<Invocation, RequestError> {
    let request: Request = serde_json::from_str(json.ok_or(RequestError::Null)?)?;
    if request.version != VERSION {
        return Err(RequestError::Version(request.version));
    }
    let sections = request.sections.into_iter().map(section).collect::<Result<_, _>>()?;
    let mut invocation = Invocation::root(Provider::new(request.provider)?)
        .agent(request.agent.unwrap_or_default())
        .agent_type(request.agent_type.unwrap_or_default())
        .model(request.model.unwrap_or_default())
        .purpose(request.purpose)
        .launch(Launch::new(sections)?);
    invocation = match (request.parent, request.resume) {
        (Some(_), Some(_)) => return Err(RequestError::Lineage),
        (Some(parent), None) => invocation.parent(parent),
        (None, Some(resumed)) => invocation.resume(resumed),
        (None, None) => invocation,
    };
    if let Some(name) = request.run_name {
        invocation = invocation.run_name(name);
    }
    if let Some(folder) = request.folder {
        invocation = invocation.folder(&folder);
    }
    if let Some(program) = request.program {
        invocation = invocation.program(program);
    }
    Ok(if request.deliver { invocation } else { invocation.undelivered() })
}

fn section(section: Section) -> Result<LaunchText, RequestError> {
    let budget = match (section.budget, section.pointer) {
        (None, None) => None,
        (Some(chars), Some(pointer)) => Some(TextBudget { chars, pointer }),
        _ => return Err(RequestError::Budget(section.id)),
    };
    let stability = if section.volatile { Stability::Volatile } else { Stability::Stable };
    Ok(LaunchText { name: section.id, text: section.text, budget, stability })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(json: &str, expected: &str) {
        match parse(Some(json)) {
            Ok(_) => assert_eq!(expected, "fine", "{json}"),
            Err(error) => assert!(error.to_string().contains(expected), "{error}"),
        }
    }

    #[test]
    fn requests_name_version_and_provider() {
        check(r#"{"version":1,"provider":"claude"}"#, "fine");
        check(r#"{"version":2,"provider":"claude"}"#, "version 2");
        check(r#"{"provider":"claude"}"#, "missing field `version`");
        check(r#"{"version":1}"#, "missing field `provider`");
        check(r#"{"version":1,"provider":"9"}"#, "`9` is not a provider");
        check("", "not as expected");
        assert!(matches!(parse(None), Err(RequestError::Null)));
    }

    #[test]
    fn everything_can_be_said() {
        check(
            r#"{"version":1,"provider":"codex","agent":"a","agent_type":"t","model":"m","purpose":"conflict_repair",
                "parent":"p","run_name":"r","folder":"/f","program":"/bin/codex","deliver":false,
                "sections":[{"id":"task","text":"Do it.","budget":100,"pointer":"See `task.md`.","volatile":true}]}"#,
            "fine",
        );
    }

    #[test]
    fn slips_are_named() {
        check(r#"{"version":1,"provider":"claude","modle":"m"}"#, "unknown field `modle`");
        check(r#"{"version":1,"provider":"claude","purpose":"fun"}"#, "unknown variant `fun`");
        check(r#"{"version":1,"provider":"claude","parent":"a","resume":"b"}"#, "both a `parent`");
        check(
            r#"{"version":1,"provider":"claude","sections":[{"id":"x","text":"t","budget":9}]}"#,
            "`x` needs both",
        );
        check(r#"{"version":1,"provider":"claude","sections":[{"id":"a b","text":"t"}]}"#, "`a b`");
    }
}
