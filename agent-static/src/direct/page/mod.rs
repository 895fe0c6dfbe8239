//! The code page: a header that describes the changes to a later agent, the stubs, and one thunk
//! per place.

use crate::sys::direct::layout as at;
use crate::sys::direct::stubs;
use crate::target::maps::FileId;

use super::arch;
use super::place::Place;

/// Addresses of the stubs.
#[derive(Debug, Clone, Copy)]
pub(super) struct Targets {
    pub(super) start: u64,
    pub(super) fused: u64,
    pub(super) end: u64,
}

/// One patched place.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Patch {
    pub(super) address: u64,
    /// Offset in the file.
    pub(super) offset: u64,
    /// The first bytes: original and patched.
    pub(super) was: [u8; arch::CHANGED],
    pub(super) becomes: [u8; arch::CHANGED],
}

/// The content of a page for a certain address; zeros follow the given bytes.
#[derive(Debug)]
pub(super) struct Page {
    pub(super) bytes: Vec<u8>,
    pub(super) patches: Vec<Patch>,
}

/// The header of a page, parsed from foreign bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) file: FileId,
    pub(super) patches: Vec<Patch>,
}

/// Filler between thunks, and on x86-64 after them: `int3`.
const FILL: u8 = 0xcc;

/// Builds the page for `address`. `None`: it does not fit, or a target is out of reach.
pub(super) fn build(address: u64, file: FileId, places: &[Place], phase: bool) -> Option<Page> {
    if places.len() > at::PLACES {
        return None;
    }
    let stubs = stubs();
    let to = |offset: usize| address + offset as u64;
    let targets = Targets { start: to(stubs.start), fused: to(stubs.fused), end: to(stubs.end) };
    let mut bytes = stubs.bytes.to_vec();
    let mut patches = Vec::with_capacity(places.len());
    for place in places {
        bytes.resize(bytes.len().next_multiple_of(16), FILL);
        let thunk = to(bytes.len());
        arch::thunk(&mut bytes, address, place, &targets, phase)?;
        let becomes = arch::change(place, thunk)?;
        patches.push(Patch {
            address: place.address,
            offset: place.offset,
            was: *place.bytes.first_chunk()?,
            becomes: *becomes.first_chunk()?,
        });
    }
    let words = [at::MAGIC, patches.len() as u64, file.device, file.inode, arch::CHANGED as u64, file.image];
    let of = |b: &[u8; arch::CHANGED]| {
        let mut word = [0; 8];
        word[..arch::CHANGED].copy_from_slice(b);
        u64::from_le_bytes(word)
    };
    let header = words
        .into_iter()
        .chain([0; at::HEADER_WORDS + 1 - 6])
        .chain(patches.iter().flat_map(|p| [p.address, p.offset, of(&p.was), of(&p.becomes)]));
    for (word, value) in bytes.as_chunks_mut().0.iter_mut().zip(header) {
        *word = value.to_le_bytes();
    }
    if bytes.len() > at::PAGE {
        return None;
    }
    // arm64's pages may be large, and zeros are not an instruction there.
    let written = if cfg!(target_arch = "aarch64") { bytes.len().next_multiple_of(8) } else { at::PAGE };
    bytes.resize(written, FILL);
    Some(Page { bytes, patches })
}

impl Header {
    /// Parses the header of a page of this layout; `None` for any other bytes.
    pub(super) fn parse(bytes: &[u8]) -> Option<Self> {
        let words = bytes.as_chunks().0;
        let word = |n: usize| words.get(n).map(|w| u64::from_le_bytes(*w));
        if word(0)? != at::MAGIC || word(4)? != arch::CHANGED as u64 {
            return None;
        }
        let count = usize::try_from(word(1)?).ok().filter(|n| *n <= at::PLACES)?;
        let code = |n: usize| word(n)?.to_le_bytes().first_chunk().copied();
        let patch = |n: usize| {
            let first = at::HEADER_WORDS + 1 + n * at::PLACE_WORDS;
            let (was, becomes) = (code(first + 2)?, code(first + 3)?);
            Some(Patch { address: word(first)?, offset: word(first + 1)?, was, becomes })
        };
        let patches = (0..count).map(patch).collect::<Option<_>>()?;
        Some(Self { file: FileId { device: word(2)?, inode: word(3)?, image: word(5)? }, patches })
    }
}

#[cfg(test)]
mod tests;
