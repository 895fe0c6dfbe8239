//! The places of a stopped engine, changed and put back.

use profinfer_engine::{DirectPlaces, DirectRole};

use super::halt::Halted;
use super::leftover::{self, PutBack};
use super::memory::Memory;
use super::owner::Owner;
use super::page::Patch;
use super::refused::Refused;
use super::{REACH, arch, boot, number, page, place, repair, room};
use crate::sys::direct::layout as at;
use crate::sys::direct::shared::Shared;
use crate::target::maps::{FileId, MappedFile, Mapping, mappings};

/// What is changed in a process.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) pid: u32,
    /// Address of the code page.
    pub(super) page: u64,
    file: FileId,
    pub(super) patches: Vec<Patch>,
}

/// What changing it came to.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) changed: Changed,
    pub(super) shared: Shared,
    pub(super) repaired: PutBack,
    pub(super) stopped_ns: u64,
}

/// Puts probes into the places of `file` in the stopped process.
pub(super) fn put_in(
    memory: &Memory,
    pid: u32,
    file: &MappedFile,
    found: &DirectPlaces,
    mut h: Halted<'_>,
) -> Result<Done, Refused> {
    let mapped = mappings(pid);
    let left = leftover::find(&mapped, memory);
    let own = Owner::own();
    if let Some(other) = left.iter().find(|l| l.owner != own && l.owner.lives()) {
        return Err(Refused::OtherAgent(other.owner.pid));
    }
    let mut repaired = PutBack::default();
    for old in &left {
        let back = repair::put_back(pid, &h, memory, &mapped, old);
        repaired = PutBack { done: repaired.done + back.done, left: repaired.left + back.left };
    }
    let places = place::resolve(found, file.id, &mapped, memory, arch::CHANGED)?;
    let number = thread_number(&h, memory).ok_or(Refused::NoThreadNumber)?;
    let phase = found.has_phase && found.places.iter().any(|p| matches!(p.role, DirectRole::Whole { .. }));
    // A page that serves these places already is used again: not a byte of it changes, whoever may return into it.
    let same = left.iter().filter(|l| l.data != 0).find_map(|l| {
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
            let data = boot::run(&mut h, memory, &slacks, gap)?;
            memory.poke(h.any(), gap, &page.bytes).map_err(unwritable)?;
            (gap, data, page.patches)
        }
    };
    let shared = shared(pid, data)?;
    shared.clear().map_err(|e| Refused::Unreachable(e.to_string()))?;
    let tids: Vec<i32> = h.threads.iter().map(|t| t.tid).collect();
    let words: [u64; at::CONTROL_WORDS] = [data, number, data, own.pid, own.began, arch::cpu_at(&tids)];
    memory.write(page + at::PAGE as u64, &words.map(u64::to_ne_bytes).concat()).map_err(unwritable)?;
    let changed = Changed { pid, page, file: file.id, patches };
    changed.change(memory, &h)?;
    shared.record(true);
    let stopped_ns = h.stopped_ns();
    Ok(Done { changed, shared, repaired, stopped_ns })
}

pub(super) fn unwritable(e: std::io::Error) -> Refused {
    Refused::NotAllowed(e.to_string())
}

/// Where the threads keep their numbers.
fn thread_number(h: &Halted<'_>, memory: &Memory) -> Option<u64> {
    let blocks: Option<Vec<_>> = h
        .threads
        .iter()
        .map(|t| {
            let block = arch::Registers::new(t.tid).ok()?.thread_pointer();
            Some((t.tid, number::block(memory, block)))
        })
        .collect();
    number::find(&blocks?)
}

/// The memory that the engine shares.
pub(super) fn shared(pid: u32, data: u64) -> Result<Shared, Refused> {
    let path = format!("/proc/{pid}/map_files/{data:x}-{:x}", data.wrapping_add(at::DATA as u64));
    Shared::open(path.as_ref()).map_err(|e| Refused::Unreachable(format!("{path}: {e}")))
}

impl Changed {
    /// Changes the places. Ends before starts, so that no operator is seen to start that is not seen to end.
    fn change(&self, memory: &Memory, h: &Halted<'_>) -> Result<(), Refused> {
        for patch in self.patches.iter().rev() {
            let is = &mut [0; arch::CHANGED];
            // The thread that ran the bootstrap had a moment; nobody else did.
            if !memory.read(patch.address, is) || *is != patch.was {
                self.put_back(memory, h, &mappings(self.pid));
                return Err(Refused::Changed(patch.address));
            }
            if let Err(e) = memory.poke(h.any(), patch.address, &patch.becomes) {
                self.put_back(memory, h, &mappings(self.pid));
                return Err(unwritable(e));
            }
        }
        Ok(())
    }

    /// Puts back what is ours still.
    pub(super) fn put_back(&self, memory: &Memory, h: &Halted<'_>, mapped: &[Mapping]) -> PutBack {
        // The file may be gone by now, but what it had was compared when the probes were put in.
        let had = |offset| self.patches.iter().find(|p| p.offset == offset).map(|p| p.was);
        leftover::put_back(h, memory, mapped, self.file, &self.patches, had)
    }

    /// Puts back what is ours still, and lets the stubs record nothing.
    pub(super) fn take_out(&self, memory: &Memory, h: Halted<'_>) -> Result<PutBack, Refused> {
        let mapped = mappings(self.pid);
        if mapped.is_empty() || memory.word(self.page) != Some(at::MAGIC) {
            return Ok(PutBack::default());
        }
        let back = self.put_back(memory, &h, &mapped);
        let off = 0u64.to_ne_bytes();
        let control = self.page + at::PAGE as u64;
        let owner = memory.write(control + at::CONTROL_OWNER as u64, &off);
        let data = memory.write(control + at::CONTROL_DATA as u64, &off);
        owner.and(data).map_err(unwritable)?;
        Ok(back)
    }
}
