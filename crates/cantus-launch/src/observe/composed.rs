//! What today's composition would look for, where no record of a run says it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use cantus_compose::Launch;
use cantus_manifest::{Facts, Provider};

use super::records::needles;
use super::report::Needles;
use super::{Known, Today};
use crate::composer::Composer;
use crate::runs::RunInfo;

/// Composes for the folder of each run that is asked about, once for each folder and provider. `home` is the folder of the user's
/// own notes. Nothing is written; a folder in which nothing can be composed gives nothing to look for.
#[must_use]
pub fn composed(home: Option<&Path>) -> Box<Today<'static>> {
    let home = home.map(Path::to_path_buf);
    let known: RefCell<BTreeMap<(PathBuf, Known), Needles>> = RefCell::default();
    Box::new(move |run: &RunInfo, provider: Known| {
        let Some(workspace) = run.workspace.as_ref().map(PathBuf::from).filter(|path| path.is_absolute())
        else {
            return Needles::default();
        };
        let mut known = known.borrow_mut();
        let needles = known.entry((workspace.clone(), provider));
        needles.or_insert_with(|| compose(&workspace, home.as_deref(), provider).unwrap_or_default()).clone()
    })
}

fn compose(workspace: &Path, home: Option<&Path>, provider: Known) -> Option<Needles> {
    let facts = Facts::root(Provider::new(provider.as_str()).ok()?);
    let rendered = Composer::discover(workspace, home).bypass().render(facts, &Launch::default()).ok()?;
    Some(needles(rendered.table(), rendered.text()))
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use cantus_testkit::Repo;

    use super::*;

    fn run(workspace: Option<&str>) -> RunInfo {
        RunInfo {
            name: "keeper".to_owned(),
            artifacts: PathBuf::from("/runs/keeper"),
            provider: Some("claude".to_owned()),
            workspace: workspace.map(str::to_owned),
            started_at: Some(SystemTime::now()),
            ended_at: None,
            exit_status: None,
        }
    }

    #[test]
    fn the_folder_of_a_run_says_what_is_looked_for() {
        let repo = Repo::without_git("//- memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe brief.\n");
        repo.write("cantus.toml", "title = \"Lamp Works\"\n");
        let today = composed(None);
        let needles = today(&run(repo.path().to_str()), Known::Codex);
        assert_eq!((needles.project_title.as_deref(), needles.home_title), (Some("Lamp Works"), None));
        assert!(needles.contract.is_some() && needles.directive.is_some());
        repo.remove("cantus.toml");
        let again = today(&run(repo.path().to_str()), Known::Codex);
        assert_eq!(again.project_title.as_deref(), Some("Lamp Works"), "it is composed once");
    }

    #[test]
    fn a_folder_in_which_nothing_can_be_composed_says_nothing() {
        let empty = Repo::without_git("");
        for workspace in [None, Some("relative"), Some("/gone/for/good"), empty.path().to_str()] {
            assert_eq!(composed(None)(&run(workspace), Known::Claude), Needles::default(), "{workspace:?}");
        }
    }
}
