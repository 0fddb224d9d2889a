//! The store: a folder of bundles, of cache entries and of indexes.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cantus_fs::Disk;
use cantus_manifest::Digest;

use crate::blobs::{self, Blob, Corrupt};
use crate::entry::Entry;
use crate::index::{self, Index};
use crate::pool;

/// The most bytes of an entry or an index.
const MOST_BYTES: u64 = 256 << 20;

/// A store in a folder, which need not exist.
#[derive(Clone, Debug)]
pub struct Store {
    disk: Arc<dyn Disk>,
    home: PathBuf,
}

/// A render that was kept.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The bundle.
    pub text: String,
    /// Its table.
    pub entry: Entry,
    /// Where the bundle lies.
    pub path: PathBuf,
}

impl Store {
    /// The store in the folder `home`, an absolute path.
    #[must_use]
    pub fn new(disk: Arc<dyn Disk>, home: PathBuf) -> Self {
        Self { disk, home }
    }

    /// The folder.
    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The render of this name, if entry and bundle are there and whole. A bundle that was corrupt is set aside and told.
    #[must_use]
    pub fn find(&self, key: &Digest) -> (Option<Found>, Option<Corrupt>) {
        let entry = self.disk.read(&self.entry_path(key), MOST_BYTES).ok();
        let Some(entry) = entry.and_then(|bytes| Entry::from_json(&bytes)) else { return (None, None) };
        let Ok(digest) = entry.manifest.bundle.sha256.parse() else { return (None, None) };
        match blobs::read(self.disk.as_ref(), &self.home, &digest) {
            Blob::Whole(text) if entry.fits(&text) => {
                let path = blobs::path_of(&self.home, &digest);
                (Some(Found { text, entry, path }), None)
            }
            Blob::Corrupt(corrupt) => (None, Some(corrupt)),
            Blob::Whole(_) | Blob::Absent => (None, None),
        }
    }

    /// Puts a bundle into the store, unless it is there: its path, and what stood there if that was corrupt.
    pub fn keep(&self, text: &str) -> (io::Result<PathBuf>, Option<Corrupt>) {
        blobs::keep(self.disk.as_ref(), &self.home, text)
    }

    /// Remembers the table of a render whose bundle is kept. Of all tables the oldest go.
    pub fn remember(&self, key: &Digest, entry: &Entry) -> io::Result<()> {
        self.put(&self.entry_path(key), entry.to_json().as_bytes())
    }

    /// What was seen when the sources below these roots were last read.
    #[must_use]
    pub fn index(&self, roots: &Digest) -> Option<Index> {
        let bytes = self.disk.read(&index::path_of(&self.home, roots), MOST_BYTES).ok()?;
        Index::from_bytes(&bytes)
    }

    /// Remembers what was seen when the sources below these roots were read. Of all indexes the oldest go.
    pub fn remember_index(&self, roots: &Digest, index: &Index) -> io::Result<()> {
        self.put(&index::path_of(&self.home, roots), &index.to_bytes())
    }

    fn entry_path(&self, key: &Digest) -> PathBuf {
        self.home.join("cache").join(format!("{key}.json"))
    }

    /// Writes a file that can be made anew.
    fn put(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
        if self.disk.kind(folder)?.is_none() {
            self.disk.create_folders(folder)?;
        }
        self.disk.put_loose(path, bytes)?;
        pool::prune(self.disk.as_ref(), folder, pool::MOST_FILES);
        Ok(())
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests set up their files without the code that they test")]
mod tests {
    use std::fs;
    use std::time::{Duration, SystemTime};

    use cantus_compose::preview;
    use cantus_fs::{FaultDisk, On, Operation, RealDisk};
    use cantus_manifest::manifest::{
        Budget, BundleRecord, CacheStatus, Compiler, FactsRecord, Manifest, Observation, ObservationStatus,
        SectionRecord, SectionStatus,
    };
    use cantus_manifest::{
        Actor, Diagnostic, Layer, Lifecycle, Mode, Purpose, SectionId, common_digest, tokens_est,
    };

    use super::*;

    const PARTS: [&str; 2] = ["# T\n\n", "Be brief, é.\n\n"];

    fn text() -> String {
        PARTS.concat()
    }

    /// The entry of a bundle with two sections.
    fn entry() -> Entry {
        let ids = ["frame.title", "proj.core.a"].map(|id| SectionId::new(id).unwrap());
        let mut offset = 0;
        let sections = ids.iter().zip(PARTS).map(|(id, part)| {
            let start = offset;
            offset += part.len() as u64;
            SectionRecord {
                id: id.to_string(),
                layer: if id.as_str() == "frame.title" { Layer::Frame } else { Layer::Project },
                status: SectionStatus::Included,
                lifecycle: Lifecycle::Neutral,
                required: false,
                provider_specific: false,
                offset: Some(start),
                length: Some(part.len() as u64),
                sha256: Some(Digest::of(part).to_string()),
                tokens_est: tokens_est(part),
                sources: Vec::new(),
                reason: None,
                shadowed_by: None,
            }
        });
        let sections: Vec<_> = sections.collect();
        let bundle = BundleRecord {
            sha256: Digest::of(text()).to_string(),
            common_digest: Some(common_digest(ids.iter().zip(PARTS.map(Digest::of))).to_string()),
            bytes: text().len() as u64,
            lines: 4,
            tokens_est: sections.iter().map(|section| section.tokens_est).sum(),
            store_path: String::new(),
        };
        let facts = FactsRecord {
            actor: Actor::SaseRoot,
            mode: Mode::Runtime,
            purpose: Purpose::Ordinary,
            provider: "native".to_owned(),
            project: None,
            host: "h".to_owned(),
            vcs: None,
        };
        let compiler = Compiler { name: "cantus".to_owned(), version: 1, sase_version: "p/1".to_owned() };
        let manifest = Manifest {
            schema_version: 2,
            compiler,
            facts,
            bundle,
            budget: Budget::default(),
            sections,
            delivery: preview(String::new(), 0.0, CacheStatus::Miss),
            observation: Observation { status: ObservationStatus::Unobserved },
        };
        Entry { manifest, warnings: vec![Diagnostic::warning("name.ending", "not read").at("a.MD").line(3)] }
    }

    /// A store that knows the entry as this.
    fn known() -> (tempfile::TempDir, Store, Digest) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::new(Arc::new(RealDisk), folder.path().join("store"));
        let key = Digest::of("key");
        store.keep(&text()).0.unwrap();
        store.remember(&key, &entry()).unwrap();
        (folder, store, key)
    }

    #[test]
    fn what_was_kept_is_found() {
        let (_folder, store, key) = known();
        let (found, corrupt) = store.find(&key);
        let path = blobs::path_of(store.home(), &Digest::of(text()));
        assert_eq!(found, Some(Found { text: text(), entry: entry(), path }));
        assert_eq!(corrupt, None);
        assert_eq!(store.find(&Digest::of("other")), (None, None));
    }

    #[test]
    #[cfg(unix)]
    fn nobody_may_write_to_a_bundle() {
        use std::os::unix::fs::PermissionsExt;

        let (_folder, store, _) = known();
        let path = blobs::path_of(store.home(), &Digest::of(text()));
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o444);
    }

    #[test]
    fn every_flipped_byte_of_an_entry_is_a_miss() {
        let (_folder, store, key) = known();
        let path = store.entry_path(&key);
        let bytes = fs::read(&path).unwrap();
        for at in 0..bytes.len() {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1;
            fs::write(&path, &flipped).unwrap();
            assert_eq!(store.find(&key), (None, None), "byte {at}");
        }
        fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
        assert_eq!(store.find(&key), (None, None));
        fs::write(&path, bytes).unwrap();
        assert!(store.find(&key).0.is_some());
    }

    #[track_caller]
    fn check_misfit(change: impl Fn(&mut Manifest)) {
        let (_folder, store, key) = known();
        let mut entry = entry();
        change(&mut entry.manifest);
        store.remember(&key, &entry).unwrap();
        assert_eq!(store.find(&key), (None, None));
    }

    #[test]
    fn a_table_of_another_text_is_a_miss() {
        check_misfit(|manifest| manifest.sections.truncate(1));
        check_misfit(|manifest| manifest.sections.reverse());
        check_misfit(|manifest| manifest.sections[1].offset = Some(0));
        check_misfit(|manifest| manifest.sections[1].offset = None);
        check_misfit(|manifest| manifest.sections[1].length = Some(u64::MAX));
        check_misfit(|manifest| manifest.sections[1].sha256 = manifest.sections[0].sha256.clone());
        check_misfit(|manifest| manifest.sections[1].tokens_est += 1);
        check_misfit(|manifest| manifest.sections[1].id = "proj.core.b".to_owned());
        check_misfit(|manifest| manifest.sections[1].status = SectionStatus::Excluded);
        check_misfit(|manifest| manifest.bundle.bytes += 1);
        check_misfit(|manifest| manifest.bundle.lines += 1);
        check_misfit(|manifest| manifest.bundle.tokens_est += 1);
        check_misfit(|manifest| manifest.bundle.common_digest = None);
        check_misfit(|manifest| manifest.bundle.sha256 = Digest::of("other").to_string());
        check_misfit(|manifest| manifest.bundle.sha256 = "none".to_owned());
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_corrupt_bundle_is_told_once_set_aside_and_made_anew() {
        let (_folder, store, key) = known();
        let path = blobs::path_of(store.home(), &Digest::of(text()));
        overwrite(&path, "junk");
        let (found, corrupt) = store.find(&key);
        let corrupt = corrupt.unwrap();
        assert_eq!(found, None);
        assert!(corrupt.to_string().starts_with("corrupt bundle in the store: `bundles/"), "{corrupt}");
        assert_eq!(store.find(&key), (None, None));
        let (kept, again) = store.keep(&text());
        assert_eq!((kept.unwrap(), again), (path.clone(), None));
        assert!(store.find(&key).0.is_some());
        let folder = path.parent().unwrap();
        assert_eq!(fs::read(folder.join(corrupt.kept.unwrap())).unwrap(), b"junk");
        assert_eq!(names(folder).len(), 2);
    }

    #[test]
    fn what_another_run_mends_meanwhile_is_not_lost() {
        let (_folder, store, key) = known();
        let path = blobs::path_of(store.home(), &Digest::of(text()));
        overwrite(&path, "junk");
        // Right before it is renamed, the other run has renamed it and written it anew.
        let mended = path.clone();
        let disk =
            FaultDisk::new().before(On::Only(Operation::Commit), 1, move || overwrite(&mended, &text()));
        let slow = Store::new(Arc::new(disk), store.home().to_path_buf());
        let (found, corrupt) = slow.find(&key);
        assert!(found.is_some() && corrupt.is_none());
        assert_eq!(names(path.parent().unwrap()).len(), 1);
        assert!(store.find(&key).0.is_some());
    }

    #[test]
    fn keeping_mends_what_is_corrupt() {
        let (_folder, store, key) = known();
        overwrite(&blobs::path_of(store.home(), &Digest::of(text())), "");
        let (kept, corrupt) = store.keep(&text());
        assert!(kept.is_ok() && corrupt.is_some());
        assert!(store.find(&key).0.is_some());
    }

    fn overwrite(path: &Path, text: &str) {
        fs::remove_file(path).unwrap();
        fs::write(path, text).unwrap();
    }

    fn set_age(path: &Path, age: u64) {
        let time = SystemTime::now() - Duration::from_secs(age);
        fs::OpenOptions::new().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn of_more_than_512_entries_the_oldest_go() {
        let (_folder, store, _) = known();
        let cache = store.home().join("cache");
        for number in 0..600_u64 {
            let path = cache.join(format!("{number:03}.json"));
            fs::write(&path, "x").unwrap();
            set_age(&path, 1000 - number);
        }
        store.remember(&Digest::of("new"), &entry()).unwrap();
        let kept = names(&cache);
        assert_eq!(kept.len(), 512);
        let news = [Digest::of("new"), Digest::of("key")].map(|key| format!("{key}.json"));
        assert!(news.iter().all(|name| kept.contains(name)));
        assert!(kept.contains(&"090.json".to_owned()) && !kept.contains(&"089.json".to_owned()));
    }

    #[test]
    fn what_killed_runs_left_goes_once_it_is_old() {
        let (_folder, store, key) = known();
        let blob = blobs::path_of(store.home(), &Digest::of("other"));
        fs::create_dir_all(blob.parent().unwrap()).unwrap();
        let (day, cache) = (24 * 60 * 60, store.home().join("cache"));
        for (folder, name, age) in [
            (blob.parent().unwrap(), ".x.md.aaaaaa.cantus-tmp", day + 60),
            (blob.parent().unwrap(), ".x.md.bbbbbb.cantus-tmp", day - 60),
            (&cache, ".x.json.aaaaaa.cantus-tmp", day + 60),
            (&cache, ".x.json.bbbbbb.cantus-tmp", 0),
            (&cache, "x.cantus-tmp", day + 60),
        ] {
            fs::write(folder.join(name), "half").unwrap();
            set_age(&folder.join(name), age);
        }
        store.keep("other").0.unwrap();
        store.remember(&key, &entry()).unwrap();
        assert_eq!(
            names(blob.parent().unwrap()),
            [".x.md.bbbbbb.cantus-tmp", blob.file_name().unwrap().to_str().unwrap()]
        );
        assert_eq!(names(&cache), [".x.json.bbbbbb.cantus-tmp", &format!("{key}.json"), "x.cantus-tmp"]);
    }
}
