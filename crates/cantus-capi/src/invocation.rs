//! One call of a provider.

use std::ffi::{OsString, c_char};
use std::path::Path;

use cantus_launch::{Active, Delivery, DeliveryStatus, Fallback, FallbackReason, Trouble};
use serde_json::Value;

use crate::composer::CantusComposer;
use crate::guard::guarded;
use crate::request;
use crate::text::{CantusText, Owned, incoming, incoming_os, incoming_path, outgoing};

/// How a bundle reaches an agent.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CantusStatus {
    /// The launcher hands it over.
    Explicit = 0,
    /// The provider reads its own files.
    InheritsNative = 1,
    /// The conversation has it already.
    InheritsRoot = 2,
    /// It doesn't.
    None = 3,
}

/// One call of a provider. One thread at a time may use it.
#[derive(Debug)]
pub struct CantusInvocation {
    /// `None` where none could be prepared, and once the call is over.
    active: Option<Active>,
    /// As far as is known by now.
    status: CantusStatus,
    fallback: Owned,
    id: Owned,
    variable: Owned,
    env: Vec<(Owned, Owned)>,
    arguments: Vec<Owned>,
    troubles: Owned,
    text: Owned,
}

impl CantusInvocation {
    /// A call that hands over nothing, because of `trouble`.
    fn without(trouble: &str) -> Self {
        let empty = || Owned::new("");
        let detail = Some(trouble.to_owned());
        Self {
            active: None,
            status: CantusStatus::InheritsNative,
            fallback: fallback(Some(&Fallback { reason: FallbackReason::RenderFailed, detail })),
            id: empty(),
            variable: empty(),
            env: Vec::new(),
            arguments: Vec::new(),
            troubles: Owned::new(Value::from(vec![trouble]).to_string()),
            text: empty(),
        }
    }

    fn new(active: Active) -> Self {
        let delivery = active.delivery();
        let pair = |(name, value): &(String, OsString)| (Owned::new(name.as_str()), outgoing(value));
        Self {
            status: delivery.status().into(),
            fallback: fallback(delivery.fallback().as_ref()),
            id: Owned::new(delivery.invocation_id()),
            variable: Owned::new(delivery.variable()),
            env: delivery.env().iter().map(pair).collect(),
            arguments: Vec::new(),
            troubles: texts(active.troubles()),
            text: Owned::new(""),
            active: Some(active),
        }
    }

    fn finish(&mut self) {
        let Some(active) = self.active.take() else { return };
        let ended = active.finish();
        self.status = ended.status.into();
        self.fallback = fallback(ended.fallback.as_ref());
        self.troubles = texts(&ended.troubles);
        self.env.clear();
    }

    fn refresh(&mut self) {
        let Some(active) = &self.active else { return };
        self.status = active.delivery().status().into();
        self.fallback = fallback(active.delivery().fallback().as_ref());
    }

    fn delivery(&self) -> Option<&Delivery> {
        self.active.as_ref().map(Active::delivery)
    }
}

impl From<DeliveryStatus> for CantusStatus {
    fn from(status: DeliveryStatus) -> Self {
        match status {
            DeliveryStatus::Explicit => Self::Explicit,
            DeliveryStatus::InheritsNative => Self::InheritsNative,
            DeliveryStatus::InheritsRoot => Self::InheritsRoot,
            // Nothing is handed over by what is only looked at or recorded.
            DeliveryStatus::None | DeliveryStatus::Preview | DeliveryStatus::Shadow => Self::None,
        }
    }
}

fn fallback(fallback: Option<&Fallback>) -> Owned {
    let json = fallback.and_then(|fallback| serde_json::to_string(fallback).ok());
    Owned::new(json.unwrap_or_default())
}

fn texts(troubles: &[Trouble]) -> Owned {
    let texts: Vec<_> = troubles.iter().map(ToString::to_string).collect();
    Owned::new(Value::from(texts).to_string())
}

/// Prepares a call: renders, records in the folder `artifacts` (null for nowhere), makes what is to be handed over.
///
/// `request` is JSON: `{"version": 1, "provider": "claude"}` and any of `agent`, `agent_type`, `model`, `purpose`,
/// `parent`, `resume`, `run_name`, `folder`, `program`, `deliver` (false: the provider reads its own files) and `sections`,
/// a list of `{"id", "text", "budget", "pointer", "volatile"}`, the host's own texts.
///
/// Never gives null, and never fails: a call that can't be prepared, be it for a slip in the request, hands over nothing,
/// and `cantus_troubles` says why. The result is to be freed with `cantus_invocation_free`.
///
/// # Safety
/// `composer` is null or a live composer; `request` and `artifacts` are null or strings that end in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_begin(
    composer: *const CantusComposer,
    request: *const c_char,
    artifacts: *const c_char,
) -> *mut CantusInvocation {
    let invocation = guarded(None, || {
        // SAFETY: as the caller promises.
        let request = unsafe { incoming(request) };
        // SAFETY: as the caller promises.
        let artifacts = unsafe { incoming_path(artifacts) };
        // SAFETY: as the caller promises.
        let composer = unsafe { composer.as_ref() };
        Some(begin(composer, request.as_deref(), artifacts.as_deref()))
    });
    let invocation =
        invocation.unwrap_or_else(|| CantusInvocation::without("a fault of Cantus, please report it"));
    Box::into_raw(Box::new(invocation))
}

fn begin(
    composer: Option<&CantusComposer>,
    request: Option<&str>,
    artifacts: Option<&Path>,
) -> CantusInvocation {
    let Some(CantusComposer(composer)) = composer else {
        return CantusInvocation::without("the composer is null");
    };
    match request::parse(request) {
        Ok(invocation) => CantusInvocation::new(composer.begin(&invocation, artifacts)),
        Err(error) => CantusInvocation::without(&error.to_string()),
    }
}

/// How the bundle reaches the agent, as far as is known by now; `None` for null. It can change when the arguments are made
/// and when the call ends.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_invocation_status(invocation: *const CantusInvocation) -> CantusStatus {
    // SAFETY: as the caller promises.
    unsafe { invocation.as_ref() }.map_or(CantusStatus::None, |invocation| invocation.status)
}

/// The id of the invocation, a UUID: later requests name it as `parent` or `resume`. Empty if it couldn't be prepared.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_invocation_id(invocation: *const CantusInvocation) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { invocation.as_ref() }.map_or(CantusText::EMPTY, |invocation| CantusText::of(&invocation.id))
}

/// Why the provider's own files stand in, `{"reason", "detail"}` as JSON; empty if they stand in for nothing. It lives until
/// the arguments are made or the call ends.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_fallback(invocation: *const CantusInvocation) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { invocation.as_ref() }
        .map_or(CantusText::EMPTY, |invocation| CantusText::of(&invocation.fallback))
}

/// What has gone wrong so far, a JSON list of texts for people. It lives until the call ends.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_troubles(invocation: *const CantusInvocation) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { invocation.as_ref() }
        .map_or(CantusText::EMPTY, |invocation| CantusText::of(&invocation.troubles))
}

/// Makes the arguments that the provider's program gets instead of `args`, those behind its first word, and gives their
/// number; they are read with `cantus_argument`. Where the bundle can't be put among them whole, they are `args`, and the
/// status says so.
///
/// # Safety
/// `invocation` is null or a live invocation; `args` leads to `count` strings that end in a NUL, or `count` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_arguments(
    invocation: *mut CantusInvocation,
    args: *const *const c_char,
    count: usize,
) -> usize {
    guarded(0, || {
        // SAFETY: as the caller promises.
        let Some(invocation) = (unsafe { invocation.as_mut() }) else { return 0 };
        let read = |index| {
            // SAFETY: `index` is less than `count`.
            let arg = unsafe { args.add(index) };
            // SAFETY: as the caller promises.
            let arg = unsafe { arg.read() };
            // SAFETY: as the caller promises.
            unsafe { incoming_os(arg) }.unwrap_or_default()
        };
        let count = if args.is_null() { 0 } else { count };
        let args: Vec<OsString> = (0..count).map(read).collect();
        let made = match invocation.delivery() {
            Some(delivery) => delivery.arguments(args),
            None => args,
        };
        invocation.arguments = made.iter().map(|arg| outgoing(arg)).collect();
        invocation.refresh();
        invocation.arguments.len()
    })
}

/// The argument at `index`, from 0; null if there is none. It lives until the arguments are made anew.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_argument(invocation: *const CantusInvocation, index: usize) -> *const c_char {
    // SAFETY: as the caller promises.
    let invocation = unsafe { invocation.as_ref() };
    let argument = invocation.and_then(|invocation| invocation.arguments.get(index));
    argument.map_or(std::ptr::null(), Owned::pointer)
}

/// How many variables the child's environment must have besides; the environment of this process is not touched.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_env_count(invocation: *const CantusInvocation) -> usize {
    // SAFETY: as the caller promises.
    unsafe { invocation.as_ref() }.map_or(0, |invocation| invocation.env.len())
}

/// The name of the variable at `index`, from 0; null if there is none. It lives until the call ends.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_env_name(invocation: *const CantusInvocation, index: usize) -> *const c_char {
    // SAFETY: as the caller promises.
    let invocation = unsafe { invocation.as_ref() };
    let pair = invocation.and_then(|invocation| invocation.env.get(index));
    pair.map_or(std::ptr::null(), |(name, _)| name.pointer())
}

/// The value of the variable at `index`, from 0; null if there is none. It lives until the call ends.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_env_value(
    invocation: *const CantusInvocation,
    index: usize,
) -> *const c_char {
    // SAFETY: as the caller promises.
    let invocation = unsafe { invocation.as_ref() };
    let pair = invocation.and_then(|invocation| invocation.env.get(index));
    pair.map_or(std::ptr::null(), |(_, value)| value.pointer())
}

/// The name of the variable that says where the bundle lies. Where it isn't among the variables of the child, the child
/// must not inherit it either: it would speak of another invocation.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_variable(invocation: *const CantusInvocation) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { invocation.as_ref() }
        .map_or(CantusText::EMPTY, |invocation| CantusText::of(&invocation.variable))
}

/// What must reach the agent, for a launcher with a channel of its own, which then doesn't ask for arguments; empty where
/// nothing must. It lives until the call ends.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_text(invocation: *mut CantusInvocation) -> CantusText {
    guarded(CantusText::EMPTY, || {
        // SAFETY: as the caller promises.
        let Some(invocation) = (unsafe { invocation.as_mut() }) else { return CantusText::EMPTY };
        let text = invocation.delivery().and_then(Delivery::text).map(Owned::new);
        invocation.text = text.unwrap_or_else(|| Owned::new(""));
        CantusText::of(&invocation.text)
    })
}

/// Tells that the hand-over failed, for the record: the provider reads its own files. `detail` is for people.
///
/// # Safety
/// `invocation` is null or a live invocation; `detail` is null or a string that ends in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_undelivered(invocation: *mut CantusInvocation, detail: *const c_char) {
    guarded((), || {
        // SAFETY: as the caller promises.
        let detail = unsafe { incoming(detail) }.unwrap_or_default();
        // SAFETY: as the caller promises.
        let Some(invocation) = (unsafe { invocation.as_mut() }) else { return };
        if let Some(delivery) = invocation.delivery() {
            delivery.fail(FallbackReason::DeliveryFailed, detail);
        }
        invocation.refresh();
    });
}

/// Tells which session of the provider the invocation is, for the record; each is kept once.
///
/// # Safety
/// `invocation` is null or a live invocation; `id` is null or a string that ends in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_record_session(invocation: *mut CantusInvocation, id: *const c_char) {
    // SAFETY: as the caller promises.
    guarded((), || unsafe { tell(invocation, id, |delivery, id| delivery.record_session(id)) });
}

/// Tells the version of the provider's program, for the record.
///
/// # Safety
/// `invocation` is null or a live invocation; `version` is null or a string that ends in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_record_cli_version(
    invocation: *mut CantusInvocation,
    version: *const c_char,
) {
    let record = |delivery: &Delivery, version| delivery.record_cli_version(version);
    // SAFETY: as the caller promises.
    guarded((), || unsafe { tell(invocation, version, record) });
}

/// # Safety
/// As for the functions that call it.
unsafe fn tell(
    invocation: *mut CantusInvocation,
    text: *const c_char,
    record: impl FnOnce(&Delivery, String),
) {
    // SAFETY: as the caller promises.
    let text = unsafe { incoming(text) };
    // SAFETY: as the caller promises.
    let invocation = unsafe { invocation.as_ref() };
    if let (Some(delivery), Some(text)) = (invocation.and_then(CantusInvocation::delivery), text) {
        record(delivery, text);
    }
}

/// Tells how the provider's process ended, for the record: its exit status, 128 and the signal if one ended it.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_record_exit(invocation: *mut CantusInvocation, status: i32) {
    guarded((), || {
        // SAFETY: as the caller promises.
        let invocation = unsafe { invocation.as_ref() };
        if let Some(delivery) = invocation.and_then(CantusInvocation::delivery) {
            delivery.record_exit(status);
        }
    });
}

/// Ends the call: what was told is recorded, and its private files go. Status, fallback and troubles are then final. Once is
/// enough; null is nothing.
///
/// # Safety
/// `invocation` is null or a live invocation.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_finish(invocation: *mut CantusInvocation) {
    guarded((), || {
        // SAFETY: as the caller promises.
        if let Some(invocation) = unsafe { invocation.as_mut() } {
            invocation.finish();
        }
    });
}

/// Ends the call if it goes on, and frees the invocation with all that it gave. Null is nothing.
///
/// # Safety
/// `invocation` is null or from `cantus_begin`, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_invocation_free(invocation: *mut CantusInvocation) {
    // SAFETY: as the caller promises.
    guarded((), || unsafe { crate::free(invocation) });
}
