//! Parquet.

use std::io::{self, Write};

use arrow_schema::DataType;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;

use super::Table;

/// Writes a table.
pub(super) fn write(table: &impl Table, out: &mut dyn Write) -> io::Result<()> {
    let first = table.rows(0..0).map_err(io::Error::other)?;
    let mut properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::try_new(1).map_err(from_parquet)?))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_created_by("ProfInfer analyze".into());
    // Times hardly ever repeat but differ little: a dictionary costs time and gains nothing.
    for field in first.schema().fields() {
        if field.data_type() == &DataType::Int64 {
            let column = ColumnPath::from(field.name().as_str());
            properties = properties
                .set_column_dictionary_enabled(column.clone(), false)
                .set_column_encoding(column, Encoding::DELTA_BINARY_PACKED);
        }
    }
    // The writer wants a sink that may be sent to another thread; a buffer is one.
    let mut buffer = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut buffer, first.schema(), Some(properties.build())).map_err(from_parquet)?;
    for rows in table.parts() {
        writer.write(&table.rows(rows).map_err(io::Error::other)?).map_err(from_parquet)?;
        // A part is a row group, and then leaves the memory of the writer.
        writer.flush().map_err(from_parquet)?;
        out.write_all(writer.inner())?;
        writer.inner_mut().clear();
    }
    writer.close().map_err(from_parquet)?;
    out.write_all(&buffer)
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
