//! The published form of results: from the structs of the analyses to those of `profinfer-schema`.
//!
//! Stage: view. From: analysis. To: the structs that are written. Promises: this module names every
//! field of a result, so a new field is a compile error until it is published or left out; renaming
//! a field of an analysis changes no byte of a file.

use profinfer_analysis::fact::reading::{Limit, Reading};
use profinfer_schema as schema;

/// Has a published form.
pub(crate) trait Publish {
    type Form;

    fn publish(&self) -> Self::Form;
}

/// Structs whose fields are published. Those after `+` get a new name, those after `-` are left out.
macro_rules! fields {
    ($($($from:ident)::+ => $to:ident { $($field:ident),* $(,)? }
        $(+ { $($inner:ident => $outer:ident),* })? $(- { $($out:ident),* })?)*) => {$(
        impl Publish for $($from)::+ {
            type Form = profinfer_schema::$to;

            fn publish(&self) -> Self::Form {
                let Self { $($field,)* $($($inner,)*)? $($($out: _,)*)? } = self;
                profinfer_schema::$to {
                    $($field: $field.publish(),)*
                    $($($outer: $inner.publish(),)*)?
                }
            }
        }
    )*};
}

/// Enums whose variants are published under the same names. Those after `+` get a new name.
macro_rules! names {
    ($($($from:ident)::+ => $to:ident { $($name:ident),* $(,)? }
        $(+ { $($inner:ident => $outer:ident),* })?)*) => {$(
        impl Publish for $($from)::+ {
            type Form = profinfer_schema::$to;

            fn publish(&self) -> Self::Form {
                match self {
                    $(Self::$name => profinfer_schema::$to::$name,)*
                    $($(Self::$inner => profinfer_schema::$to::$outer,)*)?
                }
            }
        }
    )*};
}

/// Numbers are published unchanged.
macro_rules! plain {
    ($($plain:ty)*) => {$(
        impl Publish for $plain {
            type Form = Self;

            fn publish(&self) -> Self {
                *self
            }
        }
    )*};
}

mod accelerator;
mod backends;
mod bound;
mod budget;
mod capture;
mod ceiling;
mod conditions;
mod cost;
mod counter;
mod critical_path;
mod dag;
mod ending;
mod engine;
mod estimate;
mod evidence;
mod expert;
mod findings;
mod gauge;
mod graph;
mod heading;
mod health;
mod kv;
pub(crate) mod ladder;
mod module;
mod nested;
pub(crate) mod op;
mod phase;
mod process;
mod profile;
mod remedy;
mod request;
mod sched;
mod server;
pub(crate) mod session;
mod slowdown;
mod speculative;
mod thing;
mod thread;
mod tokens;
mod track;
mod weights;
pub(crate) mod work;

plain! { bool u8 u16 u32 u64 i32 i64 f64 }

impl Publish for usize {
    type Form = u64;

    fn publish(&self) -> u64 {
        *self as u64
    }
}

impl Publish for &str {
    type Form = String;

    fn publish(&self) -> String {
        (*self).to_owned()
    }
}

impl Publish for String {
    type Form = Self;

    fn publish(&self) -> Self {
        self.clone()
    }
}

impl<T: Publish> Publish for Option<T> {
    type Form = Option<T::Form>;

    fn publish(&self) -> Self::Form {
        self.as_ref().map(T::publish)
    }
}

impl<T: Publish> Publish for [T] {
    type Form = Vec<T::Form>;

    fn publish(&self) -> Self::Form {
        self.iter().map(T::publish).collect()
    }
}

impl<T: Publish> Publish for Vec<T> {
    type Form = Vec<T::Form>;

    fn publish(&self) -> Self::Form {
        self.as_slice().publish()
    }
}

impl<T: Publish, const N: usize> Publish for [T; N] {
    type Form = [T::Form; N];

    fn publish(&self) -> Self::Form {
        self.each_ref().map(T::publish)
    }
}

impl<A: Publish, B: Publish> Publish for (A, B) {
    type Form = (A::Form, B::Form);

    fn publish(&self) -> Self::Form {
        (self.0.publish(), self.1.publish())
    }
}

/// The reasons for absent values are a separate list.
impl<T: Publish> Publish for Reading<T> {
    type Form = Option<T::Form>;

    fn publish(&self) -> Self::Form {
        self.value().map(T::publish)
    }
}

impl<T: Publish> Publish for Limit<T> {
    type Form = schema::Limit<T::Form>;

    fn publish(&self) -> Self::Form {
        match self {
            Self::None => schema::Limit::Unset(schema::Unset::None),
            Self::At(limit) => schema::Limit::At(limit.publish()),
        }
    }
}
