//! What a launcher is given for one call, and what it tells of it.

use std::ffi::{OsStr, OsString};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use cantus_manifest::manifest::{DeliveryRecord, DeliveryStatus, Fallback, FallbackReason, Subagent};

use crate::adapters::{Adapter, Desk, Load, failed};
use crate::plan::Slot;

/// How a bundle reaches one agent, as far as that has come.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Way {
    pub(crate) status: DeliveryStatus,
    pub(crate) channel: Option<&'static str>,
    pub(crate) fallback: Option<Fallback>,
}

impl Way {
    /// What a plan asks for.
    pub(crate) fn planned(slot: Slot) -> Self {
        let (status, channel) = match slot {
            Slot::Explicit { channel, .. } => (DeliveryStatus::Explicit, Some(channel)),
            Slot::InheritsNative => (DeliveryStatus::InheritsNative, None),
            Slot::InheritsRoot => (DeliveryStatus::InheritsRoot, None),
            Slot::None => (DeliveryStatus::None, None),
        };
        Self { status, channel, fallback: None }
    }

    /// The provider's own files, and why.
    pub(crate) fn native(fallback: Fallback) -> Self {
        Self { status: DeliveryStatus::InheritsNative, channel: None, fallback: Some(fallback) }
    }

    pub(crate) fn is_explicit(&self) -> bool {
        self.status == DeliveryStatus::Explicit
    }
}

/// What the helpers of an agent get.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct HelperWay {
    pub(crate) way: Way,
    /// The SHA-256 of their bundle, if they have one of their own.
    pub(crate) sha256: Option<String>,
}

/// What is known of a call so far.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) root: Way,
    /// `None` where a manifest may say nothing of helpers.
    pub(crate) helper: Option<HelperWay>,
    pub(crate) sessions: Vec<String>,
    pub(crate) cli_version: Option<String>,
    pub(crate) exit_status: Option<i32>,
    /// Whether the launcher has taken what it must hand over.
    pub(crate) taken: bool,
}

impl State {
    /// Gives up the root's own channel and with it the helpers'.
    pub(crate) fn degrade(&mut self, fallback: Fallback) {
        if let Some(helper) =
            self.helper.as_mut().filter(|helper| helper.way.status != DeliveryStatus::InheritsNative)
        {
            let way = match helper.way.is_explicit() {
                true => Way::native(fallback.clone()),
                false => Way::planned(Slot::InheritsNative),
            };
            *helper = HelperWay { way, sha256: None };
        }
        self.root = Way::native(fallback);
    }

    /// Gives up the helpers' own channel.
    fn degrade_helper(&mut self, fallback: Fallback) {
        if self.helper.as_ref().is_some_and(|helper| helper.way.is_explicit()) {
            self.helper = Some(HelperWay { way: Way::native(fallback), sha256: None });
        }
    }

    /// Writes down what is known in `record`.
    pub(crate) fn fill(&self, record: &mut DeliveryRecord) {
        record.status = self.root.status;
        record.channel = self.root.channel.map(str::to_owned);
        record.fallback = self.root.fallback.clone();
        record.subagent = self.helper.as_ref().map(|helper| Subagent {
            status: helper.way.status,
            channel: helper.way.channel.map(str::to_owned),
            bundle_sha256: helper.sha256.clone(),
            fallback: helper.way.fallback.clone(),
        });
        record.session_ids.clone_from(&self.sessions);
        record.provider_cli_version.clone_from(&self.cli_version);
    }
}

/// One call of a provider, as its launcher sees it: what to hand over, and where to tell what came of it. Nothing here can
/// fail: where a bundle can't be handed over, the provider reads its own files, and [`Delivery::fallback`] says why.
///
/// Its private files live as long as it does.
#[derive(Debug)]
pub struct Delivery {
    pub(crate) id: String,
    pub(crate) adapter: Option<&'static Adapter>,
    /// The root's text, its marker last; `None` where there is none to hand over.
    pub(crate) root: Option<String>,
    /// The helpers' text likewise.
    pub(crate) helper: Option<String>,
    pub(crate) owned: Vec<PathBuf>,
    pub(crate) desk: Desk,
    pub(crate) variable: String,
    pub(crate) env: Vec<(String, OsString)>,
    pub(crate) state: Mutex<State>,
}

impl Delivery {
    /// The id of this invocation, a UUID: later ones name it as their parent.
    #[must_use]
    pub fn invocation_id(&self) -> &str {
        &self.id
    }

    /// How the bundle reaches the agent, as far as is known by now.
    #[must_use]
    pub fn status(&self) -> DeliveryStatus {
        self.state().root.status
    }

    /// Why the provider's own files stand in, if they stand in for something.
    #[must_use]
    pub fn fallback(&self) -> Option<Fallback> {
        self.state().root.fallback.clone()
    }

    /// The variables that the child must have. The environment of this process is not touched.
    #[must_use]
    pub fn env(&self) -> &[(String, OsString)] {
        &self.env
    }

    /// The variable that says where the bundle lies. Where [`Delivery::env`] doesn't set it, the child must not have it: it
    /// would speak of another invocation.
    #[must_use]
    pub fn variable(&self) -> &str {
        &self.variable
    }

    /// The arguments that the command gets instead of `args`, those behind its first word: the bundle is among them, joined
    /// with what the caller hands over by itself. Where that can't be done whole, they are `args`.
    #[must_use]
    pub fn arguments<A: Into<OsString>>(&self, args: impl IntoIterator<Item = A>) -> Vec<OsString> {
        let args: Vec<OsString> = args.into_iter().map(Into::into).collect();
        let carried = catch_unwind(AssertUnwindSafe(|| self.carry(args.clone())));
        match carried {
            Ok(Some(carried)) => carried,
            Ok(None) => args,
            Err(_) => {
                self.state().degrade(failed("a fault of Cantus while the arguments were made"));
                args
            }
        }
    }

    /// A command that runs `program` with [`Delivery::arguments`] of `args` in the right environment.
    #[must_use]
    pub fn command<A: Into<OsString>>(
        &self,
        program: impl AsRef<OsStr>,
        args: impl IntoIterator<Item = A>,
    ) -> Command {
        let mut command = Command::new(program);
        command
            .args(self.arguments(args))
            .env_remove(&self.variable)
            .envs(self.env.iter().map(|(key, value)| (key, value)));
        command
    }

    /// What must reach the agent, its marker last, for a launcher that has a channel of its own; `None` where nothing must.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        let mut state = self.state();
        state.taken |= state.root.is_explicit();
        self.root.as_deref().filter(|_| state.root.is_explicit())
    }

    /// Tells that the hand-over failed: the provider reads its own files.
    pub fn fail(&self, reason: FallbackReason, detail: impl Into<String>) {
        let mut state = self.state();
        if state.root.is_explicit() {
            state.degrade(Fallback { reason, detail: Some(detail.into()) });
        }
    }

    /// Tells which session of the provider this invocation is; each is kept once.
    pub fn record_session(&self, id: impl Into<String>) {
        let (mut state, id) = (self.state(), id.into());
        if !id.is_empty() && !state.sessions.contains(&id) {
            state.sessions.push(id);
        }
    }

    /// Tells the version of the provider's program.
    pub fn record_cli_version(&self, version: impl Into<String>) {
        self.state().cli_version = Some(version.into());
    }

    /// Tells how the provider's process ended.
    pub fn record_exit(&self, status: i32) {
        self.state().exit_status = Some(status);
    }

    /// What is known once the call is over: a launcher that never asked for what it must hand over has handed over nothing.
    pub(crate) fn over(&self) -> State {
        let mut state = self.state();
        if state.root.is_explicit() && !state.taken {
            state.degrade(failed("the launcher did not take the bundle"));
        }
        state.clone()
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The arguments with the bundle; `None` where there is none to carry, or it can't be carried.
    fn carry(&self, args: Vec<OsString>) -> Option<Vec<OsString>> {
        let (root, adapter) = (self.root.as_deref()?, self.adapter?);
        let helper = {
            let state = self.state();
            if !state.root.is_explicit() {
                return None;
            }
            self.helper
                .as_deref()
                .filter(|_| state.helper.as_ref().is_some_and(|helper| helper.way.is_explicit()))
        };
        let load = Load { root, helper, owned: &self.owned, desk: &self.desk };
        let carried = (adapter.carry)(&load, args);
        let mut state = self.state();
        match carried {
            Ok(carried) => {
                state.taken = true;
                carried.helper.into_iter().for_each(|fallback| state.degrade_helper(fallback));
                Some(carried.args)
            }
            Err(fallback) => {
                state.degrade(fallback);
                None
            }
        }
    }
}
