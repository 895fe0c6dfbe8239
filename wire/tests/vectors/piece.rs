//! The examples of recordings in pieces.

use profinfer_wire::record::Record;
use profinfer_wire::record::piece::{Piece, PieceEnd};

pub(super) fn with_records(check: &mut dyn FnMut(&str, &Record<'_>)) {
    let piece = Piece { number: 3, carried: 412, spans: 828_120, nested: 0, sched: 20_011, experts: 0 };
    check("piece", &Record::Piece(piece));
    check("piece end", &Record::PieceEnd(PieceEnd { number: 3 }));
}
