//! Function bounds from the unwind tables, which stripping keeps.

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, UnwindSection as _};

use super::elf::{Image, offset};

/// The function around an address: (start, end), or none without unwind information for it.
///
/// A function that the compiler has split has an entry for each part.
pub(crate) fn function_around(image: &Image<'_>, address: u64) -> Option<(u64, u64)> {
    let (header_address, header) = image.frame_header()?;
    // The third byte says how the number of entries is stored. All linkers store 32 bits; gimli multiplies
    // wider ones unchecked.
    if header.get(2) != Some(&gimli::DW_EH_PE_udata4.0) {
        return None;
    }
    let bases = BaseAddresses::default().set_eh_frame_hdr(header_address);
    let header = EhFrameHdr::new(header, LittleEndian).parse(&bases, 8).ok()?;
    let gimli::Pointer::Direct(frames) = header.eh_frame_ptr() else { return None };
    let bases = bases.set_eh_frame(frames);
    let section = EhFrame::new(image.at(frames)?, LittleEndian);
    // gimli's own `fde_for_address` subtracts these two addresses unchecked.
    let gimli::Pointer::Direct(found) = header.table()?.lookup(address, &bases).ok()? else { return None };
    let at = gimli::EhFrameOffset(offset(found.checked_sub(frames)?));
    let entry = section.fde_from_offset(&bases, at, EhFrame::cie_from_offset).ok()?;
    if !entry.contains(address) {
        return None;
    }
    let (start, end) = (entry.initial_address(), entry.end_address());
    let whole =
        end > start && image.bytes(start, end - start).is_some_and(|b| b.len() == offset(end - start));
    (whole && image.is_code(start)).then_some((start, end))
}
