//! Reads and writes the kernel side's structs by field name.
//!
//! libbpf-cargo generates the structs from `bpf/include`. A field that moves there moves here, and
//! a renamed field does not compile.

use std::marker::PhantomData;

pub(crate) use super::skel::types;

pub(crate) const fn length<T, const N: usize>(_: fn(&types::bss) -> &[T; N]) -> usize {
    N
}

/// A value in its memory representation.
pub(crate) trait Plain: Sized {
    /// Reads the value from the first bytes.
    fn read(bytes: &[u8]) -> Option<Self>;
    /// Writes the value over the first bytes; does nothing if there are too few.
    fn write(&self, bytes: &mut [u8]);
}

macro_rules! plain {
    ($($number:ty),*) => { $(
        impl Plain for $number {
            fn read(bytes: &[u8]) -> Option<Self> {
                bytes.first_chunk().map(|b| Self::from_ne_bytes(*b))
            }
            fn write(&self, bytes: &mut [u8]) {
                if let Some(b) = bytes.first_chunk_mut() {
                    *b = self.to_ne_bytes();
                }
            }
        }
    )* };
}
plain!(u16, u32, u64, i32);

impl<const N: usize> Plain for [u64; N] {
    fn read(bytes: &[u8]) -> Option<Self> {
        let mut values = [0; N];
        for (value, bytes) in values.iter_mut().zip(bytes.get(..8 * N)?.as_chunks().0) {
            *value = u64::from_ne_bytes(*bytes);
        }
        Some(values)
    }
    fn write(&self, bytes: &mut [u8]) {
        for (value, bytes) in self.iter().zip(bytes.as_chunks_mut().0) {
            *bytes = value.to_ne_bytes();
        }
    }
}

/// The bytes of one `T`.
#[derive(Debug)]
pub(crate) struct View<'a, T> {
    bytes: &'a [u8],
    of: PhantomData<T>,
}

impl<'a, T> View<'a, T> {
    /// `None` if there are too few bytes.
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { bytes: bytes.get(..size_of::<T>())?, of: PhantomData })
    }

    /// The field at `offset`. The function is never called; it only names the field's type.
    pub(crate) fn at<V: Plain>(&self, offset: usize, _: fn(&T) -> &V) -> Option<V> {
        V::read(self.bytes.get(offset..)?)
    }

    /// The bytes of an array field.
    pub(crate) fn bytes_at<V, const N: usize>(
        &self,
        offset: usize,
        _: fn(&T) -> &[V; N],
    ) -> Option<&'a [u8]> {
        self.bytes.get(offset..offset + size_of::<[V; N]>())
    }
}

/// `field!(view, event_op.start_ns)`: that field of a `View<event_op>`, or `None`.
macro_rules! field {
    ($view:expr, $type:ident . $field:ident) => {
        $view.at(
            std::mem::offset_of!($crate::bpf::layout::types::$type, $field),
            |s: &$crate::bpf::layout::types::$type| &s.$field,
        )
    };
}

/// `field_bytes!(view, event_tensor.raw)`: the bytes of that array, or `None`.
macro_rules! field_bytes {
    ($view:expr, $type:ident . $field:ident) => {
        $view.bytes_at(
            std::mem::offset_of!($crate::bpf::layout::types::$type, $field),
            |s: &$crate::bpf::layout::types::$type| &s.$field,
        )
    };
}

/// `bytes_of!(engine_state { held: 1, … })`: the bytes of that struct. All fields must be named, as
/// in a struct literal.
macro_rules! bytes_of {
    ($type:ident { $($field:ident : $value:expr),* $(,)? }) => {{
        let value = $crate::bpf::layout::types::$type { $($field: $value),* };
        let mut bytes = [0u8; size_of::<$crate::bpf::layout::types::$type>()];
        $(
            let at = std::mem::offset_of!($crate::bpf::layout::types::$type, $field);
            $crate::bpf::layout::Plain::write(&value.$field, &mut bytes[at..]);
        )*
        bytes
    }};
}

pub(crate) use {bytes_of, field, field_bytes};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_written_by_name_are_read_by_name() {
        let bytes = bytes_of!(engine_state {
            cpu_graph: 1 << 40,
            split: 7,
            held: 1,
            cpu_skip: 0,
            cpu_topology: 0,
            calls: 0
        });
        let view = View::<types::engine_state>::new(&bytes);
        let read = |v: &View<'_, types::engine_state>| {
            Some((
                field!(v, engine_state.cpu_graph)?,
                field!(v, engine_state.split)?,
                field!(v, engine_state.held)?,
            ))
        };
        assert_eq!(view.as_ref().and_then(read), Some((1 << 40, 7, 1)));
        assert!(View::<types::engine_state>::new(&bytes[1..]).is_none());
    }
}
