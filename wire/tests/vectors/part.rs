//! The examples of the parts of a batch.

use profinfer_wire::parts::{Cursor, MAX_PART_LEN, Part, Parts};
use profinfer_wire::record::Record;
use profinfer_wire::record::edit::{Edit, kind};
use profinfer_wire::record::housekeeping::{self, Housekeeping};
use profinfer_wire::record::part::{PartBatch, PartLoss};
use profinfer_wire::record::token::Taken;

/// A token that continues an answer in slot 2, a prompt in slot 0, an image of 64 tokens after two
/// lost ones, a token of two sequences, and a batch without lists.
const PARTS: [Part; 5] = [
    Part { first: 0, n: 1, seq: Some(2), n_seq: 1, pos: Some(300), same: false, outputs: Some(1) },
    Part { first: 1, n: 200, seq: Some(0), n_seq: 1, pos: Some(16), same: false, outputs: Some(0) },
    Part { first: 203, n: 64, seq: Some(1), n_seq: 1, pos: Some(9), same: true, outputs: Some(0) },
    Part { first: 267, n: 1, seq: Some(0), n_seq: 2, pos: Some(-1), same: false, outputs: None },
    Part { first: 268, n: 5, seq: None, n_seq: 0, pos: None, same: false, outputs: None },
];

fn packed() -> Vec<u8> {
    let (mut bytes, mut cursor) = ([0; 256], Cursor::default());
    let len = PARTS.iter().fold(0, |at, part| cursor.encode(part, &mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let bytes = packed();
    check("part batch", &Record::PartBatch(PartBatch { decode: 1, count: 5, bytes: &bytes }));
    check("taken", &Record::Taken(Taken { decode: 2, outputs: 3 }));
    let all = Edit {
        pid: 4100,
        at_ns: 4_000_000_000,
        memory: 0x5500_0000_1000,
        kind: kind::CLEAR,
        seq: -1,
        from: -1,
        to: -1,
        target: -1,
    };
    check("edit, clear", &Record::Edit(all));
    check("edit, cut", &Record::Edit(Edit { kind: kind::CUT, seq: 2, from: 304, ..all }));
    check("edit, copy", &Record::Edit(Edit { kind: kind::COPY, seq: 0, target: 3, ..all }));
    let saved = Housekeeping {
        pid: 4100,
        tid: 4101,
        kind: housekeeping::kind::SAVE_STATE,
        start_ns: 4_000_000_000,
        duration_ns: 1_500_000,
        bytes: 6_291_456,
    };
    check("housekeeping", &Record::Housekeeping(saved));
    let loss = PartLoss {
        at_ns: 5_000_000_000,
        tokens: 1000,
        sent: 960,
        ring_full: 20,
        queue_full: 10,
        unreadable: 5,
        left_out: 3,
        no_call: 2,
    };
    check("part loss", &Record::PartLoss(loss));
}

#[test]
fn packed_parts_decode_to_what_was_packed() {
    let bytes = packed();
    assert_eq!(Parts::new(5, &bytes).collect::<Vec<_>>(), PARTS);
    for cut in 0..bytes.len() {
        let mut short = Parts::new(5, &bytes[..cut]);
        assert!(short.by_ref().count() < 5 && short.failed);
    }
    // No tokens; unknown sequences; a shared position without a position; beyond 32 bits.
    for bad in [&[0, 0][..], &[0x28, 0, 1], &[0x30], &[0x28, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]] {
        assert_eq!(Parts::new(1, bad).next(), None, "{bad:?}");
    }
}

#[test]
fn what_is_no_part_is_not_packed() {
    let (mut bytes, mut cursor) = ([0; MAX_PART_LEN], Cursor::default());
    let none = Part { first: 0, n: 1, seq: None, n_seq: 0, pos: None, same: false, outputs: None };
    let bad = [
        Part { n: 0, ..none },
        Part { n_seq: 1, ..none },
        Part { same: true, ..none },
        Part { first: u32::MAX, ..none },
    ];
    for part in bad {
        assert_eq!(cursor.encode(&part, &mut bytes, 0), None, "{part:?}");
    }
    assert!(cursor.encode(&none, &mut bytes, 0).is_some());
    assert_eq!(cursor.encode(&none, &mut bytes, 0), None, "before the end of the one before");
    let most = Part {
        first: u32::MAX / 2,
        n: u32::MAX / 2,
        seq: Some(i32::MIN),
        n_seq: u32::MAX,
        pos: Some(i32::MAX),
        same: true,
        outputs: Some(u32::MAX),
    };
    let len = Cursor::default().encode(&most, &mut bytes, 0).expect("room for the longest");
    assert_eq!(Parts::new(1, &bytes[..len]).next(), Some(most));
}
