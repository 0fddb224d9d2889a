//! Tables that never get wider than the terminal: what doesn't fit beside each other stands in lines below each other.

use std::io::{self, IsTerminal, Write};

use crate::style::FAINT;
use crate::visible::visible;

/// How wide reports are where nobody sees them on a terminal.
const WIDTH: usize = 80;

/// How much further in further lines of a row stand.
const INDENT: &str = "  ";

/// A row of a table: a cell for each column, and what stands in lines of its own below them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Block {
    pub(crate) cells: Vec<String>,
    pub(crate) details: Vec<String>,
}

/// How many columns there are for a report on standard output.
pub(crate) fn width() -> usize {
    let terminal = io::stdout().is_terminal().then(terminal_size::terminal_size).flatten();
    terminal.map_or(WIDTH, |(width, _)| width.0.into())
}

/// Prints rows under their columns, no line wider than `width` unless a word is. Where the columns don't fit, each row is a
/// paragraph in which every cell follows the name of its column.
pub(crate) fn blocks(out: &mut dyn Write, columns: &[&str], rows: &[Block], width: usize) -> io::Result<()> {
    let widths: Vec<usize> = (0..columns.len())
        .map(|column| {
            rows.iter()
                .map(|row| chars(&row.cells[column]))
                .chain([chars(columns[column])])
                .max()
                .unwrap_or(0)
        })
        .collect();
    let needed = widths.iter().sum::<usize>() + 2 * columns.len().saturating_sub(1);
    let is_table = needed <= width;
    if is_table {
        let head: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
        writeln!(out, "{FAINT}{}{FAINT:#}", line(&head, &widths))?;
    }
    for row in rows {
        if is_table {
            writeln!(out, "{}", line(&row.cells, &widths))?;
        } else {
            let cells = columns.iter().zip(&row.cells).skip(1);
            let named: Vec<_> = cells.map(|(column, cell)| format!("{column} {}", visible(cell))).collect();
            let first = row.cells.first().map_or_else(String::new, |cell| visible(cell).into_owned());
            items(out, &[vec![first], named].concat(), width)?;
        }
        for detail in &row.details {
            paragraph(out, detail, width)?;
        }
    }
    Ok(())
}

/// Prints a text in lines that are no wider than `width`, a step further in, further lines two.
pub(crate) fn paragraph(out: &mut dyn Write, text: &str, width: usize) -> io::Result<()> {
    let text = visible(text);
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    fill(out, INDENT, &words, " ", width)
}

/// Prints items with gaps between them in lines that are no wider than `width`, none of them cut.
pub(crate) fn items(out: &mut dyn Write, items: &[String], width: usize) -> io::Result<()> {
    fill(out, "", items, "  ", width)
}

fn fill(out: &mut dyn Write, indent: &str, words: &[String], gap: &str, width: usize) -> io::Result<()> {
    let mut line = String::new();
    for word in words {
        let is_full = !line.is_empty() && chars(&line) + gap.len() + chars(word) > width;
        if is_full {
            writeln!(out, "{line}")?;
        }
        match line.is_empty() || is_full {
            true => line = format!("{indent}{}{word}", if is_full { INDENT } else { "" }),
            false => line = format!("{line}{gap}{word}"),
        }
    }
    writeln!(out, "{line}")
}

fn line(cells: &[String], widths: &[usize]) -> String {
    let padded: Vec<_> =
        cells.iter().zip(widths).map(|(cell, width)| format!("{:<width$}", visible(cell))).collect();
    padded.join("  ").trim_end().to_owned()
}

fn chars(text: &str) -> usize {
    visible(text).chars().count()
}

/// An id that is no longer than `most` characters, its middle left out if it is.
#[cfg(feature = "observe")]
pub(crate) fn shortened(id: &str, most: usize) -> String {
    let chars: Vec<char> = visible(id).chars().collect();
    if chars.len() <= most {
        return chars.into_iter().collect();
    }
    // What tells one from another stands at the end of most of them.
    let end = (most * 2 / 3).min(most - 1);
    let (start, end) = (&chars[..most - 1 - end], &chars[chars.len() - end..]);
    format!("{}…{}", start.iter().collect::<String>(), end.iter().collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> Vec<Block> {
        let row = |cells: [&str; 3], detail: &str| Block {
            cells: cells.map(str::to_owned).to_vec(),
            details: (!detail.is_empty()).then(|| detail.to_owned()).into_iter().collect(),
        };
        vec![
            row(["claude", "3/4", "1×"], "helpers did this and that and more"),
            row(["x\u{1b}", "0/0", "◌"], ""),
        ]
    }

    #[track_caller]
    fn check(width: usize, expected: &str) {
        let mut out = Vec::new();
        blocks(&mut out, &["provider", "coverage", "bundle"], &rows(), width).unwrap();
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        assert_eq!(String::from_utf8(plain).unwrap(), expected);
    }

    #[test]
    fn a_table_where_it_fits() {
        check(
            26,
            "provider  coverage  bundle
claude    3/4       1×
  helpers did this and
    that and more
x\\u{1b}   0/0       ◌
",
        );
    }

    #[test]
    fn paragraphs_where_it_does_not() {
        check(
            20,
            "claude  coverage 3/4
  bundle 1×
  helpers did this
    and that and
    more
x\\u{1b}
  coverage 0/0
  bundle ◌
",
        );
    }

    #[cfg(feature = "observe")]
    #[test]
    fn long_ids_keep_both_ends() {
        assert_eq!(shortened("short", 8), "short");
        assert_eq!(shortened("aaaaaaaa-0000-4000-8000-000000000001", 12), "aaa…00000001");
        assert_eq!(shortened("äöüßäöüß", 4), "ä…üß");
        assert_eq!(shortened("ab", 1), "…");
    }
}
