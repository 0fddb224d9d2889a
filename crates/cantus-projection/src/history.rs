//! How large a committed file was, commit by commit.

use std::path::Path;

use cantus_manifest::{RelPath, tokens_est};

use crate::git::Git;

/// The most that git can count: more of it is none at all.
const MOST: usize = i32::MAX as usize;

/// A committed file as one commit left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The commit's name, 12 hexadecimal digits of it.
    pub commit: String,
    /// The day of the commit, `YYYY-MM-DD`, where it was made.
    pub day: String,
    /// The file's bytes; 0 where the commit removed it.
    pub bytes: u64,
    /// The estimate of the file's tokens.
    pub tokens_est: u64,
}

/// The last `most` commits that changed `path`, oldest first; a file that was renamed starts anew. `None` if `root` is in no git
/// repository, if there is no git, or if it takes too long.
#[must_use]
pub fn history(root: &Path, path: &RelPath, most: usize) -> Option<Vec<Version>> {
    let git = Git::new(root);
    git.ask(&["rev-parse", "--git-dir"])?;
    let most = format!("--max-count={}", most.min(MOST));
    // What a configuration may add to the format stays away.
    let plain = ["-c", "log.showSignature=false", "-c", "log.follow=false", "log", "--format=%H %cs"];
    let args = [&plain[..], &["--no-color", &most, "--", path.as_str()]].concat();
    // A branch without commits is no failure.
    let log = git.ask(&args).unwrap_or_default();
    let log = String::from_utf8_lossy(&log).into_owned();
    let mut commits: Vec<(&str, &str)> = log.lines().filter_map(|line| line.split_once(' ')).collect();
    commits.reverse();
    let wanted: Vec<String> = commits.iter().map(|(commit, _)| format!("{commit}:./{path}")).collect();
    let version = |((commit, day), blob): ((&str, &str), Option<Vec<u8>>)| Version {
        commit: commit.chars().take(12).collect(),
        day: day.to_owned(),
        bytes: blob.as_ref().map_or(0, |blob| blob.len() as u64),
        tokens_est: blob.map_or(0, |blob| tokens_est(&String::from_utf8_lossy(&blob))),
    };
    Some(commits.into_iter().zip(blobs(&git, &wanted)?).map(version).collect())
}

/// The blobs of these names, each of one line: `None` in the place of what isn't there, and for all if git fails.
pub(crate) fn blobs(git: &Git<'_>, names: &[String]) -> Option<Vec<Option<Vec<u8>>>> {
    let wanted: String = names.iter().map(|name| format!("{name}\n")).collect();
    let answer = git.ask_about(&["cat-file", "--batch"], wanted.into_bytes())?;
    let mut rest = answer.as_slice();
    Some(names.iter().map(|_| next_blob(&mut rest)).collect())
}

/// The next blob of what `cat-file --batch` answered, which is taken off; `None` for an object that isn't there.
fn next_blob(answer: &mut &[u8]) -> Option<Vec<u8>> {
    let whole = *answer;
    let end = whole.iter().position(|byte| *byte == b'\n').map_or(whole.len(), |at| at + 1);
    let (head, rest) = whole.split_at(end);
    let head = String::from_utf8_lossy(head).into_owned();
    let mut fields = head.trim_end().rsplit(' ');
    let size = fields.next().and_then(|size| size.parse::<usize>().ok());
    let is_blob = fields.next() == Some("blob");
    let Some(size) = size.filter(|size| is_blob && *size <= rest.len()) else {
        *answer = rest;
        return None;
    };
    let (blob, rest) = rest.split_at(size);
    let blob = blob.to_vec();
    *answer = rest.get(1..).unwrap_or_default();
    Some(blob)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_of_a_batch() {
        let text = b"abc blob 4\nx\ny\n\nabc:./a b missing\ndef blob 0\n\n123 blob 1\nz\n".to_vec();
        let mut rest = text.as_slice();
        let found: Vec<_> = (0..5).map(|_| next_blob(&mut rest)).collect();
        let some = |text: &str| Some(text.as_bytes().to_vec());
        assert_eq!(found, [some("x\ny\n"), None, some(""), some("z"), None]);
    }
}
