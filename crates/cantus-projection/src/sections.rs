//! What is doubtful in sections as a bundle holds them, by the line of their source.

use std::collections::BTreeSet;

use cantus_compose::Section;
use cantus_manifest::{Diagnostic, Layer, RelPath};
use cantus_memory::lints::{HeadingTitles, characters, conflicts, headings, imports};
use cantus_memory::shortened;

use cantus_workspace::Config;

use crate::projection::Projection;

/// The findings on words that agents take for imports, on headings that look like the contract's, and on the characters of
/// texts that are no notes of the project; what comes of a value of `config` is told of its file.
pub(crate) fn check(projection: &Projection, config: &Config) -> Vec<Diagnostic> {
    let file = config.source.as_ref().map(|file| &file.path);
    let placed = |finding, section| placed(finding, section, projection, file);
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
    findings.extend(descriptions(config));
    let told = characters_of_descriptions(config);
    for section in projection.sections().filter(|section| section.layer != Layer::Project) {
        let Some(content) = section.content() else { continue };
        let text = content.text().replace(|c| told.contains(&c), "");
        let found = characters(&text).into_iter().chain(conflicts(content.text()));
        findings.extend(found.map(|finding| placed(finding, section)));
    }
    findings
}

/// The findings on the characters of repositories' descriptions, which the contract shows.
fn descriptions(config: &Config) -> Vec<Diagnostic> {
    let Some(file) = &config.source else { return Vec::new() };
    let found = config.repositories.iter().flat_map(|repository| {
        let name = shortened(&repository.name);
        characters(&repository.description).into_iter().map(move |finding| Diagnostic {
            message: format!("in the description of `{name}`: {}", finding.message),
            ..finding.at(&file.path).line(repository.line)
        })
    });
    found.collect()
}

/// The characters that [`descriptions`] tells of.
fn characters_of_descriptions(config: &Config) -> BTreeSet<char> {
    let descriptions = config.repositories.iter().map(|repository| &repository.description);
    let told = descriptions.filter(|description| !characters(description).is_empty());
    let all = told.flat_map(|description| description.chars());
    all.filter(|c| !c.is_ascii_graphic() && !characters(c.encode_utf8(&mut [0; 4])).is_empty()).collect()
}

/// The findings on the characters of what became of the project's notes, members' too: names of files and escapes of YAML bring
/// in what the notes' own texts don't show.
pub(crate) fn check_composed(projection: &Projection) -> Vec<Diagnostic> {
    let sections = projection.all().flat_map(Projection::sections);
    let sections = sections.filter(|section| section.layer == Layer::Project);
    let found =
        sections.filter_map(|section| Some((section, section.content()?))).flat_map(|(section, content)| {
            characters(content.text()).into_iter().map(|finding| placed(finding, section, projection, None))
        });
    found.collect()
}

/// The finding at the source of its line.
fn placed(
    finding: Diagnostic,
    section: &Section,
    projection: &Projection,
    config: Option<&RelPath>,
) -> Diagnostic {
    let line = finding.line.unwrap_or(1) as usize;
    match section.source_line(line - 1) {
        Some((source, line)) => finding.at(projection.file_of(source.to_string())).line(line),
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
