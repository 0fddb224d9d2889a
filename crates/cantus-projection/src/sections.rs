//! What is doubtful in sections as a bundle holds them, by the line of their source.

use cantus_compose::Section;
use cantus_manifest::{Diagnostic, Layer, RelPath};
use cantus_memory::lints::{HeadingTitles, characters, conflicts, headings, imports};

use crate::projection::Projection;

/// The findings on words that agents take for imports, on headings that look like the contract's, and on the characters of
/// texts that are no notes of the project; `config` is the file whose values have no source of their own.
pub(crate) fn check(projection: &Projection, config: Option<&RelPath>) -> Vec<Diagnostic> {
    let placed = |finding, section| placed(finding, section, config);
    let is_ours = |section: &Section| matches!(section.layer, Layer::Frame | Layer::Package);
    let native = projection.native();
    let titled =
        native.included().filter(|(section, _)| is_ours(section) && section.id.as_str() != "frame.title");
    let titles = HeadingTitles::new(titled.map(|(_, content)| content.text()));
    let mut findings = Vec::new();
    for (section, content) in native.included() {
        let mut found = imports(content.text());
        // An entry of a reference note starts with no heading, and holds none.
        if !is_ours(section) && content.text().starts_with('#') {
            found.extend(headings(content.text(), &titles));
        }
        findings.extend(found.into_iter().map(|finding| placed(finding, section)));
    }
    for section in projection.sections().filter(|section| section.layer != Layer::Project) {
        let Some(content) = section.content() else { continue };
        let found = characters(content.text()).into_iter().chain(conflicts(content.text()));
        findings.extend(found.map(|finding| placed(finding, section)));
    }
    findings
}

/// The findings on the characters of what became of the project's notes, members' too: names of files and escapes of YAML bring
/// in what the notes' own texts don't show.
pub(crate) fn check_composed(projection: &Projection) -> Vec<Diagnostic> {
    let sections = projection.all().flat_map(Projection::sections);
    let sections = sections.filter(|section| section.layer == Layer::Project);
    let found =
        sections.filter_map(|section| Some((section, section.content()?))).flat_map(|(section, content)| {
            characters(content.text()).into_iter().map(|finding| placed(finding, section, None))
        });
    found.collect()
}

/// The finding at the source of its line.
fn placed(finding: Diagnostic, section: &Section, config: Option<&RelPath>) -> Diagnostic {
    let line = finding.line.unwrap_or(1) as usize;
    match section.source_line(line - 1) {
        Some((source, line)) => finding.at(source).line(line),
        // Made of the configuration's values.
        None => {
            let finding = Diagnostic { line: None, ..finding };
            match config {
                Some(config) => finding.at(config),
                None => finding,
            }
        }
    }
}
