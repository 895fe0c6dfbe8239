//! Numbers of variable length in bits. The first bit is the highest bit of the first byte.
//!
//! A number that is expected to be below `1 << order` is written as a prefix of ones, a zero, and
//! bits:
//!
//! ```text
//! ones 0, 1     order bits               the value is ones << order, plus the bits
//! ones 2..      order + ones - 2 bits    the value is ((1 << (ones - 2)) + 1) << order, plus the bits
//! ```
//! The first three steps are `1 << order` wide (a Golomb-Rice code). The others double (an
//! exponential Golomb code), so a number 1000 times larger than expected costs about 20 more bits.

/// Most ones before the zero. They reach any `u64` at order 0, even shifted by the escape.
const MAX_ONES: u32 = 2 + 63 + 1;
/// Where an escape is possible, this many ones are the escape. A number with as many ones or more
/// gets one more.
const ESCAPE: u32 = 12;
/// Largest order.
pub const MAX_ORDER: u32 = 32;
/// Longest number in bits.
pub const MAX_NUMBER_BITS: usize = MAX_ONES as usize + 1 + 64;

/// Appends bits to a buffer. Up to 31 of them wait until [`Writer::finish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Writer {
    waiting: u64,
    n: u32,
    len: usize,
}

impl Writer {
    /// Written bytes, pending ones included.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len + self.n.div_ceil(8) as usize
    }

    /// Nothing was written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the low `n` bits of `value`, whose other bits are 0; `n` is at most 32. Bits that do
    /// not fit `buf` are lost: callers ensure that there is space.
    #[inline]
    fn bits(&mut self, value: u64, n: u32, buf: &mut [u8]) {
        self.waiting = self.waiting << n | value;
        self.n += n;
        if self.n >= 32 {
            self.n -= 32;
            if let Some(to) = buf.get_mut(self.len..self.len + 4) {
                to.copy_from_slice(&((self.waiting >> self.n) as u32).to_be_bytes());
            }
            self.len += 4;
        }
    }

    /// Appends the low `n` bits of `value`, whose other bits are 0; `n` is at most 64.
    pub(crate) fn put(&mut self, value: u64, n: u32, buf: &mut [u8]) {
        if n > 32 {
            self.bits(value >> 32, n - 32, buf);
            self.bits(value & u64::from(u32::MAX), 32, buf);
        } else {
            self.bits(value, n, buf);
        }
    }

    fn ones(&mut self, mut n: u32, buf: &mut [u8]) {
        while n >= 31 {
            self.bits((1 << 31) - 1, 31, buf);
            n -= 31;
        }
        self.bits((1 << (n + 1)) - 2, n + 1, buf);
    }

    /// Appends a number that is expected to be below `1 << order`.
    #[inline]
    pub(crate) fn number(&mut self, value: u64, order: u32, buf: &mut [u8]) {
        let (ones, extra, bits) = split(value, order);
        self.prefixed(ones, extra, bits, buf);
    }

    /// As [`Self::number`], where the reader must be able to distinguish it from an escape.
    #[inline]
    pub(crate) fn number_or_escape(&mut self, value: u64, order: u32, buf: &mut [u8]) {
        let (ones, extra, bits) = split(value, order);
        self.prefixed(ones + u32::from(ones >= ESCAPE), extra, bits, buf);
    }

    #[inline]
    fn prefixed(&mut self, ones: u32, extra: u64, bits: u32, buf: &mut [u8]) {
        if ones + 1 + bits <= 32 {
            self.bits(((1 << (ones + 1)) - 2) << bits | extra, ones + 1 + bits, buf);
        } else {
            self.ones(ones, buf);
            self.put(extra, bits, buf);
        }
    }

    /// Appends the escape.
    pub(crate) fn escape(&mut self, buf: &mut [u8]) {
        self.ones(ESCAPE, buf);
    }

    /// Writes the pending bits, padded with zeros to a full byte, and returns the number of bytes.
    pub fn finish(&mut self, buf: &mut [u8]) -> usize {
        let (len, bytes) = (self.len(), self.n.div_ceil(8) as usize);
        let last = ((self.waiting << (32 - self.n)) as u32).to_be_bytes();
        if let Some(to) = buf.get_mut(self.len..len) {
            to.copy_from_slice(&last[..bytes]);
        }
        *self = Self { len, ..Self::default() };
        len
    }
}

/// The number of ones, and the bits after the zero.
#[inline]
const fn split(value: u64, order: u32) -> (u32, u64, u32) {
    let step = value >> order;
    let ones = if step < 2 { step as u32 } else { 2 + (step - 1).ilog2() };
    (ones, value - first(ones, order), order + ones.saturating_sub(2))
}

/// The smallest value with this many ones.
#[inline]
const fn first(ones: u32, order: u32) -> u64 {
    (if ones < 2 { ones as u64 } else { (1 << (ones - 2)) + 1 }) << order
}

/// Reads bits from the front of a buffer.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// The next bits, from the highest bit on. Bits after the first `n` are not counted yet.
    next: u64,
    n: u32,
}

impl<'a> Reader<'a> {
    /// All bits of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0, n: 0 }
    }

    /// Makes at least 56 bits ready, or all that are left. Calling it before likely short reads
    /// saves time. Reads that lack bits call it anyway.
    #[inline]
    pub(crate) fn fill(&mut self) {
        if let Some((first, _)) = self.bytes.split_first_chunk::<8>() {
            // The next call reads bits that do not fit again, at the same place.
            self.next |= u64::from_be_bytes(*first) >> self.n;
            let bytes = (63 - self.n) / 8;
            self.bytes = &self.bytes[bytes as usize..];
            self.n += bytes * 8;
            return;
        }
        while self.n <= 56
            && let Some((first, rest)) = self.bytes.split_first()
        {
            self.next |= u64::from(*first) << (56 - self.n);
            self.bytes = rest;
            self.n += 8;
        }
    }

    /// Drops bits that are ready, `n` at most 63.
    const fn skip(&mut self, n: u32) {
        self.next <<= n;
        self.n -= n;
    }

    /// Reads `n` bits, at most 56.
    fn bits(&mut self, n: u32) -> Option<u64> {
        if self.n < n {
            self.fill();
            if self.n < n {
                return None;
            }
        }
        let value = self.next >> 1 >> (63 - n);
        self.skip(n);
        Some(value)
    }

    /// Reads `n` bits, at most 64; `None` when fewer are left.
    pub(crate) fn take(&mut self, n: u32) -> Option<u64> {
        if n > 32 {
            return Some(self.bits(n - 32)? << 32 | self.bits(32)?);
        }
        self.bits(n)
    }

    /// Reads the ones up to a zero, and the zero.
    #[cold]
    fn ones(&mut self) -> Option<u32> {
        let mut ones = 0;
        loop {
            self.fill();
            let some = self.next.leading_ones().min(self.n);
            ones += some;
            if some < self.n.min(63) {
                self.skip(some + 1);
                return Some(ones);
            }
            if self.n == 0 || ones > MAX_ONES {
                return None;
            }
            self.skip(some.min(63));
            ones -= some - some.min(63);
        }
    }

    /// Reads the rest of a number after `ones` ones and a zero.
    #[cold]
    fn after_ones(&mut self, ones: u32, order: u32) -> Option<u64> {
        let bits = order + ones.saturating_sub(2);
        if bits > u64::BITS || ones > 2 + u64::BITS - 1 - order {
            return None;
        }
        first(ones, order).checked_add(self.take(bits)?)
    }

    /// Reads a number with few ones whose bits are ready. Nearly every number is one.
    #[inline]
    fn ready(&mut self, order: u32) -> Option<u64> {
        const FEW: [(u8, u16); ESCAPE as usize] = {
            let mut few = [(0, 0); ESCAPE as usize];
            let mut ones = 0;
            while ones < ESCAPE {
                few[ones as usize] = (ones.saturating_sub(2) as u8, first(ones, 0) as u16);
                ones += 1;
            }
            few
        };
        let ones = self.next.leading_ones();
        let (more, first) = *FEW.get(ones as usize)?;
        let bits = order + u32::from(more);
        let all = ones + 1 + bits;
        if all > self.n.min(62) {
            return None;
        }
        let extra = self.next << (ones + 1) >> 1 >> (63 - bits);
        self.skip(all);
        Some((u64::from(first) << order) + extra)
    }

    /// Reads a number that was written with this order; `None` when the bytes end or are not such a
    /// number.
    #[inline]
    pub(crate) fn number(&mut self, order: u32) -> Option<u64> {
        if let Some(value) = self.ready(order) {
            return Some(value);
        }
        let ones = self.ones()?;
        self.after_ones(ones, order)
    }

    /// Reads a number, or `Some(None)` for an escape.
    #[inline]
    pub(crate) fn number_or_escape(&mut self, order: u32) -> Option<Option<u64>> {
        if let Some(value) = self.ready(order) {
            return Some(Some(value));
        }
        match self.ones()? {
            ESCAPE => Some(None),
            ones => self.after_ones(ones - u32::from(ones > ESCAPE), order).map(Some),
        }
    }
}
