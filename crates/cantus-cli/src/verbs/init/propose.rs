//! What `init` would do here.

use cantus_fs::{Kind, Root};
use cantus_manifest::{Outcome, RelPath};
use cantus_memory::{ImportFile, decode, title_of};
use cantus_projection::{Inputs, PassReason, find_inputs, foreign_inputs, missing_attributes};
use cantus_workspace::Project;

use crate::args::Global;
use crate::failure::Failure;
use crate::verbs::adopt::{self, Draft, Wishes};

/// What would be done.
pub(super) struct Proposal {
    /// The notes that existing files become.
    pub(super) draft: Draft,
    /// A note to start with, where there is nothing to make notes of.
    pub(super) first_note: Option<(RelPath, String)>,
    /// The text of `cantus.toml`, where the defaults wouldn't do.
    pub(super) config: Option<String>,
    /// The lines that `.gitattributes` lacks.
    pub(super) attributes: Vec<String>,
    /// Targets whose old text is in notes then.
    pub(super) taken_over: Vec<RelPath>,
    /// Targets that are symlinks.
    pub(super) links: Vec<RelPath>,
    /// What is here, for people.
    pub(super) found: Vec<&'static str>,
    pub(super) has_git: bool,
    /// Estimated tokens of the package's texts; `None` where they are in the targets already.
    pub(super) standing_tokens: Option<u64>,
    /// The command that regenerates the targets.
    pub(super) command: String,
}

impl Proposal {
    /// Whether there is nothing to do but to compose.
    pub(super) fn is_empty(&self) -> bool {
        self.draft.import.notes.is_empty()
            && self.first_note.is_none()
            && self.config.is_none()
            && self.attributes.is_empty()
            && self.taken_over.is_empty()
            && self.links.is_empty()
    }
}

/// Whether the project has any note or web.
pub(super) fn has_notes(project: &Project) -> bool {
    !project.corpus.notes.is_empty() || !project.corpus.webs.is_empty()
}

/// Looks at what is here. Once there are notes, only targets that Cantus didn't write are imported.
pub(super) fn propose(
    root: &Root,
    global: &Global,
    project: &Project,
    foreign: &[RelPath],
) -> Result<Proposal, Failure> {
    let is_new = !has_notes(project);
    let inputs = if is_new { find_inputs(root, project) } else { foreign_inputs(root, project, foreign) };
    let settings = match project.config.source {
        None if is_new => Settings::of(root, project, &inputs),
        _ => Settings::default(),
    };
    let into = adopt::note_folder(root, project, None)?;
    let title = settings.title.as_deref().unwrap_or(&project.config.title);
    let wishes = Wishes { into: &into, kind: None, title };
    let draft = adopt::draft(root, global, project, inputs, &wishes).map_err(Failure::diagnostics)?;
    let files = settings.files.clone().unwrap_or_else(|| project.config.files.clone());
    let is_target = |path: &&RelPath| files.contains(path);
    let links = draft.passed.iter().filter(|passed| matches!(passed.reason, PassReason::Link(_)));
    let read = draft.files.iter().map(|file| &file.path).chain(links.map(|passed| &passed.path));
    let is_link = |path: &RelPath| matches!(root.kind(path), Ok(Some(Kind::Symlink)));
    let (links, taken_over) = read.filter(is_target).cloned().partition(is_link);
    let has_git = has_git(root);
    let attributes = if has_git { git_attributes(root, project, &files)? } else { Vec::new() };
    let first_note = (is_new && draft.import.notes.is_empty()).then(|| first_note(&into)).flatten();
    Ok(Proposal {
        draft,
        first_note,
        config: settings.text(),
        attributes,
        taken_over,
        links,
        found: found(root, has_git),
        has_git,
        standing_tokens: None,
        command: project.config.command.clone(),
    })
}

/// What of the things that `init` knows is here.
fn found(root: &Root, has_git: bool) -> Vec<&'static str> {
    let things = [
        ("Cargo.toml", "Cargo"),
        ("xtask", "an xtask"),
        (".pre-commit-config.yaml", "pre-commit"),
        ("cantus.toml", "a configuration"),
    ];
    let is_there = |name: &str| RelPath::new(name).is_ok_and(|path| matches!(root.kind(&path), Ok(Some(_))));
    let things = things.into_iter().filter(|(name, _)| is_there(name)).map(|(_, thing)| thing);
    has_git.then_some("git").into_iter().chain(things).collect()
}

/// What a configuration would have to say.
#[derive(Default)]
struct Settings {
    title: Option<String>,
    command: Option<&'static str>,
    files: Option<Vec<RelPath>>,
}

impl Settings {
    fn of(root: &Root, project: &Project, inputs: &Outcome<Inputs>) -> Self {
        let Inputs { files, passed } = &inputs.value;
        let order = |file: &&ImportFile| match file.path.as_str() {
            "AGENTS.md" => 0,
            "CLAUDE.md" => 1,
            _ => 2,
        };
        let mut titled: Vec<_> = files.iter().filter(|file| file.path.parent().is_none()).collect();
        titled.sort_by_key(order);
        let title = titled.into_iter().find_map(|file| {
            let text = decode(&file.path, file.bytes.clone()).ok()?;
            title_of(&file.path, &text)
        });
        let links = passed.iter().filter(|passed| matches!(passed.reason, PassReason::Link(_)));
        let mut read = files.iter().map(|file| &file.path).chain(links.map(|passed| &passed.path));
        // Gemini reads no other file by default.
        let gemini = read.find(|path| path.as_str() == "GEMINI.md").cloned();
        let targets = gemini.map(|gemini| project.config.files.iter().cloned().chain([gemini]).collect());
        Self {
            title: title.filter(|title| *title != project.config.title),
            command: has_foreign_xtask(root).then_some("cantus project"),
            files: targets,
        }
    }

    /// The configuration; `None` if it would say nothing.
    fn text(&self) -> Option<String> {
        let mut text = String::new();
        if let Some(title) = &self.title {
            text.push_str(&format!("title = {}\n", quoted(title)));
        }
        if let Some(command) = self.command {
            text.push_str(&format!("command = {}\n", quoted(command)));
        }
        if let Some(files) = &self.files {
            let names: Vec<_> = files.iter().map(|path| quoted(path.as_str())).collect();
            let gap = if text.is_empty() { "" } else { "\n" };
            text.push_str(&format!("{gap}[projection]\nfiles = [{}]\n", names.join(", ")));
        }
        (!text.is_empty()).then_some(text)
    }
}

/// `text`, which has no control character, as a basic string of TOML.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Whether an xtask stands here that doesn't know Cantus, so that the default command would do nothing.
fn has_foreign_xtask(root: &Root) -> bool {
    let path = |path| RelPath::new(path).ok();
    let is_folder = path("xtask").is_some_and(|path| matches!(root.kind(&path), Ok(Some(Kind::Folder))));
    let manifest = path("xtask/Cargo.toml").and_then(|path| root.read(&path, 1 << 20).ok());
    is_folder && !manifest.is_some_and(|bytes| String::from_utf8_lossy(&bytes).contains("cantus"))
}

fn has_git(root: &Root) -> bool {
    root.path().ancestors().any(|folder| matches!(root.disk().kind(&folder.join(".git")), Ok(Some(_))))
}

fn git_attributes(root: &Root, project: &Project, files: &[RelPath]) -> Result<Vec<String>, Failure> {
    let config = &project.config;
    let others = config.outputs.iter().map(|output| &output.file);
    let others = others.chain(config.pages.iter().map(|page| &page.file));
    let others = others.filter(|path| !path.as_str().starts_with("projections/"));
    let files = files.iter().chain(others).cloned().collect::<Vec<_>>();
    let folder = RelPath::new("projections").unwrap_or_else(|error| unreachable!("{error}"));
    let missing = |files: &[RelPath], folder: RelPath| {
        let missing = missing_attributes(root, files, &[folder]);
        missing.map_err(|error| Failure::error(error).hint("move it away, and run this again"))
    };
    let mut lines = missing(&files, folder.clone())?;
    for member in &project.members {
        let files: Vec<_> = member.files(config).collect();
        lines.extend(missing(&files, member.file(&folder))?);
    }
    Ok(lines)
}

/// A note that says what to write into it.
fn first_note(into: &RelPath) -> Option<(RelPath, String)> {
    let text = "---\ntype: core\n---\n# Working Here\n\nReplace this line by what every agent must know: how to build, how to test, what never to do.\n";
    Some((into.join("working-here.md").ok()?, text.to_owned()))
}
