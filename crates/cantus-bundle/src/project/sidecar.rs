//! The record of a projection: which files at a target are ours, and what they held.

use std::collections::BTreeMap;

use cantus_fs::{ReadError, Root, TargetError};
use cantus_manifest::{Digest, ParseRelPathError, RelPath};
use serde::{Deserialize, Serialize};

use super::{FileState, OWN, ProjectError, State, Wanted};
use crate::json::{self, or_default};
use crate::names::TreePath;

/// The most bytes that a record may have.
const MOST_BYTES: u64 = 16 << 20;

/// What git keeps in a working copy.
const GIT: &str = ".git";

/// `.agent-compose/projection.json`, as it is or will be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Sidecar {
    layout: String,
    bundle: String,
    /// Our files with the digests of what was written; another tool's record has none.
    pub(super) files: BTreeMap<RelPath, Option<Digest>>,
    /// Whether there is one.
    pub(super) exists: bool,
    /// Whether there is one that can't be understood, which owns nothing.
    pub(super) broken: bool,
}

/// The JSON. `digests` is ours alone: other tools read the rest.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Record {
    #[serde(deserialize_with = "or_default")]
    layout: String,
    #[serde(deserialize_with = "or_default")]
    bundle: String,
    #[serde(deserialize_with = "or_default")]
    files: Vec<String>,
    #[serde(deserialize_with = "or_default")]
    digests: BTreeMap<String, String>,
}

/// Where it stands.
pub(super) fn path() -> Result<RelPath, ParseRelPathError> {
    RelPath::new(format!("{OWN}/projection.json"))
}

impl Sidecar {
    /// The record at `target`. Its paths are those of a projection, else it is an error; a broken one owns nothing.
    pub(super) fn read(target: &Root) -> Result<Self, ProjectError> {
        let broken = Self { exists: true, broken: true, ..Self::default() };
        let text = match target.read_target(&path()?, MOST_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(Self::default()),
            Err(TargetError::Read { source: ReadError::TooLarge { .. }, .. }) => return Ok(broken),
            Err(error) => return Err(error.into()),
        };
        let Ok(record) = json::read::<Record>(&text, &["", "digests"]) else { return Ok(broken) };
        let mut files = BTreeMap::new();
        for file in &record.files {
            let digest =
                record.digests.get(file).and_then(|digest| digest.strip_prefix("sha256:")?.parse().ok());
            files.insert(owned_path(file)?, digest);
        }
        Ok(Self { layout: record.layout, bundle: record.bundle, files, exists: true, broken: false })
    }

    /// The record of `wanted`, whose files stand as `files` say: those that others own are not claimed.
    pub(super) fn of(wanted: &Wanted, files: &[FileState]) -> Self {
        let claimed = files.iter().filter(|file| file.state != State::Unclaimed);
        let digests = claimed.filter_map(|file| {
            let bytes = wanted.files.get(&file.path)?;
            Some((file.path.clone(), Some(Digest::of(bytes))))
        });
        Self {
            layout: wanted.layout.clone(),
            bundle: wanted.bundle.to_string_lossy().into_owned(),
            files: digests.collect(),
            exists: true,
            broken: false,
        }
    }

    /// The same, owning what `old` owns too, with the digests of what stands there now.
    pub(super) fn claiming(&self, old: &Self) -> Self {
        let mut files = self.files.clone();
        files.extend(old.files.iter().map(|(path, digest)| (path.clone(), *digest)));
        Self { files, ..self.clone() }
    }

    /// Its JSON.
    pub(super) fn text(&self) -> String {
        let digests = self.files.iter().filter_map(|(path, digest)| Some((path, (*digest)?)));
        json::text(&Record {
            layout: self.layout.clone(),
            bundle: self.bundle.clone(),
            files: self.files.keys().map(ToString::to_string).collect(),
            digests: digests.map(|(path, digest)| (path.to_string(), format!("sha256:{digest}"))).collect(),
        })
    }
}

/// A path that a projection may have: portable, neither in the folder of the record nor in that of git.
fn owned_path(text: &str) -> Result<RelPath, ProjectError> {
    let wrong = || ProjectError::Previous(text.to_owned());
    TreePath::new(text).map_err(|_| wrong())?;
    let first = text.split('/').next().unwrap_or_default();
    if [OWN, GIT].iter().any(|folder| first.eq_ignore_ascii_case(folder)) {
        return Err(wrong());
    }
    RelPath::new(text).map_err(|_| wrong())
}
