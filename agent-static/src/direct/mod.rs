//! Direct probes record an engine's operators without a trap.
//!
//! Used instead of uprobes for operators. Input: the places that `profinfer_engine` proved safe.
//! Output: records in memory, written by the engine's threads and read by [`Reader`]. Guarantees:
//! if the agent is killed at any moment, the engine continues; only bytes that equal the file's are
//! changed; a refused installation leaves no trace.
//!
//! ```text
//! put_in: checks ─▶ halt ─▶ leftover, place (memory = file) ─▶ space ─▶ boot ─▶ page, control ─▶ places, ends first
//! reader: ring of each thread ─▶ clock ─▶ lower
//! ```

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
mod separate_thread;
mod space;
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
use crate::target::files::MappedFile;
use crate::target::watch::Watch;
use change::{Changed, shared};
use halt::Halted;
pub use leftover::PutBack;
use memory::Memory;
pub use reader::{RING, Reader};
pub use refused::Refused;
pub use totals::Totals;

/// Direct probes in a process. [`Installed::take_out`] removes them; dropping this leaves the
/// engine as it is.
#[derive(Debug)]
pub struct Installed {
    memory: Memory,
    changed: Changed,
    shared: Rc<Shared>,
    over: Rc<Cell<bool>>,
}

#[derive(Debug)]
pub struct PutIn {
    pub installed: Installed,
    pub reader: Reader,
    /// Places of a killed agent that were put back first.
    pub repaired: PutBack,
    /// How long the engine was stopped, ns.
    pub stopped_ns: u64,
}

/// Largest distance of a place from its thunk: the reach of a 32-bit branch, less the pages in
/// between.
const REACH: u64 = if cfg!(target_arch = "aarch64") { 0x700_0000 } else { 0x7000_0000 };

/// Installs probes at the places of `file`. `called` is the thread that `watch` holds stopped, if
/// any.
///
/// # Errors
/// Why not. In that case no place is changed, but leftovers of a killed agent may have been put
/// back.
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
    let done = separate_thread::run(pid, &memory, called, watch, |called, watch| {
        change::put_in(&memory, pid, file, found, Halted::new(pid, called, watch)?)
    })?;
    let shared = Rc::new(done.shared);
    let over = Rc::new(Cell::new(false));
    let reader = Reader::new(pid, Rc::clone(&shared), Rc::clone(&over));
    let installed = Installed { memory, changed: done.changed, shared, over };
    Ok(PutIn { installed, reader, repaired: done.repaired, stopped_ns: done.stopped_ns })
}

impl Installed {
    /// Number of patched places.
    #[must_use]
    pub fn places(&self) -> usize {
        self.changed.patches.len()
    }

    /// File offsets of the patched places.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.changed.patches.iter().map(|p| p.offset)
    }

    /// Stops recording until [`Self::resume`]. The engine is not stopped; each hit still costs a
    /// few ns.
    pub fn pause(&self) {
        self.shared.record(false);
    }

    pub fn resume(&self) {
        self.shared.record(true);
    }

    /// Removes the probes. Afterwards the engine's code equals its file, except for changes by
    /// others. The pages stay, because an interrupting signal handler may still return into a stub.
    ///
    /// # Errors
    /// Why the engine could not be stopped. In that case its probes record nothing, and `repair`
    /// can remove them later.
    pub fn take_out(self, watch: &mut Watch) -> Result<PutBack, Refused> {
        // In any case nothing more is recorded, and existing records are read.
        self.shared.record(false);
        self.over.set(true);
        // After an exec, or when the process has ended, its code is gone.
        if self.memory.word(self.changed.page) != Some(at::MAGIC) {
            return Ok(PutBack::default());
        }
        let (memory, changed) = (&self.memory, &self.changed);
        let done = separate_thread::run(changed.pid, memory, None, watch, |_, watch| {
            changed.take_out(memory, Halted::new(changed.pid, None, watch)?)
        });
        match done {
            // The code ended with the process.
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

/// The bytes of the file at an offset.
fn in_file(path: &std::path::Path, offset: u64) -> Option<[u8; arch::CHANGED]> {
    let mut bytes = [0; arch::CHANGED];
    File::open(path).ok()?.read_exact_at(&mut bytes, offset).ok()?;
    Some(bytes)
}
