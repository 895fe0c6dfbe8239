//! The examples of routers' selections.

use profinfer_wire::experts::{self, Expert, Runs};
use profinfer_wire::record::Record;
use profinfer_wire::record::expert::{ExpertBatch, ExpertLoss};

/// Two tokens in two layers, two experts per token: one run for the first layer, two for the
/// second, cut inside a row.
pub(super) const SELECTIONS: [(u32, u32, u32, &[u32]); 3] =
    [(60, 2, 0, &[7, 300, 0, 59]), (110, 2, 0, &[1]), (110, 2, 1, &[2, 3, 4])];

pub(super) fn packed_selections() -> Vec<u8> {
    let mut bytes = [0; 256];
    let mut cursor = experts::Cursor::default();
    let len = SELECTIONS.iter().fold(0, |at, (node, n_used, first, ids)| {
        cursor.encode(*node, *n_used, *first, ids, &mut bytes, at).expect("room")
    });
    bytes[..len].to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let selections = packed_selections();
    let batch = ExpertBatch { graph: 2, topology: 1, count: 3, bytes: &selections };
    check("expert batch", &Record::ExpertBatch(batch));
    let loss = ExpertLoss {
        at_ns: 5_000_000_000,
        chosen: 1000,
        sent: 980,
        ring_full: 12,
        queue_full: 4,
        unreadable: 3,
        no_graph: 1,
    };
    check("expert loss", &Record::ExpertLoss(loss));
}

#[test]
fn packed_selections_decode_to_what_was_packed() {
    let bytes = packed_selections();
    for (run, (node, n_used, first, ids)) in Runs::new(3, &bytes).zip(SELECTIONS) {
        assert_eq!((run.node, run.n_used, run.first), (node, n_used, first));
        let expected = ids.iter().zip(first..).map(|(expert, position)| Expert {
            token: position / n_used,
            rank: position % n_used,
            expert: *expert,
        });
        assert!(run.experts().eq(expected));
    }
    for cut in 0..bytes.len() {
        let mut short = Runs::new(3, &bytes[..cut]);
        assert!(short.by_ref().count() < 3 && short.failed);
    }
    // No experts per token; positions beyond 32 bits; a node before the first.
    for bad in [&[0, 0, 0, 0][..], &[0, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 1, 0], &[1, 1, 0, 0]] {
        assert_eq!(Runs::new(1, bad).next(), None, "{bad:?}");
    }
}
