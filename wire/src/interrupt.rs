//! Codes interrupts.
//!
//! ```text
//! interrupt = head step duration [cpu]
//! head      = soft | other_cpu << 1 | name << 2      name: its text id
//! step      zigzag of the start minus that of the interrupt before, `base_ns` before the first
//! cpu       where other_cpu is set; else the CPU of the interrupt before, 0 before the first
//! ```

use crate::batch::{Batch, Decode};
use crate::varint::{MAX_LEN, put, take, unzigzag, zigzag};

/// An interrupt that ran on a CPU while a thread of the engine was on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Interrupt {
    /// A soft interrupt (deferred work); otherwise a device's handler.
    pub soft: bool,
    /// Text id of its name.
    pub name: u32,
    /// CPU.
    pub cpu: u16,
    /// Start, ns.
    pub start_ns: u64,
    /// Length, ns.
    pub duration_ns: u64,
}

/// Longest encoding of one interrupt in bytes.
pub const MAX_INTERRUPT_LEN: usize = 4 * MAX_LEN;

/// The state that one interrupt is coded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    start_ns: u64,
    cpu: u16,
}

impl Cursor {
    /// The state before the first interrupt of a batch.
    #[must_use]
    pub const fn new(base_ns: u64) -> Self {
        Self { start_ns: base_ns, cpu: 0 }
    }

    /// Appends an interrupt to `buf` at `at`; returns the next free position. `None`, with the
    /// cursor unchanged, when there is no space.
    #[must_use]
    pub fn encode(&mut self, i: &Interrupt, buf: &mut [u8], at: usize) -> Option<usize> {
        let other = i.cpu != self.cpu;
        let mut at = put(buf, at, u64::from(i.soft) | u64::from(other) << 1 | u64::from(i.name) << 2)?;
        at = put(buf, at, zigzag(i.start_ns.wrapping_sub(self.start_ns).cast_signed()))?;
        at = put(buf, at, i.duration_ns)?;
        if other {
            at = put(buf, at, i.cpu.into())?;
        }
        *self = Self { start_ns: i.start_ns, cpu: i.cpu };
        Some(at)
    }
}

impl Decode<'_> for Cursor {
    type Item = Interrupt;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<Interrupt> {
        let head = take(buf)?;
        let name = u32::try_from(head >> 2).ok()?;
        self.start_ns = self.start_ns.wrapping_add_signed(unzigzag(take(buf)?));
        let duration_ns = take(buf)?;
        if head & 2 != 0 {
            self.cpu = u16::try_from(take(buf)?).ok()?;
        }
        Some(Interrupt { soft: head & 1 != 0, name, cpu: self.cpu, start_ns: self.start_ns, duration_ns })
    }
}

/// The interrupts of a batch.
pub type Interrupts<'a> = Batch<'a, Cursor>;

impl<'a> Interrupts<'a> {
    /// The interrupts of one batch, see [`crate::record::sched::InterruptBatch`].
    #[must_use]
    pub const fn new(base_ns: u64, count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Cursor::new(base_ns), count, bytes)
    }
}
