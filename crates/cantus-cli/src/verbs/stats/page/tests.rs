//! The page as tags: what opens closes, texts stay texts, and each section is there once.

use super::*;
use cantus_projection::{Evidence, Unit};

use crate::verbs::stats::{StatLimit, Sum};

fn part(id: &str, layer: &'static str, note: Option<&str>, tokens_est: u64) -> Part {
    Part { id: id.to_owned(), layer, note: note.map(str::to_owned), bytes: tokens_est * 4, tokens_est }
}

fn stats(sections: Vec<Part>, history: Option<Vec<Size>>) -> Stats {
    let mut layers: Vec<Sum> = Vec::new();
    for part in &sections {
        match layers.iter_mut().find(|layer| layer.name == part.layer) {
            Some(layer) => layer.tokens_est += part.tokens_est,
            None => layers.push(Sum {
                name: part.layer.to_owned(),
                sections: 1,
                bytes: part.bytes,
                tokens_est: part.tokens_est,
            }),
        }
    }
    Stats {
        version: 1,
        title: "<script>alert(1)</script> & \"co\"".to_owned(),
        file: Some("AGENTS.md".to_owned()),
        bytes: 1000,
        tokens_est: sections.iter().map(|part| part.tokens_est).sum(),
        limit_bytes: 2000,
        limits: vec![StatLimit {
            owner: "<Agent>".to_owned(),
            amount: 4000,
            unit: Unit::Chars,
            used: 1000,
            scope: Scope::Chain,
            evidence: Some(Evidence::Reported),
            source: Some("a & b"),
            date: Some("2026-01-02"),
        }],
        notes: layers.clone(),
        layers,
        sections,
        history,
    }
}

/// The tags of a page in order, and that each that opens is closed in turn. No text or value may hold a bracket.
#[track_caller]
fn tags(page: &str) -> Vec<String> {
    const VOID: [&str; 4] = ["meta", "rect", "line", "polyline"];
    let (mut rest, mut open, mut all) = (page, Vec::new(), Vec::new());
    while let Some((_, after)) = rest.split_once('<') {
        let (tag, after) = after.split_once('>').expect("a tag ends");
        rest = after;
        let name: String =
            tag.chars().take_while(|c| c.is_ascii_alphanumeric() || "/!".contains(*c)).collect();
        assert!(!tag.contains('<'), "<{tag}>");
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name), "before {rest:.60}");
        } else if !name.starts_with('!') && !VOID.contains(&name.as_str()) {
            // The text of these two is no markup.
            if ["script", "style"].contains(&name.as_str()) {
                rest = &rest[rest.find(&format!("</{name}>")).expect("its end")..];
            }
            open.push(name.clone());
        }
        all.push(name);
    }
    assert_eq!(open, Vec::<String>::new());
    all
}

fn sizes(bytes: &[u64]) -> Vec<Size> {
    let size = |bytes: &u64| Size {
        commit: "0123456789ab".to_owned(),
        day: "2026-01-02".to_owned(),
        bytes: *bytes,
        tokens_est: bytes / 4,
    };
    bytes.iter().map(size).collect()
}

#[test]
fn each_section_has_one_rectangle_and_one_row() {
    let sections = vec![
        part("proj.core.a", "project", Some("memory/<script>\"'&.md"), 300),
        part("proj.core.b", "project", Some("memory/b\u{202e}.md"), 100),
        part("pkg.x.y", "package", Some("package:contract.md"), 50),
        part("frame.title", "frame", None, 1),
    ];
    let stats = stats(sections, Some(sizes(&[10, 900, 0])));
    let page = page(&stats);
    let tags = tags(&page);
    let count = |name: &str| tags.iter().filter(|tag| *tag == name).count();
    assert_eq!(count("rect"), 4);
    assert_eq!(page.matches("<tr><th scope=\"row\">").count(), 4);
    assert_eq!((count("circle"), count("polyline"), count("script")), (3, 1, 1));
    for part in &stats.sections {
        assert_eq!(page.matches(&format!("<tr><th scope=\"row\">{}</th>", part.id)).count(), 1);
    }
    assert!(page.contains("memory/&lt;script&gt;&quot;&#39;&amp;.md") && !page.contains('\u{202e}'));
    assert!(page.contains("&lt;script&gt;alert(1)"), "the title is text");
}

#[test]
fn each_limit_has_an_owner_and_a_date() {
    let page = page(&stats(Vec::new(), None));
    let row = "<tr><td>&lt;Agent&gt;</td><td class=\"n\">4,000 characters, with the files above it</td><td class=\"n\">25.0%</td>\
               <td>reported: a &amp; b</td><td>2026-01-02</td></tr>";
    assert!(page.contains(row), "{page}");
}

#[test]
fn nothing_is_fetched() {
    let page = page(&stats(vec![part("proj.core.a", "project", None, 3)], Some(sizes(&[5]))));
    for word in ["http:", "https:", "src=", "url(", "@import", "<link", "fetch"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn pages_of_nothing() {
    for history in [None, Some(Vec::new()), Some(sizes(&[0]))] {
        let page = page(&stats(Vec::new(), history));
        tags(&page);
        assert!(!page.contains("NaN") && !page.contains("inf%"), "{page}");
        assert!(page.contains(MARK));
    }
}

#[test]
fn rectangles_have_the_size_of_their_tokens() {
    let sections = vec![
        part("proj.core.a", "project", None, 300),
        part("pkg.x.y", "package", None, 50),
        part("proj.core.b", "project", None, 100),
        part("proj.core.none", "project", None, 0),
    ];
    let stats = stats(sections, None);
    let unit = MAP.width * MAP.height / 450.0;
    for (area, part) in areas(&stats).iter().zip(&stats.sections) {
        assert!((area.width * area.height - part.tokens_est as f64 * unit).abs() < 1e-6, "{area:?}");
    }
}
