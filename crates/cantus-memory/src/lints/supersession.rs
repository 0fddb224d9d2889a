//! What a strand says of being replaced, against what there is (§6.3).

use cantus_manifest::Diagnostic;

use crate::library::{Library, Resolved, Target};
use crate::links::links;

pub(super) fn check(library: &Library<'_>, target: Target<'_>) -> Vec<Diagnostic> {
    let Target::Strand(_, strand) = target else { return Vec::new() };
    let finding =
        |line, message: String| Diagnostic::warning("strand.superseded", message).at(&strand.path).line(line);
    if let Some((line, message)) = strand.unclear {
        let help = "write both `status: superseded` (or `superseded-in-part`) and `superseded_by: <address>`, or neither";
        return vec![finding(line, message.to_owned()).help(help)];
    }
    let Some(supersession) = &strand.supersession else { return Vec::new() };
    let mut linked = None;
    let mut findings = Vec::new();
    for address in &supersession.by {
        match library.resolve(address, Some(target)) {
            Resolved::Itself => {
                let message = "the strand says that it replaces itself".to_owned();
                findings.push(finding(supersession.line, message).help("name the strand that replaces it"));
            }
            Resolved::Unresolved(near) => {
                let message = format!("`superseded_by` names `{address}`, which is nowhere");
                let help = match near.first() {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => "name a note, a web or `web:strand`".to_owned(),
                };
                findings.push(finding(supersession.line, message).help(help));
            }
            Resolved::Found(replacement) => {
                let linked = linked.get_or_insert_with(|| linked_from(library, target));
                if !linked.contains(&replacement) {
                    let message = format!("the text has no link to `{address}`, which replaces it");
                    let help = format!("say in it what `[[{}]]` does instead", replacement.address());
                    findings.push(finding(supersession.line, message).help(help));
                }
            }
        }
    }
    findings
}

/// Where the links of a text lead.
fn linked_from<'a>(library: &Library<'a>, from: Target<'a>) -> Vec<Target<'a>> {
    let found =
        links(from.body()).into_iter().filter_map(|link| match library.resolve(&link.target, Some(from)) {
            Resolved::Found(target) => Some(target),
            Resolved::Itself | Resolved::Unresolved(_) => None,
        });
    found.collect()
}

#[cfg(test)]
mod tests {
    use crate::library::Library;
    use crate::library::tests::corpus_of;

    #[track_caller]
    fn check(metadata: &str, text: &str, expected: &[&str]) {
        let strand = format!("---\nkeyword: A\nmetadata:\n{metadata}---\n{text}\n");
        let corpus = corpus_of(&[
            ("memory/w.md", "---\nweb: true\n---\nWords.\n"),
            ("memory/w/a.md", &strand),
            ("memory/w/b.md", "The other.\n"),
        ]);
        let found = Library::new(&corpus).lints();
        let found: Vec<_> =
            found.iter().map(|finding| format!("{}: {}", finding.line.unwrap(), finding.message)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn what_is_right() {
        check("  status: superseded\n  superseded_by: w:b\n", "See [[b]].", &[]);
        check("  status: superseded-in-part\n  superseded_by: [b]\n", "See ![[w:b]].", &[]);
        check("  status: accepted\n", "Text.", &[]);
        check("  superseded_by:\n", "Text.", &[]);
    }

    #[test]
    fn half_a_statement() {
        let nothing = "the `status` says superseded, but `superseded_by` names nothing";
        check("  status: superseded\n", "Text.", &[&format!("4: {nothing}")]);
        check("  status: superseded\n  superseded_by: []\n", "Text.", &[&format!("4: {nothing}")]);
        check(
            "  status: accepted\n  superseded_by: b\n",
            "[[b]]",
            &[
                "5: `superseded_by` names something, but the `status` is neither `superseded` nor `superseded-in-part`",
            ],
        );
        check(
            "  superseded_by: b\n",
            "[[b]]",
            &[
                "4: `superseded_by` names something, but the `status` is neither `superseded` nor `superseded-in-part`",
            ],
        );
        for value in ["5", "['']", "[b, 5]", "{a: b}"] {
            check(
                &format!("  status: superseded\n  superseded_by: {value}\n"),
                "Text.",
                &["5: `superseded_by` must be a text or a list of texts, none of them blank"],
            );
        }
    }

    #[test]
    fn where_it_leads() {
        check(
            "  status: superseded\n  superseded_by: w:zz\n",
            "Text.",
            &["5: `superseded_by` names `w:zz`, which is nowhere"],
        );
        check(
            "  status: superseded\n  superseded_by: w:a\n",
            "Text.",
            &["5: the strand says that it replaces itself"],
        );
        check(
            "  status: superseded\n  superseded_by: b\n",
            "See `[[b]]`.",
            &["5: the text has no link to `b`, which replaces it"],
        );
    }
}
