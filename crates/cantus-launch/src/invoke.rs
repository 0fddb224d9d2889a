//! The launcher's call with all that stands around it. Nothing here fails: what goes wrong is told, and the call goes on.

mod draft;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::SystemTime;

use cantus_manifest::manifest::{DeliveryStatus, Fallback};
use cantus_store::Corrupt;
use thiserror::Error;

use crate::composer::{Composer, RenderError};
use crate::delivery::{Delivery, Way};
use crate::invocation::Invocation;
use crate::record::RecordError;
use draft::{Draft, Recording};

/// Something that went wrong around a call, which went on regardless.
#[derive(Debug, Error)]
pub enum Trouble {
    /// There is no bundle.
    #[error(transparent)]
    Render(#[from] RenderError),
    /// Something could not be recorded.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The store had a bundle that was broken.
    #[error("{0}")]
    Corrupt(Corrupt),
    /// No random number could be had for the invocation's id.
    #[error("the system gives no random numbers")]
    Random,
    /// A fault of ours.
    #[error("a fault of Cantus, please report it: {0}")]
    Panic(String),
}

/// A call that goes on. Dropping it ends it like [`Active::finish`].
#[derive(Debug)]
#[must_use = "dropping it ends the call"]
pub struct Active {
    delivery: Delivery,
    recording: Option<Recording>,
    troubles: Vec<Trouble>,
    is_over: bool,
}

/// What came of a call.
#[derive(Debug)]
pub struct Ended {
    /// How the bundle reached the agent.
    pub status: DeliveryStatus,
    /// Why the provider's own files stood in, if they stood in for something.
    pub fallback: Option<Fallback>,
    /// All that went wrong.
    pub troubles: Vec<Trouble>,
}

impl Composer {
    /// Calls `call` exactly once with what it hands over to the provider, and gives what it returns; a panic of it passes
    /// through. With a folder for artifacts the invocation is recorded there, unless `$CANTUS_RECORD` is `0`.
    ///
    /// Nothing that goes wrong while the bundle is rendered, recorded or handed over keeps `call` from running: it then sees a
    /// delivery with the status `inherits_native` and a reason.
    pub fn invoke<'a, R>(
        &self,
        invocation: &Invocation,
        artifacts: impl Into<Option<&'a Path>>,
        call: impl FnOnce(&Delivery) -> R,
    ) -> R {
        let active = self.begin(invocation, artifacts);
        call(active.delivery())
    }

    /// The same for launchers that don't wait in a function: the call begins here and ends with [`Active::finish`].
    pub fn begin<'a>(&self, invocation: &Invocation, artifacts: impl Into<Option<&'a Path>>) -> Active {
        let mut draft = Draft::new(self, invocation, artifacts.into());
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| draft.prepare())) {
            draft.give_up(&*panic);
        }
        let (delivery, recording, troubles) = draft.into_parts();
        Active { delivery, recording, troubles, is_over: false }
    }
}

impl Active {
    /// What the call hands over.
    #[must_use]
    pub fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// What has gone wrong so far.
    #[must_use]
    pub fn troubles(&self) -> &[Trouble] {
        &self.troubles
    }

    /// Ends the call: what was learned during it is recorded, and its private files go.
    pub fn finish(mut self) -> Ended {
        self.end();
        let Way { status, fallback, .. } = self.delivery.over().root;
        Ended { status, fallback, troubles: std::mem::take(&mut self.troubles) }
    }

    fn end(&mut self) {
        if std::mem::replace(&mut self.is_over, true) {
            return;
        }
        let Some(recording) = self.recording.take() else { return };
        let state = self.delivery.over();
        let ended = catch_unwind(AssertUnwindSafe(|| recording.end(&state, SystemTime::now())));
        match ended {
            Ok(troubles) => self.troubles.extend(troubles.into_iter().map(Trouble::Record)),
            Err(panic) => self.troubles.push(Trouble::Panic(draft::words(&*panic))),
        }
    }
}

impl Drop for Active {
    fn drop(&mut self) {
        self.end();
    }
}
