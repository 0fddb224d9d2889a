//! A file that stays open and is read part by part.

use std::fmt::Debug;
use std::fs::File;
use std::io;

/// A regular file that stays open: every part is of the same file, whatever its name comes to mean meanwhile.
pub trait Parts: Debug {
    /// Its bytes when it was opened. A file that grew may have more.
    fn size(&self) -> u64;

    /// Fills `buffer` with the bytes from `offset` on; [`io::ErrorKind::UnexpectedEof`] if the file ends before that.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
}

/// The parts of a file that is in memory as a whole.
#[derive(Debug)]
pub(crate) struct WholeParts(pub(crate) Vec<u8>);

impl Parts for WholeParts {
    fn size(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let part = self.0.get(start..).and_then(|rest| rest.get(..buffer.len()));
        buffer.copy_from_slice(part.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }
}

/// The parts of a file of the machine.
#[derive(Debug)]
pub(crate) struct FileParts {
    pub(crate) file: File,
    pub(crate) size: u64,
}

impl Parts for FileParts {
    fn size(&self) -> u64 {
        self.size
    }

    #[cfg(unix)]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        std::os::unix::fs::FileExt::read_exact_at(&self.file, buffer, offset)
    }

    #[cfg(not(unix))]
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        use std::io::{Read, Seek};

        let mut file = &self.file;
        file.seek(io::SeekFrom::Start(offset))?;
        file.read_exact(buffer)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::scratch::{Scratch, rel};
    use crate::{Disk, Entry, Kind, ReadError, RealDisk};

    /// A disk that knows no parts of its own.
    #[derive(Debug)]
    struct Plain;

    impl Disk for Plain {
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
            RealDisk.read(path, limit)
        }

        fn canonical(&self, path: &Path) -> io::Result<std::path::PathBuf> {
            RealDisk.canonical(path)
        }
    }

    #[track_caller]
    fn check(disk: &dyn Disk) {
        let scratch = Scratch::new();
        scratch.put("a.md", "0123456789");
        let parts = disk.open_parts(&scratch.root.at(&rel("a.md"))).unwrap();
        assert_eq!(parts.size(), 10);
        for (offset, expected) in
            [(0, Some("012")), (7, Some("789")), (8, None), (u64::MAX, None), (2, Some("234"))]
        {
            let mut buffer = [0; 3];
            let read = parts.read_at(&mut buffer, offset);
            match expected {
                Some(expected) => assert_eq!((read.is_ok(), &buffer[..]), (true, expected.as_bytes())),
                None => assert!(read.is_err()),
            }
        }
        assert!(parts.read_at(&mut [], 10).is_ok());
    }

    #[test]
    fn any_part_of_a_file_can_be_read_in_any_order() {
        check(&RealDisk);
        check(&Plain);
        #[cfg(feature = "fault")]
        check(&crate::FaultDisk::new());
    }

    #[test]
    fn parts_are_those_of_the_file_that_was_opened() {
        let scratch = Scratch::new();
        scratch.put("a.md", "old");
        let parts = RealDisk.open_parts(&scratch.root.at(&rel("a.md"))).unwrap();
        let path = rel("a.md");
        scratch.root.commit(&path, scratch.root.stage(&path, b"new and longer").unwrap()).unwrap();
        let mut buffer = [0; 3];
        parts.read_at(&mut buffer, 0).unwrap();
        assert_eq!((parts.size(), &buffer), (3, b"old"));
    }

    #[test]
    fn what_is_no_file_has_no_parts() {
        let scratch = Scratch::of(&["folder/a.md"]);
        let open = |path: &str| RealDisk.open_parts(&scratch.path().join(path)).map(drop).unwrap_err();
        assert!(matches!(open("folder"), ReadError::NotAFile(Kind::Folder)));
        assert!(open("none").is_absent());
    }

    #[cfg(feature = "fault")]
    #[test]
    fn a_fault_may_strike_each_part() {
        use crate::{Fault, FaultDisk, FaultKind, On, Operation};

        let scratch = Scratch::new();
        scratch.put("a.md", "0123456789");
        let kind = FaultKind::Io(io::ErrorKind::Other);
        let disk = FaultDisk::new().fault(Fault { at: 3, on: On::Only(Operation::Read), kind });
        let parts = disk.open_parts(&scratch.root.at(&rel("a.md"))).unwrap();
        let mut buffer = [0; 3];
        assert!(parts.read_at(&mut buffer, 0).is_ok());
        assert!(parts.read_at(&mut buffer, 0).is_err());
        assert!(parts.read_at(&mut buffer, 0).is_ok());
    }
}
