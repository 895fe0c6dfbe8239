//! The iterator over what a batch holds, one for every kind of batch.

use core::marker::PhantomData;

use serde::de::DeserializeOwned;

/// Takes one item after the other off the front of a batch's bytes; may remember what the next is coded against.
pub trait Decode<'a> {
    /// What it yields.
    type Item;

    /// Takes one item; `None` when the bytes are not such.
    fn decode(&mut self, buf: &mut &'a [u8]) -> Option<Self::Item>;
}

/// The items of a batch one after the other; ends early, with `failed` set, where the bytes are not such.
#[derive(Debug, Clone)]
pub struct Batch<'a, D> {
    decoder: D,
    left: u16,
    bytes: &'a [u8],
    /// The bytes ended, or stopped making sense, before the announced number of items.
    pub failed: bool,
}

impl<'a, D> Batch<'a, D> {
    pub(crate) const fn with(decoder: D, count: u16, bytes: &'a [u8]) -> Self {
        Self { decoder, left: count, bytes, failed: false }
    }
}

impl<'a, D: Decode<'a>> Iterator for Batch<'a, D> {
    type Item = D::Item;

    fn next(&mut self) -> Option<D::Item> {
        if self.left == 0 {
            return None;
        }
        self.left -= 1;
        let item = self.decoder.decode(&mut self.bytes);
        if item.is_none() {
            self.failed = true;
            self.left = 0;
        }
        item
    }
}

/// An item that stands for itself.
pub trait Packed: Sized {
    /// Takes one off the front of `buf`; `None` when the bytes are not such.
    fn unpack(buf: &mut &[u8]) -> Option<Self>;
}

/// Decoder of items that stand for themselves.
#[derive(Debug, Clone)]
pub struct Each<T>(PhantomData<T>);

impl<T: Packed> Decode<'_> for Each<T> {
    type Item = T;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<T> {
        T::unpack(buf)
    }
}

impl<'a, T> Batch<'a, Each<T>> {
    /// The items of one batch.
    #[must_use]
    pub const fn new(count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Each(PhantomData), count, bytes)
    }
}

/// Takes an item of postcard's off the front of `buf`.
pub(crate) fn take_postcard<T: DeserializeOwned>(buf: &mut &[u8]) -> Option<T> {
    let (item, rest) = postcard::take_from_bytes(buf).ok()?;
    *buf = rest;
    Some(item)
}
