//! The committed header is the one that cbindgen makes of the code.

use cbindgen::{Builder, Config, EnumConfig, ExportConfig, Language, RenameRule};
use snapbox::file;

const SOURCES: [&str; 4] = ["text.rs", "composer.rs", "bundle.rs", "invocation.rs"];

const COMMENT: &str = "\
/* The C interface of Cantus: the instructions of a coding agent for one invocation. Made from the code by cbindgen; don't edit.
 *
 * Memory: what a function of the name `..._new`, `cantus_render` or `cantus_begin` gives is yours and goes with the `..._free`
 * of its kind, once. Texts belong to the object that they were asked of and live as long, unless the function says less; copy
 * what you keep. What you hand in is read before the function returns. Nothing here uses your allocator, or you its.
 *
 * Threads: a composer may serve many threads at once. A bundle may be read by many. An invocation takes one thread at a time.
 *
 * Texts: UTF-8 that ends in a NUL. Paths, arguments and values of the environment are bytes as the system has them on Unix, and
 * UTF-8 on Windows.
 *
 * Errors: no function fails your call of the provider, and no panic leaves the library. Null is allowed wherever an object or
 * a text goes in, and means none.
 *
 * Versions: CANTUS_ABI grows when a program made for an earlier header would go wrong. Compare it with cantus_abi(), and go on
 * only if they are equal. Functions may be added without that. */";

fn config() -> Config {
    Config {
        language: Language::C,
        header: Some(COMMENT.to_owned()),
        include_guard: Some("CANTUS_H".to_owned()),
        no_includes: true,
        sys_includes: vec!["stddef.h".to_owned(), "stdint.h".to_owned()],
        cpp_compat: true,
        documentation: true,
        usize_is_size_t: true,
        line_length: 100,
        enumeration: EnumConfig {
            rename_variants: RenameRule::QualifiedScreamingSnakeCase,
            ..EnumConfig::default()
        },
        export: ExportConfig { include: vec!["CantusReader".to_owned()], ..ExportConfig::default() },
        ..Config::default()
    }
}

#[test]
fn the_header_is_what_the_code_says() {
    let mut builder = Builder::new().with_config(config());
    for source in SOURCES {
        builder = builder.with_src(format!("{}/src/{source}", env!("CARGO_MANIFEST_DIR")));
    }
    let mut header = Vec::new();
    builder.generate().expect("the sources parse").write(&mut header);
    let header = String::from_utf8(header).expect("sources are UTF-8");
    // What is to be known by someone who writes Rust only.
    let lines: Vec<_> = header.lines().collect();
    let mut kept = Vec::new();
    let mut skipping = false;
    for line in lines {
        skipping = line == " * # Safety" || (skipping && line.starts_with(" *") && line != " */");
        if !skipping {
            kept.push(line);
        }
    }
    let header = kept.join("\n").replace(" *\n */", " */") + "\n";
    snapbox::assert_data_eq!(header, file!["../include/cantus.h"].raw());
}
