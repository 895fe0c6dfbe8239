//! `fleet report`: one page with all results.
//!
//! Stage: last. From: the answers of the prepared queries. To: HTML that loads nothing and has no
//! script. Promises: text of a recording reaches the page only through [`text`].

mod chart;
mod series;
mod tables;

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use profinfer_cli::{Diagnostic, Result};
use serde::Serialize;

use crate::ask::{self, Answer};
use crate::json;

const STYLE: &str = include_str!("style.css");

/// The object of `fleet report`.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
}

/// Writes the page.
pub(crate) async fn report(place: &str, out: &Path, is_json: bool) -> Result<ExitCode> {
    let answers = ask::all(place).await?;
    let page = page(&answers);
    let written = || -> std::io::Result<()> {
        let mut partial = out.as_os_str().to_owned();
        partial.push(".part");
        fs::write(&partial, &page)?;
        fs::rename(&partial, out)
    };
    written().map_err(|e| {
        Diagnostic::new(
            format!("writing {}", out.display()),
            e,
            "free space, or choose another place with --out",
        )
    })?;
    let file = out.display().to_string();
    if is_json {
        json::print(&Report { file })?;
    } else {
        println!("written to {file}");
    }
    Ok(ExitCode::SUCCESS)
}

fn page(answers: &[(&str, Answer)]) -> String {
    let empty = Answer { columns: Vec::new(), rows: Vec::new() };
    let of = |name: &str| answers.iter().find(|(n, _)| *n == name).map_or(&empty, |(_, a)| a);
    let all = series::of(of("series"), of("regressions"));
    let captures: usize = all.iter().map(|s| s.points.len()).sum();
    let mut body = format!("<header><h1>Fleet</h1><p>{}</p></header>\n", tables::said(captures, &all));
    if captures == 0 {
        body += "<section><p class=\"nothing\">There is nothing to show yet: <code>analyze fleet add RECORDING… --to PLACE</code> adds captures. \
                 Only those that generated tokens are counted here.</p></section>\n";
    } else {
        body += &tables::regressions(of("regressions"));
        body += &tables::outliers(of("outliers"));
        body += &tables::ranking(of("ranking"));
        body += &series::section(&all);
        body += &tables::trend(of("trend"));
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\
         <title>Fleet · ProfInfer</title>\n<style>\n{STYLE}</style></head>\n<body><main>\n{body}</main></body></html>\n"
    )
}

/// Escapes text for elements and quoted attributes.
fn text(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            c if c.is_control() => escaped.push('\u{fffd}'),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Value;

    #[test]
    fn an_empty_fleet_says_what_to_do() {
        let page = page(&[]);
        assert!(page.contains("nothing to show yet") && page.contains("no captures"));
    }

    #[test]
    fn texts_of_recordings_stay_texts() {
        let evil = "</style><script>alert('1')</script>\u{1b}[0m";
        let columns = [
            "board",
            "cpu_model",
            "model",
            "weights_hash",
            "threads",
            "device",
            "date",
            "engine",
            "tokens_per_s",
        ];
        let row = |speed| {
            let mut row = vec![Value::Text(evil.to_owned()); 8];
            row.push(Value::Float(speed));
            row
        };
        let answer = Answer {
            columns: columns.map(str::to_owned).to_vec(),
            rows: vec![row(1.0), row(f64::INFINITY), row(-1e308)],
        };
        let names = ["series", "trend", "ranking", "outliers", "regressions"];
        let page = page(&names.map(|name| (name, answer.clone())));
        assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
        assert_eq!(page.matches("</style>").count(), 1);
    }
}
