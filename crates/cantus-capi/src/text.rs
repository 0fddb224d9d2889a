//! Texts on their way in and out.

use std::ffi::{CStr, CString, OsStr, OsString, c_char};
use std::path::PathBuf;

/// A text that belongs to the object it was asked of. It lives as long as that object, unless the function that gave
/// it says less.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct CantusText {
    /// Its bytes, UTF-8, with a NUL behind them. Never null.
    pub data: *const c_char,
    /// How many bytes it has; the NUL is not counted. The bytes of a bundle may themselves hold a NUL.
    pub length: usize,
}

impl CantusText {
    /// No text.
    pub(crate) const EMPTY: Self = Self { data: c"".as_ptr(), length: 0 };

    /// What `owned` holds.
    pub(crate) fn of(owned: &Owned) -> Self {
        Self { data: owned.0.as_ptr().cast(), length: owned.0.len() - 1 }
    }
}

/// A text with a NUL behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Owned(Vec<u8>);

impl Owned {
    pub(crate) fn new(text: impl Into<Vec<u8>>) -> Self {
        let mut bytes = text.into();
        bytes.push(0);
        Self(bytes)
    }

    /// As a string of C, for what can't hold a NUL by itself.
    pub(crate) fn pointer(&self) -> *const c_char {
        self.0.as_ptr().cast()
    }
}

/// An argument or a value of the environment, as the system takes it. What can't be one, because of a NUL in it, ends there.
pub(crate) fn outgoing(text: &OsStr) -> Owned {
    let bytes = text.as_encoded_bytes();
    let bytes = match CString::new(bytes) {
        Ok(whole) => whole.into_bytes(),
        Err(error) => bytes[..error.nul_position()].to_vec(),
    };
    Owned::new(bytes)
}

/// The text at `pointer`, nothing for null; what isn't UTF-8 is replaced.
///
/// # Safety
/// `pointer` is null or leads to bytes that end in a NUL and don't change during the call.
pub(crate) unsafe fn incoming(pointer: *const c_char) -> Option<String> {
    // SAFETY: as the caller promises.
    let text = unsafe { borrowed(pointer) }?;
    Some(text.to_string_lossy().into_owned())
}

/// The path or argument at `pointer`, nothing for null: its bytes as they are on Unix, UTF-8 elsewhere.
///
/// # Safety
/// As for [`incoming`].
pub(crate) unsafe fn incoming_os(pointer: *const c_char) -> Option<OsString> {
    // SAFETY: as the caller promises.
    let text = unsafe { borrowed(pointer) }?;
    Some(os(text.to_bytes()))
}

/// The same as a path.
///
/// # Safety
/// As for [`incoming`].
pub(crate) unsafe fn incoming_path(pointer: *const c_char) -> Option<PathBuf> {
    // SAFETY: as the caller promises.
    unsafe { incoming_os(pointer) }.map(PathBuf::from)
}

/// # Safety
/// As for [`incoming`]; the result must not outlive the call.
unsafe fn borrowed<'a>(pointer: *const c_char) -> Option<&'a CStr> {
    // SAFETY: not null, and as the caller promises.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
}

#[cfg(unix)]
fn os(bytes: &[u8]) -> OsString {
    use std::os::unix::ffi::OsStringExt;
    OsString::from_vec(bytes.to_vec())
}

#[cfg(not(unix))]
fn os(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_have_their_length_and_a_nul() {
        let owned = Owned::new("a\0b");
        let text = CantusText::of(&owned);
        assert_eq!(text.length, 3);
        // SAFETY: `owned` lives and ends in a NUL.
        let seen = unsafe { CStr::from_ptr(text.data) };
        assert_eq!(seen, c"a");
    }

    #[test]
    fn an_argument_ends_where_the_system_would_end_it() {
        assert_eq!(outgoing(OsStr::new("a\0b")), Owned::new("a"));
        assert_eq!(outgoing(OsStr::new("é")), Owned::new("é"));
    }

    #[test]
    fn null_is_no_text() {
        // SAFETY: null is allowed.
        assert_eq!(unsafe { incoming(std::ptr::null()) }, None);
        // SAFETY: a literal.
        assert_eq!(unsafe { incoming(c"x".as_ptr()) }.as_deref(), Some("x"));
    }
}
