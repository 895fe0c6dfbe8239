//! The GNU build id: the linker's fingerprint of a file.

use goblin::elf::note::NT_GNU_BUILD_ID;
use goblin::elf::program_header::PT_NOTE;

use super::elf::{Image, offset};

/// The bytes of the build id, if the file has one.
pub(crate) fn build_id<'d>(image: &Image<'d>) -> Option<&'d [u8]> {
    image.segments.iter().filter(|s| s.p_type == PT_NOTE).find_map(|segment| {
        let end = segment.p_offset.checked_add(segment.p_filesz)?;
        let mut notes = image.data.get(offset(segment.p_offset)..offset(end))?;
        loop {
            // Three words, then name and content, each padded to a multiple of 4 (System V gABI,
            // "Note Section").
            let (head, rest) = notes.split_at_checked(12)?;
            let word = |n: usize| head[n * 4..n * 4 + 4].try_into().map_or(0, u32::from_le_bytes);
            let (name, rest) = rest.split_at_checked(offset(u64::from(word(0)).next_multiple_of(4)))?;
            let content = rest.get(..offset(word(1).into()))?;
            if word(2) == NT_GNU_BUILD_ID && name == b"GNU\0" {
                return Some(content);
            }
            notes = rest.get(offset(u64::from(word(1)).next_multiple_of(4))..)?;
        }
    })
}
