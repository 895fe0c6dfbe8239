//! Numbers of any length in bits, the first bit in the highest place of the first byte.
//!
//! A number that is expected to be small against `1 << order` is written in a prefix of ones, a zero, and bits:
//!
//! ```text
//! ones 0, 1     order bits               the value is ones << order, plus the bits
//! ones 2..      order + ones - 2 bits    the value is ((1 << (ones - 2)) + 1) << order, plus the bits
//! ```
//! The first three steps are as wide as `1 << order` (a Golomb-Rice code), the others double (an exponential Golomb code), so
//! a number a thousand times larger than expected costs some twenty bits more.

/// Most ones before the zero: with them any `u64` is reached at order 0, behind an escape's.
const MAX_ONES: u32 = 2 + 63 + 1;
/// In front of a number that may be an escape, this many ones are the escape, and as many or more ones of the number one more.
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
    /// Bytes that are written and that wait.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len + self.n.div_ceil(8) as usize
    }

    /// Nothing was written.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the low `n` bits of `value`, whose others are 0; `n` is at most 32. What has no room in `buf` is lost: the callers see to the room.
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

    /// Appends the low `n` bits of `value`, whose others are 0; `n` is at most 64.
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

    /// The same where the reader must be able to tell it from an escape.
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

    /// Writes what waits, filled up with zeros to a whole byte; returns how many bytes there are.
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

/// How many ones, and which bits behind the zero.
#[inline]
const fn split(value: u64, order: u32) -> (u32, u64, u32) {
    let step = value >> order;
    let ones = if step < 2 { step as u32 } else { 2 + (step - 1).ilog2() };
    (ones, value - first(ones, order), order + ones.saturating_sub(2))
}

/// The least value with so many ones.
#[inline]
const fn first(ones: u32, order: u32) -> u64 {
    (if ones < 2 { ones as u64 } else { (1 << (ones - 2)) + 1 }) << order
}

/// Takes bits off the front of a buffer.
#[derive(Debug, Clone)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    /// The next bits, from the highest place on; those behind the first `n` are not counted yet.
    next: u64,
    n: u32,
}

impl<'a> Reader<'a> {
    /// All bits of `bytes`.
    #[must_use]
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, next: 0, n: 0 }
    }

    /// Makes at least 56 bits ready, or all that there are. To call it before what is likely to be short saves time; it is
    /// called anyway where bits are missing.
    #[inline]
    pub(crate) fn fill(&mut self) {
        if let Some((first, _)) = self.bytes.split_first_chunk::<8>() {
            // Bits that do not fit are read again, at the same place, by the next call.
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

    /// Takes `n` bits, at most 56.
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

    /// Takes `n` bits, at most 64; `None` when there are fewer.
    pub(crate) fn take(&mut self, n: u32) -> Option<u64> {
        if n > 32 {
            return Some(self.bits(n - 32)? << 32 | self.bits(32)?);
        }
        self.bits(n)
    }

    /// Takes the ones up to a zero, and the zero.
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

    /// The number behind `ones` ones and a zero that are taken.
    #[cold]
    fn behind(&mut self, ones: u32, order: u32) -> Option<u64> {
        let bits = order + ones.saturating_sub(2);
        if bits > u64::BITS || ones > 2 + u64::BITS - 1 - order {
            return None;
        }
        first(ones, order).checked_add(self.take(bits)?)
    }

    /// Takes a number with few ones whose bits are ready: nearly every number is one.
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

    /// Takes a number that was written with this order; `None` when the bytes end, or are not such a number.
    #[inline]
    pub(crate) fn number(&mut self, order: u32) -> Option<u64> {
        if let Some(value) = self.ready(order) {
            return Some(value);
        }
        let ones = self.ones()?;
        self.behind(ones, order)
    }

    /// Takes a number, `Some(None)` for an escape.
    #[inline]
    pub(crate) fn number_or_escape(&mut self, order: u32) -> Option<Option<u64>> {
        if let Some(value) = self.ready(order) {
            return Some(Some(value));
        }
        match self.ones()? {
            ESCAPE => Some(None),
            ones => self.behind(ones - u32::from(ones > ESCAPE), order).map(Some),
        }
    }
}
