//! A link on which one byte in a hundred arrives changed.

use crate::partial::{loss_is_named, within};
use crate::{read, without_last_zeros, write_views};
use profinfer_trace::test_support::bytes::hello;
use profinfer_trace::test_support::random::Random;
use profinfer_trace::test_support::session::{Size, session};

const SIZE: Size = Size { threads: 2, llama_calls: 8, nodes: 40, views_run: false };

/// Flips one bit in each of about one byte in `n`, from `first` on.
fn flip(bytes: &mut [u8], first: usize, n: u64, seed: u64) -> usize {
    let mut random = Random(seed);
    let mut flips = 0;
    for b in &mut bytes[first..] {
        if random.once_in(n) {
            *b ^= 1 << random.below(8);
            flips += 1;
        }
    }
    flips
}

#[test]
fn one_byte_in_a_hundred() {
    let (mut frames, mut of) = (0, 0);
    for seed in 0..60 {
        let sent = session(seed, Size { views_run: seed % 2 == 1, ..SIZE });
        let mut bytes = sent.bytes();
        let flips = flip(&mut bytes, hello(1).len(), 100, seed);
        assert!(flips > 20);
        let model = read(&bytes, 4096).unwrap();
        within(&model, &sent.truth);
        loss_is_named(&model, &sent);
        assert!(!model.health.damage.is_empty());
        assert_eq!(model.health.bytes, without_last_zeros(&bytes));
        write_views(&model);
        frames += model.health.frames;
        of += sent.records.len() as u64;
    }
    // A frame is lost when one of its bytes, or the zero before it, changes. Small frames mostly
    // arrive.
    println!("{frames} of {of} frames came through");
    assert!(frames > of / 4, "only {frames} of {of} frames came through");
}

#[test]
fn any_bit_of_a_stream() {
    let sent = session(4, profinfer_trace::test_support::session::SMALL);
    let clean = sent.bytes();
    for at in 64..clean.len() {
        let mut bytes = clean.clone();
        bytes[at] ^= 1 << (at % 8);
        let model = read(&bytes, usize::MAX).unwrap();
        within(&model, &sent.truth);
        loss_is_named(&model, &sent);
        // One flip touches one frame, or two when it removes the zero between them.
        assert!(model.health.frames + 2 >= sent.records.len() as u64, "flip at {at}");
        assert!(!model.health.perfect(), "flip at {at}");
    }
}
