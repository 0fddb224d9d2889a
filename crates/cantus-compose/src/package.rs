//! A package: the folder of standing texts that goes before all notes.

use std::collections::BTreeMap;

use cantus_manifest::{Diagnostic, Digest, Outcome, Provider, Stamp, Stamps};
use cantus_memory::{fences, heading, is_fenced, nearest, shortened};

use crate::attributes;
use crate::wording::{self, Wording};

/// The built-in package, file by file.
const BUILT_IN: &[(&str, &str)] = &[
    ("package.toml", include_str!("../package/package.toml")),
    ("contract.md", include_str!("../package/contract.md")),
    ("helper.md", include_str!("../package/helper.md")),
    ("providers/agy.md", include_str!("../package/providers/agy.md")),
    ("providers/claude.md", include_str!("../package/providers/claude.md")),
    ("providers/codex.md", include_str!("../package/providers/codex.md")),
    ("providers/grok.md", include_str!("../package/providers/grok.md")),
    ("providers/muse.md", include_str!("../package/providers/muse.md")),
];

/// The headings and intros that stand where a package brings no `frame.md`.
const FRAME: &str = include_str!("../default-frame.md");

/// The most bytes that a file of a package may have.
const MOST_BYTES: usize = 1 << 20;

/// The texts of a package, read and checked as far as that goes without facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name: `[a-z0-9_-]+`.
    pub name: String,
    /// Its version, free text.
    pub version: String,
    pub(crate) contract: String,
    pub(crate) helper: Option<String>,
    pub(crate) providers: BTreeMap<String, String>,
    pub(crate) frame: BTreeMap<&'static str, FramePart>,
    /// The texts of session packs that it brings, by section.
    pub(crate) session: BTreeMap<String, String>,
    pub(crate) folder: Option<String>,
    /// By file, where they were taken.
    pub(crate) stamps: BTreeMap<String, Stamp>,
}

/// One heading of the frame with its intro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FramePart {
    pub(crate) text: String,
    /// The line of `frame.md` on which it starts, counted from 1; 0 if it is built in.
    pub(crate) line: u32,
}

impl Package {
    /// The package that is embedded here.
    #[must_use]
    pub fn built_in(stamps: Stamps) -> Self {
        let files = BUILT_IN.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let outcome = Self::parse(None, files.collect(), stamps);
        // A test holds that the built-in files have no fault.
        outcome.value.unwrap_or_else(|| Self::empty(None))
    }

    /// The digest of every text that is embedded here and stands in bundles: of the built-in package, and of the frame that
    /// stands where a package brings none. What session packs say is in no bundle.
    #[must_use]
    pub fn built_in_digest() -> Digest {
        let mut all = String::new();
        for (path, text) in BUILT_IN.iter().chain(&[("default-frame.md", FRAME)]) {
            all.push_str(&format!("{path} {}\n", text.len()));
            all.push_str(text);
        }
        Digest::of(all)
    }

    fn empty(folder: Option<String>) -> Self {
        Self {
            name: String::new(),
            version: String::new(),
            contract: String::new(),
            helper: None,
            providers: BTreeMap::new(),
            frame: BTreeMap::new(),
            session: BTreeMap::new(),
            folder,
            stamps: BTreeMap::new(),
        }
    }

    /// Reads a package from its files, by their path below its folder. `folder` is that folder as errors
    /// name it; `None` for the built-in one. `stamps` says whether each file is hashed, as it is.
    ///
    /// There is no value where `package.toml` or `contract.md` is missing or broken.
    #[must_use]
    pub fn parse(
        folder: Option<String>,
        files: BTreeMap<String, Vec<u8>>,
        stamps: Stamps,
    ) -> Outcome<Option<Self>> {
        let mut reader = Reader { package: Self::empty(folder), diagnostics: Vec::new() };
        let mut texts = BTreeMap::new();
        for (path, bytes) in files {
            if let Some(stamp) = stamps.of(&bytes) {
                reader.package.stamps.insert(path.clone(), stamp);
            }
            if let Some(text) = reader.decode(&path, bytes) {
                texts.insert(path, text);
            }
        }
        reader.frame(None, FRAME);
        let named = reader.named(texts.get("package.toml"));
        let has_contract = reader.contract(texts.remove("contract.md"));
        reader.package.helper = texts.remove("helper.md");
        if let Some(frame) = texts.get("frame.md") {
            reader.frame(Some("frame.md"), frame);
        }
        for (path, text) in texts {
            reader.provider(&path, &text);
            reader.session(&path, text);
        }
        let Reader { package, diagnostics } = reader;
        Outcome { value: (named && has_contract).then_some(package), diagnostics }
    }

    /// Its frame without any other text, for bundles that stand beside one which has the rest. It has no name: it takes no
    /// note's place.
    #[must_use]
    pub fn frames_only(&self) -> Self {
        let (frame, stamps) = (self.frame.clone(), self.stamps.clone());
        Self { frame, stamps, ..Self::empty(self.folder.clone()) }
    }

    /// What session packs say with it: its own texts, and the built-in ones where it brings none.
    #[must_use]
    pub fn wording(&self) -> Wording {
        Wording::with(&self.session)
    }

    /// How errors and reports name one of its files.
    #[must_use]
    pub fn label(&self, file: &str) -> String {
        match &self.folder {
            Some(folder) => format!("{folder}/{file}"),
            None => format!("package:{file}"),
        }
    }
}

struct Reader {
    package: Package,
    diagnostics: Vec<Diagnostic>,
}

impl Reader {
    fn fault(&mut self, file: &str, line: Option<usize>, message: impl Into<String>) {
        let mut diagnostic = Diagnostic::error("package", message).at(self.package.label(file));
        diagnostic.line = line.map(line_number);
        self.diagnostics.push(diagnostic);
    }

    fn decode(&mut self, file: &str, bytes: Vec<u8>) -> Option<String> {
        if bytes.len() > MOST_BYTES {
            self.fault(
                file,
                None,
                format!("{} bytes: a package's file may have at most {MOST_BYTES}", bytes.len()),
            );
            return None;
        }
        cantus_memory::decode(&self.package.label(file), bytes)
            .map_err(|fault| self.diagnostics.push(fault))
            .ok()
    }

    /// Takes `package.toml`; whether it gave a name and a version.
    fn named(&mut self, text: Option<&String>) -> bool {
        const KEYS: &[&str] = &["name", "version"];
        let Some(text) = text else {
            self.fault("package.toml", None, "a package needs this file, with `name` and `version`");
            return false;
        };
        let line_of = |at: usize| text[..at.min(text.len())].matches('\n').count() + 1;
        let table = match toml::de::DeTable::parse(text) {
            Ok(table) => table.into_inner(),
            Err(error) => {
                let line = error.span().map(|span| line_of(span.start));
                self.fault("package.toml", line, format!("not valid TOML: {}", error.message()));
                return false;
            }
        };
        let before = self.diagnostics.len();
        for (key, value) in &table {
            let line = Some(line_of(key.span().start));
            match (key.get_ref().as_ref(), value.get_ref().as_str()) {
                ("name", Some(name)) => self.package.name = name.to_owned(),
                ("version", Some(version)) if !version.trim().is_empty() => {
                    self.package.version = version.to_owned()
                }
                ("name" | "version", _) => {
                    self.fault("package.toml", line, format!("`{}` must be a non-empty text", key.get_ref()));
                }
                (unknown, _) => {
                    let hint = nearest(unknown, KEYS).map(|name| format!(": did you mean `{name}`?"));
                    let message = format!("unknown key `{}`{}", shortened(unknown), hint.unwrap_or_default());
                    self.fault("package.toml", line, message);
                }
            }
        }
        for key in KEYS.iter().filter(|key| !table.iter().any(|(name, _)| name.get_ref() == **key)) {
            self.fault("package.toml", None, format!("the key `{key}` is missing"));
        }
        if self.diagnostics.len() == before && !is_package_name(&self.package.name) {
            let message = format!(
                "`{}` can't be a package's name: expected `[a-z0-9_-]+`, and neither `root`, `helper` nor `provider`",
                self.package.name
            );
            self.fault("package.toml", None, message);
        }
        self.diagnostics.len() == before
    }

    fn contract(&mut self, text: Option<String>) -> bool {
        let Some(text) = text else {
            if !self
                .diagnostics
                .iter()
                .any(|fault| fault.path.as_deref() == Some(&self.package.label("contract.md")))
            {
                self.fault("contract.md", None, "a package needs this file");
            }
            return false;
        };
        self.package.contract = text;
        true
    }

    fn session(&mut self, path: &str, text: String) {
        let Some(section) = path.strip_prefix("session/").and_then(|name| name.strip_suffix(".md")) else {
            return;
        };
        for (line, message) in wording::faults(section, &text) {
            self.fault(path, line, message);
        }
        self.package.session.insert(section.to_owned(), text);
    }

    fn provider(&mut self, path: &str, text: &str) {
        let Some(name) = path.strip_prefix("providers/").and_then(|name| name.strip_suffix(".md")) else {
            return;
        };
        match Provider::new(name) {
            Ok(provider) => {
                drop(self.package.providers.insert(provider.as_str().to_owned(), text.to_owned()))
            }
            Err(error) => self.fault(path, None, error.to_string()),
        }
    }

    /// Takes the parts of a frame; `file` is `None` for the built-in one.
    fn frame(&mut self, file: Option<&str>, text: &str) {
        let label = file.unwrap_or("frame.md");
        let fences = fences(text);
        let mut offset = 0;
        let mut current: Option<&'static str> = None;
        let mut seen: BTreeMap<&'static str, usize> = BTreeMap::new();
        for (index, line) in text.split_inclusive('\n').enumerate() {
            let fenced = is_fenced(&fences, offset);
            offset += line.len();
            let line = line.trim_end_matches('\n');
            if fenced || heading(line).is_none_or(|(level, _)| level != 2) {
                match current {
                    Some(id) => {
                        if let Some(part) = self.package.frame.get_mut(id) {
                            part.text.push_str(line);
                            part.text.push('\n');
                        }
                    }
                    None if line.trim().is_empty() => {}
                    None => self.fault(
                        label,
                        Some(index + 1),
                        "this text stands before the first `## ` heading and would be lost",
                    ),
                }
                continue;
            }
            current = None;
            match attributes::split(line) {
                Err(message) => self.fault(label, Some(index + 1), message),
                Ok((text, attributes)) => {
                    let wanted = attributes.id.as_deref();
                    let Some(id) = ["core", "reference", "webs"].into_iter().find(|id| wanted == Some(id))
                    else {
                        self.fault(
                            label,
                            Some(index + 1),
                            "a heading here needs one of `{#core}`, `{#reference}`, `{#webs}`",
                        );
                        continue;
                    };
                    if let Some(other) = seen.insert(id, index + 1) {
                        self.fault(
                            label,
                            Some(index + 1),
                            format!("`{{#{id}}}` stands on line {other} already"),
                        );
                    }
                    let line = if file.is_some() { line_number(index + 1) } else { 0 };
                    self.package.frame.insert(id, FramePart { text: format!("{text}\n"), line });
                    current = Some(id);
                }
            }
        }
    }
}

fn line_number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

fn is_package_name(name: &str) -> bool {
    !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
        && !["root", "helper", "provider"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(files: &[(&str, &str)]) -> Outcome<Option<Package>> {
        let folder = Some("rules".to_owned());
        Package::parse(
            folder,
            files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect(),
            Stamps::Skip,
        )
    }

    #[track_caller]
    fn check(files: &[(&str, &str)], faults: &[&str]) {
        let found: Vec<_> = parse(files).diagnostics.iter().map(ToString::to_string).collect();
        assert_eq!(found, faults);
    }

    const NAMED: (&str, &str) = ("package.toml", "name = \"house\"\nversion = \"2\"\n");
    const CONTRACT: (&str, &str) = ("contract.md", "# C\n");

    #[test]
    fn the_built_in_package_has_no_fault() {
        let files = BUILT_IN.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        let outcome = Package::parse(None, files.collect(), Stamps::Skip);
        assert_eq!(outcome.diagnostics, []);
        assert_eq!(outcome.value, Some(Package::built_in(Stamps::Skip)));
        assert_eq!(Package::built_in(Stamps::Skip).name, "cantus");
    }

    #[test]
    fn what_a_package_needs() {
        check(&[NAMED, CONTRACT], &[]);
        check(
            &[],
            &[
                "rules/package.toml: error: a package needs this file, with `name` and `version`",
                "rules/contract.md: error: a package needs this file",
            ],
        );
    }

    #[test]
    fn faults_of_package_toml() {
        check(
            &[("package.toml", "name = \"x\"\nversoin = \"1\"\n"), CONTRACT],
            &[
                "rules/package.toml:2: error: unknown key `versoin`: did you mean `version`?",
                "rules/package.toml: error: the key `version` is missing",
            ],
        );
        check(
            &[("package.toml", "name = \"root\"\nversion = \"1\"\n"), CONTRACT],
            &[
                "rules/package.toml: error: `root` can't be a package's name: expected `[a-z0-9_-]+`, and neither `root`, `helper` nor `provider`",
            ],
        );
    }

    #[test]
    fn frames() {
        let frame = ("frame.md", "## Kern {#core}\n\nIntro.\n\n## Webs {#webs}\n");
        let package = parse(&[NAMED, CONTRACT, frame]).value.unwrap();
        assert_eq!(package.frame["core"], FramePart { text: "## Kern\n\nIntro.\n\n".into(), line: 1 });
        assert_eq!(package.frame["webs"].line, 5);
        assert_eq!(package.frame["reference"].line, 0);
        check(
            &[NAMED, CONTRACT, ("frame.md", "lost\n\n## X\n\n## A {#core}\n## B {#core}\n")],
            &[
                "rules/frame.md:1: error: this text stands before the first `## ` heading and would be lost",
                "rules/frame.md:3: error: a heading here needs one of `{#core}`, `{#reference}`, `{#webs}`",
                "rules/frame.md:6: error: `{#core}` stands on line 5 already",
            ],
        );
    }

    #[test]
    fn a_megabyte_of_fences_is_read() {
        // It took minutes when each line looked at every fence.
        let fences = format!("## A {{#core}}\n{}", "```\nx\n```\n\n".repeat(70_000));
        check(&[NAMED, CONTRACT, ("frame.md", &fences)], &[]);
    }

    #[test]
    fn bytes_that_are_no_text() {
        let folder = Some("rules".to_owned());
        let files = [("helper.md".to_owned(), b"caf\xe9".to_vec())];
        let outcome = Package::parse(folder, files.into(), Stamps::Skip);
        assert!(
            outcome.diagnostics[0].to_string().starts_with("rules/helper.md:1: error: not UTF-8: byte 3")
        );
    }
}
