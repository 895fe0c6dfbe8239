//! Pages of earlier sessions in a process: their places are put back, or the pages are reused.

use super::arch::CHANGED;
use super::halt::Halted;
use super::memory::Memory;
use super::owner::Owner;
use super::page::{Header, Patch};
use super::place::address;
use crate::sys::direct::layout as at;
use crate::target::maps::{FileId, Mapping};

/// A code page of an earlier session.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) at: u64,
    pub(super) header: Header,
    pub(super) owner: Owner,
    /// Address of the shared memory. 0 in a forked child, which has its parent's code and a zeroed
    /// control page.
    pub(super) data: u64,
}

/// All pages of this layout.
pub(super) fn find(mappings: &[Mapping], memory: &Memory) -> Vec<Found> {
    let pages = mappings.iter().filter(|m| m.executable && !m.writable && m.path.is_empty());
    pages
        .filter_map(|m| {
            let mut bytes = [0; at::HEADER];
            let header = memory.read(m.start, &mut bytes).then(|| Header::parse(&bytes))??;
            let word = |field: usize| memory.word(m.start + (at::PAGE + field) as u64);
            let owner = Owner { pid: word(at::CONTROL_OWNER)?, began: word(at::CONTROL_OWNER_BEGAN)? };
            Some(Found { at: m.start, header, owner, data: word(at::CONTROL_MAP)? })
        })
        .collect()
}

/// Result of putting places back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PutBack {
    pub done: u16,
    /// Places that were changed by another program since, or are unmapped; left as they are.
    pub left: u16,
}

/// Puts the bytes of the file back wherever the probes' bytes are still in place. Nothing else is
/// ever written, whatever a header contains: `file_has` returns the file's own bytes.
pub(super) fn put_back(
    h: &Halted<'_>,
    memory: &Memory,
    mappings: &[Mapping],
    file: FileId,
    patches: &[Patch],
    file_has: impl Fn(u64) -> Option<[u8; CHANGED]>,
) -> PutBack {
    let mut result = PutBack::default();
    for patch in patches {
        let mut is = [0; CHANGED];
        let mapped = address(mappings, file, patch.offset) == Some(patch.address);
        if !mapped || !memory.read(patch.address, &mut is) {
            continue;
        }
        if is == patch.was {
            continue;
        }
        let ours = is == patch.becomes && file_has(patch.offset) == Some(patch.was);
        if ours && memory.poke(h.any(), patch.address, &patch.was).is_ok() {
            result.done += 1;
        } else {
            result.left += 1;
        }
    }
    result
}
