//! Stands in for the programs of providers: takes their arguments as strictly as they are documented, and prints what an agent
//! would see. Which one it is, its own name says. It uses nothing of ours, so that it can't share a mistake with what it checks.
//!
//! Sources: claude: code.claude.com/docs/en/cli-reference, /settings, /memory; codex: `codex --help` and openai/codex,
//! `codex-rs/utils/cli/src/config_override.rs`, `codex-rs/core/src/agents_md.rs`; grok: xai-org/grok-build, user guide, pages 12
//! and 14; muse: `muse exec --help`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, exit};
use std::{env, fs};

fn main() -> ExitCode {
    let mut args = env::args();
    let name = args
        .next()
        .map(PathBuf::from)
        .and_then(|path| path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
    let name = name.unwrap_or_default();
    let args: Vec<String> = args.collect();
    if let Ok(log) = env::var("FAKE_LOG") {
        let old = fs::read_to_string(&log).unwrap_or_default();
        fs::write(log, format!("{old}{}\n", args.join(" "))).expect("the log");
    }
    match name.as_str() {
        "claude" => claude(&args),
        "codex" => codex(&args),
        "grok" => grok(&args),
        "muse" => muse(&args),
        _ => {
            show("args", &args.join("\n"));
            native(&["AGENTS.md"]);
        }
    }
    for variable in ["SASE_INSTRUCTIONS_FILE", "CANTUS_ARTIFACTS"] {
        show(variable, &env::var(variable).unwrap_or_default());
    }
    ExitCode::from(env::var("FAKE_STATUS").ok().and_then(|status| status.parse().ok()).unwrap_or(0))
}

fn show(title: &str, text: &str) {
    println!("=== {title}\n{text}");
}

fn die(message: &str) -> ! {
    eprintln!("error: {message}");
    exit(2)
}

/// Options with a value and without one, by all their spellings.
struct Grammar {
    valued: &'static [&'static [&'static str]],
    plain: &'static [&'static str],
    /// Whether an option may be given again; then the last one counts.
    repeats: bool,
    /// Whether a value may be attached to a short option.
    attached: bool,
}

/// What a command line says: the values of each option, and what is no option.
#[derive(Default)]
struct Given {
    values: BTreeMap<&'static str, Vec<String>>,
    plain: Vec<String>,
    words: Vec<String>,
}

impl Grammar {
    fn parse(&self, args: &[String]) -> Given {
        let mut given = Given::default();
        let mut rest = args.iter().cloned();
        while let Some(arg) = rest.next() {
            if arg == "--" {
                given.words.extend(rest.by_ref());
            } else if arg.len() < 2 || !arg.starts_with('-') {
                given.words.push(arg);
            } else if self.plain.contains(&arg.as_str()) {
                given.plain.push(arg);
            } else {
                let (name, value) =
                    self.valued(&arg).unwrap_or_else(|| die(&format!("unknown option '{arg}'")));
                let value = value
                    .or_else(|| rest.next())
                    .unwrap_or_else(|| die(&format!("option '{arg}' argument missing")));
                let values = given.values.entry(name).or_default();
                values.push(value);
                if values.len() > 1 && !self.repeats {
                    die(&format!("the argument '{name}' cannot be used multiple times"));
                }
            }
        }
        given
    }

    /// The option's first spelling, and the value in the same argument.
    fn valued(&self, arg: &str) -> Option<(&'static str, Option<String>)> {
        for spellings in self.valued {
            for spelling in *spellings {
                let Some(value) = arg.strip_prefix(spelling) else { continue };
                let is_long = spelling.starts_with("--");
                if value.is_empty() {
                    return Some((spellings[0], None));
                }
                if let Some(value) = value.strip_prefix('=').filter(|_| is_long || self.attached) {
                    return Some((spellings[0], Some(value.to_owned())));
                }
                if !is_long && self.attached {
                    return Some((spellings[0], Some(value.to_owned())));
                }
            }
        }
        None
    }
}

impl Given {
    fn last(&self, name: &str) -> Option<&str> {
        self.values.get(name).and_then(|values| values.last()).map(String::as_str)
    }
}

fn read(path: &str) -> String {
    fs::read_to_string(path).unwrap_or_else(|_| die(&format!("file not found: {path}")))
}

/// The working folder and those above it up to the repository's, the outermost first.
fn folders() -> Vec<PathBuf> {
    let here = env::current_dir().expect("a working folder");
    let mut folders = Vec::new();
    for folder in here.ancestors() {
        folders.push(folder.to_path_buf());
        if folder.join(".git").exists() {
            break;
        }
    }
    folders.reverse();
    folders
}

fn show_native(path: &Path) {
    if let Ok(text) = fs::read_to_string(path) {
        show(&format!("native {}", path.file_name().unwrap_or_default().to_string_lossy()), &text);
    }
}

/// Shows each of `names` in each folder.
fn native(names: &[&str]) {
    for folder in folders() {
        for name in names {
            show_native(&folder.join(name));
        }
    }
}

fn claude(args: &[String]) {
    const GRAMMAR: Grammar = Grammar {
        valued: &[
            &["--append-system-prompt"],
            &["--append-system-prompt-file"],
            &["--append-subagent-system-prompt"],
            &["--append-subagent-system-prompt-file"],
            &["--settings"],
            &["--model"],
            &["--session-id"],
            &["--output-format"],
            &["--add-dir"],
        ],
        plain: &["-p", "--print", "-c", "--continue", "--verbose", "--version", "--help", "--bare"],
        repeats: true,
        attached: false,
    };
    let version = env::var("FAKE_VERSION").unwrap_or_else(|_| "2.1.300".to_owned());
    let given = GRAMMAR.parse(args);
    let has = |flag: &str| given.plain.iter().any(|plain| plain == flag);
    if has("--version") {
        println!("{version} (Claude Code)");
        exit(0);
    }
    if has("--help") {
        println!("Usage: claude [options] [command] [prompt]");
        exit(0);
    }
    let text = |text: &str, file: &str| match (given.last(text), given.last(file)) {
        (Some(_), Some(_)) => die(&format!("Cannot use both {text} and {file}")),
        (Some(text), None) => text.to_owned(),
        (None, Some(file)) => read(file),
        (None, None) => String::new(),
    };
    let helper = "--append-subagent-system-prompt-file";
    if given.last(helper).is_some() && (version == "2.1.260" || !(has("-p") || has("--print"))) {
        die(&format!("unknown option '{helper}'"));
    }
    show("system", &text("--append-system-prompt", "--append-system-prompt-file"));
    show("helpers", &text("--append-subagent-system-prompt", helper));
    let settings = given.last("--settings").map_or_else(
        || "{}".to_owned(),
        |value| {
            if value.trim_start().starts_with('{') { value.to_owned() } else { read(value) }
        },
    );
    let settings = Json::parse(&settings).unwrap_or_else(|| die("Invalid JSON provided to --settings"));
    if settings.get("autoMemoryEnabled") != Some(&Json::Word("false".to_owned())) {
        show("auto memory", "on");
    }
    show("model", &format!("{:?}", settings.get("model")));
    let excluded: Vec<PathBuf> = settings
        .get("claudeMdExcludes")
        .map(Json::texts)
        .unwrap_or_default()
        .into_iter()
        .map(PathBuf::from)
        .collect();
    let loads = |path: &Path| path.is_file() && !excluded.iter().any(|excluded| excluded == path);
    let discovered = if has("--bare") { Vec::new() } else { folders() };
    let added = given.last("--add-dir").map(|folder| env::current_dir().expect("a working folder").join(folder));
    let claudes: Vec<_> = discovered
        .into_iter()
        .chain(added.and_then(|folder| folder.canonicalize().ok()))
        .map(|folder| folder.join("CLAUDE.md"))
        .filter(|path| loads(path))
        .collect();
    claudes.iter().for_each(|path| show_native(path));
    if claudes.is_empty() && !has("--bare") {
        folders()
            .iter()
            .map(|folder| folder.join("AGENTS.md"))
            .filter(|path| loads(path))
            .for_each(|path| show_native(&path));
    }
    show("prompt", &given.words.join(" | "));
}

fn codex(args: &[String]) {
    const GRAMMAR: Grammar = Grammar {
        valued: &[&["-c", "--config"], &["-m", "--model"], &["-C", "--cd"], &["-s", "--sandbox"]],
        plain: &["--json", "--skip-git-repo-check", "--full-auto"],
        repeats: true,
        attached: true,
    };
    let given = GRAMMAR.parse(args);
    let (mut instructions, mut most) = (String::new(), 32_768);
    for assignment in given.values.get("-c").into_iter().flatten() {
        let (key, value) = assignment
            .split_once('=')
            .unwrap_or_else(|| die(&format!("Invalid override (missing '='): {assignment}")));
        match key.trim() {
            "developer_instructions" => instructions = toml_text(value.trim()),
            "project_doc_max_bytes" => {
                most = value.trim().parse().unwrap_or_else(|_| die("project_doc_max_bytes: invalid type"))
            }
            _ => {}
        }
    }
    show("developer", &instructions);
    if most > 0 {
        native(&["AGENTS.md"]);
    }
    show("prompt", &given.words.join(" | "));
}

/// A basic string on one line, else the raw text without quotes at its ends.
fn toml_text(value: &str) -> String {
    match Json::parse(value) {
        Some(Json::Text(text)) if !value.chars().any(|c| c.is_control() && c != '\t') => text,
        _ => value.trim_matches(['"', '\'']).to_owned(),
    }
}

fn grok(args: &[String]) {
    const GRAMMAR: Grammar = Grammar {
        valued: &[
            &["--rules", "--append-system-prompt"],
            &["-p", "--single"],
            &["-m", "--model"],
            &["--system-prompt-override"],
            &["--output-format"],
        ],
        plain: &["--always-approve", "--yolo"],
        repeats: false,
        attached: true,
    };
    let given = GRAMMAR.parse(args);
    match given.last("--system-prompt-override") {
        Some(text) => show("system", text),
        None => show("rules", given.last("--rules").unwrap_or_default()),
    }
    native(&["AGENTS.md", "CLAUDE.md"]);
    show("prompt", given.last("-p").unwrap_or_default());
}

fn muse(args: &[String]) {
    const GRAMMAR: Grammar = Grammar {
        valued: &[&["--prompt-file"], &["--model"], &["--session-id"], &["--workspace"]],
        plain: &["--json", "--enable-shell-tool", "--trust-workspace"],
        repeats: false,
        attached: false,
    };
    // Options stand behind the subcommand.
    let Some((exec, rest)) = args.split_first().filter(|(first, _)| *first == "exec") else {
        die("usage: muse exec [OPTIONS] [PROMPT]")
    };
    let given = GRAMMAR.parse(rest);
    let prompt = match (given.words.as_slice(), given.last("--prompt-file")) {
        ([prompt], None) => prompt.clone(),
        ([], Some(file)) => read(file),
        ([], None) => die(&format!("missing prompt\nusage: muse {exec} [OPTIONS] [PROMPT]")),
        _ => die("more than one prompt"),
    };
    for folder in folders() {
        let file =
            ["AGENTS.md", "CLAUDE.md"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
        file.into_iter().for_each(|path| show_native(&path));
    }
    show("prompt", &prompt);
}

/// As much of JSON as is asked for here.
#[derive(Debug, PartialEq)]
enum Json {
    Text(String),
    /// A number or a bare word.
    Word(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    fn parse(text: &str) -> Option<Self> {
        let mut rest = text.trim();
        let value = Self::value(&mut rest)?;
        rest.trim().is_empty().then_some(value)
    }

    fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(entries) = self else { return None };
        entries.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    fn texts(&self) -> Vec<String> {
        let Self::List(items) = self else { return Vec::new() };
        items
            .iter()
            .filter_map(|item| if let Self::Text(text) = item { Some(text.clone()) } else { None })
            .collect()
    }

    fn value(rest: &mut &str) -> Option<Self> {
        *rest = rest.trim_start();
        match rest.chars().next()? {
            '"' => Self::text(rest).map(Self::Text),
            '[' => Self::list(rest, ']', Self::value).map(Self::List),
            '{' => Self::list(rest, '}', |rest| {
                let key = Self::text(rest)?;
                *rest = rest.trim_start().strip_prefix(':')?;
                Some((key, Self::value(rest)?))
            })
            .map(Self::Object),
            _ => {
                let end = rest.find([',', ']', '}']).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                *rest = after;
                Some(Self::Word(word.trim().to_owned()))
            }
        }
    }

    fn list<T>(rest: &mut &str, close: char, item: impl Fn(&mut &str) -> Option<T>) -> Option<Vec<T>> {
        let mut items = Vec::new();
        *rest = rest[1..].trim_start();
        while !rest.starts_with(close) {
            items.push(item(rest)?);
            *rest = rest.trim_start();
            match rest.strip_prefix(',') {
                Some(after) => *rest = after.trim_start(),
                None if rest.starts_with(close) => {}
                None => return None,
            }
        }
        *rest = &rest[1..];
        Some(items)
    }

    fn text(rest: &mut &str) -> Option<String> {
        let mut chars = rest.strip_prefix('"')?.char_indices();
        let mut text = String::new();
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    *rest = &rest[at + 2..];
                    return Some(text);
                }
                '\\' => match chars.next()?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'u' => {
                        let hex: String = (0..4).filter_map(|_| chars.next()).map(|(_, c)| c).collect();
                        text.push(char::from_u32(u32::from_str_radix(&hex, 16).ok()?)?);
                    }
                    c @ ('"' | '\\' | '/') => text.push(c),
                    _ => return None,
                },
                c => text.push(c),
            }
        }
        None
    }
}
