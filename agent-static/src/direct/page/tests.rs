//! Valid pages and invalid bytes.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use proptest::prelude::*;

use super::*;
use crate::sys::direct::boot;

#[cfg(target_arch = "x86_64")]
mod x86 {
    use profinfer_engine::DirectRole;

    use super::super::super::place::LONGEST;
    use super::*;

    const BASE: u64 = 0x7f00_0000_0000;

    fn place(address: u64, bytes: &[u8], role: DirectRole, callee: u64) -> Place {
        let mut all = [0; LONGEST];
        all[..bytes.len()].copy_from_slice(bytes);
        Place { address, offset: address & 0xffff, role, callee, len: bytes.len(), bytes: all }
    }

    fn start(address: u64, callee: u64) -> Place {
        let away = i32::try_from(callee.wrapping_sub(address + 5).cast_signed()).unwrap();
        let bytes: Vec<u8> = [0xe8].into_iter().chain(away.to_le_bytes()).collect();
        place(address, &bytes, DirectRole::Start { fused: false, callee: 0 }, callee)
    }

    /// Target of the `call` or `jmp` with these bytes at `at`.
    fn target(at: u64, bytes: &[u8]) -> u64 {
        assert!(matches!(bytes[0], 0xe8 | 0xe9), "{bytes:x?}");
        (at + 5).wrapping_add_signed(i32::from_le_bytes(bytes[1..5].try_into().unwrap()).into())
    }

    #[test]
    fn a_start_leads_through_its_thunk_to_the_stub_and_to_its_callee() {
        let callee = BASE + 0x40_0000;
        let page = build(BASE, FileId::default(), &[start(BASE + 0x10_0000, callee)], false).unwrap();
        assert_eq!(page.bytes.len(), at::PAGE);
        let [patch] = &*page.patches else { panic!() };
        let thunk = target(patch.address, &patch.becomes);
        let code = &page.bytes[usize::try_from(thunk - BASE).unwrap()..];
        assert_eq!(target(thunk, code), BASE + stubs().start as u64);
        assert_eq!(target(thunk + 5, &code[5..]), callee);
        assert_eq!(target(patch.address, &patch.was), callee);
    }

    #[test]
    fn a_moved_instruction_runs_before_the_next_one() {
        let moved = [0x48, 0x8b, 0x84, 0x24, 0xc0, 0, 0, 0];
        let at = BASE + 0x10_0000;
        let page = build(BASE, FileId::default(), &[place(at, &moved, DirectRole::End, 0)], false).unwrap();
        let thunk = target(at, &page.patches[0].becomes);
        assert_eq!(page.patches[0].becomes[0], 0xe9);
        let code = &page.bytes[usize::try_from(thunk - BASE).unwrap()..];
        let found = code.windows(8).position(|w| w == moved).unwrap();
        assert_eq!(target(thunk + found as u64 + 8, &code[found + 8..]), at + 8);
        assert_eq!(target(thunk + 6, &code[6..]), BASE + stubs().end as u64);
    }

    #[test]
    fn targets_out_of_reach_or_too_many_places_are_refused() {
        let far = start(BASE + 0x8000_0000, BASE + 0x8000_1000);
        assert!(build(BASE, FileId::default(), &[far], false).is_none());
        let many: Vec<Place> =
            (0..=at::PLACES as u64).map(|n| start(BASE + 0x1000 + 8 * n, BASE + 0x9000)).collect();
        assert!(build(BASE, FileId::default(), &many, false).is_none());
        assert!(build(BASE, FileId::default(), &many[1..], false).is_some());
    }

    #[test]
    fn a_header_records_the_changes() {
        let file = FileId { device: 7, inode: 9, image: 4096 };
        let page =
            build(BASE, file, &[start(BASE + 0x10_0000, BASE), start(BASE + 0x20_0000, BASE)], true).unwrap();
        assert_eq!(Header::parse(&page.bytes), Some(Header { file, patches: page.patches }));
        let mut other = page.bytes.clone();
        other[0] ^= 1;
        assert_eq!(Header::parse(&other), None);
    }

    #[test]
    fn the_bootstrap_fits_the_end_of_a_page() {
        let code = boot();
        assert!(code.bytes.len() <= 640, "{} bytes", code.bytes.len());
        assert_eq!(code.bytes.len() - code.values, 8 * 19, "size of the values");
    }
}

proptest! {
    #[test]
    fn any_header_is_parsed_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..2 * at::HEADER), count in any::<u64>()) {
        let _ = Header::parse(&bytes);
        let mut bytes = bytes;
        for (at, word) in [(0, at::MAGIC), (8, count), (32, arch::CHANGED as u64)] {
            if let Some(to) = bytes.get_mut(at..at + 8) {
                to.copy_from_slice(&word.to_le_bytes());
            }
        }
        if let Some(header) = Header::parse(&bytes) {
            prop_assert!(header.patches.len() <= at::PLACES && bytes.len() >= 64);
        }
    }
}
