//! No configuration and no note becomes a section of the launch layer: a host names and writes each.

use cantus_compose::{Launch, LaunchText};
use cantus_memory::Note;
use cantus_workspace::Config;

fn of_a_note(note: &Note) -> LaunchText {
    note.into()
}

fn of_a_configuration(config: &Config) -> Launch {
    Launch::from(config)
}

fn main() {}
