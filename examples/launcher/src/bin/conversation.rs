//! A launcher that keeps one conversation and sends with each request what changed since the last one.
//!
//! `conversation HISTORY AGENT REQUEST...`: AGENT, which may be `cat`, reads system text, context update and request on its
//! standard input. HISTORY is made if it isn't there.

use std::error::Error;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cantus_launch::sessions::{
    HostSection, Keys, SessionLaunch, State, Todo, TodoStatus, Turn, WikiPointer, delivered,
};
use cantus_launch::{Composer, RealDisk, SessionComposer};
use serde_json::{Value, json};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let history = std::path::absolute(args.next().ok_or("name the history")?)?;
    let agent = PathBuf::from(args.next().ok_or("name the agent's program")?);
    let composer = SessionComposer::new(Composer::discover(&std::env::current_dir()?, None));
    for request in args {
        // From a history that can't be read nothing is known: everything is sent.
        let previous = delivered(&RealDisk, &history, &Keys::default()).unwrap_or_default();
        let (mut spoken, mut update) = (Vec::new(), None);
        match composer.compile(&launch(&request, &history), previous.as_ref()) {
            Ok(texts) => {
                spoken.push(texts.compiled.system);
                update = texts.compiled.update;
            }
            // The conversation goes on with what it has been told.
            Err(error) => writeln!(io::stderr(), "no context for this request: {error}")?,
        }
        if let Some(update) = update {
            let details = json!({"cantusContext": update.snapshot});
            let entry = json!({"type": "custom_message", "customType": "cantus-context", "details": details});
            append(&history, entry, &update.content)?;
            spoken.push(update.content);
        }
        append(&history, json!({"type": "message"}), &request)?;
        spoken.push(request);
        tell(&agent, &spoken.join("\n"))?;
    }
    Ok(())
}

/// What is said of the session and of this request. All that changes is dynamic: the system text stays the same.
fn launch(request: &str, history: &Path) -> SessionLaunch {
    let todo = Todo { text: request.to_owned(), status: TodoStatus::InProgress };
    let turn = if history.exists() { Turn::Later } else { Turn::First };
    let role = HostSection {
        id: "role".to_owned(),
        text: "You answer briefly.".to_owned(),
        ..HostSection::default()
    };
    SessionLaunch {
        product: "Acme".to_owned(),
        sections: vec![role],
        state: Some(State { todo: Some(vec![todo]), turn, ..State::default() }),
        wiki: WikiPointer::Shown,
        ..SessionLaunch::default()
    }
}

/// Adds an entry to the history, below the one before it. Their ids are their numbers.
#[expect(clippy::disallowed_methods, reason = "the history is the launcher's own file")]
fn append(history: &Path, mut entry: Value, content: &str) -> io::Result<()> {
    let last = std::fs::read_to_string(history).map_or(0, |text| text.lines().count());
    entry["id"] = json!((last + 1).to_string());
    entry["parentId"] = if last == 0 { Value::Null } else { json!(last.to_string()) };
    entry["content"] = json!(content);
    let mut file = std::fs::OpenOptions::new().create(true).append(true).open(history)?;
    writeln!(file, "{entry}")
}

fn tell(agent: &Path, spoken: &str) -> io::Result<()> {
    let mut child = Command::new(agent).stdin(Stdio::piped()).spawn()?;
    child.stdin.take().map_or(Ok(()), |mut input| input.write_all(spoken.as_bytes()))?;
    child.wait().map(drop)
}
