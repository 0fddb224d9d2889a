//! Arguments that are described only if they are asked for.

use std::ops::Deref;

use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

/// The arguments of a subcommand, which are described to the parser once it meets that subcommand: a run names one verb of
/// many, and describing all of them takes longer than the work of some.
#[derive(Debug)]
pub(crate) struct Later<T>(T);

impl<T> Later<T> {
    /// The arguments themselves.
    #[cfg(test)]
    pub(crate) fn into_inner(self) -> T {
        self.0
    }
}

impl<T> Deref for Later<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Args> Args for Later<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_args))
    }

    fn augment_args_for_update(command: Command) -> Command {
        command.defer(|command| keeping_about(command, T::augment_args_for_update))
    }

    fn group_id() -> Option<Id> {
        T::group_id()
    }
}

/// What `describe` makes of the command, with the words that the command had: those on the type of arguments that many verbs
/// share speak of these alone.
fn keeping_about(command: Command, describe: impl FnOnce(Command) -> Command) -> Command {
    let about = command.get_about().cloned();
    let command = describe(command);
    match about {
        Some(about) => command.about(about),
        None => command,
    }
}

impl<T: FromArgMatches> FromArgMatches for Later<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, clap::Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches(matches)
    }

    fn update_from_arg_matches_mut(&mut self, matches: &mut ArgMatches) -> Result<(), clap::Error> {
        self.0.update_from_arg_matches_mut(matches)
    }
}
