//! Whatever lies in a run's folder, reading it back gives a record a number and no panic.

use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use cantus_fs::RealDisk;
use cantus_launch::{Integrity, RecordFiles, RunInfo, Runs, latest_seq, record_files, records};
use cantus_testkit::cases;
use proptest::prelude::{Just, Strategy, any, prop_assert, prop_assert_eq, proptest};
use proptest::{collection, prop_oneof};

use crate::fixture::Scratch;

fn name() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just("00"),
        Just("01"),
        Just("7"),
        Just("99"),
        Just("100"),
        Just("0100"),
        Just("٣٣"),
        Just("999999999")
    ];
    let label = prop_oneof![Just("claude"), Just("a.b"), Just(""), Just("é"), Just("-"), Just("x\ny")];
    let ending = prop_oneof![
        Just(".md"),
        Just(".json"),
        Just(".error.json"),
        Just(".helper.md"),
        Just(".helper.json"),
        Just(".helper.error.json"),
        Just(".txt"),
        Just("")
    ];
    (number, label, ending).prop_map(|(number, label, ending)| format!("{number}-{label}{ending}"))
}

/// Bytes, JSON of other shapes, and a good manifest with one part of it broken.
fn content() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        collection::vec(any::<u8>(), 0..40),
        prop_oneof![
            Just("{}"),
            Just("[]"),
            Just("null"),
            Just("1"),
            Just("\u{feff}{}"),
            Just("{\"facts\": {\"provider\": 1}}")
        ]
        .prop_map(|text| text.as_bytes().to_vec()),
        any::<(usize, usize)>().prop_map(|(cut, part)| {
            let scratch = Scratch::new();
            let (_, manifest) = scratch.bundle(&scratch.run().reserve("claude").unwrap());
            let text = manifest.to_value().to_string();
            match part % 3 {
                0 => text.as_bytes()[..cut % text.len()].to_vec(),
                1 => text.replacen("1.5", "1e999", 1).into_bytes(),
                _ => text.into_bytes(),
            }
        }),
        Just("[".repeat(100_000).into_bytes()),
    ]
}

proptest! {
    // Each case writes a folder of files.
    #![proptest_config(cases(64))]

    #[test]
    fn any_folder_reads_back(
        files in collection::btree_map(name(), content(), 0..8),
        folders in collection::btree_set(name(), 0..2),
        meta in content(),
        run in content(),
    ) {
        let scratch = Scratch::new();
        let folder = scratch.path().join("instructions");
        fs::create_dir(&folder).unwrap();
        for (name, content) in &files {
            fs::write(folder.join(name), content).unwrap();
        }
        for name in folders.difference(&files.keys().cloned().collect::<BTreeSet<_>>()) {
            fs::create_dir(folder.join(name)).unwrap();
        }
        fs::write(scratch.path().join("agent_meta.json"), &meta).unwrap();
        fs::write(scratch.path().join("run.json"), &run).unwrap();

        let listed = record_files(&RealDisk, scratch.path()).unwrap();
        prop_assert!(listed.iter().map(|files| (files.seq(), files.role())).is_sorted());
        let found = records(&RealDisk, scratch.path(), Some(scratch.path())).unwrap();
        prop_assert_eq!(found.len(), listed.len());
        for (record, files) in found.iter().zip(&listed) {
            let files: &RecordFiles = files;
            prop_assert_eq!((record.seq, record.role), (files.seq(), files.role()));
            // Whatever isn't whole says so.
            let is_good = files.manifest(&RealDisk).is_some();
            prop_assert!(is_good || record.error || !record.problems.is_empty(), "{:?}", record);
            prop_assert_eq!(record.found.is_none(), record.integrity == Integrity::Missing);
        }
        let _ = latest_seq(&RealDisk, scratch.path());
        let info = RunInfo::read(&RealDisk, scratch.path());
        let runs = Runs::in_trees(Arc::new(RealDisk), vec![scratch.path().to_path_buf()]);
        prop_assert_eq!(runs.named(&info.name).map(|named| named.run), Some(info));
        // The next number is free.
        let _ = scratch.run().reserve("claude");
    }
}
