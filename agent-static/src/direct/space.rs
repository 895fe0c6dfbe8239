//! Free space in a process: for the pages near its code, and for the bootstrap in unused bytes of
//! code pages.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;

use crate::sys::direct::layout::PAGE;
use crate::target::maps::Mapping;

/// Lowest address that is used. Below are the pages that nobody may map, and small numbers.
const LOWEST: u64 = 1 << 20;
/// First address after the address space of a process with four levels of page tables. Kernels for
/// arm64 have 39 to 52 address bits and do not report the number, so nothing is placed after the
/// last mapping there.
const HIGHEST: u64 = if cfg!(target_arch = "aarch64") { 1 << 52 } else { 0x7fff_ffff_f000 };

/// Address for the code page and the control page after it: as near as possible to `code`, closer
/// than `reach`, with a free page on both sides.
pub(super) fn gap(mappings: &[Mapping], code: u64, reach: u64) -> Option<u64> {
    let page = PAGE as u64;
    let ends = std::iter::once(LOWEST).chain(mappings.iter().map(|m| m.end));
    let top = (!cfg!(target_arch = "aarch64")).then_some(HIGHEST);
    let starts = mappings.iter().map(|m| m.start).chain(top);
    let candidates = ends.zip(starts).filter(|(low, high)| *high <= HIGHEST && *low + 5 * page <= *high);
    let candidates = candidates.flat_map(|(low, high)| {
        let up = |a: u64| a.next_multiple_of(page);
        [up(low) + page, (high / page - 3) * page]
    });
    let nearest = candidates.min_by_key(|at| at.abs_diff(code))?;
    (nearest.abs_diff(code) < reach).then_some(nearest)
}

/// Addresses of `size` unused bytes in code pages, at multiples of 16.
pub(super) fn places(pid: u32, mappings: &[Mapping], size: usize) -> Vec<u64> {
    let long = slacks(pid, mappings).into_iter().filter(|(from, to)| from + size as u64 <= *to);
    long.map(|(from, _)| from).collect()
}

/// Unused bytes at the end of the last page of each code segment: first address, and first address
/// after them.
pub(super) fn slacks(pid: u32, mappings: &[Mapping]) -> Vec<(u64, u64)> {
    let code = mappings.iter().filter(|m| m.executable && !m.writable && m.path.starts_with('/'));
    code.filter_map(|m| {
        let file = File::open(format!("/proc/{pid}/map_files/{:x}-{:x}", m.start, m.end)).ok()?;
        segment_ends(&file)?.into_iter().find_map(|end| {
            let from = m.start + end.next_multiple_of(16).checked_sub(m.offset)?;
            (from < m.end && m.end - from < PAGE as u64).then_some((from, m.end))
        })
    })
    .collect()
}

/// End offsets of all code segments of an ELF file, parsed from foreign bytes.
fn segment_ends(mut file: &File) -> Option<Vec<u64>> {
    const SEGMENT: usize = 56;
    const CODE: u32 = 1;
    let mut head = [0; 64];
    file.read_exact(&mut head).ok()?;
    let word = |b: &[u8], at: usize| Some(u64::from_le_bytes(*b.get(at..)?.first_chunk()?));
    let half = |b: &[u8], at: usize| Some(u32::from_le_bytes(*b.get(at..)?.first_chunk()?));
    if head[..5] != *b"\x7fELF\x02" {
        return None;
    }
    let (table, count) = (word(&head, 32)?, half(&head, 56)? & 0xffff);
    let mut ends = Vec::new();
    for n in 0..u64::from(count) {
        let mut segment = [0; SEGMENT];
        file.read_exact_at(&mut segment, table.checked_add(n * SEGMENT as u64)?).ok()?;
        let (kind, flags) = (half(&segment, 0)?, half(&segment, 4)?);
        if kind == 1 && flags & CODE != 0 {
            ends.push(word(&segment, 8)?.checked_add(word(&segment, 32)?)?);
        }
    }
    Some(ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target::maps::{FileId, mappings};

    fn mapping(start: u64, end: u64) -> Mapping {
        let (id, path) = (FileId::default(), String::new());
        Mapping { start, end, offset: 0, executable: true, writable: false, id, path }
    }

    #[test]
    fn the_nearest_gap_is_taken_if_it_is_in_reach() {
        let page = PAGE as u64;
        let base = 0x7f00_0000_0000;
        let code = [mapping(base, base + 64 * page), mapping(base + 65 * page, base + 99 * page)];
        let at = gap(&code, base + page, 1 << 31).unwrap_or_default();
        assert_eq!(at, base - 3 * page, "two pages, and one free on both sides");
        // The space below is used: above it is free.
        let walled = [mapping(LOWEST, base), code[0].clone(), code[1].clone()];
        assert_eq!(gap(&walled, base + page, 1 << 31), Some(base + 100 * page));
        assert_eq!(gap(&walled, base + page, 32 * page), None);
        let full = [mapping(LOWEST, HIGHEST)];
        assert_eq!(gap(&full, base, 1 << 31), None);
    }

    #[test]
    fn there_is_slack_in_some_library_of_this_process() {
        let pid = std::process::id();
        let found = slacks(pid, &mappings(pid));
        assert!(found.iter().all(|(from, to)| from < to && to - from < PAGE as u64), "{found:x?}");
    }
}
