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

mod boot;
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

#[cfg_attr(target_arch = "x86_64", path = "x86.rs")]
#[cfg_attr(target_arch = "aarch64", path = "arm64.rs")]
mod arch;

pub mod calibrate;

use std::cell::Cell;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::rc::Rc;

use profinfer_engine::{DirectPlaces, DirectRole};

use crate::sys::direct::layout as at;
use crate::sys::direct::shared::Shared;
use crate::target::maps::{FileId, MappedFile, Mapping, mappings};
use crate::target::watch::Watch;
use halt::Halted;
pub use leftover::PutBack;
use memory::Memory;
use owner::Owner;
use page::Patch;
pub use reader::{RING, Reader, Totals};
pub use refused::Refused;

/// Direct probes in a process. Taken out by [`Installed::take_out`]; when they are dropped, the engine is as it is.
#[derive(Debug)]
pub struct Installed {
    pid: u32,
    memory: Memory,
    /// Address of the code page.
    page: u64,
    file: FileId,
    patches: Vec<Patch>,
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
    let mut h = Halted::new(pid, called, watch)?;
    let mapped = mappings(pid);
    let left = leftover::find(&mapped, &memory);
    let own = Owner::own();
    if let Some(other) = left.iter().find(|l| l.owner != own && l.owner.lives()) {
        return Err(Refused::OtherAgent(other.owner.pid));
    }
    let mut repaired = PutBack::default();
    for old in &left {
        let back = repair::put_back(pid, &h, &memory, &mapped, old);
        repaired = PutBack { done: repaired.done + back.done, left: repaired.left + back.left };
    }
    let places = place::resolve(found, file.id, &mapped, &memory, arch::CHANGED)?;
    let number = thread_number(&h, &memory).ok_or(Refused::NoThreadNumber)?;
    let phase = found.has_phase && found.places.iter().any(|p| matches!(p.role, DirectRole::Whole { .. }));
    // A page that serves these places already is used again: not a byte of it changes, whoever may return into it.
    let same = left.iter().find_map(|l| {
        let page = page::build(l.at, file.id, &places, phase)?;
        (memory.some(l.at, page.bytes.len()) == page.bytes).then_some((l.at, l.data, page.patches))
    });
    let (page, data, patches) = match same {
        Some(same) => same,
        None => {
            let near = places.first().map_or(0, |p| p.address);
            let gap = room::gap(&mapped, near, REACH).ok_or(Refused::NoRoom)?;
            let page = page::build(gap, file.id, &places, phase).ok_or(Refused::NoRoom)?;
            let boot = crate::sys::direct::boot().bytes.len();
            let slacks = room::places(pid, &mapped, boot);
            let data = boot::run(&mut h, &memory, &slacks, gap)?;
            memory.poke(h.any(), gap, &page.bytes).map_err(unwritable)?;
            (gap, data, page.patches)
        }
    };
    let shared = shared(pid, data)?;
    shared.clear().map_err(|e| Refused::Unreachable(e.to_string()))?;
    let tids: Vec<i32> = h.threads.iter().map(|t| t.tid).collect();
    let words: [u64; at::CONTROL_WORDS] = [data, number, data, own.pid, own.began, arch::cpu_at(&tids)];
    memory.write(page + at::PAGE as u64, &words.map(u64::to_ne_bytes).concat()).map_err(unwritable)?;
    let shared = Rc::new(shared);
    let over = Rc::new(Cell::new(false));
    let reader = Reader::new(pid, Rc::clone(&shared), Rc::clone(&over));
    let installed = Installed { pid, memory, page, file: file.id, patches, shared, over };
    installed.change(&h)?;
    installed.shared.record(true);
    let stopped_ns = h.stopped_ns();
    Ok(PutIn { installed, reader, repaired, stopped_ns })
}

fn unwritable(e: std::io::Error) -> Refused {
    Refused::NotAllowed(e.to_string())
}

/// Where the threads keep their numbers.
fn thread_number(h: &Halted<'_>, memory: &Memory) -> Option<u64> {
    let blocks: Option<Vec<_>> = h
        .threads
        .iter()
        .map(|t| {
            let block = arch::Registers::of(t.tid).ok()?.thread_pointer();
            Some((t.tid, number::block(memory, block)))
        })
        .collect();
    number::find(&blocks?)
}

/// The memory that the engine shares.
fn shared(pid: u32, data: u64) -> Result<Shared, Refused> {
    let path = format!("/proc/{pid}/map_files/{data:x}-{:x}", data.wrapping_add(at::DATA as u64));
    Shared::open(path.as_ref()).map_err(|e| Refused::Unreachable(format!("{path}: {e}")))
}

impl Installed {
    /// Changes the places. Ends before starts, so that no operator is seen to start that is not seen to end.
    fn change(&self, h: &Halted<'_>) -> Result<(), Refused> {
        for patch in self.patches.iter().rev() {
            let is = &mut [0; arch::CHANGED];
            // The thread that ran the bootstrap had a moment; nobody else did.
            if !self.memory.read(patch.address, is) || *is != patch.was {
                self.put_back(h, &mappings(self.pid));
                return Err(Refused::Changed(patch.address));
            }
            if let Err(e) = self.memory.poke(h.any(), patch.address, &patch.becomes) {
                self.put_back(h, &mappings(self.pid));
                return Err(unwritable(e));
            }
        }
        Ok(())
    }

    fn put_back(&self, h: &Halted<'_>, mapped: &[Mapping]) -> PutBack {
        // The file may be gone by now, but what it had was compared when the probes were put in.
        let had = |offset| self.patches.iter().find(|p| p.offset == offset).map(|p| p.was);
        leftover::put_back(h, &self.memory, mapped, self.file, &self.patches, had)
    }

    /// Places that are changed.
    #[must_use]
    pub fn places(&self) -> usize {
        self.patches.len()
    }

    /// File offsets of the changed places.
    pub fn offsets(&self) -> impl Iterator<Item = u64> {
        self.patches.iter().map(|p| p.offset)
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
        if self.memory.word(self.page) != Some(at::MAGIC) {
            return Ok(PutBack::default());
        }
        let h = match Halted::new(self.pid, None, watch) {
            // Its code went with it.
            Err(Refused::Ended) => return Ok(PutBack::default()),
            halted => halted?,
        };
        let mapped = mappings(self.pid);
        if mapped.is_empty() || self.memory.word(self.page) != Some(at::MAGIC) {
            return Ok(PutBack::default());
        }
        let back = self.put_back(&h, &mapped);
        let off = 0u64.to_ne_bytes();
        let control = self.page + at::PAGE as u64;
        let owner = self.memory.write(control + at::CONTROL_OWNER as u64, &off);
        let data = self.memory.write(control + at::CONTROL_DATA as u64, &off);
        owner.and(data).map_err(unwritable)?;
        Ok(back)
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
