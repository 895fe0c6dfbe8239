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
    /// Places that another program has changed since; left as they are.
    pub left: u16,
}

/// Puts the bytes of the file back wherever the bytes of this page's probes are still in place, and
/// returns for how many. Nothing else is ever written, whatever a header contains: `file_has`
/// returns the file's own bytes.
pub(super) fn put_back(
    h: &Halted<'_>,
    memory: &Memory,
    mappings: &[Mapping],
    file: FileId,
    patches: &[Patch],
    file_has: impl Fn(u64) -> Option<[u8; CHANGED]>,
) -> u16 {
    let ours = |patch: &&Patch| {
        at_place(memory, mappings, file, patch) == Some(patch.becomes)
            && file_has(patch.offset) == Some(patch.was)
            && memory.poke(h.any(), patch.address, &patch.was).is_ok()
    };
    patches.iter().filter(ours).fold(0, |n, _| n + 1)
}

/// The places whose bytes are not the file's. Asked when all pages are done: what one page finds
/// changed may be the probe of another one.
pub(super) fn changed(
    memory: &Memory,
    mappings: &[Mapping],
    file: FileId,
    patches: &[Patch],
) -> impl Iterator<Item = u64> {
    let differs = move |p: &&Patch| at_place(memory, mappings, file, p).is_some_and(|is| is != p.was);
    patches.iter().filter(differs).map(|p| p.address)
}

/// The bytes at a place; `None`: it is not mapped there any more.
fn at_place(memory: &Memory, mappings: &[Mapping], file: FileId, patch: &Patch) -> Option<[u8; CHANGED]> {
    let mut is = [0; CHANGED];
    let mapped = address(mappings, file, patch.offset) == Some(patch.address);
    (mapped && memory.read(patch.address, &mut is)).then_some(is)
}
