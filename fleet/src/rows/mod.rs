//! What a fleet keeps of a recording: rows of three tables.
//!
//! Stage: second. From: a summary. To: rows, with the partition that they belong to. Promises: the same summary gives the same rows; the
//! same recording has the same id, whoever adds it.

mod captures;
mod column;
mod findings;
mod identity;
mod operators;
mod parquet;
pub(crate) mod partition;

use datafusion::arrow::datatypes::{Field, Schema};
use profinfer_schema::Summary;

pub(crate) use column::Cell;
use column::{Column, Kind, field};
pub(crate) use parquet::bytes;
use partition::Partition;

/// Version of the tables, in their rows, in the files' metadata and in the path.
pub(crate) const SCHEMA: i64 = 1;

/// Columns in front of each table's own: which capture a row is of.
const KEYS: [&str; 2] = ["capture", "digest"];

/// One of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    /// A row for each recording. Its file is written last, and makes the others visible.
    Captures,
    /// A row for each operator of each phase.
    Operators,
    /// A row for each rule's verdict.
    Findings,
}

impl Table {
    /// In the order in which they are written.
    pub(crate) const ALL: [Self; 3] = [Self::Operators, Self::Findings, Self::Captures];

    /// Its folder.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Captures => "captures",
            Self::Operators => "operators",
            Self::Findings => "findings",
        }
    }

    fn own(self) -> Vec<Field> {
        match self {
            Self::Captures => captures::COLUMNS.iter().map(Column::field).collect(),
            Self::Operators => operators::COLUMNS.iter().map(Column::field).collect(),
            Self::Findings => findings::COLUMNS.iter().map(Column::field).collect(),
        }
    }

    /// Its columns in the files; those of the partition are in the path.
    pub(crate) fn schema(self) -> Schema {
        let keys = KEYS.map(|name| field(name, Kind::Text));
        Schema::new(keys.into_iter().chain(self.own()).collect::<Vec<_>>())
    }
}

/// All that is kept of one recording.
#[derive(Debug)]
pub(crate) struct Rows {
    /// Identity of the recording.
    pub(crate) id: String,
    /// Digest of the rows, which all of them carry: rows of different attempts are never mixed.
    pub(crate) digest: String,
    /// Where its files go.
    pub(crate) partition: Partition,
    tables: [Vec<Vec<Cell>>; 3],
}

impl Rows {
    /// The rows of a recording of `device`.
    pub(crate) fn from_summary(summary: &Summary, device: Option<&str>) -> Self {
        let tables = Table::ALL.map(|table| match table {
            Table::Captures => vec![captures::row(summary, device)],
            Table::Operators => operators::rows(summary),
            Table::Findings => findings::rows(summary),
        });
        let partition = Partition::from_summary(summary);
        let digest = identity::digest(format!("{SCHEMA} {partition:?} {tables:?}").as_bytes());
        Self { id: identity::id(summary), digest, partition, tables }
    }

    /// The rows of one table, with the keys in front.
    pub(crate) fn table(&self, table: Table) -> Vec<Vec<Cell>> {
        let keys = [Cell::Text(self.id.clone()), Cell::Text(self.digest.clone())];
        let at = Table::ALL.iter().position(|t| *t == table).unwrap_or_default();
        self.tables[at].iter().map(|row| keys.iter().chain(row).cloned().collect()).collect()
    }
}

#[cfg(test)]
mod tests;
