//! What a contract's tags may say.
//!
//! The engine counts steps and bytes, but a list that holds another one twice, and so on forty times, costs forty steps to make
//! and years to print or to compare. So a contract makes no lists or mappings of its own: everything it holds is a text, a
//! number, a truth value or one of the variables.

/// What may follow `|`.
const FILTERS: [&str; 20] = [
    "capitalize",
    "count",
    "d",
    "default",
    "first",
    "indent",
    "int",
    "join",
    "last",
    "length",
    "lower",
    "rejectattr",
    "replace",
    "reverse",
    "selectattr",
    "sort",
    "string",
    "title",
    "trim",
    "upper",
];
/// What may start a statement; what ends it follows from that. `raw` is no tag of this kind.
const STATEMENTS: [&str; 8] = ["if", "elif", "else", "endif", "for", "endfor", "set", "endset"];
/// The functions that may be called.
const FUNCTIONS: [&str; 1] = ["range"];
/// Words behind which an operand stands, so that a bracket there is no index and no call.
const OPERATORS: [&str; 8] = ["and", "elif", "else", "if", "in", "is", "not", "or"];

/// What a contract may use, for whoever used something else.
pub(crate) fn help() -> String {
    format!(
        "a contract knows `if`, `for` and `set`, comparisons, `~`, `range` and the filters {}",
        FILTERS.join(", ")
    )
}

/// What is wrong with a tag of these parts, its marks and their signs left out; `None` if all is well.
pub(crate) fn refused(parts: &[&str], kind: Kind) -> Option<String> {
    let (statement, parts) = match (kind, parts) {
        (Kind::Statement, [first, rest @ ..]) => (Some(*first), rest),
        _ => (None, parts),
    };
    if let Some(statement) = statement.filter(|statement| !STATEMENTS.contains(statement)) {
        return Some(format!("a contract has no `{statement}`"));
    }
    // For each open bracket, whether it is that of a call.
    let mut open: Vec<bool> = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| parts[before]);
        let filter = before == Some("|");
        match *part {
            "{" => return Some("a contract makes no mappings".to_owned()),
            "[" if !before.is_some_and(is_operand) => return Some("a contract makes no lists".to_owned()),
            "," if open.last() != Some(&true) => return Some("a contract makes no lists".to_owned()),
            "+" | "*" => return Some(format!("a contract has no `{part}`")),
            "[" => open.push(false),
            "(" => {
                let callee = before.filter(|before| is_operand(before));
                let by = index.checked_sub(2).map(|by| parts[by]);
                if let Some(callee) = callee.filter(|callee| !may_be_called(callee, by)) {
                    return Some(format!("a contract calls no `{callee}`"));
                }
                open.push(callee.is_some());
            }
            ")" | "]" => {
                open.pop();
            }
            name if filter && !FILTERS.contains(&name) => {
                return Some(format!("a contract has no filter `{name}`"));
            }
            _ => {}
        }
    }
    None
}

/// Which marks a tag has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `{{ }}`
    Expression,
    /// `{% %}`
    Statement,
}

/// Whether a part ends an operand.
fn is_operand(part: &str) -> bool {
    let is_sign = |c: char| c.is_ascii_punctuation() && !matches!(c, '_' | '"' | '\'' | ')' | ']');
    !part.starts_with(is_sign) && !OPERATORS.contains(&part)
}

/// Whether brackets may follow `callee`, before which `by` stands: a filter, a test, or a function of ours.
fn may_be_called(callee: &str, by: Option<&str>) -> bool {
    matches!(by, Some("|" | "is")) || (by == Some("not")) || (by != Some(".") && FUNCTIONS.contains(&callee))
}
