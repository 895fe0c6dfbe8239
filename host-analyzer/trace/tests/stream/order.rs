//! Records in another order than that of time have the same meaning.

use crate::read;
use crate::received::Received;
use profinfer_trace::test_support::random::Random;
use profinfer_trace::test_support::session::{Sent, Size, session};

const SIZE: Size = Size { threads: 3, llama_calls: 6, nodes: 20, views_run: false };

/// Without the sizes and offsets of bytes, which the order changes.
fn meaning(sent: &Sent) -> Received {
    let model = read(&sent.bytes(), usize::MAX).unwrap();
    assert!(model.health.perfect(), "{:?}", model.health);
    Received { health: String::new(), ..Received::new(&model) }
}

/// The kinds whose order among each other, and with other records, is free.
const FREE: [u16; 6] = [0x10, 0x21, 0x22, 0x25, 0x30, 0x32];

#[test]
fn any_order() {
    for seed in 0..20 {
        let mut sent = session(seed, SIZE);
        let straight = meaning(&sent);
        straight.equals(&sent.truth);
        let mut random = Random(seed);
        let places: Vec<usize> =
            (0..sent.records.len()).filter(|i| FREE.contains(&sent.records[*i].0)).collect();
        for i in (1..places.len()).rev() {
            let other = random.below(i as u64 + 1) as usize;
            sent.records.swap(places[i], places[other]);
        }
        assert_eq!(meaning(&sent), straight, "seed {seed}");
    }
}

#[test]
fn last_first() {
    let mut sent = session(3, SIZE);
    let straight = meaning(&sent);
    // All but the session's record at the front and the end's at the back.
    let last = sent.records.len() - 1;
    let head = sent.records.iter().take_while(|(kind, _)| *kind < 0x20).count();
    sent.records[head..last].reverse();
    // The last totals are valid; the end record has them again.
    assert_eq!(meaning(&sent), straight);
}
