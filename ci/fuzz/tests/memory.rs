//! Memory for reading a stream and writing every view: at most a stated multiple of the input,
//! whatever the input claims.

use std::fs;
use std::path::{Path, PathBuf};

use peak_alloc::PeakAlloc;
use profinfer_fuzz::mutate::{Random, dictionary, mutated};
use profinfer_fuzz::views::views;

#[global_allocator]
static HEAP: PeakAlloc = PeakAlloc;

/// Fixed memory of every reading: the page, tables of the builders, buffers. Bytes.
const FIXED: usize = 96 << 20;
/// Bytes of memory per byte of the input: a span of less than three bytes becomes rows in tables,
/// in views and in their text.
const EACH: usize = 4_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz")
}

fn within(input: &[u8], what: &str) -> usize {
    let before = HEAP.current_usage();
    HEAP.reset_peak_usage();
    views(input);
    let taken = HEAP.peak_usage().saturating_sub(before);
    let most = FIXED + EACH * input.len();
    if taken > most {
        let path = std::env::temp_dir().join("profinfer-memory");
        let _ = fs::write(&path, input);
        panic!(
            "{what}: {taken} bytes for {} of input, more than {most}; it is in {}",
            input.len(),
            path.display()
        );
    }
    taken
}

/// Kept inputs, and mutations of them, including extreme numbers.
#[test]
fn memory_is_a_multiple_of_the_input() {
    let mut inputs = Vec::new();
    let mut largest = 0;
    for entry in fs::read_dir(folder().join("corpus/views")).expect("the corpus") {
        let path = entry.expect("an entry").path();
        let input = fs::read(&path).expect("an input");
        largest = largest.max(within(&input, &path.display().to_string()));
        inputs.push(input);
    }
    inputs.sort();
    let words = fs::read_to_string(folder().join("dictionaries/views.dict")).expect("the dictionary");
    let words = dictionary(&words).expect("words");
    let mut random = Random(7);
    for number in 0..100 {
        let input = mutated(&inputs, &words, &mut random);
        largest = largest.max(within(&input, &format!("mutation {number}")));
    }
    assert!(largest > 1 << 20, "nothing was read: {largest} bytes at most");
    println!("at most {largest} bytes");
}

/// One record after another with the largest numbers that fit.
#[test]
fn what_a_record_claims_is_not_allocated() {
    let numbers: [&[u8]; 3] = [b"\xff\xff\xff\xff\x0f", b"\x7f", b"\xff\x7f"];
    for kind in 0..0x80_u16 {
        for number in numbers {
            let payload = number.repeat(40);
            let mut input = Vec::new();
            for len in (1..payload.len()).step_by(number.len()) {
                input.extend(kind.to_le_bytes());
                input.extend(u16::try_from(len).expect("short").to_le_bytes());
                input.extend(&payload[..len]);
            }
            within(&input, &format!("kind {kind:#x} of {number:x?}"));
        }
    }
}
