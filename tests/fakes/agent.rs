//! Stands in for the programs of providers: takes their arguments as strictly as they are documented, and prints what an agent
//! would see. Which one it is, its own name says. It uses nothing of ours, so that it can't share a mistake with what it checks.
//!
//! Sources: claude: code.claude.com/docs/en/cli-reference, /settings, /memory; codex: `codex --help` and openai/codex,
//! `codex-rs/utils/cli/src/config_override.rs`, `codex-rs/core/src/agents_md.rs`; grok: xai-org/grok-build, user guide, pages 12
//! and 14; muse: `muse exec --help`. With `FAKE_SESSION` it leaves a conversation in the provider's own shape where the provider
//! keeps them, as the description of observed loads has it; the value says what becomes of the instructions on the way: `whole`,
//! `dropped`, `cut` (the end is gone, but for the marker), `torn` (the end is gone) or `doubled`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, exit};
use std::time::{SystemTime, UNIX_EPOCH};
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
            let _ = native(&["AGENTS.md"]);
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

/// A file that the agent found by itself.
type Native = (PathBuf, String);

fn show_native(path: &Path) -> Option<Native> {
    let text = fs::read_to_string(path).ok()?;
    show(&format!("native {}", path.file_name().unwrap_or_default().to_string_lossy()), &text);
    Some((path.to_path_buf(), text))
}

/// Shows each of `names` in each folder.
fn native(names: &[&str]) -> Vec<Native> {
    let folders = folders();
    let paths = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    paths.filter_map(|path| show_native(&path)).collect()
}

/// What becomes of instructions on their way; `None` if no conversation is kept.
fn received(text: &str) -> Option<Vec<String>> {
    let fate = env::var("FAKE_SESSION").ok()?;
    let whole = text.trim_end_matches('\n');
    let (bundle, marker) = whole.rsplit_once('\n').unwrap_or(("", whole));
    let half: String = bundle.chars().take(bundle.chars().count() / 2).collect();
    Some(match fate.as_str() {
        "whole" => vec![text.to_owned()],
        "dropped" => Vec::new(),
        "cut" => vec![format!("{half}\n{marker}\n")],
        "torn" => vec![half],
        "doubled" => vec![text.to_owned(), text.to_owned()],
        other => die(&format!("FAKE_SESSION={other}")),
    })
}

/// The folder that a variable names, or one below the user's home.
fn folder_of(variable: &str, below_variable: &str, below_home: &str) -> PathBuf {
    match env::var_os(variable) {
        Some(folder) => PathBuf::from(folder).join(below_variable),
        None => PathBuf::from(env::var_os("HOME").expect("a home")).join(below_home),
    }
}

fn keep(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for sessions");
    fs::write(path, text).expect("a session");
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(","))
}

/// The time as RFC 3339 in UTC, with milliseconds.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock");
    let (days, second) = (since.as_secs() / 86_400, since.as_secs() % 86_400);
    // The calendar of Howard Hinnant's `civil_from_days`.
    let day = days + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{date:02}T{hour:02}:{minute:02}:{second:02}.{:03}Z", since.subsec_millis())
}

/// An id that no other conversation has.
fn new_id() -> String {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).expect("a clock").as_nanos();
    format!("{:08x}-0000-4000-8000-{:012x}", std::process::id(), nanos & 0xffff_ffff_ffff)
}

fn here() -> String {
    env::current_dir().expect("a working folder").to_string_lossy().into_owned()
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
            &["-r", "--resume"],
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
    let system = text("--append-system-prompt", "--append-system-prompt-file");
    let helpers = text("--append-subagent-system-prompt", helper);
    show("system", &system);
    show("helpers", &helpers);
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
    let mut found: Vec<_> = claudes.iter().filter_map(|path| show_native(path)).collect();
    if claudes.is_empty() && !has("--bare") {
        let agents = folders().into_iter().map(|folder| folder.join("AGENTS.md")).filter(|path| loads(path));
        found.extend(agents.filter_map(|path| show_native(&path)));
    }
    let prompt = given.words.join(" | ");
    show("prompt", &prompt);
    let id = given.last("-r").or(given.last("--session-id")).map_or_else(new_id, str::to_owned);
    keep_claude(&id, &system, &helpers, &found, &prompt);
}

fn keep_claude(id: &str, system: &str, helpers: &str, found: &[Native], prompt: &str) {
    let Some(system) = received(system) else { return };
    let (here, time) = (here(), now());
    let folder: String = here.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = folder_of("CLAUDE_CONFIG_DIR", "projects", ".claude/projects").join(folder);
    let start =
        |kind: &str| format!(r#"{{"type":"{kind}","timestamp":{},"cwd":{},"#, quoted(&time), quoted(&here));
    let snapshot = |texts: &[String]| {
        let texts =
            ["You are an agent.".to_owned()].iter().chain(texts).map(|text| quoted(text)).collect::<Vec<_>>();
        let texts = list(texts.into_iter());
        format!(
            r#"{}"attachment":{{"type":"prompt_snapshot","systemPrompt":{texts}}}}}"#,
            start("attachment")
        )
    };
    let files = list(found.iter().map(|(path, text)| {
        let path = quoted(&path.to_string_lossy());
        format!(r#"{{"path":{path},"type":"Project","content":{}}}"#, quoted(text))
    }));
    let asked = format!(r#"{}"message":{{"role":"user","content":{}}}}}"#, start("user"), quoted(prompt));
    let file = folder.join(format!("{id}.jsonl"));
    if let Ok(begun) = fs::read_to_string(&file) {
        // A conversation that goes on keeps its prompt.
        return keep(&file, &format!("{begun}{asked}\n"));
    }
    let lines = [
        asked,
        format!(
            r#"{}"attachment":{{"type":"instructions","reason":"session_start","files":{files}}}}}"#,
            start("attachment")
        ),
        snapshot(&system),
    ];
    keep(&file, &format!("{}\n", lines.join("\n")));
    if !helpers.is_empty() {
        let folder = folder.join(id).join("subagents");
        keep(&folder.join("agent-1.jsonl"), &format!("{}\n", snapshot(&[helpers.to_owned()])));
        keep(&folder.join("agent-1.meta.json"), r#"{"agentType":"Explore"}"#);
    }
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
    let found = if most > 0 { native(&["AGENTS.md"]) } else { Vec::new() };
    let prompt = given.words.join(" | ");
    show("prompt", &prompt);
    keep_codex(&instructions, &found, &prompt);
}

fn keep_codex(instructions: &str, found: &[Native], prompt: &str) {
    let Some(instructions) = received(instructions) else { return };
    let (here, time, id) = (here(), now(), new_id());
    let message = |role: &str, texts: &[String]| {
        let items =
            list(texts.iter().map(|text| format!(r#"{{"type":"input_text","text":{}}}"#, quoted(text))));
        let payload = format!(r#"{{"type":"message","role":"{role}","content":{items}}}"#);
        format!(r#"{{"timestamp":"{time}","type":"response_item","payload":{payload}}}"#)
    };
    let meta = format!(r#"{{"id":"{id}","timestamp":"{time}","cwd":{},"source":"exec"}}"#, quoted(&here));
    let mut lines = vec![format!(r#"{{"timestamp":"{time}","type":"session_meta","payload":{meta}}}"#)];
    let allowed = "<permissions instructions>Read only.</permissions instructions>".to_owned();
    lines.push(message("developer", &[vec![allowed], instructions].concat()));
    if !found.is_empty() {
        let texts: Vec<_> = found.iter().map(|(_, text)| text.as_str()).collect();
        let text = texts.join("\n\n--- project-doc ---\n\n");
        let header = format!("# AGENTS.md instructions for {here}");
        lines.push(message("user", &[format!("{header}\n\n<INSTRUCTIONS>\n{text}\n</INSTRUCTIONS>")]));
    }
    lines.push(message("user", &[prompt.to_owned()]));
    let name = format!("rollout-{}-{id}.jsonl", time[..19].replace(':', "-"));
    let folder = folder_of("CODEX_HOME", "sessions", ".codex/sessions").join(time[..10].replace('-', "/"));
    keep(&folder.join(name), &format!("{}\n", lines.join("\n")));
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
    let found = native(&["AGENTS.md", "CLAUDE.md"]);
    show("prompt", given.last("-p").unwrap_or_default());
    keep_grok(given.last("--rules").unwrap_or_default(), &found);
}

fn keep_grok(rules: &str, found: &[Native]) {
    let Some(rules) = received(rules) else { return };
    let (here, time) = (here(), now());
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'_' | b'.' | b'-' | b'~' => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    };
    let folder: String = here.bytes().map(escape).collect();
    let folder = folder_of("GROK_HOME", "sessions", ".grok/sessions").join(folder).join(new_id());
    let files = list(found.iter().map(|(path, text)| {
        let path = quoted(&path.to_string_lossy());
        format!(r#"{{"file_name":"AGENTS.md","file_path":{path},"content":{}}}"#, quoted(text))
    }));
    let context = format!(
        r#"{{"version":1,"working_directory":{},"build_timestamp_utc":"{time}","memory_enabled":false,"agents_md_files":{files}}}"#,
        quoted(&here)
    );
    let rules: Vec<_> =
        rules.iter().map(|text| format!("\n<human_rules>\n{text}\n</human_rules>\n")).collect();
    keep(&folder.join("prompt_context.json"), &context);
    keep(&folder.join("system_prompt.txt"), &format!("You are an agent.\n{}", rules.concat()));
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
    let mut found = Vec::new();
    for folder in folders() {
        let file =
            ["AGENTS.md", "CLAUDE.md"].map(|name| folder.join(name)).into_iter().find(|path| path.is_file());
        found.extend(file.and_then(|path| show_native(&path)));
    }
    show("prompt", &prompt);
    let id = given.last("--session-id").map_or_else(new_id, str::to_owned);
    keep_muse(&id, &prompt, &found);
}

fn keep_muse(id: &str, prompt: &str, found: &[Native]) {
    const GAP: &str = "\n\n--- User Prompt ---\n";
    let (instructions, prompt) = prompt.split_once(GAP).unwrap_or(("", prompt));
    let Some(instructions) = received(instructions) else { return };
    let time = now();
    let rosters = found.iter().map(|(_, text)| {
        let record = format!(r#"{{"payload":{{"source":"rules_file","text":{}}}}}"#, quoted(text));
        format!(r#"{{"record_json":{}}}"#, quoted(&record))
    });
    let text = match instructions.is_empty() {
        true => prompt.to_owned(),
        false => format!("{}{GAP}{prompt}", instructions.concat()),
    };
    let event = format!(r#"{{"event":{{"kind":"user_prompt","text":{}}}}}"#, quoted(&text));
    let lines = [
        format!(r#"{{"retained_frame":1,"timestamp":"{time}","children":{}}}"#, list(rosters)),
        format!(r#"{{"timestamp":"{time}","payload_type":"runtime.session","payload":{event}}}"#),
    ];
    let folder = folder_of("XDG_DATA_HOME", "muse/sessions", ".local/share/muse/sessions");
    let file = folder.join(time[..10].replace('-', "/")).join(id).join("session.jsonl");
    keep(&file, &format!("{}\n", lines.join("\n")));
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
