//! The examples of the placement of weights.

use profinfer_wire::placements::{MAX_PLACEMENT_LEN, Placement, Placements};
use profinfer_wire::record::Record;
use profinfer_wire::record::weight::{Buffer, Memory, PlacementBatch};

/// Three weights: the first tensor of the topology, the next one, and one much later in another
/// buffer.
pub(super) fn placements() -> [Placement; 3] {
    [(0, 1), (1, 1), (300, 2)].map(|(index, buffer)| Placement { index, buffer })
}

pub(super) fn packed_placements() -> Vec<u8> {
    let mut bytes = [0; 3 * MAX_PLACEMENT_LEN];
    let (mut len, mut before) = (0, None);
    for placement in placements() {
        len = placement.encode(before, &mut bytes, len).expect("room");
        before = Some(placement.index);
    }
    bytes[..len].to_vec()
}

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let buffer = Buffer { id: 1, pid: 42, kind: "CPU_Mapped", memory: Memory::File, path: "/models/m.gguf" };
    check("buffer", &Record::Buffer(buffer));
    let own = Buffer { id: 2, kind: "CPU_REPACK", memory: Memory::Anonymous, path: "", ..buffer };
    check("buffer of repacked weights", &Record::Buffer(own));
    let placements = packed_placements();
    check(
        "placement batch",
        &Record::PlacementBatch(PlacementBatch { topology: 1, count: 3, bytes: &placements }),
    );
}

#[test]
fn packed_placements_decode_to_what_was_packed() {
    let bytes = packed_placements();
    assert_eq!(Placements::new(3, &bytes).collect::<Vec<_>>(), placements());
    for cut in 0..bytes.len() {
        let mut short = Placements::new(3, &bytes[..cut]);
        assert!(short.by_ref().count() < 3 && short.failed);
    }
    // A weight twice or in the wrong order cannot be coded; an index beyond 32 bits is invalid.
    let [first, second, _] = placements();
    assert_eq!(first.encode(Some(1), &mut [0; 9], 0), None);
    assert_eq!(second.encode(Some(1), &mut [0; 9], 0), None);
    assert_eq!(Placements::new(1, &[0xff, 0xff, 0xff, 0xff, 0x10, 1]).next(), None);
    let mut beyond = Placements::new(2, &[0xfe, 0xff, 0xff, 0xff, 0x0f, 1, 0, 1]);
    assert_eq!((beyond.by_ref().count(), beyond.failed), (1, true));
}
