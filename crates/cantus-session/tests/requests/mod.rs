//! Requests of one conversation, the same for the same seed.

use cantus_session::{
    HostSection, Reference, SectionStability, SessionLaunch, State, Todo, TodoStatus, ToolGroup, Tools,
    Variant, VariantSection,
};

/// How many requests the conversation has.
pub(crate) const REQUESTS: usize = 200;

/// A conversation whose context changes a little from request to request.
pub(crate) struct Conversation {
    launch: SessionLaunch,
    seed: u64,
    changes: u64,
}

impl Conversation {
    /// Before its first request.
    pub(crate) fn new(seed: u64) -> Self {
        let words = |count: usize| "What holds here is said once and kept short. ".repeat(count);
        let section = |(id, count): (&str, usize)| VariantSection {
            id: id.to_owned(),
            text: words(count),
            ..VariantSection::default()
        };
        let parts = [("system", 60), ("guardrails", 20), ("memory", 40), ("subagents", 10), ("scripts", 10)];
        let variant = Variant {
            scope: "work".to_owned(),
            sections: parts.map(section).to_vec(),
            tool_guidance: words(10),
            ..Variant::default()
        };
        let host = |id: &str, stability| HostSection {
            id: id.to_owned(),
            text: words(15),
            stability,
            ..HostSection::default()
        };
        let group = |name: &str| ToolGroup {
            group: name.to_owned(),
            tools: vec!["one".to_owned(), "two".to_owned()],
            ..ToolGroup::default()
        };
        let todo = |index| Todo { text: format!("Step {index}: {}", words(1)), status: TodoStatus::Pending };
        let launch = SessionLaunch {
            product: "Acme".to_owned(),
            variant: Some(variant),
            sections: vec![host("role", SectionStability::Stable), host("work", SectionStability::Dynamic)],
            tools: Tools { groups: vec![group("files"), group("web")], ..Tools::default() },
            state: Some(State {
                name: Some(None),
                todo: Some((0..6).map(todo).collect()),
                ..State::default()
            }),
            ..SessionLaunch::default()
        };
        Self { launch, seed, changes: 0 }
    }

    /// What the next request is given.
    pub(crate) fn next(&mut self) -> SessionLaunch {
        self.changes += 1;
        if self.draw(3) == 0 {
            let at = self.draw(6);
            let todo = self.launch.state.as_mut().and_then(|state| state.todo.as_mut());
            if let Some(entry) = todo.and_then(|todo| todo.get_mut(at)) {
                entry.status = TodoStatus::Completed;
                entry.text = format!("Step {at} as of change {}", self.changes);
            }
        }
        if self.draw(8) == 0 {
            self.launch.sections[1].text =
                format!("Now at change {}. {}", self.changes, "It goes on. ".repeat(30));
        }
        self.launch.references.clear();
        if self.draw(10) == 0 {
            let text = format!("- ticket {}", self.changes);
            self.launch.references.push(Reference::Line { id: text.clone(), text });
        }
        self.launch.clone()
    }

    /// A number below `most`.
    fn draw(&mut self, most: usize) -> usize {
        // Knuth's multiplier for 64 bits; the upper half of the state is what varies.
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.seed >> 33).unwrap_or_default() % most
    }
}
