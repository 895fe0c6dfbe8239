//! Finds the offset of the thread id in a thread's control block. No interface provides it, so all
//! threads are compared.

use super::arch;
use super::memory::Memory;
use crate::sys::direct::layout::BLOCK;

/// The first words are pointers of the C library.
const FIRST: usize = 16;

/// The offset at which the control block of every thread contains its id. `None`: there is none, or
/// there are several and none is the usual one. Blocks may be shorter if less is mapped.
pub(super) fn find(blocks: &[(i32, Vec<u8>)]) -> Option<u64> {
    let holds = |at: usize| {
        blocks.iter().all(|(tid, block)| block.get(at..at + 4).is_some_and(|b| b == tid.to_ne_bytes()))
    };
    if blocks.is_empty() {
        return None;
    }
    let usual = arch::THREAD_NUMBERS.into_iter().find(|at| usize::try_from(*at).is_ok_and(holds));
    if usual.is_some() {
        return usual;
    }
    let mut found = (FIRST..BLOCK).step_by(4).filter(|at| holds(*at));
    match (found.next(), found.next()) {
        (Some(at), None) => Some(at as u64),
        _ => None,
    }
}

/// The block at `at`, with zeros for an unmapped beginning: on arm64 the mapped part may begin at a
/// page.
pub(super) fn block(memory: &Memory, at: u64) -> Vec<u8> {
    const PAGE: u64 = 4096;
    let all = memory.some(at, BLOCK);
    let before = usize::try_from(at.next_multiple_of(PAGE) - at).unwrap_or(BLOCK);
    if !all.is_empty() || before >= BLOCK {
        return all;
    }
    let mut bytes = vec![0; before];
    bytes.extend(memory.some(at + before as u64, BLOCK - before));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(tid: i32, at: &[usize]) -> (i32, Vec<u8>) {
        let mut bytes = vec![0; BLOCK];
        at.iter().for_each(|at| bytes[*at..at + 4].copy_from_slice(&tid.to_ne_bytes()));
        (tid, bytes)
    }

    #[test]
    fn one_place_for_all_threads() {
        assert_eq!(find(&[block(70, &[900]), block(71, &[64, 900])]), Some(900));
        assert_eq!(find(&[block(70, &[900]), block(71, &[904])]), None);
        assert_eq!(find(&[block(70, &[64, 900])]), None, "two candidates");
        assert_eq!(find(&[]), None);
        assert_eq!(find(&[(70, vec![1, 2])]), None);
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_usual_place_is_preferred() {
        // In a container the only thread has id 1, and many other words are 1 too.
        assert_eq!(find(&[block(1, &[24, 0x2d0])]), Some(0x2d0));
        assert_eq!(find(&[block(1, &[0x30, 700])]), Some(0x30));
    }
}
