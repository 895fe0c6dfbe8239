//! Direct probes: operators of an engine recorded without a trap.
//!
//! Stage: attaching, in place of the operators' uprobes. From: the places that `profinfer_engine` proved. To: records in memory that the
//! engine's threads write and [`Reader`] reads. Promises: an agent that is killed at any moment leaves an engine that goes
//! on; nothing is changed whose bytes are not the file's; what is refused leaves no trace.
//!
//! ```text
//! put_in: checks ─▶ halt ─▶ leftover, place (memory = file) ─▶ room ─▶ boot ─▶ page, control ─▶ places, ends first
//! reader: ring of each thread ─▶ clock ─▶ lower
//! ```

mod aside;
mod boot;
mod change;
mod checks;
pub mod clock;
mod halt;
mod leftover;
mod memory;
mod number;
mod owner;
mod page;
mod place;
mod reader;
mod refused;
pub mod repair;
mod room;
mod steady;
mod totals;

#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arm64.rs")]
mod arch;

pub mod calibrate;

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use profinfer_engine::DirectPlaces;

use crate::sys::direct::layout as at;
use crate::sys::direct::shared::Shared;
use crate::target::maps::MappedFile;
use crate::target::watch::Watch;
use change::{Changed, shared};
use halt::Halted;
pub use leftover::PutBack;
use memory::Memory;
pub use reader::{RING, Reader};
pub use refused::Refused;
pub use totals::Totals;

/// Direct probes in a process. Taken out by [`Installed::take_out`]; when they are dropped, the engine is as it is.
#[derive(Debug)]
pub struct Installed {
    memory: Memory,
    changed: Changed,
    shared: Rc<Shared>,
    over: Rc<Cell<bool>>,
}

/// What putting them in came to.
#[derive(Debug)]
pub struct PutIn {
    /// The probes.
    pub installed: Installed,
    /// What reads their records.
    pub reader: Reader,
    /// Places of a killed agent that were put back first.
    pub repaired: PutBack,
    /// How long the engine stood still, ns.
    pub stopped_ns: u64,
}

/// How far a place may be from its thunk: what a branch of 32 bits reaches, less what lies between.
const REACH: u64 = if cfg!(target_arch = "aarch64") { 0x700_0000 } else { 0x7000_0000 };

/// Puts probes into the places of `file`. `called` is the thread that `watch` holds stopped, if it does.
///
/// # Errors
/// Why not; then no place is changed, and what an agent that was killed left may have been put back.
pub fn put_in(
    pid: u32,
    file: &MappedFile,
    found: &DirectPlaces,
    called: Option<i32>,
    watch: &mut Watch,
) -> Result<PutIn, Refused> {
    if arch::MACHINE != Some(found.machine) {
        return Err(Refused::Architecture);
    }
    checks::check(pid)?;
    steady::check()?;
    let memory = Memory::open(pid).map_err(|e| Refused::NotAllowed(e.to_string()))?;
    let done = aside::run(pid, &memory, called, watch, |called, watch| {
        change::put_in(&memory, pid, file, found, Halted::new(pid, called, watch)?)
    })?;
    let shared = Rc::new(done.shared);
    let over = Rc::new(Cell::new(false));
    let reader = Reader::new(pid, Rc::clone(&shared), Rc::clone(&over));
    let installed = Installed { memory, changed: done.changed, shared, over };
    Ok(PutIn { installed, reader, repaired: done.repaired, stopped_ns: done.stopped_ns })
}

impl Installed {
    /// Places that are changed.
    #[must_use]
    pub fn places(&self) -> usize {
        self.changed.patches.len()
    }

    /// File offsets of the changed places.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.changed.patches.iter().map(|p| p.offset)
    }

    /// Records nothing until [`Self::resume`]. The engine does not stop for it; each hit costs a few ns still.
    pub fn pause(&self) {
        self.shared.record(false);
    }

    /// Records again.
    pub fn resume(&self) {
        self.shared.record(true);
    }

    /// Takes the probes out: the engine's code is as in its file afterwards, but for what others changed. The pages stay: a
    /// signal's handler may have interrupted a stub and returns into it.
    ///
    /// # Errors
    /// Why the engine could not be stopped; then its probes record nothing, and `repair` can take them out later.
    pub fn take_out(self, watch: &mut Watch) -> Result<PutBack, Refused> {
        // Whatever comes: nothing is recorded, and what was is read.
        self.shared.record(false);
        self.over.set(true);
        // After an exec, or when it has ended, its code is gone.
        if self.memory.word(self.changed.page) != Some(at::MAGIC) {
            return Ok(PutBack::default());
        }
        let (memory, changed) = (&self.memory, &self.changed);
        let done = aside::run(changed.pid, memory, None, watch, |_, watch| {
            changed.take_out(memory, Halted::new(changed.pid, None, watch)?)
        });
        match done {
            // Its code went with it.
            Err(Refused::Ended) => Ok(PutBack::default()),
            done => done,
        }
    }
}

impl Drop for Installed {
    fn drop(&mut self) {
        self.shared.record(false);
        self.over.set(true);
    }
}

/// What the file has at an offset.
fn in_file(path: &std::path::Path, offset: u64) -> Option<[u8; arch::CHANGED]> {
    let mut bytes = [0; arch::CHANGED];
    File::open(path).ok()?.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}
