//! A disk that counts what is read from it, for tests and benchmarks.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::{Disk, Entry, FileStamp, Kind, Parts, ReadError, RealDisk};

/// The disk of the machine, which counts the bytes that are read and writes nothing.
#[derive(Debug, Default)]
pub struct CountingDisk {
    read: AtomicU64,
}

impl CountingDisk {
    /// How many bytes were read since it was made.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    fn count(&self, bytes: usize) {
        self.read.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

impl Disk for CountingDisk {
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        RealDisk.list(folder)
    }

    fn kind(&self, path: &Path) -> io::Result<Option<Kind>> {
        RealDisk.kind(path)
    }

    fn is_program(&self, path: &Path) -> io::Result<bool> {
        RealDisk.is_program(path)
    }

    fn read(&self, path: &Path, limit: u64) -> Result<Vec<u8>, ReadError> {
        RealDisk.read(path, limit).inspect(|bytes| self.count(bytes.len()))
    }

    fn open_parts(&self, path: &Path) -> Result<Box<dyn Parts + '_>, ReadError> {
        Ok(Box::new(Counted { disk: self, parts: RealDisk.open_parts(path)? }))
    }

    fn stamp(&self, path: &Path) -> io::Result<Option<FileStamp>> {
        RealDisk.stamp(path)
    }

    fn modified(&self, path: &Path) -> io::Result<Option<SystemTime>> {
        RealDisk.modified(path)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        RealDisk.canonical(path)
    }
}

/// An open file whose parts are counted.
#[derive(Debug)]
struct Counted<'a> {
    disk: &'a CountingDisk,
    parts: Box<dyn Parts>,
}

impl Parts for Counted<'_> {
    fn size(&self) -> u64 {
        self.parts.size()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.parts.read_at(buffer, offset).inspect(|()| self.disk.count(buffer.len()))
    }
}
