//! Rows as a Parquet file.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::error::Result;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::metadata::KeyValue;
use datafusion::parquet::file::properties::WriterProperties;

use super::{Cell, Rows, SCHEMA, Table};

/// Key in the metadata of the file, next to Arrow's own.
const VERSION_KEY: &str = "profinfer.fleet.schema";

/// The file of one table of a capture. Equal rows give equal bytes. Not compressed: it has some
/// hundred rows, and every engine can read it.
///
/// # Errors
///
/// Those of the writer.
pub(crate) fn bytes(rows: &Rows, table: Table) -> Result<Vec<u8>> {
    let schema = Arc::new(table.schema());
    let rows = rows.table(table);
    let arrays = schema.fields().iter().enumerate().map(|(i, f)| array(&rows, i, f.data_type())).collect();
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays)?;
    let version = KeyValue::new(VERSION_KEY.to_owned(), SCHEMA.to_string());
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![version])).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), schema, Some(properties))?;
    writer.write(&batch)?;
    Ok(writer.into_inner()?)
}

fn array(rows: &[Vec<Cell>], column: usize, kind: &DataType) -> ArrayRef {
    let cells = rows.iter().map(|row| &row[column]);
    match kind {
        DataType::Int64 => Arc::new(Int64Array::from_iter(cells.map(|c| match c {
            Cell::Int(n) => Some(*n),
            _ => None,
        }))),
        DataType::Float64 => Arc::new(Float64Array::from_iter(cells.map(|c| match c {
            Cell::Float(f) => Some(*f),
            _ => None,
        }))),
        DataType::Boolean => Arc::new(BooleanArray::from_iter(cells.map(|c| match c {
            Cell::Flag(b) => Some(*b),
            _ => None,
        }))),
        _ => Arc::new(StringArray::from_iter(cells.map(|c| match c {
            Cell::Text(t) => Some(t.as_str()),
            _ => None,
        }))),
    }
}
