//! Patches the places of a stopped engine and puts them back.

use profinfer_engine::{DirectPlaces, DirectRole};

use super::halt::Halted;
use super::leftover::{self, PutBack};
use super::memory::Memory;
use super::owner::Owner;
use super::page::Patch;
use super::refused::Refused;
use super::{REACH, arch, boot, number, page, place, repair, space};
use crate::sys::direct::layout as at;
use crate::sys::direct::shared::Shared;
use crate::target::files::MappedFile;
use crate::target::maps::{FileId, Mapping, mappings};

/// The changes in a process.
#[derive(Debug)]
pub(super) struct Changed {
    pub(super) pid: u32,
    pub(super) page: u64,
    file: FileId,
    pub(super) patches: Vec<Patch>,
}

/// Result of the patching.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) changed: Changed,
    pub(super) shared: Shared,
    pub(super) repaired: PutBack,
    pub(super) stopped_ns: u64,
}

/// Installs probes at the places of `file` in the stopped process.
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
    let repaired = repair::put_back(pid, &h, memory, &mapped, &left);
    let places = place::resolve(found, file.id, &mapped, memory, arch::CHANGED)?;
    let number = thread_number(&h, memory).ok_or(Refused::NoThreadNumber)?;
    let phase = found.has_phase && found.places.iter().any(|p| matches!(p.role, DirectRole::Whole { .. }));
    // A page that serves these places already is reused. None of its bytes change, whichever thread
    // returns into it.
    let same = left.iter().filter(|l| l.data != 0).find_map(|l| {
        let page = page::build(l.at, file.id, &places, phase)?;
        (memory.some(l.at, page.bytes.len()) == page.bytes).then_some((l.at, l.data, page.patches))
    });
    let (page, data, patches) = match same {
        Some(same) => same,
        None => {
            let near = places.first().map_or(0, |p| p.address);
            let gap = space::gap(&mapped, near, REACH).ok_or(Refused::NoRoom)?;
            let page = page::build(gap, file.id, &places, phase).ok_or(Refused::NoRoom)?;
            let boot = crate::sys::direct::boot().bytes.len();
            let slacks = space::places(pid, &mapped, boot);
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

/// Offset of the thread id in the threads' control blocks.
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

/// The memory that the engine shares with the agent.
pub(super) fn shared(pid: u32, data: u64) -> Result<Shared, Refused> {
    let path = format!("/proc/{pid}/map_files/{data:x}-{:x}", data.wrapping_add(at::DATA as u64));
    Shared::open(path.as_ref()).map_err(|e| Refused::Unreachable(format!("{path}: {e}")))
}

impl Changed {
    /// Patches the places. Ends before starts: otherwise the start of an operator could be seen
    /// without its end.
    fn change(&self, memory: &Memory, h: &Halted<'_>) -> Result<(), Refused> {
        for patch in self.patches.iter().rev() {
            let is = &mut [0; arch::CHANGED];
            // Only the thread that ran the bootstrap had a moment to change it.
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

    /// Puts back the places that are still ours.
    pub(super) fn put_back(&self, memory: &Memory, h: &Halted<'_>, mapped: &[Mapping]) -> PutBack {
        // The file may be gone by now, but its bytes were compared when the probes were installed.
        let had = |offset| self.patches.iter().find(|p| p.offset == offset).map(|p| p.was);
        let done = leftover::put_back(h, memory, mapped, self.file, &self.patches, had);
        let left = leftover::changed(memory, mapped, self.file, &self.patches).count();
        PutBack { done, left: u16::try_from(left).unwrap_or(u16::MAX) }
    }

    /// Puts back the places that are still ours, and stops recording in the stubs.
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
