//! One iterator for the items of every kind of batch.

use core::marker::PhantomData;

use serde::de::DeserializeOwned;

/// Reads one item at a time from the front of a batch's bytes. May keep the state that the next
/// item is coded against.
pub trait Decode<'a> {
    /// The item.
    type Item;

    /// Reads one item; `None` when the bytes are not a valid item.
    fn decode(&mut self, buf: &mut &'a [u8]) -> Option<Self::Item>;
}

/// The items of a batch. Ends early and sets `failed` when the bytes are not valid.
#[derive(Debug, Clone)]
pub struct Batch<'a, D> {
    decoder: D,
    left: u16,
    bytes: &'a [u8],
    /// The bytes ended or became invalid before the announced number of items.
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

/// An item that is coded without reference to others.
pub trait Packed: Sized {
    /// Reads one from the front of `buf`; `None` when the bytes are not a valid item.
    fn unpack(buf: &mut &[u8]) -> Option<Self>;
}

/// Decoder of items that are coded without reference to others.
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

/// Reads a postcard-encoded item from the front of `buf`.
pub(crate) fn take_postcard<T: DeserializeOwned>(buf: &mut &[u8]) -> Option<T> {
    let (item, rest) = postcard::take_from_bytes(buf).ok()?;
    *buf = rest;
    Some(item)
}
