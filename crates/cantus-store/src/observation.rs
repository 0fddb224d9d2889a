//! What was seen of the disk while sources were read.

use std::path::{Path, PathBuf};

use cantus_fs::{Entry, FileStamp, Kind};
use cantus_manifest::Digest;

/// One answer of the disk.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Observation {
    /// What was asked about, an absolute path.
    pub path: PathBuf,
    /// The answer.
    pub seen: Seen,
}

/// What the disk said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// The names and kinds in the folder, as a digest; `None` if it isn't there.
    Listing(Option<Digest>),
    /// What stands there.
    Kind(Option<Kind>),
    /// The path without symlinks, or the kind of the error.
    Real(Result<PathBuf, String>),
    /// The bytes of the file, as a digest, and its stamp before they were read; `None` if it isn't there.
    File(Option<(Digest, Option<FileStamp>)>),
}

impl Seen {
    /// A letter for the question, which sorts.
    pub(crate) fn question(&self) -> char {
        match self {
            Self::Listing(_) => 'l',
            Self::Kind(_) => 'k',
            Self::Real(_) => 'r',
            Self::File(_) => 'f',
        }
    }

    /// Whether both say the same of what a render depends on: a stamp isn't part of that.
    pub(crate) fn agrees(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File(Some((one, _))), Self::File(Some((other, _)))) => one == other,
            (one, other) => one == other,
        }
    }
}

/// The digest of what a folder holds.
pub(crate) fn listing(entries: &[Entry]) -> Digest {
    let mut bytes = Vec::with_capacity(entries.len() * 24);
    for entry in entries {
        bytes.push(kind_letter(entry.kind));
        let name = entry.name.as_encoded_bytes();
        bytes.extend_from_slice(&(name.len() as u64).to_le_bytes());
        bytes.extend_from_slice(name);
    }
    Digest::of(bytes)
}

pub(crate) fn kind_letter(kind: Kind) -> u8 {
    match kind {
        Kind::File => b'f',
        Kind::Folder => b'd',
        Kind::Symlink => b'l',
        Kind::Other => b'o',
    }
}

/// The folders whose own place is no part of what a render depends on: equal sources elsewhere give equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// With the class of what lies below, each folder after those that lie in it.
    places: Vec<(&'static str, PathBuf)>,
}

impl Places {
    /// The roots of the project, the home layer and a package that the caller names, as they are asked for.
    #[must_use]
    pub fn new(project: &Path, home: Option<&Path>, package: Option<&Path>) -> Self {
        let named = [("package", package), ("home", home), ("project", Some(project))];
        let mut places: Vec<_> =
            named.into_iter().filter_map(|(class, place)| Some((class, place?.to_path_buf()))).collect();
        places.sort_by_key(|(_, place)| std::cmp::Reverse(place.components().count()));
        Self { places }
    }

    /// The same folders by the names that `real` gives them.
    pub(crate) fn map(&self, real: impl Fn(&Path) -> Option<PathBuf>) -> Self {
        let places = self.places.iter().filter_map(|(class, place)| Some((*class, real(place)?)));
        Self { places: places.collect() }
    }

    /// A path as `class:path below its folder`; one that lies nowhere here with its whole name.
    pub(crate) fn class_of(&self, path: &Path) -> String {
        let below =
            self.places.iter().find_map(|(class, place)| Some((class, path.strip_prefix(place).ok()?)));
        match below {
            Some((class, below)) => format!("{class}:{}", below.display()),
            None => format!("at:{}", path.display()),
        }
    }
}

/// The digest of what was seen, whatever the places of the roots. `places` has them as they were asked for, `real` without
/// symlinks.
pub(crate) fn inputs(observations: &[Observation], places: &Places, real: &Places) -> Digest {
    let mut lines: Vec<String> = observations
        .iter()
        .map(|observation| {
            let answer = match &observation.seen {
                Seen::Listing(listing) => shown(listing.as_ref()),
                Seen::Kind(kind) => kind.map_or('-', |kind| kind_letter(kind).into()).to_string(),
                Seen::Real(Ok(path)) => real.class_of(path),
                Seen::Real(Err(error)) => format!("!{error}"),
                Seen::File(file) => shown(file.as_ref().map(|(digest, _)| digest)),
            };
            let question = observation.seen.question();
            // A name may hold a line feed; lengths keep one line from looking like two.
            let path = places.class_of(&observation.path);
            format!("{question}{} {path} {} {answer}\n", path.len(), answer.len())
        })
        .collect();
    lines.sort_unstable();
    Digest::of(lines.concat())
}

fn shown(digest: Option<&Digest>) -> String {
    digest.map_or_else(|| "-".to_owned(), ToString::to_string)
}
