//! Tables: spans, decode calls, experts and threads, as Parquet and CSV.
//!
//! Stage: view. From: model and analysis. To: columns (one file per table here), which `parquet` and
//! `csv` write. Promises: both formats have the same columns and rows, which docs/output-schema.md
//! lists; a table is built and written in chunks, so memory never holds a second copy of it.

mod cell;
mod column;
mod csv;
mod experts;
mod keys;
mod ops;
mod parquet;
mod threads;
mod tokens;

use std::collections::HashMap;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Int64Array, StringArray, UInt32Array, UInt64Array};

pub use self::cell::Cell;
use self::column::{Coded, Column, Part, Values};
use profinfer_analysis::Analysis;
use profinfer_trace::model::Model;

/// Rows per chunk: small enough to stay in memory, large enough to compress well.
const CHUNK: usize = 1 << 17;

/// A table that is built in chunks.
trait Table {
    fn len(&self) -> usize;
    /// A chunk of rows. All chunks have the same columns, even a chunk without rows.
    fn rows(&self, rows: Range<usize>) -> Part;
    /// Chunks that cover all rows; at least one, because a file without rows has columns too.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let len = self.len();
        (0..len.max(1)).step_by(CHUNK).map(move |start| start..(start + CHUNK).min(len))
    }
}

macro_rules! views {
    ($($(#[$doc:meta])* $name:ident = $write:path, $table:path;)*) => {
        $(
            $(#[$doc])*
            ///
            /// # Errors
            /// Those of `out`.
            pub fn $name(model: &Model, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
                $write(&$table(model, analysis), out)
            }
        )*
    };
}

views! {
    /// `ops.parquet`: one row per span.
    ops_parquet = parquet::write, ops::Ops::new;
    /// `ops.csv`: one row per span.
    ops_csv = csv::write, ops::Ops::new;
    /// `tokens.parquet`: one row per decode call.
    tokens_parquet = parquet::write, tokens::Tokens::new;
    /// `tokens.csv`: one row per decode call.
    tokens_csv = csv::write, tokens::Tokens::new;
    /// `experts.parquet`: one row per expert of a token.
    experts_parquet = parquet::write, experts::Experts::new;
    /// `experts.csv`: one row per expert of a token.
    experts_csv = csv::write, experts::Experts::new;
    /// `threads.parquet`: one row per thread.
    threads_parquet = parquet::write, threads::Threads::new;
    /// `threads.csv`: one row per thread.
    threads_csv = csv::write, threads::Threads::new;
}

macro_rules! by_name {
    ($name:expr, $model:expr, $analysis:expr, $with:expr) => {
        match $name {
            "ops" => Some(($with)(&ops::Ops::new($model, $analysis))),
            "tokens" => Some(($with)(&tokens::Tokens::new($model, $analysis))),
            "experts" => Some(($with)(&experts::Experts::new($model, $analysis))),
            "threads" => Some(($with)(&threads::Threads::new($model, $analysis))),
            _ => None,
        }
    };
}

/// Names of the columns of a table of [`profinfer_schema::TABLES`]; `None` if there is no such table.
#[must_use]
pub fn columns(name: &str, model: &Model, analysis: &Analysis) -> Option<Vec<String>> {
    by_name!(name, model, analysis, cell::columns)
}

/// Passes the cells of each row of a table to `each`; `None` if there is no such table.
///
/// # Errors
/// If a column has a type without cells, which no table has.
pub fn rows(
    name: &str,
    model: &Model,
    analysis: &Analysis,
    each: &mut dyn FnMut(&[Cell<'_>]),
) -> Option<io::Result<()>> {
    by_name!(name, model, analysis, |table| cell::rows(table, each))
}

/// A column of times. Signed, so that differences of columns do not wrap around in other tools.
fn ns(values: impl Iterator<Item = u64>) -> Column {
    Column::Each(Arc::new(Int64Array::from_iter_values(values.map(signed))))
}

/// A column of times that may be unknown.
fn maybe_ns(values: impl Iterator<Item = Option<u64>>) -> Column {
    Column::Each(Arc::new(values.map(|v| v.map(signed)).collect::<Int64Array>()))
}

fn signed(ns: u64) -> i64 {
    i64::try_from(ns).unwrap_or(i64::MAX)
}

/// A column of ids, indices or counts.
fn u32s(values: impl Iterator<Item = u32>) -> Column {
    Column::Each(Arc::new(UInt32Array::from_iter_values(values)))
}

/// A column of sizes.
fn u64s(values: impl Iterator<Item = u64>) -> Column {
    Column::Each(Arc::new(UInt64Array::from_iter_values(values)))
}

/// A column of sizes or counts that may be unknown.
fn maybe_u64s(values: impl Iterator<Item = Option<u64>>) -> Column {
    Column::Each(Arc::new(values.collect::<UInt64Array>()))
}

/// A column of ids, indices or counts that may be unknown.
fn maybe_u32s(values: impl Iterator<Item = Option<u32>>) -> Column {
    Column::Each(Arc::new(values.collect::<UInt32Array>()))
}

/// A column of texts that repeat: per row a key into a list, which may contain a text several times.
fn texts(keys: impl Iterator<Item = u32>, list: &[&str]) -> Column {
    let (mut values, mut places) = (Vec::new(), vec![column::ABSENT; list.len()]);
    let mut known = HashMap::new();
    let keys: Arc<[u32]> = keys
        .inspect(|key| {
            let place = &mut places[*key as usize];
            if *place == column::ABSENT {
                let text = list[*key as usize];
                *place = *known.entry(text).or_insert_with(|| {
                    values.push(text);
                    u32::try_from(values.len() - 1).unwrap_or(column::ABSENT)
                });
            }
        })
        .collect();
    Column::Coded(Coded { values: Values::texts(values), places, keys })
}

/// A column of CPUs. There are few, and each repeats for many rows.
fn cpus(of_rows: &[Option<u16>]) -> Column {
    // Key 0 means no CPU.
    let most = of_rows.iter().flatten().max().map_or(0, |cpu| usize::from(*cpu) + 1);
    let mut places = vec![column::ABSENT; most + 1];
    let mut values = Vec::new();
    let keys: Arc<[u32]> = of_rows
        .iter()
        .map(|cpu| {
            let Some(cpu) = cpu else { return 0 };
            let key = usize::from(*cpu) + 1;
            if places[key] == column::ABSENT {
                places[key] = u32::try_from(values.len()).unwrap_or(column::ABSENT);
                values.push(*cpu);
            }
            u32::from(*cpu) + 1
        })
        .collect();
    Column::Coded(Coded { values: Values::U16(values), places, keys })
}

/// A column of texts.
fn strings<'a>(values: impl Iterator<Item = Option<&'a str>>) -> Column {
    Column::Each(Arc::new(values.collect::<StringArray>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Arrow's readers deduplicate a list that contains a text twice, and then read wrong indices.
    #[test]
    fn a_list_has_each_text_once() {
        let Column::Coded(coded) = texts([3, 1, 2, 1].into_iter(), &["unused", "a", "b", "a"]) else {
            panic!("no list")
        };
        let Values::Texts(values) = &coded.values else { panic!("no texts") };
        assert_eq!(values, &["a", "b"]);
        assert_eq!((0..4).map(|row| coded.place(row)).collect::<Vec<_>>(), [0, 0, 1, 0]);
    }
}
