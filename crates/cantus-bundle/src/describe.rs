//! What a bundle is and why, in lines for people.

use std::fmt::Write as _;
use std::io;
use std::path::Path;

use cantus_fs::{Disk, ReadError};
use serde::Serialize;
use thiserror::Error;

use crate::manifest::{MANIFEST, Manifest};
use crate::trace::{Decision, Kind, Provider, TRACE, Trace, Verdict};
use crate::tree::MOST_BYTES;

/// So many excluded skills of one kind are told in one line.
const FOLD: usize = 4;

/// Why a bundle can't be described or compared.
#[derive(Debug, Error)]
pub enum DescribeError {
    /// One of its two JSON files can't be read.
    #[error("cannot read `{file}` of the bundle")]
    Read {
        /// The file.
        file: &'static str,
        /// Why.
        source: ReadError,
    },
    /// One of them is something else.
    #[error("cannot understand `{file}` of the bundle")]
    Parse {
        /// The file.
        file: &'static str,
        /// Why.
        source: serde_json::Error,
    },
}

/// The two files of a bundle that say what it is. They are read, not verified.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Description {
    /// The name of its folder.
    pub name: String,
    /// What was composed.
    pub manifest: Manifest,
    /// What was decided.
    pub trace: Trace,
}

/// Which lines are wanted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// Many excluded skills are one line.
    #[default]
    Folded,
    /// Every decision has its line.
    All,
}

/// Reads what the bundle `root` says of itself.
pub fn describe(disk: &dyn Disk, root: &Path) -> Result<Description, DescribeError> {
    let read =
        |file| disk.read(&root.join(file), MOST_BYTES).map_err(|source| DescribeError::Read { file, source });
    let parsed = |file| move |source| DescribeError::Parse { file, source };
    let manifest = Manifest::read(&read(MANIFEST)?).map_err(parsed(MANIFEST))?;
    let trace = Trace::read(&read(TRACE)?).map_err(parsed(TRACE))?;
    let name = root.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    Ok(Description { name, manifest, trace })
}

impl Description {
    /// Everything, section by section: profile, repositories, providers, context budget, selection, delivery. Empty ones are left
    /// out.
    #[must_use]
    pub fn text(&self, detail: Detail) -> String {
        let manifest = &self.manifest;
        let mut text = format!(
            "bundle {} // {}/{} // {} // melded {}\n",
            self.name,
            manifest.role,
            manifest.personalities.join("+"),
            manifest.delivery.mode,
            manifest.color
        );
        let of = |kinds: &[Kind]| {
            let wanted = |decision: &&Decision| kinds.iter().any(|kind| decision.kind == kind.as_str());
            self.trace.decisions.iter().filter(wanted).collect::<Vec<_>>()
        };
        section(&mut text, "profile", &lines(&of(&[Kind::Profile]), Detail::All));
        section(&mut text, "repositories", &lines(&of(&[Kind::Repository]), Detail::All));
        section(&mut text, "providers", &self.trace.providers.iter().map(provider_line).collect::<Vec<_>>());
        section(
            &mut text,
            "context budget",
            &self.trace.providers.iter().filter_map(budget_line).collect::<Vec<_>>(),
        );
        let selection = [Kind::Source, Kind::Selector, Kind::Instruction, Kind::Skill];
        section(&mut text, "selection", &lines(&of(&selection), detail));
        section(&mut text, "delivery", &lines(&of(&[Kind::Delivery]), Detail::All));
        let _ = writeln!(text, "\nreasons in full: {TRACE}");
        text
    }

    /// What was decided on `subject`, which is `kind:id` or the id alone; `None` if nothing was.
    #[must_use]
    pub fn why(&self, subject: &str) -> Option<String> {
        let meant = |decision: &&Decision| {
            decision.subject == subject
                || decision.subject.split_once(':').is_some_and(|(_, id)| id == subject)
        };
        let decisions: Vec<_> = self.trace.decisions.iter().filter(meant).collect();
        let mut text = String::new();
        for decision in &decisions {
            let Decision { subject, kind, source, outcome, reason } = decision;
            let _ = writeln!(text, "{subject}");
            let from = if source.is_empty() { String::new() } else { format!(", from {source}") };
            let _ = writeln!(text, "  considered: as {kind}{from}");
            let _ = writeln!(text, "  outcome:    {outcome}");
            let _ = writeln!(text, "  reason:     {reason}");
            if let Some(report) = self.trace.providers.iter().find(|report| report.source == *source) {
                let _ =
                    writeln!(text, "  provider:   {}, {}: {}", report.category, report.scope, report.reason);
                let _ = writeln!(text, "  context:    {}", budget(report));
            }
        }
        (!decisions.is_empty()).then_some(text)
    }

    /// Writes it as JSON: `name`, `manifest` and `trace` under a `version`.
    pub fn json(&self, out: &mut dyn io::Write) -> io::Result<()> {
        #[derive(Serialize)]
        struct Versioned<'a> {
            version: u32,
            #[serde(flatten)]
            description: &'a Description,
        }
        serde_json::to_writer_pretty(&mut *out, &Versioned { version: 1, description: self })?;
        writeln!(out)
    }
}

fn section(text: &mut String, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    lines.iter().for_each(|line| text.push_str(&format!("{line}\n")));
}

/// A line a decision; many excluded skills are one.
fn lines(decisions: &[&Decision], detail: Detail) -> Vec<String> {
    let is_folded = |decision: &&&Decision| decision.is(Kind::Skill, Verdict::Excluded);
    let folded = decisions.iter().filter(is_folded).count();
    let fold = detail == Detail::Folded && folded >= FOLD;
    let shown = decisions.iter().filter(|decision| !(fold && is_folded(decision)));
    let mut lines: Vec<_> = shown
        .map(|decision| {
            let label = decision.subject.replacen(':', " ", 1);
            line(symbol(&decision.outcome), &label, &decision.source, &decision.reason)
        })
        .collect();
    if fold {
        lines
            .push(format!("  {} {folded} skills (every one with --all)", symbol(Verdict::Excluded.as_str())));
    }
    lines
}

fn line(symbol: char, label: &str, source: &str, reason: &str) -> String {
    let source = if source.is_empty() { String::new() } else { format!("({source})") };
    format!("  {symbol} {label:<36} {source:<14} {reason}").trim_end().to_owned()
}

fn symbol(outcome: &str) -> char {
    match outcome {
        "selected" => '✓',
        "excluded" => '✗',
        "shadowed" => '~',
        "delivered" => '→',
        _ => '?',
    }
}

fn provider_line(report: &Provider) -> String {
    let Provider { source, category, scope, outcome, reason, warning, selector_reason, .. } = report;
    let mut reason = reason.clone();
    if *warning {
        reason.insert_str(0, "warning: ");
    }
    if !selector_reason.is_empty() {
        let _ = write!(reason, " // {selector_reason}");
    }
    line(symbol(outcome), &format!("{category} {scope}"), source, &reason)
}

fn budget_line(report: &Provider) -> Option<String> {
    (report.outcome == Verdict::Selected.as_str()).then(|| line(' ', &report.source, "", &budget(report)))
}

fn budget(report: &Provider) -> String {
    let Provider { skills, context_bytes, approximate_tokens, .. } = report;
    format!("{skills} skills // {context_bytes} bytes // ~{approximate_tokens} tokens")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn description(skills: usize) -> Description {
        let decision =
            |kind, subject: &str, source: &str, verdict| Decision::new(kind, subject, source, verdict, "so");
        let mut decisions = vec![
            decision(Kind::Profile, "role:lamp", "p", Verdict::Selected),
            decision(Kind::Profile, "boundary:fire", "p", Verdict::Excluded),
            decision(Kind::Skill, "skill:role-lamp", "p", Verdict::Selected),
            decision(Kind::Skill, "skill:copy", "q", Verdict::Shadowed),
        ];
        decisions.extend(
            (0..skills)
                .map(|index| decision(Kind::Skill, &format!("skill:s{index}"), "q", Verdict::Excluded)),
        );
        decisions.push(decision(Kind::Delivery, "content/skills", "", Verdict::Delivered));
        let report = Provider {
            source: "p".into(),
            category: "person-package".into(),
            scope: "person".into(),
            outcome: "selected".into(),
            reason: "the package".into(),
            skills: 1,
            context_bytes: 5,
            approximate_tokens: 2,
            ..Provider::default()
        };
        let manifest = Manifest {
            role: "lamp".into(),
            personalities: vec!["calm".into(), "odd".into()],
            color: "#5fa87a".into(),
            ..Manifest::default()
        };
        Description { name: "0123".into(), manifest, trace: Trace::new(decisions, vec![report]) }
    }

    #[test]
    fn sections_and_lines() {
        let expected = "\
bundle 0123 // lamp/calm+odd //  // melded #5fa87a

profile
  ✓ role lamp                            (p)            so
  ✗ boundary fire                        (p)            so

providers
  ✓ person-package person                (p)            the package

context budget
    p                                                   1 skills // 5 bytes // ~2 tokens

selection
  ✓ skill role-lamp                      (p)            so
  ~ skill copy                           (q)            so
  ✗ skill s0                             (q)            so
  ✗ skill s1                             (q)            so

delivery
  → content/skills                                      so

reasons in full: trace.json
";
        assert_eq!(description(2).text(Detail::Folded), expected);
    }

    #[test]
    fn many_excluded_skills_are_one_line_unless_all_are_wanted() {
        let folded = "  ✗ 4 skills (every one with --all)\n";
        assert!(description(4).text(Detail::Folded).contains(folded));
        assert!(!description(3).text(Detail::Folded).contains("skills ("));
        assert_eq!(description(4).text(Detail::All).matches("✗ skill").count(), 4);
    }

    #[test]
    fn one_subject_by_its_full_name_or_its_id() {
        let description = description(0);
        let expected = "\
skill:role-lamp
  considered: as skill, from p
  outcome:    selected
  reason:     so
  provider:   person-package, person: the package
  context:    1 skills // 5 bytes // ~2 tokens
";
        assert_eq!(description.why("skill:role-lamp").as_deref(), Some(expected));
        assert_eq!(description.why("role-lamp").as_deref(), Some(expected));
        assert!(description.why("content/skills").is_some_and(|text| text.contains("outcome:    delivered")));
        assert_eq!(description.why("lam"), None);
    }
}
