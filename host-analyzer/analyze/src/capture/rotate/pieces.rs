//! Writes pieces: `recording-0001.pfi` and so on.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use profinfer_wire::WIRE_VERSION;
use profinfer_wire::frame::{Frame, MAX_ENCODED, encode};
use profinfer_wire::hello::Hello;
use profinfer_wire::record::Record;
use profinfer_wire::record::piece::{Piece, PieceEnd};

use super::limit::{Limit, fullness};
use super::state::State;
use profinfer_trace::decode::Found;
use profinfer_trace::ingest::Live;

/// A piece ends after a `llama_decode` call, or after a graph call outside of one. Beyond this
/// size, it ends after any frame.
const OVERFULL: f64 = 2.0;

/// State between two pieces.
#[derive(Debug)]
pub(crate) struct Pieces {
    folder: PathBuf,
    limits: Vec<Limit>,
    state: State,
    hello: Hello,
    /// The current piece, and totals of the earlier ones.
    piece: Piece,
    bytes: u64,
    begun: Instant,
    /// The last record was the end of a `llama_decode` call.
    call_ended: bool,
}

/// Path of a piece.
fn path(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("recording-{number:04}.pfi"))
}

/// Removes recordings of an earlier capture from the folder: a folder is one recording.
pub(crate) fn remove_old(folder: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().and_then(|n| n.to_str()).unwrap_or_default();
        if super::join::is_piece(name) || name == super::join::WHOLE {
            std::fs::remove_file(&path)?;
        }
    }
    Ok(())
}

/// The beginning of a piece: the hello, its piece record, and the repeated records. The stream
/// continues with frame `seq`.
pub(super) fn head<'a>(
    hello: &Hello,
    piece: &Piece,
    seq: u32,
    carried: impl Iterator<Item = (u16, &'a [u8])>,
) -> Vec<u8> {
    let mut bytes = hello.to_bytes().to_vec();
    let first = seq.wrapping_sub(piece.carried);
    add(&Record::Piece(*piece), first.wrapping_sub(1), &mut bytes);
    for (i, (kind, payload)) in (0..piece.carried).zip(carried) {
        let mut encoded = [0; MAX_ENCODED];
        let frame = Frame { kind, seq: first.wrapping_add(i), payload };
        let len = encode(&frame, &mut encoded).unwrap_or(0);
        bytes.extend_from_slice(&encoded[..len]);
    }
    bytes
}

/// Appends the record that announces another piece, which continues with frame `seq`.
pub(super) fn end(number: u32, seq: u32, bytes: &mut Vec<u8>) {
    add(&Record::PieceEnd(PieceEnd { number }), seq, bytes);
}

/// A hello for a stream whose hello is missing or damaged.
pub(super) const fn unknown_hello() -> Hello {
    Hello { wire_version: WIRE_VERSION, agent_version: [0; 3], build: [0; 8], nonce: [0; 16] }
}

/// Appends a frame. All of these records fit into one.
fn add(record: &Record<'_>, seq: u32, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(record.encode_frame(seq, &mut [0; MAX_ENCODED]).unwrap_or_default());
}

impl Pieces {
    pub(crate) fn new(folder: PathBuf, limits: Vec<Limit>) -> Self {
        let hello = unknown_hello();
        let piece = Piece { number: 1, ..Piece::default() };
        let (state, begun) = (State::default(), Instant::now());
        Self { folder, limits, state, hello, piece, bytes: 0, begun, call_ended: false }
    }

    /// Path of the current piece.
    pub(crate) fn path(&self) -> PathBuf {
        path(&self.folder, self.piece.number)
    }

    /// Observes a received record.
    pub(crate) fn see(&mut self, found: &Found<'_>) {
        match found {
            Found::Hello(hello) => self.hello = *hello,
            Found::Record { record, .. } => {
                self.call_ended = match record {
                    Record::Decode(_) => true,
                    Record::GraphCall(call) => call.decode == 0 && call.parent == 0,
                    _ => false,
                };
                self.state.see(record);
            }
            Found::Damage(_) | Found::Cut { .. } => {}
        }
    }

    /// Called after a frame of `bytes`. True if the piece ends after it.
    pub(crate) fn full(&mut self, bytes: u64) -> bool {
        self.bytes += bytes;
        let full = fullness(&self.limits, self.bytes, self.begun.elapsed());
        full >= OVERFULL || full >= 1.0 && self.call_ended
    }

    /// Ends the piece and begins the next one, which continues with frame `seq`. `held` are the
    /// totals of the ended piece.
    ///
    /// # Errors
    ///
    /// If the files cannot be written.
    pub(crate) fn next(&mut self, file: &mut File, seq: u32, held: &Live<'_>) -> io::Result<()> {
        let (mut bytes, number) = (Vec::new(), self.piece.number);
        end(number, seq, &mut bytes);
        file.write_all(&bytes)?;

        let carried = self.state.carry();
        let before = self.piece;
        self.piece = Piece {
            number: number + 1,
            carried: u32::try_from(carried.len()).unwrap_or(u32::MAX),
            spans: before.spans + held.spans,
            nested: before.nested + held.nested,
            sched: before.sched + held.sched,
            experts: before.experts + held.experts,
        };
        let bytes = head(&self.hello, &self.piece, seq, carried);
        (self.bytes, self.begun) = (0, Instant::now());
        *file = File::create(self.path())?;
        file.write_all(&bytes)
    }
}
