//! Large blocks are files: they keep what is written, grow and shrink like vectors, and use only
//! memory that the kernel can reclaim.
#![expect(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

use std::fs;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::thread;

use profinfer_scratch::{Allocator, LARGE, begin};
use proptest::prelude::*;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

/// The folder, set once for all tests of this program.
fn folder() -> &'static PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        // Next to the program, because a folder for temporary files may be in memory.
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        begin(&folder, |_, e| panic!("{e}")).unwrap();
        folder
    })
}

/// True if a block is an unnamed file in the folder, as reported by the kernel.
fn is_file<T>(block: &[T]) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").unwrap();
    let at = block.as_ptr().addr();
    let holds = |line: &&str| {
        let (from, rest) = line.split_once('-').unwrap();
        let to = rest.split_once(' ').unwrap().0;
        let number = |text| usize::from_str_radix(text, 16).unwrap();
        (number(from)..number(to)).contains(&at)
    };
    let line = maps.lines().find(holds).unwrap();
    line.contains(folder().to_str().unwrap()) && line.ends_with("(deleted)")
}

/// Bytes of memory that the kernel cannot reclaim.
fn kept() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() * 1024
}

#[test]
fn only_large_blocks_are_files() {
    folder();
    assert!(!is_file(&vec![1_u8; LARGE - 1]));
    assert!(is_file(&vec![1_u8; LARGE]));
    assert!(is_file(&vec![1_u64; LARGE / 8]));
}

#[test]
fn a_vector_that_grows_becomes_a_file_and_one_that_shrinks_stops_being_one() {
    folder();
    let mut numbers = Vec::new();
    for i in 0..LARGE as u64 {
        numbers.push(i);
    }
    assert!(is_file(&numbers));
    assert!(numbers.iter().copied().eq(0..LARGE as u64));
    numbers.truncate(LARGE / 4);
    numbers.shrink_to_fit();
    assert!(is_file(&numbers));
    assert!(numbers.iter().copied().eq(0..LARGE as u64 / 4));
    numbers.truncate(100);
    numbers.shrink_to_fit();
    assert!(!is_file(&numbers));
    assert!(numbers.iter().copied().eq(0..100));
}

#[test]
fn a_block_of_zeros_is_one_also_after_another_was_given_back() {
    folder();
    for _ in 0..3 {
        let mut zeros = vec![0_u8; 3 * LARGE];
        assert!(is_file(&zeros));
        assert!(zeros.iter().all(|b| *b == 0));
        zeros.fill(7);
    }
}

#[test]
fn threads_give_back_what_others_took() {
    folder();
    let made: Vec<_> = (0..8_u64).map(|i| thread::spawn(move || vec![i; LARGE / 8 + i as usize])).collect();
    let made: Vec<Vec<u64>> = made.into_iter().map(|t| t.join().unwrap()).collect();
    let checks: Vec<_> = made
        .into_iter()
        .zip(0..)
        .map(|(v, i)| thread::spawn(move || assert!(is_file(&v) && v.iter().all(|n| *n == i))))
        .collect();
    checks.into_iter().for_each(|t| t.join().unwrap());
}

#[test]
fn large_blocks_take_no_memory_that_stays() {
    folder();
    let before = kept();
    let block = vec![1_u8; 256 * LARGE];
    assert!(kept() < before + 64 * LARGE as u64, "{} of {}", kept() - before, block.len());
}

#[test]
fn a_folder_in_memory_or_that_is_not_there_is_refused() {
    folder();
    let refused = |path: &str| begin(path.as_ref(), |_, e| panic!("{e}")).unwrap_err().to_string();
    assert!(refused("/dev/shm").contains("in memory"), "{}", refused("/dev/shm"));
    assert!(refused("/nowhere/at/all").contains("No such file"), "{}", refused("/nowhere/at/all"));
    assert!(refused(folder().to_str().unwrap()).contains("already"));
}

proptest! {
    /// Any order of growing, shrinking, copying and dropping keeps what was written.
    #[test]
    fn vectors_hold_what_vectors_hold(steps in proptest::collection::vec((0_usize..4, 0_usize..5 * LARGE), 1..24)) {
        folder();
        let mut kept: Vec<(Vec<u8>, u8)> = Vec::new();
        for (i, (what, size)) in steps.into_iter().enumerate() {
            let fill = i as u8;
            match (what, kept.last_mut()) {
                (0, _) | (_, None) => kept.push((vec![fill; size], fill)),
                (1, Some((last, fill))) => last.resize(size, *fill),
                (2, Some((last, _))) => { last.truncate(size); last.shrink_to_fit(); }
                (_, Some(_)) => drop(kept.swap_remove(size % kept.len())),
            }
            for (bytes, fill) in &kept {
                prop_assert!(bytes.first().is_none_or(|b| b == fill) && bytes.last().is_none_or(|b| b == fill));
                prop_assert!(bytes.iter().all(|b| b == fill));
            }
        }
    }
}
