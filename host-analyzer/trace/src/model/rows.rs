//! How many rows a table of columns has.

/// The length of a table: that of the one column that is named, as all are of one length.
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
