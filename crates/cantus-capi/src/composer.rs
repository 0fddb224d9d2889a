//! A project's composer.

use std::ffi::c_char;

use cantus_launch::Composer;

use crate::guard::guarded;
use crate::text::incoming_path;

/// The version of this interface. It grows when a program that was made for an earlier one would go wrong.
pub const CANTUS_ABI: u32 = 1;

/// Renders bundles of one project. Many threads may use one at once.
#[derive(Debug)]
pub struct CantusComposer(pub(crate) Composer);

/// The version of the interface that this library has; a program goes on only if it is the `CANTUS_ABI` it was made for.
#[unsafe(no_mangle)]
pub extern "C" fn cantus_abi() -> u32 {
    CANTUS_ABI
}

/// The version of Cantus, such as `0.1.0`. It lives as long as the library is loaded.
#[unsafe(no_mangle)]
pub extern "C" fn cantus_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// Looks for a project from `folder` upward. `home` is the folder of the user's own layer, null for none. What is wrong
/// shows when it renders.
///
/// Gives null only if `folder` is null. The result is to be freed with `cantus_composer_free`.
///
/// # Safety
/// `folder` and `home` are null or strings that end in a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_composer_new(
    folder: *const c_char,
    home: *const c_char,
) -> *mut CantusComposer {
    guarded(std::ptr::null_mut(), || {
        // SAFETY: as the caller promises.
        let folder = unsafe { incoming_path(folder) };
        // SAFETY: as the caller promises.
        let home = unsafe { incoming_path(home) };
        folder.map_or(std::ptr::null_mut(), |folder| {
            Box::into_raw(Box::new(CantusComposer(Composer::discover(&folder, home.as_deref()))))
        })
    })
}

/// Frees a composer. Null is nothing.
///
/// # Safety
/// `composer` is null or from `cantus_composer_new`, not freed yet, and in use by no other thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn cantus_composer_free(composer: *mut CantusComposer) {
    // SAFETY: as the caller promises.
    guarded((), || unsafe { crate::free(composer) });
}
