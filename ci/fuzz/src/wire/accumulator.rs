//! The accumulator and frames.
//!
//! Checked: no panic; every byte of the stream is in a frame, in damage, a separate zero, or
//! pending; pieces of any size give the same result; records in frames as [`super::records`] checks
//! them. Chance finds no checksum, so the corpus has complete frames.

use profinfer_wire::accumulator::{Accumulator, Found};
use profinfer_wire::frame::Frame;

use super::records::check_record;

/// The results, in a form that can be compared.
#[derive(Debug, PartialEq, Eq)]
enum Seen {
    Frame(u16, u32, Vec<u8>),
    Damage(u64),
}

/// Feeds the stream in pieces of `size` bytes.
fn found(stream: &[u8], size: usize) -> (Vec<Seen>, u64) {
    let mut accumulator = Accumulator::new();
    let mut all = Vec::new();
    for mut piece in stream.chunks(size.max(1)) {
        while !piece.is_empty() {
            all.extend(accumulator.feed(&mut piece).map(|found| match found {
                Found::Frame(f) => Seen::Frame(f.kind, f.seq, f.payload.to_vec()),
                Found::Damage(d) => Seen::Damage(d.bytes),
            }));
        }
    }
    (all, accumulator.pending())
}

/// First byte: the size of the pieces. The rest: a stream without its hello.
pub fn accumulator(bytes: &[u8]) {
    let Some((size, stream)) = bytes.split_first() else { return };
    let (whole, pending) = found(stream, stream.len());
    let (pieces, pending_in_pieces) = found(stream, usize::from(*size));
    assert_eq!((&whole, pending), (&pieces, pending_in_pieces), "pieces find something else");
    // The same cuts by the standard library: each run of bytes up to a zero is one frame or one
    // damage.
    let mut chunks: Vec<&[u8]> = stream.split(|b| *b == 0).collect();
    let tail = chunks.pop().map_or(0, <[u8]>::len);
    chunks.retain(|chunk| !chunk.is_empty());
    assert_eq!((whole.len(), pending), (chunks.len(), tail as u64), "bytes that are nowhere");
    for (seen, chunk) in whole.iter().zip(chunks) {
        match seen {
            Seen::Damage(bytes) => assert_eq!(*bytes, chunk.len() as u64 + 1),
            Seen::Frame(kind, seq, payload) => {
                assert!(payload.len() < chunk.len());
                check_record(&Frame { kind: *kind, seq: *seq, payload });
            }
        }
    }
}
