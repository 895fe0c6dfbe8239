//! Parquet.

mod coded;
mod hybrid;

use std::io::{self, Write};
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::compute_leaves;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use self::coded::Chunks;
use super::Table;
use super::column::{Column, Part};

/// Level of zstd.
const LEVEL: i32 = 1;

/// Writes a table.
pub(super) fn write(table: &impl Table, out: &mut dyn Write) -> io::Result<()> {
    write_all(table, out).map_err(from_parquet)
}

fn write_all(table: &impl Table, out: &mut dyn Write) -> Result<(), ParquetError> {
    let schema = Arc::new(schema(&table.rows(0..0)));
    // The writer requires a sink that is `Send`; a buffer is.
    let writer = ArrowWriter::try_new(Vec::new(), Arc::clone(&schema), Some(properties(&schema)?))?;
    let (mut writer, factory) = writer.into_serialized_writer()?;
    let described = writer.schema_descr().columns().to_vec();
    let mut chunks = Chunks::new()?;
    for (n, rows) in table.parts().filter(|rows| !rows.is_empty()).enumerate() {
        let part = table.rows(rows);
        // A chunk is a row group, which the writer then releases.
        let mut group = writer.next_row_group()?;
        let plain = factory.create_column_writers(n)?;
        let columns = schema.fields().iter().zip(&described).zip(plain).zip(&part.columns);
        for (((field, described), mut plain), written) in columns {
            match &written.column {
                Column::Each(array) => {
                    for leaf in compute_leaves(field, array)? {
                        plain.write(&leaf)?;
                    }
                    plain.close()?.append_to_row_group(&mut group)?;
                }
                Column::Coded(coded) => {
                    let (bytes, close) = chunks.chunk(coded, described)?;
                    group.append_column(&bytes, close)?;
                }
            }
        }
        group.close()?;
        out.write_all(writer.inner())?;
        writer.inner_mut().clear();
    }
    out.write_all(&writer.into_inner()?)?;
    Ok(())
}

fn schema(part: &Part) -> Schema {
    let field = |f: &super::column::Field| Field::new(&f.name, f.column.data_type(), f.nullable);
    Schema::new(part.columns.iter().map(field).collect::<Vec<_>>())
}

fn properties(schema: &Schema) -> Result<WriterProperties, ParquetError> {
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(LEVEL)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        // The offset index is for readers that skip pages by statistics, which these pages do not have.
        .set_offset_index_disabled(true)
        .set_created_by("ProfInfer analyze".into());
    // Times rarely repeat but differ little: a dictionary costs time and gains nothing.
    for field in schema.fields() {
        if field.data_type() == &DataType::Int64 {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    Ok(properties.build())
}

fn from_parquet(e: ParquetError) -> io::Error {
    match e {
        ParquetError::External(e) => match e.downcast::<io::Error>() {
            Ok(io) => *io,
            Err(e) => io::Error::other(e),
        },
        e => io::Error::other(e),
    }
}
