//! What a conversation is told after it was compacted.

use cantus_compose::{Wording, clip};

use crate::launch::{Todo, TodoStatus};
use crate::parts::{Frame, list};

/// The most chars of the request.
const REQUEST: usize = 1_000;
/// The most chars of the plan.
const PLAN: usize = 8_000;
/// The most chars of what is in progress and pending.
const ACTIVE: usize = 2_500;
/// The most chars of what is completed.
const COMPLETED: usize = 500;
/// The most chars of all of it.
const WHOLE: usize = 13_000;

/// Where a run stood when its conversation was compacted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckpointInput {
    /// What the agent works in.
    pub product: String,
    /// The request that is being worked on.
    pub request: String,
    /// The instructions of the plan, if there is one.
    pub plan: String,
    /// The list of the run.
    pub todo: Vec<Todo>,
}

/// The message; `None` if there is neither list nor plan. What is clipped ends in `…`, which counts beside the limits: the whole
/// has at most 13,001 chars.
#[must_use]
pub fn checkpoint(input: &CheckpointInput, wording: &Wording) -> Option<String> {
    let plan = input.plan.trim();
    if input.todo.is_empty() && plan.is_empty() {
        return None;
    }
    let frame = Frame { wording, id: "checkpoint", product: &input.product, budget: WHOLE };
    let title = frame.say("title", &[]);
    let mut parts = vec![frame.say("opening", &[]), format!("## {title}"), frame.say("text", &[])];
    let request = input.request.trim();
    if !request.is_empty() {
        parts.extend([frame.say("request", &[]), clip(request, REQUEST)]);
    }
    if !plan.is_empty() {
        parts.extend([frame.say("plan", &[]), clip(plan, PLAN)]);
    }
    if !input.todo.is_empty() {
        parts.push(frame.say("todo", &[]));
        let is_done = |entry: &Todo| entry.status == TodoStatus::Completed;
        let (done, active): (Vec<Todo>, Vec<Todo>) = input.todo.iter().cloned().partition(is_done);
        if !active.is_empty() {
            parts.extend([frame.say("active", &[]), clip(&list(frame, &active), ACTIVE)]);
        }
        if !done.is_empty() {
            let count = done.len().to_string();
            parts
                .extend([frame.say("completed", &[("count", &count)]), clip(&list(frame, &done), COMPLETED)]);
        }
    }
    parts.retain(|part| !part.is_empty());
    Some(clip(&parts.join("\n\n"), WHOLE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cantus_compose::Package;
    use cantus_manifest::Stamps;

    fn todo(text: &str, status: TodoStatus) -> Todo {
        Todo { text: text.to_owned(), status }
    }

    fn told(input: &CheckpointInput) -> Option<String> {
        checkpoint(input, &Package::built_in(Stamps::Skip).wording())
    }

    #[test]
    fn without_list_and_plan_there_is_nothing_to_tell() {
        let request = CheckpointInput {
            request: "Do it".to_owned(),
            plan: " \n".to_owned(),
            ..CheckpointInput::default()
        };
        assert_eq!(told(&request), None);
    }

    #[test]
    fn each_part_is_clipped_on_its_own() {
        let long = |c: &str| c.repeat(20_000);
        let input = CheckpointInput {
            product: "Acme".to_owned(),
            request: long("é"),
            plan: long("日"),
            todo: vec![todo(&long("p"), TodoStatus::Pending), todo(&long("d"), TodoStatus::Completed)],
        };
        let text = told(&input).unwrap();
        let count = |c: char| text.chars().filter(|it| *it == c).count();
        assert_eq!((count('é'), count('日'), count('…')), (1_000, 8_000, 4));
        assert!(text.contains(&format!("- [ ] {}…", "p".repeat(2_500 - 6))));
        assert!(text.contains(&format!("- [x] {}…", "d".repeat(500 - 6))));
        assert!(text.chars().count() <= WHOLE);
        assert!(text.contains("### Completed, 1"));
    }

    #[test]
    fn parts_without_content_have_no_heading() {
        let list = vec![todo("one", TodoStatus::InProgress), todo("two\nlines", TodoStatus::Pending)];
        let input = CheckpointInput { todo: list, ..CheckpointInput::default() };
        let text = told(&input).unwrap();
        assert!(text.ends_with("- [ ] one (in progress)\n- [ ] two lines"), "{text}");
        for absent in ["Current Request", "Plan", "Completed"] {
            assert!(!text.contains(absent), "{absent}");
        }
    }
}
