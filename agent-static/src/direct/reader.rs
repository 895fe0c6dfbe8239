//! Reads the records and counts of one engine, ring by ring. All of it is another process's memory
//! and must not be trusted.

use std::cell::Cell;
use std::fmt::Write;
use std::rc::Rc;

use super::totals::Totals;
use crate::sys::direct::layout::{
    NO_SLOT_ENDS, NO_SLOT_STARTS, RING_BITS, SLOT_FULL, SLOT_HEAD, SLOT_NO_END, SLOT_NO_START, SLOT_NODE,
    SLOTS,
};
use crate::sys::direct::shared::{Raw, Shared};

/// Records per ring.
pub const RING: u64 = 1 << RING_BITS;

/// Reads the rings of one process.
#[derive(Debug)]
pub struct Reader {
    pub pid: u32,
    shared: Rc<Shared>,
    over: Rc<Cell<bool>>,
    /// Records read from each slot in total.
    tails: [u64; SLOTS],
    /// Totals of freed slots.
    freed: Totals,
    /// Threads that were alive at the last check, by slot.
    alive: [u32; SLOTS],
}

impl Reader {
    /// Reads `shared`, which is all zeros, until `over`.
    #[must_use]
    pub fn new(pid: u32, shared: Rc<Shared>, over: Rc<Cell<bool>>) -> Self {
        Self { pid, shared, over, tails: [0; SLOTS], freed: Totals::default(), alive: [0; SLOTS] }
    }

    /// Whether the probes were removed, so that nothing more is recorded.
    #[must_use]
    pub fn over(&self) -> bool {
        self.over.get()
    }

    /// Number of unread records in slot `n`. An impossible number means that the engine overwrote
    /// the head: the ring restarts.
    pub fn waiting(&mut self, n: usize) -> u64 {
        if self.shared.owner(n) == 0 {
            return 0;
        }
        let head = self.shared.field(n, SLOT_HEAD);
        let waiting = head.wrapping_sub(self.tails[n]);
        if waiting > RING {
            self.tails[n] = head;
            return 0;
        }
        waiting
    }

    /// The oldest unread record of slot `n`, which must exist.
    #[must_use]
    pub fn oldest(&self, n: usize) -> Raw {
        self.shared.raw(n, self.tails[n])
    }

    /// Marks the oldest record as read.
    pub fn next(&mut self, n: usize) {
        self.tails[n] = self.tails[n].wrapping_add(1);
    }

    /// Returns the space of read records to the thread.
    pub fn give_back(&self, n: usize) {
        self.shared.read_to(n, self.tails[n]);
    }

    /// Frees the slots of ended threads and returns their number. A slot stays if the next slot
    /// holds a thread whose search passed over it. So the last slots are freed first, and a second
    /// round frees slots that come before the first ones.
    ///
    /// While no new thread appears and half of the slots are free, no thread is checked again.
    pub fn free(&mut self) -> u64 {
        let owners =
            || (0..SLOTS).map(|n| self.shared.owner(n)).zip(self.alive).filter(|(owner, _)| *owner != 0);
        if owners().all(|(owner, alive)| owner == alive) && owners().count() <= SLOTS / 2 {
            return 0;
        }
        // Usually no thread has ended, and one round of checks is enough.
        match self.free_round() {
            0 => 0,
            freed => freed + self.free_round(),
        }
    }

    fn free_round(&mut self) -> u64 {
        let mut freed = 0;
        for n in (0..SLOTS).rev() {
            let owner = self.shared.owner(n);
            let next = (n + 1) % SLOTS;
            self.alive[n] = 0;
            if owner == 0 || self.shared.owner(next) != 0 && home(self.shared.owner(next)) != next {
                continue;
            }
            if self.waiting(n) > 0 {
                continue;
            }
            if lives(self.pid, owner) {
                self.alive[n] = owner;
            } else if self.waiting(n) == 0 {
                self.freed = self.freed.plus(self.of(n));
                self.tails[n] = 0;
                self.shared.free(n);
                freed += 1;
            }
        }
        freed
    }

    /// All counts so far.
    #[must_use]
    pub fn totals(&self) -> Totals {
        let live = (0..SLOTS).filter(|n| self.shared.owner(*n) != 0).map(|n| self.of(n));
        let mut all = live.fold(self.freed, Totals::plus);
        all.starts += self.shared.common(NO_SLOT_STARTS);
        all.no_slot = self.shared.common(NO_SLOT_ENDS);
        all.ends += all.no_slot;
        all
    }

    fn of(&self, n: usize) -> Totals {
        let field = |field| self.shared.field(n, field);
        let (records, full, no_end) = (self.tails[n], field(SLOT_FULL), field(SLOT_NO_END));
        let no_start = field(SLOT_NO_START);
        let open = u64::from(field(SLOT_NODE) != 0);
        let sum = |of: [u64; 4]| of.into_iter().fold(0, u64::wrapping_add);
        let (starts, ends) = (sum([records, full, no_end, open]), sum([records, full, no_start, 0]));
        Totals { starts, ends, records, full, no_start, no_end, no_slot: 0 }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        // Returns the memory to the system; the engine's pages stay mapped.
        let _ = self.shared.clear();
    }
}

/// Where the stubs start to search a thread's slot.
const fn home(tid: u32) -> usize {
    tid as usize % SLOTS
}

/// Called all the time, so it does not allocate.
fn lives(pid: u32, tid: u32) -> bool {
    let mut path = heapless::String::<48>::new();
    write!(path, "/proc/{pid}/task/{tid}").is_err() || std::fs::exists(path.as_str()).unwrap_or(true)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]
mod tests {
    use super::*;

    fn reader() -> (Rc<Shared>, Reader) {
        let shared = Rc::new(Shared::own().unwrap());
        let over = Rc::new(Cell::new(false));
        (Rc::clone(&shared), Reader::new(std::process::id(), shared, over))
    }

    #[test]
    fn any_bytes_are_read_without_panic() {
        let (shared, mut reader) = reader();
        for n in 0..SLOTS {
            shared.test_fill(n, u64::MAX - n as u64);
            while reader.waiting(n) > 0 {
                let _ = reader.oldest(n);
                reader.next(n);
            }
            reader.give_back(n);
        }
        reader.free();
        let _ = reader.totals();
    }

    #[test]
    fn slots_of_threads_that_have_ended_are_freed_and_their_counts_kept() {
        let (shared, mut reader) = reader();
        // No thread has this id.
        shared.test_slot(3, u32::MAX, [0, 5, 2, 1, 4]);
        shared.test_slot(9, std::process::id(), [7, 2, 0, 0, 0]);
        assert_eq!(reader.waiting(3), 5);
        reader.free();
        assert_eq!(shared.owner(3), u32::MAX, "records are unread");
        (0..5).for_each(|_| reader.next(3));
        let expected =
            Totals { starts: 9 + 1, ends: 11, records: 5, full: 2, no_start: 4, no_end: 1, no_slot: 0 };
        let before = reader.totals();
        assert_eq!(reader.free(), 1);
        assert_eq!((shared.owner(3), shared.owner(9)), (0, std::process::id()));
        assert_eq!(reader.totals(), before);
        assert_eq!(Totals { starts: before.starts, ..expected }, before);
    }

    /// An engine that creates threads for every graph: all of them have ended, and each uses the
    /// slot after its own.
    #[test]
    fn a_chain_of_ended_threads_is_freed_completely() {
        let (shared, mut reader) = reader();
        let ended = |n: usize| 0x7fff_0000 | ((n as u32 + 63) % 64);
        for n in 0..SLOTS {
            assert_ne!(home(ended(n)), n);
            shared.test_slot(n, if n == 40 { 0 } else { ended(n) }, [0; 5]);
        }
        assert_eq!(reader.free(), SLOTS as u64 - 1);
        assert!((0..SLOTS).all(|n| shared.owner(n) == 0));
    }
}
