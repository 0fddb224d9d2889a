//! A package's contract: the template rendered, checked, and cut into sections.

use std::collections::BTreeMap;

use cantus_manifest::{Diagnostic, Lifecycle, SectionId};
use cantus_memory::unicode::{collapse, slug};
use cantus_memory::{Origin, SourcedText, fences, heading, inline_body, is_fenced, wrap};
use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, UndefinedBehavior, context};

use crate::attributes::{self, Attributes};
use crate::package::Package;
use crate::tags;

/// The most steps that a template may take: far above any text, and reached in milliseconds.
const FUEL: u64 = 1_000_000;

/// What a contract is rendered with.
pub(crate) struct Variables<'a> {
    pub(crate) project: Option<&'a str>,
    /// The crates whose notes are in the bundle.
    pub(crate) plugins: Vec<&'a str>,
    pub(crate) repositories: Vec<RepositoryEntry<'a>>,
    pub(crate) width: usize,
}

/// One repository, and whether the home configuration names it.
pub(crate) struct RepositoryEntry<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
    pub(crate) home: bool,
}

/// One part of a contract.
pub(crate) struct Part {
    pub(crate) id: SectionId,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) required: bool,
    pub(crate) text: SourcedText,
}

/// The sections of the package's contract in their order, and what is wrong with it.
pub(crate) fn parts(package: &Package, variables: &Variables<'_>) -> Result<Vec<Part>, Vec<Diagnostic>> {
    if package.name.is_empty() {
        // Frames alone.
        return Ok(Vec::new());
    }
    let label = package.label("contract.md");
    let fault = |line: usize, message: String| {
        Diagnostic::error("package.contract", message)
            .at(&label)
            .line(u32::try_from(line).unwrap_or(u32::MAX))
    };
    if let Some(tags::TagFault { line, message, help }) = tags::fault(&package.contract) {
        return Err(vec![fault(line, message).help(help)]);
    }
    let unnamed = headings_without_id(&package.contract);
    if !unnamed.is_empty() {
        let message = "a heading that holds a template variable needs an id of its own";
        let fault =
            |line| fault(line, message.to_owned()).help("end the line with an attribute such as `{#topic}`");
        return Err(unnamed.into_iter().map(fault).collect());
    }
    let rendered = Rendered::new(&package.contract, variables)
        .map_err(|(line, message)| vec![fault(line, format!("the template fails: {message}"))])?;
    let headings = rendered.headings();
    let made = headings_of_values(&package.contract, &headings, &rendered);
    if !made.is_empty() {
        let fault = |line| {
            fault(line, "a value makes a heading here, which only the template itself may do".to_owned())
        };
        let help = "put other words before the value on its line, or shorten it";
        return Err(made.into_iter().map(|line| fault(line).help(help)).collect());
    }
    if let Some((line, message)) = structure_fault(&headings, &rendered) {
        return Err(vec![fault(line, message)]);
    }
    cut(package, &rendered, &headings)
        .map_err(|faults| faults.into_iter().map(|(line, message)| fault(line, message)).collect())
}

/// The lines (from 1) of H2 headings with a variable and without an id.
fn headings_without_id(template: &str) -> Vec<usize> {
    let in_question = |line: &str| line.starts_with("## ") && line.contains("{{");
    let has_id = |line: &str| attributes::split(line).is_ok_and(|(_, attributes)| attributes.id.is_some());
    let fences = fences(template);
    let mut offset = 0;
    let lines = template.split('\n').enumerate().map(|(index, line)| {
        let at = offset;
        offset += line.len() + 1;
        (index, at, line)
    });
    let unnamed =
        lines.filter(|(_, at, line)| in_question(line) && !has_id(line) && !is_fenced(&fences, *at));
    unnamed.map(|(index, ..)| index + 1).collect()
}

/// The template lines (from 1) at which a heading came out that the template doesn't write: a project's name or a repository's
/// description must not make sections, least of all those of root agents.
fn headings_of_values(template: &str, headings: &[Heading<'_>], rendered: &Rendered) -> Vec<usize> {
    let lines: Vec<&str> = template.lines().collect();
    let writes =
        |line: usize, level: usize| lines.get(line - 1).is_some_and(|text| text.contains(&"#".repeat(level)));
    let made = headings.iter().filter(|heading| !writes(rendered.origins[heading.index], heading.level));
    made.map(|heading| rendered.origins[heading.index]).collect()
}

/// A rendered template whose every line knows the template line it came from.
struct Rendered {
    lines: Vec<String>,
    /// The template's line for each rendered one, counted from 1.
    origins: Vec<usize>,
}

struct Heading<'a> {
    index: usize,
    level: usize,
    line: &'a str,
}

impl Rendered {
    fn new(template: &str, variables: &Variables<'_>) -> Result<Self, (usize, String)> {
        let renderer = Renderer::new(variables).map_err(|error| position(&error))?;
        let text = renderer.render(template).map_err(|error| position(&error))?;
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let origins =
            marked_origins(template, &renderer, &text).unwrap_or_else(|| nearest_origins(template, &lines));
        Ok(Self { lines, origins })
    }

    fn headings(&self) -> Vec<Heading<'_>> {
        let text = self.lines.join("\n");
        let fences = fences(&text);
        let mut offset = 0;
        let mut headings = Vec::new();
        for (index, line) in self.lines.iter().enumerate() {
            if let Some((level, _)) = heading(line).filter(|_| !is_fenced(&fences, offset)) {
                headings.push(Heading { index, level, line });
            }
            offset += line.len() + 1;
        }
        headings
    }
}

/// What renders templates with one set of variables.
struct Renderer {
    environment: Environment<'static>,
    context: minijinja::Value,
}

impl Renderer {
    fn new(variables: &Variables<'_>) -> Result<Self, minijinja::Error> {
        let mut environment = Environment::new();
        let syntax =
            SyntaxConfig::builder().comment_delimiters("<#", "#>").keep_trailing_newline(true).build()?;
        environment.set_syntax(syntax);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.set_fuel(Some(FUEL));
        let repositories: Vec<_> = variables
            .repositories
            .iter()
            .map(|repository| {
                let home = repository.home;
                context! { name => repository.name, description => collapse(repository.description), home => home }
            })
            .collect();
        let context = context! {
            project => collapse(variables.project.unwrap_or_default()),
            plugins => variables.plugins.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(),
            repositories => repositories,
            repository_entries => entries(variables),
        };
        Ok(Self { environment, context })
    }

    fn render(&self, template: &str) -> Result<String, minijinja::Error> {
        let text = self.environment.render_named_str("contract.md", template, &self.context)?;
        // A literal of the template can hold what the file itself can't.
        Ok(if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text })
    }
}

/// The template's line at which it fails, and how.
fn position(error: &minijinja::Error) -> (usize, String) {
    if error.kind() == minijinja::ErrorKind::OutOfFuel {
        return (error.line().unwrap_or(1), format!("more than {FUEL} steps: does it loop?"));
    }
    let detail = error
        .detail()
        .map_or_else(|| error.kind().to_string(), |detail| format!("{}: {detail}", error.kind()));
    (error.line().unwrap_or(1), detail)
}

/// The repositories as list lines, wrapped.
fn entries(variables: &Variables<'_>) -> String {
    let mut lines = Vec::new();
    for repository in &variables.repositories {
        let tag = if repository.home { " (home configuration)" } else { "" };
        let entry = format!("- `{}`: {}{tag}", repository.name, collapse(repository.description));
        lines.extend(wrap(&entry, variables.width).into_iter().map(|line| line.text));
    }
    lines.join("\n")
}

/// What stands around a line number in a marked template: two code points that are no characters.
const MARK: (char, char) = ('\u{fdd0}', '\u{fdd1}');

/// The template's line for each line of `text`, found by rendering again with a mark before each line end of the
/// template that lies outside its tags. `None` if the marks change what comes out.
fn marked_origins(template: &str, renderer: &Renderer, text: &str) -> Option<Vec<usize>> {
    if template.contains(MARK.0) {
        return None;
    }
    let marked = renderer.render(&marked(template)).ok()?;
    let mut plain = String::with_capacity(text.len());
    let mut origins: Vec<Option<usize>> = Vec::new();
    for line in marked.split_inclusive('\n') {
        let mut rest = line;
        let mut origin = None;
        while let Some((before, after)) = rest.split_once(MARK.0) {
            let (number, after) = after.split_once(MARK.1)?;
            plain.push_str(before);
            origin = origin.or(number.parse().ok());
            rest = after;
        }
        plain.push_str(rest);
        origins.push(origin);
    }
    // A last line without an end of its own belongs to the template's last line.
    let last = template.lines().count().max(1);
    let mut next = last;
    let mut lines: Vec<usize> = origins
        .iter()
        .rev()
        .map(|origin| {
            next = origin.unwrap_or(next);
            next
        })
        .collect();
    lines.reverse();
    (plain == text).then_some(lines)
}

/// `template` with its line's number before each line end that is text.
fn marked(template: &str) -> String {
    const TAGS: [(&str, &str); 3] = [("{{", "}}"), ("{%", "%}"), ("<#", "#>")];
    let mut out = String::with_capacity(template.len() * 2);
    let mut rest = template;
    let mut line = 1;
    while let Some(at) = rest.find(['\n', '{', '<']) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let step = if let Some((_, end)) = TAGS.iter().find(|(start, _)| rest.starts_with(start)) {
            let inside = rest[2..].find(end).map_or(rest.len(), |found| 2 + found + end.len());
            line += rest[..inside].matches('\n').count();
            inside
        } else {
            if rest.starts_with('\n') {
                out.push(MARK.0);
                out.push_str(&line.to_string());
                out.push(MARK.1);
                line += 1;
            }
            1
        };
        out.push_str(&rest[..step]);
        rest = &rest[step..];
    }
    out.push_str(rest);
    out
}

/// The template's line for each of `lines` by equal text, else the one before.
fn nearest_origins(template: &str, lines: &[String]) -> Vec<usize> {
    let template: Vec<_> = template.lines().collect();
    let mut at = 0;
    lines
        .iter()
        .map(|line| {
            if let Some(ahead) = template[at.min(template.len())..].iter().position(|other| other == line) {
                at += ahead + 1;
            }
            at.max(1)
        })
        .collect()
}

/// The first fault of the headings (§7.3): one H1, first of all, and nothing deeper than H3.
fn structure_fault(headings: &[Heading<'_>], rendered: &Rendered) -> Option<(usize, String)> {
    let line = |heading: &Heading<'_>| rendered.origins[heading.index];
    let Some(first) = headings.first().filter(|first| first.level == 1) else {
        let at = headings.first().map_or(1, line);
        return Some((at, "the first heading must be the contract's one H1 (`# Title`)".to_owned()));
    };
    let titles: Vec<_> = headings.iter().filter(|heading| heading.level == 1).collect();
    if titles.len() > 1 {
        let message =
            format!("expected one H1, found {}; the first is on line {}", titles.len(), line(first));
        return Some((line(titles[1]), message));
    }
    let deep = headings.iter().find(|heading| heading.level > 3)?;
    Some((line(deep), format!("headings go no deeper than H3 here: `{}`", deep.line.trim())))
}

type Faults = Vec<(usize, String)>;

/// Cuts a rendered contract at its H2 headings.
fn cut(package: &Package, rendered: &Rendered, headings: &[Heading<'_>]) -> Result<Vec<Part>, Faults> {
    let mut faults = Vec::new();
    let mut lines = rendered.lines.clone();
    let mut cuts: BTreeMap<usize, (SectionId, Attributes)> = BTreeMap::new();
    let mut ids: BTreeMap<SectionId, usize> = BTreeMap::new();
    for found in headings.iter().filter(|heading| heading.level == 2) {
        let origin = rendered.origins[found.index];
        match named(package, found.line) {
            Err(message) => faults.push((origin, message)),
            Ok((text, id, attributes)) => {
                if let Some(other) = ids.insert(id.clone(), origin) {
                    faults.push((origin, format!("the section `{id}` stands on line {other} already")));
                }
                lines[found.index] = text;
                cuts.insert(found.index, (id, attributes));
            }
        }
    }
    if !faults.is_empty() {
        return Err(faults);
    }
    let whole = inline_body(&package.name, &lines.join("\n"), |index| Origin::new(0, index + 1));
    let head = SectionId::new(format!("pkg.{}.heading", package.name))
        .map_err(|error| vec![(1, error.to_string())])?;
    if let Some(line) = ids.get(&head) {
        return Err(vec![(
            *line,
            format!("`{head}` is the text above the first H2: give this section another id"),
        )]);
    }
    let mut parts = vec![part(head, &Attributes::default())];
    for (line, origin) in whole.lines() {
        // The index of the rendered line, from 0; lines that inlining made have none.
        let index = origin.is_some().then(|| origin.line as usize - 1);
        if let Some((id, attributes)) = index.and_then(|index| cuts.get(&index)) {
            parts.push(part(id.clone(), attributes));
        }
        let origin = index.map_or(Origin::NONE, |index| Origin::new(0, rendered.origins[index]));
        if let Some(part) = parts.last_mut() {
            part.text.push(line, origin);
        }
    }
    Ok(parts)
}

/// A heading line without its attributes, the id that it gives, and the attributes.
fn named(package: &Package, line: &str) -> Result<(String, SectionId, Attributes), String> {
    let (text, attributes) = attributes::split(line)?;
    let id = match &attributes.id {
        Some(id) if id.starts_with("root.") => format!("pkg.{id}"),
        Some(id) => format!("pkg.{}.{id}", package.name),
        None => format!("pkg.{}.{}", package.name, slug(heading(text).map_or("", |(_, text)| text))),
    };
    let id = SectionId::new(id).map_err(|error| error.to_string())?;
    Ok((text.to_owned(), id, attributes))
}

fn part(id: SectionId, attributes: &Attributes) -> Part {
    let lifecycle = match (attributes.root, attributes.helper) {
        (true, _) => Lifecycle::Root,
        (_, true) => Lifecycle::Helper,
        _ => Lifecycle::Neutral,
    };
    Part { id, lifecycle, required: attributes.required, text: SourcedText::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(contract: &str) -> Package {
        Package {
            name: "house".to_owned(),
            contract: contract.to_owned(),
            ..Package::built_in(cantus_manifest::Stamps::Skip)
        }
    }

    fn variables() -> Variables<'static> {
        let infra = RepositoryEntry { name: "infra", description: "All the\nterraform.", home: false };
        let notes = RepositoryEntry { name: "notes", description: "Mine.", home: true };
        Variables { project: Some("acme"), plugins: Vec::new(), repositories: vec![infra, notes], width: 88 }
    }

    #[track_caller]
    fn check(contract: &str, expected: &[(&str, &str, &[u32])]) {
        let parts = parts(&package(contract), &variables()).unwrap();
        let found: Vec<_> = parts
            .into_iter()
            .map(|part| {
                let text = part.text.into_section();
                let lines: Vec<_> = text.origins().iter().map(|origin| origin.line).collect();
                (part.id.to_string(), text.text().to_owned(), lines)
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(id, text, lines)| ((*id).to_owned(), (*text).to_owned(), lines.to_vec()))
            .collect();
        assert_eq!(found, expected);
    }

    #[track_caller]
    fn check_faults(contract: &str, expected: &[&str]) {
        let faults = parts(&package(contract), &variables()).err().unwrap_or_default();
        let faults: Vec<_> =
            faults.iter().map(|fault| format!("{}: {}", fault.line.unwrap(), fault.message)).collect();
        assert_eq!(faults, expected);
    }

    #[test]
    fn cut_at_h2() {
        check(
            "# My Contract\n\nintro {{ project }}\n\n## Custom Bit, Here!\n### Sub\n\n## End {#root.final_declaration .root .required}\nx\n",
            &[
                ("pkg.house.heading", "### My Contract (house)\n\nintro acme\n\n", &[1, 0, 3, 4]),
                ("pkg.house.custom_bit_here", "#### Custom Bit, Here!\n##### Sub\n\n", &[5, 6, 7]),
                ("pkg.root.final_declaration", "#### End\nx\n\n", &[8, 9, 0]),
            ],
        );
    }

    #[test]
    fn every_line_knows_its_template_line() {
        let template = "# C\n{% if repositories %}\n{{ repository_entries }}\n{% endif %}\n{% for r in repositories %}a {{ r.name }}\n{% endfor %}\nend\n";
        check(
            template,
            &[(
                "pkg.house.heading",
                "### C (house)\n\n- `infra`: All the terraform.\n- `notes`: Mine. (home configuration)\n\na infra\na notes\n\nend\n\n",
                &[1, 0, 3, 3, 4, 5, 5, 6, 7, 0],
            )],
        );
    }

    #[test]
    fn headings_in_fences_are_text() {
        check(
            "# C\n\n```\n## no {#x}\n```\n",
            &[("pkg.house.heading", "### C (house)\n\n```\n## no {#x}\n```\n\n", &[1, 0, 3, 4, 5, 0])],
        );
    }

    #[test]
    fn headings_with_a_variable_in_fences_are_text() {
        check(
            "# C\n\n```\n## {{ project }}\n```\n",
            &[("pkg.house.heading", "### C (house)\n\n```\n## acme\n```\n\n", &[1, 0, 3, 4, 5, 0])],
        );
    }

    #[test]
    fn a_long_chain_is_a_fault_and_no_overflow() {
        for chain in ["+1", "~1", " or 1", ".a", "[0]", "()", "|upper", "**1", " is defined"] {
            let contract = format!("# A\n\n{{{{ project{} }}}}\n", chain.repeat(100_000));
            check_faults(&contract, &["3: a tag has more than 500 parts"]);
        }
        // What the limit lets pass must fit a small stack.
        for part in ["not ", "-", "1 if 1 else "] {
            let contract = format!("# A\n\n{{{{ {}1 }}}}\n", part.repeat(100_000));
            check_faults(&contract, &["3: a tag has more than 500 parts"]);
            let small = std::thread::Builder::new().stack_size(1 << 20).spawn(move || {
                let contract = format!("# A\n\n{{{{ {}1 }}}}\n", part.repeat(450 / part.split(' ').count()));
                parts(&package(&contract), &variables()).is_ok()
            });
            small.unwrap().join().unwrap();
        }
    }

    #[test]
    fn faults_have_lines() {
        check_faults(
            "# C\n\n{{ projcet }}\n",
            &["3: the template fails: undefined value: `projcet` is undefined"],
        );
        check_faults("# C\n{% if %}\n", &["2: the template fails: syntax error: unexpected end of block"]);
        check_faults("x\n", &["1: the first heading must be the contract's one H1 (`# Title`)"]);
        check_faults("# A\n\n# B\n", &["3: expected one H1, found 2; the first is on line 1"]);
        check_faults("# A\n#### B\n", &["2: headings go no deeper than H3 here: `#### B`"]);
        check_faults("# A\n## B\n## b\n", &["3: the section `pkg.house.b` stands on line 2 already"]);
        check_faults(
            "# A\n## B {{ project }}\n",
            &["2: a heading that holds a template variable needs an id of its own"],
        );
        check_faults(
            "# A\n## Heading\n",
            &["2: `pkg.house.heading` is the text above the first H2: give this section another id"],
        );
        check_faults(
            "# A\n## B {#b .rot}\n",
            &["2: unknown heading attribute `.rot`: expected `#id`, `.root`, `.helper` or `.required`"],
        );
    }

    #[test]
    fn no_value_makes_a_heading() {
        let evil = |text: &'static str, width| Variables {
            plugins: Vec::new(),
            project: Some(text),
            repositories: vec![RepositoryEntry { name: "r", description: text, home: false }],
            width,
        };
        let faults = |contract: &str, variables: &Variables<'_>| {
            let faults = parts(&package(contract), variables).err().unwrap_or_default();
            faults
                .iter()
                .map(|fault| format!("{}: {}", fault.line.unwrap(), fault.message))
                .collect::<Vec<_>>()
        };
        let said = "3: a value makes a heading here, which only the template itself may do";
        assert_eq!(faults("# A\n\n{{ project }}\n", &evil("## E {#root.e .root}", 88)), [said]);
        // Narrow wrapping leaves no room for the hanging indent.
        let long = "aaaaaaaaaaaaaaaaaaaaaaaaaaaa ## E {#root.e}";
        assert_eq!(faults("# A\n\n{{ repository_entries }}\n", &evil(long, 20)), [said]);
        assert_eq!(faults("# A\n\n{{ repository_entries }}\n", &evil(long, 88)), Vec::<String>::new());
        assert_eq!(
            faults("# A\n\n## {{ project }} {#own}\n", &evil("x {#root.e .root}", 88)),
            Vec::<String>::new()
        );
    }

    #[test]
    fn no_list_holds_others_over_and_over() {
        let doubled = "{% set a = [a, a] %}".repeat(40);
        check_faults(
            &format!("# A\n{{% set a = [1] %}}{doubled}{{{{ a }}}}\n"),
            &["2: a contract makes no lists"],
        );
    }

    #[test]
    fn what_grows_without_lists_ends_as_well() {
        let times = |text: &str| text.repeat(60);
        let doubled = times("{% set a = a ~ a %}");
        let replaced = times("{% set a = a|replace('x', 'xx') %}");
        let joined = times("{% set a = a|join(a) %}");
        let indented = times("{% set a = a|indent(99999999) %}");
        let listed = times("{% set a = repositories ~ a ~ a %}");
        for growth in [doubled, replaced, joined, indented, listed] {
            let contract = format!("# A\n{{% set a = 'x\\nx' %}}{growth}{{{{ a }}}}\n");
            let faults = parts(&package(&contract), &variables()).err().unwrap_or_default();
            assert!(faults[0].message.contains("steps"), "{faults:?}");
        }
    }

    #[test]
    fn an_endless_template_ends() {
        let contract = "# A\n{% for i in range(9999) %}{% for j in range(9999) %}x{% endfor %}{% endfor %}\n";
        let faults = parts(&package(contract), &variables()).err().unwrap();
        assert!(faults[0].message.contains("more than 1000000 steps"), "{}", faults[0].message);
    }
}
