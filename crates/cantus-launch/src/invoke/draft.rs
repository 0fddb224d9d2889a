//! A call before it begins: rendered, judged, recorded.

use std::any::Any;
use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::SystemTime;

use cantus_fs::Root;
use cantus_manifest::Facts;
use cantus_manifest::manifest::{DeliveryRecord, DeliveryStatus, FallbackReason, Manifest};
use cantus_workspace::{DEFAULT_VARIABLE, configuration, host_name};

use super::Trouble;
use crate::adapters::{self, Desk, Mute, fallback};
use crate::composer::{Composer, Rendered};
use crate::delivery::{Delivery, HelperWay, State, Way};
use crate::invocation::{Channel, Invocation, Lineage};
use crate::marker::marked;
use crate::owned::owned_files;
use crate::plan::{DeliveryPlan, Slot};
use crate::program;
use crate::record::{ErrorRecord, RecordError, Reservation, Run};
use crate::runs::{RunFile, RunIndex};
use crate::time::rfc3339;
use crate::validity::{helper_fault, root_fault};

/// The variable that switches recording off.
const RECORD: &str = "CANTUS_RECORD";
/// The variable that names a run.
const RUN_NAME: &str = "CANTUS_RUN_NAME";
/// The variable that tells a child where its run's artifacts lie.
const ARTIFACTS: &str = "CANTUS_ARTIFACTS";

/// An invocation with all that is known of it before its call.
pub(super) struct Draft<'a> {
    composer: &'a Composer,
    invocation: &'a Invocation,
    artifacts: Option<&'a Path>,
    at: SystemTime,
    delivery: Delivery,
    reserved: Option<(Run, Reservation)>,
    manifest: Option<Manifest>,
    troubles: Vec<Trouble>,
}

/// What must be told at the end of a call.
#[derive(Debug)]
pub(super) struct Recording {
    run: Run,
    reservation: Reservation,
    /// As it was written; `None` where there is no bundle.
    manifest: Option<Manifest>,
}

/// The helpers' way, and their bundle if they get one of their own.
type Helper = (Way, Option<Rendered>);

impl<'a> Draft<'a> {
    /// Nothing is known yet: were the call made now, the provider would read its own files.
    pub(super) fn new(
        composer: &'a Composer,
        invocation: &'a Invocation,
        artifacts: Option<&'a Path>,
    ) -> Self {
        let folder = invocation.folder.clone().or_else(|| std::env::current_dir().ok());
        let folder = folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder)).unwrap_or_default();
        let state = State {
            root: Way::native(fallback(FallbackReason::RenderFailed, "the bundle was not made")),
            helper: None,
            sessions: Vec::new(),
            cli_version: None,
            exit_status: None,
            taken: false,
        };
        let delivery = Delivery {
            id: String::new(),
            adapter: adapters::find(&invocation.provider),
            root: None,
            helper: None,
            owned: Vec::new(),
            desk: Desk::new(composer.disk().clone(), folder, String::new()),
            variable: DEFAULT_VARIABLE.to_owned(),
            env: Vec::new(),
            state: Mutex::new(state),
        };
        let (at, troubles) = (SystemTime::now(), Vec::new());
        Self { composer, invocation, artifacts, at, delivery, reserved: None, manifest: None, troubles }
    }

    pub(super) fn into_parts(self) -> (Delivery, Option<Recording>, Vec<Trouble>) {
        let Self { delivery, reserved, manifest, troubles, .. } = self;
        let recording = reserved.map(|(run, reservation)| Recording { run, reservation, manifest });
        (delivery, recording, troubles)
    }

    /// Does all that comes before the call.
    pub(super) fn prepare(&mut self) {
        let Some(id) = random_id() else { return self.troubles.push(Trouble::Random) };
        self.delivery.desk.rename(format!("cantus-{id}"));
        self.delivery.id = id;
        self.reserve();
        let root = self.composer.root();
        let config = root.as_ref().and_then(|root| configuration(root).value);
        config.into_iter().for_each(|config| self.delivery.variable = config.variable);
        match self.composer.render(self.invocation.facts(), &self.invocation.launch) {
            Ok(rendered) => self.rendered(rendered, root.as_ref()),
            Err(error) => {
                self.without_bundle("RenderError", &error.to_string());
                self.troubles.push(error.into());
            }
        }
    }

    /// Goes on after a fault of ours.
    pub(super) fn give_up(&mut self, panic: &(dyn Any + Send)) {
        let words = words(panic);
        // A text may be there already, but nobody knows what else is.
        (self.delivery.root, self.delivery.helper) = (None, None);
        if catch_unwind(AssertUnwindSafe(|| self.without_bundle("Panic", &words))).is_err() {
            self.reserved = None;
        }
        self.troubles.push(Trouble::Panic(words));
    }

    /// Takes a number of the run, if the invocation is to be recorded.
    fn reserve(&mut self) {
        let is_on = std::env::var_os(RECORD).is_none_or(|value| value != "0");
        let Some(artifacts) = self.artifacts.filter(|_| is_on) else { return };
        let run = match Run::open(self.composer.disk().clone(), artifacts) {
            Ok(run) => run,
            Err(error) => return self.troubles.push(error.into()),
        };
        self.begin_run(&run);
        match run.reserve(self.invocation.provider.as_str()) {
            Ok(reservation) => self.reserved = Some((run, reservation)),
            Err(error) => self.troubles.push(error.into()),
        }
    }

    /// Writes what the run says of itself, and enters it into the index.
    fn begin_run(&mut self, run: &Run) {
        let folder = || run.artifacts().file_name().map(|name| name.to_string_lossy().into_owned());
        let variable = || std::env::var(RUN_NAME).ok().filter(|name| !name.is_empty());
        let file = RunFile {
            name: self.invocation.run_name.clone().or_else(variable).or_else(folder).unwrap_or_default(),
            provider: self.invocation.provider.to_string(),
            workspace: self.delivery.desk.folder().to_string_lossy().into_owned(),
            host: host_name(),
            started_at: self.at,
            ended_at: None,
            exit_status: None,
        };
        let begun = run.begin(&file).and_then(|begun| match self.composer.store_home() {
            Some(home) => {
                RunIndex::open(self.composer.disk().clone(), home).add(run.artifacts(), &begun).map(drop)
            }
            None => Ok(()),
        });
        self.troubles.extend(begun.err().map(Trouble::Record));
    }

    /// There is a bundle: judges it, gets what its channels need, and records it.
    fn rendered(&mut self, mut rendered: Rendered, root: Option<&Root>) {
        self.troubles.extend(rendered.corrupt.drain(..).map(Trouble::Corrupt));
        let text = marked(rendered.text(), &rendered.table().bundle.sha256, &self.delivery.id);
        let plan = DeliveryPlan::of(&self.invocation.provider);
        let way = self.way(plan.root, rendered.table(), &text);
        let helper = self.helper(plan.subagent, &way);
        let mutes = self.delivery.adapter.is_some_and(|adapter| adapter.mute == Mute::Files);
        if way.is_explicit() {
            self.delivery.root = Some(text);
            self.delivery.owned = root.filter(|_| mutes).map(owned_files).unwrap_or_default();
        }
        if let Some((_, Some(helper))) = &helper {
            let text = marked(helper.text(), &helper.table().bundle.sha256, &self.delivery.id);
            self.delivery.helper = Some(text);
        }
        let mut state = self.delivery.state();
        state.root = way;
        state.helper = helper.as_ref().map(|(way, helper)| HelperWay {
            way: way.clone(),
            sha256: helper.as_ref().map(|helper| helper.table().bundle.sha256.clone()),
        });
        drop(state);
        self.point_to(rendered.stored.clone());
        self.record(&rendered, helper.and_then(|(_, helper)| helper).as_ref());
    }

    /// How the root gets its bundle.
    fn way(&self, slot: Slot, manifest: &Manifest, text: &str) -> Way {
        if matches!(self.invocation.lineage, Lineage::Resumed(_)) {
            return Way::planned(Slot::InheritsRoot);
        }
        let Some(adapter) = self.delivery.adapter else {
            let provider = &self.invocation.provider;
            let words = format!("no channel of `{provider}` is known");
            return Way::native(fallback(FallbackReason::ProviderLegacy, words));
        };
        let Slot::Explicit { channel, max_bytes } = slot else { return Way::planned(slot) };
        if self.invocation.channel == Channel::SwitchedOff {
            return Way::native(fallback(FallbackReason::FlagDisabled, "the launcher switched it off"));
        }
        if let Some(fault) = root_fault(manifest) {
            return Way::native(fallback(FallbackReason::InvalidBundle, fault));
        }
        let needs = (adapter.needs)(text);
        match max_bytes.filter(|most| needs > *most) {
            Some(most) => {
                let words = format!("{needs} bytes are more than the {most} that `{channel}` takes");
                Way::native(fallback(FallbackReason::Oversize, words))
            }
            None => Way::planned(slot),
        }
    }

    /// How the helpers get theirs; `None` where the root's way leaves nothing to say.
    fn helper(&mut self, slot: Slot, root: &Way) -> Option<Helper> {
        match (root.status, slot) {
            (DeliveryStatus::Explicit, Slot::Explicit { .. }) => Some(self.own_helper(slot)),
            (DeliveryStatus::Explicit, slot) => Some((Way::planned(slot), None)),
            (DeliveryStatus::InheritsNative, Slot::Explicit { .. }) => {
                let way = root.fallback.clone().map(Way::native);
                Some((way.unwrap_or(Way::planned(Slot::InheritsNative)), None))
            }
            (DeliveryStatus::InheritsNative, _) => Some((Way::planned(Slot::InheritsNative), None)),
            _ => None,
        }
    }

    /// A bundle of the helpers' own, if the program takes one.
    fn own_helper(&mut self, slot: Slot) -> Helper {
        let provider = &self.invocation.provider;
        let program = self.invocation.program.clone().unwrap_or_else(|| PathBuf::from(provider.as_str()));
        let store = self.composer.store_home();
        let known = program::ask(self.composer.disk().as_ref(), store, provider, &program);
        self.delivery.state().cli_version = known.version;
        let native = |reason, words: String| (Way::native(fallback(reason, words)), None);
        if !known.helper_file {
            let words = format!("no version of `{provider}` that takes a text for helpers was found");
            return native(FallbackReason::UnsupportedCli, words);
        }
        let facts = Facts::helper(provider.clone()).purpose(self.invocation.purpose);
        match self.composer.render(facts, &self.invocation.launch) {
            Err(error) => native(FallbackReason::RenderFailed, error.to_string()),
            Ok(rendered) => match helper_fault(rendered.table()) {
                Some(fault) => native(FallbackReason::InvalidBundle, fault),
                None => (Way::planned(slot), Some(rendered)),
            },
        }
    }

    /// Tells the child where its bundle lies.
    fn point_to(&mut self, bundle: Option<PathBuf>) {
        let Some(bundle) = bundle else { return };
        let variable = self.delivery.variable.clone();
        self.delivery.env.retain(|(name, _)| *name != variable);
        self.delivery.env.push((variable, bundle.into()));
    }

    /// Writes the bundles with their manifests, if a number was taken.
    fn record(&mut self, rendered: &Rendered, helper: Option<&Rendered>) {
        let Some((run, reservation)) = &self.reserved else { return };
        let manifest = self.manifest_of(rendered, reservation);
        let helper = helper.and_then(|helper| Some((helper, self.manifest_of_helper(helper, reservation)?)));
        let pair = helper.as_ref().map(|(rendered, manifest)| (rendered.text(), manifest));
        let (path, artifacts) = (reservation.bundle_path(), OsString::from(run.artifacts()));
        if let Err(error) = reservation.write(rendered.text(), &manifest, pair) {
            return self.unrecorded(error);
        }
        let summed = reservation.summarise(&manifest);
        self.troubles.extend(summed.err().map(Trouble::Record));
        self.manifest = Some(manifest);
        self.point_to(Some(path));
        self.delivery.env.push((ARTIFACTS.to_owned(), artifacts));
    }

    /// The record could not be written; the bundle is handed over all the same.
    fn unrecorded(&mut self, error: RecordError) {
        let record = self.error("RecordError", &error.to_string());
        let failed = self.reserved.as_ref().and_then(|(_, reservation)| reservation.fail(&record).err());
        self.troubles.push(error.into());
        self.troubles.extend(failed.map(Trouble::Record));
    }

    fn manifest_of(&self, rendered: &Rendered, reservation: &Reservation) -> Manifest {
        let invocation = self.invocation;
        let mut record = DeliveryRecord {
            invocation_id: self.delivery.id.clone(),
            invocation_seq: reservation.seq(),
            attempt: reservation.attempt(),
            agent_name: invocation.agent.clone(),
            agent_type: invocation.agent_type.clone(),
            model: invocation.model.clone(),
            parent_invocation_id: match &invocation.lineage {
                Lineage::New => None,
                Lineage::Child(parent) | Lineage::Resumed(parent) => Some(parent.clone()),
            },
            rendered_at: rfc3339(self.at),
            render_ms: rendered.duration.as_secs_f64() * 1e3,
            ..rendered.table().delivery.clone()
        };
        self.delivery.state().fill(&mut record);
        let stored = rendered.stored.as_ref().map(|path| path.display().to_string());
        rendered.manifest(record, &stored.unwrap_or_default())
    }

    fn manifest_of_helper(&self, helper: &Rendered, reservation: &Reservation) -> Option<Manifest> {
        let mut manifest = self.manifest_of(helper, reservation);
        let way = self.delivery.state().helper.clone()?.way;
        let record = &mut manifest.delivery;
        record.invocation_id = random_id()?;
        record.parent_invocation_id = Some(self.delivery.id.clone());
        (record.status, record.channel) = (way.status, way.channel.map(str::to_owned));
        (record.subagent, record.fallback) = (None, way.fallback);
        Some(manifest)
    }

    /// There is no bundle: the provider reads its own files, unless its conversation has one already.
    fn without_bundle(&mut self, kind: &str, message: &str) {
        let is_resumed = matches!(self.invocation.lineage, Lineage::Resumed(_));
        self.delivery.state().root = match is_resumed {
            true => Way::planned(Slot::InheritsRoot),
            false => Way::native(fallback(FallbackReason::RenderFailed, message)),
        };
        let record = self.error(kind, message);
        let Some((_, reservation)) = &self.reserved else { return };
        let failed = reservation.fail(&record);
        self.troubles.extend(failed.err().map(Trouble::Record));
    }

    fn error(&self, kind: &str, message: &str) -> ErrorRecord {
        ErrorRecord {
            provider: self.invocation.provider.to_string(),
            purpose: self.invocation.purpose,
            fallback: FallbackReason::RenderFailed,
            kind: kind.to_owned(),
            message: message.to_owned(),
            at: self.at,
        }
    }
}

impl Recording {
    /// Writes down what was learned during the call.
    pub(super) fn end(self, state: &State, at: SystemTime) -> Vec<RecordError> {
        let Self { run, reservation, manifest } = self;
        let rewritten = manifest.map(|written| {
            let mut manifest = written.clone();
            state.fill(&mut manifest.delivery);
            if manifest == written { Ok(()) } else { reservation.rewrite(&manifest) }
        });
        [rewritten.unwrap_or(Ok(())), run.end(at, state.exit_status)]
            .into_iter()
            .filter_map(Result::err)
            .collect()
    }
}

/// A version 4 UUID; `None` if the system gives no random numbers.
fn random_id() -> Option<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).ok()?;
    bytes[6] = 0x40 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    let parts = [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]];
    Some(parts.join("-"))
}

/// What a panic says.
pub(super) fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".to_owned())
}
