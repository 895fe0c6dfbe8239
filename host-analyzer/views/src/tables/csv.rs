//! CSV by RFC 4180: commas, a header line, quotes for values that need them; unknown values are
//! empty. Line ends are LF, not CRLF, as most tools write and all tools read.

use std::io::{self, Write};

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, BooleanArray, Int32Array, Int64Array, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;

use super::Table;
use super::column::{self, Coded};
use crate::foreign::field;

/// One column of a chunk, for writing cell by cell.
enum Column<'a> {
    I64(&'a Int64Array),
    I32(&'a Int32Array),
    U64(&'a UInt64Array),
    U32(&'a UInt32Array),
    U16(&'a UInt16Array),
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    /// Indices, and the quoted texts that they refer to.
    Coded(&'a Coded, Vec<String>),
}

/// Writes a table.
pub(super) fn write(table: &impl Table, out: &mut dyn Write) -> io::Result<()> {
    let mut line = Vec::new();
    let names: Vec<_> = table.rows(0..0).columns.iter().map(|f| field(&f.name)).collect();
    writeln!(out, "{}", names.join(","))?;
    for rows in table.parts() {
        let part = table.rows(rows);
        let columns = part.columns.iter().map(|f| column(&f.column)).collect::<io::Result<Vec<_>>>()?;
        for row in 0..part.rows {
            for column in &columns {
                cell(column, row, &mut line);
                line.push(b',');
            }
            line.pop();
            line.push(b'\n');
            if line.len() > 1 << 16 {
                out.write_all(&line)?;
                line.clear();
            }
        }
    }
    out.write_all(&line)
}

fn column(column: &column::Column) -> io::Result<Column<'_>> {
    let array = match column {
        column::Column::Each(array) => array,
        column::Column::Coded(coded) => {
            let list = coded.values.written().iter().map(|text| field(text)).collect();
            return Ok(Column::Coded(coded, list));
        }
    };
    Ok(match array.data_type() {
        DataType::Int64 => Column::I64(array.as_primitive()),
        DataType::Int32 => Column::I32(array.as_primitive()),
        DataType::UInt64 => Column::U64(array.as_primitive()),
        DataType::UInt32 => Column::U32(array.as_primitive()),
        DataType::UInt16 => Column::U16(array.as_primitive()),
        DataType::Boolean => Column::Bool(array.as_boolean()),
        DataType::Utf8 => Column::Text(array.as_string()),
        other => return Err(io::Error::other(format!("no CSV for a column of type {other}"))),
    })
}

fn cell(column: &Column<'_>, row: usize, line: &mut Vec<u8>) {
    let mut digits = itoa::Buffer::new();
    match column {
        Column::I64(a) if a.is_valid(row) => line.extend(digits.format(a.value(row)).as_bytes()),
        Column::I32(a) if a.is_valid(row) => line.extend(digits.format(a.value(row)).as_bytes()),
        Column::U64(a) if a.is_valid(row) => line.extend(digits.format(a.value(row)).as_bytes()),
        Column::U32(a) if a.is_valid(row) => line.extend(digits.format(a.value(row)).as_bytes()),
        Column::U16(a) if a.is_valid(row) => line.extend(digits.format(a.value(row)).as_bytes()),
        Column::Bool(a) => line.extend(if a.value(row) { "true" } else { "false" }.as_bytes()),
        Column::Text(a) if a.is_valid(row) => line.extend(field(a.value(row)).as_bytes()),
        Column::Coded(coded, list) => {
            if let Some(text) = list.get(coded.place(row) as usize) {
                line.extend(text.as_bytes());
            }
        }
        _ => {}
    }
}
