//! Bytes of a weight as it lies in its buffer: backends store some types in another order, and some with more.

use super::Accuracy;
use profinfer_trace::model::{Memory, Model, Node};

/// Bytes of a block of a type, in GGML's order and in that of `AMX`.
type Blocks = (&'static str, u64, u64);

/// Types that the `AMX` buffer stores with more bytes than GGML: `get_row_size` of `ggml-cpu/amx/mmq.cpp` adds the sums that turn
/// unsigned products into signed ones (4 bytes a block of Q8_0), and unpacked scales (4 bytes a block of Q4_K and Q5_K, 2 of IQ4_XS).
const AMX: [Blocks; 4] = [("q8_0", 34, 38), ("q4_K", 144, 148), ("q5_K", 176, 180), ("iq4_xs", 136, 138)];

/// Types of buffers that repack in a way whose size is not known here.
const OPAQUE: [&str; 2] = ["KLEIDIAI", "SPACEMIT"];

/// Bytes of a weight that is read as a whole. `CPU_REPACK`, before 2025-06 `CPU_AARCH64`, weaves the blocks of four or eight rows into
/// one of as many bytes (`block<K, N>` of `ggml-cpu/repack.h`), so that nothing is added.
pub(super) fn stored(model: &Model, node: &Node) -> (u64, Accuracy) {
    let buffer = node.buffer.and_then(|b| model.buffers.get(b.0 as usize));
    let kind = buffer.map_or("", |b| b.kind.as_str());
    let dtype = model.texts.get(node.dtype);
    // A buffer of which nothing could be read may be one that repacks.
    let unread = buffer.is_some_and(|b| b.kind.is_empty() && b.memory == Memory::Unknown);
    if unread || OPAQUE.iter().any(|opaque| kind.contains(opaque)) {
        return (node.bytes, Accuracy::Estimated);
    }
    let more = AMX.iter().find(|(name, ..)| kind == "AMX" && *name == dtype);
    let bytes = more.map_or(node.bytes, |(_, plain, amx)| super::sources::part(node.bytes, *amx, *plain));
    (bytes, Accuracy::Counted)
}
