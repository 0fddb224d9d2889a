//! A bundle to look at, without an invocation.

use std::ffi::c_char;

use cantus_launch::{Composer, Facts, Launch, Provider, RenderError};

use crate::composer::CantusComposer;
use crate::guard::guarded;
use crate::text::{CantusText, Owned, incoming};

/// Who reads a bundle.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CantusReader {
    /// The agent that owns the turn.
    Root = 0,
    /// An agent that a root agent starts with the provider's own means.
    Helper = 1,
    /// A person at the provider's prompt.
    Interactive = 2,
    /// A document for other places, without the user's own layer.
    Export = 3,
}

/// What became of a render.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CantusResult {
    /// There is a bundle.
    Done = 0,
    /// The project is at fault, or there is none.
    Refused = 1,
    /// An argument is not what it must be.
    Usage = 2,
    /// A fault of Cantus.
    Fault = 3,
}

/// A bundle, or why there is none.
#[derive(Debug)]
pub struct CantusBundle {
    result: CantusResult,
    text: Owned,
    manifest: Owned,
    error: Owned,
}

impl CantusBundle {
    fn failed(result: CantusResult, error: impl Into<Vec<u8>>) -> Self {
        Self { result, text: Owned::new(""), manifest: Owned::new(""), error: Owned::new(error) }
    }
}

/// Renders the bundle of `provider` (null for the one without a provider, which is committed) for a reader, one of
/// `CantusReader`.
///
/// Never gives null. The result is to be freed with `cantus_bundle_free`, and says with `cantus_bundle_result` whether
/// there is a bundle.
///
/// # Safety
/// `composer` is null or a live composer; `provider` is null or a string that ends in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_render(
    composer: *const CantusComposer,
    provider: *const c_char,
    reader: i32,
) -> *mut CantusBundle {
    let bundle = guarded(None, || {
        // SAFETY: as the caller promises.
        let provider = unsafe { incoming(provider) };
        // SAFETY: as the caller promises.
        let composer = unsafe { composer.as_ref() };
        Some(render(composer, provider, reader))
    });
    let bundle = bundle
        .unwrap_or_else(|| CantusBundle::failed(CantusResult::Fault, "a fault of Cantus, please report it"));
    Box::into_raw(Box::new(bundle))
}

fn render(composer: Option<&CantusComposer>, provider: Option<String>, reader: i32) -> CantusBundle {
    let Some(CantusComposer(composer)) = composer else {
        return CantusBundle::failed(CantusResult::Usage, "the composer is null");
    };
    let provider = match provider.map_or_else(|| Ok(Provider::native()), Provider::new) {
        Ok(provider) => provider,
        Err(error) => return CantusBundle::failed(CantusResult::Usage, error.to_string()),
    };
    let Some(facts) = facts(provider, reader) else {
        let error = format!("{reader} is no reader: expected one of `CantusReader`, 0 to 3");
        return CantusBundle::failed(CantusResult::Usage, error);
    };
    match whole(composer, facts) {
        Ok(bundle) => bundle,
        Err(error) => CantusBundle::failed(CantusResult::Refused, error.to_string()),
    }
}

fn facts(provider: Provider, reader: i32) -> Option<Facts> {
    let make = [Facts::root, Facts::helper, Facts::interactive, Facts::export];
    let reader = usize::try_from(reader).ok()?;
    Some(make.get(reader)?(provider))
}

fn whole(composer: &Composer, facts: Facts) -> Result<CantusBundle, RenderError> {
    let rendered = composer.render(facts, &Launch::default())?;
    let manifest = serde_json::to_vec(&rendered.preview().to_value()).unwrap_or_default();
    Ok(CantusBundle {
        result: CantusResult::Done,
        text: Owned::new(rendered.text()),
        manifest: Owned::new(manifest),
        error: Owned::new(""),
    })
}

/// What became of the render; `Usage` for null.
///
/// # Safety
/// `bundle` is null or a live bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_bundle_result(bundle: *const CantusBundle) -> CantusResult {
    // SAFETY: as the caller promises.
    unsafe { bundle.as_ref() }.map_or(CantusResult::Usage, |bundle| bundle.result)
}

/// The bundle's text, empty if there is none.
///
/// # Safety
/// `bundle` is null or a live bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_bundle_text(bundle: *const CantusBundle) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { bundle.as_ref() }.map_or(CantusText::EMPTY, |bundle| CantusText::of(&bundle.text))
}

/// The bundle's manifest, version 2, as JSON; its delivery is a preview. Empty if there is no bundle.
///
/// # Safety
/// `bundle` is null or a live bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_bundle_manifest(bundle: *const CantusBundle) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { bundle.as_ref() }.map_or(CantusText::EMPTY, |bundle| CantusText::of(&bundle.manifest))
}

/// Why there is no bundle, for people to read; empty if there is one.
///
/// # Safety
/// `bundle` is null or a live bundle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_bundle_error(bundle: *const CantusBundle) -> CantusText {
    // SAFETY: as the caller promises.
    unsafe { bundle.as_ref() }.map_or(CantusText::EMPTY, |bundle| CantusText::of(&bundle.error))
}

/// Frees a bundle and the texts that it gave. Null is nothing.
///
/// # Safety
/// `bundle` is null or from `cantus_render`, and not freed yet.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_bundle_free(bundle: *mut CantusBundle) {
    // SAFETY: as the caller promises.
    guarded((), || unsafe { crate::free(bundle) });
}
