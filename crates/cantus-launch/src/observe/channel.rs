//! What came by one way into a conversation: texts that were put, replaced and dropped while it went on.

use std::collections::{BTreeMap, BTreeSet};

/// One change of what the agent has in view.
#[derive(Clone, Debug, Default)]
pub(crate) struct Step {
    /// Whether everything before is gone.
    pub(crate) clears: bool,
    /// What is there no longer, by place.
    pub(crate) dropped: Vec<usize>,
    /// What is new, by place; what stood there is replaced.
    pub(crate) put: Vec<(usize, String)>,
}

/// One way into a conversation.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    /// Whether the transcript would show what comes by it.
    pub(crate) is_observable: bool,
    steps: Vec<Step>,
}

impl Channel {
    /// An empty one.
    pub(crate) fn new() -> Self {
        Self { is_observable: true, steps: Vec::new() }
    }

    /// One whose texts never change.
    pub(crate) fn of(texts: Vec<String>) -> Self {
        let step = Step { put: texts.into_iter().enumerate().collect(), ..Step::default() };
        Self { is_observable: true, steps: vec![step] }
    }

    pub(crate) fn push(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// Whether nothing ever came.
    pub(crate) fn is_empty(&self) -> bool {
        self.texts().next().is_none()
    }

    /// Every text that ever came.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.steps.iter().flat_map(|step| step.put.iter().map(|(_, text)| text.as_str()))
    }

    /// The same, equal ones once.
    pub(crate) fn distinct(&self) -> BTreeSet<&str> {
        self.texts().collect()
    }

    /// The texts that are in view at the end.
    pub(crate) fn last(&self) -> Vec<&str> {
        let mut view = BTreeMap::new();
        for step in &self.steps {
            if step.clears {
                view.clear();
            }
            for place in &step.dropped {
                view.remove(place);
            }
            view.extend(step.put.iter().map(|(place, text)| (*place, text.as_str())));
        }
        view.into_values().collect()
    }

    /// The most that was ever in view at once, in what `count` makes of each text.
    pub(crate) fn most(&self, count: impl Fn(&str) -> u64) -> u64 {
        let (mut view, mut sum, mut most) = (BTreeMap::<usize, u64>::new(), 0, 0);
        for step in &self.steps {
            if step.clears {
                view.clear();
                sum = 0;
            }
            for place in &step.dropped {
                sum -= view.remove(place).unwrap_or_default();
            }
            for (place, text) in &step.put {
                let new = count(text);
                sum += new;
                sum -= view.insert(*place, new).unwrap_or_default();
            }
            most = most.max(sum);
        }
        most
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(clears: bool, dropped: &[usize], put: &[(usize, &str)]) -> Step {
        let put = put.iter().map(|(place, text)| (*place, (*text).to_owned())).collect();
        Step { clears, dropped: dropped.to_vec(), put }
    }

    #[test]
    fn the_most_is_that_of_one_moment() {
        let mut channel = Channel::new();
        let count = |text: &str| text.matches('x').count() as u64;
        assert_eq!((channel.most(count), channel.is_empty()), (0, true));
        channel.push(put(false, &[], &[(0, "x"), (1, "x")]));
        channel.push(put(false, &[1], &[(2, "x")]));
        assert_eq!(channel.most(count), 2);
        channel.push(put(true, &[], &[(0, "xxx")]));
        channel.push(put(false, &[7], &[(0, "y")]));
        assert_eq!(channel.most(count), 3);
        assert_eq!(channel.last(), ["y"]);
        assert_eq!(channel.distinct().len(), 3);
    }
}
