//! The examples of counters, and of spans with counts.

use profinfer_wire::counts::{Counted, Counts};
use profinfer_wire::record::Record;
use profinfer_wire::record::counter::{CountedBatch, Counter, SLOTS, why};

use super::op::packed_spans;

/// Counter values of the four spans of the worked example: two slots; one switched out twice; one
/// without hardware counters.
pub(super) fn counted() -> [Counted; 4] {
    let counted = |values: &[Option<u64>], switches, why| {
        let mut all = [None; SLOTS];
        all[..values.len()].copy_from_slice(values);
        Counted { values: all, switches, why }
    };
    [
        counted(&[Some(2_000), Some(31)], 0, 0),
        counted(&[Some(30_000), Some(812)], 2, 0),
        counted(&[None, Some(0)], 1, why::MIXED | why::TORN),
        counted(&[], 0, why::MULTIPLEXED),
    ]
}

pub(super) fn packed_counts() -> Vec<u8> {
    let mut bytes = [0; 256];
    let len = counted().iter().fold(0, |at, c| c.encode(&mut bytes, at).expect("room"));
    bytes[..len].to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let spans = packed_spans();
    let counter = Counter {
        slot: 4,
        name: "L3D_CACHE_REFILL",
        event: 0x2a,
        pmu: "armv8_cortex_a76",
        cpus: "4-7",
        attached: true,
        note: "",
    };
    check("counter", &Record::Counter(counter));
    let batch = CountedBatch {
        graph: 2,
        topology: 1,
        tid: 43,
        base_ns: 1_000_000,
        cpu: 1,
        count: 4,
        bytes: &spans,
        counts: &packed_counts(),
    };
    check("counted batch", &Record::CountedBatch(batch));
}

#[test]
fn packed_counts_decode_to_what_was_packed() {
    let bytes = packed_counts();
    assert_eq!(Counts::new(4, &bytes).collect::<Vec<_>>(), counted());
    for cut in 0..bytes.len() {
        let mut short = Counts::new(4, &bytes[..cut]);
        assert!(short.by_ref().count() < 4 && short.failed);
    }
    // A mask with more bits than there are slots.
    assert_eq!(Counts::new(1, &[0x80, 0x20, 0, 0]).next(), None);
}
