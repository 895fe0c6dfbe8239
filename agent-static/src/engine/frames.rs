//! Function bounds from the unwind tables, which stripping keeps.

use gimli::{BaseAddresses, EhFrame, EhFrameHdr, LittleEndian, UnwindSection as _};

use super::elf::{Image, offset};

/// The function around an address: (start, end), or none without unwind information for it.
///
/// A function that the compiler has split has an entry for each part.
pub(crate) fn function_around(image: &Image<'_>, address: u64) -> Option<(u64, u64)> {
    let (header_address, header) = image.frame_header()?;
    let bases = BaseAddresses::default().set_eh_frame_hdr(header_address);
    let header = EhFrameHdr::new(header, LittleEndian).parse(&bases, 8).ok()?;
    let gimli::Pointer::Direct(frames) = header.eh_frame_ptr() else { return None };
    let bases = bases.set_eh_frame(frames);
    let section = EhFrame::new(image.at(frames)?, LittleEndian);
    let table = header.table()?;
    let entry = table.fde_for_address(&section, &bases, address, EhFrame::cie_from_offset).ok()?;
    let (start, end) = (entry.initial_address(), entry.end_address());
    let whole =
        end > start && image.bytes(start, end - start).is_some_and(|b| b.len() == offset(end - start));
    (whole && image.is_code(start)).then_some((start, end))
}
