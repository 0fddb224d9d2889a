//! A temporary artifacts folder, and bundles to record in it.

use std::fs;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use cantus_compose::{Launch, preview};
use cantus_fs::RealDisk;
use cantus_launch::{Composer, ErrorRecord, Rendered, Reservation, Run, RunFile};
use cantus_manifest::manifest::{CacheStatus, DeliveryRecord, DeliveryStatus, FallbackReason, Manifest};
use cantus_manifest::{Facts, Provider, Purpose};
use cantus_testkit::Repo;
use tempfile::TempDir;

pub(crate) struct Scratch(TempDir);

impl Scratch {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn run(&self) -> Run {
        Run::open(Arc::new(RealDisk), self.path()).unwrap()
    }

    pub(crate) fn run_in(&self, folder: &str) -> Run {
        Run::open(Arc::new(RealDisk), &self.path().join(folder)).unwrap()
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path().join(path)).unwrap()
    }

    pub(crate) fn names(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path().join(folder)).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// A root's bundle, as it is delivered under the number of `reservation`.
    pub(crate) fn bundle(&self, reservation: &Reservation) -> (String, Manifest) {
        let delivery = delivery(reservation, "11111111-0000-4000-8000-000000000000");
        (rendered(0).text().to_owned(), rendered(0).manifest(delivery, ""))
    }

    /// The helpers' bundle that goes with it.
    pub(crate) fn helper(&self, reservation: &Reservation) -> (String, Manifest) {
        let parent = Some("11111111-0000-4000-8000-000000000000".to_owned());
        let delivery = DeliveryRecord {
            parent_invocation_id: parent,
            ..delivery(reservation, "22222222-0000-4000-8000-000000000000")
        };
        (rendered(1).text().to_owned(), rendered(1).manifest(delivery, ""))
    }
}

fn delivery(reservation: &Reservation, id: &str) -> DeliveryRecord {
    DeliveryRecord {
        status: DeliveryStatus::Explicit,
        channel: Some("claude.append_system_prompt_file".to_owned()),
        invocation_id: id.to_owned(),
        invocation_seq: reservation.seq(),
        attempt: reservation.attempt(),
        agent_name: "build".to_owned(),
        agent_type: "Straße".to_owned(),
        ..preview("2026-11-20T10:00:00Z".to_owned(), 1.5, CacheStatus::Miss)
    }
}

/// The bundles of a root (0) and of a helper (1), rendered once.
fn rendered(index: usize) -> &'static Rendered {
    static RENDERED: OnceLock<[Rendered; 2]> = OnceLock::new();
    &RENDERED.get_or_init(|| {
        let repo = Repo::new("\n//- memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe brief.\n");
        let composer = Composer::discover(repo.path(), None);
        let claude = Provider::new("claude").unwrap();
        let render = |facts: Facts| composer.render(facts.host(Some("tower")), &Launch::default()).unwrap();
        [render(Facts::root(claude.clone())), render(Facts::helper(claude))]
    })[index]
}

/// 20 Nov 2026, 10:00:00.250 UTC.
pub(crate) fn noon() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(1_795_168_800_250)
}

pub(crate) fn run_file(name: &str) -> RunFile {
    RunFile {
        name: name.to_owned(),
        provider: "claude".to_owned(),
        workspace: "/w/lamp".to_owned(),
        host: "tower".to_owned(),
        started_at: noon(),
        ended_at: None,
        exit_status: None,
    }
}

pub(crate) fn error_record(message: &str) -> ErrorRecord {
    ErrorRecord {
        provider: "claude".to_owned(),
        purpose: Purpose::Ordinary,
        fallback: FallbackReason::RenderFailed,
        kind: "RenderError".to_owned(),
        message: message.to_owned(),
        at: noon(),
    }
}
