//! The numbers as one page that needs nothing else: no network, no font, and no script to be read.

mod html;

use html::{Html, escape};

use cantus_projection::Scope;

use super::{Part, Size, Stats, percent, share};
use crate::chart::{Area, ticks, treemap};
use crate::report::{group, plural};

/// What every such page holds, and no other file by chance.
pub(super) const MARK: &str = "<meta name=\"generator\" content=\"cantus stats\">";

const STYLE: &str = include_str!("page/style.css");
const SCRIPT: &str = include_str!("page/sort.js");

/// The treemap's shape where the page is wide, in pixels: labels are left out of what would be too small for them.
const MAP: Area = Area { x: 0.0, y: 0.0, width: 1100.0, height: 520.0 };
/// The smallest rectangle that has a label, in pixels.
const LABELLED: (f64, f64) = (64.0, 26.0);
/// The smallest that has its tokens below the label.
const NUMBERED: f64 = 44.0;
/// The narrowest that keeps its label where the page is a third as wide.
const KEPT: f64 = 190.0;

/// The page.
pub(super) fn page(stats: &Stats) -> String {
    let mut html = Html::default();
    let title = format!("{}: what a context costs", stats.title);
    html.raw("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    html.line(&format!("{MARK}\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"));
    html.line("<meta name=\"color-scheme\" content=\"light dark\">");
    html.line(&format!(
        "<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>",
        escape(&title)
    ));
    header(&mut html, stats);
    limits(&mut html, stats);
    layers(&mut html, stats);
    map(&mut html, stats);
    if let Some(history) = &stats.history {
        timeline(&mut html, stats, history);
    }
    table(&mut html, stats);
    html.line(&format!("</main>\n<script>\n{SCRIPT}</script>\n</body>\n</html>"));
    html.text()
}

fn header(html: &mut Html, stats: &Stats) {
    let file = stats.file.as_deref().unwrap_or("the bundle");
    html.line("<header>");
    html.line(&format!("<p class=\"over\">What a context costs</p>\n<h1>{}</h1>", escape(&stats.title)));
    html.line("<dl class=\"figures\">");
    let mut figure = |name: &str, value: &str, more: &str| {
        html.line(&format!(
            "<div><dt>{}</dt><dd>{}<small>{}</small></dd></div>",
            escape(name),
            escape(value),
            escape(more)
        ));
    };
    figure("Tokens, estimated", &format!("~{}", group(stats.tokens_est)), "in every context");
    figure("Size", &group(stats.bytes), &format!("bytes in {file}"));
    let of = format!("of {} bytes", group(stats.limit_bytes));
    figure("Budget used", &percent(stats.bytes, stats.limit_bytes), &of);
    figure(
        "Sections",
        &stats.sections.len().to_string(),
        &format!("from {}", plural(stats.notes.len(), "source")),
    );
    html.line("</dl>");
    let used = (share(stats.bytes, stats.limit_bytes) * 100.0).min(100.0);
    let class = match stats.bytes {
        bytes if bytes > stats.limit_bytes => "meter over-limit",
        bytes if bytes * 10 > stats.limit_bytes * 9 => "meter near-limit",
        _ => "meter",
    };
    html.line(&format!(
        "<div class=\"{class}\" role=\"img\" aria-label=\"{} of the budget used\"><span style=\"width:{used:.2}%\"></span></div>",
        percent(stats.bytes, stats.limit_bytes)
    ));
    html.line("</header>");
}

/// Whose limits there are, how each is known, and how much of it is used.
fn limits(html: &mut Html, stats: &Stats) {
    if stats.limits.is_empty() {
        return;
    }
    html.line("<section aria-labelledby=\"limits\">\n<h2 id=\"limits\">Limits</h2>");
    html.line("<div class=\"scroll\"><table class=\"commits\">\n<thead><tr>");
    for (name, class) in [
        ("Whose", ""),
        ("Limit", " class=\"n\""),
        ("Used", " class=\"n\""),
        ("How it is known", ""),
        ("Looked up", ""),
    ] {
        html.line(&format!("<th scope=\"col\"{class}>{name}</th>"));
    }
    html.line("</tr></thead>\n<tbody>");
    for limit in &stats.limits {
        let scope = if limit.scope == Scope::Chain { ", with the files above it" } else { "" };
        let known = match (limit.evidence, limit.source) {
            (Some(evidence), Some(source)) => format!("{}: {source}", evidence.as_str()),
            _ => "set by this project, or the default".to_owned(),
        };
        html.line(&format!(
            "<tr><td>{}</td><td class=\"n\">{} {}{scope}</td><td class=\"n\">{}</td><td>{}</td><td>{}</td></tr>",
            escape(&limit.owner),
            group(limit.amount),
            limit.unit.noun(),
            percent(limit.used, limit.amount),
            escape(&known),
            limit.date.unwrap_or("–"),
        ));
    }
    html.line("</tbody>\n</table></div>\n</section>");
}

fn layers(html: &mut Html, stats: &Stats) {
    html.line("<section aria-labelledby=\"layers\">\n<h2 id=\"layers\">Layers</h2>\n<ul class=\"legend\">");
    for layer in &stats.layers {
        html.line(&format!(
            "<li><span class=\"swatch l-{0}\"></span><b>{0}</b> ~{1} tokens in {2}, {3}</li>",
            escape(&layer.name),
            group(layer.tokens_est),
            plural(layer.sections, "section"),
            percent(layer.tokens_est, stats.tokens_est)
        ));
    }
    html.line("</ul>\n</section>");
}

/// The rectangle of each section, in the order of `stats.sections`: those of a layer stand together.
pub(super) fn areas(stats: &Stats) -> Vec<Area> {
    let weights: Vec<u64> = stats.layers.iter().map(|layer| layer.tokens_est).collect();
    let mut areas = vec![Area { width: 0.0, height: 0.0, ..MAP }; stats.sections.len()];
    for (layer, area) in stats.layers.iter().zip(treemap(&weights, MAP)) {
        let members = || stats.sections.iter().enumerate().filter(|(_, part)| part.layer == layer.name);
        let weights: Vec<u64> = members().map(|(_, part)| part.tokens_est).collect();
        for ((index, _), area) in members().zip(treemap(&weights, area)) {
            areas[index] = area;
        }
    }
    areas
}

fn map(html: &mut Html, stats: &Stats) {
    html.line("<section aria-labelledby=\"map\">\n<h2 id=\"map\">Sections by tokens</h2>");
    html.line("<p class=\"hint\">Each rectangle is a section, its size the tokens; the table below has the same numbers.</p>");
    let count = plural(stats.sections.len(), "section");
    html.line("<svg class=\"map\" role=\"img\" aria-labelledby=\"map-title map-text\">");
    html.line(&format!("<title id=\"map-title\">Treemap of {count}</title>"));
    let first: Vec<_> =
        stats.sections.iter().take(5).map(|part| format!("{} ~{}", part.id, part.tokens_est)).collect();
    html.line(&format!("<desc id=\"map-text\">The largest: {}.</desc>", escape(&first.join(", "))));
    for (part, area) in stats.sections.iter().zip(areas(stats)) {
        rectangle(html, stats, part, area);
    }
    html.line("</svg>\n</section>");
}

/// A rectangle in percent of the map, so that labels keep their size however wide the page is; the inner `svg` clips them.
fn rectangle(html: &mut Html, stats: &Stats, part: &Part, area: Area) {
    let (x, y) = (area.x / MAP.width * 100.0, area.y / MAP.height * 100.0);
    let (width, height) = (area.width / MAP.width * 100.0, area.height / MAP.height * 100.0);
    html.line(&format!("<svg x=\"{x:.4}%\" y=\"{y:.4}%\" width=\"{width:.4}%\" height=\"{height:.4}%\">"));
    let note = part.note.as_deref().map_or_else(String::new, |note| format!(" from {note}"));
    let tokens = group(part.tokens_est);
    let title =
        format!("{}{note}: ~{tokens} tokens, {}", part.id, percent(part.tokens_est, stats.tokens_est));
    html.line(&format!(
        "<title>{}</title><rect class=\"cell l-{}\" width=\"100%\" height=\"100%\"/>",
        escape(&title),
        part.layer
    ));
    if area.width >= LABELLED.0 && area.height >= LABELLED.1 {
        let small = if area.width < KEPT { " small" } else { "" };
        let name = escape(short(part));
        html.line(&format!("<text class=\"name{small}\" x=\"8\" y=\"19\">{name}</text>"));
        if area.height >= NUMBERED {
            html.line(&format!("<text class=\"number{small}\" x=\"8\" y=\"36\">~{tokens}</text>"));
        }
    }
    html.line("</svg>");
}

/// The end of an id, without the layer and the kind of note.
fn short(part: &Part) -> &str {
    part.id.rsplit('.').next().unwrap_or(&part.id)
}

fn timeline(html: &mut Html, stats: &Stats, history: &[Size]) {
    html.line("<section aria-labelledby=\"history\">\n<h2 id=\"history\">Size over time</h2>");
    if history.is_empty() {
        html.line("<p class=\"hint\">No commit has changed the file yet.</p>\n</section>");
        return;
    }
    let count = plural(history.len(), "commit");
    let most = history.iter().map(|size| size.bytes).max().unwrap_or_default();
    let is_shown = ticks(most).last().is_some_and(|top| stats.limit_bytes <= *top);
    let limit = if is_shown { " The dashed line is the budget." } else { "" };
    html.line(&format!(
        "<p class=\"hint\">Bytes of the file in the last {count} that changed it.{limit}</p>"
    ));
    line_chart(html, stats, history);
    html.line(
        "<details>\n<summary>The same as a table</summary>\n<div class=\"scroll\"><table class=\"commits\">",
    );
    html.line("<thead><tr><th scope=\"col\">Day</th><th scope=\"col\">Commit</th><th scope=\"col\" class=\"n\">Bytes</th><th scope=\"col\" class=\"n\">Tokens</th></tr></thead>\n<tbody>");
    for size in history.iter().rev() {
        html.line(&format!(
            "<tr><td>{}</td><td><code>{}</code></td><td class=\"n\">{}</td><td class=\"n\">~{}</td></tr>",
            escape(&size.day),
            escape(&size.commit),
            group(size.bytes),
            group(size.tokens_est)
        ));
    }
    html.line("</tbody>\n</table></div>\n</details>\n</section>");
}

fn line_chart(html: &mut Html, stats: &Stats, history: &[Size]) {
    let most = history.iter().map(|size| size.bytes).max().unwrap_or_default();
    let marks = ticks(most);
    let top = marks.last().copied().unwrap_or(1);
    let height = |bytes: u64| 100.0 - share(bytes, top) * 100.0;
    let (first, last) = (&history[0], &history[history.len() - 1]);
    let text = format!(
        "From {} bytes on {} to {} bytes on {}.",
        group(first.bytes),
        first.day,
        group(last.bytes),
        last.day
    );
    html.line(
        "<div class=\"chart\">\n<svg class=\"line\" role=\"img\" aria-labelledby=\"line-title line-text\">",
    );
    html.line("<title id=\"line-title\">Size of the file, commit by commit</title>");
    html.line(&format!("<desc id=\"line-text\">{}</desc>", escape(&text)));
    for mark in &marks {
        let y = height(*mark);
        html.line(&format!("<line class=\"grid\" x1=\"0\" x2=\"100%\" y1=\"{y:.2}%\" y2=\"{y:.2}%\"/>"));
        html.line(&format!("<text class=\"mark\" x=\"-8\" y=\"{y:.2}%\">{}</text>", group(*mark)));
    }
    if stats.limit_bytes <= top {
        let y = height(stats.limit_bytes);
        html.line(&format!("<line class=\"limit\" x1=\"0\" x2=\"100%\" y1=\"{y:.2}%\" y2=\"{y:.2}%\"/>"));
    }
    let across = |index: usize| match history.len() {
        1 => 50.0,
        count => index as f64 / (count - 1) as f64 * 100.0,
    };
    let points: Vec<_> = (0..)
        .zip(history)
        .map(|(index, size)| format!("{:.2},{:.2}", across(index), height(size.bytes)))
        .collect();
    html.line(&format!(
        "<svg viewBox=\"0 0 100 100\" preserveAspectRatio=\"none\"><polyline points=\"{}\"/></svg>",
        points.join(" ")
    ));
    for (index, size) in history.iter().enumerate() {
        let title = format!("{} {}: {} bytes", size.day, size.commit, group(size.bytes));
        html.line(&format!(
            "<circle cx=\"{:.2}%\" cy=\"{:.2}%\" r=\"3\"><title>{}</title></circle>",
            across(index),
            height(size.bytes),
            escape(&title)
        ));
    }
    html.line(&format!(
        "</svg>\n<p class=\"days\"><span>{}</span><span>{}</span></p>\n</div>",
        escape(&first.day),
        escape(if history.len() > 1 { &last.day } else { "" })
    ));
}

fn table(html: &mut Html, stats: &Stats) {
    html.line("<section aria-labelledby=\"table\">\n<h2 id=\"table\">Every section</h2>");
    html.line("<div class=\"scroll\"><table class=\"sections\" id=\"sections\">\n<thead><tr>");
    for (name, class) in [
        ("Section", ""),
        ("Layer", ""),
        ("Note", ""),
        ("Bytes", " class=\"n\""),
        ("Tokens", " class=\"n\""),
        ("Share", " class=\"n\""),
    ] {
        html.line(&format!("<th scope=\"col\"{class}>{name}</th>"));
    }
    html.line("</tr></thead>\n<tbody>");
    let most = stats.sections.iter().map(|part| part.tokens_est).max().unwrap_or_default();
    for part in &stats.sections {
        let length = share(part.tokens_est, most);
        let used = percent(part.tokens_est, stats.tokens_est);
        html.line(&format!(
            "<tr><th scope=\"row\">{0}</th><td><span class=\"swatch l-{1}\"></span>{1}</td><td>{2}</td><td class=\"n\">{3}</td><td class=\"n\">{4}</td><td class=\"n share\"><span class=\"bar\" style=\"width:calc((100% - 5.25rem) * {length:.3})\"></span>{used}</td></tr>",
            escape(&part.id),
            part.layer,
            escape(part.note.as_deref().unwrap_or("–")),
            group(part.bytes),
            group(part.tokens_est),
        ));
    }
    html.line(&format!(
        "</tbody>\n<tfoot><tr><th scope=\"row\" colspan=\"3\">All sections</th><td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr></tfoot>\n</table></div>\n</section>",
        group(stats.sections.iter().map(|part| part.bytes).sum()),
        group(stats.tokens_est),
        if stats.tokens_est > 0 { "100%" } else { "–" }
    ));
}

#[cfg(test)]
mod tests;
