//! `analyze-fleet`, which `analyze fleet` executes: many recordings in one place.
//!
//! ```text
//! fleet add RECORDING|FOLDER... --to PLACE    summary.json of each ─▶ rows ─▶ Parquet in PLACE
//! fleet sql QUERY --in PLACE                  tables ─▶ DataFusion ─▶ table, CSV or JSON
//! fleet trend|regressions|ranking|outliers    prepared queries
//! fleet queries [NAME]                        their SQL, for other engines
//! fleet report --in PLACE                     one page
//! ```
//!
//! It depends on `analyze` only through `profinfer-schema`.

mod add;
mod ask;
mod cli;
mod json;
mod page;
mod place;
mod rows;
mod source;
mod summary;

use std::process::ExitCode;

use clap::Parser;
use profinfer_cli::{Diagnostic, Result};

use cli::{Cli, Command};

fn main() -> ExitCode {
    let cli = Cli::parse();
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(e) => {
            let e = Diagnostic::new("starting threads", e, "allow more threads or memory");
            return ended(Err(e), cli.command.is_json());
        }
    };
    ask::keep_panics();
    let result = runtime.block_on(async {
        match &cli.command {
            Command::Add(options) => add::add(options).await,
            Command::Sql { query, place, format } => ask::sql(query, place, *format).await,
            Command::Queries { name, board, format } => {
                ask::print(name.as_deref(), board.as_deref(), format.is_json())
            }
            Command::Trend(options) => ask::ready("trend", options).await,
            Command::Regressions(options) => ask::ready("regressions", options).await,
            Command::Ranking(options) => ask::ready("ranking", options).await,
            Command::Outliers(options) => ask::ready("outliers", options).await,
            Command::Report { place, out, format } => page::report(place, out, format.is_json()).await,
        }
    });
    ended(result, cli.command.is_json())
}

fn ended(result: Result<ExitCode>, is_json: bool) -> ExitCode {
    result.unwrap_or_else(|e| {
        json::print_error(&e, is_json);
        ExitCode::FAILURE
    })
}
