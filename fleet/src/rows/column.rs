//! Columns: what each is called, of what kind it is, and where in the JSON its value is.

use datafusion::arrow::datatypes::{DataType, Field};
use serde_json::Value;

use crate::summary::{flag, float, int, text};

/// A value of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Not seen.
    Null,
    /// A number of something: nanoseconds, bytes, calls.
    Int(i64),
    /// A rate, a share, a mean.
    Float(f64),
    /// A name.
    Text(String),
    /// Yes or no.
    Flag(bool),
}

/// Kinds of values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Int,
    Float,
    Text,
    Flag,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Column {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    /// Its value, of the summary or of one object in a list of it.
    pub(crate) of: fn(&Value) -> Cell,
}

impl Column {
    pub(super) fn field(&self) -> Field {
        let kind = match self.kind {
            Kind::Int => DataType::Int64,
            Kind::Float => DataType::Float64,
            Kind::Text => DataType::Utf8,
            Kind::Flag => DataType::Boolean,
        };
        Field::new(self.name, kind, true)
    }
}

impl From<Option<i64>> for Cell {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Self::Null, Self::Int)
    }
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.filter(|f| f.is_finite()).map_or(Self::Null, Self::Float)
    }
}

impl From<Option<String>> for Cell {
    fn from(value: Option<String>) -> Self {
        value.map_or(Self::Null, Self::Text)
    }
}

impl From<Option<bool>> for Cell {
    fn from(value: Option<bool>) -> Self {
        value.map_or(Self::Null, Self::Flag)
    }
}

/// What a path in the JSON may give.
pub(super) trait Read: Sized {
    const KIND: Kind;
    fn read(value: &Value, path: &str) -> Option<Self>;
}

macro_rules! read {
    ($type:ty, $kind:ident, $function:ident) => {
        impl Read for $type {
            const KIND: Kind = Kind::$kind;
            fn read(value: &Value, path: &str) -> Option<Self> {
                $function(value, path)
            }
        }
    };
}
read!(i64, Int, int);
read!(f64, Float, float);
read!(String, Text, text);
read!(bool, Flag, flag);

/// Columns: `name: type = "path"` as it stands in the JSON, or `name: type = function` of the JSON.
macro_rules! columns {
    ($($name:ident : $type:ty = $from:tt),* $(,)?) => {
        &[$(crate::rows::column::Column {
            name: stringify!($name),
            kind: <$type as crate::rows::column::Read>::KIND,
            of: |value| {
                let found: Option<$type> = crate::rows::column::columns!(@ $type, value, $from);
                found.into()
            },
        }),*]
    };
    (@ $type:ty, $value:ident, $path:literal) => {
        <$type as crate::rows::column::Read>::read($value, $path)
    };
    (@ $type:ty, $value:ident, $function:ident) => { $function($value) };
}
pub(super) use columns;
