//! Finds the places of a file in the memory of a process.

use profinfer_engine::{DirectPlaces, DirectRole};

use super::memory::Memory;
use super::refused::Refused;
use crate::target::maps::{FileId, Mapping};

/// Length of the longest patched instruction, in bytes.
pub(super) const LONGEST: usize = 15;
/// Patches must not cross pages of this size.
const PAGE: u64 = 4096;

/// One place in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) address: u64,
    pub(super) offset: u64,
    pub(super) role: DirectRole,
    /// Address of the called function; 0 for an end.
    pub(super) callee: u64,
    pub(super) len: usize,
    /// The instruction.
    pub(super) bytes: [u8; LONGEST],
}

/// The address at which `offset` of the library `id` is mapped as code.
pub(super) fn address(mappings: &[Mapping], id: FileId, offset: u64) -> Option<u64> {
    let offset = offset.checked_add(id.image)?;
    let mapped = mappings.iter().find(|m| {
        m.executable
            && m.id.same_file(&id)
            && (m.offset..m.offset.saturating_add(m.end - m.start)).contains(&offset)
    })?;
    Some(mapped.start + (offset - mapped.offset))
}

/// The places of `found` in memory. All must be mapped with the file's bytes.
pub(super) fn resolve(
    found: &DirectPlaces,
    id: FileId,
    mappings: &[Mapping],
    memory: &Memory,
    changed: usize,
) -> Result<Vec<Place>, Refused> {
    let mut places = Vec::with_capacity(found.places.len());
    for p in &found.places {
        let address = address(mappings, id, p.offset).ok_or(Refused::NotMapped)?;
        if address / PAGE != (address + changed as u64 - 1) / PAGE {
            return Err(Refused::TwoPages(address));
        }
        let mut bytes = [0; LONGEST];
        let mut is = [0; LONGEST];
        let len = p.bytes.len();
        let (Some(bytes_of), Some(is_of)) = (bytes.get_mut(..len), is.get_mut(..len)) else {
            return Err(Refused::NoPlaces);
        };
        bytes_of.copy_from_slice(&p.bytes);
        if len < changed {
            return Err(Refused::NoPlaces);
        }
        if !memory.read(address, is_of) || is != bytes {
            return Err(Refused::Changed(address));
        }
        let loaded = |virtual_address: u64| address.wrapping_sub(p.address).wrapping_add(virtual_address);
        let callee = match p.role {
            DirectRole::Start { callee, .. } | DirectRole::Whole { callee } => loaded(callee),
            DirectRole::End => 0,
        };
        places.push(Place { address, offset: p.offset, role: p.role, callee, len, bytes });
    }
    if places.is_empty() { Err(Refused::NoPlaces) } else { Ok(places) }
}
