//! The delivered snapshot of histories of every shape, and the same from a reader that has the whole file in memory.

#![expect(clippy::disallowed_methods, reason = "tests set up and look at files by themselves")]
#![expect(clippy::unwrap_used, reason = "a test panics where it is wrong")]

#[path = "history/naive.rs"]
mod naive;

use std::fs;
use std::io;

use cantus_fs::{CountingDisk, Fault, FaultDisk, FaultKind, Kind, On, Operation, ReadError, RealDisk};
use cantus_session::{HistoryError, Keys, Limits, delivered, delivered_within};

/// A context update with the id, the parent and, as its snapshot, one section whose body is the id.
fn ours(id: &str, parent: &str) -> String {
    with_snapshot(id, parent, &format!("[{}]", section(id)))
}

fn with_snapshot(id: &str, parent: &str, snapshot: &str) -> String {
    format!(
        r#"{{"type":"custom_message","id":"{id}","parentId":{parent},"customType":"cantus-context","content":"…","details":{{"cantusContext":{snapshot}}}}}"#
    )
}

fn section(body: &str) -> String {
    format!(
        r#"{{"id":"wiki","title":"Wiki","body":"{body}","sources":[],"budget":2500,"size":1,"cut":false}}"#
    )
}

fn message(id: &str, parent: &str) -> String {
    format!(r#"{{"type":"message","id":"{id}","parentId":{parent},"message":{{"role":"user"}}}}"#)
}

fn compaction(id: &str, parent: &str) -> String {
    format!(r#"{{"type":"compaction","id":"{id}","parentId":{parent},"summary":"…"}}"#)
}

const HEADER: &str = r#"{"type":"session","id":"s","version":3,"cwd":"/p"}"#;

fn lines(lines: &[&str]) -> Vec<u8> {
    lines.iter().flat_map(|line| [line.as_bytes(), b"\n"].concat()).collect()
}

/// The bodies of the snapshot, `none` if there is none. Whatever the blocks, the answer must be one.
#[track_caller]
fn found(history: &[u8], keys: &Keys) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.jsonl");
    fs::write(&path, history).unwrap();
    let found = delivered(&RealDisk, &path, keys).unwrap();
    for block in [1, 2, 3, 7, 64, 4096] {
        let limits = Limits { block, ..Limits::default() };
        let again = delivered_within(&RealDisk, &path, keys, limits).unwrap();
        assert_eq!(again.map(|it| it.sections), found, "blocks of {block}");
    }
    match found {
        None => "none".to_owned(),
        Some(sections) => sections.iter().map(|section| section.body.as_str()).collect::<Vec<_>>().join("+"),
    }
}

#[track_caller]
fn check(name: &str, history: impl AsRef<[u8]>, expected: &str) {
    assert_eq!(found(history.as_ref(), &Keys::default()), expected, "{name}");
}

#[test]
fn the_branch_of_the_last_entry_decides() {
    let (a, b, c) = (ours("a", "null"), ours("b", r#""a""#), message("c", r#""b""#));
    let to = |parent: &str| message("z", parent);
    check("one update", lines(&[HEADER, &a]), "a");
    check("messages after it", lines(&[HEADER, &a, &message("m", r#""a""#), &message("n", r#""m""#)]), "a");
    check("the later of two", lines(&[HEADER, &a, &b, &c]), "b");
    check("a branch from before the later", lines(&[HEADER, &a, &b, &c, &to(r#""a""#)]), "a");
    check("a branch from the root", lines(&[HEADER, &a, &b, &to("null")]), "none");
    check(
        "a branch that was left and taken up",
        lines(&[HEADER, &a, &message("m", r#""a""#), &b, &to(r#""m""#)]),
        "a",
    );
    check(
        "an update on a branch that was left",
        lines(&[&message("m", "null"), &ours("x", r#""m""#), &to(r#""m""#)]),
        "none",
    );
    check("no update", lines(&[HEADER, &message("m", "null"), &to(r#""m""#)]), "none");
    check("a parent that stands later", lines(&[&c, &a, &b, &to(r#""c""#)]), "b");
    check(
        "every parent stands later",
        lines(&[
            &ours("a", "null"),
            &message("d", r#""a""#),
            &message("c", r#""d""#),
            &message("e", r#""c""#),
        ]),
        "a",
    );
    check(
        "the update stands behind its child",
        lines(&[&message("m", r#""a""#), &a, &message("k", r#""m""#)]),
        "a",
    );
    check("no header", lines(&[&a]), "a");
    check("a header at the end", lines(&[&a, HEADER]), "a");
    check("a header with a parent", lines(&[&a, r#"{"type":"session","id":"q","parentId":null}"#]), "a");
    check("the header as a parent", lines(&[HEADER, &message("m", r#""s""#)]), "none");
    check("a header alone", lines(&[HEADER]), "none");
    check(
        "a header with the id of an update",
        lines(&[&a, r#"{"type":"session","id":"a"}"#, &to(r#""a""#)]),
        "a",
    );
}

#[test]
fn a_branch_ends_where_nothing_is_sure_any_more() {
    let a = ours("a", "null");
    let to = |parent: &str| message("z", parent);
    check("a compaction after the update", lines(&[&a, &compaction("k", r#""a""#), &to(r#""k""#)]), "none");
    check("a compaction at the end", lines(&[&a, &compaction("k", r#""a""#)]), "none");
    check(
        "a compaction before the update",
        lines(&[&compaction("k", "null"), &ours("b", r#""k""#), &to(r#""b""#)]),
        "b",
    );
    check("a compaction on another branch", lines(&[&a, &compaction("k", r#""a""#), &to(r#""a""#)]), "a");
    check(
        "a compaction without id",
        lines(&[&a, r#"{"type":"compaction","parentId":"a"}"#, &to(r#""a""#)]),
        "a",
    );
    check(
        "a compaction that is torn",
        lines(&[&a, r#"{"type":"compaction","id":"k","#, &to(r#""k""#)]),
        "none",
    );
    check("its own parent", lines(&[&a, &message("m", r#""m""#)]), "none");
    check("a loop of two", lines(&[&a, &message("m", r#""n""#), &message("n", r#""m""#)]), "none");
    check(
        "a loop of three, not in order",
        lines(&[&message("o", r#""n""#), &message("m", r#""o""#), &message("n", r#""m""#)]),
        "none",
    );
    check(
        "a loop that the update isn't in",
        lines(&[&message("m", r#""n""#), &message("n", r#""m""#), &a]),
        "a",
    );
    check("a missing parent", lines(&[&a, &to(r#""gone""#)]), "none");
    check(
        "a parent on a torn line",
        lines(&[&a, r#"{"type":"message","id":"m","parentId":"a""#, &to(r#""m""#)]),
        "none",
    );
    for parent in ["1", "[\"a\"]", "{\"id\":\"a\"}", "true", "null"] {
        check("a parent that is no string", lines(&[&a, &to(parent)]), "none");
    }
    check("no parent at all", lines(&[&a, r#"{"type":"message","id":"z"}"#]), "none");
    check("a parent in another case", lines(&[&a, &to(r#""A""#)]), "none");
    check("the empty id", lines(&[&ours("", "null"), &to(r#""""#)]), "");
}

#[test]
fn an_id_that_occurs_twice_means_its_last_entry() {
    let (a, to) = (ours("a", "null"), message("z", r#""m""#));
    check(
        "the last parent counts",
        lines(&[&a, &message("m", r#""a""#), &message("m", "null"), &to]),
        "none",
    );
    check("the first doesn't", lines(&[&a, &message("m", "null"), &message("m", r#""a""#), &to]), "a");
    check(
        "the last stands behind the child",
        lines(&[&a, &message("m", "null"), &to, &message("m", r#""a""#), &message("y", r#""z""#)]),
        "a",
    );
    check(
        "both stand behind the child",
        lines(&[&a, &to, &message("m", "null"), &message("m", r#""a""#), &message("y", r#""z""#)]),
        "a",
    );
    check(
        "an update twice",
        lines(&[
            &a,
            &with_snapshot("a", "null", &format!("[{}]", section("later"))),
            &message("z", r#""a""#),
        ]),
        "later",
    );
    check(
        "an update that became a message",
        lines(&[&a, &message("a", "null"), &message("z", r#""a""#)]),
        "none",
    );
    check(
        "the last entry is a second one",
        lines(&[&message("m", "null"), &a, &message("m", r#""a""#)]),
        "a",
    );
    check(
        "a second one that is torn doesn't count",
        lines(&[&a, r#"{"id":"a","type":"message""#, &message("z", r#""a""#)]),
        "a",
    );
    check(
        "the child's own second entry",
        lines(&[&a, &message("z", r#""a""#), &message("m", r#""z""#), &message("z", r#""m""#)]),
        "none",
    );
}

#[test]
fn unreadable_lines_are_skipped() {
    let (a, z) = (ours("a", "null"), message("z", r#""a""#));
    for noise in [
        "",
        " ",
        "\t",
        "\r",
        "garbage",
        "{",
        "}",
        "null",
        "1",
        "\"a\"",
        "[]",
        r#"[{"id":"q"}]"#,
        "{}",
        r#"{"id":"q"} {"id":"r"}"#,
        r#"{"id":"q",}"#,
        r#"{'id':'q'}"#,
        r#"{"id":"q"}x"#,
        r#"{"id":"q","n":01}"#,
        r#"{"id":"q","t":"\x"}"#,
        "{\"id\":\"q\",\"t\":\"\t\"}",
        "{\"id\":\"q\",\"t\":\"\u{0}\"}",
        "\u{0}\u{0}\u{0}",
        "\u{feff}{\"id\":\"q\"}",
        r#"{"id":1}"#,
        r#"{"id":null}"#,
        r#"{"id":["q"]}"#,
        r#"{"type":"message"}"#,
        r#"{"Id":"q"}"#,
        r#"{"id":"q","n":NaN}"#,
        "{\"id\":\"q\"}\u{c}",
        "// {\"id\":\"q\"}",
    ] {
        check(noise, lines(&[noise, &a, noise, noise, &z, noise]), "a");
        check(noise, lines(&[noise]), "none");
    }
    check(
        "the last line is torn",
        [lines(&[&a, &z]), br#"{"type":"message","id":"y","par"#.to_vec()].concat(),
        "a",
    );
    check("torn within a character", [lines(&[&a, &z]), b"{\"id\":\"\xC3".to_vec()].concat(), "a");
    check("an empty file", "", "none");
    check("line ends alone", "\n\n\r\n\n", "none");
    check("NUL bytes, as after a crash", [lines(&[&a, &z]), vec![0; 5_000]].concat(), "a");
}

#[test]
fn bytes_and_line_ends_are_taken_as_they_come() {
    let (a, z) = (ours("a", "null"), message("z", r#""a""#));
    check("CRLF", format!("{HEADER}\r\n{a}\r\n{z}\r\n"), "a");
    check("CRLF, blank lines", format!("{a}\r\n\r\n\r\n{z}"), "a");
    check("no final line end", format!("{HEADER}\n{a}\n{z}"), "a");
    check("one line without line end", &a, "a");
    check("CR alone is no line end", format!("{a}\r{z}"), "none");
    check("spaces around", format!("  {a}\t\n \t{z}  \n"), "a");
    check("a BOM before the header", format!("\u{feff}{HEADER}\n{a}\n{z}\n"), "a");
    check("a BOM before the update makes it unreadable", format!("\u{feff}{a}\n{z}\n"), "none");
    check("U+2028 is no line end", lines(&[&ours("a\u{2028}", "null")]), "a\u{2028}");
    check(
        "not UTF-8, in the update",
        lines(&[&a]).iter().map(|b| if *b == b'W' { 0xFF } else { *b }).collect::<Vec<_>>(),
        "a",
    );
    check(
        "not UTF-8, in an id",
        [&b"{\"id\":\"\xC3\"}\n"[..], &lines(&[&ours("a", "\"\u{fffd}\"")])].concat(),
        "a",
    );
    check("UTF-16", a.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>(), "none");
    check("escapes in keys", lines(&[&a.replace("\"customType\"", r#""c\u0075stomType""#)]), "a");
    check("escapes in ids", lines(&[&ours("é", "null"), &message("z", r#""\u00e9""#)]), "é");
    check("a pair of surrogates", lines(&[&ours(r"\ud83d\ude00", "null"), &message("z", "\"😀\"")]), "😀");
    check("a lone surrogate in a body", lines(&[&ours(r"x\ud83dy\udE00", "null")]), "x\u{fffd}y\u{fffd}");
    check(
        "a lone surrogate in an id",
        lines(&[&ours(r"\ud83d", "null"), &message("z", r#""\uDFFF""#)]),
        "\u{fffd}",
    );
    check("a lone surrogate in a key", lines(&[&a.replace("\"content\"", r#""\ud800""#), &z]), "a");
    check("what only looks like one", lines(&[&ours(r"\\ud800", "null")]), r"\ud800");
    check(
        "wide and combining characters",
        lines(&[&ours("漢字e\u{301}", "null"), &message("z", "\"漢字e\u{301}\"")]),
        "漢字e\u{301}",
    );
}

#[test]
fn the_first_message_of_ours_ends_the_walk() {
    let a = ours("a", "null");
    let b = |snapshot: &str| lines(&[&a, &with_snapshot("b", r#""a""#, snapshot), &message("z", r#""b""#)]);
    let whole = section("b");
    let without = |key: &str| whole.replace(&format!("\"{key}\":"), "\"x\":");
    check("its snapshot", b(&format!("[{whole}]")), "b");
    check("two sections", b(&format!("[{whole},{}]", section("c"))), "b+c");
    check("an empty snapshot", b("[]"), "");
    check("further keys", b(&format!("[{}]", whole.replace("\"cut\"", "\"order\":80,\"cut\""))), "b");
    check(
        "no snapshot",
        lines(&[&a, r#"{"type":"custom_message","id":"b","parentId":"a","customType":"cantus-context"}"#]),
        "none",
    );
    for details in ["null", "[]", "\"cantusContext\"", "{}", "{\"cantuscontext\":[]}", "1"] {
        let line = format!(
            r#"{{"type":"custom_message","id":"b","parentId":"a","customType":"cantus-context","details":{details}}}"#
        );
        check(details, lines(&[&a, &line]), "none");
    }
    for snapshot in ["null", "{}", "\"[]\"", "[null]", "[[]]", "[{}]", "true"] {
        check(snapshot, b(snapshot), "none");
    }
    for key in ["id", "title", "body", "sources", "budget", "size", "cut"] {
        check(key, b(&format!("[{}]", without(key))), "none");
        check(key, b(&format!("[{whole},{}]", without(key))), "none");
    }
    check("a size that is a string", b(&format!("[{}]", whole.replace(":1,", ":\"1\","))), "none");
    check("a source without kind", b(&format!("[{}]", whole.replace("[]", "[{\"id\":\"n\"}]"))), "none");
    check(
        "a source with more",
        b(&format!("[{}]", whole.replace("[]", "[{\"id\":\"n\",\"kind\":\"note\",\"at\":1}]"))),
        "b",
    );
    check("numbers with a point", b(&format!("[{}]", whole.replace("2500", "2500.0"))), "b");
    check("a negative number", b(&format!("[{}]", whole.replace("2500", "-1"))), "b");
    check("a number beyond doubles", b(&format!("[{}]", whole.replace("2500", "1e999"))), "b");
    check("the last of equal keys", b(&format!("[{}]", whole.replace("\"cut\"", "\"cut\":0,\"cut\""))), "b");
    check(
        "a wrong last of equal keys",
        b(&format!(
            "[{}]",
            whole.replace("\"budget\"", "\"cut\":false,\"budget\"").replace("\"cut\":false}", "\"cut\":0}")
        )),
        "none",
    );
}

#[test]
fn other_messages_are_passed() {
    let a = ours("a", "null");
    let other = |line: &str| lines(&[&a, line, &message("z", r#""b""#)]);
    let b = ours("b", r#""a""#);
    check("another custom type", other(&b.replace("cantus-context", "cantus-contexts")), "a");
    check("a custom type in another case", other(&b.replace("cantus-context", "Cantus-Context")), "a");
    check(
        "a custom type that is no string",
        other(&b.replace("\"cantus-context\"", "[\"cantus-context\"]")),
        "a",
    );
    check("no custom type", other(&b.replace("customType", "custom")), "a");
    check("another type", other(&b.replace("custom_message", "custom")), "a");
    check("a type that is no string", other(&b.replace("\"custom_message\"", "1")), "a");
    check("no type", other(&b.replace("\"type\"", "\"kind\"")), "a");
    check(
        "the last of equal types",
        other(&b.replace("\"id\":\"b\"", "\"id\":\"b\",\"type\":\"message\"")),
        "a",
    );
    check("the last of equal ids", other(&b.replace("\"id\":\"b\"", "\"id\":\"q\",\"id\":\"b\"")), "b");
    check(
        "what stands deeper",
        other(r#"{"id":"b","parentId":"a","message":{"type":"compaction","id":"x","parentId":"y"}}"#),
        "a",
    );
    let deep =
        format!(r#"{{"id":"b","parentId":"a","message":{}1{}}}"#, "[".repeat(3_000), "]".repeat(3_000));
    check("what stands very deep", other(&deep), "a");
    check("numbers beyond doubles", other(r#"{"id":"b","parentId":"a","n":[1e999,-1E+400]}"#), "a");
}

#[test]
fn type_and_key_can_be_named() {
    let keys = Keys { message: "x".into(), snapshot: "y z".into() };
    let a = ours("a", "null").replace("cantus-context", "x").replace("cantusContext", "y z");
    let b = ours("b", r#""a""#);
    assert_eq!(found(&lines(&[&a, &b]), &keys), "a");
    assert_eq!(found(&lines(&[&a, &b]), &Keys::default()), "b");
    let half = Keys { snapshot: "cantusContext".into(), ..keys };
    assert_eq!(found(&lines(&[&a, &b]), &half), "none");
}

#[test]
fn what_was_delivered_is_given_as_it_stands() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.jsonl");
    let json = format!("[ {} ]", section(r"a\ud800").replace("\"cut\"", "\"z\":1.50,\"cut\""));
    fs::write(&path, with_snapshot("a", "null", &json)).unwrap();
    let found = delivered_within(&RealDisk, &path, &Keys::default(), Limits::default()).unwrap().unwrap();
    assert_eq!(found.json, json.replace("d800", "FFFD"));
}

#[test]
fn a_line_over_the_limit_is_unreadable() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.jsonl");
    let (a, b) = (ours("a", "null"), ours("b", r#""a""#).replace('…', &"long ".repeat(5_000)));
    let history = lines(&[HEADER, &a, &b, &message("z", r#""a""#), &"x".repeat(9_000)]);
    fs::write(&path, &history).unwrap();
    for block in [1, 100, 4_096, 100_000] {
        let body = |line| {
            let limits = Limits { block, line };
            let found = delivered_within(&RealDisk, &path, &Keys::default(), limits).unwrap();
            found.map(|it| it.sections[0].body.clone())
        };
        assert_eq!(body(a.len()).as_deref(), Some("a"), "blocks of {block}");
        assert_eq!(body(a.len() - 1), None, "blocks of {block}");
    }
}

#[test]
fn a_history_that_is_not_there_holds_nothing() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("file"), "x").unwrap();
    let find = |path: &str| delivered(&RealDisk, &folder.path().join(path), &Keys::default());
    assert_eq!(find("none.jsonl").unwrap(), None);
    assert_eq!(find("none/none.jsonl").unwrap(), None);
    assert_eq!(find("file/none.jsonl").unwrap(), None);
    let error = find("").unwrap_err();
    assert!(matches!(error, HistoryError::Unreadable(ReadError::NotAFile(Kind::Folder))), "{error:?}");
}

#[cfg(unix)]
#[test]
fn symlinks_are_followed() {
    use std::os::unix::fs::symlink;

    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("h.jsonl"), ours("a", "null")).unwrap();
    symlink("h.jsonl", at("link.jsonl")).unwrap();
    symlink("none", at("dangling.jsonl")).unwrap();
    symlink("loop.jsonl", at("loop.jsonl")).unwrap();
    let find = |name: &str| delivered(&RealDisk, &at(name), &Keys::default());
    assert!(find("link.jsonl").unwrap().is_some());
    assert!(find("dangling.jsonl").unwrap().is_none());
    assert!(find("loop.jsonl").is_err());
}

#[test]
fn a_disk_that_fails_is_an_error_wherever_it_does() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.jsonl");
    fs::write(&path, lines(&[&message("m", r#""a""#), &ours("a", "null"), &message("z", r#""m""#)])).unwrap();
    let limits = Limits { block: 64, ..Limits::default() };
    let find = |disk: &FaultDisk| delivered_within(disk, &path, &Keys::default(), limits);
    let sound = FaultDisk::new();
    assert!(find(&sound).unwrap().is_some());
    let reads = sound.count(On::Any);
    assert!(reads > 5, "{reads}");
    for at in 1..=reads {
        for kind in [io::ErrorKind::PermissionDenied, io::ErrorKind::UnexpectedEof] {
            let disk = FaultDisk::new().fault(Fault { at, on: On::Any, kind: FaultKind::Io(kind) });
            assert!(find(&disk).is_err(), "the operation {at}");
        }
    }
    let kind = FaultKind::Io(io::ErrorKind::UnexpectedEof);
    let disk = FaultDisk::new().fault(Fault { at: 2, on: On::Only(Operation::Read), kind });
    assert!(matches!(find(&disk).unwrap_err(), HistoryError::Shrank));
}

#[test]
fn no_more_is_read_than_the_branch_and_a_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("h.jsonl");
    let old = lines(&[&message("old", "null")]).repeat(40_000);
    let turn = message("m", r#""a""#).replace("user", &"u".repeat(100_000));
    let branch = lines(&[&ours("a", "null"), &turn, &message("z", r#""m""#)]);
    fs::write(&path, [old, branch.clone()].concat()).unwrap();
    let disk = CountingDisk::default();
    assert!(delivered(&disk, &path, &Keys::default()).unwrap().is_some());
    let (read, block) = (disk.bytes_read(), Limits::default().block);
    assert!(read >= branch.len() as u64 && read <= (branch.len() + block) as u64, "{read} bytes");
}
