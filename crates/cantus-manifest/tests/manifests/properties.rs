//! Invariants of the manifest over generated JSON. `PROPTEST_CASES` asks for more of it, `PROPTEST_RNG_SEED` for other.

use cantus_manifest::canonical_json;
use cantus_manifest::manifest::Manifest;
use cantus_testkit::cases;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::Value;

use crate::inputs::{BASE, change, change_in, value};

/// Parses JSON and gives the same for a number, whatever its last digit.
fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

proptest! {
    #![proptest_config(cases(2000))]

    #[test]
    fn a_changed_manifest_is_refused_or_has_one_normal_form(
        version in 1..=2u32,
        changes in vec(change(), 0..3),
    ) {
        let mut manifest = BASE.clone();
        manifest["schema_version"] = version.into();
        for change in &changes {
            change_in(&mut manifest, change);
        }
        match Manifest::normalise(&manifest) {
            Err(error) => prop_assert!(!error.to_string().is_empty()),
            Ok(first) => {
                let again = Manifest::normalise(&first.to_value());
                prop_assert_eq!(again.as_ref(), Ok(&first));
                let read = Manifest::normalise(&parsed(&canonical_json(&first.to_value())));
                prop_assert_eq!(read, Ok(first));
            }
        }
    }

    #[test]
    fn any_json_is_refused_without_a_panic(value in value()) {
        prop_assert!(Manifest::normalise(&value).is_err());
    }

    #[test]
    fn canonical_json_says_what_it_was_given(value in value()) {
        let text = canonical_json(&value);
        prop_assert_eq!(&parsed(&text), &value);
        prop_assert_eq!(canonical_json(&parsed(&text)), text);
    }
}
