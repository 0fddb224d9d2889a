//! Every function takes null, and slips are no faults.
#![expect(
    unsafe_code,
    clippy::multiple_unsafe_ops_per_block,
    reason = "a caller in another language has nothing else"
)]

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use cantus_capi::{
    CANTUS_ABI, CantusResult, CantusStatus, CantusText, cantus_abi, cantus_argument, cantus_arguments,
    cantus_begin, cantus_bundle_error, cantus_bundle_free, cantus_bundle_manifest, cantus_bundle_result,
    cantus_bundle_text, cantus_composer_free, cantus_composer_new, cantus_env_count, cantus_env_name,
    cantus_env_value, cantus_fallback, cantus_finish, cantus_invocation_free, cantus_invocation_id,
    cantus_invocation_status, cantus_record_cli_version, cantus_record_exit, cantus_record_session,
    cantus_render, cantus_text, cantus_troubles, cantus_undelivered, cantus_variable, cantus_version,
};
use cantus_testkit::Repo;

fn text(text: CantusText) -> String {
    // SAFETY: the library says that there are so many bytes.
    let bytes = unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) };
    String::from_utf8(bytes.to_vec()).expect("texts are UTF-8")
}

#[test]
fn null_is_none_everywhere() {
    // SAFETY: null is allowed everywhere.
    unsafe {
        assert!(cantus_composer_new(null(), null()).is_null());
        cantus_composer_free(null_mut());
        assert_eq!(cantus_bundle_result(null()), CantusResult::Usage);
        for empty in [cantus_bundle_text(null()), cantus_bundle_manifest(null()), cantus_bundle_error(null())]
        {
            assert_eq!(text(empty), "");
        }
        cantus_bundle_free(null_mut());
        assert_eq!(cantus_invocation_status(null()), CantusStatus::None);
        let texts = [
            cantus_invocation_id(null()),
            cantus_fallback(null()),
            cantus_troubles(null()),
            cantus_variable(null()),
            cantus_text(null_mut()),
        ];
        assert!(texts.into_iter().all(|empty| text(empty).is_empty()));
        assert_eq!(cantus_arguments(null_mut(), null(), 3), 0);
        assert!(cantus_argument(null(), 0).is_null());
        assert_eq!(cantus_env_count(null()), 0);
        assert!(cantus_env_name(null(), 0).is_null() && cantus_env_value(null(), 0).is_null());
        cantus_undelivered(null_mut(), null());
        cantus_record_session(null_mut(), null());
        cantus_record_cli_version(null_mut(), null());
        cantus_record_exit(null_mut(), 0);
        cantus_finish(null_mut());
        cantus_invocation_free(null_mut());
    }
}

#[test]
fn an_invocation_without_a_composer_passes_arguments_on() {
    // SAFETY: null or literals, and what the library gave.
    unsafe {
        let call = cantus_begin(null(), c"{}".as_ptr(), null());
        assert_eq!(cantus_invocation_status(call), CantusStatus::InheritsNative);
        assert_eq!(text(cantus_troubles(call)), r#"["the composer is null"]"#);
        assert!(text(cantus_fallback(call)).contains("render_failed"));
        let args = [c"-p".as_ptr(), c"x y".as_ptr(), null()];
        assert_eq!(cantus_arguments(call, args.as_ptr(), 3), 3);
        let made = [0, 1, 2].map(|index| CStr::from_ptr(cantus_argument(call, index)));
        assert_eq!(made, [c"-p", c"x y", c""]);
        assert!(cantus_argument(call, 3).is_null());
        cantus_finish(call);
        cantus_finish(call);
        cantus_invocation_free(call);
    }
}

#[test]
fn a_render_says_what_became_of_it() {
    let repo = Repo::new("\n//- memory/rules.md\n---\ntype: core\n---\n# Rules\n\nBe brief.\n");
    let folder = format!("{}\0", repo.path().display());
    // SAFETY: null, literals, and what the library gave.
    unsafe {
        assert_eq!(cantus_abi(), CANTUS_ABI);
        assert_eq!(CStr::from_ptr(cantus_version()).to_str(), Ok(env!("CARGO_PKG_VERSION")));
        let composer = cantus_composer_new(folder.as_ptr().cast(), null());
        let check = |provider: *const _, reader, expected| {
            let bundle = cantus_render(composer, provider, reader);
            assert_eq!(cantus_bundle_result(bundle), expected);
            let all =
                [cantus_bundle_text(bundle), cantus_bundle_manifest(bundle), cantus_bundle_error(bundle)];
            let all = all.map(text);
            cantus_bundle_free(bundle);
            all
        };
        let [bundle, manifest, error] = check(null(), 0, CantusResult::Done);
        assert!(
            bundle.contains("Be brief.") && manifest.contains("\"schema_version\":2") && error.is_empty()
        );
        assert!(!check(c"claude".as_ptr(), 1, CantusResult::Done)[0].contains("Final Declaration"));
        assert!(check(null(), 9, CantusResult::Usage)[2].contains("9 is no reader"));
        assert!(check(c"9".as_ptr(), 0, CantusResult::Usage)[2].contains("`9` is not a provider"));
        cantus_composer_free(composer);

        let composer = cantus_composer_new(c"/".as_ptr(), null());
        let bundle = cantus_render(composer, null(), 0);
        assert_eq!(cantus_bundle_result(bundle), CantusResult::Refused);
        assert!(text(cantus_bundle_error(bundle)).contains("no project found"));
        cantus_bundle_free(bundle);
        cantus_composer_free(composer);
    }
}
