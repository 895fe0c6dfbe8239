//! The examples of nested calls.

use profinfer_wire::record::Record;
use profinfer_wire::record::nested::{MAX_NESTED_CALL_LEN, NestedBatch, NestedCall, NestedLoss};

/// Two nested calls of one operator: one inside the other.
pub(super) fn nested_calls() -> [NestedCall; 2] {
    let outer = NestedCall {
        tid: 43,
        function: 5,
        backend: 6,
        node: 0,
        depth: 0,
        start_ns: 1_400,
        duration_ns: 11_000_000,
    };
    [NestedCall { function: 7, depth: 1, start_ns: 2_000, duration_ns: 10_000_000, ..outer }, outer]
}

pub(super) fn packed_nested_calls() -> Vec<u8> {
    let pack =
        |call: &NestedCall| postcard::to_slice(call, &mut [0; MAX_NESTED_CALL_LEN]).expect("room").to_vec();
    nested_calls().iter().flat_map(pack).collect()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let calls = packed_nested_calls();
    let batch = NestedBatch { graph: 2, topology: 1, base_ns: 2_000_100_000, count: 2, bytes: &calls };
    check("nested batch", &Record::NestedBatch(batch));
    let loss = NestedLoss {
        at_ns: 5_000_000_000,
        starts: 101,
        ends: 100,
        sent: 90,
        ring_full: 5,
        queue_full: 3,
        no_start: 2,
        no_end: 1,
        no_graph: 0,
    };
    check("nested loss", &Record::NestedLoss(loss));
}

#[test]
fn nested_calls_come_back_and_the_longest_fits() {
    let bytes = packed_nested_calls();
    let batch = NestedBatch { graph: 2, topology: 1, base_ns: 0, count: 2, bytes: &bytes };
    assert!(batch.iter().eq(nested_calls()));
    assert_eq!(NestedBatch { bytes: &bytes[..bytes.len() - 1], ..batch }.iter().count(), 1);
    let most = u32::MAX;
    let longest = NestedCall {
        tid: most,
        function: most,
        backend: most,
        node: most,
        depth: u8::MAX,
        start_ns: u64::MAX,
        duration_ns: u64::MAX,
    };
    let len = postcard::to_slice(&longest, &mut [0; 64]).expect("room").len();
    assert_eq!(len, MAX_NESTED_CALL_LEN);
}
