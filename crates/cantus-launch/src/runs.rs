//! Runs: what each says of itself in `run.json`, and how they are found again.

mod index;
mod search;

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cantus_fs::{Disk, TargetError};
use cantus_manifest::canonical_json;
use serde_json::{Value, json};

use crate::record::{MOST_META, RecordError, Run, plain, turn};
use crate::time::{parse, rfc3339, to_millis};

pub use index::{IndexEntries, IndexEntry, RunIndex};
pub use search::{Found, Named, Runs, Window, Within};

/// The file in which a run tells of itself.
const FILE: &str = "run.json";

/// The file in which a launcher that isn't ours tells of a run.
const LAUNCHERS_FILE: &str = "agent_meta.json";

/// What `run.json` says of a run. There is no prompt in it, no argument and no variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunFile {
    /// What it is called; names need not be unique.
    pub name: String,
    /// The provider of its first invocation.
    pub provider: String,
    /// The absolute folder in which the agent works.
    pub workspace: String,
    /// The short name of the machine; it only informs.
    pub host: String,
    /// When its first invocation began; written to the millisecond.
    pub started_at: SystemTime,
    /// When its last invocation ended; `None` while one runs.
    pub ended_at: Option<SystemTime>,
    /// The exit status of that one, if it has one.
    pub exit_status: Option<i32>,
}

impl RunFile {
    fn to_json(&self) -> String {
        canonical_json(&json!({
            "ended_at": self.ended_at.map(rfc3339),
            "exit_status": self.exit_status,
            "host": self.host,
            "name": self.name,
            "provider": self.provider,
            "started_at": rfc3339(self.started_at),
            "version": 1,
            "workspace": self.workspace,
        }))
    }

    /// The run that a text tells of; the error says what is wrong with it.
    fn from_json(bytes: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        if value["version"] != 1 {
            return Err("its `version` is not 1".to_owned());
        }
        let text = |key: &str| {
            let text = value[key].as_str().map(str::to_owned);
            text.ok_or_else(|| format!("`{key}` is missing or no text"))
        };
        Ok(Self {
            name: text("name")?,
            provider: text("provider")?,
            workspace: text("workspace")?,
            host: text("host").unwrap_or_default(),
            started_at: parse(&value["started_at"]).ok_or("`started_at` is no time")?,
            ended_at: parse(&value["ended_at"]),
            exit_status: value["exit_status"].as_i64().and_then(|status| i32::try_from(status).ok()),
        })
    }
}

impl Run {
    /// Writes what `file` says of the run, as its invocation begins, and gives what stands there now. A run that was begun
    /// before keeps its name and start, and is running again.
    pub fn begin(&self, file: &RunFile) -> Result<RunFile, RecordError> {
        let mut written = file.clone();
        written.started_at = to_millis(written.started_at);
        self.edit_file(|old| {
            let begun = old.unwrap_or_else(|| file.clone());
            Some(RunFile { ended_at: None, exit_status: None, ..begun })
        })?;
        // Another may have been first.
        Ok(read_file(self.root().disk().as_ref(), self.artifacts()).unwrap_or(written))
    }

    /// Writes that an invocation of the run ended at `at`, with this exit status if there is one. A run that was never begun is
    /// left alone.
    pub fn end(&self, at: SystemTime, exit_status: Option<i32>) -> Result<(), RecordError> {
        self.edit_file(|old| Some(RunFile { ended_at: Some(at), exit_status, ..old? }))
    }

    /// Writes the file anew, as `change` says; it is ours alone. An empty one is what a power cut may have left.
    fn edit_file(&self, change: impl Fn(Option<RunFile>) -> Option<RunFile>) -> Result<(), RecordError> {
        let (root, path) = (self.root(), plain(FILE));
        let _turn = turn(root);
        let old = root.read_target(&path, MOST_META)?.filter(|old| !old.is_empty());
        let file = old.as_deref().map(RunFile::from_json).transpose();
        let file = file.map_err(|reason| RecordError::Foreign { path: path.clone(), reason })?;
        let Some(new) = change(file).map(|file| file.to_json()) else { return Ok(()) };
        if old.as_deref() == Some(new.as_bytes()) {
            return Ok(());
        }
        let put = root.disk().put_loose(&root.at(&path), new.as_bytes());
        Ok(put.map_err(|source| TargetError::Stage { path, source })?)
    }
}

/// What the `run.json` in `artifacts` says, if there is a good one.
fn read_file(disk: &dyn Disk, artifacts: &Path) -> Option<RunFile> {
    RunFile::from_json(&disk.read(&artifacts.join(FILE), MOST_META).ok()?).ok()
}

/// A run as far as it can be told from its folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunInfo {
    /// What it is called; where nothing names it, the name of its folder.
    pub name: String,
    /// Its artifacts folder, absolute.
    pub artifacts: PathBuf,
    /// The provider of its first invocation.
    pub provider: Option<String>,
    /// The folder in which the agent works, as it was written.
    pub workspace: Option<String>,
    /// When it began.
    pub started_at: Option<SystemTime>,
    /// When its last invocation ended.
    pub ended_at: Option<SystemTime>,
    /// The exit status of that one.
    pub exit_status: Option<i32>,
}

impl RunInfo {
    /// The run in the folder `artifacts`, as [`RunInfo::read`] tells of it; `None` if the folder holds neither records nor a
    /// file in which a run tells of itself.
    #[must_use]
    pub fn find(disk: &dyn Disk, artifacts: &Path) -> Option<Self> {
        search::is_run(disk, artifacts).then(|| Self::read(disk, artifacts))
    }

    /// What can be told of the run in the folder `artifacts`: from `run.json`, else from the launcher's `agent_meta.json` and
    /// `done.json`, else from its name. Files that can't be read say nothing.
    #[must_use]
    pub fn read(disk: &dyn Disk, artifacts: &Path) -> Self {
        match read_file(disk, artifacts) {
            Some(file) => Self {
                name: file.name,
                artifacts: artifacts.to_path_buf(),
                provider: Some(file.provider),
                workspace: Some(file.workspace),
                started_at: Some(file.started_at),
                ended_at: file.ended_at,
                exit_status: file.exit_status,
            },
            None => Self::of_launcher(disk, artifacts),
        }
    }

    /// The same from the files of a launcher that isn't ours (§1.1 of the description of observed loads).
    fn of_launcher(disk: &dyn Disk, artifacts: &Path) -> Self {
        let meta = read_object(disk, &artifacts.join(LAUNCHERS_FILE));
        let done = read_object(disk, &artifacts.join("done.json"));
        let text = |key: &str| meta[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
        let folder = artifacts.file_name().map(|name| name.to_string_lossy().into_owned());
        let provider = text("exec_llm_provider").or_else(|| text("llm_provider"));
        Self {
            name: text("name").or(folder).unwrap_or_default(),
            artifacts: artifacts.to_path_buf(),
            provider: provider.map(|provider| provider.to_lowercase()),
            workspace: text("workspace_dir"),
            started_at: parse(&meta["run_started_at"]),
            ended_at: parse(&done["finished_at"]),
            exit_status: None,
        }
    }
}

/// The JSON in `path`; null where there is none.
pub(crate) fn read_object(disk: &dyn Disk, path: &Path) -> Value {
    let bytes = disk.read(path, MOST_META).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}
