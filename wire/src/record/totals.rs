//! Records of totals. A reader gets their numbers by field name and needs no list of its own.

/// Declares a record whose fields are all numbers, and reads them by name.
macro_rules! totals {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])* pub $field:ident: u64,)+ }) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* pub $field: u64,)+
        }

        impl $name {
            /// Every number with the name of its field, in the order of the wire.
            #[must_use]
            pub const fn fields(&self) -> [(&'static str, u64); [$(stringify!($field)),+].len()] {
                [$((stringify!($field), self.$field)),+]
            }
        }
    };
}

pub(super) use totals;
