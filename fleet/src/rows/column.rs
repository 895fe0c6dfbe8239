//! Columns: name, type, and the function that gets the value.

use datafusion::arrow::datatypes::{DataType, Field};
use serde::Serialize;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    /// Not known.
    Null,
    /// A number: nanoseconds, bytes, calls.
    Int(i64),
    /// A rate, a share, a mean.
    Float(f64),
    Text(String),
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

/// A column of a table with rows of `T`.
#[derive(Debug)]
pub(crate) struct Column<T> {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) of: fn(&T) -> Cell,
}

impl<T> Column<T> {
    pub(super) fn field(&self) -> Field {
        field(self.name, self.kind)
    }
}

pub(super) fn field(name: &str, kind: Kind) -> Field {
    let kind = match kind {
        Kind::Int => DataType::Int64,
        Kind::Float => DataType::Float64,
        Kind::Text => DataType::Utf8,
        Kind::Flag => DataType::Boolean,
    };
    Field::new(name, kind, true)
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

/// A type of a column.
pub(super) trait Kinded {
    const KIND: Kind;
}

/// A value in the type of a column. `None` if it does not fit.
pub(super) trait As<T> {
    fn get(&self) -> Option<T>;
}

impl<T, V: As<T>> As<T> for Option<V> {
    fn get(&self) -> Option<T> {
        self.as_ref()?.get()
    }
}

macro_rules! kinds {
    ($($type:ty = $kind:ident { $($($from:ty)* => |$value:ident| $get:expr;)* })*) => {$(
        impl Kinded for $type {
            const KIND: Kind = Kind::$kind;
        }
        $($(impl As<$type> for $from {
            fn get(&self) -> Option<$type> {
                let $value = self;
                $get
            }
        })*)*
    )*};
}
kinds! {
    i64 = Int {
        i64 => |value| Some(*value);
        i32 u32 u16 => |value| Some((*value).into());
        u64 => |value| (*value).try_into().ok();
    }
    f64 = Float { f64 => |value| Some(*value); }
    bool = Flag { bool => |value| Some(*value); }
    String = Text { str &str String => |value| text(value); }
}

/// Text, if it is not empty. NUL becomes a space, because some Parquet readers end text there.
pub(super) fn text(value: &str) -> Option<String> {
    Some(value.replace('\0', " ")).filter(|text| !text.is_empty())
}

/// The text of a schema enum.
pub(super) fn name(value: &impl Serialize) -> Option<String> {
    text(serde_json::to_value(value).ok()?.as_str()?)
}

/// Columns of one row type: `name: type = value`.
macro_rules! columns {
    (|$row:ident: $from:ty| $($name:ident : $type:ty = $value:expr),* $(,)?) => {
        &[$(crate::rows::column::Column {
            name: stringify!($name),
            kind: <$type as crate::rows::column::Kinded>::KIND,
            of: |$row: &$from| {
                // Some columns are constant.
                let _ = $row;
                let found: Option<$type> = crate::rows::column::As::get(&$value);
                found.into()
            },
        }),*]
    };
}
pub(super) use columns;
