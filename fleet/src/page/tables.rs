//! The tables of the page, with their texts for no rows.

use std::collections::BTreeSet;

use super::series::Series;
use super::text;
use crate::ask::{Answer, Value};

/// A column: its heading, its name in the answer, its format.
type Column = (&'static str, &'static str, fn(&Value) -> String);

/// The size of the fleet.
pub(super) fn said(captures: usize, all: &[Series]) -> String {
    let boards: BTreeSet<&str> = all.iter().map(|s| s.board.as_str()).collect();
    match captures {
        0 => "no captures".to_owned(),
        n => format!("{n} captures in {} series on {} kinds of board", all.len(), boards.len()),
    }
}

pub(super) fn regressions(answer: &Answer) -> String {
    let rows: Vec<&Vec<Value>> =
        answer.rows.iter().filter(|r| !matches!(answer.get(r, "stands"), Value::Null)).collect();
    let columns: [Column; 10] = [
        ("", "stands", badge),
        ("board", "board", plain),
        ("device", "device", plain),
        ("model", "model", plain),
        ("threads", "threads", plain),
        ("since", "changed_on", plain),
        ("before, tokens/s", "tokens_per_s_before", plain),
        ("behind, tokens/s", "tokens_per_s_behind", plain),
        ("change", "change_share", share),
        ("first build after", "engine_behind", plain),
    ];
    let n = answer.rows.iter().filter(|r| answer.get(r, "p").number().is_some()).count();
    let nothing = format!(
        "No series changed its speed: {n} with at least eight captures were tested, at a level of 5 % for all together."
    );
    let about = "Series whose speed changed, by Pettitt's rank test with random orders; p is corrected for all series (Holm).";
    section("Changes", about, &nothing, answer, &rows, &columns)
}

pub(super) fn outliers(answer: &Answer) -> String {
    let columns: [Column; 9] = [
        ("board", "board", plain),
        ("device", "device", plain),
        ("model", "model", plain),
        ("threads", "threads", plain),
        ("build", "engine", plain),
        ("tokens/s", "tokens_per_s", plain),
        ("its kind", "middle", plain),
        ("apart", "apart_share", share),
        ("score", "score", plain),
    ];
    let nothing = "No device differs from its kind, among kinds with at least five devices.";
    let about = "Devices that differ from others with the same board, CPU, model, threads and build: at least 3 % from the median, and a modified z-score 0.6745·(x − median)/MAD above 3.5.";
    section("Outliers", about, nothing, answer, &answer.rows.iter().collect::<Vec<_>>(), &columns)
}

pub(super) fn ranking(answer: &Answer) -> String {
    let columns: [Column; 9] = [
        ("model", "model", plain),
        ("rank", "rank_of_boards", plain),
        ("board", "board", plain),
        ("CPU", "cpu_model", plain),
        ("threads", "threads", plain),
        ("captures", "captures", plain),
        ("tokens/s", "tokens_per_s", plain),
        ("prompt tokens/s", "prefill_tokens_per_s", plain),
        ("share of the bandwidth", "mbu", percent),
    ];
    let about = "Boards by median speed with their best thread count.";
    section("Ranking", about, "Nothing to rank.", answer, &answer.rows.iter().collect::<Vec<_>>(), &columns)
}

pub(super) fn trend(answer: &Answer) -> String {
    let columns: [Column; 9] = [
        ("board", "board", plain),
        ("model", "model", plain),
        ("threads", "threads", plain),
        ("build", "engine", plain),
        ("first", "first_date", plain),
        ("last", "last_date", plain),
        ("captures", "captures", plain),
        ("tokens/s", "tokens_per_s", plain),
        ("change from the previous build", "change_share", share),
    ];
    let about = "Median speed of each build, oldest first.";
    section("Builds", about, "No builds.", answer, &answer.rows.iter().collect::<Vec<_>>(), &columns)
}

fn section(
    title: &str,
    about: &str,
    nothing: &str,
    answer: &Answer,
    rows: &[&Vec<Value>],
    columns: &[Column],
) -> String {
    if rows.is_empty() {
        return format!("<section><h2>{title}</h2><p class=\"nothing\">{nothing}</p></section>\n");
    }
    // Omit a column that is empty in all rows.
    let told = |name: &str| rows.iter().any(|row| !answer.get(row, name).shown().is_empty());
    let columns: Vec<&Column> = columns.iter().filter(|(_, name, _)| told(name)).collect();
    let cell = |row: &[Value], (_, name, shown): &Column| {
        let value = answer.get(row, name);
        let class = if value.number().is_some() { " class=\"num\"" } else { "" };
        format!("<td{class}>{}</td>", shown(value))
    };
    let head: String = columns.iter().map(|(head, ..)| format!("<th>{}</th>", text(head))).collect();
    let body: String = rows
        .iter()
        .map(|row| format!("<tr>{}</tr>\n", columns.iter().map(|c| cell(row, c)).collect::<String>()))
        .collect();
    format!(
        "<section><h2>{title}</h2><p class=\"about\">{}</p><div class=\"scroll\"><table><thead><tr>{head}</tr></thead><tbody>\n{body}</tbody></table></div></section>\n",
        text(about)
    )
}

fn plain(value: &Value) -> String {
    text(&value.shown())
}

fn share(value: &Value) -> String {
    value.number().map_or_else(String::new, |n| format!("{:+.1} %", n * 100.0))
}

fn percent(value: &Value) -> String {
    value.number().map_or_else(String::new, |n| format!("{:.0} %", n * 100.0))
}

fn badge(value: &Value) -> String {
    let shown = value.shown();
    format!(
        "<span class=\"badge {}\">{}</span>",
        if shown == "slower" { "bad" } else { "good" },
        text(&shown)
    )
}
