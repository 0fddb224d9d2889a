//! Blobs by their names, from one `git cat-file --batch` for as long as they are asked for.

use std::io::{self, BufRead as _, BufReader, Read, Write as _};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use cantus_fs::ReadError;

use crate::git::path;
use crate::index::git::Git;

/// The most bytes that a symlink's target may have.
const MOST_LINK_BYTES: u64 = 1 << 16;

/// The blobs of a repository. Its process starts with the first question.
#[derive(Debug)]
pub(super) struct Blobs {
    git: Git,
    batch: Mutex<Option<Batch>>,
}

impl Blobs {
    pub(super) fn of(git: Git) -> Self {
        Self { git, batch: Mutex::new(None) }
    }

    /// The bytes of a blob, at most `limit` of them.
    pub(super) fn read(&self, blob: &str, limit: u64) -> Result<Vec<u8>, ReadError> {
        let mut batch = self.batch.lock().unwrap_or_else(PoisonError::into_inner);
        let running = match batch.take() {
            Some(running) => running,
            None => Batch::start(&self.git)?,
        };
        // After an error the streams are out of step: the next question starts a process of its own.
        let (running, answer) = running.read(blob, limit)?;
        *batch = Some(running);
        answer
    }

    /// The target of a symlink.
    pub(super) fn link(&self, blob: &str) -> io::Result<PathBuf> {
        let bytes = self.read(blob, MOST_LINK_BYTES).map_err(|error| match error {
            ReadError::Io(error) => error,
            other => io::Error::other(other),
        })?;
        path(&bytes).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

/// A running `git cat-file --batch`. It ends when its input does.
#[derive(Debug)]
struct Batch {
    child: Child,
    questions: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Batch {
    fn start(git: &Git) -> io::Result<Self> {
        let mut command = Command::new("git");
        command.args(["cat-file", "--batch"]).current_dir(git.top());
        let (removed, set) = git.environment();
        for name in removed {
            command.env_remove(name);
        }
        command.envs(set);
        let pipes = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = pipes.spawn()?;
        let (questions, answers) = (child.stdin.take(), child.stdout.take());
        let answers = answers.ok_or(io::ErrorKind::BrokenPipe)?;
        Ok(Self { child, questions, answers: BufReader::new(answers) })
    }

    /// The bytes of a blob. The outer error is one of the conversation, the inner one of the blob.
    fn read(mut self, blob: &str, limit: u64) -> Result<(Self, Result<Vec<u8>, ReadError>), ReadError> {
        let mut questions =
            self.questions.as_ref().ok_or_else(|| io::Error::from(io::ErrorKind::BrokenPipe))?;
        questions.write_all(format!("{blob}\n").as_bytes())?;
        questions.flush()?;
        let mut header = String::new();
        self.answers.read_line(&mut header)?;
        let mut words = header.trim_end().split(' ').skip(1);
        let (kind, size) = (words.next(), words.next().and_then(|size| size.parse::<u64>().ok()));
        let (Some("blob"), Some(size)) = (kind, size) else {
            return Err(io::Error::other(format!("git has no blob `{blob}`")).into());
        };
        let mut text = (&mut self.answers).take(size);
        let answer = if size > limit {
            io::copy(&mut text, &mut io::sink())?;
            Err(ReadError::TooLarge { size, limit })
        } else {
            let mut bytes = Vec::new();
            text.read_to_end(&mut bytes)?;
            if (bytes.len() as u64) < size {
                return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
            }
            Ok(bytes)
        };
        self.answers.read_exact(&mut [0])?;
        Ok((self, answer))
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        drop(self.questions.take());
        // It has nothing left to do but to end.
        let _ = self.child.wait();
    }
}
