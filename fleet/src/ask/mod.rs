//! Queries of a fleet.

mod answer;
mod change;
mod guard;
mod queries;
mod tables;

use std::io::{self, Write};
use std::process::ExitCode;

pub(crate) use answer::{Answer, Value};
pub(crate) use guard::keep_panics;

use crate::cli::{Format, Ready};
use crate::json;
use crate::place::Place;
use profinfer_cli::{Diagnostic, Result};
use serde::Serialize;
use tables::Tables;

/// `fleet sql`.
pub(crate) async fn sql(query: &str, place: &str, format: Format) -> Result<ExitCode> {
    let tables = Tables::new(&Place::new(place)?).await?;
    print_answer(&tables.ask(query).await?, format)
}

/// A prepared query.
pub(crate) async fn ready(name: &str, options: &Ready) -> Result<ExitCode> {
    let tables = Tables::new(&Place::new(&options.place)?).await?;
    print_answer(&answer(&tables, name, options.board.as_deref()).await?, options.format)
}

/// The answers of all prepared queries, by name.
pub(crate) async fn all(place: &str) -> Result<Vec<(&'static str, Answer)>> {
    let tables = Tables::new(&Place::new(place)?).await?;
    let mut answers = Vec::new();
    for name in queries::NAMES {
        answers.push((name, answer(&tables, name, None).await?));
    }
    answers.push(("series", tables.ask(&queries::sql("series", None)?).await?));
    Ok(answers)
}

/// A query of `fleet queries`.
#[derive(Debug, Serialize)]
struct Query<'a> {
    name: &'a str,
    sql: String,
}

/// `fleet queries`.
pub(crate) fn print(name: Option<&str>, board: Option<&str>, is_json: bool) -> Result<ExitCode> {
    if is_json {
        let all = || queries::NAMES.iter().chain(&queries::OTHERS).copied().collect();
        let names = name.map_or_else(all, |name| vec![name]);
        let queries = names.into_iter().map(|name| Ok(Query { name, sql: queries::sql(name, board)? }));
        json::print(&queries.collect::<Result<Vec<_>>>()?)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut out = io::stdout().lock();
    match name {
        Some(name) => drop(writeln!(out, "{}", queries::sql(name, board)?)),
        None => {
            for name in queries::NAMES.iter().chain(&queries::OTHERS) {
                let _ = writeln!(out, "-- {name}\n{};\n", queries::sql(name, board)?);
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn answer(tables: &Tables, name: &str, board: Option<&str>) -> Result<Answer> {
    let answer = tables.ask(&queries::sql(name, board)?).await?;
    if name != "regressions" {
        return Ok(answer);
    }
    let series = tables.ask(&queries::sql("series", board)?).await?;
    Ok(change::with_significance(answer, &series))
}

fn print_answer(answer: &Answer, format: Format) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    match answer.write(format, &mut out).and_then(|()| out.flush()) {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(e) => Err(Diagnostic::new("writing the answer", e, "free space, or choose another place")),
    }
}
