//! Reports made by hand, at two widths.

use std::collections::BTreeMap;

use cantus_launch::observe::{
    Channels, Coverage, Fault, Filters, Known, RunRow, SectionRow, Uncovered, Ways,
};
use cantus_manifest::Layer;
use snapbox::{assert_data_eq, str};

use super::*;

const SESSION: &str = "aaaaaaaa-0000-4000-8000-0123456789ab";

fn text(text: &str) -> String {
    text.to_owned()
}

fn provider_row(provider: Known, bundle: &str, delivery: &str) -> Row {
    Row {
        provider,
        runs: 2,
        sessions: 3,
        contract: text("1× [0,1]"),
        home: text("✓"),
        project: text("✓"),
        directive: text("✗"),
        native_full: text("0"),
        foreign: text("—"),
        helpers: text("—"),
        root_denials: 0,
        coverage: text("3/4"),
        bundle: text(bundle),
        delivery: text(delivery),
        channels: Channels::default(),
    }
}

fn observation(session: &str) -> Observation {
    let ways = Some(Ways { native: Some(0), explicit: Some(1) });
    Observation {
        provider: Known::Claude,
        run: text("keeper"),
        session: text(session),
        contract_count: Some(1),
        native_full_count: Some(0),
        home: Some(true),
        project: Some(true),
        directive: Some(true),
        channels: Channels { contract: ways, ..Channels::default() },
        foreign: None,
        partial: false,
        helper_type: None,
        has_helper_template: false,
        final_attempts: 1,
        final_denied: 0,
        final_accepted: 0,
        root_guard_denial: false,
        bundle_count: Some(1),
        delivery: Some(text("explicit")),
        home_expected: Some(true),
        helper_bundle: None,
        root_bundle_in_helper: None,
        section_diff: None,
    }
}

fn root() -> Observation {
    let row =
        |id: &str, layer, observed| SectionRow { id: text(id), layer, observed, native: 0, explicit: 1 };
    let rows = vec![row("home.core.wick", Layer::Home, Some(1)), row("proj.core.lens", Layer::Project, None)];
    let diff = SectionDiff { manifest: None, purpose: Some(text("ordinary")), unavailable: true, rows };
    let found = Some(Ways { native: None, explicit: Some(true) });
    let channels = Channels { project: found, ..observation(SESSION).channels };
    Observation { section_diff: Some(diff), channels, ..observation(SESSION) }
}

fn helper() -> Observation {
    Observation {
        helper_type: Some(text("Explore\u{1b}[31m")),
        helper_bundle: Some(false),
        root_bundle_in_helper: Some(1),
        ..observation(&format!("{SESSION}/agent-a1"))
    }
}

fn verdicts() -> Vec<Verdict> {
    let verdict = |run: &str, evidence, manifest, digest, cut_at: Option<u64>| Verdict {
        run: text(run),
        session: text(SESSION),
        evidence,
        manifest,
        digest,
        cut_at,
        cut_section: cut_at.map(|_| text("proj.core.lens")),
        sections_seen: manifest.map(|_| 3),
        sections_total: manifest.map(|_| 5),
    };
    vec![
        verdict("keeper", Evidence::Marker, Some(0), Some(Fate::Cut), Some(1234)),
        verdict("a-run-with-a-name-that-goes-on", Evidence::Time, Some(100), Some(Fate::Absent), None),
        verdict("mate", Evidence::None, None, None, None),
    ]
}

fn coverage_rows() -> Coverage {
    let row = CoverageRow {
        provider: Known::Claude,
        purpose: text("declaration_recovery"),
        manifests: 3,
        sessions: 4,
        covered: 3,
        uncovered: vec![Uncovered { agent: text("mate"), session: text(SESSION) }],
        errors: 1,
        warm_p50_ms: Some(1.0),
        warm_p95_ms: Some(2.26),
        cold_p50_ms: None,
        cold_p95_ms: None,
        digest: BTreeMap::from([(Fate::Equal, 2), (Fate::Cut, 1), (Fate::Absent, 0)]),
    };
    Coverage { errors_total: 1, rows: vec![row] }
}

fn report() -> Report {
    let run = |name: &str| RunRow {
        name: text(name),
        provider: None,
        artifacts: text("/w"),
        started_at: None,
        ended_at: None,
        exit_status: None,
    };
    let helpers = "Explore,unknown: 0 attempts, 0 accepted; helper bundle 1/2; root markers 1";
    let claude = provider_row(Known::Claude, "1×", "explicit");
    let codex = provider_row(Known::Codex, "—", "legacy:provider_legacy");
    Report {
        schema_version: 1,
        version: 1,
        generated_at: text("2026-11-30T00:00:00.000Z"),
        filters: Filters {
            agent: None,
            coverage: false,
            helpers: false,
            limit: 20,
            providers: Vec::new(),
            since: None,
            until: None,
        },
        providers: vec![Row { helpers: text(helpers), foreign: text("auto-memory"), ..claude }, codex],
        runs: vec![run("keeper"), run("mate")],
        observations: Some(vec![root(), helper()]),
        coverage: Some(coverage_rows()),
        verdicts: Some(verdicts()),
        unread: Vec::new(),
        missing: Vec::new(),
        sessions: vec![Session {
            provider: Known::Claude,
            run: text("keeper"),
            session: text("bbbb\u{1b}"),
            start: String::new(),
            markers: Vec::new(),
            matches: Vec::new(),
            foreign: true,
            partial: false,
        }],
    }
}

fn found() -> Vec<Finding> {
    let finding = |run: &str, session: &str, what| Finding {
        provider: Some(Known::Claude),
        run: text(run),
        session: text(session),
        what,
    };
    vec![
        finding("keeper", SESSION, Fault::Cut { at: Some(1234), section: Some(text("proj.core.lens")) }),
        finding("mate", "", Fault::Errors(1)),
    ]
}

fn args(words: &[&str]) -> VerifyArgs {
    use clap::Parser as _;

    let words = [&["cantus", "verify"], words].concat();
    match crate::args::Args::try_parse_from(words).unwrap().verb {
        crate::args::Verb::Verify(args) => args.into_inner(),
        other => panic!("{other:?}"),
    }
}

/// What is printed at this width, which no line is over.
#[track_caller]
fn printed(words: &[&str], width: usize) -> String {
    let mut out = Vec::new();
    print(&report(), &found(), &args(words), width, &mut out).unwrap();
    let plain = anstream::adapter::strip_bytes(&out).into_vec();
    let text = String::from_utf8(plain).unwrap();
    let wide: Vec<_> = text.lines().filter(|line| line.chars().count() > width).collect();
    assert!(wide.is_empty(), "{wide:#?}");
    text
}

#[test]
fn everything_in_80_columns() {
    assert_data_eq!(
        printed(&["-c", "-H", "-a", "keeper"], 80),
        str![[r#"
Instruction delivery (observed)
provider  manifest  bundle  contract  home  project  directive  native-full
claude    3/4       1×      1× [0,1]  ✓     ✓        ✗          0
  delivery explicit
  foreign auto-memory
  helpers Explore,unknown: 0 attempts, 0 accepted; helper bundle 1/2; root
    markers 1
codex     3/4       —       1× [0,1]  ✓     ✓        ✗          0
  delivery legacy:provider_legacy

Coverage
provider  purpose               manifests  sessions  covered  errors
claude    declaration_recovery  3          4         3        1
  bundles: 2 equal, 1 cut
  renders: warm 1.0 ms (p95 2.3)
  no record: mate aaaaaaaa-0000-4000-8000-0123456789ab

Bundles
run               session           nr   evidence  bundle            sections
keeper            aaaaa…23456789ab  00   marker    cut               3/5
  cut after 1,234 bytes, in proj.core.lens
a-run…at-goes-on  aaaaa…23456789ab  100  time      absent (by time)  3/5
mate              aaaaa…23456789ab  —    none      —                 —

Helpers
keeper  helper agent-a1  type Explo…/u{1b}[31m  contract 1  own bundle ✗
  root bundle 1  tries 1  accepted 0

claude aaaaaaaa-0000-4000-8000-0123456789ab
  ordinary: only a part of it was read
section         layer    observed  native  explicit
home.core.wick  home     1         0       1
proj.core.lens  project  ◌         0       1

claude bbbb/u{1b}
  ⊘ foreign — not recorded by this run; not scored

Otherwise than recorded
run     provider  session
keeper  claude    aaaaa…23456789ab
  its bundle is cut after 1234 bytes, in proj.core.lens
mate    claude    —
  1 invocation has no bundle

runs=2 sessions=6 findings=2
✓ there  ✗ not there  ◌ can't be told  1× [0,1] mostly once; all that was seen

"#]]
    );
}

#[test]
fn everything_in_60_columns() {
    assert_data_eq!(
        printed(&["-c", "-H", "-a", "keeper"], 60),
        str![[r#"
Instruction delivery (observed)
claude  manifest 3/4  bundle 1×  contract 1× [0,1]  home ✓
  project ✓  directive ✗  native-full 0
  delivery explicit
  foreign auto-memory
  helpers Explore,unknown: 0 attempts, 0 accepted; helper
    bundle 1/2; root markers 1
codex  manifest 3/4  bundle —  contract 1× [0,1]  home ✓
  project ✓  directive ✗  native-full 0
  delivery legacy:provider_legacy

Coverage
claude  purpose declaration_recovery  manifests 3
  sessions 4  covered 3  errors 1
  bundles: 2 equal, 1 cut
  renders: warm 1.0 ms (p95 2.3)
  no record: mate aaaaaaaa-0000-4000-8000-0123456789ab

Bundles
keeper  session aaaaa…23456789ab  nr 00  evidence marker
  bundle cut  sections 3/5
  cut after 1,234 bytes, in proj.core.lens
a-run…at-goes-on  session aaaaa…23456789ab  nr 100
  evidence time  bundle absent (by time)  sections 3/5
mate  session aaaaa…23456789ab  nr —  evidence none
  bundle —  sections —

Helpers
keeper  helper agent-a1  type Explo…/u{1b}[31m  contract 1
  own bundle ✗  root bundle 1  tries 1  accepted 0

claude aaaaaaaa-0000-4000-8000-0123456789ab
  ordinary: only a part of it was read
section         layer    observed  native  explicit
home.core.wick  home     1         0       1
proj.core.lens  project  ◌         0       1

claude bbbb/u{1b}
  ⊘ foreign — not recorded by this run; not scored

Otherwise than recorded
run     provider  session
keeper  claude    aaaaa…23456789ab
  its bundle is cut after 1234 bytes, in proj.core.lens
mate    claude    —
  1 invocation has no bundle

runs=2 sessions=6 findings=2
✓ there  ✗ not there  ◌ can't be told
  1× [0,1] mostly once; all that was seen

"#]]
    );
}

#[test]
fn nothing_more_than_was_asked_for() {
    assert_data_eq!(
        printed(&[], 80),
        str![[r#"
Instruction delivery (observed)
provider  manifest  bundle  contract  home  project  directive  native-full
claude    3/4       1×      1× [0,1]  ✓     ✓        ✗          0
  delivery explicit
  foreign auto-memory
  helpers Explore,unknown: 0 attempts, 0 accepted; helper bundle 1/2; root
    markers 1
codex     3/4       —       1× [0,1]  ✓     ✓        ✗          0
  delivery legacy:provider_legacy

Otherwise than recorded
run     provider  session
keeper  claude    aaaaa…23456789ab
  its bundle is cut after 1234 bytes, in proj.core.lens
mate    claude    —
  1 invocation has no bundle

runs=2 sessions=6 findings=2
✓ there  ✗ not there  ◌ can't be told  1× [0,1] mostly once; all that was seen

"#]]
    );
}
