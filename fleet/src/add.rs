//! `fleet add`: writes recordings to the files of a fleet.
//!
//! Writes the operators and findings of a recording first, and the capture last: its file makes the
//! others visible. So a writer may be killed at any time, and several may write at the same time.

use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;

use profinfer_cli::{Diagnostic, Result};
use serde::Serialize;

use crate::cli::Add;
use crate::json;
use crate::place::{Place, Written};
use crate::rows::{self, Rows, Table};
use crate::source;

/// Number of sources by result.
#[derive(Debug, Default, Serialize)]
struct Tally {
    added: usize,
    present: usize,
    failed: usize,
}

/// Adds all sources that can be added. The exit status is 1 if one failed.
pub(crate) async fn add(options: &Add) -> Result<ExitCode> {
    let place = Place::new(&options.to)?;
    let there = Mutex::new(place.captures().await?);
    let mut tally = Tally::default();
    for source in &options.sources {
        match one(source, options, &place, &there).await {
            Ok(Written::New) => tally.added += 1,
            Ok(Written::ThereAlready) => tally.present += 1,
            Err(e) => {
                tally.failed += 1;
                json::print_error(&e, options.format.is_json());
            }
        }
    }
    if options.format.is_json() {
        json::print(&tally)?;
    } else {
        let mut line = format!("{} added, {} already present", tally.added, tally.present);
        if tally.failed > 0 {
            line += &format!(", {} failed", tally.failed);
        }
        let _ = writeln!(std::io::stdout(), "{line}");
    }
    Ok(if tally.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn one(
    source: &Path,
    options: &Add,
    place: &Place,
    there: &Mutex<BTreeSet<String>>,
) -> Result<Written> {
    let summary = source::summary(source, options.analyze.as_deref())?;
    let rows = Rows::from_summary(&summary, options.device.as_deref());
    let known =
        |id: &str| there.lock().map_or_else(|e| e.into_inner().contains(id), |there| there.contains(id));
    if known(&rows.id) {
        return Ok(Written::ThereAlready);
    }
    let mut written = Written::New;
    for table in Table::ALL {
        let bytes = rows::bytes(&rows, table).map_err(|e| {
            Diagnostic::new(
                format!("making rows of {}", source.display()),
                e,
                "report this error, with the recording",
            )
        })?;
        written = place.create(&path(&rows, table), bytes).await?;
    }
    if let Ok(mut there) = there.lock() {
        there.insert(rows.id);
    }
    Ok(written)
}

/// A capture's file has the ID of the recording, so that it exists once. The other files also have
/// the digest of their rows: an earlier attempt, perhaps by another version, wrote other files,
/// which this capture does not name.
fn path(rows: &Rows, table: Table) -> String {
    let name = match table {
        Table::Captures => rows.id.clone(),
        Table::Operators | Table::Findings => format!("{}-{}", rows.id, rows.digest),
    };
    format!("{}/{}/{name}.parquet", table.name(), rows.partition.path())
}
