//! The memory that the stubs write and the agent reads, mapped into the agent. The engine may write
//! anything there at any time: every word is read as an atomic, and no value is trusted.

use std::fs::OpenOptions;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use memmap2::{MmapOptions, MmapRaw, UncheckedAdvice};
use profinfer_wire::span::CPU_UNKNOWN;

use super::layout as at;

#[derive(Debug)]
pub struct Shared {
    map: MmapRaw,
}

/// One record, as it is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Raw {
    /// Clock at the start, ticks.
    pub start: u64,
    /// Ticks from start to end.
    pub took: u64,
    /// Address of the first node.
    pub node: u64,
    /// Address of the last node.
    pub last: u64,
    pub tid: u32,
    /// CPU at the start, or [`CPU_UNKNOWN`].
    pub cpu_start: u16,
    /// CPU at the end, or [`CPU_UNKNOWN`].
    pub cpu_end: u16,
}

/// Number of bits of an address and of a time.
const LOW: u64 = (1 << 48) - 1;
/// Bits of the CPU in `IA32_TSC_AUX`, as Linux fills it: 12 bits, with the NUMA node above them. On
/// arm64, the same bits of the CPU in a restartable sequence.
const CPU: u64 = 0xfff;
/// Values from here on are not CPUs. The stubs of arm64 write one without a restartable sequence;
/// `RSEQ_CPU_ID_UNINITIALIZED` (-1) reads the same. `RSEQ_CPU_ID_REGISTRATION_FAILED` is -2.
const NO_CPU: u64 = 0xffe;

impl Shared {
    /// Maps the file at `path` (`/proc/PID/map_files/…` of the mapping of the engine).
    ///
    /// # Errors
    /// The error of open(2) or mmap(2), or if the file is too short.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < at::DATA as u64 {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof));
        }
        Ok(Self { map: MmapOptions::new().len(at::DATA).map_raw(&file)? })
    }

    /// Memory of the agent, for stubs inside the agent.
    ///
    /// # Errors
    /// The error of mmap(2).
    pub fn own() -> io::Result<Self> {
        Ok(Self { map: memmap2::MmapMut::map_anon(at::DATA)?.into() })
    }

    /// The address of the mapping.
    #[must_use]
    pub fn address(&self) -> u64 {
        self.map.as_mut_ptr().addr() as u64
    }

    fn word(&self, offset: usize) -> &AtomicU64 {
        assert!(offset.is_multiple_of(8) && offset + 8 <= at::DATA, "a word of the layout");
        // SAFETY: The word is inside the mapping, which is as long as the layout and lives as long
        // as `self`. A mapping starts at a page boundary, so the word is aligned. Another process
        // may change it, so it is only accessed as an atomic.
        unsafe { AtomicU64::from_ptr(self.map.as_mut_ptr().add(offset).cast()) }
    }

    fn half(&self, offset: usize) -> &AtomicU32 {
        assert!(offset.is_multiple_of(4) && offset + 4 <= at::DATA, "a word of the layout");
        // SAFETY: As in `word`.
        unsafe { AtomicU32::from_ptr(self.map.as_mut_ptr().add(offset).cast()) }
    }

    /// Starts or stops recording, without stopping a thread. An operator that runs when recording
    /// stops is forgotten when it starts again.
    pub fn record(&self, on: bool) {
        if on {
            (0..at::SLOTS).for_each(|n| self.word(slot(n) + at::SLOT_NODE).store(0, Ordering::Relaxed));
        }
        self.half(at::ON).store(u32::from(on), Ordering::Release);
    }

    /// The thread ID in slot `n`; 0 for none.
    #[must_use]
    pub fn owner(&self, n: usize) -> u32 {
        self.half(slot(n) + at::SLOT_KEY).load(Ordering::Acquire)
    }

    /// Frees a slot whose thread has ended. Its ring must be empty.
    pub fn free(&self, n: usize) {
        for field in
            [at::SLOT_NODE, at::SLOT_HEAD, at::SLOT_FULL, at::SLOT_NO_END, at::SLOT_NO_START, at::SLOT_TAIL]
        {
            self.word(slot(n) + field).store(0, Ordering::Relaxed);
        }
        self.half(slot(n) + at::SLOT_KEY).store(0, Ordering::Release);
    }

    /// A number of slot `n`, by its offset in the layout.
    #[must_use]
    pub fn field(&self, n: usize, field: usize) -> u64 {
        self.word(slot(n) + field).load(Ordering::Acquire)
    }

    /// A number that all threads share, by its offset in the layout.
    #[must_use]
    pub fn common(&self, field: usize) -> u64 {
        self.word(field).load(Ordering::Acquire)
    }

    /// Sets the number of records of slot `n` that were read.
    pub fn read_to(&self, n: usize, tail: u64) {
        self.word(slot(n) + at::SLOT_TAIL).store(tail, Ordering::Release);
    }

    /// Record number `index` of slot `n`, counted from the first record ever written.
    #[must_use]
    pub fn raw(&self, n: usize, index: u64) -> Raw {
        let mask = (1u64 << at::RING_BITS) - 1;
        let within = usize::try_from(index & mask).unwrap_or(0) << at::RECORD_SHIFT;
        let base = at::RINGS + ((n % at::SLOTS) << at::RING_SHIFT) + within;
        let word = |field: usize| self.word(base + field).load(Ordering::Relaxed);
        let half = |field: usize| self.half(base + field).load(Ordering::Relaxed);
        let (node, took) = (word(at::RECORD_NODE), word(at::RECORD_TOOK));
        let away = i64::from(half(at::RECORD_LAST).cast_signed()) * 8;
        Raw {
            start: word(at::RECORD_START),
            took: took & LOW,
            node: node & LOW,
            last: (node & LOW).wrapping_add_signed(away),
            tid: half(at::RECORD_TID),
            cpu_start: cpu(node),
            cpu_end: cpu(took),
        }
    }

    /// Zeroes the memory and releases it: nothing is recorded from now on.
    ///
    /// # Errors
    /// The error of madvise(2).
    pub fn clear(&self) -> io::Result<()> {
        self.record(false);
        // SAFETY: Afterwards the pages are zero, as new ones, and any value is valid in atomics.
        unsafe { self.map.unchecked_advise(UncheckedAdvice::Remove) }
    }
}

#[cfg(test)]
impl Shared {
    /// Arbitrary values in every word of a slot.
    pub(crate) fn test_fill(&self, n: usize, value: u64) {
        (0..1 << at::SLOT_SHIFT)
            .step_by(8)
            .for_each(|f| self.word(slot(n) + f).store(value, Ordering::Relaxed));
    }

    /// A slot as the stubs would leave it: node, head, full, without an end, without a start.
    pub(crate) fn test_slot(&self, n: usize, owner: u32, values: [u64; 5]) {
        let fields = [at::SLOT_NODE, at::SLOT_HEAD, at::SLOT_FULL, at::SLOT_NO_END, at::SLOT_NO_START];
        for (field, value) in fields.into_iter().zip(values) {
            self.word(slot(n) + field).store(value, Ordering::Relaxed);
        }
        self.half(slot(n) + at::SLOT_KEY).store(owner, Ordering::Relaxed);
    }
}

/// The CPU in a word whose low bits hold something else.
fn cpu(word: u64) -> u16 {
    let number = word >> 48 & CPU;
    u16::try_from(number).ok().filter(|_| number < NO_CPU).unwrap_or(CPU_UNKNOWN)
}

const fn slot(n: usize) -> usize {
    (n % at::SLOTS) << at::SLOT_SHIFT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cpu_that_no_sequence_tells_is_not_known() {
        let word = |number: u64| 0x7fff_dead_beef | number << 48;
        assert_eq!([0, 3, 4093].map(|n| cpu(word(n))), [0, 3, 4093]);
        // Not registered: -1, as the stubs write it. Registration failed: -2.
        let negative = [-1_i32, -2].map(|n| u64::from(n.cast_unsigned()) & CPU);
        assert_eq!(negative.map(|n| cpu(word(n))), [CPU_UNKNOWN; 2]);
    }
}
