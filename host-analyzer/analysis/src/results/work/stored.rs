//! Bytes of a weight in its buffer: backends store some types in another order, and some with more
//! bytes.

use super::Accuracy;
use profinfer_trace::model::{Memory, Model, Node};

/// Bytes of a block of a type, in GGML's format and in that of `AMX`.
type Blocks = (&'static str, u64, u64);

/// Types that the `AMX` buffer stores with more bytes than GGML. `get_row_size` of
/// `ggml-cpu/amx/mmq.cpp` adds the sums that turn unsigned products into signed ones (4 bytes per
/// block of Q8_0), and unpacked scales (4 bytes per block of Q4_K and Q5_K, 2 of IQ4_XS).
const AMX: [Blocks; 4] = [("q8_0", 34, 38), ("q4_K", 144, 148), ("q5_K", 176, 180), ("iq4_xs", 136, 138)];

/// Buffer types that repack to an unknown size.
const OPAQUE: [&str; 2] = ["KLEIDIAI", "SPACEMIT"];

/// Bytes of a weight that is completely read. `CPU_REPACK`, before 2025-06 `CPU_AARCH64`,
/// interleaves the blocks of four or eight rows into one of equal size (`block<K, N>` of
/// `ggml-cpu/repack.h`), so it adds no bytes.
pub(super) fn stored(model: &Model, node: &Node) -> (u64, Accuracy) {
    let buffer = node.buffer.and_then(|b| model.buffers.get(b.0 as usize));
    let kind = buffer.map_or("", |b| b.kind.as_str());
    let dtype = model.texts.get(node.dtype);
    // A buffer whose properties could not be read may be one that repacks.
    let unread = buffer.is_some_and(|b| b.kind.is_empty() && b.memory == Memory::Unknown);
    if unread || OPAQUE.iter().any(|opaque| kind.contains(opaque)) {
        return (node.bytes, Accuracy::Estimated);
    }
    let more = AMX.iter().find(|(name, ..)| kind == "AMX" && *name == dtype);
    let bytes = more.map_or(node.bytes, |(_, plain, amx)| super::sources::part(node.bytes, *amx, *plain));
    (bytes, Accuracy::Counted)
}
