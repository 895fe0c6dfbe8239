//! Codes events of the kernel's scheduler.
//!
//! ```text
//! event  = head step [cpu] rest
//! head   = kind | other_cpu << 2 | left << 3     kind: 0 switch, 1 wake-up, 2 migration, 3 gap;
//!                                                left only in a switch
//! step   zigzag of the time minus that of the event before, `base_ns` before the first
//! cpu    where other_cpu is set; else the CPU of the event before, 0 before the first
//! rest   switch: prev next; wake-up and migration: thread; gap: its length
//! prev, next = thread << 1 | 1, or task << 1
//! thread zigzag of the thread's number minus that of the previous thread in the batch, 0 before the
//!        first
//! ```

use crate::batch::{Batch, Decode};
use crate::varint::{MAX_LEN, put, take, unzigzag, zigzag};

/// A task on a CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Who {
    /// A thread of a traced process, by its number.
    Thread(u32),
    /// Another task, by the number of its [`crate::record::sched::Task`]; [`IDLE`] for the CPU's
    /// idle task.
    Task(u32),
}

/// Number of the idle tasks, which no record describes.
pub const IDLE: u32 = 0;

/// Why a task left its CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Left {
    /// It was runnable and was preempted.
    Preempted,
    /// It was runnable and yielded: sched_yield, or the kernel checked for waiting tasks.
    Yielded,
    /// It sleeps, and a signal can wake it.
    Sleeping,
    /// It sleeps, and a signal cannot wake it.
    Blocked,
    /// It was stopped by a signal or a debugger.
    Stopped,
    /// It ended.
    Ended,
    /// It is in a state that the agent does not know.
    Other,
}

impl Left {
    const ALL: [Self; 7] = [
        Self::Preempted,
        Self::Yielded,
        Self::Sleeping,
        Self::Blocked,
        Self::Stopped,
        Self::Ended,
        Self::Other,
    ];
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Happened {
    /// A CPU switched from one task to another.
    Switch {
        /// The CPU.
        cpu: u16,
        /// The task that left.
        prev: Who,
        /// Why it left.
        left: Left,
        /// The task that follows.
        next: Who,
    },
    /// A thread of the engine was woken.
    Wake {
        /// The CPU on which it waits to run.
        cpu: u16,
        /// The thread.
        tid: u32,
    },
    /// A thread of the engine that waits to run was moved.
    Migration {
        /// The CPU on which it waits from now on.
        cpu: u16,
        /// The thread.
        tid: u32,
    },
    /// Some events before this one were lost.
    Gap {
        /// Length of the time with lost events, ns.
        length_ns: u64,
    },
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SchedEvent {
    /// When, ns.
    pub at_ns: u64,
    /// What.
    pub happened: Happened,
}

/// Longest encoding of one event in bytes.
pub const MAX_EVENT_LEN: usize = 5 * MAX_LEN;

/// The state that one event is coded against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    at_ns: u64,
    cpu: u16,
    tid: u32,
}

impl Cursor {
    /// The state before the first event of a batch.
    #[must_use]
    pub const fn new(base_ns: u64) -> Self {
        Self { at_ns: base_ns, cpu: 0, tid: 0 }
    }

    /// Appends an event to `buf` at `at`; returns the next free position. `None`, with the cursor
    /// unchanged, when there is no space.
    #[must_use]
    pub fn encode(&mut self, event: &SchedEvent, buf: &mut [u8], at: usize) -> Option<usize> {
        let mut next = *self;
        let at = next.put(event, buf, at)?;
        *self = next;
        Some(at)
    }

    fn put(&mut self, event: &SchedEvent, buf: &mut [u8], mut at: usize) -> Option<usize> {
        let (kind, cpu, left) = match event.happened {
            Happened::Switch { cpu, left, .. } => (0, Some(cpu), left as u64),
            Happened::Wake { cpu, .. } => (1, Some(cpu), 0),
            Happened::Migration { cpu, .. } => (2, Some(cpu), 0),
            Happened::Gap { .. } => (3, None, 0),
        };
        let other = cpu.filter(|cpu| *cpu != self.cpu);
        at = put(buf, at, kind | u64::from(other.is_some()) << 2 | left << 3)?;
        at = put(buf, at, zigzag(event.at_ns.wrapping_sub(self.at_ns).cast_signed()))?;
        self.at_ns = event.at_ns;
        if let Some(cpu) = other {
            at = put(buf, at, cpu.into())?;
            self.cpu = cpu;
        }
        match event.happened {
            Happened::Switch { prev, next, .. } => {
                for who in [prev, next] {
                    let packed = match who {
                        Who::Thread(tid) => self.thread(tid) << 1 | 1,
                        Who::Task(id) => u64::from(id) << 1,
                    };
                    at = put(buf, at, packed)?;
                }
                Some(at)
            }
            Happened::Wake { tid, .. } | Happened::Migration { tid, .. } => put(buf, at, self.thread(tid)),
            Happened::Gap { length_ns } => put(buf, at, length_ns),
        }
    }

    fn thread(&mut self, tid: u32) -> u64 {
        let before = core::mem::replace(&mut self.tid, tid);
        zigzag(i64::from(tid) - i64::from(before))
    }

    /// Reads one from the front of `buf`; `None` when the bytes are not a valid event.
    #[must_use]
    pub fn decode(&mut self, buf: &mut &[u8]) -> Option<SchedEvent> {
        let head = take(buf)?;
        let (kind, other, left) = (head & 3, head & 4 != 0, head >> 3);
        self.at_ns = self.at_ns.wrapping_add_signed(unzigzag(take(buf)?));
        if other {
            self.cpu = u16::try_from(take(buf)?).ok()?;
        }
        let cpu = self.cpu;
        let happened = match kind {
            0 => {
                let left = *Left::ALL.get(usize::try_from(left).ok()?)?;
                let (prev, next) = (self.who(buf)?, self.who(buf)?);
                Happened::Switch { cpu, prev, left, next }
            }
            _ if left != 0 => return None,
            1 => Happened::Wake { cpu, tid: self.tid(take(buf)?)? },
            2 => Happened::Migration { cpu, tid: self.tid(take(buf)?)? },
            _ if other => return None,
            _ => Happened::Gap { length_ns: take(buf)? },
        };
        Some(SchedEvent { at_ns: self.at_ns, happened })
    }

    fn who(&mut self, buf: &mut &[u8]) -> Option<Who> {
        let packed = take(buf)?;
        Some(match packed & 1 {
            1 => Who::Thread(self.tid(packed >> 1)?),
            _ => Who::Task(u32::try_from(packed >> 1).ok()?),
        })
    }

    fn tid(&mut self, step: u64) -> Option<u32> {
        self.tid = u32::try_from(i64::from(self.tid).checked_add(unzigzag(step))?).ok()?;
        Some(self.tid)
    }
}

impl Decode<'_> for Cursor {
    type Item = SchedEvent;

    fn decode(&mut self, buf: &mut &[u8]) -> Option<SchedEvent> {
        Self::decode(self, buf)
    }
}

/// The events of a batch.
pub type SchedEvents<'a> = Batch<'a, Cursor>;

impl<'a> SchedEvents<'a> {
    /// The events of one batch, see [`crate::record::sched::SchedBatch`].
    #[must_use]
    pub const fn new(base_ns: u64, count: u16, bytes: &'a [u8]) -> Self {
        Self::with(Cursor::new(base_ns), count, bytes)
    }
}
