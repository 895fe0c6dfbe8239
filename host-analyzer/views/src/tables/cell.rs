//! The cells of a table, one by one, whatever form their column has.

use std::io;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, BooleanArray, Int32Array, Int64Array, StringArray, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_schema::DataType;

use super::Table;
use super::column::{Coded, Column, Values};

/// A value of a row and column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// Unknown, or absent.
    Null,
    Int(i128),
    Bool(bool),
    Text(&'a str),
}

/// A column of a chunk.
pub(super) enum Cells<'a> {
    I64(&'a Int64Array),
    I32(&'a Int32Array),
    U64(&'a UInt64Array),
    U32(&'a UInt32Array),
    U16(&'a UInt16Array),
    Bool(&'a BooleanArray),
    Text(&'a StringArray),
    Coded(&'a Coded),
}

impl<'a> Cells<'a> {
    /// # Errors
    /// If no table has columns of this type.
    pub(super) fn new(column: &'a Column) -> io::Result<Self> {
        let array = match column {
            Column::Each(array) => array,
            Column::Coded(coded) => return Ok(Self::Coded(coded)),
        };
        Ok(match array.data_type() {
            DataType::Int64 => Self::I64(array.as_primitive()),
            DataType::Int32 => Self::I32(array.as_primitive()),
            DataType::UInt64 => Self::U64(array.as_primitive()),
            DataType::UInt32 => Self::U32(array.as_primitive()),
            DataType::UInt16 => Self::U16(array.as_primitive()),
            DataType::Boolean => Self::Bool(array.as_boolean()),
            DataType::Utf8 => Self::Text(array.as_string()),
            other => return Err(io::Error::other(format!("no cells of a column of type {other}"))),
        })
    }

    /// The value in a row of the chunk.
    pub(super) fn get(&self, row: usize) -> Cell<'a> {
        match *self {
            Self::I64(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::I32(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::U64(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::U32(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::U16(a) if a.is_valid(row) => Cell::Int(a.value(row).into()),
            Self::Bool(a) if a.is_valid(row) => Cell::Bool(a.value(row)),
            Self::Text(a) if a.is_valid(row) => Cell::Text(a.value(row)),
            Self::Coded(coded) => of_list(&coded.values, coded.place(row) as usize),
            _ => Cell::Null,
        }
    }
}

/// The value at a place of a list; none has the place of absent values.
fn of_list(values: &Values, place: usize) -> Cell<'_> {
    let int = |n: Option<i128>| n.map_or(Cell::Null, Cell::Int);
    match values {
        Values::U16(v) => int(v.get(place).map(|n| (*n).into())),
        Values::U32(v) => int(v.get(place).map(|n| (*n).into())),
        Values::U64(v) => int(v.get(place).map(|n| (*n).into())),
        Values::Texts(v) => v.get(place).map_or(Cell::Null, |text| Cell::Text(text)),
    }
}

/// Names of the columns of a table.
pub(super) fn columns(table: &impl Table) -> Vec<String> {
    table.rows(0..0).columns.into_iter().map(|column| column.name).collect()
}

/// Passes the cells of each row to `each`.
pub(super) fn rows(table: &impl Table, each: &mut dyn FnMut(&[Cell<'_>])) -> io::Result<()> {
    for rows in table.parts() {
        let part = table.rows(rows);
        let columns = part.columns.iter().map(|f| Cells::new(&f.column)).collect::<io::Result<Vec<_>>>()?;
        let mut cells = Vec::with_capacity(columns.len());
        for row in 0..part.rows {
            cells.clear();
            cells.extend(columns.iter().map(|column| column.get(row)));
            each(&cells);
        }
    }
    Ok(())
}
