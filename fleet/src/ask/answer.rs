//! An answer: named columns and rows of plain values, and its output formats.

use std::io::{self, Write};

use datafusion::arrow::array::{Array, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{
    DataType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Schema, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;

use crate::cli::Format;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Value {
    Null,
    /// An integer.
    Int(i128),
    Float(f64),
    Flag(bool),
    /// Text, and all other types as text.
    Text(String),
}

/// The result of a query.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Answer {
    pub(crate) columns: Vec<String>,
    /// One value per column in each row.
    pub(crate) rows: Vec<Vec<Value>>,
}

impl Answer {
    pub(super) fn new(schema: &Schema, batches: &[RecordBatch]) -> Result<Self> {
        let columns = schema.fields().iter().map(|f| f.name().clone()).collect();
        let mut rows = Vec::new();
        for batch in batches {
            let arrays = batch.columns().iter().map(|a| values(a)).collect::<Result<Vec<_>>>()?;
            rows.extend((0..batch.num_rows()).map(|i| arrays.iter().map(|a| a[i].clone()).collect()));
        }
        Ok(Self { columns, rows })
    }

    /// Position of a column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c == name)
    }

    /// The value of a column in a row. Null if there is no such column.
    pub(crate) fn get<'a>(&self, row: &'a [Value], name: &str) -> &'a Value {
        self.column(name).and_then(|i| row.get(i)).unwrap_or(&Value::Null)
    }

    pub(super) fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Table => self.table(out),
            Format::Csv => self.csv(out),
            Format::Json => self.json(out),
        }
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.columns.iter().map(|c| one_line(c)).collect::<Vec<_>>();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|r| r.iter().map(Value::shown).collect()).collect();
        let lines = || std::iter::once(&head).chain(&rows);
        let widths: Vec<usize> =
            (0..head.len()).map(|i| lines().map(|l| l[i].chars().count()).max().unwrap_or(0)).collect();
        for line in lines() {
            let mut text = String::new();
            for (i, (value, width)) in line.iter().zip(&widths).enumerate() {
                let gap = " ".repeat(width - value.chars().count());
                let number = self.rows.iter().all(|r| !matches!(r[i], Value::Text(_) | Value::Flag(_)));
                text += &if number { format!("{gap}{value}  ") } else { format!("{value}{gap}  ") };
            }
            writeln!(out, "{}", text.trim_end())?;
        }
        let n = self.rows.len();
        writeln!(out, "({n} {})", if n == 1 { "row" } else { "rows" })
    }

    fn csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let head: Vec<String> = self.columns.iter().map(|c| field(c)).collect();
        writeln!(out, "{}", head.join(","))?;
        for row in &self.rows {
            let fields: Vec<String> = row
                .iter()
                .map(|value| match value {
                    Value::Text(text) => field(text),
                    value => value.to_string(),
                })
                .collect();
            writeln!(out, "{}", fields.join(","))?;
        }
        Ok(())
    }

    fn json(&self, out: &mut dyn Write) -> io::Result<()> {
        let object = |row: &Vec<Value>| {
            let fields = self.columns.iter().zip(row).map(|(c, v)| format!("{}: {}", quoted(c), v.json()));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(", "))
        };
        let objects: Vec<String> = self.rows.iter().map(object).collect();
        writeln!(out, "[{}]", objects.join(",\n "))
    }
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => Ok(()),
            Self::Int(n) => n.fmt(f),
            // All digits, and a point or an exponent, so that it stays a float.
            Self::Float(n) => write!(f, "{n:?}"),
            Self::Flag(b) => b.fmt(f),
            Self::Text(t) => t.fmt(f),
        }
    }
}

impl Value {
    /// The value as a number, if it is one.
    pub(crate) fn number(&self) -> Option<f64> {
        match self {
            Self::Int(n) => Some(*n as f64),
            Self::Float(n) => Some(*n),
            Self::Null | Self::Flag(_) | Self::Text(_) => None,
        }
    }

    /// For people: floats with five significant digits.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Float(n) if *n == 0.0 => "0".to_owned(),
            Self::Float(n) if n.is_finite() && (1e-4..1e9).contains(&n.abs()) => {
                let digits = 4 - n.abs().log10().floor() as i32;
                format!("{n:.*}", digits.max(0) as usize)
            }
            Self::Float(n) => format!("{n:.3e}"),
            Self::Text(t) => one_line(t),
            other => other.to_string(),
        }
    }

    fn json(&self) -> String {
        match self {
            Self::Float(n) if !n.is_finite() => "null".to_owned(),
            Self::Null => "null".to_owned(),
            Self::Text(t) => quoted(t),
            other => other.to_string(),
        }
    }
}

fn values(array: &dyn Array) -> Result<Vec<Value>> {
    macro_rules! whole {
        ($type:ty) => {
            Ok(array
                .as_primitive::<$type>()
                .iter()
                .map(|v| v.map_or(Value::Null, |v| Value::Int(i128::from(v))))
                .collect())
        };
    }
    macro_rules! float {
        ($type:ty) => {
            Ok(array
                .as_primitive::<$type>()
                .iter()
                .map(|v| v.map_or(Value::Null, |v| Value::Float(f64::from(v))))
                .collect())
        };
    }
    match array.data_type() {
        DataType::Int8 => whole!(Int8Type),
        DataType::Int16 => whole!(Int16Type),
        DataType::Int32 => whole!(Int32Type),
        DataType::Int64 => whole!(Int64Type),
        DataType::UInt8 => whole!(UInt8Type),
        DataType::UInt16 => whole!(UInt16Type),
        DataType::UInt32 => whole!(UInt32Type),
        DataType::UInt64 => whole!(UInt64Type),
        DataType::Float32 => float!(Float32Type),
        DataType::Float64 => float!(Float64Type),
        DataType::Boolean => {
            Ok(array.as_boolean().iter().map(|v| v.map_or(Value::Null, Value::Flag)).collect())
        }
        _ => {
            let options = FormatOptions::default();
            let texts = ArrayFormatter::try_new(array, &options)?;
            let value =
                |i| if array.is_null(i) { Value::Null } else { Value::Text(texts.value(i).to_string()) };
            Ok((0..array.len()).map(value).collect())
        }
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Text for a line of the terminal, without characters that move the cursor or change colours.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

/// Text for CSV. Puts a `'` before text that a spreadsheet would interpret as a formula.
fn field(text: &str) -> String {
    let formula = text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']);
    let text = if formula { format!("'{text}") } else { text.to_owned() };
    if text.contains(['"', ',', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}
