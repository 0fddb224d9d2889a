//! Nothing that the configuration says becomes facts.

use cantus_manifest::Facts;
use cantus_workspace::{Config, Options, Project};

fn config(config: Config) -> Facts {
    config.into()
}

fn options(options: &Options) -> Facts {
    Facts::from(options)
}

fn project(project: Project) -> Facts {
    project.into()
}

fn main() {}
