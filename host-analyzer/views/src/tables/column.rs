//! The columns of a chunk of a table.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_schema::DataType;

/// Some rows of a table, column by column.
pub(super) struct Part {
    pub(super) rows: usize,
    pub(super) columns: Vec<Field>,
}

/// A column with its name.
pub(super) struct Field {
    pub(super) name: String,
    /// A value may be absent.
    pub(super) nullable: bool,
    pub(super) column: Column,
}

/// The values of a column.
pub(super) enum Column {
    /// One per row.
    Each(ArrayRef),
    /// A list, and for each row an index into it.
    Coded(Coded),
}

/// A column whose values repeat. The index has two steps: columns that depend on the same thing (a
/// node, for example) share the keys of the rows. No lookup, comparison or hash per row is needed.
pub(super) struct Coded {
    /// Every value that occurs, once; readers rely on that.
    pub(super) values: Values,
    /// By key, the index of its value; [`ABSENT`] for none.
    pub(super) places: Vec<u32>,
    /// By row, its key.
    pub(super) keys: Arc<[u32]>,
}

/// Index of an absent value.
pub(super) const ABSENT: u32 = u32::MAX;

/// The list of a coded column.
pub(super) enum Values {
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    Texts(Vec<String>),
}

impl Part {
    pub(super) fn new<'a>(rows: usize, columns: impl IntoIterator<Item = (&'a str, Column, bool)>) -> Self {
        let field =
            |(name, column, nullable): (&str, _, _)| Field { name: name.to_owned(), nullable, column };
        Self { rows, columns: columns.into_iter().map(field).collect() }
    }
}

impl Column {
    /// Type for readers. A list of texts stays a list there.
    pub(super) fn data_type(&self) -> DataType {
        match self {
            Self::Each(array) => array.data_type().clone(),
            Self::Coded(Coded { values, .. }) => match values {
                Values::U16(_) => DataType::UInt16,
                Values::U32(_) => DataType::UInt32,
                Values::U64(_) => DataType::UInt64,
                Values::Texts(_) => DataType::Dictionary(DataType::UInt32.into(), DataType::Utf8.into()),
            },
        }
    }

    /// A coded column of the values of the keys. Every key must occur in a row.
    pub(super) fn coded<T: Copy + Eq + Hash>(
        keys: &Arc<[u32]>,
        of_keys: impl Iterator<Item = Option<T>>,
        list: impl FnOnce(Vec<T>) -> Values,
    ) -> Self {
        let (mut values, mut known) = (Vec::new(), HashMap::new());
        let mut place = |value: T| {
            *known.entry(value).or_insert_with(|| {
                values.push(value);
                u32::try_from(values.len() - 1).unwrap_or(ABSENT)
            })
        };
        let places = of_keys.map(|value| value.map_or(ABSENT, &mut place)).collect();
        Self::Coded(Coded { values: list(values), places, keys: Arc::clone(keys) })
    }
}

impl Coded {
    /// Index of the value of a row.
    pub(super) fn place(&self, row: usize) -> u32 {
        self.places[self.keys[row] as usize]
    }
}

impl Values {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::U16(v) => v.len(),
            Self::U32(v) => v.len(),
            Self::U64(v) => v.len(),
            Self::Texts(v) => v.len(),
        }
    }

    /// Texts, from borrowed ones.
    pub(super) fn texts(list: Vec<&str>) -> Self {
        Self::Texts(list.into_iter().map(str::to_owned).collect())
    }
}
