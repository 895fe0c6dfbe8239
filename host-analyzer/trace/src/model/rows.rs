//! Number of rows of a table of columns.

/// The length of a table is that of the named column, as all columns have one length.
macro_rules! rows {
    ($table:ty, $column:ident) => {
        impl $table {
            /// Number of rows.
            #[must_use]
            pub fn len(&self) -> usize {
                self.$column.len()
            }

            /// It has no row.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.$column.is_empty()
            }
        }
    };
}

pub(super) use rows;
