//! Function bounds from the unwind tables, which stripping keeps.

use gimli::{BaseAddresses, CieOrFde, EhFrame, EhFrameHdr, LittleEndian, UnwindSection as _};

use super::elf::{Image, offset};
use super::frame::Frame;

/// Most frame descriptions that are read where no table leads to them.
const MOST_FRAMES: usize = 1 << 20;

/// The function around an address: (start, end), or none without unwind information for it.
///
/// A function that the compiler has split has one entry per part.
pub(crate) fn function_around(image: &Image<'_>, address: u64) -> Option<(u64, u64)> {
    frame(image, address).map(|frame| (frame.start, frame.end))
}

/// Whether the function around an address has landing pads for exceptions, according to the tables.
pub(crate) fn has_landing_pads(image: &Image<'_>, address: u64) -> bool {
    frame(image, address).is_some_and(|frame| frame.landing_pads)
}

fn frame(image: &Image<'_>, address: u64) -> Option<Frame> {
    let Some((header_address, header)) = image.frame_header() else { return without_table(image, address) };
    // The third byte is the format of the number of entries. All linkers store 32 bits; gimli
    // multiplies wider ones unchecked.
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
    let landing_pads = entry.lsda().is_some();
    (whole && image.is_code(start)).then_some(Frame { start, end, landing_pads })
}

/// The same in a file with descriptions but without a table of them: statically linked programs.
fn without_table(image: &Image<'_>, address: u64) -> Option<Frame> {
    let all = image.unsorted_frames.get_or_init(|| read_all(image).unwrap_or_default());
    let behind = all.partition_point(|frame| frame.start <= address);
    all.get(behind.checked_sub(1)?).copied().filter(|frame| address < frame.end)
}

fn read_all(image: &Image<'_>) -> Option<Vec<Frame>> {
    let (start, bytes) = image.frame_section()?;
    let bases = BaseAddresses::default().set_eh_frame(start);
    let section = EhFrame::new(bytes, LittleEndian);
    let mut entries = section.entries(&bases);
    let mut all = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        let Ok(entry) = partial.parse(EhFrame::cie_from_offset) else { continue };
        let (start, length) = (entry.initial_address(), entry.len());
        let Some(end) = start.checked_add(length).filter(|_| length > 0) else { continue };
        let whole = image.bytes(start, length).is_some_and(|b| b.len() == offset(length));
        if whole && image.is_code(start) && all.len() < MOST_FRAMES {
            all.push(Frame { start, end, landing_pads: entry.lsda().is_some() });
        }
    }
    all.sort_unstable();
    Some(all)
}
